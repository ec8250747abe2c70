"""The public API behind `import specgate`: each function imports what it needs when it is called."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, overload

from specgate.descriptors.core import Descriptor, shown
from specgate.descriptors.read import read_dict
from specgate.dialects import capability, implementing, is_dialect, model_owner, owner_of_object
from specgate.dialects.protocols import LibraryObjects, Runnable
from specgate.errors import InputError
from specgate.runtimes import runtime_of
from specgate.spec.tables import dialect as tables
from specgate.targets import Target, expanded, listed_targets, parse_target
from specgate.validate.check import check_for
from specgate.validate.device import device_of
from specgate.verdict import expect_basis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from specgate.codes import Explanation
    from specgate.dialects.protocols import Reader
    from specgate.execution.memory import Budget
    from specgate.execution.observed import Outputs
    from specgate.lowest.descriptor import Minimum
    from specgate.lowest.result import ModelMinimum
    from specgate.rulebook import Rule
    from specgate.runtimes.onnxruntime.minimum import LevelMinimum
    from specgate.runtimes.onnxruntime.placement import Placement
    from specgate.spec.changes import Difference
    from specgate.spec.view import OperatorSupport
    from specgate.verdict import Basis, Report, Verdict

__all__ = [
    "accepts_many", "check", "descriptor", "diff", "execute", "explain", "lint", "minimum", "operators", "place",
    "rule", "support", "targets",
]  # fmt: skip


def check(
    descriptor: Any, target: str | Target, basis: Basis = "both", *, device: str | Iterable[str] | None = None
) -> Verdict:
    """Return the verdict on one descriptor for one target.

    descriptor: a dict in its dialect's own words, a Descriptor, a path to a file that holds one, or an
    ``onnx.NodeProto`` (or a pair of one and its ``onnx.ValueInfoProto`` by name). target: ``directml:4.1``,
    ``onnx:17``, ``openvino:2024.0``, or a level or release of the descriptor's own dialect (``4.1``). basis: accept
    what the page takes ("documented"), what builds take ("observed"), or only what both take. device: what a D3D12
    device reports that some types need (``all``, ``none`` or names such as ``DoublePrecisionFloatShaderOps``); left
    out, such needs are notes of the verdict. Raises InputError, NoTable.
    """
    if isinstance(target, str) and ":" not in target:  # of the descriptor's own dialect: "4.1"
        descriptor = _descriptor(descriptor, None)
        target = parse_target(target, descriptor.dialect)
    goal = target if isinstance(target, Target) else parse_target(target)
    if descriptor.__class__ is not Descriptor:
        descriptor = _descriptor(descriptor, goal.dialect)
    if descriptor.dialect != goal.dialect:
        raise InputError(f"a descriptor of {descriptor.dialect} cannot be judged for {goal}")
    expect_basis(basis)
    return check_for(descriptor, goal, basis, device_of(device, goal.dialect))


def accepts_many(
    operator: str,
    columns: Mapping[str, Any],
    target: str | Target,
    basis: Basis = "both",
    *,
    device: str | Iterable[str] | None = None,
) -> NDArray[Any]:
    """Return for each row of `columns` whether `check` accepts it: an array of bool, many times faster than `check`.

    operator: as tables or the vendor have it (``ONE_HOT``, ``DML_OPERATOR_ONE_HOT``, ``OneHot``). columns: by field
    (``Axis``) or member of one (``IndicesTensor.Sizes``, ``InputTensors[0].DataType``, for ONNX ``indices.elem_type``
    and ``indices.shape``): one value for all rows, or an array or list with one for each. Sizes and other lists are an
    array of rows by dimensions; a list of lists may have other lengths in some rows, and None where a field is left
    out. Words are text or the vendor's numbers; for many rows numbers, or categories as pandas has them, are faster.
    A fused operator is a dict or Descriptor. What no column names is left out. target, basis, device: as for `check`.

    Rows are judged together with numpy; those for which that cannot decide (fields that hold texts to parse, products
    beyond 64 bits) one by one. There is no third answer: where something of a row is undecided, it is not accepted.
    Raises InputError, naming the column, for a field that does not exist, another number of rows, or other values than
    the field holds; NoTable.
    """
    from specgate.validate.many import accepted_rows

    if not isinstance(columns, Mapping):
        raise InputError(
            f"expected columns by the names of their fields, such as {{'Axis': [0, 1]}}, found {_kind_of(columns)}"
        )
    goal = _target(target)
    expect_basis(basis)
    return accepted_rows(operator, columns, goal, basis, device_of(device, goal.dialect))


def descriptor(data: Any, dialect: str | None = None) -> Descriptor:
    """Return the Descriptor of a dict, path or ``onnx.NodeProto``; a dialect left out is found from its words."""
    return _descriptor(data, dialect)


def _descriptor(data: Any, dialect: str | None) -> Descriptor:
    if isinstance(data, Descriptor):
        return data
    if isinstance(data, dict):
        return read_dict(data, dialect)
    if isinstance(data, str | os.PathLike):
        from specgate.descriptors.files import read_one

        return read_one(os.fspath(data), dialect)
    owners = list(implementing(LibraryObjects))
    for owner in owners:
        if (read := owner.descriptor_of(data)) is not None:
            return read
    known = " or ".join(["a dict, Descriptor, path", *(owner.node_class for owner in owners)])
    raise InputError(f"expected a descriptor as {known}, found {type(data).__name__}")


def execute(
    descriptor: Any,
    arrays: Mapping[str, Any],
    target: str | Target | None = None,
    *,
    max_bytes: int | None = None,
    max_seconds: float | None = None,
    on_note: Callable[[str], object] | None = None,
    on_node: Callable[[int, int], object] | None = None,
    basis: Basis = "both",
) -> Outputs:
    """Return the outputs by name, computed with numpy; `notes` say where builds differ.

    descriptor: as for `check`; or the path of an ``.onnx`` model, whose inputs and outputs go by their names in it.
    arrays: logical arrays of the declared type and sizes, by the operator's input names. Types that numpy lacks (bf16,
    i4, f8e4m3) are those of the package ml_dtypes, also of outputs, one element in one value; for integers below 8 bits
    an array of others will do where all of them fit. target: whose behaviour applies, the newest level when left out. A
    model is executed at its own imports; the target must have them. What the page leaves undefined is masked.

    max_bytes: what may be held at a time, a model's values and a kernel's estimated working memory (2 GiB if None).
    max_seconds: how long it may take (300 if None). on_note is called with each line that qualifies the outputs,
    on_node with how many of how many nodes of a model are done. basis: whose values: the page's (documented); those of
    real builds, as far as recorded differences can be computed (observed); or the page's, except where all builds
    differ from it (both). `notes` of the result say which recorded differences apply and are not computed. Raises
    InputError, also beyond a limit; NoTable, NoKernel.
    """
    execute_at, budget_of = _executing()
    budget = budget_of(max_bytes, max_seconds)
    expect_basis(basis)
    if not isinstance(arrays, Mapping):
        raise InputError(
            f"expected arrays by the names of their inputs, such as {{'X': array}}, found {_kind_of(arrays)}"
        )
    owner = _model_owner(descriptor)
    if owner is not None and isinstance(descriptor, str | os.PathLike):
        goal = parse_target(target, owner.name) if isinstance(target, str) else target
        path = os.fspath(descriptor)
        return _noted(_run_model(owner, path, arrays, goal, budget, on_note, on_node, basis), on_note)
    new_descriptor = _descriptor(descriptor, None if target is None else _dialect(target))
    goal = (
        None
        if target is None
        else target
        if isinstance(target, Target)
        else parse_target(target, new_descriptor.dialect)
    )
    if goal is not None and new_descriptor.dialect != goal.dialect:
        raise InputError(f"a descriptor of {new_descriptor.dialect} cannot be executed for {goal}")
    spec = tables(new_descriptor.dialect).operator(new_descriptor.operator)
    level = spec.level_for(goal.level) if goal else spec.dialect.levels[-1]
    if level is None:
        raise InputError(f"{spec.name} does not exist at {goal}")
    return _noted(
        execute_at(new_descriptor, arrays, level, budget=budget, basis=basis, by=goal.by if goal else None), on_note
    )


def _run_model(
    owner: Reader,
    path: str,
    arrays: Mapping[str, Any],
    target: Target | None,
    budget: Budget,
    on_note: Callable[[str], object] | None,
    on_node: Callable[[int, int], object] | None,
    basis: Basis,
) -> Outputs:
    """Execute a model file, with the nodes of a runtime's release as this computes them."""
    model = capability(owner, Runnable, path)
    runtime = None if target is None else runtime_of(target)
    executor = None
    if target is not None and runtime is not None and target.dialect == owner.name:
        executor = runtime.executor(path, target, on_note or (lambda _: None))
    outputs = model.run_model(
        path, arrays, target, budget=budget, on_node=on_node or (lambda _done, _all: None), basis=basis,
        evaluate=None if executor is None else executor.evaluate,
    )  # fmt: skip
    if executor is not None:
        executor.report()
    return outputs


