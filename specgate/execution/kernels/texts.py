"""Texts as bytes in UTF-8, one behind the other, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["encoded", "texts_from_bytes", "texts_to_bytes"]

_MOST: Final = 2**31 - 1


def texts_to_bytes(texts: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
    """Return where each text begins and ends in the bytes of all of them, and these [length] as uint8.

    texts: objects, str each. Raises InputError for what cannot be written in UTF-8, and for more bytes than int32
    counts.
    """
    begins, ends = (memory.empty(texts.shape, np.dtype(np.int32)) for _ in range(2))
    if not all(isinstance(text, str) for text in texts.flat):
        raise InputError("texts: expected texts alone")
    memory.hold((sum(len(text) for text in texts.flat),), np.dtype(np.uint8))
    parts = [encoded(text) for text in memory.in_time(texts.flat)]
    total = 0
    for place, part in enumerate(parts):
        if total + len(part) > _MOST:
            raise InputError("texts: they have more bytes than int32 counts")
        begins.flat[place], ends.flat[place] = total, total + len(part)
        total += len(part)
    symbols = memory.empty((total,), np.dtype(np.uint8))
    symbols[...] = np.frombuffer(b"".join(parts), np.uint8)
    return begins, ends, symbols


def texts_from_bytes(begins: NDArray[Any], ends: NDArray[Any], symbols: NDArray[np.uint8]) -> NDArray[Any]:
    """Return the texts that are the bytes of `symbols` from `begins` up to `ends`, as objects of that shape.

    Those whose end is before their beginning, and those that are no UTF-8, are masked. Raises InputError for places
    outside of symbols.
    """
    require_shape("texts", "ends", ends.shape, begins.shape)
    if symbols.dtype != np.uint8 or symbols.ndim != 1:
        raise InputError(f"texts: expected a list of bytes, found {symbols.dtype}{list(symbols.shape)}")
    if (begins < 0).any() or (ends < 0).any() or (ends > len(symbols)).any():
        raise InputError(f"texts: expected positions of {len(symbols)} bytes")
    lengths = np.maximum(ends.astype(np.int64) - np.minimum(begins, len(symbols)), 0)
    memory.hold((int(lengths.sum(dtype=np.float64)),), np.dtype(np.uint8))
    result = memory.empty(begins.shape, np.dtype(object))
    lacking = np.asarray(ends < begins).copy()
    content = symbols.tobytes()
    for place, begin in memory.in_time(enumerate(begins.flat)):
        part = content[int(begin) : int(ends.flat[place])]
        result.flat[place] = part.decode(errors="replace")
        lacking.flat[place] |= part.decode(errors="ignore").encode() != part
    return np.ma.MaskedArray(result, mask=lacking) if lacking.any() else result


def encoded(text: str) -> bytes:
    """Return the bytes of a text in UTF-8; raise InputError where it has none."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError(f"texts: {text!a:.60} cannot be written in UTF-8") from None
