"""Sets of values that a choice may have: arithmetic progressions and words, with the arithmetic that rules use."""

from __future__ import annotations

from math import gcd, lcm
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["TOP", "Span", "Values", "add", "divide", "join", "meet", "modulo", "multiply", "negate", "point"]

#: Beyond every number that a descriptor holds: stands for no bound.
TOP: Final = 2**80
_MOST: Final = 24
_ALIGNMENTS: Final = 64


class Span(NamedTuple):
    """Every `step`-th number from `low` to `high`, both included; a single number has a step of 0."""

    low: Any
    high: Any
    step: int = 1

    def holds(self, value: Any) -> bool:
        if not self.low <= value <= self.high:
            return False
        return self.step <= 1 or (value - self.low) % self.step == 0


#: Numbers (any of the spans), or words and truth values. None in their place: nothing is known, all may be.
Values: TypeAlias = "tuple[Span, ...] | frozenset[Any]"


def point(number: Any) -> Span:
    """Return the span of one number."""
    return Span(number, number, 0)


def join(parts: Iterable[Values | None]) -> Values | None:
    """Return what is in any of `parts`."""
    spans: list[Span] = []
    words: set[Any] = set()
    worded = False
    for part in parts:
        if part is None:
            return None
        if isinstance(part, frozenset):
            words |= part
            worded = True
        else:
            spans += part
    if worded:
        return frozenset(words)
    return tuple(dict.fromkeys(spans)) if len(spans) <= _MOST else (_around(spans),)


def _around(spans: list[Span]) -> Span:
    return Span(min(span.low for span in spans), max(span.high for span in spans))


def meet(one: Values | None, other: Values | None) -> Values | None:
    """Return what is in both."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, frozenset) or isinstance(other, frozenset):
        return one & other if isinstance(one, frozenset) and isinstance(other, frozenset) else one
    found = [both for a in one for b in other if (both := _common(a, b)) is not None]
    return tuple(dict.fromkeys(found)) if len(found) <= _MOST else (_around(found),)


def _common(one: Span, other: Span) -> Span | None:
    if one.step < other.step:
        one, other = other, one
    low, high = max(one.low, other.low), min(one.high, other.high)
    if low > high:
        return None
    if one.step <= 1:
        return Span(low, high, 1) if low < high else point(low)
    low += (one.low - low) % one.step
    for start in range(low, min(high, low + _ALIGNMENTS * one.step) + 1, one.step):
        if other.holds(start):
            return Span(start, high, lcm(one.step, max(other.step, 1))) if start < high else point(start)
    return None


def _span(low: Any, high: Any, step: int = 1) -> Span:
    if low <= -TOP:
        return Span(-TOP, min(high, TOP), 1)
    return Span(low, min(high, TOP), step)


def add(one: Span, other: Span) -> Span:
    """Return the sums."""
    return _span(one.low + other.low, one.high + other.high, gcd(one.step, other.step))


def negate(span: Span) -> Span:
    """Return the numbers with the other sign."""
    high = -span.low
    low = -span.high
    if span.step > 1 and span.high < TOP:
        low = high - (high - low) // span.step * span.step
    return _span(low, high, span.step if span.high < TOP else min(span.step, 1))


def multiply(one: Span, other: Span) -> Span:
    """Return the products."""
    corners = [a * b for a in one[:2] for b in other[:2]]
    low, high = min(corners), max(corners)
    if one.low < 0 or other.low < 0 or isinstance(low, float):
        return _span(low, high, 1 if low < high else 0)
    return _span(low, high, gcd(one.step * other.low, other.step * one.low, one.step * other.step))


def divide(one: Span, other: Span) -> Span | None:
    """Return the quotients, rounded down; None where the divisor may be 0 or less."""
    if other.low <= 0:
        return None if other.high <= 0 else divide(one, Span(1, other.high))
    corners = [a // b for a in one[:2] for b in other[:2]]
    return _span(min(corners), max(corners), 1 if min(corners) < max(corners) else 0)


def modulo(one: Span, other: Span) -> Span | None:
    """Return the remainders."""
    if other.low <= 0:
        return None
    if one.low == one.high and other.low == other.high:
        return point(one.low % other.low)
    return _span(0, other.high - 1)
