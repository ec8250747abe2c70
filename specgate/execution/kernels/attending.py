"""Attention over heads that share keys and values, with caches, masks, a soft cap and windows; and its linear form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to
from specgate.execution.kernels.elementwise import quiet, want_float
from specgate.execution.kernels.products import multiply_matrices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Body = Callable[[Sequence[NDArray[Any]]], Sequence[Any]]

__all__ = ["attend", "attend_to_heads", "working"]

_MODES: Final = range(4)


class _Bounds(NamedTuple):
    """Which keys a query may see: none behind it, and only so many before and behind, each where it is not below 0."""

    causal: bool
    left: int
    right: int


def attend(
    query: NDArray[Any],
    key: NDArray[Any],
    value: NDArray[Any],
    mask: NDArray[Any] | None = None,
    past_key: NDArray[Any] | None = None,
    past_value: NDArray[Any] | None = None,
    valid: NDArray[Any] | None = None,
    *,
    heads: int | None = None,
    shared_heads: int | None = None,
    scale: float | None = None,
    cap: float = 0.0,
    causal: int = 0,
    left: int = -1,
    right: int = -1,
    mode: int = 0,
    precision: np.dtype[Any] | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return softmax(scale * query @ keys + mask) @ values, keys and values with what was before, and scores.

    query: [batch, heads, queries, size] or [batch, queries, heads * size]; key, value: likewise, with as many or fewer
    heads, each of which several neighbouring heads of the query share. mask: broadcast to the scores [batch, heads,
    queries, keys], truth values or summands; keys behind its end are left out. past_key, past_value: [batch, heads,
    keys, size], put before. valid: [batch], how many keys count. scale: 1 / sqrt(size) without. cap: scores become
    cap * tanh(score / cap), where it is above 0. causal: a query sees no keys behind its own place, which is counted
    behind the past, or so that the last query has the place of the last valid key; left, right: nor more than so many
    before and behind, -1 for all. mode: the scores are those of the product (0), capped (1), with the mask (2) or
    behind the softmax (3). precision: the type of the softmax. A query that sees no key gives zeros.
    """
    want_float("attention", query, key, value)
    if {query.ndim, key.ndim, value.ndim} not in ({3}, {4}) or mode not in _MODES or min(left, right) < -1:
        raise InputError(
            f"attention: expected 3 or 4 dimensions and a mode of {list(_MODES)}, found {query.ndim}, {mode}"
        )
    if (past_key is None) != (past_value is None) or (valid is not None and past_key is not None):
        raise InputError("attention: expected both a past key and a past value, or neither, and then valid keys or not")
    flat = query.ndim == 3
    wide, keys, values = (
        _by_heads(each, count, flat=flat)
        for each, count in ((query, heads), (key, shared_heads), (value, shared_heads))
    )
    keys, values = _joined(past_key, keys), _joined(past_value, values)
    _hold_sizes(wide, keys, values)
    batch, many, queries, size = wide.shape
    total = keys.shape[2]
    bounds = _Bounds(bool(causal), left, right)
    if valid is not None:
        require_shape("attention", "counts of valid keys", valid.shape, (batch,))
    shape = (batch, many, queries, total)
    memory.hold(shape, np.dtype(np.float64))
    with quiet():
        kind = working(query)
        group = many // keys.shape[1] if keys.shape[1] else 1
        factor = 1 / np.sqrt(size) if scale is None else scale
        split = wide.astype(kind).reshape(batch, keys.shape[1], group * queries, size) * kind.type(factor)
        raw = multiply_matrices(split, np.swapaxes(keys.astype(kind), 2, 3)).reshape(shape)
        capped = kind.type(cap) * np.tanh(raw / kind.type(cap)) if cap > 0 else raw
        offset = valid - queries if valid is not None else 0 if past_key is None else past_key.shape[2]
        scores = capped + _summand(mask, shape, valid, offset, bounds, kind)
        shares = _softmax(scores if precision is None else round_to(scores, precision), kind)
        shares = shares if precision is None else round_to(shares, precision).astype(kind)
        flattened = shares.reshape(batch, keys.shape[1], group * queries, total)
        result: NDArray[Any] = multiply_matrices(flattened, values.astype(kind)).reshape(
            batch, many, queries, values.shape[3]
        )
        unseen = ~(shares != 0).any(axis=-1, keepdims=True)
        if unseen.any():  # nothing, also where a value is infinite
            result = np.where(unseen, kind.type(0), result)
        if flat:
            result = result.swapaxes(1, 2).reshape(batch, queries, many * values.shape[3])
        shown = (raw, capped, scores, shares)[mode]
        return round_to(result, query.dtype), keys, values, round_to(shown, query.dtype)


