"""What is kept of an execution: the next one of the same descriptor gives what the first gave, and refuses the same."""

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


def test_a_second_execution_gives_the_same_without_reading_the_descriptor_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = _softmax()
    first = specgate.execute(made, {"input": DATA})
    monkeypatch.setattr("specgate.execution.engine.hold_executable", None)
    monkeypatch.setattr("specgate.execution.engine.kernel_arguments", None)
    np.testing.assert_array_equal(specgate.execute(made, {"input": DATA})["output"], first["output"])


def test_a_field_that_is_written_anew_counts() -> None:
    made = _softmax(0)
    specgate.execute(made, {"input": DATA})
    made.fields["axis"] = 1  # type: ignore[index]
    found = specgate.execute(made, {"input": DATA})["output"]
    np.testing.assert_array_equal(found, specgate.execute(_softmax(1), {"input": DATA})["output"])


def test_a_list_that_is_written_into_counts() -> None:
    made = specgate.descriptor({
        "op_type": "Transpose", "inputs": [{"elem_type": "FLOAT", "shape": [2, 3]}], "outputs": [{}],
        "attributes": {"perm": [0, 1]},
    })  # fmt: skip
    assert specgate.execute(made, {"data": DATA})["transposed"].shape == (2, 3)
    made.fields["perm"][:] = [1, 0]
    assert specgate.execute(made, {"data": DATA})["transposed"].shape == (3, 2)


@pytest.mark.parametrize("array", [DATA.T, DATA.astype(np.float64), DATA[:1]])
def test_arrays_are_held_against_the_declaration_each_time(array: NDArray[Any]) -> None:
    made = _softmax()
    specgate.execute(made, {"input": DATA})
    with pytest.raises(specgate.InputError):
        specgate.execute(made, {"input": array})


def test_guards_that_read_elements_are_asked_each_time() -> None:
    made = specgate.descriptor({
        "op_type": "Gather",
        "inputs": [{"elem_type": "FLOAT", "shape": [2, 3]}, {"elem_type": "INT64", "shape": [1]}],
        "outputs": [{}],
    })  # fmt: skip
    specgate.execute(made, {"data": DATA, "indices": np.array([1])})
    with pytest.raises(specgate.InputError):
        specgate.execute(made, {"data": DATA, "indices": np.array([2])})


def test_the_budget_is_held_each_time() -> None:
    made = _softmax()
    specgate.execute(made, {"input": DATA})
    with pytest.raises(specgate.InputError, match="max_bytes"):
        specgate.execute(made, {"input": DATA}, max_bytes=10)


def test_outputs_are_held_against_the_declaration_each_time() -> None:
    made = _softmax()
    specgate.execute(made, {"input": DATA})
    made.fields["output"] = made.fields["output"]._replace(sizes=(3, 2))  # type: ignore[index]
    for _ in range(2):
        with pytest.raises(specgate.InputError, match="declared"):
            specgate.execute(made, {"input": DATA})


def test_an_input_too_many_or_too_few_is_refused_each_time() -> None:
    made = _softmax()
    specgate.execute(made, {"input": DATA})
    for arrays in ({}, {"input": DATA, "other": DATA}, {"other": DATA}):
        with pytest.raises(specgate.InputError):
            specgate.execute(made, arrays)


def test_nothing_is_kept_of_tables_that_no_longer_count() -> None:
    made = _softmax()
    first = specgate.execute(made, {"input": DATA})
    key = id(made)
    assert key in plan._settled
    usual = dialect("onnx")
    with in_use(Dialect("onnx", compiled_tables("onnx", ()))):
        assert key not in plan._settled
        np.testing.assert_array_equal(specgate.execute(made, {"input": DATA})["output"], first["output"])
        assert plan._settled[key][1].spec is not usual.operator("Softmax")
    assert key not in plan._settled


def test_what_numpy_does_about_a_division_by_zero_stays_as_it_was() -> None:
    made = specgate.descriptor({
        "op_type": "Div", "inputs": [{"elem_type": "FLOAT", "shape": [1]}] * 2, "outputs": [{}],
    })  # fmt: skip
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    with np.errstate(all="raise"):
        for _ in range(2):
            assert specgate.execute(made, {"A": one, "B": zero})["C"] == np.inf
            with pytest.raises(FloatingPointError):
                np.divide(one, zero)


@pytest.mark.slow
def test_nothing_is_kept_longer_than_the_descriptor() -> None:
    made = _softmax()
    specgate.execute(made, {"input": DATA})
    key = id(made)
    assert key in plan._settled
    del made
    gc.collect()
    assert key not in plan._settled
