"""Hypothesis strategies for valid and near-valid descriptors and arrays.

They are derived from the tables and support every operator, also those of your own tables in a folder of
SPECGATE_SPECS. Requires the extra ``testing``::

    from hypothesis import given
    from specgate.testing import descriptors

    @given(descriptors("directml", "ONE_HOT", "4.1"))
    def test_accepted(descriptor):
        assert specgate.check(descriptor, target="directml:4.1").accepted

Each strategy covers its whole range of values; the distribution is not configurable. Arguments are validated when a
strategy is created.
"""

from __future__ import annotations

from specgate.generate.cases import Case, cases, operators, reproduce, reproducing, targets
from specgate.generate.near_misses import NearMiss
from specgate.testing.strategies import (
    any_descriptors,
    arrays,
    descriptors,
    finding_ids,
    near_valid,
    with_unknown_sizes,
)

__all__ = [
    "Case",
    "NearMiss",
    "any_descriptors",
    "arrays",
    "cases",
    "descriptors",
    "finding_ids",
    "near_valid",
    "operators",
    "reproduce",
    "reproducing",
    "targets",
    "with_unknown_sizes",
]
