"""Non-maximum suppression and intersection over union of boxes.

ONNX NonMaxSuppression; OpenVINO MatrixNms, MulticlassNms, NMSRotated, NonMaxSuppression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    #: Function from a box index to its overlaps with other boxes.
    Overlaps = Callable[[int, NDArray[np.intp]], NDArray[Any]]


def precision_of(*arrays: NDArray[Any]) -> Any:
    """Return the type for coordinates and scores: float64 if either has it."""
    return np.float64 if any(array.dtype == np.float64 for array in arrays) else np.float32


def to_corners(boxes: NDArray[Any], *, centred: bool) -> NDArray[Any]:
    """Return boxes [..., 4] as lower and upper corners.

    boxes: any two opposite corners, or center x, center y, width and height if `centred`; a box of negative width or
    height overlaps nothing.
    """
    if centred:
        half = boxes[..., 2:] / boxes.dtype.type(2)
        return np.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], axis=-1)
    first, second = boxes[..., :2], boxes[..., 2:]
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=-1)


def areas(boxes: NDArray[Any], *, side_offset: float = 0.0) -> NDArray[Any]:
    """Return the area of boxes [..., 4]; each side is longer by `side_offset`."""
    extra = boxes.dtype.type(side_offset)
    sides = boxes[..., 2:] - boxes[..., :2] + extra
    array: NDArray[Any] = sides[..., 0] * sides[..., 1]
    return array


def overlaps(
    box: NDArray[Any], other_boxes: NDArray[Any], *, side_offset: float = 0.0, touching: bool = False
) -> NDArray[Any]:
    """Return the IoU of a box [4] with each of `other_boxes` [n, 4].

    box: or boxes [m, 1, 4], for a result [m, n]. side_offset: added to the length of each side; `touching`: boxes
    without a common point still do not overlap. Boxes without area do not overlap.
    """
    extra, zero_side = other_boxes.dtype.type(side_offset), other_boxes.dtype.type(0)
    zero_area = np.zeros(len(other_boxes), other_boxes.dtype)  # numpy compares lists faster than a list with a scalar 0
    corners, other = [box[..., place] for place in range(4)], np.ascontiguousarray(other_boxes.T)
    sides = []
    for low, high in ((0, 2), (1, 3)):
        side = np.asarray(np.minimum(corners[high], other[high]))
        side -= np.maximum(corners[low], other[low])
        if touching:
            side = np.where(side >= 0, side + extra, zero_side)
        else:
            if side_offset:
                side += extra
            np.maximum(side, zero_area, out=side)
        sides.append(side)
    shared_area: NDArray[Any] = sides[0]
    shared_area *= sides[1]
    del side, sides  # working memory of blocks of boxes
    union = np.asarray(areas(box, side_offset=side_offset) + areas(other_boxes, side_offset=side_offset))
    union -= shared_area
    nonzero = union > 0
    with memory.ignore_warnings():
        np.divide(shared_area, union, out=shared_area)
    if not nonzero.all():
        np.copyto(shared_area, zero_side, where=~nonzero)
    return shared_area


def order_by_score(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Return the indices of scores in descending order, stable."""
    return np.argsort(-scores, kind="stable")


#: Relative to the longest side: how far outside of an edge a corner still counts as on it.
_EDGE_TOLERANCE: Final = 1e-9
#: Boxes compared with one box at a time, and the working memory in numbers per box.
_BLOCK: Final = 2**8
_NUMBERS: Final = 120


def corners_of_turned(boxes: NDArray[Any], *, clockwise: bool) -> NDArray[Any]:
    """Return the corners [..., 4, 2] of rotated boxes [..., 5], in order.

    boxes: center x, center y, width, height and angle. clockwise: the direction of positive angles, with y pointing
    down.
    """
    angle = boxes[..., 4] if clockwise else -boxes[..., 4]
    turn, rest = np.sin(angle)[..., None], np.cos(angle)[..., None]
    x = boxes[..., 2:3] * np.array([-0.5, 0.5, 0.5, -0.5])
    y = boxes[..., 3:4] * np.array([-0.5, -0.5, 0.5, 0.5])
    turned_corners = np.stack([x * rest - y * turn, x * turn + y * rest], axis=-1)
    corners: NDArray[Any] = turned_corners + boxes[..., None, :2]
    return corners


