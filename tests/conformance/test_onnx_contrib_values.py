"""Values of contrib operators against ONNX Runtime: random and optimized models."""

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
#: Tables of operators that the runtime defines in ai.onnx, so nodes of this domain cannot run.
OF_MODELS = set(dialect("onnx").tables.about["stand_ins"].values())
#: Draws per operator. Many are rejected: the CPU has no kernel for a type, or they crash it.
CASES = 40


def test_every_listed_operator_is_executed() -> None:
    assert len(OWN) >= 42
    assert all(dialect("onnx").operator(name).table.recipe for name in OWN)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(OWN) - OF_MODELS))
def test_values_are_equal_or_the_difference_is_recorded(name: str) -> None:
    result = run(Plan("onnx", operators=(name,), cases=CASES, values=True, shrink_known=False))
    (tally,) = (tally for tally in result.values if tally.implementation == "onnxruntime")
    assert tally.cases >= 5, tally.unavailable
    assert [each for each in tally.differing if each.kind == "unexplained"] == []


def quantize(pick, *shape: int, unsigned: bool, halves: bool = False):
    """Random numbers, a scale and a zero point.

    halves: a power of two, so that many results are halfway between numbers.
    """
    kind = np.uint8 if unsigned else np.int8
    scale = np.float32(2.0 ** (pick.integers(-2, 1) if halves else pick.uniform(-6, 0)))
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


@pytest.mark.slow
@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("operator", SHAPES)
def test_quantized_values_are_equal_for_common_scales(tmp_path, operator, halves) -> None:
    """Limit scales, because entries of these tables explain unlimited ones."""
    pick = np.random.default_rng(7)
    attributes: dict[str, dict[str, Any]] = {
        "QLinearAveragePool": {"kernel_shape": [4 if halves else 3, 2], "pads": [1, 0, 1, 1]},
        "QLinearConcat": {"axis": 1},
    }
    for case in range(20):
        options = {"unsigned": bool(case % 2), "halves": halves}
        last = quantize(pick, **options)[1:]
        inputs = [x for shape in SHAPES[operator] for x in quantize(pick, *shape, **options)]
        listed = [*last, *inputs] if operator == "QLinearConcat" else [*inputs, *last]
        path, arguments = one_node(tmp_path, operator, listed, attributes.get(operator, {}))
        assert np.array_equal(run_model(path, arguments)["y"], asked_of_runtime(path, arguments)), case


@pytest.mark.parametrize("operator", ["QLinearAdd", "QLinearMul", "QLinearAveragePool"])
def test_ties_round_like_the_runtime(tmp_path, operator) -> None:
    """Scales that put many sums, products and means halfway between two numbers."""
    pick = np.random.default_rng(11)
    attributes = {"kernel_shape": [1, 2]} if operator == "QLinearAveragePool" else {}
    for case in range(20):
        kind = np.uint8 if case % 2 else np.int8
        numbers = [pick.integers(0, 256, (1, 1, 5, 8)).astype(np.uint8).view(kind) for _ in range(2)]
        points = [pick.integers(0, 256, ()).astype(np.uint8).view(kind) for _ in range(3)]
        scales = [np.array(pick.choice([0.5, 0.25, 0.125, 1.0, 0.1, 0.3]), np.float32) for _ in range(3)]
        two = [numbers[0], scales[0], points[0], numbers[1], scales[1], points[1], scales[2], points[2]]
        listed = two if operator != "QLinearAveragePool" else [*two[:3], scales[0], points[2]]
        path, inputs = one_node(tmp_path, operator, listed, attributes)
        assert np.array_equal(run_model(path, inputs)["y"], asked_of_runtime(path, inputs)), case


def test_quantized_softmax_uses_an_integer_multiplier(tmp_path) -> None:
    """Check the entry of QLinearSoftmax.

    Results are equal if 1 / scale is an integer, else sometimes one less.
    """
    pick = np.random.default_rng(12)
    for case in range(20):
        x, *numbers = quantize(pick, 3, 17, unsigned=bool(case % 2))
        whole = case < 10
        scale = np.array(1 / 256 if whole else pick.uniform(0.002, 0.02), np.float32)
        path, arrays_by_name = one_node(tmp_path, "QLinearSoftmax", [x, *numbers, scale, numbers[1]], {"opset": 13})
        ours, theirs = (
            run_model(path, arrays_by_name)["y"].astype(int),
            asked_of_runtime(path, arrays_by_name).astype(int),
        )
        assert set(np.unique(ours - theirs)) <= ({0} if whole else {0, 1})


