"""`specgate run --compare`: each node against ONNX Runtime and onnx.reference."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.cli import main
from specgate.dialects.onnx.run.model import compare_model
from specgate.errors import InputError
from specgate.execution.memory import budget_of

onnx = pytest.importorskip("onnx", reason="THE MODEL TESTS ARE NOT RUN: pip install onnx (it is in the test extra)")
pytest.importorskip("onnxruntime", reason="THE COMPARISONS ARE NOT RUN: pip install 'specgate-ml[oracles]'")
helper, TensorProto = onnx.helper, onnx.TensorProto

X = np.array([[1, -2, 3]], "f4")


def info(name, kind=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


@pytest.fixture
def path(tmp_path):
    branch = helper.make_graph([helper.make_node("Relu", ["b"], ["r"])], "t", [], [info("r")])
    nodes = [
        helper.make_node("Neg", ["x"], ["a"], name="/first/Neg"),
        helper.make_node("Exp", ["a"], ["b"], name="/first/Exp"),
        helper.make_node("If", ["c"], ["d"], name="choice", then_branch=branch, else_branch=branch),
        helper.make_node("Softmax", ["d"], ["e"]),
    ]
    graph = helper.make_graph(nodes, "g", [info("x", shape=[1, 3]), info("c", TensorProto.BOOL, [])], [info("e")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "c.npy", np.array(True))
    return tmp_path / "m.onnx"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["onnxruntime", "reference"])
def test_equal_nodes_have_no_differences(path, name):
    result = compare_model(str(path), {"x": X, "c": np.array(True)}, name, None, budget=budget_of())
    assert (result.count, result.missing, list(result.differences)) == (4, 0, [])
    assert result.outputs["e"].shape == (1, 3)


def test_the_file_is_read_once(path, monkeypatch):
    from specgate.dialects.onnx.file.model import read_model
    from specgate.dialects.onnx.run import model

    read = []

    def record_call(file):
        read.append(file)
        return read_model(file)

    monkeypatch.setattr(model, "read_model", record_call)
    compare_model(str(path), {"x": X, "c": np.array(True)}, "reference", None, budget=budget_of())
    assert read == [str(path)]


def test_only_the_node_that_differs_is_named(path, monkeypatch, capsys):
    """Later nodes read the other implementation's values, so an error does not spread."""
    from specgate.execution.kernels import elementwise

    monkeypatch.setattr(elementwise, "exp", lambda x: np.exp(x) * np.float32(1.5))
    folder = path.parent
    inputs = ["-i", f"x={folder / 'x.npy'}", "-i", f"c={folder / 'c.npy'}"]
    assert main(["run", str(path), *inputs, "--compare", "onnxruntime"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].endswith("of 4 values, 1 differ")
    assert lines[1].startswith("graph//first/Exp (Exp), b: 3 of 3 elements, first 0.5518")


def test_unsupported_comparisons_are_rejected(path, tmp_path, capsys):
    with pytest.raises(InputError, match="unknown implementation 'x'; expected onnxruntime, reference"):
        compare_model(str(path), {}, "x", None, budget=budget_of())
    with pytest.raises(InputError, match=r"onnxruntime does not run the model: .*Required inputs"):
        compare_model(str(path), {"x": X}, "onnxruntime", None, budget=budget_of())
    assert main(["run", '{"op_type": "Neg"}', "--compare", "onnxruntime"]) == 2
    assert "--compare applies to models" in capsys.readouterr().err


@pytest.fixture
def cancelling(tmp_path):
    """Save a convolution whose large products cancel; return its path and input."""
    rng = np.random.default_rng(3)
    half = rng.uniform(100, 1000, (1, 256, 8, 8)).astype("f4")
    array = np.concatenate([half, half], axis=1)
    weights = rng.uniform(1, 2, (1, 256, 3, 3)).astype("f4")
    weights = np.concatenate([weights, -weights], axis=1)
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv", pads=[1, 1, 1, 1])
    graph = helper.make_graph(
        [node], "g", [info("x", shape=list(array.shape))], [info("y")], [onnx.numpy_helper.from_array(weights, "w")]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "c.onnx")
    return str(tmp_path / "c.onnx"), array


def test_cancelling_sums_are_not_reported_as_different(cancelling):
    path, array = cancelling
    compared = compare_model(path, {"x": array}, "onnxruntime", None, budget=budget_of())
    assert (compared.count, list(compared.differences)) == (1, [])


def test_a_wrong_sum_of_large_products_is_different(cancelling, monkeypatch):
    from specgate.execution.comparison import values_of

    path, array = cancelling

    def wrong(*words):
        version, theirs = values_of(*words)
        changed = theirs["y"].copy()
        changed[0, 0, 4, 4] += 50  # one product of about 4,600, whose absolute values add up to millions
        return version, theirs | {"y": changed}

    monkeypatch.setattr("specgate.dialects.onnx.run.model.values_of", wrong)
    compared = compare_model(path, {"x": array}, "onnxruntime", None, budget=budget_of())
    assert [each.node for each in compared.differences] == ["graph/conv"]
    assert compared.differences[0].text.startswith("1 of 64 elements")
