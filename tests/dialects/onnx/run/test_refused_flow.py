"""Nodes whose bodies do not match their inputs: errors with expected and found."""

from __future__ import annotations

import re

import numpy as np
import pytest

from specgate.dialects.onnx.run.model import run_model
from specgate.errors import InputError, NoKernel

onnx = pytest.importorskip("onnx", reason="THE MODEL TESTS ARE NOT RUN: pip install onnx (it is in the test extra)")
helper, numpy_helper, TensorProto = onnx.helper, onnx.numpy_helper, onnx.TensorProto

X = np.arange(6, dtype="f4").reshape(2, 3)
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, kind=FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def body(nodes, inputs, outputs):
    return helper.make_graph(nodes, "body", inputs, outputs)


def reject(folder, node, inputs, arrays, *, opset=17, outputs=("y",), infos=None):
    """Run a model of one node, which must be rejected; return the message."""
    graph = helper.make_graph([node], "g", inputs, infos or [info(name) for name in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    path = folder / "model.onnx"
    onnx.save(model, path)
    with pytest.raises((InputError, NoKernel)) as caught:
        run_model(str(path), arrays)
    return str(caught.value)


COPY = [helper.make_node("Identity", ["s"], ["t"])]
TURN = [info("i", INT64, []), info("c", BOOL, []), info("s")]


def loop(*outputs, nodes=(), inputs=TURN, arguments=("m", "", "x"), results=("last", "all")):
    """A loop whose body returns its condition, its state, and further outputs."""
    repeated = helper.make_node("Identity", ["c"], ["d"])
    inner = body([repeated, *COPY, *nodes], list(inputs), [info("d", BOOL, []), info("t"), *outputs])
    return helper.make_node("Loop", list(arguments), list(results), name="turns", body=inner)


LOOPED = [info("m", INT64), info("x")]


def test_condition_must_be_a_single_element(tmp_path):
    branch = body([helper.make_node("Neg", ["x"], ["r"])], [], [info("r")])
    node = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=branch, else_branch=branch)
    message = reject(tmp_path, node, [info("c", BOOL), info("x")], {"c": np.array([True, False]), "x": X})
    assert "node 'choice'" in message
    assert "expected one element" in message


def test_trip_count_must_be_a_single_element(tmp_path):
    message = reject(tmp_path, loop(), LOOPED, {"m": np.array([1, 2]), "x": X}, outputs=("last",))
    assert "M: expected one element" in message


def test_iterations_must_produce_equal_shapes(tmp_path):
    grown = helper.make_node("Concat", ["s", "s"], ["u"], axis=0)
    node = loop(info("u"), nodes=[grown])
    node.attribute[0].g.output[1].name = "u"  # the state grows as well
    message = reject(tmp_path, node, LOOPED, {"m": np.array(3), "x": X}, outputs=("last", "all"))
    assert (
        "expected iterations to produce tensors of the same type and shape, found float32 [4, 3] and float32 [8, 3]"
        in message
    )


def test_iterations_must_produce_tensors(tmp_path):
    value = helper.make_tensor_sequence_value_info("u", FLOAT, None)
    node = loop(value, nodes=[helper.make_node("SequenceConstruct", ["s"], ["u"])])
    message = reject(tmp_path, node, LOOPED, {"m": np.array(2), "x": X}, outputs=("last", "all"))
    assert "expected a tensor from each iteration, found a sequence" in message


def test_loop_body_must_have_an_output_for_each_state(tmp_path):
    repeated = helper.make_node("Identity", ["c"], ["d"])
    node = helper.make_node("Loop", ["m", "", "x"], ["last"], body=body([repeated], TURN, [info("d", BOOL, [])]))
    message = reject(tmp_path, node, LOOPED, {"m": np.array(2), "x": X}, outputs=("last",))
    assert "expected a body of at least 2 outputs, found 1" in message


def test_empty_loop_requires_a_declared_type(tmp_path):
    node = loop(onnx.ValueInfoProto(name="t"))
    message = reject(tmp_path, node, LOOPED, {"m": np.array(0), "x": X}, outputs=("last", "all"))
    assert "the type of 't' is not declared, and no iteration produces it" in message


def scan(inputs=("x",), results=("y",), infos=None, nodes=COPY, **attributes):
    inner = body(list(nodes), infos or [info("s")], [info("t")])
    return helper.make_node("Scan", list(inputs), list(results), name="scan", body=inner, **attributes)


def two(**attributes):
    add = [helper.make_node("Add", ["s", "e"], ["t"])]
    return scan(("x", "z"), nodes=add, infos=[info("s"), info("e")], num_scan_inputs=2, **attributes)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (scan(num_scan_inputs=2), "expected num_scan_inputs from 0 to 1, found 2"),
        (scan(num_scan_inputs=-1), "expected num_scan_inputs from 0 to 1, found -1"),
        (scan(num_scan_inputs=1, scan_input_axes=[2]), "expected an axis from -2 to 1, found 2"),
        (scan(num_scan_inputs=1, scan_input_axes=[0, 0]), "scan_input_axes: expected 1 numbers, found 2"),
        (scan(num_scan_inputs=1, scan_input_directions=[0, 1]), "scan_input_directions: expected 1 numbers, found 2"),
        (scan(num_scan_inputs=1, scan_output_axes=[3]), "expected an axis from -2 to 1, found 3"),
        (two(), "expected scan inputs of the same length, found [2, 3]"),
        (two(scan_input_axes=[0]), "scan_input_axes: expected 2 numbers, found 1"),
    ],
)  # fmt: skip
def test_scan_inputs_must_have_matching_axes(tmp_path, node, expected):
    inputs = [info(name) for name in node.input]
    message = reject(tmp_path, node, inputs, {"x": X, **({"z": X.T} if len(inputs) > 1 else {})})
    assert "node 'scan'" in message
    assert expected in message


