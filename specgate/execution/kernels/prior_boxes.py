"""Boxes around the points of a grid, as shares of an image, and beside them the variances to decode them with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import round_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["boxes_of_lists", "boxes_of_sizes"]

#: Ratios that lie no farther apart are one.
_SAME: Final = 1e-6
#: The variance where none is given.
_VARIANCE: Final = 0.1
#: More boxes at a point than this are refused before they are listed.
_MANY: Final = 2**20


class _Box(NamedTuple):
    """A box at a point: half its width and height, how far its centre is from the point, whether it is cut off.

    known: whether it is said where it lies.
    """

    wide: float
    high: float
    right: float = 0.0
    down: float = 0.0
    cut: bool = False
    known: bool = True


def boxes_of_sizes(
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
    """Return [2, 4 * boxes] of `dtype`: left, top, right and bottom of the boxes at each point, and their variances.

    grid, image: [2], heights and widths. A point is `step` from the next and the first `offset` of it from the edge; a
    step of 0 spreads points over the image, and they are then in the middle. At each point there are, for each fixed
    size, the square of its density boxes of each ratio, fixed ratios or 1 and `ratios`. For each of `min_sizes` there
    is a square, one of the mean with the size of `max_sizes`, and a box of each ratio; most_first: in this order, else
    ratios before the mean. Not all_sizes: sizes and the step are shares of the image's height, `max_sizes` is ignored,
    and ratios are those of the first size, behind the last. flip: each ratio is there upside down, too. clip: to 0 to
    1.

    Boxes of fixed sizes that are no even number are masked. Raises NoKernel where the number of all these boxes is not
    what is counted from the attributes.
    """
    rows, columns = _whole("grid", grid)
    height, width = _whole("image", image)
    sizes, larger, fixed, dense = (
        np.array(each, np.float32).astype(np.float64) for each in (min_sizes, max_sizes, fixed_sizes, densities)
    )
    if step < 0 or any((each < 0).any() for each in (sizes, larger, fixed)):
        raise InputError("boxes_of_sizes: expected sizes and a step that are not negative")
    if not all_sizes:
        sizes, larger, step = sizes * height, larger[:0], step * height
    different = _different(ratios, flip=flip)
    boxes = list(_fixed(fixed, np.floor(dense), different, fixed_ratios))
    boxes += _of_sizes(sizes, larger, different, most_first=most_first, repeated=all_sizes)
    more = int(sum(min(n, _MANY) ** 2 - 1 for n in np.floor(dense)))
    counted = len(fixed) or (len(sizes) if all_sizes else 1)
    counted = (1 + len(different)) * (counted + (0 if len(fixed_ratios) else more))
    counted += (0 if len(fixed) else len(max_sizes) if all_sizes else len(sizes) - 1) + len(fixed_ratios) * more
    if len(boxes) != counted:
        raise NoKernel(f"boxes_of_sizes: {counted} boxes are counted, but the attributes describe {len(boxes)}")
    with memory.quiet():
        x, y = ((np.arange(n) + offset) * step if step else (np.arange(n) + 0.5) * np.float64(whole) / n
                for n, whole in ((columns, width), (rows, height)))  # fmt: skip
    return _placed(x, y, boxes, (height, width), variances, clip=clip, dtype=dtype)


def boxes_of_lists(
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
    """Return [2, 4 * boxes] of `dtype`: boxes of each width and height at each point of a grid, and their variances.

    As `boxes_of_sizes`. Points are step_across and step_down apart, where both are 0 `step`; if that is 0, too,
    they are spread over the image. Raises NoKernel without an image, and for other numbers of widths and heights.
    """
    rows, columns = _whole("grid", grid)
    if image is None or len(widths) != len(heights):
        raise NoKernel("boxes_of_lists: nothing is said of boxes without an image, or with a width and no height")
    height, width = _whole("image", image)
    if step_across == 0 and step_down == 0:
        step_across = step_down = step
    with memory.quiet():
        if step_across == 0 and step_down == 0:
            step_across, step_down = float(np.float64(width) / columns), float(np.float64(height) / rows)
        x, y = ((np.arange(n) + offset) * apart for n, apart in ((columns, step_across), (rows, step_down)))
    halves = np.array([widths, heights], np.float32).astype(np.float64).T / 2
    return _placed(x, y, [_Box(*each) for each in halves.tolist()], (height, width), variances, clip=clip, dtype=dtype)


def _whole(what: str, sizes: NDArray[Any]) -> tuple[int, int]:
    if sizes.shape != (2,) or sizes.dtype.kind not in "iu" or (what == "grid" and (sizes < 0).any()):
        raise InputError(f"expected the height and the width of the {what}, found {sizes!r:.60}")
    height, width = int(sizes[0]), int(sizes[1])
    if what == "grid":
        memory.hold((height + width, 4), np.dtype(np.float64))
    return height, width


def _different(ratios: Sequence[float], *, flip: bool) -> list[float]:
    """Return the ratios that are new, and not 1, each upside down behind it with `flip`."""
    found = [1.0]
    for ratio in memory.in_time(ratios):
        given = float(np.float32(ratio))
        if all(abs(given - known) >= _SAME for known in found):
            found += [given, 1 / given if given else np.inf] if flip else [given]
        if len(found) > _MANY:
            raise InputError("boxes_of_sizes: too many ratios")
    return found[1:]


def _shaped(size: float, ratio: float) -> tuple[float, float]:
    """Return half the width and half the height of a box of this ratio with the area of a square."""
    with memory.quiet():
        root = np.sqrt(np.float64(ratio))
        return float(size * 0.5 * root), float(np.float64(size * 0.5) / root)


def _fixed(
    sizes: NDArray[Any], densities: NDArray[Any], ratios: Sequence[float], fixed: Sequence[float]
) -> Iterator[_Box]:
    """Yield the boxes of fixed sizes, as many in each direction as the density says.

    They are whole numbers apart. Of sizes that are not even it is not known how they are halved.
    """
    if not len(sizes):
        return
    if len(densities) < len(sizes) or (densities < 1).any() or densities.max() ** 2 * len(sizes) > _MANY:
        raise NoKernel("boxes_of_sizes: nothing is said of fixed sizes without a density of 1 or more, or so many")
    if max(sizes.max(), 0) > _MANY:
        raise NoKernel("boxes_of_sizes: the fixed sizes are too large for integers")
    for size, density in zip(sizes.tolist(), densities.tolist(), strict=False):
        shapes = [_shaped(size, float(np.float32(ratio))) for ratio in (fixed or ratios)]
        if not fixed:
            shapes.insert(0, (int(size) * 0.5,) * 2)
        apart = int(size / density)
        places = [at * apart + apart / 2 - int(size) // 2 for at in range(int(density))]
        for wide, high in memory.in_time(shapes):
            yield from (_Box(wide, high, x, y, cut=True, known=size % 2 == 0) for y in places for x in places)


def _of_sizes(
    sizes: NDArray[Any], larger: NDArray[Any], ratios: Sequence[float], *, most_first: bool, repeated: bool
) -> Iterator[_Box]:
    """Yield the boxes of sizes and ratios; not repeated: those of ratios only once, behind the last size."""
    if len(sizes) * (len(ratios) + 1) > _MANY:
        raise InputError("boxes_of_sizes: too many sizes and ratios")
    for at, size in enumerate(sizes.tolist()):
        yield _Box(size / 2, size / 2)
        means = [float(np.sqrt(size * larger[at])) / 2] if at < len(larger) else []
        shaped = [_shaped(size if repeated else float(sizes[0]), ratio) for ratio in ratios]
        of_means, of_ratios = [_Box(half, half) for half in means], [_Box(*shape) for shape in shaped]
        if not repeated and at < len(sizes) - 1:
            of_ratios = []
        yield from of_means + of_ratios if most_first else of_ratios + of_means


def _placed(
    x: NDArray[Any],
    y: NDArray[Any],
    boxes: Sequence[_Box],
    image: tuple[int, int],
    variances: Sequence[float],
    *,
    clip: bool,
    dtype: Any,
) -> NDArray[Any]:
    """Return the boxes at all points, rows of points first, as shares of the image, and their variances."""
    if len(variances) not in {0, 1, 4}:
        raise InputError(f"expected no variance, one or four, found {len(variances)}")
    result = memory.empty((2, 4 * len(x) * len(y) * len(boxes)), np.dtype(dtype))
    memory.hold((len(x) * len(y) * len(boxes), 8), np.dtype(np.float64))  # what is worked with
    parts = np.array([box[:4] for box in boxes], np.float64).reshape(-1, 4)
    cut = np.array([box.cut for box in boxes], np.bool_)
    across, down = x[None, :, None] + parts[:, 2], y[:, None, None] + parts[:, 3]
    found = np.empty((len(y), len(x), len(boxes), 4))
    with memory.quiet():
        for at, (places, half, size) in enumerate([(across, parts[:, 0], image[1]), (down, parts[:, 1], image[0])]):
            for corner, ends in ((at, places - half), (at + 2, places + half)):
                shares = ends / np.float64(size)
                held = np.minimum(shares, 1) if corner > 1 else np.maximum(shares, 0)
                found[..., corner] = np.where(cut, held, shares)
    result[0] = round_to(np.clip(found, 0, 1) if clip else found, result.dtype).reshape(-1)
    each = round_to(np.array(variances or [_VARIANCE], np.float32).astype(np.float64), result.dtype)
    result[1].reshape(-1, len(each))[...] = each
    unknown = np.array([not box.known for box in boxes], np.bool_)
    if not unknown.any():
        return result
    mask = np.zeros((2, *found.shape), np.bool_)
    mask[0] = unknown[:, None]
    return np.ma.MaskedArray(result, mask=mask.reshape(result.shape))
