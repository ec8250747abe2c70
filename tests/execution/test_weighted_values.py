"""Attention weights: values computed by hand, and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.attention import scaled_dot_product_attention

# of two keys the second has the score ln(3), so its weight is 3/4
QUERY = np.array([[[1.0], [0.0]]])
KEY = np.array([[[0.0], [math.log(3)]]])
VALUE = np.array([[[4.0], [8.0]]])


def weigh(mask=None, scale=None, *, query=QUERY, key=KEY, value=VALUE, sink=None, causal=False):
    return scaled_dot_product_attention(query, key, value, mask, scale, sink, causal=causal)


def test_better_match_has_more_weight():
    assert weigh()[0] == pytest.approx(np.array([[7], [6]]))
    assert weigh(scale=np.array([2.0]))[0] == pytest.approx(np.array([[7.6], [6]]))
    wide = np.zeros((1, 2, 4)) + [1, 0, 0, 0]
    assert weigh(query=wide, key=2 * KEY * [1, 0, 0, 0])[0] == pytest.approx(np.array([[7], [7]]))


def test_attention_masks_are_boolean_or_additive():
    assert weigh(np.array([[True, False], [True, True]]))[0] == pytest.approx(np.array([[4], [6]]))
    assert weigh(np.array([[0.0, math.log(3)]]))[0] == pytest.approx(np.array([[7.6], [7]]))
    assert weigh(np.zeros(()))[0] == pytest.approx(np.array([[7], [6]]))
    assert np.isnan(weigh(np.zeros((2, 2), bool))).all()


def test_attention_sink_receives_its_share_of_the_weights():
    # scores 0 and ln(3) with a sink of 0 are weights of 1/5 and 3/5; scores 0 and 0 with ln(2) of 1/4 each
    assert weigh(sink=np.array([[[0.0], [math.log(2)]]]))[0] == pytest.approx(np.array([[5.6], [3]]))
    assert weigh(sink=np.array([[[1e4]]]))[0] == pytest.approx(np.array([[0], [0]]))
    assert weigh(sink=np.array([[[-np.inf]]]))[0] == pytest.approx(np.array([[7], [6]]))
    assert weigh(np.zeros((2, 2), bool), sink=np.zeros((1, 1, 1))).tolist() == [[[0], [0]]]


def test_causal_query_ignores_later_keys():
    result = weigh(np.ones((9, 9)), causal=True)
    assert result[0] == pytest.approx(np.array([[4], [6]]))
    assert np.isnan(weigh(value=VALUE * [[1], [np.inf]], causal=True)[0, 0])  # 0 times infinity


def test_leading_dimensions_broadcast_and_keys_may_be_empty():
    result = weigh(np.zeros((2, 1, 1)), query=QUERY[None], value=np.concatenate([VALUE, VALUE + 4]))
    assert result.shape == (1, 2, 2, 1)
    assert result.ravel() == pytest.approx([7, 6, 11, 10])
    none = weigh(key=KEY[:, :0], value=VALUE[:, :0])
    assert none.tolist() == [[[0], [0]]]


@pytest.mark.parametrize(
    "arrays",
    [
        {"key": KEY[..., :0]}, {"value": VALUE[:, :1]}, {"query": np.zeros((2, 2, 1)), "key": np.zeros((3, 2, 1))},
        {"scale": np.zeros(2)}, {"scale": np.zeros((), "f4")}, {"mask": np.zeros((), bool)}, {"mask": np.zeros(2)},
        {"mask": np.zeros((3, 2))}, {"mask": np.zeros((2, 1, 2, 2))}, {"mask": np.zeros((2, 2), "f4")},
        {"value": VALUE.astype("f4")}, {"sink": np.zeros((1, 1, 1), "f4")}, {"sink": np.zeros((1, 3, 1))},
        {"sink": np.zeros((1, 2, 2))}, {"sink": np.zeros((2, 1, 2, 1))}, {"sink": np.zeros(1)},
    ],
)  # fmt: skip
def test_mismatched_arrays_are_rejected(arrays):
    with pytest.raises(InputError, match="attention"):
        weigh(**arrays)
