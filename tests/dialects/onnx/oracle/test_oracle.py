"""onnx.checker, strict inference and ONNX Runtime as an oracle: replies and values."""

from __future__ import annotations

import copy
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from specgate.descriptors.core import Descriptor
from specgate.descriptors.read import read_dict
from specgate.dialects.onnx.oracle.oracle import ONNXOracle
from specgate.errors import InputError
from specgate.spec.tables import dialect
from specgate.workers.child import Child

pytestmark = pytest.mark.oracle
pytest.importorskip("onnx", reason="THE ONNX ORACLES ARE NOT TESTED: pip install onnx (it is in the test extra)")
pytest.importorskip("onnxruntime", reason="ONNX RUNTIME IS NOT TESTED: pip install onnxruntime")

ACCEPTED = {"checker": "accepted", "inference": "accepted", "onnxruntime": "accepted"}


@pytest.fixture(scope="module")
def oracle():
    with ONNXOracle("11") as onnx_model:
        yield onnx_model


@pytest.fixture
def node(onnx_one_hot):
    """Return a node builder: ``node(depth=…, attributes=…)``.

    Changes a tensor by its name, or another key; None removes it.
    """
    places = {"indices": ("inputs", 0), "depth": ("inputs", 1), "values": ("inputs", 2), "output": ("outputs", 0)}

    def make(**changes):
        onnx_model = copy.deepcopy(onnx_one_hot)
        for name, change in changes.items():
            if name not in places:
                onnx_model[name] = change
            else:
                kind, i = places[name]
                onnx_model[kind][i] = None if change is None else {**onnx_model[kind][i], **change}
        return read_dict(onnx_model)

    return make


def reply_words(oracle, descriptor):
    return {name: reply.word for name, reply in oracle.ask([descriptor])[0].items()}


def test_versions_match_the_installed_packages(oracle):
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    assert oracle.versions == {
        "checker": onnx.__version__,
        "inference": onnx.__version__,
        "onnxruntime": runtime.__version__,
    }
    assert list(oracle.value_versions) == ["onnxruntime", "reference"]
    assert (oracle.dialect, oracle.level) == ("onnx", "11")


def test_valid_node_is_accepted_by_each_implementation(oracle, node):
    assert reply_words(oracle, node()) == ACCEPTED


@pytest.mark.parametrize(
    "changes",
    [
        {"outputs": []},
        {"output": {"shape": None}},
        {"output": {"elem_type": None}},
        {"output": {"elem_type": None, "shape": None}},
        {"output": {"shape": ["N", None]}},
        {"indices": {"shape": None}, "outputs": []},
        {"indices": {"shape": ["N"]}, "output": {"shape": ["N", 4]}},
        {"values": {"shape": None}},
    ],
)
def test_unknown_shapes_and_values_are_accepted(oracle, node, changes):
    assert reply_words(oracle, node(**changes)) == ACCEPTED


def test_unknown_input_type_is_not_queried_where_required(oracle, node):
    replies = oracle.ask([node(values={"elem_type": None})])[0]
    assert {name: reply.word for name, reply in replies.items()} == {
        "checker": "accepted",
        "inference": "not asked",
        "onnxruntime": "not asked",
    }
    assert "values" in replies["onnxruntime"].detail


@pytest.mark.parametrize(
    ("changes", "refusing"),
    [
        ({"attributes": {"nope": 1}}, {"checker", "onnxruntime"}),
        ({"attributes": {"axis": "last"}, "outputs": []}, {"checker", "onnxruntime"}),
        ({"attributes": {"axis": {}}, "outputs": []}, {"checker", "onnxruntime"}),
        ({"depth": None}, {"checker", "onnxruntime"}),
        ({"attributes": {"axis": 9}, "outputs": []}, {"inference", "onnxruntime"}),
        ({"values": {"elem_type": "BFLOAT16"}, "outputs": []}, {"inference", "onnxruntime"}),
        ({"output": {"elem_type": "INT32"}}, {"inference", "onnxruntime"}),
        ({"output": {"shape": [3, 5]}}, {"inference"}),
        ({"values": None}, {"checker", "inference", "onnxruntime"}),
        ({"opset": 8}, {"checker", "onnxruntime"}),
    ],
)
def test_each_implementation_rejects_independently(oracle, node, changes, refusing):
    replies = oracle.ask([node(**changes)])[0]
    assert {name for name, reply in replies.items() if reply.word == "rejected"} == refusing
    assert all(reply.accepted is (name not in refusing) for name, reply in replies.items())
    for name in refusing:
        detail = replies[name].detail
        assert detail
        assert "\n" not in detail
        assert len(detail) <= 200
        assert "/onnxruntime" not in detail


def test_too_many_inputs_and_outputs_are_rejected(oracle, onnx_one_hot):
    for kind in ("inputs", "outputs"):
        malformed = copy.deepcopy(onnx_one_hot)
        malformed[kind] += [{"elem_type": "FLOAT", "shape": [2]}]
        assert set(reply_words(oracle, read_dict(malformed)).values()) == {"rejected"}


