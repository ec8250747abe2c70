"""Attention: scaled dot products, multi-head and linear attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.elementwise import ignore_warnings, require_float
from specgate.execution.kernels.matmul import multiply_matrices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Body = Callable[[Sequence[NDArray[Any]]], Sequence[Any]]


def scaled_dot_product_attention(
    query: NDArray[Any],
    key: NDArray[Any],
    value: NDArray[Any],
    mask: NDArray[Any] | None = None,
    scale: NDArray[Any] | None = None,
    sink: NDArray[Any] | None = None,
    *,
    causal: bool,
) -> NDArray[Any]:
    """Return softmax(query @ key.T * scale + mask) @ value.

    Floats of one type, [..., queries, value size]. query: [..., queries, size]; key: [..., keys, size]; value: [...,
    keys, value size]; the leading dimensions are broadcast. mask: numbers of the same type to add, or booleans that are
    False for hidden keys, [..., queries, keys] after broadcasting; or a scalar. causal: ignore the mask; a query
    attends only to keys up to its own position. scale: one number, default 1 / sqrt(size). sink: an extra logit per
    query, [..., queries, 1] or sizes of 1, that has a share of the softmax and no value. A query without keys and sink
    gives nan.
    """
    dtype, batch = query.dtype, _batch(query, key, value)
    if scale is not None and scale.size != 1:
        raise InputError(f"attention: expected a scale of one element, found {scale.size}")
    if any(array is not None and array.dtype != dtype for array in (key, value, scale, sink)):
        raise InputError(f"attention: expected all inputs to be {dtype}")
    shape = (*batch, query.shape[-2], key.shape[-2])
    scores = memory.empty(shape, np.dtype(np.float64))
    with memory.ignore_warnings():
        scores[...] = multiply_matrices(to_float64(query), np.swapaxes(to_float64(key), -1, -2))
        scores *= to_float64(scale).reshape(()) if scale is not None else 1 / np.sqrt(np.float64(query.shape[-1]))
        if causal:
            scores[..., np.arange(shape[-1]) > np.arange(shape[-2])[:, np.newaxis]] += -np.inf
        elif mask is not None:
            scores += _mask_to_summand(mask, dtype, shape)
        sink_scores = np.full((1, 1), -np.inf) if sink is None else _sink_scores(sink, query.shape)
        greatest_score = np.maximum(scores.max(axis=-1, keepdims=True, initial=-np.inf), sink_scores)
        scores -= greatest_score
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True) + np.exp(sink_scores - greatest_score)
        return round_to(multiply_matrices(scores, to_float64(value)), dtype)


def _batch(query: NDArray[Any], key: NDArray[Any], value: NDArray[Any]) -> tuple[int, ...]:
    """Return the broadcast batch shape; raise InputError for other sizes."""
    shapes = [query.shape, key.shape, value.shape]
    try:
        if min(map(len, shapes)) >= 2 and query.shape[-1] == key.shape[-1] and key.shape[-2] == value.shape[-2]:
            return np.broadcast_shapes(*(shape[:-2] for shape in shapes))
    except ValueError:
        pass
    raise InputError(f"attention: the shapes {[list(shape) for shape in shapes]} of query, key and value do not match")


def _sink_scores(sink: NDArray[Any], query: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the sink logits of queries; sizes are those of `query`, or 1."""
    sizes = (*query[:-1], 1)
    if sink.ndim != len(sizes) or any(
        size not in {1, full_size} for size, full_size in zip(sink.shape, sizes, strict=True)
    ):
        raise InputError(f"attention: a sink of {list(sink.shape)} cannot be broadcast to {list(sizes)}")
    return to_float64(sink)


