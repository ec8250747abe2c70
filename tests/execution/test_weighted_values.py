"""Values weighted by how well keys match queries: worked by hand, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.attention import weigh_values

# of two keys the second matches ln(3) better, so it has the weight 3/4
QUERY = np.array([[[1.0], [0.0]]])
KEY = np.array([[[0.0], [math.log(3)]]])
VALUE = np.array([[[4.0], [8.0]]])


def weighed(mask=None, scale=None, *, query=QUERY, key=KEY, value=VALUE, sink=None, causal=False):
    return weigh_values(query, key, value, mask, scale, sink, causal=causal)


def test_the_better_match_weighs_more():
    assert weighed()[0] == pytest.approx(np.array([[7], [6]]))
    assert weighed(scale=np.array([2.0]))[0] == pytest.approx(np.array([[7.6], [6]]))
    wide = np.zeros((1, 2, 4)) + [1, 0, 0, 0]
    assert weighed(query=wide, key=2 * KEY * [1, 0, 0, 0])[0] == pytest.approx(np.array([[7], [7]]))


def test_masks_hide_keys_or_add_to_their_scores():
    assert weighed(np.array([[True, False], [True, True]]))[0] == pytest.approx(np.array([[4], [6]]))
    assert weighed(np.array([[0.0, math.log(3)]]))[0] == pytest.approx(np.array([[7.6], [7]]))
    assert weighed(np.zeros(()))[0] == pytest.approx(np.array([[7], [6]]))
    assert np.isnan(weighed(np.zeros((2, 2), bool))).all()


def test_a_sink_takes_its_part_of_the_weights():
    # scores 0 and ln(3) beside 0 are weights of 1/5 and 3/5; scores 0 and 0 beside ln(2) of 1/4 each
    assert weighed(sink=np.array([[[0.0], [math.log(2)]]]))[0] == pytest.approx(np.array([[5.6], [3]]))
    assert weighed(sink=np.array([[[1e4]]]))[0] == pytest.approx(np.array([[0], [0]]))
    assert weighed(sink=np.array([[[-np.inf]]]))[0] == pytest.approx(np.array([[7], [6]]))
    assert weighed(np.zeros((2, 2), bool), sink=np.zeros((1, 1, 1))).tolist() == [[[0], [0]]]


def test_a_query_sees_no_key_behind_it():
    found = weighed(np.ones((9, 9)), causal=True)
    assert found[0] == pytest.approx(np.array([[4], [6]]))
    assert np.isnan(weighed(value=VALUE * [[1], [np.inf]], causal=True)[0, 0])  # 0 times infinity


def test_leading_dimensions_are_broadcast_and_there_may_be_no_keys():
    found = weighed(np.zeros((2, 1, 1)), query=QUERY[None], value=np.concatenate([VALUE, VALUE + 4]))
    assert found.shape == (1, 2, 2, 1)
    assert found.ravel() == pytest.approx([7, 6, 11, 10])
    none = weighed(key=KEY[:, :0], value=VALUE[:, :0])
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
def test_what_does_not_go_together_is_refused(arrays):
    with pytest.raises(InputError, match="attention"):
        weighed(**arrays)
