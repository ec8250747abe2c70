"""Rejections before a kernel runs: types without a row, and guard rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.read import read_dict
from specgate.errors import InputError, NoKernel
from specgate.execution.engine import execute_at
from specgate.execution.kernels import register_kernel
from specgate.execution.types import numpy_type
from specgate.spec.lint import levels_of_example
from specgate.spec.tables import dialect
from tests.properties.campaign import execute_all

ONES = np.ones((2, 3), np.float32)


def node(op_type: str, *inputs: tuple[str, list[int]], outputs: Any = (), **attributes: Any) -> Any:
    tensors = [{"elem_type": kind, "shape": shape} for kind, shape in inputs]
    return read_dict(
        {"op_type": op_type, "inputs": tensors, "outputs": list(outputs), "attributes": attributes}, "onnx"
    )


def operator(name: str, **desc: Any) -> Any:
    return read_dict({"type": f"DML_OPERATOR_{name}", "desc": desc}, "directml")


def pack(sizes: list[int], kind: str = "FLOAT32") -> dict[str, Any]:
    return {"DataType": kind, "Sizes": sizes}


def strangers(case: Any) -> list[tuple[str, str]]:
    """Return an input with each type that no row supports there."""
    spec = dialect(case.dialect).operator(case.operator)
    names = [info.name for info in spec.layout(case.level).inputs if info.type == "tensor"]
    texts_by_name = {name: spec.support_union.types(name) for name in names}
    carried = [name for name, info in spec.dialect.types.items() if info["numpy"] is not None]
    return [
        (name, kind)
        for name, types in texts_by_name.items()
        if types is not None
        for kind in carried
        if kind not in types
    ]


@pytest.mark.slow
@pytest.mark.parametrize("dialect_name", ["directml", "onnx", "openvino"])
def test_every_operator_rejects_types_without_a_support_row(dialect_name: str) -> None:
    questions = 0
    newest = {case.operator: case for case in execute_all([dialect_name])}
    for case in newest.values():
        spec = dialect(case.dialect).operator(case.operator)
        example = next(e for e in spec.table.examples.values() if case.level in levels_of_example(spec, e))
        descriptor = read_dict(example["descriptor"], dialect_name)
        for name, kind in strangers(case):
            tensor = descriptor.fields.get(name)
            if not isinstance(tensor, TensorDesc) or tensor.sizes is None:
                continue
            fields = {**descriptor.fields, name: tensor._replace(type=kind, value=None, size_in_bytes=None)}
            broken = type(descriptor)(descriptor.dialect, descriptor.operator, fields, version=descriptor.version)
            shape = tuple(size for size in tensor.sizes if isinstance(size, int))
            arrays = {name: np.zeros(shape, numpy_type(spec.dialect, kind))}
            with pytest.raises(InputError, match=f"{name}: is {kind}, which no version of {case.operator} supports"):
                execute_at(broken, arrays, case.level)
            questions += 1
    assert questions > len(newest)


def test_message_names_the_supported_types() -> None:
    with pytest.raises(InputError) as caught:
        execute_at(node("Not", ("FLOAT", [2])), {"X": ONES[0, :2]}, "1")
    assert str(caught.value) == "X: is FLOAT, which no version of Not supports (supported: BOOL)"


def test_type_supported_at_another_level_is_executed() -> None:
    whole = np.array([-2, 3], np.int32)
    outputs = execute_at(node("Abs", ("INT32", [2])), {"X": whole}, "1")  # INT32 is supported from 6 on
    assert outputs["Y"].tolist() == [2, 3]


def test_unsupported_type_combinations_are_rejected() -> None:
    with pytest.raises(InputError, match="A is FLOAT, B is INT64, which no version of Add supports together"):
        execute_at(node("Add", ("FLOAT", [2, 3]), ("INT64", [3])), {"A": ONES, "B": np.arange(3)}, "14")
    powers = execute_at(node("Pow", ("FLOAT", [2, 3]), ("INT64", [3])), {"X": ONES, "Y": np.arange(3)}, "7")
    assert powers["Z"].dtype == np.float32  # of two variables from 12 on


def test_mixed_types_in_a_tensor_array_are_rejected() -> None:
    arrays = {"inputs": [ONES, ONES.astype(np.float64)]}
    with pytest.raises(InputError, match="inputs is DOUBLE and FLOAT, which no version of Concat supports together"):
        execute_at(node("Concat", ("FLOAT", [2, 3]), ("DOUBLE", [2, 3]), axis=0), arrays, "13")


def test_unsupported_ranks_and_enum_values_are_rejected() -> None:
    descriptor = operator("ELEMENT_WISE_ABS", InputTensor=pack([1] * 9), OutputTensor=pack([1] * 9))
    with pytest.raises(
        InputError, match="InputTensor: has 9 dimensions, which no version of ELEMENT_WISE_ABS supports"
    ):
        execute_at(descriptor, {"InputTensor": np.ones([1] * 9, np.float32)}, "6.4")
    descriptor = node("Gelu", ("FLOAT", [2, 3]), approximate="erf")
    with pytest.raises(InputError, match="approximate: is 'erf', which no version of Gelu supports"):
        execute_at(descriptor, {"X": ONES}, "20")


def test_unsupported_fused_operator_is_rejected() -> None:
    basic = dialect("directml").operator("GEMM").table.examples["basic"]["descriptor"]
    desc = {**basic["desc"], "FusedActivation": {"type": "DML_OPERATOR_ELEMENT_WISE_ABS", "desc": {}}}
    descriptor = read_dict({**basic, "desc": desc}, "directml")
    with pytest.raises(InputError, match="FusedActivation: is ELEMENT_WISE_ABS, which no version of GEMM supports"):
        execute_at(descriptor, {}, "6.4")


@pytest.mark.parametrize(
    "descriptor",
    [
        operator("ACTIVATION_SOFTMAX", InputTensor=pack([1, 0, 2, 3]), OutputTensor=pack([1, 0, 2, 3])),
        operator("ACTIVATION_HARDMAX", InputTensor=pack([1, 1, 2, 0]), OutputTensor=pack([1, 1, 2, 0])),
        operator(
            "ARGMAX", InputTensor=pack([1, 1, 2, 0]), OutputTensor=pack([1, 1, 2, 1], "UINT32"), AxisCount=1,
            Axes=[3], AxisDirection="INCREASING",
        ),
        operator(
            "GATHER", InputTensor=pack([1, 1, 0, 3]), IndicesTensor=pack([1, 1, 1, 2], "UINT32"),
            OutputTensor=pack([1, 1, 2, 3]), Axis=2, IndexDimensions=1,
        ),
        operator(
            "RESAMPLE", InputTensor=pack([1, 1, 0, 2]), OutputTensor=pack([1, 1, 0, 4]),
            InterpolationMode="LINEAR", ScaleCount=4, Scales=[1, 1, 1, 2],
        ),
        operator(
            "REDUCE", Function="MAX", InputTensor=pack([1, 1, 2, 0]), OutputTensor=pack([1, 1, 2, 1]), AxisCount=1,
            Axes=[3],
        ),
    ],
    ids=lambda descriptor: descriptor.operator,
)  # fmt: skip
def test_sizes_of_0_are_rejected_by_directml(descriptor: Any) -> None:
    spec = dialect("directml").operator(descriptor.operator)
    tensors = {info.name: descriptor.fields[info.name] for info in spec.inputs if info.name in descriptor.fields}
    arrays = {name: np.zeros(t.sizes, numpy_type(spec.dialect, t.type)) for name, t in tensors.items()}
    with pytest.raises(InputError, match="each size must be at least 1"):
        execute_at(descriptor, arrays, "6.4")


def test_sizes_of_0_are_computed_by_onnx() -> None:
    assert execute_at(node("Softmax", ("FLOAT", [0, 3])), {"input": ONES[:0]}, "13")["output"].shape == (0, 3)


def test_guards_check_elements_of_input_arrays() -> None:
    topmost = node("TopK", ("FLOAT", [2, 3]), ("INT64", [1]))
    with pytest.raises(InputError, match="K must be at least 1: K holds 0"):
        execute_at(topmost, {"X": ONES, "K": np.array([0])}, "11")
    assert execute_at(topmost, {"X": ONES, "K": np.array([2])}, "11")["Values"].shape == (2, 2)


def test_field_is_required_if_its_version_requires_it() -> None:
    product = node("Gemm", ("FLOAT", [2, 3]), ("FLOAT", [3, 2]))
    arrays = {"A": ONES, "B": ONES.T}
    with pytest.raises(InputError, match="C is required"):
        execute_at(product, arrays, "9")
    assert execute_at(product, arrays, "11")["Y"].tolist() == [[3, 3], [3, 3]]


def test_type_without_a_kernel_is_not_an_input_error() -> None:
    tensors = [{"element_type": kind, "shape": shape} for kind, shape in [("string", [2]), *[("i64", [])] * 3]]
    outputs = [{"element_type": "i64", "shape": [2, 3]}]
    layer = {"type": "OneHot", "version": "opset1", "inputs": tensors, "outputs": outputs, "data": {"axis": -1}}
    with pytest.raises(NoKernel, match="OneHot has no kernel for indices of string"):
        execute_at(read_dict(layer, "openvino"), {}, "opset1")


@pytest.mark.parametrize("name", ["Expand", "Tile", "Abs"])
def test_more_than_32_dimensions_are_rejected(name: str) -> None:
    many = np.ones([1] * 33, np.float32)
    if name == "Expand":
        descriptor = node("Expand", ("FLOAT", [1]), ("INT64", [33]))
        arrays = {"input": np.ones(1, np.float32), "shape": np.ones(33, np.int64)}
    elif name == "Tile":
        descriptor = node("Tile", ("FLOAT", [1] * 33), ("INT64", [33]))
        arrays = {"input": many, "repeats": np.ones(33, np.int64)}
    else:
        descriptor, arrays = node("Abs", ("FLOAT", [1] * 33)), {"X": many}
    with pytest.raises(InputError, match=r"33 dimensions|cannot be broadcast"):
        execute_at(descriptor, arrays, "13")


def test_an_empty_output_of_impossible_size_is_rejected() -> None:
    descriptor = node("Tile", ("FLOAT", [2, 1]), ("INT64", [2]))
    with pytest.raises(InputError, match="larger than any array"):
        execute_at(descriptor, {"input": ONES[:, :1], "repeats": np.array([2**63 - 1, 0])}, "13")


def test_memory_error_becomes_an_input_error(scratch) -> None:
    def hungry(data: Any) -> Any:
        raise MemoryError("no 3 TB")

    register_kernel("hungry", hungry)
    text = """\