def _mask_to_summand(mask: NDArray[Any], dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the summand of a mask: -inf for booleans that are False.

    shape: of the scores.
    """
    is_boolean = mask.dtype == np.bool_
    if mask.ndim == 1 or (is_boolean and not mask.ndim) or (not is_boolean and mask.dtype != dtype):
        raise InputError(f"attention: a mask of type {mask.dtype} and rank {mask.ndim} is not supported")
    try:
        is_broadcastable = np.broadcast_shapes(mask.shape, shape) == shape
    except ValueError:
        is_broadcastable = False
    if not is_broadcastable:
        raise InputError(f"attention: a mask of {list(mask.shape)} cannot be broadcast to {list(shape)}")
    return np.where(mask, 0.0, -np.inf) if is_boolean else to_float64(mask)


#: By rule: whether the state decays, and whether the value is reduced by what the state holds for the key (delta rule).
_RULES: Final = {
    "linear": (False, False), "gated": (True, False), "delta": (False, True), "gated_delta": (True, True),
}  # fmt: skip
_ACTIVATIONS: Final = ("none", "silu", "swish")


def linear_attention(
    query: NDArray[Any],
    key: NDArray[Any],
    value: NDArray[Any],
    past: NDArray[Any] | None = None,
    decay: NDArray[Any] | None = None,
    rate: NDArray[Any] | None = None,
    *,
    rule: str,
    heads: int,
    shared_heads: int,
    scale: float = 0.0,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return linear attention, and the last state.

    query: [batch, time, heads * size], key, value: [batch, time, shared_heads * size]; each shared head serves an equal
    number of consecutive query heads. past: initial state, [batch, shared_heads, key size, value size], default zeros.
    rule: linear, gated, delta or gated_delta; gated: the state is first multiplied by exp(decay); delta: the state's
    value for the key is subtracted from the value, and the difference times `rate` is written. decay: [batch, time,
    shared_heads] or per key element; rate: [batch, time, shared_heads or 1]. scale: 0 for 1 / sqrt(size).
    """
    require_float("attention", query, key, value)
    if rule not in _RULES or {query.ndim, key.ndim, value.ndim} != {3} or min(heads, shared_heads) < 1:
        raise InputError(
            f"attention: expected a 3-D input, at least one head and one of {', '.join(_RULES)}, found {rule!r:.40}"
        )
    gated, delta = _RULES[rule]
    if (gated and decay is None) or (delta and rate is None) or heads % shared_heads:
        raise InputError(
            f"attention: {rule} requires further inputs, and query heads ({heads}) must be a multiple of key heads "
            f"({shared_heads})"
        )
    batch, time, _ = query.shape
    kind = working(query)
    parts = [
        _timed_by_heads(operand, count, (batch, time), kind)
        for operand, count in ((query, heads), (key, shared_heads), (value, shared_heads))
    ]
    array, keys, values = parts
    size, width = keys.shape[3], values.shape[3]
    if array.shape[3] != size:
        raise InputError(f"attention: queries have head size {array.shape[3]}, but keys have {size}")
    state_shape = (batch, shared_heads, size, width)
    if past is not None:
        require_shape("attention", "a state", past.shape, state_shape)
    state = np.zeros(state_shape, kind) if past is None else past.astype(kind)
    decay_factors = None if decay is None else _factors(decay, (batch, time), (shared_heads, shared_heads * size), kind)
    part = None if rate is None else _factors(rate, (batch, time), (shared_heads, 1), kind)
    result = memory.empty((batch, time, heads, width), kind)
    factor = kind.type(scale or 1 / np.sqrt(max(size, 1)))
    with ignore_warnings():
        for step_index in memory.within_time_limit(range(time)):
            new, known_array = values[:, step_index], keys[:, step_index]
            if gated and decay_factors is not None:
                state = state * np.exp(
                    decay_factors[:, step_index].reshape(batch, shared_heads, decay_factors.shape[2] // shared_heads, 1)
                )
            if delta and part is not None:
                new = part[:, step_index, :, None] * (new - (known_array[:, :, None] @ state)[:, :, 0])
            state = state + known_array[..., None] * new[..., None, :]
            grouped = array[:, step_index].reshape(batch, shared_heads, heads // shared_heads, size)
            result[:, step_index] = ((grouped @ state) * factor).reshape(batch, heads, width)
        last = round_to(state, query.dtype if past is None else past.dtype)
        return round_to(result.reshape(batch, time, heads * width), query.dtype), last


def _timed_by_heads(
    array: NDArray[Any], heads: int, window_range: tuple[int, int], kind: np.dtype[Any]
) -> NDArray[Any]:
    """Return [batch, time, heads, size]."""
    if array.shape[:2] != window_range or array.shape[2] % heads:
        raise InputError(f"attention: {list(array.shape)} cannot be divided into {heads} heads of {list(window_range)}")
    return array.astype(kind).reshape(*window_range, heads, array.shape[2] // heads)


def _factors(array: NDArray[Any], shape: tuple[int, int], counts: tuple[int, int], kind: np.dtype[Any]) -> NDArray[Any]:
    if array.ndim != 3 or array.shape[:2] != shape or array.shape[2] not in counts:
        raise InputError(
            f"attention: decay factors of shape {list(array.shape)} are not valid for {list(shape)} and {list(counts)}"
        )
    return array.astype(kind)


def causal_conv_with_state(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    bias: NDArray[Any] | None = None,
    past: NDArray[Any] | None = None,
    *,
    activation: str = "none",
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the causal depthwise convolution, and the next state.

    inputs: [batch, channels, length]. filters: [channels, 1, k]. bias: [channels]. past: inputs before the first,
    [batch, channels, k - 1], default zeros. activation: none, or silu (also called swish), x * sigmoid(x).
    """
    require_float("convolution", inputs, filters)
    if inputs.ndim != 3 or activation not in _ACTIVATIONS or filters.ndim != 3 or not filters.shape[2]:
        raise InputError(
            f"convolution: expected a 3-D input and one of the activations {', '.join(_ACTIVATIONS)}, found "
            f"{activation!r:.40}"
        )
    batch, channels, length = inputs.shape
    window = filters.shape[2]
    require_shape("convolution", "filters", filters.shape, (channels, 1, window))
    before = np.zeros((batch, channels, window - 1), inputs.dtype) if past is None else past
    require_shape("convolution", "a past", before.shape, (batch, channels, window - 1))
    if bias is not None:
        require_shape("convolution", "a bias", bias.shape, (channels,))
    memory.check_budget((batch, channels, length + window - 1), np.dtype(np.float64))
    padded_inputs = np.concatenate([before, inputs], axis=2)
    kind = working(inputs)
    with ignore_warnings():
        wide_inputs, weights = padded_inputs.astype(kind), filters.astype(kind)
        total = np.zeros(inputs.shape, kind)
        for step_index in memory.within_time_limit(range(window)):
            total += wide_inputs[:, :, step_index : step_index + length] * weights[:, 0, step_index, None]
        total = total if bias is None else total + bias.astype(kind)[:, None]
        result = total if activation == "none" else total / (1 + np.exp(-total))
        return round_to(result, inputs.dtype), np.ascontiguousarray(padded_inputs[:, :, length:])


def attention(
    query: NDArray[Any] | None = None,
    key: NDArray[Any] | None = None,
    value: NDArray[Any] | None = None,
    query_key: NDArray[Any] | None = None,
    key_value: NDArray[Any] | None = None,
    query_key_value: NDArray[Any] | None = None,
    bias: NDArray[Any] | None = None,
    mask: NDArray[Any] | None = None,
    position_bias: NDArray[Any] | None = None,
    past_key: NDArray[Any] | None = None,
    past_value: NDArray[Any] | None = None,
    past_lengths: NDArray[Any] | None = None,
    *,
    heads: int,
    scale: float,
    mask_type: str,
    filter_value: float,
    narrow_sums: bool = False,
    rank: int,
    key_heads: int | None = None,
    key_rank: int = 4,
    value_rank: int = 4,
    key_room: int | None = None,
    value_room: int | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return multi-head attention, and the present keys and values.

    The result is softmax(query @ key.T * scale + position_bias + mask) @ value per head. query, key, value: [batch,
    length, heads * head size] after leading dimensions of size 1; or stacked, [batch, length, heads, 2 or 3, size].
    bias: added to query, key and value, concatenated. position_bias: [batch, heads, queries, keys]. past_key,
    past_value: [batch, heads, length, size], prepended. rank: of the first result, [batch, queries, heads * size].
    key_rank, value_rank: of the others, [batch, heads, past + keys, size]. key_heads: number of key and value heads,
    `heads` if None; each serves an equal number of consecutive query heads, and where they do not divide those, the
    first result is masked. past_lengths: number of keys and values in the buffers of the other results, which have room
    for key_room and value_room; as the buffers' content is not given, all is masked.
    narrow_sums: round the sums with filter_value to float32, which matters where it applies to a whole row. mask_type
    says where filter_value is added: NONE; BOOLEAN, (1 - mask) times, with a mask of position_bias's shape;
    KEY_SEQUENCE_LENGTH, [1, batch], from a key on; KEY_SEQUENCE_END_START, [2, batch], from one key on and before
    another; KEY_QUERY_SEQUENCE_LENGTH_START_END, [3 * batch + 2], outside of ranges of all batches' queries and keys
    concatenated.
    """
    fewer = heads if key_heads is None else key_heads
    if heads < 1 or fewer < 1:
        raise InputError(f"attention: expected at least one head, found {min(heads, fewer)}")
    parts = _parts((query, key, value), query_key, key_value, query_key_value, (heads, fewer, fewer))
    dtype = parts[0].dtype
    arrays = (*parts[1:], bias, position_bias, past_key, past_value)
    if any(array is not None and array.dtype != dtype for array in arrays):
        raise InputError(f"attention: expected all inputs to be {dtype}")
    with memory.ignore_warnings():
        queries, keys, values = _add_bias([to_float64(part) for part in parts], bias)
        all_keys, all_values = _append_to_past(past_key, keys, "keys"), _append_to_past(past_value, values, "values")
        if queries.shape[::3] != keys.shape[::3] or all_keys.shape[:3] != all_values.shape[:3]:
            shapes = [list(array.shape) for array in (queries, all_keys, all_values)]
            raise InputError(f"attention: query, keys and values of {shapes} do not match")
        shape = (*queries.shape[:3], all_keys.shape[2])
        bias_array = (
            None
            if position_bias is None
            else _last("a position bias", position_bias, _fill_key_count(shape, position_bias, past_lengths))
        )
        if mask is not None and mask_type != "NONE":
            boolean = mask if mask_type == "BOOLEAN" else None
            times = _count_masked(mask, mask_type, _fill_key_count(shape, boolean, past_lengths))
        if past_lengths is not None:
            new_arrays = [np.zeros((*queries.shape[:3], all_values.shape[3]))]
            new_arrays += [_allocate_past(all_keys, key_room), _allocate_past(all_values, value_room)]
            rooms = [
                _merge_heads(new_arrays[0], rank),
                _prepend_dimensions(new_arrays[1], key_rank),
                _prepend_dimensions(new_arrays[2], value_rank),
            ]
            first, second, third = (
                np.ma.MaskedArray(round_to(array, dtype), np.ones(array.shape, np.bool_)) for array in rooms
            )
            return first, second, third
        scores = memory.empty(shape, np.dtype(np.float64))
        multiply_matrices(queries, np.swapaxes(_repeat_heads(all_keys, heads), 2, 3), scores)
        scores *= np.float32(scale)
        if bias_array is not None:
            scores += to_float64(bias_array)
        if mask is not None and mask_type != "NONE":
            scores += np.where(times == 0, 0.0, times * np.float64(np.float32(filter_value)))
            if narrow_sums:
                scores = scores.astype(np.float32).astype(np.float64)
        matching_array = multiply_matrices(_softmax(scores), _repeat_heads(all_values, heads))
        result = round_to(_merge_heads(matching_array, rank), dtype)
        if heads % fewer:
            result = np.ma.MaskedArray(result, np.ones(result.shape, np.bool_))
        return (
            result,
            _prepend_dimensions(round_to(all_keys, dtype), key_rank),
            _prepend_dimensions(round_to(all_values, dtype), value_rank),
        )


def _fill_key_count(
    shape: tuple[int, ...], array: NDArray[Any] | None, past_lengths: NDArray[Any] | None
) -> tuple[int, ...]:
    """Return a shape whose open last size (key count) is that of the array."""
    return shape if past_lengths is None or array is None or not array.ndim else (*shape[:-1], array.shape[-1])


def _allocate_past(array: NDArray[Any], buffer_size: int | None) -> NDArray[Any]:
    """Return zeros for keys or values, as many as the buffer has room for."""
    return np.zeros((*array.shape[:2], array.shape[2] if buffer_size is None else buffer_size, array.shape[3]))


def _repeat_heads(array: NDArray[Any], heads: int) -> NDArray[Any]:
    """Return keys or values repeated for each query head."""
    fewer = array.shape[1]
    return array if fewer == heads else np.take(array, np.arange(heads) * fewer // heads, axis=1)


def _parts(
    plain_parts: Sequence[NDArray[Any] | None],
    query_key: NDArray[Any] | None,
    key_value: NDArray[Any] | None,
    query_key_value: NDArray[Any] | None,
    heads: tuple[int, int, int],
) -> list[NDArray[Any]]:
    """Return query, key and value as [batch, heads, length, size].

    Each must be given exactly once.
    """
    arrays: list[list[NDArray[Any]]] = [[], [], []]
    for place, array in enumerate(plain_parts):
        if array is not None:
            arrays[place].append(_split_heads(array, heads[place]))
    for places, stack in (((0, 1), query_key), ((1, 2), key_value), ((0, 1, 2), query_key_value)):
        if stack is None:
            continue
        head_counts = {heads[place] for place in places}
        if stack.ndim != 5 or {stack.shape[2]} != head_counts or stack.shape[3] != len(places):
            raise InputError(
                f"attention: expected a packed input of {len(places)} for {sorted(head_counts)} heads, found "
                f"{list(stack.shape)}"
            )
        for index, place in enumerate(places):
            arrays[place].append(np.swapaxes(stack[:, :, :, index], 1, 2))
    if [len(operand) for operand in arrays] != [1, 1, 1]:
        raise InputError("attention: expected query, key and value once each, separate or packed")
    return [operand[0] for operand in arrays]


def _split_heads(array: NDArray[Any], heads: int) -> NDArray[Any]:
    hidden = array.shape[-1] if array.ndim else 0
    if array.ndim < 3 or any(size != 1 for size in array.shape[:-3]) or hidden % heads:
        raise InputError(f"attention: {list(array.shape)} is not [batch, length, hidden] for {heads} heads")
    batch, length, hidden = array.shape[-3:]
    return np.swapaxes(array.reshape(batch, length, heads, hidden // heads), 1, 2)


def _add_bias(parts: Sequence[NDArray[Any]], bias: NDArray[Any] | None) -> list[NDArray[Any]]:
    if bias is None:
        return list(parts)
    sizes = [part.shape[1] * part.shape[3] for part in parts]
    if bias.shape[-1:] != (sum(sizes),) or bias.size != sum(sizes):
        raise InputError(f"attention: expected a bias of {sum(sizes)} elements, found the shape {list(bias.shape)}")
    pieces = np.split(to_float64(bias).reshape(-1), np.cumsum(sizes)[:-1])
    return [part + piece.reshape(1, part.shape[1], 1, -1) for part, piece in zip(parts, pieces, strict=True)]


def _last(noun: str, array: NDArray[Any], shape: Sequence[int]) -> NDArray[Any]:
    """Return an array of this shape without its leading dimensions of size 1."""
    require_shape("attention", noun, array.shape, (*(1,) * (array.ndim - len(shape)), *shape))
    return array.reshape(shape)


def _append_to_past(past: NDArray[Any] | None, array: NDArray[Any], noun: str) -> NDArray[Any]:
    if past is None:
        return array
    batch, heads, _, size = array.shape
    length = past.shape[-2] if past.ndim >= 4 else 0
    return np.concatenate([to_float64(_last(f"past {noun}", past, (batch, heads, length, size))), array], axis=2)


def _count_masked(mask: NDArray[Any], mask_type: str, shape: Sequence[int]) -> NDArray[Any]:
    """Return the number of times that the filter value is added.

    The shape broadcasts to [batch, heads, queries, keys].
    """
    batch, _, queries, length = shape
    hidden: NDArray[Any]
    if mask_type == "BOOLEAN":
        hidden = 1.0 - _last("a mask", mask, shape)
        return hidden
    if mask_type == "KEY_QUERY_SEQUENCE_LENGTH_START_END":
        return _other_sequence_mask(_last("a mask", mask, (3 * batch + 2,)).astype(np.int64), batch, queries, length)
    if mask_type not in {"KEY_SEQUENCE_LENGTH", "KEY_SEQUENCE_END_START"}:
        raise InputError(f"attention: unknown mask type {mask_type!r:.60}")
    with_starts = mask_type == "KEY_SEQUENCE_END_START"
    bounds = _last("a mask", mask, (1 + with_starts, batch)).reshape(-1, batch, 1, 1, 1)
    keys = np.arange(length)
    hidden = keys >= bounds[0]
    return hidden | (keys < bounds[1]) if with_starts else hidden


def _other_sequence_mask(mask: NDArray[np.int64], batch: int, queries: int, keys: int) -> NDArray[np.bool_]:
    """Return the keys outside of each query's packed sequence.

    The mask holds key lengths, then query starts and the last end, then key starts and the last end (unused).
    """
    lengths, query_starts, key_starts = mask[:batch], mask[batch : 2 * batch + 1], mask[2 * batch + 1 :]
    query = np.arange(batch * queries).reshape(batch, queries)
    key = np.arange(batch * keys).reshape(batch, keys)
    first, last = query_starts[:-1, np.newaxis], query_starts[1:, np.newaxis]
    start = key_starts[:batch, np.newaxis]
    is_outside = ((query < first) | (query >= last))[:, :, np.newaxis]
    is_outside = is_outside | ((key < start) | (key >= start + lengths[:, np.newaxis]))[:, np.newaxis, :]
    return is_outside[:, np.newaxis]


def _softmax(scores: NDArray[Any]) -> NDArray[Any]:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    result: NDArray[Any] = powers / powers.sum(axis=-1, keepdims=True)
    return result


def _merge_heads(array: NDArray[Any], rank: int) -> NDArray[Any]:
    batch, heads, length, size = array.shape
    if rank < 3:
        raise InputError(f"attention: expected an output of rank 3 or more, found rank {rank}")
    return np.swapaxes(array, 1, 2).reshape(*(1,) * (rank - 3), batch, length, heads * size)


def _prepend_dimensions(array: NDArray[Any], rank: int) -> NDArray[Any]:
    return array.reshape(*(1,) * (rank - array.ndim), *array.shape)


_MODES: Final = range(4)


class _Bounds(NamedTuple):
    """Keys that a query may attend to.

    None after the query if causal, and at most `left` before and `right` after it; a negative number means unlimited.
    """

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
    """Return attention, all keys, all values and the scores.

    Attention is softmax(scale * query @ keys + mask) @ values, with past keys and values prepended. query: [batch,
    heads, queries, size] or [batch, queries, heads * size]; key, value: the same layout, with as many or fewer heads,
    each shared by several consecutive query heads. mask: broadcast to the scores [batch, heads, queries, keys], boolean
    or added; keys beyond its end are masked out. past_key, past_value: [batch, heads, keys, size]. valid: [batch],
    number of valid keys. scale: default 1 / sqrt(size). cap: scores become cap * tanh(score / cap) if above 0. causal:
    a query does not attend to keys after its own position, which starts after the past, or is aligned so that the last
    query is at the last valid key; left, right: window before and after the position, -1 for unlimited. mode: return
    scores of the product (0), after the cap (1), with the mask (2) or after softmax (3). precision: the type of the
    softmax. A query without keys gives zeros.
    """
    require_float("attention", query, key, value)
    if {query.ndim, key.ndim, value.ndim} not in ({3}, {4}) or mode not in _MODES or min(left, right) < -1:
        raise InputError(
            f"attention: expected rank 3 or 4 and a mode in {list(_MODES)}, found rank {query.ndim} and mode {mode}"
        )
    if (past_key is None) != (past_value is None) or (valid is not None and past_key is not None):
        raise InputError("attention: past_key and past_value must be given together, and not with nonpad_kv_seqlen")
    flat = query.ndim == 3
    wide_query, keys, values = (
        _by_heads(array, count, flat=flat)
        for array, count in ((query, heads), (key, shared_heads), (value, shared_heads))
    )
    keys, values = _join_cache(past_key, keys), _join_cache(past_value, values)
    _require_sizes(wide_query, keys, values)
    batch, head_count, queries, size = wide_query.shape
    total = keys.shape[2]
    bounds = _Bounds(bool(causal), left, right)
    if valid is not None:
        require_shape("attention", "the numbers of valid keys", valid.shape, (batch,))
    shape = (batch, head_count, queries, total)
    memory.check_budget(shape, np.dtype(np.float64))
    with ignore_warnings():
        kind = working(query)
        group = head_count // keys.shape[1] if keys.shape[1] else 1
        factor = 1 / np.sqrt(size) if scale is None else scale
        split = wide_query.astype(kind).reshape(batch, keys.shape[1], group * queries, size) * kind.type(factor)
        raw = multiply_matrices(split, np.swapaxes(keys.astype(kind), 2, 3)).reshape(shape)
        capped = kind.type(cap) * np.tanh(raw / kind.type(cap)) if cap > 0 else raw
        offset = valid - queries if valid is not None else 0 if past_key is None else past_key.shape[2]
        scores = capped + _score_addend(mask, shape, valid, offset, bounds, kind)
        shares = _masked_softmax(scores if precision is None else round_to(scores, precision), kind)
        shares = shares if precision is None else round_to(shares, precision).astype(kind)
        flattened = shares.reshape(batch, keys.shape[1], group * queries, total)
        result: NDArray[Any] = multiply_matrices(flattened, values.astype(kind)).reshape(
            batch, head_count, queries, values.shape[3]
        )
        unseen = ~(shares != 0).any(axis=-1, keepdims=True)
        if unseen.any():  # 0, even for an infinite value
            result = np.where(unseen, kind.type(0), result)
        if flat:
            result = result.swapaxes(1, 2).reshape(batch, queries, head_count * values.shape[3])
        mode_output = (raw, capped, scores, shares)[mode]
        return round_to(result, query.dtype), keys, values, round_to(mode_output, query.dtype)


def flex_attention(
    query: NDArray[Any],
    key: NDArray[Any],
    value: NDArray[Any],
    *,
    scale: float | None = None,
    score_graph: Body | None = None,
    share_graph: Body | None = None,
    precision: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return the result of `attend` for 4-D inputs.

    score_graph, share_graph: modify the scores, and the softmax result. Both are computed in `precision`, by default
    float32 (float64 for float64).
    """
    if {query.ndim, key.ndim, value.ndim} != {4}:
        raise InputError("attention: expected 4-D query, key and value")
    if score_graph is None and share_graph is None:
        return attend(query, key, value, scale=scale, precision=precision)[0]
    require_float("attention", query, key, value)
    _require_sizes(query, key, value)
    batch, head_count, queries, size = query.shape
    shape, kind = (batch, head_count, queries, key.shape[2]), working(query)
    dtype = kind if precision is None else precision
    factor = kind.type(1 / np.sqrt(size) if scale is None else scale)
    with ignore_warnings():
        shared = head_count // key.shape[1] * queries
        split = query.astype(kind).reshape(batch, key.shape[1], shared, size) * factor
        scores = round_to(multiply_matrices(split, np.swapaxes(key.astype(kind), 2, 3)).reshape(shape), dtype)
        scores = _apply_graph(score_graph, scores)
        shares = _apply_graph(share_graph, round_to(_masked_softmax(scores.astype(kind), kind), dtype))
        flattened = shares.astype(kind).reshape(batch, key.shape[1], shared, key.shape[2])
        array = multiply_matrices(flattened, value.astype(kind)).reshape(batch, head_count, queries, value.shape[3])
        return round_to(array, query.dtype)


def _apply_graph(graph: Body | None, array: NDArray[Any]) -> NDArray[Any]:
    if graph is None:
        return array
    items = graph([array])
    if len(items) != 1 or items[0].shape != array.shape or items[0].dtype != array.dtype:
        raise InputError(
            f"attention: expected a subgraph whose output is {array.dtype} {list(array.shape)}, as its input"
        )
    new_value: NDArray[Any] = items[0]
    return new_value


def working(array: NDArray[Any]) -> np.dtype[Any]:
    """Return the type for sums of products: float64 for float64, else float32."""
    return np.dtype(np.float64 if array.dtype == np.float64 else np.float32)


def _by_heads(array: NDArray[Any], heads: int | None, *, flat: bool) -> NDArray[Any]:
    if not flat:
        return array
    if not heads or heads < 1 or array.shape[2] % heads:
        raise InputError(f"attention: {array.shape[2]} elements are not divisible by {heads} heads")
    return array.reshape(*array.shape[:2], heads, array.shape[2] // heads).swapaxes(1, 2)


def _join_cache(past: NDArray[Any] | None, new: NDArray[Any]) -> NDArray[Any]:
    if past is None:
        return np.ascontiguousarray(new)
    expected = (*new.shape[:2], past.shape[2] if past.ndim == 4 else 0, new.shape[3])
    require_shape("attention", "a past", past.shape, expected)
    if past.dtype != new.dtype:
        raise InputError(f"attention: the past is {past.dtype}, but the new keys or values are {new.dtype}")
    return np.concatenate([past, new], axis=2)


def _require_sizes(query: NDArray[Any], key: NDArray[Any], value: NDArray[Any]) -> None:
    sizes_agree = query.shape[0] == key.shape[0] and query.shape[3] == key.shape[3] and key.shape[:3] == value.shape[:3]
    if not sizes_agree or not key.shape[1] or query.shape[1] % key.shape[1]:
        raise InputError(
            f"attention: the shapes {query.shape}, {key.shape} and {value.shape} of query, key and value do not match"
        )


def _score_addend(
    mask: NDArray[Any] | None,
    shape: tuple[int, ...],
    valid: NDArray[Any] | None,
    offset: Any,
    bounds: _Bounds,
    kind: np.dtype[Any],
) -> NDArray[Any]:
    """Return the addend of the scores: the mask, and -inf for hidden keys."""
    _, _, queries, keys = shape
    allowed = np.ones((1, 1, queries, keys), np.bool_)
    distances = np.arange(keys) - (np.arange(queries)[:, None] + np.reshape(offset, (-1, 1, 1, 1)))
    for limit, distance in (
        (0 if bounds.causal else -1, distances),
        (bounds.right, distances),
        (bounds.left, -distances),
    ):
        if limit >= 0:
            allowed = allowed & (distance <= limit)
    if valid is not None:
        allowed = allowed & (np.arange(keys) < valid.reshape(-1, 1, 1, 1))
    least = kind.type(-np.inf)
    mask_summand = np.zeros((), kind) if mask is None else _broadcast_mask(mask, shape, kind)
    return np.where(allowed, mask_summand, least)


def _broadcast_mask(mask: NDArray[Any], shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
    if mask.ndim > 4 or (mask.ndim > 1 and mask.shape[-2] not in {1, shape[2]}):
        raise InputError(f"attention: a mask of shape {list(mask.shape)} does not match {list(shape)}")
    if mask.ndim == 4 and mask.shape[0] not in {1, shape[0]}:
        raise InputError(f"attention: a mask of shape {list(mask.shape)} does not match {shape[0]} batches")
    least = kind.type(-np.inf)
    summand_array = np.where(mask, kind.type(0), least) if mask.dtype.kind == "b" else mask.astype(kind)
    if mask.ndim and 1 < mask.shape[-1] < shape[3]:
        padding_widths = [(0, 0)] * (mask.ndim - 1) + [(0, shape[3] - mask.shape[-1])]
        summand_array = np.pad(summand_array, padding_widths, constant_values=least)
    try:
        return np.asarray(np.broadcast_to(summand_array, shape))
    except ValueError:
        raise NoKernel(
            f"attention: it is unspecified how a mask {list(mask.shape)} is broadcast to {list(shape)}"
        ) from None


def _masked_softmax(scores: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    wide_scores = scores.astype(kind, copy=False)
    if not wide_scores.shape[-1]:
        return wide_scores
    top = wide_scores.max(axis=-1, keepdims=True)
    wide_scores = np.exp(wide_scores - np.where(np.isneginf(top), kind.type(0), top))
    total = wide_scores.sum(axis=-1, keepdims=True)
    return np.asarray(wide_scores / np.where(total == 0, kind.type(1), total))
