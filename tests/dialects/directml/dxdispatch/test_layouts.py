"""Strided tensors in buffers, against a slow bytewise reference without shared code."""

from __future__ import annotations

import struct
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specgate.dialects.directml.dxdispatch.read import read_dx_model
from specgate.dialects.directml.dxdispatch.run import run_dx_model
from specgate.errors import InputError

CODES = {
    "FLOAT64": "d", "FLOAT32": "f", "FLOAT16": "e", "INT64": "q", "INT32": "i", "INT16": "h", "INT8": "b",
    "UINT64": "Q", "UINT32": "I", "UINT16": "H", "UINT8": "B",
}  # fmt: skip
NAMES = ("IndicesTensor", "ValuesTensor", "OutputTensor")
SILENT = lambda _: None  # noqa: E731


def packed_strides(sizes):
    strides: list[int] = []
    step = 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    return strides


def element_count(tensor):
    """Return one more than the last element that the tensor's strides reach."""
    strides = tensor.get("Strides") or packed_strides(tensor["Sizes"])
    return 1 + sum((size - 1) * stride for size, stride in zip(tensor["Sizes"], strides, strict=True))


def offsets(tensor):
    """Return element offsets by coordinates, in row-major order."""
    strides = tensor.get("Strides") or packed_strides(tensor["Sizes"])
    for at in product(*map(range, tensor["Sizes"])):
        yield at, sum(i * stride for i, stride in zip(at, strides, strict=True))


def expected_bytes(desc, buffers):
    """Compute the output buffer's bytes element by element, with struct."""
    indices, values, output = (desc[name] for name in NAMES)

    def load(tensor, buffer, offset):
        code = "<" + CODES[tensor["DataType"]]
        return struct.unpack_from(code, buffer, offset * struct.calcsize(code))[0]

    off, on = [load(values, buffers[1], offset) for _, offset in offsets(values)][:2]
    index_at = {at: load(indices, buffers[0], offset) for at, offset in offsets(indices)}
    result = bytearray(buffers[2])
    axis = desc["Axis"]
    code = "<" + CODES[output["DataType"]]
    for at, offset in offsets(output):
        index = index_at[(*at[:axis], 0, *at[axis + 1 :])]
        index += output["Sizes"][axis] if index < 0 else 0
        struct.pack_into(code, result, offset * struct.calcsize(code), on if index == at[axis] else off)
    return bytes(result)


def model_of(desc, buffers, bindings=None, operator="ONE_HOT"):
    """Return a model whose resources are given as bytes."""
    resources = {
        name: {"initialValuesDataType": "UINT8", "initialValues": list(data)}
        for name, data in zip(NAMES, buffers, strict=True)
    }
    return read_dx_model(
        {
            "resources": resources,
            "dispatchables": {"it": {"type": operator, "desc": desc}},
            "commands": [
                {"type": "dispatch", "dispatchable": "it", "bindings": bindings or {name: name for name in NAMES}}
            ],
        }
    )


def pad(data):
    return data + bytes(-len(data) % 4)


@st.composite
def strides_of(draw, sizes, *, broadcast):
    """Return strides of a permuted layout with gaps.

    With `broadcast`, some dimensions repeat one element.
    """
    order = draw(st.permutations(range(len(sizes))))
    strides, step = [0] * len(sizes), 1
    for d in order:
        if broadcast and draw(st.booleans()):
            continue
        step += draw(st.integers(0, 2))
        strides[d] = step
        step *= sizes[d]
    return strides


@st.composite
def cases(draw):
    rank = draw(st.integers(1, 5))
    sizes = draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    axis = draw(st.integers(0, rank - 1))
    kept = [1 if d == axis else size for d, size in enumerate(sizes)]
    value_type = draw(st.sampled_from(sorted(CODES)))
    index_type = draw(st.sampled_from(["INT64", "INT32", "UINT64", "UINT32"]))
    shapes = (kept, [1] * (rank - 1) + [2], sizes)
    desc = {"Axis": axis}
    for name, kind, shape in zip(NAMES, (index_type, value_type, value_type), shapes, strict=True):
        desc[name] = {"DataType": kind, "Sizes": shape}
        if draw(st.booleans()):
            desc[name]["Strides"] = draw(strides_of(shape, broadcast=name != "OutputTensor"))
    low = 0 if index_type.startswith("U") else -4
    indices = draw(
        st.lists(st.integers(low, 4), min_size=element_count(desc[NAMES[0]]), max_size=element_count(desc[NAMES[0]]))
    )
    buffers = [
        pad(struct.pack(f"<{len(indices)}{CODES[index_type]}", *indices)),
        pad(struct.pack(f"<{element_count(desc[NAMES[1]])}{CODES[value_type]}", *range(element_count(desc[NAMES[1]])))),
        pad(bytes(i % 251 for i in range(element_count(desc[NAMES[2]]) * struct.calcsize(CODES[value_type])))),
    ]
    return desc, buffers


