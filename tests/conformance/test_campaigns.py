"""A short campaign against each available implementation.

`specgate conform` runs the long ones.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

pytest.importorskip("hypothesis")

from specgate.conform.campaign import Plan, run
from specgate.conform.render import FORMATS
from specgate.dialects import capability
from specgate.dialects.directml.oracle.install import install_directml, status
from specgate.dialects.protocols import Backend
from specgate.errors import InputError
from specgate.generate.cases import reproduce
from specgate.spec.tables import dialect
from specgate.validate.check import accepts
from tests.drawing import shown_descriptors

#: Changed examples per operator, in addition to those in its file.
CHANGES = 12
#: All levels take minutes.
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
ONNX_LEVELS = ("9", "13", "17", "21", "26")  # ONNX Runtime 1.31 has no later ones
EVERY_OPERATOR_AT = dialect("directml").levels if NIGHTLY else ("2.1", "6.2")

pytestmark = [pytest.mark.slow, pytest.mark.oracle]


def _campaign(plan: Plan, *, taken: float) -> None:
    """Run a campaign: nothing unexplained, and enough accepted and rejected cases."""
    result = run(plan)
    assert result.unexplained == 0, FORMATS["text"](result)
    tallies = [tally for tally in result.tallies if tally.cases]
    assert tallies, FORMATS["text"](result)
    for tally in tallies:
        assert taken <= tally.accepted / tally.cases <= 0.95, tally
        assert tally.cases >= plan.cases // 2, tally


@pytest.mark.parametrize("level", ["9", "11", "28"])
def test_onnx(level):
    missing = [name for name in ("onnx", "onnxruntime") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing} not installed: pip install 'specgate-ml[oracles]'")
    _campaign(Plan("onnx", operators=("OneHot",), levels=(level,), cases=120, seed=1, shrink_known=False), taken=0.3)


@pytest.mark.skipif(not NIGHTLY, reason="all ONNX operators take half an hour: HYPOTHESIS_PROFILE=nightly")
@pytest.mark.parametrize("operator", dialect("onnx").operators if NIGHTLY else ["each"])
def test_every_onnx_operator(operator):
    missing = [name for name in ("onnx", "onnxruntime") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing} not installed: pip install 'specgate-ml[oracles]'")
    spec = dialect("onnx").operator(operator)
    levels = tuple(level for level in ONNX_LEVELS if level in spec.levels)
    if not levels:
        pytest.skip(f"{operator} is at none of the opsets {', '.join(ONNX_LEVELS)}")
    result = run(Plan("onnx", operators=(operator,), levels=levels, cases=60, seed=1, shrink_known=False))
    assert result.unexplained == 0, FORMATS["text"](result)


@pytest.mark.parametrize("level", ["opset1", "opset8", "opset16"] if NIGHTLY else ["opset16"])
def test_openvino(level):
    """Every second type; `HYPOTHESIS_PROFILE=nightly` runs all types with thirty times as many cases."""
    if importlib.util.find_spec("openvino") is None:
        pytest.skip("openvino not installed: pip install 'specgate-ml[oracles]'")
    existing = list(dialect("openvino").operators)[:: 1 if NIGHTLY else 2]
    cases = 180 if NIGHTLY else 6
    result = run(Plan("openvino", operators=tuple(existing), levels=(level,), cases=cases, seed=1, shrink_known=False))
    assert result.unexplained == 0, FORMATS["text"](result)
    questions = sum(tally.cases for tally in result.tallies)
    assert questions > 100
    assert 0.2 <= sum(tally.accepted for tally in result.tallies) / questions <= 0.95


@pytest.fixture(scope="session")
def directml_levels():
    """Return feature levels with an installed build.

    The small wheel of 6.2 is downloaded if there is none.
    """
    if not any(entry.installed for entry in status()):
        try:
            install_directml(["6.2"], system="linux", progress=lambda _line: None)
        except InputError as error:
            pytest.skip(f"no DirectML build: {error}; specgate oracle install directml --levels 6.2")
    return capability("directml", Backend).askable(dialect("directml").levels)[0]


@pytest.mark.parametrize("level", dialect("directml").levels)
def test_directml(level, directml_levels):
    if level not in directml_levels:
        pytest.skip(f"DirectML {level} is not installed: specgate oracle install directml --levels all")
    _campaign(
        Plan("directml", operators=("ONE_HOT",), levels=(level,), cases=150, seed=1, shrink_known=False), taken=0.2
    )


@pytest.mark.parametrize("level", EVERY_OPERATOR_AT)
def test_every_operator_of_directml(level, directml_levels):
    """Small changes of the tables' examples: recorded facts match the builds."""
    if level not in directml_levels:
        pytest.skip(f"DirectML {level} is not installed: specgate oracle install directml --levels all")
    oracle = capability("directml", Backend).oracle(level)
    table = dialect("directml")
    wrong, questions, accepted = [], 0, 0
    try:
        for name in table.operators:
            spec = table.operator(name)
            drawn = list(shown_descriptors(spec, level, CHANGES)) if level in spec.levels else []
            for descriptor, replies in zip(drawn, oracle.ask(drawn), strict=True):
                for by, reply in replies.items():
                    facts = accepts(descriptor, level, "observed", by)
                    if reply.accepted is not None and facts is not None:
                        questions, accepted = questions + 1, accepted + reply.accepted
                        if facts != reply.accepted:
                            wrong.append(f"{by} says {reply.word}: {reproduce(descriptor, f'directml:{level}')}")
    finally:
        oracle.close()
    assert not wrong, "\n".join(wrong[:20])
    assert questions > 400
    assert 0.2 <= accepted / questions <= 0.9
