"""Profiles: ``laptop`` draws new cases in each run, ``ci`` repeats the same ones.

``ci`` is used if CI is set; both are quick. HYPOTHESIS_PROFILE chooses one by name, also ``nightly``, which searches
for long.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from specgate.spec.tables import dialect
from specgate.testing import Case
from tests.properties.support import THOROUGH, chosen_cases

#: Examples of all cases together, within these bounds for each: more operators must not make the folder slower.
_CI_EXAMPLES, _FEWEST, _MOST = 400, 10, 20

#: Tests do not assert durations, because the machine may be busy.
_STEADY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

_examples = min(max(_FEWEST, _CI_EXAMPLES // len(chosen_cases())), _MOST)
settings.register_profile("ci", _STEADY, derandomize=True, max_examples=_examples)
settings.register_profile("laptop", _STEADY, max_examples=_examples, print_blob=True)
settings.register_profile("nightly", _STEADY, max_examples=3000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "laptop"))


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests over all operators or cases as slow, except OneHot's newest level."""
    for item in (item for item in items if item.nodeid.startswith("tests/properties/")):
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        case = parameters.get("case")
        operator = case.operator if isinstance(case, Case) else parameters.get("operator")
        newest = not isinstance(case, Case) or case.level == dialect(case.dialect).levels[-1]
        if operator is not None and not (operator in THOROUGH and newest):
            item.add_marker(pytest.mark.slow)
