"""Scaled dot-product attention.

OpenVINO ScaledDotProductAttention.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import round_to, to_float64
from specgate.execution.kernels.matmul import multiply_matrices

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["weigh_values"]


def weigh_values(
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
        raise InputError(f"attention: expected one number as scale, found {scale.size}")
    if any(array is not None and array.dtype != dtype for array in (key, value, scale, sink)):
        raise InputError(f"attention: expected arrays of {dtype} only")
    shape = (*batch, query.shape[-2], key.shape[-2])
    scores = memory.empty(shape, np.dtype(np.float64))
    with memory.quiet():
        scores[...] = multiply_matrices(to_float64(query), np.swapaxes(to_float64(key), -1, -2))
        scores *= to_float64(scale).reshape(()) if scale is not None else 1 / np.sqrt(np.float64(query.shape[-1]))
        if causal:
            scores[..., np.arange(shape[-1]) > np.arange(shape[-2])[:, np.newaxis]] += -np.inf
        elif mask is not None:
            scores += _added(mask, dtype, shape)
        aside = np.full((1, 1), -np.inf) if sink is None else _aside(sink, query.shape)
        most = np.maximum(scores.max(axis=-1, keepdims=True, initial=-np.inf), aside)
        scores -= most
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True) + np.exp(aside - most)
        return round_to(multiply_matrices(scores, to_float64(value)), dtype)


def _batch(query: NDArray[Any], key: NDArray[Any], value: NDArray[Any]) -> tuple[int, ...]:
    """Return the broadcast batch shape; raise InputError for other sizes."""
    shapes = [query.shape, key.shape, value.shape]
    try:
        if min(map(len, shapes)) >= 2 and query.shape[-1] == key.shape[-1] and key.shape[-2] == value.shape[-2]:
            return np.broadcast_shapes(*(shape[:-2] for shape in shapes))
    except ValueError:
        pass
    raise InputError(f"attention: query, key and value of {[list(shape) for shape in shapes]} do not match")


def _aside(sink: NDArray[Any], query: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the sink logits of queries; sizes are those of `query`, or 1."""
    sizes = (*query[:-1], 1)
    if sink.ndim != len(sizes) or any(size not in {1, most} for size, most in zip(sink.shape, sizes, strict=True)):
        raise InputError(f"attention: a sink of {list(sink.shape)} cannot be stretched to {list(sizes)}")
    return to_float64(sink)


def _added(mask: NDArray[Any], dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the summand of a mask: -inf for booleans that are False.

    shape: of the scores.
    """
    hides = mask.dtype == np.bool_
    if mask.ndim == 1 or (hides and not mask.ndim) or (not hides and mask.dtype != dtype):
        raise InputError(f"attention: expected no mask of {mask.dtype} of {mask.ndim} dimensions")
    try:
        fits = np.broadcast_shapes(mask.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise InputError(f"attention: a mask of {list(mask.shape)} cannot be broadcast to {list(shape)}")
    return np.where(mask, 0.0, -np.inf) if hides else to_float64(mask)
