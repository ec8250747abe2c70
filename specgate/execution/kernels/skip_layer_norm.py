"""Skip layer normalization and embedding layer normalization.

com.microsoft EmbedLayerNormalization, SimplifiedLayerNormalization, SkipLayerNormalization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, require_shape, round_to, to_float64
from specgate.execution.kernels.elementwise import require_float
from specgate.execution.kernels.gather import gather_slices

if TYPE_CHECKING:
    from numpy.typing import NDArray


def skip_layer_normalization(
    inputs: NDArray[Any],
    skip: NDArray[Any],
    scale: NDArray[Any],
    shift: NDArray[Any] | None = None,
    bias: NDArray[Any] | None = None,
    *,
    epsilon: float,
    centred: bool = True,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the normalized sum, means, inverse deviations, and the sum.

    The sum is inputs + skip + bias. inputs: [batch, time, size] or [time, size]. skip: of that shape, or without the
    batch, or with batch 1. scale, shift, bias: [size]. centred: layer normalization, else RMS normalization. Means and
    deviations are float32, with a last dimension of size 1.
    """
    require_float("normalization", inputs)
    if inputs.ndim not in {2, 3} or skip.ndim not in {2, 3} or skip.shape[-2:] != inputs.shape[-2:]:
        raise InputError(
            f"normalization: skip of shape {list(skip.shape)} does not match an input of shape {list(inputs.shape)}"
        )
    if skip.ndim == 3 and skip.shape[0] not in {1, *inputs.shape[: inputs.ndim - 2]}:
        raise InputError(
            f"normalization: skip of shape {list(skip.shape)} does not match an input of shape {list(inputs.shape)}"
        )
    for noun, array in (("a scale", scale), ("a shift", shift), ("a bias", bias), ("a summand", skip)):
        if array is not None and array.dtype != inputs.dtype:
            raise InputError(f"normalization: expected {noun} of {inputs.dtype}, found {array.dtype}")
        if array is not None and array is not skip:
            require_shape("normalization", noun, array.shape, inputs.shape[-1:])
    memory.check_budget(inputs.shape, np.dtype(np.float64))
    with memory.ignore_warnings():
        total = to_float64(inputs) + to_float64(skip if skip.ndim == inputs.ndim or skip.ndim < 3 else skip[0])
        total = total if bias is None else total + to_float64(bias)
        normalized, mean, inverse = _normalize(total, inputs.ndim - 1, epsilon, centred=centred)
        result = normalized * to_float64(scale)
        result = result if shift is None else result + to_float64(shift)
        single = np.dtype(np.float32)
        return (
            round_to(result, inputs.dtype),
            round_to(mean, single),
            round_to(inverse, single),
            round_to(total, inputs.dtype),
        )


def _normalize(
    wide_values: NDArray[Any], axis: int, epsilon: float, *, centred: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return normalized numbers, means (0 if not centred) and factors.

    Normalizes over the dimensions from `axis` on.
    """
    axes = tuple(range(axis, wide_values.ndim))
    count = np.float64(np.prod(wide_values.shape[axis:], dtype=np.int64))
    mean = (
        wide_values.sum(axis=axes, keepdims=True) / count
        if centred
        else np.zeros((*wide_values.shape[:axis], *(1,) * len(axes)))
    )
    wide_values = wide_values - mean
    inverse = 1 / np.sqrt(np.square(wide_values).sum(axis=axes, keepdims=True) / count + np.float32(epsilon))
    return wide_values * inverse, mean, inverse


def simplified_layer_normalization(
    inputs: NDArray[Any],
    scale: NDArray[Any],
    *,
    axis: int,
    epsilon: float,
    statistics: np.dtype[Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return RMS normalization from `axis` on times scale, and inverse roots.

    scale broadcasts to `inputs`, and has the type of the result. statistics: the type of the inverse roots.
    """
    check_axis(axis, inputs.ndim, "normalization")
    require_float("normalization", inputs, scale)
    if scale.ndim > inputs.ndim or any(
        n not in {1, m} for n, m in zip(scale.shape[::-1], inputs.shape[::-1], strict=False)
    ):
        raise InputError(
            f"normalization: a scale of shape {list(scale.shape)} does not match an input of shape {list(inputs.shape)}"
        )
    with memory.ignore_warnings():
        normalized, _, inverse = _normalize(inputs.astype(np.float64), axis, epsilon, centred=False)
        return round_to(normalized * to_float64(scale), scale.dtype), round_to(inverse, statistics)


def embed_layer_normalization(
    words: NDArray[Any],
    word_table: NDArray[Any],
    place_table: NDArray[Any],
    scale: NDArray[Any],
    shift: NDArray[Any],
    segments: NDArray[Any] | None = None,
    segment_table: NDArray[Any] | None = None,
    mask: NDArray[Any] | None = None,
    position_ids: NDArray[Any] | None = None,
    *,
    epsilon: float,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return normalized embedding sums, mask counts per batch, and the sums.

    Sums are of word, position and segment embeddings. words, segments, mask: [batch, time]. word_table and others:
    [rows, size]. scale, shift: [size]. position_ids: [batch, time] or [1, time], default from 0 on. mask: 1 for valid
    tokens; without a mask the counts are 0.
    """
    require_float("embedding", word_table, place_table, scale, shift)
    if words.ndim != 2 or word_table.ndim != 2:
        raise InputError(f"embedding: expected input_ids [batch, sequence], found {list(words.shape)}")
    if (segments is None) != (segment_table is None):
        raise InputError("embedding: segment_ids and segment_embedding must be given together")
    batch, time = words.shape
    places = np.arange(time)[np.newaxis] if position_ids is None else position_ids
    if places.shape not in {(batch, time), (1, time)}:
        raise InputError(
            f"embedding: position_ids of shape {list(places.shape)} do not match input_ids of shape {list(words.shape)}"
        )
    pairs = [(words, word_table), (places, place_table)]
    if segments is not None and segment_table is not None:
        pairs.append((segments, segment_table))
    for optional_array in (segments, mask):
        if optional_array is not None:
            require_shape("embedding", "segment_ids or mask", optional_array.shape, words.shape)
    size = word_table.shape[1]
    for _, table in pairs:
        require_shape("embedding", "a table", table.shape[1:], (size,))
    for optional_array in (scale, shift):
        require_shape("embedding", "a scale or shift", optional_array.shape, (size,))
    memory.check_budget((batch, time, size), np.dtype(np.float64))
    if any(indices.size and int(indices.min()) < 0 for indices, _ in pairs):
        raise InputError("embedding: expected row indices of at least 0")
    with memory.ignore_warnings():
        total = sum(to_float64(gather_slices(table, indices, axis=0)) for indices, table in pairs)
        total = np.broadcast_to(np.asarray(total), (batch, time, size))
        normalized, _, _ = _normalize(total, 2, epsilon, centred=True)
        result = round_to(normalized * to_float64(scale) + to_float64(shift), word_table.dtype)
    return result, _count_mask(mask, batch), round_to(total, word_table.dtype)


def _count_mask(mask: NDArray[Any] | None, batch: int) -> NDArray[np.int32]:
    return np.zeros(batch, np.int32) if mask is None else (mask == 1).sum(axis=1).astype(np.int32)
