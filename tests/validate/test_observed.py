"""Observed behaviour of builds: each side, both together, and evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import specgate
from specgate.generate.seeds import examples_at
from specgate.pytest_plugin import assert_supported
from specgate.spec.rulebook import rule_reference
from specgate.spec.tables import dialect
from specgate.validate.check import accepts, check_at
from specgate.validate.row import explain_at
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

GATE = """\
operator: GATE
summary: Has a page and builds that differ from it.
source: [{page: own}]
fields:
  InputTensor: {kind: input}
  OutputTensor: {kind: output}
  Axis: {kind: attribute, type: uint, optional: true}
support:
  "1.0":
    InputTensor: {ranks: 4, types: [FLOAT32]}
    OutputTensor: {ranks: 4, types: [FLOAT32]}
  "3.0":
    InputTensor: {ranks: 1..8, types: [FLOAT32, INT8]}
    OutputTensor: {ranks: 1..8, types: [FLOAT32]}
rules:
  same-rank: rank(InputTensor) == rank(OutputTensor)
  small: {require: elements(InputTensor) <= 100, since: "3.0"}
observed:
  - builds: ["2.1"]
    support: {InputTensor: {types: [FLOAT32, INT8]}}
    evidence: measured
  - builds: "3.0..6.4"
    not_enforced: [same-rank]
    rules:
      no-overlap: {require: not overlapping(OutputTensor), fix: remove Strides}
    evidence: measured
  - builds: "5.0.."
    support: {InputTensor: {ranks: 4}}
    rules:
      small: elements(InputTensor) <= 10
    not_enforced: [small]
    evidence: measured
