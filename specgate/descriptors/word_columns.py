"""Columns of words as small integers.

Words are texts, a vendor's numbers, or categories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.core import shown
from specgate.errors import InputError
from specgate.rules.column_values import Words

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["word_column"]

#: Maximum size of the lookup table for numbers of words.
_TABLE: Final = 64
#: Up to this many distinct texts are found one by one.
_KINDS: Final = 64
_EIGHT: Final = 8


def word_column(raw: Any, spelt: Callable[[Any], Any], ids: dict[Any, int], place: str) -> Words:
    """Return the words of a column.

    A column is an array of texts or numbers, a list, or an object with `codes` and `categories` (pandas). spelt:
    returns a word as tables spell it, raises InputError for an unknown one. ids: the indices of all words of a call,
    which is extended. place: the column's name in messages.
    """
    raw = getattr(raw, "cat", raw)  # of a pandas Series
    if hasattr(raw, "codes") and hasattr(raw, "categories"):
        kinds, which = list(raw.categories), np.asarray(raw.codes)
        if which.size and which.min() < 0:
            raise InputError(f"expected a word in every row, found none in row {int(which.argmin())}", place=place)
    else:
        try:
            array = np.asarray(raw)
        except ValueError:  # lists of different lengths
            raise InputError(f"expected words, found {shown(raw)}", place=place) from None
        kinds, which = _parted(array, place)
        which = which.reshape(array.shape)
    numbers = [ids.setdefault(spelt(kind), len(ids)) for kind in kinds]
    codes = np.array(numbers, np.uint8 if len(ids) <= 2**8 else np.int32).take(which)
    there = {word: number for word, number in ids.items() if number in numbers and (codes == number).any()}
    return Words(codes, there, ids)


def _parted(array: NDArray[Any], place: str) -> tuple[list[Any], NDArray[Any]]:
    """Return the distinct values of an array, and the index per element."""
    if array.dtype.kind in "iu":
        return _numbers(array.ravel())
    if array.dtype.kind == "U":
        return _texts(np.ascontiguousarray(array).ravel())
    if array.dtype.kind != "O":
        raise InputError(f"expected words, found an array of {array.dtype}", place=place)
    known: dict[Any, int] = {}
    for item in array.flat:
        if not isinstance(item, str | int | np.integer) or isinstance(item, bool):
            raise InputError(f"expected words, found {shown(item)}", place=place)
    which = np.fromiter((known.setdefault(item, len(known)) for item in array.flat), np.intp, array.size)
    return [int(item) if isinstance(item, np.integer) else item for item in known], which


def _numbers(array: NDArray[Any]) -> tuple[list[Any], NDArray[Any]]:
    if array.size and array.min() >= 0 and (most := int(array.max())) < _TABLE:
        return list(range(most + 1)), array
    values, which = np.unique(array, return_inverse=True)
    return values.tolist(), which


def _texts(array: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Return distinct texts and indices, comparing eight bytes at a time.

    That is much faster than sorting.
    """
    width = array.dtype.itemsize // 4
    points = array.view(np.uint32).reshape(len(array), width) if width else np.zeros((len(array), 0), np.uint32)
    if not points.size or points.max() >= 2**8:
        values, which = np.unique(array, return_inverse=True)
        return values.tolist(), which
    padded = np.zeros((len(array), -(-width // _EIGHT) * _EIGHT), np.uint8)
    padded[:, :width] = points
    parts = padded.view(np.uint64).T
    which = np.full(len(array), -1, np.intp)
    items: list[Any] = []
    waiting = np.ones(len(array), bool)
    while (first := int(waiting.argmax())) or waiting[0]:
        if len(items) == _KINDS:
            values, which = np.unique(array, return_inverse=True)
            return values.tolist(), which
        same = parts[0] == parts[0][first]
        for part in parts[1:]:
            same &= part == part[first]
        which[same] = len(items)
        items.append(str(array[first]))
        waiting &= ~same
    return items, which
