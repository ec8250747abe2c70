"""Reader of a model file that shares equal parts within and across models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.caching import keep
from specgate.dialects.onnx.file.wire import MAX_ODDITIES, Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import BinaryIO

    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxNode, OnnxType

__all__ = ["End", "Source"]

MAX_SHARED = 4096  # types, attributes and node ends cached by their bytes
MAX_SHARED_BYTES = 127
MAX_END_BYTES = 512
_MOST_READ = 1 << 10


class End(NamedTuple):
    """The end of a node's bytes, decoded: operator, domain and attributes.

    `bare` is True if the node has no other fields, so that its bytes can be copied.
    """

    op_type: str
    domain: str
    attributes: Mapping[str, OnnxAttribute]
    bare: bool


# Decoded bytes, shared across models. Only those without oddities are cached here.
_attributes: Final[dict[bytes, OnnxAttribute]] = {}
_types: Final[dict[bytes, OnnxType]] = {}
_ends: Final[dict[bytes, End]] = {}


class Source(Reader):
    """A Reader with caches by bytes.

    `texts` caches names, `ends` the ends of nodes.
    """

    __slots__ = ("_attributes", "_types", "ends", "texts")

    def __init__(self, file: BinaryIO, size: int) -> None:
        super().__init__(file, size)
        self.ends: Final = _ends
        self.texts: dict[str, str] = {}
        # Parts with oddities, which are reported once per model.
        self._attributes: dict[bytes, OnnxAttribute] = {}
        self._types: dict[bytes, OnnxType] = {}

    def whole(self, begin: int, end: int) -> bytes | None:
        """Return a span's bytes if they are in the current block or short."""
        data = self.held(begin, end)
        return self.read(begin, end) if data is None and end - begin <= _MOST_READ else data

    def text(self, data: bytes) -> str:
        """Decode bytes; equal texts are one object."""
        text = data.decode()
        return self.texts.setdefault(text, text)

    def attribute(self, data: bytes, read: Callable[[], OnnxAttribute]) -> OnnxAttribute:
        """Return the attribute in `data`, cached if it is small and complete."""
        attribute = _attributes.get(data) or self._attributes.get(data)
        if attribute is None:
            before = self._oddity_counts()
            attribute = read()
            if len(data) <= MAX_SHARED_BYTES and attribute.whole:
                keep(_attributes if self._silent(before) else self._attributes, data, attribute, MAX_SHARED)
        return attribute

    def type(self, data: bytes, read: Callable[[], OnnxType]) -> OnnxType:
        """Return the type in `data`, cached."""
        type_ = _types.get(data) or self._types.get(data)
        if type_ is None:
            before = self._oddity_counts()
            type_ = read()
            if not self._silent(before):
                keep(self._types, data, type_, MAX_SHARED)
            elif len(data) <= MAX_SHARED_BYTES:
                keep(_types, data, type_, MAX_SHARED)
        return type_

    def share_end(self, end: bytes, node: OnnxNode, attributes: Collection[bytes], *, bare: bool) -> None:
        """Cache the end of a node's bytes if all its attributes are cached."""
        if len(end) <= MAX_END_BYTES and not node.duplicates and all(data in _attributes for data in attributes):
            keep(_ends, end, End(node.op_type, node.domain, node.attributes, bare), MAX_SHARED)

    def _oddity_counts(self) -> tuple[int, int, int]:
        return len(self.oddities), len(self.pending), len(self.negative_sizes)

    def _silent(self, before: tuple[int, int, int]) -> bool:
        """Return True if nothing odd was found or queued since `before`.

        The number of oddities is capped, so at the cap the answer is False.
        """
        return self._oddity_counts() == before and len(self.oddities) < MAX_ODDITIES