@pytest.mark.parametrize("type_", ["INT8", "COMPLEX64"])
def test_missing_kernel_counts_as_accepted(oracle, node, type_):
    descriptor = node(values={"elem_type": type_}, outputs=[])
    reply = oracle.ask([descriptor])[0]["onnxruntime"]
    assert reply.word == "no kernel"
    assert reply.accepted is True
    bad = node(values={"elem_type": type_, "shape": [3]}, outputs=[])
    assert reply_words(oracle, bad)["onnxruntime"] == "rejected"


def test_constants_of_any_type_are_passed(oracle, node):
    for name, info in dialect("onnx").types.items():
        value = {"STRING": "x"}.get(name, 1)
        reply = oracle.ask([node(depth={"elem_type": name, "value": value}, outputs=[])])[0]
        accepted = info["numpy"] not in {None, "object", "bool", "complex64", "complex128"}
        assert reply["checker"].word == "accepted", (name, reply)
        assert reply["inference"].accepted is accepted, (name, reply)


@pytest.mark.parametrize(
    "depth",
    [
        {"elem_type": "UINT8", "value": 300},
        {"elem_type": "INT64", "value": 3.5},
        {"elem_type": "INT64", "value": [1, 2]},
        {"elem_type": "INT64", "value": "four"},
        {"elem_type": "STRING", "value": 4},
        {"elem_type": "INT64", "value": 4, "shape": None},
        {"elem_type": None, "value": 4},
    ],
)
def test_unrepresentable_constant_is_not_queried(oracle, node, depth):
    replies = oracle.ask([node(depth=depth)])[0]
    assert {reply.word for reply in replies.values()} == {"not asked"}
    assert all(reply.accepted is None and "depth" in reply.detail for reply in replies.values())


def test_unrepresentable_node_is_not_queried(oracle, node):
    for descriptor in (
        node(attributes={"axis": True}),
        Descriptor("openvino", "OneHot", {}),
        Descriptor("onnx", "com.example.OneHot", {}),
        Descriptor("onnx", "NoSuchOperator", {}),
    ):
        replies = oracle.ask([descriptor])[0]
        assert list(replies) == ["checker", "inference", "onnxruntime"]
        assert all(reply.word == "not asked" and reply.detail for reply in replies.values())


def test_opset_unknown_to_the_runtime_is_not_queried(node):
    newest = dialect("onnx").levels[-1]
    rows = dialect("onnx").tables.environments
    version = ".".join(pytest.importorskip("onnxruntime").__version__.split(".")[:2])
    supported = next((int(row["level"]) for row in rows if row["name"] == f"onnxruntime-{version}"), None)
    if supported is None or supported >= int(newest) - 1:
        pytest.skip(f"ONNX Runtime {version} may have opset {newest}")
    with ONNXOracle(newest) as oracle:
        replies = oracle.ask([node()])[0]
        assert replies["onnxruntime"].word == "not asked"
        assert "version" in replies["onnxruntime"].detail
        assert replies["checker"].word == replies["inference"].word == "accepted"
        values = oracle.values(node(), INPUTS)
        assert values["onnxruntime"].reply.word == "not asked"
        assert values["reference"].arrays is not None


def test_old_opsets_accept_constants(node):
    with ONNXOracle("9") as oracle:
        assert reply_words(oracle, node()) == ACCEPTED


@pytest.fixture
def crashing_oracle(tmp_path, monkeypatch):
    """Return an oracle that crashes or hangs in one implementation for the axis 77."""
    code = """
        import os, time
        from specgate.dialects.onnx.oracle.child import answerer
        def maker(argument):
            answer = answerer(None)
            def deadly(task):
                if task[0] != "versions" and argument[0] in task[1]:
                    if any(a.name == "axis" and a.value == 77 for a in task[2].attributes):
                        time.sleep(60) if argument[1] else os.abort()
                return answer(task)
            return deadly
    """
    (tmp_path / "deadly_child.py").write_text(textwrap.dedent(code), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    onnx_model = []

    def make(name, *, hang=False):
        onnx_model.append(ONNXOracle("11"))
        onnx_model[-1]._child.close()
        onnx_model[-1]._child = Child("deadly_child", "maker", (name, hang), timeout=1.0 if hang else 10.0)
        if hang:
            onnx_model[-1]._child.ask(("versions",))
            onnx_model[-1]._child.start_timeout = 1.0
        return onnx_model[-1]

    yield make
    for each in onnx_model:
        each.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["checker", "inference", "onnxruntime"])
