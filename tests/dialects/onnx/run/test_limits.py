"""Limits of memory and time, for onnx.reference and for kernels."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import specgate
from specgate.errors import InputError

onnx = pytest.importorskip("onnx", reason="THE LIMITS ARE NOT TESTED: pip install onnx (it is in the test extra)")
helper, numpy_helper, TensorProto = onnx.helper, onnx.numpy_helper, onnx.TensorProto
#: Longer than a busy machine needs to start and end a process.
SOON = 60.0


def info(name, kind=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


@pytest.fixture
def save(tmp_path):
    def make(nodes, inputs=(), outputs=(), *, initializers=(), opset=17, imports=None, **more):
        outputs = outputs or [info("o")]
        graph = helper.make_graph(nodes, "g", list(inputs), list(outputs), initializer=list(initializers))
        imports = imports or [helper.make_opsetid("", opset)]
        path = tmp_path / "model.onnx"
        onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8, **more), path)
        return str(path)

    return make


def endless(save):
    """A Loop of 2^62 trips that uses almost no memory."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["b"], ["d"]), helper.make_node("Identity", ["x"], ["y"])],
        "body",
        [info("i", TensorProto.INT64, []), info("b", TensorProto.BOOL, []), info("x", shape=[1])],
        [info("d", TensorProto.BOOL, []), info("y", shape=[1])],
    )
    items = [numpy_helper.from_array(np.array(2**62), "n"), numpy_helper.from_array(np.array(True), "c")]
    nodes = [helper.make_node("Loop", ["n", "c", "x"], ["o"], body=body)]
    return save(nodes, [info("x", shape=[1])], initializers=items)


@pytest.mark.slow
def test_endless_loop_is_stopped(save):
    path, begun = endless(save), time.monotonic()
    with pytest.raises(InputError, match=r"model\.onnx: .*takes longer than the limit of 0.5 seconds \(max_seconds\)"):
        specgate.execute(path, {"x": np.zeros(1, "f4")}, max_seconds=0.5)
    with pytest.raises(InputError, match="takes longer than the limit of 3 seconds"):
        specgate.execute(path, {"x": np.zeros(1, "f4")}, max_seconds=3)
    assert time.monotonic() - begun < SOON


