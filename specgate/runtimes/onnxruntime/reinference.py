"""Repeated type inference for nodes with additional facts.

Only nodes with new facts and their consumers are inferred again. Other types stay, because inference gives the same
result for the same inputs.
"""

from __future__ import annotations

from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Final

from specgate.descriptors.core import TensorDesc
from specgate.dialects.onnx.file.structure import OnnxTensor, OnnxType
from specgate.dialects.onnx.infer.inference import Questions, infer_question, tensor_type
from specgate.dialects.onnx.lint.types import attribute_of, without_invented_names
from specgate.dialects.onnx.lint.units import STANDARD_DOMAINS
from specgate.runtimes.onnxruntime.graph import derive_outputs, reads
from specgate.runtimes.onnxruntime.lower import node as lower_node
from specgate.runtimes.onnxruntime.lowering.store import lowering_of
from specgate.runtimes.onnxruntime.schemas import schema_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from specgate.dialects.onnx.file.structure import OnnxModel, OnnxNode

    Types = Mapping[int, Mapping[str, OnnxType]]
    StatedTypes = Mapping[str, OnnxType | OnnxTensor]

_UNKNOWN: Final = OnnxType()
#: Maximum elements of a constant that may hold sizes.
_MAX_ELEMENTS: Final = 256
#: New types usually spread for a few steps or to all consumers. These are the steps of the first round, and the factor
#: for each further round.
_FIRST_STEPS: Final = 2
_EXTRA_STEPS: Final = 4


class Renewal:
    """The types of the values in one model, updated by inference.

    types: initial types by graph id; symbolic sizes that inference generated are dropped. stated: types that the file
    states and that are consistent with inference, by name. facts: known types and constants, which replace the nodes
    that compute them.
    """

    def __init__(self, model: OnnxModel, types: Types, stated_types: Mapping[str, OnnxType]) -> None:
        self.model, self.stated = model, stated_types
        self.nodes = model.graph.nodes
        self.questions = Questions(model)
        self.facts: StatedTypes = {}
        kinds = {
            id(kind): kind for types_by_name in types.values() for kind in types_by_name.values()
        }  # types are often shared
        nameless_types = {key: without_invented_names(kind) for key, kind in kinds.items()}
        self.types = {
            graph: {name: nameless_types[id(kind)] for name, kind in types_by_name.items()}
            for graph, types_by_name in types.items()
        }
        self.main = self.types.setdefault(id(model.graph), {})
        self.input_types = {info.name: info.type for info in model.graph.inputs if info.type is not None}
        self.readers: dict[str, list[int]] = {}
        for index, node in enumerate(self.nodes):
            for name in reads(node):
                self.readers.setdefault(name, []).append(index)
        self.constants = {n.outputs[0]: n for n in self.nodes if n.op_type == "Constant" and not n.domain and n.outputs}
        self.small, self.weights = _initializers(model)

    def reading(self, names: Iterable[str]) -> set[int]:
        """Return the indices of the nodes that read one of some values."""
        readers = self.readers
        return {index for name in names for index in readers.get(name, ())}

    def maker_indices(self, names: AbstractSet[str]) -> set[int]:
        """Return the indices of the nodes that compute one of some values."""
        if not names:
            return set()
        return {index for index, node in enumerate(self.nodes) if not names.isdisjoint(node.outputs)}

    def renew(self, entries: StatedTypes, numbers: Collection[int], required_nodes: Collection[int] = ()) -> None:
        """Infer the outputs of some nodes, and of consumers of changed values.

        numbers: indices of these nodes. required_nodes: indices of nodes whose types certainly change. Raises Failed
        without an answer.
        """
        self.facts = entries
        for name, type_ in entries.items():
            self.main[name] = tensor_type(type_) if isinstance(type_, OnnxTensor) else type_
        nodes = self._with_consumers(required_nodes, len(self.nodes)).union(numbers)
        steps = _FIRST_STEPS
        while nodes:  # ends even for cycles, because no consumer is added twice
            changed_names = self._ask([index for index in sorted(nodes) if not self._has_facts(self.nodes[index])])
            nodes = self._with_consumers(self.reading(changed_names) - nodes, steps)
            steps *= _EXTRA_STEPS

    def _has_facts(self, node: OnnxNode) -> bool:
        return all(name in self.facts for name in node.outputs if name)

    def _with_consumers(self, nodes: Iterable[int], steps: int) -> set[int]:
        """Return nodes and their consumers, up to a number of steps."""
        numbers = set(nodes)
        edge = numbers
        while edge and steps:
            steps -= 1
            names = {name for index in edge for name in self.nodes[index].outputs if name not in self.facts}
            edge = self.reading(names) - numbers
            numbers |= edge
        return numbers

    def _ask(self, indices: list[int]) -> set[str]:
        """Infer the outputs of some nodes; return the values that changed."""
        nodes = [self.nodes[index] for index in indices]
        new_entries = dict.fromkeys(name for node in nodes for name in node.outputs if name)
        read_names = dict.fromkeys(name for node in nodes for name in reads(node) if name and name not in new_entries)
        before = [self.constants[name] for name in read_names if name in self.constants and name not in self.facts]
        types_by_name = {name: self._known_type(name) for name in read_names} | {
            name: self._stated_type(name) for name in new_entries if name in self.facts or name in self.stated
        }
        types = {name: kind for name, kind in types_by_name.items() if kind.kind != _UNKNOWN.kind}
        constants = [constant for name in read_names if (constant := self._constant(name)) is not None]
        entries = infer_question(self.questions.about([*before, *nodes], types, constants))
        answer = entries.pop(id(self.model.graph), {})
        self.types.update(entries)
        changed_names = {
            name for name in new_entries if name not in self.facts and answer.get(name) != self.main.get(name)
        }
        for name in changed_names:
            if name in answer:
                self.main[name] = answer[name]
            else:
                del self.main[name]
        return changed_names

    def _known_type(self, name: str) -> OnnxType:
        """Return the known type of an input of a node."""
        return self.main.get(name) or self.input_types.get(name) or self.weights.get(name) or _UNKNOWN

    def _stated_type(self, name: str) -> OnnxType:
        return self.main[name] if name in self.facts else self.stated[name]

    def _constant(self, name: str) -> OnnxTensor | None:
        result = self.facts.get(name)
        return result if isinstance(result, OnnxTensor) else self.small.get(name)


