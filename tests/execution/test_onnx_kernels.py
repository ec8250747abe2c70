"""What the kernels that ONNX brought refuse, and what its node tests do not ask: nan, nothing, windows at the edge."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels import find_kernel

ROW = np.arange(3, dtype=np.float32)
MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)
NAN = np.array([1, np.nan, 3], np.float32)


@pytest.mark.parametrize(
    ("name", "arrays", "arguments", "message"),
    [
        ("slices_at", [MATRIX, np.array([3])], {"axis": 1}, "index 3 is no place among 3"),
        ("elements_at", [MATRIX, np.array([0])], {"axis": 0}, "do not fit"),
        ("tuples_at", [MATRIX, np.zeros((1, 3), np.int64)], {}, "tuples of 3 numbers"),
        ("scatter_elements", [ROW, np.array([0]), ROW], {"axis": 0}, "updates"),
        ("scatter_tuples", [ROW, np.array([[4]]), ROW[:1]], {}, "no place among 3"),
        ("slice_between", [ROW, [0], [1, 2]], {}, "expected 1 ends"),
        ("slice_between", [ROW, [0], [2], [0], [0]], {}, "steps other than 0"),
        ("tile_by", [ROW, np.array([-1])], {}, "below 0"),
        ("split_along", [ROW, [1, 1]], {"axis": 0, "parts": 2}, "make up 3"),
        ("reshape", [ROW, np.array([2, -1])], {}, "no shape"),
        ("transpose", [MATRIX], {"order": [0, 0]}, "each of 2 dimensions once"),
        ("insert_dimensions", [ROW, np.array([0, 0])], {}, "each axis once"),
        ("expand", [ROW, np.array([2])], {}, "cannot be broadcast"),
        ("matrix_product", [MATRIX, MATRIX], {}, "have none"),
        ("scaled_matrix_product", [MATRIX, MATRIX.T, ROW], {}, "does not broadcast"),
        ("reduce_dimensions", [ROW, [1]], {"function": "SUM", "keep": True}, "axis 1 is not a position"),
        ("softmax_along", [ROW], {"axis": 1, "to_end": True}, "axis 1 is not a position"),
        ("hold_between", [ROW, np.zeros(1, np.float32)], {}, "without dimensions"),
        ("pad_ends", [ROW, [-2, -2]], {"mode": "constant"}, "no more than there is"),
        ("quantize_by_axis", [MATRIX, ROW[:2]], {"axis": 1}, "scales along an axis"),
        ("average_windows", [MATRIX[np.newaxis]], {"window": [5]}, "does not fit into 3 places"),
    ],
)
def test_what_is_refused(name, arrays, arguments, message):
    with pytest.raises(InputError, match=message):
        find_kernel(name)(*arrays, **arguments)


def test_nan_stays():
    largest, places = find_kernel("largest_of_windows")(NAN.reshape(1, 1, 3), window=[2], pads=[0, 1])
    assert np.isnan(largest[0, 0, :2]).all()
    assert places.tolist() == [[[1, 1, 2]]]
    assert np.isnan(find_kernel("relu")(NAN, keep_nan=True)).tolist() == [False, True, False]
    assert np.isnan(find_kernel("maximum_of_all")([NAN, ROW])).tolist() == [False, True, False]
    assert np.isnan(find_kernel("reduce_dimensions")(NAN, function="MAX", keep=False))
    assert np.isnan(find_kernel("softmax_along")(NAN, axis=0)).all()


def test_a_window_less_than_a_stride_too_large_has_no_place():
    rows = np.ones((1, 2, 4), np.float32)
    for name, more in (("average_windows", {}), ("largest_of_windows", {}), ("norm_of_windows", {"p": 2})):
        made = find_kernel(name)(rows, window=[5], strides=[2], **more)
        assert (made[0] if isinstance(made, tuple) else made).shape == (1, 2, 0)
    assert find_kernel("convolve")(rows, np.ones((3, 2, 5), np.float32), strides=[2]).shape == (1, 3, 0)


def test_of_nothing():
    none = np.zeros((2, 0), np.float32)
    made = {
        f: find_kernel("reduce_dimensions")(none, [1], function=f, keep=False).tolist() for f in ("SUM", "MULTIPLY")
    }
    assert made == {"SUM": [0, 0], "MULTIPLY": [1, 1]}
    assert find_kernel("reduce_dimensions")(none, [1], function="MAX", keep=False).tolist() == [-np.inf, -np.inf]
    assert find_kernel("tile_by")(MATRIX, np.array([0, 2])).shape == (0, 6)
    values, places = find_kernel("top_elements")(ROW, 0, axis=0)
    assert (values.shape, places.shape) == ((0,), (0,))


def test_windows_begin_in_the_input_or_before_it():
    found = find_kernel("average_windows")(ROW.reshape(1, 1, 3), window=[2], strides=[2], pads=[0, 2], ceil=True)
    assert found.tolist() == [[[0.5, 2]]]
