"""Boxes of objects, decoded from predictions and prior boxes, without those that overlap better ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape
from specgate.execution.kernels.boxes import by_score, overlaps, precision_of
from specgate.execution.kernels.suppression import Limits, apart, suppressed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["detect_boxes"]

_HALF = 0.5


class _Rules(NamedTuple):
    """How boxes are selected: see `detect_boxes`."""

    overlap: float
    least: float
    candidates: int
    kept: int
    background: int
    one_list: bool


def detect_boxes(
    offsets: NDArray[Any],
    scores: NDArray[Any],
    priors: NDArray[Any],
    more_scores: NDArray[Any] | None = None,
    more_offsets: NDArray[Any] | None = None,
    *,
    overlap: float,
    kept: int,
    classes: int = -1,
    score_threshold: float = 0.0,
    objects: float = 0.0,
    candidates: int = -1,
    background: int = 0,
    centred: bool = False,
    shared: bool = True,
    variances: bool = True,
    height: int = 0,
    width: int = 0,
    clip_before: bool = False,
    clip_behind: bool = False,
    one_list: bool = False,
) -> NDArray[Any]:
    """Return [1, 1, rows, 7]: batch, class, score and corners of the selected boxes, masked behind a batch of -1.

    offsets: [batches, priors * 4], or of each class where they are not `shared`, and scores [batches, priors *
    classes]. priors: [1 or batches, 1 or 2, priors * 4] by corners, the second row factors of offsets if `variances`;
    with a `height` and a `width`, which coordinates are divided by, of five numbers each; the first is not used.
    more_scores, more_offsets: of a first stage, whose boxes take the place of the priors; where its second score is
    below `objects`, a prior box has the background alone. centred: offsets are of the centre and of the logarithms of
    width and height, not of corners.
    overlap: above which a box is removed; least: scores must be above it; candidates: how many of a class are looked
    at, kept: how many of a batch are returned, below 0 all, for both. one_list: each prior box counts for its best
    class alone, and classes are numbered from the one behind the background.
    """
    one = precision_of(offsets, scores, priors)
    places, factors = _priors(priors.astype(one), variances=variances, sizes=(height, width))
    batches, count = len(offsets), places.shape[1]
    many = classes if classes >= 0 else scores.shape[1] // count if count else 0
    require_shape("detect_boxes", "scores", scores.shape, (batches, count * many))
    require_shape("detect_boxes", "offsets", offsets.shape, (batches, count * (1 if shared else many) * 4))
    if len(places) not in {1, batches}:
        raise InputError(f"detect_boxes: expected prior boxes of 1 or {batches} batches, found {len(places)}")
    held = scores.astype(one).reshape(batches, count, many)
    if more_scores is not None:
        require_shape("detect_boxes", "the first stage's scores", more_scores.shape, (batches, count * 2))
        lacking = more_scores.astype(one).reshape(batches, count, 2)[:, :, 1] < one(objects)
        alone = np.zeros(many, one)
        if 0 <= background < many:
            alone[background] = 1
        held = np.where(lacking[:, :, None], alone, held)
    boxes = places[:, :, None]
    for stage in (more_offsets, offsets):
        if stage is not None:
            require_shape("detect_boxes", "offsets", stage.shape, offsets.shape)
            moved = stage.astype(one).reshape(batches, count, 1 if shared else many, 4) * factors[:, :, None]
            boxes = _moved(boxes, moved, centred=centred)
            boxes = np.clip(boxes, one(0), one(1)) if clip_before else boxes
    rules = _Rules(overlap, score_threshold, candidates, kept, background, one_list)
    limit = kept if kept > 0 else candidates * many if kept == -1 and candidates > 0 else many * count
    return _written(_found(boxes, held, rules), batches * limit, scores.dtype, rules, clip=clip_behind)


def _priors(priors: NDArray[Any], *, variances: bool, sizes: tuple[int, int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return prior boxes by corners, and the factors of offsets: [1 or batches, priors, 4]."""
    numbers = 5 if any(sizes) else 4
    if priors.ndim != 3 or priors.shape[2] % numbers or priors.shape[1] != (2 if variances else 1):
        raise InputError(f"detect_boxes: expected {numbers} numbers of each prior box, found {list(priors.shape)}")
    batches, count = len(priors), priors.shape[2] // numbers
    places = priors[:, 0].reshape(batches, count, numbers)[:, :, numbers - 4 :]
    if numbers == 5:
        if min(sizes) < 1:
            raise InputError("detect_boxes: expected a height and a width of at least 1")
        places = places / np.array([sizes[1], sizes[0]] * 2, priors.dtype)
    if not variances:
        return places, np.ones_like(places)
    return places, priors[:, 1, : count * 4].reshape(batches, count, 4)


