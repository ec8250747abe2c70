"""Columns of numbers, as arrays that represent the kind exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.descriptors.core import shown
from specgate.errors import InputError
from specgate.rules.column_values import EXACT

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["number_column"]


def number_column(raw: Any, kind: str, path: str) -> NDArray[Any]:
    """Return numbers as an array of their kind; raise InputError."""
    expected = {"float": "numbers", "scalar": "numbers", "bool": "truth values"}.get(kind, "whole numbers")
    try:
        array = np.asarray(raw)
        if array.dtype.kind in "fO" and not isinstance(raw, np.ndarray) and _has_large(raw):
            array = np.array(raw, np.uint64)  # numpy would have converted them to floats
    except (ValueError, OverflowError, TypeError):
        raise InputError(f"expected {expected}, found {shown(raw)}", place=path) from None
    if not array.size:
        return array.astype(np.float64 if kind == "float" else np.bool_ if kind == "bool" else np.int64)
    kinds = {"float": "iuf", "scalar": "biuf", "bool": "biu"}.get(kind, "iu")
    if array.dtype.kind not in kinds or array.dtype.itemsize > 8:
        raise InputError(f"expected {expected}, found an array of {array.dtype}", place=path)
    if kind == "float" or array.dtype.kind == "f":
        return array.astype(np.float64, copy=False)
    if kind == "bool":
        if array.dtype.kind != "b" and not np.isin(array, (0, 1)).all():
            raise InputError("expected truth values, found other numbers than 0 and 1", place=path)
        return array.astype(np.bool_, copy=False)
    if kind in {"uint", "uint64"} and array.dtype.kind == "i" and array.min() < 0:
        row = int(np.argwhere(array < 0)[0][0]) if array.ndim else 0
        raise InputError(f"expected whole numbers from 0 on, found {int(array.min())}, in row {row}", place=path)
    return array


def _has_large(raw: Any) -> bool:
    """Return whether there are integers that float64 cannot represent.

    Raises TypeError where they are mixed with other numbers.
    """
    items = list(np.array(raw, object).flat)
    if not any(isinstance(item, int) and abs(item) > EXACT for item in items):
        return False
    if not all(item.__class__ is int for item in items):
        raise TypeError
    return True
