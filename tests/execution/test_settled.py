"""Cached execution plans: a repeated descriptor gives the same results and errors."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import specgate
from specgate.execution import plan
from specgate.spec.dialect_spec import Dialect
from specgate.spec.store import compiled_tables
from specgate.spec.tables import dialect, in_use

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _softmax(axis: int = 0) -> specgate.Descriptor:
    shape = [2, 3]
    return specgate.descriptor({
        "op_type": "Softmax", "inputs": [{"elem_type": "FLOAT", "shape": shape}],
        "outputs": [{"elem_type": "FLOAT", "shape": shape}], "attributes": {"axis": axis},
    })  # fmt: skip


DATA = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_second_execution_reuses_the_execution_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    descriptor = _softmax()
    first = specgate.execute(descriptor, {"input": DATA})
    monkeypatch.setattr("specgate.execution.engine.require_executable", None)
    monkeypatch.setattr("specgate.execution.engine.kernel_arguments", None)
    np.testing.assert_array_equal(specgate.execute(descriptor, {"input": DATA})["output"], first["output"])


def test_changed_field_invalidates_the_execution_plan() -> None:
    descriptor = _softmax(0)
    specgate.execute(descriptor, {"input": DATA})
    descriptor.fields["axis"] = 1  # type: ignore[index]
    result = specgate.execute(descriptor, {"input": DATA})["output"]
    np.testing.assert_array_equal(result, specgate.execute(_softmax(1), {"input": DATA})["output"])


def test_changed_list_invalidates_the_execution_plan() -> None:
    descriptor = specgate.descriptor({
        "op_type": "Transpose", "inputs": [{"elem_type": "FLOAT", "shape": [2, 3]}], "outputs": [{}],
        "attributes": {"perm": [0, 1]},
    })  # fmt: skip
    assert specgate.execute(descriptor, {"data": DATA})["transposed"].shape == (2, 3)
    descriptor.fields["perm"][:] = [1, 0]
    assert specgate.execute(descriptor, {"data": DATA})["transposed"].shape == (3, 2)


@pytest.mark.parametrize("array", [DATA.T, DATA.astype(np.float64), DATA[:1]])
def test_inputs_are_checked_against_the_declaration_each_time(array: NDArray[Any]) -> None:
    result = _softmax()
    specgate.execute(result, {"input": DATA})
    with pytest.raises(specgate.InputError):
        specgate.execute(result, {"input": array})


def test_guards_on_elements_are_checked_each_time() -> None:
    descriptor = specgate.descriptor({
        "op_type": "Gather",
        "inputs": [{"elem_type": "FLOAT", "shape": [2, 3]}, {"elem_type": "INT64", "shape": [1]}],
        "outputs": [{}],
    })  # fmt: skip
    specgate.execute(descriptor, {"data": DATA, "indices": np.array([1])})
    with pytest.raises(specgate.InputError):
        specgate.execute(descriptor, {"data": DATA, "indices": np.array([2])})


def test_budget_is_checked_each_time() -> None:
    descriptor = _softmax()
    specgate.execute(descriptor, {"input": DATA})
    with pytest.raises(specgate.InputError, match="max_bytes"):
        specgate.execute(descriptor, {"input": DATA}, max_bytes=10)


def test_outputs_are_checked_against_the_declaration_each_time() -> None:
    descriptor = _softmax()
    specgate.execute(descriptor, {"input": DATA})
    descriptor.fields["output"] = descriptor.fields["output"]._replace(sizes=(3, 2))  # type: ignore[index]
    for _ in range(2):
        with pytest.raises(specgate.InputError, match="declared"):
            specgate.execute(descriptor, {"input": DATA})


def test_surplus_or_missing_input_is_rejected_each_time() -> None:
    descriptor = _softmax()
    specgate.execute(descriptor, {"input": DATA})
    for arrays in ({}, {"input": DATA, "other": DATA}, {"other": DATA}):
        with pytest.raises(specgate.InputError):
            specgate.execute(descriptor, arrays)


def test_execution_plans_of_replaced_tables_are_dropped() -> None:
    descriptor = _softmax()
    first = specgate.execute(descriptor, {"input": DATA})
    key = id(descriptor)
    assert key in plan._settled
    usual = dialect("onnx")
    with in_use(Dialect("onnx", compiled_tables("onnx", ()))):
        assert key not in plan._settled
        np.testing.assert_array_equal(specgate.execute(descriptor, {"input": DATA})["output"], first["output"])
        assert plan._settled[key][1].spec is not usual.operator("Softmax")
    assert key not in plan._settled


def test_numpy_error_state_is_preserved() -> None:
    descriptor = specgate.descriptor({
        "op_type": "Div", "inputs": [{"elem_type": "FLOAT", "shape": [1]}] * 2, "outputs": [{}],
    })  # fmt: skip
    array, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    with np.errstate(all="raise"):
        for _ in range(2):
            assert specgate.execute(descriptor, {"A": array, "B": zero})["C"] == np.inf
            with pytest.raises(FloatingPointError):
                np.divide(array, zero)


@pytest.mark.slow
def test_execution_plan_is_released_with_the_descriptor() -> None:
    result = _softmax()
    specgate.execute(result, {"input": DATA})
    key = id(result)
    assert key in plan._settled
    del result
    gc.collect()
    assert key not in plan._settled
