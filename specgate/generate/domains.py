"""Domains of fields: sizes, objects, number limits, element kinds."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Descriptor, GraphDesc, TensorDesc, integer_limits
from specgate.descriptors.read import read_dict, write_dict
from specgate.errors import Error

if TYPE_CHECKING:
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

#: Sizes of dimensions, the simplest first. A repeated size has a higher probability.
SIZES: Final = (1, 2, 3, 1, 4, 2, 5, 1, 7, 3, 0, 16)
#: Numbers that only invalid descriptors contain.
WILD: Final = (0, 65536, 2**31, 2**32 - 1, 2**16 + 1, 2**31 - 1)
_ELEMENTS: Final = TensorDesc("float32", (2,))
#: Values of attributes that hold more than numbers and words. Types have numpy's names.
_OBJECTS: Final[dict[str, tuple[Any, ...]]] = {
    "graph": (
        GraphDesc((), ()),
        GraphDesc((), (_ELEMENTS,)),
        GraphDesc((), (_ELEMENTS._replace(type="int64"),)),
        GraphDesc((_ELEMENTS,), (_ELEMENTS, _ELEMENTS)),
    ),
    "tensor-proto": (
        *(_ELEMENTS._replace(type=kind) for kind in ("float32", "int64", "object", "float64", "int32", "int16")),
        _ELEMENTS._replace(sizes=()),
    ),
    "sparse-tensor-proto": (_ELEMENTS,),
    "type-proto": (_ELEMENTS, _ELEMENTS._replace(sizes=None)),
}
NUMBERS: Final = {
    "uint": ((0, 2**64 - 1), (0, 2**32 - 1)),
    "int": ((-(2**63), 2**63 - 1), (-(2**31), 2**31 - 1)),
    "uint64": ((0, 2**64 - 1), (0, 2**32 - 1)),
    "int64": ((-(2**63), 2**63 - 1), (-(2**31), 2**31 - 1)),
}


def objects(dialect: Dialect, base: str) -> tuple[Any, ...]:
    """Return values for an attribute that holds a tensor, type or graph.

    Empty for other types of attributes.
    """
    if base not in _OBJECTS:
        return ()
    words: dict[str, str] = {}
    for word, info in dialect.types.items():
        words.setdefault(info.get("numpy") or "", word)

    def spell_types(value: Any) -> Any:
        if isinstance(value, GraphDesc):
            return GraphDesc(tuple(map(spell_types, value.inputs)), tuple(map(spell_types, value.outputs)))
        return value._replace(type=words[value.type])

    return tuple(map(spell_types, _OBJECTS[base]))


def base_type(info: FieldInfo) -> str:
    """Return an attribute's type; of an array, the type of its elements."""
    return info.type.removesuffix("[]")


@lru_cache(maxsize=1024)
def number_limits(spec: OperatorSpec, name: str) -> tuple[int, int]:
    """Return the integer range that the dialect allows for an attribute."""
    info = spec.fields[name]
    for low, high in NUMBERS[base_type(info)]:
        if all(_is_readable(spec, info, number) for number in (low, high)):
            return low, high
    raise AssertionError(f"{spec.dialect.name} {spec.name}: no 32-bit number is valid for {name}")


def _is_readable(spec: OperatorSpec, info: FieldInfo, number: int) -> bool:
    value: Any = [number] if info.type.endswith("[]") else number
    try:
        read_descriptor = read_dict(
            write_dict(Descriptor(spec.dialect.name, spec.name, {info.name: value})), spec.dialect.name
        )
    except Error:
        return False
    return bool(read_descriptor.fields.get(info.name) == value)


def element_kind(dialect: Dialect, name: str | None) -> tuple[str, int]:
    """Return the kind and the bits of a type's elements.

    The kind is numpy's letter (i, u, f, c, b, O), or x without a numpy type. Integers of ml_dtypes are i or u, its
    floats x.
    """
    info = dialect.types.get(name or "", {})
    numpy = info.get("numpy") or info.get("ml_dtypes") or ""
    kinds = {"int": "i", "uint": "u", "float": "f", "complex": "c", "bool": "b", "object": "O"}
    return kinds.get(numpy.rstrip("0123456789"), "x"), info.get("bits") or 0


def holds_elements(dialect: Dialect, tensor: TensorDesc) -> bool:
    """Return whether a constant's elements are valid for its type.

    True for a tensor without elements.
    """
    if tensor.value is None:
        return True
    kind, bits = element_kind(dialect, tensor.type)
    if kind in "iu":
        low, high = integer_limits(bits, signed=kind != "u")
        return all(type(item) is int and low <= item <= high for item in tensor.value)
    result = {"O": str | bytes, "b": bool | int, "f": int | float, "c": int | float | complex}.get(kind)
    return result is None or all(isinstance(item, result) for item in tensor.value)
