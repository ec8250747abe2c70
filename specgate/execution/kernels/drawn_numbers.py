"""Random numbers of a stated generator: MT19937 as `numpy.random.RandomState` has it, whose streams never change.

Its seed is the whole part of the given one modulo 2**32, or 0 where there is none, so that equal calls give equal
numbers. Uniform numbers are `random_sample`, normal ones `standard_normal`, in row-major order.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float64
from specgate.execution.kernels.elementwise import undefined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["draw_classes", "draw_normal", "draw_truths", "draw_uniform", "drop_out"]

_SEEDS: Final = 2**32


def _generator(seed: float | None) -> np.random.RandomState:
    number = int(seed) if seed is not None and isfinite(seed) else 0
    return np.random.RandomState(number % _SEEDS)


def _shape(like: NDArray[Any] | None, shape: Sequence[int] | None) -> tuple[int, ...]:
    sizes = like.shape if like is not None else tuple(shape or ())
    if min(sizes, default=0) < 0:
        raise InputError(f"random: the output would have the shape {list(sizes)!r:.60}")
    return sizes


def _type(like: NDArray[Any] | None, dtype: np.dtype[Any] | None) -> np.dtype[Any]:
    found = dtype if dtype is not None else like.dtype if like is not None else np.dtype(np.float32)
    if not is_float(found):
        raise InputError(f"random: expected a type of floats, found {found}")
    return found


def draw_normal(
    like: NDArray[Any] | None = None,
    *,
    shape: Sequence[int] | None = None,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
    dtype: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return numbers of the normal distribution with a mean and standard deviation, in the shape of `like` or `shape`.

    dtype: their type, that of `like` without. The seed is at the top of the module.
    """
    sizes, kind = _shape(like, shape), _type(like, dtype)
    memory.hold(sizes, np.dtype(np.float64))
    return round_to(np.asarray(_generator(seed).standard_normal(sizes)) * scale + mean, kind)


def draw_uniform(
    like: NDArray[Any] | None = None,
    *,
    shape: Sequence[int] | None = None,
    low: float = 0.0,
    high: float = 1.0,
    seed: float | None = None,
    dtype: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return numbers between two bounds, all as likely; others as `draw_normal`."""
    sizes, kind = _shape(like, shape), _type(like, dtype)
    memory.hold(sizes, np.dtype(np.float64))
    return round_to(np.asarray(_generator(seed).random_sample(sizes)) * (high - low) + low, kind)


def draw_truths(inputs: NDArray[Any], *, seed: float | None = None, dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return 1 with the probability that each element is, else 0. dtype: their type, that of `inputs` without."""
    memory.hold(inputs.shape, np.dtype(np.float64))
    drawn = np.asarray(_generator(seed).random_sample(inputs.shape)) < to_float64(inputs)
    return drawn.astype(inputs.dtype if dtype is None else dtype)


def draw_classes(
    inputs: NDArray[Any], *, count: int = 1, seed: float | None = None, dtype: np.dtype[Any] | None = None
) -> NDArray[Any]:
    """Return `count` numbers of classes for each row of `inputs` [batch, classes], logarithms of their likelihoods.

    A class is the first whose summed probability is above a uniform number. dtype: int32 without. Masked where a row
    has no probabilities.
    """
    if inputs.ndim != 2 or count < 0:
        raise InputError(f"multinomial: expected rows of classes and a number of samples, found {count}")
    shape = (inputs.shape[0], count)
    result = memory.empty(shape, np.dtype(np.int32) if dtype is None else dtype)
    result[...] = 0
    drawn = np.asarray(_generator(seed).random_sample(shape))
    if not inputs.shape[1]:
        return undefined(result, np.ones(shape, np.bool_))
    logs = to_float64(inputs)
    sums = np.exp(logs - logs.max(axis=1, keepdims=True)).cumsum(axis=1)
    for row, (whole, wanted) in enumerate(memory.in_time(zip(sums, drawn, strict=True))):
        found = np.searchsorted(whole / whole[-1], wanted, side="right")
        result[row] = np.minimum(found, inputs.shape[1] - 1)
    return undefined(result, np.broadcast_to(~np.isfinite(sums[:, -1:]), shape))


def drop_out(
    inputs: NDArray[Any],
    ratio: NDArray[Any] | None = None,
    training: NDArray[Any] | None = None,
    *,
    stated_ratio: float = 0.5,
    testing: int = 1,
    boolean: bool = True,
    seed: float | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return `inputs` with elements set to 0 by chance and the others divided by what is left, and which stay.

    ratio: how likely an element goes, `stated_ratio` without. Only where `training` is true, or `testing` 0; otherwise
    all stay. An element stays whose uniform number is not below the ratio. boolean: the second result is of truth
    values, else of the type of `inputs`.
    """
    for array in (ratio, training):
        if array is not None and array.size != 1:
            raise InputError("dropout: expected one ratio, and one truth value for the mode")
    part = float(to_float64(ratio).reshape(())) if ratio is not None else stated_ratio
    dropping = bool(training.reshape(())) if training is not None else not testing
    memory.hold(inputs.shape, np.dtype(np.float64))
    kept = np.ones(inputs.shape, np.bool_)
    result = inputs.copy()
    if dropping and part:
        if not 0 <= part < 1:
            refusal = InputError if ratio is not None else NoKernel  # of an attribute the range is not said
            raise refusal(f"dropout: expected a ratio from 0 to below 1, found {part}")
        kept = np.asarray(_generator(seed).random_sample(inputs.shape)) >= part
        result = round_to(to_float64(inputs) * kept * (1 / (1 - part)), inputs.dtype)
    return result, kept if boolean else kept.astype(inputs.dtype)
