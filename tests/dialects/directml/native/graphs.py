"""A DML_GRAPH_DESC image, built from the header's structures."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from specgate.dialects.directml.native.marshal import Image

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["GRAPH"]


class _Maker:
    def __init__(self) -> None:
        self.data = bytearray(72)  # DML_GRAPH_DESC
        self.pointers: list[int] = []

    def add(self, data: bytes) -> int:
        at = len(self.data)
        self.data += data + bytes(-len(data) % 8)
        return at

    def point(self, at: int, to: int) -> None:
        struct.pack_into("<Q", self.data, at, to)
        self.pointers.append(at)

    def named(self, data: bytes, name: str | None) -> int:
        """Add a structure whose last member points to its name."""
        at = self.add(data + bytes(-len(data) % 8) + bytes(8))
        if name is not None:
            self.point(len(self.data) - 8, self.add(name.encode() + b"\0"))
        return at

    def parts(self, at: int, *parts: tuple[int, int]) -> None:
        """Add an array of types and pointers; store its count and address at `at`."""
        struct.pack_into("<I", self.data, at, len(parts))
        first = self.add(bytes(16 * len(parts)))
        self.point(at + 8, first)
        for index, (kind, to) in enumerate(parts):
            struct.pack_into("<I", self.data, first + 16 * index, kind)
            self.point(first + 16 * index + 8, to)

    def edge(self, kind: int, indices: Sequence[int], name: str | None = None) -> tuple[int, int]:
        return kind, self.named(struct.pack(f"<{len(indices)}I", *indices), name)


def _graph() -> Image:
    """Two operators and a constant; the first operator was created as 0x1000."""
    maker = _Maker()
    struct.pack_into("<II", maker.data, 0, 1, 1)
    first = maker.named(struct.pack("<Q", 0x1000), 'hot "é"\n')
    constant = maker.named(struct.pack("<QQ", 1, 2**40), "values")
    second = maker.named(struct.pack("<Q", 0x2000), "n" * 2000)  # names are truncated to this length when read
    # NodeCount follows the two counts, and each array follows its count.
    maker.parts(8, (1, first), (2, constant), (1, second))
    maker.parts(24, maker.edge(1, [0, 0, 0], "indices"))
    maker.parts(40, maker.edge(2, [2, 0, 0]))
    maker.parts(56, maker.edge(3, [1, 0, 0, 1]), maker.edge(3, [0, 0, 2, 0], "between"))
    return Image(bytes(maker.data), tuple(maker.pointers), 0)


GRAPH: Final = _graph()