def test_small_file_with_a_gigabyte_output_is_rejected(save):
    shape = numpy_helper.from_array(np.array([4_800_000_000 // 4]), "s")
    many = save([helper.make_node("ConstantOfShape", ["s"], ["o"])], initializers=[shape])
    ends = [numpy_helper.from_array(np.array(n), name) for n, name in ((0, "a"), (10**10, "b"), (1, "c"))]
    assert Path(many).stat().st_size < 200
    with pytest.raises(InputError, match=r"more than the limit of 2147483648 \(max_bytes\)"):
        specgate.execute(many, {})
    nodes = [helper.make_node("Range", ["a", "b", "c"], ["o"])]
    path = save(nodes, outputs=[info("o", TensorProto.INT64)], initializers=ends)
    with pytest.raises(InputError, match="more than the limit of 2147483648"):
        specgate.execute(path, {})


def test_lower_memory_limit_applies_to_a_single_call(save):
    nodes = [helper.make_node("ConstantOfShape", ["s"], ["o"])]
    path = save(nodes, [info("s", TensorProto.INT64, [1])])
    small, large = np.array([1000]), np.array([2**28])  # the second one: a gigabyte
    assert specgate.execute(path, {"s": small})["o"].shape == (1000,)
    with pytest.raises(InputError, match=r"more than the limit of 100000000"):
        specgate.execute(path, {"s": large}, max_bytes=10**8)
    assert specgate.execute(path, {"s": small}, max_bytes=10**8)["o"].shape == (1000,)
    with pytest.raises(InputError, match="the set of live values needs 8 bytes, more than the limit of 7"):
        specgate.execute(path, {"s": small}, max_bytes=7)


def node(op_type, *shapes, **attributes):
    inputs = [{"elem_type": "FLOAT", "shape": list(shape)} for shape in shapes]
    return {"op_type": op_type, "inputs": inputs, "outputs": [{"elem_type": "FLOAT"}], "attributes": attributes}


LONG = {
    "pool": (node("MaxPool", (64, 16, 2**11), kernel_shape=[2**10], pads=[2**10 - 1] * 2), "X"),
    "convolution": (node("Conv", (1, 1, 2**17), (1, 1, 2**15)), "X W"),
    "product": (node("MatMul", (2**12, 2**11), (2**11, 2**12)), "A B"),
}


@pytest.mark.parametrize("case", LONG)
def test_slow_kernel_is_stopped_by_the_time_limit(case):
    """Little memory, many operations: the kernel checks the time."""
    descriptor, names = LONG[case]
    shapes = [entry["shape"] for entry in descriptor["inputs"]]
    arrays = {name: np.ones(shape, "f4") for name, shape in zip(names.split(), shapes, strict=True)}
    begun = time.monotonic()
    # Each takes several times as long; the work before the first check takes less.
    with pytest.raises(InputError, match=r"takes longer than the limit of 0.3 seconds \(max_seconds\)"):
        specgate.execute(descriptor, arrays, max_seconds=0.3)
    assert time.monotonic() - begun < SOON


def test_chain_of_nodes_is_stopped_between_nodes(save):
    nodes = [helper.make_node("Neg", [f"x{i}"], [f"x{i + 1}"]) for i in range(2000)]
    path = save(nodes, [info("x0", shape=[1])], [info("x2000")])
    with pytest.raises(InputError, match=r"takes longer than the limit of 0\.01 seconds"):
        specgate.execute(path, {"x0": np.zeros(1, "f4")}, max_seconds=0.01)


@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        ({"max_bytes": -1}, "expected max_bytes as a number of bytes, found -1"),
        ({"max_bytes": 1.5}, "expected max_bytes as a number of bytes, found 1.5"),
        ({"max_bytes": True}, "expected max_bytes"),
        ({"max_seconds": -1}, "expected max_seconds as a number of seconds, found -1"),
        ({"max_seconds": float("nan")}, "expected max_seconds"),
        ({"max_seconds": "1"}, "expected max_seconds"),
    ],
)
def test_invalid_limits_are_rejected(limits, complaint):
    with pytest.raises(InputError, match=complaint):
        specgate.execute(node("Neg", (1,)), {"X": np.zeros(1, "f4")}, **limits)


def softsign(opset=17, **more):
    return [helper.make_node("Softsign", ["x"], ["o"])], [info("x", shape=[1])], [info("o")], {"opset": opset, **more}


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        ("nonsense", "unknown target .*nonsense"),
        ("onnx:nonsense", "unknown target 'onnx:nonsense'"),
        ("directml:5.0", r"model\.onnx: cannot execute a model of onnx for directml:5.0"),
        ("onnx:16", r"model\.onnx: imports opset 17, above onnx:16, which supports up to 16"),
        ("onnx:1.11", r"imports opset 17, above onnx:1.11 \(opset 16\), which supports up to 16"),
    ],
)
def test_model_above_the_target_is_rejected(save, target, complaint):
    nodes, inputs, outputs, more = softsign()
    with pytest.raises(InputError, match=complaint):
        specgate.execute(save(nodes, inputs, outputs, **more), {"x": np.ones(1, "f4")}, target)


@pytest.mark.parametrize("target", [None, "onnx:17", "onnx:21", "onnx:1.16"])
def test_model_runs_at_its_imported_opset(save, target):
    nodes, inputs, outputs, more = softsign()
    result = specgate.execute(save(nodes, inputs, outputs, **more), {"x": np.ones(1, "f4")}, target)
    assert result["o"].tolist() == [0.5]


def test_domains_and_functions_above_the_target_are_rejected(save):
    nodes, inputs, outputs, _ = softsign()
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 5)]
    path = save(nodes, inputs, outputs, imports=imports)
    with pytest.raises(InputError, match=r"imports ai\.onnx\.ml 5, above onnx:13"):
        specgate.execute(path, {"x": np.ones(1, "f4")}, "onnx:13")
    inside = helper.make_function("own", "F", ["x"], ["o"], nodes, [helper.make_opsetid("", 18)])
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("own", 1)]
    path = save([helper.make_node("F", ["x"], ["o"], domain="own")], inputs, imports=imports, functions=[inside])
    with pytest.raises(InputError, match="imports opset 18, above onnx:13"):
        specgate.execute(path, {"x": np.ones(1, "f4")}, "onnx:13")


