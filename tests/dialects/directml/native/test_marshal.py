"""Images byte by byte, with a separate decoder; values that structures cannot hold."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import specgate
from specgate.descriptors.core import Descriptor, Symbol, tensor
from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import image
from specgate.dialects.directml.reader import read
from specgate.dialects.directml.vocabulary import ScaleBias, Size2D
from specgate.errors import Error, InputError, NoTable
from specgate.testing import any_descriptors

RELU = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {}}


def words(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 4}I", data))


class Decoded:
    """Read an image as a C program would, from its root."""

    def __init__(self, result):
        self.data, self.pointers = result.data, set(result.pointers)
        assert len(self.pointers) == len(result.pointers)
        self.number = self.uint(result.root)
        self.base = self.follow(result.root + 8)
        name = next(n for n in abi().operators if abi().structure(n).number == self.number)
        self.members = {m.name: m for m in abi().structure(name).members}

    def uint(self, at: int) -> int:
        return self.uints(at, 1)[0]

    def uints(self, at: int, count: int) -> list[int]:
        return list(struct.unpack_from(f"<{count}I", self.data, at))

    def follow(self, at: int) -> int:
        """Return the target of a pointer, which must not be null."""
        target = self.target(at)
        assert target is not None
        return target

    def target(self, at: int) -> int | None:
        target = struct.unpack_from("<Q", self.data, at)[0]
        if at not in self.pointers:
            assert target == 0
            return None
        assert target % 4 == 0
        assert target <= len(self.data)
        return int(target)

    def at(self, name: str) -> int:
        return self.base + self.members[name].offset

    def buffer(self, head: int) -> dict[str, Any]:
        assert self.uint(head) == 1
        at = self.follow(head + 8)
        kind, flags, rank = struct.unpack_from("<III", self.data, at)
        sizes, strides = self.follow(at + 16), self.target(at + 24)
        total, alignment = struct.unpack_from("<QI", self.data, at + 32)
        return {
            "type": kind, "flags": flags, "total": total, "alignment": alignment, "sizes": self.uints(sizes, rank),
            "strides": None if strides is None else self.uints(strides, rank),
        }  # fmt: skip

    def absent(self, name: str) -> bool:
        return self.target(self.at(name)) is None

    def tensor(self, name: str) -> dict[str, Any]:
        return self.buffer(self.follow(self.at(name)))


def test_every_byte_of_a_small_image():
    new_image = image({"type": "DML_OPERATOR_FILL_VALUE_CONSTANT", "desc": {
        "OutputTensor": {"DataType": "INT16", "Sizes": [3]}, "ValueDataType": "INT16", "Value": -2,
    }})  # fmt: skip
    expected = (
        [103, 0, 16, 0]  # DML_OPERATOR_DESC: Type, Desc
        + [40, 0, 7, 0, 0xFFFE, 0]  # the structure: OutputTensor, ValueDataType, Value
        + [1, 0, 56, 0]  # DML_TENSOR_DESC: BUFFER, Desc
        + [7, 0, 1, 0, 104, 0, 0, 0, 8, 0, 0, 0]  # INT16, no flags, rank 1, Sizes, no strides, 8 bytes, no alignment
        + [3, 0]  # the sizes; everything begins at a multiple of 8
    )
    assert words(new_image.data) == expected
    assert sorted(new_image.pointers) == [8, 16, 48, 72]
    assert new_image.root == 0


def test_every_tensor_field_is_marshalled(changed):
    full = {"Sizes": [1, 2, 3, 4], "Strides": [50, 24, 8, 2], "TotalTensorSizeInBytes": 2**33, "Flags": 1}
    result = changed(OutputTensor={"DataType": "FLOAT16", **full, "GuaranteedBaseOffsetAlignment": 256})
    assert Decoded(image(result)).tensor("OutputTensor") == {
        "type": 2, "flags": 1, "total": 2**33, "alignment": 256, "sizes": [1, 2, 3, 4], "strides": [50, 24, 8, 2],
    }  # fmt: skip


def test_a_whole_float_is_an_integer_scalar():
    desc = {"OutputTensor": {"DataType": "INT32", "Sizes": [1]}, "ValueDataType": "INT32"}
    images = [image({"type": "DML_OPERATOR_FILL_VALUE_CONSTANT", "desc": {**desc, "Value": x}}) for x in (3, 3.0)]
    assert images[0] == images[1]


@pytest.mark.parametrize(
    ("kind", "sizes", "strides", "total"),
    [
        ("FLOAT32", [2, 3], None, 24),
        ("INT8", [5], None, 8),  # rounded up to 4
        ("UINT4", [3, 3], None, 8),
        ("FLOAT64", [2, 2], [0, 1], 16),
        ("UINT32", [2**32 - 1] * 3, None, ((2**32 - 1) ** 3 * 4) % 2**64),
        ("FLOAT32", [], None, 4),
    ],
)
def test_omitted_total_size_is_the_minimum(changed, kind, sizes, strides, total):
    tensors = {"DataType": kind, "Sizes": sizes} | ({} if strides is None else {"Strides": strides})
    assert Decoded(image(changed(ValuesTensor=tensors))).tensor("ValuesTensor")["total"] == total


def test_descriptor_and_dict_give_the_same_image(one_hot):
    assert image(read(one_hot)) == image(one_hot)


def test_absent_tensor_is_a_null_pointer(changed):
    decoded = Decoded(image(changed(OutputTensor=None)))
    assert decoded.absent("OutputTensor")
    assert not decoded.absent("IndicesTensor")


def test_scalars_arrays_and_enums():
    desc = {"Function": "DML_REDUCE_FUNCTION_MAX", "AxisCount": 2, "Axes": [1, 3]}
    decoded = Decoded(image({"type": "REDUCE", "desc": desc}))
    assert decoded.uint(decoded.at("Function")) == 7
    assert decoded.uint(decoded.at("AxisCount")) == 2
    assert decoded.uints(decoded.follow(decoded.at("Axes")), 2) == [1, 3]


def test_omitted_count_is_the_length_and_may_be_smaller():
    for stated, count in [({}, 3), ({"AxisCount": 3}, 3), ({"AxisCount": 1}, 1)]:
        decoded = Decoded(image({"type": "REDUCE", "desc": {"Function": 0, "Axes": [0, 1, 2], **stated}}))
        assert decoded.uint(decoded.at("AxisCount")) == count


def test_empty_list_is_not_a_null_pointer():
    decoded = Decoded(image({"type": "REDUCE", "desc": {"Function": 0, "Axes": []}}))
    assert not decoded.absent("Axes")
    assert decoded.uint(decoded.at("AxisCount")) == 0


def test_tensor_arrays_are_contiguous():
    tensors = [{"DataType": "INT8", "Sizes": [n]} for n in (1, 2, 3)]
    decoded = Decoded(image({"type": "JOIN", "desc": {"InputTensors": tensors, "Axis": 0}}))
    first = decoded.follow(decoded.at("InputTensors"))
    assert [decoded.buffer(first + 16 * i)["sizes"] for i in range(3)] == [[1], [2], [3]]
    assert decoded.uint(decoded.at("InputCount")) == 3


def test_nested_operators():
    gemm = {"TransA": "NONE", "TransB": "TRANSPOSE", "Alpha": 1, "Beta": 0.5, "FusedActivation": RELU}
    decoded = Decoded(image({"type": "GEMM", "desc": gemm}))
    fused = decoded.follow(decoded.at("FusedActivation"))
    inside = decoded.follow(fused + 8)
    assert decoded.uint(fused) == abi().structure("ACTIVATION_RELU").number
    assert decoded.target(inside) is None  # tensors of fused operators are omitted
    assert decoded.uint(decoded.at("TransB")) == 1
    assert struct.unpack_from("<ff", decoded.data, decoded.at("Alpha")) == (1.0, 0.5)


def require_equal_images(operator: str, dicts: dict[str, Any], values: dict[str, Any]) -> None:
    """A Descriptor's values give the same image as its dict."""
    assert image(Descriptor("directml", operator, values)) == image({"type": operator, "desc": dicts})


