"""Public API: the functions that ``import specgate`` exports.

Each function imports its dependencies when it is called, so that the import stays fast.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, overload

from specgate.descriptors.core import Descriptor, format_value
from specgate.descriptors.read import read_dict
from specgate.dialects import capability, implementing, is_dialect, model_owner, owner_of_object
from specgate.dialects.protocols import LibraryObjects, Runnable
from specgate.errors import InputError
from specgate.loading import lazy
from specgate.runtimes import runtime_of
from specgate.spec.tables import dialect as tables
from specgate.targets import Target, expand_query, listed_targets, parse_target
from specgate.validate.check import check_for
from specgate.validate.device import device_of
from specgate.verdict import expect_basis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from specgate import codes, preloading
    from specgate.codes import Explanation
    from specgate.descriptors import files
    from specgate.dialects.protocols import Reader
    from specgate.execution import engine, memory
    from specgate.execution.memory import Budget
    from specgate.execution.observed import Outputs
    from specgate.linting import model as linting_model
    from specgate.linting import settings as linting_settings
    from specgate.lowest import descriptor as lowest_descriptor
    from specgate.lowest import model as lowest_model
    from specgate.lowest.descriptor import Minimum
    from specgate.lowest.text import ModelMinimum
    from specgate.runtimes.onnxruntime import minimum as onnxruntime_minimum
    from specgate.runtimes.onnxruntime import place as onnxruntime_place
    from specgate.runtimes.onnxruntime.minimum import LevelMinimum
    from specgate.runtimes.onnxruntime.placement import Placement
    from specgate.spec import changes, rulebook, view
    from specgate.spec.changes import Difference
    from specgate.spec.rulebook import Rule
    from specgate.spec.view import OperatorSupport
    from specgate.validate import many
    from specgate.verdict import Basis, Report, Verdict
else:
    codes = lazy("specgate.codes")
    files = lazy("specgate.descriptors.files")
    engine = lazy("specgate.execution.engine")
    memory = lazy("specgate.execution.memory")
    linting_model = lazy("specgate.linting.model")
    linting_settings = lazy("specgate.linting.settings")
    lowest_descriptor = lazy("specgate.lowest.descriptor")
    lowest_model = lazy("specgate.lowest.model")
    preloading = lazy("specgate.preloading")
    rulebook = lazy("specgate.spec.rulebook")
    onnxruntime_minimum = lazy("specgate.runtimes.onnxruntime.minimum")
    onnxruntime_place = lazy("specgate.runtimes.onnxruntime.place")
    changes = lazy("specgate.spec.changes")
    view = lazy("specgate.spec.view")
    many = lazy("specgate.validate.many")


def preload() -> None:
    """Import every module that the other functions import when they are first called.

    Call it before threads start in a program that forks: a fork during the first import of a module copies the lock of
    that import, and the child waits for it forever.
    """
    preloading.import_all()


def check(
    descriptor: Any, target: str | Target, basis: Basis = "both", *, device: str | Iterable[str] | None = None
) -> Verdict:
    """Return the verdict on one descriptor for one target.

    descriptor: a dict in the vocabulary of its dialect, a Descriptor, the path of a descriptor file, an
    ``onnx.NodeProto``, or a pair of an ``onnx.NodeProto`` and a mapping of names to ``onnx.ValueInfoProto``.

    target: ``directml:4.1``, ``onnx:17``, ``openvino:2024.0``, or only a level or release of the descriptor's dialect
    (``4.1``).

    basis: "documented" accepts what the vendor's documentation allows, "observed" accepts what real builds accept, and
    "both" requires both.

    device: the optional capabilities that a D3D12 device reports (``all``, ``none`` or names such as
    ``DoublePrecisionFloatShaderOps``). If omitted, the verdict lists required capabilities as notes.

    Raises InputError for unusable arguments and NoTable for an operator without a table.
    """
    if isinstance(target, str) and ":" not in target:  # a level of the descriptor's dialect, such as "4.1"
        descriptor = _descriptor(descriptor, None)
        target = parse_target(target, descriptor.dialect)
    goal = target if isinstance(target, Target) else parse_target(target)
    if descriptor.__class__ is not Descriptor:
        descriptor = _descriptor(descriptor, goal.dialect)
    if descriptor.dialect != goal.dialect:
        raise InputError(f"cannot check a {descriptor.dialect} descriptor for {goal}")
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
    """Return a bool array: for each row of `columns`, the answer of `check`.

    Much faster than calling `check` for each row.

    operator: its name in the tables or in the vendor's headers (``ONE_HOT``, ``DML_OPERATOR_ONE_HOT``, ``OneHot``). For
    a fused operator, a field's value is a dict or a Descriptor.

    columns: maps a field (``Axis``) or a member of a field (``IndicesTensor.Sizes``, ``InputTensors[0].DataType``; for
    ONNX ``indices.elem_type`` and ``indices.shape``) to one value for all rows, or to an array or list with one value
    per row. Sizes and other lists are arrays of shape (rows, dimensions). A list of lists may vary in length, and None
    omits the field in that row. Fields without a column are omitted. Enumerators are strings or the vendor's numbers;
    for many rows, numbers or pandas categoricals are faster.

    target, basis, device: as for `check`.

    Most rows are evaluated together with numpy. Rows that numpy cannot decide (strings that must be parsed, products
    beyond 64 bits) are checked one by one. Undecided rows are False.

    Raises InputError, which names the column, for an unknown field, a column of the wrong length, or values of the
    wrong type; NoTable for an operator without a table.
    """
    if not isinstance(columns, Mapping):
        raise InputError(
            f"expected a dict of columns by field name, such as {{'Axis': [0, 1]}}, found {_kind_of(columns)}"
        )
    goal = _target(target)
    expect_basis(basis)
    return many.accepted_rows(operator, columns, goal, basis, device_of(device, goal.dialect))


def descriptor(data: Any, dialect: str | None = None) -> Descriptor:
    """Return the Descriptor for a dict, a path or an ``onnx.NodeProto``.

    dialect: if omitted, it is inferred from the keys of the data.
    """
    return _descriptor(data, dialect)


def _descriptor(data: Any, dialect: str | None) -> Descriptor:
    if isinstance(data, Descriptor):
        return data
    if isinstance(data, dict):
        return read_dict(data, dialect)
    if isinstance(data, str | os.PathLike):
        return files.read_one(os.fspath(data), dialect)
    owners = list(implementing(LibraryObjects))
    for owner in owners:
        if (descriptor := owner.descriptor_of(data)) is not None:
            return descriptor
    names = " or ".join(["a dict, Descriptor, path", *(owner.node_class for owner in owners)])
    raise InputError(f"expected a descriptor as {names}, found {type(data).__name__}")


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
    """Return the outputs of an operator or model by name, computed with numpy.

    descriptor: as for `check`, or the path of an ``.onnx`` model, whose inputs and outputs keep their names.

    arrays: maps each input name to a logical array of the declared type and sizes. Types that numpy lacks (bf16, i4,
    f8e4m3) are those of the ml_dtypes package, with one element per value; this also applies to outputs. For integers
    below 8 bits, arrays of wider types are accepted if every value fits.

    target: the level whose behaviour applies, by default the newest. A model is executed at the opsets that it imports,
    which the target must support.

    max_bytes: limit of the memory used at a time, which includes the values of a model and the estimated working memory
    of a kernel (default 2 GiB). max_seconds: time limit (default 300).

    on_note: called with each note about the outputs. on_node: called with the number of executed nodes of a model and
    the number of all its nodes.

    basis: "documented" computes the documented values. "observed" computes those of real builds, where a recorded
    difference can be computed. "both" computes the documented values, except where all builds differ from them.

    Elements that the documentation leaves undefined are masked. `notes` of the result lists recorded differences
    between builds that apply but are not computed.

    Raises InputError for unusable arguments and exceeded limits, NoTable, and NoKernel.
    """
    execute_at, budget_of = _import_engine()
    budget = budget_of(max_bytes, max_seconds)
    expect_basis(basis)
    if not isinstance(arrays, Mapping):
        raise InputError(f"expected a dict of arrays by input name, such as {{'X': array}}, found {_kind_of(arrays)}")
    owner = _model_owner(descriptor)
    if owner is not None and isinstance(descriptor, str | os.PathLike):
        goal = parse_target(target, owner.name) if isinstance(target, str) else target
        path = os.fspath(descriptor)
        return forward_notes(_run_model(owner, path, arrays, goal, budget, on_note, on_node, basis), on_note)
    new_descriptor = _descriptor(descriptor, None if target is None else _dialect(target))
    goal = (
        None
        if target is None
        else target
        if isinstance(target, Target)
        else parse_target(target, new_descriptor.dialect)
    )
    if goal is not None and new_descriptor.dialect != goal.dialect:
        raise InputError(f"cannot execute a {new_descriptor.dialect} descriptor for {goal}")
    spec = tables(new_descriptor.dialect).operator(new_descriptor.operator)
    level = spec.level_for(goal.level) if goal else spec.dialect.levels[-1]
    if level is None:
        raise InputError(f"{spec.name} does not exist at {goal}")
    return forward_notes(
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
    """Execute a model file, with the node behaviour of a runtime's release."""
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


