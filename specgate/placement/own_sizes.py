"""What a runtime infers of outputs of its own operators: types by its schemas, sizes by the lowering tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.descriptors.core import TensorDesc
from specgate.dialects.onnx.file.structure import OnnxType
from specgate.dialects.onnx.lint.types import attribute_of
from specgate.dialects.onnx.lint.walk import STANDARD_DOMAINS
from specgate.placement.graph import derived
from specgate.placement.lower import node as descriptor_of
from specgate.placement.lowering.known import lowering_of
from specgate.placement.schemas import schema_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.dialects.onnx.file.structure import OnnxNode

__all__ = ["OwnSizes", "inferred_here"]

_BLANK = TensorDesc(None, None)


def inferred_here(node: OnnxNode) -> bool:
    """Return whether it is known what the runtime infers of a node of one of its own operators."""
    if node.domain in STANDARD_DOMAINS:
        return False
    table = lowering_of(f"{node.domain}.{node.op_type}")
    return table is not None and bool(table.inferred)


class OwnSizes:
    """The inference of one release for one model's nodes of the runtime's own operators."""

    def __init__(self, release: str, imports: Mapping[str, int]) -> None:
        self.release = release
        self.imports = imports
        self._found: dict[int, tuple[tuple[TensorDesc | None, ...], dict[str, OnnxType]]] = {}

    def has(self, node: OnnxNode) -> bool:
        """Return whether it is known what the runtime infers of what a node computes."""
        return node.domain in self.imports and inferred_here(node)

    def types(self, node: OnnxNode, tensor: Callable[[str], TensorDesc | None]) -> dict[str, OnnxType]:
        """Return by name the types of what a node computes, as far as they follow from its inputs.

        tensor: what is known of a value, with its elements if it is constant. The node must live as long as this.
        """
        inputs = tuple([(tensor(name) or _BLANK) if name else None for name in node.inputs])
        found = self._found.get(id(node))
        if found is None or found[0] != inputs:
            found = self._found[id(node)] = inputs, self._types(node, inputs)
        return found[1]

    def _types(self, node: OnnxNode, inputs: tuple[TensorDesc | None, ...]) -> dict[str, OnnxType]:
        version = self.imports[node.domain]
        operator = f"{node.domain}.{node.op_type}"
        table, schema = lowering_of(operator), schema_of(node.domain, node.op_type, version, self.release)
        outputs = tuple([_BLANK if name else None for name in node.outputs])
        outputs = derived(schema, inputs, outputs)
        attributes = {name: attribute_of(held) for name, held in node.attributes.items()}
        made = descriptor_of(operator, inputs, outputs, attributes, version)
        if table is None or made is None:
            return {}
        sizes = table.sizes_inferred(made, version, self.release)
        names = [info.name for info in table.schema.layout(version).outputs]
        return {
            name: OnnxType("tensor", held.type, sizes[field])
            for name, held, field in zip(node.outputs, outputs, names, strict=False)
            if name and held is not None and held.type is not None and field in sizes
        }
