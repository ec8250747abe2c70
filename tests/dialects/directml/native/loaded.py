"""Images of structures in this process's memory, as a program passes to DirectML."""

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
    """An image whose pointers are addresses; valid as long as this object exists."""

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
        """Store a number at an offset of the image."""
        data = struct.pack(f"<{code}", value)
        ctypes.memmove(self.start + offset, data, len(data))


@cache
def descriptions(operator: str | None = None) -> list[tuple[str, dict[str, Any], str]]:
    """Return examples and counterexamples that structures can represent.

    Each has its operator and a level. They come from the tables: accepted and rejected descriptors of every operator.
    operator: only this one.
    """
    table = dialect("directml")
    result = []
    for name in table.operators if operator is None else [operator]:
        spec = table.operator(name)
        inputs = [(e["descriptor"], levels_of_example(spec, e)[-1], False) for e in spec.table.examples.values()]
        inputs += [(*counterexample(spec, e), True) for e in spec.table.counterexamples.values()]
        for descriptor, level, exact in inputs:
            try:
                image(descriptor, exact=exact)
            except Error:
                continue  # structures cannot represent it: an unknown word, or a contradicting count
            result.append((name, descriptor, level))
    return result
