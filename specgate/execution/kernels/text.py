"""Texts as bytes in UTF-8, one behind the other, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["encoded", "join_texts", "normalize_texts", "split_texts", "texts_from_bytes", "texts_to_bytes"]

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


#: What Python takes for a text beside its characters.
_TEXT = 64


def _hold(name: str, *arrays: NDArray[Any]) -> None:
    for array in arrays:
        if array.dtype != np.object_ or not all(isinstance(text, str) for text in array.flat):
            raise InputError(f"{name}: expected texts alone")


def _hold_characters(texts: Iterable[Any]) -> None:
    memory.hold((sum(_TEXT + 4 * len(text) for text in texts),), np.dtype(np.uint8))


def join_texts(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the texts of `a` followed by those of `b`, shapes broadcast."""
    _hold("join_texts", a, b)
    try:
        firsts, seconds = np.broadcast_arrays(a, b)
    except ValueError:
        raise InputError(f"join_texts: {list(a.shape)} and {list(b.shape)} cannot be broadcast") from None
    result = memory.empty(firsts.shape, np.dtype(object))
    longest = [max(map(len, array.flat), default=0) for array in (a, b)]
    memory.hold((result.size * (_TEXT + sum(longest)),), np.dtype(np.uint8))
    for place, (first, second) in memory.in_time(enumerate(zip(firsts.flat, seconds.flat, strict=True))):
        result.flat[place] = first + second
    return result


def _cased(text: str, action: str) -> str:
    """Return a text in lower or upper case, character by character: one that becomes several stays."""
    if action == "NONE":
        return text
    result = text.lower() if action == "LOWER" else text.upper()
    if len(result) == len(text) and text.isascii():
        return result
    each = (c.lower() if action == "LOWER" else c.upper() for c in text)
    return "".join(new if len(new) == 1 else old for new, old in zip(each, text, strict=True))


def normalize_texts(
    texts: NDArray[Any], *, action: str = "NONE", case_sensitive: bool = False, stopwords: Sequence[str] | None = None
) -> NDArray[Any]:
    """Return the texts of a list or of one row without the stop words, then in LOWER or UPPER case, or as they are.

    Where all are left out, there is one empty text. Cases are those of Unicode, of no language in particular.
    """
    name = "normalize_texts"
    _hold(name, texts)
    if texts.ndim not in {1, 2} or (texts.ndim == 2 and len(texts) != 1):
        raise InputError(f"{name}: expected a list or one row, found {list(texts.shape)}")
    if action not in {"LOWER", "UPPER", "NONE"}:
        raise InputError(f"{name}: expected LOWER, UPPER or NONE, found {action!r:.40}")
    compared = "NONE" if case_sensitive else "LOWER"
    left_out = {_cased(word, compared) for word in stopwords or ()}
    kept = [text for text in memory.in_time(texts.flat) if not left_out or _cased(text, compared) not in left_out]
    _hold_characters(kept)
    result = memory.empty((*texts.shape[:-1], max(1, len(kept))), np.dtype(object))
    result[..., :] = [_cased(text, action) for text in memory.in_time(kept)] or [""]
    return result


def split_texts(
    texts: NDArray[Any], *, delimiter: str = "", maxsplit: int = -1
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the parts of each text along a last dimension, filled up with empty ones; and how many each has, int64.

    delimiter: what stands between parts, one after the other delimit an empty part; none is white space, any number of
    it, and what is at the ends is left out. maxsplit: how many splits at most, from the left; any number if negative.
    """
    _hold("split_texts", texts)
    _hold_characters(text * 1 for text in texts.flat)
    limit = maxsplit if 0 <= maxsplit < 2**31 else -1
    parts = [
        text.split(delimiter, limit) if delimiter else text.strip().split(None, limit)
        for text in memory.in_time(texts.flat)
    ]
    counts = memory.empty(texts.shape, np.dtype(np.int64))
    counts[...] = np.array([len(each) for each in parts], np.int64).reshape(texts.shape)
    result = memory.empty((*texts.shape, max(map(len, parts), default=0)), np.dtype(object))
    result[...] = ""
    rows = result.reshape(len(parts), -1) if parts else result
    for row, each in memory.in_time(zip(rows, parts, strict=False)):
        row[: len(each)] = each
    return result, counts
