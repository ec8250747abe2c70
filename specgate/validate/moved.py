"""Attributes that became inputs, converted in either direction."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import UNKNOWN, TensorDesc
from specgate.slotted import replace
from specgate.validate.failures import Failure, plain_value
from specgate.validate.fixes import bits_of, family

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.spec.fields import FieldInfo
    from specgate.spec.forms import Resolved
    from specgate.spec.operator_spec import OperatorSpec

_TOO_MANY_INPUTS: Final = "too-many-inputs"
_FLOAT_BITS: Final = 32
_HALF_BITS: Final = 16


class Move(NamedTuple):
    """Fields given as attribute or input where the level has the opposite.

    fields: the given field -> the level's. readings: converted descriptors, of which the first that the rules accept
    applies; empty where a value is not known. complete: whether every value is known and exact.
    """

    fields: Mapping[str, str]
    to_inputs: bool
    readings: tuple[Descriptor, ...]
    complete: bool

    def failure(self, resolved: Resolved, descriptor: Descriptor) -> Failure:
        """Return the one failure that reports all fields of the move."""
        spec, dialect = resolved.spec, resolved.spec.dialect
        infos = [(spec.fields[old], spec.fields[new]) for old, new in self.fields.items()]
        if self.to_inputs:
            first = next(iter(self.fields))
            since = dialect.label(str(spec.fields[first].until))
            renamed = " and ".join(
                _describe_move(*pair) for pair in infos if pair[0].vendor_name != pair[1].vendor_name
            )
            kept_names = [old.vendor_name for old, new in infos if old.vendor_name == new.vendor_name]
            parts = [f"{_join_names(kept_names)} {_be_kind(kept_names, 'input')}" if kept_names else "", renamed]
            message = f"from {since} on, {' and '.join(filter(None, parts))} of {spec.name}, not {_kind(infos)}"
            fixes = [f"give {_join_names(kept_names)} as {_count_noun(kept_names, 'input')}" if kept_names else ""]
            fixes += [
                f"give {old.vendor_name} as the input {new.vendor_name}"
                for old, new in infos
                if _names_differ(old, new)
            ]
            values = {name: plain_value(descriptor.fields[name]) for name in self.fields}
            rule, place, fix = f"{first}.exists", first, " and ".join(filter(None, fixes))
        else:
            until = dialect.label(str(spec.fields[next(iter(self.fields.values()))].until))
            names = [new.vendor_name for _, new in infos]
            message = (
                f"before {until} {_join_names(names)} {_be_kind(names, 'attribute')} of {spec.name}, not {_kind(infos)}"
            )
            values, rule, place = {}, _TOO_MANY_INPUTS, "inputs"
            fix = f"give {_join_names(names)} as {_count_noun(names, 'attribute')}" if self.complete else ""
        return Failure(rule, place, message, values, fix or None, aspect="structure", structural=True)


def _describe_move(old: FieldInfo, new: FieldInfo) -> str:
    return f"{old.vendor_name} is the input {new.vendor_name}"


def _names_differ(old: FieldInfo, new: FieldInfo) -> bool:
    return old.vendor_name != new.vendor_name


def _kind(infos: Sequence[tuple[FieldInfo, FieldInfo]]) -> str:
    kind = infos[0][0].kind
    return f"{kind}s" if len(infos) > 1 else f"an {kind}"


def _be_kind(names: Sequence[str], kind: str) -> str:
    return f"are {kind}s" if len(names) > 1 else f"is an {kind}"


def _count_noun(names: Sequence[str], kind: str) -> str:
    return f"{kind}s" if len(names) > 1 else f"an {kind}"


def _join_names(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def moves_of(descriptor: Descriptor, resolved: Resolved) -> Move | None:
    """Return the fields given as attributes instead of inputs, or vice versa."""
    new_names = resolved.spec.became
    if not new_names:
        return None
    entries, infos_by_name = descriptor.fields, resolved.fields
    renamed_fields = {
        old: new
        for old, new in new_names.items()
        if old not in infos_by_name
        and new in infos_by_name
        and entries.get(old) is not None
        and entries.get(new) is None
    }
    if renamed_fields:
        order = list(infos_by_name)
        renamed_fields = dict(sorted(renamed_fields.items(), key=lambda pair: order.index(pair[1])))
        return _to_inputs(descriptor, resolved, renamed_fields)
    return _to_attributes(descriptor, resolved) if _TOO_MANY_INPUTS in descriptor.extra else None


def readings(descriptor: Descriptor, resolved: Resolved) -> Move | None:
    """Return the move of `moves_of` if every value is known and exact."""
    move = moves_of(descriptor, resolved)
    return move if move is not None and move.complete and move.readings else None


def _to_inputs(descriptor: Descriptor, resolved: Resolved, input_names: Mapping[str, str]) -> Move:
    descriptors: list[Descriptor] = []
    complete = True
    for sizes in ((), (1,)):  # some operators require a scalar, others a one-element list
        fields = {name: value for name, value in descriptor.fields.items() if name not in input_names}
        tensors = {
            new: _tensor(descriptor.fields[old], new, sizes, fields, resolved) for old, new in input_names.items()
        }
        complete = all(tensor.type is not None and tensor.value is not None for tensor in tensors.values())
        descriptors.append(replace(descriptor, fields={**fields, **tensors}, plain=False))
        if all(isinstance(descriptor.fields[old], list | tuple) for old in input_names):
            break
    return Move(input_names, True, tuple(descriptors), complete)


def _tensor(value: Any, name: str, sizes: tuple[int, ...], fields: Mapping[str, Any], resolved: Resolved) -> TensorDesc:
    """Return an attribute's value as the tensor of the input `name`."""
    is_list = isinstance(value, list | tuple)
    values = list(value) if is_list else [value]
    decided = value is not UNKNOWN
    kind = type_for(values, name, fields, resolved)
    if is_list or not decided:
        sizes = (len(values),) if is_list else sizes
    elements = None if kind is None or not decided else _exact(values, kind, resolved.spec)
    return TensorDesc(kind, sizes, value=None if elements is None else tuple(elements))


