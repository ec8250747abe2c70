"""Texts as bytes, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.text import string_tensor_pack, string_tensor_unpack


def texts(*items: Any) -> np.ndarray:
    return np.array([*items], object)


def test_string_tensor_round_trip() -> None:
    array = np.array([["Intel", "", "é"], ["\x00", "日本", "a b"]], object)
    begins, ends, symbols = string_tensor_unpack(array)
    assert begins.tolist() == [[0, 5, 5], [7, 8, 14]]
    assert ends.tolist() == [[5, 5, 7], [8, 14, 17]]
    assert symbols.tobytes().decode() == "Intelé\x00日本a b"
    assert begins.dtype == ends.dtype == np.int32
    assert symbols.dtype == np.uint8
    assert string_tensor_pack(begins, ends, symbols).tolist() == array.tolist()


def test_empty_and_scalar_string_tensors() -> None:
    begins, ends, symbols = string_tensor_unpack(np.empty((0, 2), object))
    assert (begins.shape, ends.shape, symbols.shape) == ((0, 2), (0, 2), (0,))
    assert string_tensor_pack(begins, ends, symbols).shape == (0, 2)
    array = string_tensor_pack(np.array(1), np.array(3), np.frombuffer(b"abcd", np.uint8))
    assert array.shape == ()
    assert array.item() == "bc"


def test_bytes_may_be_skipped_and_shared() -> None:
    symbols = np.frombuffer(b"123456789", np.uint8)
    assert string_tensor_pack(np.array([8, 0, 0]), np.array([9, 1, 4]), symbols).tolist() == ["9", "1", "1234"]


def test_invalid_utf8_is_masked() -> None:
    symbols = np.frombuffer("é!".encode(), np.uint8)
    array = string_tensor_pack(np.array([0, 1, 0, 3, 9]), np.array([1, 2, 3, 1, 3]), symbols)
    assert np.ma.getmaskarray(array).tolist() == [True, True, False, True, True]
    assert array[2] == "é!"
    replaced = "\N{REPLACEMENT CHARACTER}"
    same = np.frombuffer(replaced.encode(), np.uint8)
    assert string_tensor_pack(np.array([0]), np.array([3]), same).tolist() == [replaced]


@pytest.mark.parametrize(("begin", "end"), [(-1, 2), (0, 5), (0, -1)])
def test_out_of_range_positions_are_rejected(begin: int, end: int) -> None:
    with pytest.raises(InputError, match="positions"):
        string_tensor_pack(np.array([begin]), np.array([end]), np.frombuffer(b"abcd", np.uint8))


def test_invalid_string_tensors_are_rejected() -> None:
    with pytest.raises(InputError, match="UTF-8"):
        string_tensor_unpack(texts("\ud800"))
    with pytest.raises(InputError, match="expected strings"):
        string_tensor_unpack(texts(b"a"))
    with pytest.raises(InputError, match="a list of bytes"):
        string_tensor_pack(np.array([0]), np.array([1]), np.array([1, 2]))


def test_repeated_strings_count_toward_the_budget() -> None:
    """A thousand identical texts of a million bytes."""
    symbols = np.zeros(10**6, np.uint8)
    with memory.limit(10**8), pytest.raises(InputError, match="limit"):
        string_tensor_pack(np.zeros(1000, np.int64), np.full(1000, 10**6), symbols)
