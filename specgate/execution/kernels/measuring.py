"""What arrays are, not what they hold: their sizes, how many elements they have, and matrices of their shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.narrow import zero_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["count_elements", "diagonal_like", "full_of", "keep_triangle", "sizes_between", "stated_value"]

_FAR = 2**40


def sizes_between(inputs: NDArray[Any], *, start: int = 0, end: int | None = None) -> NDArray[Any]:
    """Return the sizes of the dimensions from `start` to before `end` as int64, as Python slices a list."""
    return np.array(inputs.shape[start:end], np.int64)


def count_elements(inputs: NDArray[Any]) -> NDArray[Any]:
    """Return how many elements there are, a scalar of int64."""
    return np.array(inputs.size, np.int64)


def full_of(sizes: NDArray[Any], *, value: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return an array of the given sizes full of the one element of `value`, or without it of zeros of float32."""
    shape = tuple(int(size) for size in sizes.reshape(-1))
    if min(shape, default=0) < 0:
        raise InputError(f"constant: the output would have the shape {list(shape)!r:.60}")
    whole = np.zeros(1, np.float32) if value is None else value
    if whole.size != 1:
        raise InputError(f"constant: expected one value, found {whole.size}")
    result = memory.empty(shape, whole.dtype)
    result[...] = whole.reshape(())
    return result


def stated_value(
    *,
    tensor: NDArray[Any] | None = None,
    float_: float | None = None,
    floats: Sequence[float] | None = None,
    int_: int | None = None,
    ints: Sequence[int] | None = None,
    text: str | None = None,
    texts: Sequence[str] | None = None,
) -> NDArray[Any]:
    """Return the one of these that is there as an array: numbers as float32 or int64, texts as objects."""
    given: list[tuple[Any, Any]] = [
        (tensor, None), (float_, np.float32), (floats, np.float32), (int_, np.int64), (ints, np.int64),
        (text, object), (texts, object),
    ]  # fmt: skip
    found = [(value, kind) for value, kind in given if value is not None]
    if len(found) != 1:
        raise InputError(f"constant: expected one value, found {len(found)}")
    value, kind = found[0]
    return np.array(value, kind)


def diagonal_like(inputs: NDArray[Any], *, right: int = 0, dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return a matrix of the shape of `inputs` with ones so many columns right of the main diagonal, and zeros.

    dtype: its type, that of `inputs` without.
    """
    if inputs.ndim != 2:
        raise InputError(f"eye_like: expected a matrix, found {inputs.ndim} dimensions")
    result = memory.empty(inputs.shape, inputs.dtype if dtype is None else dtype)
    result[...] = 0
    height, width = inputs.shape
    right = max(-_FAR, min(_FAR, right))
    places = np.arange(max(0, -right), max(0, -right, min(height, width - right)))
    result[places, places + right] = 1
    return result


def keep_triangle(inputs: NDArray[Any], diagonal: NDArray[Any] | None = None, *, upper: bool) -> NDArray[Any]:
    """Return matrices [..., n, m] with zeros (empty texts) below a diagonal, or above it.

    diagonal: how many columns right of the main one it is, 0 without.
    """
    if inputs.ndim < 2 or (diagonal is not None and diagonal.size != 1):
        raise InputError(f"triangle: expected matrices and one diagonal, found the shape {list(inputs.shape)}")
    right = 0 if diagonal is None else max(-_FAR, min(_FAR, int(diagonal.reshape(()))))
    height, width = inputs.shape[-2:]
    if not inputs.size:  # without the places along its other dimensions, for which nothing is charged
        return inputs.copy()
    memory.hold(inputs.shape, inputs.dtype)
    at = np.arange(width) - np.arange(height)[:, np.newaxis]
    kept = at >= right if upper else at <= right
    return np.where(kept, inputs, zero_of("triangle", inputs.dtype))
