"""Attention with KV caches, packed, quantized or grouped heads.

com.microsoft Attention, GroupQueryAttention, MultiHeadAttention, QAttention, RotaryEmbedding.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.elementwise import ignore_warnings, require_float
from specgate.execution.kernels.matmul import multiply_matrices
from specgate.execution.kernels.matmul_n_bits import matmul_integer_to_float
from specgate.execution.kernels.rotary_embedding import rotary_embedding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_SINGLE: Final = np.dtype(np.float32)


class Store(NamedTuple):
    """Format of a cache.

    bits: of a number, 0 for floats. dtype: of its elements. scale: quantization scale.
    """

    bits: int
    dtype: np.dtype[Any]
    size: int
    scale: NDArray[Any] | None = None

    @property
    def width(self) -> int:
        """Return the number of elements per row; two 4-bit numbers share one."""
        return -(-self.size // 2) if self.bits == 4 else self.size


class Times(NamedTuple):
    """Sequence lengths of a step.

    queries, new: of this step; total: the maximum of all; room: rows of the past buffer, -1 without. window: maximum
    number of keys that a query attends to, 0 for all. rolling: the cache holds the last positions only.
    """

    queries: int
    new: int
    total: int
    room: int
    window: int = 0
    causal: bool = True
    rolling: bool = False


class Cut(NamedTuple):
    """Valid positions of one batch entry.

    old: rows read from the past; dropped: rows of past and new that are discarded. base: position of the first row.
    starts, ends: of the keys that each query attends to. length: past plus new.
    """

    old: int
    dropped: int
    base: int
    starts: NDArray[Any]
    ends: NDArray[Any]
    length: int


def iterate_cuts(lengths: NDArray[Any], times: Times) -> Iterator[Cut]:
    """Yield the cut of each batch entry.

    lengths: [batch], each less one. Raises InputError where the past is too short.
    """
    for last in lengths.tolist():
        length = last + 1
        first = times.total == times.queries and not times.rolling
        before = 0 if first or times.room < 0 else length - times.queries
        old = length if not times.new else _count_resident(before, times) if times.rolling else before
        if before < 0 or not 1 <= length <= times.total or old > max(times.room, 0):
            raise InputError(
                f"attention: a sequence length of {length} is out of range for a total of {times.total}, "
                f"{times.queries} queries and a past of {max(times.room, 0)}"
            )
        base = before - old if times.rolling else 0
        dropped_rows = old + times.new - _count_resident(length, times) if times.rolling else 0
        steps = np.arange(times.queries)
        ends = np.minimum(before + steps + 1, length) if times.causal else np.full(times.queries, length)
        starts = np.maximum(ends - times.window, 0) if times.window else np.zeros_like(ends)
        yield Cut(old, dropped_rows, base, starts, ends, length)


def _count_resident(length: int, times: Times) -> int:
    """Return the number of these positions that a rolling cache keeps.

    It discards everything before the window at once.
    """
    if length <= times.room:
        return length
    gap = times.room - times.window + 1
    return length - gap * -(-(length - times.room) // gap)


def write_cache(
    past: NDArray[Any] | None, new: NDArray[Any], cut: Cut, buffer_size: int, store: Store
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return one batch entry's cache, and its rows as float32.

    The cache is [heads, room, width], the rows are [heads, rows, size]. past: [heads, room, width]. new: [heads, rows,
    size], floats.
    """
    rows = _quantize_rows(new, store)
    if past is not None and cut.old:
        rows = np.concatenate([past[:, : cut.old], rows], axis=1)
    kept_rows = rows[:, cut.dropped :]
    present = np.zeros((len(rows), buffer_size, store.width), store.dtype)
    present[:, : kept_rows.shape[1]] = kept_rows
    return present, _decode_rows(rows, store)


def _factors(store: Store, heads: int) -> NDArray[Any]:
    """Return the scales, [heads or 1, 1, size or 1]."""
    scale = np.asarray(store.scale, np.float32)
    if scale.size == 1:
        return scale.reshape(1, 1, 1)
    require_shape("attention", "the scales of the cache", (scale.size,), (heads * store.size,))
    return scale.reshape(heads, 1, store.size)