def turned_overlaps(box: NDArray[Any], other_boxes: NDArray[Any]) -> NDArray[Any]:
    """Return the IoU of a rotated box [4, 2] with each of `other_boxes` [n, 4, 2].

    Corners are in order. Boxes without area do not overlap.
    """
    memory.check_budget((min(_BLOCK, len(other_boxes)), _NUMBERS), np.dtype(np.float64))
    starts = range(0, max(1, len(other_boxes)), _BLOCK)
    return np.concatenate([_overlaps(box, other_boxes[start : start + _BLOCK]) for start in starts])


def _overlaps(box: NDArray[Any], other_boxes: NDArray[Any]) -> NDArray[Any]:
    boxes = np.broadcast_to(box, other_boxes.shape)
    crossings, crossed = _crossings(boxes, other_boxes)
    points = np.concatenate([crossings, boxes, other_boxes], axis=1)
    corner_points = np.concatenate(
        [crossed, _corners_inside(boxes, other_boxes), _corners_inside(other_boxes, boxes)], axis=1
    )
    shared_area = _hull_areas(points, corner_points)
    union = np.abs(_polygon(boxes)) + np.abs(_polygon(other_boxes)) - shared_area
    array: NDArray[Any] = np.divide(shared_area, union, out=np.zeros_like(shared_area), where=union > 0)
    return array


