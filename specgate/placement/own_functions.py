"""Functions among a runtime's own operators: the nodes that one call is made of, by the tables of the runtime."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxFunction, OnnxNode, OnnxTensor
from specgate.placement.registrations import release_position, runtime_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.placement.graph import Node

__all__ = ["own_function"]

#: How a number of a type is packed; of BFLOAT16 it is the upper half of a FLOAT.
_PACKED: Final = {"FLOAT16": "<e", "FLOAT": "<f", "DOUBLE": "<d", "BFLOAT16": "<f"}


def own_function(node: Node, release: str) -> OnnxFunction | None:
    """Return what a node calls, None where it is no function of the runtime's own, or its type is not known.

    release: "1.24" or "1.24.4", "" for the newest.
    """
    tables = runtime_tables()
    at = release_position(release or None)
    held = tables.get("functions", {}).get(node.operator)
    kind = node.inputs[0].type if node.inputs and node.inputs[0] is not None else None
    if held is None or not held["first"] <= at <= held["last"] or kind not in _PACKED:
        return None
    given = {name for name, tensor in zip(held["inputs"], node.inputs, strict=False) if tensor is not None}
    nodes = [_constant(name, kind, _number(stated, node)) for name, stated in held["constants"].items()]
    for entry in held["nodes"]:
        wanted = entry.get("given")
        if (wanted is None or wanted in given) and entry.get("without") not in given:
            nodes.append(OnnxNode("", entry["operator"], "", "", list(entry["inputs"]), [entry["result"]]))
    return OnnxFunction(
        node.proto.op_type,
        node.proto.domain,
        inputs=list(held["inputs"]),
        outputs=list(held["outputs"]),
        nodes=nodes,
        opset_imports={"": held["opset"]},
    )


def _number(stated: float | str, node: Node) -> float:
    """Return a number, or that of an attribute: what the node has, or else the schema's default."""
    if not isinstance(stated, str):
        return stated
    held = node.proto.attributes.get(stated)
    if held is not None and isinstance(held.value, float | int):
        return float(held.value)
    defaults: Mapping[str, Any] = {info.name: info.default for info in node.schema.attributes} if node.schema else {}
    return float(defaults.get(stated) or 0.0)


def _constant(name: str, kind: str, number: float) -> OnnxNode:
    data = struct.pack(_PACKED[kind], number)
    value = OnnxTensor(name, kind, (), data=data[2:] if kind == "BFLOAT16" else data)
    return OnnxNode("", "Constant", "", "", [], [name], {"value": OnnxAttribute("value", "TENSOR", value)})