def test_values_of_descriptor_and_dict_give_the_same_image():
    relu = Descriptor("directml", "ACTIVATION_RELU", {})
    gemm: dict[str, Any] = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 0.5}
    require_equal_images("GEMM", {**gemm, "FusedActivation": RELU}, {**gemm, "FusedActivation": relu})
    elu = Descriptor("directml", "ACTIVATION_ELU", {"Alpha": 1.5})
    rnn: dict[str, Any] = {"Direction": "FORWARD"}
    raw_elu = {"type": "DML_OPERATOR_ACTIVATION_ELU", "desc": {"Alpha": 1.5}}
    for sequence in (list, tuple):
        require_equal_images(
            "RNN", {**rnn, "ActivationDescs": [RELU, raw_elu]}, {**rnn, "ActivationDescs": sequence([relu, elu])}
        )
    require_equal_images(
        "ELEMENT_WISE_ABS", {"ScaleBias": {"Scale": 2, "Bias": -1}}, {"ScaleBias": ScaleBias(2.0, -1.0)}
    )
    size: dict[str, Any] = {"InterpolationMode": "LINEAR"}
    require_equal_images(
        "UPSAMPLE_2D", {**size, "ScaleSize": {"Width": 3, "Height": 2}}, {**size, "ScaleSize": Size2D(3, 2)}
    )


