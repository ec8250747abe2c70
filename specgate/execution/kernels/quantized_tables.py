"""Rows of quantized tables: gathered and made floats, or added and normalised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, round_to
from specgate.execution.kernels.elementwise import quiet, want_float
from specgate.execution.kernels.gather import places_and_outside
from specgate.execution.kernels.narrow import widened
from specgate.execution.kernels.quantized_functions import real_of
from specgate.execution.kernels.quantized_weights import unpacked
from specgate.execution.kernels.skipped_layers import normalize_embeddings
from specgate.execution.types import integer_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["gather_from_blocks", "normalize_quantized_embeddings"]


def gather_from_blocks(
    data: NDArray[Any],
    indices: NDArray[Any],
    scales: NDArray[Any],
    zeros: NDArray[Any] | None = None,
    *,
    gather_axis: int,
    quantize_axis: int,
    block: int,
    bits: int,
) -> NDArray[Any]:
    """Return the places along `gather_axis` that indices name, less their zero points and times their scales.

    data: integers or floats of at most 8 bits; of uint8, numbers of so many `bits`, packed along the last dimension,
    the lowest bits first. scales, zeros: one for each block along `quantize_axis`, of the sizes of data along others,
    or 1 where data are floats. block: 0 for one block. Zero points of packed numbers are packed likewise; absent they
    are 2**(bits - 1) for uint8, else 0. Negative indices count from the end; what is outside gives 0.
    """
    want_float("gather", scales)
    for axis in (gather_axis, quantize_axis):
        check_axis(axis, data.ndim, "gather")
    packed = bits if data.dtype == np.uint8 else 8
    if packed not in {2, 4, 8}:
        raise InputError(f"gather: expected numbers of 2, 4 or 8 bits, found {bits}")
    numbers = unpacked(data, packed) if packed < 8 else data
    count, size = numbers.shape[quantize_axis], block or max(1, numbers.shape[quantize_axis])
    shape = (*numbers.shape[:quantize_axis], -(-count // size), *numbers.shape[quantize_axis + 1 :])
    _hold_fitting("scales", scales, shape, quantize_axis, stretched=integer_range(data.dtype) is None)
    places, outside = places_and_outside(indices.reshape(-1), numbers.shape[gather_axis])
    result = memory.empty(_with(numbers.shape, gather_axis, (places.size,)), scales.dtype)
    result[...] = 0
    if numbers.shape[gather_axis]:
        points = np.float32(1 << bits - 1 if data.dtype == np.uint8 else 0)
        parts = [scales] if zeros is None else [scales, _points(zeros, data, shape, packed, quantize_axis)]
        fitted = [_fitted(part, places, gather_axis, quantize_axis, (count, size)) for part in parts]
        with quiet():
            chosen = _wide(np.take(numbers, places, gather_axis))
            moved = chosen - (points if zeros is None else _wide(fitted[1]))
            result[...] = round_to(moved * fitted[0].astype(np.float32), scales.dtype)
        result[(slice(None),) * gather_axis + (outside,)] = 0
    return result.reshape(_with(numbers.shape, gather_axis, indices.shape))


def _with(shape: Sequence[int], axis: int, sizes: Sequence[int]) -> tuple[int, ...]:
    return (*shape[:axis], *sizes, *shape[axis + 1 :])


def _wide(array: NDArray[Any]) -> NDArray[Any]:
    return widened(array).astype(np.float32)


def _hold_fitting(what: str, array: NDArray[Any], shape: Sequence[int], axis: int, *, stretched: bool) -> None:
    """Refuse scales or zero points that are not for these blocks; stretched: along other axes they may have size 1."""
    pairs = enumerate(zip(array.shape, shape, strict=False))
    if array.ndim != len(shape) or any(n != m and (n != 1 or at == axis or not stretched) for at, (n, m) in pairs):
        raise InputError(f"gather: {what} of {list(array.shape)} do not go with blocks of {list(shape)}")


def _points(zeros: NDArray[Any], data: NDArray[Any], shape: Sequence[int], packed: int, axis: int) -> NDArray[Any]:
    if zeros.dtype != data.dtype or integer_range(data.dtype) is None:
        raise InputError(f"gather: zero points of {zeros.dtype} do not go with numbers of {data.dtype}")
    if packed == 8:
        _hold_fitting("zero points", zeros, shape, axis, stretched=False)
        return zeros
    if axis != len(shape) - 1:
        raise NoKernel(
            "gather: it is not said how zero points are packed that are not for blocks of the last dimension"
        )
    _hold_fitting("zero points", zeros, (*shape[:-1], -(-shape[-1] * packed // 8)), axis, stretched=False)
    return unpacked(zeros, packed)[..., : shape[-1]]


def _fitted(
    array: NDArray[Any], places: NDArray[Any], gather_axis: int, quantize_axis: int, blocks: tuple[int, int]
) -> NDArray[Any]:
    """Return scales or zero points of the places. blocks: how many numbers there are, and how many to a block."""
    count, size = blocks
    if gather_axis == quantize_axis:
        return np.take(array, places // size, gather_axis)
    rows = array if array.shape[gather_axis] == 1 else np.take(array, places, gather_axis)
    return np.take(rows, np.arange(count) // size, quantize_axis)


def normalize_quantized_embeddings(
    words: NDArray[Any],
    word_table: NDArray[Any],
    place_table: NDArray[Any],
    scale: NDArray[Any],
    shift: NDArray[Any],
    segments: NDArray[Any] | None = None,
    segment_table: NDArray[Any] | None = None,
    mask: NDArray[Any] | None = None,
    *,
    epsilon: float,
    **numbers: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the first two results of `normalize_embeddings`, with its arguments, of quantized tables, scale and shift.

    numbers: the scale and the zero point of each, by its name with _by and _zero behind it.
    """
    given = {"word_table": word_table, "place_table": place_table, "scale": scale, "shift": shift}
    if segment_table is not None:
        given["segment_table"] = segment_table
    missing = [name for name in given if f"{name}_by" not in numbers or f"{name}_zero" not in numbers]
    if missing:
        raise InputError(f"expected a scale and a zero point of each table, found none of {', '.join(missing)}")
    with quiet():
        tables = {name: real_of(each, numbers[f"{name}_by"], numbers[f"{name}_zero"]) for name, each in given.items()}
    result, counted, _ = normalize_embeddings(words, segments=segments, mask=mask, epsilon=epsilon, **tables)
    return result, counted
