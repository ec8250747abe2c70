"""DirectML descriptors as dicts in DxDispatch's abbreviated JSON form."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Descriptor, Malformed, TensorDesc, format_value, integer_limits
from specgate.descriptors.words import number_of, refuse_unknown, word_of
from specgate.dialects.directml.tensor import (
    LIMITS,
    NAME,
    UINT64_MAX,
    integer,
    read_tensor,
    tensor_and_known,
    write_tensor,
)
from specgate.dialects.directml.vocabulary import ScaleBias, Size2D
from specgate.errors import InputError, NoTable
from specgate.slotted import replace
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["enum_word", "is_descriptor", "operator_word", "read", "read_tensor", "read_union", "write", "write_tensor"]

_LETTERS: Final = {"FLOAT": "Float", "UINT": "UInt", "INT": "Int"}
#: The union has no FLOAT16 member, so the bits are in that of UINT16.
_BITS_OF_HALF: Final = "UInt16"


def read_union(raw: Mapping[str, Any], kind: Any, place: str) -> Any:
    """Return the member that `kind` reads: ``{"Float32": 1.5}`` for FLOAT32.

    kind: a type's word. FLOAT16 is given by its bits (``{"UInt16": 15360}`` is 1.0). Raises InputError for another
    member, an integer out of range, and a type without a member. Floating-point numbers are not checked.
    """
    result = word_of(kind, dialect("directml").type_numbers, "DML_TENSOR_DATA_TYPE_")
    word = result if isinstance(result, str) else ""
    bits = dialect("directml").bits.get(word) or 0
    if bits < 8:
        hint = "" if kind is None else f"; {format_value(kind)} has no member of DML_SCALAR_UNION"
        raise InputError(f"expected a number, found {format_value(raw)}{hint}", place=place)
    letters = word.rstrip("0123456789")
    half = letters == "FLOAT" and bits == 16
    member = _BITS_OF_HALF if half else f"{_LETTERS[letters]}{bits}"
    refuse_unknown(raw, [member], place, f"the member of DML_SCALAR_UNION for {word}")
    value = raw.get(member)
    if value is None:
        raise InputError(f"expected the field {member}", place=place)
    member_place = f"{place}.{member}"
    if half:
        return struct.unpack("<e", struct.pack("<H", _integer(value, "UINT", 16, member_place)))[0]
    return value if letters == "FLOAT" else _integer(value, letters, bits, member_place)


def _integer(value: Any, letters: str, bits: int, place: str) -> int:
    low, high = integer_limits(bits, signed=letters != "UINT")
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"expected an integer from {low} to {high}, found {format_value(value)}", place=place)
    return value


#: The nesting limit of operators, also in arrays. DirectML has one level, for fused activations, and few operators in
#: an array.
MAX_NESTING: Final = 2
MAX_OPERATORS: Final = 64
#: Keys of a DxDispatch dispatchable that are not fields of the operator.
_DISPATCHABLE_KEYS: Final = ("type", "Type", "dmlCompileType", "executionFlags", "bindings")
_KEYS: Final = ("type", "desc", "Type", "Desc", "dmlCompileType", "executionFlags", "bindings")
_NESTED_KEYS: Final = ("Type", "Desc", "type", "desc")
#: May contain unknown sizes; Descriptor checks these kinds itself.
_NESTED_KINDS: Final = frozenset({"tensor[]", "operator", "operator[]"})


def is_descriptor(data: Mapping[str, Any]) -> bool:
    """Return whether `data` looks like a DirectML operator description."""
    kind = data.get("type", data.get("Type"))
    if "desc" in data or "Desc" in data:
        return isinstance(kind, str) or number_of(kind) is not None
    return isinstance(kind, str) and kind.startswith("DML_OPERATOR_")


def read(data: Mapping[str, Any], place: str = "") -> Descriptor:
    """Return the Descriptor of a DML_OPERATOR_DESC dict.

    Types, operators, flags and enum values have a full name, a short name or a number. Unknown ones are kept, so that
    validation reports them. `Type`/`Desc` of operators and tensors are optional, and so is every tensor field but
    DataType and Sizes. A scalar is a number, or an object with the DML_SCALAR_UNION member of its type. As an extension
    of DxDispatch, a size may be null (unknown) or a string (symbolic), and Sizes may be null (unknown rank). Raises
    InputError or NoTable.
    """
    return _operator(data, place, 0)


def _operator(data: Mapping[str, Any], place: str, depth: int) -> Descriptor:
    spec = dialect(NAME).operator(operator_word(data.get("type", data.get("Type")), place))
    desc = data.get("desc", data.get("Desc"))
    if desc is None:
        desc = {k: v for k, v in data.items() if k not in _DISPATCHABLE_KEYS}
    elif len(data) > 2:
        refuse_unknown(data, list(_NESTED_KEYS if depth else _KEYS), place, "an unknown key next to type and desc")
    if not isinstance(desc, dict):
        raise InputError(
            f"expected an object with the operator's fields, found {format_value(desc)}", place=_join(place, "desc")
        )
    fields: dict[str, Any] = {}
    malformed: list[Malformed] = []
    is_plain = True
    number = 0
    for name, info in spec.fields.items():
        raw = desc.get(name)
        if raw is None:
            number += name in desc
            continue
        number += 1
        member_place = f"{place}.{name}" if place else name
        if info.type == "tensor":
            fields[name], known_keys_only = tensor_and_known(raw, member_place, malformed)
            is_plain = is_plain and known_keys_only
        else:
            if info.type_from is not None and isinstance(raw, dict):
                raw = read_union(raw, desc.get(info.type_from), member_place)
            fields[name] = _value(info, raw, member_place, depth, malformed)
            is_plain = is_plain and info.type not in _NESTED_KINDS
    if number != len(desc):
        refuse_unknown(desc, list(spec.fields), place, f"a field of {spec.name}")
    if malformed:
        nested = f"{place}." if place else ""
        oddities = tuple(
            replace(o, where=o.where.removeprefix(nested), message=o.message.removeprefix(nested)) for o in malformed
        )
        return Descriptor(NAME, spec.name, fields, oddities=oddities)
    return Descriptor(NAME, spec.name, fields, plain=is_plain)


def operator_word(kind: Any, place: str = "") -> str:
    """Return an operator's short name from its name or number; InputError."""
    if kind.__class__ is str and kind.startswith("DML_OPERATOR_") and kind[-1] != ")":
        return str(kind.removeprefix("DML_OPERATOR_"))
    word = word_of(kind, dialect(NAME).operator_numbers, "DML_OPERATOR_")
    if not isinstance(word, str):
        if number_of(kind) is not None:
            raise NoTable(f"DirectML has no operator with the number {format_value(kind)}")
        raise InputError(f'expected "type": "DML_OPERATOR_…", found {format_value(kind)}', place=place or None)
    return word


