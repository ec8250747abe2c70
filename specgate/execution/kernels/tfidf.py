"""TF-IDF: counts of n-grams.

ONNX TfIdfVectorizer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["count_n_grams"]


def _numbered(words: NDArray[Any], pool: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return words and pool as numbers from 1 on; 0 for words not in the pool."""
    numbers = {word: number for number, word in enumerate(dict.fromkeys(pool), 1)}
    flat = words.reshape(-1)
    array = np.fromiter((numbers.get(word, 0) for word in memory.in_time(flat.tolist())), np.int64, flat.size)
    return array.reshape(words.shape), np.fromiter((numbers[word] for word in pool), np.int64, len(pool))


def _parts(pool: NDArray[np.int64], begins: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return the n-grams of each length n from 1 on, [count, n]."""
    ends = [*begins[1:], pool.size]
    if any(not 0 <= begin <= end <= pool.size for begin, end in zip(begins, ends, strict=True)):
        raise InputError("count_n_grams: expected beginnings within the pool, in rising order")
    parts = [pool[begin:end] for begin, end in zip(begins, ends, strict=True)]
    for length, part in enumerate(parts, 1):
        if part.size % length:
            raise InputError(f"count_n_grams: {part.size} words are no {length}-grams")
    return [part.reshape(-1, length) for length, part in enumerate(parts, 1)]


def count_n_grams(
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
    name = "count_n_grams"
    pool: Sequence[Any] | None = integers if texts is None else texts
    if (
        pool is None
        or (integers is not None and texts is not None)
        or (words.dtype == np.object_) != (texts is not None)
    ):
        raise InputError(f"{name}: expected a pool of integers or of texts, as the words are")
    if words.ndim not in {1, 2} or not 1 <= shortest <= longest <= len(begins) or most_skipped < 0 or not ngram_indexes:
        raise InputError(f"{name}: expected one or two dimensions, lengths from 1 on, and n-grams")
    if mode not in {"TF", "IDF", "TFIDF"} or min(ngram_indexes) < 0:
        raise InputError(f"{name}: expected TF, IDF or TFIDF, and places that are not negative")
    array, known = _numbered(words, pool)
    grams = _parts(known, begins)
    if sum(map(len, grams)) != len(ngram_indexes) or (weights is not None and len(weights) != len(ngram_indexes)):
        raise InputError(f"{name}: expected a place, and a weight, for each of {sum(map(len, grams))} n-grams")
    rows = np.atleast_2d(array)
    counts = memory.empty((len(rows), len(ngram_indexes)), np.dtype(np.float64))
    counts[...] = 0
    first = 0
    for length, part in enumerate(grams, 1):
        if shortest <= length <= longest and len(part):
            steps = range(1, 2 if length == 1 else 2 + min(most_skipped, rows.shape[1]))
            for step in memory.in_time(steps):
                counts[:, first : first + len(part)] += _occurring(rows, part, step)
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


def _occurring(rows: NDArray[np.int64], grams: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """Return how often each n-gram occurs in each row, words `step` apart.

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
        different, codes = np.unique(pairs, return_inverse=True)
        codes = codes.reshape(-1) + 1
        sought = windows * top + rows[:, place * step : place * step + width]
        at = np.minimum(np.searchsorted(different, sought), different.size - 1)
        windows = np.where((different[at] == sought) & (windows > 0), at + 1, 0)
    size = int(codes.max(initial=0)) + 1
    inside = np.where(windows < size, windows, 0)
    array = np.bincount((inside + np.arange(len(rows))[:, None] * size).reshape(-1), minlength=len(rows) * size)
    return np.asarray(array.reshape(len(rows), size)[:, codes])