def forward_notes(outputs: Outputs, on_note: Callable[[str], object] | None) -> Outputs:
    if on_note is not None:
        for note in outputs.notes:
            on_note(note)
    return outputs


@cache
def _import_engine() -> tuple[Callable[..., Outputs], Callable[..., Budget]]:
    """Return the functions that `execute` calls.

    Cached, because the import statements take longer than the rest of a call.
    """
    return engine.execute_at, memory.budget_of


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
    """Return the lowest level that accepts a descriptor or a whole model.

    The result also lists what blocks each lower level. It is falsy if no level accepts it. `.level` is the lowest level
    or None. The result for a descriptor compares like its level: ``minimum(d) == "3.0"``.

    descriptor: as for `check`; or a model as the path of an ``.onnx`` or OpenVINO ``.xml`` file, or an
    ``onnx.ModelProto``. pins, infer: for ONNX models, as for `lint`.

    For an ONNX model with dialect ``directml``, `target` (default: the newest onnxruntime-directml) places the nodes.
    The result is then the lowest feature level at which DirectML can also create all operators placed on it.

    Raises InputError.
    """
    expect_basis(basis)
    owner = _model_owner(descriptor)
    if target is not None and owner is None:
        raise InputError("a target is only accepted with a model")
    if owner is not None and (target is not None or dialect not in {None, owner.name}):
        return onnxruntime_minimum.level_minimum(
            descriptor,
            onnxruntime_minimum.runtime_target(dialect, target),
            linting_settings.LintSettings(infer, linting_settings.checked_pins(pins)),
        )
    if owner is not None:
        return lowest_model.model_minimum(
            descriptor, linting_settings.LintSettings(infer, linting_settings.checked_pins(pins)), basis
        )
    return lowest_descriptor.find_minimum(_descriptor(descriptor, dialect), basis)


