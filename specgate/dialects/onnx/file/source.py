"""A reader of a model, with what is shared in it, and with other models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.caching import keep
from specgate.dialects.onnx.file.wire import MAX_ODDITIES, Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import BinaryIO

    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxNode, OnnxType

__all__ = ["End", "Source"]

MAX_SHARED = 4096  # types, attributes and ends of nodes that are kept by their bytes
MAX_SHARED_BYTES = 127
MAX_END_BYTES = 512
_MOST_READ = 1 << 10


class End(NamedTuple):
    """What a node's bytes say behind the names in it. bare: whether the node may be copied as it is."""

    op_type: str
    domain: str
    attributes: Mapping[str, OnnxAttribute]
    bare: bool


# What bytes say, of all models that are read: they say it anywhere. Only what nothing odd was found in is here.
_attributes: Final[dict[bytes, OnnxAttribute]] = {}
_types: Final[dict[bytes, OnnxType]] = {}
_ends: Final[dict[bytes, End]] = {}


class Source(Reader):
    """A reader of a model, with what is shared by its bytes.

    texts: those of names. ends: of nodes.
    """

    __slots__ = ("_attributes", "_types", "ends", "texts")

    def __init__(self, file: BinaryIO, size: int) -> None:
        super().__init__(file, size)
        self.ends: Final = _ends
        self.texts: dict[str, str] = {}
        # In these something odd was found, which is said once of each model.
        self._attributes: dict[bytes, OnnxAttribute] = {}
        self._types: dict[bytes, OnnxType] = {}

    def whole(self, begin: int, end: int) -> bytes | None:
        """The bytes of a span if they lie in the block at hand, or are few."""
        data = self.held(begin, end)
        return self.read(begin, end) if data is None and end - begin <= _MOST_READ else data

    def text(self, data: bytes) -> str:
        """The text of some bytes, one object for all that are equal."""
        text = data.decode()
        return self.texts.setdefault(text, text)

    def attribute(self, data: bytes, read: Callable[[], OnnxAttribute]) -> OnnxAttribute:
        """Return the attribute that some bytes are, read once if it is small and all of it was read."""
        attribute = _attributes.get(data) or self._attributes.get(data)
        if attribute is None:
            before = self._said()
            attribute = read()
            if len(data) <= MAX_SHARED_BYTES and attribute.whole:
                keep(_attributes if self._silent(before) else self._attributes, data, attribute, MAX_SHARED)
        return attribute

    def type(self, data: bytes, read: Callable[[], OnnxType]) -> OnnxType:
        """Return the type that some bytes are, read once."""
        type_ = _types.get(data) or self._types.get(data)
        if type_ is None:
            before = self._said()
            type_ = read()
            if not self._silent(before):
                keep(self._types, data, type_, MAX_SHARED)
            elif len(data) <= MAX_SHARED_BYTES:
                keep(_types, data, type_, MAX_SHARED)
        return type_

    def share_end(self, end: bytes, node: OnnxNode, attributes: Collection[bytes], *, bare: bool) -> None:
        """Keep what a node's bytes say from its operator on, if it holds nothing but attributes that are shared."""
        if len(end) <= MAX_END_BYTES and not node.duplicates and all(data in _attributes for data in attributes):
            keep(_ends, end, End(node.op_type, node.domain, node.attributes, bare), MAX_SHARED)

    def _said(self) -> tuple[int, int, int]:
        return len(self.oddities), len(self.pending), len(self.negative_sizes)

    def _silent(self, before: tuple[int, int, int]) -> bool:
        """Whether nothing odd was found since, nor what is still to be walked through, as far as that is counted."""
        return self._said() == before and len(self.oddities) < MAX_ODDITIES
