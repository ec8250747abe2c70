"""Binary convolution, by counting equal bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate import execute
from specgate.descriptors.read import read_dict
from specgate.errors import InputError
from specgate.execution.kernels.conv import binary_convolution

PLAIN: dict[str, Any] = {"strides": [1, 1], "dilations": [1, 1], "begins": [0, 0], "ends": [0, 0]}
RANDOM = np.random.default_rng(7)


@pytest.mark.parametrize("around", [0.0, 1.0])
def test_equal_bits_are_counted(around: float) -> None:
    data, filters = RANDOM.integers(0, 2, (2, 3, 5, 6)), RANDOM.integers(0, 2, (4, 3, 2, 3)).astype(np.bool_)
    options: dict[str, Any] = {
        "strides": [2, 1],
        "dilations": [1, 2],
        "begins": [1, 0],
        "ends": [0, 2],
        "around": around,
    }
    result = binary_convolution(data, filters, **options)
    padded = np.pad(data, ((0, 0), (0, 0), (1, 0), (0, 2)), constant_values=int(around))
    assert result.shape == (2, 4, 3, 4)
    for b, o, i, j in np.ndindex(result.shape):
        patch = padded[b, :, 2 * i : 2 * i + 2, j : j + 5 : 2]
        agreeing = int((patch == filters[o]).sum())
        assert result[b, o, i, j] == 2 * agreeing - patch.size


def test_unspecified_elements_are_masked() -> None:
    data, filters = np.array([[[[0, 1, 0.5, 1, 1]]]], np.float16), np.ones((1, 1, 1, 2), np.bool_)
    array = binary_convolution(data, filters, **{**PLAIN, "ends": [0, 1]}, around=-1)
    assert np.ma.getmaskarray(array).tolist() == [[[[False, True, True, False, True]]]]
    assert array[0, 0, 0, [0, 3]].tolist() == [0, 2]
    assert not np.ma.is_masked(binary_convolution(data[..., :2], filters, **PLAIN, around=np.nan))


def test_unrepresentable_results_are_masked() -> None:
    data, filters = np.array([[[[0, 1]]]], np.uint8), np.ones((1, 1, 1, 1), np.bool_)
    array = binary_convolution(data, filters, **PLAIN)
    assert np.ma.getmaskarray(array).tolist() == [[[[True, False]]]]
    assert binary_convolution(data.astype(np.int8), filters, **PLAIN).tolist() == [[[[-1, 1]]]]


def test_mismatched_arrays_are_rejected() -> None:
    data, filters = np.zeros((1, 2, 3, 3), np.float32), np.ones((1, 1, 2, 2), np.bool_)
    with pytest.raises(InputError):
        binary_convolution(data, filters, **PLAIN)
    with pytest.raises(InputError, match="4-D data and filters"):
        binary_convolution(data, np.ones((1, 2, 2, 2), np.float32), **PLAIN)
    with pytest.raises(InputError):
        binary_convolution(data, np.ones((1, 2, 6, 6), np.bool_), **PLAIN)


def test_filters_accept_one_bit_integers() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="INTEGERS OF ONE BIT ARE NOT TESTED: pip install ml-dtypes")
    inputs = [{"element_type": "f32", "shape": [1, 1, 1, 2]}, {"element_type": "u1", "shape": [1, 1, 1, 1]}]
    stated = {**PLAIN, "pads_begin": [0, 0], "pads_end": [0, 0], "mode": "xnor-popcount", "pad_value": 0}
    attributes = {name: value for name, value in stated.items() if name not in {"begins", "ends"}}
    descriptor = read_dict({"type": "BinaryConvolution", "inputs": inputs, "data": attributes}, "openvino")
    data = np.array([[[[0, 1]]]], np.float32)
    for kind in (ml_dtypes.uint1, np.uint8):
        arrays = {"data": data, "filters": np.zeros((1, 1, 1, 1), kind)}
        assert execute(descriptor, arrays, target="openvino:opset16")["output"].tolist() == [[[[1, -1]]]]
    with pytest.raises(InputError, match="integers from 0 to 1"):
        execute(descriptor, {"data": data, "filters": np.full((1, 1, 1, 1), 2, np.uint8)}, target="openvino:opset16")
