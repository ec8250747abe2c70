"""`accepts_many`: forms of columns, errors, and numbers above 64 bits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import specgate
from specgate.descriptors.core import Descriptor, tensor
from specgate.validate import many
from specgate.validate.check import accepts

TARGET = "directml:6.4"


def one_hot(**other: Any) -> dict[str, Any]:
    """Four rows: accepted, another output size, another type, an axis out of range."""
    columns = {
        "IndicesTensor.DataType": "UINT32",
        "IndicesTensor.Sizes": np.array([[1, 1, 3, 1]] * 4),
        "ValuesTensor.DataType": ["FLOAT32"] * 4,
        "ValuesTensor.Sizes": (1, 1, 1, 2),
        "OutputTensor.DataType": ["FLOAT32", "FLOAT32", "FLOAT16", "FLOAT32"],
        "OutputTensor.Sizes": [(1, 1, 3, 4), (1, 1, 2, 4), (1, 1, 3, 4), (1, 1, 3, 4)],
        "Axis": [3, 3, 3, 4],
    }
    return columns | {name.replace("__", "."): value for name, value in other.items()}


EXPECTED = [True, False, False, False]


def answers(columns: dict[str, Any], operator: str = "ONE_HOT", target: str = TARGET, **other: Any) -> list[bool]:
    array = specgate.accepts_many(operator, columns, target, **other)
    assert array.dtype == np.bool_
    result: list[bool] = array.tolist()
    return result


def test_each_row_has_an_answer() -> None:
    assert answers(one_hot()) == EXPECTED
    assert answers(one_hot(), "DML_OPERATOR_ONE_HOT") == EXPECTED
    assert answers(one_hot(), target="directml:1.0") == [False] * 4


@pytest.mark.parametrize(
    "types",
    [
        np.array(["FLOAT32", "FLOAT32", "FLOAT16", "FLOAT32"]),
        np.array(["DML_TENSOR_DATA_TYPE_FLOAT32"] * 2 + ["FLOAT16", "FLOAT32"]),
        np.array(["FLOAT32", "FLOAT32", "FLOAT16", "FLOAT32"], object),
        np.array([1, 1, 2, 1]),
        np.array([1, 1, 2, 1], np.uint8),
        [1, 1, 2, 1],
        SimpleNamespace(codes=np.array([1, 1, 0, 1], np.int8), categories=["FLOAT16", "FLOAT32"]),
        SimpleNamespace(cat=SimpleNamespace(codes=[1, 1, 0, 1], categories=["FLOAT16", "FLOAT32"])),
        np.array(["FLOAT32", "FLOAT32", "FLOATÄ", "FLOAT32"]),
        np.array([1, 1, 7000, 1]),
    ],
)
def test_words_in_every_form(types: Any) -> None:
    assert answers(one_hot(OutputTensor__DataType=types)) == EXPECTED


def test_scalars_are_a_single_row() -> None:
    columns = {
        "IndicesTensor.DataType": 3, "IndicesTensor.Sizes": [1, 3, 1], "ValuesTensor.DataType": "FLOAT32",
        "ValuesTensor.Sizes": [1, 1, 2], "OutputTensor": tensor("FLOAT32", [1, 3, 4]), "Axis": 2,
    }  # fmt: skip
    assert answers(columns) == [True]
    assert answers({**columns, "Axis": np.array([2, 1, 2])}) == [True, False, True]
    assert answers({**columns, "Axis": np.array([], int)}) == []


def test_rows_may_differ_in_rank_and_omitted_fields() -> None:
    columns = {
        "InputTensor.DataType": "FLOAT32",
        "InputTensor.Sizes": [(2, 3), (2, 3, 4), (2, 3), (2, 3)],
        "OutputTensor.DataType": "FLOAT32",
        "OutputTensor.Sizes": [(2, 3), (2, 3, 4), (2, 3, 1), (2, 3)],
        "OutputTensor.Strides": [None, (12, 4, 1), None, (3, 1, 1)],
        "ScaleBias.Scale": [None, 1.0, None, None],
        "ScaleBias.Bias": [None, 0.0, None, None],
    }
    assert answers(columns, "ELEMENT_WISE_IDENTITY") == [True, True, False, False]


def test_arrays_of_tensors() -> None:
    columns = {
        "InputTensors[0].DataType": "FLOAT32", "InputTensors[0].Sizes": np.array([[1, 2], [1, 2]]),
        "InputTensors[1].DataType": "FLOAT32", "InputTensors[1].Sizes": [(1, 3), None],
        "OutputTensor.DataType": "FLOAT32", "OutputTensor.Sizes": np.array([[1, 5], [1, 2]]), "Axis": 1,
        "InputCount": [2, 1],
    }  # fmt: skip
    assert answers(columns, "JOIN") == [True, True]
    assert answers({**columns, "InputCount": 2}, "JOIN") == [True, False]


def test_fused_operators() -> None:
    entries: dict[str, Any] = {
        f"{name}.{word}": value
        for name in ("ATensor", "BTensor", "OutputTensor")
        for word, value in (("DataType", "FLOAT32"), ("Sizes", np.full((3, 4), 1)))
    }
    entries |= {"TransA": "NONE", "TransB": 0, "Alpha": 1, "Beta": 0.0}
    relu, join = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {}}, Descriptor("directml", "JOIN", {})
    assert answers({**entries, "FusedActivation": relu}, "GEMM") == [True] * 3
    assert answers({**entries, "FusedActivation": [relu, None, join]}, "GEMM") == [True, True, False]


def test_other_dialects() -> None:
    columns: dict[str, Any] = {
        "X.elem_type": np.array([1, 7, 8]), "X.shape": np.array([[2, 3]] * 3),
        "Y.elem_type": np.array(["FLOAT", "INT64", "STRING"]), "Y.shape": np.array([[2, 3]] * 3),
    }  # fmt: skip
    assert answers(columns, "Relu", "onnx:17") == [True, True, False]
    assert answers(columns, "Relu", "onnx:13") == [True, False, False]


@pytest.mark.parametrize("size", [2**31, 2**32 - 1])
def test_products_beyond_64_bits_do_not_wrap(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four sizes of 2**31 make 2**124, which is 0 in 64 bits and would be accepted."""
    assert np.array([size], np.int64).repeat(4).prod() != size**4
    sizes = np.array([[2, 2, 2, 2], [size] * 4, [1, 1, 1, 2]])
    columns: dict[str, Any] = {f"{name}.Sizes": sizes for name in ("InputTensor", "OutputTensor")}
    columns |= {f"{name}.DataType": "UINT8" for name in ("InputTensor", "OutputTensor")}
    expected = [True, False, True]
    assert answers(columns, "ELEMENT_WISE_IDENTITY", basis="documented") == expected
    questions: list[Descriptor] = []

    def count_call(result: Descriptor, *others: Any) -> bool | None:
        questions.append(result)
        return accepts(result, *others)

    monkeypatch.setattr(many, "accepts", count_call)
    assert answers(columns, "ELEMENT_WISE_IDENTITY") == expected
    assert len(questions) == 0  # the excess is clear without the number


