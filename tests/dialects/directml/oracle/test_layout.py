"""Arrays as buffer bytes: strides, shared elements, 4-bit elements, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.descriptors.core import TensorDesc
from specgate.dialects.directml.dxdispatch.buffers import gather_tensor, needed_bytes
from specgate.dialects.directml.oracle import cases
from specgate.dialects.directml.oracle.cases import bound_tensors, output_arrays, pack_array, unpack_array
from specgate.errors import InputError


def tensor(kind, sizes, strides=None):
    return TensorDesc(kind, tuple(sizes), strides)


@st.composite
def laid_out(draw):
    """Return a tensor with distinct elements in any layout with gaps, and an array."""
    kind, dtype = draw(
        st.sampled_from([("FLOAT32", "f4"), ("UINT8", "u1"), ("INT64", "i8"), ("UINT4", "u1"), ("INT4", "i1")])
    )
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    strides, reached = [0] * len(sizes), 1
    for d in draw(st.permutations(range(len(sizes)))):
        strides[d] = reached * draw(st.integers(1, 2))
        reached = strides[d] * sizes[d]
    low = -8 if kind == "INT4" else 0
    flat = [low + i % 16 for i in range(int(np.prod(sizes)))]
    result = draw(st.sampled_from([None, tuple(strides)]))
    return tensor(kind, sizes, result), np.array(flat, dtype).reshape(sizes)


@given(laid_out(), st.sampled_from([0xA5, 0x5A, 0]))
def test_packed_arrays_round_trip(case, fill):
    result, array = case
    data = pack_array(array, result, needed_bytes(result, "x"), fill, "x")
    assert gather_tensor(data, result, "x", 2**20).tobytes() == array.tobytes()
    assert unpack_array(array, result, "x").tobytes() == array.tobytes()


def test_gaps_hold_the_filling():
    data = pack_array(np.array([1, 2], np.uint8), tensor("UINT8", [2], (3,)), 8, 0xA5, "x")
    assert data.tolist() == [1, 0xA5, 0xA5, 2, 0xA5, 0xA5, 0xA5, 0xA5]
    data = pack_array(np.array([-1, 2, 3], np.int8), tensor("INT4", [3]), 4, 0xA5, "x")
    assert data.tolist() == [0x2F, 0xA3, 0xA5, 0xA5]


def test_elements_that_share_memory_must_be_equal():
    shared = tensor("INT32", [2, 2], (0, 1))
    with pytest.raises(InputError, match="elements at the same memory location"):
        pack_array(np.array([[1, 2], [3, 4]], np.int32), shared, 8, 0, "x")
    settled = unpack_array(np.array([[1, 2], [3, 4]], np.int32), shared, "x")
    assert settled.tolist() == [[3, 4], [3, 4]]
    assert pack_array(settled, shared, 8, 0, "x").view(np.int32).tolist() == [3, 4]


def test_overlapping_4_bit_elements_must_be_equal():
    shared = tensor("UINT4", [2], (0,))
    with pytest.raises(InputError, match="elements at the same memory location"):
        pack_array(np.array([5, 4], np.uint8), shared, 4, 0, "x")
    settled = unpack_array(np.array([5, 4], np.uint8), shared, "x")
    assert settled.tolist() == [4, 4]
    assert pack_array(settled, shared, 4, 0, "x").tolist() == [4, 0, 0, 0]


def test_nan_payloads_are_preserved():
    array = np.array([0x7F800001, 0xFFC12345, 0x80000000], np.uint32).view(np.float32)
    new_tensor = tensor("FLOAT32", [3], (2,))
    assert unpack_array(array, new_tensor, "x").tobytes() == array.tobytes()


def test_elements_that_depend_on_the_fill_are_masked():
    outputs = bound_tensors("SPLIT", {"OutputTensors": [tensor("INT32", [2]), tensor("INT16", [1])]}, "output")
    assert [(each.place, each.size) for each in outputs] == [("OutputTensors[0]", 8), ("OutputTensors[1]", 4)]
    first, second = (
        np.array([7, fill], np.int32).tobytes() + np.array([3, fill], np.int16).tobytes() for fill in (1, 2)
    )
    result = output_arrays(outputs, first, second)["OutputTensors"]
    assert result[0].tolist() == [7, None]
    assert result[1].tolist() == [3]
    assert not np.ma.isMaskedArray(result[1])


def test_oversized_tensors_are_rejected(monkeypatch):
    huge = tensor("FLOAT32", [2**16, 2**16], (0, 0))
    with pytest.raises(InputError, match="needs more than 268435456 bytes"):
        bound_tensors("ELEMENT_WISE_IDENTITY", {"InputTensor": huge}, "input")
    monkeypatch.setattr(cases, "MAX_BYTES", 100)
    many = {"InputTensors": [tensor("FLOAT32", [20])] * 2}
    with pytest.raises(InputError, match="the inputs need 160 bytes, more than the limit of 100"):
        bound_tensors("JOIN", many, "input")
    with pytest.raises(InputError, match="every size must be known"):
        bound_tensors("JOIN", {"InputTensors": [TensorDesc("FLOAT32", (None,))]}, "input")