def _noted(outputs: Outputs, on_note: Callable[[str], object] | None) -> Outputs:
    if on_note is not None:
        for note in outputs.notes:
            on_note(note)
    return outputs


@cache
def _executing() -> tuple[Callable[..., Outputs], Callable[..., Budget]]:
    """Return what `execute` calls: looking for modules takes longer than the rest of what it does."""
    from specgate.execution.engine import execute_at
    from specgate.execution.memory import budget_of

    return execute_at, budget_of


@overload
def minimum(
    descriptor: Descriptor | dict[str, Any],
    dialect: str | None = None,
    basis: Basis = "both",
    *,
    pins: Mapping[str, int] | None = None,
    infer: bool = True,
) -> Minimum: ...
@overload
def minimum(
    descriptor: Any,
    dialect: str | None = None,
    basis: Basis = "both",
    *,
    pins: Mapping[str, int] | None = None,
    infer: bool = True,
    target: str | Target | None = None,
) -> Minimum | ModelMinimum | LevelMinimum: ...
def minimum(
    descriptor: Any,
    dialect: str | None = None,
    basis: Basis = "both",
    *,
    pins: Mapping[str, int] | None = None,
    infer: bool = True,
    target: str | Target | None = None,
) -> Minimum | ModelMinimum | LevelMinimum:
    """Return the lowest level that accepts a descriptor or a whole model, with what blocks each level below.

    descriptor: as for `check`; or a model: the path of an ``.onnx`` or OpenVINO ``.xml`` file, or an
    ``onnx.ModelProto``. pins, infer: for ONNX models, as `lint` has them. The result is falsy where no level accepts
    it; `.level` is the lowest one or None, and of a descriptor it compares as that: ``minimum(d) == "3.0"``.

    With dialect ``directml`` nodes of an ONNX model are placed by `target`, the newest onnxruntime-directml if None;
    the answer is then the lowest feature level at which all that DirectML takes are also created. Raises InputError.
    """
    expect_basis(basis)
    owner = _model_owner(descriptor)
    if target is not None and owner is None:
        raise InputError("a target is for models: what its nodes become is judged")
    if owner is not None and (target is not None or dialect not in {None, owner.name}):
        from specgate.linting.settings import LintSettings, checked_pins
        from specgate.runtimes.onnxruntime.minimum import level_minimum, runtime_target

        return level_minimum(descriptor, runtime_target(dialect, target), LintSettings(infer, checked_pins(pins)))
    if owner is not None:
        from specgate.linting.settings import LintSettings, checked_pins
        from specgate.lowest.model import model_minimum

        return model_minimum(descriptor, LintSettings(infer, checked_pins(pins)), basis)
    from specgate.lowest.descriptor import find_minimum

    return find_minimum(_descriptor(descriptor, dialect), basis)


