"""Models that state the type of every value: each kind of node is inferred once, and what they state is so confirmed.

If each node, given what is stated of its inputs, has just the outputs that are stated, so has the whole graph, from its
first node to its last. Nodes of one operator, with the same attributes, input types and constants are of one kind.
What follows from sizes that are computed cannot differ from a type that is known to the last size without them.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.file.structure import OnnxTensor, OnnxType
from specgate.dialects.onnx.infer.child import INVENTED
from specgate.dialects.onnx.infer.strip import Questions, holds_weights, tensor_type
from specgate.dialects.onnx.lint.walk import STANDARD_DOMAINS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxModel, OnnxNode
    from specgate.dialects.onnx.infer.strip import Question
    from specgate.dialects.onnx.lint.walk import Body

__all__ = ["Stated"]

_SINCE: Final = 4  # the IR version from which on an initializer need not be an input
_UNKNOWN: Final = OnnxType()


class Stated:
    """What a model states of the values in its one graph; None from `of` where that is not all of it.

    question: about one node of each kind. types: of all values but inputs and constants, by name. kinds: of each node
    the number of its kind.
    """

    def __init__(
        self, question: Question, types: dict[str, OnnxType], kinds: Sequence[int], asked: Sequence[str]
    ) -> None:
        self.question = question
        self.types = types
        self.kinds = kinds
        self._asked = asked

    @classmethod
    def of(cls, model: OnnxModel, walked: Sequence[Body]) -> Stated | None:
        """Return what `model`, whose bodies are `walked`, states; None where something must be inferred."""
        if len(walked) != 1 or model.functions or (model.ir_version or 0) < _SINCE:
            return None
        types = _complete(model.graph)
        if types is None:
            return None
        kinds = _Kinds(model.graph, types)
        if not kinds.found():
            return None
        question, asked = kinds.question(model)
        return cls(question, types, kinds.numbers, asked)

    def confirmed(self, found: Mapping[str, OnnxType]) -> bool:
        """Whether what was inferred of the nodes that were asked about is what is stated."""
        return all(found.get(name) == self.types[name] for name in self._asked)


def _complete(graph: OnnxGraph) -> dict[str, OnnxType] | None:
    """Return the types that a graph states of its values, None where one is not known to the last size."""
    types: dict[str, OnnxType] = {}
    sound: set[int] = set()
    for info in chain(graph.value_infos, graph.outputs):
        kind = info.type
        if kind is None:
            return None
        if id(kind) not in sound:
            if kind.kind != "tensor" or not kind.elem_type or kind.shape is None or not all(map(_known, kind.shape)):
                return None
            sound.add(id(kind))
        types[info.name] = kind
    return types


def _known(size: int | str | None) -> bool:
    return size is not None and not (isinstance(size, str) and size.startswith(INVENTED))


class _Kinds:
    """The kinds of nodes in a graph, each by its first node.

    known: by name what tells kinds apart, by its identity: a type, or what holds the elements.
    """

    def __init__(self, graph: OnnxGraph, types: Mapping[str, OnnxType]) -> None:
        self.graph = graph
        self.types = types
        self.firsts: list[OnnxNode] = []
        self.constants: dict[str, OnnxNode] = {}
        self.known: dict[str, object] = {"": None}
        self.numbers: list[int] = []

    def found(self) -> bool:
        """Look at all nodes; return whether what is stated is enough."""
        known, types = self.known, self.types
        if not self.begin():
            return False
        kinds: dict[tuple[object, ...], int] = {}
        for node in self.graph.nodes:
            try:
                ends = *map(id, map(known.__getitem__, node.inputs)), *map(id, map(types.__getitem__, node.outputs))
            except KeyError:  # it comes later or never, or is not stated
                return False
            key = node.op_type, node.domain, node.overload, id(node.attributes), len(node.inputs), ends
            number = kinds.setdefault(key, len(kinds))
            self.numbers.append(number)
            if number == len(self.firsts) and not self.first(node):
                return False
            constant = node.op_type == "Constant" and not node.domain
            for name in node.outputs:
                if name in known:
                    return False
                known[name] = node.attributes if constant else types[name]
            if constant:
                self.constants.update(dict.fromkeys(node.outputs, node))
        return True

    def begin(self) -> bool:
        """Know inputs and initializers."""
        for info in self.graph.inputs:
            self.known[info.name] = info.type or _UNKNOWN
        for tensor in chain(self.graph.initializers, self.graph.sparse_initializers):
            self.known.setdefault(tensor.name, tensor)
        return self.known.keys().isdisjoint(self.types)

    def first(self, node: OnnxNode) -> bool:
        """Take a node to be asked about; return whether that is possible."""
        self.firsts.append(node)
        return not holds_weights(node)

    def question(self, model: OnnxModel) -> tuple[Question, list[str]]:
        """Return a question about the first nodes, and the names of what they compute."""
        firsts = [node for node in self.firsts if node.domain in STANDARD_DOMAINS]  # of others nothing is inferred
        read = dict.fromkeys(name for node in firsts for name in node.inputs if name)
        before = [self.constants[name] for name in read if name in self.constants]
        chosen = list({id(node): node for node in (*before, *firsts)}.values())
        computed = dict.fromkeys(name for node in chosen for name in node.outputs if name)
        given = {name: self.known[name] for name in read if name not in computed}
        types = {name: kind for name, kind in given.items() if isinstance(kind, OnnxType) and kind is not _UNKNOWN}
        tensors = {name: one for name, one in given.items() if isinstance(one, OnnxTensor)}
        types |= {name: tensor_type(one) for name, one in tensors.items() if one.data is None}
        constants = [one for one in tensors.values() if one.data is not None]
        return Questions(model, copied=False).about(chosen, types, constants), list(computed)
