"""Attention with masks of several forms: what is added to the scores, and the scores over keys that follow a past."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to
from specgate.execution.kernels.products import multiply_matrices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Sizes", "attend_masked", "summand", "with_past"]

_SINGLE: Final = np.dtype(np.float32)


class Sizes(NamedTuple):
    """How many there are; keys: with those of the past."""

    batch: int
    heads: int
    queries: int
    keys: int
    past: int


def with_past(
    keys: NDArray[Any],
    values: NDArray[Any],
    past: Sequence[NDArray[Any] | None],
    past_length: NDArray[Any] | None,
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Return all keys and all values, [batch, heads, time, size], and how much of them is past.

    past_length: one element; the past is a buffer with that much in it, and what is new is written behind that.
    """
    first, second = past
    require_shape("attention", "values by batch, head and time", values.shape[:3], keys.shape[:3])
    if first is None or second is None:
        if first is not second or past_length is not None:
            raise InputError("attention: expected past keys and values, or neither and no length of them")
        return np.ascontiguousarray(keys), np.ascontiguousarray(values), 0
    room = first.shape[2] if first.ndim == 4 else 0
    for each, new in ((first, keys), (second, values)):
        require_shape("attention", "a past", each.shape, (*new.shape[:2], room, new.shape[3]))
    if past_length is None:
        return np.concatenate([first, keys], axis=2), np.concatenate([second, values], axis=2), room
    require_shape("attention", "a length", (past_length.size,), (1,))
    length = int(past_length.reshape(()))
    if not 0 <= length <= room - keys.shape[2]:
        raise InputError(f"attention: {length} past and {keys.shape[2]} new keys do not go into a buffer of {room}")
    written = [each.copy() for each in (first, second)]
    for each, new in zip(written, (keys, values), strict=True):
        each[:, :, length : length + new.shape[2]] = new
    return written[0], written[1], length


def summand(
    mask: NDArray[Any] | None,
    score_bias: NDArray[Any] | None,
    sizes: Sizes,
    filter_value: float,
    *,
    with_starts: bool = False,
) -> NDArray[Any] | None:
    """Return what is added to scores, in a shape that broadcasts to theirs; None for nothing.

    with_starts: a mask may be of two numbers for each batch.
    """
    found: NDArray[Any] | None = None
    if mask is not None:
        if mask.ndim == 1 and mask.size == 2 * sizes.batch and sizes.batch and not with_starts:
            raise InputError(f"attention: a mask {list(mask.shape)} is none for {sizes.batch} batches")
        found = np.where(_hidden(mask, sizes), np.float32(filter_value), np.float32(0))
    if score_bias is not None:
        shape = (sizes.batch, sizes.heads, sizes.queries, sizes.keys)
        fits = score_bias.ndim == 4 and score_bias.shape[2:] == shape[2:]
        if not fits or any(n not in {1, m} for n, m in zip(score_bias.shape[:2], shape[:2], strict=True)):
            raise InputError(f"attention: a bias of scores {list(score_bias.shape)} does not go with {list(shape)}")
        wide = round_to(score_bias, _SINGLE)
        found = wide if found is None else found + wide
    return found


def _hidden(mask: NDArray[Any], sizes: Sizes) -> NDArray[np.bool_]:
    """Return which scores a mask hides, in a shape that broadcasts to theirs."""
    places = np.arange(sizes.keys)
    if mask.ndim == 1 and mask.size == 2 * sizes.batch:
        end, start = mask.reshape(2, -1, 1, 1, 1)
        return np.asarray((places >= end) | (places < start))
    if mask.ndim == 1 and mask.size in {sizes.batch, 3 * sizes.batch + 2}:
        return np.asarray(places >= mask[: sizes.batch].reshape(-1, 1, 1, 1))
    if mask.ndim == 4:
        side = mask.shape[2]
        require_shape("attention", "a mask", mask.shape, (sizes.batch, 1, max(side, sizes.keys), side))
        return np.asarray(mask[:, :, sizes.past : sizes.past + sizes.queries, : sizes.keys] <= 0)
    shape = (sizes.batch, sizes.keys) if mask.ndim == 2 else (sizes.batch, sizes.queries, sizes.keys)
    require_shape("attention", "a mask", mask.shape, shape)
    return np.asarray((mask <= 0).reshape(sizes.batch, 1, sizes.queries if mask.ndim == 3 else 1, sizes.keys))


def attend_masked(
    query: NDArray[Any],
    keys: NDArray[Any],
    values: NDArray[Any],
    added: NDArray[Any] | None,
    sizes: Sizes,
    *,
    scale: float | None = None,
    causal: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return softmax(scale * query @ keys + added) @ values, and that softmax.

    query, keys, values: float32 [batch, heads, time, size]. scale: 1 / sqrt(size) without, or if 0. causal: a query
    sees no keys behind its own place, which is counted behind the past.
    """
    same = query.shape[:2] == keys.shape[:2] and query.shape[3] == keys.shape[3] and keys.shape[:3] == values.shape[:3]
    if not same:
        raise InputError(f"attention: {query.shape}, {keys.shape} and {values.shape} do not go together")
    memory.empty((sizes.batch, sizes.heads, sizes.queries, sizes.keys), np.dtype(np.float64))
    factor = np.float32(scale or 1 / np.sqrt(query.shape[3]))
    scores = multiply_matrices(query * factor, np.swapaxes(keys, 2, 3))
    if added is not None:
        scores = scores + added
    if causal:
        ahead = np.arange(sizes.keys) > np.arange(sizes.queries)[:, np.newaxis] + sizes.past
        scores = np.where(ahead, np.float32(-np.inf), scores)
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=np.float32(-np.inf)))
    shares = raised / raised.sum(axis=-1, keepdims=True)
    return multiply_matrices(shares, values), shares
