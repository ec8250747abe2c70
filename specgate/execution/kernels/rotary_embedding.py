"""Rotary position embedding (RoPE), SwiGLU and affine grid.

ONNX AffineGrid, RotaryEmbedding, SwiGLU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.elementwise import broadcast_arrays, ignore_warnings, require_float
from specgate.execution.kernels.gather import places_in
from specgate.execution.kernels.matmul import multiply_matrices

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rotary_embedding(
    inputs: NDArray[Any],
    cosines: NDArray[Any],
    sines: NDArray[Any],
    positions: NDArray[Any] | None = None,
    *,
    interleaved: int = 0,
    heads: int | None = None,
    turned: int = 0,
) -> NDArray[Any]:
    """Return `inputs` with rotary position embedding.

    inputs: [batch, heads, time, size], or [batch, time, heads * size]. cosines, sines: [positions, pairs], indexed by
    `positions` [batch, time], or without it [batch, time, pairs]. interleaved: adjacent elements are a pair, else an
    element of the first half and one of the second. turned: number of elements of each head to rotate, 0 for all.
    """
    require_float("rotary", inputs, cosines, sines)
    if inputs.ndim not in {3, 4} or interleaved not in {0, 1} or turned < 0 or (heads or 0) < 0:
        raise InputError(
            f"rotary: expected a 3-D or 4-D input and attributes of at least 0, found {list(inputs.shape)}"
        )
    if inputs.ndim == 3 and (not heads or inputs.shape[2] % (2 * heads)):
        raise InputError(f"rotary: {list(inputs.shape)} is not divisible into {heads} heads of even size")
    data = (
        inputs
        if inputs.ndim == 4
        else inputs.reshape(*inputs.shape[:2], heads or 1, inputs.shape[2] // (heads or 1)).swapaxes(1, 2)
    )
    batch, _, time, size = data.shape
    count = turned or size
    if size % 2 or count % 2 or count > size:
        raise InputError(f"rotary: expected an even number of rotated elements, at most {size}, found {count}")
    angles = [_angles(angle_table, positions, (batch, time, count // 2)) for angle_table in (cosines, sines)]
    memory.check_budget(data.shape, np.dtype(np.float64))
    with ignore_warnings():
        wide_data = to_float64(data)
        first, second = slice(0, count, 2) if interleaved else slice(0, count // 2), slice(count // 2, count)
        second = slice(1, count, 2) if interleaved else second
        real, imaginary = wide_data[..., first], wide_data[..., second]
        result = wide_data.copy()
        result[..., first] = real * angles[0] - imaginary * angles[1]
        result[..., second] = real * angles[1] + imaginary * angles[0]
        result = result if inputs.ndim == 4 else result.swapaxes(1, 2).reshape(inputs.shape)
        return round_to(result, inputs.dtype)


def _angles(cache: NDArray[Any], positions: NDArray[Any] | None, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the factors per pair and position, [batch, 1, time, pairs]."""
    if positions is None:
        require_shape("rotary", "a cache", cache.shape, shape)
        return to_float64(cache)[:, np.newaxis]
    require_shape("rotary", "positions", positions.shape, shape[:2])
    if cache.ndim != 2 or cache.shape[1] != shape[2]:
        raise InputError(
            f"rotary: expected a cache with {shape[2]} pairs per position, found shape {list(cache.shape)}"
        )
    if positions.size and int(positions.min()) < 0:
        raise InputError(f"rotary: expected positions of at least 0, found {int(positions.min())}")
    return to_float64(cache[places_in("rotary", positions, len(cache))])[:, np.newaxis]


def swiglu(a: NDArray[Any], b: NDArray[Any], *, alpha: float = 1.0) -> NDArray[Any]:
    """Return SwiGLU: a * sigmoid(alpha * a) * b, of one shape and type."""
    a, b = broadcast_arrays("swi_glu", a, b)
    require_float("swi_glu", a)
    memory.check_budget(a.shape, np.dtype(np.float64))
    with ignore_warnings():
        wide_factor = to_float64(a)
        return round_to(wide_factor / (1.0 + np.exp(-alpha * wide_factor)) * to_float64(b), a.dtype)


def affine_grid(theta: NDArray[Any], size: NDArray[Any], *, align_corners: int = 0) -> NDArray[Any]:
    """Return an affine grid [batch, spatial…, coordinates], last axis first.

    theta: [batch, 2, 3] or [batch, 3, 4]. size: batch, channels and the spatial sizes. Positions are from -1 to 1, the
    centers of the outermost elements with align_corners, else their outer edges.
    """
    require_float("affine_grid", theta)
    if theta.ndim != 3 or theta.shape[1] not in {2, 3} or theta.shape[2] != theta.shape[1] + 1:
        raise InputError(f"affine_grid: expected theta of shape [N, 2, 3] or [N, 3, 4], found {list(theta.shape)}")
    rank = theta.shape[1]
    require_shape("affine_grid", "sizes", size.shape, (rank + 2,))
    numbers = [int(n) for n in size]
    if numbers[0] != len(theta) or min(numbers[2:]) < 0 or align_corners not in {0, 1}:
        raise InputError(f"affine_grid: theta of batch size {len(theta)} does not match the size {numbers!r:.60}")
    shape = (len(theta), *numbers[2:], rank)
    memory.check_budget(shape, np.dtype(np.float64))
    if 0 in shape:  # only one slice of the other dimensions, for which no memory is counted
        return memory.empty(shape, theta.dtype)
    steps = [_steps(n, centres=bool(align_corners)) for n in numbers[2:]]
    places = np.stack([*reversed(np.meshgrid(*steps, indexing="ij")), np.ones(numbers[2:])], axis=-1)
    with ignore_warnings():
        array = multiply_matrices(places.reshape(1, -1, rank + 1), to_float64(theta).swapaxes(1, 2))
        return round_to(array.reshape(shape), theta.dtype)


def _steps(count: int, *, centres: bool) -> NDArray[Any]:
    """Return `count` coordinates in [-1, 1], evenly spaced.

    centres: the outermost are -1 and 1; otherwise they are the centers of equal cells.
    """
    if centres:
        return np.linspace(-1.0, 1.0, count) if count > 1 else np.zeros(count)
    return (2 * np.arange(count) + 1) / max(count, 1) - 1