def _model_owner(what: Any) -> Reader | None:
    """Return the dialect of a whole model: a path or an object of a vendor's library; None for a descriptor."""
    if isinstance(what, (Descriptor, dict)):  # a union would be made anew each time
        return None
    if isinstance(what, str | os.PathLike):
        return model_owner(os.fspath(what))
    return owner_of_object(what)


def support(dialect: str, operator: str) -> dict[str, Any]:
    """Return an operator's table resolved per level: what each field takes, and the rules that hold."""
    from specgate.spec.view import resolved_table

    return resolved_table(dialect, operator)


def operators(where: str | Target) -> list[OperatorSupport]:
    """Return every operator that has a table: of a target, or of a dialect (``onnx``) at its newest level."""
    from specgate.spec.view import operator_support

    whole = isinstance(where, str) and is_dialect(where)
    return operator_support(parse_target(f"{where}:latest") if whole else _target(where))


def diff(before: str | Target, after: str | Target) -> Difference:
    """Return what changes from one target to another of the same dialect, per operator."""
    from specgate.spec.changes import difference

    return difference(_target(before), _target(after))


def rule(rule_id: str) -> Rule:
    """Return the reference of a rule by the id that findings have; InputError or NoTable for no such id."""
    from specgate.rulebook import rule_of

    return rule_of(rule_id)


