"""Read columns as the fields of an operator.

A column's name selects the field. A column holds one value for all rows, or one value per row.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.column_sources import (
    Listed,
    Numbers,
    Parts,
    Ragged,
    Same,
    Source,
    WordRows,
    number_column,
    word_column,
)
from specgate.descriptors.core import RECORDS, Descriptor, GraphDesc, TensorDesc, format_value
from specgate.descriptors.read import read_dict
from specgate.descriptors.words import number_of_word
from specgate.dialects import package
from specgate.dialects.protocols import Positional
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["ColumnReader"]

#: A field, an index of an array, and a member after a dot.
_PATH: Final = re.compile(r"([^.\[\]]+)(?:\[(\d{1,4})\])?(?:\.([^.\[\]]+))?")
#: Kinds of tensor members: integers from 0, or any elements of a constant.
_MEMBERS: Final = {
    "sizes": "uint64[]", "strides": "uint64[]", "size_in_bytes": "uint64", "alignment": "uint64", "flags": "uint64",
    "value": "scalar[]",
}  # fmt: skip
#: Types of fields that hold tensors; attributes may have them, too.
_TENSORS: Final = ("tensor", "tensor-proto", "sparse-tensor-proto", "type-proto")
_MOST_ITEMS: Final = 1024


class ColumnReader:
    """Reads the columns of one operator at one or several levels.

    count: the number of rows, None while every column is common to all rows.
    """

    def __init__(self, spec: OperatorSpec, level: str | None) -> None:
        self.spec = spec
        self.infos = spec.fields if level is None else {**spec.fields, **spec.fields_at(level)}
        self.package = package(spec.dialect.name)
        self.words: dict[str, str] = dict(self.package.tensor_words)
        self.ids: dict[Any, int] = {}
        self.count: int | None = None
        self.first = ""

    def fields(self, columns: Mapping[str, Any]) -> dict[str, Source]:
        """Return the source of each field that columns name; raise InputError."""
        entries: dict[str, Any] = {}
        for path, raw in columns.items():
            info, place, member = self._locate_column(path)
            value = _without_scalar_arrays(raw)
            if value is None:
                continue
            if member is None and place is None:
                self._set_source(entries, info.name, self._field(info, value, path), path)
                continue
            many = entries.setdefault(info.name, {})
            if not isinstance(many, dict):
                raise InputError(f"{info.name} is already given", place=path)
            self._set_source(many, (place, member), self._member(info, member, value, path), path)
        return {name: self._join_members(name, parts) for name, parts in entries.items()}

    @staticmethod
    def _set_source(where: dict[Any, Any], key: Any, source: Source, path: str) -> None:
        if where.setdefault(key, source) is not source:
            raise InputError("expected it once", place=path)

    def _locate_column(self, path: Any) -> tuple[FieldInfo, int | None, str | None]:
        """Return the field, the element and the member that a column names."""
        parts = _PATH.fullmatch(path) if isinstance(path, str) else None
        fields = self.infos
        name = parts[1] if parts else ""
        info = fields.get(name) or next((field for field in fields.values() if field.vendor_name == name), None)
        if parts is None or info is None:
            names = list(fields)
            near = difflib.get_close_matches(str(path).partition(".")[0], names, 1)
            hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(names)}"
            raise InputError(f"{format_value(path)} is not a field of {self.spec.name}; {hint}")
        place, member = (None if parts[2] is None else int(parts[2])), parts[3]
        members = self._members(info)
        array = info.type == "tensor[]"
        if (place is not None) is not array or (member is not None and member not in members) or place == _MOST_ITEMS:
            name = f"{info.name}[0]" if array else info.name
            names = [f"{name}.{field}" for field in members] or [name]
            raise InputError(f"{format_value(path)} is not a column of {self.spec.name}; expected {', '.join(names)}")
        return info, place, member

    def _members(self, info: FieldInfo) -> tuple[str, ...]:
        if info.type in {"tensor", "tensor[]"}:
            return tuple(self.words)
        record = RECORDS.get(info.type)
        return () if record is None else tuple(record._fields)  # a NamedTuple

    def _field(self, info: FieldInfo, raw: Any, path: str) -> Source:
        """Return the source of a column that is a whole field."""
        base = info.type.removesuffix("[]")
        if _is_ready(info, raw):
            return Same(raw)
        if info.type in {"tensor", "tensor[]"} or base in RECORDS:
            names = ", ".join(f"{info.name}.{member}" for member in self._members(info))
            raise InputError(f"expected the columns {names}, found {format_value(raw)}", place=path)
        if base == "string" or base.startswith("enum:"):
            to_table_word = (
                str if base == "string" else lambda word: self.package.table_word(word, base.removeprefix("enum:"))
            )
            return self._wordy(raw, to_table_word, path, many=info.type.endswith("[]"))
        if base in {"uint", "int", "uint64", "int64", "float", "scalar", "bool"}:
            return self._numeric(info, raw, path)
        return self._objects(info, raw, path)

    def _member(self, info: FieldInfo, member: str | None, raw: Any, path: str) -> Source:
        if member is None:
            if isinstance(raw, TensorDesc):
                return Same(raw)
            raise InputError(f"expected the columns {path}.{f', {path}.'.join(self.words)}", place=path)
        record = RECORDS.get(info.type)
        if record is not None:
            whole = record.__annotations__[member] in {int, "int"}
            return self._rows(raw, "uint" if whole else "float", path, many=False)
        slot = self.words[member]
        if slot == "type":
            return self._wordy(raw, lambda word: self.package.table_word(word, None), path, many=False)
        kind = _MEMBERS[slot]
        return self._rows(raw, kind.removesuffix("[]"), path, many=kind.endswith("[]"))

    def _join_members(self, name: str, parts: Any) -> Source:
        """Return the source of a field from those of its members."""
        if not isinstance(parts, dict):
            source: Source = parts
            return source
        info = self.infos[name]
        if info.type != "tensor[]":
            return self._combine_parts(name, info, {member: source for (_, member), source in parts.items()})
        places = sorted({place for place, _ in parts})
        items = []
        for place in places:
            mine = {member: source for (at, member), source in parts.items() if at == place}
            items.append(self._combine_parts(f"{name}[{place}]", info, mine))
        return Listed(items)

    def _combine_parts(self, name: str, info: FieldInfo, parts: dict[Any, Source]) -> Source:
        if None in parts:
            if len(parts) > 1:
                raise InputError(f"{name} is already given", place=name)
            return parts[None]
        record = RECORDS.get(info.type)
        needed = [word for word, slot in self.words.items() if slot in {"type", "sizes"}]
        for member in needed if record is None else record._fields:
            if member not in parts:
                raise InputError(f"expected the column {name}.{member}", place=name)
        if record is not None:
            return Parts(record, {member: parts[member] for member in record._fields})
        slots = {self.words[member]: source for member, source in parts.items()}
        return Parts(TensorDesc, {"sizes": slots.pop("sizes"), **slots})

    def _objects(self, info: FieldInfo, raw: Any, path: str) -> Source:
        """Return the source of objects, common to all rows or one per row.

        Objects are fused operators, graphs, and tensors in attributes.
        """
        array = info.type.endswith("[]")
        each = isinstance(raw, list | tuple | np.ndarray) and not (
            array and not any(item is None or isinstance(item, list) for item in raw)
        )
        if not each:
            return Same(self._object(info, raw, path))
        self._check_count(len(raw), path)
        entries = {
            id(item): self._object(info, item, path) for item in {id(i): i for i in raw if i is not None}.values()
        }
        keys = [None if item is None else id(item) for item in raw]
        return Ragged([entries.get(key) if key else None for key in keys], keys, lambda items: Same(items[0]))

    def _object(self, info: FieldInfo, raw: Any, path: str) -> Any:
        if _is_ready(info, raw):
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

    def _numeric(self, info: FieldInfo, raw: Any, path: str) -> Source:
        if info.enum is not None:
            numbers = self.spec.dialect.numbers(info.enum)

            def number(item: Any) -> Any:
                return number_of_word(item, numbers, info.enum or "")

            try:
                raw = [number(i) for i in raw] if isinstance(raw, list | tuple) else number(raw)
            except ValueError as error:
                raise InputError(str(error), place=path) from None
        return self._rows(raw, info.type.removesuffix("[]"), path, many=info.type.endswith("[]"))

    def _check_count(self, count: int, path: str) -> None:
        if self.count is None:
            self.count, self.first = count, path
        elif self.count != count:
            raise InputError(f"expected {self.count} rows, as {self.first} has, found {count}", place=path)

    def _wordy(self, raw: Any, to_table_word: Callable[[Any], Any], path: str, *, many: bool) -> Source:
        """Return the source of words, or of lists of words."""
        if isinstance(raw, str | int | np.integer):
            if many:
                raise InputError(f"expected a list of words, found {format_value(raw)}", place=path)
            return Same(to_table_word(int(raw) if isinstance(raw, np.integer) else raw))
        if many and isinstance(raw, list | tuple) and all(isinstance(item, str) for item in raw):
            return Same([to_table_word(item) for item in raw])
        if isinstance(raw, list | tuple) and (many or any(item is None for item in raw)):
            self._check_count(len(raw), path)
            for row, item in enumerate(raw) if many else ():
                if item is not None and not isinstance(item, list | tuple | np.ndarray):
                    raise InputError(f"expected a list of words in row {row}, found {format_value(item)}", place=path)
            keys = [None if item is None else len(item) if many else 1 for item in raw]
            return Ragged(raw, keys, lambda items: self._read_words(np.array(items, object), to_table_word, path))
        source = self._read_words(raw, to_table_word, path)
        if (number := source.words.codes.ndim) != 1 + int(many):
            raise InputError(f"expected an array of {1 + int(many)} dimensions, found {number}", place=path)
        self._check_count(len(source.words.codes), path)
        return source

    def _read_words(self, raw: Any, to_table_word: Callable[[Any], Any], path: str) -> WordRows:
        return WordRows(word_column(raw, to_table_word, self.ids, path))

    def _rows(self, raw: Any, kind: str, path: str, *, many: bool) -> Source:
        """Return the source of numbers of a kind, or of lists of them."""
        if isinstance(raw, list | tuple) or (isinstance(raw, np.ndarray) and raw.dtype == object):
            if many and not all(isinstance(item, int | float | np.number | np.bool_) for item in raw):
                return self._lists(list(raw), kind, path)
            kinds = {item.__class__ for item in raw} if not many and kind == "scalar" else set()
            if any(item is None for item in raw) or len(kinds) > 1:
                self._check_count(len(raw), path)
                keys = [None if item is None else item.__class__ if kinds else 1 for item in raw]
                return Ragged(list(raw), keys, lambda items: Numbers(number_column(items, kind, path)))
        array = number_column(raw, kind, path)
        if array.ndim == int(many):
            return Same(array.tolist())
        if array.ndim != 1 + int(many):
            raise InputError(f"expected an array of {1 + int(many)} dimensions, found {array.ndim}", place=path)
        self._check_count(len(array), path)
        return Numbers(array)

    def _lists(self, raw: list[Any], kind: str, path: str) -> Source:
        """Return the source of lists of different lengths, or with absent lists."""
        self._check_count(len(raw), path)
        for row, item in enumerate(raw):
            if item is not None and not isinstance(item, list | tuple | np.ndarray):
                raise InputError(f"expected a list of numbers in row {row}, found {format_value(item)}", place=path)
        keys = [None if item is None else len(item) for item in raw]
        if len(set(keys)) == 1 and keys[0] is not None:
            return Numbers(_stack_lists(raw, kind, path))
        return Ragged(raw, keys, lambda items: Numbers(_stack_lists(items, kind, path)))


def _without_scalar_arrays(raw: Any) -> Any:
    """Return a column with arrays of 0 dimensions as their values: numpy makes them of single numbers and words."""
    if isinstance(raw, np.ndarray) and not raw.ndim:
        return raw[()]
    if isinstance(raw, list | tuple) and any(isinstance(item, np.ndarray) for item in raw):
        return [item[()] if isinstance(item, np.ndarray) and not item.ndim else item for item in raw]
    return raw


def _is_ready(info: FieldInfo, raw: Any) -> bool:
    """Return whether a value needs no conversion for a field of this type."""
    if isinstance(raw, Descriptor):
        return info.fuses
    if isinstance(raw, GraphDesc):
        return info.type == "graph"
    if isinstance(raw, TensorDesc):
        return info.type in _TENSORS
    return raw.__class__ is RECORDS.get(info.type)


def _stack_lists(items: list[Any], kind: str, path: str) -> NDArray[Any]:
    """Return lists of equal length as a 2-D array.

    Raises InputError for nested lists.
    """
    array = number_column(items, kind, path)
    if array.size and array.ndim != 2:
        raise InputError(f"expected an array of 2 dimensions, found {array.ndim}", place=path)
    return array.reshape(len(items), len(items[0]))
