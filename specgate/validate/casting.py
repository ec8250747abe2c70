"""Which type to cast to: one that loses nothing if there is one, and the nearest of those."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.spec.dialect_spec import Dialect

__all__ = ["bits_of", "exact_up_to", "family", "lossless", "nearest"]

#: Bits of the significand of floating point types, by their number of bits; integers up to 2 to that are exact.
_SIGNIFICAND: Final = {16: 11, 32: 24, 64: 53}
_TO_FLOAT: Final = 2
_FAR: Final = 3


def nearest(found: str, allowed: Iterable[str], dialect: Dialect) -> str | None:
    """Return the allowed type closest to `found`, None where none is of a kind that it can be cast to.

    The same kind comes before other integers, and those before floating point for an integer; within a kind one that
    is as wide or wider, which loses nothing, before a narrower one, and the nearest of those.
    """
    choices = tuple(allowed)
    if found not in dialect.types or not choices:
        return None

    def distance(name: str) -> tuple[int, int, int]:
        mine, other = family(found, dialect), family(name, dialect)
        width = bits_of(name, dialect) - bits_of(found, dialect)
        near = {mine, other} == {"i", "u"} or (mine == "b" and other in "iuf")
        kind = 0 if mine == other else 1 if near else _TO_FLOAT if mine in "iu" and other == "f" else _FAR
        exact = lossless(found, name, dialect) if kind == _TO_FLOAT else width >= 0
        return (kind, 0 if exact else 1, abs(width))

    best = min(choices, key=distance)
    return best if distance(best)[0] < _FAR else None


def exact_up_to(found: str, other: str, dialect: Dialect) -> str | None:
    """Return up to which integer a cast of an integer to floating point is exact; None where it always is."""
    bits = bits_of(found, dialect)
    if family(found, dialect) not in "iu" or family(other, dialect) != "f":
        return None
    held = 8 if other.lower().startswith("bf") else _SIGNIFICAND.get(bits_of(other, dialect), 0)
    return f"2**{held}" if 0 < held < bits - (family(found, dialect) == "i") else None


def lossless(found: str, other: str, dialect: Dialect) -> bool:
    """Whether every value of one type is a value of another, as far as their kinds and widths say."""
    mine, theirs = family(found, dialect), family(other, dialect)
    width = bits_of(other, dialect) - bits_of(found, dialect)
    if mine == "b" and theirs in "iuf":
        return True
    if mine == theirs:
        return width >= 0 and mine in "iufc"
    return (mine == "u" and theirs == "i" and width > 0) or (mine in "iu" and theirs == "f" and width > 0)


def family(name: str, dialect: Dialect) -> str:
    """i, u, f, c or another first letter of what numpy calls the type."""
    numpy = str(dialect.types.get(name, {}).get("numpy") or name.lower())
    return "f" if numpy.startswith("bf") else numpy[:1]


def bits_of(name: str, dialect: Dialect) -> int:
    """Return how many bits an element of a type has, 0 where that is not known."""
    return dialect.types.get(name, {}).get("bits") or 0
