"""Memory layouts to try for a tensor: strides, total size, alignment and flags, from ordinary ones to odd ones."""

from __future__ import annotations

from itertools import accumulate
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Any

from specgate.rules.primitives import overlapping
from specgate.testing.choices import one_of, rotated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["layout_candidates", "packed"]

_ODD = (2**31, 2**32 - 1, 65536, 0)


def packed(sizes: Sequence[int], order: Sequence[int] | None = None) -> tuple[int, ...]:
    """Return the strides of `sizes` without gaps; `order`: the dimensions from the slowest to the fastest."""
    order = range(len(sizes)) if order is None else order
    steps = accumulate((sizes[d] for d in reversed(order)), mul, initial=1)
    found = dict(zip(reversed(order), steps, strict=False))
    return tuple(found[d] for d in range(len(sizes)))


def _strides(sizes: Sequence[int], pick: Callable[[int, int], int], *, shared: bool) -> tuple[int, ...]:
    """Return strides that are packed, permuted, padded or (where elements may be `shared`) broadcast."""
    rank = len(sizes)
    kind = pick(0, 3 if shared else 2)
    if kind == 0 or rank == 0:
        return packed(sizes)
    if kind == 1:
        order = list(range(rank))
        for here in range(rank - 1, 0, -1):
            there = pick(0, here)
            order[here], order[there] = order[there], order[here]
        return packed(sizes, order)
    if kind == 2:
        return packed([size + pick(0, 2) for size in sizes])
    return tuple(stride if pick(0, 1) else 0 for stride in packed(sizes))


def layout_candidates(
    aspect: str,
    sizes: Sequence[int],
    mentions: Callable[[], list[Any]],
    pick: Callable[[int, int], int],
    *,
    shared: bool,
) -> Iterator[Any]:
    """Yield values for one aspect of a tensor's layout, None for one that is left out.

    aspect: strides, size_in_bytes, alignment or flags. shared: elements may lie on top of each other (inputs only).
    """
    # Left out three times of four; the other values follow in case that a rule wants it there.
    given = pick(0, 3) == 3
    if not given:
        yield None
    if aspect == "strides":
        made = _strides(sizes, pick, shared=shared)
        if shared or not overlapping(sizes, made):
            yield made
        yield None
        yield packed(sizes)
        yield from _odd_strides(packed(sizes), pick)
        return
    numbers = [m + step for m in mentions() if isinstance(m, int) for step in (0, 4, 1, 64, -1) if m + step >= 0]
    if aspect == "size_in_bytes":
        yield one_of(pick, numbers or [4 * prod(sizes)])
        yield None
        yield from numbers
    else:
        yield from rotated(pick, [0, 1, 4, 16, 64, 256, 2, 4096] if aspect == "alignment" else [0, 1])
        yield None
        yield from rotated(pick, [3, 2, 5, 7, 12, 2**31, 2**32 - 1])
        yield from numbers


def _odd_strides(plain: tuple[int, ...], pick: Callable[[int, int], int]) -> Iterator[tuple[int, ...]]:
    """Strides with one thing wrong: too few, too many, overlapping, or far apart."""
    yield from rotated(pick, [plain[1:], (*plain, 1), (0,) * len(plain), (1,) * len(plain)])
    for stride in _ODD:
        yield from rotated(pick, [(*plain[:d], stride, *plain[d + 1 :]) for d in range(len(plain))])