def _quantize_rows(new: NDArray[Any], store: Store) -> NDArray[Any]:
    """Return numbers quantized for the cache.

    Halves round to even, nan becomes the largest number.
    """
    if not store.bits:
        return new
    factors = _factors(store, len(new))
    code_limit = 2 ** (store.bits - 1)
    result = np.rint(round_to(new, _SINGLE) * np.where(factors == 0, np.float32(1), 1 / factors))
    numbers = np.where(np.isnan(result), code_limit - 1, np.clip(result, -code_limit, code_limit - 1)).astype(np.int8)
    if store.bits != 4:
        return np.asarray(numbers.astype(store.dtype))
    raised_codes = (numbers + 8).astype(np.uint8)
    if store.size % 2:
        raised_codes = np.concatenate([raised_codes, np.full((*raised_codes.shape[:2], 1), 8, np.uint8)], axis=2)
    return np.asarray(raised_codes[..., ::2] | (raised_codes[..., 1::2] << 4))


def _decode_rows(rows: NDArray[Any], store: Store) -> NDArray[Any]:
    if not store.bits:
        return round_to(rows, _SINGLE)
    numbers = rows
    if store.bits == 4:
        nibble_pairs = np.stack([rows & 15, rows >> 4], axis=-1).reshape(*rows.shape[:2], 2 * rows.shape[2])
        numbers = nibble_pairs[..., : store.size].astype(np.int8) - np.int8(8)
    return np.asarray(numbers.astype(np.float32) * _factors(store, len(rows)))


class Sizes(NamedTuple):
    """Dimensions of an attention; `keys` includes the past."""

    batch: int
    heads: int
    queries: int
    keys: int
    past: int


def append_past(
    keys: NDArray[Any],
    values: NDArray[Any],
    past: Sequence[NDArray[Any] | None],
    past_length: NDArray[Any] | None,
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Return all keys and values, and the length of the past.

    Both are [batch, heads, time, size]. past_length: one element; the past is then a buffer of which that many
    positions are valid, and new ones are written after them.
    """
    first, second = past
    require_shape("attention", "values [batch, heads, time]", values.shape[:3], keys.shape[:3])
    if first is None or second is None:
        if first is not second or past_length is not None:
            raise InputError(
                "attention: past_key and past_value must be given together, and the past length only with them"
            )
        return np.ascontiguousarray(keys), np.ascontiguousarray(values), 0
    buffer_size = first.shape[2] if first.ndim == 4 else 0
    for source_array, new in ((first, keys), (second, values)):
        require_shape("attention", "a past", source_array.shape, (*new.shape[:2], buffer_size, new.shape[3]))
    if past_length is None:
        return np.concatenate([first, keys], axis=2), np.concatenate([second, values], axis=2), buffer_size
    require_shape("attention", "a length", (past_length.size,), (1,))
    length = int(past_length.reshape(()))
    if not 0 <= length <= buffer_size - keys.shape[2]:
        raise InputError(
            f"attention: {length} past and {keys.shape[2]} new keys do not fit into the shared buffer of {buffer_size}"
        )
    cache_copies = [array.copy() for array in (first, second)]
    for source_array, new in zip(cache_copies, (keys, values), strict=True):
        source_array[:, :, length : length + new.shape[2]] = new
    return cache_copies[0], cache_copies[1], length


def score_addend(
    mask: NDArray[Any] | None,
    score_bias: NDArray[Any] | None,
    sizes: Sizes,
    filter_value: float,
    *,
    with_starts: bool = False,
) -> NDArray[Any] | None:
    """Return the summand of the scores in a broadcastable shape, None if none.

    with_starts: a mask may have two numbers per batch entry.
    """
    array: NDArray[Any] | None = None
    if mask is not None:
        if mask.ndim == 1 and mask.size == 2 * sizes.batch and sizes.batch and not with_starts:
            raise InputError(f"attention: a mask of shape {list(mask.shape)} does not match batch size {sizes.batch}")
        array = np.where(_masked_scores(mask, sizes), np.float32(filter_value), np.float32(0))
    if score_bias is not None:
        shape = (sizes.batch, sizes.heads, sizes.queries, sizes.keys)
        is_broadcastable = score_bias.ndim == 4 and score_bias.shape[2:] == shape[2:]
        if not is_broadcastable or any(n not in {1, m} for n, m in zip(score_bias.shape[:2], shape[:2], strict=True)):
            raise InputError(
                f"attention: an attention bias of shape {list(score_bias.shape)} does not match {list(shape)}"
            )
        wide_bias = round_to(score_bias, _SINGLE)
        array = wide_bias if array is None else array + wide_bias
    return array


def _masked_scores(mask: NDArray[Any], sizes: Sizes) -> NDArray[np.bool_]:
    """Return which scores a mask hides, in a broadcastable shape."""
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
    bias_summand: NDArray[Any] | None,
    sizes: Sizes,
    *,
    scale: float | None = None,
    causal: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return softmax(scale * query @ keys + added) @ values, and the softmax.

    query, keys, values: float32 [batch, heads, time, size]. scale: 1 / sqrt(size) if None or 0. causal: a query does
    not attend to keys after its own position, which starts after the past.
    """
    sizes_agree = (
        query.shape[:2] == keys.shape[:2] and query.shape[3] == keys.shape[3] and keys.shape[:3] == values.shape[:3]
    )
    if not sizes_agree:
        raise InputError(
            f"attention: the shapes {query.shape}, {keys.shape} and {values.shape} of query, key and value do not match"
        )
    memory.empty((sizes.batch, sizes.heads, sizes.queries, sizes.keys), np.dtype(np.float64))
    factor = np.float32(scale or 1 / np.sqrt(query.shape[3]))
    scores = multiply_matrices(query * factor, np.swapaxes(keys, 2, 3))
    if bias_summand is not None:
        scores = scores + bias_summand
    if causal:
        is_future = np.arange(sizes.keys) > np.arange(sizes.queries)[:, np.newaxis] + sizes.past
        scores = np.where(is_future, np.float32(-np.inf), scores)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=np.float32(-np.inf)))
    shares = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return multiply_matrices(shares, values), shares


