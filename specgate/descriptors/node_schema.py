"""The JSON Schema of descriptors whose inputs and outputs go by position: nodes and layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.schema import document, nullable, positional, words
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["attributes_schema", "node_schema", "port_schema"]

_SIZE: Final = {"type": ["integer", "string", "null"], "description": "a size, the name of one, or null: unknown"}


def node_schema(
    name: str,
    members: Mapping[str, Any],
    port: Mapping[str, Any],
    operators: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]],
) -> dict[str, Any]:
    """Return the schema of a dialect. members: those of a descriptor.

    operators: by their names when a descriptor is of one, as a schema, and the members that only that one has.
    """
    cases = [{"if": dict(when), "then": {"$ref": f"#/$defs/{operator}"}} for operator, (when, _) in operators.items()]
    one = {"type": "object", "properties": dict(members), "additionalProperties": False, "allOf": cases}
    made = {
        operator: {
            "description": dialect(name).operator(operator).table.summary,
            "properties": {
                "inputs": positional(dialect(name).operator(operator), "inputs"),
                "outputs": positional(dialect(name).operator(operator), "outputs"),
                **own,
            },
        }
        for operator, (_, own) in operators.items()
    }
    return document(name, one, {"port": dict(port), **made})


def port_schema(type_key: str, types: Iterable[str], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a tensor. type_key: what its type is called; more: how else a type may be given."""
    return {
        "type": ["object", "null"],
        "properties": {
            type_key: {
                "anyOf": [words(types), dict(more), {"type": "null"}],
                "description": "the type of its elements",
            },
            "shape": {"type": ["array", "null"], "items": _SIZE, "description": "null: the rank is not known"},
            "value": {"description": "its elements, where they are known"},
            "name": {"type": ["string", "null"]},
        },
        "additionalProperties": False,
    }


def attributes_schema(
    spec: OperatorSpec, single: Callable[[OperatorSpec, FieldInfo], dict[str, Any]], beside: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the schema of an operator's attributes, of all levels.

    single: of one attribute; beside: names of what else there may be.
    """
    members: dict[str, Any] = {name: {} for name in beside}
    for info in spec.attributes:
        forms = info.forms or (info,)
        kinds = [single(spec, form) for form in forms]
        made = kinds[0] if all(kind == kinds[0] for kind in kinds) else {"anyOf": kinds}
        told = {"description": info.doc} if info.doc else {}
        default = {} if info.default is None else {"default": info.default}
        for name in dict.fromkeys(form.vendor_name for form in forms):
            members[name] = {**made, **told, **default}
    closed = {} if spec.table.unchecked_attributes else {"additionalProperties": False}
    return nullable({"type": "object", "properties": members, **closed})