def test_crash_of_an_implementation_keeps_the_other_replies(crashing_oracle, node, name):
    oracle = crashing_oracle(name)
    bad = node(attributes={"axis": 77}, outputs=[])
    before, crashed, after = oracle.ask([node(), bad, node()])
    healthy = {"checker": "accepted", "inference": "rejected", "onnxruntime": "rejected"}
    assert {n: reply.word for n, reply in crashed.items()} == {**healthy, name: "crashed"}
    assert crashed[name].accepted is False
    for replies in (before, after):
        assert {n: reply.word for n, reply in replies.items()} == ACCEPTED


@pytest.mark.slow
def test_timeout_affects_a_single_implementation(crashing_oracle, node):
    replies = crashing_oracle("inference", hang=True).ask([node(attributes={"axis": 77}, outputs=[])])[0]
    assert {n: reply.word for n, reply in replies.items()} == {
        "checker": "accepted",
        "inference": "timeout",
        "onnxruntime": "rejected",
    }
    assert replies["inference"].accepted is None


@pytest.mark.slow
def test_crash_during_execution_is_reported_by_its_implementation(crashing_oracle, node):
    values = crashing_oracle("reference").compute_many(node(attributes={"axis": 77}, outputs=[]), [INPUTS, INPUTS])
    for each in values:
        assert each["reference"].arrays is None
        assert each["reference"].reply.word == "crashed"
        assert each["onnxruntime"].reply.word == "rejected"


INPUTS = {"indices": np.array([0, -1, 9]), "values": np.array([2, 5], np.float32)}
EXPECTED = np.array([[5, 2, 2, 2], [2, 2, 2, 5], [2, 2, 2, 2]], np.float32)


def test_values_of_both_implementations(oracle, node):
    for name, values in oracle.values(node(), INPUTS).items():
        assert values.reply.word == "accepted", name
        assert values.arrays["output"].dtype == np.float32
        assert np.array_equal(values.arrays["output"], EXPECTED), name


def test_many_input_sets_share_a_session(oracle, node):
    short = {**INPUTS, "depth": np.array(2)}
    result = oracle.compute_many(node(outputs=[]), [INPUTS, short])
    assert [each["onnxruntime"].arrays["output"].shape for each in result] == [(3, 4), (3, 2)]
    assert [each["reference"].arrays["output"].shape for each in result] == [(3, 4), (3, 2)]


def test_strings_are_objects_and_a_failing_run_is_rejected(oracle, node):
    inputs = {**INPUTS, "values": np.array(["off", "on"], object)}
    result = oracle.values(node(values={"elem_type": "STRING"}, outputs=[]), inputs)
    assert result["onnxruntime"].arrays["output"].dtype == object
    assert result["onnxruntime"].arrays["output"].tolist()[0] == ["on", "off", "off", "off"]
    wrong = oracle.values(node(), {**INPUTS, "indices": np.array([0.5])})["onnxruntime"]
    assert wrong.arrays is None
    assert wrong.reply.word == "rejected"


def test_values_without_a_kernel_or_a_node(oracle, node):
    ints = {**INPUTS, "values": np.array([2, 5], np.int8)}
    result = oracle.values(node(values={"elem_type": "INT8"}, outputs=[]), ints)
    assert result["onnxruntime"].reply.word == "no kernel"
    assert result["reference"].arrays["output"].dtype == np.int8
    unsaid = oracle.values(node(attributes={"axis": True}), INPUTS)
    assert {values.reply.word for values in unsaid.values()} == {"not asked"}


def test_type_without_runtime_arrays_is_not_queried(oracle, node):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    inputs = {**INPUTS, "values": np.array([2, 5], ml_dtypes.bfloat16)}
    reply = oracle.values(node(), inputs)["onnxruntime"].reply
    assert (reply.word, "bfloat16" in reply.detail) == ("not asked", True)


def test_huge_output_is_not_allocated(oracle, node):
    inputs = {**INPUTS, "depth": np.array(2**40)}
    for values in oracle.values(node(outputs=[]), inputs).values():
        assert values.arrays is None
        assert values.reply.word in {"not asked", "rejected"}


def test_an_unknown_level_is_bad_input():
    with pytest.raises(InputError, match="unknown opset"):
        ONNXOracle("999")


def test_without_onnx_the_install_command_is_reported(tmp_path, monkeypatch):
    (tmp_path / "onnx.py").write_text("raise ImportError('hidden')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="pip install"):
        ONNXOracle("11")


def test_missing_onnx_runtime_has_no_replies(tmp_path, monkeypatch, node):
    (tmp_path / "onnxruntime.py").write_text("raise ImportError('hidden')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with ONNXOracle("11") as oracle:
        assert reply_words(oracle, node()) == {"checker": "accepted", "inference": "accepted"}
        assert list(oracle.values(node(), INPUTS)) == ["reference"]


@pytest.mark.slow
def test_importing_the_oracle_does_not_import_onnx():
    code = "import sys; import specgate.dialects.onnx.oracle.oracle, specgate.dialects.onnx.oracle.child; print({'onnx', 'onnxruntime', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