def type_for(values: Sequence[Any], name: str, fields: Mapping[str, Any], resolved: Resolved) -> str | None:
    """Return the type of a new input.

    It is the type of its type variable, or the nearest to the attribute's type.
    """
    for row in resolved.alternatives:
        cell = row.cells.get(name)
        if cell is None or cell.types is None:
            continue
        linked_names = [
            other for other, known_cell in row.cells.items() if cell.variable and known_cell.variable == cell.variable
        ]
        bound: list[str | None] = [
            fields[other].type for other in linked_names if isinstance(fields.get(other), TensorDesc)
        ]
        if bound:
            return next(filter(None, bound), None)
        all_integers = all(isinstance(value, int) for value in values)
        return min(
            cell.types, key=lambda type_: _distance(type_, integral_only=all_integers, spec=resolved.spec), default=None
        )
    return None


def _distance(name: str, *, integral_only: bool, spec: OperatorSpec) -> tuple[bool, int]:
    """Return the distance of a type from an attribute's type.

    Attributes hold 64-bit integers and 32-bit floats.
    """
    kind, bits = family(name, spec.dialect), bits_of(name, spec.dialect)
    return (kind != "i", -bits) if integral_only else (kind != "f", abs(bits - _FLOAT_BITS))


def _exact(values: Sequence[Any], type_: str, spec: OperatorSpec) -> list[Any] | None:
    """Return numbers converted to a type, None where one is not exact."""
    kind, bits = family(type_, spec.dialect), bits_of(type_, spec.dialect)
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return None
    if kind in "iu":
        low = -(2 ** (bits - 1)) if kind == "i" else 0
        if not all(float(value).is_integer() and low <= value < low + 2**bits for value in values):
            return None
        return [int(value) for value in values]
    if kind == "f" and bits >= _FLOAT_BITS:
        return [float(value) for value in values]
    if (
        kind == "f"
        and bits == _HALF_BITS
        and all(_is_half(float(value), brain="b" in type_.lower()) for value in values)
    ):
        return [float(value) for value in values]
    return None


def _is_half(value: float, *, brain: bool) -> bool:
    if value != value:  # noqa: PLR0124  # NaN
        return False
    try:
        if brain:
            packed = struct.pack("<f", value)
            return packed[:2] == b"\0\0" and struct.unpack("<f", packed)[0] == value
        return bool(struct.unpack("<e", struct.pack("<e", value))[0] == value)
    except OverflowError:
        return False


def _to_attributes(descriptor: Descriptor, resolved: Resolved) -> Move | None:
    """Return the move of surplus inputs that were attributes at this level."""
    spec, entries = resolved.spec, descriptor.fields
    pairs = list(_surplus_inputs(descriptor, resolved))
    if not pairs or any(old is None or old in entries for _, old, _ in pairs):
        return None
    names = {new: str(old) for new, old, _ in pairs}
    values = {str(old): _value(tensor, spec.field_at(str(old), resolved.level)) for _, old, tensor in pairs}
    complete = all(value is not UNKNOWN for value in values.values())
    oddities = tuple(oddity for oddity in descriptor.oddities if oddity.code != _TOO_MANY_INPUTS)
    extra = {key: value for key, value in descriptor.extra.items() if key != _TOO_MANY_INPUTS}
    new_descriptor = replace(descriptor, fields={**entries, **values}, oddities=oddities, extra=extra, plain=False)
    return Move(names, False, (new_descriptor,), complete)


def _surplus_inputs(descriptor: Descriptor, resolved: Resolved) -> Iterator[tuple[str, str | None, TensorDesc]]:
    """Yield each surplus input with the attribute that it was at this level."""
    spec = resolved.spec
    before = {new: old for old, new in spec.became.items() if old in resolved.fields}
    starts = [str(spec.fields[old].until) for old in before.values()]
    if not starts:
        return
    later_inputs = spec.layout(max(starts, key=spec.dialect.position.__getitem__)).inputs
    infos = spec.layout(resolved.level).inputs
    left: Sequence[TensorDesc | None] = descriptor.extra[_TOO_MANY_INPUTS]
    is_prefix = [info.name for info in infos] == [info.name for info in later_inputs[: len(infos)]]
    for index, tensor in enumerate(left, start=len(infos)):
        if tensor is not None:
            name = later_inputs[index].name if is_prefix and index < len(later_inputs) else ""
            yield name, before.get(name), tensor


def _value(tensor: TensorDesc, info: FieldInfo | None) -> Any:
    """Return a constant as an attribute value, UNKNOWN where it cannot be."""
    if info is None or tensor.value is None:
        return UNKNOWN
    is_integer = info.type.startswith("int")
    numbers = [
        int(v) if is_integer and float(v).is_integer() else v for v in tensor.value if isinstance(v, int | float)
    ]
    result = len(numbers) == len(tensor.value) and all(
        isinstance(v, int) if is_integer else _is_single(v) for v in numbers
    )
    if not result or not (info.type.endswith("[]") or len(numbers) == 1):
        return UNKNOWN
    new_numbers = numbers if is_integer else [float(number) for number in numbers]
    return new_numbers if info.type.endswith("[]") else new_numbers[0]


def _is_single(value: float) -> bool:
    try:
        return bool(struct.unpack("<f", struct.pack("<f", value))[0] == value)
    except OverflowError:
        return False
