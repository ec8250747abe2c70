"""The installed ONNX Runtime with DirectML gives the recorded answers.

They were measured with onnxruntime-directml 1.24.4, and with DirectML of other levels.
"""

from __future__ import annotations

import pytest

import specgate
from specgate.dialects.directml.oracle.install import status as directml_status
from specgate.dialects.directml.oracle.oracle import Capabilities, DirectMLOracle
from specgate.runtimes.onnxruntime.oracle.install import install_command, status
from specgate.runtimes.onnxruntime.oracle.oracle import Placed, PlacementOracle

pytestmark = [pytest.mark.oracle, pytest.mark.slow]
onnx = pytest.importorskip("onnx", reason="NO MODELS ARE BUILT: onnx is not installed")
NEWEST = status()[0]
if NEWEST.missing:
    pytest.skip(
        f"ONNX RUNTIME WITH DIRECTML IS NOT TESTED: {'; '.join(NEWEST.missing)}; try "
        f"{install_command(NEWEST.runtime.release)}",
        allow_module_level=True,
    )
helper = onnx.helper
TARGET = f"onnxruntime-directml:{NEWEST.runtime.release}"


def value(name, kind, *sizes):
    return helper.make_tensor_value_info(name, getattr(onnx.TensorProto, kind), list(sizes))


def model(nodes, inputs, outputs, opset=18, constants=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9).SerializeToString()


def one(op_type, kind, opset=18, sizes=(2, 3), **attributes):
    node = helper.make_node(op_type, ["x"], ["y"], name="n", **attributes)
    return model([node], [value("x", kind, *sizes)], [value("y", kind, *sizes)], opset)


def gemm(left, right):
    node = helper.make_node("MatMul", ["a", "b"], ["y"], name="n")
    return model([node], [value("a", "FLOAT", *left), value("b", "FLOAT", *right)], [value("y", "FLOAT", *left)])


def normalize():
    node = helper.make_node("LayerNormalization", ["x", "s"], ["y"], name="n")
    return model([node], [value("x", "FLOAT", 2, 2), value("s", "FLOAT", 2)], [value("y", "FLOAT", 2, 2)])


@pytest.fixture(scope="module")
def oracle():
    with PlacementOracle(NEWEST.runtime.release) as onnx_model:
        yield onnx_model


def places(answer):
    return [(node.op_type, node.provider) for node in answer.nodes]


def test_a_node_that_has_a_kernel_is_created(oracle):
    answer = oracle.ask([one("Relu", "FLOAT")])[0]
    assert answer.session == "created"
    assert answer.nodes == (Placed("n", "Relu", "DirectML"),)
    (created,) = answer.operators
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3], "TotalTensorSizeInBytes": 24}
    assert created.hresult == 0
    assert created.descriptor == {
        "type": "DML_OPERATOR_ACTIVATION_RELU",
        "desc": {"InputTensor": tensor, "OutputTensor": tensor},
    }


def test_a_registration_applies_to_its_version_only(oracle):
    at_21, at_22 = oracle.ask([one("Round", "FLOAT", opset) for opset in (21, 22)])
    assert places(at_21) == [("Round", "DirectML")]
    assert places(at_22) == [("Round", "CPU")]


def test_a_node_that_createoperator_rejects_fails_the_session(oracle):
    answer = oracle.ask([gemm((1, 1, 1, 2, 2), (1, 1, 1, 2, 2))])[0]
    assert places(answer) == [("MatMul", "DirectML")]
    assert answer.word == "fails"
    assert answer.operators[-1].descriptor["type"] == "DML_OPERATOR_GEMM"
    assert answer.operators[-1].hresult == 0x80070057


def test_a_node_without_any_kernel_fails_the_session(oracle):
    answer = oracle.ask([one("Neg", "BFLOAT16")])[0]
    assert answer.word == "fails"
    assert "Neg" in answer.error
    assert answer.operators == ()


