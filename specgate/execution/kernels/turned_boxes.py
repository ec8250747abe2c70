"""Boxes turned by an angle: their corners, and how much two of them overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.execution import memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["corners_of_turned", "turned_overlaps"]

#: Of the longest side: how far outside of an edge a corner still counts as on it.
_NEAR: Final = 1e-9
#: Boxes that are compared with one at a time, and the numbers that are worked with for each of them.
_BLOCK: Final = 2**8
_NUMBERS: Final = 120


def corners_of_turned(boxes: NDArray[Any], *, clockwise: bool) -> NDArray[Any]:
    """Return the corners [..., 4, 2] of boxes [..., 5], in order: x and y of the centre, width, height and angle.

    clockwise: which way a positive angle turns, where y points downwards.
    """
    angle = boxes[..., 4] if clockwise else -boxes[..., 4]
    turn, rest = np.sin(angle)[..., None], np.cos(angle)[..., None]
    x = boxes[..., 2:3] * np.array([-0.5, 0.5, 0.5, -0.5])
    y = boxes[..., 3:4] * np.array([-0.5, -0.5, 0.5, 0.5])
    moved = np.stack([x * rest - y * turn, x * turn + y * rest], axis=-1)
    corners: NDArray[Any] = moved + boxes[..., None, :2]
    return corners


def turned_overlaps(box: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """Return for each of `others` [n, 4, 2] its intersection with a box [4, 2] over their union, by corners in order.

    Boxes without any area do not overlap.
    """
    memory.hold((min(_BLOCK, len(others)), _NUMBERS), np.dtype(np.float64))
    starts = range(0, max(1, len(others)), _BLOCK)
    return np.concatenate([_overlaps(box, others[start : start + _BLOCK]) for start in starts])


def _overlaps(box: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    boxes = np.broadcast_to(box, others.shape)
    crossings, crossed = _crossings(boxes, others)
    points = np.concatenate([crossings, boxes, others], axis=1)
    there = np.concatenate([crossed, _inside(boxes, others), _inside(others, boxes)], axis=1)
    common = _area_around(points, there)
    union = np.abs(_polygon(boxes)) + np.abs(_polygon(others)) - common
    found: NDArray[Any] = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
    return found


def _across(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return the cross product of vectors [..., 2]."""
    found: NDArray[Any] = first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
    return found


def _polygon(corners: NDArray[Any]) -> NDArray[Any]:
    """Return the area of polygons [n, corners, 2], below 0 where corners go round the other way."""
    # from the first corner on, so that far from the origin nothing is lost
    moved = corners - corners[:, :1]
    found: NDArray[Any] = _across(moved, np.roll(moved, -1, axis=1)).sum(axis=1) / 2
    return found


def _edges(corners: NDArray[Any]) -> NDArray[Any]:
    found: NDArray[Any] = np.roll(corners, -1, axis=1) - corners
    return found


def _crossings(first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return where each edge of one box meets each of the other [n, 16, 2], and whether they do."""
    along, other = _edges(first)[:, :, None], _edges(second)[:, None, :]
    between = second[:, None, :] - first[:, :, None]
    scale = _across(along, other)
    meets = scale != 0
    safe = np.where(meets, scale, 1.0)
    on_first, on_second = _across(between, other) / safe, _across(between, along) / safe
    for place in (on_first, on_second):
        meets = meets & (place >= 0) & (place <= 1)
    points = first[:, :, None] + along * on_first[..., None]
    return points.reshape(len(first), 16, 2), meets.reshape(len(first), 16)


def _inside(corners: NDArray[Any], box: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which corners [n, 4, 2] lie in boxes [n, 4, 2], edges included."""
    edges = _edges(box)
    side, down = edges[:, None, 0], -edges[:, None, 3]
    moved = corners - box[:, None, 0]
    found = np.ones(corners.shape[:2], np.bool_)
    for edge in (side, down):
        along, length = (moved * edge).sum(axis=-1), (edge * edge).sum(axis=-1)
        found &= (along >= -_NEAR * length) & (along <= length * (1 + _NEAR))
    return found


def _area_around(points: NDArray[Any], there: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the areas of the convex polygons that some of the points [n, points, 2] are the corners of."""
    count = there.sum(axis=1, keepdims=True)
    kept = np.where(there[..., None], points, 0.0)
    middle = kept.sum(axis=1) / np.maximum(count, 1)
    moved = np.where(there[..., None], points - middle[:, None], 0.0)
    angles = np.where(there, np.arctan2(moved[..., 1], moved[..., 0]), np.inf)
    order = np.argsort(angles, axis=1, kind="stable")
    sorted_points = np.take_along_axis(moved, order[..., None], axis=1)
    # those that are none repeat the first point, which adds no area
    counted = np.arange(points.shape[1]) < count
    closed = np.where(counted[..., None], sorted_points, sorted_points[:, :1])
    found: NDArray[Any] = np.where(count[:, 0] > 2, np.abs(_polygon(closed)), 0.0)
    return found
