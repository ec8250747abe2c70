"""Calls of functions replaced by the nodes that the functions are made of, as ONNX Runtime does without a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from specgate.dialects.onnx.file.structure import (
    OnnxAttribute,
    OnnxFunction,
    OnnxGraph,
    OnnxModel,
    OnnxType,
    OnnxValueInfo,
)
from specgate.dialects.onnx.lint.walk import label, subgraphs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from specgate.dialects.onnx.file.structure import OnnxNode

    Types = Mapping[int, Mapping[str, OnnxType]]

__all__ = ["Call", "Inlined", "inlined", "with_new_graphs"]

#: The place of a node that calls, its own name there, and what it calls.
Call = tuple[str, str, OnnxFunction]


@dataclass(slots=True)
class Inlined:
    """A model with calls replaced. origin: by new node (its id) the path of the call and the operator called.

    used: the paths of calls; nodes may share a name, and what they are made of must not. graphs: by new graph (its id)
    the one that it was.
    """

    model: OnnxModel
    origin: dict[int, tuple[str, str]] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    graphs: dict[int, OnnxGraph] = field(default_factory=dict)

    def types(self, known: Types) -> dict[int, Mapping[str, OnnxType]]:
        """Return by graph (its id) the types of its values that were known in the model before."""
        return {**known, **{new: known[id(old)] for new, old in self.graphs.items() if id(old) in known}}


def inlined(model: OnnxModel, calls: Mapping[int, Call]) -> Inlined:
    """Return a model with `calls` (by the node's id) replaced."""
    made = Inlined(replace(model, opset_imports=dict(model.opset_imports)))
    for _, _, function in calls.values():
        for domain, version in function.opset_imports.items():
            made.model.opset_imports.setdefault(domain, version)
    made.model.graph = _graph(model.graph, calls, made)
    return made


def _graph(graph: OnnxGraph, calls: Mapping[int, Call], made: Inlined) -> OnnxGraph:
    """Return a graph with calls replaced, itself where it has none."""
    nodes: list[OnnxNode] = []
    changed = False
    for node in graph.nodes:
        call = calls.get(id(node))
        if call is not None:
            changed = True
            nodes += _expanded(node, *call, made)
            continue
        inside = {id(held): new for _, held in subgraphs(node) if (new := _graph(held, calls, made)) is not held}
        if inside:
            changed = True
            nodes.append(replace(node, attributes=with_new_graphs(node, inside)))
        else:
            nodes.append(node)
    if not changed:
        return graph
    new = replace(graph, nodes=nodes, runs=[])
    made.graphs[id(new)] = graph
    return new


def with_new_graphs(node: OnnxNode, new: Mapping[int, OnnxGraph]) -> dict[str, OnnxAttribute]:
    """Return the attributes of a node with new graphs in the place of some (by their ids)."""
    return _with_graphs(node, lambda held: new.get(id(held), held))


def _with_graphs(node: OnnxNode, change: Callable[[OnnxGraph], OnnxGraph]) -> dict[str, OnnxAttribute]:
    def changed(value: object) -> object:
        return change(value) if isinstance(value, OnnxGraph) else value

    return {
        name: replace(
            held, value=[changed(one) for one in held.value] if isinstance(held.value, list) else changed(held.value)
        )
        for name, held in node.attributes.items()
    }


def _expanded(call: OnnxNode, place: str, name: str, function: OnnxFunction, made: Inlined) -> Iterator[OnnxNode]:
    """Yield the nodes of a call. What a function names itself gets the name of the call in front."""
    path = f"{place}/{name}"
    formal = zip(function.inputs, [*call.inputs, *[""] * len(function.inputs)], strict=False)
    names = dict(formal) | {own: given for own, given in zip(function.outputs, call.outputs, strict=False) if given}
    given = {**{held.name: held for held in function.attribute_protos}, **call.attributes}
    made.used[path] = number = made.used.get(path, 0) + 1
    prefix = path if number == 1 else f"{path}#{number}"

    def named(own: str) -> str:
        return names.get(own, f"{prefix}/{own}") if own else ""

    for index, node in enumerate(function.nodes):
        new = _copied(node, named, given)
        new.name = f"{name}/{label(node, index)}"
        made.origin[id(new)] = (path, f"{call.domain}.{call.op_type}" if call.domain else call.op_type)
        yield new


def _copied(node: OnnxNode, named: Callable[[str], str], given: Mapping[str, OnnxAttribute]) -> OnnxNode:
    """Return a node of a function as a call has it."""
    attributes = {}
    for name, held in node.attributes.items():
        if held.ref_attr_name is None:
            attributes[name] = held
        elif held.ref_attr_name in given:
            attributes[name] = replace(given[held.ref_attr_name], name=name)
    new = replace(
        node,
        inputs=[named(name) for name in node.inputs],
        outputs=[named(name) for name in node.outputs],
        attributes=attributes,
    )
    if not new.plain:
        new.attributes = _with_graphs(new, lambda graph: _renamed(graph, named, given))
    return new


def _renamed(graph: OnnxGraph, named: Callable[[str], str], given: Mapping[str, OnnxAttribute]) -> OnnxGraph:
    def infos(held: list[OnnxValueInfo]) -> list[OnnxValueInfo]:
        return [OnnxValueInfo(named(info.name), info.type) for info in held]

    return replace(
        graph,
        nodes=[_copied(node, named, given) for node in graph.nodes],
        inputs=infos(graph.inputs),
        outputs=infos(graph.outputs),
        value_infos=infos(graph.value_infos),
        initializers=[replace(tensor, name=named(tensor.name)) for tensor in graph.initializers],
        sparse_initializers=[replace(tensor, name=named(tensor.name)) for tensor in graph.sparse_initializers],
        runs=[],
    )
