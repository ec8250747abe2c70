"""JSON Schema of OpenVINO descriptors, as `reader.py` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.schema import (
    any_case,
    any_of_schema,
    attributes_schema,
    list_schema,
    node_schema,
    port_schema,
    words,
    words_of,
)
from specgate.dialects.openvino.bodies import BACK_EDGES
from specgate.dialects.openvino.ir import MAPS
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

_NAME: Final = "openvino"


def schema() -> dict[str, Any]:
    """Return the schema; operators are distinguished by type."""
    table = dialect(_NAME)
    members = {
        "type": {**words(table.operators), "description": "the operator"},
        "version": {
            **any_of_schema(words(table.levels), {"type": ["string", "null"]}),
            "description": "opset of the layer (default: the target's)",
        },
        "name": {"type": ["string", "null"], "description": "name of the layer, for messages"},
        "id": {},
        "inputs": {"description": "ports by position; null for an omitted one"},
        "outputs": {"description": "ports by position; {} is a port without a type"},
        "data": {"description": "attributes by their names"},
    }
    port = port_schema("element_type", [*table.types, "dynamic"], {"type": "string"})
    operators = {}
    for name in table.operators:
        spec = table.operator(name)
        maps = (*MAPS.values(), BACK_EDGES) if any(info.type == "graph" for info in spec.attributes) else ()
        condition = {"properties": {"type": {"const": name}}, "required": ["type"]}
        operators[name] = (condition, {"data": attributes_schema(spec, _attribute, maps)})
    return node_schema(_NAME, members, port, operators)


def _attribute(spec: OperatorSpec, info: FieldInfo) -> dict[str, Any]:
    entries = list_schema(_value_schema(spec, info), info)
    return any_of_schema(entries, {"type": "string"}) if info.type.endswith("[]") else entries


def _value_schema(spec: OperatorSpec, info: FieldInfo) -> dict[str, Any]:
    """Return the schema of one value, as JSON or as IR text.

    A list may also be one text.
    """
    kind = info.type.removesuffix("[]")
    if kind == "string":
        allowed_words = words_of(spec, info)
        return any_case(allowed_words) if allowed_words else {"type": "string"}
    schemas: dict[str, dict[str, Any]] = {
        "int": {"type": ["integer", "string"]},
        "float": {"type": ["number", "string"]},
        "bool": {"enum": [True, False, "true", "false", "1", "0", 1, 0]},
    }
    return schemas.get(kind, {})
