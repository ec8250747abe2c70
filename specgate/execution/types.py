"""numpy types of element types, and memory layouts from strides."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from specgate.spec.dialect_spec import Dialect

#: ml_dtypes names of integers that numpy does not treat as numbers and np.iinfo does not support.
_NARROW_INTEGER: Final = re.compile(r"(u?)int([1-7])")


def numpy_type(dialect: Dialect, name: str) -> np.dtype[Any]:
    """Return the numpy type of an element type.

    Raises NoKernel where neither numpy nor ml_dtypes has one.
    """
    dtype: np.dtype[Any]
    if name not in dialect.types:
        raise NoKernel(f"{name} is not an element type")
    spelled = dialect.types[name].get("numpy")
    if spelled:
        return np.dtype(spelled)
    extended = dialect.types[name].get("ml_dtypes")
    if extended is None:
        raise NoKernel(f"{name} has no numpy type, so it cannot be executed")
    try:
        import ml_dtypes

        dtype = np.dtype(getattr(ml_dtypes, extended))
    except ImportError:
        raise NoKernel(f"{name} requires ml_dtypes: pip install 'specgate-ml[dtypes]'") from None
    except AttributeError:
        raise NoKernel(f"{name} requires a newer ml_dtypes: pip install -U ml-dtypes") from None
    return dtype


def is_narrow(dialect: Dialect, name: str) -> bool:
    """Return whether an element type is narrow.

    Narrow types have at most 8 bits and an ml_dtypes type. Such types store weights.
    """
    return dialect.types[name].get("ml_dtypes") is not None and (dialect.bits.get(name) or 64) <= 8


def integer_range(dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """Return the minimum and maximum of an integer type, None for others.

    ml_dtypes integers are included.
    """
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    narrow = _NARROW_INTEGER.fullmatch(dtype.name)
    if narrow is None:
        return None
    bits = int(narrow[2])
    return (0, 2**bits - 1) if narrow[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def as_array(value: Any, dtype: np.dtype[Any], shape: tuple[int, ...] | None, place: str) -> NDArray[Any]:
    """Return `value` as an array of exactly `dtype` and `shape`.

    Raises InputError for another type, range or shape. Python numbers are converted when they fit; arrays must already
    have the type. For integers of less than 8 bits, which numpy lacks, arrays of other integers are accepted if their
    elements fit.
    """
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "UST" and dtype.kind == "O":
        value = np.asarray(value).astype(object)
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind in "iu" and dtype.kind == "V" and integer_range(dtype) is not None:
            array = _check_narrow(array, dtype, place)
        if array.dtype != dtype:
            raise InputError(f"expected elements of type {dtype}, found {array.dtype}", place=place)
    else:
        array = _from_python(value, dtype, place)
    if dtype.kind == "O":
        array = _texts(array, place)
    if shape is not None and array.shape != shape:
        raise InputError(f"expected the shape {list(shape)}, found {list(array.shape)}", place=place)
    return array


def _from_python(value: Any, dtype: np.dtype[Any], place: str) -> NDArray[Any]:
    try:
        ends = integer_range(dtype)
        if ends is not None:
            exact = np.asarray(value, dtype=object)
            if not all(isinstance(x, int | np.integer) and ends[0] <= x <= ends[1] for x in exact.reshape(-1)):
                raise InputError(f"expected integers from {ends[0]} to {ends[1]}", place=place)
            return exact.astype(np.int64 if dtype.kind == "V" else dtype).astype(dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(value, dtype=dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"cannot be read as {dtype}: {error}", place=place) from None


def _texts(array: NDArray[Any], place: str) -> NDArray[Any]:
    """Return an array of strings with bytes decoded.

    Raises InputError for elements that are not strings.
    """
    flat = array.reshape(-1).tolist()
    if all(type(text) is str for text in flat):
        return array
    matching_array = np.empty(len(flat), object)
    for index, text in enumerate(flat):
        try:
            matching_array[index] = text.decode() if isinstance(text, bytes) else text
        except UnicodeDecodeError:
            raise InputError(f"expected UTF-8 strings, found {text!r:.40}", place=place) from None
        if not isinstance(matching_array[index], str):
            raise InputError(f"expected strings, found {text!r:.40}", place=place)
    return matching_array.reshape(array.shape)


def _check_narrow(array: NDArray[Any], dtype: np.dtype[Any], place: str) -> NDArray[Any]:
    """Return integers in a narrower type.

    Raises InputError if one does not fit.
    """
    low, high = integer_range(dtype) or (0, 0)
    if array.size and not (low <= int(array.min()) and int(array.max()) <= high):
        raise InputError(f"expected integers from {low} to {high}", place=place)
    return array.astype(np.int8).astype(dtype)


def gather(buffer: NDArray[Any], sizes: Sequence[int], strides: Sequence[int] | None) -> NDArray[Any]:
    """Return the logical array of `sizes` from a flat strided buffer.

    strides: in elements.
    """
    if strides is None:
        count = int(np.prod(sizes, dtype=np.int64))
        return buffer[:count].reshape(tuple(sizes))
    return np.ascontiguousarray(_strided_view(buffer, sizes, strides))


def scatter(array: NDArray[Any], buffer: NDArray[Any], strides: Sequence[int] | None) -> None:
    """Write a logical array into a flat strided buffer; padding is unchanged.

    strides: in elements.
    """
    if strides is None:
        buffer[: array.size] = array.reshape(-1)
    else:
        _strided_view(buffer, array.shape, strides)[...] = array


def _strided_view(buffer: NDArray[Any], sizes: Sequence[int], strides: Sequence[int]) -> NDArray[Any]:
    last = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if last > buffer.size:
        raise InputError(f"the buffer holds {buffer.size} elements, but its strides reach element {last - 1}")
    steps = tuple(stride * buffer.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(buffer, tuple(sizes), steps)