@settings(deadline=None)
@given(cases())
def test_random_layouts(case):
    desc, buffers = case
    result = run_dx_model(model_of(desc, buffers), "6.4", out=SILENT)
    assert result["OutputTensor"].tobytes() == expected_bytes(desc, buffers)
    assert result["IndicesTensor"].tobytes() == buffers[0]


@pytest.mark.parametrize("kind", sorted(CODES))
def test_padding_bytes_are_preserved_for_every_type(kind):
    width = struct.calcsize(CODES[kind])
    desc = {
        "IndicesTensor": {"DataType": "UINT32", "Sizes": [2, 1]},
        "ValuesTensor": {"DataType": kind, "Sizes": [1, 2]},
        "OutputTensor": {"DataType": kind, "Sizes": [2, 3], "Strides": [5, 1]},
        "Axis": 1,
    }
    buffers = [struct.pack("<2I", 2, 0), pad(struct.pack(f"<2{CODES[kind]}", 1, 3)), bytes([0xCC]) * 12 * width]
    result = run_dx_model(model_of(desc, buffers), "6.4", out=SILENT)["OutputTensor"].tobytes()
    assert result == expected_bytes(desc, buffers)
    assert result[3 * width : 5 * width] == bytes([0xCC]) * 2 * width


def nibbles(data):
    return [half for byte in data for half in (byte & 15, byte >> 4)]


#: No operator with a kernel accepts 4-bit elements or non-integer indices; this one accepts any.
ANY_HOT = """\
operator: ANY_HOT
summary: ONE_HOT of any types.
source: [{page: none}]
fields:
  IndicesTensor: {kind: input}
  ValuesTensor: {kind: input}
  OutputTensor: {kind: output}
  Axis: {kind: attribute, type: uint}
support: {"1.0": {IndicesTensor: {types: any}, ValuesTensor: {types: any}, OutputTensor: {types: any}}}
execute:
  kernel: one_hot
  arrays: {indices: IndicesTensor, values: ValuesTensor}
  arguments: {axis: Axis, depth: "OutputTensor.sizes[Axis]"}
  outputs: [OutputTensor]
  "1.0": {index_axis: kept, negative_indices: from_end}
"""


@pytest.fixture
def any_hot(scratch):
    scratch("directml", any_hot=ANY_HOT)
    return "ANY_HOT"


@pytest.mark.parametrize(("kind", "shown"), [("UINT4", [9, 15]), ("INT4", [9, 15])])
def test_four_bit_elements_are_packed_low_half_first(kind, shown, any_hot):
    """One byte 0xF9 contains 9 (or -7), then 15 (or -1)."""
    desc = {
        "IndicesTensor": {"DataType": "UINT32", "Sizes": [3, 1]},
        "ValuesTensor": {"DataType": kind, "Sizes": [1, 2]},
        "OutputTensor": {"DataType": kind, "Sizes": [3, 3]},
        "Axis": 1,
    }
    buffers = [struct.pack("<3I", 1, 0, 2), b"\xf9\0\0\0", b"\x70" * 8]
    result = run_dx_model(model_of(desc, buffers, operator=any_hot), "6.4", out=SILENT)["OutputTensor"].tobytes()
    off, on = shown
    assert nibbles(result)[:9] == [off, on, off, on, off, off, off, off, on]
    assert nibbles(result)[9] == 7, "the half byte after the last element"
    assert result[5:] == b"\x70" * 3


def test_four_bit_elements_with_strides(any_hot):
    desc = {
        "IndicesTensor": {"DataType": "UINT32", "Sizes": [2, 1]},
        "ValuesTensor": {"DataType": "UINT4", "Sizes": [1, 2], "Strides": [0, 3]},
        "OutputTensor": {"DataType": "UINT4", "Sizes": [2, 2], "Strides": [1, 4]},
        "Axis": 1,
    }
    buffers = [struct.pack("<2I", 1, 0), b"\x21\x43\0\0", b"\xbb" * 4]
    result = run_dx_model(model_of(desc, buffers, operator=any_hot), "6.4", out=SILENT)["OutputTensor"].tobytes()
    assert nibbles(result)[:6] == [1, 4, 0xB, 0xB, 4, 1]


