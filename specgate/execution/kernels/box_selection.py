"""Boxes of the highest scores, without those that overlap one of a higher score: for each class of each batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to
from specgate.execution.kernels.boxes import by_corners, by_score, precision_of
from specgate.execution.kernels.suppression import Limits, apart, suppressed
from specgate.execution.kernels.turned_boxes import corners_of_turned, turned_overlaps

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from specgate.execution.kernels.suppression import Overlaps

__all__ = ["select_boxes", "suppress_boxes", "suppress_turned_boxes"]


def suppress_boxes(
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
    """Return batch, class and box of each selected box, batch, class and score of each, and how many there are.

    boxes: [batches, boxes, 4], by two opposite corners, or x and y of the centre, width and height if `centred`.
    scores: [batches, classes, boxes]. limit, overlap, score_threshold, sigma: single elements, 0 where absent: how many
    boxes of a class, above which overlap one is removed (`inclusive`: from which on), the least score (`strict`: it
    does not suffice), and the decay of scores of boxes that overlap; with a decay, boxes are removed only if
    `remove_overlapping`. across: whether the boxes of all batches and classes are sorted by score together.
    int32_indices: whether numbers are int32. rows: "selected" for as many as are selected; "maximum" for as many as
    batches and classes may have, "class_limit" for at most as many as there are boxes, both with -1 behind those
    selected. Where more are selected than there is room for, which of them are left out is unknown: all is masked.
    """
    _hold("suppress_boxes", boxes, scores, 4)
    one = precision_of(boxes, scores)
    placed = by_corners(boxes.astype(one), centred=centred)
    count = max(0, int(_single("suppress_boxes", limit)))
    above, score, decay = (float(_single("suppress_boxes", part)) for part in (overlap, score_threshold, sigma))
    if inclusive:
        above = float(np.nextafter(one(above), one(-np.inf)))
    limits = Limits(count, above, score, decay, cut=remove_overlapping, strict=strict)
    found = _selected(scores.astype(one), limits, lambda batch: apart(placed[batch]))
    found = found.sorted() if across else found
    classes, most = scores.shape[1], min(count, boxes.shape[1])
    room = {"selected": len(found.scores), "maximum": most * len(boxes) * classes}
    room["class_limit"] = min(boxes.shape[1], count * classes)
    return _written(found, room[rows], np.dtype(np.int32 if int32_indices else np.int64), scores_type or scores.dtype)


def suppress_turned_boxes(
    boxes: NDArray[Any],
    scores: NDArray[Any],
    limit: NDArray[Any],
    overlap: NDArray[Any],
    score_threshold: NDArray[Any],
    *,
    clockwise: bool = True,
    across: bool = False,
    int32_indices: bool = False,
    scores_type: np.dtype[Any] | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return what `suppress_boxes` does, of boxes [batches, boxes, 5]: x and y of the centre, width, height, angle.

    clockwise: which way a positive angle turns a box.
    """
    _hold("suppress_turned_boxes", boxes, scores, 5)
    corners = corners_of_turned(boxes.astype(np.float64), clockwise=clockwise)
    count = max(0, int(_single("suppress_turned_boxes", limit)))
    above, score = (float(_single("suppress_turned_boxes", part)) for part in (overlap, score_threshold))
    limits = Limits(count, above, score)
    found = _selected(scores.astype(precision_of(scores)), limits, lambda batch: _apart_turned(corners[batch]))
    found = found.sorted() if across else found
    kind = np.dtype(np.int32 if int32_indices else np.int64)
    return _written(found, len(found.scores), kind, scores_type or scores.dtype)


def _hold(name: str, boxes: NDArray[Any], scores: NDArray[Any], numbers: int) -> None:
    if boxes.ndim != 3 or scores.ndim != 3:
        raise InputError(f"{name}: expected boxes and scores of three dimensions")
    batches, count = boxes.shape[:2]
    require_shape(name, "boxes", boxes.shape, (batches, count, numbers))
    require_shape(name, "scores", scores.shape, (batches, scores.shape[1], count))


def _single(name: str, limit: NDArray[Any] | None) -> Any:
    """Return the only element of an array, 0 where there is none."""
    if limit is None:
        return 0
    require_shape(name, "a single element", (limit.size,), (1,))
    return limit.reshape(-1)[0]


def _apart_turned(corners: NDArray[Any]) -> Overlaps:
    return lambda box, others: turned_overlaps(corners[box], corners[others])


class _Found(NamedTuple):
    """Selected boxes: batch, class and box of each [n, 3], and its score [n]."""

    places: NDArray[np.int64]
    scores: NDArray[Any]

    def sorted(self) -> _Found:
        order = by_score(self.scores)
        return _Found(self.places[order], self.scores[order])


def _selected(scores: NDArray[Any], limits: Limits, of_batch: Callable[[int], Overlaps]) -> _Found:
    """Return the selected boxes of all classes of all batches, in this order."""
    places: list[int] = []
    kept: list[Any] = []
    for batch, label in memory.in_time(np.ndindex(scores.shape[:2])):
        chosen, left = suppressed(scores[batch, label], limits, of_batch(batch))
        for box in chosen.tolist():
            places += (batch, label, box)
        kept += left.tolist()
    return _Found(np.array(places, np.int64).reshape(-1, 3), np.array(kept, scores.dtype))


def _written(
    found: _Found, room: int, kind: np.dtype[Any], scores_type: np.dtype[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the outputs: `room` rows, those of no box filled with -1."""
    count = len(found.scores)
    indices, scored = memory.empty((room, 3), kind), memory.empty((room, 3), scores_type)
    indices[...], scored[...] = -1, -1
    held = min(count, room)
    indices[:held] = found.places[:held]
    with memory.quiet():
        scored[:held, :2] = found.places[:held, :2]
        scored[:held, 2] = round_to(found.scores[:held], scores_type)
    number = np.array([count], kind)
    if count <= room:
        return indices, scored, number
    return np.ma.MaskedArray(indices, True), np.ma.MaskedArray(scored, True), number


def select_boxes(
    boxes: NDArray[Any],
    scores: NDArray[Any],
    limit: NDArray[Any] | None = None,
    overlap: NDArray[Any] | None = None,
    score_threshold: NDArray[Any] | None = None,
    *,
    centred: bool = False,
) -> NDArray[Any]:
    """Return the first result of `suppress_boxes`, of boxes with a score above `score_threshold`, if any."""
    bound = np.array(-np.inf, np.float32) if score_threshold is None else score_threshold
    return suppress_boxes(boxes, scores, limit, overlap, bound, centred=centred, strict=score_threshold is not None)[0]
