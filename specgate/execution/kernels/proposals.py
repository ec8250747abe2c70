"""Regions that are likely to hold an object: anchors moved by predictions, the best of those that overlap little."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape
from specgate.execution.kernels.boxes import by_score, precision_of
from specgate.execution.kernels.suppression import Limits, apart, suppressed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["propose_from_sizes", "propose_of_image", "propose_of_images"]

#: How much longer a side becomes at most, as a logarithm: what the detectors that these operators come from do.
_MOST: Final = log(1000 / 16)


class _Choice(NamedTuple):
    """How proposals are chosen from boxes.

    before, behind: how many of the highest scores suppression looks at, and how many are returned. overlap, eta: of
    suppression, see `Limits`. least: below which a side is too short, of x and of y. more: what a side is longer than
    the difference of its ends. first: whether short boxes are left out before the highest scores are taken, or behind.
    """

    before: int
    behind: int
    overlap: float
    least: tuple[float, float]
    more: float = 0.0
    eta: float = 1.0
    first: bool = True


def propose_of_images(
    sizes: NDArray[Any],
    anchors: NDArray[Any],
    offsets: NDArray[Any],
    scores: NDArray[Any],
    *,
    min_size: float,
    overlap: float,
    before: int,
    behind: int,
    normalized: bool = True,
    eta: float = 1.0,
    int32_counts: bool = False,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the corners of the proposals of all images [n, 4], their scores [n], and how many each image has.

    sizes: height, width and scales of each image [images, 3 or 4]. anchors: [height, width, anchors, 4] by corners.
    offsets: [images, anchors * 4, height, width], of the centre and of the logarithms of the sides. scores: [images,
    anchors, height, width]. min_size: sides must not be shorter. overlap, eta: above which overlap a box is removed,
    and what that is multiplied by after each proposal as long as it is above a half. before, behind: how many of the
    highest scores are looked at, and returned, of each image. normalized: else a side counts one more. int32_counts:
    whether numbers are int32.
    """
    if anchors.ndim != 4 or scores.ndim != 4 or sizes.ndim != 2 or sizes.shape[1] not in {3, 4}:
        raise InputError("propose_of_images: expected sizes of images, and anchors and scores of four dimensions")
    require_shape("propose_of_images", "sizes", sizes.shape, (len(scores), sizes.shape[1]))
    require_shape("propose_of_images", "anchors", anchors.shape, (*anchors.shape[:3], 4))
    require_shape("propose_of_images", "offsets", offsets.shape, (len(scores), *offsets.shape[1:]))
    one, more = precision_of(anchors, scores), 0.0 if normalized else 1.0
    choice = _Choice(before, behind, overlap, (min_size, min_size), more, eta, first=False)
    found = []
    for at in memory.in_time(range(len(scores))):
        moved, held = _in_order("propose_of_images", anchors.shape[:3], offsets[at], scores[at], one)
        boxes = _moved(anchors.astype(one).reshape(-1, 4), moved, more=more, less=more, most=_MOST)
        found.append(_chosen(_inside(boxes, sizes[at].astype(one), more), held, choice))
    number = memory.empty((len(scores),), np.dtype(np.int32 if int32_counts else np.int64))
    number[...] = [len(left) for _, left in found]
    total = int(number.sum())
    corners, kept = memory.empty((total, 4), scores.dtype), memory.empty((total,), scores.dtype)
    with memory.quiet():
        corners[...] = np.concatenate([np.zeros((0, 4), one), *(boxes for boxes, _ in found)])
        kept[...] = np.concatenate([np.zeros(0, one), *(left for _, left in found)])
    return corners, kept, number


