"""Random numbers, dropout, Bernoulli and multinomial: Philox and MT19937.

DirectML RANDOM_GENERATOR; ONNX Bernoulli, Dropout, Multinomial, RandomNormal, RandomNormalLike, RandomUniform,
RandomUniformLike; OpenVINO RandomUniform.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float64
from specgate.execution.kernels.elementwise import mask_undefined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_MASK: Final = np.uint64(0xFFFFFFFF)
_WORD_BITS: Final = np.uint64(32)
_ROUNDS: Final = 10
#: Philox multipliers of the counter halves, and the increments of the key halves per round.
_FACTORS: Final = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_STEPS: Final = (np.uint64(0x9E3779B9), np.uint64(0xBB67AE85))
#: Mantissa bits of floats made from one word, and the bits of 1.
_FRACTIONS: Final = {"float16": (10, 0x3C00, "u2"), "float32": (23, 0x3F800000, "u4")}

#: Number of low bits of a word (of two for float64) that a Mersenne Twister's number uses.
_DIGITS: Final = {"float16": 11, "float32": 24, "float64": 53}


def random_uniform_seeded(
    shape: NDArray[Any], low: NDArray[Any], high: NDArray[Any], *, key: int, counter: int, twister: bool = False
) -> NDArray[Any]:
    """Return random numbers in [low, high), of their type.

    shape: an array of sizes. Generator: Philox 4x32-10 with a key and a counter; every four words are a block, numbered
    from 0. twister: MT19937 seeded by the low word of the key. Masked where the result is not determined: key and
    counter are 0, the type is bfloat16, or the range is empty.
    """
    if low.size != 1 or high.size != 1 or low.dtype != high.dtype:
        raise InputError("random: expected bounds of one element each and the same type")
    sizes = tuple(int(size) for size in shape.reshape(-1))
    if min(sizes, default=0) < 0 or min(key, counter) < 0 or max(key, counter) >= 2**64:
        raise InputError(f"random: expected sizes and seeds of at least 0, found {list(sizes)}, {key}, {counter}")
    result = memory.empty(sizes, low.dtype)
    bottom, top = low.reshape(()), high.reshape(())
    if (
        not (key or counter)
        or low.dtype.name not in {"float16", "float32", "float64", "int32", "int64"}
        or not bottom < top
    ):
        result[...] = 0
        return np.ma.MaskedArray(result, mask=np.ones(sizes, np.bool_))
    with memory.ignore_warnings():
        drawn_numbers = (
            _draw_mersenne_twister(result.size, bottom, top, key)
            if twister
            else _draw_philox(result.size, bottom, top, key, counter)
        )
        result[...] = drawn_numbers.reshape(sizes)
    return result


def random_generator(state: NDArray[Any], *, sizes: Sequence[int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return 32-bit random words as uint32, and the next state.

    sizes: of the result. Generator: Philox 4x32-10. state: six words, a counter and then a key, lowest word first. The
    counter numbers the blocks of four words, and wraps around.
    """
    if state.size != 6 or state.dtype != np.uint32 or state.shape[-1:] != (6,):
        raise InputError(f"random: expected a state of six uint32, found {state.dtype}{list(state.shape)}")
    result = memory.empty(tuple(sizes), np.dtype(np.uint32))
    words = state.reshape(-1).astype(np.uint64)
    counters, rest = [], np.arange(-(-result.size // 4), dtype=np.uint64)
    for word in words[:4]:
        counters.append((rest + word) & _MASK)
        rest = (rest + word) >> _WORD_BITS
    result[...] = _philox(counters, int(words[4] | words[5] << _WORD_BITS))[: result.size].reshape(result.shape)
    next_word = sum(int(word) << 32 * place for place, word in enumerate(words[:4])) + len(rest)
    next_state = state.copy()
    next_state.reshape(-1)[:4] = [next_word >> 32 * place & 0xFFFFFFFF for place in range(4)]
    return result, next_state


def _draw_philox(count: int, low: NDArray[Any], high: NDArray[Any], key: int, counter: int) -> NDArray[Any]:
    dtype = low.dtype
    words = _words(count * (1 + (dtype == np.float64)), key, counter)
    if dtype.kind == "i":
        span = np.uint64((int(high) - int(low)) % 2**64)
        integers_array: NDArray[Any] = (words % span).astype(np.int64).astype(dtype) + low
        return integers_array
    if dtype == np.float64:
        pairs = words.reshape(-1, 2)
        bits = np.uint64(0x3FF << 52) | (pairs[:, 0] & np.uint64(0xFFFFF)) << _WORD_BITS | pairs[:, 1]
        scaled_numbers: NDArray[Any] = (bits.view(np.float64) - 1.0) * (high - low) + low
        return scaled_numbers
    fraction, one_bits, word = _FRACTIONS[dtype.name]
    numbers = (words & np.uint64(2**fraction - 1) | np.uint64(one_bits)).astype(word).view(dtype)
    array: NDArray[Any] = (numbers - dtype.type(1)) * (high - low) + low
    return array


def _draw_mersenne_twister(count: int, low: NDArray[Any], high: NDArray[Any], seed: int) -> NDArray[Any]:
    """Return numbers of a Mersenne Twister.

    Integers are words modulo the span, floats the low bits of words.
    """
    dtype = low.dtype
    word_limit = 2**32 - 1
    pairs = dtype == np.float64 or (dtype == np.int64 and max(int(low), int(high)) > word_limit)
    words = np.frombuffer(np.random.RandomState(seed & word_limit).bytes(4 * count * (1 + pairs)), "<u4").astype(
        np.uint64
    )
    if pairs:
        words = words[::2] << _WORD_BITS | words[1::2]
    if dtype.kind == "i":
        span = np.uint64((int(high) - int(low)) % 2**64)
        integers_array: NDArray[Any] = (words % span).astype(np.int64).astype(dtype) + low
        return integers_array
    digits = _DIGITS[dtype.name]
    parts = (words & np.uint64(2**digits - 1)).astype(np.float64) / 2.0**digits
    array: NDArray[Any] = parts.astype(dtype) * (high - low) + low
    return array


def _words(count: int, key: int, counter: int) -> NDArray[np.uint64]:
    """Return 32-bit words as uint64.

    Blocks are numbered from 0 in the low half of the counter.
    """
    blocks = np.arange(-(-count // 4), dtype=np.uint64)
    counters = [blocks & _MASK, blocks >> _WORD_BITS, *(np.full_like(blocks, part) for part in _split_words(counter))]
    return _philox(counters, key)[:count]


def _philox(counters: list[NDArray[np.uint64]], key: int) -> NDArray[np.uint64]:
    """Return four words per counter.

    counters: their words, the lowest first.
    """
    first, second = counters[:2], counters[2:]
    keys = list(_split_words(key))
    for _ in memory.within_time_limit(range(_ROUNDS)):
        products = first[0] * _FACTORS[0], second[0] * _FACTORS[1]
        first, second = (
            [products[1] >> _WORD_BITS ^ keys[0] ^ first[1], products[1] & _MASK],
            [products[0] >> _WORD_BITS ^ keys[1] ^ second[1], products[0] & _MASK],
        )
        keys = [(part + step) & _MASK for part, step in zip(keys, _STEPS, strict=True)]
    array: NDArray[np.uint64] = np.stack([*first, *second], axis=1).reshape(-1)
    return array


def _split_words(number: int) -> tuple[np.uint64, np.uint64]:
    return np.uint64(number & 0xFFFFFFFF), np.uint64(number >> 32)


_SEEDS: Final = 2**32


def _generator(seed: float | None) -> np.random.RandomState:
    number = int(seed) if seed is not None and isfinite(seed) else 0
    return np.random.RandomState(number % _SEEDS)


def _shape(like_array: NDArray[Any] | None, shape: Sequence[int] | None) -> tuple[int, ...]:
    sizes = like_array.shape if like_array is not None else tuple(shape or ())
    if min(sizes, default=0) < 0:
        raise InputError(f"random: expected output sizes of at least 0, found {list(sizes)!r:.60}")
    return sizes


def _type(like_array: NDArray[Any] | None, dtype: np.dtype[Any] | None) -> np.dtype[Any]:
    matching_dtype = (
        dtype if dtype is not None else like_array.dtype if like_array is not None else np.dtype(np.float32)
    )
    if not is_float(matching_dtype):
        raise InputError(f"random: expected a floating-point type, found {matching_dtype}")
    return matching_dtype


def random_normal(
    like: NDArray[Any] | None = None,
    *,
    shape: Sequence[int] | None = None,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
    dtype: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return normally distributed numbers in the shape of `like` or `shape`.

    dtype: default that of `like`. seed: of numpy's RandomState; 0 if None or not finite.
    """
    sizes, kind = _shape(like, shape), _type(like, dtype)
    memory.check_budget(sizes, np.dtype(np.float64))
    return round_to(np.asarray(_generator(seed).standard_normal(sizes)) * scale + mean, kind)


def random_uniform(
    like: NDArray[Any] | None = None,
    *,
    shape: Sequence[int] | None = None,
    low: float = 0.0,
    high: float = 1.0,
    seed: float | None = None,
    dtype: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return uniform numbers between two bounds; others as in `random_normal`."""
    sizes, kind = _shape(like, shape), _type(like, dtype)
    memory.check_budget(sizes, np.dtype(np.float64))
    return round_to(np.asarray(_generator(seed).random_sample(sizes)) * (high - low) + low, kind)


def bernoulli(inputs: NDArray[Any], *, seed: float | None = None, dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return 1 with each element's probability, else 0 (Bernoulli).

    dtype: default that of `inputs`.
    """
    memory.check_budget(inputs.shape, np.dtype(np.float64))
    drawn_numbers = np.asarray(_generator(seed).random_sample(inputs.shape)) < to_float64(inputs)
    return drawn_numbers.astype(inputs.dtype if dtype is None else dtype)


def multinomial(
    inputs: NDArray[Any], *, count: int = 1, seed: float | None = None, dtype: np.dtype[Any] | None = None
) -> NDArray[Any]:
    """Return `count` class samples per row of log likelihoods (Multinomial).

    inputs: [batch, classes]. A class is the first whose cumulative probability exceeds a uniform number. dtype: default
    int32. Masked where a row has no valid probabilities.
    """
    if inputs.ndim != 2 or count < 0:
        raise InputError(f"multinomial: expected a 2-D input and at least 0 samples, found {count}")
    shape = (inputs.shape[0], count)
    result = memory.empty(shape, np.dtype(np.int32) if dtype is None else dtype)
    result[...] = 0
    drawn_numbers = np.asarray(_generator(seed).random_sample(shape))
    if not inputs.shape[1]:
        return mask_undefined(result, np.ones(shape, np.bool_))
    logs = to_float64(inputs)
    sums = np.exp(logs - logs.max(axis=1, keepdims=True)).cumsum(axis=1)
    for row, (row_total, outcome) in enumerate(memory.within_time_limit(zip(sums, drawn_numbers, strict=True))):
        value = np.searchsorted(row_total / row_total[-1], outcome, side="right")
        result[row] = np.minimum(value, inputs.shape[1] - 1)
    return mask_undefined(result, np.broadcast_to(~np.isfinite(sums[:, -1:]), shape))


def dropout(
    inputs: NDArray[Any],
    ratio: NDArray[Any] | None = None,
    training: NDArray[Any] | None = None,
    *,
    stated_ratio: float = 0.5,
    testing: int = 1,
    boolean: bool = True,
    seed: float | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return dropout of `inputs`, and the mask of kept elements.

    Kept elements are divided by 1 - ratio. ratio: drop probability, default `stated_ratio`. Only where `training` is
    true, or `testing` 0; otherwise all are kept. An element is kept if its uniform number is not below the ratio.
    boolean: the mask is boolean, else of the type of `inputs`.
    """
    for array in (ratio, training):
        if array is not None and array.size != 1:
            raise InputError("dropout: expected a ratio of one element and a training_mode of one bool")
    part = float(to_float64(ratio).reshape(())) if ratio is not None else stated_ratio
    dropping = bool(training.reshape(())) if training is not None else not testing
    memory.check_budget(inputs.shape, np.dtype(np.float64))
    is_kept = np.ones(inputs.shape, np.bool_)
    result = inputs.copy()
    if dropping and part:
        if not 0 <= part < 1:
            refusal = InputError if ratio is not None else NoKernel  # an attribute has no documented range
            raise refusal(f"dropout: expected 0 <= ratio < 1, found {part}")
        is_kept = np.asarray(_generator(seed).random_sample(inputs.shape)) >= part
        result = round_to(to_float64(inputs) * is_kept * (1 / (1 - part)), inputs.dtype)
    return result, is_kept if boolean else is_kept.astype(inputs.dtype)
