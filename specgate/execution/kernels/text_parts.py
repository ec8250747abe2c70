"""Texts put together, split, and written in other cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["join_texts", "normalize_texts", "split_texts"]

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
    made = text.lower() if action == "LOWER" else text.upper()
    if len(made) == len(text) and text.isascii():
        return made
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
