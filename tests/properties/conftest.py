"""Profiles: ``ci`` (the default) repeats itself exactly and is quick; HYPOTHESIS_PROFILE=nightly searches for long."""

from __future__ import annotations

import os

from hypothesis import settings

from tests.properties.support import chosen_cases

#: Examples of all cases together: more operators must not make the folder slower.
_CI_EXAMPLES = 400

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=max(10, _CI_EXAMPLES // len(chosen_cases()))
)
settings.register_profile("nightly", deadline=None, max_examples=3000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
