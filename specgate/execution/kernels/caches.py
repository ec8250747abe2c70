"""Caches of keys and values: numbers of few bits in them, and which rows and places of a batch count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import require_shape, round_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["Cut", "Store", "Times", "cuts_of", "written"]

_SINGLE: Final = np.dtype(np.float32)


class Store(NamedTuple):
    """What a cache holds. bits: of a number; 0 for floats. dtype: of its elements. scale: what a number is worth."""

    bits: int
    dtype: np.dtype[Any]
    size: int
    scale: NDArray[Any] | None = None

    @property
    def width(self) -> int:
        """How many elements a row has: two numbers of 4 bits share one."""
        return -(-self.size // 2) if self.bits == 4 else self.size


class Times(NamedTuple):
    """How long things are. queries, new: of this step; total: what all is at most; room: rows of the past, -1 without.

    window: how many keys a query sees at most, 0 for all. rolling: the cache holds the last places alone.
    """

    queries: int
    new: int
    total: int
    room: int
    window: int = 0
    causal: bool = True
    rolling: bool = False


class Cut(NamedTuple):
    """What of a batch counts. old: rows that are taken of the past; dropped: rows of old and new that are not kept.

    base: the place of the first row. starts, ends: of the places that each query sees. length: past and new.
    """

    old: int
    dropped: int
    base: int
    starts: NDArray[Any]
    ends: NDArray[Any]
    length: int


def cuts_of(lengths: NDArray[Any], times: Times) -> Iterator[Cut]:
    """Yield what counts of each batch; lengths: [batch], less one. Raise InputError where the past has not as much."""
    for last in lengths.tolist():
        length = last + 1
        first = times.total == times.queries and not times.rolling
        before = 0 if first or times.room < 0 else length - times.queries
        old = length if not times.new else _resident(before, times) if times.rolling else before
        if before < 0 or not 1 <= length <= times.total or old > max(times.room, 0):
            raise InputError(f"attention: {length} of {times.total} places do not go with {times}")
        base = before - old if times.rolling else 0
        dropped = old + times.new - _resident(length, times) if times.rolling else 0
        steps = np.arange(times.queries)
        ends = np.minimum(before + steps + 1, length) if times.causal else np.full(times.queries, length)
        starts = np.maximum(ends - times.window, 0) if times.window else np.zeros_like(ends)
        yield Cut(old, dropped, base, starts, ends, length)


def _resident(length: int, times: Times) -> int:
    """Return how many of so many places a rolling cache holds: it lets go of all behind a window at once."""
    if length <= times.room:
        return length
    gap = times.room - times.window + 1
    return length - gap * -(-(length - times.room) // gap)


def written(
    past: NDArray[Any] | None, new: NDArray[Any], cut: Cut, room: int, store: Store
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the cache of a batch, [heads, room, width], and its rows as float32, [heads, rows, size].

    past: [heads, room, width]. new: [heads, rows, size], floats.
    """
    rows = _coded(new, store)
    if past is not None and cut.old:
        rows = np.concatenate([past[:, : cut.old], rows], axis=1)
    kept = rows[:, cut.dropped :]
    present = np.zeros((len(rows), room, store.width), store.dtype)
    present[:, : kept.shape[1]] = kept
    return present, _decoded(rows, store)


def _factors(store: Store, heads: int) -> NDArray[Any]:
    """Return what numbers are worth, [heads or 1, 1, size or 1]."""
    scale = np.asarray(store.scale, np.float32)
    if scale.size == 1:
        return scale.reshape(1, 1, 1)
    require_shape("attention", "scales of a cache", (scale.size,), (heads * store.size,))
    return scale.reshape(heads, 1, store.size)


def _coded(new: NDArray[Any], store: Store) -> NDArray[Any]:
    """Return numbers of few bits as the cache holds them; halves go to the even neighbour, nan to the greatest."""
    if not store.bits:
        return new
    factors = _factors(store, len(new))
    most = 2 ** (store.bits - 1)
    made = np.rint(round_to(new, _SINGLE) * np.where(factors == 0, np.float32(1), 1 / factors))
    numbers = np.where(np.isnan(made), most - 1, np.clip(made, -most, most - 1)).astype(np.int8)
    if store.bits != 4:
        return np.asarray(numbers.astype(store.dtype))
    raised = (numbers + 8).astype(np.uint8)
    if store.size % 2:
        raised = np.concatenate([raised, np.full((*raised.shape[:2], 1), 8, np.uint8)], axis=2)
    return np.asarray(raised[..., ::2] | (raised[..., 1::2] << 4))


def _decoded(rows: NDArray[Any], store: Store) -> NDArray[Any]:
    if not store.bits:
        return round_to(rows, _SINGLE)
    numbers = rows
    if store.bits == 4:
        spread = np.stack([rows & 15, rows >> 4], axis=-1).reshape(*rows.shape[:2], 2 * rows.shape[2])
        numbers = spread[..., : store.size].astype(np.int8) - np.int8(8)
    return np.asarray(numbers.astype(np.float32) * _factors(store, len(rows)))
