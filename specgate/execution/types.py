"""From a dialect's element types to numpy's, and memory layouts from strides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from specgate.spec.dialect_spec import Dialect

__all__ = ["as_array", "gather", "numpy_type", "scatter"]


def numpy_type(dialect: Dialect, name: str) -> np.dtype[Any]:
    """Return the numpy type that carries elements of `name`; raise NoKernel where numpy (and ml_dtypes) has none."""
    spelled = dialect.types[name].get("numpy")
    if spelled:
        dtype: np.dtype[Any] = np.dtype(spelled)
        return dtype
    try:
        import ml_dtypes
    except ImportError:
        raise NoKernel(f"{name} has no numpy type; install ml_dtypes to execute it") from None
    known = {"BFLOAT16": "bfloat16", "bf16": "bfloat16"}
    if name not in known:
        raise NoKernel(f"{name} has no numpy type here, so it cannot be executed")
    wide: np.dtype[Any] = np.dtype(getattr(ml_dtypes, known[name]))
    return wide


def as_array(value: Any, dtype: np.dtype[Any], shape: tuple[int, ...] | None, place: str) -> NDArray[Any]:
    """Return `value` as an array of exactly `dtype` and `shape`; raise InputError for another type, range or shape.

    Python numbers are converted when they fit; arrays must already have the type.
    """
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "UST" and dtype.kind == "O":
        value = np.asarray(value).astype(object)
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype != dtype:
            raise InputError(f"expected elements of type {dtype}, found {array.dtype}", place=place)
    else:
        array = _from_python(value, dtype, place)
    if shape is not None and array.shape != shape:
        raise InputError(f"expected the shape {list(shape)}, found {list(array.shape)}", place=place)
    return array


def _from_python(value: Any, dtype: np.dtype[Any], place: str) -> NDArray[Any]:
    try:
        if dtype.kind in "iu":
            exact = np.asarray(value, dtype=object)
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            if not all(isinstance(x, int | np.integer) and low <= x <= high for x in exact.reshape(-1)):
                raise InputError(f"expected integers from {low} to {high}", place=place)
            return exact.astype(dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(value, dtype=dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"cannot be read as {dtype}: {error}", place=place) from None


def gather(buffer: NDArray[Any], sizes: Sequence[int], strides: Sequence[int] | None) -> NDArray[Any]:
    """Return the logical array of `sizes` from a flat buffer of elements laid out by `strides` (in elements)."""
    if strides is None:
        count = int(np.prod(sizes, dtype=np.int64))
        return buffer[:count].reshape(tuple(sizes))
    return np.ascontiguousarray(_view(buffer, sizes, strides))


def scatter(array: NDArray[Any], buffer: NDArray[Any], strides: Sequence[int] | None) -> None:
    """Write a logical array into a flat buffer of elements laid out by `strides`; padding keeps what it held."""
    if strides is None:
        buffer[: array.size] = array.reshape(-1)
    else:
        _view(buffer, array.shape, strides)[...] = array


def _view(buffer: NDArray[Any], sizes: Sequence[int], strides: Sequence[int]) -> NDArray[Any]:
    last = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if last > buffer.size:
        raise InputError(f"the buffer holds {buffer.size} elements, but its strides reach element {last - 1}")
    steps = tuple(stride * buffer.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(buffer, tuple(sizes), steps)
