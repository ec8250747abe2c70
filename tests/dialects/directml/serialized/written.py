"""Serialized graphs, written with the flatbuffers package."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import flatbuffers  # type: ignore[import-untyped]

from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import enum_number, scalar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Constant", "Operator", "graph"]

#: The number of each kind of attribute in the union of values.
KINDS = {
    "operator": 1, "operator[]": 2, "uint": 3, "enum": 3, "int": 5, "float": 6, "uint[]": 7, "int[]": 8, "float[]": 9,
    "scale-bias": 10, "size-2d": 11, "scalar": 12, "bool": 13,
}  # fmt: skip
CODES = {"uint": "Uint32", "int": "Int32", "float": "Float32", "enum": "Uint32", "bool": "Uint8"}


@dataclass
class Operator:
    """A node.

    descriptor: a dict of numbers and short words. named: whether its edges have names.
    """

    descriptor: Mapping[str, Any]
    reads: Sequence[str]
    writes: Sequence[str]
    name: str = "node"


@dataclass
class Constant:
    """A node with bytes, or with the name under which they are stored elsewhere."""

    writes: str
    data: bytes | None = None
    name: str = "constant"


@dataclass
class Writer:
    builder: Any = field(default_factory=lambda: flatbuffers.Builder(1024))

    def table(self, *fields: tuple[str, Any] | None) -> int:
        """Write a table of fields, each with type and value.

        The type is Uint8, Uint64 or Offset; the value of an omitted field is None.
        """
        self.builder.StartObject(len(fields))
        for slot, entry in enumerate(fields):
            if entry is not None and entry[0] == "Offset":
                self.builder.PrependUOffsetTRelativeSlot(slot, entry[1], 0)
            elif entry is not None:
                getattr(self.builder, f"Prepend{entry[0]}Slot")(slot, entry[1], 0)
        return int(self.builder.EndObject())

    def text(self, value: str) -> tuple[str, int]:
        return "Offset", self.builder.CreateString(value)

    def offsets(self, values: Sequence[int]) -> tuple[str, int]:
        self.builder.StartVector(4, len(values), 4)
        for value in reversed(values):
            self.builder.PrependUOffsetTRelative(value)
        return "Offset", self.builder.EndVector()

    def texts(self, values: Sequence[str]) -> tuple[str, int]:
        return self.offsets([self.text(value)[1] for value in values])

    def numbers(self, code: str, values: Sequence[Any]) -> tuple[str, int]:
        self.builder.StartVector(4, len(values), 4)
        for value in reversed(values):
            getattr(self.builder, f"Prepend{code}")(value)
        return "Offset", self.builder.EndVector()

    def record(self, code: str, size: int, *values: Any) -> tuple[str, int]:
        """Write a structure outside the tables, as unions need."""
        self.builder.Prep(size, size * len(values))
        for value in reversed(values):
            getattr(self.builder, f"Prepend{code}")(value)
        return "Offset", self.builder.Offset()

    def tensor(self, value: Mapping[str, Any]) -> int:
        kind = self.text(f"DML_TENSOR_DATA_TYPE_{value['DataType']}")
        sizes = self.numbers("Uint32", value["Sizes"])
        strides = None if value.get("Strides") is None else self.numbers("Uint32", value["Strides"])
        return self.table(kind, sizes, strides, ("Uint64", value["TotalTensorSizeInBytes"]))

    def attributes(self, descriptor: Mapping[str, Any]) -> tuple[str, int]:
        numbers = []
        for member in abi().structure(descriptor["type"]).members:
            if member.tensor:
                continue
            value = descriptor["desc"].get(member.name)
            kind = KINDS[member.base + ("[]" if member.count else "")]
            if value is None and member.base not in {"operator", "scale-bias"}:
                value = [] if member.count else 0
            if value is None:
                numbers.append(self.table(None, ("Uint8", kind), None))
                continue
            written = self.value(member, value, descriptor["desc"])
            numbers.append(self.table(self.text(member.name), ("Uint8", kind), written))
        return self.offsets(numbers)

    def value(self, member: Any, value: Any, fields: Mapping[str, Any]) -> tuple[str, int]:
        if member.base == "operator" and member.count:
            return "Offset", self.table(self.offsets([self.fused(each) for each in value]))
        if member.base == "operator":
            return "Offset", self.fused(value)
        if member.base == "scale-bias":
            return self.record("Float32", 4, float(value["Scale"]), float(value["Bias"]))
        if member.base == "size-2d":
            return self.record("Uint32", 4, value["Width"], value["Height"])
        if member.base == "scalar":
            raw = self.record("Uint8", 1, *scalar(value, fields.get(member.of), member.name))
            return "Offset", self.table(("Uint8", 1), raw)
        numbers = [enum_number(member.of, each, "") if member.base == "enum" else each for each in several(value)]
        numbers = [float(each) if member.base == "float" else int(each) for each in numbers]
        if member.count:
            return "Offset", self.table(self.numbers(CODES[member.base], numbers))
        return self.record(CODES[member.base], 1 if member.base == "bool" else 4, *numbers)

    def fused(self, descriptor: Mapping[str, Any]) -> int:
        return self.table(self.text(descriptor["type"]), self.attributes(descriptor))

    def node(self, node: Operator | Constant) -> int:
        if isinstance(node, Constant):
            if node.data is None:
                constant = self.table(("Uint8", 1), ("Offset", self.table(self.text(node.name))))
            else:
                data = ("Offset", self.builder.CreateByteVector(node.data))
                constant = self.table(("Uint8", 2), ("Offset", self.table(data)))
            parts = [("Offset", constant), self.text(node.name), self.texts([]), self.texts([node.writes])]
            return self.table(("Uint8", 2), *parts)
        kind = self.text(node.descriptor["type"])
        sides = [self.offsets([self.tensor(each) for each in tensors(node.descriptor, s)]) for s in ("input", "output")]
        operator = self.table(kind, *sides, self.attributes(node.descriptor))
        parts = [("Offset", operator), self.text(node.name), self.texts(node.reads), self.texts(node.writes)]
        return self.table(("Uint8", 1), *parts)


def several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def tensors(descriptor: Mapping[str, Any], side: str, *, absent: bool = False) -> list[Any]:
    """Return the tensors of a side in structure order.

    Omitted ones are included only with `absent`.
    """
    items: list[Any] = []
    for member in abi().structure(descriptor["type"]).members:
        if member.base == side:
            value = descriptor["desc"].get(member.name)
            items += (value or []) if member.count else [value]
    return [each for each in items if absent or each is not None]


def add_name(descriptor: Mapping[str, Any], side: str) -> list[str]:
    """Return a name per edge of a side, "" for an omitted tensor."""
    items = tensors(descriptor, side, absent=True)
    return ["" if each is None else f"{side}{i}" for i, each in enumerate(items)]


def graph(
    *nodes: Operator | Constant | Mapping[str, Any], inputs: Sequence[str] = (), outputs: Sequence[str] = ()
) -> bytes:
    """Return a serialized graph.

    A descriptor alone becomes a node whose edges have unique names.
    """
    writer = Writer()
    items = [
        node
        if isinstance(node, Operator | Constant)
        else Operator(node, add_name(node, "input"), add_name(node, "output"))
        for node in nodes
    ]
    parts = [writer.offsets([writer.node(node) for node in items]), writer.texts(inputs), writer.texts(outputs)]
    writer.builder.Finish(writer.table(*parts))
    return bytes(writer.builder.Output())
