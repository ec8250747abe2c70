"""Normalisation over chosen dimensions, over groups of channels and over neighbourhoods, computed in float64."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, require_shape, round_to
from specgate.execution.kernels.elementwise import want_float
from specgate.execution.kernels.normalize import normalize_batch
from specgate.execution.kernels.row_blocks import blocks_of, centre_rows, rows_by
from specgate.execution.kernels.shapes import integers
from specgate.execution.kernels.single_rows import few_summands, normalize_singles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = [
    "normalize_along", "normalize_channels", "normalize_groups", "normalize_neighbourhoods", "normalize_squares",
    "sum_near",
]  # fmt: skip


#: Powers that square roots make, which are exact but for rounding; they are written over what they are made of, and
#: the second array is there to compute in.
_ROOTS: Final[Mapping[np.float32, Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]]] = {
    np.float32(0.5): lambda base, _: np.sqrt(base, out=base),
    np.float32(0.75): lambda base, room: np.multiply(
        root := np.sqrt(base, out=base), np.sqrt(root, out=room), out=root
    ),
    np.float32(1): lambda base, _: base,
}
#: Summands of a sum in float32, and between what its numbers lie, whose squares it holds.
_FEW: Final = 8
_LOW, _HIGH = 1e-10, 1e18


def _places(inputs: NDArray[Any], axes: NDArray[Any] | Sequence[int]) -> tuple[int, ...]:
    """Return each dimension that axes name once; negative ones count from the end."""
    given = integers("normalization", "axes", np.ravel(axes) if isinstance(axes, np.ndarray) else list(axes))
    found = {axis + inputs.ndim if axis < 0 else axis for axis in given}
    for axis in found:
        check_axis(axis, inputs.ndim, "normalization")
    return tuple(sorted(found))


def normalize_along(
    inputs: NDArray[Any],
    axes: NDArray[Any] | Sequence[int] | None = None,
    *,
    first: int,
    epsilon: float,
    use_variance: bool = True,
    inside: bool = True,
) -> NDArray[Any]:
    """Return `inputs` less their mean along `axes`, divided by the root of the variance plus epsilon.

    axes: the dimensions from `first` on if None. use_variance: whether they are divided at all. inside: epsilon is
    added to the variance, else to its root.
    """
    want_float("normalization", inputs)
    along = _places(inputs, range(first, inputs.ndim) if axes is None else axes)
    if not inputs.size:
        return inputs.copy()
    with memory.quiet():
        wide = inputs.astype(np.float64)
        wide = wide - wide.mean(axis=along, keepdims=True)
        if use_variance:
            variance = np.square(wide).mean(axis=along, keepdims=True)
            added = np.float32(epsilon)
            wide /= np.sqrt(variance + added) if inside else np.sqrt(variance) + added
        return round_to(wide, inputs.dtype)


def normalize_channels(
    inputs: NDArray[Any],
    scale: NDArray[Any],
    bias: NDArray[Any],
    mean: NDArray[Any],
    variance: NDArray[Any],
    *,
    epsilon: float,
) -> NDArray[Any]:
    """Return `inputs` [batch, channel, …] normalised by mean and variance plus epsilon, times scale plus bias.

    The four have a number for each channel.
    """
    want_float("normalization", inputs)
    fits = inputs.ndim >= 2
    return normalize_batch(
        inputs, scale, bias, mean, variance, epsilon=epsilon, momentum=0.0, training=False, fits=fits
    )[0]


def normalize_squares(
    inputs: NDArray[Any], axes: NDArray[Any] | Sequence[int], *, epsilon: float, largest: bool = False
) -> NDArray[Any]:
    """Return `inputs` divided by the root of the sum of their squares along `axes`, plus epsilon before the root.

    largest: the sum is at least epsilon, instead of being added to it.
    """
    want_float("normalization", inputs)
    along = _places(inputs, axes)
    with memory.quiet():
        wide = inputs.astype(np.float64)
        total = np.square(wide).sum(axis=along, keepdims=True)
        least = np.float32(epsilon)
        return round_to(wide / np.sqrt(np.maximum(total, least) if largest else total + least), inputs.dtype)


def normalize_groups(
    inputs: NDArray[Any],
    scale: NDArray[Any],
    bias: NDArray[Any],
    *,
    groups: int,
    epsilon: float,
    per_group: bool | None = None,
) -> NDArray[Any]:
    """Return `inputs` [batch, channel, …] normalised over each group of neighbouring channels, times scale plus bias.

    scale and bias have a number for each channel, or per_group for each group. No channels fall into groups only where
    per_group is stated.
    """
    want_float("normalization", inputs)
    none = inputs.ndim > 1 and not inputs.shape[1] and per_group is None
    if inputs.ndim < 2 or groups < 1 or none or inputs.shape[1] % groups:
        raise InputError(f"normalization: {list(inputs.shape)} has no channels that fall into {groups} groups")
    for what, array in (("a scale", scale), ("a bias", bias)):
        require_shape("normalization", what, array.shape, (groups,) if per_group else inputs.shape[1:2])
    if not inputs.size:
        return inputs.copy()
    if per_group:
        scale, bias = (np.repeat(array, inputs.shape[1] // groups) for array in (scale, bias))
    factor, summand = (array.astype(np.float64).reshape(groups, -1, 1) for array in (scale, bias))

    def scaled(made: NDArray[Any], rows: slice) -> NDArray[Any]:
        each = np.arange(rows.start, rows.stop) % groups
        channels = made.reshape(len(made), factor.shape[1], -1)
        channels *= factor[each].astype(made.dtype)
        channels += summand[each].astype(made.dtype)
        return made

    def of_rows(wide: NDArray[Any], rows: slice) -> NDArray[Any]:
        wide /= centre_rows(wide, epsilon)[1]
        return scaled(wide, rows)

    with memory.quiet():
        flat = inputs.reshape(inputs.shape[0] * groups, -1)
        if inputs.dtype == np.float32 and few_summands(summand):
            return normalize_singles(flat, scaled, of_rows, epsilon=epsilon).reshape(inputs.shape)
        return rows_by(of_rows, flat, dtype=inputs.dtype, places=True).reshape(inputs.shape)


def normalize_neighbourhoods(
    inputs: NDArray[Any],
    axes: NDArray[Any] | Sequence[int],
    *,
    alpha: float,
    beta: float,
    bias: float,
    size: int,
    before: int | None = None,
) -> NDArray[Any]:
    """Return `inputs` / (bias + alpha * squares / size ** len(axes)) ** beta.

    squares: the sum of squares of the elements that lie at most size // 2 places behind along each of `axes`, and as
    many, or `before`, before it.
    """
    want_float("normalization", inputs)
    if size < 1:
        raise InputError(f"normalization: expected a size of at least 1, found {size}")
    along = _places(inputs, axes)
    count = size // 2 if before is None else before, size // 2
    with memory.quiet():
        share = np.float64(np.float32(alpha)) / float(size) ** len(np.ravel(axes))
        if len(along) == 1 and _near_enough(inputs, share, np.float32(beta), np.float32(bias), sum(count)):
            return _divided_by_roots(inputs, along[0], share, np.float32(beta), np.float32(bias), count)
        wide = inputs.astype(np.float64)
        squares = np.square(wide)
        for axis in along:
            squares = sum_near(squares, axis, *count)
        base = np.float64(np.float32(bias)) + share * squares
        return round_to(wide / base ** np.float64(np.float32(beta)), inputs.dtype)


def _near_enough(inputs: NDArray[Any], share: np.float64, beta: np.float32, bias: np.float32, count: int) -> bool:
    """Return whether float32 loses little: of few sums of what is not negative, and powers that are made of roots."""
    held = inputs.dtype == np.float32 and count <= _FEW and beta in _ROOTS and 0 <= share <= 1 and _LOW <= bias <= _HIGH
    return bool(held and inputs.size and inputs.max() <= _HIGH and inputs.min() >= -_HIGH)


def _divided_by_roots(
    inputs: NDArray[Any], axis: int, share: np.float64, beta: np.float32, bias: np.float32, count: tuple[int, int]
) -> NDArray[Any]:
    """Return what `normalize_neighbourhoods` does along one axis in float32, some places at a time."""
    length = inputs.shape[axis]
    values = inputs.reshape(prod(inputs.shape[:axis]), length, -1)
    result = np.empty(values.shape, np.float32)
    room = np.empty((2, 0, 0), np.float32)
    for outer in memory.in_time(range(len(values))):
        for some in blocks_of(values.shape[2], length, 2):
            given, width = values[outer, :, some], some.stop - some.start
            if not some.start and not outer:
                room = np.empty((2, length, width), np.float32)
            squares, base = room[:, :, :width]
            np.square(given, out=squares)
            _add_near(base, squares, *count)
            base *= np.float32(share)
            base += bias
            np.divide(given, _ROOTS[beta](base, squares), out=result[outer, :, some])
    return result.reshape(inputs.shape)


def sum_near(values: NDArray[Any], axis: int, before: int, behind: int) -> NDArray[Any]:
    """Return at each place the sum of what lies at most so many places before and behind it along `axis`."""
    result = memory.empty(values.shape, values.dtype)
    _add_near(np.moveaxis(result, axis, 0), np.moveaxis(values, axis, 0), before, behind)
    return result


def _add_near(into: NDArray[Any], of: NDArray[Any], before: int, behind: int) -> None:
    """Write at each place what `sum_near` sums along the first dimension."""
    alone = slice(-1, None) if behind and len(of) > 1 else slice(None)
    into[alone] = of[alone]
    if alone.start:
        np.add(of[:-1], of[1:], out=into[:-1])  # at once, not a copy to which is added
    for far in memory.in_time(range(1, min(max(before, behind), len(of) - 1) + 1 if of.size else 0)):
        if 1 < far <= behind:
            into[:-far] += of[far:]
        if far <= before:
            into[far:] += of[:-far]
