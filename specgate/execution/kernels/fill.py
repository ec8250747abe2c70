"""Arrays made of numbers alone: constants, sequences, diagonals."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["check_number", "diagonal_matrix", "diagonal_strip", "fill_constant", "fill_sequence", "number"]


def number(value: float, dtype: np.dtype[Any], *, whole: bool = False) -> NDArray[Any]:
    """Return `value` as an array of no dimensions; raise InputError where the type cannot hold it.

    whole: a number that an integer type cannot hold loses its fraction and then wraps around, by way of a signed
    integer of 32 bits, or 64 for UINT32 and wider types; what that cannot hold is its least number.
    """
    if is_float(dtype):
        return round_to(np.asarray(value, np.float64), dtype)
    limits = np.iinfo(dtype)
    if limits.min <= value <= limits.max and value == int(value):
        return np.asarray(int(value), dtype)
    if not whole:
        raise InputError(f"expected a number that {dtype} can hold, found {value}")
    most = 2**63 if dtype.itemsize == 8 or dtype == np.uint32 else 2**31
    wrapped = int(value) if abs(value) < most else -most
    return np.asarray(wrapped, np.int64).astype(dtype)


def check_number(name: str, dtype: np.dtype[Any], *, same_type: bool) -> None:
    """Raise InputError unless a number is declared to be of the type of the array that it goes into."""
    if not same_type:
        raise InputError(f"{name}: expected a number of the type of the output, {dtype}")


def fill_constant(
    *, sizes: Sequence[int], value: float, output_type: np.dtype[Any], same_type: bool = True
) -> NDArray[Any]:
    """Return an array full of `value`. same_type: whether the number is declared to be of the array's type."""
    check_number("fill", output_type, same_type=same_type)
    result = memory.empty(shape_of("fill", sizes), output_type)
    result[...] = number(value, output_type)
    return result


def fill_sequence(
    *, sizes: Sequence[int], start: float, delta: float, output_type: np.dtype[Any], same_type: bool = True
) -> NDArray[Any]:
    """Return an array whose elements, in row-major order, go from `start` in steps of `delta`; integers wrap around.

    same_type: whether the numbers are declared to be of the array's type.
    """
    check_number("fill", output_type, same_type=same_type)
    result = memory.empty(shape_of("fill", sizes), output_type)
    steps = np.arange(prod(result.shape), dtype=np.int64)
    with memory.quiet():
        first, step = number(start, output_type), number(delta, output_type)
        if is_float(output_type):
            made = round_to(first.astype(np.float64) + steps * step.astype(np.float64), output_type)
        else:
            made = first + steps.astype(output_type) * step
    result[...] = made.reshape(result.shape)
    return result


def diagonal_matrix(*, sizes: Sequence[int], value: float, offset: int, output_type: np.dtype[Any]) -> NDArray[Any]:
    """Return matrices, in the last two dimensions, with `value` on one diagonal: `offset` right of the main one.

    value: a FLOAT, which other types convert as `number` does.
    """
    result = memory.empty(shape_of("diagonal", sizes), output_type)
    with memory.quiet():
        single = float(np.float32(value))
    result[...] = np.where(_differences(result.shape) == offset, number(single, output_type, whole=True), 0)
    return result


def diagonal_strip(
    inputs: NDArray[Any] | None = None,
    *,
    sizes: Sequence[int],
    value: float,
    begin: int,
    end: int,
    output_type: np.dtype[Any],
    same_type: bool = True,
) -> NDArray[Any]:
    """Return `inputs` (zeros if None) with `value` on the diagonals from `begin` to before `end`.

    They are in the last two dimensions, and numbered column - row. end < begin: on all but those from `end` to before
    `begin`. same_type: whether the number is declared to be of the result's type, which the input has too.
    """
    check_number("diagonal", output_type, same_type=same_type)
    shape = shape_of("diagonal", sizes)
    if inputs is not None:
        require_shape(
            "diagonal", f"an input of {output_type}", inputs.shape if inputs.dtype == output_type else (), shape
        )
    result = memory.empty(shape, output_type)
    at = _differences(shape)
    strip = (begin <= at) & (at < end) if begin <= end else (begin <= at) | (at < end)
    result[...] = np.where(strip, number(value, output_type), 0 if inputs is None else inputs)
    return result


def _differences(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Column - row of the last two dimensions; a single dimension is one row."""
    rows, columns = (1, *shape)[-2:]
    found = np.arange(columns) - np.arange(rows)[:, np.newaxis]
    return found if len(shape) > 1 else found[0]
