"""Contrib operators as quantizers and exporters write them, against ONNX Runtime."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from specgate.dialects.onnx.run.model import run_model

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxruntime")),
        reason="onnx or onnxruntime is not installed: pip install 'specgate-ml[oracles]'",
    ),
]

DOMAIN = "com.microsoft"


def run_both(folder, operator: str, arrays, outputs: int = 1, **attributes: Any):
    """Return our outputs and the runtime's.

    arrays: the inputs, None for an omitted one.
    """
    import onnxruntime
    from onnx import helper, numpy_helper

    arrays_by_name = {f"i{at}": np.asarray(x) for at, x in enumerate(arrays) if x is not None}
    stored = {name: x for name, x in arrays_by_name.items() if x.dtype.kind == "V" or x.dtype.name.startswith("float8")}
    feeds = {name: x for name, x in arrays_by_name.items() if name not in stored}
    ends = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), list(x.shape))
        for name, x in feeds.items()
    ]
    names = [f"o{at}" for at in range(outputs)]
    inputs = ["" if x is None else f"i{at}" for at, x in enumerate(arrays)]
    graph = helper.make_graph(
        [helper.make_node(operator, inputs, names, domain=DOMAIN, **attributes)], "g", ends,
        [helper.make_empty_tensor_value_info(name) for name in names],
        initializer=[numpy_helper.from_array(x, name) for name, x in stored.items()],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)]
    path = folder / "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # states are quantized by the range of the sequences of one thread
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    ours = run_model(str(path), feeds)
    return [ours[name] for name in names], session.run(None, feeds)


def codes(pick, kind: str, *shape: int):
    return pick.integers(0, 256, shape).astype(np.uint8).view(kind)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("by_gate", [False, True])
def test_lstm_with_quantized_weights(tmp_path, direction, by_gate) -> None:
    ways = 2 if direction == "bidirectional" else 1
    for case in range(12):
        pick = np.random.default_rng(case)
        time, batch, size, width = (int(n) for n in pick.integers(1, 7, 4))
        kind = ["u1", "i1"][case % 2]
        shape = (ways, 4 * width) if by_gate else (ways,)
        point = codes(pick, kind, ways)
        zeros = np.full(shape, 0 if kind == "i1" else point[0], kind) if by_gate else point
        scales = [(pick.random(shape) / 50 + 0.001).astype(np.float32) for _ in range(2)]
        more = [pick.standard_normal(each).astype(np.float32) for each in (
            (ways, 8 * width), (ways, batch, width), (ways, batch, width), (ways, 3 * width),
        )]  # fmt: skip
        bias, hidden, cell, peephole = (x if case >> at & 1 else None for at, x in enumerate(more))
        weights = codes(pick, kind, ways, size, 4 * width), codes(pick, kind, ways, width, 4 * width)
        x = pick.standard_normal((time, batch, size)).astype(np.float32)
        attributes: dict[str, Any] = {"hidden_size": width, "direction": direction, "input_forget": case // 6}
        ours, theirs = run_both(
            tmp_path, "DynamicQuantizeLSTM",
            [x, *weights, bias, None, hidden, cell, peephole, scales[0], zeros, scales[1], zeros], 3, **attributes,
        )  # fmt: skip
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-5, err_msg=str(case))


def test_lstm_of_the_dynamic_quantizer(tmp_path) -> None:
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import quantize_dynamic

    pick = np.random.default_rng(4)
    constants = {"w": (1, 32, 6), "r": (1, 32, 8), "b": (1, 64), "m": (8, 3)}
    graph = helper.make_graph(
        [
            helper.make_node("LSTM", ["x", "w", "r", "b"], ["y", "h", ""], hidden_size=8),
            helper.make_node("MatMul", ["h", "m"], ["o"]),
        ],
        "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5, 2, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [5, 1, 2, 8]),
         helper.make_tensor_value_info("o", TensorProto.FLOAT, [1, 2, 3])],
        initializer=[numpy_helper.from_array((pick.standard_normal(s) / 3).astype("f4"), n) for n, s in constants.items()],
    )  # fmt: skip
    plain, path = tmp_path / "plain.onnx", tmp_path / "quantized.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    plain.write_bytes(model.SerializeToString())
    quantize_dynamic(str(plain), str(path))
    assert "DynamicQuantizeLSTM" in {node.op_type for node in onnx.load(path).graph.node}
    arrays_by_name = {"x": pick.standard_normal((5, 2, 6)).astype(np.float32)}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    theirs = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(
        None, arrays_by_name
    )
    ours = run_model(str(path), arrays_by_name)
    for name, result in zip(("y", "o"), theirs, strict=True):
        np.testing.assert_allclose(ours[name], result, rtol=1e-5, atol=1e-5)
    wide = run_model(str(plain), arrays_by_name)
    np.testing.assert_allclose(ours["y"], wide["y"], atol=0.02)  # as near as eight bits let it be


def table(pick, kind: str, rows: int, columns: int, bits: int):
    import ml_dtypes

    if kind == "bytes":
        return codes(pick, "u1", rows, columns * bits // 8)
    four = pick.integers(0, 16, (rows, columns)).astype(np.uint8)
    functions_by_name = {
        "uint4": lambda: four.astype(ml_dtypes.uint4), "int4": lambda: (four.astype("i1") - 8).astype(ml_dtypes.int4),
        "float4": lambda: four.view(ml_dtypes.float4_e2m1fn),
        "float8": lambda: (codes(pick, "u1", rows, columns) & 0x77).view(ml_dtypes.float8_e4m3fn),
    }  # fmt: skip
    return functions_by_name[kind]()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "axes"),
    [("bytes", (0, 1)), *((k, a) for k in ("uint4", "int4", "float4", "float8") for a in ((0, 1), (1, 0), (0, 0)))],
)
def test_rows_of_block_wise_quantized_tables(tmp_path, kind, axes) -> None:
    for case in range(12):
        pick = np.random.default_rng(case)
        rows, columns, block = int(pick.integers(1, 40)), int(pick.integers(1, 5)) * 8, int(pick.choice([16, 32]))
        bits = int(pick.choice([2, 4, 8])) if kind == "bytes" else 4
        data = table(pick, kind, rows, columns, bits)
        sizes = [rows, columns]
        sizes[axes[1]] = -(-sizes[axes[1]] // block)
        scales = (pick.random(sizes) + 0.1).astype(["f4", "f2"][case % 2])
        zeros = None
        if case % 3 and "float" not in kind:
            packed = codes(pick, "u1", rows, -(-sizes[1] * bits // 8))
            zeros = packed if kind == "bytes" else table(pick, kind, sizes[0], sizes[1], 4)
        indices = pick.integers(-rows - 2, rows + 2, (2, 3)).astype(["i4", "i8"][case % 2])
        ours, theirs = run_both(
            tmp_path, "GatherBlockQuantized", [data, indices, scales, zeros],
            gather_axis=axes[0], quantize_axis=axes[1], block_size=block, bits=bits,
        )  # fmt: skip
        assert np.array_equal(ours[0], theirs[0]), case


@pytest.mark.parametrize("kind", [0, 1])
def test_weights_of_codes(tmp_path, kind) -> None:
    for case in range(10):
        pick = np.random.default_rng(case)
        rows, columns = int(pick.integers(1, 9)) * 4, int(pick.integers(1, 9))
        x, peaks = pick.standard_normal((2, 3, rows)).astype("f4"), pick.random(-(-rows * columns // 16)).astype("f4")
        weights = codes(pick, "u1", -(-rows * columns // 2))
        options = {"K": rows, "N": columns, "block_size": 16, "quant_type": kind}
        ours, theirs = run_both(tmp_path, "MatMulBnb4", [x, weights, peaks], **options)
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("kind", ["u1", "i1"])
def test_quantized_where_matches_the_runtime(tmp_path, kind) -> None:
    for case in range(15):
        pick = np.random.default_rng(case)
        halves = 2.0 ** pick.integers(-3, 1, 3) if case % 3 == 0 else pick.uniform(0.01, 1, 3)
        scales = [np.array(each, np.float32) for each in halves]
        points = [codes(pick, kind, 1).reshape(()) for _ in range(3)]
        a, b = codes(pick, kind, 4, 5), codes(pick, kind, 3, 4, 1)
        listed = [pick.random((3, 1, 5)) < 0.5, a, scales[0], points[0], b, scales[1], points[1], scales[2], points[2]]
        ours, theirs = run_both(tmp_path, "QLinearWhere", listed)
        assert np.array_equal(ours[0], theirs[0]), case


@pytest.mark.parametrize("segments", [False, True])
def test_quantized_embeddings(tmp_path, segments) -> None:
    for case in range(8):
        pick = np.random.default_rng(case)
        kind = ["u1", "i1"][case % 2]
        tables = [codes(pick, kind, *shape) for shape in ((9, 8), (6, 8), (2, 8), (8,), (8,))]
        scales = [np.array(each, np.float32) for each in pick.uniform(0.01, 0.1, 5)]
        points = [codes(pick, kind, 1).reshape(()) for _ in range(5)]
        words, kinds, mask = (pick.integers(0, n, (2, 5)).astype(np.int32) for n in (9, 2, 2))
        parts = [tables, scales, points]
        if not segments:
            for each in parts:
                each[2] = None
        listed = [words, kinds if segments else None, *tables, mask, *scales, *points]
        ours, theirs = run_both(tmp_path, "QEmbedLayerNormalization", listed, 2)
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-5, atol=1e-5)
        assert np.array_equal(ours[1], theirs[1])


@pytest.mark.parametrize("kind", ["u2", "i2", "u1"])
def test_16_bit_values(tmp_path, kind) -> None:
    pick = np.random.default_rng(3)
    x, scale = (pick.standard_normal((3, 40)) * 9).astype("f4"), pick.uniform(0.0005, 0.1, 3).astype("f4")
    points = pick.integers(np.iinfo(kind).min, np.iinfo(kind).max, 3, endpoint=True).astype(kind)
    ours, theirs = run_both(tmp_path, "QuantizeLinear", [x, scale, points], axis=0)
    assert np.array_equal(ours[0], theirs[0])
    restored, other = run_both(tmp_path, "DequantizeLinear", [ours[0], scale, points], axis=0)
    assert np.array_equal(restored[0], other[0])


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_distances(tmp_path, metric) -> None:
    pick = np.random.default_rng(5)
    for kind in ("f4", "f8"):
        a, b = (pick.standard_normal((rows, 5)).astype(kind) for rows in (7, 4))
        ours, theirs = run_both(tmp_path, "CDist", [a, b], metric=metric)
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-5 if kind == "f4" else 1e-12)
