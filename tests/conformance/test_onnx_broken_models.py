"""Each broken node of onnx's backend tests is rejected, or an entry explains it.

By default one broken model per operator and way, about half a minute. ``HYPOTHESIS_PROFILE=nightly pytest
tests/conformance/test_onnx_broken_models.py`` breaks every node at every place, as the report's command does.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

from tests.conformance.broken_cases import WAYS, Case, break_all, judge, load_known, sample
from tests.conformance.broken_judges import OTHERS, Others, ours
from tests.conformance.broken_models import REPORT, open_part, report
from tests.conformance.broken_nodes import subjects
from tests.conformance.broken_rules import RULED
from tests.conformance.broken_ways import STATED

pytest.importorskip("onnx", reason="NO NODE IS BROKEN: pip install onnx (it is in the test extra)")
pytestmark = pytest.mark.oracle

ALL = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
SEED = 6
#: By default other implementations check one broken model out of this many.
ASKED = 4
#: Few operators have a graph.
GRAPHS = {way for way in RULED if way.startswith("graph-")}


@pytest.fixture(scope="module")
def nodes():
    return list(subjects())


def ask(nodes):
    others = Others()
    try:
        if ALL:
            return [judge(*parts, others) for parts in break_all(nodes)]
        few = sample(nodes, SEED)
        return [judge(*parts, None if index % ASKED else others) for index, parts in enumerate(few)]
    finally:
        others.close()


@pytest.mark.slow
def test_unmodified_nodes_are_accepted(nodes):
    assert len({node.operator for node in nodes}) > 190
    message = {node.name: ours(node.model) for node in (nodes if ALL else nodes[::20])}
    assert {name: verdict.ids for name, verdict in message.items() if verdict.word == "rejected"} == {}


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("onnxruntime") is None, reason="NO OTHER IMPLEMENTATION CHECKS BROKEN NODES: pip install onnxruntime"
)
@pytest.mark.timeout(5400 if ALL else 300)
def test_broken_nodes_are_rejected_or_listed_as_known(nodes):
    cases, what = ask(nodes), load_known()
    assert [case for case in cases if case.ours != "rejected" and not what.explains(case)] == []
    if ALL:
        assert what.unmet() == []
    # every way applies somewhere, and other implementations confirm that it breaks something
    assert {case.way for case in cases} == set(WAYS)
    gaps = {way for way, _ in what.gaps}
    assert set(WAYS) - {case.way for case in cases if case.ours == "rejected"} <= gaps | GRAPHS
    stated = [case for case in cases if case.way in STATED and any(word is not None for word in case.others.values())]
    assert sum(any(case.others.values()) for case in stated) > 0.9 * len(stated)
    assert {name for case in stated for name in OTHERS if case.others[name]} >= {"checker", "inference"}


def test_the_committed_report_has_no_unexplained_case():
    assert "; unexplained" not in REPORT.read_text(encoding="utf-8").replace("unexplained: 0.", "")


def make(way: str, word: str = "accepted", **others: bool) -> Case:
    ids = ("onnx/Abs/same-rank",) if word == "rejected" else ()
    return Case("test_abs", "Abs", way, "X[0]", word, ids, {name: others.get(name) for name in OTHERS})


def test_unknown_cases_are_reported():
    nothing = load_known()
    nothing.gaps, nothing.refused, nothing.open = {}, {}, set()
    cases = [make("attribute-unknown", checker=True), make("input-a-scalar", "rejected"), make("input-a-scalar")]
    text = report(cases, nothing, {"onnx": "1.0"})
    assert "unexplained: 2." in text
    assert "- `Abs`, attribute-unknown, X: 1" in text
    assert "| input-a-scalar | 1 of 1 | - | - | - |" in text
    nothing.open = {("input-a-scalar", "Abs", "X")}
    assert nothing.explains(cases[2])
    assert not nothing.explains(make("input-a-scalar", inference=True))
    nothing.refused = {("Abs", "*", "X"): "why"}
    assert nothing.explains(make("input-a-scalar", inference=True))
    assert open_part(cases) == "open:\n  input-a-scalar:\n    Abs: [X]\n"


def test_mutation_names_are_unique():
    assert not set(STATED) & set(RULED)
    assert all(name == name.lower() and "_" not in name for name in WAYS)