def propose_of_image(
    size: NDArray[Any],
    anchors: NDArray[Any],
    offsets: NDArray[Any],
    scores: NDArray[Any],
    *,
    min_size: float,
    overlap: float,
    before: int,
    behind: int,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the corners of the proposals of one image [behind, 4] and their scores [behind], 0 where there are fewer.

    size: height, width and scale. anchors: [height * width * anchors, 4] by corners. offsets: [anchors * 4, height,
    width], scores: [anchors, height, width]. A side counts one more than the difference of its ends. Else as
    `propose_of_images`, but short boxes are left out before the highest scores are taken.
    """
    require_shape("propose_of_image", "the size of the image", size.shape, (3,))
    if anchors.ndim != 2 or scores.ndim != 3:
        raise InputError("propose_of_image: expected a list of anchors and scores of three dimensions")
    if behind < 0:
        raise InputError(f"propose_of_image: expected a number of regions of at least 0, found {behind}")
    one = precision_of(anchors, scores)
    many, height, width = scores.shape
    moved, held = _in_order("propose_of_image", (height, width, many), offsets, scores, one)
    require_shape("propose_of_image", "anchors", anchors.shape, (scores.size, 4))
    boxes = _inside(_moved(anchors.astype(one), moved, more=1.0, less=1.0, most=_MOST), size.astype(one), 1.0)
    found, left = _chosen(boxes, held, _Choice(before, behind, overlap, (min_size, min_size), 1.0))
    corners, kept = memory.empty((behind, 4), scores.dtype), memory.empty((behind,), scores.dtype)
    corners[...], kept[...] = 0, 0
    with memory.quiet():
        corners[: len(left)], kept[: len(left)] = found, left
    return corners, kept


def propose_from_sizes(
    scores: NDArray[Any],
    offsets: NDArray[Any],
    size: NDArray[Any],
    *,
    base: int,
    ratios: Sequence[float],
    scales: Sequence[float],
    step: int,
    min_size: int,
    overlap: float,
    before: int,
    behind: int,
    clip_before: bool = True,
    clip_behind: bool = False,
    normalize: bool = False,
    side_scale: float = 1.0,
    centre_scale: float = 1.0,
    rows_first: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return batch and corners of each proposal [batches * behind, 5], and their scores [batches * behind].

    scores: [batches, 2 * anchors, height, width], the second half counts. offsets: [batches, 4 * anchors, height,
    width], divided by centre_scale and side_scale. size: height, width and one scale or two of the image. Anchors have
    the area of a square of the side `base` in each of the ratios of height to width, in all scales, and lie `step`
    apart. min_size: of a side, times the scale of the image. clip_before, clip_behind: whether boxes are cut at the
    edges before suppression, or returned so. normalize: whether corners are divided by the sizes of the image.
    rows_first: corners are y and x, and sides of anchors any numbers, cut at the edges; else x and y, and whole
    numbers, which count one more than the difference of their ends. Behind the proposals of a batch that has too few
    stands a batch of -1; what follows is masked, and all where there are scores of more or fewer anchors.
    """
    if scores.ndim != 4 or size.shape not in {(3,), (4,)}:
        raise InputError("propose_from_sizes: expected scores of four dimensions and three or four numbers of an image")
    one, more = precision_of(scores, offsets), 0.0 if rows_first else 1.0
    batches, many, height, width = len(scores), scores.shape[1] // 2, *scores.shape[2:]
    kinds = _anchors(base, ratios, scales, rounded=not rows_first)
    if scores.shape[1] % 2 or offsets.shape != (batches, 4 * many, height, width):
        raise InputError("propose_from_sizes: expected two scores and four offsets of each anchor")
    corners = memory.empty((batches, behind, 5), scores.dtype)
    kept = memory.empty((batches, behind), scores.dtype)
    corners[...], kept[...] = 0, 0
    if len(kinds) != many:  # which of them they are is unknown
        return np.ma.MaskedArray(corners.reshape(-1, 5), True), np.ma.MaskedArray(kept.reshape(-1), True)
    memory.hold((height * width, many, 4), np.dtype(one))  # what is worked with
    rows, columns = np.meshgrid(np.arange(height) * step, np.arange(width) * step, indexing="ij")
    first, second = (rows, columns) if rows_first else (columns, rows)
    grid = np.stack([first, second, first, second], axis=-1)[:, :, None].astype(one)
    anchors = (grid + (kinds - base / 2 if rows_first else kinds).astype(one)).reshape(-1, 4)
    image = size.astype(one)
    shortest = [float(one(min_size) * scale) for scale in (image[-1], image[2])]
    if rows_first:
        image, shortest = np.concatenate([image[1::-1], image[2:]]), shortest[::-1]
        anchors = _inside(anchors, image, more)
    parts = np.array([centre_scale, centre_scale, side_scale, side_scale], one)
    choice = _Choice(before, behind, overlap, (shortest[0], shortest[1]), more)
    counts = []
    for at in memory.in_time(range(batches)):
        moved, held = _in_order("propose_from_sizes", (height, width, many), offsets[at], scores[at, many:], one)
        boxes = _moved(anchors, moved / parts, more=more)
        boxes, left = _chosen(_inside(boxes, image, more) if clip_before else boxes, held, choice)
        boxes = _inside(boxes, image, more) if clip_behind else boxes
        counts.append(len(left))
        with memory.quiet():
            corners[at, : len(left), 0], kept[at, : len(left)] = at, left
            corners[at, : len(left), 1:] = boxes / image[[1, 0, 1, 0]] if normalize else boxes
    return _ended(corners.reshape(-1, 5), kept.reshape(-1), counts, behind)


def _ended(
    corners: NDArray[Any], kept: NDArray[Any], counts: Sequence[int], behind: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows with a batch of -1 behind those of the first batch that has too few, what follows masked."""
    lacking = next((at for at, count in enumerate(counts) if count < behind), None)
    if lacking is None:
        return corners, kept
    end = lacking * behind + counts[lacking]
    corners[end, 0] = -1
    mask = np.zeros(corners.shape, np.bool_)
    mask[end:] = True
    mask[end, 0] = False
    return np.ma.MaskedArray(corners, mask), np.ma.MaskedArray(kept, mask[:, 1])


def _anchors(base: int, ratios: Sequence[float], scales: Sequence[float], *, rounded: bool) -> NDArray[Any]:
    """Return anchors [ratios * scales, 4] by corners, all around the middle of a square at the origin."""
    more = 1.0 if rounded else 0.0
    found = []
    for ratio in ratios:
        across = float(np.sqrt(base * base / ratio)) if ratio > 0 else float("nan")
        across = float(np.floor(across + 0.5)) if rounded else across
        down = float(np.floor(across * ratio + 0.5)) if rounded else across * ratio
        for scale in scales:
            half = np.array([across * scale - more, down * scale - more]) / 2
            middle = (base - more) / 2
            found.append(np.concatenate([middle - half, middle + half]))
    return np.array(found).reshape(-1, 4)


def _in_order(
    name: str, places: tuple[int, ...], offsets: NDArray[Any], scores: NDArray[Any], one: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return offsets [boxes, 4] and scores [boxes] in the order of anchors: by row, column and anchor."""
    height, width, many = places
    require_shape(name, "scores", scores.shape, (many, height, width))
    require_shape(name, "offsets", offsets.shape, (many * 4, height, width))
    moved = offsets.astype(one).reshape(many, 4, height, width).transpose(2, 3, 0, 1).reshape(-1, 4)
    return moved, scores.astype(one).transpose(1, 2, 0).reshape(-1)


def _moved(
    boxes: NDArray[Any], offsets: NDArray[Any], *, more: float, less: float = 0.0, most: float | None = None
) -> NDArray[Any]:
    """Return boxes [n, 4] with other centres and sides. less: what the upper corner is then lowered by."""
    one = boxes.dtype.type
    sides = boxes[:, 2:] - boxes[:, :2] + one(more)
    middles = boxes[:, :2] + one(0.5) * sides + offsets[:, :2] * sides
    grown = offsets[:, 2:] if most is None else np.minimum(offsets[:, 2:], one(most))
    reach = one(0.5) * (np.exp(grown) * sides)
    return np.concatenate([middles - reach, middles + reach - one(less)], axis=-1)


def _inside(boxes: NDArray[Any], size: NDArray[Any], more: float) -> NDArray[Any]:
    """Return boxes [n, 4] cut at the edges of an image. size: its height and its width come first."""
    ends = (size[[1, 0, 1, 0]] - boxes.dtype.type(more)).astype(boxes.dtype)
    result: NDArray[Any] = np.maximum(np.minimum(boxes, ends), boxes.dtype.type(0))
    return result


def _chosen(boxes: NDArray[Any], scores: NDArray[Any], choice: _Choice) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the proposals [n, 4], the highest score first, and their scores."""
    one = boxes.dtype.type
    sides = boxes[:, 2:] - boxes[:, :2] + one(choice.more)
    long = (sides >= np.array(choice.least, boxes.dtype)).all(axis=1)
    order = by_score(scores)
    order = order[long[order]][: choice.before] if choice.first else order[: choice.before]
    order = order[long[order] & ~np.isnan(scores[order])]
    limits = Limits(choice.behind, choice.overlap, -np.inf, eta=choice.eta)
    corners, left = boxes[order], scores[order]
    places, kept = suppressed(left, limits, apart(corners, more=choice.more))
    return corners[places], kept
