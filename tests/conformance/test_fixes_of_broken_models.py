"""Most errors of broken models come with a fix: the nodes of the onnx package's backend tests, broken in named ways."""

from __future__ import annotations

from collections import Counter

import pytest

import specgate
from tests.conformance.broken_cases import sample
from tests.conformance.broken_judges import own_target
from tests.conformance.broken_nodes import subjects

pytest.importorskip("onnx", reason="NO NODE IS BROKEN: pip install onnx (it is in the test extra)")

SEED = 14
#: Of so many broken models one is linted.
LINTED = 16
#: Of the errors, and of the rules that were broken.
LEAST = 0.9


def errors():
    """Return (id, whether it has a fix) of every error of a sample of broken models."""
    found = []
    for _, _, _, model in sample(subjects(), SEED)[::LINTED]:
        target = own_target({"" if i.domain == "ai.onnx" else i.domain: i.version for i in model.opset_import})
        assert target is not None
        report = specgate.lint(model, [target])
        found += [(error.id, error.fix is not None) for error in report.findings if error.severity == "error"]
    return found


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_nine_of_ten_errors_have_a_fix():
    found = errors()
    assert len(found) > 100
    without = Counter(name for name, fixed in found if not fixed)
    assert sum(fixed for _, fixed in found) >= LEAST * len(found), without.most_common(10)
    ids = {name for name, _ in found}
    assert len(ids - set(without)) >= LEAST * len(ids), without.most_common(10)
