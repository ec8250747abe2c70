"""Descriptions of a running program as JSON for ``specgate check``.

They are read from the address of a structure. This serves Python programs that call DirectML through ctypes, and
debuggers with Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.unmarshal import ProcessMemory, StructureReader, word
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.dialects.directml.native.abi import Structure

#: The maximum length in bytes of a name in a graph.
MAX_NAME: Final = 1024
_HEAD: Final = 16
#: The type of the edges in each array.
_EDGES: Final = {"InputEdges": "INPUT", "OutputEdges": "OUTPUT", "IntermediateEdges": "INTERMEDIATE"}


def from_pointer(address: int) -> dict[str, Any]:
    """Return the ``DML_OPERATOR_DESC`` at an address as a dict for ``check``.

    The address is in this process. The dict has all members of the structures, including counts and sizes in bytes. An
    operator that DirectML does not define keeps its number. Raises InputError, with the place, for a null pointer, an
    unreadable address, and an implausible count or rank.
    """
    return StructureReader(ProcessMemory()).operator(_start(address, "DML_OPERATOR_DESC"), "", 0)


def graph_from_pointer(address: int, operators: Mapping[int, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """Return the ``DML_GRAPH_DESC`` at an address as a DxDispatch model.

    The address is in this process. A graph refers to compiled operators, which do not expose their descriptions.
    operators: the results of `from_pointer` at creation, by the address of the operator's interface. Nodes without one
    are listed but not validated. Raises InputError as `from_pointer`.
    """
    reading = _GraphReading(ProcessMemory())
    return reading.graph(_start(address, "DML_GRAPH_DESC"), operators or {})


def _start(address: int, noun: str) -> int:
    if not address:
        raise InputError(f"expected the address of a {noun}, found a null pointer")
    return address


class _GraphReading(StructureReader):
    memory: ProcessMemory

    def graph(self, offset: int, operators: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
        structure = abi().graph("GRAPH_DESC")
        entries: dict[str, Any] = {}
        desc: dict[str, Any] = {}
        for member in structure.members:
            if member.count is None:
                desc[member.name] = self.numbers("I", offset + member.offset)[0]
                continue
            try:
                to = self.memory.target(offset + member.offset)
                count = 0 if to is None else self.count(member, structure, offset) or 0
            except InputError as error:
                raise InputError(error.message, place=member.name) from None
            heads = [(to or 0) + _HEAD * i for i in range(count)]
            desc[member.name] = [self.part(head, f"{member.name}[{i}]") for i, head in enumerate(heads)]
        for index, node in enumerate(desc["Nodes"]):
            operator = operators.get(node.pop("Operator", None) or 0)
            if operator is not None:
                node["Operator"] = f"node_{index}"
                entries[node["Operator"]] = dict(operator)
        return {"dispatchables": {**entries, "graph": {"type": "DML_GRAPH_DESC", "desc": desc}}}

    def part(self, offset: int, place: str) -> dict[str, Any]:
        """Return the node or edge whose type and pointer are at `offset`."""
        try:
            edge = _EDGES.get(place.partition("[")[0])
            enum = "GRAPH_NODE_TYPE" if edge is None else "GRAPH_EDGE_TYPE"
            kind, to = word(enum, self.numbers("I", offset)[0]), self.memory.target(offset + 8)
            label = kind if isinstance(kind, int) else f"DML_{enum}_{kind}"
            if to is None or kind not in ({"OPERATOR", "CONSTANT"} if edge is None else {edge}):
                return {"type": label}
            name = {"OPERATOR": "OPERATOR_GRAPH_NODE_DESC", "CONSTANT": "CONSTANT_DATA_GRAPH_NODE_DESC"}
            structure = abi().graph(name.get(str(kind), f"{kind}_GRAPH_EDGE_DESC"))
            return ({"type": label} if edge is None else {}) | self.members(structure, to)
        except InputError as error:
            raise InputError(error.message, place=place) from None

    def members(self, structure: Structure, base: int) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        for member in structure.members:
            offset = base + member.offset
            if member.base == "text":
                to = self.memory.target(offset)
                if to is not None:
                    entries[member.name] = self.memory.text(to, MAX_NAME)
            elif member.base == "object":
                entries[member.name] = self.memory.target(offset)
            elif member.base != "data":  # a constant's size is kept; its data is not validated
                entries[member.name] = self.numbers("Q" if member.base == "size" else "I", offset)[0]
        return entries
