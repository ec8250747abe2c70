"""JSON Schema of ONNX descriptors, as `reader.py` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.schema import (
    any_of_schema,
    attributes_schema,
    list_schema,
    node_schema,
    port_schema,
    words,
    words_of,
)
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

_NAME = "onnx"


def schema() -> dict[str, Any]:
    """Return the schema; operators are distinguished by name and domain."""
    table = dialect(_NAME)
    kinds = dict.fromkeys(name.rpartition(".")[2] for name in table.operators)
    members = {
        "op_type": {**words(kinds), "description": "the operator"},
        "domain": {
            **any_of_schema(words(["", "ai.onnx", *table.domains]), {"type": "null"}),
            "description": "its domain",
        },
        "name": {"type": ["string", "null"], "description": "name of the node, for messages"},
        "inputs": {"description": "tensors by position; null for an omitted one"},
        "outputs": {"description": "tensors by position; {} is a tensor without a type"},
        "attributes": {"description": "by their names"},
        "opset": {
            "type": ["integer", "string", "null"],
            "description": "opset of the node (default: the target's)",
        },
    }
    types = [text for name, info in table.types.items() for text in dict.fromkeys([name, str(info.get("tensor"))])]
    port = port_schema("elem_type", types, {"type": ["string", "integer"]})
    operators = {
        name: (_operator_condition(name), {"attributes": attributes_schema(table.operator(name), _attribute)})
        for name in table.operators
    }
    return node_schema(_NAME, members, port, operators)


def _operator_condition(name: str) -> dict[str, Any]:
    domain, _, kind = name.rpartition(".")
    condition = {"required": ["op_type", "domain"]} if domain else {"required": ["op_type"]}
    allowed = [domain] if domain else ["", "ai.onnx", None]
    return {"properties": {"op_type": {"const": kind}, "domain": {"enum": allowed}}, **condition}


def _attribute(spec: OperatorSpec, info: FieldInfo) -> dict[str, Any]:
    return list_schema(_value_schema(spec, info), info)


def _value_schema(spec: OperatorSpec, info: FieldInfo) -> dict[str, Any]:
    kind = info.type.removesuffix("[]")
    if info.enum is not None:
        numbers = spec.dialect.numbers(info.enum)
        return any_of_schema(words(numbers), {"type": ["integer", "string"]})
    if kind == "string":
        allowed_words = words_of(spec, info)
        return words(allowed_words) if allowed_words else {"type": "string"}
    if kind == "int":
        return {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}
    return {"type": "number"} if kind == "float" else {}