def attend_to_heads(
    query: NDArray[Any],
    key: NDArray[Any],
    value: NDArray[Any],
    *,
    scale: float | None = None,
    score_graph: Body | None = None,
    share_graph: Body | None = None,
    precision: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return what `attend` does of four dimensions. score_graph, share_graph: change scores, and what softmax gives.

    They are computed in `precision`, float32 (of float64 that) without it.
    """
    if {query.ndim, key.ndim, value.ndim} != {4}:
        raise InputError("attention: expected query, key and value of 4 dimensions")
    if score_graph is None and share_graph is None:
        return attend(query, key, value, scale=scale, precision=precision)[0]
    want_float("attention", query, key, value)
    _hold_sizes(query, key, value)
    batch, many, queries, size = query.shape
    shape, kind = (batch, many, queries, key.shape[2]), working(query)
    held = kind if precision is None else precision
    factor = kind.type(1 / np.sqrt(size) if scale is None else scale)
    with quiet():
        shared = many // key.shape[1] * queries
        split = query.astype(kind).reshape(batch, key.shape[1], shared, size) * factor
        scores = round_to(multiply_matrices(split, np.swapaxes(key.astype(kind), 2, 3)).reshape(shape), held)
        scores = _changed(score_graph, scores)
        shares = _changed(share_graph, round_to(_softmax(scores.astype(kind), kind), held))
        flattened = shares.astype(kind).reshape(batch, key.shape[1], shared, key.shape[2])
        found = multiply_matrices(flattened, value.astype(kind)).reshape(batch, many, queries, value.shape[3])
        return round_to(found, query.dtype)


def _changed(graph: Body | None, array: NDArray[Any]) -> NDArray[Any]:
    if graph is None:
        return array
    found = graph([array])
    if len(found) != 1 or found[0].shape != array.shape or found[0].dtype != array.dtype:
        raise InputError(f"attention: expected a graph that gives {array.dtype} {list(array.shape)} again")
    changed: NDArray[Any] = found[0]
    return changed


def working(array: NDArray[Any]) -> np.dtype[Any]:
    """Return the type that sums of products are computed in: float64 of that, else float32."""
    return np.dtype(np.float64 if array.dtype == np.float64 else np.float32)


def _by_heads(array: NDArray[Any], heads: int | None, *, flat: bool) -> NDArray[Any]:
    if not flat:
        return array
    if not heads or heads < 1 or array.shape[2] % heads:
        raise InputError(f"attention: {array.shape[2]} elements do not fall into {heads} heads")
    return array.reshape(*array.shape[:2], heads, array.shape[2] // heads).swapaxes(1, 2)


def _joined(past: NDArray[Any] | None, new: NDArray[Any]) -> NDArray[Any]:
    if past is None:
        return np.ascontiguousarray(new)
    expected = (*new.shape[:2], past.shape[2] if past.ndim == 4 else 0, new.shape[3])
    require_shape("attention", "a past", past.shape, expected)
    if past.dtype != new.dtype:
        raise InputError(f"attention: a past of {past.dtype} does not go with {new.dtype}")
    return np.concatenate([past, new], axis=2)


def _hold_sizes(query: NDArray[Any], key: NDArray[Any], value: NDArray[Any]) -> None:
    same = query.shape[0] == key.shape[0] and query.shape[3] == key.shape[3] and key.shape[:3] == value.shape[:3]
    if not same or not key.shape[1] or query.shape[1] % key.shape[1]:
        raise InputError(f"attention: {query.shape}, {key.shape} and {value.shape} do not go together")


def _summand(
    mask: NDArray[Any] | None,
    shape: tuple[int, ...],
    valid: NDArray[Any] | None,
    offset: Any,
    bounds: _Bounds,
    kind: np.dtype[Any],
) -> NDArray[Any]:
    """Return what is added to scores: the mask, and minus infinity for what may not be seen."""
    _, _, queries, keys = shape
    allowed = np.ones((1, 1, queries, keys), np.bool_)
    ahead = np.arange(keys) - (np.arange(queries)[:, None] + np.reshape(offset, (-1, 1, 1, 1)))
    for limit, distance in ((0 if bounds.causal else -1, ahead), (bounds.right, ahead), (bounds.left, -ahead)):
        if limit >= 0:
            allowed = allowed & (distance <= limit)
    if valid is not None:
        allowed = allowed & (np.arange(keys) < valid.reshape(-1, 1, 1, 1))
    least = kind.type(-np.inf)
    added = np.zeros((), kind) if mask is None else _fitted(mask, shape, kind)
    return np.where(allowed, added, least)


def _fitted(mask: NDArray[Any], shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
    if mask.ndim > 4 or (mask.ndim > 1 and mask.shape[-2] not in {1, shape[2]}):
        raise InputError(f"attention: a mask {list(mask.shape)} does not go with {list(shape)}")
    if mask.ndim == 4 and mask.shape[0] not in {1, shape[0]}:
        raise InputError(f"attention: a mask {list(mask.shape)} does not go with {shape[0]} batches")
    least = kind.type(-np.inf)
    added = np.where(mask, kind.type(0), least) if mask.dtype.kind == "b" else mask.astype(kind)
    if mask.ndim and 1 < mask.shape[-1] < shape[3]:
        more = [(0, 0)] * (mask.ndim - 1) + [(0, shape[3] - mask.shape[-1])]
        added = np.pad(added, more, constant_values=least)
    try:
        return np.asarray(np.broadcast_to(added, shape))
    except ValueError:
        raise NoKernel(f"attention: it is not said how a mask {list(mask.shape)} goes with {list(shape)}") from None


def _softmax(scores: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    wide = scores.astype(kind, copy=False)
    if not wide.shape[-1]:
        return wide
    top = wide.max(axis=-1, keepdims=True)
    wide = np.exp(wide - np.where(np.isneginf(top), kind.type(0), top))
    total = wide.sum(axis=-1, keepdims=True)
    return np.asarray(wide / np.where(total == 0, kind.type(1), total))
