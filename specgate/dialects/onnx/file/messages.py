"""Which fields of a protobuf message are read, and as what: message types written as text."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from specgate.dialects.onnx.file.varints import I32, I64, LEN, VARINT, WIRES, WireError, int32, int64

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SCALARS", "SKIPPED", "Codec", "Message", "enum", "messages", "unchanged"]


def unchanged(value: int) -> int:
    return value


# A .proto type's wire type, and the function that makes the value: of the number in a varint, of the bytes otherwise.
SCALARS: dict[str, tuple[int, Callable[..., Any]]] = {
    "int64": (VARINT, int64),
    "int32": (VARINT, int32),
    "enum": (VARINT, int32),
    "uint64": (VARINT, unchanged),
    "float": (I32, struct.Struct("<f").unpack_from),
    "double": (I64, struct.Struct("<d").unpack_from),
}

Codec = tuple[str, Callable[..., Any], bool]  # a field's name, the function above, and whether it is a string
SKIPPED: Codec = ("", unchanged, False)


class Message:
    """What to read of a message type: by field number (name, type), both as in the .proto file ("repeated string").

    A type is a scalar type, `enum`, `bytes` or a message's name. Fields that are not listed are skipped, and so are
    those of the label "skipped", messages that are only walked through (`walked`: their names by key). `cost` is the
    memory in bytes that one such message is expected to take once it has been read.
    """

    __slots__ = ("_bare", "by_key", "cost", "fields", "name", "walked")

    def __init__(self, name: str, cost: int, fields: Mapping[int, tuple[str, str]]) -> None:
        self.name = name
        self.cost = cost
        self.walked = {n << 3 | LEN: kind[8:] for n, (_, kind) in fields.items() if kind.startswith("skipped ")}
        self.fields = {number: field for number, field in fields.items() if number << 3 | LEN not in self.walked}
        self.by_key: dict[int, Codec] = {}
        self._bare: Message | None = None
        for number, (field, label_and_type) in self.fields.items():
            kind = label_and_type.removeprefix("repeated ")
            wire, convert = SCALARS.get(kind, (LEN, unchanged))
            self.by_key[number << 3 | wire] = (field, convert, kind == "string")
            if wire != LEN and kind != label_and_type:  # repeated numbers come one by one or packed
                self.by_key[number << 3 | LEN] = (field, unchanged, False)

    @property
    def bare(self) -> Message:
        """The same message with its strings as bytes: to walk through, not to read."""
        if self._bare is None:
            fields = {number: (name, kind.replace("string", "bytes")) for number, (name, kind) in self.fields.items()}
            fields |= {key >> 3: ("", f"skipped {kind}") for key, kind in self.walked.items()}
            self._bare = Message(self.name, 0, fields)
        return self._bare

    def unlisted(self, key: int, at: int) -> str | None:
        """What is odd about a field to skip: a listed field's number with a wrong wire. WireError where it is none."""
        number = key >> 3
        if not 0 < number < 1 << 29:
            raise WireError(f"expected a field number from 1 to 536870911, found {number}", at)
        if number in self.fields and key & 7 < len(WIRES):
            name, kind = self.fields[number]
            return f"expected {kind} in {self.name}.{name}, found {WIRES[key & 7]}; skipped, as protobuf does"
        return None


def enum(text: str) -> tuple[str, ...]:
    """An enum's names in the order of their numbers, which begin at 0."""
    return tuple(text.split())


def messages(text: str) -> dict[str, Message]:
    """Messages by name from a text such as `TypeProto.Map 0: 1 int32 key_type; 2 TypeProto value_type`.

    That is a name and a cost, then each field's number, label if repeated, type and name; a line that begins with a
    blank continues the last.
    """
    found: dict[str, Message] = {}
    for line in text.strip().replace("\n ", " ").splitlines():
        head, _, rest = line.partition(":")
        name, cost = head.split()
        fields = {}
        for words in (part.split() for part in rest.split(";") if part.strip()):
            fields[int(words[0])] = (words[-1], " ".join(words[1:-1]))
        found[name] = Message(name, int(cost), fields)
    return found
