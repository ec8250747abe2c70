"""Attention with a cache: steps of any length equal one prompt, in output and cache."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.attention import attend
from specgate.execution.kernels.contrib_attention import group_query_attention

HEADS, SHARED, SIZE, LENGTH = 4, 2, 16, 11


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def tokens(batch: int = 1, length: int = LENGTH) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        numbers(batch, length, HEADS * SIZE, seed=1),
        numbers(batch, length, SHARED * SIZE, seed=2),
        numbers(batch, length, SHARED * SIZE, seed=3),
    )


def ask(query, key, value, lengths, total, **others) -> Any:
    counts, whole = np.array(lengths, np.int32), np.array(total, np.int32)
    return group_query_attention(query, counts, whole, key, value, heads=HEADS, shared_heads=SHARED, **others)


def angles() -> dict[str, Any]:
    turns = numbers(LENGTH, SIZE // 2, seed=4)
    return {"cosines": np.cos(turns), "sines": np.sin(turns), "rotated": True}


def test_prompt_uses_causal_attention() -> None:
    query, key, value = tokens(batch=2)
    result, keys, values, scores = ask(query, key, value, [LENGTH - 1] * 2, LENGTH)
    plain = attend(query, key, value, heads=HEADS, shared_heads=SHARED, causal=1)
    np.testing.assert_allclose(result, plain[0], atol=1e-6)
    assert np.array_equal(keys, plain[1])
    assert np.array_equal(values, plain[2])
    assert scores is None
    open_ones = attend(query, key, value, heads=HEADS, shared_heads=SHARED)[0]
    np.testing.assert_allclose(ask(query, key, value, [LENGTH - 1] * 2, LENGTH, causal=0)[0], open_ones, atol=1e-6)


def test_packed_query_key_value_is_split() -> None:
    parts = tokens()
    packed = np.concatenate(parts, axis=2)
    separate, together = ask(*parts, [LENGTH - 1], LENGTH), ask(packed, None, None, [LENGTH - 1], LENGTH)
    assert all(np.array_equal(item, other) for item, other in zip(separate[:3], together[:3], strict=True))


@pytest.mark.parametrize("steps", [[1] * LENGTH, [3, 4, 1, 3], [LENGTH - 1, 1]])
@pytest.mark.parametrize(
    "others", [{}, {"window": 4}, {"sinks": numbers(HEADS)}, {"smooth": True, "cap": 1.5}, angles(),
               {**angles(), "interleaved": True, "scale": 0.125}],
)  # fmt: skip
@pytest.mark.parametrize("room", [None, LENGTH + 2])
def test_decoding_steps_match_the_prompt(steps, others, room) -> None:
    query, key, value = tokens()
    at_once = ask(query, key, value, [LENGTH - 1], LENGTH, **others)
    past = [numbers(1, SHARED, room or 0, SIZE)] * 2
    outcome = []
    for begin, end in pairwise([0, *np.cumsum(steps).tolist()]):
        at = slice(begin, end)
        result, *past, _ = ask(
            query[:, at], key[:, at], value[:, at], [end - 1], end, past_key=past[0], past_value=past[1], **others
        )
        outcome.append(result)
    np.testing.assert_allclose(np.concatenate(outcome, axis=1), at_once[0], atol=2e-6)
    assert all(each.shape[2] == (room or LENGTH) for each in past)
    assert all(np.array_equal(item[:, :, :LENGTH], other) for item, other in zip(past, at_once[1:3], strict=True))


@pytest.mark.parametrize("steps", [[1] * LENGTH, [3, 4, 1, 3], [LENGTH]])
@pytest.mark.parametrize(("room", "window"), [(4, 4), (5, 3), (8, 2)])
def test_rolling_cache_keeps_the_last_positions(steps, room, window) -> None:
    query, key, value = tokens()
    at_once = ask(query, key, value, [LENGTH - 1], LENGTH, window=window, **angles())
    past = [numbers(1, SHARED, room, SIZE)] * 2
    outcome = []
    for begin, end in pairwise([0, *np.cumsum(steps).tolist()]):
        at = slice(begin, end)
        result, *past, _ = ask(
            query[:, at],
            key[:, at],
            value[:, at],
            [end - 1],
            end,
            past_key=past[0],
            past_value=past[1],
            window=window,
            rolling=True,
            **angles(),
        )
        outcome.append(result)
        gap = room - window + 1
        count = end if end <= room else end - gap * ceil((end - room) / gap)
        for cache, whole in zip(past, at_once[1:3], strict=True):
            assert np.array_equal(cache[:, :, :count], whole[:, :, end - count : end])
            assert np.ma.getmaskarray(cache)[:, :, count:].all()
            assert not np.ma.getmaskarray(cache)[:, :, :count].any()
        past = [np.ma.getdata(cache) for cache in past]
    np.testing.assert_allclose(np.concatenate(outcome, axis=1), at_once[0], atol=2e-6)


def test_tokens_after_the_sequence_length_are_ignored() -> None:
    query, key, value = tokens(batch=2, length=5)
    value[1, 3:] = np.inf
    result, keys, _, scores = ask(query, key, value, [4, 2], 5, shown=2)
    alone = ask(query[1:, :3], key[1:, :3], value[1:, :3], [2], 3)[0]
    np.testing.assert_allclose(result[1:, :3], alone, atol=1e-6)
    assert np.ma.getmaskarray(result)[1, 3:].all()
    assert not np.ma.getmaskarray(result)[0].any()
    assert np.ma.getmaskarray(scores)[1, :, :3, 3:].all()
    np.testing.assert_allclose(np.ma.getdata(scores)[1, :, :3, :3].sum(axis=-1), 1, atol=1e-6)
    assert np.array_equal(keys[1, :, 4], key[1, 4].reshape(SHARED, SIZE))


def test_empty_new_keys_keep_the_past() -> None:
    query, key, value = tokens(length=6)
    whole = ask(query, key, value, [5], 6)
    none = np.zeros((1, 0, SHARED * SIZE), np.float32)
    repeated, keys, *_ = ask(query[:, 4:], none, none, [5], 6, past_key=whole[1], past_value=whole[2])
    np.testing.assert_allclose(repeated, whole[0][:, 4:], atol=1e-6)
    assert np.array_equal(keys, whole[1])


def test_scores_before_softmax() -> None:
    query, key, value = tokens(length=3)
    bias = numbers(1, 1, 3, 3)
    scores = ask(query, key, value, [2], 3, score_bias=bias, shown=1, cap=2.0, window=2)[3]
    item = (query.reshape(3, HEADS, SIZE)[2, 3] * key.reshape(3, SHARED, SIZE)[1, 1]).sum() / 4
    assert scores[0, 3, 2, 1] == pytest.approx(2 * np.tanh(item / 2) + bias[0, 0, 2, 1], abs=1e-6)
    assert scores[0, 3, 2, 0] == scores[0, 3, 0, 1] == 0


def test_normalization_precedes_rotary_embedding() -> None:
    query, key, value = tokens(length=3)
    weights: dict[str, Any] = {"query_weight": numbers(SIZE, seed=5), "key_weight": numbers(SIZE, seed=6)}

    def normal(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        split = x.reshape(*x.shape[:2], -1, SIZE)
        return np.asarray(split / np.sqrt((split**2).mean(axis=-1, keepdims=True) + 0.5) * weight).reshape(x.shape)

    result = ask(query, key, value, [2], 3, epsilon=0.5, **weights, **angles())
    by_hand = ask(normal(query, weights["query_weight"]), normal(key, weights["key_weight"]), value, [2], 3, **angles())
    np.testing.assert_allclose(result[0], by_hand[0], atol=1e-6)


def test_key_value_cache_of_8_and_4_bits() -> None:
    query, key, value = (np.zeros((1, 1, 8), np.float32) for _ in range(3))
    value[0, 0] = [0.25, 0.75, 0.5, -0.5, 100, -100, np.nan, 1.5]
    whole: dict[str, Any] = {"heads": 1, "shared_heads": 1, "key_way": "PER_TENSOR", "value_way": "PER_TENSOR"}
    scales: dict[str, Any] = {"key_scale": np.ones(1, np.float32), "value_scale": np.array([0.5], np.float32)}
    last, total = np.array([1], np.int32), np.array(2, np.int32)
    eights, fours = np.full((1, 1, 1, 8), 3, np.int8), np.full((1, 1, 1, 4), 0xB8, np.uint8)
    eight = group_query_attention(
        query, last, total, key, value, eights, eights, **scales, **whole, bits=8
    )  # fmt: skip
    assert eight[2].tolist() == [[[[3] * 8, [0, 2, 1, -1, 127, -128, 127, 3]]]]
    np.testing.assert_allclose(eight[0][0, 0], (np.array([3] * 8) + [0, 2, 1, -1, 127, -128, 127, 3]) / 4)
    four = group_query_attention(
        query, last, total, key, value, fours, fours, **scales, **whole, bits=4
    )  # fmt: skip
    assert four[2].tolist() == [[[[0xB8] * 4, [0xA8, 0x79, 0x0F, 0xBF]]]]
    np.testing.assert_allclose(four[0][0, 0], (np.array([0, 3] * 4) + [0, 2, 1, -1, 7, -8, 7, 3]) / 4)


def test_per_channel_scales_and_zero_scale() -> None:
    query, key, value = (numbers(1, 1, 16, seed=n) for n in range(3))
    scale = np.zeros((1, 2, 1, 8), np.float32)
    scale[0, 1] = 0.25
    none = np.zeros((1, 2, 0, 8), np.int8)
    arrays = group_query_attention(
        query, np.array([0], np.int32), np.array([1], np.int32), key, value, none, none, key_scale=scale, value_scale=scale,
        heads=2, shared_heads=2, bits=8, key_way="PER_CHANNEL", value_way="PER_CHANNEL",
    )  # fmt: skip
    assert np.array_equal(arrays[2][0, 0, 0], np.rint(value[0, 0, :8]))
    assert np.array_equal(arrays[2][0, 1, 0], np.rint(value[0, 0, 8:] * 4))
    assert np.array_equal(arrays[0][0, 0], np.r_[np.zeros(8), arrays[2][0, 1, 0] / 4].astype(np.float32))


PAST = {"past_key": numbers(1, SHARED, 3, SIZE), "past_value": numbers(1, SHARED, 3, SIZE)}


@pytest.mark.parametrize(
    ("others", "text"),
    [
        ({"causal": 2}, "window"),
        ({"window": 0}, "window"),
        ({"causal": 0, "window": 2}, "window"),
        ({"shown": 3}, "qk_output"),
        ({"rolling": True, "window": 2}, "past"),
        ({**PAST, "rolling": True, "window": 4}, "window"),
        ({**PAST, "past_value": None}, "past"),
        ({**PAST, "total": 4}, "past"),
        ({**PAST, "lengths": [0], "total": 5}, "sequence length"),
        ({"lengths": [2]}, "sequence length"),
        ({"lengths": [-1]}, "sequence length"),
        ({"rotated": True}, "cosine and sine"),
        ({"cosines": numbers(1, 8), "sines": numbers(1, 8)}, "caches"),
        ({"cosines": numbers(2, 9), "sines": numbers(2, 9)}, "caches"),
        ({"bits": 8}, "bits"),
        ({"key_way": "PER_TENSOR"}, "quantized"),
        ({"key_way": "PER_TENSOR", "value_way": "PER_TENSOR", "bits": 8}, "scales"),
        ({"query_weight": numbers(SIZE)}, "q_norm_weight"),
        ({"score_bias": numbers(1, 1, 2, 3)}, "bias"),
        ({"positions": np.zeros((1, 1), np.int64)}, "positions"),
    ],
)
def test_inconsistent_arguments_are_rejected(others, text) -> None:
    counts = {"lengths": [1], "total": 2, **others}
    with pytest.raises(InputError, match=text):
        ask(*tokens(length=2), counts.pop("lengths"), counts.pop("total"), **counts)