def one_node(folder, operator: str, arrays, attributes) -> tuple[str, dict[str, np.ndarray]]:
    """Write a model of one node; return its path and feeds."""
    from onnx import helper

    arrays_by_name = {f"i{i}": np.asarray(x) for i, x in enumerate(arrays)}
    ends = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), list(x.shape))
        for name, x in arrays_by_name.items()
    ]
    node = helper.make_node(operator, list(arrays_by_name), ["y"], domain=DOMAIN, **attributes)
    graph = helper.make_graph([node], "g", ends, [helper.make_empty_tensor_value_info("y")])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    path = folder / "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString())
    return str(path), arrays_by_name


def asked_of_runtime(path: str, inputs) -> np.ndarray:
    import onnxruntime

    (result,) = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, inputs)
    return np.asarray(result)


def weights(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def feed_forward(opset: int):
    """A transformer layer as exported: Gelu, and normalization in parts below opset 17."""
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


def filter_images(_opset: int):
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
    ("onnx_model", "opset", "expected"),
    [
        (feed_forward, 13, {"com.microsoft.BiasGelu", "com.microsoft.SkipLayerNormalization"}),
        (feed_forward, 17, {"com.microsoft.BiasGelu", "com.microsoft.SkipLayerNormalization"}),
        (filter_images, 17, {"com.microsoft.FusedConv", "com.microsoft.FusedGemm"}),
    ],
)
def test_optimized_model(tmp_path, onnx_model, opset, expected) -> None:
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper

    nodes, constants, sizes = onnx_model(opset)
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
        disabled_optimizers=["NchwcTransformer"],  # it writes a model for this machine only
    )  # fmt: skip
    fused = {f"{node.domain}.{node.op_type}".lstrip(".") for node in onnx.load(path).graph.node}
    assert expected <= fused
    inputs = {"x": weights(*sizes)}
    (theirs,) = session.run(None, inputs)
    np.testing.assert_allclose(run_model(path, inputs)["y"], theirs, rtol=2e-5, atol=2e-6)


WIDTH, HEADS, SIZE, WORDS = 32, 4, 8, 5


def layer(name: str, hidden: str, skip: str, past: str, *, quantized_weights: bool):
    """A decoder layer with a past from the transformer optimizer: nodes, constants."""
    from onnx import helper

    pick = np.random.default_rng(len(name) + ord(name[-1]))
    constants: dict[str, np.ndarray] = {}
    nodes = []

    def floats(*shape: int, scale: float = 0.3) -> str:
        constants[key := f"{name}c{len(constants)}"] = (pick.standard_normal(shape) * scale).astype(np.float32)
        return key

    def numbers(*shape: int) -> list[str]:
        keys = [f"{name}c{len(constants) + at}" for at in range(3)]
        weight, point = (pick.integers(-128, 128, each).astype(np.int8) for each in (shape, ()))
        constants.update(zip(keys, (weight, np.array(0.01, np.float32), point), strict=True))
        return keys

    def node(operator: str, inputs: list[str], *outputs: str, domain: str = DOMAIN, **attributes: Any) -> str:
        nodes.append(helper.make_node(operator, inputs, list(outputs), domain=domain, **attributes))
        return outputs[0]

    def product(x: str, rows: int, columns: int, out: str) -> str:
        if quantized_weights:
            return node("DynamicQuantizeMatMul", [x, *numbers(rows, columns)], out)
        return node("MatMul", [x, floats(rows, columns)], out, domain="")

    ends = (f"{name}att", f"{name}present")
    causal: dict[str, Any] = {"num_heads": HEADS, "unidirectional": 1}
    if quantized_weights:
        node("DynamicQuantizeLinear", [hidden], f"{name}q", f"{name}s", f"{name}z", domain="")
        weight, scale, point = numbers(WIDTH, 3 * WIDTH)
        listed = [f"{name}q", weight, floats(3 * WIDTH), f"{name}s", scale, "mask", f"{name}z", point, past]
        node("QAttention", listed, *ends, **causal)
    else:
        node("Attention", [hidden, floats(WIDTH, 3 * WIDTH), floats(3 * WIDTH), "mask", past], *ends, **causal)
    result = product(ends[0], WIDTH, WIDTH, f"{name}o")
    norms = [floats(WIDTH, scale=1.0), floats(WIDTH), floats(WIDTH)]
    node("SkipLayerNormalization", [skip, result, *norms], f"{name}n", "", "", f"{name}t")
    result = node("FastGelu", [product(f"{name}n", WIDTH, 2 * WIDTH, f"{name}u"), floats(2 * WIDTH)], f"{name}g")
    result = product(result, 2 * WIDTH, WIDTH, f"{name}d")
    norms = [floats(WIDTH, scale=1.0), floats(WIDTH), floats(WIDTH)]
    node("SkipLayerNormalization", [f"{name}t", result, *norms], f"{name}h", "", "", f"{name}k")
    return nodes, constants


