"""Read columns as the fields of an operator.

A column's name selects a field, or a member of one. A column holds one value for all rows, or one value per row.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.core import RECORDS, Descriptor, GraphDesc, TensorDesc, format_value
from specgate.descriptors.read import read_dict
from specgate.descriptors.words import number_of_word
from specgate.dialects import package
from specgate.dialects.protocols import Positional
from specgate.errors import InputError
from specgate.rules.columns import EXACT, Words, column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

#: A field, an index of an array, and a member after a dot.
_PATH: Final = re.compile(r"([^.\[\]]+)(?:\[(\d{1,4})\])?(?:\.([^.\[\]]+))?")
#: Kinds of tensor members: integers from 0, or any elements of a constant.
_MEMBERS: Final = {
    "sizes": "uint64[]", "strides": "uint64[]", "size_in_bytes": "uint64", "alignment": "uint64", "flags": "uint64",
    "value": "scalar[]",
}  # fmt: skip
#: Types of fields that hold tensors; attributes may have them, too.
_TENSORS: Final = ("tensor", "tensor-proto", "sparse-tensor-proto", "type-proto")
_NUMBERS: Final = ("uint", "int", "uint64", "int64", "float", "scalar", "bool")
_PLAIN: Final = (str, int, float, np.number, np.bool_)
_MOST_ITEMS: Final = 1024
#: Up to this many words are distinguished without sorting.
_FEW_WORDS: Final = 64


@dataclass(slots=True)
class Leaf:
    """The values of one column.

    data: any value if common to all rows, else an array of numbers, or of the codes of `words`, with the rows first.
    """

    data: Any
    words: Mapping[Any, int] | None = None
    common: bool = False

    def take(self, which: Any) -> Leaf:
        return self if self.common else Leaf(self.data[which], self.words)

    def block(self, which: slice) -> Any:
        """Return rows as a rule's value."""
        if self.common:
            return self.data
        data = self.data[which]
        return self._value(data) if data.ndim == 1 else [*map(self._value, np.ascontiguousarray(data.T))]

    def _value(self, data: NDArray[Any]) -> Any:
        if self.words is None:
            return column(data)
        return Words(data, self.words) if len(self.words) > 1 else next(iter(self.words))

    def rows(self, which: Any) -> list[Any]:
        """Return rows as descriptors hold them."""
        items: list[Any] = [self.data] * len(which) if self.common else self.plain(self.data[which])
        return items

    def plain(self, data: NDArray[Any]) -> Any:
        items = data.tolist()
        if self.words is None:
            return items
        names = {code: word for word, code in self.words.items()}
        if not data.ndim:
            return names[items]
        return [[names[code] for code in item] if isinstance(item, list) else names[item] for item in items]


@dataclass(slots=True)
class Ragged:
    """A column with absent values or lists of different lengths.

    keys: equal for rows of equal structure, None for an absent value. build: returns the leaf of such rows.
    """

    items: Any
    keys: Sequence[Any]
    build: Callable[[list[Any]], Leaf]

    def take(self, which: NDArray[np.intp]) -> Leaf:
        if self.keys[which[0]] is None:
            return Leaf(None, common=True)
        return self.build([self.items[row] for row in which])


#: The columns by field, index in an array (or -1) and member (or "").
Leaves = dict[tuple[str, int, str], Leaf]


def split_rows(leaves: Mapping[tuple[str, int, str], Leaf | Ragged], count: int) -> Iterator[tuple[Any, int, Leaves]]:
    """Yield the rows in groups of equal structure, with their number and columns."""
    ragged = [leaf.keys for leaf in leaves.values() if isinstance(leaf, Ragged)]
    if not ragged:
        yield slice(None), count, leaves  # type: ignore[misc]
    rows_by_keys: dict[tuple[Any, ...], list[int]] = {}
    for row, keys in enumerate(zip(*ragged, strict=True)):
        rows_by_keys.setdefault(keys, []).append(row)
    for which in map(np.array, rows_by_keys.values()):
        yield which, len(which), {path: leaf.take(which) for path, leaf in leaves.items()}