def test_numbers_beyond_63_bits() -> None:
    columns = {f"{name}.{word}": value for name in ("InputTensor", "OutputTensor")
               for word, value in (("DataType", "UINT8"), ("Sizes", [4]))}  # fmt: skip
    for sizes in (np.array([4, 2**64 - 1, 0], np.uint64), [4, 2**64 - 1, 0], [4, 2**64 - 1, 0, None]):
        entries = {**columns, "InputTensor.TotalTensorSizeInBytes": sizes}
        descriptors = [
            Descriptor("directml", "ELEMENT_WISE_IDENTITY", {
                "InputTensor": tensor(
                    "UINT8", [4], size_in_bytes=None if size is None else int(size)), "OutputTensor": tensor("UINT8", [4]),
            })
            for size in list(sizes)
        ]  # fmt: skip
        for basis in ("documented", "observed", "both"):
            expected = [accepts(descriptor, "6.4", basis) for descriptor in descriptors]
            assert answers(entries, "ELEMENT_WISE_IDENTITY", basis=basis) == expected
    assert answers(entries, "ELEMENT_WISE_IDENTITY") == [True, False, False, True]


def test_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "BLOCK", 3)
    assert answers(one_hot()) == EXPECTED
    axis = np.arange(10) % 5
    entries = {name: value for name, value in one_hot().items() if not isinstance(value, list | np.ndarray)}
    entries |= {"IndicesTensor.Sizes": [1, 1, 3, 1], "ValuesTensor.DataType": 1, "OutputTensor.DataType": 1}
    assert answers({**entries, "OutputTensor.Sizes": [1, 1, 3, 4], "Axis": axis}) == (axis == 3).tolist()


