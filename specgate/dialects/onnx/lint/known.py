"""What one look at a model found and another, with other types of its values, finds again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specgate.dialects.onnx.lint.types import constant, held_constant, settled

if TYPE_CHECKING:
    from specgate.descriptors.core import TensorDesc
    from specgate.dialects.onnx.file.structure import OnnxNode, OnnxTensor, OnnxType
    from specgate.linting.nodes import Unit

__all__ = ["Known"]


@dataclass(slots=True)
class Known:
    """What is known of one model and those that were made of it. Keys are identities.

    Each entry holds what its key is the identity of, so that nothing else gets that.

    types: by stated and inferred type what is known of a value. tensors: what is known of values; equal ones are one
    object, so that nodes that read such values are alike. constants: by initializer or node that holds one, and whether
    its elements count. elements: by type, sizes and bytes what is known of equal constants. alike: by imports the first
    of nodes that have one operator, attributes and tensors.
    """

    types: dict[tuple[int, int], tuple[TensorDesc | None, bool, object]] = field(default_factory=dict)
    tensors: dict[TensorDesc, TensorDesc] = field(default_factory=dict)
    constants: dict[tuple[int, bool], tuple[TensorDesc | None, object]] = field(default_factory=dict)
    elements: dict[tuple[str, tuple[int, ...], bytes | None], TensorDesc] = field(default_factory=dict)
    alike: dict[object, dict[tuple[Any, ...], tuple[Unit, object]]] = field(default_factory=dict)

    def settled(self, declared: OnnxType | None, computed: OnnxType | None) -> tuple[TensorDesc | None, bool, object]:
        """Return what is known of a value, and whether what is stated and what is inferred contradict each other."""
        key = id(declared), id(computed)
        found = self.types.get(key)
        if found is None:
            known, contradictory = settled(declared, computed)
            if known is not None:
                known = self.tensors.setdefault(known, known)
            found = self.types[key] = known, contradictory, (declared, computed)
        return found

    def constant(self, tensor: OnnxTensor, *, valued: bool = True) -> TensorDesc:
        """Return an initializer's type, and its elements where these count."""
        found = self.constants.get((id(tensor), valued))
        if found is None:
            found = self.constants[id(tensor), valued] = self._constant(tensor, valued=valued), tensor
        assert found[0] is not None  # noqa: S101  # as an initializer is always known
        return found[0]

    def _constant(self, tensor: OnnxTensor, *, valued: bool = True) -> TensorDesc:
        data = tensor.data if valued else None
        if isinstance(data, list):
            return constant(tensor)
        key = tensor.elem_type, tensor.dims, data
        known = self.elements.get(key)
        if known is None:
            held = constant(tensor)
            known = self.elements[key] = held if valued else held._replace(value=None)
        return known

    def held(self, node: OnnxNode) -> TensorDesc | None:
        """Return what a Constant node holds, None for another node."""
        if node.op_type != "Constant":
            return None
        found = self.constants.get((id(node), True))
        if found is None:
            found = self.constants[id(node), True] = held_constant(node, self._constant), node
        return found[0]
