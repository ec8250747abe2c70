"""Descriptions of tensors: leading ones, strides, unsigned types."""

from __future__ import annotations

import pytest

from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal
from specgate.runtimes.onnxruntime.lowering.tensors import as_uint, broadcast_strides, packed_strides, pad_sizes


@pytest.mark.parametrize(
    ("align", "sizes", "expected"),
    [
        ("right", (2, 3), (1, 1, 2, 3)),
        ("left", (2, 3), (2, 3, 1, 1)),
        ("spatial", (2, 3, 7), (2, 3, 1, 7)),
        ("channel", (5,), (1, 5, 1, 1)),
        ("height", (5,), (1, 1, 5, 1)),
        ("channel", (), (1, 1, 1, 1)),
        ("right", (1, 2, 3, 4, 5), (1, 2, 3, 4, 5)),
    ],
)
def test_padding_aligns_sizes(align: str, sizes: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert pad_sizes(sizes, 4, align) == expected


def test_strides() -> None:
    assert packed_strides((2, 3, 4)) == (12, 4, 1)
    assert packed_strides(()) == ()
    assert broadcast_strides((3, 1), 4) == (0, 0, 1, 0)
    assert broadcast_strides((2, 1, 4), 3) == (4, 0, 1)
    with pytest.raises(ProviderRefusal, match="cannot broadcast a tensor of 2 dimensions to 1"):
        broadcast_strides((2, 3), 1)


def test_negative_numbers_are_read_as_unsigned() -> None:
    assert as_uint(-1) == 2**32 - 1
    assert as_uint(7) == 7
