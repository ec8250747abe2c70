"""Tolerance of results, and observed values of builds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.descriptors.core import Descriptor, TensorDesc, is_record
from specgate.errors import InputError
from specgate.execution.arguments import recipe_of
from specgate.rules.evaluate import UNKNOWN, Context, Undefined, certainly_holds, evaluate
from specgate.rules.parse import parse
from specgate.slotted import replace as replace_slots
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from specgate.execution.plan import ExecutionPlan
    from specgate.spec.forms import OtherValues
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Basis


def tolerance_of(
    descriptor: Descriptor,
    level: str,
    *,
    basis: Basis = "documented",
    by: str | None = None,
    arrays: Mapping[str, Any] | None = None,
) -> float:
    """Return the tolerance of a descriptor's outputs at a level, default 0.

    That of a fused operator is added, as if it computed the first output. basis, by, arrays: as for `execute_at`. Where
    its values are computed in other element types, the tolerance of these types applies if it is larger. Raises
    InputError where the expression cannot be evaluated.
    """
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    stated_tolerance = _evaluate_value(descriptor, descriptor.fields, level)
    other = None if basis == "documented" else other_types(descriptor, arrays or {}, spec, (level, basis, by))
    if other is not None:
        stated_tolerance = max(
            stated_tolerance, _evaluate_value(descriptor, other.retype_descriptor(descriptor).fields, level)
        )
    first = next((descriptor.fields[info.name] for info in spec.outputs if descriptor.fields.get(info.name)), None)
    for value in descriptor.fields.values():
        for part in value if isinstance(value, list | tuple) else (value,):
            if isinstance(part, Descriptor):
                inner = dialect(part.dialect).operator(part.operator)
                tensors = {info.name: first for info in (*inner.inputs, *inner.outputs)}
                stated_tolerance += _evaluate_value(part, {**tensors, **part.fields}, level)
    return stated_tolerance


def _evaluate_value(descriptor: Descriptor, entries: Mapping[str, Any], level: str) -> float:
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    text = spec.table.tolerance
    fields = {name: entries.get(name, info.default) for name, info in spec.fields.items()}
    context = Context(fields, spec.dialect.limits(level), spec.dialect.bits, spec.scope.defines)
    rule = parse(text, spec.scope, expect=None)
    try:
        value = UNKNOWN if any(context.absent(path) for path in rule.needs) else evaluate(rule, context)
    except Undefined as error:
        raise InputError(f"the tolerance of {spec.name}: {error}") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"the tolerance of {spec.name} must be a known number: {text}")
    return float(value)


def find_differences(expected: Any, value: Any, tolerance: float, absolute_sums: Any = None) -> NDArray[np.bool_]:
    """Return where two arrays of one shape differ beyond the tolerance.

    The limit is tolerance * max(1, abs(expected), summed). absolute_sums: for sums of products, the sums of the
    absolute products, because large terms cancel. Masked elements of `expected` may be anything; masked ones of `value`
    differ. An infinity equals only itself. Raises InputError for different shapes or types.
    """
    expected_array, actual_array = np.ma.getdata(expected), np.ma.getdata(value)
    if expected_array.shape != actual_array.shape or expected_array.dtype != actual_array.dtype:
        first, other = (f"{array.dtype} {list(array.shape)}" for array in (expected_array, actual_array))
        raise InputError(f"expected arrays of one type and shape, found {first} and {other}")
    is_different = np.asarray(expected_array != actual_array, np.bool_)
    if expected_array.dtype.kind not in "OUSb":
        is_different &= ~((expected_array != expected_array) & (actual_array != actual_array))  # noqa: PLR0124  # nan, also in types that isnan lacks
        if tolerance > 0:
            wide_expected, real = expected_array.astype(np.float64), actual_array.astype(np.float64)
            with np.errstate(invalid="ignore"):
                scale = np.maximum(1.0, np.abs(wide_expected))
                if absolute_sums is not None:
                    scale = np.maximum(scale, np.nan_to_num(absolute_sums, nan=0.0, posinf=0.0))
                is_near = np.abs(wide_expected - real) <= tolerance * scale
            is_different &= ~(is_near & np.isfinite(wide_expected) & np.isfinite(real))
    result: NDArray[np.bool_] = (is_different | np.ma.getmaskarray(value)) & ~np.ma.getmaskarray(expected)
    return result


#: Number of output elements for which a condition is evaluated; in larger outputs the rest may meet it.
_MAX_ELEMENTS: Final = 4096


class Outputs(dict[str, Any]):
    """Arrays by name, as a dict.

    notes: lines on recorded differences between builds and these values.
    """

    __slots__ = ("notes",)

    def __init__(self, values: Mapping[str, Any] | None = None, notes: tuple[str, ...] = ()) -> None:
        super().__init__(values or {})
        self.notes = notes


def count_notes(notes: Mapping[str, int]) -> tuple[str, ...]:
    """Return distinct notes of a model's nodes, with the node count of each."""
    return tuple(f"{note} ({count} nodes)" if count > 1 else note for note, count in notes.items())


