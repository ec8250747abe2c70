"""Serialized DirectML graphs: operators, constants, and lint units."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import format_value
from specgate.dialects.directml import reader
from specgate.dialects.directml.dxdispatch.edge_findings import Edge, GraphNode, broken_edges
from specgate.dialects.directml.dxdispatch.graph import GRAPH
from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import MAX_NESTING, SCALARS
from specgate.dialects.directml.native.unmarshal import json_float, member_value
from specgate.dialects.directml.serialized.flatbuffer import root_table
from specgate.dialects.directml.tensor import NAME
from specgate.errors import InputError, NoTable
from specgate.linting.files import read_content
from specgate.linting.nodes import Graph, Unit
from specgate.verdict import Location

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.dialects.directml.native.abi import Member
    from specgate.dialects.directml.serialized.flatbuffer import Table

_OPERATOR, _CONSTANT = 1, 2
_NAMED_EDGE: Final = 1
_OWNED_BY_DML: Final = 1  # DML_TENSOR_FLAG_OWNED_BY_DML
_ACTIVATION, _SCALAR = 1, 12
#: Kinds of attributes that are a number or a vector of numbers, with the struct code.
_NUMBER: Final = {3: "I", 4: "Q", 5: "i", 6: "f", 13: "B"}
_RECORDS: Final = {10: (("Scale", "Bias"), "ff"), 11: (("Width", "Height"), "II")}
_VECTOR: Final = {7: "I", 8: "i", 9: "f"}
#: The kinds that store a member, by the member's kind. Enums are plain numbers.
_STORED_KINDS: Final = {
    "uint": {3, 4, 7}, "int": {5, 8}, "float": {6, 9}, "bool": {3, 13}, "enum": {3}, "operator": {1, 2},
    "scale-bias": {10}, "size-2d": {11}, "scalar": {12},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Node:
    """One node.

    fields: of an operator, as a dict for the dialect's reader; None for a constant. reads, writes: the names of its
    edges by position, "" for none.
    """

    name: str
    operator: str
    fields: dict[str, Any] | None
    reads: tuple[str, ...]
    writes: tuple[str, ...]


def begins_graph(start: bytes) -> bool:
    """Return whether a file begins like a serialized graph.

    The format has no magic number, but its first table has three offset fields and is at the very beginning.
    """
    if len(start) < 32:
        return False
    (root,) = struct.unpack_from("<I", start)
    if not 16 <= root <= 28 or root % 4 or root + 16 > len(start):
        return False
    table = root - struct.unpack_from("<i", start, root)[0]
    if not 4 <= table <= len(start) - 10:
        return False
    size, table_size, *offsets = struct.unpack_from("<5H", start, table)
    return size == 10 and table_size == 16 and sorted(offsets) == [4, 8, 12]


def read_graph(content: bytes, file: str) -> list[Node]:
    """Return a serialized graph's nodes in order.

    Raises InputError with the file and the node.
    """
    place = ""
    try:
        if not begins_graph(content[:4096]):
            raise InputError("expected a serialized DirectML graph, found other data")
        tables = root_table(content).tables(0)
        if not tables:
            raise InputError("expected at least one node, found none")
        owned_names = _owned_edges(tables)
        nodes = []
        for index, table in enumerate(tables):
            place = f"nodes[{index}]"
            nodes.append(_node(table, owned_names))
    except InputError as error:
        full_place = ".".join(part for part in (place, error.place) if part)
        raise InputError(error.message, file=file, place=full_place or None) from None
    return nodes


def read_ends(content: bytes, file: str) -> tuple[list[str], list[str]]:
    """Return the input and output names of a serialized graph; InputError."""
    try:
        graph = root_table(content)
        return graph.texts(1), graph.texts(2)
    except InputError as error:
        raise InputError(error.message, file=file) from None


def _owned_edges(tables: Sequence[Table]) -> frozenset[str]:
    """Return the edges of external constants, which DirectML owns."""
    node_names = []
    for table in tables:
        if table.number(0, "B") == _CONSTANT:
            constant = table.table(1)
            if constant is not None and constant.number(0, "B") == _NAMED_EDGE:
                node_names += table.texts(4)
    return frozenset(node_names)


def _node(table: Table, owned_names: frozenset[str]) -> Node:
    kind, desc = table.number(0, "B"), table.table(1)
    name, input_names, writes = table.text(2) or "", table.texts(3), table.texts(4)
    if desc is None or kind not in {_OPERATOR, _CONSTANT}:
        raise InputError(f"expected an operator or a constant, found a node of the kind {kind}")
    if kind == _CONSTANT:
        return Node(name, "", None, tuple(input_names), tuple(writes))
    operator = desc.text(0) or ""
    try:
        members = abi().structure(operator).members
    except NoTable:  # from a newer DirectML: listed, but not validated
        return Node(name, operator, {"type": operator, "desc": {}}, tuple(input_names), tuple(writes))
    fields: dict[str, Any] = {}
    for side, number, names in (("input", 1, input_names), ("output", 2, writes)):
        expected_members = [member for member in members if member.base == side]
        fields |= _tensors(
            expected_members, desc.tables(number), names, owned_names if side == "input" else frozenset()
        )
    fields |= _attributes(desc.tables(3), members, 0)
    # Counts of tensors are separate attributes; fields are in the structure's order.
    ordered = {member.name: fields[member.name] for member in members if member.name in fields}
    return Node(name, operator, {"type": operator, "desc": ordered}, tuple(input_names), tuple(writes))


def _tensors(
    members: Sequence[Member], tables: Sequence[Table], names: Sequence[str], owned_names: frozenset[str]
) -> Iterator[tuple[str, Any]]:
    """Yield the tensors of a side by field.

    An edge without a name is an omitted tensor. If all tensors are present, a missing name only means that an output
    has no consumer.
    """
    flags = [_OWNED_BY_DML * (name in owned_names) for name in names]
    stated_tables = [
        t if t is None else _tensor(t, flag) for t, flag in zip(_pair_tensors(tables, names), flags, strict=True)
    ]
    arrays = [member for member in members if member.count is not None]
    singles = len(members) - len(arrays)
    if len(arrays) > 1 or len(stated_tables) < singles or (not arrays and len(stated_tables) > singles):
        raise InputError(
            f"expected {singles} edges of {', '.join(m.name for m in members)}, found {len(stated_tables)}"
        )
    for member in members:
        if member.count is None:
            value = stated_tables.pop(0)
            if value is not None:
                yield member.name, value
        else:
            after = len(members) - 1 - members.index(member)
            yield member.name, stated_tables[: len(stated_tables) - after]
            stated_tables = stated_tables[len(stated_tables) - after :]


def _pair_tensors(tables: Sequence[Table], names: Sequence[str]) -> list[Table | None]:
    """Return a tensor or None per edge name."""
    if len(tables) == len(names):
        return list(tables)
    if len(tables) != sum(map(bool, names)):
        raise InputError(f"expected a tensor for each of {len(names)} edges, found {len(tables)}")
    left = iter(tables)
    return [next(left) if name else None for name in names]


def _tensor(table: Table, flags: int) -> dict[str, Any]:
    kind = (table.text(0) or "").removeprefix("DML_TENSOR_DATA_TYPE_")
    tensor: dict[str, Any] = {"DataType": kind, "Sizes": table.numbers(1, "I") or []}
    strides = table.numbers(2, "I")
    if strides is not None:
        tensor["Strides"] = strides
    tensor["TotalTensorSizeInBytes"] = table.number(3, "Q")
    return tensor | ({"Flags": flags} if flags else {})


def _attributes(tables: Sequence[Table], members: Sequence[Member], depth: int) -> Iterator[tuple[str, Any]]:
    """Yield attributes by field; attributes without a name are skipped."""
    if depth > MAX_NESTING:
        raise InputError(f"expected operators nested at most {MAX_NESTING} deep")
    members_by_name = {member.name: member for member in members}
    entries: dict[str, Any] = {}
    for table in tables:
        name = table.text(0)
        if name is None:
            continue
        if name not in members_by_name or members_by_name[name].tensor:
            raise InputError(f"{format_value(name)} is not an attribute of this operator")
        try:
            entries[name] = _value(table, members_by_name[name], depth)
        except InputError as error:
            raise InputError(error.message, place=".".join(p for p in (name, error.place) if p)) from None
    for name, value in entries.items():
        yield name, _scalar(value, entries.get(members_by_name[name].of or "")) if isinstance(value, bytes) else value


def _scalar(raw: bytes, kind: Any) -> Any:
    return json_float(struct.unpack_from(f"<{SCALARS.get(str(kind), 'Q')}", raw)[0])


def _value(table: Table, member: Member, depth: int) -> Any:
    kind = table.number(1, "B")
    if kind not in _STORED_KINDS[member.base]:
        raise InputError(f"expected an attribute of the kind {min(_STORED_KINDS[member.base])}, found {kind}")
    if kind in _NUMBER or kind in _RECORDS:
        names, code = _RECORDS.get(kind, ((), _NUMBER.get(kind)))
        parts = table.record(2, str(code))
        if parts is None:
            raise InputError("expected a value, found none")
        if names:
            return dict(zip(names, map(json_float, parts), strict=True))
        return member_value(member, parts[0])
    inner = table.table(2)
    if inner is None:
        raise InputError("expected a value, found none")
    if kind in _VECTOR:
        return [json_float(number) for number in inner.numbers(0, _VECTOR[kind]) or ()]
    if kind == _SCALAR:
        (raw,) = inner.record(1, "8s") or (bytes(8),)
        return raw
    if kind == _ACTIVATION:
        return _read_fused(inner, depth)
    return [_read_fused(item, depth) for item in inner.tables(0)]


def _read_fused(table: Table, depth: int) -> dict[str, Any]:
    operator = table.text(0) or ""
    try:
        members = abi().structure(operator).members
    except NoTable:
        return {"type": operator, "desc": {}}
    return {"type": operator, "desc": dict(_attributes(table.tables(1), members, depth + 1))}


#: The file size limit. Files may contain constants, and offsets reach at most 2 GiB.
MAX_BYTES = 2**31 - 1


def graph_of_file(path: str) -> Graph:
    """Return the nodes of a file; raise InputError."""
    return graph_of_data(read_content(Path(path), MAX_BYTES, name=path), path)


def graph_of_data(content: bytes, file: str) -> Graph:
    """Return the nodes of serialized data. file: its name in messages."""
    nodes = read_graph(content, file)
    places = [f"nodes[{index}]{f' {node.name!r:.80}' if node.name else ''}" for index, node in enumerate(nodes)]
    units = {index: _unit(node, places[index], file) for index, node in enumerate(nodes) if node.fields is not None}
    if not units:
        raise InputError("expected at least one operator, found only constants", file=file)
    new_nodes = [
        GraphNode(place, node.name or f"node {index}", units[index].descriptor if index in units else None)
        for index, (node, place) in enumerate(zip(nodes, places, strict=True))
    ]
    edges = list(_edges(nodes, places, *read_ends(content, file)))
    return Graph(
        NAME, [*units.values()], findings=list(broken_edges(new_nodes, edges, Location(file, None, "graph", GRAPH)))
    )


def _edges(
    nodes: Sequence[Node], places: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]
) -> Iterator[Edge]:
    """Yield the edges by name, as a runtime connects them.

    A name without an earlier producer has no edge. External constants count as graph inputs, which the runtime creates.
    """
    ends: dict[str, int] = {}  # by name: the index of the graph's input or external constant
    for name in (*inputs, *(name for node in nodes if node.fields is None for name in node.writes)):
        if name:
            ends.setdefault(name, len(ends))
    last = {name: node_index for node_index, name in enumerate(outputs)}
    sources_by_name: dict[str, tuple[int, int]] = {}
    for index, node in enumerate(nodes):
        for place, name in enumerate(node.reads):
            if name in ends:
                yield Edge(places[index], None, (index, place), ends[name])
            elif name in sources_by_name:
                yield Edge(places[index], sources_by_name[name], (index, place))
        for place, name in enumerate(node.writes):
            if name and node.fields is not None:
                sources_by_name[name] = (index, place)
                if name in last:
                    yield Edge(places[index], (index, place), None, last[name])


def _unit(node: Node, place: str, file: str) -> Unit:
    operator = node.operator.removeprefix("DML_OPERATOR_")
    location = Location(file, None, place, operator)
    try:
        descriptor = reader.read(node.fields or {})
    except NoTable as error:
        return Unit(location, operator, reason=str(error), ends=(node.reads, node.writes))
    except InputError as error:
        full_place = ": ".join(part for part in (place, error.place) if part)
        raise InputError(error.message, file=file, place=full_place) from None
    return Unit(location, operator, descriptor, ends=(node.reads, node.writes))
