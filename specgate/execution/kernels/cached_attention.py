"""Attention over keys and values in a cache that heads of queries share: what is new is written behind what is past."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to
from specgate.execution.kernels.caches import Store, Times, cuts_of, written
from specgate.execution.kernels.elementwise import quiet, want_float
from specgate.execution.kernels.products import multiply_matrices
from specgate.execution.kernels.turned_pairs import rotate_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from specgate.execution.kernels.caches import Cut

__all__ = ["attend_cached"]

_SINGLE: Final = np.dtype(np.float32)
#: What of the scores is returned: nothing, what softmax is taken of, or what it gives.
_SHOWN: Final = range(3)


class _Way(NamedTuple):
    """How scores become shares. sinks: [heads], what each softmax counts beside them, None for nothing."""

    scale: float
    cap: float
    sinks: NDArray[Any] | None
    shown: int


def attend_cached(
    query: NDArray[Any],
    lengths: NDArray[Any],
    total: NDArray[Any],
    key: NDArray[Any] | None = None,
    value: NDArray[Any] | None = None,
    past_key: NDArray[Any] | None = None,
    past_value: NDArray[Any] | None = None,
    cosines: NDArray[Any] | None = None,
    sines: NDArray[Any] | None = None,
    positions: NDArray[Any] | None = None,
    score_bias: NDArray[Any] | None = None,
    sinks: NDArray[Any] | None = None,
    key_scale: NDArray[Any] | None = None,
    value_scale: NDArray[Any] | None = None,
    query_weight: NDArray[Any] | None = None,
    key_weight: NDArray[Any] | None = None,
    *,
    heads: int,
    shared_heads: int,
    scale: float | None = None,
    cap: float = 0.0,
    causal: int = 1,
    window: int = -1,
    rolling: bool = False,
    rotated: bool = False,
    interleaved: bool = False,
    smooth: bool = False,
    shown: int = 0,
    epsilon: float = 1e-6,
    bits: int = 0,
    key_way: str = "NONE",
    value_way: str = "NONE",
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Return attention, all keys, all values, and where `shown` is not 0 the scores.

    query: [batch, time, heads * size]; key, value: [batch, time, shared_heads * size], or neither, and the query holds
    them behind its own. Of no time, the past has all keys. lengths: [batch], less one, of what is past and new; total:
    the longest; where it is the time of the query nothing is past. past_key, past_value: [batch, shared_heads, room,
    size]; the result has as much room, or `total` if that is more, and zeros where nothing is written. cosines, sines:
    [places, pairs], by which queries and keys are turned where `rotated`. positions: [batch, time], of a first prompt
    the first one alone. score_bias: broadcasts to [batch, heads, time, total]. sinks: [heads], what each softmax counts
    beside the scores, 0 with `smooth`. query_weight, key_weight: [size], for a root mean square normalization of each
    head. cap: scores become cap * tanh(score / cap), where it is above 0. causal: a query sees no key behind it;
    window: no more keys than so many, -1 for all. rolling: the past holds the last places only, `window` at least, and
    what else the result has is masked. key_way, value_way: NONE, or the cache has numbers of so many bits, two of 4 in
    a byte, that are worth key_scale and value_scale, PER_TENSOR one, PER_CHANNEL shared_heads * size. shown: 1 before
    softmax, 2 after it, masked behind a batch's end.
    """
    wide, *new = _by_heads(query, key, value, heads, shared_heads)
    batch, size = wide.shape[0], wide.shape[3]
    past = None if past_key is None or past_value is None else (past_key, past_value)
    if shown not in _SHOWN:
        raise InputError(f"attention: expected scores of {list(_SHOWN)}, found {shown}")
    if (past_key is None) != (past_value is None) or (past is None and rolling) or total.size != 1:
        raise InputError("attention: expected past keys and past values or neither, and one total length")
    room = -1 if past is None else past[0].shape[2] if past[0].ndim == 4 else 0
    times = Times(wide.shape[2], new[0].shape[2], int(total.reshape(())), room, max(window, 0), causal == 1, rolling)
    _hold_times(times, causal, window)
    require_shape("attention", "lengths", lengths.shape, (batch,))
    stores = _stores(
        past, (shared_heads, size), {"key": (key_way, key_scale), "value": (value_way, value_scale)}, bits, query
    )
    if sinks is not None:
        require_shape("attention", "sinks", sinks.shape, (heads,))
    with quiet():
        if query_weight is not None or key_weight is not None:
            wide, new[0] = _normal(wide, query_weight, epsilon), _normal(new[0], key_weight, epsilon)
        places = _places(positions, lengths, times)
        if rotated or cosines is not None or sines is not None:
            _hold_angles(cosines, sines, size, times.total)
        if rotated and cosines is not None and sines is not None:
            wide, new[0] = (
                rotate_pairs(each, cosines, sines, places, interleaved=int(interleaved), turned=2 * cosines.shape[1])
                if each.size else each for each in (wide, new[0])
            )  # fmt: skip
        way = _Way(
            scale or 1 / float(np.sqrt(size)), cap, np.zeros(heads) if smooth and sinks is None else sinks, shown
        )
        return _attended(wide, new, past, times, stores, lengths, score_bias, way)