def enum_word(raw: Any, enum: str | None) -> Any:
    """Return the short word of an enum value from a name or a number.

    enum: for example ``PADDING_MODE``, None for data types.
    """
    enum_name = "TENSOR_DATA_TYPE" if enum is None else enum
    numbers = dialect(NAME).type_numbers if enum is None else dialect(NAME).numbers(enum)
    word = word_of(raw, numbers, f"DML_{enum_name}_")
    if not isinstance(word, str) and number_of(word) is None:
        raise InputError(f"expected a name or a number of DML_{enum_name}, found {format_value(raw)}")
    return word


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _value(info: FieldInfo, raw: Any, place: str, depth: int, oddities: list[Malformed]) -> Any:
    if info.type.endswith("[]"):
        if not isinstance(raw, list):
            raise InputError(f"expected a list, found {format_value(raw)}", place=place)
        base = info.type.removesuffix("[]")
        if base == "operator" and len(raw) > MAX_OPERATORS:
            raise InputError(f"expected at most {MAX_OPERATORS} operators, found {len(raw)}", place=place)
        return [_read_value(base, info, item, f"{place}[{i}]", depth, oddities) for i, item in enumerate(raw)]
    return _read_value(info.type, info, raw, place, depth, oddities)


def _read_value(kind: str, info: FieldInfo, raw: Any, place: str, depth: int, oddities: list[Malformed]) -> Any:
    if kind in LIMITS:
        return integer(raw, kind, place)
    if kind == "tensor":
        return tensor_and_known(raw, place, oddities)[0]
    if kind == "bool":
        if not isinstance(raw, int) or raw not in {0, 1}:
            raise InputError(f"expected true or false, found {format_value(raw)}", place=place)
        return bool(raw)
    if kind == "float":
        return _float(raw, place)
    if kind == "scalar":
        return _number(raw, place)
    if kind == "size-2d":
        return Size2D(
            *(integer(part, "uint", part_place) for part, part_place in _parts(raw, Size2D, "DML_SIZE_2D", place))
        )
    if kind == "scale-bias":
        return ScaleBias(
            *(_float(part, part_place) for part, part_place in _parts(raw, ScaleBias, "DML_SCALE_BIAS", place))
        )
    if kind == "operator":
        return _read_nested(raw, place, depth + 1)
    enum = kind.removeprefix("enum:")
    if raw.__class__ is str and info.words and raw in info.words:
        return raw
    word = word_of(raw, dialect(NAME).numbers(enum), f"DML_{enum}_")
    if isinstance(word, str) or number_of(word) is not None:
        return word
    raise InputError(f"expected a name or a number of DML_{enum}, found {format_value(raw)}", place=place)