def test_an_array_of_operators():
    decoded = Decoded(image({"type": "RNN", "desc": {"ActivationDescs": [RELU, RELU], "Direction": "BACKWARD"}}))
    first = decoded.follow(decoded.at("ActivationDescs"))
    assert [decoded.uint(first + 16 * i) for i in range(2)] == [abi().structure("ACTIVATION_RELU").number] * 2


def test_scale_bias_and_size_2d():
    decoded = Decoded(image({"type": "ELEMENT_WISE_ABS", "desc": {"ScaleBias": {"Scale": 2, "Bias": -1}}}))
    assert struct.unpack_from("<ff", decoded.data, decoded.follow(decoded.at("ScaleBias"))) == (2.0, -1.0)
    decoded = Decoded(
        image({"type": "UPSAMPLE_2D", "desc": {"ScaleSize": {"Width": 3, "Height": 2}, "InterpolationMode": "LINEAR"}})
    )
    assert decoded.uints(decoded.at("ScaleSize"), 3) == [3, 2, 1]


@pytest.mark.parametrize(
    ("kind", "value", "data"),
    [
        ("INT64", -1, b"\xff" * 8),
        ("UINT8", 255, b"\xff" + bytes(7)),
        ("FLOAT16", 1.0, struct.pack("<e", 1.0) + bytes(6)),
        ("FLOAT16", 1e9, struct.pack("<e", float("inf")) + bytes(6)),
        ("FLOAT64", "-inf", struct.pack("<d", float("-inf"))),
        ("INT32", {"Int32": 5}, struct.pack("<q", 5)),
        (6, 5, struct.pack("<q", 5)),
    ],
)
def test_a_scalar_has_the_type_that_another_field_names(kind, value, data):
    decoded = Decoded(image({"type": "FILL_VALUE_CONSTANT", "desc": {"ValueDataType": kind, "Value": value}}))
    assert decoded.data[decoded.at("Value") :][:8] == data


def test_float_overflow_becomes_infinity():
    clip = {"type": "ELEMENT_WISE_CLIP", "desc": {"Min": -(10**400), "Max": 1e300}}
    decoded = Decoded(image(clip))
    assert struct.unpack_from("<ff", decoded.data, decoded.at("Min")) == (float("-inf"), float("inf"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Axis": None}, "Axis: expected a value for Axis of ONE_HOT"),
        ({"Axis": -1}, "Axis: expected an integer from 0"),
        ({"Axis": True}, "Axis: expected an integer from 0"),
        ({"Depth": 3}, "'Depth' is not a field of ONE_HOT"),
        ({"OutputTensor_Sizes": [1, 1, None, 4]}, "OutputTensor: expected sizes that are all known"),
        ({"OutputTensor_Sizes": [1, 1, "N", 4], "OutputTensor_TotalTensorSizeInBytes": 4}, "numbers that fit"),
        ({"OutputTensor_Strides": [4, 1]}, "OutputTensor: the number of strides must equal the number of sizes"),
        ({"OutputTensor_Strides": [4, 1], "OutputTensor_TotalTensorSizeInBytes": 48}, "expected 4 strides"),
        ({"OutputTensor_DataType": "FLOAT12"}, "is not a valid DML_TENSOR_DATA_TYPE"),
        ({"OutputTensor": 3}, "expected a tensor description, found 3"),
    ],
)
def test_values_outside_the_structure_range_are_rejected(changed, changes, message):
    with pytest.raises(InputError, match=message):
        image(changed(**changes))


