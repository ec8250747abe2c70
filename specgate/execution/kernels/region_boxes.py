"""Lists of regions: laid out on a grid, sorted, refined for each class, and pooled from the layers of a pyramid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to
from specgate.execution.kernels.boxes import by_score, precision_of
from specgate.execution.kernels.regions import align_regions
from specgate.execution.kernels.suppression import Limits, apart, suppressed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["best_regions", "boxes_on_grid", "pool_from_pyramid", "refine_boxes"]

#: The side of a region that the middle layer of a pyramid is for, and that layer.
_SIDE, _MIDDLE = 224.0, 2


def boxes_on_grid(
    boxes: NDArray[Any],
    features: NDArray[Any],
    image: NDArray[Any],
    *,
    rows: int = 0,
    columns: int = 0,
    step_x: float = 0.0,
    step_y: float = 0.0,
    flat: bool = True,
) -> NDArray[Any]:
    """Return boxes [n, 4] moved to the middle of each cell: [height, width, n, 4], or all in one list if `flat`.

    features, image: [1, channels, height, width]; only the sizes count. rows, columns: cells of the grid, as
    many as the features have if 0. step_x, step_y: size of a cell, the image's for each of them if 0.
    Of a smaller grid the first elements are filled, the others masked.
    """
    if features.ndim != 4 or image.ndim != 4 or (len(features), len(image)) != (1, 1):
        raise InputError("boxes_on_grid: expected features and an image of four dimensions and one batch")
    require_shape("boxes_on_grid", "boxes", boxes.shape, (len(boxes), 4))
    height, width = features.shape[2:]
    one = precision_of(boxes)
    down, across = rows or height, columns or width
    result = memory.empty((height, width, len(boxes), 4), boxes.dtype)
    result[...] = 0
    if down > height or across > width or min(rows, columns) < 0:
        raise InputError(f"boxes_on_grid: {down} times {across} cells do not fit in {height} times {width}")
    if result.size:
        steps = one(step_y or image.shape[2] / down), one(step_x or image.shape[3] / across)
        y, x = (
            (np.arange(count, dtype=one) + one(0.5)) * step for count, step in zip((down, across), steps, strict=True)
        )
        moves = np.stack([*np.meshgrid(x, y)] * 2, axis=-1)[:, :, None]
        filled = round_to(moves + boxes.astype(one), boxes.dtype)
        result.reshape(-1)[: filled.size] = filled.reshape(-1)
    shape = (-1, 4) if flat else result.shape
    if (down, across) == (height, width):
        return result.reshape(shape)
    mask = np.arange(result.size) >= down * across * len(boxes) * 4
    return np.ma.MaskedArray(result, mask.reshape(result.shape)).reshape(shape)


def best_regions(regions: NDArray[Any], scores: NDArray[Any], *, count: int = 0) -> NDArray[Any]:
    """Return the regions [count, 4] of the highest scores, the highest first.

    regions: [n, 4], scores: [n]. Masked are regions of equal scores, whose order is unknown, rows that there are no
    regions for, and all where a score is no number.
    """
    require_shape("best_regions", "regions", regions.shape, (len(regions), 4))
    require_shape("best_regions", "scores", scores.shape, regions.shape[:1])
    if count < 0:
        raise InputError(f"best_regions: cannot return {count} regions")
    result = memory.empty((count, 4), regions.dtype)
    result[...] = 0
    order = by_score(scores.astype(precision_of(scores)))
    found = order[:count]
    result[: len(found)] = regions[found]
    held = scores[order]
    same = np.zeros(len(order) + 1, np.bool_)
    same[1:-1] = held[1:] == held[:-1]
    lacking = np.ones(count, np.bool_)
    lacking[: len(found)] = (same[:-1] | same[1:])[: len(found)] | np.isnan(held.astype(np.float64)).any()
    return np.ma.MaskedArray(result, np.broadcast_to(lacking[:, None], result.shape)) if lacking.any() else result


def refine_boxes(
    regions: NDArray[Any],
    offsets: NDArray[Any],
    scores: NDArray[Any],
    image: NDArray[Any],
    *,
    score_threshold: float,
    overlap: float,
    of_class: int,
    count: int,
    max_delta_log: float,
    weights: Sequence[float],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the corners [count, 4], classes [count] and scores [count] of the best boxes of all classes but the first.

    regions: [n, 4] by corners; offsets: [n, classes * 4] of the centre and of the logarithms of the sides, divided by
    weights; scores: [n, classes]; image: [1, 3], height, width and scale. A side counts one more than the difference of
    its ends. score_threshold: scores must be above it. overlap: above which a box of the class is removed. of_class:
    how many of a class are returned. max_delta_log: of the logarithms. Boxes are sorted by class, or by score where
    some are left out. What there are no boxes for is masked.
    """
    if scores.ndim != 2 or len(weights) != 4:
        raise InputError("refine_boxes: expected scores of two dimensions and four weights")
    many, labels = scores.shape
    for name, array, shape in (("regions", regions, (many, 4)), ("offsets", offsets, (many, labels * 4))):
        require_shape("refine_boxes", name, array.shape, shape)
    require_shape("refine_boxes", "the image", image.shape, (1, 3))
    one = precision_of(regions, scores)
    held = scores.astype(one)
    boxes = _refined(
        regions.astype(one), offsets.astype(one).reshape(many, labels, 4), one(max_delta_log), np.array(weights, one)
    )
    boxes = np.clip(boxes, one(0), np.maximum(image.astype(one)[0, [1, 0, 1, 0]], one(0)))
    limits = Limits(of_class, overlap, score_threshold, strict=True)
    places: list[int] = []
    kinds: list[int] = []
    for label in memory.in_time(range(1, labels)):
        own = boxes[:, label]
        found, _ = suppressed(held[:, label], limits, apart(own, more=1.0))
        places += found.tolist()
        kinds += [label] * len(found)
    chosen, classes = np.array(places, np.intp), np.array(kinds, np.intp)
    if len(chosen) > count:
        best = by_score(held[chosen, classes])[:count]
        chosen, classes = chosen[best], classes[best]
    outputs = (boxes[chosen, classes], classes, held[chosen, classes])
    types = (regions.dtype, np.dtype(np.int32), scores.dtype)
    return tuple(_filled(part, count, dtype) for part, dtype in zip(outputs, types, strict=True))  # type: ignore[return-value]