operator: HUNGRY
summary: Asks for much.
source: [{page: none}]
fields: {InputTensor: {kind: input}, OutputTensor: {kind: output}}
support: {"1.0": {InputTensor: {types: any}, OutputTensor: {types: any}}}
execute: {kernel: hungry, arrays: {data: InputTensor}, outputs: [OutputTensor]}
"""
    scratch("directml", hungry=text)
    descriptor = operator("HUNGRY", InputTensor=pack([1]), OutputTensor=pack([1]))
    with pytest.raises(InputError, match="out of memory: no 3 TB"):
        execute_at(descriptor, {"InputTensor": ONES[0, :1]}, "6.4")


def test_infinities_and_nan_raise_no_warnings() -> None:
    huge = np.array([1e4, -np.inf, np.nan], np.float32)  # a warning fails here
    outputs = execute_at(node("Exp", ("FLOAT", [3])), {"input": huge}, "13")
    assert np.array_equal(outputs["output"], np.array([np.inf, 0, np.nan], np.float32), equal_nan=True)


def test_string_attribute_instead_of_a_number_is_rejected() -> None:
    descriptor = node("TopK", ("FLOAT", [2, 3]), ("INT64", [1]))
    descriptor.fields["axis"] = "last"
    with pytest.raises(InputError, match="axis"):
        execute_at(descriptor, {"X": ONES, "K": np.array([1])}, "11")
