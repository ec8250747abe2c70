"""The public API behind `import specgate`: each function imports what it needs when it is called."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import Descriptor
from specgate.descriptors.read import read_dict
from specgate.errors import InputError
from specgate.targets import Target, parse_target
from specgate.validate.check import check_for
from specgate.validate.device import device_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.lowest import Minimum
    from specgate.verdict import Basis, Report, Verdict

__all__ = ["check", "descriptor", "execute", "lint", "minimum", "support"]

_BASES = ("documented", "observed", "both")


def check(
    descriptor: Any, target: str | Target, basis: Basis = "both", *, device: str | Iterable[str] | None = None
) -> Verdict:
    """Return the verdict on one descriptor for one target.

    descriptor: a dict in its dialect's own words, a Descriptor, a path to a file that holds one, or an
    ``onnx.NodeProto`` (or a pair of one and its ``onnx.ValueInfoProto`` by name). target: ``directml:4.1``,
    ``onnx:17``, ``openvino:2024.0``. basis: accept what the page takes ("documented"), what builds take ("observed"),
    or only what both take. device: what a D3D12 device reports that some types need (``all``, ``none`` or names such as
    ``DoublePrecisionFloatShaderOps``); left out, such needs are notes of the verdict. Raises InputError, NoTable.
    """
    goal = target if isinstance(target, Target) else parse_target(target)
    if descriptor.__class__ is not Descriptor:
        descriptor = _descriptor(descriptor, goal.dialect)
    if descriptor.dialect != goal.dialect:
        raise InputError(f"a descriptor of {descriptor.dialect} cannot be judged for {goal}")
    if basis not in _BASES:
        raise InputError(f"expected the basis documented, observed or both, found {basis!r:.40}")
    return check_for(descriptor, goal, basis, device_of(device, goal.dialect))


def descriptor(data: Any, dialect: str | None = None) -> Descriptor:
    """Return the Descriptor of a dict (or path, or ``onnx.NodeProto``): read once, checked or executed many times.

    dialect: ``directml``, ``onnx`` or ``openvino``; found from the dict's own words when left out.
    """
    return _descriptor(data, dialect)


def _descriptor(data: Any, dialect: str | None) -> Descriptor:
    if isinstance(data, Descriptor):
        return data
    if isinstance(data, dict):
        return read_dict(data, dialect)
    if isinstance(data, str | os.PathLike):
        from specgate.descriptors.files import read_one

        return read_one(os.fspath(data), dialect)
    if hasattr(data, "op_type") or isinstance(data, tuple):
        from specgate.descriptors.protos import from_node_proto

        return from_node_proto(data)
    raise InputError(
        f"expected a descriptor as a dict, Descriptor, path or onnx.NodeProto, found {type(data).__name__}"
    )


def execute(descriptor: Any, arrays: Mapping[str, Any], target: str | Target | None = None) -> dict[str, NDArray[Any]]:
    """Return the outputs by name, computed with numpy.

    descriptor: as for `check`; or the path of an ``.onnx`` model, whose inputs and outputs go by their names in it.
    arrays: logical arrays of the declared type and sizes, by the operator's input names. target: whose behaviour
    applies; the dialect's newest level when left out. Elements that the page leaves undefined are masked.
    Raises InputError, NoTable, NoKernel.
    """
    from specgate.execution.engine import execute_at
    from specgate.spec.tables import dialect as tables

    if isinstance(descriptor, str | os.PathLike) and os.fspath(descriptor).endswith(".onnx"):
        from specgate.execution.model import run_model

        return run_model(os.fspath(descriptor), arrays)
    goal = target if target is None or isinstance(target, Target) else parse_target(target)
    made = _descriptor(descriptor, goal.dialect if goal else None)
    if goal is not None and made.dialect != goal.dialect:
        raise InputError(f"a descriptor of {made.dialect} cannot be executed for {goal}")
    spec = tables(made.dialect).operator(made.operator)
    level = spec.level_for(goal.level) if goal else spec.dialect.levels[-1]
    if level is None:
        raise InputError(f"{spec.name} does not exist at {goal}")
    return execute_at(made, arrays, level)


def minimum(descriptor: Any, dialect: str | None = None, basis: Basis = "both") -> Minimum:
    """Return the lowest level that accepts a descriptor, with what blocks each level below.

    The result is a string-like value: ``"3.0"``, or falsy with `.level` None where no level accepts it.
    """
    from specgate.lowest import find_minimum

    return find_minimum(_descriptor(descriptor, dialect), basis)


def support(dialect: str, operator: str) -> dict[str, Any]:
    """Return an operator's table resolved per level: what each field takes, and the rules that hold."""
    from specgate.spec.view import resolved_table

    return resolved_table(dialect, operator)


def lint(
    model: Any,
    targets: Sequence[str | Target],
    basis: Basis = "both",
    *,
    device: str | Iterable[str] | None = None,
    pins: Mapping[str, int] | None = None,
    infer: bool = True,
    custom_domains: Iterable[str] = (),
) -> Report:
    """Return the findings on a whole model: a path (ONNX, OpenVINO IR, descriptor file) or an ``onnx.ModelProto``.

    device: as `check` has it. For ONNX models: pins gives symbolic dimensions a size (``{"batch": 1}``, ``{"x[0]": 1}``
    for a nameless one of the input x); infer asks the onnx package, where it is installed, for types and shapes that
    the file leaves out, in a process of its own; custom_domains are those that the targets are known to have.
    A target for which the file has no node, and a file without a node that could be judged, are warnings.
    """
    from specgate.linting.model import lint_model
    from specgate.linting.settings import LintSettings

    goals = [t if isinstance(t, Target) else parse_target(t) for t in targets]
    settings = LintSettings(infer, dict(pins or {}), tuple(custom_domains))
    return lint_model(model, goals, basis, device_of(device), settings)