BASE: dict[str, Any] = {
    "IndicesTensor": {"DataType": "INT32", "Sizes": [2, 1]},
    "ValuesTensor": {"DataType": "INT32", "Sizes": [1, 2]},
    "OutputTensor": {"DataType": "INT32", "Sizes": [2, 3]},
    "Axis": 1,
}
ROOMY = [bytes(8), struct.pack("<2i", 0, 1), bytes(24)]


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        (
            "OutputTensor",
            {"Strides": [4, 1]},
            r"OutputTensor: needs 28 bytes, but 'OutputTensor' has 24 from byte 0 on",
        ),
        ("OutputTensor", {"TotalTensorSizeInBytes": 64}, r"OutputTensor: needs 64 bytes"),
        ("OutputTensor", {"TotalTensorSizeInBytes": 20}, r"OutputTensor: needs 24 bytes, but 20 are declared"),
        ("OutputTensor", {"Strides": [1, 1]}, r"OutputTensor: the strides \[1, 1\] let elements of an output overlap"),
        ("IndicesTensor", {"Strides": [1]}, r"IndicesTensor: has 1 strides for 2 sizes"),
        ("IndicesTensor", {"Strides": [4000000000, 1]}, r"IndicesTensor: needs 16000000004 bytes"),
        ("IndicesTensor", {"Sizes": ["N", 1]}, r"IndicesTensor: every size must be known"),
        ("IndicesTensor", {"DataType": "UNKNOWN"}, r"IndicesTensor: is UNKNOWN, which no version of ONE_HOT supports"),
    ],
)
def test_invalid_layouts_are_rejected(name, change, complaint):
    desc = {**BASE, name: {**BASE[name], **change}}
    with pytest.raises(InputError, match=complaint):
        run_dx_model(model_of(desc, ROOMY), "6.4", out=SILENT)


def test_a_broadcast_input_larger_than_the_limit_is_rejected():
    huge = {"DataType": "INT32", "Sizes": [65536, 65536, 1], "Strides": [0, 0, 0]}
    desc = {
        "IndicesTensor": huge,
        "ValuesTensor": {"DataType": "INT32", "Sizes": [1, 1, 2]},
        "OutputTensor": {"DataType": "INT32", "Sizes": [65536, 65536, 1], "Strides": [0, 0, 0]},
        "Axis": 2,
    }
    with pytest.raises(InputError, match="IndicesTensor: has 4294967296 elements, more than the limit"):
        run_dx_model(model_of(desc, ROOMY), "6.4", out=SILENT)


def test_offsets_count_elements_of_the_resource_and_are_aligned():
    buffers = [bytes(16) + struct.pack("<2i", 2, 0), *ROOMY[1:]]
    by_element: dict[str, Any] = {name: name for name in NAMES}
    by_element["IndicesTensor"] = {"name": "IndicesTensor", "elementOffset": 16}
    by_size = {**by_element, "IndicesTensor": {"name": "IndicesTensor", "elementOffset": 4, "elementSizeInBytes": 4}}
    for bindings in (by_element, by_size):
        result = run_dx_model(model_of(BASE, buffers, bindings), "6.4", out=SILENT)["OutputTensor"]
        assert result.view(np.int32).tolist() == [0, 0, 1, 1, 0, 0]
    by_size["IndicesTensor"]["elementOffset"] = 2
    with pytest.raises(InputError, match=r"bound at byte 8 of 'IndicesTensor', expected a multiple of 16"):
        run_dx_model(model_of(BASE, buffers, by_size), "6.4", out=SILENT)
    promised = {**BASE, "IndicesTensor": {**BASE["IndicesTensor"], "GuaranteedBaseOffsetAlignment": 4}}
    assert run_dx_model(model_of(promised, buffers, by_size), "6.4", out=SILENT)
    by_size["IndicesTensor"]["elementOffset"] = 16
    with pytest.raises(InputError, match=r"IndicesTensor: needs 8 bytes, but 'IndicesTensor' has 0 from byte 64 on"):
        run_dx_model(model_of(BASE, buffers, by_size), "6.4", out=SILENT)


def test_undefined_elements_keep_their_bytes_and_are_reported(any_hot):
    desc = {**BASE, "IndicesTensor": {"DataType": "FLOAT32", "Sizes": [2, 1]}}
    buffers = [struct.pack("<2f", float("nan"), 1), ROOMY[1], bytes(range(24))]
    messages: list[str] = []
    result = run_dx_model(model_of(desc, buffers, operator=any_hot), "6.4", out=messages.append)["OutputTensor"]
    assert result[:12].tobytes() == bytes(range(12))
    assert result[12:].view(np.int32).tolist() == [0, 1, 0]
    assert messages == [
        "Resource 'OutputTensor': 3 elements of OutputTensor are undefined, so their bytes are unchanged"
    ]
