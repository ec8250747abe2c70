"""Descriptors of removed operators, rewritten for their replacements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.descriptors.core import TensorDesc
from specgate.slotted import replace
from specgate.validate.check import check_at
from specgate.validate.moved import readings, type_for
from specgate.validate.replacement import replacing_operator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec


class Replacement(NamedTuple):
    """A descriptor rewritten for the replacing operator.

    descriptor: of the new operator. last: the level at which the removed one was read. inputs: old input -> new input.
    moved: inputs that were attributes. dropped: the names of these attributes. empty: required inputs without data.
    added: attributes that preserve the results.
    """

    descriptor: Descriptor
    last: str
    inputs: Mapping[str, str]
    moved: tuple[str, ...]
    empty: tuple[str, ...]
    dropped: tuple[str, ...]
    added: Mapping[str, Any]


def replacement(descriptor: Descriptor, spec: OperatorSpec) -> Replacement | None:
    """Return the descriptor of the replacing operator, None where invalid."""
    level = str(descriptor.version)
    pair = replacing_operator(spec, level)
    entry = spec.table.replaced_by
    if pair is None or entry is None:
        return None
    other, added_fields = pair
    last = str(list(spec.levels)[-1])
    reading, moved_fields = replace(descriptor, version=last), dict[str, str]()
    resolved = spec.resolve(last)
    move = None if resolved is None else readings(reading, resolved)
    if move is not None:
        reading, moved_fields = move.readings[0], dict(move.fields)
    if check_at(reading, last).accepted is False:
        return None
    inputs = {old: new for new, old in entry["inputs"].items()}
    fields: dict[str, Any] = {}
    outputs = dict(zip([f.name for f in spec.outputs], [f.name for f in other.layout(level).outputs], strict=False))
    for name, value in reading.fields.items():
        info = spec.fields[name]
        to = {"input": inputs, "output": outputs}.get(info.kind, {}).get(name, name if info.kind == "attribute" else "")
        if not to or to not in other.fields or other.field_at(to, level) is None:
            return None
        fields[to] = value
    empty = [
        name
        for name in entry.get("empty", ())
        if (target_info := other.field_at(name, level)) and not target_info.optional
    ]
    other_resolved = other.resolve(level)
    if other_resolved is None:
        return None
    fields |= {name: TensorDesc(type_for([0.0], name, fields, other_resolved), (0,), value=()) for name in empty}
    added_fields = {name: value for name, value in added_fields.items() if name not in fields}
    new_descriptor = replace(
        reading, operator=other.name, fields={**fields, **added_fields}, version=level, layout=None, plain=False
    )
    if check_at(new_descriptor, level).accepted is False:
        return None
    dropped_names = tuple(spec.fields[old].vendor_name for old in moved_fields)
    return Replacement(
        new_descriptor, last, inputs, tuple(moved_fields.values()), tuple(empty), dropped_names, added_fields
    )