def _hold_times(times: Times, causal: int, window: int) -> None:
    """Raise InputError unless lengths, windows and caches go together."""
    if causal not in {0, 1} or window < -1 or window == 0 or (not causal and window != -1):
        raise InputError(f"attention: expected a window of -1 or more than 0, for causal 1, found {window}, {causal}")
    if times.rolling:
        if not 1 <= times.window <= times.room or times.new != times.queries or times.total < 1:
            raise InputError(f"attention: a cache of {times.room} places is none for a window of {window}")
        return
    if times.new != times.queries and (times.new or times.room < 0):
        raise InputError(f"attention: {times.new} keys do not go with {times.queries} queries")
    past = max(times.room, 0)
    if times.total < max(times.new, 1) or (times.total > past and (not times.new or times.total != past + times.new)):
        raise InputError(f"attention: {past} past and {times.new} new places are not {times.total}")


def _by_heads(
    query: NDArray[Any], key: NDArray[Any] | None, value: NDArray[Any] | None, heads: int, shared: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return queries, keys and values, [batch, heads, time, size]."""
    given = [query] if key is None and value is None else [query, key, value]
    parts = [each for each in given if each is not None and each.ndim == 3 and each.dtype == query.dtype]
    if len(parts) != len(given) or heads < 1 or shared < 1 or heads % shared:
        raise InputError(
            f"attention: expected queries, keys and values of 3 dimensions, and not {heads} and {shared} heads"
        )
    want_float("attention", query)
    counts = [heads + 2 * shared] if len(parts) == 1 else [heads, shared, shared]
    size = query.shape[2] // counts[0]
    if not size or any(each.shape[::2] != (len(query), n * size) for each, n in zip(parts, counts, strict=True)):
        raise InputError(f"attention: {[list(each.shape) for each in parts]} do not fall into {counts} heads")
    split = [each.reshape(*each.shape[:2], n, size).swapaxes(1, 2) for each, n in zip(parts, counts, strict=True)]
    if len(split) == 1:
        ends = [0, heads, heads + shared, heads + 2 * shared]
        split = [split[0][:, first:end] for first, end in pairwise(ends)]
    require_shape("attention", "values", split[2].shape, split[1].shape)
    return split[0], split[1], split[2]


def _stores(
    past: tuple[NDArray[Any], NDArray[Any]] | None,
    sizes: tuple[int, int],
    ways: dict[str, tuple[str, NDArray[Any] | None]],
    bits: int,
    query: NDArray[Any],
) -> list[Store]:
    """Return what the caches of keys and of values hold; sizes: how many heads, and of how many elements."""
    if len({way == "NONE" for way, _ in ways.values()}) != 1:
        raise InputError("attention: expected keys and values that are both quantized, or neither")
    stores = [_store(scale, way, bits, sizes, query.dtype) for way, scale in ways.values()]
    for each, store in zip(past or (), stores, strict=False):
        room = past[0].shape[2] if past is not None and past[0].ndim == 4 else 0
        require_shape("attention", "a past", each.shape, (len(query), sizes[0], room, store.width))
        if each.dtype != store.dtype:
            raise InputError(f"attention: a past of {each.dtype} is none of {store.dtype}")
    return stores


def _store(scale: NDArray[Any] | None, way: str, bits: int, sizes: tuple[int, int], dtype: np.dtype[Any]) -> Store:
    """Return what a cache holds; sizes: how many heads, and of how many elements."""
    if way == "NONE" and not bits:
        return Store(0, dtype, sizes[1])
    elements = {"PER_TENSOR": 1, "PER_CHANNEL": sizes[0] * sizes[1]}.get(way)
    if bits not in {4, 8} or scale is None or scale.size != elements:
        raise InputError(f"attention: expected scales {way} of numbers of 4 or 8 bits, found {bits} bits")
    return Store(bits, np.dtype(np.uint8 if bits == 4 else np.int8), sizes[1], scale)


def _normal(x: NDArray[Any], weight: NDArray[Any] | None, epsilon: float) -> NDArray[Any]:
    """Return each row less its size, the root of its mean square, times a weight for each element."""
    if weight is None:
        raise InputError("attention: expected weights for the norms of queries and of keys, or neither")
    require_shape("attention", "a weight", weight.shape, (x.shape[3],))
    wide = round_to(x, _SINGLE)
    mean = (wide * wide).mean(axis=-1, keepdims=True)
    return round_to(wide / np.sqrt(mean + np.float32(epsilon)) * round_to(weight, _SINGLE), x.dtype)


def _places(positions: NDArray[Any] | None, lengths: NDArray[Any], times: Times) -> NDArray[Any]:
    """Return the place of each query, [batch, time]."""
    steps = np.arange(times.queries)
    first = times.total == times.queries
    if positions is None:
        return np.broadcast_to(steps if first else lengths[:, np.newaxis] + 1 - times.queries + steps,
                               (len(lengths), times.queries))  # fmt: skip
    require_shape("attention", "positions", positions.shape, (len(lengths), times.queries))
    return np.broadcast_to(positions.flat[0] + steps, positions.shape) if first and positions.size else positions


def _hold_angles(cosines: NDArray[Any] | None, sines: NDArray[Any] | None, size: int, total: int) -> None:
    """Raise InputError unless there are angles for all places."""
    if cosines is None or sines is None or cosines.shape != sines.shape or cosines.ndim != 2:
        raise InputError("attention: expected caches of angles of one shape, by place and pair")
    if not 1 <= cosines.shape[1] <= size // 2 or len(cosines) < total:
        raise InputError(f"attention: caches {list(cosines.shape)} do not go with {total} places and heads of {size}")


def _attended(
    wide: NDArray[Any],
    new: list[NDArray[Any]],
    past: tuple[NDArray[Any], NDArray[Any]] | None,
    times: Times,
    stores: list[Store],
    lengths: NDArray[Any],
    score_bias: NDArray[Any] | None,
    way: _Way,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    batch, heads, queries, size = wide.shape
    room = times.room if times.rolling else max(times.total, times.room)
    bias = _bias(score_bias, (batch, heads, queries, times.total))
    result = memory.empty((batch, queries, heads * size), wide.dtype)
    caches = [memory.empty((batch, new[0].shape[1], room, store.width), store.dtype) for store in stores]
    scores = np.ma.MaskedArray(memory.empty((batch, heads, queries, times.total), wide.dtype), True)
    free = np.zeros((batch, 1, room, 1), np.bool_)
    for at, cut in memory.in_time(enumerate(cuts_of(lengths, times))):
        rows = []
        for which, store in enumerate(stores):
            cache, found = written(None if past is None else past[which][at], new[which][at], cut, room, store)
            caches[which][at] = cache
            rows.append(found[:, : cut.length - cut.base])  # what follows is padding
        free[at, :, rows[0].shape[1] - cut.dropped :] = times.rolling
        last = cut.base + rows[0].shape[1]
        added = None if bias is None else round_to(bias[at, ..., cut.base : last], _SINGLE)
        found, shown = _one(round_to(wide[at], _SINGLE), rows[0], rows[1], cut, added, way)
        result[at] = round_to(found.swapaxes(0, 1).reshape(queries, heads * size), wide.dtype)
        scores[at, ..., : cut.length] = 0
        scores[at, ..., cut.base : last] = round_to(shown, wide.dtype)
        scores[at, ..., cut.length :] = np.ma.masked
        scores[at, :, cut.length :] = np.ma.masked
    if times.rolling:
        caches = [np.ma.MaskedArray(cache, np.broadcast_to(free, cache.shape)) for cache in caches]
    padding = np.broadcast_to((np.arange(queries) > lengths[:, np.newaxis])[..., np.newaxis], result.shape)
    result = np.ma.MaskedArray(result, padding) if times.total == queries and padding.any() else result
    return result, caches[0], caches[1], scores if way.shown else None


def _bias(score_bias: NDArray[Any] | None, shape: tuple[int, ...]) -> NDArray[Any] | None:
    if score_bias is None:
        return None
    fits = score_bias.ndim == 4 and score_bias.shape[2:] == shape[2:]
    if not fits or any(n not in {1, m} for n, m in zip(score_bias.shape[:2], shape[:2], strict=True)):
        raise InputError(f"attention: a bias of scores {list(score_bias.shape)} does not go with {list(shape)}")
    return np.broadcast_to(score_bias, shape)


def _one(
    query: NDArray[Any], keys: NDArray[Any], values: NDArray[Any], cut: Cut, bias: NDArray[Any] | None, way: _Way
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the attention of a batch, [heads, time, size], and its scores, [heads, time, keys]."""
    heads, queries, size = query.shape
    shared, count = keys.shape[:2]
    split = query.reshape(shared, heads // shared * queries, size) * np.float32(way.scale)
    scores = multiply_matrices(split, keys.swapaxes(1, 2)).reshape(heads, queries, count)
    if way.cap > 0:
        scores = np.float32(way.cap) * np.tanh(scores / np.float32(way.cap))
    if bias is not None:
        scores = scores + bias
    places = cut.base + np.arange(count)
    seen = (places >= cut.starts[:, np.newaxis]) & (places < cut.ends[:, np.newaxis])
    shares = _softmax(np.where(seen, scores, np.float32(-np.inf)), way.sinks)
    found = multiply_matrices(shares.reshape(*split.shape[:2], count), values).reshape(heads, queries, size)
    return found, np.where(seen, scores if way.shown == 1 else shares, np.float32(0))


def _softmax(scores: NDArray[Any], sinks: NDArray[Any] | None) -> NDArray[Any]:
    """Return the softmax of scores [heads, time, keys], each with a sink beside its scores."""
    top = scores.max(axis=-1, keepdims=True, initial=np.float32(-np.inf))
    beside = None if sinks is None else round_to(sinks, _SINGLE).reshape(-1, 1, 1)
    top = top if beside is None else np.maximum(top, beside)
    raised = np.exp(scores - top)
    total = raised.sum(axis=-1, keepdims=True)
    return np.asarray(raised / (total if beside is None else total + np.exp(beside - top)))