def _cross_product(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return the cross product of vectors [..., 2]."""
    array: NDArray[Any] = first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
    return array


def _polygon(corners: NDArray[Any]) -> NDArray[Any]:
    """Return the signed area of polygons [n, corners, 2]."""
    # relative to the first corner, so that precision is kept far from the origin
    relative_corners = corners - corners[:, :1]
    array: NDArray[Any] = _cross_product(relative_corners, np.roll(relative_corners, -1, axis=1)).sum(axis=1) / 2
    return array


def _edges(corners: NDArray[Any]) -> NDArray[Any]:
    array: NDArray[Any] = np.roll(corners, -1, axis=1) - corners
    return array


def _crossings(first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the edge intersections of two boxes [n, 16, 2], and which exist."""
    first_edges, other = _edges(first)[:, :, None], _edges(second)[:, None, :]
    corner_distances = second[:, None, :] - first[:, :, None]
    scale = _cross_product(first_edges, other)
    is_crossing = scale != 0
    safe = np.where(is_crossing, scale, 1.0)
    on_first, on_second = (
        _cross_product(corner_distances, other) / safe,
        _cross_product(corner_distances, first_edges) / safe,
    )
    for place in (on_first, on_second):
        is_crossing = is_crossing & (place >= 0) & (place <= 1)
    points = first[:, :, None] + first_edges * on_first[..., None]
    return points.reshape(len(first), 16, 2), is_crossing.reshape(len(first), 16)


def _corners_inside(corners: NDArray[Any], box: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which corners [n, 4, 2] lie in boxes [n, 4, 2] or on their edges."""
    edges = _edges(box)
    side, y_side = edges[:, None, 0], -edges[:, None, 3]
    relative_corners = corners - box[:, None, 0]
    array = np.ones(corners.shape[:2], np.bool_)
    for edge in (side, y_side):
        projections, length = (relative_corners * edge).sum(axis=-1), (edge * edge).sum(axis=-1)
        array &= (projections >= -_EDGE_TOLERANCE * length) & (projections <= length * (1 + _EDGE_TOLERANCE))
    return array


def _hull_areas(points: NDArray[Any], is_valid: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the areas of the convex hulls of valid points [n, points, 2]."""
    count = is_valid.sum(axis=1, keepdims=True)
    valid_points = np.where(is_valid[..., None], points, 0.0)
    middle = valid_points.sum(axis=1) / np.maximum(count, 1)
    relative_points = np.where(is_valid[..., None], points - middle[:, None], 0.0)
    angles = np.where(is_valid, np.arctan2(relative_points[..., 1], relative_points[..., 0]), np.inf)
    order = np.argsort(angles, axis=1, kind="stable")
    sorted_points = np.take_along_axis(relative_points, order[..., None], axis=1)
    # invalid points repeat the first point, which adds no area
    is_counted = np.arange(points.shape[1]) < count
    closed = np.where(is_counted[..., None], sorted_points, sorted_points[:, :1])
    array: NDArray[Any] = np.where(count[:, 0] > 2, np.abs(_polygon(closed)), 0.0)
    return array


#: Boxes compared at once, and the minimum.
_SUPPRESSION_BLOCK, _MIN_BLOCK = 128, 16


class Limits(NamedTuple):
    """Selection limits of non-maximum suppression.

    most: maximum number of boxes; overlap: IoU threshold for suppression. score: minimum score; `strict`: scores must
    be above it. sigma: of soft-NMS score decay, 0 for none; with a decay, boxes are suppressed only if `cut`. eta:
    factor of the threshold after each selected box, while it is above 0.5; if not below 1, the threshold stays.
    candidates: number of top scores considered.
    """

    most: int
    overlap: float
    score: float
    sigma: float = 0.0
    cut: bool = True
    strict: bool = False
    eta: float = 1.0
    candidates: int | None = None

    def enough(self, scores: Any) -> Any:
        """Return which scores are high enough; nan never is."""
        least = scores.dtype.type(self.score)
        return scores > least if self.strict else scores >= least


@dataclass(frozen=True, slots=True)
class OverlapFunction:  # called as a function is
    """Function from one of `boxes` [n, 4] to its overlaps with others.

    more: see `overlaps`.
    """

    boxes: NDArray[Any]
    more: float = 0.0

    def __call__(self, box: int, other_boxes: NDArray[np.intp]) -> NDArray[Any]:
        return overlaps(self.boxes[box], self.boxes[other_boxes], side_offset=self.more)


def _select_boxes(order: NDArray[np.intp], limit: int, threshold: Any, box_set: OverlapFunction) -> list[int]:
    """Return which boxes of `order` are selected, at most `limit`.

    Each box is compared with all selected ones, in blocks: first with those of earlier blocks, then within its own
    block. The overlaps are the same as one by one.
    """
    boxes, side_offset = box_set.boxes, box_set.more
    selected: list[int] = []
    while len(order) and len(selected) < limit:
        memory.check_time()
        block_size = min(
            _SUPPRESSION_BLOCK, max(_MIN_BLOCK, 2 * (limit - len(selected)))
        )  # about as many as are needed
        block, order = order[:block_size], order[block_size:]
        for begin in range(0, len(selected), _SUPPRESSION_BLOCK):
            kept_boxes = boxes[selected[begin : begin + _SUPPRESSION_BLOCK], np.newaxis]
            block = block[~(overlaps(kept_boxes, boxes[block], side_offset=side_offset) > threshold).any(axis=0)]
        boxes_of_block = boxes[block]
        overlaps_above = overlaps(boxes_of_block[:, np.newaxis], boxes_of_block, side_offset=side_offset) > threshold
        removed: set[int] = set()
        for first, other in zip(*(places.tolist() for places in np.nonzero(overlaps_above)), strict=True):
            if first < other and first not in removed:
                removed.add(other)
        selected += [box for index, box in enumerate(block.tolist()) if index not in removed]
    return selected[:limit]


def select_with_suppression(
    scores: NDArray[Any], limits: Limits, overlap: Overlaps
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the indices of the selected boxes, best first, and their scores.

    scores: [boxes]; of equal ones the first wins. Raises InputError after the timeout.
    """
    order = order_by_score(scores)
    order = order[limits.enough(scores[order])]
    if limits.candidates is not None:
        order = order[: limits.candidates]
    if limits.sigma:
        return _decay_scores(order, scores, limits, overlap)
    threshold = scores.dtype.type(limits.overlap)
    if isinstance(overlap, OverlapFunction) and limits.eta >= 1:
        places = np.array(_select_boxes(order, limits.most, threshold, overlap), np.intp)
        return places, scores[places]
    selected_boxes: list[int] = []
    while len(order) and len(selected_boxes) < limits.most:
        selected_boxes.extend(int(box) for box in memory.within_time_limit(order[:1]))
        if limits.eta < 1 and threshold > scores.dtype.type(0.5):
            threshold = threshold * scores.dtype.type(limits.eta)
        order = order[1:]
        if len(order) and len(selected_boxes) < limits.most:
            order = order[~(overlap(selected_boxes[-1], order) > threshold)]
    places = np.array(selected_boxes, np.intp)
    return places, scores[places]


def _decay_scores(
    order: NDArray[np.intp], scores: NDArray[Any], limits: Limits, overlap: Overlaps
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Select with soft-NMS: scores decay by the overlap with selected boxes."""
    to_type = scores.dtype.type
    left = scores[order]
    selected_boxes: list[int] = []
    kept_scores: list[Any] = []
    while len(order) and len(selected_boxes) < limits.most:
        for box_index in memory.within_time_limit([int(left.argmax())]):
            selected_boxes.append(int(order[box_index]))
            kept_scores.append(left[box_index])
            order, left = np.delete(order, box_index), np.delete(left, box_index)
        array = overlap(selected_boxes[-1], order)
        left = left * np.exp(to_type(-0.5) * array * array / to_type(limits.sigma))
        is_kept = limits.enough(left)
        if limits.cut:
            is_kept &= ~(array > to_type(limits.overlap))
        order, left = order[is_kept], left[is_kept]
    return np.array(selected_boxes, np.intp), np.array(kept_scores, scores.dtype)


def non_max_suppression_sorted(
    boxes: NDArray[Any],
    scores: NDArray[Any],
    limit: NDArray[Any] | None = None,
    overlap: NDArray[Any] | None = None,
    score_threshold: NDArray[Any] | None = None,
    sigma: NDArray[Any] | None = None,
    *,
    centred: bool = False,
    across: bool = False,
    remove_overlapping: bool = False,
    strict: bool = False,
    inclusive: bool = False,
    int32_indices: bool = False,
    rows: Literal["selected", "maximum", "class_limit"] = "selected",
    scores_type: np.dtype[Any] | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return indices, scores and count of the selected boxes.

    Indices and scores are rows of batch, class and box (or score). boxes: [batches, boxes, 4], by two opposite corners,
    or center x, center y, width and height if `centred`. scores: [batches, classes, boxes]. limit, overlap,
    score_threshold, sigma: single elements, default 0: maximum number of boxes per class, IoU threshold (`inclusive`:
    suppress at the threshold as well), minimum score (`strict`: scores must be above it), and the sigma of soft-NMS,
    with which boxes are suppressed only if `remove_overlapping`. across: sort the boxes of all batches and classes by
    score. int32_indices: indices are int32. rows: "selected" for as many rows as selected; "maximum" for the maximum
    over batches and classes, "class_limit" for at most the number of boxes, both with -1 after the selected ones. Where
    more are selected than fit, the choice is undocumented and everything is masked.
    """
    _require("non_max_suppression_sorted", boxes, scores, 4)
    to_type = precision_of(boxes, scores)
    corner_boxes = to_corners(boxes.astype(to_type), centred=centred)
    count = max(0, int(_scalar_or_zero("non_max_suppression_sorted", limit)))
    threshold, score, decay = (
        float(_scalar_or_zero("non_max_suppression_sorted", part)) for part in (overlap, score_threshold, sigma)
    )
    if inclusive:
        threshold = float(np.nextafter(to_type(threshold), to_type(-np.inf)))
    limits = Limits(count, threshold, score, decay, cut=remove_overlapping, strict=strict)
    result = _selected_boxes(scores.astype(to_type), limits, lambda batch: OverlapFunction(corner_boxes[batch]))
    result = result.sort_by_score() if across else result
    classes, limit_per_class = scores.shape[1], min(count, boxes.shape[1])
    row_limits = {"selected": len(result.scores), "maximum": limit_per_class * len(boxes) * classes}
    row_limits["class_limit"] = min(boxes.shape[1], count * classes)
    return _write_outputs(
        result, row_limits[rows], np.dtype(np.int32 if int32_indices else np.int64), scores_type or scores.dtype
    )


def nms_rotated(
    boxes: NDArray[Any],
    scores: NDArray[Any],
    limit: NDArray[Any],
    overlap: NDArray[Any],
    score_threshold: NDArray[Any],
    *,
    clockwise: bool = True,
    across: bool = False,
    strict: bool = False,
    inclusive: bool = False,
    int32_indices: bool = False,
    scores_type: np.dtype[Any] | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return `non_max_suppression_sorted` of rotated boxes [batches, boxes, 5].

    boxes: center x, center y, width, height, angle. clockwise: the direction of positive angles. The other arguments
    are those of `non_max_suppression_sorted`.
    """
    _require("nms_rotated", boxes, scores, 5)
    corners = corners_of_turned(boxes.astype(np.float64), clockwise=clockwise)
    count = max(0, int(_scalar_or_zero("nms_rotated", limit)))
    threshold, score = (float(_scalar_or_zero("nms_rotated", part)) for part in (overlap, score_threshold))
    if inclusive:
        threshold = float(np.nextafter(np.float32(threshold), np.float32(-np.inf)))
    limits = Limits(count, threshold, score, strict=strict)
    result = _selected_boxes(
        scores.astype(precision_of(scores)), limits, lambda batch: _rotated_overlaps(corners[batch])
    )
    result = result.sort_by_score() if across else result
    kind = np.dtype(np.int32 if int32_indices else np.int64)
    return _write_outputs(result, len(result.scores), kind, scores_type or scores.dtype)


def _require(name: str, boxes: NDArray[Any], scores: NDArray[Any], numbers: int) -> None:
    if boxes.ndim != 3 or scores.ndim != 3:
        raise InputError(f"{name}: expected 3-D boxes and scores")
    batches, count = boxes.shape[:2]
    require_shape(name, "boxes", boxes.shape, (batches, count, numbers))
    require_shape(name, "scores", scores.shape, (batches, scores.shape[1], count))


def _scalar_or_zero(name: str, limit: NDArray[Any] | None) -> Any:
    """Return the only element of an array, 0 if it is absent or empty."""
    if limit is None:
        return 0
    require_shape(name, "a single element", (limit.size,), (1,))
    return limit.reshape(-1)[0]


def _rotated_overlaps(corners: NDArray[Any]) -> Overlaps:
    return lambda box, other_boxes: turned_overlaps(corners[box], corners[other_boxes])


class _Selection(NamedTuple):
    """Selected boxes: batch, class and box of each [n, 3], and scores [n]."""

    places: NDArray[np.int64]
    scores: NDArray[Any]

    def sort_by_score(self) -> _Selection:
        order = order_by_score(self.scores)
        return _Selection(self.places[order], self.scores[order])


def _selected_boxes(scores: NDArray[Any], limits: Limits, of_batch: Callable[[int], Overlaps]) -> _Selection:
    """Return the selected boxes of all classes of all batches, in this order."""
    places: list[int] = []
    kept_scores: list[Any] = []
    for batch, label in memory.within_time_limit(np.ndindex(scores.shape[:2])):
        selected_boxes, left = select_with_suppression(scores[batch, label], limits, of_batch(batch))
        for box in selected_boxes.tolist():
            places += (batch, label, box)
        kept_scores += left.tolist()
    return _Selection(np.array(places, np.int64).reshape(-1, 3), np.array(kept_scores, scores.dtype))


def _write_outputs(
    result: _Selection, row_limit: int, kind: np.dtype[Any], scores_type: np.dtype[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the outputs with `row_limit` rows, the unused ones filled with -1."""
    count = len(result.scores)
    indices, scored = memory.empty((row_limit, 3), kind), memory.empty((row_limit, 3), scores_type)
    indices[...], scored[...] = -1, -1
    known_number = min(count, row_limit)
    indices[:known_number] = result.places[:known_number]
    with memory.ignore_warnings():
        scored[:known_number, :2] = result.places[:known_number, :2]
        scored[:known_number, 2] = round_to(result.scores[:known_number], scores_type)
    number = np.array([count], kind)
    if count <= row_limit:
        return indices, scored, number
    return np.ma.MaskedArray(indices, True), np.ma.MaskedArray(scored, True), number


def non_max_suppression(
    boxes: NDArray[Any],
    scores: NDArray[Any],
    limit: NDArray[Any] | None = None,
    overlap: NDArray[Any] | None = None,
    score_threshold: NDArray[Any] | None = None,
    *,
    centred: bool = False,
) -> NDArray[Any]:
    """Return selected indices only, optionally above `score_threshold`.

    Otherwise as `non_max_suppression_sorted`.
    """
    bound = np.array(-np.inf, np.float32) if score_threshold is None else score_threshold
    return non_max_suppression_sorted(
        boxes, scores, limit, overlap, bound, centred=centred, strict=score_threshold is not None
    )[0]


Order = Literal["score", "class", "none"]


def multiclass_nms(
    boxes: NDArray[Any],
    scores: NDArray[Any],
    counts: NDArray[Any] | None = None,
    *,
    overlap: float = 0.0,
    score_threshold: float = 0.0,
    candidates: int = -1,
    kept: int = -1,
    background: int = -1,
    eta: float = 1.0,
    normalized: bool = True,
    order: Order = "none",
    across: bool = False,
    int32_indices: bool = False,
    inclusive: bool = False,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return class, score and corners [n, 6], indices [n, 1] and batch counts.

    boxes: [batches, boxes, 4] by lower and upper corner, scores: [batches, classes, boxes]. With `counts` [images],
    boxes are [classes, boxes, 4] and scores [classes, boxes], and each image has that many of the boxes. Indices are
    among the boxes of all batches or classes. overlap, eta: IoU threshold, and its factor after each selected box while
    it is above 0.5. score_threshold: minimum score. candidates: number of candidates per class. kept: maximum number of
    boxes per batch; both below 0 for all. background: a class to skip. normalized: otherwise each side counts one more.
    order: by score or by class, `across` all batches or within each; with "none" the order is unspecified, and the rows
    are masked. int32_indices: indices are int32. inclusive: suppress at the threshold as well.
    """
    images = _images(boxes, scores, counts)
    to_type = precision_of(boxes, scores)
    side_offset = 0.0 if normalized else 1.0
    overlap = float(np.nextafter(to_type(overlap), to_type(-np.inf))) if inclusive else overlap
    limits = Limits(
        boxes.shape[1], overlap, score_threshold, eta=eta, candidates=None if candidates < 0 else candidates
    )

    def of_class(corners: NDArray[Any], array: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
        return select_with_suppression(array, limits, OverlapFunction(corners, more=side_offset))

    rows = [_select_in_image(image, background, kept, to_type, of_class) for image in memory.within_time_limit(images)]
    return _write_classes(rows, boxes.dtype, order=order, across_batches=across, narrow=int32_indices)


def matrix_nms(
    boxes: NDArray[Any],
    scores: NDArray[Any],
    *,
    score_threshold: float = 0.0,
    post_threshold: float = 0.0,
    candidates: int = -1,
    kept: int = -1,
    background: int = -1,
    gaussian: bool = False,
    sigma: float = 2.0,
    normalized: bool = True,
    order: Order = "none",
    across: bool = False,
    int32_indices: bool = False,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return `multiclass_nms` with matrix NMS.

    Scores decay by the overlaps with all boxes of higher scores. score_threshold, post_threshold: scores must be above
    it, before and after decay. gaussian: the decay is exp((most**2 - overlap**2) * sigma), else (1 - overlap) / (1 -
    most), where `most` is the maximum overlap of the other box.
    """
    images = _images(boxes, scores, None)
    to_type = precision_of(boxes, scores)
    side_offset = 0.0 if normalized else 1.0

    def of_class(corners: NDArray[Any], array: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
        class_order = order_by_score(array)
        class_order = class_order[array[class_order] > to_type(score_threshold)]
        class_order = class_order if candidates < 0 else class_order[:candidates]
        memory.check_budget((len(class_order), len(class_order)), np.dtype(to_type))  # working memory
        arrays = [
            overlaps(corners[box], corners[class_order], side_offset=side_offset, touching=True)
            for box in memory.within_time_limit(class_order)
        ]
        overlap_matrix = np.triu(np.array(arrays, to_type).reshape(len(class_order), len(class_order)), 1)
        greatest_overlap = overlap_matrix.max(axis=0, initial=0)[:, None]
        decay = (
            np.exp((greatest_overlap**2 - overlap_matrix**2) * to_type(sigma))
            if gaussian
            else (to_type(1) - overlap_matrix) / (to_type(1) - greatest_overlap)
        )
        # boxes of lower scores and the box itself do not decay it
        decay = np.where(np.triu(np.ones(overlap_matrix.shape, np.bool_), 1), decay, to_type(1))
        left = array[class_order] * decay.min(axis=0, initial=1)
        is_kept = left > to_type(post_threshold)
        return class_order[is_kept], left[is_kept]

    rows = [_select_in_image(image, background, kept, to_type, of_class) for image in memory.within_time_limit(images)]
    return _write_classes(rows, boxes.dtype, order=order, across_batches=across, narrow=int32_indices)


class _Image(NamedTuple):
    """One image.

    boxes [classes or 1, boxes, 4], scores [classes, boxes], and the index of each class's first box.
    """

    boxes: NDArray[Any]
    scores: NDArray[Any]
    starts: NDArray[np.int64]


class _Rows(NamedTuple):
    """Selected boxes of an image.

    Class, score in full precision, index and coordinates of each.
    """

    labels: NDArray[np.int64]
    scores: NDArray[Any]
    places: NDArray[np.int64]
    boxes: NDArray[Any]


def _images(boxes: NDArray[Any], scores: NDArray[Any], counts: NDArray[Any] | None) -> list[_Image]:
    """Return the images; raise InputError for inconsistent shapes or counts."""
    if boxes.ndim != 3 or scores.ndim != (3 if counts is None else 2):
        raise InputError("multiclass_nms: expected 3-D boxes and a score for each")
    image_count, count = boxes.shape[:2]
    require_shape("multiclass_nms", "boxes", boxes.shape, (image_count, count, 4))
    if counts is None:
        require_shape("multiclass_nms", "scores", scores.shape, (image_count, scores.shape[1], count))
        labels = np.zeros(scores.shape[1], np.int64)
        return [_Image(boxes[image : image + 1], scores[image], labels + image * count) for image in range(image_count)]
    require_shape("multiclass_nms", "scores", scores.shape, (image_count, count))
    sizes = [int(size) for size in counts.reshape(-1)]
    if any(size < 0 for size in sizes) or sum(sizes) != count:
        raise InputError(f"multiclass_nms: roisnum declares {sizes} boxes, but the input has {count}")
    ends = np.cumsum(sizes, dtype=np.int64).tolist()
    labels = np.arange(image_count, dtype=np.int64) * count
    pairs = [(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    return [_Image(boxes[:, start:end], scores[:, start:end], labels + start) for start, end in pairs]


def _select_in_image(
    image: _Image,
    background: int,
    keep_count: int,
    to_type: Any,
    of_class: Callable[[NDArray[Any], NDArray[Any]], tuple[NDArray[np.intp], NDArray[Any]]],
) -> _Rows:
    """Return the selected boxes of an image, class by class.

    At most `keep_count`, those of the highest scores.
    """
    corners = image.boxes.astype(to_type)
    labels: list[int] = []
    boxes: list[int] = []
    scores: list[Any] = []
    shared = len(corners) == 1
    for label in memory.within_time_limit(range(len(image.scores) if len(corners) else 0)):
        if label != background:
            selected_boxes, left = of_class(corners[0 if shared else label], image.scores[label].astype(to_type))
            labels += [label] * len(selected_boxes)
            boxes += selected_boxes.tolist()
            scores += left.tolist()
    left, box_labels, places = np.array(scores, to_type), np.array(labels, np.int64), np.array(boxes, np.int64)
    best_order = np.sort(order_by_score(left)[: keep_count if keep_count >= 0 else None])
    box_labels, places = box_labels[best_order], places[best_order]
    return _Rows(
        box_labels, left[best_order], image.starts[box_labels] + places, corners[0 if shared else box_labels, places]
    )


def _write_classes(
    rows: list[_Rows], dtype: np.dtype[Any], *, order: Order, across_batches: bool, narrow: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the outputs in the requested order."""
    kind = np.dtype(np.int32 if narrow else np.int64)
    number = memory.empty((len(rows),), kind)
    number[...] = [len(row.scores) for row in rows]
    score_type = rows[0].scores.dtype if rows else np.dtype(np.float32)
    batches = np.repeat(np.arange(len(rows)), number)
    empty = _Rows(np.zeros(0, np.int64), np.zeros(0, score_type), np.zeros(0, np.int64), np.zeros((0, 4), score_type))
    matching_rows = _Rows(*(np.concatenate(parts) for parts in zip(empty, *rows, strict=True)))
    keys: list[NDArray[Any]] = []
    if order == "score":
        keys = [-matching_rows.scores]
    elif order == "class":
        keys = [-matching_rows.scores, *([batches] if across_batches else []), matching_rows.labels]
    row_order = (
        np.lexsort([*keys, *([] if across_batches else [batches])]) if keys else np.arange(len(matching_rows.scores))
    )
    outputs, places = memory.empty((len(row_order), 6), dtype), memory.empty((len(row_order), 1), kind)
    with memory.ignore_warnings():
        outputs[:, 0], outputs[:, 1], outputs[:, 2:] = (
            part[row_order] for part in (matching_rows.labels, matching_rows.scores, matching_rows.boxes)
        )
        places[:, 0] = matching_rows.places[row_order]
    if order == "none" and len(row_order) > 1:
        return np.ma.MaskedArray(outputs, True), np.ma.MaskedArray(places, True), number
    return outputs, places, number