def _moved(boxes: NDArray[Any], offsets: NDArray[Any], *, centred: bool) -> NDArray[Any]:
    """Return boxes by corners [..., 4], moved by offsets of the corners, or of the centre and the sides."""
    if not centred:
        ends: NDArray[Any] = boxes + offsets
        return ends
    half = boxes.dtype.type(_HALF)
    sides = boxes[..., 2:] - boxes[..., :2]
    middles = (boxes[..., :2] + boxes[..., 2:]) * half + offsets[..., :2] * sides
    reach = np.exp(offsets[..., 2:]) * sides * half
    return np.concatenate([middles - reach, middles + reach], axis=-1)


def _found(boxes: NDArray[Any], scores: NDArray[Any], rules: _Rules) -> Iterator[tuple[Any, ...]]:
    """Yield what is selected of each batch: batch, classes, scores and corners, class by class.

    boxes: [batches, priors, 1 or classes, 4]. scores: [batches, priors, classes].
    """
    limits = Limits(
        boxes.shape[1], rules.overlap, rules.least, strict=True,
        candidates=rules.candidates if rules.candidates >= 0 else None,
    )  # fmt: skip
    select = _by_best_class if rules.one_list else _by_class
    for batch in memory.in_time(range(len(scores))):
        labels, chosen, left = select(boxes[batch], scores[batch], rules.background, limits)
        best = by_score(left)[: rules.kept if rules.kept >= 0 else None]
        best = best[np.argsort(labels[best], kind="stable")]
        own = np.minimum(labels[best], boxes.shape[2] - 1)
        yield batch, labels[best], left[best], boxes[batch, chosen[best], own]


def _by_class(
    boxes: NDArray[Any], scores: NDArray[Any], background: int, limits: Limits
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return class, prior box and score of what is selected of each class for itself."""
    labels, chosen, left = [], [], []
    for label in memory.in_time(range(scores.shape[1])):
        if label != background:
            own = boxes[:, min(label, boxes.shape[1] - 1)]
            places, kept = suppressed(scores[:, label], limits, apart(own))
            labels += [label] * len(places)
            chosen += places.tolist()
            left += kept.tolist()
    return np.array(labels, np.intp), np.array(chosen, np.intp), np.array(left, scores.dtype)


def _by_best_class(
    boxes: NDArray[Any], scores: NDArray[Any], background: int, limits: Limits
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return class, prior box and score of what is selected of all prior boxes, each with its best class."""
    others = scores.copy()
    if 0 <= background < scores.shape[1]:
        others[:, background] = -np.inf
    if not others.size:
        return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, scores.dtype)
    labels = others.argmax(axis=1)
    left = others[np.arange(len(others)), labels]
    own = boxes[np.arange(len(boxes)), np.minimum(labels, boxes.shape[1] - 1)]

    def same_class(box: int, other: NDArray[np.intp]) -> NDArray[Any]:
        return np.where(labels[other] == labels[box], overlaps(own[box], own[other]), -np.inf)

    places, kept = suppressed(left, limits, same_class)
    return labels[places], places, kept


def _written(
    found: Iterator[tuple[Any, ...]], room: int, dtype: np.dtype[Any], rules: _Rules, *, clip: bool
) -> NDArray[Any]:
    """Return the rows, and behind them a batch of -1 where there is room; what follows is masked."""
    result = memory.empty((1, 1, max(0, room), 7), dtype)
    result[...] = 0
    rows, count = result[0, 0], 0
    for batch, labels, scores, boxes in found:
        held = slice(count, min(count + len(labels), len(rows)))
        count += len(labels)
        with memory.quiet():
            rows[held, 0] = batch
            rows[held, 1] = (labels - 1 if rules.one_list else labels)[: held.stop - held.start]
            rows[held, 2] = scores[: held.stop - held.start]
            rows[held, 3:] = (np.clip(boxes, 0, 1) if clip else boxes)[: held.stop - held.start]
    if count >= len(rows):
        return result
    rows[count, 0] = -1
    mask = np.zeros(result.shape, np.bool_)
    mask[0, 0, count:] = True
    mask[0, 0, count, 0] = False
    return np.ma.MaskedArray(result, mask)
