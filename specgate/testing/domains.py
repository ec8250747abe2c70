"""Values to try for one choice: a freely drawn one first, then those that rules mention, then the usual ones."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Descriptor, GraphDesc, TensorDesc
from specgate.descriptors.read import read_dict, write_dict
from specgate.errors import Error
from specgate.testing.choices import one_of, rotated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specgate.spec.forms import FieldInfo
    from specgate.spec.tables import Dialect, OperatorSpec

__all__ = [
    "FEW",
    "FLOATS",
    "NUMBERS",
    "OBJECTS",
    "SIZES",
    "SMALL",
    "WILD",
    "base_type",
    "element_candidates",
    "element_kind",
    "integers",
    "number_limits",
    "text_candidates",
]

#: Sizes of dimensions, the simplest first; repeated ones come more often.
SIZES: Final = (1, 2, 3, 1, 4, 2, 5, 1, 7, 3, 0, 16)
#: Numbers that only a descriptor with something wrong has.
WILD: Final = (0, 65536, 2**31, 2**32 - 1, 2**16 + 1, 2**31 - 1)
SMALL: Final = (0, 1, 2, 3, -1, 4, -2, 5, 6, -3, 7, 8, -4, 9, -5, 16)
#: Small numbers for attributes that count or measure.
FEW: Final = (1, 0, 2, 1, 3, 1, 2, 4, 0, 5, 6, 7, 8)
FLOATS: Final = (0.0, 1.0, 0.5, -1.0, 2.0, -0.5, 1e-5, 3.25, 100.0, -1e6, 1e30, float("inf"), float("-inf"))
_TEXTS: Final = ("", "a", "NOTSET", "specgate", "ab,c->b", "\u00e9")
_ELEMENTS: Final = TensorDesc("FLOAT", (2,))
#: Values of the attributes that hold more than numbers and words.
OBJECTS: Final[dict[str, tuple[Any, ...]]] = {
    "graph": (
        GraphDesc((), ()),
        GraphDesc((), (_ELEMENTS,)),
        GraphDesc((), (_ELEMENTS._replace(type="INT64"),)),
        GraphDesc((_ELEMENTS,), (_ELEMENTS, _ELEMENTS)),
    ),
    "tensor-proto": (_ELEMENTS, _ELEMENTS._replace(sizes=())),
    "sparse-tensor-proto": (_ELEMENTS,),
    "type-proto": (_ELEMENTS, _ELEMENTS._replace(sizes=None)),
}
NUMBERS: Final = {
    "uint": ((0, 2**64 - 1), (0, 2**32 - 1)),
    "int": ((-(2**63), 2**63 - 1), (-(2**31), 2**31 - 1)),
    "uint64": ((0, 2**64 - 1), (0, 2**32 - 1)),
    "int64": ((-(2**63), 2**63 - 1), (-(2**31), 2**31 - 1)),
}


def base_type(info: FieldInfo) -> str:
    """Return an attribute's type, that of its elements if it is an array."""
    return info.type.removesuffix("[]")


@lru_cache(maxsize=1024)
def number_limits(spec: OperatorSpec, name: str) -> tuple[int, int]:
    """Return the least and greatest integer that the dialect's own words can give to an attribute."""
    info = spec.fields[name]
    for low, high in NUMBERS[base_type(info)]:
        if all(_readable(spec, info, number) for number in (low, high)):
            return low, high
    raise AssertionError(f"{spec.dialect.name} {spec.name}: no 32-bit number can be given to {name}")


def _readable(spec: OperatorSpec, info: FieldInfo, number: int) -> bool:
    value: Any = [number] if info.type.endswith("[]") else number
    try:
        read = read_dict(write_dict(Descriptor(spec.dialect.name, spec.name, {info.name: value})), spec.dialect.name)
    except Error:
        return False
    return bool(read.fields.get(info.name) == value)


def text_candidates(mentions: Callable[[], list[Any]], pick: Callable[[int, int], int]) -> Iterator[str]:
    """Yield strings, then those that rules mention."""
    yield from rotated(pick, _TEXTS)
    yield from (m for m in mentions() if isinstance(m, str))


def integers(low: int, high: int, mentions: Callable[[], list[Any]], pick: Callable[[int, int], int]) -> Iterator[int]:
    """Yield small numbers, those that rules mention and their neighbours, and the ends of the range."""
    yield from rotated(pick, [n for n in SMALL if low <= n <= high])
    for number in mentions():
        if isinstance(number, int):
            yield from (n for n in (number, number + 1, number - 1) if low <= n <= high)
    yield from (n for n in (high, low, 2**31, 2**32 - 1) if low <= n <= high)


def element_kind(dialect: Dialect, name: str | None) -> tuple[str, int]:
    """Return the kind of a type's elements by numpy's letter (i, u, f, c, b, O; x where it has none), and bits."""
    info = dialect.types.get(name or "", {})
    numpy = info.get("numpy") or ""
    kinds = {"int": "i", "uint": "u", "float": "f", "complex": "c", "bool": "b", "object": "O"}
    return kinds.get(numpy.rstrip("0123456789"), "x"), info.get("bits") or 0


def element_candidates(
    kind: str, bits: int, mentions: Callable[[], list[Any]], pick: Callable[[int, int], int]
) -> Iterator[Any]:
    """Yield values that an element can have and that every type of its kind holds exactly."""
    if kind == "O":
        yield from rotated(pick, _TEXTS)
    elif kind == "b":
        yield from rotated(pick, [0, 1])
    elif kind in "iu":
        low, high = (0, 2**bits - 1) if kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        yield from integers(low, high, mentions, pick)
    elif kind == "f":
        yield one_of(pick, [n / 2 for n in SMALL])
        yield from rotated(pick, [float(n) for n in SMALL])
        yield from (float(n) for m in mentions() if isinstance(m, int) for n in (m, m + 1, m - 1) if abs(n) <= 2048)
    else:
        yield from rotated(pick, [0, 1])
