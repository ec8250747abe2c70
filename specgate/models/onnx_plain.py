"""Nodes and value infos as nearly all of them are written, read in one go; what is out of the ordinary is not.

This is `onnx_model`'s reading once more, for speed alone: a message that lies whole in the reader's block, has only
short fields, and each of them as the schema says. Equal types and attributes are read once and shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.models.onnx_structure import OnnxNode
from specgate.models.wire import FIELD_COST, Reader

if TYPE_CHECKING:
    from typing import BinaryIO

    from specgate.models.onnx_structure import OnnxAttribute, OnnxType

__all__ = ["Source", "plain_info", "plain_node"]

MAX_SHARED = 4096  # types and attributes that are kept by their bytes
MAX_SHARED_BYTES = 127
_NODE_COST, _INFO_COST = 400, 60  # as in onnx_schema.PROTO
_VALUES = {"FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS"}  # of which an attribute may be shared

# Keys of NodeProto and of ValueInfoProto: field number << 3 | 2; what is skipped is onnx_schema.SKIPPED.
_INPUT, _OUTPUT, _NAME, _OP_TYPE, _DOC, _ATTRIBUTE, _DOMAIN, _METADATA, _DEVICES = 10, 18, 26, 34, 50, 42, 58, 74, 82
_INFO_NAME, _INFO_TYPE, _INFO_DOC, _INFO_METADATA = 10, 18, 26, 34


class Source(Reader):
    """A reader of a model, with what is shared in it."""

    __slots__ = ("attributes", "types")

    def __init__(self, file: BinaryIO, size: int) -> None:
        super().__init__(file, size)
        self.attributes: dict[bytes, OnnxAttribute] = {}
        self.types: dict[bytes, OnnxType] = {}

    def share(self, data: bytes, attribute: OnnxAttribute) -> None:
        """Keep an attribute for those of the same bytes, if it is small and holds no message."""
        if len(data) <= MAX_SHARED_BYTES and attribute.kind in _VALUES and len(self.attributes) < MAX_SHARED:
            self.attributes[data] = attribute

    def share_type(self, data: bytes, kind: OnnxType) -> None:
        """Keep a type for those of the same bytes."""
        if len(self.types) < MAX_SHARED:
            self.types[data] = kind


def plain_node(source: Source, begin: int, end: int) -> tuple[OnnxNode, list[tuple[bytes, int]]] | None:
    """Return the NodeProto in a span, and the bytes and places of its attributes; None where it is not plain."""
    data = source.held(begin, end)
    if data is None:
        return None
    name = op_type = domain = ""
    inputs: list[str] = []
    outputs: list[str] = []
    attributes: list[tuple[bytes, int]] = []
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
                inputs.append(data[at:i].decode())
            elif key == _OUTPUT:
                outputs.append(data[at:i].decode())
            elif key == _OP_TYPE:
                op_type = data[at:i].decode()
            elif key == _NAME:
                name = data[at:i].decode()
            elif key == _ATTRIBUTE:
                attributes.append((data[at:i], begin + at))
            elif key == _DOMAIN:
                domain = data[at:i].decode()
            elif key not in {_DOC, _METADATA, _DEVICES}:
                return None
    except (IndexError, UnicodeDecodeError):
        return None
    if i > stop or domain == "ai.onnx":
        return None
    source.spend(_NODE_COST + stop + FIELD_COST * (len(inputs) + len(outputs) + len(attributes)), begin)
    return OnnxNode(name, op_type, domain, "", inputs, outputs, {}, []), attributes


def plain_info(source: Source, begin: int, end: int) -> tuple[str, bytes, int] | None:
    """Return of the ValueInfoProto in a span the name, and its type's bytes and place; None where it is not plain."""
    data = source.held(begin, end)
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
            elif key == _INFO_TYPE and kind is None:  # a second one is merged into the first
                kind, place = data[at:i], begin + at
            elif key not in {_INFO_DOC, _INFO_METADATA}:
                return None
    except (IndexError, UnicodeDecodeError):
        return None
    if i > stop or kind is None:
        return None
    source.spend(_INFO_COST + stop + 2 * FIELD_COST, begin)
    return name, kind, place