class RecordedDifference(NamedTuple):
    """Recorded differences that apply to a descriptor.

    kernel: its name. arguments: of the kernel, which replace the table's. notes: on differences that are not computed,
    and on values that follow all builds by default. by_elements: those not computed that depend on elements. lasting:
    whether this holds for every execution of the descriptor. undefined: builds leave all elements undefined.
    """

    kernel: str
    arguments: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    by_elements: tuple[OtherValues, ...] = ()
    lasting: bool = True
    undefined: bool = False


class OtherTypes(NamedTuple):
    """Element types that builds compute in instead of the descriptor's.

    fields: the type by field. results: by output, the type that its elements are converted to. conversion: of results,
    as the table names it.
    """

    fields: Mapping[str, str]
    results: Mapping[str, str]
    conversion: str

    def retype_descriptor(self, descriptor: Descriptor) -> Descriptor:
        """Return the descriptor in these types; constants become input arrays."""
        fields = {name: _retype_value(value, self.fields.get(name)) for name, value in descriptor.fields.items()}
        return replace(descriptor, fields=fields, plain=False)


def other_types(
    descriptor: Descriptor, arrays: Mapping[str, Any], spec: OperatorSpec, texts: tuple[str, str, str | None]
) -> OtherTypes | None:
    """Return the element types in which builds compute a descriptor.

    None where they are its own. texts: the level, the basis and the implementation.
    """
    entries = [values for values in _entries(spec, *texts) if values.types]
    if not entries:
        return None
    paths_read = {path for values in entries if values.when is not None for path in values.when.needs}
    elements = {name: array for name, array in arrays.items() if f"{name}.value" in paths_read}
    context = _context(descriptor, elements, spec, texts[0])
    applicable_values = [values for values in entries if values.when is None or certainly_holds(values.when, context)]
    if not applicable_values:
        return None
    values, resolved = applicable_values[-1], spec.resolve(texts[0])
    variables = {name: cell.variable for name, cell in resolved.cells.items()} if resolved is not None else {}
    fields, results = dict[str, str](), dict[str, str]()
    for key, word in values.types.items():
        group = [name for name in spec.fields if name == key or variables.get(name) == key]
        stated = next((kind for name in group if (kind := _type_of(descriptor.fields.get(name))) is not None), None)
        if stated is None or stated == word:
            continue
        fields.update(dict.fromkeys(group, word))
        for info in spec.outputs:
            if info.name in group:
                results[info.name] = _type_of(descriptor.fields.get(info.name)) or stated
    for info in spec.outputs:  # without a declared type, an output has that of the first field
        if info.name in values.types and info.name not in results and fields:
            stated = next(
                (kind for name in fields if (kind := _type_of(descriptor.fields.get(name))) is not None), None
            )
            results.update({} if stated is None else {info.name: stated})
    return OtherTypes(fields, results, values.conversion) if fields else None


def _retype_value(value: Any, word: str | None) -> Any:
    if word is None:
        return value
    if isinstance(value, TensorDesc):
        return value if value.type is None else value._replace(type=word, value=None)
    return [_retype_value(item, word) for item in value] if isinstance(value, list | tuple) else value


def _type_of(value: Any) -> str | None:
    if isinstance(value, TensorDesc):
        return value.type
    return next((_type_of(item) for item in value), None) if isinstance(value, list | tuple) else None


def recorded_values(
    descriptor: Descriptor, arrays: Mapping[str, Any], spec: OperatorSpec, level: str, basis: str, by: str | None
) -> tuple[Descriptor, RecordedDifference]:
    """Return the descriptor as builds compute it, and recorded differences.

    The last entries win. arrays: the inputs, for conditions that read elements. by: the implementation whose specific
    entries apply as well; if None, entries of target implementations become notes. basis: observed for all entries,
    both for those that all builds share, documented for none.
    """
    recorded_difference = RecordedDifference(recipe_of(spec)["kernel"], {})
    entries = list(_entries(spec, level, basis, by))
    own_entries = _own_entries(spec, level) if basis == "observed" and by is None else []
    if not entries and not own_entries:
        return descriptor, recorded_difference
    paths_read = {path for values in (*entries, *own_entries) if values.when is not None for path in values.when.needs}
    elements = [name for name in arrays if f"{name}.value" in paths_read]
    context = _context(descriptor, {name: arrays[name] for name in elements}, spec, level)
    fields, arguments = dict(descriptor.fields), dict[str, Any]()
    kernel, notes, by_elements, undefined_outputs = recorded_difference.kernel, [], [], False
    for values in entries:
        if values.when is not None and not certainly_holds(values.when, context):
            continue
        if not values.computed:
            by_elements += [values] if values.elements is not None else []
            notes += [] if values.elements is not None else [_note(spec, values)]
            continue
        arguments.update(values.arguments)
        kernel = values.kernel or kernel
        undefined_outputs |= values.undefined
        fields.update(_rewrite_attributes(values, context))
        if basis == "both":
            notes.append(f"{spec.name}: follows all builds instead of the documentation: {values.what}")
    for values in own_entries:
        if values.when is None or certainly_holds(values.when, context):
            notes += [_note(spec, values)] if values.elements is None else []
            by_elements += [values] if values.elements is not None else []
    if fields != descriptor.fields:
        descriptor = replace(descriptor, fields=fields)
    return descriptor, RecordedDifference(
        kernel, arguments, tuple(notes), tuple(by_elements), not elements, undefined_outputs
    )


