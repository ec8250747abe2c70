"""What kernels that work element by element share: scale and bias, integers held in their type, equal shapes and types.

FLOAT16 is computed in float32 and rounded once; a function that is not arithmetic is computed in float64 and rounded,
so that a result does not depend on the machine, but for the few that models have most (`of_singles`): those of float32
are computed in it, where that stays within the tables' tolerance with room for what another implementation loses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypedDict

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float32
from specgate.execution.kernels.row_blocks import BLOCK, rows_by, singles_by
from specgate.execution.memory import quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

__all__ = [
    "Broadcast",
    "bits_of",
    "called",
    "cast",
    "held",
    "in_place",
    "paired",
    "prepared",
    "quiet",
    "rounded",
    "unary",
    "undefined",
    "want_float",
    "whole",
]


#: More arrays one iterator of numpy does not take.
_ITERATED: Final = 32
_WIDE: Final = np.dtype(np.float64)


class Broadcast(TypedDict, total=False):
    """How arrays of unlike shapes go together, as `paired` has it; not at all where nothing is said."""

    broadcast: bool
    to_first: bool
    axis: int | None


def called(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel, made to go by its name in the tables."""
    kernel.__name__ = kernel.__qualname__ = name
    return kernel


def cast(x: NDArray[Any], dtype: np.dtype[Any] | None) -> NDArray[Any]:
    """Return an array of another type, bool if None."""
    result: NDArray[Any] = x.astype(dtype or np.bool_, copy=False)
    return result


def rounded(function: Callable[..., NDArray[Any]], *arrays: NDArray[Any]) -> NDArray[Any]:
    """Return a function of floats, computed in float64 and rounded to the type of the first array.

    The function may write into the arrays that it gets.
    """
    first = arrays[0]
    with quiet():
        if first.size <= BLOCK or any(x.shape != first.shape for x in arrays):
            return round_to(function(*(np.array(array, np.float64) for array in arrays)), first.dtype)
        flat = (np.ascontiguousarray(array).reshape(-1) for array in arrays)
        return rows_by(function, *flat, dtype=first.dtype).reshape(first.shape)


def held(x: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers as integers of `dtype`: truncated toward zero, held in its range, nan as 0."""
    limits = np.iinfo(dtype)
    if not is_float(x.dtype):
        low, high = max(limits.min, np.iinfo(x.dtype).min), min(limits.max, np.iinfo(x.dtype).max)
        return cast(np.clip(x, low, high), dtype)
    cut = np.trunc(np.where(np.isnan(x), 0.0, x.astype(np.float64)))
    inside = (cut >= float(limits.min)) & (cut < float(limits.max) + (limits.max <= 2**32))
    result = np.where(inside, cut, 0.0).astype(dtype)
    ends = np.where(cut > 0, np.array(limits.max, dtype), np.array(limits.min, dtype))
    return np.where(inside, result, ends)


def prepared(x: NDArray[Any], scale_bias: tuple[float, float] | None) -> NDArray[Any]:
    """Return what a function is applied to: float32 of FLOAT16, and x * Scale + Bias where there is a scale and bias.

    That is two operations in float32 (float64 for FLOAT64). Integers are converted, and the result is truncated and
    held in the range of their type.
    """
    values = to_float32(x, x.dtype)
    if scale_bias is None:
        return values
    integer = not is_float(x.dtype)
    work = np.dtype(np.float32 if integer else values.dtype)
    scale, bias = (np.asarray(number).astype(work) for number in scale_bias)
    with quiet():
        values = values.astype(work, copy=False) * scale + bias
    return held(values, x.dtype) if integer else values


def want_float(name: str, *arrays: NDArray[Any]) -> None:
    """Raise InputError unless all arrays hold floating-point elements."""
    for array in arrays:
        if not is_float(array.dtype):
            raise InputError(f"{name}: expected floating-point elements, found {array.dtype}")


def whole(name: str, array: NDArray[Any]) -> None:
    """Raise InputError unless an array holds integers."""
    if array.dtype.kind not in "iu":
        raise InputError(f"{name}: expected integers, found {array.dtype}")


def paired(
    name: str,
    *arrays: NDArray[Any],
    broadcast: bool = False,
    to_first: bool = False,
    axis: int | None = None,
    same_type: bool = True,
    repeat: bool = True,
) -> tuple[NDArray[Any], ...]:
    """Return arrays of one shape; raise InputError where shapes or types differ.

    broadcast: repeat them along dimensions of size 1, as numpy does; only shapes that do not go together are refused.
    repeat: otherwise those stay as they are, for functions that repeat them themselves, which takes less time.
    to_first: the first array stays as it is. The others are repeated to its shape: they have one element, or from its
    dimension `axis` on (the last ones if None) its sizes or 1. Raises NoKernel for an axis below 0.
    """
    first = arrays[0]
    one_shape = True
    for array in arrays:
        if same_type and array.dtype != first.dtype:
            raise InputError(f"{name}: expected one type, found {', '.join(str(array.dtype) for array in arrays)}")
        one_shape = one_shape and array.shape == first.shape
    if broadcast and to_first:
        return first, *(_laid_on(name, array, first, axis) for array in arrays[1:])
    if one_shape or (broadcast and not repeat and len(arrays) == 2 and _repeats(*arrays)):
        return arrays
    shapes = [array.shape for array in arrays]
    if not broadcast:
        raise InputError(f"{name}: expected one shape, found {_listed(shapes)}")
    try:
        shape = np.broadcast(*arrays).shape if len(arrays) < _ITERATED else _broadcast_shape(name, shapes)
    except ValueError:
        shape = _broadcast_shape(name, shapes)
    memory.hold(shape, _WIDE)  # refuses what is too large; nothing is touched
    return tuple(np.broadcast_to(array, shape) for array in arrays) if repeat else arrays


def _repeats(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Return whether the last dimensions of one array are all of the other's, which is repeated to the shape of it."""
    one, other = (b.shape, a.shape) if a.ndim < b.ndim else (a.shape, b.shape)
    return one[len(one) - len(other) :] == other


def _listed(shapes: Iterable[tuple[int, ...]]) -> str:
    return " and ".join(str(list(shape)) for shape in shapes)


def _broadcast_shape(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape to which shapes are broadcast, also one that is too large for an array."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise InputError(f"{name}: the shapes {_listed(shapes)} cannot be broadcast") from None


def _laid_on(name: str, array: NDArray[Any], first: NDArray[Any], axis: int | None) -> NDArray[Any]:
    """Return an array repeated to the shape of the first one, from its dimension `axis` on."""
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), first.shape)
    if axis is not None and axis < 0:
        raise NoKernel(f"{name}: what an axis of {axis} means is not said")
    start = first.ndim - array.ndim if axis is None else axis
    behind = first.ndim - array.ndim - start
    among = zip(array.shape, first.shape[max(start, 0) :], strict=False)
    if start < 0 or behind < 0 or any(size not in {1, whole} for size, whole in among):
        raise InputError(
            f"{name}: the shape {list(array.shape)} does not lie in {list(first.shape)} from dimension {start} on"
        )
    return np.broadcast_to(array.reshape(*array.shape, *(1,) * behind), first.shape)


