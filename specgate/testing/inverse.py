"""Arithmetic backwards: which operand gives a wanted result, the other operand being known or within bounds."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any, Final

from specgate.testing.ranges import TOP, Span, add, negate, point

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["dividend", "divisor", "factor", "minuend", "modulo_of", "subtrahend", "summand"]

_MOST_DIVISIBLE: Final = 4096


def summand(wanted: tuple[Span, ...], other: Span) -> tuple[Span, ...]:
    """Return every x for which x + other may be wanted."""
    return tuple(add(span, negate(other)) for span in wanted)


def minuend(wanted: tuple[Span, ...], other: Span) -> tuple[Span, ...]:
    """Return every x for which x - other may be wanted."""
    return tuple(add(span, other) for span in wanted)


def subtrahend(wanted: tuple[Span, ...], other: Span) -> tuple[Span, ...]:
    """Return every x for which other - x may be wanted."""
    return tuple(add(other, negate(span)) for span in wanted)


def factor(wanted: tuple[Span, ...], other: Span) -> tuple[Span, ...] | None:
    """Return every x for which x * other may be wanted; None where nothing can be said."""
    if isinstance(other.low, float) or any(isinstance(span.low, float) for span in wanted):
        return None
    if other.high < 0:
        return factor(tuple(negate(span) for span in wanted), negate(other))
    if other.low <= 0:
        if other.low < 0 or any(span.holds(0) for span in wanted):
            return None
        other = Span(1, other.high)
        if other.high < 1:
            return ()
    return tuple(made for span in wanted for made in _factors(span, other))


def _factors(span: Span, other: Span) -> Iterator[Span]:
    if other.low == other.high:
        yield from _shares(span, other.low)
        return
    if 0 < span.low == span.high <= _MOST_DIVISIBLE:
        number = span.low
        low, high = -(-number // other.high), number // other.low
        yield from (point(n) for n in range(low, high + 1) if number % n == 0 and other.holds(number // n))
        return
    low = -(-span.low // other.high) if span.low > 0 else span.low if span.low <= -TOP else -(-span.low // other.low)
    high = span.high if span.high >= TOP else span.high // other.low if span.high >= 0 else span.high // other.high
    if low <= high:
        yield Span(low, high)


def _shares(span: Span, number: int) -> Iterator[Span]:
    """Every x with x * number in `span`."""
    low = span.low if span.low <= -TOP else -(-span.low // number)
    high = span.high if span.high >= TOP else span.high // number
    step = 1
    if span.step > 1:
        shared = gcd(span.step, number)
        if span.low % shared:
            return  # no multiple ever comes by
        cycle = number // shared
        first = -span.low // shared * pow(span.step // shared, -1, cycle) % cycle if cycle > 1 else 0
        low, step = (span.low + first * span.step) // number, span.step // shared
        high -= (high - low) % step if span.high < TOP else 0
    if low <= high:
        yield Span(low, high, step) if low < high else point(low)


def dividend(wanted: tuple[Span, ...], other: Span) -> tuple[Span, ...] | None:
    """Return every x for which x // other may be wanted."""
    if other.high < 1:
        return None
    other = other if other.low > 0 else Span(1, other.high)
    found = []
    for span in wanted:
        low = span.low * (other.low if span.low >= 0 else other.high) if span.low > -TOP else -TOP
        high = (span.high + 1) * (other.high if span.high >= 0 else other.low) - 1 if span.high < TOP else TOP
        found.append(Span(max(low, -TOP), min(high, TOP)))
    return tuple(found)


def divisor(wanted: tuple[Span, ...], other: Span) -> tuple[Span, ...] | None:
    """Return every x above 0 for which other // x may be wanted."""
    if other.low < 0:
        return None
    found = []
    for span in wanted:
        high = other.high // span.low if span.low > 0 else TOP
        low = other.low // (span.high + 1) + 1 if 0 <= span.high < TOP else 1
        if low <= high:
            found.append(Span(low, high))
    return tuple(found)


def modulo_of(wanted: tuple[Span, ...], other: Span) -> tuple[Span, ...] | None:
    """Return every x from 0 on for which x % other may be wanted."""
    if other.low != other.high or other.low <= 0 or any(span.low != span.high for span in wanted):
        return None
    remainders: list[Any] = [span.low for span in wanted if 0 <= span.low < other.low]
    return tuple(Span(n, TOP, other.low) for n in remainders)