#: Added to the scores of masked keys.
_MASKED_SCORE: Final = -10000.0


def projected_attention(
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
    filter_value: float = _MASKED_SCORE,
    causal: bool = False,
    shared: bool = False,
    computed: bool = True,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return attention of inputs @ weights + bias, and the present.

    The present stacks all keys and values, if their sizes are equal. inputs: [batch, time, size]. weights: [size,
    hidden], query, key and value columns, of `sizes` elements, or a third each. bias: [hidden]. mask, filter_value,
    score_bias: as for `multi_head_attention`. past: past keys and values, [2, batch, heads, time, head size]. shared:
    only past_length positions of the past are valid, and new ones are written after them. computed: no requested
    feature is missing from this kernel.
    """
    if not computed:
        raise NoKernel("attention: do_rotary is not supported")
    if shared and past_length is None:
        raise InputError("attention: past_present_share_buffer requires the length of the past")
    require_float("attention", inputs, weights)
    if inputs.ndim != 3 or weights.ndim != 2 or weights.shape[0] != inputs.shape[2]:
        raise InputError(
            f"attention: input shape {list(inputs.shape)} does not match weights of shape {list(weights.shape)}"
        )
    hidden = weights.shape[1]
    widths = list(sizes) if sizes is not None else [hidden // 3] * 3
    if len(widths) != 3 or sum(widths) != hidden or min(widths) < 0:
        raise InputError(f"attention: expected three hidden sizes that add up to {hidden}, found {widths!r:.60}")
    memory.check_budget((*inputs.shape[:2], hidden), np.dtype(np.float64))
    with ignore_warnings():
        product = multiply_matrices(to_float64(inputs), to_float64(weights))
        if bias is not None:
            require_shape("attention", "a bias", bias.shape, (hidden,))
            product = product + to_float64(bias)
    return _attend_product(
        round_to(product, _SINGLE), widths, mask, past, score_bias, inputs.dtype,
        past_length=past_length if shared else None, heads=heads, scale=scale, filter_value=filter_value, causal=causal,
    )  # fmt: skip


def quantized_attention(
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
    filter_value: float = _MASKED_SCORE,
    causal: bool = False,
    computed: bool = True,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return `projected_attention` of dequantized 8-bit inputs and weights.

    input_scale, input_zero: one element. weight_scale, weight_zero: one, or one per column. The result and the past
    have the type of the bias.
    """
    if not computed:
        raise NoKernel("attention: past_present_share_buffer and do_rotary are not supported")
    require_float("attention", bias, input_scale, weight_scale)
    if inputs.ndim != 3 or weights.ndim != 2 or weights.shape[1] % 3:
        raise InputError(
            f"attention: input shape {list(inputs.shape)} does not match weights of shape {list(weights.shape)}"
        )
    if any(array is not None and array.size != 1 for array in (input_scale, input_zero)):
        raise InputError("attention: expected one scale and one zero point for the inputs")
    hidden = weights.shape[1]
    require_shape("attention", "a bias", bias.shape, (hidden,))
    memory.empty((*inputs.shape[:2], hidden), np.dtype(np.float64))
    wide_parts = [round_to(array, _SINGLE) for array in (input_scale, weight_scale, bias)]
    product = matmul_integer_to_float(
        inputs, weights, wide_parts[0], wide_parts[1], input_zero, weight_zero, wide_parts[2]
    )
    return _attend_product(
        product, [hidden // 3] * 3, mask, past, None, bias.dtype,
        heads=heads, scale=scale, filter_value=filter_value, causal=causal,
    )  # fmt: skip


def _attend_product(
    product: NDArray[Any],
    widths: Sequence[int],
    mask: NDArray[Any] | None,
    past: NDArray[Any] | None,
    score_bias: NDArray[Any] | None,
    dtype: np.dtype[Any],
    **other_arguments: Any,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return attention of projected queries, keys and values, and the present.

    product: query, key and value columns. The present is all keys and values, stacked.
    """
    parts = np.split(product, np.cumsum(widths)[:-1], axis=2)
    before = (None, None) if past is None else _split_past(past)
    with ignore_warnings():
        result, keys, values, _ = multi_head_attention(
            parts[0], parts[1], parts[2], None, mask, score_bias, *before, with_starts=True, **other_arguments
        )
        present = np.stack([keys, values]) if keys.shape == values.shape else None
        return round_to(result, dtype), None if present is None else round_to(present, dtype)


def _split_past(past: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    if past.ndim != 5 or past.shape[0] != 2:
        raise InputError(f"attention: expected past keys and values [2, batch, heads, time, size], found {past.shape}")
    return past[0], past[1]


def multi_head_attention(
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
    filter_value: float = _MASKED_SCORE,
    causal: bool = False,
    with_starts: bool = False,
    computed: bool = True,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return attention, all keys, all values and the softmax result.

    query: [batch, queries, heads * size], or packed with keys and values [batch, time, heads, 3, size]. key, value:
    likewise; key: packed with values [batch, keys, heads, 2, size]; both [batch, heads, keys, size], to which no bias
    is added. bias: added to queries, keys and values, concatenated. mask: filter_value is added to scores where it is
    0, [batch, keys] or [batch, queries, keys], or [batch, 1, positions, positions] over past and new ones; or from a
    key on, [batch], and with_starts before another, [2 * batch], the ends first; of [3 * batch + 2] the first ones are
    ends as well. score_bias: broadcasts to [batch, heads, queries, keys]. past_length: valid positions of the past,
    after which new keys and values are written; without it the whole past is valid and new ones are appended. computed:
    as for `projected_attention`.
    """
    if not computed:
        raise NoKernel("attention: beam search (beam_width, cache_indirection) is not supported")
    require_float("attention", query)
    if heads < 1:
        raise InputError(f"attention: expected at least one head, found {heads}")
    parts = _to_heads(query, key, value, heads)
    with ignore_warnings():
        packed_rank = 1 if key is not None and key.ndim == 4 else 3
        wide_parts = [round_to(part, _SINGLE) for part in _add_bias(parts, bias, packed_rank)]
        before = [None if past is None else round_to(past, _SINGLE) for past in (past_key, past_value)]
        keys, values, length = append_past(wide_parts[1], wide_parts[2], before, past_length)
        total = length + wide_parts[1].shape[2]
        batch, _, queries, _ = wide_parts[0].shape
        sizes = Sizes(batch, heads, queries, total, length)
        bias_summand = score_addend(mask, score_bias, sizes, filter_value, with_starts=with_starts)
        result, shares = attend_masked(
            wide_parts[0], keys[:, :, :total], values[:, :, :total], bias_summand, sizes, scale=scale, causal=causal
        )
        merged = result.swapaxes(1, 2).reshape(batch, queries, heads * result.shape[3])
        first, second, third, last = (round_to(array, query.dtype) for array in (merged, keys, values, shares))
        return first, second, third, last


def _to_heads(
    query: NDArray[Any], key: NDArray[Any] | None, value: NDArray[Any] | None, heads: int
) -> list[NDArray[Any]]:
    """Return query, keys and values as [batch, heads, time, size]."""
    if any(array is not None and array.dtype != query.dtype for array in (key, value)):
        raise InputError(f"attention: expected all inputs to be {query.dtype}")
    packed = key if value is None and key is not None else query if key is None else None
    if packed is not None:
        count = 3 if key is None else 2
        if value is not None or packed.ndim != 5 or packed.shape[2:4] != (heads, count):
            raise InputError(
                f"attention: {list(packed.shape)} is not a packed input of {count} parts for {heads} heads"
            )
        stacked = [packed[:, :, :, index].swapaxes(1, 2) for index in range(count)]
        return stacked if key is None else [_split_heads(query, heads), *stacked]
    if key is None or value is None or key.ndim != value.ndim:
        raise InputError("attention: expected keys and values of the same rank")
    return [_split_heads(array, heads) if array.ndim != 4 or array is query else array for array in (query, key, value)]


def _split_heads(array: NDArray[Any], heads: int) -> NDArray[Any]:
    if array.ndim != 3 or array.shape[2] % heads:
        raise InputError(f"attention: {list(array.shape)} is not [batch, time, hidden] for {heads} heads")
    return array.reshape(*array.shape[:2], heads, array.shape[2] // heads).swapaxes(1, 2)


def _add_bias(parts: list[NDArray[Any]], bias: NDArray[Any] | None, count: int) -> list[NDArray[Any]]:
    """Return the parts, with the bias added to the first `count`."""
    if bias is None:
        return parts
    widths = [part.shape[1] * part.shape[3] for part in parts]
    require_shape("attention", "a bias", bias.shape, (sum(widths),))
    pieces = np.split(to_float64(bias), np.cumsum(widths)[:-1])
    biased_parts = [
        to_float64(part) + piece.reshape(1, part.shape[1], 1, part.shape[3])
        for part, piece in zip(parts[:count], pieces, strict=False)
    ]
    return [*biased_parts, *parts[count:]]


def rotary_embedding_heads(
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
    """Return inputs with rotary position embedding, as in `rotary_embedding`.

    inputs: [batch, time, hidden] or [batch, heads, time, size]. positions: [batch, time], or the first one only, [1].
    heads: number of heads; if 0, the head size is twice the number of cache columns. turned: number of elements of a
    head to rotate, 0 for all. computed: as for `projected_attention`.
    """
    if not computed:
        raise NoKernel("rotary: packed batches and scales are not supported")
    if inputs.ndim not in {3, 4} or cosines.ndim != 2:
        raise InputError(f"rotary: expected a 3-D or 4-D input, found {list(inputs.shape)}")
    if min(heads, turned) < 0 or (turned and not heads and inputs.ndim == 3):
        raise InputError(f"rotary: {turned} elements of each of {heads} heads cannot be rotated")
    batch, time = inputs.shape[0], inputs.shape[-2]
    if positions.ndim == 1:
        require_shape("rotary", "a position", positions.shape, (1,))
        positions = np.broadcast_to(positions + np.arange(time), (batch, time))
    if not inputs.shape[2] and inputs.ndim == 3:
        return inputs.copy()
    size = 2 * cosines.shape[1]
    count = heads or (inputs.shape[2] // size if size else 0)
    return rotary_embedding(
        inputs, cosines, sines, positions, interleaved=interleaved, heads=count if inputs.ndim == 3 else None,
        turned=turned,
    )  # fmt: skip


#: Which scores are returned: none, before softmax, or after it.
_SCORE_OUTPUTS: Final = range(3)


class _SoftmaxOptions(NamedTuple):
    """Options of the softmax.

    sinks: [heads], an extra logit of each softmax, None without.
    """

    scale: float
    cap: float
    sinks: NDArray[Any] | None
    shown: int


def group_query_attention(
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
    """Return attention, all keys, all values, and the scores if `shown`.

    query: [batch, time, heads * size]; key, value: [batch, time, shared_heads * size], or neither, and the query holds
    them after its own columns. If key has time 0, the past holds all keys. lengths: [batch], past plus new, less one;
    total: the maximum length; where it equals the query's time, the past is empty. past_key, past_value: [batch,
    shared_heads, room, size]; the result has as much room, or `total` if that is more, and zeros where nothing is
    written. cosines, sines: [positions, pairs], the rotary caches, used if `rotated`. positions: [batch, time], of a
    first prompt the first one only. score_bias: broadcasts to [batch, heads, time, total]. sinks: [heads], an extra
    logit of each softmax, 0 with `smooth`. query_weight, key_weight: [size], for RMS normalization of each head. cap:
    scores become cap * tanh(score / cap) if above 0. causal: a query does not attend to later keys; window: maximum
    number of keys, -1 for all. rolling: the past holds the last positions only, at least `window`, and the remaining
    positions of the result are masked. key_way, value_way: NONE, or the cache holds `bits`-bit numbers, two 4-bit ones
    per byte, scaled by key_scale and value_scale: PER_TENSOR one, PER_CHANNEL shared_heads * size. shown: 1 before
    softmax, 2 after it, masked after the end of a batch entry.
    """
    wide_query, *new = _cache_by_heads(query, key, value, heads, shared_heads)
    batch, size = wide_query.shape[0], wide_query.shape[3]
    past = None if past_key is None or past_value is None else (past_key, past_value)
    if shown not in _SCORE_OUTPUTS:
        raise InputError(f"attention: expected qk_output in {list(_SCORE_OUTPUTS)}, found {shown}")
    if (past_key is None) != (past_value is None) or (past is None and rolling) or total.size != 1:
        raise InputError("attention: past_key and past_value must be given together, with one total_sequence_length")
    buffer_size = -1 if past is None else past[0].shape[2] if past[0].ndim == 4 else 0
    times = Times(
        wide_query.shape[2], new[0].shape[2], int(total.reshape(())), buffer_size, max(window, 0), causal == 1, rolling
    )
    _require_times(times, causal, window)
    require_shape("attention", "lengths", lengths.shape, (batch,))
    stores = _stores(
        past, (shared_heads, size), {"key": (key_way, key_scale), "value": (value_way, value_scale)}, bits, query
    )
    if sinks is not None:
        require_shape("attention", "sinks", sinks.shape, (heads,))
    with ignore_warnings():
        if query_weight is not None or key_weight is not None:
            wide_query, new[0] = (
                _normalize_rms(wide_query, query_weight, epsilon),
                _normalize_rms(new[0], key_weight, epsilon),
            )
        places = _places(positions, lengths, times)
        if rotated or cosines is not None or sines is not None:
            _require_angles(cosines, sines, size, times.total)
        if rotated and cosines is not None and sines is not None:
            wide_query, new[0] = (
                rotary_embedding(
                    array, cosines, sines, places, interleaved=int(interleaved), turned=2 * cosines.shape[1]
                )
                if array.size else array for array in (wide_query, new[0])
            )  # fmt: skip
        way = _SoftmaxOptions(
            scale or 1 / float(np.sqrt(size)), cap, np.zeros(heads) if smooth and sinks is None else sinks, shown
        )
        return _attend_batch(wide_query, new, past, times, stores, lengths, score_bias, way)


def _require_times(times: Times, causal: int, window: int) -> None:
    """Raise InputError for inconsistent lengths, windows and caches."""
    if causal not in {0, 1} or window < -1 or window == 0 or (not causal and window != -1):
        raise InputError(
            f"attention: expected a window of -1, or above 0 with causal 1, found window {window} and causal {causal}"
        )
    if times.rolling:
        if not 1 <= times.window <= times.room or times.new != times.queries or times.total < 1:
            raise InputError(f"attention: a cache of {times.room} positions does not fit a window of {window}")
        return
    if times.new != times.queries and (times.new or times.room < 0):
        raise InputError(f"attention: {times.new} keys do not match {times.queries} queries")
    past = max(times.room, 0)
    if times.total < max(times.new, 1) or (times.total > past and (not times.new or times.total != past + times.new)):
        raise InputError(f"attention: {past} past and {times.new} new positions do not add up to {times.total}")


def _cache_by_heads(
    query: NDArray[Any], key: NDArray[Any] | None, value: NDArray[Any] | None, heads: int, shared: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return queries, keys and values, [batch, heads, time, size]."""
    arrays = [query] if key is None and value is None else [query, key, value]
    parts = [array for array in arrays if array is not None and array.ndim == 3 and array.dtype == query.dtype]
    if len(parts) != len(arrays) or heads < 1 or shared < 1 or heads % shared:
        raise InputError(
            f"attention: expected 3-D query, key and value, and query heads ({heads}) that are a multiple of key heads "
            f"({shared})"
        )
    require_float("attention", query)
    counts = [heads + 2 * shared] if len(parts) == 1 else [heads, shared, shared]
    size = query.shape[2] // counts[0]
    if not size or any(array.shape[::2] != (len(query), n * size) for array, n in zip(parts, counts, strict=True)):
        raise InputError(f"attention: {[list(array.shape) for array in parts]} cannot be divided into {counts} heads")
    split = [array.reshape(*array.shape[:2], n, size).swapaxes(1, 2) for array, n in zip(parts, counts, strict=True)]
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
    """Return the formats of the key and value caches.

    sizes: number of heads, and of elements per head.
    """
    if len({way == "NONE" for way, _ in ways.values()}) != 1:
        raise InputError("attention: keys and values must be both quantized or both not")
    stores = [_store(scale, way, bits, sizes, query.dtype) for way, scale in ways.values()]
    for past_array, store in zip(past or (), stores, strict=False):
        buffer_size = past[0].shape[2] if past is not None and past[0].ndim == 4 else 0
        require_shape("attention", "a past", past_array.shape, (len(query), sizes[0], buffer_size, store.width))
        if past_array.dtype != store.dtype:
            raise InputError(f"attention: the past is {past_array.dtype}, but the cache is {store.dtype}")
    return stores


def _store(scale: NDArray[Any] | None, way: str, bits: int, sizes: tuple[int, int], dtype: np.dtype[Any]) -> Store:
    """Return the format of a cache.

    sizes: number of heads, and of elements per head.
    """
    if way == "NONE" and not bits:
        return Store(0, dtype, sizes[1])
    elements = {"PER_TENSOR": 1, "PER_CHANNEL": sizes[0] * sizes[1]}.get(way)
    if bits not in {4, 8} or scale is None or scale.size != elements:
        raise InputError(f"attention: expected {way} scales of 4-bit or 8-bit values, found {bits} bits")
    return Store(bits, np.dtype(np.uint8 if bits == 4 else np.int8), sizes[1], scale)


def _normalize_rms(x: NDArray[Any], weight: NDArray[Any] | None, epsilon: float) -> NDArray[Any]:
    """Return the RMS normalization of each row times a weight per element."""
    if weight is None:
        raise InputError("attention: q_norm_weight and k_norm_weight must be given together")
    require_shape("attention", "a weight", weight.shape, (x.shape[3],))
    wide_values = round_to(x, _SINGLE)
    mean = (wide_values * wide_values).mean(axis=-1, keepdims=True)
    return round_to(wide_values / np.sqrt(mean + np.float32(epsilon)) * round_to(weight, _SINGLE), x.dtype)


def _places(positions: NDArray[Any] | None, lengths: NDArray[Any], times: Times) -> NDArray[Any]:
    """Return the position of each query, [batch, time]."""
    steps = np.arange(times.queries)
    first = times.total == times.queries
    if positions is None:
        return np.broadcast_to(steps if first else lengths[:, np.newaxis] + 1 - times.queries + steps,
                               (len(lengths), times.queries))  # fmt: skip
    require_shape("attention", "positions", positions.shape, (len(lengths), times.queries))
    return np.broadcast_to(positions.flat[0] + steps, positions.shape) if first and positions.size else positions


def _require_angles(cosines: NDArray[Any] | None, sines: NDArray[Any] | None, size: int, total: int) -> None:
    """Raise InputError unless the caches cover all positions."""
    if cosines is None or sines is None or cosines.shape != sines.shape or cosines.ndim != 2:
        raise InputError("attention: expected 2-D cosine and sine caches of the same shape")
    if not 1 <= cosines.shape[1] <= size // 2 or len(cosines) < total:
        raise InputError(
            f"attention: caches of shape {list(cosines.shape)} do not match {total} positions and head size {size}"
        )


def _attend_batch(
    wide_query: NDArray[Any],
    new: list[NDArray[Any]],
    past: tuple[NDArray[Any], NDArray[Any]] | None,
    times: Times,
    stores: list[Store],
    lengths: NDArray[Any],
    score_bias: NDArray[Any] | None,
    way: _SoftmaxOptions,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    batch, heads, queries, size = wide_query.shape
    buffer_size = times.room if times.rolling else max(times.total, times.room)
    bias = _bias(score_bias, (batch, heads, queries, times.total))
    result = memory.empty((batch, queries, heads * size), wide_query.dtype)
    caches = [memory.empty((batch, new[0].shape[1], buffer_size, store.width), store.dtype) for store in stores]
    scores = np.ma.MaskedArray(memory.empty((batch, heads, queries, times.total), wide_query.dtype), True)
    free = np.zeros((batch, 1, buffer_size, 1), np.bool_)
    for batch_index, cut in memory.within_time_limit(enumerate(iterate_cuts(lengths, times))):
        rows = []
        for store_index, store in enumerate(stores):
            cache, array = write_cache(
                None if past is None else past[store_index][batch_index],
                new[store_index][batch_index],
                cut,
                buffer_size,
                store,
            )
            caches[store_index][batch_index] = cache
            rows.append(array[:, : cut.length - cut.base])  # padding follows
        free[batch_index, :, rows[0].shape[1] - cut.dropped :] = times.rolling
        last = cut.base + rows[0].shape[1]
        bias_rows = None if bias is None else round_to(bias[batch_index, ..., cut.base : last], _SINGLE)
        array, mode_output = _attend_entry(
            round_to(wide_query[batch_index], _SINGLE), rows[0], rows[1], cut, bias_rows, way
        )
        result[batch_index] = round_to(array.swapaxes(0, 1).reshape(queries, heads * size), wide_query.dtype)
        scores[batch_index, ..., : cut.length] = 0
        scores[batch_index, ..., cut.base : last] = round_to(mode_output, wide_query.dtype)
        scores[batch_index, ..., cut.length :] = np.ma.masked
        scores[batch_index, :, cut.length :] = np.ma.masked
    if times.rolling:
        caches = [np.ma.MaskedArray(cache, np.broadcast_to(free, cache.shape)) for cache in caches]
    padding = np.broadcast_to((np.arange(queries) > lengths[:, np.newaxis])[..., np.newaxis], result.shape)
    result = np.ma.MaskedArray(result, padding) if times.total == queries and padding.any() else result
    return result, caches[0], caches[1], scores if way.shown else None


def _bias(score_bias: NDArray[Any] | None, shape: tuple[int, ...]) -> NDArray[Any] | None:
    if score_bias is None:
        return None
    is_broadcastable = score_bias.ndim == 4 and score_bias.shape[2:] == shape[2:]
    if not is_broadcastable or any(n not in {1, m} for n, m in zip(score_bias.shape[:2], shape[:2], strict=True)):
        raise InputError(f"attention: an attention bias of shape {list(score_bias.shape)} does not match {list(shape)}")
    return np.broadcast_to(score_bias, shape)


def _attend_entry(
    query: NDArray[Any],
    keys: NDArray[Any],
    values: NDArray[Any],
    cut: Cut,
    bias: NDArray[Any] | None,
    way: _SoftmaxOptions,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return attention and scores of one batch entry.

    Shapes: [heads, time, size] and [heads, time, keys].
    """
    heads, queries, size = query.shape
    shared, count = keys.shape[:2]
    split = query.reshape(shared, heads // shared * queries, size) * np.float32(way.scale)
    scores = multiply_matrices(split, keys.swapaxes(1, 2)).reshape(heads, queries, count)
    if way.cap > 0:
        scores = np.float32(way.cap) * np.tanh(scores / np.float32(way.cap))
    if bias is not None:
        scores = scores + bias
    places = cut.base + np.arange(count)
    is_visible = (places >= cut.starts[:, np.newaxis]) & (places < cut.ends[:, np.newaxis])
    shares = _softmax(np.where(is_visible, scores, np.float32(-np.inf)), way.sinks)
    array = multiply_matrices(shares.reshape(*split.shape[:2], count), values).reshape(heads, queries, size)
    return array, np.where(is_visible, scores if way.shown == 1 else shares, np.float32(0))


def _softmax(scores: NDArray[Any], sinks: NDArray[Any] | None) -> NDArray[Any]:
    """Return the softmax of scores [heads, time, keys] with sinks."""
    top = scores.max(axis=-1, keepdims=True, initial=np.float32(-np.inf))
    sink_scores = None if sinks is None else round_to(sinks, _SINGLE).reshape(-1, 1, 1)
    top = top if sink_scores is None else np.maximum(top, sink_scores)
    exponentials = np.exp(scores - top)
    total = exponentials.sum(axis=-1, keepdims=True)
    return np.asarray(exponentials / (total if sink_scores is None else total + np.exp(sink_scores - top)))
