"""Traversal of an ONNX model: graph, subgraphs and functions.

Each has the path that findings name.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.dialects.onnx.file.schema import GRAPH_KINDS
from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxNode, OnnxTensor
from specgate.dialects.onnx.reader import operator_name
from specgate.linting.nodes import Unit, Units
from specgate.verdict import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from specgate.dialects.onnx.file.structure import OnnxFunction, OnnxModel
    from specgate.verdict import Severity

    Key = tuple[str, str, str]
    Place = tuple[str | None, str, str | None]
    Path = tuple[tuple[str, int], ...]

#: Domains defined by ONNX itself.
STANDARD_DOMAINS: Final = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "ai.onnx.training")
_TENSORS: Final = ("TENSOR", "TENSORS")
_OPERATOR: Final = attrgetter("domain", "op_type", "overload")  # same parts as `function_key`
_ATTRIBUTES: Final = attrgetter("attributes")


@dataclass(frozen=True, slots=True)
class Body:
    """Nodes of a graph, subgraph or function. `imports` are its opsets.

    `holders` has the indices and nodes with other attributes than numbers and strings: graphs, tensors, types,
    references or unread values. `operators` counts the nodes per operator.
    """

    place: str
    nodes: list[OnnxNode]
    holders: list[tuple[int, OnnxNode]]
    imports: Mapping[str, int]
    operators: Mapping[Key, int]
    graph: OnnxGraph | None = None
    function: OnnxFunction | None = None


def bodies(model: OnnxModel) -> Iterator[Body]:
    """Yield the bodies of a model, outer ones before nested ones.

    The place of a function is ``function DOMAIN.NAME``.
    """
    yield from _graph(model.graph, "graph", model.opset_imports, None)
    for function in model.functions:
        place = function_place(function)
        holder_nodes = composite_nodes(function.nodes)
        operators = Counter(map(_OPERATOR, function.nodes))
        yield Body(place, function.nodes, holder_nodes, function.opset_imports, operators, function=function)
        yield from _iterate_bodies(holder_nodes, place, function.opset_imports, function)


def _graph(graph: OnnxGraph, place: str, imports: Mapping[str, int], function: OnnxFunction | None) -> Iterator[Body]:
    holder_nodes = composite_nodes(graph.nodes)
    yield Body(place, graph.nodes, holder_nodes, imports, Counter(map(_OPERATOR, graph.nodes)), graph, function)
    yield from _iterate_bodies(holder_nodes, place, imports, function)


def composite_nodes(nodes: Sequence[OnnxNode]) -> list[tuple[int, OnnxNode]]:
    """Return indices and nodes whose attributes are not all plain."""
    distinct_nodes = dict(zip(map(id, map(_ATTRIBUTES, nodes)), nodes, strict=True))  # most nodes share attributes
    holder_keys = {key for key, node in distinct_nodes.items() if not node.plain}
    return [(i, node) for i, node in enumerate(nodes) if id(node.attributes) in holder_keys] if holder_keys else []


def _iterate_bodies(
    holder_nodes: list[tuple[int, OnnxNode]], place: str, imports: Mapping[str, int], function: OnnxFunction | None
) -> Iterator[Body]:
    for index, node in holder_nodes:
        for name, graph in subgraphs(node):
            yield from _graph(graph, f"{place}/{label(node, index)}/{name}", imports, function)


def subgraphs(node: OnnxNode) -> Iterator[tuple[str, OnnxGraph]]:
    """Yield attribute name and graph of a node's subgraphs.

    Names are numbered if an attribute holds several graphs.
    """
    for name, attribute in node.attributes.items():
        if attribute.kind in GRAPH_KINDS and attribute.value is not None:
            items = attribute.value if isinstance(attribute.value, list) else [attribute.value]
            for number, graph in enumerate(items):
                if isinstance(graph, OnnxGraph):
                    yield (name if len(items) == 1 else f"{name}[{number}]"), graph


def tensors(node: OnnxNode) -> Iterator[tuple[str, OnnxTensor]]:
    """Yield attribute name and tensor of a node's dense tensors."""
    for name, attribute in node.attributes.items():
        if attribute.kind in _TENSORS and attribute.value is not None:
            items = attribute.value if isinstance(attribute.value, list) else [attribute.value]
            yield from ((name, tensor) for tensor in items if isinstance(tensor, OnnxTensor))


def label(node: OnnxNode, index: int) -> str:
    """Return a node label that is stable when other nodes change.

    That is its name, else its first output, else its index.
    """
    if node.name:
        return node.name
    output = next((name for name in node.outputs if name), None)
    return f"{node.op_type}->{output}" if output else f"node[{index}]"


def function_key(item: OnnxNode | OnnxFunction) -> Key:
    """Return the key of a function, or of the function a node might call."""
    name = item.op_type if isinstance(item, OnnxNode) else item.name
    return (item.domain, name, item.overload)


def function_place(function: OnnxFunction) -> str:
    """Return the path of a function's body."""
    return f"function {function.domain}.{function.name}" + (f":{function.overload}" if function.overload else "")


def domain_name(domain: str) -> str:
    """Return a domain's display name."""
    return domain or "ai.onnx"


def finding(
    rule: str,
    severity: Severity,
    message: str,
    place: Place,
    *,
    graph_place: str = "",
    values: Mapping[str, Any] | None = None,
    fix: str | None = None,
) -> Finding:
    """Return a finding ``onnx/model/RULE`` about the model.

    `place` is file, path and operator.
    """
    file, node, operator = place
    location = Location(file, None, node, operator)
    return Finding(
        f"onnx/model/{rule}", severity, message, where=graph_place, values=values or {}, fix=fix, location=location
    )


