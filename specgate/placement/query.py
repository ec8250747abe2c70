"""Support queries: what a registration asks of a node besides its types, as a rule over the node's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import UNKNOWN
from specgate.dialects.onnx.lint.types import attribute_of
from specgate.dialects.onnx.reader import attribute_value
from specgate.rules.evaluate import Context, Undefined, evaluate
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from specgate.placement.graph import Node
    from specgate.placement.schemas import Schema
    from specgate.rules.language import Rule
    from specgate.spec.fields import FieldInfo

__all__ = ["answered"]


def answered(query: Rule, node: Node) -> bool | None:
    """Return whether a query holds for a node, None where an unknown attribute or type decides it.

    A query that names an optional field that the node leaves out does not apply, as rules of tables.
    """
    assert node.schema is not None  # a registration was found by its version  # noqa: S101
    context = Context(_fields(node, node.schema), {}, dialect("onnx").bits, {})
    if any(context.absent(path) for path in query.needs):
        return True
    try:
        found = evaluate(query, context)
    except Undefined:
        return None
    return None if found is UNKNOWN else bool(found)


def _fields(node: Node, schema: Schema) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for params, tensors in ((schema.inputs, node.inputs), (schema.outputs, node.outputs)):
        for index, param in enumerate(params):
            given = tensors[index] if index < len(tensors) else None
            fields[param.field] = list(tensors[index:]) if param.several else given
    for info in schema.attributes:
        held = node.proto.attributes.get(info.vendor_name)
        fields[info.name] = info.default if held is None else _value(info, attribute_of(held))
    return fields


def _value(info: FieldInfo, raw: Any) -> Any:
    """An attribute's value as its field has it, unknown where it is of another kind: the linter says so."""
    if raw is UNKNOWN:
        return UNKNOWN
    try:
        return attribute_value(info, raw)
    except ValueError:
        return UNKNOWN
