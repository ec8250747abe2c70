"""Object detection: DetectionOutput, PriorBox, proposals, YOLO regions.

OpenVINO DetectionOutput, ExperimentalDetectronDetectionOutput, ExperimentalDetectronGenerateProposalsSingleImage,
ExperimentalDetectronPriorGridGenerator, ExperimentalDetectronROIFeatureExtractor, ExperimentalDetectronTopKROIs,
GenerateProposals, PriorBox, PriorBoxClustered, Proposal, RegionYolo, ReorgYolo.
"""

from __future__ import annotations

from math import log, prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, require_shape, round_to, to_float64
from specgate.execution.kernels.nms import (
    Limits,
    OverlapFunction,
    order_by_score,
    overlaps,
    precision_of,
    select_with_suppression,
)
from specgate.execution.kernels.roi_align import roi_align

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_HALF = 0.5


class _Rules(NamedTuple):
    """Box selection settings; see `detection_output`."""

    overlap: float
    least: float
    candidates: int
    kept: int
    background: int
    one_list: bool


def detection_output(
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
    """Return [1, 1, rows, 7]: batch, class, score and corners of the boxes.

    Rows after the last selected box are masked, the first of them has batch -1. offsets: [batches, priors * 4], or per
    class where not `shared`; scores: [batches, priors * classes]. priors: [1 or batches, 1 or 2, priors * 4] by
    corners, the second row the variances if `variances`; with a `height` and a `width` (by which coordinates are
    divided), five numbers per prior, of which the first is not used. more_scores, more_offsets: of a first stage, whose
    boxes replace the priors; where its second score is below `objects`, a prior has only the background class. centred:
    offsets are of the center and of log width and log height, not of corners. overlap: IoU threshold above which a box
    is suppressed; score_threshold: scores must be above it; candidates: number of candidates per class; kept: number of
    boxes returned per batch; both below 0 for all. one_list: each prior counts for its best class only, and classes are
    numbered from the class after the background.
    """
    to_type = precision_of(offsets, scores, priors)
    places, factors = _priors(priors.astype(to_type), variances=variances, sizes=(height, width))
    batches, count = len(offsets), places.shape[1]
    class_count = classes if classes >= 0 else scores.shape[1] // count if count else 0
    require_shape("detection_output", "scores", scores.shape, (batches, count * class_count))
    require_shape("detection_output", "offsets", offsets.shape, (batches, count * (1 if shared else class_count) * 4))
    if len(places) not in {1, batches}:
        raise InputError(f"detection_output: expected prior boxes with batch size 1 or {batches}, found {len(places)}")
    array = scores.astype(to_type).reshape(batches, count, class_count)
    if more_scores is not None:
        require_shape("detection_output", "the scores of the first stage", more_scores.shape, (batches, count * 2))
        lacks_object = more_scores.astype(to_type).reshape(batches, count, 2)[:, :, 1] < to_type(objects)
        class_corners = np.zeros(class_count, to_type)
        if 0 <= background < class_count:
            class_corners[background] = 1
        array = np.where(lacks_object[:, :, None], class_corners, array)
    boxes = places[:, :, None]
    for stage in (more_offsets, offsets):
        if stage is not None:
            require_shape("detection_output", "offsets", stage.shape, offsets.shape)
            shifted_corners = (
                stage.astype(to_type).reshape(batches, count, 1 if shared else class_count, 4) * factors[:, :, None]
            )
            boxes = _move_boxes(boxes, shifted_corners, centred=centred)
            boxes = np.clip(boxes, to_type(0), to_type(1)) if clip_before else boxes
    rules = _Rules(overlap, score_threshold, candidates, kept, background, one_list)
    limit = kept if kept > 0 else candidates * class_count if kept == -1 and candidates > 0 else class_count * count
    return _write_rows(_detections(boxes, array, rules), batches * limit, scores.dtype, rules, clip=clip_behind)


def _priors(priors: NDArray[Any], *, variances: bool, sizes: tuple[int, int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return prior boxes by corners, and variances: [1 or batches, priors, 4]."""
    numbers = 5 if any(sizes) else 4
    if priors.ndim != 3 or priors.shape[2] % numbers or priors.shape[1] != (2 if variances else 1):
        raise InputError(f"detection_output: expected {numbers} numbers per prior box, found {list(priors.shape)}")
    batches, count = len(priors), priors.shape[2] // numbers
    places = priors[:, 0].reshape(batches, count, numbers)[:, :, numbers - 4 :]
    if numbers == 5:
        if min(sizes) < 1:
            raise InputError("detection_output: expected a height and a width of at least 1")
        places = places / np.array([sizes[1], sizes[0]] * 2, priors.dtype)
    if not variances:
        return places, np.ones_like(places)
    return places, priors[:, 1, : count * 4].reshape(batches, count, 4)


def _move_boxes(boxes: NDArray[Any], offsets: NDArray[Any], *, centred: bool) -> NDArray[Any]:
    """Return boxes by corners [..., 4], moved by offsets.

    Offsets are of the corners, or of the center and the sides.
    """
    if not centred:
        ends: NDArray[Any] = boxes + offsets
        return ends
    half = boxes.dtype.type(_HALF)
    sides = boxes[..., 2:] - boxes[..., :2]
    middles = (boxes[..., :2] + boxes[..., 2:]) * half + offsets[..., :2] * sides
    reach = np.exp(offsets[..., 2:]) * sides * half
    return np.concatenate([middles - reach, middles + reach], axis=-1)


def _detections(boxes: NDArray[Any], scores: NDArray[Any], rules: _Rules) -> Iterator[tuple[Any, ...]]:
    """Yield batch, classes, scores and corners of the selection of each batch.

    Selected class by class. boxes: [batches, priors, 1 or classes, 4]. scores: [batches, priors, classes].
    """
    limits = Limits(
        boxes.shape[1], rules.overlap, rules.least, strict=True,
        candidates=rules.candidates if rules.candidates >= 0 else None,
    )  # fmt: skip
    select = _select_by_best_class if rules.one_list else _select_by_class
    for batch in memory.within_time_limit(range(len(scores))):
        labels, selected_places, left = select(boxes[batch], scores[batch], rules.background, limits)
        best_order = order_by_score(left)[: rules.kept if rules.kept >= 0 else None]
        best_order = best_order[np.argsort(labels[best_order], kind="stable")]
        box_labels = np.minimum(labels[best_order], boxes.shape[2] - 1)
        yield batch, labels[best_order], left[best_order], boxes[batch, selected_places[best_order], box_labels]


def _select_by_class(
    boxes: NDArray[Any], scores: NDArray[Any], background: int, limits: Limits
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return class, prior and score of each box selected per class."""
    labels, selected_places, left = [], [], []
    for label in memory.within_time_limit(range(scores.shape[1])):
        if label != background:
            class_boxes = boxes[:, min(label, boxes.shape[1] - 1)]
            places, selected_scores = select_with_suppression(scores[:, label], limits, OverlapFunction(class_boxes))
            labels += [label] * len(places)
            selected_places += places.tolist()
            left += selected_scores.tolist()
    return np.array(labels, np.intp), np.array(selected_places, np.intp), np.array(left, scores.dtype)


def _select_by_best_class(
    boxes: NDArray[Any], scores: NDArray[Any], background: int, limits: Limits
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return class, prior and score of the boxes selected by best class."""
    other_scores = scores.copy()
    if 0 <= background < scores.shape[1]:
        other_scores[:, background] = -np.inf
    if not other_scores.size:
        return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, scores.dtype)
    labels = other_scores.argmax(axis=1)
    left = other_scores[np.arange(len(other_scores)), labels]
    box_corners = boxes[np.arange(len(boxes)), np.minimum(labels, boxes.shape[1] - 1)]

    def same_class(box: int, other: NDArray[np.intp]) -> NDArray[Any]:
        return np.where(labels[other] == labels[box], overlaps(box_corners[box], box_corners[other]), -np.inf)

    places, selected_scores = select_with_suppression(left, limits, same_class)
    return labels[places], places, selected_scores


def _write_rows(
    items: Iterator[tuple[Any, ...]], row_limit: int, dtype: np.dtype[Any], rules: _Rules, *, clip: bool
) -> NDArray[Any]:
    """Return the rows, then a row of batch -1 if there is room.

    The rest is masked.
    """
    result = memory.empty((1, 1, max(0, row_limit), 7), dtype)
    result[...] = 0
    rows, count = result[0, 0], 0
    for batch, labels, scores, boxes in items:
        part = slice(count, min(count + len(labels), len(rows)))
        count += len(labels)
        with memory.ignore_warnings():
            rows[part, 0] = batch
            rows[part, 1] = (labels - 1 if rules.one_list else labels)[: part.stop - part.start]
            rows[part, 2] = scores[: part.stop - part.start]
            rows[part, 3:] = (np.clip(boxes, 0, 1) if clip else boxes)[: part.stop - part.start]
    if count >= len(rows):
        return result
    rows[count, 0] = -1
    mask = np.zeros(result.shape, np.bool_)
    mask[0, 0, count:] = True
    mask[0, 0, count, 0] = False
    return np.ma.MaskedArray(result, mask)


#: Ratios that differ by less than this are equal.
_RATIO_TOLERANCE: Final = 1e-6
#: The default variance.
_VARIANCE: Final = 0.1
#: More boxes per point than this are rejected before they are enumerated.
_MAX_BOXES_PER_POINT: Final = 2**20


class _Box(NamedTuple):
    """Prior box at a point.

    Half its width and height, the offset of its center from the point, and whether it is clipped. has_size: whether its
    position is documented.
    """

    wide: float
    high: float
    right: float = 0.0
    down: float = 0.0
    cut: bool = False
    has_size: bool = True


def prior_box(
    grid: NDArray[Any],
    image: NDArray[Any],
    *,
    min_sizes: Sequence[float] = (),
    max_sizes: Sequence[float] = (),
    ratios: Sequence[float] = (),
    flip: bool = False,
    clip: bool = False,
    step: float = 0.0,
    offset: float,
    variances: Sequence[float] = (),
    all_sizes: bool = True,
    fixed_ratios: Sequence[float] = (),
    fixed_sizes: Sequence[float] = (),
    densities: Sequence[float] = (),
    most_first: bool = True,
    dtype: Any = np.float32,
) -> NDArray[Any]:
    """Return prior boxes and their variances, [2, 4 * boxes] of `dtype`.

    Boxes are left, top, right and bottom. grid, image: [2], heights and widths. Points are `step` apart and the first
    is `offset` of a step from the edge; a step of 0 spreads the points over the image, each in the middle of its cell.
    Per point there are, for each fixed size, density² boxes of each ratio (fixed ratios, or 1 and `ratios`), and for
    each of `min_sizes` a square, a square of the geometric mean with `max_sizes`, and a box of each ratio; most_first:
    in this order, else ratios before the mean. Without all_sizes, sizes and step are fractions of the image's height,
    `max_sizes` is ignored, and ratios apply to the first size only, after the last size. flip: also use the inverse of
    each ratio. clip: to [0, 1]. Boxes of odd fixed sizes are masked. Raises NoKernel where the number of boxes differs
    from the number that follows from the attributes.
    """
    rows, columns = _read_image_size("grid", grid)
    height, width = _read_image_size("image", image)
    sizes, larger, fixed, dense = (
        np.array(size_list, np.float32).astype(np.float64)
        for size_list in (min_sizes, max_sizes, fixed_sizes, densities)
    )
    if step < 0 or any((size_list < 0).any() for size_list in (sizes, larger, fixed)):
        raise InputError("prior_box: expected sizes and a step of at least 0")
    if not all_sizes:
        sizes, larger, step = sizes * height, larger[:0], step * height
    distinct_ratios = _distinct_ratios(ratios, flip=flip)
    boxes = list(_iterate_fixed_boxes(fixed, np.floor(dense), distinct_ratios, fixed_ratios))
    boxes += _iterate_boxes(sizes, larger, distinct_ratios, most_first=most_first, repeated=all_sizes)
    extra_boxes = int(sum(min(n, _MAX_BOXES_PER_POINT) ** 2 - 1 for n in np.floor(dense)))
    count_per_size = len(fixed) or (len(sizes) if all_sizes else 1)
    count_per_size = (1 + len(distinct_ratios)) * (count_per_size + (0 if len(fixed_ratios) else extra_boxes))
    count_per_size += (0 if len(fixed) else len(max_sizes) if all_sizes else len(sizes) - 1) + len(
        fixed_ratios
    ) * extra_boxes
    if len(boxes) != count_per_size:
        raise NoKernel(f"prior_box: {count_per_size} boxes are declared, but the attributes describe {len(boxes)}")
    with memory.ignore_warnings():
        x, y = ((np.arange(n) + offset) * step if step else (np.arange(n) + 0.5) * np.float64(image_length) / n
                for n, image_length in ((columns, width), (rows, height)))  # fmt: skip
    return _place_boxes(x, y, boxes, (height, width), variances, clip=clip, dtype=dtype)


def prior_box_clustered(
    grid: NDArray[Any],
    image: NDArray[Any] | None = None,
    *,
    widths: Sequence[float] = (1.0,),
    heights: Sequence[float] = (1.0,),
    clip: bool = True,
    step: float = 0.0,
    step_across: float = 0.0,
    step_down: float = 0.0,
    offset: float,
    variances: Sequence[float] = (),
    dtype: Any = np.float32,
) -> NDArray[Any]:
    """Return boxes of given widths and heights per point, and variances.

    The result is [2, 4 * boxes] of `dtype`, as in `prior_box`. Points are step_across and step_down apart, where
    both are 0 `step`; if that is 0 as well, they are spread over the image. Raises NoKernel without an image, and for
    unequal numbers of widths and heights.
    """
    rows, columns = _read_image_size("grid", grid)
    if image is None or len(widths) != len(heights):
        raise NoKernel(
            "prior_box_clustered: it is unspecified how to handle boxes without an image size, or with a width "
            "but no height"
        )
    height, width = _read_image_size("image", image)
    if step_across == 0 and step_down == 0:
        step_across = step_down = step
    with memory.ignore_warnings():
        if step_across == 0 and step_down == 0:
            step_across, step_down = float(np.float64(width) / columns), float(np.float64(height) / rows)
        x, y = ((np.arange(n) + offset) * spacing for n, spacing in ((columns, step_across), (rows, step_down)))
    halves = np.array([widths, heights], np.float32).astype(np.float64).T / 2
    return _place_boxes(
        x, y, [_Box(*half_sizes) for half_sizes in halves.tolist()], (height, width), variances, clip=clip, dtype=dtype
    )


def _read_image_size(noun: str, sizes: NDArray[Any]) -> tuple[int, int]:
    if sizes.shape != (2,) or sizes.dtype.kind not in "iu" or (noun == "grid" and (sizes < 0).any()):
        raise InputError(f"expected the height and the width of the {noun}, found {sizes!r:.60}")
    height, width = int(sizes[0]), int(sizes[1])
    if noun == "grid":
        memory.check_budget((height + width, 4), np.dtype(np.float64))
    return height, width


def _distinct_ratios(ratios: Sequence[float], *, flip: bool) -> list[float]:
    """Return distinct ratios other than 1, with `flip` each with its inverse."""
    numbers = [1.0]
    for ratio in memory.within_time_limit(ratios):
        number = float(np.float32(ratio))
        if all(abs(number - reference) >= _RATIO_TOLERANCE for reference in numbers):
            numbers += [number, 1 / number if number else np.inf] if flip else [number]
        if len(numbers) > _MAX_BOXES_PER_POINT:
            raise InputError("prior_box: too many aspect ratios")
    return numbers[1:]


def _half_sizes(size: float, ratio: float) -> tuple[float, float]:
    """Return half width and half height of a square reshaped to a ratio."""
    with memory.ignore_warnings():
        root = np.sqrt(np.float64(ratio))
        return float(size * 0.5 * root), float(np.float64(size * 0.5) / root)


def _iterate_fixed_boxes(
    sizes: NDArray[Any], densities: NDArray[Any], ratios: Sequence[float], fixed: Sequence[float]
) -> Iterator[_Box]:
    """Yield boxes of fixed sizes, density per direction.

    They are whole numbers apart. How odd sizes are halved is undocumented.
    """
    if not len(sizes):
        return
    if len(densities) < len(sizes) or (densities < 1).any() or densities.max() ** 2 * len(sizes) > _MAX_BOXES_PER_POINT:
        raise NoKernel(
            "prior_box: it is unspecified how to handle fixed sizes without a density of 1 or more, or this many "
            "of them"
        )
    if max(sizes.max(), 0) > _MAX_BOXES_PER_POINT:
        raise NoKernel("prior_box: the fixed sizes are too large for integers")
    for size, density in zip(sizes.tolist(), densities.tolist(), strict=False):
        shapes = [_half_sizes(size, float(np.float32(ratio))) for ratio in (fixed or ratios)]
        if not fixed:
            shapes.insert(0, (int(size) * 0.5,) * 2)
        spacing = int(size / density)
        places = [cell_index * spacing + spacing / 2 - int(size) // 2 for cell_index in range(int(density))]
        for width_ratio, high in memory.within_time_limit(shapes):
            yield from (_Box(width_ratio, high, x, y, cut=True, has_size=size % 2 == 0) for y in places for x in places)


def _iterate_boxes(
    sizes: NDArray[Any], larger: NDArray[Any], ratios: Sequence[float], *, most_first: bool, repeated: bool
) -> Iterator[_Box]:
    """Yield boxes of sizes and ratios.

    Without `repeated`, boxes of ratios are yielded once, after the last size.
    """
    if len(sizes) * (len(ratios) + 1) > _MAX_BOXES_PER_POINT:
        raise InputError("prior_box: too many sizes or aspect ratios")
    for size_index, size in enumerate(sizes.tolist()):
        yield _Box(size / 2, size / 2)
        means = [float(np.sqrt(size * larger[size_index])) / 2] if size_index < len(larger) else []
        shaped_boxes = [_half_sizes(size if repeated else float(sizes[0]), ratio) for ratio in ratios]
        of_means, of_ratios = [_Box(half, half) for half in means], [_Box(*shape) for shape in shaped_boxes]
        if not repeated and size_index < len(sizes) - 1:
            of_ratios = []
        yield from of_means + of_ratios if most_first else of_ratios + of_means


def _place_boxes(
    x: NDArray[Any],
    y: NDArray[Any],
    boxes: Sequence[_Box],
    image: tuple[int, int],
    variances: Sequence[float],
    *,
    clip: bool,
    dtype: Any,
) -> NDArray[Any]:
    """Return the boxes at all points as fractions of the image, and variances.

    Points are in row-major order.
    """
    if len(variances) not in {0, 1, 4}:
        raise InputError(f"expected zero, one or four variances, found {len(variances)}")
    result = memory.empty((2, 4 * len(x) * len(y) * len(boxes)), np.dtype(dtype))
    memory.check_budget((len(x) * len(y) * len(boxes), 8), np.dtype(np.float64))  # working memory
    parts = np.array([box[:4] for box in boxes], np.float64).reshape(-1, 4)
    cut = np.array([box.cut for box in boxes], np.bool_)
    x_coordinates, y_coordinates = x[None, :, None] + parts[:, 2], y[:, None, None] + parts[:, 3]
    array = np.empty((len(y), len(x), len(boxes), 4))
    with memory.ignore_warnings():
        for axis_index, (places, half, size) in enumerate(
            [(x_coordinates, parts[:, 0], image[1]), (y_coordinates, parts[:, 1], image[0])]
        ):
            for corner, ends in ((axis_index, places - half), (axis_index + 2, places + half)):
                shares = ends / np.float64(size)
                known_array = np.minimum(shares, 1) if corner > 1 else np.maximum(shares, 0)
                array[..., corner] = np.where(cut, known_array, shares)
    result[0] = round_to(np.clip(array, 0, 1) if clip else array, result.dtype).reshape(-1)
    variance_array = round_to(np.array(variances or [_VARIANCE], np.float32).astype(np.float64), result.dtype)
    result[1].reshape(-1, len(variance_array))[...] = variance_array
    unknown = np.array([not box.has_size for box in boxes], np.bool_)
    if not unknown.any():
        return result
    mask = np.zeros((2, *array.shape), np.bool_)
    mask[0] = unknown[:, None]
    return np.ma.MaskedArray(result, mask=mask.reshape(result.shape))


#: The maximum log of a side's growth, as in the original detectors.
_MAX_GROWTH: Final = log(1000 / 16)


class _Choice(NamedTuple):
    """Settings for the choice of proposals.

    before, behind: number of top scores before suppression, and number of results. overlap, eta: of suppression, see
    `Limits`. least: minimum side length, of x and of y. more: added to the difference of a side's ends. first: drop
    short boxes before the top scores are chosen, otherwise after. zeroed: instead, short boxes get the score 0.
    between: added to sides in suppression; default `more`.
    """

    before: int
    behind: int
    overlap: float
    least: tuple[float, float]
    more: float = 0.0
    eta: float = 1.0
    first: bool = True
    zeroed: bool = False
    between: float | None = None


def generate_proposals(
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
    scale_least: bool = False,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return corners, scores and counts of the proposals of all images.

    Corners are [n, 4], scores [n]. sizes: height, width and scales of each image [images, 3 or 4]. anchors: [height,
    width, anchors, 4] by corners. offsets: [images, anchors * 4, height, width], of the center and of log sides.
    scores: [images, anchors, height, width]. min_size: minimum side length. overlap, eta: IoU threshold, and the factor
    that it is multiplied by after each proposal while it is above 0.5. before, behind: number of top scores before
    suppression and number of results, per image. normalized: otherwise a side counts one more. int32_counts: counts are
    int32. scale_least: min_size is multiplied by the scales of the image.
    """
    if anchors.ndim != 4 or scores.ndim != 4 or sizes.ndim != 2 or sizes.shape[1] not in {3, 4}:
        raise InputError("generate_proposals: expected image sizes, and 4-D anchors and scores")
    require_shape("generate_proposals", "sizes", sizes.shape, (len(scores), sizes.shape[1]))
    require_shape("generate_proposals", "anchors", anchors.shape, (*anchors.shape[:3], 4))
    require_shape("generate_proposals", "offsets", offsets.shape, (len(scores), *offsets.shape[1:]))
    to_type, side_offset = precision_of(anchors, scores), 0.0 if normalized else 1.0
    choice = _Choice(before, behind, overlap, (min_size, min_size), side_offset, eta, first=False)
    arrays = []
    for image in memory.within_time_limit(range(len(scores))):
        moved_boxes, array = _in_order("generate_proposals", anchors.shape[:3], offsets[image], scores[image], to_type)
        boxes = _moved_anchors(
            anchors.astype(to_type).reshape(-1, 4),
            moved_boxes,
            side_offset=side_offset,
            far_offset=side_offset,
            size_limit=_MAX_GROWTH,
        )
        if scale_least:
            least = [float(to_type(min_size) * scale) for scale in sizes[image].astype(to_type)[[-1, 2]]]
            choice = choice._replace(least=(least[0], least[1]))
        arrays.append(_select_proposals(_clip_boxes(boxes, sizes[image].astype(to_type), side_offset), array, choice))
    number = memory.empty((len(scores),), np.dtype(np.int32 if int32_counts else np.int64))
    number[...] = [len(left) for _, left in arrays]
    total = int(number.sum())
    corners, kept_scores = memory.empty((total, 4), scores.dtype), memory.empty((total,), scores.dtype)
    with memory.ignore_warnings():
        corners[...] = np.concatenate([np.zeros((0, 4), to_type), *(boxes for boxes, _ in arrays)])
        kept_scores[...] = np.concatenate([np.zeros(0, to_type), *(left for _, left in arrays)])
    return corners, kept_scores, number


def generate_proposals_single_image(
    size: NDArray[Any],
    anchors: NDArray[Any],
    offsets: NDArray[Any],
    scores: NDArray[Any],
    *,
    min_size: float,
    overlap: float,
    before: int,
    behind: int,
    zero_short: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return corners [behind, 4] and scores [behind] of one image's proposals.

    Unused rows are 0. size: height, width and scale. anchors: [height * width * anchors, 4] by corners. offsets:
    [anchors * 4, height, width], scores: [anchors, height, width]. A side counts one more than the difference of its
    ends. Otherwise as `generate_proposals`, but short boxes are dropped before the top scores are chosen.
    zero_short: they get the score 0 instead, and sides count as they are in suppression.
    """
    require_shape("generate_proposals_single_image", "the size of the image", size.shape, (3,))
    if anchors.ndim != 2 or scores.ndim != 3:
        raise InputError("generate_proposals_single_image: expected a list of anchors and 3-D scores")
    if behind < 0:
        raise InputError(f"generate_proposals_single_image: expected at least 0 regions, found {behind}")
    to_type = precision_of(anchors, scores)
    anchor_count, height, width = scores.shape
    moved_boxes, known_array = _in_order(
        "generate_proposals_single_image", (height, width, anchor_count), offsets, scores, to_type
    )
    require_shape("generate_proposals_single_image", "anchors", anchors.shape, (scores.size, 4))
    boxes = _clip_boxes(
        _moved_anchors(anchors.astype(to_type), moved_boxes, side_offset=1.0, far_offset=1.0, size_limit=_MAX_GROWTH),
        size.astype(to_type),
        1.0,
    )
    choice = _Choice(before, behind, overlap, (min_size, min_size), 1.0, zeroed=zero_short)
    array, left = _select_proposals(boxes, known_array, choice._replace(between=0.0) if zero_short else choice)
    corners, kept_scores = memory.empty((behind, 4), scores.dtype), memory.empty((behind,), scores.dtype)
    corners[...], kept_scores[...] = 0, 0
    with memory.ignore_warnings():
        corners[: len(left)], kept_scores[: len(left)] = array, left
    return corners, kept_scores


def proposal(
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
    zero_short: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return batch and corners of proposals, and their scores.

    Shapes: [batches * behind, 5] and [batches * behind]. scores: [batches, 2 * anchors, height, width], of which the
    second half is used. offsets: [batches, 4 * anchors, height, width], divided by centre_scale and side_scale. size:
    height, width and one or two scales of the image. Anchors have the area of a square of side `base` in each ratio of
    height to width, at all scales, `step` apart. min_size: of a side, times the image scale. clip_before, clip_behind:
    clip boxes to the image before suppression, or in the result. normalize: divide corners by the image size.
    rows_first: corners are y, x, and anchor sides any numbers, clipped; else x, y and whole numbers, which count one
    more than the difference of their ends. If a batch has too few proposals, a row of batch -1 follows them; the rest
    is masked, and everything is masked if the number of anchors differs. zero_short: boxes with short sides get the
    score 0 instead of being dropped, and the rest of each batch is 0. Then everything is masked without anchors, for a
    height or width of the image that is not positive, and for a scale that is negative or not finite.
    """
    if scores.ndim != 4 or size.shape not in {(3,), (4,)}:
        raise InputError("proposal: expected 4-D scores and three or four numbers per image")
    to_type, side_offset = precision_of(scores, offsets), 0.0 if rows_first else 1.0
    batches, anchor_count, height, width = len(scores), scores.shape[1] // 2, *scores.shape[2:]
    kinds = _anchors(base, ratios, scales, rounded=not rows_first)
    if scores.shape[1] % 2 or offsets.shape != (batches, 4 * anchor_count, height, width):
        raise InputError("proposal: expected two scores and four offsets per anchor")
    corners = memory.empty((batches, behind, 5), scores.dtype)
    kept_scores = memory.empty((batches, behind), scores.dtype)
    corners[...], kept_scores[...] = 0, 0
    if len(kinds) != anchor_count or (zero_short and not (height * width * anchor_count and _is_image(size))):
        # which of the anchors is undocumented, or nothing is written
        return np.ma.MaskedArray(corners.reshape(-1, 5), True), np.ma.MaskedArray(kept_scores.reshape(-1), True)
    memory.check_budget((height * width, anchor_count, 4), np.dtype(to_type))  # working memory
    rows, columns = np.meshgrid(np.arange(height) * step, np.arange(width) * step, indexing="ij")
    first, second = (rows, columns) if rows_first else (columns, rows)
    grid = np.stack([first, second, first, second], axis=-1)[:, :, None].astype(to_type)
    anchors = (grid + (kinds - base / 2 if rows_first else kinds).astype(to_type)).reshape(-1, 4)
    image = size.astype(to_type)
    shortest = [float(to_type(min_size) * scale) for scale in (image[-1], image[2])]
    if rows_first:
        image, shortest = np.concatenate([image[1::-1], image[2:]]), shortest[::-1]
        anchors = _clip_boxes(anchors, image, side_offset)
    parts = np.array([centre_scale, centre_scale, side_scale, side_scale], to_type)
    choice = _Choice(before, behind, overlap, (shortest[0], shortest[1]), side_offset, zeroed=zero_short)
    counts = []
    for batch_index in memory.within_time_limit(range(batches)):
        moved_boxes, array = _in_order(
            "proposal",
            (height, width, anchor_count),
            offsets[batch_index],
            scores[batch_index, anchor_count:],
            to_type,
        )
        boxes = _moved_anchors(anchors, moved_boxes / parts, side_offset=side_offset)
        boxes, left = _select_proposals(_clip_boxes(boxes, image, side_offset) if clip_before else boxes, array, choice)
        boxes = _clip_boxes(boxes, image, side_offset) if clip_behind else boxes
        counts.append(len(left))
        with memory.ignore_warnings():
            corners[batch_index, : len(left), 0], kept_scores[batch_index, : len(left)] = batch_index, left
            corners[batch_index, : len(left), 1:] = boxes / image[[1, 0, 1, 0]] if normalize else boxes
            corners[batch_index, len(left) : len(left) + 1, 0] = -1
    if zero_short:
        return corners.reshape(-1, 5), kept_scores.reshape(-1)
    return _mask_after_end(corners.reshape(-1, 5), kept_scores.reshape(-1), counts, behind)


def _is_image(size: NDArray[Any]) -> bool:
    """Return whether sides are positive normal numbers, and scales finite."""
    sides, scales = size[:2].astype(np.float64), size[2:].astype(np.float64)
    least = np.finfo(np.float32).tiny
    return bool(np.isfinite(size.astype(np.float64)).all() and (sides >= least).all() and (scales >= 0).all())


def _mask_after_end(
    corners: NDArray[Any], kept_scores: NDArray[Any], counts: Sequence[int], count_after: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows with batch -1 after the first short batch, the rest masked."""
    short_batch = next((batch_index for batch_index, count in enumerate(counts) if count < count_after), None)
    if short_batch is None:
        return corners, kept_scores
    end = short_batch * count_after + counts[short_batch]
    mask = np.zeros(corners.shape, np.bool_)
    mask[end:] = True
    mask[end, 0] = False
    return np.ma.MaskedArray(corners, mask), np.ma.MaskedArray(kept_scores, mask[:, 1])


def _anchors(base: int, ratios: Sequence[float], scales: Sequence[float], *, rounded: bool) -> NDArray[Any]:
    """Return anchors [ratios * scales, 4] by corners.

    Centered on the cell at the origin.
    """
    side_offset = 1.0 if rounded else 0.0
    arrays = []
    for ratio in ratios:
        anchor_width = float(np.sqrt(base * base / ratio)) if ratio > 0 else float("nan")
        anchor_width = float(np.floor(anchor_width + 0.5)) if rounded else anchor_width
        anchor_height = float(np.floor(anchor_width * ratio + 0.5)) if rounded else anchor_width * ratio
        for scale in scales:
            half = np.array([anchor_width * scale - side_offset, anchor_height * scale - side_offset]) / 2
            middle = (base - side_offset) / 2
            arrays.append(np.concatenate([middle - half, middle + half]))
    return np.array(arrays).reshape(-1, 4)


def _in_order(
    name: str, places: tuple[int, ...], offsets: NDArray[Any], scores: NDArray[Any], to_type: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return offsets [boxes, 4] and scores [boxes] in anchor order.

    Ordered by row, column and anchor.
    """
    height, width, anchor_count = places
    require_shape(name, "scores", scores.shape, (anchor_count, height, width))
    require_shape(name, "offsets", offsets.shape, (anchor_count * 4, height, width))
    moved_offsets = offsets.astype(to_type).reshape(anchor_count, 4, height, width).transpose(2, 3, 0, 1).reshape(-1, 4)
    return moved_offsets, scores.astype(to_type).transpose(1, 2, 0).reshape(-1)


def _moved_anchors(
    boxes: NDArray[Any],
    offsets: NDArray[Any],
    *,
    side_offset: float,
    far_offset: float = 0.0,
    size_limit: float | None = None,
) -> NDArray[Any]:
    """Return boxes [n, 4] with moved centers and sides.

    far_offset: subtracted from the upper corner.
    """
    to_type = boxes.dtype.type
    sides = boxes[:, 2:] - boxes[:, :2] + to_type(side_offset)
    middles = boxes[:, :2] + to_type(0.5) * sides + offsets[:, :2] * sides
    scaled_offsets = offsets[:, 2:] if size_limit is None else np.minimum(offsets[:, 2:], to_type(size_limit))
    reach = to_type(0.5) * (np.exp(scaled_offsets) * sides)
    return np.concatenate([middles - reach, middles + reach - to_type(far_offset)], axis=-1)


def _clip_boxes(boxes: NDArray[Any], size: NDArray[Any], side_offset: float) -> NDArray[Any]:
    """Return boxes [n, 4] clipped to an image.

    size: starts with its height and width. Coordinates that are nan become 0.
    """
    ends = (size[[1, 0, 1, 0]] - boxes.dtype.type(side_offset)).astype(boxes.dtype)
    result: NDArray[Any] = np.fmax(np.where(ends < boxes, ends, boxes), boxes.dtype.type(0))
    return result


def _select_proposals(boxes: NDArray[Any], scores: NDArray[Any], choice: _Choice) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the proposals [n, 4] and their scores, in descending order."""
    to_type = boxes.dtype.type
    sides = boxes[:, 2:] - boxes[:, :2] + to_type(choice.more)
    long = (sides >= np.array(choice.least, boxes.dtype)).all(axis=1)
    if choice.zeroed:
        scores, long = scores * long, np.ones_like(long)
    order = order_by_score(scores)
    order = order[long[order]][: choice.before] if choice.first else order[: choice.before]
    order = order[long[order] & (choice.zeroed | ~np.isnan(scores[order]))]
    limits = Limits(choice.behind, choice.overlap, -np.inf, eta=choice.eta)
    corners, left = boxes[order], scores[order]
    side_offset = choice.more if choice.between is None else choice.between
    places, selected_scores = select_with_suppression(left, limits, OverlapFunction(corners, more=side_offset))
    return corners[places], selected_scores


def region_yolo(
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
    """Return activated predictions, as in OpenVINO RegionYolo.

    data: [batch, regions * (coordinates + 1 + classes), rows, columns]. Of each region the first two coordinates and
    the score go through sigmoid, the other coordinates stay, and classes go through softmax; dimensions `first` to
    `last` are flattened. Without exclusive, classes go through sigmoid as well, `mask` has one entry per region, and
    dimensions stay. Raises NoKernel for other channel counts and for fewer than two coordinates.
    """
    if data.ndim != 4:
        raise InputError("region_yolo: expected a 4-D input")
    count = regions if exclusive else len(mask)
    batch, channels, rows, columns = data.shape
    if coordinates < 2 or classes < 0 or count < 0 or channels != count * (coordinates + 1 + classes):
        raise NoKernel(
            f"region_yolo: it is unspecified what {channels} channels mean for {count} regions of "
            f"{coordinates} "
            f"coordinates and {classes} classes"
        )
    memory.check_budget(data.shape, np.dtype(np.float64))
    result = to_float64(data).reshape(batch, count, coordinates + 1 + classes, rows, columns).copy()
    with memory.ignore_warnings():
        scored = slice(coordinates, coordinates + 1 if exclusive else None)
        for part in (slice(2), scored):
            result[:, :, part] = 1 / (1 + np.exp(-result[:, :, part]))
        if exclusive and classes:
            class_scores = result[:, :, coordinates + 1 :]
            class_scores -= class_scores.max(2, keepdims=True)
            np.exp(class_scores, out=class_scores)
            class_scores /= class_scores.sum(2, keepdims=True)
    array = round_to(result, data.dtype).reshape(data.shape)
    if not exclusive:
        return array
    for axis in (first, last):
        check_axis(axis, 4, "region_yolo")
    if first > last:
        raise InputError(f"region_yolo: expected axis <= end_axis, found {first} and {last}")
    return array.reshape(*data.shape[:first], prod(data.shape[first : last + 1]), *data.shape[last + 1 :])


def reorg_yolo(data: NDArray[Any], *, block: int) -> NDArray[Any]:
    """Return space to depth in Darknet's element order (OpenVINO ReorgYolo).

    The result is [batch, channels * block * block, rows / block, columns / block]. data [batch, channels, rows,
    columns] is read as channels / block / block planes of `block` times the rows and columns; positions within a block
    become channels, the original channels varying fastest, and the elements are reshaped to the output's shape. Raises
    NoKernel where block * block does not divide the channels.
    """
    if data.ndim != 4 or block < 1 or data.shape[2] % block or data.shape[3] % block:
        raise InputError(f"reorg_yolo: block size {block} does not divide the spatial dimensions of {list(data.shape)}")
    batch, channels, rows, columns = data.shape
    if channels % (block * block):
        raise NoKernel(f"reorg_yolo: it is unspecified where to store {channels} channels")
    memory.check_budget(data.shape, data.dtype)
    planes = data.reshape(batch, channels // block // block, rows, block, columns, block)
    channels_first = planes.transpose(0, 3, 5, 1, 2, 4)
    return channels_first.reshape(batch, channels * block * block, rows // block, columns // block)


#: The region side that the pyramid's middle level is for, and that level.
_REGION_SIDE, _MIDDLE_LEVEL = 224.0, 2


def prior_grid(
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
    """Return boxes [n, 4] moved to the center of each grid cell.

    The result is [height, width, n, 4], or flat if `flat`. features, image: [1, channels, height, width], of which only
    sizes are used. rows, columns: grid size, that of the features if 0. step_x, step_y: cell size, from the image size
    if 0. With a smaller grid the first elements are filled and the others masked.
    """
    if features.ndim != 4 or image.ndim != 4 or (len(features), len(image)) != (1, 1):
        raise InputError("prior_grid: expected a 4-D feature map and image of batch size 1")
    require_shape("prior_grid", "boxes", boxes.shape, (len(boxes), 4))
    height, width = features.shape[2:]
    to_type = precision_of(boxes)
    grid_rows, grid_columns = rows or height, columns or width
    result = memory.empty((height, width, len(boxes), 4), boxes.dtype)
    result[...] = 0
    if grid_rows > height or grid_columns > width or min(rows, columns) < 0:
        raise InputError(
            f"prior_grid: a {grid_rows} x {grid_columns} grid does not fit in the {height} x {width} feature map"
        )
    if result.size:
        steps = to_type(step_y or image.shape[2] / grid_rows), to_type(step_x or image.shape[3] / grid_columns)
        y, x = (
            (np.arange(count, dtype=to_type) + to_type(0.5)) * step
            for count, step in zip((grid_rows, grid_columns), steps, strict=True)
        )
        moves = np.stack([*np.meshgrid(x, y)] * 2, axis=-1)[:, :, None]
        moved_boxes = round_to(moves + boxes.astype(to_type), boxes.dtype)
        result.reshape(-1)[: moved_boxes.size] = moved_boxes.reshape(-1)
    shape = (-1, 4) if flat else result.shape
    if (grid_rows, grid_columns) == (height, width):
        return result.reshape(shape)
    mask = np.arange(result.size) >= grid_rows * grid_columns * len(boxes) * 4
    return np.ma.MaskedArray(result, mask.reshape(result.shape)).reshape(shape)


def top_k_rois(regions: NDArray[Any], scores: NDArray[Any], *, count: int = 0) -> NDArray[Any]:
    """Return the regions [count, 4] of the top scores, in descending order.

    regions: [n, 4], scores: [n]. Masked: regions of equal scores, unused rows, and everything where a score is nan.
    """
    require_shape("top_k_rois", "regions", regions.shape, (len(regions), 4))
    require_shape("top_k_rois", "scores", scores.shape, regions.shape[:1])
    if count < 0:
        raise InputError(f"top_k_rois: cannot return {count} regions")
    result = memory.empty((count, 4), regions.dtype)
    result[...] = 0
    order = order_by_score(scores.astype(precision_of(scores)))
    array = order[:count]
    result[: len(array)] = regions[array]
    known_array = scores[order]
    is_duplicate = np.zeros(len(order) + 1, np.bool_)
    is_duplicate[1:-1] = known_array[1:] == known_array[:-1]
    is_unfilled = np.ones(count, np.bool_)
    is_unfilled[: len(array)] = (is_duplicate[:-1] | is_duplicate[1:])[: len(array)] | np.isnan(
        known_array.astype(np.float64)
    ).any()
    return (
        np.ma.MaskedArray(result, np.broadcast_to(is_unfilled[:, None], result.shape)) if is_unfilled.any() else result
    )


def detectron_detection_output(
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
    clip_ends: bool = True,
    drop_flat: bool = False,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return corners, classes and scores of the best boxes, without class 0.

    Shapes: [count, 4], [count], [count]. regions: [n, 4] by corners; offsets: [n, classes * 4] of the center and of log
    sides, divided by weights; scores: [n, classes]; image: [1, 3], height, width and scale. A side counts one more than
    the difference of its ends. score_threshold: scores must be above it. overlap: IoU threshold within a class.
    of_class: maximum per class. max_delta_log: bound of the logs. Boxes are ordered by class, or by score where some
    are dropped. Unused rows are masked. clip_ends: clip at the right and lower edges of the image too. drop_flat:
    regions without width or height have no boxes, scores of 0 and corners of 0.
    """
    if scores.ndim != 2 or len(weights) != 4:
        raise InputError("detectron_detection_output: expected 2-D scores and four weights")
    class_count, labels = scores.shape
    for name, array, shape in (("regions", regions, (class_count, 4)), ("offsets", offsets, (class_count, labels * 4))):
        require_shape("detectron_detection_output", name, array.shape, shape)
    require_shape("detectron_detection_output", "the image", image.shape, (1, 3))
    to_type = precision_of(regions, scores)
    known_array = scores.astype(to_type)
    boxes = _refine_boxes(
        regions.astype(to_type),
        offsets.astype(to_type).reshape(class_count, labels, 4),
        to_type(max_delta_log),
        np.array(weights, to_type),
    )
    ends = np.maximum(image.astype(to_type)[0, [1, 0, 1, 0]], to_type(0)) if clip_ends else to_type(np.inf)
    boxes = np.fmax(np.where(ends < boxes, ends, boxes), to_type(0))
    if drop_flat:
        flat = (regions[:, 2:].astype(to_type) - regions[:, :2].astype(to_type) <= 0).any(axis=1)
        boxes[flat], known_array = 0, np.where(flat[:, None], to_type(0), known_array)
    limits = Limits(of_class, overlap, score_threshold, strict=True)
    places: list[int] = []
    kinds: list[int] = []
    for label in memory.within_time_limit(range(1, labels)):
        class_boxes = boxes[:, label]
        matching_array, _ = select_with_suppression(
            known_array[:, label], limits, OverlapFunction(class_boxes, more=1.0)
        )
        places += matching_array.tolist()
        kinds += [label] * len(matching_array)
    selected_places, classes = np.array(places, np.intp), np.array(kinds, np.intp)
    if len(selected_places) > count:
        best_order = order_by_score(known_array[selected_places, classes])[:count]
        selected_places, classes = selected_places[best_order], classes[best_order]
    outputs = (boxes[selected_places, classes], classes, known_array[selected_places, classes])
    types = (regions.dtype, np.dtype(np.int32), scores.dtype)
    return tuple(_fill_rows(part, count, dtype) for part, dtype in zip(outputs, types, strict=True))  # type: ignore[return-value]


def _refine_boxes(regions: NDArray[Any], offsets: NDArray[Any], size_limit: Any, weights: NDArray[Any]) -> NDArray[Any]:
    """Return boxes [n, classes, 4] from regions [n, 4] and offsets."""
    to_type = regions.dtype.type
    sides = regions[:, 2:] - regions[:, :2] + to_type(1)
    middles = (regions[:, :2] + to_type(0.5) * sides)[:, None]
    scaled_offsets = offsets / weights
    reach = to_type(0.5) * np.exp(np.minimum(scaled_offsets[..., 2:], size_limit))
    ends = [
        middles + (scaled_offsets[..., :2] - reach) * sides[:, None],
        middles + (scaled_offsets[..., :2] + reach) * sides[:, None] - to_type(1),
    ]
    return np.concatenate(ends, axis=-1)


def _fill_rows(part: NDArray[Any], count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return `count` rows, the unused ones masked."""
    result = memory.empty((count, *part.shape[1:]), dtype)
    result[...] = 0
    with memory.ignore_warnings():
        result[: len(part)] = part
    if len(part) == count:
        return result
    mask = np.zeros(result.shape, np.bool_)
    mask[len(part) :] = True
    return np.ma.MaskedArray(result, mask)


def roi_feature_extractor(
    regions: NDArray[Any],
    layers: list[NDArray[Any]],
    *,
    size: int,
    samples: int,
    scales: Sequence[float],
    aligned: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return features per region, and the regions sorted by pyramid level.

    Shapes: [regions, channels, size, size] and [regions, 4]. regions: [n, 4] by corners in the image. layers: feature
    maps [1, channels, height, width], from the largest on. scales: image size divided by the size of each level. The
    level follows from the side of a square of the region's area. samples: sampling points per bin and dimension, 0 for
    as many as there are elements. aligned: half-pixel offset. Where the level is undefined, features are masked, and
    the regions' order as well.
    """
    require_shape("roi_feature_extractor", "regions", regions.shape, (len(regions), 4))
    if not layers or any(layer.ndim != 4 or layer.shape[:2] != (1, layers[0].shape[1]) for layer in layers):
        raise InputError(
            "roi_feature_extractor: expected 4-D feature maps of batch size 1 with the same number of channels"
        )
    to_type = precision_of(regions)
    places = regions.astype(to_type)
    sides = places[:, 2:] - places[:, :2]
    level = np.floor(_MIDDLE_LEVEL + np.log2(np.sqrt(sides[:, 0] * sides[:, 1]) / to_type(_REGION_SIDE)))
    is_valid = ~np.isnan(level) & np.isfinite(places).all(axis=1) & (sides > 0).all(axis=1)
    layer_index = np.clip(np.where(is_valid, level, 0), 0, len(layers) - 1).astype(np.intp)
    is_valid &= layer_index < len(scales)
    features = memory.empty((len(regions), layers[0].shape[1], size, size), regions.dtype)
    features[...] = 0
    mask = np.broadcast_to(~is_valid[:, None, None, None], features.shape).copy()
    for index, layer in enumerate(layers):
        rows = np.flatnonzero(is_valid & (layer_index == index))
        if len(rows):
            crops = roi_align(
                layer, regions[rows], np.zeros(len(rows), np.int64), height=size, width=size, samples=samples,
                scale=1.0 / scales[index] if scales[index] else np.nan,
                shift_behind=-0.5 if aligned else 0.0,
            )  # fmt: skip
            features[rows], mask[rows] = np.ma.getdata(crops), np.ma.getmaskarray(crops)
    ordered = regions[np.argsort(layer_index, kind="stable")]
    order_known = np.ma.MaskedArray(ordered, True) if not is_valid.all() else ordered
    return (np.ma.MaskedArray(features, mask) if mask.any() else features), order_known