def _refined(regions: NDArray[Any], offsets: NDArray[Any], most: Any, weights: NDArray[Any]) -> NDArray[Any]:
    """Return the boxes [n, classes, 4] that offsets [n, classes, 4] make of regions [n, 4]."""
    one = regions.dtype.type
    sides = regions[:, 2:] - regions[:, :2] + one(1)
    middles = (regions[:, :2] + one(0.5) * sides)[:, None]
    moved = offsets / weights
    reach = one(0.5) * np.exp(np.minimum(moved[..., 2:], most))
    ends = [
        middles + (moved[..., :2] - reach) * sides[:, None],
        middles + (moved[..., :2] + reach) * sides[:, None] - one(1),
    ]
    return np.concatenate(ends, axis=-1)


def _filled(part: NDArray[Any], count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return `count` rows, masked where there are none."""
    result = memory.empty((count, *part.shape[1:]), dtype)
    result[...] = 0
    with memory.quiet():
        result[: len(part)] = part
    if len(part) == count:
        return result
    mask = np.zeros(result.shape, np.bool_)
    mask[len(part) :] = True
    return np.ma.MaskedArray(result, mask)


def pool_from_pyramid(
    regions: NDArray[Any],
    layers: list[NDArray[Any]],
    *,
    size: int,
    samples: int,
    scales: Sequence[float],
    aligned: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return features of each region [regions, channels, size, size], and the regions sorted by layer [regions, 4].

    regions: [n, 4] by corners in the image. layers: feature maps [1, channels, height, width], from the largest on.
    scales: what a place in the image is divided by in each layer. The layer follows from the side of a square as large
    as the region. samples: points along each dimension of a part, 0 for as many as elements fit in. aligned: elements
    lie half a step after their place.
    Where it is unknown which layer that is, features are masked, and the regions' order too.
    """
    require_shape("pool_from_pyramid", "regions", regions.shape, (len(regions), 4))
    if not layers or any(layer.ndim != 4 or layer.shape[:2] != (1, layers[0].shape[1]) for layer in layers):
        raise InputError("pool_from_pyramid: expected layers of four dimensions, one batch and the same channels")
    one = precision_of(regions)
    places = regions.astype(one)
    sides = places[:, 2:] - places[:, :2]
    level = np.floor(_MIDDLE + np.log2(np.sqrt(sides[:, 0] * sides[:, 1]) / one(_SIDE)))
    known = ~np.isnan(level) & np.isfinite(places).all(axis=1) & (sides > 0).all(axis=1)
    at = np.clip(np.where(known, level, 0), 0, len(layers) - 1).astype(np.intp)
    known &= at < len(scales)
    features = memory.empty((len(regions), layers[0].shape[1], size, size), regions.dtype)
    features[...] = 0
    mask = np.broadcast_to(~known[:, None, None, None], features.shape).copy()
    for index, layer in enumerate(layers):
        own = np.flatnonzero(known & (at == index))
        if len(own):
            pooled = align_regions(
                layer, regions[own], np.zeros(len(own), np.int64), height=size, width=size, samples=samples,
                scale=1.0 / scales[index] if scales[index] else np.nan,
                shift_behind=-0.5 if aligned else 0.0,
            )  # fmt: skip
            features[own], mask[own] = np.ma.getdata(pooled), np.ma.getmaskarray(pooled)
    ordered = regions[np.argsort(at, kind="stable")]
    order_known = np.ma.MaskedArray(ordered, True) if not known.all() else ordered
    return (np.ma.MaskedArray(features, mask) if mask.any() else features), order_known
