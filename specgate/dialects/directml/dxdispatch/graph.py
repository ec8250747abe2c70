"""DML_GRAPH_DESC in a model file: nodes, and edges between them.

Nodes name dispatchables, as in DxDispatch's sample ``dml_graph_quadratic.json`` (microsoft/DirectML at 0d5bc75c). The
operators of a graph are validated separately. Edge indices are checked against the nodes and tensors, as in
IDMLDevice1::CompileGraph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import format_value
from specgate.descriptors.files import NoTableEntry
from specgate.descriptors.text import place_of
from specgate.descriptors.words import word_of
from specgate.dialects.directml.dxdispatch.model import DxDispatchable
from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.tensor import NAME
from specgate.errors import InputError, NoTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.dialects.directml.dxdispatch.model import DxBinding, DxModel

GRAPH: Final = "DML_GRAPH_DESC"
_EDGES: Final = ("InputEdges", "OutputEdges", "IntermediateEdges")
#: By edge index: the upper bound, which is a count of the graph or the tensors of the edge's node.
_INDICES: Final = {
    "GraphInputIndex": "InputCount", "GraphOutputIndex": "OutputCount", "FromNodeIndex": "Nodes",
    "ToNodeIndex": "Nodes", "FromNodeOutputIndex": "output", "ToNodeInputIndex": "input",
}  # fmt: skip


def graph_dispatchable(raw: Mapping[str, Any], bindings: dict[str, list[DxBinding]]) -> DxDispatchable:
    """Return the dispatchable of a graph in a file."""
    reason = "not checked: the program does not contain the description of this operator"
    return DxDispatchable(GRAPH, GRAPH, no_table=reason, raw=dict(raw), bindings=bindings)


def check_graphs(model: DxModel) -> None:
    """Check the indices and names in graphs; raise InputError with the place."""
    operators = {name: dispatchable.operator for name, dispatchable in model.dispatchables.items()}
    for name, dispatchable in model.dispatchables.items():
        if dispatchable.kind == GRAPH:
            _check(dispatchable.raw, operators, place_of("dispatchables", name))


def _check(raw: Mapping[str, Any], operators: Mapping[str, str], place: str) -> None:
    desc = raw.get("desc", raw.get("Desc"))
    if not isinstance(desc, dict):
        raise InputError(f"expected an object with the graph's fields, found {format_value(desc)}", place=place)
    nodes = [_node(node, operators, f"{place}.Nodes[{i}]") for i, node in enumerate(_get_list(desc, "Nodes", place))]
    counts = {name: _number(desc, name, place) for name in ("InputCount", "OutputCount")} | {"Nodes": len(nodes)}
    for name in _EDGES:
        members = [member.name for member in _edge_members(name) if member.base == "uint"]
        for index, edge in enumerate(_get_list(desc, name, place)):
            item_place = f"{place}.{name}[{index}]"
            if not isinstance(edge, dict):
                raise InputError(f"expected an edge, found {format_value(edge)}", place=item_place)
            _parse_edge(edge, members, nodes, counts, item_place)


def _edge_members(name: str) -> Sequence[Any]:
    return abi().graph(f"{name.removesuffix('Edges').upper()}_GRAPH_EDGE_DESC").members


def _parse_edge(
    edge: Mapping[str, Any], members: Sequence[str], nodes: Sequence[str], counts: Mapping[str, int], place: str
) -> None:
    for member in members:
        number, collection = _number(edge, member, place), _INDICES[member]
        if collection in counts:
            limit, description = counts[collection], f"the graph's {collection}"
        else:
            node = int(edge["ToNodeIndex" if collection == "input" else "FromNodeIndex"])
            limit, description = (
                _tensors(nodes[node], collection),
                f"the {collection}s of {nodes[node] or 'a constant'}",
            )
        if number >= limit:
            raise InputError(f"expected {member} below {limit}, {description}, found {number}", place=place)


def _tensors(operator: str, kind: str) -> int:
    """Return the maximum number of an operator's tensors of a kind.

    A constant has one output.
    """
    if not operator:
        return int(kind == "output")
    try:
        members = [member for member in abi().structure(operator).members if member.base == kind]
    except NoTable:
        return 2**32
    return 2**32 if any(member.count is not None for member in members) else len(members)


def _node(node: Any, operators: Mapping[str, str], place: str) -> str:
    """Return a node's operator; "" for a constant.

    Returns "?" for an operator that was not recorded. Raises InputError.
    """
    if not isinstance(node, dict):
        raise InputError(f"expected a node, found {format_value(node)}", place=place)
    kind = _kind(node)
    if kind == "CONSTANT":
        return ""
    if kind != "OPERATOR":
        raise InputError(f"expected a DML_GRAPH_NODE_TYPE, found {format_value(node.get('type'))}", place=place)
    name = node.get("Operator")
    if name is None:
        return "?"
    if not isinstance(name, str) or name not in operators:
        raise InputError(f"the model does not have a dispatchable {format_value(name)}", place=place)
    return operators[name]


def unseen_nodes(graph: DxDispatchable, place: str) -> Iterator[tuple[str, NoTableEntry]]:
    """Yield the nodes without a recorded operator, with their places."""
    desc = graph.raw.get("desc") or graph.raw.get("Desc") or {}
    for index, node in enumerate(desc.get("Nodes", [])):
        if _kind(node) == "OPERATOR" and node.get("Operator") is None:
            yield f"{place}.Nodes[{index}]", NoTableEntry(NAME, "IDMLOperator", graph.no_table or "")


def _kind(node: Mapping[str, Any]) -> Any:
    return word_of(node.get("type"), abi().enums["GRAPH_NODE_TYPE"], "DML_GRAPH_NODE_TYPE_")


def _get_list(desc: Mapping[str, Any], name: str, place: str) -> list[Any]:
    result = desc.get(name, [])
    if not isinstance(result, list):
        raise InputError(f"expected a list, found {format_value(result)}", place=f"{place}.{name}")
    count = desc.get(f"{name.removesuffix('s')}Count", len(result))
    if isinstance(count, bool) or count != len(result):
        count_name = f"{name.removesuffix('s')}Count"
        raise InputError(f"{count_name} is {format_value(count)}, but {name} has {len(result)} elements", place=place)
    return result


def _number(raw: Mapping[str, Any], name: str, place: str) -> int:
    value = raw.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**32:
        raise InputError(f"expected the field {name} as a number, found {format_value(value)}", place=place)
    return value