def _model_owner(model: Any) -> Reader | None:
    """Return the dialect of a whole model; None for a descriptor.

    model: a path or an object of a vendor's library.
    """
    if isinstance(model, (Descriptor, dict)):  # a union type would be created again on each call
        return None
    if isinstance(model, str | os.PathLike):
        return model_owner(os.fspath(model))
    return owner_of_object(model)


def support(dialect: str, operator: str) -> dict[str, Any]:
    """Return an operator's table, resolved per level.

    It contains the types and ranks that each field supports, and the rules that apply.
    """
    return view.resolved_table(dialect, operator)


def operators(where: str | Target) -> list[OperatorSupport]:
    """Return the operators that have a table.

    where: a target, or a dialect (``onnx``) for its newest level.
    """
    is_dialect_name = isinstance(where, str) and is_dialect(where)
    return view.operator_support(parse_target(f"{where}:latest") if is_dialect_name else _target(where))


def diff(before: str | Target, after: str | Target) -> Difference:
    """Return the differences per operator between two targets of a dialect."""
    return changes.difference(_target(before), _target(after))


def rule(rule_id: str) -> Rule:
    """Return the reference entry of a rule by its id.

    Raises InputError or NoTable for an unknown id.
    """
    return rulebook.rule_of(rule_id)


def explain(code: str) -> list[Explanation]:
    """Return the meaning of the error codes that a text contains.

    code: ``80070057``, ``E_INVALIDARG``, an error message or a line of a log.
    """
    return codes.explain_codes(code)


def targets(*names: str) -> list[Target]:
    """Return targets by name; all targets if no name is given.

    names: a dialect, for all of its targets, or a release.
    """
    return listed_targets(*names)


def _kind_of(value: object) -> str:
    """Describe a value that is not a mapping, for a message."""
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__}" + (f" of {type(value[0]).__name__}" if value else "")
    return format_value(value)


def _dialect(target: str | Target) -> str | None:
    """Return the dialect of a target; None for a bare level."""
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
    """Return a report on a whole model.

    model: a path (ONNX, OpenVINO IR, descriptor file) or an ``onnx.ModelProto``.

    targets: one target, several, or queries (``onnxruntime>=1.16``, ``last 2 openvino``).

    device: as for `check`.

    pins: for ONNX models, sizes of symbolic dimensions, such as ``{"batch": 1}``; ``{"x[0]": 1}`` sets an unnamed
    dimension of the input x.

    infer: for ONNX models, infer types and shapes that the file omits, in a subprocess and only if the onnx package is
    installed.

    custom_domains: operator domains that the targets are known to provide.

    The report warns about each target for which the file contains no node, and about a file in which no node could be
    checked. Raises InputError.
    """
    items = [targets] if isinstance(targets, str | Target) else targets
    goals = [
        _target(name) for result in items for name in (expand_query(result) if isinstance(result, str) else [result])
    ]
    expect_basis(basis)
    settings = linting_settings.LintSettings(infer, linting_settings.checked_pins(pins), tuple(custom_domains))
    return linting_model.lint_model(model, goals, basis, device_of(device), settings)


def place(
    model: Any,
    target: str | Target,
    *,
    device: str | Iterable[str] | None = None,
    pins: Mapping[str, int] | None = None,
    infer: bool = True,
) -> Placement:
    """Return where a runtime executes each node of an ONNX model.

    model: a path or an ``onnx.ModelProto``.

    target: a release such as ``onnxruntime-directml:1.24.4``; ``onnxruntime-directml:1.24.4@5.0`` combines it with
    another DirectML version.

    device: as for `check`; if omitted, the device is assumed to report every capability.

    pins, infer: as for `lint`.

    Iterating over the result yields nodes with ``.node``, ``.operator``, ``.provider`` (None if no provider has a
    kernel), ``.why``, ``.lowered``, ``.creation``, ``.findings`` and ``.duplicates`` (copies that the runtime adds, one
    per additional consumer). The result describes the graph without graph optimizations. Raises InputError.
    """
    return onnxruntime_place.place_model(
        model,
        _target(target),
        device_of(device),
        linting_settings.LintSettings(infer, linting_settings.checked_pins(pins)),
    )
