"""Random DirectML values against a build: tables explain every difference."""

from __future__ import annotations

import math

import pytest

from specgate.conform.values import compare_values
from specgate.dialects.directml.oracle.values_environment import missing_values, values_command

LEVEL = "6.4"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.oracle,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(
        bool(missing_values(LEVEL)), reason=f"VALUES OF {LEVEL} ARE NOT TESTED: {values_command([LEVEL])}"
    ),
]


@pytest.mark.parametrize(
    ("operator", "seed"),
    [
        ("DEQUANTIZE", 4),  # zero points of 4 bits that share a place
        ("DYNAMIC_QUANTIZE_LINEAR", 4),  # halves, denormal scales, signalling nan
        ("LOCAL_RESPONSE_NORMALIZATION_GRAD", 2),  # terms that cancel
        ("QUANTIZED_LINEAR_MATRIX_MULTIPLY", 4),  # halves, scales above the range of FLOAT32
    ],
)
def test_every_difference_is_recorded(operator, seed):
    tallies, _ = compare_values("directml", operator, LEVEL, 240, seed, math.inf)
    (tally,) = (tally for tally in tallies if tally.implementation == "values")
    assert tally.cases >= 200
    assert [each.detail for each in tally.differing if each.kind == "unexplained"] == []
