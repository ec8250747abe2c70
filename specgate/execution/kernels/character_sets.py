"""Sets of characters as ranges of their numbers, in rising order and apart from each other."""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ALL", "NAMED", "PERL", "WORD", "Ranges", "closed", "complement", "general", "merged"]

Ranges = tuple[tuple[int, int], ...]

ALL: Final[Ranges] = ((0, sys.maxunicode),)
WORD: Final = re.compile(r"\w", re.ASCII)


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return ranges in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def complement(ranges: Ranges) -> Ranges:
    """Return all other characters; ranges: in order."""
    begins = [0, *(high + 1 for _, high in ranges)]
    ends = [*(low - 1 for low, _ in ranges), ALL[0][1]]
    return tuple((low, high) for low, high in zip(begins, ends, strict=True) if low <= high)


def _of(*texts: str) -> Ranges:
    return merged((ord(text[0]), ord(text[-1])) for text in texts)


PERL: Final[dict[str, Ranges]] = {
    "d": _of("09"),
    "s": _of("\t\n", "\f\r", " "),
    "w": _of("09", "AZ", "_", "az"),
}
NAMED: Final[dict[str, Ranges]] = {
    "alnum": _of("09", "AZ", "az"),
    "alpha": _of("AZ", "az"),
    "ascii": _of("\0\x7f"),
    "blank": _of("\t", " "),
    "cntrl": _of("\0\x1f", "\x7f"),
    "digit": _of("09"),
    "graph": _of("!~"),
    "lower": _of("az"),
    "print": _of(" ~"),
    "punct": _of("!/", ":@", "[`", "{~"),
    "space": _of("\t\r", " "),
    "upper": _of("AZ"),
    "word": _of("09", "AZ", "_", "az"),
    "xdigit": _of("09", "AF", "af"),
}


@lru_cache(maxsize=1)
def _categories() -> dict[str, Ranges]:
    """The characters of each general category of Unicode."""
    found: dict[str, list[tuple[int, int]]] = {}
    for code in range(sys.maxunicode + 1):
        ranges = found.setdefault(unicodedata.category(chr(code)), [])
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return {name: tuple(ranges) for name, ranges in found.items()}


def general(name: str) -> Ranges | None:
    """Return the characters of a general category (Lu), or of all that begin so (L); None of another name."""
    if name == "Any":
        return ALL
    if len(name) > 2 or name in {"C", "Cn"}:  # whether what is not assigned counts differs between tables
        return None
    found = [span for key, ranges in _categories().items() if key.startswith(name) for span in ranges]
    return merged(found) if found else None


def _folded(char: str) -> str:
    """Return what characters have in common that differ in case alone."""
    made = char.casefold()
    made = made if len(made) == 1 else char.lower()
    return made if len(made) == 1 else char


@lru_cache(maxsize=1)
def _alike() -> tuple[tuple[int, ...], ...]:
    """Characters that differ in case alone, those that belong together."""
    found: dict[str, list[int]] = {}
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if char.lower() != char or char.upper() != char or char.casefold() != char:
            found.setdefault(_folded(char), []).append(code)
    return tuple(tuple(codes) for codes in found.values() if len(codes) > 1)


def closed(ranges: Ranges) -> Ranges:
    """Return the characters, and all that differ from one of them in case alone."""
    if not ranges or ranges == ALL:
        return ranges
    begins = [low for low, _ in ranges]

    def inside(code: int) -> bool:
        place = bisect_right(begins, code) - 1
        return place >= 0 and code <= ranges[place][1]

    more = [(code, code) for codes in _alike() if any(map(inside, codes)) for code in codes]
    return merged([*ranges, *more])