def category_mapper(graph: OnnxGraph, place: str) -> dict[str, str]:
    """Map a subgraph's value names to names with its path.

    Names need not be unique across subgraphs.
    """
    value_names = [value.name for value in graph.inputs] + [tensor.name for tensor in graph.initializers]
    value_names += [name for node in graph.nodes for name in node.outputs if name]
    return {name: f"{place}:{name}" for name in value_names}


def makers_of(nodes: list[OnnxNode], place: str) -> dict[str, tuple[str, str | None]]:
    """Return path and operator of the node that computes each value."""
    return {
        name: (f"{place}/{label(node, index)}", operator_name(node.op_type, node.domain))
        for index, node in enumerate(nodes)
        for name in node.outputs
    }


def graph_paths(model: OnnxModel) -> dict[int, Path]:
    """Return the path of field steps to each graph, by graph id.

    Graphs in nodes with duplicate attributes are not included.
    """
    graph_path: Path = (("graph", 0),)
    pairs_by_number = {id(model.graph): graph_path, **_nested_paths(model.graph.nodes, graph_path)}
    for number, function in enumerate(model.functions):
        pairs_by_number |= _nested_paths(function.nodes, (("functions", number),))
    return pairs_by_number


def _nested_paths(nodes: Iterable[OnnxNode], path: Path) -> dict[int, Path]:
    pairs_by_number: dict[int, Path] = {}
    for index, node in enumerate(nodes):
        if node.plain or node.duplicates:
            continue
        for place, attribute in enumerate(node.attributes.values()):
            if attribute.kind not in GRAPH_KINDS or attribute.value is None:
                continue
            is_list = isinstance(attribute.value, list)
            for number, graph in enumerate(attribute.value if is_list else [attribute.value]):
                graph_path = (*path, ("node", index), ("attribute", place), ("graphs" if is_list else "g", number))
                pairs_by_number |= {id(graph): graph_path, **_nested_paths(graph.nodes, graph_path)}
    return pairs_by_number


def circular_names(nodes: list[OnnxNode], reads_of: Callable[[OnnxNode], Iterable[str]]) -> frozenset[str]:
    """Return the outputs of nodes in or after a cycle."""
    makers = {name: index for index, node in enumerate(nodes) for name in node.outputs if name}
    maker_sets = [{makers[name] for name in reads_of(node) if name in makers} for node in nodes]
    readers: dict[int, list[int]] = {}
    for index, before in enumerate(maker_sets):
        for maker in before:
            readers.setdefault(maker, []).append(index)
    ready_nodes = [index for index, before in enumerate(maker_sets) if not before]
    left = [len(before) for before in maker_sets]
    done = set(ready_nodes)
    while ready_nodes:
        for reader in readers.get(ready_nodes.pop(), ()):
            left[reader] -= 1
            if not left[reader]:
                done.add(reader)
                ready_nodes.append(reader)
    return frozenset(name for index, node in enumerate(nodes) if index not in done for name in node.outputs if name)


class Row(NamedTuple):
    """Consecutive nodes of a body with their units; None if not a unit.

    `file` and `place` locate the body. `names` maps its value names to names that are unique in the file, if different.
    """

    file: str | None
    place: str
    nodes: Sequence[OnnxNode]
    first: int
    kinds: list[Unit | None]
    names: Mapping[str, str]


class _Ends:
    """Lazy lookup of the unique names of a node's values."""

    __slots__ = ("names_by_name", "node")

    def __init__(self, node: OnnxNode, names_by_name: Mapping[str, str]) -> None:
        self.node, self.names_by_name = node, names_by_name

    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        names = self.names_by_name
        return [names.get(name, name) for name in self.node.inputs], [
            names.get(name, name) for name in self.node.outputs
        ]


class NodeUnits(Units):
    """Units of all nodes as rows in model order.

    A node's subgraphs come after it, before the nodes that follow.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows: Final = list(rows)

    def kinds(self) -> list[tuple[Unit, int]]:
        kinds = list(chain.from_iterable(row.kinds for row in self.rows))
        ids = list(map(id, kinds))
        counts, firsts = Counter(ids), dict(zip(ids, kinds, strict=True))
        return [(kind, counts[key]) for key, kind in firsts.items() if kind is not None]

    def units_of(self, kinds: Collection[int] | None = None) -> Iterator[Unit]:
        for row in self.rows:
            for kind_index, kind in enumerate(row.kinds):
                if kind is None or (kinds is not None and id(kind) not in kinds):
                    continue
                index = row.first + kind_index
                node = row.nodes[index]
                ends: Any = _Ends(node, row.names) if row.names else (node.inputs, node.outputs)
                locate_part = partial(location, row.file, row.place, node, index)
                yield Unit(locate_part, kind.operator, kind.descriptor, kind.reason, ends)

    def unit_by_node(self) -> dict[int, Unit]:
        """Return a unit of the same kind per node id; only its place may differ."""
        return {
            id(node): kind
            for row in self.rows
            for node, kind in zip(row.nodes[row.first : row.first + len(row.kinds)], row.kinds, strict=True)
            if kind is not None
        }


def location(file: str | None, place: str, node: OnnxNode, index: int) -> Location:
    """Return the location of a node."""
    return Location(file, None, f"{place}/{label(node, index)}", operator_name(node.op_type, node.domain))
