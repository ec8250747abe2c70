"""What the layers of one-stage detectors make of planes: predictions activated, and places that become channels."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, round_to, to_float64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["activate_predictions", "channels_of_places"]


def activate_predictions(
    data: NDArray[Any],
    *,
    coordinates: int,
    classes: int,
    regions: int,
    mask: Sequence[int] = (),
    first: int = 1,
    last: int = 3,
    exclusive: bool = True,
) -> NDArray[Any]:
    """Return predictions of `regions` [batch, regions * (coordinates + 1 + classes), rows, columns], activated.

    Of each region the first two coordinates and the score go through the sigmoid, the other coordinates stay, and
    classes go through softmax; dimensions `first` to `last` become one. Not exclusive: classes go through the sigmoid,
    too, `mask` is as long as there are regions, and dimensions stay.
    Raises NoKernel for other channels than these, and for fewer than two coordinates.
    """
    if data.ndim != 4:
        raise InputError("activate_predictions: expected planes of four dimensions")
    count = regions if exclusive else len(mask)
    batch, channels, rows, columns = data.shape
    if coordinates < 2 or classes < 0 or count < 0 or channels != count * (coordinates + 1 + classes):
        raise NoKernel(
            f"activate_predictions: it is not said what {channels} channels mean for {count} regions of {coordinates} "
            f"coordinates and {classes} classes"
        )
    memory.hold(data.shape, np.dtype(np.float64))
    result = to_float64(data).reshape(batch, count, coordinates + 1 + classes, rows, columns).copy()
    with memory.quiet():
        scored = slice(coordinates, coordinates + 1 if exclusive else None)
        for part in (slice(2), scored):
            result[:, :, part] = 1 / (1 + np.exp(-result[:, :, part]))
        if exclusive and classes:
            likely = result[:, :, coordinates + 1 :]
            likely -= likely.max(2, keepdims=True)
            np.exp(likely, out=likely)
            likely /= likely.sum(2, keepdims=True)
    found = round_to(result, data.dtype).reshape(data.shape)
    if not exclusive:
        return found
    for axis in (first, last):
        check_axis(axis, 4, "activate_predictions")
    if first > last:
        raise InputError(f"activate_predictions: dimensions {first} to {last} are none")
    return found.reshape(*data.shape[:first], prod(data.shape[first : last + 1]), *data.shape[last + 1 :])


def channels_of_places(data: NDArray[Any], *, block: int) -> NDArray[Any]:
    """Return [batch, channels * block * block, rows / block, columns / block], as Darknet's layer orders elements.

    The elements of data [batch, channels, rows, columns] are taken as channels / block / block planes of `block` times
    the rows and columns; the places of a block of these become channels, the channels before running fastest, and what
    is found is taken as the output's shape. Raises NoKernel where blocks do not divide the channels.
    """
    if data.ndim != 4 or block < 1 or data.shape[2] % block or data.shape[3] % block:
        raise InputError(f"channels_of_places: blocks of {block} do not divide {list(data.shape)}")
    batch, channels, rows, columns = data.shape
    if channels % (block * block):
        raise NoKernel(f"channels_of_places: it is not said where elements of {channels} channels go")
    memory.hold(data.shape, data.dtype)
    planes = data.reshape(batch, channels // block // block, rows, block, columns, block)
    moved = planes.transpose(0, 3, 5, 1, 2, 4)
    return moved.reshape(batch, channels * block * block, rows // block, columns // block)