@pytest.mark.parametrize("quantized_weights", [False, True])
def test_decoder_with_fused_nodes(tmp_path, quantized_weights) -> None:
    from onnx import TensorProto, helper, numpy_helper

    first = layer("a", "x", "x", "pa", quantized_weights=quantized_weights)
    second = layer("b", "ah", "ak", "pb", quantized_weights=quantized_weights)
    past = {name: np.random.default_rng(9).standard_normal((2, 2, HEADS, 3, SIZE)) for name in ("pa", "pb")}
    inputs = {"x": weights(2, WORDS, WIDTH), **{name: each.astype(np.float32) for name, each in past.items()}}
    mask = np.ones((2, WORDS + 3), np.int32)
    mask[0, :2] = 0
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(x.shape)) for name, x in inputs.items()]
    ends.append(helper.make_tensor_value_info("mask", TensorProto.INT32, list(mask.shape)))
    outputs = [helper.make_empty_tensor_value_info(name) for name in ("bh", "apresent", "bpresent")]
    constants = {**first[1], **second[1]}
    graph = helper.make_graph(
        [*first[0], *second[0]], "g", ends, outputs,
        initializer=[numpy_helper.from_array(each, name) for name, each in constants.items()],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    path = tmp_path / "decoder.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString())
    import onnxruntime

    inputs["mask"] = mask
    theirs = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, inputs)
    ours = run_model(str(path), inputs)
    for end, result in zip(outputs, theirs, strict=True):
        np.testing.assert_allclose(ours[end.name], result, rtol=2e-5, atol=5e-6)


#: Inputs of GroupQueryAttention by position; tokens per step, past length per batch, and past capacity.
PLACES = ["query", "key", "value", "past_key", "past_value", "seqlens_k", "total_sequence_length", "cos_cache",
          "sin_cache", "position_ids", "attention_bias", "head_sink", "k_scale", "v_scale"]  # fmt: skip
