"""Attention with masks of several forms, of packed or projected queries, keys and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.elementwise import quiet, want_float
from specgate.execution.kernels.masked_attention import Sizes, attend_masked, summand, with_past
from specgate.execution.kernels.products import multiply_matrices
from specgate.execution.kernels.quantized_weights import multiply_scaled
from specgate.execution.kernels.turned_pairs import rotate_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["attend_by_projection", "attend_packed", "attend_quantized", "rotate_heads"]

#: What is added to scores of keys that a mask hides.
_HIDDEN: Final = -10000.0
_SINGLE: Final = np.dtype(np.float32)


def attend_by_projection(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    bias: NDArray[Any] | None = None,
    mask: NDArray[Any] | None = None,
    past: NDArray[Any] | None = None,
    score_bias: NDArray[Any] | None = None,
    past_length: NDArray[Any] | None = None,
    *,
    heads: int,
    sizes: Sequence[int] | None = None,
    scale: float | None = None,
    filter_value: float = _HIDDEN,
    causal: bool = False,
    shared: bool = False,
    computed: bool = True,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return the attention of inputs @ weights + bias, and all keys and values, stacked, where they are of one size.

    inputs: [batch, time, size]. weights: [size, hidden], queries, keys and values side by side, of `sizes` elements, or
    a third each. bias: [hidden]. mask, filter_value, score_bias: as for `attend_packed`. past: keys and values before,
    [2, batch, heads, time, size of a head]. shared: of the past only past_length counts, and new ones are written
    behind it. computed: nothing is asked for that is not computed here.
    """
    if not computed:
        raise NoKernel("attention: rotated queries are not computed: nothing gives the angles")
    if shared and past_length is None:
        raise InputError("attention: a shared buffer needs the length of the past")
    want_float("attention", inputs, weights)
    if inputs.ndim != 3 or weights.ndim != 2 or weights.shape[0] != inputs.shape[2]:
        raise InputError(f"attention: inputs {list(inputs.shape)} and weights {list(weights.shape)} do not go together")
    hidden = weights.shape[1]
    widths = list(sizes) if sizes is not None else [hidden // 3] * 3
    if len(widths) != 3 or sum(widths) != hidden or min(widths) < 0:
        raise InputError(f"attention: sizes {widths!r:.60} do not make up {hidden}")
    memory.hold((*inputs.shape[:2], hidden), np.dtype(np.float64))
    with quiet():
        product = multiply_matrices(to_float64(inputs), to_float64(weights))
        if bias is not None:
            require_shape("attention", "a bias", bias.shape, (hidden,))
            product = product + to_float64(bias)
    return _of_product(
        round_to(product, _SINGLE), widths, mask, past, score_bias, inputs.dtype,
        past_length=past_length if shared else None, heads=heads, scale=scale, filter_value=filter_value, causal=causal,
    )  # fmt: skip


def attend_quantized(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    bias: NDArray[Any],
    input_scale: NDArray[Any],
    weight_scale: NDArray[Any],
    mask: NDArray[Any] | None = None,
    input_zero: NDArray[Any] | None = None,
    weight_zero: NDArray[Any] | None = None,
    past: NDArray[Any] | None = None,
    *,
    heads: int,
    scale: float | None = None,
    filter_value: float = _HIDDEN,
    causal: bool = False,
    computed: bool = True,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return what `attend_by_projection` does, of inputs and weights of 8 bits, less their zero points and scaled.

    input_scale, input_zero: one element. weight_scale, weight_zero: one, or one for each column. The result and the
    past have the type of the bias.
    """
    if not computed:
        raise NoKernel("attention: buffers that are shared, and rotated queries, are not computed")
    want_float("attention", bias, input_scale, weight_scale)
    if inputs.ndim != 3 or weights.ndim != 2 or weights.shape[1] % 3:
        raise InputError(f"attention: inputs {list(inputs.shape)} and weights {list(weights.shape)} do not go together")
    if any(each is not None and each.size != 1 for each in (input_scale, input_zero)):
        raise InputError("attention: expected one scale and one zero point for the inputs")
    hidden = weights.shape[1]
    require_shape("attention", "a bias", bias.shape, (hidden,))
    memory.empty((*inputs.shape[:2], hidden), np.dtype(np.float64))
    wide = [round_to(each, _SINGLE) for each in (input_scale, weight_scale, bias)]
    product = multiply_scaled(inputs, weights, wide[0], wide[1], input_zero, weight_zero, wide[2])
    return _of_product(
        product, [hidden // 3] * 3, mask, past, None, bias.dtype,
        heads=heads, scale=scale, filter_value=filter_value, causal=causal,
    )  # fmt: skip


def _of_product(
    product: NDArray[Any],
    widths: Sequence[int],
    mask: NDArray[Any] | None,
    past: NDArray[Any] | None,
    score_bias: NDArray[Any] | None,
    dtype: np.dtype[Any],
    **others: Any,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return the attention of projected queries, keys and values side by side, and all keys and values, stacked."""
    parts = np.split(product, np.cumsum(widths)[:-1], axis=2)
    before = (None, None) if past is None else _two(past)
    with quiet():
        result, keys, values, _ = attend_packed(
            parts[0], parts[1], parts[2], None, mask, score_bias, *before, with_starts=True, **others
        )
        present = np.stack([keys, values]) if keys.shape == values.shape else None
        return round_to(result, dtype), None if present is None else round_to(present, dtype)


def _two(past: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    if past.ndim != 5 or past.shape[0] != 2:
        raise InputError(f"attention: expected past keys and values [2, batch, heads, time, size], found {past.shape}")
    return past[0], past[1]


def attend_packed(
    query: NDArray[Any],
    key: NDArray[Any] | None = None,
    value: NDArray[Any] | None = None,
    bias: NDArray[Any] | None = None,
    mask: NDArray[Any] | None = None,
    score_bias: NDArray[Any] | None = None,
    past_key: NDArray[Any] | None = None,
    past_value: NDArray[Any] | None = None,
    past_length: NDArray[Any] | None = None,
    *,
    heads: int,
    scale: float | None = None,
    filter_value: float = _HIDDEN,
    causal: bool = False,
    with_starts: bool = False,
    computed: bool = True,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the attention of queries, keys and values, all keys and values, and what softmax gives of the scores.

    query: [batch, queries, heads * size], or alone with keys and values [batch, time, heads, 3, size]. key, value:
    likewise; key: alone with values [batch, keys, heads, 2, size]; both [batch, heads, keys, size], to which no bias is
    added. bias: what is added to queries, keys and values, one behind the other. mask: filter_value is added to scores
    where it is 0, [batch, keys] or [batch, queries, keys], or [batch, 1, places, places] where past and new ones have
    theirs; or from a key on, [batch], and with_starts before another, [2 * batch], the ends first; of [3 * batch + 2]
    the first ones are ends, too. score_bias: broadcasts to [batch, heads, queries, keys]. past_length: how much of the
    past counts, and where in it new keys and values are written; without it all, and they follow it. computed: as for
    `attend_by_projection`.
    """
    if not computed:
        raise NoKernel("attention: beams are not computed")
    want_float("attention", query)
    if heads < 1:
        raise InputError(f"attention: expected at least one head, found {heads}")
    parts = _by_heads(query, key, value, heads)
    with quiet():
        alone = 1 if key is not None and key.ndim == 4 else 3
        wide = [round_to(part, _SINGLE) for part in _biased(parts, bias, alone)]
        before = [None if past is None else round_to(past, _SINGLE) for past in (past_key, past_value)]
        keys, values, length = with_past(wide[1], wide[2], before, past_length)
        total = length + wide[1].shape[2]
        batch, _, queries, _ = wide[0].shape
        sizes = Sizes(batch, heads, queries, total, length)
        added = summand(mask, score_bias, sizes, filter_value, with_starts=with_starts)
        result, shares = attend_masked(
            wide[0], keys[:, :, :total], values[:, :, :total], added, sizes, scale=scale, causal=causal
        )
        merged = result.swapaxes(1, 2).reshape(batch, queries, heads * result.shape[3])
        first, second, third, last = (round_to(each, query.dtype) for each in (merged, keys, values, shares))
        return first, second, third, last


def _by_heads(
    query: NDArray[Any], key: NDArray[Any] | None, value: NDArray[Any] | None, heads: int
) -> list[NDArray[Any]]:
    """Return query, keys and values as [batch, heads, time, size]."""
    if any(each is not None and each.dtype != query.dtype for each in (key, value)):
        raise InputError(f"attention: expected arrays of {query.dtype} alone")
    packed = key if value is None and key is not None else query if key is None else None
    if packed is not None:
        count = 3 if key is None else 2
        if value is not None or packed.ndim != 5 or packed.shape[2:4] != (heads, count):
            raise InputError(f"attention: {list(packed.shape)} is no stack of {count} for {heads} heads")
        stacked = [packed[:, :, :, index].swapaxes(1, 2) for index in range(count)]
        return stacked if key is None else [_split(query, heads), *stacked]
    if key is None or value is None or key.ndim != value.ndim:
        raise InputError("attention: expected keys and values of as many dimensions")
    return [_split(each, heads) if each.ndim != 4 or each is query else each for each in (query, key, value)]


def _split(array: NDArray[Any], heads: int) -> NDArray[Any]:
    if array.ndim != 3 or array.shape[2] % heads:
        raise InputError(f"attention: {list(array.shape)} is not [batch, time, hidden] for {heads} heads")
    return array.reshape(*array.shape[:2], heads, array.shape[2] // heads).swapaxes(1, 2)


def _biased(parts: list[NDArray[Any]], bias: NDArray[Any] | None, count: int) -> list[NDArray[Any]]:
    """Return the parts; the bias is added to the first `count`."""
    if bias is None:
        return parts
    widths = [part.shape[1] * part.shape[3] for part in parts]
    require_shape("attention", "a bias", bias.shape, (sum(widths),))
    pieces = np.split(to_float64(bias), np.cumsum(widths)[:-1])
    added = [
        to_float64(part) + piece.reshape(1, part.shape[1], 1, part.shape[3])
        for part, piece in zip(parts[:count], pieces, strict=False)
    ]
    return [*added, *parts[count:]]


def rotate_heads(
    inputs: NDArray[Any],
    positions: NDArray[Any],
    cosines: NDArray[Any],
    sines: NDArray[Any],
    *,
    heads: int = 0,
    turned: int = 0,
    interleaved: int = 0,
    computed: bool = True,
) -> NDArray[Any]:
    """Return `rotate_pairs` of inputs [batch, time, hidden] or [batch, heads, time, size].

    positions: [batch, time], or the first one alone, [1]. heads: how many, as many as have two elements for each column
    of the caches if 0. turned: only so many elements of a head, 0 for all. computed: as for `attend_by_projection`.
    """
    if not computed:
        raise NoKernel("rotary: packed batches and scales are not computed")
    if inputs.ndim not in {3, 4} or cosines.ndim != 2:
        raise InputError(f"rotary: expected 3 or 4 dimensions, found {list(inputs.shape)}")
    if min(heads, turned) < 0 or (turned and not heads and inputs.ndim == 3):
        raise InputError(f"rotary: {turned} elements of each of {heads} heads cannot be turned")
    batch, time = inputs.shape[0], inputs.shape[-2]
    if positions.ndim == 1:
        require_shape("rotary", "a position", positions.shape, (1,))
        positions = np.broadcast_to(positions + np.arange(time), (batch, time))
    if not inputs.shape[2] and inputs.ndim == 3:
        return inputs.copy()
    size = 2 * cosines.shape[1]
    count = heads or (inputs.shape[2] // size if size else 0)
    return rotate_pairs(
        inputs, cosines, sines, positions, interleaved=interleaved, heads=count if inputs.ndim == 3 else None,
        turned=turned,
    )  # fmt: skip
