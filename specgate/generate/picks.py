"""Where choices come from: hypothesis, or a seeded generator of random numbers. Nothing else here knows which.

`pick(low, high)` returns an integer between the two, both included; lower ones count as simpler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["one_of", "rotated"]

T = TypeVar("T")


def one_of(pick: Callable[[int, int], int], options: Sequence[T]) -> T:
    """Return one of `options`, the simplest of them first."""
    return options[pick(0, len(options) - 1)] if len(options) > 1 else options[0]


def rotated(pick: Callable[[int, int], int], options: Sequence[Any]) -> Iterator[Any]:
    """Yield every option once, from a chosen one on: a first choice, and then the others in case it is of no use."""
    if options:
        start = pick(0, len(options) - 1)
        yield options[start]
        yield from options[start + 1 :]
        yield from options[:start]
