"""Values of ONNX Runtime's own operators beside what it computes, drawn ones and models that its optimizer writes."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from specgate.conform.campaign import Plan, run
from specgate.dialects.onnx.run.model import run_model
from specgate.spec.tables import dialect

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxruntime")),
        reason="onnx or onnxruntime is not installed: pip install 'specgate-ml[oracles]'",
    ),
]

DOMAIN = "com.microsoft"
OWN = [name for name in dialect("onnx").operators if name.startswith(f"{DOMAIN}.")]
#: Tables of operators that the runtime has in ai.onnx: a node of this domain cannot be asked.
OF_MODELS = set(dialect("onnx").tables.about["stand_ins"].values())
#: Drawn for each operator. Many are refused: of a type that the CPU has no kernel for, or with what crashes it.
CASES = 40


def test_every_one_is_executed() -> None:
    assert len(OWN) >= 31
    assert all(dialect("onnx").operator(name).table.recipe for name in OWN)


@pytest.mark.parametrize("name", sorted(set(OWN) - OF_MODELS))
def test_values_are_equal_or_the_difference_is_recorded(name: str) -> None:
    result = run(Plan("onnx", operators=(name,), cases=CASES, values=True))
    (tally,) = (tally for tally in result.values if tally.implementation == "onnxruntime")
    assert tally.cases >= 5, tally.unavailable
    assert [each for each in tally.differing if each.kind == "unexplained"] == []


def quantized(pick, *shape: int, unsigned: bool):
    """Random numbers, a scale and a zero point."""
    kind = np.uint8 if unsigned else np.int8
    scale = np.float32(2.0 ** pick.uniform(-6, 0))
    return (
        pick.integers(0, 256, shape).astype(np.uint8).view(kind),
        scale,
        pick.integers(0, 256, ()).astype("u1").view(kind),
    )


SHAPES: dict[str, list[tuple[int, ...]]] = {
    "QLinearAdd": [(2, 1, 33), (4, 33)], "QLinearMul": [(2, 1, 33), (4, 33)], "QLinearSigmoid": [(3, 40)],
    "QLinearLeakyRelu": [(3, 40)], "QLinearGlobalAveragePool": [(2, 3, 5, 7)], "QLinearAveragePool": [(2, 3, 9, 8)],
    "QLinearConcat": [(2, 5), (2, 4)],
}  # fmt: skip


@pytest.mark.parametrize("operator", SHAPES)
def test_quantized_numbers_are_the_same_for_usual_scales(tmp_path, operator) -> None:
    """The entries of these tables excuse what scales without bounds give; this is for all others."""
    pick = np.random.default_rng(7)
    attributes: dict[str, dict[str, Any]] = {
        "QLinearAveragePool": {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1]},
        "QLinearConcat": {"axis": 1},
    }
    for case in range(20):
        last = quantized(pick, unsigned=bool(case % 2))[1:]
        inputs = [x for shape in SHAPES[operator] for x in quantized(pick, *shape, unsigned=bool(case % 2))]
        listed = [*last, *inputs] if operator == "QLinearConcat" else [*inputs, *last]
        path, given = one_node(tmp_path, operator, listed, attributes.get(operator, {}))
        assert np.array_equal(run_model(path, given)["y"], asked_of_runtime(path, given)), case


@pytest.mark.parametrize("operator", ["QLinearAdd", "QLinearMul", "QLinearAveragePool"])
def test_halves_go_to_the_neighbour_that_the_runtime_takes(tmp_path, operator) -> None:
    """Scales that make many sums, products and means lie halfway between two numbers."""
    pick = np.random.default_rng(11)
    attributes = {"kernel_shape": [1, 2]} if operator == "QLinearAveragePool" else {}
    for case in range(20):
        kind = np.uint8 if case % 2 else np.int8
        numbers = [pick.integers(0, 256, (1, 1, 5, 8)).astype(np.uint8).view(kind) for _ in range(2)]
        points = [pick.integers(0, 256, ()).astype(np.uint8).view(kind) for _ in range(3)]
        scales = [np.array(pick.choice([0.5, 0.25, 0.125, 1.0, 0.1, 0.3]), np.float32) for _ in range(3)]
        two = [numbers[0], scales[0], points[0], numbers[1], scales[1], points[1], scales[2], points[2]]
        listed = two if operator != "QLinearAveragePool" else [*two[:3], scales[0], points[2]]
        path, given = one_node(tmp_path, operator, listed, attributes)
        assert np.array_equal(run_model(path, given)["y"], asked_of_runtime(path, given)), case


def test_softmax_is_multiplied_by_a_whole_number(tmp_path) -> None:
    """What an entry says of QLinearSoftmax: equal where 1 / scale is whole, and else one less in places, never more."""
    pick = np.random.default_rng(12)
    for case in range(20):
        x, *numbers = quantized(pick, 3, 17, unsigned=bool(case % 2))
        whole = case < 10
        scale = np.array(1 / 256 if whole else pick.uniform(0.002, 0.02), np.float32)
        path, given = one_node(tmp_path, "QLinearSoftmax", [x, *numbers, scale, numbers[1]], {"opset": 13})
        ours, theirs = run_model(path, given)["y"].astype(int), asked_of_runtime(path, given).astype(int)
        assert set(np.unique(ours - theirs)) <= ({0} if whole else {0, 1})


def one_node(folder, operator: str, arrays, attributes) -> tuple[str, dict[str, np.ndarray]]:
    """Write a model of one node; return its path and what it is given."""
    from onnx import helper

    given = {f"i{i}": np.asarray(x) for i, x in enumerate(arrays)}
    ends = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), list(x.shape))
        for name, x in given.items()
    ]
    node = helper.make_node(operator, list(given), ["y"], domain=DOMAIN, **attributes)
    graph = helper.make_graph([node], "g", ends, [helper.make_empty_tensor_value_info("y")])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    path = folder / "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString())
    return str(path), given


def asked_of_runtime(path: str, given) -> np.ndarray:
    import onnxruntime

    (found,) = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, given)
    return np.asarray(found)


def weights(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def feed_forward(opset: int):
    """A layer of a transformer, as exporters write it: Gelu and, before opset 17, the normalization in parts."""
    from onnx import helper, numpy_helper

    node = helper.make_node
    constants = {
        "w1": weights(8, 16), "b1": weights(16), "w2": weights(16, 8), "b2": weights(8), "scale": weights(8),
        "shift": weights(8) / 4, "root": np.sqrt(np.float32(2)), "one": np.float32(1), "half": np.float32(0.5),
        "two": np.float32(2), "epsilon": np.float32(1e-5),
    }  # fmt: skip
    nodes = [
        node("MatMul", ["x", "w1"], ["m"]), node("Add", ["m", "b1"], ["a"]), node("Div", ["a", "root"], ["d"]),
        node("Erf", ["d"], ["e"]), node("Add", ["e", "one"], ["p"]), node("Mul", ["a", "p"], ["q"]),
        node("Mul", ["q", "half"], ["g"]), node("MatMul", ["g", "w2"], ["n"]), node("Add", ["n", "b2"], ["o"]),
        node("Add", ["x", "o"], ["s"]),
    ]  # fmt: skip
    if opset < 17:
        nodes += [
            node("ReduceMean", ["s"], ["mean"], axes=[-1]), node("Sub", ["s", "mean"], ["c"]),
            node("Pow", ["c", "two"], ["square"]), node("ReduceMean", ["square"], ["v"], axes=[-1]),
            node("Add", ["v", "epsilon"], ["ve"]), node("Sqrt", ["ve"], ["deviation"]),
            node("Div", ["c", "deviation"], ["normal"]), node("Mul", ["normal", "scale"], ["scaled"]),
            node("Add", ["scaled", "shift"], ["y"]),
        ]  # fmt: skip
    else:
        nodes.append(node("LayerNormalization", ["s", "scale", "shift"], ["y"]))
    return nodes, [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()], [2, 3, 8]


def filtered(_opset: int):
    """Convolutions with activations, and a classifier."""
    from onnx import helper, numpy_helper

    node = helper.make_node
    constants = {
        "w": weights(4, 2, 3, 3),
        "b": weights(4),
        "k": weights(4, 4, 1, 1),
        "d": weights(5, 4),
        "e": weights(5),
    }
    nodes = [
        node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]), node("LeakyRelu", ["c"], ["l"], alpha=0.125),
        node("Conv", ["l", "k"], ["f"]), node("Add", ["f", "l"], ["s"]), node("Relu", ["s"], ["r"]),
        node("GlobalAveragePool", ["r"], ["p"]), node("Flatten", ["p"], ["q"]),
        node("Gemm", ["q", "d", "e"], ["g"], transB=1), node("Sigmoid", ["g"], ["y"]),
    ]  # fmt: skip
    return nodes, [numpy_helper.from_array(array, name) for name, array in constants.items()], [2, 2, 6, 7]


@pytest.mark.parametrize(
    ("made", "opset", "expected"),
    [
        (feed_forward, 13, {"com.microsoft.BiasGelu", "com.microsoft.SkipLayerNormalization"}),
        (feed_forward, 17, {"com.microsoft.BiasGelu", "com.microsoft.SkipLayerNormalization"}),
        (filtered, 17, {"com.microsoft.FusedConv", "com.microsoft.FusedGemm"}),
    ],
)
def test_a_model_that_the_optimizer_wrote(tmp_path, made, opset, expected) -> None:
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper

    nodes, constants, sizes = made(opset)
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", *sizes[1:]])], [onnx.ValueInfoProto(name="y")],
        initializer=constants,
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 4
    options.optimized_model_filepath = path = str(tmp_path / "fused.onnx")
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"],
        disabled_optimizers=["NchwcTransformer"],  # which writes what only machines like this one have
    )  # fmt: skip
    fused = {f"{node.domain}.{node.op_type}".lstrip(".") for node in onnx.load(path).graph.node}
    assert expected <= fused
    given = {"x": weights(*sizes)}
    (theirs,) = session.run(None, given)
    np.testing.assert_allclose(run_model(path, given)["y"], theirs, rtol=2e-5, atol=2e-6)