def _initializers(model: OnnxModel) -> tuple[dict[str, OnnxTensor], dict[str, OnnxType]]:
    """Return the small constant initializers, and the types of the others."""
    graph = model.graph
    inputs = {info.name for info in graph.inputs} if (model.ir_version or 4) >= 4 else set()
    small = {
        tensor.name: tensor
        for tensor in graph.initializers
        if tensor.data is not None and tensor.name not in inputs and prod(tensor.dims) <= _MAX_ELEMENTS
    }
    large_tensors = (
        tensor for tensor in chain(graph.initializers, graph.sparse_initializers) if tensor.name not in small
    )
    return small, {tensor.name: tensor_type(tensor) for tensor in large_tensors}


_UNKNOWN_TENSOR = TensorDesc(None, None)


def is_inferred_by_runtime(node: OnnxNode) -> bool:
    """Return whether the runtime's inference of a node's type is known.

    The node belongs to one of the runtime's own operators.
    """
    if node.domain in STANDARD_DOMAINS:
        return False
    table = lowering_of(f"{node.domain}.{node.op_type}")
    return table is not None and bool(table.inferred)


class OwnSizes:
    """The size inference of one release for the runtime's own operators."""

    def __init__(self, release: str, imports: Mapping[str, int]) -> None:
        self.release = release
        self.imports = imports
        self._inferred: dict[int, tuple[tuple[TensorDesc | None, ...], dict[str, OnnxType]]] = {}

    def has(self, node: OnnxNode) -> bool:
        """Return whether the runtime's inference of a node is known."""
        return node.domain in self.imports and is_inferred_by_runtime(node)

    def types(self, node: OnnxNode, tensor: Callable[[str], TensorDesc | None]) -> dict[str, OnnxType]:
        """Return the inferred types of a node's outputs by name.

        tensor: returns the description of a value, with its elements if it is constant. The node must outlive this
        object.
        """
        inputs = tuple([(tensor(name) or _UNKNOWN_TENSOR) if name else None for name in node.inputs])
        pair = self._inferred.get(id(node))
        if pair is None or pair[0] != inputs:
            pair = self._inferred[id(node)] = inputs, self._types(node, inputs)
        return pair[1]

    def _types(self, node: OnnxNode, inputs: tuple[TensorDesc | None, ...]) -> dict[str, OnnxType]:
        version = self.imports[node.domain]
        operator = f"{node.domain}.{node.op_type}"
        table, schema = lowering_of(operator), schema_of(node.domain, node.op_type, version, self.release)
        outputs = tuple([_UNKNOWN_TENSOR if name else None for name in node.outputs])
        outputs = derive_outputs(schema, inputs, outputs)
        attributes = {name: attribute_of(attribute) for name, attribute in node.attributes.items()}
        descriptor = lower_node(operator, inputs, outputs, attributes, version)
        if table is None or descriptor is None:
            return {}
        sizes = table.sizes_inferred(descriptor, version, self.release)
        names = [info.name for info in table.schema.layout(version).outputs]
        return {
            name: OnnxType("tensor", tensor.type, sizes[field])
            for name, tensor, field in zip(node.outputs, outputs, names, strict=False)
            if name and tensor is not None and tensor.type is not None and field in sizes
        }
