"""Attention with projected, packed and quantized inputs: masks, buffers, omissions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.contrib_attention import multi_head_attention, projected_attention, quantized_attention

BATCH, QUERIES, HEADS, SIZE = 2, 3, 2, 4
HIDDEN = HEADS * SIZE


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def parts(keys: int = QUERIES) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return numbers(BATCH, QUERIES, HIDDEN), numbers(BATCH, keys, HIDDEN, seed=1), numbers(BATCH, keys, HIDDEN, seed=2)


def ask(*arrays: np.ndarray, **others: Any) -> tuple[np.ndarray, ...]:
    return multi_head_attention(*arrays, heads=HEADS, **others)


def buffers(room: int) -> dict[str, Any]:
    return {
        "past_key": numbers(BATCH, HEADS, room, SIZE, seed=3),
        "past_value": numbers(BATCH, HEADS, room, SIZE, seed=4),
    }


@pytest.mark.parametrize("causal", [False, True])
def test_past_length_limits_the_buffer_and_new_keys_follow(causal) -> None:
    whole = buffers(9)
    separate = {name: each[:, :, :4] for name, each in whole.items()}
    mask = (np.arange(BATCH * 7).reshape(BATCH, 7) % 3).astype(np.int32)
    result = ask(*parts(), mask=mask, past_length=np.array([4], np.int32), causal=causal, **whole)
    plain = ask(*parts(), mask=mask, causal=causal, **separate)
    assert np.array_equal(result[0], plain[0])
    assert np.array_equal(result[3], plain[3])
    for written, joined, old in zip(result[1:3], plain[1:3], whole.values(), strict=True):
        assert np.array_equal(written[:, :, :7], joined)
        assert np.array_equal(written[:, :, 7:], old[:, :, 7:])


@pytest.mark.parametrize(("length", "room"), [(-1, 9), (7, 9), (0, 2)])
def test_tokens_beyond_the_buffer_are_rejected(length, room) -> None:
    with pytest.raises(InputError, match="buffer"):
        ask(*parts(), past_length=np.array([length], np.int32), **buffers(room))
    with pytest.raises(InputError, match="past"):
        ask(*parts(), past_length=np.array([0], np.int32))


def test_past_and_present_share_a_buffer() -> None:
    inputs, weights = numbers(BATCH, QUERIES, 5), numbers(5, 3 * HIDDEN)
    past = numbers(2, BATCH, HEADS, 9, SIZE)
    length = np.array([4], np.int32)
    array, present = projected_attention(inputs, weights, past=past, past_length=length, heads=HEADS, shared=True)
    plain, joined = projected_attention(inputs, weights, past=past[:, :, :, :4], past_length=length, heads=HEADS)
    assert present is not None
    assert joined is not None
    assert np.array_equal(array, plain)
    assert np.array_equal(present[:, :, :, :7], joined)
    assert np.array_equal(present[:, :, :, 7:], past[:, :, :, 7:])
    with pytest.raises(InputError, match="length"):
        projected_attention(inputs, weights, past=past, heads=HEADS, shared=True)
    with pytest.raises(NoKernel, match="do_rotary"):
        projected_attention(inputs, weights, heads=HEADS, computed=False)


def test_square_mask_is_sliced_by_query_and_key_positions() -> None:
    square = (np.random.default_rng(5).integers(0, 2, (BATCH, 1, 10, 10))).astype(np.int32)
    arrays = ask(*parts(), mask=square, **buffers(4))
    plain = ask(*parts(), mask=square[:, 0, 4:7, :7], **buffers(4))
    assert np.array_equal(arrays[0], plain[0])
    with pytest.raises(InputError, match="mask"):
        ask(*parts(), mask=square[:, :, :6, :6], **buffers(4))


def test_packed_sequence_mask_starts_with_the_end_offsets() -> None:
    ends = np.array([2, 3], np.int32)
    arrays = ask(*parts(5), mask=np.r_[ends, [0, 3, 6, 0, 2, 5]].astype(np.int32))
    assert np.array_equal(arrays[0], ask(*parts(5), mask=ends)[0])
    assert not np.array_equal(arrays[0], ask(*parts(5))[0])


def test_mask_with_start_positions_requires_projections() -> None:
    mask = np.array([3, 3, 0, 1], np.int32)
    with pytest.raises(InputError, match="mask"):
        ask(*parts(), mask=mask)
    assert np.array_equal(
        ask(*parts(), mask=mask, with_starts=True)[0],
        ask(*parts(), mask=np.array([[1, 1, 1], [0, 1, 1]], np.int32))[0],
    )


@pytest.mark.parametrize("keys", [3, 5, 2])
def test_causal_query_ignores_later_keys(keys) -> None:
    query, key, value = parts(keys)
    shares = ask(query, key, value, causal=True)[3]
    places = np.arange(keys) > np.arange(QUERIES)[:, np.newaxis]
    assert not shares[..., places].any()
    assert (shares[..., ~places] > 0).all()


def test_empty_batch_is_supported() -> None:
    none = np.zeros((0, QUERIES, HIDDEN), np.float32)
    assert [each.shape for each in ask(none, none, none)] == [
        (0, QUERIES, HIDDEN), (0, HEADS, QUERIES, SIZE), (0, HEADS, QUERIES, SIZE), (0, HEADS, QUERIES, QUERIES),
    ]  # fmt: skip


def test_keys_without_values_are_rejected() -> None:
    query, key, value = parts()
    with pytest.raises(InputError, match="values"):
        ask(query, key, value[:, :2])


def test_softmax_of_minus_infinity_is_nan() -> None:
    query, key, value = parts()
    hidden = np.full((1, 1, QUERIES, QUERIES), -np.inf, np.float32)
    hidden[0, 0, 1] = 0
    array = ask(query, key, value, score_bias=hidden)[0]
    assert np.isnan(array[:, [0, 2]]).all()
    assert np.isfinite(array[:, 1]).all()


@pytest.mark.parametrize("columns", [1, 3 * HIDDEN])
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_quantized_attention_matches_dequantized_attention(kind, columns) -> None:
    pick = np.random.default_rng(6)
    inputs = pick.integers(0, 256, (BATCH, QUERIES, 5)).astype(np.uint8)
    weights = pick.integers(0, 256, (5, 3 * HIDDEN)).astype(np.uint8).view(kind)
    points = pick.integers(0, 256, columns).astype(np.uint8).view(kind)
    scales = (2.0 ** pick.integers(-9, -6, columns)).astype(np.float32)
    bias, past = numbers(3 * HIDDEN), numbers(2, BATCH, HEADS, 4, SIZE)
    scale, zero = np.array(0.125, np.float32), np.array(120, np.uint8)
    wide = (inputs.astype(np.float32) - 120) * scale
    plain = (weights.astype(np.float32) - points.astype(np.float32)) * scales
    mask = np.array([6, 7], np.int32)
    result = quantized_attention(
        inputs, weights, bias, scale, scales, mask, zero, points, past, heads=HEADS, causal=True, scale=0.25
    )
    by_floats = projected_attention(wide, plain, bias, mask, past, heads=HEADS, causal=True, scale=0.25)
    for item, other in zip(result, by_floats, strict=True):
        assert item is not None
        assert other is not None
        np.testing.assert_allclose(item, other, rtol=1e-5, atol=1e-5)


def test_quantized_attention_rejects_mismatched_arguments() -> None:
    inputs, weights = np.zeros((1, 2, 3), np.uint8), np.zeros((3, 24), np.int8)
    array, bias = np.ones((), np.float32), np.zeros(24, np.float32)
    with pytest.raises(InputError, match="one scale"):
        quantized_attention(inputs, weights, bias, np.ones(2, np.float32), array, heads=HEADS)
    with pytest.raises(InputError, match="bias"):
        quantized_attention(inputs, weights, bias[:8], array, array, heads=HEADS)
    with pytest.raises(InputError):
        quantized_attention(inputs, weights, bias, array, np.ones(8, np.float32), heads=HEADS)
    with pytest.raises(NoKernel):
        quantized_attention(inputs, weights, bias, array, array, heads=HEADS, computed=False)