"""


@pytest.fixture
def gate(scratch):
    scratch(gate=GATE)

    def make(
        sizes: list[int], *, kind: str = "FLOAT32", output: list[int] | None = None, strides: list[int] | None = None
    ):
        desc: dict[str, Any] = {
            "InputTensor": {"DataType": kind, "Sizes": sizes},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": output or sizes},
        }
        if strides is not None:
            desc["OutputTensor"]["Strides"] = strides
        return {"type": "GATE", "desc": desc}

    return make


def evaluate(data: dict[str, Any], level: str) -> dict[str, bool | None]:
    return {
        basis: specgate.check(data, f"directml:{level}", basis).accepted for basis in ("documented", "observed", "both")
    }


def test_an_undocumented_type_that_builds_accept(gate) -> None:
    data = gate([1, 2, 3, 4], kind="INT8")
    assert evaluate(data, "2.1") == {"documented": False, "observed": True, "both": False}
    alone = specgate.check(data, "directml:2.1", "documented").findings[0]
    both = specgate.check(data, "directml:2.1").findings[0]
    assert (
        alone.message
        == "InputTensor is INT8, which is not supported at feature level 2.1 (supported: FLOAT32); accepted by 3.0..6.4"
    )
    # From 5.0 on builds accept at most 10 elements.
    narrower = alone.message.replace("3.0..6.4", "3.0..4.1")
    assert both.message == f"{narrower} (documented rule that builds at this level do not enforce)"
    assert both.basis == alone.basis == "documented"


@pytest.mark.slow
def test_a_level_without_a_build_uses_the_documentation(gate) -> None:
    data = gate([1, 2, 3, 4], kind="INT8")
    assert evaluate(data, "2.0") == {"documented": False, "observed": False, "both": False}
    (result,) = specgate.check(data, "directml:2.0").findings
    assert "undocumented" not in result.message


def test_the_other_cells_of_a_row_stay(gate) -> None:
    (finding,) = specgate.check(gate([2, 3, 4], kind="INT8", output=[1, 2, 3, 4]), "directml:2.1", "observed").findings[
        :1
    ]
    assert finding.id == "directml/GATE/InputTensor.rank"


def test_a_rule_that_builds_waive(gate) -> None:
    data = gate([2, 3], output=[2, 3, 1])
    assert evaluate(data, "3.0") == {"documented": False, "observed": True, "both": False}
    (finding,) = specgate.check(data, "directml:3.0").findings
    assert finding.id == "directml/GATE/same-rank"
    assert finding.message == (
        "rank(InputTensor) == rank(OutputTensor): InputTensor has rank 2 and OutputTensor has rank 3 "
        "(documented rule that builds at this level do not enforce)."
    )


def test_an_undocumented_rule_that_builds_enforce(gate) -> None:
    data = gate([1, 1, 3, 3], strides=[0, 0, 2, 4])
    assert evaluate(data, "3.0") == {"documented": True, "observed": False, "both": False}
    (finding,) = specgate.check(data, "directml:3.0").findings
    assert finding.id == "directml/GATE/no-overlap"
    assert finding.basis == "observed"
    assert finding.message == (
        "not overlapping(OutputTensor): the strides of OutputTensor let elements overlap; accepted by 1.0..2.1 "
        "(undocumented rule that builds enforce)."
    )
    assert (finding.first_level, finding.levels, finding.fix) == ("1.0", ("1.0", "2.0", "2.1"), "remove Strides")
    (alone,) = specgate.check(data, "directml:3.0", "observed").findings
    assert alone.message.endswith("accepted by 1.0..2.1.")


def test_failures_on_both_bases_are_reported_once(gate) -> None:
    verdict = specgate.check(gate([1, 2, 3, 50]), "directml:3.0")
    (finding,) = verdict.findings
    assert finding.id == "directml/GATE/small"
    assert finding.basis == "documented"
    assert "build" not in finding.message


def test_overlays_add_up(gate) -> None:
    """At 5.0 two overlays apply: ranks of the later; a waived and an added rule of the earlier."""
    data = gate([3, 3], strides=[2, 4])
    assert [f.id for f in specgate.check(data, "directml:5.0", "observed").findings] == [
        "directml/GATE/InputTensor.rank",
        "directml/GATE/no-overlap",
    ]
    assert evaluate(data, "4.1")["documented"] is True


def test_an_observed_rule_replaces_the_documented_rule(gate) -> None:
    data = gate([1, 2, 3, 4])
    assert evaluate(data, "5.0") == {"documented": True, "observed": False, "both": False}
    (finding,) = specgate.check(data, "directml:5.0").findings
    assert (finding.id, finding.basis) == ("directml/GATE/small", "observed")


def test_an_undecided_documented_rule_does_not_hide_an_observed_failure(scratch) -> None:
    scratch(
        gate="""\
operator: GATE
summary: Has a rule on which page and builds disagree.
source: [{page: own}]
fields: {InputTensor: {kind: input}}
support: {"1.0": {}}
rules: {small: "InputTensor.sizes[0] <= 100"}
observed:
  - {builds: "1.0..", not_enforced: [small], rules: {small: "InputTensor.sizes[1] <= 1"}, evidence: measured}
