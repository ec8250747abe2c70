"""DirectML descriptors as dicts: DxDispatch's JSON form with its abbreviations, read and written.

Source: microsoft/DirectML, DxDispatch/doc/Guide.md (Dispatchable: DirectML Operator).
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Descriptor, Symbol, TensorDesc, shown
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.forms import FieldInfo
    from specgate.spec.tables import OperatorSpec

__all__ = ["is_descriptor", "read", "read_tensor", "write", "write_tensor"]

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
#: What a dispatchable of DxDispatch has beside the operator's fields.
_DISPATCHABLE_KEYS: Final = frozenset({"type", "Type", "dmlCompileType", "executionFlags", "bindings"})
_LIMITS: Final = {
    "uint": (0, UINT32_MAX),
    "int": (-(2**31), 2**31 - 1),
    "uint64": (0, UINT64_MAX),
    "int64": (-(2**63), 2**63 - 1),
}
_type_words: dict[str, str] = {}


def is_descriptor(data: Mapping[str, Any]) -> bool:
    """Return whether `data` looks like a DirectML operator description."""
    kind = data.get("type", data.get("Type"))
    return isinstance(kind, str) and ("desc" in data or "Desc" in data or kind.startswith("DML_OPERATOR_"))


def read(data: Mapping[str, Any], place: str = "") -> Descriptor:
    """Return the Descriptor of one DML_OPERATOR_DESC as a dict; raise InputError or NoTable.

    Enum values by full or short name; `Type`/`Desc` of operator and tensors may be left out, as may every tensor field
    but DataType and Sizes. Beyond DxDispatch, a size may be null (unknown) or a string (symbolic), and Sizes null (an
    unknown rank).
    """
    kind = data.get("type", data.get("Type"))
    if not isinstance(kind, str):
        raise InputError(f'expected "type": "DML_OPERATOR_…", found {shown(kind)}', place=place or None)
    spec = dialect(NAME).operator(kind.removeprefix("DML_OPERATOR_"))
    desc = data.get("desc", data.get("Desc"))
    if desc is None:
        desc = {k: v for k, v in data.items() if k not in _DISPATCHABLE_KEYS}
    if not isinstance(desc, dict):
        raise InputError(
            f"expected an object with the operator's fields, found {shown(desc)}", place=_join(place, "desc")
        )
    fields: dict[str, Any] = {}
    plain = True
    taken = 0
    for name, info in spec.fields.items():
        raw = desc.get(name)
        if raw is None:
            taken += name in desc
            continue
        taken += 1
        where = f"{place}.{name}" if place else name
        if info.type == "tensor":
            fields[name], known = _tensor(raw, where)
            plain = plain and known
        else:
            fields[name] = _value(info, raw, where)
            plain = plain and info.type != "tensor[]"  # Descriptor looks into those itself
    if taken != len(desc):
        _refuse_unknown(desc, list(spec.fields), place, f"a field of {spec.name}")
    return Descriptor(NAME, spec.name, fields, plain=plain)


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _refuse_unknown(found: Mapping[str, Any], known: list[str], place: str, what: str) -> None:
    for name in found:
        if not isinstance(name, str) or name not in known:
            near = difflib.get_close_matches(name, known, 1) if isinstance(name, str) else []
            hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(known)}"
            raise InputError(f"{shown(name)} is not {what}; {hint}", place=place or None)


def read_tensor(raw: Any, place: str) -> TensorDesc:
    """Return the TensorDesc of one DML_TENSOR_DESC as a dict (with or without its Type/Desc level)."""
    return _tensor(raw, place)[0]


def _tensor(raw: Any, place: str) -> tuple[TensorDesc, bool]:
    """Read a tensor, and say whether every size of it is a known number."""
    if raw.__class__ is not dict:
        raise InputError(f"expected a tensor description, found {shown(raw)}", place=place)
    if "Desc" in raw:
        return _tensor(_unwrapped(raw, place), place)
    try:
        kind, sizes = raw["DataType"], raw["Sizes"]
    except KeyError as error:
        raise InputError(f"expected the field {error.args[0]}", place=place) from None
    word = _type_words.get(kind) if kind.__class__ is str else None
    if word is None:
        word = _type_word(kind, place)
    if sizes is None:  # an unknown rank
        return _full_tensor(raw, word, None, place), False
    if sizes.__class__ is not list or len(sizes) > MAX_DIMENSIONS:
        _refuse_sizes(sizes, place)
    known = True
    for size in sizes:
        if size.__class__ is not int or not 0 <= size <= UINT32_MAX:
            sizes = [_size(item, f"{place}.Sizes[{i}]") for i, item in enumerate(sizes)]
            known = all(item.__class__ is int for item in sizes)
            break
    if len(raw) == 2:
        return TensorDesc(word, tuple(sizes)), known
    return _full_tensor(raw, word, sizes, place), known


def _unwrapped(raw: Mapping[str, Any], place: str) -> Any:
    kind = raw.get("Type", "BUFFER")
    if kind not in ("BUFFER", "DML_TENSOR_TYPE_BUFFER"):
        raise InputError(f"expected the tensor type BUFFER, found {shown(kind)}", place=place)
    _refuse_unknown(raw, ["Type", "Desc"], place, "a field of DML_TENSOR_DESC")
    inner = raw["Desc"]
    if isinstance(inner, dict) and "Desc" in inner:
        raise InputError("expected the tensor's own fields inside Desc, found another Desc", place=place)
    return inner


def _full_tensor(raw: Mapping[str, Any], word: str, sizes: list[Any] | None, place: str) -> TensorDesc:
    kind = raw.get("Type", "BUFFER")
    if kind not in ("BUFFER", "DML_TENSOR_TYPE_BUFFER"):
        raise InputError(f"expected the tensor type BUFFER, found {shown(kind)}", place=place)
    _refuse_unknown(raw, [*sorted(_TENSOR_KEYS), "Type"], place, "a field of DML_BUFFER_TENSOR_DESC")
    rank = None if sizes is None else len(sizes)
    count = raw.get("DimensionCount", rank)
    if isinstance(count, bool | float) or count != rank:
        raise InputError(f"DimensionCount is {shown(count)}, but Sizes has {rank} elements", place=place)
    strides = raw.get("Strides")
    if strides is not None:
        if not isinstance(strides, list) or len(strides) > MAX_DIMENSIONS:
            raise InputError(f"expected a list of strides, found {shown(strides)}", place=f"{place}.Strides")
        strides = tuple(_integer(s, "uint", f"{place}.Strides[{i}]") for i, s in enumerate(strides))
    total, alignment = raw.get("TotalTensorSizeInBytes"), raw.get("GuaranteedBaseOffsetAlignment")
    return TensorDesc(
        word,
        None if sizes is None else tuple(sizes),
        strides,
        None if total is None else _integer(total, "uint64", f"{place}.TotalTensorSizeInBytes"),
        None if alignment is None else _integer(alignment, "uint", f"{place}.GuaranteedBaseOffsetAlignment"),
        None if raw.get("Flags") is None else _flags(raw["Flags"], f"{place}.Flags"),
    )


def _type_word(kind: Any, place: str) -> str:
    """Return the short name of a data type, learning both spellings on first use."""
    if not _type_words:
        for name in [*dialect(NAME).types, "UNKNOWN"]:
            _type_words[name] = _type_words[f"DML_TENSOR_DATA_TYPE_{name}"] = name
    if isinstance(kind, str) and kind in _type_words:
        return _type_words[kind]
    known = [name for name in _type_words if not name.startswith("DML_")]
    near = difflib.get_close_matches(kind, known, 1) if isinstance(kind, str) else []
    hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(known)}"
    raise InputError(f"{shown(kind)} is not a DML_TENSOR_DATA_TYPE; {hint}", place=f"{place}.DataType")


def _refuse_sizes(sizes: Any, place: str) -> None:
    if isinstance(sizes, list):
        raise InputError(f"expected at most {MAX_DIMENSIONS} sizes, found {len(sizes)}", place=f"{place}.Sizes")
    raise InputError(f"expected a list of sizes, found {shown(sizes)}", place=f"{place}.Sizes")


def _size(value: Any, place: str) -> int | Symbol | None:
    if value is None:
        return None
    if isinstance(value, str) and value.isidentifier():
        return Symbol(value)
    return _integer(value, "uint", place)


def _integer(value: Any, kind: str, place: str) -> int:
    low, high = _LIMITS[kind]
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"expected an integer from {low} to {high}, found {shown(value)}", place=place)
    return value


def _flags(value: Any, place: str) -> int:
    """Return flags from a number, a name, names joined by ``|``, or a list of names."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _integer(value, "uint", place)
    known: dict[str, int] = dialect(NAME).raw["types"].get("flags", {})
    total = 0
    parts = value.split("|") if isinstance(value, str) else value if isinstance(value, list) else [value]
    for part in parts:
        short = part.strip().removeprefix("DML_TENSOR_FLAG_") if isinstance(part, str) else ""
        if short not in known:
            raise InputError(f"expected flags among {', '.join(known)}, found {shown(value)}", place=place)
        total |= known[short]
    return total