def test_shape_nodes_are_placed_on_the_cpu(oracle):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], name="shape"),
        helper.make_node("Gather", ["s", "i"], ["g"], name="gather"),
        helper.make_node("Relu", ["x"], ["y"], name="relu"),
    ]
    zero = helper.make_tensor("i", onnx.TensorProto.INT64, [1], [0])
    inputs, outputs = [value("x", "FLOAT", "N", 3)], [value("g", "INT64", 1), value("y", "FLOAT", "N", 3)]
    answer = oracle.ask([model(nodes, inputs, outputs, constants=[zero])])[0]
    assert {node.name: node.provider for node in answer.nodes if not node.name.startswith("Memcpy")} == {
        "shape": "DirectML", "gather": "CPU", "relu": "DirectML",
    }  # fmt: skip


def test_functions_are_logged_as_their_nodes(oracle):
    answer = oracle.ask([one("HardSwish", "FLOAT", 14)])[0]
    assert places(answer) == [("HardSigmoid", "DirectML"), ("Mul", "DirectML")]


def test_a_crash_affects_the_crashing_model_only(oracle):
    crashing = one("MaxPool", "FLOAT", 10, (1, 1, 4, 4), kernel_shape=[2, 2], strides=[0, 1])
    answers = oracle.ask([one("Relu", "FLOAT"), crashing, one("Relu", "FLOAT")])
    assert [answer.session for answer in answers] == ["created", "crashed", "created"]


def test_answers_do_not_depend_on_the_order_of_models(oracle):
    items = [one("Relu", "FLOAT"), gemm((2, 2), (2, 2)), b"garbage", normalize(), one("HardSwish", "FLOAT", 14)]
    answers = oracle.ask(items)
    repeated = oracle.ask(items[::-1])[::-1]
    assert [a.to_dict() | {"seconds": 0} for a in answers] == [a.to_dict() | {"seconds": 0} for a in repeated]


def test_graph_fusion_creates_the_same_operators(oracle):
    with PlacementOracle(NEWEST.runtime.release, fused=True) as fused:
        answer = fused.ask([gemm((2, 2), (2, 2))])[0]
    alone = oracle.ask([gemm((2, 2), (2, 2))])[0]
    assert answer.session == "created"
    assert all(node.op_type.startswith("DmlFusedNode") for node in answer.nodes)
    assert answer.operators[0].descriptor == alone.operators[0].descriptor


def test_a_deferred_kernel_is_created_at_the_first_run(oracle):
    without_bounds = one("Clip", "FLOAT", 13)
    (waiting,) = oracle.ask([without_bounds])
    assert (waiting.session, waiting.operators, waiting.run) == ("created", (), "")
    with PlacementOracle(NEWEST.runtime.release, run=True) as running:
        clip, relu, unknown = running.ask([without_bounds, one("Relu", "FLOAT"), one("Relu", "FLOAT", sizes=("N", 3))])
    assert [(created.descriptor["type"], created.deferred) for created in clip.operators] == [
        ("DML_OPERATOR_ELEMENT_WISE_CLIP1", True)
    ]
    assert [created.deferred for created in relu.operators] == [False]
    assert (clip.run, relu.run, unknown.run) == ("ran", "ran", "an input has a size that is not known")


def test_device_capabilities_affect_placement():
    with PlacementOracle(NEWEST.runtime.release, device=Capabilities(double=False)) as without:
        assert places(without.ask([one("Relu", "DOUBLE")])[0]) == [("Relu", "CPU")]


def test_logged_operators_agree_with_a_build():
    """A build of the level answers each logged descriptor with the logged HRESULT."""
    texts = sorted({entry.build.level for entry in directml_status() if entry.installed} & set(NEWEST.levels))
    if not texts:
        pytest.skip(
            f"NO BUILD IS COMPARED: try {install_command(NEWEST.runtime.release, ['6.2'])} and the same level of DirectML"
        )
    with DirectMLOracle(texts[-1]) as build, PlacementOracle(NEWEST.runtime.release, level=texts[-1]) as oracle:
        answers = oracle.ask([one("Relu", "FLOAT"), gemm((1, 1, 1, 2, 2), (1, 1, 1, 2, 2)), normalize()])
        created = [created for answer in answers for created in answer.operators]
        answered = build.accepts_many([onnx_model.descriptor for onnx_model in created])
    assert [onnx_model.hresult for onnx_model in created] == [answer.hresult for answer in answered]
    assert {onnx_model.hresult for onnx_model in created} == {0, 0x80070057}