def _read_nested(raw: Any, place: str, depth: int) -> Descriptor:
    if depth > MAX_NESTING:
        raise InputError(f"expected operators nested at most {MAX_NESTING} deep", place=place)
    if not isinstance(raw, dict):
        raise InputError(f"expected an operator description, found {format_value(raw)}", place=place)
    return _operator(raw, place, depth)


def _parts(raw: Any, record: type[Size2D | ScaleBias], noun: str, place: str) -> list[tuple[Any, str]]:
    """Return a record's members in order, each with its place."""
    if not isinstance(raw, dict):
        raise InputError(
            f"expected an object with {' and '.join(record._fields)}, found {format_value(raw)}", place=place
        )
    refuse_unknown(raw, list(record._fields), place, f"a field of {noun}")
    for name in record._fields:
        if raw.get(name) is None:
            raise InputError(f"expected the field {name}", place=place)
    return [(raw[name], f"{place}.{name}") for name in record._fields]


def _number(raw: Any, place: str) -> int | float:
    """Return a scalar's number; 64-bit integers stay exact integers."""
    if isinstance(raw, int) and not isinstance(raw, bool) and LIMITS["int64"][0] <= raw <= UINT64_MAX:
        return raw
    return _float(raw, place)


def _float(raw: Any, place: str) -> float:
    if isinstance(raw, str) and raw.lower() in {"nan", "inf", "-inf"}:
        return float(raw)
    if isinstance(raw, bool) or not isinstance(raw, int | float) or (isinstance(raw, int) and abs(raw) > 2**128):
        raise InputError(f"expected a number, found {format_value(raw)}", place=place)
    return float(raw)


def write(descriptor: Descriptor) -> dict[str, Any]:
    """Return a descriptor's DxDispatch dict: short names, no defaults.

    Raises InputError for operators that are nested too deeply to be read back.
    """
    return _written_operator(descriptor, 0)


def _written_operator(descriptor: Descriptor, depth: int) -> dict[str, Any]:
    if depth > MAX_NESTING:
        raise InputError(f"expected operators nested at most {MAX_NESTING} deep")
    spec: OperatorSpec = dialect(NAME).operator(descriptor.operator)
    desc = {n: _write_value(descriptor.fields[n], depth) for n in spec.fields if descriptor.fields.get(n) is not None}
    return {"type": f"DML_OPERATOR_{descriptor.operator}", "desc": desc}


def _write_value(value: Any, depth: int) -> Any:
    if isinstance(value, TensorDesc):
        return write_tensor(value)
    if isinstance(value, Descriptor):
        return _written_operator(value, depth + 1)
    if isinstance(value, Size2D | ScaleBias):
        return {name: _write_value(part, depth) for name, part in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_write_value(item, depth) for item in value]
    if isinstance(value, float) and (value != value or value in {float("inf"), float("-inf")}):  # noqa: PLR0124
        return str(value)
    return value
