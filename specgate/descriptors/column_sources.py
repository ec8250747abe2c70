"""Sources of column values: constants, numbers, words and tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from specgate.descriptors.core import format_value
from specgate.errors import InputError
from specgate.rules.column_values import EXACT, INT64, Words, bounded_column, column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    #: A selection of rows: indices or a slice.
    Which = NDArray[np.intp] | slice

__all__ = [
    "Group", "Listed", "Numbers", "Parts", "Ragged", "Same", "Source", "WordRows", "number_column", "several",
    "word_column",
]  # fmt: skip


def number_column(raw: Any, kind: str, path: str) -> NDArray[Any]:
    """Return numbers as an array of their kind; raise InputError."""
    expected = {"float": "numbers", "scalar": "numbers", "bool": "truth values"}.get(kind, "whole numbers")
    try:
        array = np.asarray(raw)
        if array.dtype.kind in "fO" and not isinstance(raw, np.ndarray) and _has_large(raw):
            array = np.array(raw, np.uint64)  # numpy would have converted them to floats
    except (ValueError, OverflowError, TypeError):
        raise InputError(f"expected {expected}, found {format_value(raw)}", place=path) from None
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
            raise InputError(f"expected words, found {format_value(raw)}", place=place) from None
        kinds, which = _split_distinct(array, place)
        which = which.reshape(array.shape)
    numbers = [ids.setdefault(spelt(kind), len(ids)) for kind in kinds]
    codes = np.array(numbers, np.uint8 if len(ids) <= 2**8 else np.int32).take(which)
    used_numbers = {word: number for word, number in ids.items() if number in numbers and (codes == number).any()}
    return Words(codes, used_numbers, ids)


def _split_distinct(array: NDArray[Any], place: str) -> tuple[list[Any], NDArray[Any]]:
    """Return the distinct values of an array, and the index per element."""
    if array.dtype.kind in "iu":
        return _numbers(array.ravel())
    if array.dtype.kind == "U":
        return _texts(np.ascontiguousarray(array).ravel())
    if array.dtype.kind != "O":
        raise InputError(f"expected words, found an array of {array.dtype}", place=place)
    indices: dict[Any, int] = {}
    for item in array.flat:
        if not isinstance(item, str | int | np.integer) or isinstance(item, bool):
            raise InputError(f"expected words, found {format_value(item)}", place=place)
    which = np.fromiter((indices.setdefault(item, len(indices)) for item in array.flat), np.intp, array.size)
    return [int(item) if isinstance(item, np.integer) else item for item in indices], which


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


_SIGNED: Final = (np.dtype(np.int32), np.dtype(np.int64))


class Source(Protocol):
    """The source of a field's values, or of a part of it."""

    def block(self, which: slice, /) -> Any:
        """Return a block of rows as a rule value."""

    def row(self, number: int, /) -> Any:
        """Return one row as a descriptor holds it."""

    def take(self, which: Which, /) -> Source:
        """Return a source of the selected rows."""


@dataclass(slots=True)
class Same:
    """A value common to all rows."""

    value: Any

    def block(self, _which: slice) -> Any:
        return self.value

    def row(self, _number: int) -> Any:
        return self.value

    def take(self, _which: Which) -> Source:
        return self


@dataclass(slots=True)
class Numbers:
    """Numbers or truth values, one or a list of equal length per row.

    turned: a buffer for a transposed block of lists; it is reused for the next block, because allocating it takes
    longer than filling it.
    """

    data: NDArray[Any]
    turned: NDArray[Any] | None = None

    def block(self, which: slice) -> Any:
        data = self.data[which]
        if data.ndim == 1:
            return _value(data)
        if self.turned is None or self.turned.shape[1] < len(data):
            self.turned = np.empty(data.shape[::-1], data.dtype)
        turned = self.turned[:, : len(data)]
        turned[...] = data.T
        if data.dtype.kind not in "iu" or not data.size:
            return [_value(row) for row in turned]
        turned = _to_signed(turned)
        lows, highs = turned.min(axis=1).tolist(), turned.max(axis=1).tolist()
        return [bounded_column(row, *ends) for row, *ends in zip(turned, lows, highs, strict=True)]

    def row(self, number: int) -> Any:
        return self.data[number].tolist()

    def take(self, which: Which) -> Source:
        return Numbers(self.data[which])


def _value(data: NDArray[Any]) -> Any:
    """Return numbers as a rule value."""
    return column(_to_signed(data) if data.dtype.kind in "iu" else data)


