"""Random values of operators with known differences: nothing is unexplained."""

from __future__ import annotations

import importlib.util
import math

import pytest

from specgate.conform.values import compare_values

pytestmark = [
    pytest.mark.slow,
    pytest.mark.oracle,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxruntime")),
        reason="onnx or onnxruntime is not installed: pip install 'specgate-ml[oracles]'",
    ),
]

CASES = 300
#: Minimum number of cases that an implementation computes: labels are classes, for example.
COMPUTED = 150


@pytest.mark.parametrize(
    ("operator", "level"),
    [
        ("Det", "11"), ("Det", "22"),
        ("Gemm", "6"), ("Gemm", "13"),
        ("MaxPool", "1"), ("MaxPool", "5"), ("MaxPool", "8"), ("MaxPool", "10"), ("MaxPool", "12"),
        ("NegativeLogLikelihoodLoss", "13"),
        ("SoftmaxCrossEntropyLoss", "12"), ("SoftmaxCrossEntropyLoss", "13"), ("SoftmaxCrossEntropyLoss", "22"),
    ],
)  # fmt: skip
def test_every_difference_is_recorded(operator, level):
    tallies, _ = compare_values("onnx", operator, level, CASES, 0, math.inf)
    assert max(tally.cases for tally in tallies) >= COMPUTED
    result = [
        (tally.implementation, each.detail)
        for tally in tallies
        for each in tally.differing
        if each.kind == "unexplained"
    ]
    assert not result