def test_an_older_level_rejects_unsupported_operators():
    if "5.0" not in NEWEST.levels:
        pytest.skip(f"NO OTHER LEVEL IS TESTED: try {install_command(NEWEST.runtime.release, ['5.0'])}")
    with PlacementOracle(NEWEST.runtime.release, level="5.0") as oracle:
        answer = oracle.ask([normalize()])[0]
    assert places(answer) == [("LayerNormalization", "DirectML")]
    assert answer.word == "fails"
    assert answer.operators[-1].descriptor["type"] == "DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2"
    assert answer.operators[-1].hresult == 0x80070057


@pytest.mark.parametrize("kind", ["FLOAT", "FLOAT16", "DOUBLE", "STRING"])
@pytest.mark.parametrize("device", ["all", "none"])
def test_subgraph_input_types_are_checked_with_the_device(kind, device):
    branches = [
        helper.make_graph([helper.make_node("Size", ["s"], [name])], name, [], [value(name, "INT64")])
        for name in ("n", "m")
    ]
    node = helper.make_node("If", ["c"], ["y"], name="n", then_branch=branches[0], else_branch=branches[1])
    new_model = model([node], [value("c", "BOOL"), value("s", kind, 2)], [value("y", "INT64")], 16)
    reports = Capabilities() if device == "all" else Capabilities(double=False, native16=False, typed_uav_load=False)
    with PlacementOracle(NEWEST.runtime.release, device=reports) as questions:
        result = questions.ask([new_model])[0]
    ours = next(iter(specgate.place(onnx.ModelProto.FromString(new_model), TARGET, device=device)))
    assert (result.nodes[0].name, result.nodes[0].provider) == ("n", ours.provider)


def dequantized(opset=13):
    """Values with several consumers, an output of the graph, and bodies."""

    def body(name, *nodes):
        return helper.make_graph(list(nodes), name, [], [value(nodes[-1].output[0], "FLOAT", 2, 3)])

    def relu(source, result):
        return helper.make_node("Relu", [source], [result], name=result)

    def dequantize(result):
        return helper.make_node("DequantizeLinear", ["x", "s", "z"], [result], name=f"dq-{result}")

    inside = [dequantize("w"), relu("w", "t"), helper.make_node("Sub", ["t", "w"], ["u"], name="u")]
    branches = {"then_branch": body("then", *inside), "else_branch": body("else", relu("p", "v"))}
    nodes = [
        *map(dequantize, "pqr"),
        helper.make_node("If", ["c"], ["i"], name="i", **branches),
        relu("p", "a"),
        helper.make_node("Add", ["q", "q"], ["b"], name="b"),
        relu("q", "d"),
        relu("r", "e"),
    ]
    constants = [
        helper.make_tensor("s", onnx.TensorProto.FLOAT, [], [0.5]),
        helper.make_tensor("z", onnx.TensorProto.UINT8, [], [3]),
    ]
    inputs = [value("x", "UINT8", 2, 3), value("c", "BOOL")]
    outputs = [value(name, "FLOAT", 2, 3) for name in "iabder"]
    return model(nodes, inputs, outputs, opset, constants)


@pytest.mark.parametrize("opset", [13, 21])
def test_nodes_are_duplicated_per_consumer(oracle, opset):
    (answer,) = oracle.ask([dequantized(opset)])
    (result,) = [specgate.place(onnx.ModelProto.FromString(dequantized(opset)), TARGET)]
    mine = sorted(item.node.rpartition("graph/")[2].rpartition("_branch/")[2] for item in result.every)
    assert mine == sorted(item.name for item in answer.nodes)
    assert sum("/duplicated" in name for name in mine) == 5
    kinds = sorted(onnx_model.operator for item in result.every for onnx_model in item.lowered or ())
    assert kinds == sorted(item.descriptor["type"].removeprefix("DML_OPERATOR_") for item in answer.operators)