def _to_signed(data: NDArray[Any]) -> NDArray[Any]:
    """Return integers as int32 or int64, or as Python's where too large."""
    if data.dtype in _SIGNED:
        return data
    if data.dtype == np.uint64 and data.max() > INT64[1]:
        return data.astype(object)
    return data.astype(np.int32 if data.dtype.itemsize < 4 else np.int64)


@dataclass(slots=True)
class WordRows:
    """Words, one or a list of equal length per row."""

    words: Words

    def block(self, which: slice) -> Any:
        codes = self.words.codes[which]
        if codes.ndim == 1:
            return self._value(codes)
        return [self._value(row) for row in np.ascontiguousarray(codes.T)]

    def _value(self, codes: NDArray[Any]) -> Any:
        if len(self.words.words) == 1:
            return next(iter(self.words.words))
        return Words(codes, self.words.words, self.words.ids)

    def row(self, number: int) -> Any:
        names = {code: word for word, code in self.words.words.items()}
        result = self.words.codes[number].tolist()
        return [names[code] for code in result] if isinstance(result, list) else names[result]

    def take(self, which: Which) -> Source:
        return WordRows(Words(self.words.codes[which], self.words.words, self.words.ids))


@dataclass(slots=True)
class Parts:
    """A tensor or record built from its members, absent where the first is.

    make: builds it from their values by name.
    """

    make: Callable[..., Any]
    members: Mapping[str, Source]

    def block(self, which: slice) -> Any:
        return self._build({name: member.block(which) for name, member in self.members.items()})

    def row(self, number: int) -> Any:
        return self._build({name: member.row(number) for name, member in self.members.items()})

    def _build(self, values: Mapping[str, Any]) -> Any:
        if values[next(iter(values))] is None:
            return None
        return self.make(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})

    def take(self, which: Which) -> Source:
        return Parts(self.make, {name: member.take(which) for name, member in self.members.items()})


@dataclass(slots=True)
class Listed:
    """An array of the present tensors; absent in rows without any."""

    items: Sequence[Source]

    def block(self, which: slice) -> Any:
        return [value for item in self.items if (value := item.block(which)) is not None] or None

    def row(self, number: int) -> Any:
        return [value for item in self.items if (value := item.row(number)) is not None] or None

    def take(self, which: Which) -> Source:
        return Listed([item.take(which) for item in self.items])


@dataclass(slots=True)
class Ragged:
    """Rows with absent values or lists of different lengths.

    keys: equal for rows of equal structure, None for an absent value. build_rows: returns the source of rows of equal
    structure from their items.
    """

    items: Sequence[Any]
    keys: Sequence[Any]
    build_rows: Callable[[list[Any]], Source]

    def block(self, _which: slice) -> Any:
        raise NotImplementedError  # rows of equal structure are selected first

    def row(self, _number: int) -> Any:
        raise NotImplementedError

    def take(self, which: Which) -> Source:
        numbers = range(len(self.items))[which] if isinstance(which, slice) else which
        if self.keys[numbers[0]] is None:
            return Same(None)
        return self.build_rows([self.items[number] for number in numbers])


@dataclass(slots=True)
class Group:
    """Rows with equal fields, ranks and array lengths.

    which: their indices among all rows. count: their number.
    """

    which: Which
    count: int
    fields: Mapping[str, Source]

    def block(self, which: slice) -> dict[str, Any]:
        return {name: value for name, source in self.fields.items() if (value := source.block(which)) is not None}

    def row(self, number: int) -> dict[str, Any]:
        return {name: value for name, source in self.fields.items() if (value := source.row(number)) is not None}


def several(fields: Mapping[str, Source], count: int) -> list[Group]:
    """Return the rows in groups of equal structure."""
    ragged = [item for source in fields.values() for item in _flatten_ragged(source)]
    if not ragged:
        return [Group(slice(0, count), count, fields)]
    numbers_by_items: dict[tuple[Any, ...], list[int]] = {}
    for number, key in enumerate(zip(*(item.keys for item in ragged), strict=True)):
        numbers_by_items.setdefault(key, []).append(number)
    groups = []
    for numbers in numbers_by_items.values():
        which = np.array(numbers, np.intp)
        groups.append(Group(which, len(which), {name: source.take(which) for name, source in fields.items()}))
    return groups


def _flatten_ragged(source: Source) -> list[Ragged]:
    if isinstance(source, Ragged):
        return [source]
    parts = source.members.values() if isinstance(source, Parts) else source.items if isinstance(source, Listed) else ()
    return [item for part in parts for item in _flatten_ragged(part)]
