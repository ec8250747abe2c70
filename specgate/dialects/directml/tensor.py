"""DirectML tensor descriptions as dicts, and integers of structures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Malformed, Symbol, TensorDesc, format_value
from specgate.descriptors.words import number_of, refuse_unknown, unknown_word, word_of
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME: Final = "directml"
UINT32_MAX: Final = 2**32 - 1
UINT64_MAX: Final = 2**64 - 1
MAX_DIMENSIONS: Final = 64
_TENSOR_KEYS: Final = frozenset(
    {
        "DataType",
        "Sizes",
        "Strides",
        "Flags",
        "DimensionCount",
        "TotalTensorSizeInBytes",
        "GuaranteedBaseOffsetAlignment",
    }
)
LIMITS: Final = {
    "uint": (0, UINT32_MAX),
    "int": (-(2**31), 2**31 - 1),
    "uint64": (0, UINT64_MAX),
    "int64": (-(2**63), 2**63 - 1),
}
_type_words: dict[str, str] = {}


def read_tensor(raw: Any, place: str) -> TensorDesc:
    """Return the TensorDesc of a DML_TENSOR_DESC dict.

    The Type/Desc level is optional.
    """
    return tensor_and_known(raw, place)[0]


def tensor_and_known(raw: Any, place: str, oddities: list[Malformed] | None = None) -> tuple[TensorDesc, bool]:
    """Return a tensor, and whether all its sizes are known numbers.

    oddities: receives unknown words; without it they raise InputError. An unknown type keeps its spelling.
    """
    if raw.__class__ is not dict:
        raise InputError(f"expected a tensor description, found {format_value(raw)}", place=place)
    if "Desc" in raw:
        return tensor_and_known(_unwrap_tensor(raw, place, oddities), place, oddities)
    try:
        kind, sizes = raw["DataType"], raw["Sizes"]
    except KeyError as error:
        raise InputError(f"expected the field {error.args[0]}", place=place) from None
    word = _type_words.get(kind) if kind.__class__ is str else None
    if word is None:
        word = _type_word(kind, place, oddities)
    if sizes is None:  # unknown rank
        return _full_tensor(raw, word, None, place, oddities), False
    if sizes.__class__ is not list or len(sizes) > MAX_DIMENSIONS:
        _raise_sizes_error(sizes, place)
    is_known = True
    for size in sizes:
        if size.__class__ is not int or not 0 <= size <= UINT32_MAX:
            sizes = [_size(item, f"{place}.Sizes[{i}]") for i, item in enumerate(sizes)]
            is_known = all(item.__class__ is int for item in sizes)
            break
    if len(raw) == 2:
        return TensorDesc(word, tuple(sizes)), is_known
    return _full_tensor(raw, word, sizes, place, oddities), is_known


def _check_kind(kind: Any, place: str, oddities: list[Malformed] | None) -> None:
    numbers = dialect(NAME).numbers("TENSOR_TYPE")
    if word_of(kind, numbers, "DML_TENSOR_TYPE_") != "BUFFER":
        _note(f"{place}.Type", place, kind, "DML_TENSOR_TYPE", ["BUFFER"], oddities)


def _note(
    field_place: str, place: str, raw: Any, problem: str, names: list[str], oddities: list[Malformed] | None
) -> None:
    """Record an unknown word of a tensor in `oddities`; else raise InputError."""
    if not (isinstance(raw, str) or number_of(raw) is not None):
        raise InputError(f"expected a {problem} by its name or number, found {format_value(raw)}", place=field_place)
    message = unknown_word(field_place, raw, problem, names)
    if oddities is None:
        raise InputError(message)
    oddities.append(Malformed("unknown-word", place, message, raw))


def _unwrap_tensor(raw: Mapping[str, Any], place: str, oddities: list[Malformed] | None) -> Any:
    if "Type" in raw:
        _check_kind(raw["Type"], place, oddities)
    refuse_unknown(raw, ["Type", "Desc"], place, "a field of DML_TENSOR_DESC")
    inner = raw["Desc"]
    if isinstance(inner, dict) and "Desc" in inner:
        raise InputError("expected the tensor's own fields inside Desc, found another Desc", place=place)
    return inner


def _full_tensor(
    raw: Mapping[str, Any], word: str, sizes: list[Any] | None, place: str, oddities: list[Malformed] | None
) -> TensorDesc:
    if "Type" in raw:
        _check_kind(raw["Type"], place, oddities)
    refuse_unknown(raw, [*sorted(_TENSOR_KEYS), "Type"], place, "a field of DML_BUFFER_TENSOR_DESC")
    rank = None if sizes is None else len(sizes)
    count = raw.get("DimensionCount", rank)
    if isinstance(count, bool | float) or count != rank:
        raise InputError(f"DimensionCount is {format_value(count)}, but Sizes has {rank} elements", place=place)
    strides = raw.get("Strides")
    if strides is not None:
        if not isinstance(strides, list) or len(strides) > MAX_DIMENSIONS:
            raise InputError(f"expected a list of strides, found {format_value(strides)}", place=f"{place}.Strides")
        strides = tuple(integer(s, "uint", f"{place}.Strides[{i}]") for i, s in enumerate(strides))
    total, alignment = raw.get("TotalTensorSizeInBytes"), raw.get("GuaranteedBaseOffsetAlignment")
    return TensorDesc(
        word,
        None if sizes is None else tuple(sizes),
        strides,
        None if total is None else integer(total, "uint64", f"{place}.TotalTensorSizeInBytes"),
        None if alignment is None else integer(alignment, "uint", f"{place}.GuaranteedBaseOffsetAlignment"),
        None if raw.get("Flags") is None else _flags(raw["Flags"], place, oddities),
    )


def _type_word(kind: Any, place: str, oddities: list[Malformed] | None) -> str:
    """Return a data type's short name; spellings are cached on first use."""
    numbers = _type_numbers()
    word = word_of(kind, numbers, "DML_TENSOR_DATA_TYPE_")
    if isinstance(word, str) and word in numbers:
        if isinstance(kind, str) and kind.endswith(word):
            _type_words[kind] = word
        return word
    _note(f"{place}.DataType", place, kind, "DML_TENSOR_DATA_TYPE", [w for w in numbers if w != "UNKNOWN"], oddities)
    return str(word)[:80]


