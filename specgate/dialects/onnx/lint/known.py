"""What is known of values and nodes, by what they are: of one model, and of all that are looked at."""

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

#: How many of each are kept from one model for the next: more than the largest models have that differ.
_MOST: Final = 4096
_MOST_ALIKE: Final = 8192

# Where keys are identities each entry holds what its key is the identity of, so that nothing else gets that.
_types: Final[dict[tuple[int, int], tuple[TensorDesc | None, bool, object]]] = {}  # by what is stated and inferred
_tensors: Final[dict[TensorDesc, TensorDesc]] = {}  # equal ones are one object, so that those who read them are alike
_elements: Final[dict[tuple[str, tuple[int, ...], bytes | None], TensorDesc]] = {}  # of constants; none is large
_alike: Final[dict[Hashable, Alike]] = {}


@on_change
def _forget() -> None:
    for known in (_types, _tensors, _elements, _alike):
        known.clear()


def alike_under(imports: Mapping[str, int], functions: Collection[Key]) -> Alike:
    """Return the first of nodes that are alike by operator and what they hold, read and write.

    They are so under some imports and beside the functions of a model, whose calls are none of them.
    """
    return shelf(_alike, (tuple(imports.items()), frozenset(functions)), _MOST_ALIKE)


class Known:
    """What is known of one model and those that were made of it.

    constants: by the identity of an initializer or a node that holds one, and whether its elements count.
    """

    __slots__ = ("constants",)

    def __init__(self) -> None:
        self.constants: dict[tuple[int, bool], tuple[TensorDesc | None, object]] = {}

    def settled(self, declared: OnnxType | None, computed: OnnxType | None) -> tuple[TensorDesc | None, bool, object]:
        """Return what is known of a value, and whether what is stated and what is inferred contradict each other."""
        key = id(declared), id(computed)
        parts = _types.get(key)
        if parts is None:
            known, contradictory = settled(declared, computed)
            if known is not None:
                known = _tensors.get(known) or keep(_tensors, known, known, _MOST)
            parts = keep(_types, key, (known, contradictory, (declared, computed)), _MOST)
        return parts

    def constant(self, tensor: OnnxTensor, *, valued: bool = True) -> TensorDesc:
        """Return an initializer's type, and its elements where these count."""
        pair = self.constants.get((id(tensor), valued))
        if pair is None:
            pair = self.constants[id(tensor), valued] = self._constant(tensor, valued=valued), tensor
        assert pair[0] is not None  # noqa: S101  # as an initializer is always known
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

    def held(self, node: OnnxNode) -> TensorDesc | None:
        """Return what a Constant node holds, None for another node."""
        if node.op_type != "Constant":
            return None
        pair = self.constants.get((id(node), True))
        if pair is None:
            pair = self.constants[id(node), True] = held_constant(node, self._constant), node
        return pair[0]
