"""Features of a descriptor: types, ranks, words, optional parts.

They tell which parts of the operator's table a descriptor covers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.generate.repair import row_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.spec.forms import Resolved
    from specgate.spec.operator_spec import OperatorSpec

#: An aspect (type, rank, word, given, count, layout, size), a field and the value. For a type or rank also the
#: condition of the support row, if it has one.
Feature = tuple[Any, ...]
_ROW_FEATURES: Final = frozenset({"type", "rank"})
#: Smaller numbers are separate features.
_MAX_SEPARATE_NUMBER: Final = 4


def features(descriptor: Descriptor, spec: OperatorSpec) -> set[Feature]:
    """Return all features of a descriptor."""
    items: set[Feature] = set()
    for name in spec.fields:
        value = descriptor.fields.get(name)
        info = spec.fields[name]
        has_words = info.words is not None or info.enum is not None
        items.add(("given", name, value is not None))
        if isinstance(value, TensorDesc):
            items |= _tensor_features(name, value)
        elif isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            items.add(("count", name, min(len(value), 4)))
            for item in value:
                items |= (
                    _tensor_features(name, item)
                    if isinstance(item, TensorDesc)
                    else _value_features(name, item, has_words=has_words)
                )
        elif value is not None:
            items |= _value_features(name, value, has_words=has_words)
    return items


def descriptor_features(descriptor: Descriptor, sides: Sequence[Resolved]) -> set[Feature]:
    """Return all features of a descriptor.

    Includes the features of the conditional row that applies to it.
    """
    items = features(descriptor, sides[0].spec)
    condition_value = condition(descriptor, sides)
    return items if condition_value is None else items | {(*f, condition_value) for f in items if f[0] in _ROW_FEATURES}


def condition(descriptor: Descriptor, sides: Sequence[Resolved]) -> str | None:
    """Return the condition of the row that applies; None without one."""
    side = next((side for side in sides if side.cases), None)
    if side is None:
        return None
    row = row_of(descriptor, side)
    return next((case.when.text for case in side.cases if case.resolved is row), None)


def _value_features(name: str, value: Any, *, has_words: bool) -> set[Feature]:
    """Return the features of an attribute's value.

    has_words: whether the field is an enumeration.
    """
    if isinstance(value, Descriptor):
        return {("operator", name, value.operator)}
    if isinstance(value, str | bool) or has_words:
        return {("word", name, value)}
    number = value if isinstance(value, int | float) else 0
    return {("number", name, "negative" if number < 0 else number if number < _MAX_SEPARATE_NUMBER else "other")}


def _tensor_features(name: str, tensor: TensorDesc) -> set[Feature]:
    sizes = tensor.sizes or ()
    items: set[Feature] = {("type", name, tensor.type), ("rank", name, len(sizes))}
    items |= {("size", name, "one" if size == 1 else "none" if size == 0 else "more") for size in sizes}
    if tensor.strides is not None:
        items.add(("layout", name, "broadcast" if 0 in tensor.strides else "strides"))
    for part in ("size_in_bytes", "alignment", "flags"):
        if getattr(tensor, part):
            items.add(("layout", name, part))
    return items


def required_features(sides: Sequence[Resolved]) -> set[Feature]:
    """Return the features that the rows of all sides name.

    These are types, ranks, words, and the presence of optional parts.
    """
    items: list[set[Feature]] = []
    for side in sides:
        row_features = set() if side.cases else _row_features(side)
        for case in side.cases:
            row_features |= {(*f, case.when.text) if f[0] in _ROW_FEATURES else f for f in _row_features(case.resolved)}
        items.append(row_features)
    return set.intersection(*items)


def _row_features(row: Resolved) -> set[Feature]:
    items: set[Feature] = set()
    for name, info in row.fields.items():
        cell = row.cells.get(name)
        if cell is not None and cell.types is not None:
            items |= {("type", name, kind) for kind in cell.types}
        if cell is not None and cell.ranks is not None and cell.ranks.high is not None:
            ranks = range(cell.ranks.low, cell.ranks.high + 1)
            items |= {("rank", name, rank) for rank in ranks if rank in cell.ranks}
        words = cell.values if cell is not None and cell.values is not None else info.words
        items |= {("word", name, word) for word in words or ()}
        if info.type == "bool":
            items |= {("word", name, True), ("word", name, False)}
        if row.spec.dialect.may_omit(info):
            items |= {("given", name, True), ("given", name, False)}
    return items


def supported_types(sides: Sequence[Resolved]) -> dict[str, list[str]]:
    """Return for each tensor field the types that some row supports."""
    entries: dict[str, dict[str, None]] = {}
    for side in sides:
        for row in side.alternatives:
            for name, cell in row.cells.items():
                if cell.types is not None:
                    entries.setdefault(name, {}).update(dict.fromkeys(cell.types))
    return {name: list(types) for name, types in entries.items()}