def test_scan_body_must_have_an_output_for_each_state(tmp_path):
    inner = body(COPY, [info("s"), info("e"), info("f")], [info("t")])
    node = helper.make_node("Scan", ["x", "z", "w"], ["y"], body=inner, num_scan_inputs=1)
    message = reject(tmp_path, node, [info("x"), info("z"), info("w")], {"x": X, "z": X, "w": X})
    assert "expected a body of at least 2 outputs, found 1" in message


LENGTHS = np.array([3, 2])


@pytest.mark.parametrize(
    ("lens", "state", "scanned", "expected"),
    [
        (LENGTHS, (2, 2), (3, 3, 2), "expected states and scan inputs of the same batch size"),
        (LENGTHS, (2, 2), (2,), "expected scan inputs with batch and length dimensions"),
        (np.array([3]), (2, 2), (2, 3, 2), "expected sequence_lens as 2 numbers from 0 to 3"),
        (np.array([3, 4]), (2, 2), (2, 3, 2), "expected sequence_lens as 2 numbers from 0 to 3"),
        (np.array([-1, 3]), (2, 2), (2, 3, 2), "expected sequence_lens as 2 numbers from 0 to 3"),
    ],
)
def test_batches_of_a_scan_at_opset_8(tmp_path, lens, state, scanned, expected):
    add = helper.make_node("Add", ["s", "e"], ["t"])
    inner = body([add, helper.make_node("Identity", ["t"], ["o"])], [info("s"), info("e")], [info("t"), info("o")])
    node = helper.make_node("Scan", ["lens", "s0", "x"], ["end", "out"], body=inner, num_scan_inputs=1)
    arrays = {"lens": lens, "s0": np.zeros(state, "f4"), "x": np.zeros(scanned, "f4")}
    inputs = [info("lens", INT64), info("s0"), info("x")]
    assert expected in reject(tmp_path, node, inputs, arrays, opset=8, outputs=("end", "out"))


def test_mapped_sequences_must_have_equal_lengths(tmp_path):
    inner = body([helper.make_node("Add", ["s", "e"], ["t"])], [info("s"), info("e")], [info("t")])
    node = helper.make_node("SequenceMap", ["a", "b"], ["y"], body=inner)
    inputs = [helper.make_tensor_sequence_value_info(name, FLOAT, None) for name in ("a", "b")]
    infos = [helper.make_tensor_sequence_value_info("y", FLOAT, None)]
    message = reject(tmp_path, node, inputs, {"a": [X, X], "b": [X]}, infos=infos)
    assert re.search("expected sequences of 2 elements, the length of the first", message)