class ColumnReader:
    """Reads the columns of one operator at one or several levels.

    count: the number of rows, None while every column is common to all rows.
    """

    def __init__(self, spec: OperatorSpec, level: str | None) -> None:
        self.spec = spec
        self.infos = spec.fields if level is None else {**spec.fields, **spec.fields_at(level)}
        self.package = package(spec.dialect.name)
        self.ids: dict[Any, int] = {}
        self.count: int | None = None
        self.first = ""

    def read(self, columns: Mapping[str, Any]) -> dict[tuple[str, int, str], Leaf | Ragged]:
        """Return the columns by path; raise InputError."""
        leaves: dict[tuple[str, int, str], Leaf | Ragged] = {}
        for path, raw in columns.items():
            info, place, member = self._locate_column(path)
            value = _without_scalar_arrays(raw)
            if (info.name, place, member) in leaves:
                raise InputError("expected it once", place=path)
            if value is not None:
                leaves[info.name, place, member] = self._leaf(info, place, member, value, path)
        for name, place in dict.fromkeys(path[:2] for path in leaves):
            self._require_members(name, place, [path[2] for path in leaves if path[:2] == (name, place)])
        return dict(sorted(leaves.items(), key=lambda entry: entry[0][:2]))

    def join(self, values: Mapping[tuple[str, int, str], Any]) -> dict[str, Any]:
        """Return fields from the values of their columns; absent ones are left out."""
        parts: dict[tuple[str, int], dict[str, Any]] = {}
        for (name, place, member), value in values.items():
            parts.setdefault((name, place), {})[member] = tuple(value) if member and isinstance(value, list) else value
        fields: dict[str, Any] = {}
        for (name, place), members in parts.items():
            record: Any = RECORDS.get(self.infos[name].type, TensorDesc)
            first = "sizes" if record is TensorDesc else record._fields[0]
            value = members[""] if "" in members else None if members[first] is None else record(**members)
            if value is not None and place < 0:
                fields[name] = value
            elif value is not None:
                fields.setdefault(name, []).append(value)
        return fields

    def _locate_column(self, path: Any) -> tuple[FieldInfo, int, str]:
        """Return the field, the index and the member that a column names."""
        parts = _PATH.fullmatch(path) if isinstance(path, str) else None
        fields = self.infos
        name = parts[1] if parts else ""
        info = fields.get(name) or next((field for field in fields.values() if field.vendor_name == name), None)
        if parts is None or info is None:
            names = list(fields)
            near = difflib.get_close_matches(str(path).partition(".")[0], names, 1)
            hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(names)}"
            raise InputError(f"{format_value(path)} is not a field of {self.spec.name}; {hint}")
        place, member = int(parts[2] or -1), parts[3] or ""
        members = self._members(info)
        array = info.type == "tensor[]"
        if (place >= 0) is not array or (member and member not in members) or place >= _MOST_ITEMS:
            name = f"{info.name}[0]" if array else info.name
            names = [f"{name}.{field}" for field in members] or [name]
            raise InputError(f"{format_value(path)} is not a column of {self.spec.name}; expected {', '.join(names)}")
        return info, place, members.get(member, "")

    def _members(self, info: FieldInfo) -> Mapping[str, str]:
        """Return the members of a field, with their names in descriptors."""
        if info.type in {"tensor", "tensor[]"}:
            return self.package.tensor_words
        record: Any = RECORDS.get(info.type)
        return {} if record is None else {name: name for name in record._fields}

    def _require_members(self, name: str, place: int, members: list[str]) -> None:
        where = name if place < 0 else f"{name}[{place}]"
        if "" in members and len(members) > 1:
            raise InputError(f"{where} is already given", place=where)
        record = self.infos[name].type in RECORDS
        for word, member in self._members(self.infos[name]).items() if "" not in members else ():
            if member not in members and (record or member in {"type", "sizes"}):
                raise InputError(f"expected the column {where}.{word}", place=where)

    def _leaf(self, info: FieldInfo, place: int, member: str, raw: Any, path: str) -> Leaf | Ragged:
        kind, enum = info.type, None
        if member and info.type in RECORDS:
            kind = "uint" if RECORDS[info.type].__annotations__[member] in {int, "int"} else "float"
        elif member:
            kind = _MEMBERS.get(member, "enum:")  # the element type
        elif _is_ready(info, kind if place < 0 else "tensor", raw):
            return Leaf(raw, common=True)
        elif members := self._members(info):
            names = ", ".join(f"{path}.{name}" for name in members)
            raise InputError(f"expected the columns {names}, found {format_value(raw)}", place=path)
        base, many = kind.removesuffix("[]"), kind.endswith("[]")
        if base == "string" or base.startswith("enum:"):
            enum = base.removeprefix("enum:") or None

            def table_word(word: Any) -> Any:
                return str(word) if base == "string" else self.package.table_word(word, enum)

            return self._values(
                raw, partial(word_leaf, table_word=table_word, ids=self.ids, path=path), path, many=many
            )
        if base not in _NUMBERS:
            return self._objects(info, raw, path)
        if info.enum is not None and not member:
            raw = self._enum_numbers(info.enum, raw, path)
        return self._values(raw, lambda items: Leaf(number_column(items, base, path)), path, many=many, kind=kind)

    def _enum_numbers(self, enum: str, raw: Any, path: str) -> Any:
        """Return numbers whose words may be given instead."""
        numbers = self.spec.dialect.numbers(enum)
        try:
            if isinstance(raw, list | tuple):
                return [number_of_word(item, numbers, enum) for item in raw]
            return number_of_word(raw, numbers, enum)
        except ValueError as error:
            raise InputError(str(error), place=path) from None

    def _check_count(self, count: int, path: str) -> None:
        if self.count is None:
            self.count, self.first = count, path
        elif self.count != count:
            raise InputError(f"expected {self.count} rows, as {self.first} has, found {count}", place=path)

    def _values(
        self, raw: Any, convert: Callable[[Any], Leaf], path: str, *, many: bool, kind: str = "words"
    ) -> Leaf | Ragged:
        """Return a column of numbers or words, or of lists of them (many)."""
        noun = "words" if kind == "words" else "numbers"

        def build(items: Any) -> Leaf:
            leaf = convert(items)
            if leaf.data.ndim == many and items is raw:  # common to all rows
                return Leaf(leaf.plain(leaf.data), common=True)
            if leaf.words is not None and not leaf.data.ndim:
                raise InputError(f"expected a list of words, found {format_value(raw)}", place=path)
            if leaf.data.ndim != 1 + many:
                raise InputError(f"expected an array of {1 + many} dimensions, found {leaf.data.ndim}", place=path)
            if items is raw:
                self._check_count(len(leaf.data), path)
            return leaf

        if isinstance(raw, list | tuple) or (isinstance(raw, np.ndarray) and raw.dtype == object):
            lists = many and not all(isinstance(item, str if noun == "words" else _PLAIN) for item in raw)
            for row, item in enumerate(raw if lists else ()):
                if item is not None and not isinstance(item, list | tuple | np.ndarray):
                    raise InputError(f"expected a list of {noun} in row {row}, found {format_value(item)}", place=path)
            keys = [
                None if item is None else len(item) if lists else item.__class__ if kind == "scalar" else 1
                for item in (raw if lists or not many else ())
            ]  # numbers of different classes are not equal to rules
            if None in keys or len(set(keys)) > 1:
                self._check_count(len(raw), path)
                return Ragged(raw, keys, build)
        return build(raw)

    def _objects(self, info: FieldInfo, raw: Any, path: str) -> Leaf | Ragged:
        """Return a column of fused operators, graphs, or tensors in attributes."""
        array = info.type.endswith("[]")
        each = isinstance(raw, list | tuple | np.ndarray)
        if not each or (array and not any(item is None or isinstance(item, list) for item in raw)):
            return Leaf(self._object(info, raw, path), common=True)
        self._check_count(len(raw), path)
        keys = [None if item is None else id(item) for item in raw]
        return Ragged(raw, keys, lambda items: Leaf(self._object(info, items[0], path), common=True))

    def _object(self, info: FieldInfo, raw: Any, path: str) -> Any:
        if _is_ready(info, info.type, raw):
            return raw
        if isinstance(raw, list | tuple) and info.type.endswith("[]"):
            element = replace(info, type=info.type.removesuffix("[]"))
            return [self._object(element, item, path) for item in raw]
        if info.fuses:
            return read_dict(raw, self.spec.dialect.name, path)
        if not isinstance(self.package, Positional):
            raise InputError(f"expected a value of the type {info.type}", place=path)
        try:
            return self.package.attribute_value(info, raw)
        except ValueError as error:
            raise InputError(str(error), place=path) from None


