"""Text operators: concat, split, normalize, n-gram counts, and hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

_MAX_INT32: Final = 2**31 - 1


def string_tensor_unpack(texts: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
    """Return begin and end offsets of each string, and the UTF-8 bytes.

    texts: objects, str each. Bytes are uint8 [length]. Raises InputError for strings that UTF-8 cannot encode, and for
    more bytes than int32 counts.
    """
    begins, ends = (memory.empty(texts.shape, np.dtype(np.int32)) for _ in range(2))
    if not all(isinstance(text, str) for text in texts.flat):
        raise InputError("expected strings")
    memory.check_budget((sum(len(text) for text in texts.flat),), np.dtype(np.uint8))
    parts = [encode_text(text) for text in memory.within_time_limit(texts.flat)]
    total = 0
    for place, part in enumerate(parts):
        if total + len(part) > _MAX_INT32:
            raise InputError("the strings have more bytes than int32 can count")
        begins.flat[place], ends.flat[place] = total, total + len(part)
        total += len(part)
    symbols = memory.empty((total,), np.dtype(np.uint8))
    symbols[...] = np.frombuffer(b"".join(parts), np.uint8)
    return begins, ends, symbols


def string_tensor_pack(begins: NDArray[Any], ends: NDArray[Any], symbols: NDArray[np.uint8]) -> NDArray[Any]:
    """Return the strings in bytes [begins, ends) of `symbols`, as objects.

    Strings with a negative length or invalid UTF-8 are masked. Raises InputError for offsets out of range.
    """
    require_shape("texts", "ends", ends.shape, begins.shape)
    if symbols.dtype != np.uint8 or symbols.ndim != 1:
        raise InputError(f"texts: expected a list of bytes, found {symbols.dtype}{list(symbols.shape)}")
    if (begins < 0).any() or (ends < 0).any() or (ends > len(symbols)).any():
        raise InputError(f"texts: expected positions of {len(symbols)} bytes")
    lengths = np.maximum(ends.astype(np.int64) - np.minimum(begins, len(symbols)), 0)
    memory.check_budget((int(lengths.sum(dtype=np.float64)),), np.dtype(np.uint8))
    result = memory.empty(begins.shape, np.dtype(object))
    is_null = np.asarray(ends < begins).copy()
    content = symbols.tobytes()
    for place, begin in memory.within_time_limit(enumerate(begins.flat)):
        part = content[int(begin) : int(ends.flat[place])]
        result.flat[place] = part.decode(errors="replace")
        is_null.flat[place] |= part.decode(errors="ignore").encode() != part
    return np.ma.MaskedArray(result, mask=is_null) if is_null.any() else result


def encode_text(text: str) -> bytes:
    """Return the UTF-8 bytes of a string; raise InputError if not encodable."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError(f"texts: {text!a:.60} cannot be encoded as UTF-8") from None


#: Memory overhead of a Python string besides its characters.
_TEXT = 64


def _require(name: str, *arrays: NDArray[Any]) -> None:
    for array in arrays:
        if array.dtype != np.object_ or not all(isinstance(text, str) for text in array.flat):
            raise InputError(f"{name}: expected strings")


def _require_characters(texts: Iterable[Any]) -> None:
    memory.check_budget((sum(_TEXT + 4 * len(text) for text in texts),), np.dtype(np.uint8))


