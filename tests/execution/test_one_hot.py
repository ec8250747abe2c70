"""One-hot in every dialect, type and rank, with indices of undefined effect."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specgate
from specgate.descriptors.core import Descriptor, tensor
from specgate.errors import InputError
from specgate.execution.engine import execute_at

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ONE-HOT IS NOT TESTED: pip install ml-dtypes")
DIRECTML = {
    "FLOAT64": "f8", "FLOAT32": "f4", "FLOAT16": "f2", "INT64": "i8", "INT32": "i4", "INT16": "i2", "INT8": "i1",
    "UINT64": "u8", "UINT32": "u4", "UINT16": "u2", "UINT8": "u1",
}  # fmt: skip


def by_hand(indices, sizes, axis, off, on, negative="from_end"):
    """Return the result of nested loops: coordinates to values, None if undefined.

    indices: a function from coordinates (without the axis) to an index.
    """
    answer: dict[tuple[int, ...], object] = {}
    for at in product(*map(range, sizes)):
        index = indices(at[:axis] + at[axis + 1 :])
        if index < 0 and negative == "undefined":
            answer[at] = None
            continue
        if index < 0 and negative == "from_end":
            index += sizes[axis]
        answer[at] = on if index == at[axis] else off
    return answer


def check(result, answer):
    assert result.size == len(answer)
    for at, expected in answer.items():
        if expected is None:
            assert np.ma.getmaskarray(result)[at], at
        else:
            assert not np.ma.getmaskarray(result)[at], at
            assert result[at] == expected, at


def directml(indices, values, sizes, axis, *, index_type="INT32", value_type="FLOAT32", level="6.4"):
    kept = [1 if d == axis else size for d, size in enumerate(sizes)]
    fields = {
        "IndicesTensor": tensor(index_type, kept),
        "ValuesTensor": tensor(value_type, np.shape(values)),
        "OutputTensor": tensor(value_type, sizes),
        "Axis": axis,
    }
    arrays = {"IndicesTensor": np.reshape(indices, kept), "ValuesTensor": values}
    return execute_at(Descriptor("directml", "ONE_HOT", fields), arrays, level)["OutputTensor"]


def onnx(indices, depth, values, opset="17", types=("INT64", "INT64", "FLOAT"), **attributes):
    arrays = {"indices": np.asarray(indices), "depth": np.asarray(depth), "values": np.asarray(values)}
    fields = {n: tensor(t, a.shape) for (n, a), t in zip(arrays.items(), types, strict=True)}
    return execute_at(Descriptor("onnx", "OneHot", {**fields, **attributes}, opset), arrays, opset)["output"]


def openvino(indices, depth, on, off, axis, opset, **attributes):
    fields = {
        "indices": tensor("i64", np.shape(indices)),
        "depth": tensor("i64", []),
        "on_value": tensor("f32", []),
        "off_value": tensor("f32", []),
        "axis": axis,
        **attributes,
    }
    arrays = {"indices": np.array(indices, "i8"), "depth": depth, "on_value": on, "off_value": off}
    return execute_at(Descriptor("openvino", "OneHot", fields, opset), arrays, opset)["output"]


@pytest.mark.parametrize("index_type", ["INT64", "INT32", "UINT64", "UINT32"])
@pytest.mark.parametrize("value_type", DIRECTML)
def test_every_directml_type(index_type, value_type):
    indices = np.array([0, 2, 5, 1], DIRECTML[index_type])
    values = np.array([3, 7, 9], DIRECTML[value_type])
    result = directml(indices, values, (4, 3), 1, index_type=index_type, value_type=value_type)
    assert result.dtype == values.dtype
    check(result, by_hand(lambda at: int(indices[at[0]]), (4, 3), 1, 3, 7))


@pytest.mark.parametrize(("rank", "axis"), [(r, a) for r in range(1, 9) for a in range(r)])
def test_every_rank_and_axis(rank, axis):
    sizes = tuple(2 + (d % 2) for d in range(rank))
    kept = tuple(1 if d == axis else size for d, size in enumerate(sizes))
    indices = np.random.default_rng(rank * 10 + axis).integers(-5, 6, kept, dtype=np.int32)

    def index(at):
        return int(indices[(*at[:axis], 0, *at[axis:])])

    result = directml(indices, np.array([[1], [4]], "f4"), sizes, axis)
    check(result, by_hand(index, sizes, axis, 1, 4))


def test_indices_before_3_0_are_unsigned():
    assert directml(np.array([-1], "i4"), np.array([0, 1], "f4"), (1, 3), 1, level="2.1").tolist() == [[0, 0, 0]]
    assert directml(np.array([-1], "i4"), np.array([0, 1], "f4"), (1, 3), 1, level="3.0").tolist() == [[0, 0, 1]]


def test_huge_unsigned_indices_are_out_of_range():
    huge = np.array([2**64 - 1, 2**64 - 3, 2**63, 1], np.uint64)
    result = directml(huge, np.array([0, 1], "f4"), (4, 3), 1, index_type="UINT64")
    assert result.tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0]]
    low = np.array([-(2**63), -3, -4], np.int64)
    assert directml(low, np.array([0, 1], "f4"), (3, 3), 1, index_type="INT64").tolist() == [
        [0, 0, 0],
        [1, 0, 0],
        [0, 0, 0],
    ]


@settings(deadline=None)
@given(st.data())
def test_onnx_agrees_with_loops(data):
    shape = data.draw(st.lists(st.integers(1, 3), max_size=3))
    depth = data.draw(st.integers(1, 4))
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    count = int(np.prod(shape, dtype=int))
    flat = data.draw(st.lists(st.integers(-depth - 1, depth + 1), min_size=count, max_size=count))
    indices = np.array(flat, np.int64).reshape(shape)
    position = axis if axis >= 0 else axis + len(shape) + 1
    sizes = (*shape[:position], depth, *shape[position:])
    result = onnx(indices, np.int64(depth), np.array([-1, 8], "f4"), axis=axis)
    check(result, by_hand(lambda at: int(indices[at]), sizes, position, -1, 8))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("STRING", np.array(["", "öffne"], object)),
        ("COMPLEX64", np.array([1 - 2j, 3j], "c8")),
        ("COMPLEX128", np.array([complex("inf"), 3j])),
        ("BOOL", np.array([True, False])),
        ("FLOAT16", np.array([-0.5, 65504], "f2")),
        ("DOUBLE", np.array([0.0, np.inf])),
        ("UINT64", np.array([0, 2**64 - 1], np.uint64)),
        ("INT8", np.array([-128, 127], "i1")),
    ],
)
def test_every_kind_of_onnx_value(name, values):
    result = onnx([1, 0], 2, values, types=("INT64", "INT64", name))
    assert result.dtype == values.dtype
    assert result.tolist() == [[values[0], values[1]], [values[1], values[0]]]


def test_bfloat16_values():
    values = np.array([-1.5, 2], ml_dtypes.bfloat16)
    result = onnx([1, 0], 2, values, opset="28", types=("INT64", "INT64", "BFLOAT16"))
    assert result.dtype == ml_dtypes.bfloat16
    assert result.astype(np.float32).tolist() == [[-1.5, 2], [2, -1.5]]


def test_strings_as_numpy_strings():
    result = onnx([1], 2, np.array(["no", "yes"], object), types=("INT64", "INT64", "STRING"))
    assert result.tolist() == [["no", "yes"]]
    assert onnx([1], 2, np.array(["no", "yes"]), types=("INT64", "INT64", "STRING")).dtype == object


@pytest.mark.parametrize(("name", "dtype"), [("FLOAT16", "f2"), ("FLOAT", "f4"), ("DOUBLE", "f8")])
def test_float_indices_and_depth_are_truncated(name, dtype):
    indices = np.array([1.9, -1.9, -0.9, 2.5, -3.0, 3.0], dtype)
    result = onnx(indices, np.array(3.7, dtype), np.array([0, 1], "f4"), types=(name, name, "FLOAT"))
    rows = [1, 2, 0, 2, 0, None]
    assert result.tolist() == [[float(column == row) for column in range(3)] for row in rows]
    assert type(result) is np.ndarray


@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf, 1e30, -1e30, 2.0**63])
def test_indices_without_an_integer_value_are_masked(wild):
    result = onnx(np.array([1.0, wild]), 3, np.array([0, 1], "f4"), types=("DOUBLE", "INT64", "FLOAT"))
    assert np.ma.getmaskarray(result).tolist() == [[False] * 3, [True] * 3]
    assert result[0].tolist() == [0, 1, 0]


def test_the_largest_float_below_2_to_the_63_is_out_of_range_only():
    result = onnx(
        np.array([np.nextafter(2.0**63, 0), -(2.0**62)]), 2, np.array([0, 1], "f4"), types=("DOUBLE", "INT64", "FLOAT")
    )
    assert result.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("depth", [np.nan, np.inf, -1.0, 1e30])
def test_impossible_depths_are_rejected(depth):
    with pytest.raises(InputError, match="depth"):
        onnx([0], np.array(depth), np.array([0, 1], "f4"), types=("INT64", "DOUBLE", "FLOAT"))


def test_onnx_9_ignores_negative_indices_and_11_counts_from_the_end():
    assert onnx([-1], 2, np.array([0, 1], "f4"), opset="9").tolist() == [[0, 0]]
    assert onnx([-1], 2, np.array([0, 1], "f4"), opset="11").tolist() == [[0, 1]]


def test_openvino_1_leaves_negative_indices_undefined():
    result = openvino([[0, -1], [2, 5]], 3, 7, 4, 1, "opset1")
    loops = by_hand(lambda at: [[0, -1], [2, 5]][at[0]][at[1]], (2, 3, 2), 1, 4, 7, "undefined")
    check(result, loops)
    assert type(openvino([[0, 1]], 3, 7, 4, 1, "opset1")) is np.ndarray


@pytest.mark.parametrize(
    ("mode", "negative"), [("normalize", "from_end"), ("ignore-negative", "ignored"), (None, "ignored")]
)
def test_openvino_16_modes(mode, negative):
    indices = [[0, -1], [-3, -4]]
    extra = {} if mode is None else {"negative_indices_mode": mode}
    result = openvino(indices, 3, 7, 4, -1, "opset16", **extra)
    check(result, by_hand(lambda at: indices[at[0]][at[1]], (2, 2, 3), 2, 4, 7, negative))


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_in_any_memory_order(order):
    indices = np.array([[0, 1, 2], [2, 1, 0]], np.int64, order=order)[::-1, ::-1]
    result = onnx(indices, 3, np.array([0, 1], "f4")[::1])
    check(result, by_hand(lambda at: int(indices[at]), (2, 3, 3), 2, 0, 1))


def test_empty_indices_and_depth_zero():
    assert onnx(np.zeros((0, 2), np.int64), 3, np.array([0, 1], "f4")).shape == (0, 2, 3)
    assert onnx([1], 0, np.array([0, 1], "f4")).shape == (1, 0)


@pytest.mark.parametrize("depth", [10**9, 10**12, 2**62])
def test_absurd_outputs_are_rejected_without_allocating(depth):
    indices = np.zeros(2, np.int64)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="more than the limit"):
            onnx(indices, np.int64(depth), np.array([0, 1], "f8"), types=("INT64", "INT64", "DOUBLE"))
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_absurd_directml_outputs_are_rejected_without_allocating():
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="more than the limit"):
            directml(np.array([0], "i4"), np.array([0, 1], "f8"), (1, 2**32 - 1), 1, value_type="FLOAT64")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({}, "no array for the input indices"),
        (
            {"indices": np.array([0], "i4"), "values": np.array([0, 1], "f4")},
            "expected elements of type int64, found int32",
        ),
        (
            {"indices": np.array([[0]], "i8"), "values": np.array([0, 1], "f4")},
            r"expected the shape \[1\], found \[1, 1\]",
        ),
        ({"indices": [0.5], "values": [0, 1]}, "expected integers"),
        ({"indices": [2**63], "values": [0, 1]}, "expected integers"),
        ({"indices": [0], "values": [0, 1], "more": 1}, "'more' is not an input"),
    ],
)
def test_unusable_arrays(arrays, complaint):
    node = {
        "op_type": "OneHot",
        "inputs": [
            {"elem_type": "INT64", "shape": [1]},
            {"elem_type": "INT64", "shape": [], "value": 2},
            {"elem_type": "FLOAT", "shape": [2]},
        ],
    }
    with pytest.raises(InputError, match=complaint):
        specgate.execute(node, arrays)


def test_a_declared_output_that_differs_is_rejected():
    good = {"indices": [0], "depth": 2, "values": [0, 1]}
    node = {
        "op_type": "OneHot",
        "inputs": [{"elem_type": t, "shape": s} for t, s in (("INT64", [1]), ("INT64", []), ("FLOAT", [2]))],
    }
    assert specgate.execute(node, good)["output"].tolist() == [[1, 0]]
    with pytest.raises(InputError, match=r"output.*\[1, 2\].*\[1, 3\]"):
        specgate.execute({**node, "outputs": [{"elem_type": "FLOAT", "shape": [1, 3]}]}, good)
    with pytest.raises(InputError, match=r"output.*float32.*INT64"):
        specgate.execute({**node, "outputs": [{"elem_type": "INT64", "shape": [1, 2]}]}, good)


def test_operator_missing_at_the_level():
    node = {"op_type": "OneHot", "inputs": [], "opset": 8}
    with pytest.raises(InputError, match="does not exist at opset 8"):
        specgate.execute(node, {}, "onnx:17")


@pytest.mark.parametrize("axis", [-1, 0])
def test_strings_keep_trailing_nul_characters(axis):
    node = {
        "op_type": "OneHot",
        "inputs": [{"elem_type": t, "shape": s} for t, s in (("INT64", [1]), ("INT64", []), ("STRING", [2]))],
        "attributes": {"axis": axis},
    }
    output = specgate.execute(node, {"indices": [1], "depth": 2, "values": ["\x00", "on\x00\x00"]}, "onnx:17")["output"]
    assert output.ravel().tolist() == ["\x00", "on\x00\x00"]
