"""The union of an operator's rows: the limits of execution at any level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import Descriptor, TensorDesc, is_record, placed_items
from specgate.errors import InputError
from specgate.rules.language import UNKNOWN
from specgate.spec.forms import cells_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.spec.fields import Bounds, Cell, FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

#: Maximum number of cached signatures; an operator has few.
_MAX_CACHED: Final = 4096


class _Row(NamedTuple):
    """One row of one case, from the page or from builds: cells and fields."""

    fields: Mapping[str, FieldInfo]
    cells: Mapping[str, Cell]

    def values(self, name: str) -> tuple[Any, ...] | None:
        """Return the allowed values or operators of an attribute.

        None where the row does not list them.
        """
        cell, info = self.cells.get(name), self.fields[name]
        if info.fuses:
            return cell.operators if cell is not None else None
        return cell.values if cell is not None and cell.values is not None else info.words


class SupportUnion:
    """The rows of one operator at all levels, in all cases and on both sides."""

    def __init__(self, spec: OperatorSpec) -> None:
        self.spec = spec
        self.rows: tuple[_Row, ...] = tuple(_rows(spec))
        self._variables = bool(spec.dialect.tables.about.get("type_variables"))
        self._attributes = [info.name for info in spec.attributes if self._is_limited(info.name)]
        self._fitting: set[Any] = set()

    def require(self, descriptor: Descriptor) -> None:
        """Raise InputError where no row supports a type, a rank or a value.

        The types of the inputs must also occur together in a row. Unknown types, ranks and values are skipped.
        """
        signature = _signature(descriptor)
        if signature not in self._fitting:
            self._require_cells(descriptor)
            types = {name: _types(value) for name, value in descriptor.fields.items() if self._is_input(name)}
            self._check_combination({name: names for name, names in types.items() if names})
            if len(self._fitting) < _MAX_CACHED:
                self._fitting.add(signature)
        for name in self._attributes:
            for place, item in placed_items(name, descriptor.fields.get(name)):
                if not self.supports_value(name, item):
                    word = item.operator if isinstance(item, Descriptor) else repr(item)
                    message = f"is {word:.60}, which no version of {self.spec.name} supports{self._list_values(name)}"
                    raise InputError(message, place=place)

    def loose(self, name: str, aspect: str, item: Any) -> bool:
        """Return whether a kernel may compute values that a level's row rejects.

        The dialect must allow it, and some row must support the item. aspect: ``type``, ``rank`` or ``value``; item:
        the tensor, or the value.
        """
        if aspect not in self.spec.dialect.tables.about.get("loose", ()):
            return False
        if aspect == "type":
            return self.supports_type(name, item.type)
        if aspect == "rank":
            return self.supports_rank(name, len(item.sizes))
        return self.supports_value(name, item)

    def supports_type(self, name: str, element_type: str) -> bool:
        """Return whether some row supports a type for a field."""
        types = self.types(name)
        return types is None or element_type in types

    def supports_rank(self, name: str, rank: int) -> bool:
        """Return whether some row supports a rank for a field."""
        ranks = self._ranks(name)
        return ranks is None or any(rank in rank_range for rank_range in ranks)

    def supports_value(self, name: str, value: Any) -> bool:
        """Return whether some row supports a value of an attribute or element."""
        if value is None or value is UNKNOWN:
            return True
        return any(_row_supports(row, name, value) for row in self._rows_with(name))

    def types(self, name: str) -> tuple[str, ...] | None:
        """Return the types of a field in all rows, in their order.

        None where a row does not limit them.
        """
        cells = [row.cells.get(name) for row in self._rows_with(name)]
        lists = [cell.types for cell in cells if cell is not None and cell.types is not None]
        return tuple(dict.fromkeys(t for types in lists for t in types)) if len(lists) == len(cells) else None

    def _ranks(self, name: str) -> tuple[Bounds, ...] | None:
        cells = [row.cells.get(name) for row in self._rows_with(name)]
        ranks = [cell.ranks for cell in cells if cell is not None and cell.ranks is not None]
        return tuple(dict.fromkeys(ranks)) if len(ranks) == len(cells) else None

    def _rows_with(self, name: str) -> Iterator[_Row]:
        return (row for row in self.rows if name in row.fields)

    def _is_limited(self, name: str) -> bool:
        """Return whether every row limits an attribute."""
        return all(
            row.values(name) is not None or (name in row.cells and row.cells[name].range is not None)
            for row in self._rows_with(name)
        )

    def _list_values(self, name: str) -> str:
        values = dict.fromkeys(str(value) for row in self._rows_with(name) for value in row.values(name) or ())
        return f" ({', '.join(values)})" if values else ""

    def _require_cells(self, descriptor: Descriptor) -> None:
        for name, value in descriptor.fields.items():
            for place, tensor in placed_items(name, value):
                if not isinstance(tensor, TensorDesc):
                    continue
                if tensor.type is not None and not self.supports_type(name, tensor.type):
                    types_text = ", ".join(self.types(name) or ())
                    message = (
                        f"is {tensor.type}, which no version of {self.spec.name} supports (supported: {types_text})"
                    )
                    raise InputError(message, place=place)
                if tensor.sizes is not None and not self.supports_rank(name, len(tensor.sizes)):
                    types_text = ", ".join(str(bounds) for bounds in self._ranks(name) or ())
                    message = (
                        f"has {len(tensor.sizes)} dimensions, which no version of {self.spec.name} supports "
                        f"(supported: {types_text})"
                    )
                    raise InputError(message, place=place)

    def _is_input(self, name: str) -> bool:
        """Return whether a field is an input, whose type a kernel receives.

        Derived types of outputs are compared with their declarations instead.
        """
        info = self.spec.fields.get(name)
        return info is not None and info.kind == "input"

    def _check_combination(self, types: Mapping[str, frozenset[str]]) -> None:
        if not any(self._fits(row, types) for row in self.rows):
            text = ", ".join(f"{name} is {' and '.join(sorted(names))}" for name, names in types.items())
            raise InputError(f"{text}, which no version of {self.spec.name} supports together")

    def _fits(self, row: _Row, types: Mapping[str, frozenset[str]]) -> bool:
        shared: dict[str, set[str]] = {}
        for name, names in types.items():
            cell, info = row.cells.get(name), row.fields.get(name)
            if info is None:
                return False
            if cell is None or cell.types is None:
                continue
            if not names.issubset(cell.types):
                return False
            if self._variables and cell.variable is not None and not info.heterogeneous:
                shared.setdefault(cell.variable, set()).update(names)
        return all(len(names) == 1 for names in shared.values())


def _rows(spec: OperatorSpec) -> Iterator[_Row]:
    """Yield every row of the page, then differing rows of builds."""
    for condition, rows in spec.support:
        for level, raw in rows.items():
            yield _Row(spec.fields_at(level), cells_of(raw, spec.dialect.types, (), condition))
    if not any(entry.get("support") for entry in spec.table.observed):
        return
    visited_rows = set()
    for level in spec.levels:
        overlays = tuple(o for o in spec.overlays if o.cells and level in o.builds)
        for condition, rows in spec.support:
            row = spec.row_at(level, rows)
            key = (row, condition, tuple(map(id, overlays)))
            if row is not None and overlays and key not in visited_rows:
                visited_rows.add(key)
                yield _Row(spec.fields_at(level), cells_of(rows[row], spec.dialect.types, overlays, condition))


def _row_supports(row: _Row, name: str, value: Any) -> bool:
    if is_record(value):
        return all(_row_supports(row, name, part) for part in value)
    values, cell = row.values(name), row.cells.get(name)
    if isinstance(value, Descriptor):
        return values is None or value.operator in values
    if values is not None and value not in values:
        return False
    if cell is None or cell.range is None:
        return True
    number: Any = value
    return isinstance(value, int | float) and number in cell.range


def _signature(descriptor: Descriptor) -> tuple[Any, ...]:
    """Return the types and ranks of each field, as a cache key."""
    parts: list[Any] = []
    for name, value in descriptor.fields.items():
        if isinstance(value, TensorDesc):
            parts.append((name, value.type, None if value.sizes is None else len(value.sizes)))
        elif isinstance(value, list | tuple):
            pairs = {(t.type, None if t.sizes is None else len(t.sizes)) for t in _tensors(value)}
            if pairs:
                parts.append((name, frozenset(pairs)))
    return tuple(parts)


def _tensors(value: Any) -> Iterable[TensorDesc]:
    if isinstance(value, list | tuple):
        return (item for item in value if isinstance(item, TensorDesc))
    return ()


def _types(value: Any) -> frozenset[str]:
    tensors = (value,) if isinstance(value, TensorDesc) else _tensors(value)
    return frozenset(tensor.type for tensor in tensors if tensor.type is not None)
