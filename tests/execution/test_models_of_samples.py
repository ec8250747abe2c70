"""Kernels of classical models and texts, without examples or peers."""

from __future__ import annotations

import time

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.ml_features import binarizer, cast_map, label_encoder, one_hot_encoder
from specgate.execution.kernels.optimizer import momentum_optimizer
from specgate.execution.kernels.regex import regex_full_match
from specgate.execution.kernels.text import string_normalizer, string_split
from specgate.execution.kernels.tree_ensemble import tree_ensemble_regressor
from specgate.rules.language import UNKNOWN, Context


def words(*texts):
    return np.array(texts, object)


def test_catastrophic_pattern_matches_in_linear_time():
    began = time.monotonic()
    with memory.limit(memory.budget_of(None, 30)):
        array = regex_full_match(words("a" * 5000, "a" * 5000 + "b"), pattern="(a*)*(a|a)*(a?){50}c?")
    assert array.tolist() == [True, False]
    assert time.monotonic() - began < 30


def test_long_match_is_stopped_by_the_time_limit():
    with memory.limit(memory.budget_of(None, 0.0)), pytest.raises(InputError, match="max_seconds"):
        regex_full_match(words("ab" * 10**5), pattern="(a|b)*")


@pytest.mark.parametrize(
    "pattern", ["(", "a**", "a{1001}", "(a{500}){500}", r"\1", "(?=a)", "[z-a]", r"\Z", "a)", "*a"]
)
def test_patterns_rejected_by_re2_are_rejected(pattern):
    with pytest.raises(InputError, match="the pattern"):
        regex_full_match(words("a"), pattern=pattern)


@pytest.mark.parametrize("pattern", [r"\C", r"\p{Greek}", "(" * 200 + ")" * 200, "((a{30}){30}b?){900}" * 9])
def test_patterns_without_a_kernel(pattern):
    with pytest.raises((NoKernel, InputError)):
        regex_full_match(words("a"), pattern=pattern)


def test_cyclic_trees_terminate_and_are_masked():
    array = tree_ensemble_regressor(
        np.array([[0.0], [2.0]]), targets=1, tree_ids=[0, 0, 0], node_ids=[0, 1, 2], features=[0, 0, 0],
        modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], values=[1.0, 9.0, 0.0], true_ids=[1, 1, 0], false_ids=[2, 2, 0],
        vote_trees=[0], vote_nodes=[2], vote_targets=[0], weights=[5.0],
    )  # fmt: skip
    assert np.ma.getmaskarray(array).tolist() == [[True], [False]]
    assert array[1, 0] == 5


def test_numbers_beyond_floats_are_compared_exactly():
    assert binarizer(np.array([2**53 + 1, 2**53]), threshold=float(2**53)).tolist() == [1, 0]
    assert binarizer(np.array([1, -1], np.int32), threshold=float("nan")).tolist() == [0, 0]
    assert binarizer(np.array([1, -1], np.int32), threshold=-1e30).tolist() == [1, 1]


def test_nan_is_a_key_and_the_last_equal_key_wins():
    x = np.array([np.nan, 1, 2], np.float32)
    array = label_encoder(x, float_keys=[float("nan"), 1.0, 1.0], integer_values=[7, 8, 9])
    assert array.tolist() == [7, 9, -1]
    assert label_encoder(x, repeated="first", float_keys=[1.0, 1.0], integer_values=[8, 9]).tolist() == [-1, 8, -1]


def test_values_that_are_not_integers_have_no_category():
    array = one_hot_encoder(np.array([np.nan, 1e30, -0.5]), integers=[0, -(2**63)])
    assert array.tolist() == [[0, 0], [0, 0], [1, 0]]
    with pytest.raises(InputError, match="not in the categories"):
        one_hot_encoder(np.array([3]), integers=[1], unknown_is_zeros=False)


def test_unparsable_numbers_are_masked():
    array = cast_map((np.array([2, 1]), words("x", " 7z")), kind="TO_INT64")
    assert array.tolist() == [[7, None]]
    with pytest.raises(InputError, match="is not a valid index"):
        cast_map((np.array([-1]), np.array([1.0])), form="SPARSE", length=3)


def test_strings_are_split_by_delimiter():
    array, counts = string_split(words(" a b  c ", "", "\t"), maxsplit=1)
    assert array.tolist() == [["a", "b  c"], ["", ""], ["", ""]]
    assert counts.tolist() == [2, 0, 0]
    assert string_split(words(".", ""), delimiter=".")[1].tolist() == [2, 1]


def test_case_changes_keep_expanding_characters():
    assert string_normalizer(words("stra\u00dfe"), action="UPPER").tolist() == ["STRA\u00dfE"]
    assert string_normalizer(words("A"), stopwords=["a"]).tolist() == [""]
    assert string_normalizer(words("A"), stopwords=["a"], case_sensitive=True).tolist() == ["A"]


def test_unknown_mode_is_rejected():
    array = np.array(1.0)
    with pytest.raises(InputError, match="standard or nesterov"):
        momentum_optimizer(
            array, np.array(0), [array, array, array], alpha=0.0, beta=0.0, mode="other", norm_coefficient=0.0
        )


def test_tensor_with_unknown_elements_is_not_absent():
    assert not Context({"x": UNKNOWN}).absent("x.value")