def bits_of(x: NDArray[Any]) -> NDArray[Any]:
    """Return the elements' bits as unsigned integers of their width."""
    return np.asarray(x, order="C").view(f"u{x.dtype.itemsize}")


def undefined(result: NDArray[Any], where: NDArray[Any]) -> NDArray[Any]:
    """Return the result with the elements masked that have no value, if there are any."""
    return np.ma.MaskedArray(result, mask=where) if where.any() else result


def _nearest(function: Callable[[NDArray[Any]], NDArray[Any]], x: NDArray[Any]) -> NDArray[Any]:
    """Return a function of integers, rounded to the nearest ones, halves up; undefined where the type has none."""
    limits = np.iinfo(x.dtype)
    with quiet():
        values = function(x.astype(np.float64))
        low = np.floor(values)
        found = np.where(values - low >= 0.5, low + 1, low)
        fits = (found >= float(limits.min)) & (found < float(limits.max) + (limits.max <= 2**32))
    return undefined(np.where(fits, found, 0.0).astype(x.dtype), ~fits)


def in_place(function: np.ufunc) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return a function of numpy that writes its results over what it gets."""
    return lambda x: np.asarray(function(x, out=x))


def unary(
    name: str,
    function: Callable[[NDArray[Any]], NDArray[Any]],
    *,
    single_steps: bool = False,
    of_singles: Callable[..., Any] | None = None,
    of_integers: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> Callable[..., NDArray[Any]]:
    """Return the kernel of a function of floats, with an optional scale and bias that come first.

    single_steps: `function` is arithmetic, each step is rounded to float32; else it is computed in float64. (One
    that gives the nearest number, as a square root does, is the same in both, and faster in float32.) of_singles: what
    is done with float32 instead, numpy's own or as `singles_by` has it, where that comes near enough. The kernel takes
    integers too if asked to; of_integers: what it does with them, `function` rounded to the nearest if None.
    """
    wide = in_place(function) if isinstance(function, np.ufunc) else function
    simple = of_singles if isinstance(of_singles, np.ufunc) else None

    def kernel(
        x: NDArray[Any], *, scale_bias: tuple[float, float] | None = None, integers: bool = False
    ) -> NDArray[Any]:
        if simple is not None and x.dtype == np.float32 and scale_bias is None:
            with quiet():
                return np.asarray(simple(x))
        if integers and not is_float(x.dtype):
            whole(name, x)
            return _nearest(function, x) if of_integers is None else of_integers(x)
        want_float(name, x)
        values = prepared(x, scale_bias)
        with quiet():
            if of_singles is not None and values.dtype == np.float32:
                found = singles_by(of_singles, values) if simple is None else np.asarray(simple(values))
                return round_to(found, x.dtype)
            return round_to(function(values) if single_steps else rounded(wide, values), x.dtype)

    return called(name, kernel)
