"""Most errors of broken models have a fix.

The nodes of onnx's backend tests, broken in named ways.
"""

from __future__ import annotations

from collections import Counter

import pytest

import specgate
from tests.conformance.broken_cases import sample
from tests.conformance.broken_judges import own_target
from tests.conformance.broken_nodes import subjects

pytest.importorskip("onnx", reason="NO NODE IS BROKEN: pip install onnx (it is in the test extra)")

SEED = 14
#: One broken model out of this many is linted.
LINTED = 16
#: Shares of the errors, and of the rules that were broken, with a fix.
LEAST = 0.9


def errors():
    """Return (id, whether it has a fix) of every error of a sample of broken models."""
    pairs = []
    for _, _, _, model in sample(subjects(), SEED)[::LINTED]:
        target = own_target({"" if i.domain == "ai.onnx" else i.domain: i.version for i in model.opset_import})
        assert target is not None
        report = specgate.lint(model, [target])
        pairs += [(error.id, error.fix is not None) for error in report.findings if error.severity == "error"]
    return pairs


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_at_least_90_percent_of_errors_have_a_fix():
    result = errors()
    assert len(result) > 100
    without = Counter(name for name, fixed in result if not fixed)
    assert sum(fixed for _, fixed in result) >= LEAST * len(result), without.most_common(10)
    ids = {name for name, _ in result}
    assert len(ids - set(without)) >= LEAST * len(ids), without.most_common(10)
