"""Missing types and shapes are inferred; errors of inference do not end lint."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

import specgate
from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.infer import inference, process
from specgate.dialects.onnx.infer.inference import question
from specgate.dialects.onnx.lint.graph import onnx_units
from specgate.linting.settings import LintSettings
from specgate.validate.verdict_cache import Memo
from specgate.verdict import Verdict
from tests.dialects.onnx.infer.samples import ML, bare, constants, hide, make_undecided, one_hot_of
from tests.linting.models import BOOL, FLOAT, INT64, branch, graph, helper, info, model, onnx, relu, weights
from tests.paths import ROOT


def crashing(name="bad"):
    """Return a node that crashes onnx 1.23.2: its input is omitted."""
    return helper.make_node("DictVectorizer", [""], [name], domain="ai.onnx.ml", name=name)


def reject(name="odd"):
    return helper.make_node("EyeLike", [], [name], name=name)


def test_missing_types_are_inferred():
    assert make_undecided(hide()) == ([], [])
    (node, reason), *_ = make_undecided(hide(), infer=False)[0]
    assert node == "graph/OneHot->hot"
    assert "indices has an unknown type" in reason


def test_types_of_outer_values_reach_subgraphs():
    body = graph([one_hot_of("ids", "w")], [], [bare("w")], name="inner")
    first = helper.make_node("Cast", ["x"], ["ids"], to=INT64)
    new_model = model(graph([first, branch(body, body)], ["x", info("c", [], BOOL)], [bare("y")], constants()))
    assert make_undecided(new_model) == ([], [])
    assert len(make_undecided(new_model, infer=False)[0]) == 2


def test_runtime_inference_uses_only_dimension_names_of_the_file():
    nodes = [helper.make_node("NonZero", ["x"], ["places"]), helper.make_node("Shape", ["places"], ["sizes"])]
    onnx_model = read_model_bytes(model(graph(nodes, [info("x", ["batch", 3])], [bare("sizes")])).SerializeToString())
    body = id(onnx_model.graph)
    assert inference.infer_question(question(onnx_model))[body]["places"].shape == (2, None)
    assert inference.start_inference(onnx_model, [])().types[body]["places"].shape == (2, "unk__0")
    nodes[0] = helper.make_node("Relu", ["x"], ["places"])
    onnx_model = read_model_bytes(model(graph(nodes, [info("x", ["batch", 3])], [bare("sizes")])).SerializeToString())
    assert inference.infer_question(question(onnx_model))[id(onnx_model.graph)]["places"].shape == ("batch", 3)


def test_only_types_of_weights_are_sent():
    large = helper.make_tensor("large", INT64, [3, 4000], range(12000))
    node = helper.make_node("Constant", [], ["held"], value=large)
    nodes = [
        node,
        helper.make_node("Identity", ["large"], ["a"]),
        helper.make_node("Identity", ["held"], ["b"]),
        one_hot_of("a", "y"),
        one_hot_of("b", "z"),
    ]
    body = graph(nodes, [], [bare("y"), bare("z")], [*constants(), large])
    assert make_undecided(model(body)) == ([], [])
    from specgate.dialects.onnx.infer.inference import question

    assert len(question(read_model_bytes(model(body).SerializeToString())).data) < 1000


def test_small_constants_are_sent_for_inference():
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["ids"]), one_hot_of("ids")]
    shape = helper.make_tensor("shape", INT64, [3], [-1, 1, 3])
    new_model = model(graph(nodes, [info("x", ["batch", 3], INT64)], [bare("hot")], [*constants(), shape]))
    units = onnx_units(read_model_bytes(new_model.SerializeToString()), LintSettings()).units
    descriptor = next(unit.descriptor for unit in units if unit.descriptor is not None and unit.operator == "OneHot")
    assert descriptor.fields["indices"].sizes[1:] == (1, 3)


@pytest.mark.parametrize(
    ("kind", "shape", "expected"),
    [
        (INT64, ["batch", 3], None),
        (INT64, ["rows", 3], None),
        (INT64, None, None),
        (INT64, [7, 3], None),
        (INT64, ["batch", 4], "stated-shape"),
        (INT64, [3], "stated-shape"),
        (FLOAT, ["batch", 3], "stated-type"),
    ],
)
def test_contradicting_types_are_reported_once(monkeypatch, kind, shape, expected):
    """By the broken rule; a warning if the tables do not have one."""
    onnx_model = hide(value_info=[info("ids", shape, kind)])
    place = "graph/Cast->ids"
    message = [f for f in specgate.lint(onnx_model, ["onnx:17"]).findings if f.location and f.location.node == place]
    assert [(f.id.split("/")[1], f.severity) for f in message] == [("Cast", "error")] * (expected is not None)
    monkeypatch.setattr("specgate.linting.checker.check_at", accepting)
    monkeypatch.setattr("specgate.linting.checker._VERDICTS", Memo())
    monkeypatch.setattr("specgate.linting.checker._DESCRIPTOR_CACHE", {})
    message = [f for f in specgate.lint(onnx_model, ["onnx:17"]).findings if f.location and f.location.node == place]
    assert [(f.id, f.severity) for f in message] == ([(f"onnx/model/{expected}", "warning")] if expected else [])


def accepting(descriptor, level, basis, by, device):
    """Check as a table without rules would."""
    return Verdict(True, f"{descriptor.dialect}:{level}", descriptor.operator, basis)


def test_rule_finding_replaces_the_inference_finding():
    onnx_model = hide()
    onnx_model.graph.output[0].CopyFrom(info("hot", ["batch", 3, 5]))
    assert [f.id for f in make_undecided(onnx_model)[1]] == ["onnx/OneHot/output-depth"]


@pytest.mark.parametrize("nodes", [[crashing()], [reject()], [crashing("a"), reject("b")]])
def test_failing_node_is_named_and_other_nodes_are_inferred(nodes):
    onnx_model = hide(*nodes, outputs=["hot", *(node.name for node in nodes)])
    open_, findings = make_undecided(onnx_model)
    assert open_ == []
    assert [(f.id, f.severity) for f in findings] == [("onnx/model/not-inferred", "note")] * len(nodes)
    assert {f.location.node for f in findings if f.location} == {f"graph/{node.name}" for node in nodes}


def test_subprocess_failure_cause_is_reported():
    (finding,) = make_undecided(hide(crashing(), outputs=["hot", "bad"]))[1]
    assert "the onnx subprocess died (SIGSEGV)" in finding.message
    (finding,) = make_undecided(hide(reject(), outputs=["hot", "odd"]))[1]
    assert "Input 0 is out of bounds" in finding.message


@pytest.mark.slow
def test_too_many_failing_nodes_stop_inference():
    names = [f"n{i}" for i in range(8)]
    open_, findings = make_undecided(hide(*map(crashing, names), outputs=["hot", *names]))
    assert len(open_) == 1
    assert [f.location.node for f in findings if f.location][-1] == "graph"
    assert len(findings) == inference.MAX_CULPRITS + 1


def test_hanging_process_is_killed(monkeypatch, tmp_path):
    script = (ROOT / "specgate/dialects/onnx/infer/child.py").read_text(encoding="utf-8")
    slow = tmp_path / "slow.py"
    slow.write_text(
        script.replace(
            'answer(b"+", infer_types(inference, data, nested=nested, values=values, keep_names=keep_names))',
            "import time; time.sleep(600)",
        ),
        encoding="utf-8",
    )
    process.close()
    monkeypatch.setattr(process, "_CHILD", str(slow))
    monkeypatch.setattr(process, "SECONDS", 0.2)
    started = time.monotonic()
    open_, (finding,) = make_undecided(hide())
    assert len(open_) == 1
    assert "did not answer within" in finding.message
    assert time.monotonic() - started < process.START_SECONDS
    process.close()


@pytest.mark.parametrize("script", ["", "import sys; sys.exit(3)", "print('+garbage')", "import nothing_of_this_name"])
def test_failed_subprocess_start_is_a_note(monkeypatch, tmp_path, script):
    (tmp_path / "child.py").write_text(script, encoding="utf-8")
    process.close()
    monkeypatch.setattr(process, "_CHILD", str(tmp_path / "child.py"))
    open_, (finding,) = make_undecided(hide())
    assert len(open_) == 1
    assert finding.id == "onnx/model/not-inferred"
    process.close()


def running():
    child = process._state.child
    assert child is not None
    return child.process


def test_subprocess_is_reused_and_replaced_after_a_crash():
    make_undecided(hide())
    first = running().pid
    make_undecided(hide())
    assert running().pid == first
    running().kill()
    running().wait()
    assert make_undecided(hide()) == ([], [])
    assert running().pid != first


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked on this system")
def test_forked_process_starts_a_separate_subprocess():
    code = (
        "import os, sys\nimport specgate\nfrom specgate.dialects.onnx.infer import process\n"
        "model = sys.argv[1]\nassert not specgate.lint(model, ['onnx:17']).undecided\n"
        "ours = process._state.child.process.pid\nchild = os.fork()\n"
        "if not child:\n    done = not specgate.lint(model, ['onnx:17']).undecided\n"
        "    other = process._state.child.process.pid\n    process.close()\n    os._exit(0 if done and other != ours else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0\nassert not specgate.lint(model, ['onnx:17']).undecided\n"
        "assert process._state.child.process.pid == ours\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code, _save_model()], cwd=ROOT, check=True, timeout=120)


def _save_model():
    import tempfile
    from pathlib import Path

    path = Path(tempfile.mkdtemp()) / "model.onnx"
    path.write_bytes(hide().SerializeToString())
    return str(path)


BLOCKED = """
import sys
sys.modules["onnx"] = None
import specgate
report = specgate.lint(sys.argv[1], ["onnx:17"])
assert len(report.undecided) == 1, report
(finding,) = report.findings
assert (finding.id, finding.severity) == ("onnx/model/not-inferred", "note"), finding
assert "1 verdict remains undecided" in finding.message, finding
assert finding.fix == "pip install onnx", finding
assert not specgate.lint(sys.argv[1], ["onnx:17"], infer=False).findings
assert report.clean
"""


def test_lint_without_onnx_reports_undecided_nodes(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(hide().SerializeToString())
    subprocess.run([sys.executable, "-W", "error", "-c", BLOCKED, str(path)], cwd=ROOT, check=True, timeout=120)


def test_onnx_is_imported_only_in_the_subprocess(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(hide().SerializeToString())
    code = (
        "import sys, specgate\nreport = specgate.lint(sys.argv[1], ['onnx:17'])\nassert not report.undecided\n"
        "assert not {'onnx', 'numpy', 'google.protobuf'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code, str(path)], cwd=ROOT, check=True, timeout=120)


def test_pinned_symbol_resolves_an_undecided_rule():
    onnx_model = hide(shape=("batch", 3))
    onnx_model.graph.output[0].CopyFrom(info("hot", [8, 3, 4]))
    ((_, reason),), findings = make_undecided(onnx_model)
    assert reason.endswith("; pin --pin batch=SIZE")
    assert findings == []
    assert make_undecided(onnx_model, pins={"batch": 8}) == ([], [])
    wrong = make_undecided(onnx_model, pins={"batch": 9})
    assert [f.id for f in wrong[1]] == ["onnx/OneHot/output-sizes"]


def test_unnamed_dimension_is_pinned_by_input_and_index():
    onnx_model = hide(shape=(None, 3))
    onnx_model.graph.output[0].CopyFrom(info("hot", [8, 3, 4]))
    ((_, reason),), _ = make_undecided(onnx_model)
    assert reason.endswith("; pin --pin 'x[0]=SIZE'")  # quoted for a shell
    assert make_undecided(onnx_model, pins={"x[0]": 8}) == ([], [])


def test_unknown_pin_is_reported():
    _, (finding,) = make_undecided(hide(), pins={"bach": 8})
    assert (finding.id, finding.severity) == ("onnx/model/pin-unknown", "note")
    assert "known: 'batch'" in finding.message


def test_initializer_that_is_also_an_input_is_not_a_constant():
    onnx_model = hide()
    onnx_model.graph.output[0].CopyFrom(info("hot", ["batch", 3, 5]))
    assert [f.id for f in make_undecided(onnx_model)[1]] == ["onnx/OneHot/output-depth"]
    onnx_model.graph.input.append(info("depth", [], INT64))
    assert make_undecided(onnx_model) == ([], [])
    onnx_model.ir_version = 3
    onnx_model.graph.input.append(info("values"))
    assert [f.id for f in make_undecided(onnx_model)[1]] == ["onnx/OneHot/output-depth"]


def test_constants_in_any_attribute_of_a_constant_node():
    depth = helper.make_node("Constant", [], ["depth"], value_int=4)
    nodes = [depth, one_hot_of("ids")]
    new_model = model(graph(nodes, [info("ids", [3], INT64)], [info("hot", [3, 5])], constants()[1:]))
    assert [f.id for f in make_undecided(new_model)[1]] == ["onnx/OneHot/output-depth"]


def test_value_info_of_the_file_is_used():
    strange = helper.make_node("Odd", ["x"], ["ids"], domain="ai.onnx.ml")
    nodes = [strange, helper.make_node("Identity", ["ids"], ["same"]), one_hot_of("same")]
    body = graph(nodes, ["x"], [bare("hot")], constants(), value_info=[info("ids", [3], INT64)])
    custom = model(body, opsets=[ML[0], ("com.acme", 1)])
    custom.graph.node[0].domain = "com.acme"
    assert make_undecided(custom, custom_domains=["com.acme"]) == ([], [])


def test_contiguous_nodes_are_copied_and_others_serialized():
    from specgate.dialects.onnx.infer.inference import question

    nodes = [relu(f"v{n}", f"v{n + 1}", name="n" * (n % 3) * 60) for n in range(300)]
    nodes[100].doc_string = "said"
    nodes[150] = helper.make_node("Constant", [], ["v151"], value=weights("w"))
    kind = helper.make_tensor_type_proto(FLOAT, [2])
    nodes[200] = helper.make_node("Odd", ["v200"], ["v201"], domain="com.acme", kind=kind)
    ours = read_model_bytes(model(graph(nodes, ["v0"], ["v300"])).SerializeToString())
    assert [(first, past) for first, past, _ in ours.graph.runs] == [(1, 100), (102, 200), (202, 300)]
    questions = read_model_bytes(question(ours).data).graph.nodes
    assert questions == ours.graph.nodes
    # protobuf merges two graphs into one, so data between their nodes belongs to no node
    halves = [model(graph(part, ["v0"], ["v300"])) for part in (nodes[:2], nodes[2:])]
    twice = read_model_bytes(b"".join(half.SerializeToString() for half in halves))
    assert twice.graph.nodes == ours.graph.nodes
    assert twice.graph.runs == []
    assert read_model_bytes(question(twice).data).graph.nodes == questions


def test_every_kind_of_type_and_attribute_is_written_as_it_was_read():
    from specgate.dialects.onnx.infer.inference import question

    sequence = helper.make_tensor_sequence_value_info("s", FLOAT, ["n", None])
    optional = helper.make_value_info("o", helper.make_optional_type_proto(sequence.type))
    mapped = helper.make_value_info("m", helper.make_map_type_proto(INT64, sequence.type))
    node = helper.make_node(
        "Odd", ["s"], ["y"], domain="com.acme", f=1.5, i=-3, s="text", fs=[1.0, -2.0], is_=[1, -(2**63)], ss=["a", "b"],
        t=weights("t"), tp=sequence.type, g=graph([relu("a", "b", domain="com.acme")], ["a"], ["b"]),
    )  # fmt: skip
    new_model = model(
        graph([node], [sequence, optional, mapped], initializers=[weights("k")]), opsets=[("com.acme", 1)]
    )
    ours = read_model_bytes(new_model.SerializeToString())
    round_trip = read_model_bytes(question(ours).data)
    assert round_trip.graph.nodes == ours.graph.nodes
    assert round_trip.graph.inputs == ours.graph.inputs
    assert round_trip.graph.initializers == ours.graph.initializers
    onnx.ModelProto.FromString(question(ours).data)