def _type_numbers() -> dict[str, int]:
    return {**dialect(NAME).type_numbers, "UNKNOWN": 0}


def _raise_sizes_error(sizes: Any, place: str) -> None:
    if isinstance(sizes, list):
        raise InputError(f"expected at most {MAX_DIMENSIONS} sizes, found {len(sizes)}", place=f"{place}.Sizes")
    raise InputError(f"expected a list of sizes, found {format_value(sizes)}", place=f"{place}.Sizes")


def _size(value: Any, place: str) -> int | Symbol | None:
    if value is None:
        return None
    if isinstance(value, str) and value.isidentifier():
        return Symbol(value)
    return integer(value, "uint", place)


def integer(value: Any, kind: str, place: str) -> int:
    """Return an integer that fits a kind (``uint``, ``int64`` …); InputError."""
    low, high = LIMITS[kind]
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"expected an integer from {low} to {high}, found {format_value(value)}", place=place)
    return value


def _flags(value: Any, place: str, oddities: list[Malformed] | None) -> int:
    """Return flags from a number, a name, a ``|`` list, or a list of names."""
    number = number_of(value)
    if number is not None:
        return integer(number, "uint", f"{place}.Flags")
    flags = dialect(NAME).tables.flags
    total = 0
    parts = value.strip("()").split("|") if isinstance(value, str) else value if isinstance(value, list) else [value]
    for part in parts:
        short = word_of(part.strip(), flags, "DML_TENSOR_FLAG_") if isinstance(part, str) else part
        if short.__class__ is str and short in flags:
            total |= flags[short]
        else:
            _note(f"{place}.Flags", place, part, "DML_TENSOR_FLAGS", list(flags), oddities)
    return total


def write_tensor(tensor: TensorDesc) -> dict[str, Any]:
    """Return the dict of one tensor description."""
    raw: dict[str, Any] = {
        "DataType": tensor.type,
        "Sizes": None
        if tensor.sizes is None
        else [s if s is None or isinstance(s, int) else str(s) for s in tensor.sizes],
    }
    if tensor.strides is not None:
        raw["Strides"] = list(tensor.strides)
    if tensor.size_in_bytes is not None:
        raw["TotalTensorSizeInBytes"] = tensor.size_in_bytes
    if tensor.alignment is not None:
        raw["GuaranteedBaseOffsetAlignment"] = tensor.alignment
    if tensor.flags is not None:
        raw["Flags"] = tensor.flags
    return raw
