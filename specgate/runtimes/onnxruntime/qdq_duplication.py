"""Nodes that a runtime duplicates for each further consumer.

Source: onnxruntime core/optimizer/qdq_transformer/ensure_unique_dq_for_node_unit.cc (commit 398a07aa3). TransformGraph
of core/session/inference_session.cc runs it before placement at every optimization level.
specs/onnxruntime/releases.yaml lists the operators and releases. A duplicate has the same inputs as its node. The
original serves the graph outputs and subgraphs, or else its first consumer.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass, field, replace
from itertools import count
from operator import is_
from typing import TYPE_CHECKING, NamedTuple

from specgate.dialects.onnx.lint.units import bodies, label, subgraphs
from specgate.runtimes.onnxruntime.functions import with_new_graphs
from specgate.runtimes.onnxruntime.graph import depth_first_order, reads
from specgate.runtimes.onnxruntime.registrations import release_position, runtime_tables
from specgate.runtimes.onnxruntime.table_references import MAIN_DOMAIN
from specgate.spec.tables import until_change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxNode
    from specgate.dialects.onnx.lint.graph import Source
    from specgate.linting.nodes import Unit
    from specgate.runtimes.onnxruntime.node_assignment import AssignedModel


class DuplicationRules(NamedTuple):
    """The duplication of one release.

    operators: domains by operator name. attributes: whether duplicates have the attributes of the original. inlined:
    whether calls are replaced first in a model with functions. setting: the session setting that disables duplication.
    """

    operators: Mapping[str, frozenset[str]]
    attributes: bool
    inlined: bool
    setting: str

    def is_duplicated(self, node: OnnxNode) -> bool:
        """Return whether a node is duplicated if it has several consumers."""
        domains = self.operators.get(node.op_type)
        return domains is not None and node.domain in domains and bool(node.outputs and node.outputs[0])


class Added(NamedTuple):
    """A duplicate.

    of: the id of the original node. reader: the path of the consumer.
    """

    of: int
    reader: str


@until_change
def duplicating(release: str) -> DuplicationRules | None:
    """Return the duplication of a release, None if it does not duplicate."""
    position = release_position(release)
    for entry in runtime_tables()["duplicating"]:
        if entry["first"] <= position <= entry["last"]:
            names_by_name: dict[str, set[str]] = {}
            for domain, names in entry["operators"].items():
                for name in names:
                    names_by_name.setdefault(name, set()).add("" if domain == MAIN_DOMAIN else domain)
            operators = {name: frozenset(names) for name, names in names_by_name.items()}
            return DuplicationRules(operators, entry["attributes"], entry["inlined"], entry["setting"])
    return None


def duplicate_nodes(
    source: Source, duplication: DuplicationRules, calls: AssignedModel | None = None
) -> tuple[Source, Mapping[int, Added]]:
    """Return a model with duplicates, and the duplicates by node id.

    calls: earlier assignments with replaced calls, None if there were none; it receives new nodes of these calls. The
    same model is returned without duplicates.
    """
    if not any(node.op_type in duplication.operators for nodes in _lists(source) for node in nodes):
        return source, {}
    model = _Model(source, duplication, calls)
    graph = model.graph(source.model.graph, "graph")
    return (model.source(graph), model.added) if model.added else (source, {})


@dataclass(slots=True)
class _Model:
    """Changes to one model.

    units: by id of a new node. named: by id of a new graph, its original, and for each added value the value that it
    repeats. copies: new nodes, kept alive so that ids are not reused.
    """

    before: Source
    how: DuplicationRules
    calls: AssignedModel | None
    added: dict[int, Added] = field(default_factory=dict)
    units: dict[int, Unit] = field(default_factory=dict)
    named: dict[int, tuple[OnnxGraph, dict[str, str]]] = field(default_factory=dict)
    copies: list[OnnxNode] = field(default_factory=list)

    def source(self, graph: OnnxGraph) -> Source:
        """Return the model with its new main graph."""
        before = self.before
        scopes = dict(before.scopes)
        types = None if before.types is None else dict(before.types)
        for new, (old, names) in self.named.items():
            scope = before.scopes[id(old)]
            assert isinstance(scope, dict | ChainMap)  # noqa: S101  # the reader creates no other type
            renamed_names = {name: scope[inner_name] for name, inner_name in names.items() if inner_name in scope}
            # A main graph's scope is usually a plain dict, whose lookups are faster.
            scopes[new] = (
                {**scope, **renamed_names} if isinstance(scope, dict) else ChainMap(renamed_names, *scope.maps)
            )
            if types is not None:
                kinds = types.get(id(old), {})
                types[new] = {
                    **kinds,
                    **{name: kinds[inner_name] for name, inner_name in names.items() if inner_name in kinds},
                }
        model = replace(before.model, graph=graph)
        return replace(before, model=model, scopes=scopes, more={**before.more, **self.units}, types=types)

    def graph(self, graph: OnnxGraph, place: str) -> OnnxGraph:
        """Return a graph with duplicates, or the same graph without any.

        It includes the duplicates in nested bodies.
        """
        nodes: list[OnnxNode] = []
        for index, node in enumerate(graph.nodes):
            if node.plain:
                nodes.append(node)
                continue
            path = f"{place}/{label(node, index)}"
            new_graphs = {
                id(graph): new
                for name, graph in subgraphs(node)
                if (new := self.graph(graph, f"{path}/{name}")) is not graph
            }
            nodes.append(self.modify_node(node, attributes=with_new_graphs(node, new_graphs)) if new_graphs else node)
        work = _Graph(self, graph, nodes, place)
        work.run()
        if not work.names and all(map(is_, nodes, graph.nodes)):
            return graph
        new = replace(graph, nodes=work.all_nodes(), runs=[])
        self.named[id(new)] = graph, work.names
        return new

    def modify_node(self, node: OnnxNode, **changes: object) -> OnnxNode:
        """Return a modified copy of a node that keeps its metadata."""
        new = replace(node, **changes)  # type: ignore[arg-type]  # fields of a node
        unit = self.unit(node)
        if unit is not None:
            self.units[id(new)] = unit
        self.copies.append(new)
        if self.calls is not None and id(node) in self.calls.origin:
            self.calls.origin[id(new)] = self.calls.origin[id(node)]
        return new

    def unit(self, node: OnnxNode) -> Unit | None:
        """Return the unit of a node."""
        return self.units.get(id(node)) or self.before.units.get(id(node))

    def duplicate_node(self, node: OnnxNode, name: str, output: str) -> OnnxNode:
        """Return a duplicate of a node."""
        outputs = [output, *([""] * (len(node.outputs) - 1))]
        if self.how.attributes or not node.attributes:
            return self.modify_node(node, name=name, outputs=outputs)
        new = replace(node, name=name, outputs=outputs, attributes={})
        unit = self.unit(node)
        if unit is not None and unit.descriptor is not None:
            kept_fields = {
                field_name: value
                for field_name, value in unit.descriptor.fields.items()
                if field_name not in node.attributes
            }
            self.units[id(new)] = replace(unit, descriptor=replace(unit.descriptor, fields=kept_fields))
        return new


class _Graph:
    """One graph's nodes, and the duplicates to insert after each."""

    def __init__(self, model: _Model, graph: OnnxGraph, nodes: list[OnnxNode], place: str) -> None:
        self.model, self.before, self.nodes, self.place = model, graph, nodes, place
        self.behind: dict[int, list[OnnxNode]] = {}
        self.names: dict[str, str] = {}  # duplicated value by added value
        # Values and nodes share a counter, and each call of an operator but the first has used a number.
        used_types = (
            [node.proto.op_type for call_place, node in model.calls.called if call_place == place]
            if model.calls
            else []
        )
        self.numbers = count(len(used_types) - len(set(used_types)))
        self.values: set[str] | None = None
        self.titles: set[str] = set()
        self.changed: set[int] = set()  # consumers of duplicates, which have separate inputs

    def all_nodes(self) -> list[OnnxNode]:
        """Return all nodes."""
        return [item for index, node in enumerate(self.nodes) for item in (node, *self.behind.get(index, ()))]

    def run(self) -> None:
        """Add duplicates in the order in which the runtime visits nodes."""
        expected_numbers = [index for index, node in enumerate(self.nodes) if self.model.how.is_duplicated(node)]
        if not expected_numbers:
            return
        values = {self.nodes[index].outputs[0] for index in expected_numbers}
        readers: dict[str, list[tuple[int, int]]] = {name: [] for name in values}
        names = {info.name for info in self.before.outputs} & values  # values with other consumers
        for node_index, node in enumerate(self.nodes):
            for position, name in enumerate(node.inputs):
                if name in values:
                    readers[name].append((node_index, position))
            read_names = reads(node)
            if read_names is not node.inputs:
                names |= values & set(read_names[len(node.inputs) :])
        shared_names = {name for name, numbers in readers.items() if len(numbers) + (name in names) > 1 and numbers}
        if shared_names:
            order = self._order()
            for node_index in sorted(expected_numbers, key=order.__getitem__):
                name = self.nodes[node_index].outputs[0]
                if name in shared_names:
                    numbers = sorted(readers[name], key=lambda position: (self._sort_key(position[0]), position[1]))
                    for reader, position in numbers if name in names else numbers[1:]:
                        self._add(node_index, reader, position)

    def _sort_key(self, index: int) -> tuple[bool, int]:
        """Return a node's sort key; nodes of expanded calls come last."""
        calls = self.model.calls
        return calls is not None and id(self.nodes[index]) in calls.origin, index

    def _order(self) -> dict[int, int]:
        numbered = sorted(range(len(self.nodes)), key=self._sort_key)
        order = depth_first_order([self.nodes[index] for index in numbered])
        return {numbered[index]: position for position, index in enumerate(order)}

    def _add(self, index: int, reader: int, position: int) -> None:
        node, target = self.nodes[index], self.nodes[reader]
        path = f"{self.place}/{label(target, reader)}"
        value, name = self._free(f"{node.outputs[0]}/duplicated", f"{node.name}/duplicated")
        new = self.model.duplicate_node(node, name if node.name else f"{label(node, index)}{name}", value)
        self.names[value] = node.outputs[0]
        self.model.added[id(new)] = Added(id(node), path)
        self.behind.setdefault(index, []).append(new)
        if reader not in self.changed:
            self.changed.add(reader)
            target = self.nodes[reader] = self.model.modify_node(target)
        target.inputs = (*target.inputs[:position], value, *target.inputs[position + 1 :])

    def _free(self, value: str, name: str) -> tuple[str, str]:
        """Return unused names, with a number appended if necessary."""
        if self.values is None:
            graph = self.before
            self.values = {text for node in self.nodes for text in (*reads(node), *node.outputs)}
            self.values |= {info.name for info in (*graph.inputs, *graph.outputs)}
            self.values |= {tensor.name for tensor in (*graph.initializers, *graph.sparse_initializers)}
            self.titles = {node.name for node in self.nodes}
        return self._first(value, self.values), self._first(name, self.titles)

    def _first(self, base: str, names: set[str]) -> str:
        name = base
        while name in names:
            name = f"{base}_token_{next(self.numbers)}"
        names.add(name)
        return name


def _lists(source: Source) -> Iterator[list[OnnxNode]]:
    """Yield the nodes of every graph of a model that was read."""
    if len(source.scopes) < 2:  # without nested graphs
        yield source.model.graph.nodes
    else:
        yield from (body.nodes for body in bodies(source.model) if body.function is None)