def test_the_device_affects_answers() -> None:
    columns = {f"{name}.{word}": value for name in ("InputTensor", "OutputTensor")
               for word, value in (("DataType", ["FLOAT64", "FLOAT32"]), ("Sizes", [4]))}  # fmt: skip
    for device in (None, "all", "none"):
        tables = [
            {"type": "ELEMENT_WISE_IDENTITY", "desc": {
                name: {"DataType": kind, "Sizes": [4]} for name in ("InputTensor", "OutputTensor")
            }}
            for kind in ("FLOAT64", "FLOAT32")
        ]  # fmt: skip
        expected = [bool(specgate.check(texts_by_name, "directml:5.0", device=device)) for texts_by_name in tables]
        assert answers(columns, "ELEMENT_WISE_IDENTITY", "directml:5.0", device=device) == expected
    assert expected == [False, True]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"Axs": [1] * 4}, "'Axs' is not a field of ONE_HOT; did you mean Axis?"),
        ({"Axis.Sizes": [1] * 4}, "'Axis.Sizes' is not a column of ONE_HOT; expected Axis"),
        (
            {"OutputTensor.Size": [1] * 4},
            "is not a column of ONE_HOT; expected OutputTensor.DataType, OutputTensor.Sizes",
        ),
        ({"OutputTensor[0].Sizes": [1] * 4}, "is not a column of ONE_HOT; expected OutputTensor.DataType"),
        ({"Axis": [1, 2]}, "Axis: expected 4 rows, as IndicesTensor.Sizes has, found 2"),
        ({"Axis": [1.5] * 4}, "Axis: expected whole numbers, found an array of float64"),
        ({"Axis": [True] * 4}, "Axis: expected whole numbers, found an array of bool"),
        ({"Axis": [1, -1, 1, 1]}, "Axis: expected whole numbers from 0 on, found -1, in row 1"),
        ({"Axis": np.ones((4, 2), int)}, "Axis: expected an array of 1 dimensions, found 2"),
        ({"OutputTensor.Sizes": [(1, 2), 3, None, (4,)]}, "expected a list of numbers in row 1, found 3"),
        ({"OutputTensor.DataType": np.ones(4)}, "OutputTensor.DataType: expected words, found an array of float64"),
        ({"OutputTensor.DataType": [None, 1.5, "x", "y"]}, "OutputTensor.DataType: expected words, found"),
        ({"OutputTensor": [1, 2, 3, 4]}, "expected the columns OutputTensor.DataType, OutputTensor.Sizes"),
        ({"ValuesTensor.DataType": None}, "expected the column ValuesTensor.DataType"),
        ({3: [1] * 4}, "3 is not a field of ONE_HOT"),
    ],
)
def test_invalid_columns_are_named(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(specgate.InputError) as caught:
        answers({**one_hot(), **columns})
    assert message in str(caught.value)


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(specgate.NoTable, match="ONE_HOT"):
        answers(one_hot(), "ONE_HOTT")
    with pytest.raises(specgate.InputError, match="expected the basis"):
        answers(one_hot(), basis="all")
    with pytest.raises(specgate.InputError, match="unknown target"):
        answers(one_hot(), target="directml:9.9")
    with pytest.raises(specgate.InputError, match="expected a device"):
        answers(one_hot(), device="fast")


def test_an_omitted_field_is_missing() -> None:
    columns = one_hot()
    del columns["Axis"]
    assert answers(columns) == [False] * 4
    assert answers({**columns, "Axis": [3, None, 3, 3]}) == [True, False, False, True]


RELU = {"X.elem_type": "FLOAT", "X.shape": [[2, 3]]}


def test_a_0d_array_applies_to_all_rows() -> None:
    for word in ("FLOAT", 1):
        assert specgate.accepts_many("Relu", RELU | {"X.elem_type": np.array(word)}, "onnx:17").tolist() == [True]
    columns = {"input.elem_type": "FLOAT", "input.shape": [[2, 3], [4, 5]]}
    assert specgate.accepts_many("Softmax", columns | {"axis": np.array(1)}, "onnx:17").all()
    assert not specgate.accepts_many("Softmax", columns | {"axis": np.array(9)}, "onnx:17").any()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (RELU | {"X.elem_type": ["FLOAT", ["FLOAT"]]}, "X.elem_type: expected words"),
        (RELU | {"X.elem_type": [["FLOAT"], ["FLOAT", "INT32"]]}, "X.elem_type: expected words"),
        (RELU | {"X.elem_type": np.array([[["FLOAT"]]])}, "X.elem_type: expected an array of 1 dimensions, found 3"),
        (RELU | {"X.shape": [[2, 3], [[4]]]}, "X.shape: expected an array of 2 dimensions, found 3"),
        (RELU | {"X.shape": np.array(2)}, "X.shape: expected an array of 2 dimensions, found 0"),
        ({"X": specgate.descriptor({"op_type": "Relu"})}, "X: expected the columns X.elem_type"),
        ([specgate.descriptor({"op_type": "Relu"})], "expected a dict of columns by field name.* a list of Descr"),
        (None, "expected a dict of columns by field name"),
        (RELU | {"X.elem_type": [np.array(["FLOAT", "INT32"])]}, "expected an array of 1 dimensions, found 2"),
    ],
)
def test_columns_of_another_form(columns: Any, message: str) -> None:
    with pytest.raises(specgate.InputError, match=message):
        specgate.accepts_many("Relu", columns, "onnx:17")


def test_arguments_of_wrong_types() -> None:
    operators: list[Any] = [None, ["Relu"], {}]
    for operator in operators:
        with pytest.raises(specgate.InputError, match="expected the name of an operator"):
            specgate.accepts_many(operator, RELU, "onnx:17")
    with pytest.raises(specgate.InputError, match="expected a device as text"):
        specgate.accepts_many("Relu", RELU, "onnx:17", device=3)  # type: ignore[arg-type]
    with pytest.raises(specgate.InputError, match="activations: expected a list of words in row 1, found 1"):
        specgate.accepts_many("LSTM", {"activations": [["Tanh"], 1]}, "onnx:17")
    shapes = RELU | {"X.shape": [np.array(2), np.array(3)]}
    assert specgate.accepts_many("Relu", shapes, "onnx:17").tolist() == [
        specgate.accepts_many("Relu", RELU, "onnx:17").item()
    ]