def explain(code: str) -> list[Explanation]:
    """Return what the error codes mean that a text names: ``80070057``, ``E_INVALIDARG``, a message, a log line."""
    from specgate.codes import explain_codes

    return explain_codes(code)


def targets(*names: str) -> list[Target]:
    """Return targets by name: those of a dialect, or the one that a release stands for; all of them without names."""
    return listed_targets(*names)


def _kind_of(value: object) -> str:
    """Return what was found instead of a mapping, in a few words."""
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__}" + (f" of {type(value[0]).__name__}" if value else "")
    return shown(value)


def _dialect(target: str | Target) -> str | None:
    """Return the dialect that a target names, None for a bare level."""
    return None if isinstance(target, str) and ":" not in target else _target(target).dialect


def _target(target: str | Target) -> Target:
    return target if isinstance(target, Target) else parse_target(target)


def lint(
    model: Any,
    targets: str | Target | Iterable[str | Target],
    basis: Basis = "both",
    *,
    device: str | Iterable[str] | None = None,
    pins: Mapping[str, int] | None = None,
    infer: bool = True,
    custom_domains: Iterable[str] = (),
) -> Report:
    """Return the findings on a whole model: a path (ONNX, OpenVINO IR, descriptor file) or an ``onnx.ModelProto``.

    targets: one or several, or queries (``onnxruntime>=1.16``, ``last 2 openvino``).
    device: as `check` has it. For ONNX models: pins gives symbolic dimensions a size
    (``{"batch": 1}``, ``{"x[0]": 1}`` for a nameless one of the input x); infer asks the onnx package, where
    it is installed, for types and shapes that the file leaves out, in a process of its own; custom_domains are those
    that the targets are known to have. A target for which the file has no node, and a file without a node that could
    be judged, are warnings.
    """
    from specgate.linting.model import lint_model
    from specgate.linting.settings import LintSettings, checked_pins

    items = [targets] if isinstance(targets, str | Target) else targets
    goals = [_target(one) for result in items for one in (expanded(result) if isinstance(result, str) else [result])]
    expect_basis(basis)
    settings = LintSettings(infer, checked_pins(pins), tuple(custom_domains))
    return lint_model(model, goals, basis, device_of(device), settings)


def place(
    model: Any,
    target: str | Target,
    *,
    device: str | Iterable[str] | None = None,
    pins: Mapping[str, int] | None = None,
    infer: bool = True,
) -> Placement:
    """Return where a runtime runs each node of an ONNX model, a path or an ``onnx.ModelProto``, and whether it does.

    target: a release such as ``onnxruntime-directml:1.24.4``, or ``…@5.0`` with another DirectML under it. device: what
    a D3D12 device reports, as `check` has it; a device that is left out counts as one that reports everything. pins,
    infer: as `lint` has them. The answer iterates over nodes: ``.node``, ``.operator``, ``.provider`` (None: no kernel
    anywhere), ``.why``, ``.lowered``, ``.creation``, ``.findings``, ``.duplicates`` (those that the runtime adds, one
    for each further node that reads it); it holds without optimisations. Raises InputError.
    """
    from specgate.linting.settings import LintSettings, checked_pins
    from specgate.runtimes.onnxruntime.place import place_model

    return place_model(model, _target(target), device_of(device), LintSettings(infer, checked_pins(pins)))