def string_concat(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the strings of `a` followed by those of `b`, broadcast."""
    _require("string_concat", a, b)
    try:
        firsts, seconds = np.broadcast_arrays(a, b)
    except ValueError:
        raise InputError(f"string_concat: {list(a.shape)} and {list(b.shape)} cannot be broadcast") from None
    result = memory.empty(firsts.shape, np.dtype(object))
    longest = [max(map(len, array.flat), default=0) for array in (a, b)]
    memory.check_budget((result.size * (_TEXT + sum(longest)),), np.dtype(np.uint8))
    for place, (first, second) in memory.within_time_limit(enumerate(zip(firsts.flat, seconds.flat, strict=True))):
        result.flat[place] = first + second
    return result


def _change_case(text: str, action: str) -> str:
    """Return a string in lower or upper case, character by character.

    A character whose other case has several characters is unchanged.
    """
    if action == "NONE":
        return text
    result = text.lower() if action == "LOWER" else text.upper()
    if len(result) == len(text) and text.isascii():
        return result
    characters = (c.lower() if action == "LOWER" else c.upper() for c in text)
    return "".join(new if len(new) == 1 else old for new, old in zip(characters, text, strict=True))


def string_normalizer(
    texts: NDArray[Any], *, action: str = "NONE", case_sensitive: bool = False, stopwords: Sequence[str] | None = None
) -> NDArray[Any]:
    """Return strings without stop words, in LOWER, UPPER or unchanged case.

    texts: 1-D, or one row. If all are removed, the result is one empty string. Case mapping is Unicode's, independent
    of the locale.
    """
    name = "string_normalizer"
    _require(name, texts)
    if texts.ndim not in {1, 2} or (texts.ndim == 2 and len(texts) != 1):
        raise InputError(f"{name}: expected shape [C] or [1, C], found {list(texts.shape)}")
    if action not in {"LOWER", "UPPER", "NONE"}:
        raise InputError(f"{name}: expected case_change_action LOWER, UPPER or NONE, found {action!r:.40}")
    case_change = "NONE" if case_sensitive else "LOWER"
    stopwords_set = {_change_case(word, case_change) for word in stopwords or ()}
    kept_texts = [
        text
        for text in memory.within_time_limit(texts.flat)
        if not stopwords_set or _change_case(text, case_change) not in stopwords_set
    ]
    _require_characters(kept_texts)
    result = memory.empty((*texts.shape[:-1], max(1, len(kept_texts))), np.dtype(object))
    result[..., :] = [_change_case(text, action) for text in memory.within_time_limit(kept_texts)] or [""]
    return result


def string_split(
    texts: NDArray[Any], *, delimiter: str = "", maxsplit: int = -1
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the substrings of each string, padded with "", and their counts.

    Substrings are along a new last dimension, counts are int64. delimiter: consecutive ones enclose an empty substring;
    without a delimiter, split at runs of white space, stripped at both ends. maxsplit: maximum number of splits from
    the left; unlimited if negative.
    """
    _require("string_split", texts)
    _require_characters(text * 1 for text in texts.flat)
    limit = maxsplit if 0 <= maxsplit < 2**31 else -1
    parts = [
        text.split(delimiter, limit) if delimiter else text.strip().split(None, limit)
        for text in memory.within_time_limit(texts.flat)
    ]
    counts = memory.empty(texts.shape, np.dtype(np.int64))
    counts[...] = np.array([len(words) for words in parts], np.int64).reshape(texts.shape)
    result = memory.empty((*texts.shape, max(map(len, parts), default=0)), np.dtype(object))
    result[...] = ""
    rows = result.reshape(len(parts), -1) if parts else result
    for row, row_words in memory.within_time_limit(zip(rows, parts, strict=False)):
        row[: len(row_words)] = row_words
    return result, counts


def _number_words(words: NDArray[Any], pool: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return words and pool as numbers from 1 on; 0 for words not in the pool."""
    numbers = {word: number for number, word in enumerate(dict.fromkeys(pool), 1)}
    flat = words.reshape(-1)
    array = np.fromiter((numbers.get(word, 0) for word in memory.within_time_limit(flat.tolist())), np.int64, flat.size)
    return array.reshape(words.shape), np.fromiter((numbers[word] for word in pool), np.int64, len(pool))


def _parts(pool: NDArray[np.int64], begins: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return the n-grams of each length n from 1 on, [count, n]."""
    ends = [*begins[1:], pool.size]
    if any(not 0 <= begin <= end <= pool.size for begin, end in zip(begins, ends, strict=True)):
        raise InputError("tfidf_vectorizer: expected ngram_counts within the pool, in ascending order")
    parts = [pool[begin:end] for begin, end in zip(begins, ends, strict=True)]
    for length, part in enumerate(parts, 1):
        if part.size % length:
            raise InputError(f"tfidf_vectorizer: {part.size} tokens cannot be divided into {length}-grams")
    return [part.reshape(-1, length) for length, part in enumerate(parts, 1)]


def tfidf_vectorizer(
    words: NDArray[Any],
    *,
    shortest: int,
    longest: int,
    most_skipped: int,
    mode: str,
    begins: Sequence[int],
    ngram_indexes: Sequence[int],
    integers: Sequence[int] | None = None,
    texts: Sequence[str] | None = None,
    weights: Sequence[float] | None = None,
) -> NDArray[np.float32]:
    """Return TF-IDF counts of each pool n-gram, float32.

    For one sequence or a batch. integers, texts: the pool, all 1-grams, then the 2-grams, which start at begins[1], and
    so on; ngram_indexes: output index of each. Words of an n-gram may have up to most_skipped words in between, equally
    many between each. mode: TF, the counts; IDF, the weight of each that occurs; TFIDF, counts times weights.
    """
    name = "tfidf_vectorizer"
    pool: Sequence[Any] | None = integers if texts is None else texts
    if (
        pool is None
        or (integers is not None and texts is not None)
        or (words.dtype == np.object_) != (texts is not None)
    ):
        raise InputError(f"{name}: expected a pool of integers or strings, of the input's type")
    if words.ndim not in {1, 2} or not 1 <= shortest <= longest <= len(begins) or most_skipped < 0 or not ngram_indexes:
        raise InputError(f"{name}: expected a 1-D or 2-D input, gram lengths of at least 1, and a pool with n-grams")
    if mode not in {"TF", "IDF", "TFIDF"} or min(ngram_indexes) < 0:
        raise InputError(f"{name}: expected mode TF, IDF or TFIDF, and ngram_indexes of at least 0")
    array, grams_of_pool = _number_words(words, pool)
    grams = _parts(grams_of_pool, begins)
    if sum(map(len, grams)) != len(ngram_indexes) or (weights is not None and len(weights) != len(ngram_indexes)):
        raise InputError(f"{name}: expected an index and a weight for each of {sum(map(len, grams))} n-grams")
    rows = np.atleast_2d(array)
    counts = memory.empty((len(rows), len(ngram_indexes)), np.dtype(np.float64))
    counts[...] = 0
    first = 0
    for length, part in enumerate(grams, 1):
        if shortest <= length <= longest and len(part):
            steps = range(1, 2 if length == 1 else 2 + min(most_skipped, rows.shape[1]))
            for step in memory.within_time_limit(steps):
                counts[:, first : first + len(part)] += _count_n_grams(rows, part, step)
        first += len(part)
    if mode == "IDF":
        counts = (counts > 0).astype(np.float64)
    if mode != "TF" and weights is not None:
        counts *= np.asarray(weights, np.float32).astype(np.float64)
    result = memory.empty((*words.shape[:-1], max(ngram_indexes) + 1), np.dtype(np.float32))
    total = np.zeros((len(rows), max(ngram_indexes) + 1))
    np.add.at(total.T, np.asarray(ngram_indexes), counts.T)
    result[...] = total.reshape(result.shape)
    return result


def _count_n_grams(rows: NDArray[np.int64], grams: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """Return the count of each n-gram in each row, words `step` apart.

    Windows become numbers word by word: a window that starts like an n-gram has that prefix's number.
    """
    length = grams.shape[1]
    width = rows.shape[1] - (length - 1) * step
    if width <= 0:
        return np.zeros((len(rows), len(grams)), np.int64)
    windows, codes = rows[:, :width], grams[:, 0]
    top = int(max(rows.max(initial=0), grams.max(initial=0))) + 1
    for place in range(1, length):
        pairs = codes * top + grams[:, place]
        distinct_codes, codes = np.unique(pairs, return_inverse=True)
        codes = codes.reshape(-1) + 1
        pair_codes = windows * top + rows[:, place * step : place * step + width]
        code_places = np.minimum(np.searchsorted(distinct_codes, pair_codes), distinct_codes.size - 1)
        windows = np.where((distinct_codes[code_places] == pair_codes) & (windows > 0), code_places + 1, 0)
    size = int(codes.max(initial=0)) + 1
    valid_places = np.where(windows < size, windows, 0)
    array = np.bincount((valid_places + np.arange(len(rows))[:, None] * size).reshape(-1), minlength=len(rows) * size)
    return np.asarray(array.reshape(len(rows), size)[:, codes])


#: The constants of MurmurHash3_x86_32 by Austin Appleby (public domain).
_FIRST, _SECOND, _ADDED = np.uint32(0xCC9E2D51), np.uint32(0x1B873593), np.uint32(0xE6546B64)
_MIXES: Final = ((16, np.uint32(0x85EBCA6B)), (13, np.uint32(0xC2B2AE35)))


def murmur_hash3(x: NDArray[Any], *, seed: int = 0, positive: bool = True) -> NDArray[Any]:
    """Return the 32-bit hash of the bytes of each element, as uint32.

    Numbers are hashed little-endian, strings in UTF-8. seed: 32 bits. positive: otherwise the bits are reinterpreted as
    int32.
    """
    if not 0 <= seed < 2**32:
        raise InputError(f"hash: expected a 32-bit seed, found {seed}")
    result = memory.empty(x.shape, np.dtype(np.uint32))
    flat = result.reshape(-1)
    if x.dtype.kind != "O":
        little = np.ascontiguousarray(x).astype(x.dtype.newbyteorder("<"), copy=False)
        flat[...] = _hash_rows(little.reshape(-1).view(np.uint8).reshape(x.size, x.itemsize), seed)
    else:
        texts = [encode_text(text) for text in memory.within_time_limit(x.reshape(-1).tolist())]
        lengths = np.array([len(text) for text in texts], np.int64)
        for length in memory.within_time_limit(np.unique(lengths).tolist()):
            row_numbers = np.flatnonzero(lengths == length)
            joined = b"".join(texts[place] for place in row_numbers)
            flat[row_numbers] = _hash_rows(np.frombuffer(joined, np.uint8).reshape(len(row_numbers), length), seed)
    return result if positive else result.view(np.int32)


def _hash_rows(data: NDArray[np.uint8], seed: int) -> NDArray[np.uint32]:
    """Return the hash of each row of bytes."""
    count, length = data.shape
    word_count = length // 4
    words = np.ascontiguousarray(data[:, : 4 * word_count]).view("<u4").astype(np.uint32).reshape(count, word_count)
    array = np.full(count, seed, np.uint32)
    for word_index in memory.within_time_limit(range(word_count)):
        array = _rotate_words(array ^ _scramble_words(words[:, word_index]), 13) * np.uint32(5) + _ADDED
    if length % 4:
        rest = np.zeros((count, 4), np.uint8)
        rest[:, : length % 4] = data[:, 4 * word_count :]
        array = array ^ _scramble_words(rest.view("<u4").astype(np.uint32)[:, 0])
    array = array ^ np.uint32(length)
    for shift, factor in _MIXES:
        array = (array ^ (array >> np.uint32(shift))) * factor
    return array ^ (array >> np.uint32(16))


def _scramble_words(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return _rotate_words(words * _FIRST, 15) * _SECOND


def _rotate_words(words: NDArray[np.uint32], bits: int) -> NDArray[np.uint32]:
    return (words << np.uint32(bits)) | (words >> np.uint32(32 - bits))
