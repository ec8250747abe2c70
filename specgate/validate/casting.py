"""Cast targets, lossless where possible, and what a cast loses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.spec.dialect_spec import Dialect

__all__ = ["bits_of", "exact_up_to", "family", "lossless", "lost", "nearest"]


class _Float(NamedTuple):
    """A floating-point format: significand bits and exponent range."""

    significand: int
    least: int
    most: int


#: By the names that numpy and ml_dtypes give the types; from IEEE 754 and the docstrings of ml_dtypes 0.5.
_FLOATS: Final = {
    "float16": _Float(11, -24, 15),
    "bfloat16": _Float(8, -133, 127),
    "float32": _Float(24, -149, 127),
    "float64": _Float(53, -1074, 1023),
    "float8_e4m3fn": _Float(4, -9, 8),
    "float8_e4m3fnuz": _Float(4, -10, 7),
    "float8_e5m2": _Float(3, -16, 15),
    "float8_e5m2fnuz": _Float(3, -17, 15),
    "float8_e8m0fnu": _Float(1, -127, 127),
    "float6_e2m3fn": _Float(4, -3, 2),
    "float6_e3m2fn": _Float(3, -4, 4),
    "float4_e2m1fn": _Float(2, -1, 2),
}
#: numpy's kind letters of the types that a cast converts between.
_NUMBERS: Final = "biufc"
_TO_FLOAT: Final = 2
_FAR: Final = 3


def nearest(text: str, allowed: Iterable[str], dialect: Dialect) -> str | None:
    """Return the allowed type closest to `text`, None without a castable one.

    A type that represents every value is preferred, then the same kind, then other integers before floating point for
    an integer. Within a kind the nearest type of at least the same width is preferred.
    """
    choices = tuple(name for name in allowed if name in dialect.types and family(name, dialect) in _NUMBERS)
    if text not in dialect.types or family(text, dialect) not in _NUMBERS or not choices:
        return None

    def distance(name: str) -> tuple[bool, int, int, int]:
        mine, other = family(text, dialect), family(name, dialect)
        width = bits_of(name, dialect) - bits_of(text, dialect)
        near = {mine, other} == {"i", "u"} or (mine == "b" and other in "iuf")
        kind = 0 if mine == other else 1 if near else _TO_FLOAT if mine in "iu" and other == "f" else _FAR
        exact = lossless(text, name, dialect)
        return (not exact, kind, 0 if exact or (kind < _TO_FLOAT and width >= 0) else 1, abs(width))

    best = min(choices, key=distance)
    return best if distance(best)[1] < _FAR else None


def exact_up_to(text: str, other: str, dialect: Dialect) -> str | None:
    """Return the largest integer up to which an int-to-float cast is exact.

    None where every value is exact.
    """
    if family(text, dialect) not in "iu" or family(other, dialect) != "f":
        return None
    known_float = _format(other, dialect)
    return (
        f"2**{known_float.significand}"
        if known_float is not None and known_float.significand < _magnitude(text, dialect)
        else None
    )


def lost(text: str, other: str, dialect: Dialect) -> str:
    """Return a description of what a cast loses, "" for no known loss."""
    if text == other or lossless(text, other, dialect):
        return ""
    exact = exact_up_to(text, other, dialect)
    if exact is not None:
        return f"exact for integers up to {exact}"
    mine, theirs = family(text, dialect), family(other, dialect)
    if mine in "iu" and theirs in "iu":
        bits = bits_of(other, dialect)
        low, high = (f"-2**{bits - 1}", f"2**{bits - 1} - 1") if theirs == "i" else ("0", f"2**{bits} - 1")
        return f"exact from {low} to {high}"
    one, two = _format(text, dialect), _format(other, dialect)
    if one is None or two is None:
        return ""
    parts = []
    if two.significand < one.significand:
        parts.append(f"{two.significand} of {one.significand} significant bits are kept")
    if two.most < one.most:
        parts.append(f"numbers from 2**{two.most + 1} on overflow")
    return ", ".join(parts)


def lossless(text: str, other: str, dialect: Dialect) -> bool:
    """Return whether one type represents every value of another."""
    mine, theirs = family(text, dialect), family(other, dialect)
    width = bits_of(other, dialect) - bits_of(text, dialect)
    if mine == "b" and theirs in "iuf":
        return True
    if mine == "f" and theirs == "f":
        one, two = _format(text, dialect), _format(other, dialect)
        if one is None or two is None:
            return text == other
        return two.least <= one.least and two.most >= one.most and two.significand >= one.significand
    if mine == theirs:
        return width >= 0 and mine in "iuc"
    if mine in "iu" and theirs == "f":
        known_float = _format(other, dialect)
        needed = _magnitude(text, dialect)
        return known_float is not None and known_float.significand >= needed and known_float.most >= needed
    return mine == "u" and theirs == "i" and width > 0


def family(name: str, dialect: Dialect) -> str:
    """Return numpy's kind letter of a type: i, u, f, c and so on."""
    numpy = str(dialect.types.get(name, {}).get("numpy") or name.lower())
    return "f" if numpy.startswith(("bf", "nf")) else numpy[:1]


def _format(name: str, dialect: Dialect) -> _Float | None:
    entry = dialect.types.get(name, {})
    return _FLOATS.get(str(entry.get("ml_dtypes") or entry.get("numpy")))


def _magnitude(name: str, dialect: Dialect) -> int:
    """Return the bits of the largest integer magnitude of a type."""
    return bits_of(name, dialect) - (family(name, dialect) == "i")


def bits_of(name: str, dialect: Dialect) -> int:
    """Return the bits per element of a type, 0 where unknown."""
    return dialect.types.get(name, {}).get("bits") or 0
