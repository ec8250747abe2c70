"""Caches of known values and equivalent nodes, per and across models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.caching import keep, shelf
from specgate.dialects.onnx.lint.types import constant, held_constant, settled
from specgate.spec.tables import on_change

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

    from specgate.descriptors.core import TensorDesc
    from specgate.dialects.onnx.file.structure import OnnxNode, OnnxTensor, OnnxType
    from specgate.dialects.onnx.lint.units import Key
    from specgate.linting.nodes import Unit

    Alike = dict[tuple[Any, ...], tuple[Unit, object]]

__all__ = ["Known", "alike_under"]

#: Cache sizes across models, larger than what the largest models need.
_MOST: Final = 4096
_MOST_ALIKE: Final = 8192

# Where keys are identities, each entry keeps the objects alive, so that their ids are not reused.
_types: Final[dict[tuple[int, int], tuple[TensorDesc | None, bool, object]]] = {}  # by ids of stated and inferred type
_tensors: Final[dict[TensorDesc, TensorDesc]] = {}  # equal tensors share one object
_elements: Final[dict[tuple[str, tuple[int, ...], bytes | None], TensorDesc]] = {}  # of small constants
_alike: Final[dict[Hashable, Alike]] = {}


@on_change
def _forget() -> None:
    for known in (_types, _tensors, _elements, _alike):
        known.clear()


def alike_under(imports: Mapping[str, int], functions: Collection[Key]) -> Alike:
    """Return the first node of each group of equivalent nodes.

    Nodes are equivalent by operator, attributes, inputs and outputs, under the same imports and model functions. Calls
    of these functions are not included.
    """
    return shelf(_alike, (tuple(imports.items()), frozenset(functions)), _MOST_ALIKE)


class Known:
    """Known values of one model and of models derived from it.

    `constants` is keyed by the id of an initializer or Constant node, and whether its elements count.
    """

    __slots__ = ("constants",)

    def __init__(self) -> None:
        self.constants: dict[tuple[int, bool], tuple[TensorDesc | None, object]] = {}

    def settled(self, declared: OnnxType | None, computed: OnnxType | None) -> tuple[TensorDesc | None, bool, object]:
        """Return a value's known type, and whether stated and inferred differ."""
        key = id(declared), id(computed)
        parts = _types.get(key)
        if parts is None:
            known, contradictory = settled(declared, computed)
            if known is not None:
                known = _tensors.get(known) or keep(_tensors, known, known, _MOST)
            parts = keep(_types, key, (known, contradictory, (declared, computed)), _MOST)
        return parts

    def constant(self, tensor: OnnxTensor, *, valued: bool = True) -> TensorDesc:
        """Return an initializer's type, with its elements if `valued`."""
        pair = self.constants.get((id(tensor), valued))
        if pair is None:
            pair = self.constants[id(tensor), valued] = self._constant(tensor, valued=valued), tensor
        assert pair[0] is not None  # noqa: S101  # always set for initializers
        return pair[0]

    def _constant(self, tensor: OnnxTensor, *, valued: bool = True) -> TensorDesc:
        data = tensor.data if valued else None
        if isinstance(data, list):
            return constant(tensor)
        key = tensor.elem_type, tensor.dims, data
        known = _elements.get(key)
        if known is None:
            known_tensor = constant(tensor)
            known = keep(_elements, key, known_tensor if valued else known_tensor._replace(value=None), _MOST)
        return known

    def constant_of(self, node: OnnxNode) -> TensorDesc | None:
        """Return the value of a Constant node, None for other nodes."""
        if node.op_type != "Constant":
            return None
        pair = self.constants.get((id(node), True))
        if pair is None:
            pair = self.constants[id(node), True] = held_constant(node, self._constant), node
        return pair[0]
