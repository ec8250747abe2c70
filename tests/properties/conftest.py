"""Profiles: ``laptop`` draws anew in each run, ``ci`` (where CI is set) repeats itself exactly; both are quick.

HYPOTHESIS_PROFILE chooses one by name, also ``nightly``, which searches for long.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

from tests.properties.support import chosen_cases

#: Examples of all cases together, within these bounds for each: more operators must not make the folder slower.
_CI_EXAMPLES, _FEWEST, _MOST = 400, 10, 20

#: How long things take is not asserted: the machine may be busy.
_STEADY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

_examples = min(max(_FEWEST, _CI_EXAMPLES // len(chosen_cases())), _MOST)
settings.register_profile("ci", _STEADY, derandomize=True, max_examples=_examples)
settings.register_profile("laptop", _STEADY, max_examples=_examples, print_blob=True)
settings.register_profile("nightly", _STEADY, max_examples=3000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "laptop"))
