"""Fast path for ordinary NodeProto and ValueInfoProto messages.

This duplicates part of `file.model` for speed. It handles messages that lie within the reader's block and have only
short fields of the expected wire types. Equal types and attributes are read once and shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from specgate.dialects.onnx.file.structure import NO_ATTRIBUTES, OnnxNode
from specgate.dialects.onnx.file.wire import FIELD_COST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.dialects.onnx.file.source import Source

__all__ = ["Plain", "Runs", "plain_info", "plain_node"]

_MOST_HEADER = 6  # bytes of a field's key and length; a larger gap contains skipped fields
_NODE_COST, _INFO_COST = 400, 60  # as in `schema.PROTO`

# Keys of NodeProto and ValueInfoProto (field number << 3 | 2); `schema.SKIPPED` lists the fields that are skipped.
_INPUT, _OUTPUT, _NAME, _OP_TYPE, _DOC, _ATTRIBUTE, _DOMAIN, _METADATA, _DEVICES = 10, 18, 26, 34, 50, 42, 58, 74, 82
_INFO_NAME, _INFO_TYPE, _INFO_DOC, _INFO_METADATA = 10, 18, 26, 34


class Plain(NamedTuple):
    """A node with attributes still as bytes and their offsets.

    `bare` is True if the node has no other fields. `end` has the bytes from `op_type` on if only attributes and a
    domain follow, else None.
    """

    node: OnnxNode
    attributes: Sequence[tuple[bytes, int]]
    bare: bool
    end: bytes | None


def plain_node(source: Source, begin: int, end: int) -> Plain | None:
    """Return the NodeProto in a span, or None if it is not ordinary."""
    data = source.whole(begin, end)
    if data is None:
        return None
    name = op_type = domain = ""
    inputs: list[str] = []
    outputs: list[str] = []
    attributes: list[tuple[bytes, int]] = []
    bare = True
    behind = -1  # offset of `op_type` if only attributes and a domain follow, else -1
    i, stop = 0, len(data)
    try:
        while i < stop:
            key, size = data[i], data[i + 1]
            i += 2
            if size > 127:
                if data[i] > 127:
                    return None
                size += (data[i] << 7) - 128
                i += 1
            at = i
            i += size
            if key == _INPUT:
                inputs.append(source.text(data[at:i]))
                behind = -1
            elif key == _OUTPUT:
                outputs.append(source.text(data[at:i]))
                behind = -1
            elif key == _NAME:
                name = data[at:i].decode()
                behind = -1
            elif key == _OP_TYPE:
                behind = at - 2 if size < 128 and bare and not attributes and not domain else -1
                op_type = source.text(data[at:i])
            elif key == _ATTRIBUTE:
                attributes.append((data[at:i], begin + at))
            elif key == _DOMAIN:
                domain = source.text(data[at:i])
            elif key == _METADATA:
                bare = False
                if not plain_entry(data, at, i):
                    source.pending.append((begin + at, begin + i, "StringStringEntryProto", 0))
            elif key == _DEVICES:
                bare = False
                source.pending.append((begin + at, begin + i, "NodeDeviceConfigurationProto", 0))
            elif key == _DOC:
                bare = False
            else:
                return None
    except (IndexError, UnicodeDecodeError):
        return None
    if i > stop or domain == "ai.onnx":
        return None
    source.spend(_NODE_COST + stop + FIELD_COST * (len(inputs) + len(outputs) + len(attributes)), begin)
    node = OnnxNode(name, op_type, domain, "", tuple(inputs), tuple(outputs), NO_ATTRIBUTES)
    return Plain(node, attributes, bare, data[behind:] if bare and behind >= 0 else None)


class Runs:
    """Collector of runs of adjacent nodes, which are copied unchanged.

    See `OnnxGraph.runs`.
    """

    __slots__ = ("_begin", "_end", "_first", "_past", "spans")

    def __init__(self) -> None:
        self.spans: list[tuple[int, int, int, int]] = []  # first node, end of the run (exclusive), and their span
        self._begin = self._end = self._first = self._past = -1

    def add(self, index: int, begin: int, end: int) -> None:
        """Add a node that can be copied, by its index and span."""
        if index == self._past and begin - self._end <= _MOST_HEADER:
            self._past += 1
        else:
            self.close()
            self._first = self._past = index + 1  # the first node's field start is unknown, so the run begins after it
            self._begin = end
        self._end = end

    def close(self) -> None:
        """End the current run."""
        if self._first < self._past:
            self.spans.append((self._first, self._past, self._begin, self._end))


def plain_info(source: Source, begin: int, end: int) -> tuple[str, bytes, int] | None:
    """Return the name, type bytes and type offset of a ValueInfoProto.

    None if it is not ordinary.
    """
    data = source.whole(begin, end)
    if data is None:
        return None
    name = ""
    kind: bytes | None = None
    place = 0
    i, stop = 0, len(data)
    try:
        while i < stop:
            key, size = data[i], data[i + 1]
            at = i + 2
            i = at + size
            if size > 127:
                return None
            if key == _INFO_NAME:
                name = data[at:i].decode()
            elif key == _INFO_TYPE and kind is None:  # a second type is merged into the first, which is not ordinary
                kind, place = data[at:i], begin + at
            elif key == _INFO_METADATA:
                if not plain_entry(data, at, i):
                    source.pending.append((begin + at, begin + i, "StringStringEntryProto", 0))
            elif key != _INFO_DOC:
                return None
    except (IndexError, UnicodeDecodeError):
        return None
    if i > stop or kind is None:
        return None
    source.spend(_INFO_COST + stop + 2 * FIELD_COST, begin)
    return source.texts.setdefault(name, name), kind, place


def plain_entry(data: bytes, at: int, end: int) -> bool:
    """Return True for a StringStringEntryProto with a short key and value."""
    value = at + 2 + data[at + 1] if at + 2 < end else end
    return value + 2 <= end and data[at] == 10 and data[value] == 18 and value + 2 + data[value + 1] == end < at + 127
