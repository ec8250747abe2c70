"""Boxes by their corners: how much two of them overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.execution import memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["areas", "by_corners", "by_score", "overlaps", "precision_of"]


def precision_of(*arrays: NDArray[Any]) -> Any:
    """Return the type that coordinates and scores are computed in: float64 where one of them has it."""
    return np.float64 if any(array.dtype == np.float64 for array in arrays) else np.float32


def by_corners(boxes: NDArray[Any], *, centred: bool) -> NDArray[Any]:
    """Return boxes [..., 4] as their lower and their upper corner.

    boxes: any two opposite corners, or x and y of the centre, width and height if `centred`; one of a negative width
    or height overlaps nothing.
    """
    if centred:
        half = boxes[..., 2:] / boxes.dtype.type(2)
        return np.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], axis=-1)
    first, second = boxes[..., :2], boxes[..., 2:]
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=-1)


def areas(boxes: NDArray[Any], *, more: float = 0.0) -> NDArray[Any]:
    """Return the area of boxes [..., 4] by their corners, each side longer by `more`."""
    extra = boxes.dtype.type(more)
    sides = boxes[..., 2:] - boxes[..., :2] + extra
    found: NDArray[Any] = sides[..., 0] * sides[..., 1]
    return found


def overlaps(box: NDArray[Any], others: NDArray[Any], *, more: float = 0.0, touching: bool = False) -> NDArray[Any]:
    """Return for each of `others` [n, 4] its intersection with a box [4] over their union, by corners.

    box: or boxes [m, 1, 4], for an array [m, n].
    more: what a side is longer than the difference of its ends; `touching`: yet boxes without a common point do not
    overlap. Nor do boxes without any area.
    """
    extra, none = others.dtype.type(more), others.dtype.type(0)
    nothing = np.zeros(len(others), others.dtype)  # numpy holds a list against a list in less time than against one 0
    one, other = [box[..., place] for place in range(4)], np.ascontiguousarray(others.T)
    sides = []
    for low, high in ((0, 2), (1, 3)):
        side = np.asarray(np.minimum(one[high], other[high]))
        side -= np.maximum(one[low], other[low])
        if touching:
            side = np.where(side >= 0, side + extra, none)
        else:
            if more:
                side += extra
            np.maximum(side, nothing, out=side)
        sides.append(side)
    common: NDArray[Any] = sides[0]
    common *= sides[1]
    del side, sides  # memory that blocks of boxes need
    union = np.asarray(areas(box, more=more) + areas(others, more=more))
    union -= common
    there = union > 0
    with memory.quiet():
        np.divide(common, union, out=common)
    if not there.all():
        np.copyto(common, none, where=~there)
    return common


def by_score(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Return the places of scores from the highest to the lowest, equal ones in the order that they have."""
    return np.argsort(-scores, kind="stable")
