"""What is computed of segments: slices along the first dimension that a list of numbers puts together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["segment_max"]


def segment_max(
    data: NDArray[Any], segment_ids: NDArray[Any], num_segments: NDArray[Any] | None = None, *, lowest: bool
) -> NDArray[Any]:
    """Return the largest elements of each segment of slices of `data` along its first dimension.

    segment_ids: for each slice the number of its segment, in rising order. num_segments: how many there are, those up
    to the last one if None; what is beyond is left out. An empty segment has zeros, or the lowest number of the type.
    """
    if data.ndim == 0:
        raise InputError("segment_max: expected data of at least one dimension")
    if data.dtype == np.bool_:
        raise InputError("segment_max: expected numbers, found bool")
    require_shape("segment_max", "segment_ids", segment_ids.shape, data.shape[:1])
    if (segment_ids < 0).any() or (segment_ids[1:] < segment_ids[:-1]).any():
        raise InputError("segment_max: expected segment_ids of 0 and above, in rising order")
    count = int(num_segments.reshape(())) if num_segments is not None else int(segment_ids.max(initial=-1)) + 1
    if count < 0:
        raise InputError(f"segment_max: expected 0 segments or more, found {count}")
    result = memory.empty((count, *data.shape[1:]), data.dtype)
    result[...] = _lowest(data.dtype) if lowest else 0
    if data.size:
        first = np.flatnonzero(np.concatenate([[True], segment_ids[1:] != segment_ids[:-1]]))
        largest = np.maximum.reduceat(to_float32(data, data.dtype), first, axis=0)
        kept = segment_ids[first] < count
        result[segment_ids[first][kept]] = round_to(largest[kept], data.dtype)
    return result


def _lowest(dtype: np.dtype[Any]) -> Any:
    """Return the lowest number of a type that is not infinite."""
    if not is_float(dtype):
        return np.iinfo(dtype).min
    if dtype.kind == "f":
        return np.finfo(dtype).min
    return np.array(0xFF7F, np.uint16).view(dtype)  # bfloat16, the upper half of float32's lowest