STEPS = [
    (4, [0, 0], None),
    (4, [0, -2], None),
    (4, [3], 3),
    (2, [3], 9),
    (1, [6, 2], 6),
    (1, [6, 2], 12),
    (3, [0, 0], 7),
]
WAYS: list[dict[str, Any]] = [
    {}, {"causal": 0}, {"softcap": 1.5}, {"smooth_softmax": 1}, {"sink": True}, {"local_window_size": 2, "sink": True},
    {"do_rotary": 1}, {"do_rotary": 1, "rotary_interleaved": 1, "bias": True}, {"qk_output": 1, "bias": True},
    {"qk_output": 2, "local_window_size": 3, "softcap": 2.0}, {"scale": 0.3, "packed": True, "do_rotary": 1},
    {"kv_cache_bit_width": 8, "k_quant_type": "PER_CHANNEL", "v_quant_type": "PER_CHANNEL"},
    {"kv_cache_bit_width": 4, "k_quant_type": "PER_TENSOR", "v_quant_type": "PER_TENSOR", "softcap": 3.0},
    {"sliding_window_cache": 1, "local_window_size": 3},
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way) or "plain")
@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_attention_over_a_cache(tmp_path, way, kind) -> None:
    questions = 0
    for at, (queries, past, room) in enumerate(STEPS):
        attributes = {"num_heads": 4, "kv_num_heads": 2, **way}
        extras = [attributes.pop(name, False) for name in ("sink", "bias", "packed")]
        cached = attributes.keys() & {"kv_cache_bit_width", "sliding_window_cache"}
        if (cached and room is None) or ("sliding_window_cache" in attributes and min(past) + queries < queries):
            continue
        inputs = cached_inputs(np.random.default_rng(at), kind, queries, past, room, attributes, *extras)
        path, feeds = named_node(tmp_path, inputs, attributes)
        ours, theirs = run_model(path, feeds), all_of_runtime(path, feeds)
        for name, result in theirs.items():
            shown = np.ma.getmaskarray(ours[name])
            mine, other = np.ma.getdata(ours[name])[~shown], result[~shown]
            assert mine.dtype == other.dtype
            near = 3e-5 if kind == np.float32 else 4e-3
            np.testing.assert_allclose(
                mine.astype(float), other.astype(float), rtol=near, atol=near, err_msg=f"{name} {at}"
            )
        questions += 1
    assert questions >= 4


def cached_inputs(pick, kind, queries, past, room, attributes, sink, bias, packed) -> dict[str, np.ndarray]:
    """Return random inputs of GroupQueryAttention by name."""
    batch, total = len(past), max(past) + queries
    bits = attributes.get("kv_cache_bit_width", 0)

    def floats(*shape: int) -> np.ndarray:
        return np.asarray(pick.standard_normal(shape).astype(kind))

    parts = [floats(batch, queries, heads * 16) for heads in (4, 2, 2)]
    arrays_by_name = {"query": np.concatenate(parts, axis=2)} if packed else dict(zip(PLACES[:3], parts, strict=True))
    if room is not None:
        shape = (batch, 2, room, 8 if bits == 4 else 16)
        numbers = pick.integers(0, 256, (2, *shape)).astype(np.uint8)
        caches = numbers if bits == 4 else numbers.view(np.int8) if bits else floats(2, *shape)
        arrays_by_name |= {"past_key": caches[0], "past_value": caches[1]}
    arrays_by_name["seqlens_k"] = np.array([n + queries - 1 for n in past], np.int32)
    arrays_by_name["total_sequence_length"] = np.array(total, np.int32)
    if "do_rotary" in attributes:
        turns = pick.random((total + 3, 8))
        arrays_by_name |= {"cos_cache": np.cos(turns).astype(kind), "sin_cache": np.sin(turns).astype(kind)}
    if bias:
        arrays_by_name["attention_bias"] = floats(batch, 1, queries, total)
    if sink:
        arrays_by_name["head_sink"] = floats(4)
    if bits:
        scales = (
            pick.random((2, 1) if attributes["k_quant_type"] == "PER_TENSOR" else (2, 1, 2, 1, 16)) / 50 + 0.01
        ).astype("f4")
        arrays_by_name |= {"k_scale": scales[0], "v_scale": scales[1]}
    return arrays_by_name


def named_node(folder, inputs, attributes) -> tuple[str, dict[str, np.ndarray]]:
    """Write a model of one GroupQueryAttention with some outputs; return path and feeds."""
    from onnx import helper

    ends = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), list(x.shape))
        for name, x in inputs.items()
    ]
    outputs = ["output", "present_key", "present_value", *(["output_qk"] if attributes.get("qk_output") else [])]
    places = [name if name in inputs else "" for name in PLACES]
    node = helper.make_node("GroupQueryAttention", places, outputs, domain=DOMAIN, **attributes)
    graph = helper.make_graph([node], "g", ends, [helper.make_empty_tensor_value_info(name) for name in outputs])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    path = folder / "cached.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString())
    return str(path), inputs


def all_of_runtime(path: str, inputs) -> dict[str, np.ndarray]:
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return {name: np.asarray(x) for name, x in zip(names, session.run(None, inputs), strict=True)}