def _value(info: FieldInfo, raw: Any, place: str) -> Any:
    if info.type.endswith("[]"):
        if not isinstance(raw, list):
            raise InputError(f"expected a list, found {shown(raw)}", place=place)
        base = info.type.removesuffix("[]")
        return [_scalar(base, info, item, f"{place}[{i}]") for i, item in enumerate(raw)]
    return _scalar(info.type, info, raw, place)


def _scalar(kind: str, info: FieldInfo, raw: Any, place: str) -> Any:
    if kind in _LIMITS:
        return _integer(raw, kind, place)
    if kind == "tensor":
        return read_tensor(raw, place)
    if kind == "bool":
        if not isinstance(raw, int) or raw not in {0, 1}:
            raise InputError(f"expected true or false, found {shown(raw)}", place=place)
        return bool(raw)
    if kind == "float":
        return _float(raw, place)
    if isinstance(raw, str):
        prefix = f"DML_{kind.removeprefix('enum:')}_"
        return raw.removeprefix(prefix)
    raise InputError(f"expected a word for {info.name}, found {shown(raw)}", place=place)


def _float(raw: Any, place: str) -> float:
    if isinstance(raw, str) and raw.lower() in {"nan", "inf", "-inf"}:
        return float(raw)
    if isinstance(raw, bool) or not isinstance(raw, int | float) or (isinstance(raw, int) and abs(raw) > 2**128):
        raise InputError(f"expected a number, found {shown(raw)}", place=place)
    return float(raw)


def write(descriptor: Descriptor) -> dict[str, Any]:
    """Return the DxDispatch dict of a descriptor: short enum names, nothing that equals its default."""
    spec: OperatorSpec = dialect(NAME).operator(descriptor.operator)
    desc = {n: _written(descriptor.fields[n]) for n in spec.fields if descriptor.fields.get(n) is not None}
    return {"type": f"DML_OPERATOR_{descriptor.operator}", "desc": desc}


def _written(value: Any) -> Any:
    if isinstance(value, TensorDesc):
        return write_tensor(value)
    if isinstance(value, list | tuple):
        return [_written(item) for item in value]
    if isinstance(value, float) and (value != value or value in {float("inf"), float("-inf")}):  # noqa: PLR0124
        return str(value)
    return value


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
