"""Images of structures in the memory of this process, as a program has them that hands them to DirectML."""

from __future__ import annotations

import ctypes
import struct
from functools import cache
from typing import TYPE_CHECKING, Any

from specgate.dialects.directml.native.marshal import image
from specgate.errors import Error
from specgate.spec.lint import counterexample, levels_of_example
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from specgate.dialects.directml.native.marshal import Image

__all__ = ["Loaded", "descriptions"]


class Loaded:
    """One image with its pointers made addresses; it lives as long as this object."""

    def __init__(self, image: Image) -> None:
        self.size = len(image.data)
        self._buffer = (ctypes.c_uint64 * (self.size // 8 + 1))()
        start = ctypes.addressof(self._buffer)
        data = bytearray(image.data)
        for pointer in image.pointers:
            (target,) = struct.unpack_from("<Q", data, pointer)
            struct.pack_into("<Q", data, pointer, start + target)
        ctypes.memmove(start, bytes(data), self.size)
        self.start, self.address = start, start + image.root

    def poke(self, offset: int, code: str, value: int) -> None:
        """Put a number at an offset of the image."""
        data = struct.pack(f"<{code}", value)
        ctypes.memmove(self.start + offset, data, len(data))


@cache
def descriptions(operator: str | None = None) -> list[tuple[str, dict[str, Any], str]]:
    """Return examples and counterexamples that structures can hold, with their operator and a level to judge them at.

    operator: of one only. They come from the tables: accepted and rejected descriptors of every operator.
    """
    table = dialect("directml")
    found = []
    for name in table.operators if operator is None else [operator]:
        spec = table.operator(name)
        given = [(e["descriptor"], levels_of_example(spec, e)[-1], False) for e in spec.table.examples.values()]
        given += [(*counterexample(spec, e), True) for e in spec.table.counterexamples.values()]
        for descriptor, level, exact in given:
            try:
                image(descriptor, exact=exact)
            except Error:
                continue  # a counterexample with what no structure shows: an unknown word, an array beside its count
            found.append((name, descriptor, level))
    return found