def _without_scalar_arrays(raw: Any) -> Any:
    """Return a column with arrays of 0 dimensions as their values: numpy makes them of single numbers and words."""
    if isinstance(raw, np.ndarray) and not raw.ndim:
        return raw[()]
    if isinstance(raw, list | tuple) and any(isinstance(item, np.ndarray) for item in raw):
        return [item[()] if isinstance(item, np.ndarray) and not item.ndim else item for item in raw]
    return raw


def _is_ready(info: FieldInfo, kind: str, raw: Any) -> bool:
    """Return whether a value needs no conversion for a field of this type."""
    if isinstance(raw, Descriptor):
        return info.fuses
    if isinstance(raw, GraphDesc):
        return kind == "graph"
    if isinstance(raw, TensorDesc):
        return kind in _TENSORS
    return raw.__class__ is RECORDS.get(kind)


def number_column(raw: Any, kind: str, path: str) -> NDArray[Any]:
    """Return numbers as an array of their kind; raise InputError."""
    expected = {"float": "numbers", "scalar": "numbers", "bool": "truth values"}.get(kind, "whole numbers")
    try:
        array = np.asarray(raw)
        if array.dtype.kind in "fO" and not isinstance(raw, np.ndarray):  # numpy converts large integers to floats
            items = np.array(raw, object)
            if any(isinstance(item, int) and abs(item) > EXACT for item in items.flat):
                array = np.array([*map(index, items.flat)], np.uint64).reshape(items.shape)
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


