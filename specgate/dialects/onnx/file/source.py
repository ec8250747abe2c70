"""A reader of a model, with what is shared in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from specgate.dialects.onnx.file.wire import Reader

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import BinaryIO

    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxNode, OnnxType

__all__ = ["INFO_TYPE", "End", "Source"]

MAX_SHARED = 4096  # types, attributes and ends of nodes that are kept by their bytes
MAX_SHARED_BYTES = 127
MAX_END_BYTES = 512
_MOST_READ = 1 << 10
INFO_TYPE = 18  # the key of a type in a ValueInfoProto


class End(NamedTuple):
    """What a node's bytes say behind the names in it. bare: whether the node may be copied as it is."""

    op_type: str
    domain: str
    attributes: Mapping[str, OnnxAttribute]
    bare: bool


class Source(Reader):
    """A reader of a model, with what is shared in it: texts, and by bytes attributes, types and the ends of nodes."""

    __slots__ = ("attributes", "ends", "kinds", "texts", "types")

    def __init__(self, file: BinaryIO, size: int) -> None:
        super().__init__(file, size)
        self.attributes: dict[bytes, OnnxAttribute] = {}
        self.types: dict[bytes, OnnxType] = {}
        self.kinds: dict[bytes, OnnxType] = {}  # by all that is behind the name of a value
        self.ends: dict[bytes, End] = {}
        self.texts: dict[str, str] = {}

    def whole(self, begin: int, end: int) -> bytes | None:
        """The bytes of a span if they lie in the block at hand, or are few."""
        held = self.held(begin, end)
        return self.read(begin, end) if held is None and end - begin <= _MOST_READ else held

    def text(self, data: bytes) -> str:
        """The text of some bytes, one object for all that are equal."""
        made = data.decode()
        return self.texts.setdefault(made, made)

    def share(self, data: bytes, attribute: OnnxAttribute) -> None:
        """Keep an attribute for those of the same bytes, if it is small and all of it was read."""
        if len(data) <= MAX_SHARED_BYTES and attribute.whole and len(self.attributes) < MAX_SHARED:
            self.attributes[data] = attribute

    def share_type(self, data: bytes, kind: OnnxType) -> None:
        """Keep a type for those of the same bytes."""
        if len(self.types) < MAX_SHARED:
            self.types[data] = kind
            if len(data) < MAX_SHARED_BYTES:
                self.kinds[bytes((INFO_TYPE, len(data))) + data] = kind

    def share_end(self, end: bytes, node: OnnxNode, attributes: Collection[bytes], *, bare: bool) -> None:
        """Keep what a node's bytes say from its operator on, if it holds nothing but attributes that are shared."""
        if len(end) > MAX_END_BYTES or len(self.ends) >= MAX_SHARED or node.duplicates:
            return
        if all(data in self.attributes for data in attributes):
            self.ends[end] = End(node.op_type, node.domain, node.attributes, bare)
