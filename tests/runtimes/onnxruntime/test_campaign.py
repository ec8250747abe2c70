"""The campaign: its models, its records, and its comparison."""

from __future__ import annotations

import base64
import json
import sys
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from specgate.descriptors.read import read_dict
from specgate.runtimes.onnxruntime.conform.cases import NODE, levels
from specgate.runtimes.onnxruntime.conform.compare import normal_form
from specgate.runtimes.onnxruntime.oracle.oracle import Answer, CreatedOperator, Placed
from specgate.spec.tables import dialect
from tests.runtimes.onnxruntime import campaign
from tests.runtimes.onnxruntime.campaign import ask, models, write
from tests.runtimes.onnxruntime.compare import judge

onnx = pytest.importorskip("onnx", reason="NO MODELS ARE BUILT: onnx is not installed")
TENSOR = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]}
RELU: dict[str, Any] = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {"InputTensor": TENSOR, "OutputTensor": TENSOR}}


class Oracle:
    """Answer every model with a node on DirectML."""

    def __init__(self):
        self.asked = []

    def ask(self, models):
        self.asked += models
        logged = {"type": RELU["type"], "desc": {k: v | {"TotalTensorSizeInBytes": 8} for k, v in RELU["desc"].items()}}
        return [
            Answer("created", nodes=(Placed(NODE, "Relu", "DirectML"),), operators=(CreatedOperator(logged, 0, 0),))
        ] * len(models)


def test_models_are_of_each_version_and_carry_their_constants():
    pairs = [(opset, onnx.ModelProto.FromString(model)) for opset, _, model in models("OneHot", 8, "0")]
    assert {"9", "11"} <= {opset for opset, _ in pairs}
    assert {model.graph.node[0].name for _, model in pairs} == {NODE}
    assert {model.opset_import[0].version for opset, model in pairs if opset == "9"} == {9}
    assert any(model.graph.initializer for _, model in pairs)


def test_the_same_seed_gives_the_same_models():
    assert list(models("Relu", 6, "7")) == list(models("Relu", 6, "7"))


def test_a_file_has_the_query_and_a_line_per_model(tmp_path):
    oracle = Oracle()
    path = tmp_path / "truth.jsonl"
    count = write(path, {"versions": {"a": "1"}}, ask(oracle, ["Relu"], 3, "0"))
    head, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert head == {"asked": {"versions": {"a": "1"}}}
    assert count == len(lines) == len(oracle.asked) > 6
    assert [base64.b64decode(line["model"]) for line in lines] == oracle.asked
    assert {line["operator"] for line in lines} == {"Relu"}
    assert lines[0]["nodes"] == [{"name": NODE, "op_type": "Relu", "provider": "DirectML"}]


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ([], {"release": "1.24.4", "level": None, "optimisation": "off", "fused": False, "run": False}),
        (
            ["--release", "1.18.0", "--level", "5.0", "--optimisation", "all", "--fused", "--run"],
            {"release": "1.18.0", "level": "5.0", "optimisation": "all", "fused": True, "run": True},
        ),
    ],
)
def test_command_options_reach_the_oracle(words, settings, tmp_path, monkeypatch):
    """--run was once documented but not passed on."""
    inputs: dict[str, Any] = {}

    class Opened(Oracle):
        versions: ClassVar[dict[str, str]] = {}

        def __init__(self, release, **options):
            super().__init__()
            del options["timeout"]
            inputs.update(options, release=release)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(campaign, "PlacementOracle", Opened)
    monkeypatch.setattr(sys, "argv", ["campaign", str(tmp_path), "Relu", "--cases", "1", *words])
    assert campaign.main() == 0
    assert inputs == settings
    (path,) = tmp_path.iterdir()
    head = json.loads(path.read_text(encoding="utf-8").splitlines()[0])["asked"]
    assert {name: head[name] for name in ("optimisation", "fused", "run")} == {
        name: settings[name] for name in ("optimisation", "fused", "run")
    }


def test_opsets_beyond_the_newest_are_skipped():
    assert levels("Relu", 20) == ["1", "6", "13", "14", "20"]
    assert levels("RotaryEmbedding", 20) == []
    assert levels("Relu", None)[-1] == dialect("onnx").levels[-1]


class Ours(list):
    """A placement of one node."""

    def __init__(self, session="created", provider="DirectML", lowered=(RELU,), creation="created"):
        descriptors = None if lowered is None else tuple(read_dict(item, "directml") for item in lowered)
        super().__init__([SimpleNamespace(operator="Relu", provider=provider, creation=creation, lowered=descriptors)])
        self.session = self.unoptimised = session


def evaluate(ours):
    return judge(iter([*ask(Oracle(), ["Relu"], 1, "0")][:1]), lambda _: ours)


def test_equal_answers_are_counted():
    differences = evaluate(Ours())
    assert differences.found == {}
    assert differences.same == differences.asked == {"session": 1, "nodes": 1, "created operators": 1}


@pytest.mark.parametrize(
    ("ours", "what"),
    [
        (Ours(session="fails"), {"session"}),
        (Ours(provider="CPU"), {"nodes", "created operators"}),
        (Ours(lowered=(RELU, RELU)), {"created operators"}),
    ],
)
def test_each_difference_has_a_class(ours, what):
    differences = evaluate(ours)
    assert {key[0] for key in differences.found} == what
    assert all(len(line) > 5 for line in differences.lines())


@pytest.mark.parametrize(
    ("run", "what"), [("ran", {"created operators", "deferred operators"}), ("", {"created operators"})]
)
def test_deferred_kernels_are_compared_after_a_first_run(run, what):
    (record,) = [*ask(Oracle(), ["Relu"], 1, "0")][:1]
    assert record["operators"][0]["deferred"] is False  # ours says that it waits
    differences = judge(iter([record | {"run": run}]), lambda _: Ours(creation="deferred"))
    assert {key[0] for key in differences.found} == what


def test_an_error_is_a_difference():
    def fail(_):
        raise ValueError("no")

    differences = judge(iter([*ask(Oracle(), ["Relu"], 1, "0")][:1]), fail)
    assert {key[0] for key in differences.found} == {"answer"}
    assert "ValueError('no')" in "".join(differences.lines())


def test_unknown_answers_are_not_compared():
    assert evaluate(Ours(lowered=None)).left_out == {"what created nodes become is not known": 1}


@pytest.mark.parametrize(
    ("item", "other", "same"),
    [
        (TENSOR, TENSOR | {"Strides": [2, 2, 2, 1], "TotalTensorSizeInBytes": 8, "Flags": 0}, True),
        (TENSOR, TENSOR | {"Strides": [0, 0, 0, 1]}, False),
        (TENSOR, TENSOR | {"Flags": 1}, False),
        ({"Epsilon": 1e-5, "X": None}, {"Epsilon": 9.999999747378752e-06}, True),
        ({"Epsilon": 1e-5}, {"Epsilon": 1e-6}, False),
        ({"AxisCount": 0, "Axes": []}, {"AxisCount": 0}, True),
        ({"Axes": [0]}, {}, False),
        ([1, TENSOR], [1, dict(TENSOR)], True),
    ],
)
def test_equivalent_descriptors_have_the_same_normal_form(item, other, same):
    assert (normal_form(item) == normal_form(other)) is same
