"""Name checks of an ONNX model: defined once, before use, and used.

Source: docs/IR.md of onnx (names within a graph, nested subgraphs), commit f75469120. Severities follow what
onnx.checker 1.23.2 and ONNX Runtime 1.31.1 reject in tests.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from specgate.caching import cached_property
from specgate.descriptors.core import format_value
from specgate.dialects.onnx.file.schema import GRAPH_KINDS
from specgate.dialects.onnx.lint.units import circular_names, composite_nodes, finding, function_place, label, subgraphs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from specgate.dialects.onnx.file.structure import OnnxFunction, OnnxGraph, OnnxModel, OnnxNode
    from specgate.dialects.onnx.lint.units import Place
    from specgate.verdict import Finding, Severity

_MAX_LISTED: Final = 5
_TENSOR_KINDS: Final = ("tensor", "sparse_tensor")


def name_findings(model: OnnxModel) -> Iterator[Finding]:
    """Yield problems with names in all graphs and functions, in file order."""
    names = _Names(model.file, model.ir_version)
    yield from _untyped_values(model.graph, model.file)
    yield from names.graph(model.graph, "graph", [])
    for function in model.functions:
        yield from names.function(function)


def _untyped_values(graph: OnnxGraph, file: str | None) -> Iterator[Finding]:
    """Yield main graph inputs and outputs without types the checker requires."""
    place = (file, "graph", None)
    for kind, infos in (("input", graph.inputs), ("output", graph.outputs)):
        result = infos if kind == "input" else ()  # an output's type follows from its node
        typeless = [info.name for info in result if info.type is None or info.type.kind == "unknown"]
        tensors = [info for info in infos if info.type is not None and info.type.kind in _TENSOR_KINDS]
        shapeless = [info.name for info in tensors if info.type is not None and info.type.shape is None]
        for aspect_name, names in (("type", typeless), ("shape", shapeless)):
            if names:
                listing = ", ".join(map(format_value, names[:_MAX_LISTED])) + " …" * (len(names) > _MAX_LISTED)
                message = f"{kind} {listing} without a {aspect_name}, which onnx.checker requires"
                yield finding(
                    "graph-types",
                    "note",
                    message,
                    place,
                    graph_place=kind,
                    fix=f"state a {aspect_name}; sizes may be open",
                )


@dataclass
class _Scope:
    """Names of one graph, defined so far (with their origin) and overall.

    `outer_count` is the number of inputs and initializers, which come first. `parents` are the nodes with subgraphs.
    `ordered` is True while no node, including those in subgraphs, has read a name before its definition.
    """

    nodes: list[OnnxNode]
    defined: dict[str, str] = field(default_factory=dict)
    outer_count: int = 0
    ordered: bool = True

    @cached_property
    def parents(self) -> frozenset[int]:
        return frozenset(index for index, node in composite_nodes(self.nodes) if any(True for _ in subgraphs(node)))

    @cached_property
    def computed_names(self) -> frozenset[str]:
        """Return the outputs of all nodes except Constant."""
        return frozenset(name for node in self.nodes if not _is_constant(node) for name in node.outputs)

    @cached_property
    def all_names(self) -> frozenset[str]:
        return frozenset(name for node in self.nodes for name in node.outputs)


def _is_constant(node: OnnxNode) -> bool:
    return node.op_type == "Constant" and not node.domain


class _Names:
    def __init__(self, file: str | None, ir_version: int | None) -> None:
        self.file = file
        self.ir_version = ir_version
        self.free: dict[int, AbstractSet[str]] = {}

    def graph(self, graph: OnnxGraph, place: str, outer: list[_Scope]) -> Iterator[Finding]:
        """Check one graph, and the subgraphs of its nodes in its scope."""
        scope = _Scope(graph.nodes)
        scope_place = (self.file, place, None)
        if not graph.name:
            yield finding(
                "graph-name", "note", "the graph has no name, which onnx.checker rejects", scope_place, fix="name it"
            )
        yield from self.begin(graph, scope, scope_place, outer)
        scope.outer_count = len(scope.defined)
        yield from self.nodes(graph.nodes, place, scope, outer)
        for info in graph.outputs:
            yield from self.output(info.name, scope, scope_place, outer)
        yield from self.unread(graph, scope, place, outer)

    def function(self, function: OnnxFunction) -> Iterator[Finding]:
        """Check a function's body, which can only read its formal inputs."""
        place = function_place(function)
        scope_place = (self.file, place, None)
        scope = _Scope(function.nodes)
        for name in function.inputs:
            yield from self.define(name, "input", scope, scope_place, [])
        yield from self.nodes(function.nodes, place, scope, [])
        for name in function.outputs:
            yield from self.output(name, scope, scope_place, [])
        yield from self.dead_nodes(function.nodes, function.outputs, place, scope)

    def begin(self, graph: OnnxGraph, scope: _Scope, place: Place, outer: list[_Scope]) -> Iterator[Finding]:
        """Define inputs and initializers.

        An initializer with an input's name is the default of that input.
        """
        for info in graph.inputs:
            yield from self.define(info.name, "input", scope, place, outer)
        inputs = frozenset(scope.defined)
        inputless = not outer and (self.ir_version or 4) >= 4
        for tensor in chain(graph.initializers, graph.sparse_initializers):
            if inputless and tensor.name and tensor.name not in scope.defined:
                scope.defined[tensor.name] = "initializer"  # fast path for the usual case
            elif tensor.name not in inputs or scope.defined[tensor.name] != "input":
                yield from self.define(tensor.name, "initializer", scope, place, outer)
            else:
                scope.defined[tensor.name] = "initializer"
            if tensor.name and tensor.name not in inputs and (self.ir_version or 4) < 4:
                name, version = format_value(tensor.name), self.ir_version
                message = f"the initializer {name} is not an input, which IR version {version} requires"
                yield finding(
                    "initializer-input", "error", message, place, fix="list it as an input, or use IR version 4"
                )

    def define(self, name: str, kind: str, scope: _Scope, place: Place, outer: list[_Scope]) -> Iterator[Finding]:
        """Add a name to the scope; report duplicate and shadowed names."""
        if not name:
            if kind != "node":  # a node's optional output
                yield finding("name-empty", "error", f"an {kind} has no name", place)
            return
        if name in scope.defined:
            action = {"node": "computes", "input": "has the input", "initializer": "has the initializer"}[kind]
            other = {"node": "an earlier node computes it", "input": "an input has that name"}
            reason = other.get(scope.defined[name], "an initializer has that name")
            values: dict[str, object] = {"name": name}
            if kind == "node" and name not in scope.computed_names:
                values["constants"] = "body" if outer or place[1].startswith("function ") else "graph"
            yield finding(
                "name-duplicate", "error", f"{action} {format_value(name)}, but {reason}", place, values=values
            )
        elif any(name in outer_scope.defined for outer_scope in outer):
            # onnx.checker and ONNX Runtime reject this only for a node's output.
            owner = "output of a node" if kind == "node" else kind
            message = f"the {owner} {format_value(name)} hides a value with the same name"
            severity: Severity = "error" if kind == "node" else "warning"
            message += " outside the subgraph"
            yield finding("name-shadowed", severity, message, place, values={"name": name})
        scope.defined[name] = kind

    def nodes(self, nodes: list[OnnxNode], place: str, scope: _Scope, outer: list[_Scope]) -> Iterator[Finding]:
        """Check the nodes in order: inputs, subgraphs and outputs."""
        circular: frozenset[str] | None = None
        visible = ChainMap(scope.defined, *(outer_scope.defined for outer_scope in outer)) if outer else scope.defined
        is_visible, parents = visible.__contains__, scope.parents
        for index, node in enumerate(nodes):
            is_nested = index in parents
            if not is_nested and not node.duplicates and len(node.outputs) == 1 and all(map(is_visible, node.inputs)):
                name = node.outputs[0]
                if name and name not in visible:
                    scope.defined[name] = "node"  # fast path for the usual case
                    continue
            missing_names = [name for name in node.inputs if name not in visible and name]
            pairs = list(subgraphs(node)) if is_nested else []
            node_path = f"{place}/{label(node, index)}"
            node_place = (self.file, node_path, node.op_type or None)
            if missing_names:
                for visible_scope in (scope, *outer):
                    visible_scope.ordered = False
            for name in dict.fromkeys(missing_names):
                if name in scope.all_names and circular is None:
                    circular = circular_names(nodes, self.reads)
                yield self.missing(name, scope, outer, node_place, circular or frozenset())
            for path, graph in pairs:
                yield from self.graph(graph, f"{node_path}/{path}", [*outer, scope])
            for name in node.outputs:
                yield from self.define(name, "node", scope, node_place, outer)
            if not node.inputs and not node.outputs:
                yield finding(
                    "node-empty", "error", "the node has no inputs and no outputs", node_place, fix="remove it"
                )
            for name in node.duplicates:
                message = f"the attribute {format_value(name)} occurs more than once"
                yield finding("attribute-duplicate", "error", message, node_place, graph_place=name[:60])
        yield from self.node_names(nodes, place)

    def missing(
        self,
        name: str,
        scope: _Scope,
        outer: list[_Scope],
        place: Place,
        circular: frozenset[str],
    ) -> Finding:
        values = {"name": name}
        if name in circular:
            message = f"reads {format_value(name)}, which depends on the node's own output (a cycle)"
            return finding("cycle", "error", message, place, values=values)
        if name in scope.all_names or any(name in outer_scope.all_names for outer_scope in outer):
            message = f"reads {format_value(name)}, which a later node computes; nodes must be in topological order"
            return finding("node-order", "error", message, place, values=values, fix="sort the nodes")
        message = f"reads {format_value(name)}, which is not an input, initializer or node output"
        return finding("name-undefined", "error", message, place, values=values)

    def output(self, name: str, scope: _Scope, place: Place, outer: list[_Scope]) -> Iterator[Finding]:
        """Report a graph output that is not a value of the same graph."""
        if not name:
            yield finding("name-empty", "error", "an output has no name", place)
        elif any(name in outer_scope.defined for outer_scope in outer) and name not in scope.defined:
            message = f"the output {format_value(name)} is a value from outside the subgraph"
            fix = "pass it through an Identity node"
            yield finding("output-undefined", "error", message, place, values={"name": name}, fix=fix)
        elif name not in scope.defined:
            message = f"the output {format_value(name)} is not an input, initializer or node output"
            yield finding("output-undefined", "error", message, place, values={"name": name})

    def node_names(self, nodes: list[OnnxNode], place: str) -> Iterator[Finding]:
        names = [node.name for node in nodes if node.name]
        counts = Counter(names) if len(set(names)) < len(names) else {}
        for name, count in counts.items():
            if count > 1:
                constants = sum(node.name == name and _is_constant(node) for node in nodes)
                message = f"{count} nodes have the name {format_value(name)}"
                node_place = (self.file, f"{place}/{name}", None)
                values: dict[str, object] = {"name": name, "count": count}
                if count - constants < 2:
                    values["constants"] = "graph" if place == "graph" else "body"
                else:
                    message += "; ONNX Runtime rejects such a model"
                yield finding("node-name-duplicate", "warning", message, node_place, values=values)

    def reads(self, node: OnnxNode) -> Iterable[str]:
        """Return the names that a node and its subgraphs read.

        These may include values that the subgraphs define.
        """
        if not any(attribute.kind in GRAPH_KINDS for attribute in node.attributes.values()):
            return node.inputs
        return chain(node.inputs, *(self.read_within(graph) for _, graph in subgraphs(node)))

    def read_within(self, graph: OnnxGraph) -> AbstractSet[str]:
        if id(graph) not in self.free:
            read_names = set(chain.from_iterable(node.inputs for node in graph.nodes))
            nested_graphs = chain.from_iterable(subgraphs(node) for _, node in composite_nodes(graph.nodes))
            read_names.update(
                *(self.read_within(graph) for _, graph in nested_graphs), (info.name for info in graph.outputs)
            )
            read_names.discard("")
            self.free[id(graph)] = read_names
        return self.free[id(graph)]

    def unread(self, graph: OnnxGraph, scope: _Scope, place: str, outer: list[_Scope]) -> Iterator[Finding]:
        """Yield notes about values that are never read."""
        graph_place = (self.file, place, None)
        for name, kind in islice(scope.defined.items(), scope.outer_count):
            if kind == "node" or name in self.read_within(graph):
                continue
            if kind == "input" and outer:  # the body of a loop must declare its inputs
                continue
            yield finding(
                f"{kind}-unused",
                "note",
                f"the {kind} {format_value(name)} is never used",
                graph_place,
                values={"name": name},
            )
        if not scope.ordered or not graph.outputs or not self.read_all(graph, scope):
            yield from self.dead_nodes(graph.nodes, [info.name for info in graph.outputs], place, scope)
        unused_names = {info.name for info in graph.value_infos if info.name not in scope.defined}
        if unused_names and outer:
            unused_names.difference_update(
                *(outer_scope.all_names for outer_scope in outer), *(outer_scope.defined for outer_scope in outer)
            )
        if unused_names:
            listing = ", ".join(format_value(name) for name in sorted(unused_names)[:_MAX_LISTED]) + (
                " …" if len(unused_names) > _MAX_LISTED else ""
            )
            message = f"value_info describes {len(unused_names)} values that the graph does not have: {listing}"
            yield finding(
                "value-info-unknown", "note", message, graph_place, graph_place="value_info", fix="remove the entries"
            )

    def read_all(self, graph: OnnxGraph, scope: _Scope) -> bool:
        """Return True if all names are defined once and all nodes are read.

        In topological order, no node is unused then.
        """
        outputs = [node.outputs for node in graph.nodes]
        is_unique = sum(map(len, outputs)) == len(scope.defined) - scope.outer_count
        return is_unique and not any(map(self.read_within(graph).isdisjoint, outputs))

    def dead_nodes(self, nodes: list[OnnxNode], outputs: list[str], place: str, scope: _Scope) -> Iterator[Finding]:
        """Yield notes about nodes that no graph output depends on.

        Nodes without outputs are assumed to have another purpose.
        """
        if not outputs:
            message = "has no outputs, so no other node can use it"
            yield finding("output-missing", "note", message, (self.file, place, None))
            return
        for index in self.needless(scope, outputs) if scope.ordered else self.unneeded_nodes(nodes, outputs):
            node = nodes[index]
            message = f"no graph output depends on {format_value(next(filter(None, node.outputs)))}"
            node_place = (self.file, f"{place}/{label(node, index)}", node.op_type or None)
            yield finding("node-unused", "note", message, node_place, fix="remove the node")

    def needless(self, scope: _Scope, outputs: list[str]) -> list[int]:
        """Return indices of unneeded nodes, for nodes in topological order."""
        needed_names = set(outputs) - {""}
        numbers = []
        for index in range(len(scope.nodes) - 1, -1, -1):
            node = scope.nodes[index]
            if needed_names.isdisjoint(node.outputs) and any(node.outputs):
                numbers.append(index)
            else:
                needed_names.update(self.reads(node) if index in scope.parents else node.inputs)
                needed_names.discard("")
        return numbers[::-1]

    def unneeded_nodes(self, nodes: list[OnnxNode], outputs: list[str]) -> list[int]:
        """Return indices of unneeded nodes, for nodes in any order."""
        makers: dict[str, list[int]] = {}
        for index, node in enumerate(nodes):
            for name in filter(None, node.outputs):
                makers.setdefault(name, []).append(index)
        roots = [index for index, node in enumerate(nodes) if not any(node.outputs)]
        pending = [*roots, *(index for name in outputs for index in makers.get(name, ()))]
        alive = set(pending)
        while pending:
            for name in self.reads(nodes[pending.pop()]):
                fresh = [index for index in makers.get(name, ()) if index not in alive]
                alive.update(fresh)
                pending.extend(fresh)
        return [index for index in range(len(nodes)) if index not in alive]
