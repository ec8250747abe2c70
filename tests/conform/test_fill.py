"""Arrays for comparing values: edge values, but none that make sums order-dependent."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import specgate
from specgate.conform.cases import fill

LARGE = 2**10


def reduction(function, kind="FLOAT32"):
    desc = {
        "Function": function,
        "InputTensor": {"DataType": kind, "Sizes": [2000]},
        "OutputTensor": {"DataType": kind, "Sizes": [1]},
        "Axes": [0],
    }
    return specgate.descriptor({"type": "DML_OPERATOR_REDUCE", "desc": desc}, "directml")


@pytest.mark.parametrize("kind", ["FLOAT32", "FLOAT16"])
def test_summed_values_are_exact_in_any_order(kind):
    values = fill(reduction("SUM", kind), "6.4", Random(1))["InputTensor"]
    finite = values[np.isfinite(values)]
    assert np.array_equal(finite * 64, np.round(finite * 64))
    assert 1 < np.abs(finite).max() <= 2
    assert np.isnan(values).any()
    assert {np.inf, -np.inf} <= set(values.tolist())
    assert np.signbit(values[values == 0]).any()
    assert finite.size > 0.9 * values.size


@pytest.mark.parametrize(("function", "kind"), [("MAX", "FLOAT32"), ("SUM", "INT32")])
def test_type_limits_are_used_where_order_does_not_matter(function, kind):
    values = fill(reduction(function, kind), "6.4", Random(1))["InputTensor"]
    assert np.abs(values[np.isfinite(values)].astype(np.float64)).max() > LARGE