@pytest.mark.slow
def test_limits_of_the_command(save, tmp_path):
    nodes = [helper.make_node("Erf", ["x"], ["e"]), helper.make_node("Softsign", ["e"], ["o"])]
    path = save(nodes, [info("x", shape=[1])])
    np.save(tmp_path / "x.npy", np.ones(1, "f4"))
    command = [sys.executable, "-m", "specgate", "run", path, "-i", f"x={tmp_path / 'x.npy'}"]
    done = subprocess.run([*command, "--max-bytes", "3"], capture_output=True, text=True, timeout=SOON, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "more than the limit of 3 (max_bytes)" in done.stderr
    done = subprocess.run([*command, "--max-seconds", "0"], capture_output=True, text=True, timeout=SOON, check=False)
    assert done.returncode == 2
    assert "limit of 0 seconds (max_seconds)" in done.stderr


def test_model_with_a_sequence_input(save):
    sequence = helper.make_tensor_sequence_value_info("q", TensorProto.FLOAT, None)
    nodes = [helper.make_node("ConcatFromSequence", ["q"], ["c"], axis=0), helper.make_node("Neg", ["c"], ["o"])]
    outputs = specgate.execute(save(nodes, [sequence]), {"q": [np.ones(2, "f4"), np.zeros(1, "f4")]})
    assert outputs["o"].tolist() == [-1, -1, 0]


@pytest.mark.parametrize("opset", [7, 8, 9, 13, 14, 15])
def test_batch_normalization_is_equal_at_every_opset(save, opset):
    """At 9 onnx.reference mixes the statistics of the input into mean and variance."""
    x = np.arange(6, dtype="f4").reshape(1, 2, 3)
    arguments = {"x": x, **{name: np.full(2, value, "f4") for name, value in zip("sbmv", (2, 1, 3, 4), strict=True)}}
    inputs = [info("x", shape=[1, 2, 3]), *(info(name, shape=[2]) for name in "sbmv")]
    nodes = [helper.make_node("BatchNormalization", list("xsbmv"), ["y"]), helper.make_node("Identity", ["y"], ["o"])]
    result = specgate.execute(save(nodes, inputs, opset=opset), arguments)["o"]
    assert np.allclose(result, (x - 3) / np.sqrt(4 + 1e-5) * 2 + 1, atol=1e-6)


@pytest.mark.parametrize("opset", [10, 16])
def test_roi_align_offset_depends_on_the_opset(save, opset):
    """At 10 regions begin at their coordinates; from 16 on they move by half a pixel."""
    arguments = {"x": np.ones((1, 1, 4, 4), "f4"), "r": np.array([[0, 0, 2, 2]], "f4"), "b": np.zeros(1, "i8")}
    kinds = {"x": TensorProto.FLOAT, "r": TensorProto.FLOAT, "b": TensorProto.INT64}
    inputs = [info(name, kinds[name], array.shape) for name, array in arguments.items()]
    arguments["x"] = np.arange(16, dtype="f4").reshape(1, 1, 4, 4)
    path = save([helper.make_node("RoiAlign", list(arguments), ["o"])], inputs, opset=opset)
    assert specgate.execute(path, arguments)["o"].item() == (5 if opset == 10 else 2.5)


@pytest.mark.parametrize(
    ("op_type", "attributes", "expected"),
    [
        ("Normalizer", {"norm": "MAX"}, [[1]]),
        ("Normalizer", {"norm": "L2"}, [[1]]),
        ("SVMClassifier", {"classlabels_ints": [0, 1], "vectors_per_class": [1, 1], "rho": [0.1]}, [[0.2935, -0.2935]]),
    ],
)
def test_operators_of_other_domains_are_executed(save, op_type, attributes, expected):
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    outputs = ["o"] if op_type == "Normalizer" else ["l", "o"]
    if op_type == "SVMClassifier":
        more = {"coefficients": [1.0, -1.0], "support_vectors": [0.0, 1.0], "kernel_type": "RBF"}
        attributes = {**attributes, **more, "kernel_params": [0.5, 0.0, 3.0]}
    nodes = [helper.make_node(op_type, ["x"], outputs, domain="ai.onnx.ml", **attributes)]
    path, x = save(nodes, [info("x", shape=[1, 1])], imports=imports), {"x": np.ones((1, 1), "f4")}
    np.testing.assert_allclose(specgate.execute(path, x)["o"], expected, atol=1e-4)


def test_registered_kernels_are_used_in_models(save, tmp_path):
    nodes = [helper.make_node("Erf", ["x"], ["e"]), helper.make_node("Softsign", ["e"], ["o"])]
    path = save(nodes, [info("x", shape=[1])])
    np.save(tmp_path / "x.npy", np.ones(1, "f4"))
    own = tmp_path / "own.py"
    own.write_text(
        "from specgate.execution.kernels import register_kernel\n"
        "register_kernel('softsign', lambda x, **more: x * 0 + 7)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "specgate", "--kernels", str(own), "run", path, "-i", f"x={tmp_path / 'x.npy'}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SOON, check=False)
    assert done.stdout == "o: float32 [1]\n[7.]\n"
