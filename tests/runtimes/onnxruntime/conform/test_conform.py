"""Campaigns against a runtime: questions, comparison, reports."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any

import pytest

from specgate.cli import main
from specgate.descriptors.read import read_dict
from specgate.runtimes.onnxruntime.conform import run as conform_run
from specgate.runtimes.onnxruntime.conform.cases import NODE, file_cases, graph_cases, levels, node_cases
from specgate.runtimes.onnxruntime.conform.compare import (
    Mismatch,
    _generic_message,
    compare,
    is_opset_in_range,
    matching_entry,
)
from specgate.runtimes.onnxruntime.conform.render import FORMATS
from specgate.runtimes.onnxruntime.conform.run import Plan
from specgate.runtimes.onnxruntime.oracle.oracle import Answer, CreatedOperator, Placed
from specgate.runtimes.onnxruntime.registrations import runtime_tables
from specgate.targets import parse_target
from tests.paths import ROOT

onnx = pytest.importorskip("onnx", reason="NO MODELS ARE BUILT: onnx is not installed")
TARGET = "onnxruntime-directml:1.24.4"
TENSOR = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]}
RELU: dict[str, Any] = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {"InputTensor": TENSOR, "OutputTensor": TENSOR}}
OTHER = {**RELU, "desc": {**RELU["desc"], "OutputTensor": {**TENSOR, "Strides": [0, 0, 0, 1]}}}


def place_model(name: str = NODE, operator: str = "Relu", provider: str | None = "DirectML", **more: Any) -> Any:
    entries = {"reason": "", "creation": "created", "created_by": "", "at_run": False, "function": None, **more}
    entries = {"lowered": (RELU,), **entries}
    if entries["lowered"] is not None:
        entries["lowered"] = tuple(read_dict(item, "directml") for item in entries["lowered"])
    entries = {"has_kernel": provider is not None, **entries}
    return SimpleNamespace(node=f"graph/{name}", operator=operator, provider=provider, **entries)


class Ours(list):
    refusals = ()

    @property
    def session(self) -> str:
        return "fails" if any(node.creation == "fails" or node.provider is None for node in self) else "created"

    @property
    def every(self) -> list[Any]:
        return self


def answer(*nodes: tuple[str, str, str], operators: Any = (RELU,), **more: Any) -> Answer:
    createds = tuple(CreatedOperator(item, 0, 0) for item in operators)
    return Answer(more.pop("word", "created"), nodes=tuple(Placed(*n) for n in nodes), operators=createds, **more)


ONE = (NODE, "Relu", "DirectML")


def test_equal_answers_are_counted():
    compared = compare(answer(ONE), Ours([place_model()]), "DirectML")  # type: ignore[arg-type]
    assert compared.mismatches == []
    assert compared.same == compared.comparisons == {"session": 1, "kernel": 1, "node": 1, "descriptor": 1}


@pytest.mark.parametrize(
    ("theirs", "ours", "aspects"),
    [
        (answer(ONE), [place_model(provider="CPU", reason="type", lowered=())], ["node", "descriptor"]),
        (answer(ONE), [place_model(lowered=(RELU, RELU))], ["descriptor"]),
        (answer(ONE), [place_model(lowered=(OTHER,))], ["descriptor"]),
        (answer(ONE), [place_model(provider=None, creation="fails")], ["session", "kernel", "node", "descriptor"]),
        (answer(ONE, word="fails", error="no", code=1), [place_model()], ["session"]),
        (answer(word="fails", error="no", code=9), [place_model()], ["session", "kernel"]),
        (answer(ONE, ("b", "Relu", "CPU")), [place_model(), place_model("b")], ["node", "descriptor"]),
        (answer(ONE), [place_model(), place_model("b")], ["node", "descriptor"]),
        (answer(("call", "Gelu", "CPU"), operators=()), [place_model("x", function="graph/call"), place_model("y", function="graph/call")], ["node", "descriptor", "descriptor"]),
    ],
)  # fmt: skip
def test_each_difference_has_an_aspect(theirs, ours, aspects):
    outcome = compare(theirs, Ours(ours), "DirectML").mismatches  # type: ignore[arg-type]
    assert [each.aspect for each in outcome] == aspects


LATE: dict[str, Any] = {"creation": "fails", "at_run": True, "created_by": "fails at the first run: why"}


@pytest.mark.parametrize(
    ("run", "ours", "outcome"),
    [
        ("ran", [place_model(lowered=())], []),
        ("Non-zero status code", [place_model(lowered=(), **LATE)], []),
        ("crashed", [place_model(lowered=(), **LATE)], []),
        ("Non-zero status code", [place_model(lowered=())], [("run", "runs", "fails: Non-zero status code")]),
        ("ran", [place_model(lowered=(), **LATE)], [("run", "fails at the first run: why", "runs")]),
        ("", [place_model(lowered=(), **LATE)], []),
    ],
)
def test_a_first_run_is_compared_with_the_reported_run(run, ours, outcome):
    onnx_model = compare(answer(ONE, operators=(), run=run), Ours(ours), "")  # type: ignore[arg-type]
    assert [(each.aspect, each.ours, each.theirs) for each in onnx_model.mismatches] == outcome
    assert onnx_model.comparisons["run"] == (run != "")
    assert onnx_model.same["session"] == 1


def test_a_session_without_a_run_is_skipped():
    compared = compare(answer(ONE, run="not run: no input of type x"), Ours([place_model()]), "DirectML")  # type: ignore[arg-type]
    assert "run" not in compared.comparisons
    assert compared.left_out == ["the session was not run"]


def test_nodes_are_matched_by_name():
    """Two nodes of one operator with swapped providers: the counts are the same."""
    theirs = answer(("a", "Relu", "CPU"), ("b", "Relu", "DirectML"))
    ours = Ours([place_model("a"), place_model("b", provider="CPU", lowered=())])
    assert [each.aspect for each in compare(theirs, ours, "DirectML").mismatches] == ["node", "node"]  # type: ignore[arg-type]


def test_names_with_slashes_stay_complete():
    """One of two nodes is missing; another node with the same ending is not it."""
    theirs = answer(("/deep/Cast", "Cast", "DirectML"), operators=())
    gone = place_model("/Cast", "Cast", "CPU", lowered=())
    kept = place_model("/deep/Cast", "Cast", lowered=())
    mismatches = compare(theirs, Ours([gone, kept]), "DirectML").mismatches  # type: ignore[arg-type]
    assert mismatches == [Mismatch("node", "Cast", "CPU", "no such node")]


def test_copies_and_casts_of_the_runtime_are_not_differences():
    added = (("MemcpyToHost_1", "MemcpyToHost", "DirectML"), ("InsertedPrecisionFreeCast_x", "Cast", "CPU"))
    assert compare(answer(ONE, *added), Ours([place_model()]), "DirectML").mismatches == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("theirs", "ours", "why"),
    [
        (answer(ONE, word="crashed"), place_model(), "the runtime's process crashed"),
        (answer(), place_model(), "the runtime did not place any node"),
        (answer(ONE), place_model(lowered=None), "the operators of a node are unknown"),
    ],
)
def test_skipped_comparisons_are_counted(theirs, ours, why):
    assert compare(theirs, Ours([ours]), "DirectML").left_out == [why]  # type: ignore[arg-type]


def test_single_node_models_depend_on_the_seed_only():
    few, many = (list(node_cases("OneHot", count, "3", 11)) for count in (4, 8))
    blocks_by_name = {case.id: case.model for case in many}
    assert few
    assert all(blocks_by_name[case.id] == case.model for case in few)
    assert {case.opset for case in many} == set(levels("OneHot", 11)) == {"9", "11"}
    assert onnx.ModelProto.FromString(few[0].model).graph.node[0].name == NODE


def test_node_signatures_are_removed_from_error_messages():
    word = 'In Node, ("a:0", Cast, "", -1) : ("x": tensor(float16),) -> ("y": tensor(float),) , Error Mismatched type'
    assert _generic_message(word) == "In Node, (N, Cast, N, -N) Error Mismatched type"


@pytest.mark.parametrize("newest", [19, 25])
def test_models_of_other_domains_import_an_opset_that_the_release_has(newest):
    case = next(node_cases("com.microsoft.QuickGelu", 1, "0", newest))
    imports = {entry.domain: entry.version for entry in onnx.ModelProto.FromString(case.model).opset_import}
    assert imports == {"": newest, "com.microsoft": 1}
    assert (case.id, case.opset) == ("com.microsoft.QuickGelu/1/0", str(newest))


def test_graphs_are_valid_and_reproducible():
    cases = list(graph_cases(30, "1", 21))
    assert [case.model for case in cases] == [case.model for case in graph_cases(30, "1", 21)]
    assert len(cases) > 20
    models = [onnx.ModelProto.FromString(case.model) for case in cases]
    for model in models:
        del model.graph.output[:]  # the checker requires shapes there that only the runtime infers
        onnx.checker.check_model(model)
    operators = {node.op_type for model in models for node in model.graph.node}
    assert {"Shape", "Gather", "Concat", "Reshape", "Expand", "Cast", "Unsqueeze", "Mul"} <= operators
    kinds = {info.type.tensor_type.elem_type for model in models for info in model.graph.input}
    assert {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.INT64} <= kinds


def test_every_graph_piece_is_used():
    """A piece that always makes an invalid graph would never run."""
    seen: set[str] = set()
    for opset in (11, 21):
        for case in graph_cases(150, f"{opset}", opset):
            seen |= {node.op_type for node in onnx.ModelProto.FromString(case.model).graph.node}
    pieces = runtime_tables()["graphs"]["pieces"]
    assert {piece["node"].split("=")[1].strip().split("(")[0].split("<")[0] for piece in pieces} <= seen


def test_files_are_found_in_folders(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "m.onnx").write_bytes(b"x")
    assert [(case.id, case.model) for case in file_cases(tmp_path)] == [("file/a/m.onnx", b"x")]


@pytest.mark.parametrize(
    ("opset", "expected", "is_one"),
    [("13", "13", True), ("14", "13", False), ("14", "13..", True), ("13", "..12", False), ("", "13..", False), ("", None, True)],
)  # fmt: skip
def test_ranges_of_opsets(opset, expected, is_one):
    assert is_opset_in_range(opset, expected) is is_one


def test_an_entry_explains_differences_that_match_all_its_keys():
    runtime = parse_target(TARGET).runtime
    assert runtime is not None
    mismatch = Mismatch("session", "Relu", "created", "fails: no locale")
    entry = {"name": "x", "aspects": ["session"], "operators": ["Relu"], "theirs": "locale"}
    assert matching_entry(mismatch, "13", runtime, [entry]) is entry
    others: list[dict[str, Any]] = [
        {"aspects": ["node"]}, {"operators": ["Gelu"]}, {"packages": ["onnxruntime"]}, {"levels": ["5.0"]},
        {"opsets": "..12"}, {"models": ["Gelu"]}, {"ours": "fails"}, {"theirs": "other"}, {"first": 0, "last": 0},
    ]  # fmt: skip
    for other in others:
        assert matching_entry(mismatch, "13", runtime, [entry | other]) is None, other
    assert matching_entry(mismatch, "13", runtime, [entry | {"models": ["Relu"]}], model="Relu") is not None


class Oracle:
    """Answer every model with a node on DirectML."""

    versions: dict[str, str] = {"fake": "1"}  # noqa: RUF012  # read only
    closed = False

    def ask(self, models):
        return [answer((NODE, "Relu", "DirectML"))] * len(models)

    def close(self):
        self.closed = True


@pytest.fixture
def result(tmp_path):
    oracle = Oracle()
    plan = Plan("onnxruntime-directml", ("1.24.4", "1.24.4@5.0"), ("Relu",), cases=6, graphs=2, keep=None)
    outputs = conform_run.run(plan, open_oracle=lambda _: oracle)
    assert oracle.closed
    return outputs


def test_differences_are_classes_with_their_smallest_model(result):
    assert result.models["graph"] == 4
    assert list(result.versions) == ["onnxruntime-directml:1.24.4", "onnxruntime-directml:1.24.4@5.0"]
    assert result.unexplained == sum(each.count for each in result.differences) > 0
    nodes = [each for each in result.differences if each.aspect == "node" and each.node]
    assert all(each.command.endswith(f"--case {each.case} --keep DIR") for each in nodes)
    for tally in result.tallies:
        assert 0 <= tally.same <= tally.comparisons


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_contains_the_command_to_repeat_it(name, result):
    text = FORMATS[name](result)
    assert text.endswith("\n")
    assert result.command in text
    assert "UNEXPLAINED" in text or json.loads(text)["unexplained"] == result.unexplained


def test_a_single_case_can_be_repeated_and_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(conform_run, "_oracle", lambda _: Oracle())
    words = ["conform", "onnxruntime-directml", "--operator", "Relu", "--cases", "6"]
    expected = next(node_cases("Relu", 6, "0", 25))
    main([*words, "--case", expected.id, "--keep", str(tmp_path / "kept")])
    capsys.readouterr()
    (kept,) = (tmp_path / "kept").iterdir()
    assert kept.read_bytes() == expected.model
    assert main([*words, "--case", "Relu/1/99"]) == 2
    assert "no case" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["onnxruntime-directml", "--values"], "--values does not apply to runtimes"),
        (["onnxruntime-directml", "--format", "html"], "expected --format"),
        (["onnxruntime-directml", "--keep", "x"], "requires --case"),
        (["onnxruntime-directml", "--cases", "-1"], "at least 0"),
        (["onnxruntime-directml", "--release", "9.9"], "unknown release"),
        (["onnx", "--graphs", "3"], "--graphs applies to runtimes only"),
    ],
)
def test_invalid_arguments_are_rejected(words, message, capsys):
    assert main(["conform", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_failed_placement_is_a_separate_difference(monkeypatch):
    def fail(*_):
        raise ValueError("no")

    monkeypatch.setattr(conform_run, "place_model", fail)
    plan = Plan("onnxruntime-directml", ("1.24.4",), ("Relu",), cases=2)
    outputs = conform_run.run(plan, open_oracle=lambda _: Oracle())
    assert {each.aspect for each in outputs.differences} == {"answer"}
    assert "ValueError" in outputs.differences[0].ours


@pytest.mark.parametrize("name", ["onnxruntime.md", "onnxruntime-directml.md"])
def test_stored_reports_use_current_names(name):
    text = (ROOT / "tests/conformance/reports" / name).read_text(encoding="utf-8")
    assert "nothing unexplained" in text
    message = {entry["name"]: entry["says"] for entry in runtime_tables()["observed"]}
    outcome = re.findall(r"^- `([\w-]+)`: (.*)$", text, re.MULTILINE)
    assert len(outcome) > 10
    assert [each for each in outcome if message.get(each[0]) != each[1]] == []