def all_notes(
    plan: ExecutionPlan, descriptor: Descriptor, arguments: Mapping[str, Any], outputs: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the notes of an execution.

    Notes on elements are included where the recorded condition holds, or may hold in builds. arguments: those of the
    kernel, with the arrays.
    """
    spec, recorded_difference, numbers = plan.spec, plan.recorded, plan.spec.dialect.limits(plan.level)
    arrays = {field: arguments[name] for name, field in plan.places.items() if name in arguments}
    fields = _context(descriptor, {}, spec, plan.level).fields.items()
    plain_fields = {
        name: value for name, value in fields if is_record(value) or not isinstance(value, TensorDesc | list | tuple)
    }
    return recorded_difference.notes + tuple(
        _note(spec, values)
        for values in recorded_difference.by_elements
        if any(_may_hold(values, plain_fields, arrays, output, numbers) for output in outputs.items())
    )


def _entries(spec: OperatorSpec, level: str, basis: str, by: str | None) -> Iterator[OtherValues]:
    if basis == "documented":
        return
    for overlay in spec.overlays:
        if overlay.values and overlay.holds(level, by):
            yield from (values for values in overlay.values if basis == "observed" or values.all_builds)


def _own_entries(spec: OperatorSpec, level: str) -> list[OtherValues]:
    """Return the values of single target implementations.

    `what` of each names its implementation.
    """
    titles = spec.dialect.implementations_with_targets
    return [
        replace_slots(values, what=f"{values.what} ({titles[overlay.by]['title']})")
        for overlay in spec.overlays
        if overlay.by is not None and overlay.by in titles and level in overlay.builds
        for values in overlay.values
    ]


def _note(spec: OperatorSpec, values: OtherValues) -> str:
    scope_text = "in some elements " if values.elements is not None else ""
    return f"{spec.name}: builds differ {scope_text}here in a way that specgate does not reproduce: {values.what}"


def _context(descriptor: Descriptor, arrays: Mapping[str, Any], spec: OperatorSpec, level: str) -> Context:
    infos = {name: spec.field_at(name, level) or info for name, info in spec.fields.items()}
    fields = {name: descriptor.fields.get(name, info.default) for name, info in infos.items()}
    for name, array in arrays.items():
        if isinstance(fields[name], TensorDesc) and isinstance(array, np.ndarray):
            fields[name] = fields[name]._replace(value=tuple(array.ravel().tolist()))
    return Context(fields, spec.dialect.limits(level), spec.dialect.bits, spec.scope.defines)


def _rewrite_attributes(values: OtherValues, context: Context) -> dict[str, Any]:
    """Return the attributes for which builds compute with another value.

    An attribute without a value stays unchanged.
    """
    entries: dict[str, Any] = {}
    for name, rule in values.fields.items():
        try:
            value = None if rule is None else evaluate(rule, context)
        except Undefined:
            continue
        if value is not UNKNOWN:
            entries[name] = list(value) if isinstance(value, tuple) and type(value) is tuple else value
    return entries


def _may_hold(
    message: OtherValues,
    plain_values: Mapping[str, Any],
    arrays: Mapping[str, Any],
    output: tuple[str, Any],
    numbers: Mapping[str, Any],
) -> bool:
    """Return whether an element condition may hold for an output element.

    Tensors count as in `conform`: those whose sizes are the output's or 1.
    """
    rule, (name, expected_array) = message.elements, output
    if rule is None or not isinstance(expected_array, np.ndarray):
        return False
    if expected_array.size > _MAX_ELEMENTS:
        return True
    values = {**arrays, name: expected_array, "ours": expected_array}
    fitting_arrays = {
        n: a for n, a in values.items() if n in rule.fields and _is_broadcastable(a, expected_array.shape)
    }
    operands = {n: np.broadcast_to(np.ma.getdata(a), expected_array.shape) for n, a in fitting_arrays.items()}
    for place in np.ndindex(expected_array.shape):
        fields = {**plain_values, **{n: a[place].item() for n, a in operands.items()}, "theirs": UNKNOWN}
        context = Context(fields, numbers)
        try:
            if not any(map(context.absent, rule.needs)) and evaluate(rule, context) is not False:
                return True
        except Undefined:
            continue
    return False


def _is_broadcastable(array: Any, shape: tuple[int, ...]) -> bool:
    if not isinstance(array, np.ndarray) or array.ndim != len(shape):
        return False
    return all(size in {1, other} for size, other in zip(array.shape, shape, strict=True))
