"""DirectML's additions to tables and rules.

They are two records, the buffer tensor, and functions of its layout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.rules.functions import extent, overlapping, overlapping_rows
from specgate.rules.language import NUMBER, NUMBERS, TRUTH, Attribute, LayoutFunction, Vocabulary, register

if TYPE_CHECKING:
    from collections.abc import Sequence


class Size2D(NamedTuple):
    """A width and a height, both integers (DML_SIZE_2D)."""

    Width: int
    Height: int


class ScaleBias(NamedTuple):
    """The function x * Scale + Bias (DML_SCALE_BIAS)."""

    Scale: float
    Bias: float


def minimum_size(bits: int, sizes: Sequence[int], strides: Sequence[int] | None) -> int:
    """Return the minimum bytes of a DirectML buffer tensor, a multiple of 4.

    bits: per element; 4-bit elements are packed. sizes, strides: in elements, strides None when packed. Source:
    DMLCalcBufferTensorSize on the page dml-helper-functions.
    """
    return (extent(sizes, strides) * bits + 31) // 32 * 4


VOCABULARY: Final = Vocabulary(
    attributes={
        "strides": Attribute(NUMBERS, "strides"),
        "TotalTensorSizeInBytes": Attribute(NUMBER, "size_in_bytes"),
        "GuaranteedBaseOffsetAlignment": Attribute(NUMBER, "alignment"),
        "Flags": Attribute(NUMBER, "flags"),
    },
    functions={
        "extent": LayoutFunction(
            NUMBER,
            lambda _, sizes, strides: extent(sizes, strides),
            ("the reach in elements of {}",),
            cpp=("extent(check, {})", 0, 2**80),
        ),
        "overlapping": LayoutFunction(
            TRUTH,
            lambda _, sizes, strides: overlapping(sizes, strides),
            ("the strides of {} let elements overlap", "no elements of {} overlap"),
            columns=lambda _, sizes, strides: overlapping_rows(sizes, strides),
        ),
        "minimum_size": LayoutFunction(
            NUMBER,
            minimum_size,
            ("the least size in bytes of {}",),
            needs_bits=True,
            cpp=("minimum_size(check, {})", 0, 2**80),
        ),
    },
    records={"size-2d": Size2D, "scale-bias": ScaleBias},
)
register(VOCABULARY)
