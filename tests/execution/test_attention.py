"""Attention against scalar loops: packed inputs, biases, masks, past, errors."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.attention import attention

BATCH, QUERIES, KEYS, HEADS, SIZE = 2, 3, 4, 2, 3
SCALE, FILTER = 0.5, -2.0


def make(*shape, seed=1):
    return np.random.default_rng((seed, *shape)).normal(size=shape).astype(np.float32)


def run(**entries):
    plain = {"heads": HEADS, "scale": SCALE, "mask_type": "NONE", "filter_value": FILTER, "rank": 3}
    return attention(**{**plain, **entries})


def by_loops(query, key, value, extra=lambda _b, _h, _q, _k: 0.0):
    """query, key, value: [batch, length, heads, size]."""
    result = np.zeros((*query.shape[:3], value.shape[3]))
    for b, q, h in np.ndindex(*query.shape[:3]):
        scores = [
            sum(float(x) * float(y) for x, y in zip(query[b, q, h], key[b, k, h], strict=True)) * SCALE
            + extra(b, h, q, k)
            for k in range(key.shape[1])
        ]
        powers = [exp(score) for score in scores]
        for k, power in enumerate(powers):
            result[b, q, h] += power / sum(powers) * value[b, k, h].astype(np.float64)
    return result.reshape(*query.shape[:2], -1)


def parts(value_size=SIZE):
    return (
        make(BATCH, QUERIES, HEADS, SIZE, seed=1), make(BATCH, KEYS, HEADS, SIZE, seed=2),
        make(BATCH, KEYS, HEADS, value_size, seed=3),
    )  # fmt: skip


def flat(array):
    return array.reshape(*array.shape[:2], -1)


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_attention_without_options(rank):
    query, key, value = parts(value_size=5)
    lead = (1,) * (rank - 3)
    inputs = {n: flat(a).reshape(*lead, *flat(a).shape) for n, a in (("query", query), ("key", key), ("value", value))}
    result, keys, values = run(**inputs, rank=rank)
    assert result.shape == (*lead, BATCH, QUERIES, HEADS * 5)
    assert result.reshape(BATCH, QUERIES, -1) == pytest.approx(by_loops(query, key, value), abs=1e-6)
    assert np.array_equal(keys, np.swapaxes(key, 1, 2))
    assert np.array_equal(values, np.swapaxes(value, 1, 2))


def test_stacked_query_key_value():
    query, key, value = parts()
    key_value = np.stack([key, value], axis=3)
    expected = run(query=flat(query), key=flat(key), value=flat(value))[0]
    assert np.array_equal(run(query=flat(query), key_value=key_value)[0], expected)
    of_keys = make(BATCH, KEYS, HEADS, SIZE, seed=9)
    expected = run(query=flat(of_keys), key=flat(key), value=flat(value))[0]
    assert np.array_equal(run(query_key=np.stack([of_keys, key], axis=3), value=flat(value))[0], expected)
    assert np.array_equal(run(query_key_value=np.stack([of_keys, key, value], axis=3))[0], expected)


def test_bias_is_added_to_query_key_and_value():
    query, key, value = parts()
    bias = make(3 * HEADS * SIZE, seed=4)
    added = [a + b.reshape(HEADS, SIZE) for a, b in zip((query, key, value), np.split(bias, 3), strict=True)]
    result = run(query=flat(query), key=flat(key), value=flat(value), bias=bias)[0]
    assert result == pytest.approx(by_loops(*added), abs=1e-6)


def test_past_keys_and_values_are_prepended():
    query, key, value = parts()
    past_key, past_value = make(BATCH, HEADS, 2, SIZE, seed=5), make(BATCH, HEADS, 2, SIZE, seed=6)
    all_keys = np.concatenate([np.swapaxes(past_key, 1, 2), key], axis=1)
    all_values = np.concatenate([np.swapaxes(past_value, 1, 2), value], axis=1)
    result, keys, values = run(
        query=flat(query), key=flat(key), value=flat(value), past_key=past_key[np.newaxis], past_value=past_value,
        key_rank=5,
    )  # fmt: skip
    assert result == pytest.approx(by_loops(query, all_keys, all_values), abs=1e-6)
    assert keys.shape == (1, BATCH, HEADS, KEYS + 2, SIZE)
    assert np.array_equal(np.swapaxes(values, 1, 2), all_values)


def test_present_key_and_value_shapes_without_past():
    query, key, value = (flat(part) for part in parts())
    _, keys, values = run(query=query, key=key, value=value, value_rank=5)
    assert keys.shape == (BATCH, HEADS, KEYS, SIZE)
    assert values.shape == (1, BATCH, HEADS, KEYS, SIZE)


def masks():
    position = make(BATCH, HEADS, QUERIES, KEYS, seed=7)
    boolean = np.random.default_rng(8).integers(0, 2, position.shape, dtype=np.int32)
    yield "BOOLEAN", boolean, lambda b, h, q, k: 0.0 if boolean[b, h, q, k] else FILTER
    other = np.random.default_rng(9).integers(-2, 5, position.shape, dtype=np.int32)
    yield "BOOLEAN", other, lambda b, h, q, k: FILTER * (1 - int(other[b, h, q, k]))
    yield "KEY_SEQUENCE_LENGTH", np.array([[2, 4]], np.int32), lambda b, _h, _q, k: FILTER * (k >= (2, 4)[b])
    ends = np.array([[3, 2], [1, 0]], np.int32)
    yield "KEY_SEQUENCE_END_START", ends, lambda b, _h, _q, k: FILTER * (not ends[1, b] <= k < ends[0, b])
    packed = np.array([2, 3, 0, 2, 5, 1, 3, 8], np.int32)  # lengths; queries from 0 and 2 to 5; keys from 1 and 3

    def outside(b, _h, q, k):
        of_batch = (0, 2)[b] <= b * QUERIES + q < (2, 5)[b]
        visible = (1, 3)[b] <= b * KEYS + k < ((1, 3)[b] + (2, 3)[b])
        return 0.0 if of_batch and visible else FILTER

    yield "KEY_QUERY_SEQUENCE_LENGTH_START_END", packed, outside
    yield "NONE", boolean, lambda _b, _h, _q, _k: 0.0


@pytest.mark.parametrize("case", list(masks()), ids=lambda case: case[0])
@pytest.mark.parametrize("with_position", [False, True])
def test_masks_and_position_bias_are_added(case, with_position):
    word, mask, extra = case
    query, key, value = parts()
    position = make(BATCH, HEADS, QUERIES, KEYS, seed=7)
    inputs = {"query": flat(query), "key": flat(key), "value": flat(value), "mask": mask, "mask_type": word}
    if not with_position:
        assert run(**inputs)[0] == pytest.approx(by_loops(query, key, value, extra), abs=1e-6)
        return
    result = run(**inputs, position_bias=position)[0]
    both = by_loops(query, key, value, lambda b, h, q, k: extra(b, h, q, k) + float(position[b, h, q, k]))
    assert result == pytest.approx(both, abs=1e-6)


@pytest.mark.parametrize("fewer", [1, 2])
def test_grouped_query_heads_share_key_heads(fewer):
    query, key = make(BATCH, QUERIES, 4, SIZE), make(BATCH, KEYS, fewer, SIZE, seed=2)
    value = make(BATCH, KEYS, fewer, 5, seed=3)
    result, keys, _ = run(query=flat(query), key=flat(key), value=flat(value), heads=4, key_heads=fewer)
    each = [np.repeat(array, 4 // fewer, axis=2) for array in (key, value)]
    assert result == pytest.approx(by_loops(query, *each), abs=1e-6)
    assert keys.shape == (BATCH, fewer, KEYS, SIZE)


def test_indivisible_heads_and_past_lengths_mask_the_output():
    query, key = make(BATCH, QUERIES, 3, SIZE), make(BATCH, KEYS, 2, SIZE, seed=2)
    entries = {"query": flat(query), "key": flat(key), "value": flat(key), "heads": 3, "key_heads": 2}
    result, keys, _ = run(**entries)
    assert np.ma.getmaskarray(result).all()
    assert not np.ma.isMaskedArray(keys)
    result, keys, values = run(**entries, past_lengths=np.ones(BATCH, np.int32), key_room=9, value_room=8)
    assert [each.shape for each in (result, keys, values)] == [
        (BATCH, QUERIES, 3 * SIZE), (BATCH, 2, 9, SIZE), (BATCH, 2, 8, SIZE),
    ]  # fmt: skip
    assert all(np.ma.getmaskarray(each).all() for each in (result, keys, values))


def test_huge_scores_do_not_overflow():
    query, key, value = (np.full((1, 1, 1), 1e18, np.float32) for _ in range(3))
    assert run(query=query, key=key, value=value, heads=1)[0].tolist() == [[[np.float32(1e18)]]]


@pytest.mark.parametrize(
    "changes",
    [
        {"heads": 0}, {"heads": 4}, {"query": None}, {"query_key": make(BATCH, QUERIES, HEADS, 2, SIZE)},
        {"key": make(BATCH, KEYS, HEADS * 4)}, {"value": make(BATCH, KEYS + 1, HEADS * SIZE)},
        {"value": make(BATCH, KEYS, HEADS * SIZE).astype("f2")}, {"bias": make(5)}, {"key": make(KEYS, HEADS * SIZE)},
        {"position_bias": make(BATCH, HEADS, QUERIES, KEYS + 1)}, {"past_key": make(BATCH, HEADS, 2, SIZE)},
        {"query": make(3, QUERIES, HEADS * SIZE)}, {"rank": 2},
        {"mask": np.zeros((1, 3), np.int32), "mask_type": "KEY_SEQUENCE_LENGTH"},
        {"mask": np.zeros((1, 2), np.int32), "mask_type": "SOME"},
        {"query_key_value": make(BATCH, QUERIES, HEADS, 2, SIZE), "query": None, "key": None, "value": None},
    ],
    ids="-".join,
)  # fmt: skip
def test_invalid_arguments_are_rejected(changes):
    query, key, value = parts()
    plain = {"query": flat(query), "key": flat(key), "value": flat(value)}
    with pytest.raises(InputError, match="attention"):
        run(**{**plain, **changes})
