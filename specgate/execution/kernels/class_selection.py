"""Boxes of the highest scores of each batch: those of a class removed, or their scores lowered, where they overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape
from specgate.execution.kernels.boxes import by_score, overlaps, precision_of
from specgate.execution.kernels.suppression import Limits, apart, suppressed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["suppress_by_class", "suppress_by_matrix"]

Order = Literal["score", "class", "none"]


def suppress_by_class(
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
    """Return class, score and corners of each selected box [n, 6], their places [n, 1], and how many each batch has.

    boxes: [batches, boxes, 4] by lower and upper corner, scores: [batches, classes, boxes]. With `counts` [images]
    boxes are [classes, boxes, 4] and scores [classes, boxes], and each image has so many of the boxes. Places are those
    among the boxes of all batches or classes. overlap, eta: above which overlap a box is removed, and what that is
    multiplied by after each selected box as long as it is above a half. score_threshold: the lowest score. candidates:
    how many of a class are looked at. kept: how many of a batch are selected; below 0 all, for both. background: a
    class that is left out. normalized: else each side counts one more. order: by score or by class, `across` all
    batches or in each; with "none" no order is meant, and the rows are masked. int32_indices: whether numbers are
    int32. inclusive: a box is removed at the overlap itself, too.
    """
    images = _images(boxes, scores, counts)
    one = precision_of(boxes, scores)
    more = 0.0 if normalized else 1.0
    overlap = float(np.nextafter(one(overlap), one(-np.inf))) if inclusive else overlap
    limits = Limits(
        boxes.shape[1], overlap, score_threshold, eta=eta, candidates=None if candidates < 0 else candidates
    )

    def of_class(corners: NDArray[Any], given: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
        return suppressed(given, limits, apart(corners, more=more))

    rows = [_of_image(image, background, kept, one, of_class) for image in memory.in_time(images)]
    return _written(rows, boxes.dtype, order=order, across=across, narrow=int32_indices)


def suppress_by_matrix(
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
    """Return what `suppress_by_class` does, of boxes whose scores decay by all boxes of a higher score together.

    score_threshold, post_threshold: scores must be above it, before and after they decay. gaussian: the decay is
    exp((most**2 - overlap**2) * sigma), else (1 - overlap) / (1 - most), where `most` is what the other box overlaps
    at most.
    """
    images = _images(boxes, scores, None)
    one = precision_of(boxes, scores)
    more = 0.0 if normalized else 1.0

    def of_class(corners: NDArray[Any], given: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
        chosen = by_score(given)
        chosen = chosen[given[chosen] > one(score_threshold)]
        chosen = chosen if candidates < 0 else chosen[:candidates]
        memory.hold((len(chosen), len(chosen)), np.dtype(one))  # what is worked with
        found = [overlaps(corners[box], corners[chosen], more=more, touching=True) for box in memory.in_time(chosen)]
        above = np.triu(np.array(found, one).reshape(len(chosen), len(chosen)), 1)
        most = above.max(axis=0, initial=0)[:, None]
        decay = np.exp((most**2 - above**2) * one(sigma)) if gaussian else (one(1) - above) / (one(1) - most)
        # a box is not decayed by those of lower scores, nor by itself
        decay = np.where(np.triu(np.ones(above.shape, np.bool_), 1), decay, one(1))
        left = given[chosen] * decay.min(axis=0, initial=1)
        stays = left > one(post_threshold)
        return chosen[stays], left[stays]

    rows = [_of_image(image, background, kept, one, of_class) for image in memory.in_time(images)]
    return _written(rows, boxes.dtype, order=order, across=across, narrow=int32_indices)


class _Image(NamedTuple):
    """One image: boxes [classes or 1, boxes, 4], scores [classes, boxes], the place of the first box of each class."""

    boxes: NDArray[Any]
    scores: NDArray[Any]
    starts: NDArray[np.int64]


class _Rows(NamedTuple):
    """Selected boxes of an image: class, score in full precision, place and coordinates of each."""

    labels: NDArray[np.int64]
    scores: NDArray[Any]
    places: NDArray[np.int64]
    boxes: NDArray[Any]


def _images(boxes: NDArray[Any], scores: NDArray[Any], counts: NDArray[Any] | None) -> list[_Image]:
    """Return the images; raise InputError for shapes that do not fit, or counts of other boxes."""
    if boxes.ndim != 3 or scores.ndim != (3 if counts is None else 2):
        raise InputError("suppress_by_class: expected boxes of three dimensions, and scores for each of them")
    many, count = boxes.shape[:2]
    require_shape("suppress_by_class", "boxes", boxes.shape, (many, count, 4))
    if counts is None:
        require_shape("suppress_by_class", "scores", scores.shape, (many, scores.shape[1], count))
        labels = np.zeros(scores.shape[1], np.int64)
        return [_Image(boxes[at : at + 1], scores[at], labels + at * count) for at in range(many)]
    require_shape("suppress_by_class", "scores", scores.shape, (many, count))
    sizes = [int(size) for size in counts.reshape(-1)]
    if any(size < 0 for size in sizes) or sum(sizes) != count:
        raise InputError(f"suppress_by_class: the images have {sizes} boxes, but there are {count}")
    ends = np.cumsum(sizes, dtype=np.int64).tolist()
    labels = np.arange(many, dtype=np.int64) * count
    pairs = [(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    return [_Image(boxes[:, start:end], scores[:, start:end], labels + start) for start, end in pairs]


def _of_image(
    image: _Image,
    background: int,
    kept: int,
    one: Any,
    of_class: Callable[[NDArray[Any], NDArray[Any]], tuple[NDArray[np.intp], NDArray[Any]]],
) -> _Rows:
    """Return the selected boxes of an image, class by class; no more than `kept`, those of the highest scores."""
    corners = image.boxes.astype(one)
    labels: list[int] = []
    boxes: list[int] = []
    scores: list[Any] = []
    shared = len(corners) == 1
    for label in memory.in_time(range(len(image.scores) if len(corners) else 0)):
        if label != background:
            chosen, left = of_class(corners[0 if shared else label], image.scores[label].astype(one))
            labels += [label] * len(chosen)
            boxes += chosen.tolist()
            scores += left.tolist()
    left, own, places = np.array(scores, one), np.array(labels, np.int64), np.array(boxes, np.int64)
    best = np.sort(by_score(left)[: kept if kept >= 0 else None])
    own, places = own[best], places[best]
    return _Rows(own, left[best], image.starts[own] + places, corners[0 if shared else own, places])


def _written(
    rows: list[_Rows], dtype: np.dtype[Any], *, order: Order, across: bool, narrow: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the outputs, in the order that is asked for."""
    kind = np.dtype(np.int32 if narrow else np.int64)
    number = memory.empty((len(rows),), kind)
    number[...] = [len(row.scores) for row in rows]
    one = rows[0].scores.dtype if rows else np.dtype(np.float32)
    batches = np.repeat(np.arange(len(rows)), number)
    empty = _Rows(np.zeros(0, np.int64), np.zeros(0, one), np.zeros(0, np.int64), np.zeros((0, 4), one))
    found = _Rows(*(np.concatenate(parts) for parts in zip(empty, *rows, strict=True)))
    keys: list[NDArray[Any]] = []
    if order == "score":
        keys = [-found.scores]
    elif order == "class":
        keys = [-found.scores, *([batches] if across else []), found.labels]
    chosen = np.lexsort([*keys, *([] if across else [batches])]) if keys else np.arange(len(found.scores))
    outputs, places = memory.empty((len(chosen), 6), dtype), memory.empty((len(chosen), 1), kind)
    with memory.quiet():
        outputs[:, 0], outputs[:, 1], outputs[:, 2:] = (
            part[chosen] for part in (found.labels, found.scores, found.boxes)
        )
        places[:, 0] = found.places[chosen]
    if order == "none" and len(chosen) > 1:
        return np.ma.MaskedArray(outputs, True), np.ma.MaskedArray(places, True), number
    return outputs, places, number
