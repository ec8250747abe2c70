"""Columns of words: text, a vendor's numbers or categories, as a small number for each row."""

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

#: Numbers of words are looked up in a table of at most so many entries.
_TABLE: Final = 64
#: Texts of up to so many kinds are told apart one kind after the other.
_KINDS: Final = 64
_EIGHT: Final = 8


def word_column(raw: Any, spelt: Callable[[Any], Any], ids: dict[Any, int], place: str) -> Words:
    """Return the words of an array of text or numbers, of a list, or of what has `codes` and `categories` (pandas).

    spelt: gives a word as tables have it, raises InputError for what is none. ids: the numbers of all words of a call,
    which grows. place: of the column in messages.
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
    """Return the values that an array may have, and for each element which of them it is."""
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
    """Tell texts apart by eight bytes at a time: much faster than to sort them."""
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