@pytest.mark.parametrize(
    ("descriptor", "message"),
    [
        ({"type": "REDUCE", "desc": {"Function": "MIDDLE", "Axes": [0]}}, "'MIDDLE' is not a DML_REDUCE_FUNCTION"),
        ({"type": "REDUCE", "desc": {"Function": 0, "AxisCount": 3, "Axes": [0]}}, "AxisCount is 3, but Axes has 1"),
        ({"type": "REDUCE", "desc": {"Function": 0, "Axes": 3}}, "Axes: expected a list, found 3"),
        ({"type": "GEMM", "desc": {"FusedActivation": 3}}, "TransA"),
        ({"type": "ELEMENT_WISE_ABS", "desc": {"ScaleBias": {"Scale": 1}}}, "ScaleBias: expected an object with Bias"),
        ({"type": "FILL_VALUE_CONSTANT", "desc": {"ValueDataType": "INT8", "Value": 300}}, "of the type 'INT8'"),
        ({"type": "FILL_VALUE_CONSTANT", "desc": {"ValueDataType": "INT8", "Value": "x"}}, "of the type 'INT8'"),
        (
            {"type": "SLICE", "desc": {"Offsets": [0], "Sizes": [1, 1], "Strides": [1]}},
            "expected lists of the same length",
        ),
        ({"type": "ELEMENT_WISE_ABS", "desc": {"ScaleBias": Size2D(1, 2)}}, "ScaleBias: expected an object with Scale"),
        (
            {"type": "UPSAMPLE_2D", "desc": {"ScaleSize": (3, 2), "InterpolationMode": 0}},
            "expected an object with Width",
        ),
        ({"type": "UPSAMPLE_2D", "desc": {"ScaleSize": Size2D(-1, 2), "InterpolationMode": 0}}, "an integer from 0"),
        (
            {"type": "GEMM", "desc": {"TransA": 0, "TransB": 0, "Alpha": 1, "Beta": 0, "FusedActivation": 3}},
            "operator desc",
        ),
        ({"desc": {}}, "expected an operator's type"),
        ([], "expected an operator description"),
    ],
)
def test_malformed_descriptors_are_rejected(descriptor, message):
    with pytest.raises(InputError, match=message):
        image(descriptor)


def test_unknown_operator_is_rejected():
    with pytest.raises(NoTable):
        image({"type": "ONE_COLD", "desc": {}})


def test_a_descriptor_of_another_dialect(onnx_one_hot):
    with pytest.raises(InputError, match="expected a directml descriptor, found one of onnx"):
        image(specgate.descriptor(onnx_one_hot, dialect="onnx"))


def test_endlessly_nested_operators_are_rejected():
    endless: dict[str, Any] = {"type": "GEMM", "desc": {"TransA": 0, "TransB": 0, "Alpha": 1, "Beta": 0}}
    endless["desc"]["FusedActivation"] = endless
    with pytest.raises(InputError, match="operators nested at most 8 deep"):
        image(endless)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_wide_endlessly_nested_operators_are_rejected():
    endless: dict[str, Any] = {"type": "RNN", "desc": {"Direction": 0}}
    endless["desc"]["ActivationDescs"] = [*[{"type": "RNN", "desc": {"Direction": 0}}] * 300_000, endless]
    with pytest.raises(InputError, match="at most 16777216 bytes"):
        image(endless)


def test_a_symbolic_size_is_rejected():
    with pytest.raises(InputError, match="all known"):
        image({"type": "JOIN", "desc": {"OutputTensor": tensor("INT8", [Symbol("N")]), "Axis": 0}})


@given(any_descriptors("directml", "ONE_HOT"))
def test_any_descriptor_round_trips_or_is_rejected(descriptor):
    try:
        decoded = Decoded(image(descriptor))
    except Error:
        return
    for name in ("IndicesTensor", "ValuesTensor", "OutputTensor"):
        given_tensor = descriptor.fields.get(name)
        assert decoded.absent(name) == (given_tensor is None)
        if given_tensor is None:
            continue
        result = decoded.tensor(name)
        assert result["sizes"] == list(given_tensor.sizes)
        assert result["strides"] == (None if given_tensor.strides is None else list(given_tensor.strides))
        assert result["flags"] == (given_tensor.flags or 0)
        assert given_tensor.size_in_bytes in {None, result["total"]}
    assert decoded.uint(decoded.at("Axis")) == descriptor.fields["Axis"]


@given(st.recursive(st.none() | st.integers() | st.text(max_size=3) | st.floats(), st.lists, max_leaves=5))
def test_invalid_data_raises_only_specgate_errors(junk):
    for field in ("InputTensor", "Axes", "Function"):
        try:
            image({"type": "REDUCE", "desc": {"Function": 0, "Axes": [0], field: junk}})
        except Error:
            continue
