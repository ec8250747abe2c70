"""Bodies, functions, sequences and optionals of ONNX models, against ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.dialects.onnx.run.model import run_model
from specgate.errors import InputError, NoKernel
from specgate.execution.memory import budget_of

onnx = pytest.importorskip("onnx", reason="THE MODEL TESTS ARE NOT RUN: pip install onnx (it is in the test extra)")
helper, numpy_helper, TensorProto = onnx.helper, onnx.numpy_helper, onnx.TensorProto

X = np.array([1, -2, 3], "f4")


def info(name, kind=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def sequence(name, kind=TensorProto.FLOAT):
    return helper.make_tensor_sequence_value_info(name, kind, None)


def body(nodes, inputs, outputs, *initializers):
    return helper.make_graph(
        nodes, "body", inputs, outputs, [numpy_helper.from_array(np.array(v), n) for n, v in initializers]
    )


@pytest.fixture
def run(tmp_path):
    """Run a model of these nodes.

    With `judge`, compare the outputs with ONNX Runtime's, if it is installed.
    """

    def ran(
        nodes, inputs, outputs, arrays, *, opset=17, functions=(), imports=(), judge=True, initializers=(), **limits
    ):
        graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
        opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, 1) for name in imports)]
        model = helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=8)
        path = tmp_path / "model.onnx"
        onnx.save(model, path)
        result = run_model(str(path), arrays, budget=budget_of(**limits) if limits else None)
        if judge:
            _require(model, arrays, result)
        return result

    return ran


def _require(model, arrays, result):
    try:
        import onnxruntime
    except ImportError:
        return
    onnxruntime.set_default_logger_severity(3)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for mine, theirs in zip(result.values(), session.run(None, arrays), strict=True):
        pairs = zip(mine, theirs, strict=True) if isinstance(mine, list) else [(mine, theirs)]
        for item, other in pairs:
            if other is None:
                assert item is None
                continue
            assert (item.dtype, item.shape) == (other.dtype, other.shape)
            assert np.array_equal(item, other)


THEN = body([helper.make_node("Mul", ["x", "two"], ["r"])], [], [info("r")], ("two", np.float32(2)))
ELSE = body([helper.make_node("Neg", ["x"], ["r"])], [], [info("r")])


@pytest.mark.parametrize(("cond", "expected"), [(True, [2, -4, 6]), (False, [-1, 2, -3])])
def test_branch_reads_values_of_the_outer_graph(run, cond, expected):
    node = helper.make_node("If", ["c"], ["y"], then_branch=THEN, else_branch=ELSE)
    outputs = run(
        [node], [info("c", TensorProto.BOOL, []), info("x", shape=["N"])], [info("y")], {"c": np.array(cond), "x": X}
    )
    assert outputs["y"].tolist() == expected


def loop(until=None):
    nodes = [helper.make_node("Add", ["s", "x"], ["s2"])]
    if until is None:
        nodes.append(helper.make_node("Or", ["c", "c"], ["c2"]))
    else:
        nodes.append(helper.make_node("Less", ["i", "last"], ["c2"]))
    return body(
        nodes,
        [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("s")],
        [info("c2", TensorProto.BOOL, []), info("s2", shape=[3]), info("s2", shape=[3])],
        ("last", np.int64(until or 0)),
    )  # fmt: skip


@pytest.mark.parametrize(("trips", "until", "expected"), [(3, None, 3), (9, 1, 2), (0, None, 0), (None, 4, 5)])
def test_loop_stops_by_trip_count_or_condition(run, trips, until, expected):
    node = helper.make_node("Loop", ["m" if trips is not None else "", "", "x"], ["last", "all"], body=loop(until))
    inputs, arrays = [info("x", shape=[3])], {"x": X}
    if trips is not None:
        inputs.append(info("m", TensorProto.INT64, []))
        arrays["m"] = np.array(trips)
    outputs = run([node], inputs, [info("last"), info("all")], arrays)
    assert outputs["last"].tolist() == ((expected + 1) * X).tolist()
    assert outputs["all"].shape == (expected, 3)


def test_endless_loop_is_stopped_by_the_time_limit(run):
    node = helper.make_node("Loop", ["", "", "x"], ["last", ""], body=loop())
    with pytest.raises(InputError, match=r"takes longer than the limit of 0\.3 seconds"):
        run([node], [info("x", shape=[3])], [info("last")], {"x": X}, max_seconds=0.3, judge=False)


def test_scan_outputs_of_a_loop_count_toward_the_memory_limit(run):
    node = helper.make_node("Loop", ["m", "", "x"], ["last", "all"], body=loop())
    inputs = [info("x", shape=[3]), info("m", TensorProto.INT64, [])]
    arrays = {"x": X, "m": np.array(2**40)}
    with pytest.raises(InputError, match=r"more than the limit of 10000 \(max_bytes\)"):
        run([node], inputs, [info("last"), info("all")], arrays, max_bytes=10_000, judge=False)


@pytest.mark.parametrize("restored", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_scan_along_an_axis_in_both_directions(run, axis, restored):
    inner = body([helper.make_node("Add", ["s", "e"], ["t"]), helper.make_node("Mul", ["t", "e"], ["o"])],
                 [info("s"), info("e")], [info("t"), info("o")])  # fmt: skip
    node = helper.make_node(
        "Scan", ["s0", "x"], ["end", "out"], body=inner, num_scan_inputs=1, scan_input_axes=[axis],
        scan_input_directions=[restored], scan_output_axes=[axis], scan_output_directions=[restored],
    )  # fmt: skip
    x = np.arange(16, dtype="f4").reshape(4, 4)
    outputs = run([node], [info("s0", shape=[4]), info("x", shape=[4, 4])], [info("end"), info("out")],
                {"s0": np.zeros(4, "f4"), "x": x})  # fmt: skip
    assert outputs["end"].tolist() == x.sum(axis=axis).tolist()


def test_a_scan_of_batches_at_opset_8(run):
    inner = body([helper.make_node("Add", ["s", "e"], ["t"]), helper.make_node("Mul", ["t", "two"], ["o"])],
                 [info("s"), info("e")], [info("t"), info("o")], ("two", np.float32(2)))  # fmt: skip
    node = helper.make_node("Scan", ["lens", "s0", "x"], ["end", "out"], body=inner, num_scan_inputs=1)
    x = np.arange(12, dtype="f4").reshape(2, 3, 2)
    arrays = {"lens": np.array([3, 2]), "s0": np.zeros((2, 2), "f4"), "x": x}
    inputs = [info("lens", TensorProto.INT64, [2]), info("s0", shape=[2, 2]), info("x", shape=[2, 3, 2])]
    outputs = run([node], inputs, [info("end"), info("out")], arrays, opset=8)
    assert outputs["end"].tolist() == [x[0].sum(axis=0).tolist(), x[1, :2].sum(axis=0).tolist()]
    assert outputs["out"][1, 2].tolist() == [0, 0]


def test_function_with_call_attributes_and_defaults(run):
    inner = helper.make_node("LeakyRelu", ["u"], ["v"])
    reference = onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="slope")
    inner.attribute.append(reference)
    function = helper.make_function(
        "my", "Leaky", ["u"], ["v"], [inner], [helper.make_opsetid("", 17)],
        attribute_protos=[helper.make_attribute("slope", 0.5)],
    )  # fmt: skip
    nodes = [
        helper.make_node("Leaky", ["x"], ["a"], domain="my"),
        helper.make_node("Leaky", ["x"], ["b"], domain="my", slope=3.0),
    ]
    outputs = run(nodes, [info("x", shape=[3])], [info("a"), info("b")], {"x": X}, functions=[function], imports=["my"])
    assert [outputs["a"].tolist(), outputs["b"].tolist()] == [[1, -1, 3], [1, -6, 3]]


def test_a_function_that_calls_itself_is_rejected(run):
    node = helper.make_node("F", ["u"], ["v"], domain="my")
    function = helper.make_function("my", "F", ["u"], ["v"], [node], [helper.make_opsetid("my", 1)])
    nodes = [helper.make_node("F", ["x"], ["y"], domain="my", name="call")]
    with pytest.raises(InputError, match=r"node 'call': node.0. F: the function 'F' calls itself"):
        run(nodes, [info("x")], [info("y")], {"x": X}, functions=[function], imports=["my"], judge=False)


def test_missing_kernels_in_a_body_are_reported_before_execution(run):
    broken = body([helper.make_node("Reluu", ["x"], ["r"], domain="com.x")], [], [info("r")])
    node = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=THEN, else_branch=broken)
    with pytest.raises((InputError, NoKernel), match=r"node 'choice': .*node.0. Reluu: .*com.x"):
        run(
            [node],
            [info("c", TensorProto.BOOL, []), info("x")],
            [info("y")],
            {"c": np.array(True), "x": X},
            judge=False,
        )


def test_sequences(run):
    index = numpy_helper.from_array(np.array(-1), "at")
    nodes = [
        helper.make_node("SequenceEmpty", [], ["none"]),
        helper.make_node("SequenceInsert", ["none", "x"], ["one"]),
        helper.make_node("SequenceConstruct", ["x", "x", "x"], ["three"]),
        helper.make_node("SequenceErase", ["three", "at"], ["two"]),
        helper.make_node("SequenceAt", ["two", "at"], ["back"]),
        helper.make_node("SequenceLength", ["two"], ["count"]),
        helper.make_node("ConcatFromSequence", ["two"], ["whole"], axis=0, new_axis=1),
        helper.make_node("SplitToSequence", ["whole"], ["parts"], axis=1),
    ]
    names = [info("back"), info("count", TensorProto.INT64), info("whole"), sequence("parts"), sequence("one")]
    outputs = run(nodes, [info("x", shape=[3])], names, {"x": X}, initializers=[index])
    assert outputs["count"].tolist() == 2
    assert outputs["whole"].shape == (2, 3)
    assert [part.shape for part in outputs["parts"]] == [(2, 1)] * 3


def test_sequence_map_with_sequence_input_and_output(run):
    inner = body([helper.make_node("Add", ["e", "k"], ["o"])], [info("e"), info("k")], [info("o")])
    node = helper.make_node("SequenceMap", ["s", "k"], ["r"], body=inner)
    arrays = {"s": [X, X[:1]], "k": np.ones(1, "f4")}
    outputs = run([node], [sequence("s"), info("k", shape=[1])], [sequence("r")], arrays)
    assert [part.tolist() for part in outputs["r"]] == [[2, -1, 4], [2]]
    with pytest.raises(InputError, match=r"input 's': .0.: expected elements of type float32, found int64"):
        run(
            [node], [sequence("s"), info("k", shape=[1])], [sequence("r")], {**arrays, "s": [np.arange(2)]}, judge=False
        )


@pytest.mark.parametrize("inputs", [X, None])
def test_optionals(run, inputs):
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [3]))
    accepted = helper.make_value_info("o", kind)
    nodes = [helper.make_node("OptionalHasElement", ["o"], ["has"])]
    outputs = [info("has", TensorProto.BOOL, [])]
    if inputs is not None:
        nodes.append(helper.make_node("OptionalGetElement", ["o"], ["held"]))
        outputs.append(info("held"))
    result = run(nodes, [accepted], outputs, {"o": inputs}, opset=18)
    assert result["has"].tolist() is (inputs is not None)
    if inputs is not None:
        assert result["held"].tolist() == X.tolist()
    else:
        nodes = [helper.make_node("OptionalGetElement", ["o"], ["held"])]
        with pytest.raises(InputError, match="the optional is empty"):
            run(nodes, [accepted], [info("held")], {"o": None}, opset=18, judge=False)


def test_large_constant_in_a_body(run):
    """The structural reader skips it, so it is read again by its offset in the file."""
    large = np.arange(5000, dtype="f4")
    inner = helper.make_graph([helper.make_node("Add", ["x", "big"], ["r"])], "t", [], [info("r")],
                              [numpy_helper.from_array(large, "big")])  # fmt: skip
    other = body([helper.make_node("Constant", [], ["r"], value=numpy_helper.from_array(-large))], [], [info("r")])
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=other)
    inputs = [info("c", TensorProto.BOOL, []), info("x", shape=[1])]
    array = np.ones(1, "f4")
    assert run([node], inputs, [info("y")], {"c": np.array(True), "x": array})["y"][-1] == 5000
    assert run([node], inputs, [info("y")], {"c": np.array(False), "x": array})["y"][-1] == -4999


@pytest.mark.parametrize("flat", [False, True])
def test_a_sparse_initializer(run, flat, tmp_path):
    places = np.array([1, 5]) if flat else np.array([[0, 1], [1, 2]])
    values = helper.make_tensor("w", TensorProto.FLOAT, [2], [2.0, 3.0])
    sparse = helper.make_sparse_tensor(
        values, helper.make_tensor("i", TensorProto.INT64, places.shape, places.ravel()), [2, 3]
    )
    graph = helper.make_graph([helper.make_node("Add", ["w", "x"], ["y"])], "g", [info("x", shape=[3])], [info("y")],
                              sparse_initializer=[sparse])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "sparse.onnx")
    result = run_model(str(tmp_path / "sparse.onnx"), {"x": np.zeros(3, "f4")})
    assert result["y"].tolist() == [[0, 2, 0], [0, 0, 3]]


def test_nesting_of_bodies_and_calls_is_limited(run):
    functions = [
        helper.make_function("my", f"F{n}", ["u"], ["v"], [helper.make_node(f"F{n + 1}", ["u"], ["v"], domain="my")],
                             [helper.make_opsetid("my", 1)])
        for n in range(80)
    ]  # fmt: skip
    functions.append(helper.make_function("my", "F80", ["u"], ["v"], [helper.make_node("Neg", ["u"], ["v"])],
                                          [helper.make_opsetid("", 17)]))  # fmt: skip
    nodes = [helper.make_node("F0", ["x"], ["y"], domain="my")]
    with pytest.raises(InputError, match="subgraphs and calls are nested more than 60 deep"):
        run(nodes, [info("x")], [info("y")], {"x": X}, functions=functions, imports=["my"], judge=False)
