"""String operators: concat, split, normalize, pack and unpack.

ONNX StringConcat, StringNormalizer, StringSplit; OpenVINO StringTensorPack, StringTensorUnpack.
"""

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
    """Return begin and end offsets of each string, and the UTF-8 bytes.

    texts: objects, str each. Bytes are uint8 [length]. Raises InputError for strings that UTF-8 cannot encode, and for
    more bytes than int32 counts.
    """
    begins, ends = (memory.empty(texts.shape, np.dtype(np.int32)) for _ in range(2))
    if not all(isinstance(text, str) for text in texts.flat):
        raise InputError("expected only strings")
    memory.hold((sum(len(text) for text in texts.flat),), np.dtype(np.uint8))
    parts = [encoded(text) for text in memory.in_time(texts.flat)]
    total = 0
    for place, part in enumerate(parts):
        if total + len(part) > _MOST:
            raise InputError("the strings have more bytes than int32 can count")
        begins.flat[place], ends.flat[place] = total, total + len(part)
        total += len(part)
    symbols = memory.empty((total,), np.dtype(np.uint8))
    symbols[...] = np.frombuffer(b"".join(parts), np.uint8)
    return begins, ends, symbols


def texts_from_bytes(begins: NDArray[Any], ends: NDArray[Any], symbols: NDArray[np.uint8]) -> NDArray[Any]:
    """Return the strings in bytes [begins, ends) of `symbols`, as objects.

    Strings with a negative length or invalid UTF-8 are masked. Raises InputError for offsets out of range.
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
    """Return the UTF-8 bytes of a string; raise InputError if not encodable."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError(f"texts: {text!a:.60} cannot be written in UTF-8") from None


#: Memory overhead of a Python string besides its characters.
_TEXT = 64


def _hold(name: str, *arrays: NDArray[Any]) -> None:
    for array in arrays:
        if array.dtype != np.object_ or not all(isinstance(text, str) for text in array.flat):
            raise InputError(f"{name}: expected only strings")


def _hold_characters(texts: Iterable[Any]) -> None:
    memory.hold((sum(_TEXT + 4 * len(text) for text in texts),), np.dtype(np.uint8))


def join_texts(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the strings of `a` followed by those of `b`, broadcast."""
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
    """Return a string in lower or upper case, character by character.

    A character whose other case has several characters is unchanged.
    """
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
    """Return strings without stop words, in LOWER, UPPER or unchanged case.

    texts: 1-D, or one row. If all are removed, the result is one empty string. Case mapping is Unicode's, independent
    of the locale.
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
    """Return the substrings of each string, padded with "", and their counts.

    Substrings are along a new last dimension, counts are int64. delimiter: consecutive ones enclose an empty substring;
    without a delimiter, split at runs of white space, stripped at both ends. maxsplit: maximum number of splits from
    the left; unlimited if negative.
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