"""
    )
    data = {"type": "GATE", "desc": {"InputTensor": {"DataType": "INT8", "Sizes": ["N", 2]}}}
    verdict = specgate.check(data, "directml:5.0")
    assert verdict.accepted is False
    assert [(f.id, f.basis) for f in verdict.findings] == [("directml/GATE/small", "observed")]


def test_lowest_levels_by_side(gate) -> None:
    data = gate([1, 2, 3, 4], kind="INT8")
    assert specgate.minimum(data, basis="documented") == "3.0"
    assert specgate.minimum(data, basis="observed") == "2.1"
    assert specgate.minimum(data, basis="both") == "3.0"
    assert str(specgate.minimum(data, basis="observed").levels) == "2.1..4.1"
    assert str(specgate.minimum(data, basis="both").levels) == "3.0..4.1"


@pytest.mark.parametrize("basis", ["page", "observd", "", None, 3, "\x1b[31m"])
def test_every_function_rejects_other_bases(one_hot, basis: Any) -> None:
    descriptors = pytest.importorskip("specgate.testing", reason="pip install hypothesis").descriptors
    model = ROOT / "tests" / "data" / "models" / "embedding_torch.onnx"
    read = specgate.descriptor(one_hot)
    calls: list[Callable[[], object]] = [
        lambda: specgate.check(one_hot, "directml:4.1", basis),
        lambda: specgate.accepts_many("RELU", {}, "directml:4.1", basis),
        lambda: specgate.lint(model, "onnx:17", basis),
        lambda: specgate.minimum(one_hot, basis=basis),
        lambda: specgate.minimum(model, basis=basis),
        lambda: specgate.minimum(model, "directml", basis=basis),
        lambda: accepts(read, "4.1", basis),
        lambda: check_at(read, "4.1", basis),
        lambda: assert_supported(model, "onnx:17", basis),
        lambda: assert_supported(one_hot, "directml:4.1", basis),
        lambda: descriptors("directml", "ONE_HOT", "4.1", basis=basis),
    ]
    for call in calls:
        with pytest.raises(
            specgate.InputError, match=r"^expected the basis documented, observed or both, found [^\x1b]*$"
        ):
            call()
    for what in (one_hot, model):
        with pytest.raises(specgate.InputError, match=r"^expected the basis [^\x1b]*, found [^\x1b]*$"):
            specgate.execute(what, {}, basis=basis)


def test_the_default_basis_requires_both_to_accept(openvino_one_hot) -> None:
    """OpenVINO's builds accept a depth of 0; its documentation does not."""
    openvino_one_hot["inputs"][1]["value"] = 0
    openvino_one_hot["outputs"] = []
    verdicts_by_name = {
        basis: specgate.check(openvino_one_hot, "openvino:opset13", basis)
        for basis in ("documented", "observed", "both")
    }
    assert [verdict.accepted for verdict in verdicts_by_name.values()] == [False, True, False]
    assert (
        verdicts_by_name["both"]
        .findings[0]
        .message.endswith("(documented rule that builds at this level do not enforce).")
    )


SYSTEMS = """\
operator: SPLIT
summary: Its two builds differ from each other.
source: [{page: own}]
fields:
  InputTensor: {kind: input}
support:
  "1.0":
    InputTensor: {ranks: 4, types: [FLOAT32]}
rules:
  small: elements(InputTensor) <= 100
observed:
  - builds: "3.0..5.0"
    not_enforced: [small]
    rules: {small: elements(InputTensor) <= 50}
    evidence: measured
  - builds: ["5.0"]
    by: linux
    not_enforced: [small]
    support: {InputTensor: {types: [FLOAT32, INT8]}}
    rules: {even: elements(InputTensor) % 2 == 0}
    evidence: measured
  - builds: "4.0..5.0"
    by: windows
    support: {InputTensor: {ranks: 4..5}}
    evidence: measured
"""


def split(sizes: list[int], kind: str = "FLOAT32") -> specgate.Descriptor:
    data = {"type": "SPLIT", "desc": {"InputTensor": {"DataType": kind, "Sizes": sizes}}}
    return specgate.descriptor(data, dialect="directml")


BY: dict[str, Any] = {
    "a type that one takes": (([1, 1, 1, 2], "INT8"), "5.0", [False, True, False]),
    "the same one level before": (([1, 1, 1, 2], "INT8"), "4.1", [False, False, False]),
    "a rank that the other takes": (([1, 1, 1, 1, 2],), "4.1", [False, False, True]),
    "a rule of all that one waives": (([1, 1, 1, 60],), "5.0", [False, True, False]),
    "a rule that one adds": (([1, 1, 1, 3],), "5.0", [True, False, True]),
    "a level that neither differs at": (([1, 1, 1, 60],), "6.0", [True, True, True]),
}


@pytest.mark.parametrize(("arguments", "level", "accepted"), BY.values(), ids=BY.keys())
def test_verdicts_of_a_single_implementation(scratch, arguments, level, accepted) -> None:
    """Without a chosen implementation only the behaviour of all counts, in both engines."""
    scratch(split=SYSTEMS)
    descriptor = split(*arguments)
    for by, expected in zip((None, "linux", "windows", "checker"), [*accepted, accepted[0]], strict=True):
        verdict = check_at(descriptor, level, "observed", by)
        assert verdict.accepted is expected
        assert accepts(descriptor, level, "observed", by) is expected
        resolved = dialect("directml").operator("SPLIT").resolve(level, "observed", by)
        assert resolved
        assert (explain_at(descriptor, resolved) == []) is expected