def word_leaf(raw: Any, table_word: Callable[[Any], Any], ids: dict[Any, int], path: str) -> Leaf:
    """Return a column of words.

    raw: an array of texts or numbers, a list, or an object with `codes` and `categories` (pandas). table_word: returns
    a word as tables spell it, raises InputError for an unknown one. ids: the codes of all words of a call, which is
    extended. path: the column's name in messages.
    """
    raw = getattr(raw, "cat", raw)  # of a pandas Series
    if hasattr(raw, "codes") and hasattr(raw, "categories"):
        kinds, which = list(raw.categories), np.asarray(raw.codes)
        if which.size and which.min() < 0:
            raise InputError(f"expected a word in every row, found none in row {int(which.argmin())}", place=path)
    else:
        try:
            array = np.array(raw, object) if isinstance(raw, list | tuple) else np.asarray(raw)
        except ValueError:  # arrays of different shapes
            raise InputError(f"expected words, found {format_value(raw)}", place=path) from None
        kinds, which = _split_distinct(array.ravel(), path)
        which = which.reshape(array.shape)
    numbers = [ids.setdefault(table_word(kind), len(ids)) for kind in kinds]
    codes = np.array(numbers, np.uint8 if len(ids) <= 2**8 else np.int32)[which]
    return Leaf(codes, {word: code for word, code in ids.items() if code in numbers and (codes == code).any()})


def _split_distinct(array: NDArray[Any], path: str) -> tuple[list[Any], NDArray[Any]]:
    """Return the distinct values of an array, and the index per element."""
    if array.dtype.kind == "O":
        for item in array:
            if not isinstance(item, str | int | np.integer) or isinstance(item, bool):
                raise InputError(f"expected words, found {format_value(item)}", place=path)
        indices = {item: place for place, item in enumerate(dict.fromkeys(array))}
        which = np.array([indices[item] for item in array], np.intp)
        return [int(item) if isinstance(item, np.integer) else item for item in indices], which
    if array.dtype.kind not in "iuU":
        raise InputError(f"expected words, found an array of {array.dtype}", place=path)
    if array.dtype.kind != "U" and array.size and array.min() >= 0 and array.max() < _FEW_WORDS:
        return list(range(int(array.max()) + 1)), array
    which, items = np.full(len(array), -1, np.intp), list[Any]()
    while (left := which < 0).any():
        if len(items) == _FEW_WORDS:
            values, which = np.unique(array, return_inverse=True)
            return values.tolist(), which
        which[array == array[left.argmax()]] = len(items)
        items.append(array[left.argmax()].item())
    return items, which
