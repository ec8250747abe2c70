"""Numpy scalars and arrays are accepted for numbers and lists of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import specgate
from specgate import make
from specgate.descriptors.core import tensor
from specgate.descriptors.python_values import python_values
from specgate.execution.memory import budget_of

if TYPE_CHECKING:
    from collections.abc import Callable

#: Conversions from a Python number to a numpy one, including 0-D arrays.
SCALARS: list[Callable[[int], Any]] = [np.int64, np.int32, np.int16, np.array]


def softmax(axis: Any, sizes: Any) -> dict[str, Any]:
    types = [{"elem_type": "FLOAT", "shape": sizes}]
    return {"op_type": "Softmax", "inputs": types, "outputs": types, "attributes": {"axis": axis}}


@pytest.mark.parametrize("number", SCALARS)
def test_numpy_scalars_equal_python_numbers(number: Callable[[int], Any], openvino_one_hot) -> None:
    same = specgate.descriptor(softmax(1, [2, 3]))
    assert specgate.descriptor(softmax(number(1), [number(2), 3])) == same
    assert specgate.descriptor(softmax(number(1), np.array([2, 3]))) == same
    assert specgate.check(softmax(number(1), [number(2), 3]), "onnx:17").accepted
    assert specgate.check(softmax(number(7), [number(2), 3]), "onnx:17").accepted is False
    expected = specgate.descriptor(openvino_one_hot)
    openvino_one_hot["data"]["axis"] = number(int(openvino_one_hot["data"]["axis"]))
    openvino_one_hot["inputs"][0]["shape"] = np.array(openvino_one_hot["inputs"][0]["shape"])
    assert specgate.descriptor(openvino_one_hot) == expected


@pytest.mark.parametrize("number", SCALARS)
def test_directml(one_hot, number: Callable[[int], Any]) -> None:
    expected = specgate.descriptor(one_hot)
    one_hot["desc"]["Axis"] = number(one_hot["desc"]["Axis"])
    for name in ("IndicesTensor", "ValuesTensor", "OutputTensor"):
        one_hot["desc"][name]["Sizes"] = np.array(one_hot["desc"][name]["Sizes"])
    assert specgate.descriptor(one_hot) == expected
    assert specgate.check(one_hot, "directml:4.1").accepted


def test_wrong_numpy_scalar_kinds_are_rejected() -> None:
    for wrong, plain in ((np.float32(1), 1.0), (np.True_, True)):
        verdict, expected = (specgate.check(softmax(axis, [2, 3]), "onnx:17") for axis in (wrong, plain))
        assert [each.message for each in verdict.findings] == [each.message for each in expected.findings]
        assert not verdict.accepted


def test_constants_and_lists() -> None:
    shape = {"elem_type": "INT64", "shape": [1], "value": np.array([6])}
    data = {"elem_type": "FLOAT", "shape": [2, 3]}
    reshape = {"op_type": "Reshape", "inputs": [data, shape], "outputs": [{"elem_type": "FLOAT", "shape": [6]}]}
    assert specgate.check(reshape, "onnx:17").accepted
    outputs = [{"elem_type": "FLOAT", "shape": [3, 2]}]
    for perm in (np.array([1, 0]), [np.int64(1), 0], (np.int32(1), np.int32(0))):
        transpose = {"op_type": "Transpose", "inputs": [data], "outputs": outputs, "attributes": {"perm": perm}}
        assert specgate.check(transpose, "onnx:17").accepted


def test_construction_and_execution_with_numpy_values() -> None:
    same = make.onnx.Softmax(input=tensor("FLOAT", [2, 3]), axis=1)
    for sizes in ([np.int64(2), 3], np.array([2, 3])):
        for input_tensor in (tensor("FLOAT", sizes), specgate.TensorDesc("FLOAT", sizes)):  # type: ignore[arg-type]
            assert make.onnx.Softmax(input=input_tensor, axis=np.int64(1)) == same  # type: ignore[arg-type]
    built = specgate.Descriptor("onnx", "Softmax", {"input": tensor("FLOAT", [2, 3]), "axis": np.int64(1)})
    assert type(built.fields["axis"]) is int
    outputs = specgate.execute(
        softmax(np.int64(1), np.array([2, 3])), {"input": np.zeros((2, 3), np.float32)},
        max_bytes=np.int64(10**6), max_seconds=np.float32(60),  # type: ignore[arg-type]
    )  # fmt: skip
    assert np.allclose(outputs["output"], 1 / 3)


def test_budgets_and_pins(one_hot) -> None:
    assert budget_of(np.int64(5), np.float64(2))[:2] == budget_of(5, 2)[:2]  # type: ignore[arg-type]
    for wrong in (np.int64(-1), np.array([1, 2]), np.True_):
        with pytest.raises(specgate.InputError, match="expected max_bytes"):
            budget_of(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("pins", [{"N": "x"}, {"N": -1}, {"N": 1.5}, {"N": True}, {3: 4}, [1], 5, {"N": 2**63}])
def test_invalid_pins_are_rejected(pins: Any, onnx_file) -> None:
    for questions in (
        lambda: specgate.lint(onnx_file, "onnx:17", pins=pins),
        lambda: specgate.minimum(onnx_file, pins=pins),
        lambda: specgate.minimum(onnx_file, "directml", pins=pins),
        lambda: specgate.place(onnx_file, "onnxruntime:1.24.4", pins=pins),
    ):
        with pytest.raises(specgate.InputError, match=r"expected (a pin|pins)"):
            questions()


@pytest.fixture(name="onnx_file")
def _onnx_file() -> Any:
    from tests.paths import DATA

    return DATA / "models" / "embedding_torch.onnx"


@given(
    st.recursive(
        st.integers(-(2**40), 2**40) | st.text(max_size=3) | st.none() | st.booleans(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
        max_leaves=8,
    )
)
def test_values_without_arrays_are_the_same_object(value: Any) -> None:
    assert python_values(value) is value
    assert python_values([value, np.int8(3)]) == [value, 3]


def test_arrays_that_are_not_a_mapping() -> None:
    ones = np.ones((2, 3), np.float32)
    for arrays in ([ones], ones, None, "X", 3):
        with pytest.raises(specgate.InputError, match="expected a dict of arrays by input name"):
            specgate.execute(softmax(1, [2, 3]), arrays)  # type: ignore[arg-type]


def test_recursive_and_repeated_values_terminate() -> None:
    endless: list[Any] = []
    endless += [endless, endless, {"again": endless}]
    assert python_values(endless) is endless
    shared: Any = [np.int64(1)]
    for _ in range(60):
        shared = [shared, shared]
    result = python_values(shared)
    for _ in range(60):
        result = result[0]
    assert result == [1]
