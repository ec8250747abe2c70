"""Hypothesis strategies made from the tables: valid and near-valid descriptors, and arrays to execute them with.

They know no operator by name: a table of your own, in a folder of SPECGATE_SPECS, has them as well. Needs the extra
``testing``::

    from hypothesis import given
    from specgate.testing import descriptors

    @given(descriptors("directml", "ONE_HOT", "4.1"))
    def test_it_is_taken(descriptor):
        assert specgate.check(descriptor, target="directml:4.1").accepted

A strategy stands for a range of values, all of which may come; there are no knobs for how often. Arguments are checked
when a strategy is made.
"""

from __future__ import annotations

from specgate.generate.cases import Case, cases, operators, reproduce, reproducing, targets
from specgate.generate.near_misses import NearMiss
from specgate.testing.arrays import arrays
from specgate.testing.strategies import any_descriptors, descriptors, finding_ids, near_valid, with_unknown_sizes

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