def test_the_cache_key_includes_the_implementation(scratch) -> None:
    spec = scratch(split=SYSTEMS).operator("SPLIT")
    all_of_them, item = spec.resolve("5.0", "observed"), spec.resolve("5.0", "observed", "linux")
    assert item is not all_of_them
    assert item is spec.resolve("5.0", "observed", by="linux")
    assert spec.resolve("5.0", "documented", "linux") is spec.resolve("5.0")
    assert [form.name for form in item.rules] == ["even"]
    assert [form.require.text for form in all_of_them.rules] == ["elements(InputTensor) <= 50"]


def test_both_bases_with_a_single_implementation(scratch) -> None:
    scratch(split=SYSTEMS)
    assert check_at(split([1, 1, 1, 60]), "5.0", "both", "linux").accepted is True
    assert check_at(split([1, 1, 1, 60]), "5.0", "both").accepted is False
    assert check_at(split([1, 1, 1, 2], "INT8"), "5.0", "both", "linux").accepted is False
    (finding,) = check_at(split([1, 1, 1, 3]), "5.0", "both", "linux").findings
    assert (finding.id, finding.basis) == ("directml/SPLIT/even", "observed")
    assert [str(level) for level in finding.levels][-3:] == ["6.2", "6.3", "6.4"]


def test_an_observed_rule_applies_between_its_levels(scratch) -> None:
    text = SYSTEMS.replace("{even: elements(InputTensor) % 2 == 0}", '{even: {require: "False", since: "5.1"}}')
    scratch(split=text.replace('["5.0"]', '"5.0..5.2"').replace("not_enforced: [small]\n    support", "support"))
    data = split([1, 1, 1, 2])
    assert [accepts(data, level, "observed", "linux") for level in ("5.0", "5.1", "5.2", "6.0")] == [
        True, False, False, True,
    ]  # fmt: skip


def test_the_reference_names_basis_and_implementation(scratch) -> None:
    scratch(split=SYSTEMS)
    assert list(rule_reference("directml/SPLIT/small").holds) == [
        {"levels": "1.0..6.4", "text": "elements(InputTensor) <= 100"},
        {"levels": "3.0..5.0", "text": "elements(InputTensor) <= 50", "basis": "observed"},
    ]
    assert list(rule_reference("directml/SPLIT/even").holds) == [
        {"levels": "5.0", "text": "elements(InputTensor) % 2 == 0", "basis": "observed", "by": "linux"}
    ]
    limits = rule_reference("directml/tensor/total-size-limit").holds
    assert [(entry["levels"], entry["basis"]) for entry in limits] == [
        ("2.1..6.2", "observed"),
        ("6.3..6.4", "observed"),
        ("2.1..6.4", "observed"),
    ]


@pytest.mark.parametrize(
    ("operator", "field"), [("RNN", "Direction"), ("GRU", "Direction"), ("LSTM", "Direction"),
                            ("MULTIHEAD_ATTENTION", "MaskType"), ("MULTIHEAD_ATTENTION1", "MaskType"),
                            ("ELEMENT_WISE_CLIP1", "MinMaxDataType")]
)  # fmt: skip
def test_builds_accept_unnamed_enum_numbers(operator: str, field: str) -> None:
    examples = list(examples_at(dialect("directml").operator(operator), "6.4"))
    example = next(e for e in examples if e.fields.get("MaskTensor") is None and e.fields[field] != "BIDIRECTIONAL")
    unknown = replace(example, fields={**example.fields, field: 255}, plain=False)
    assert specgate.check(unknown, "directml:6.4", "observed").accepted
    assert f"directml/{operator}/{field}.value" in [f.id for f in specgate.check(unknown, "directml:6.4").findings]
