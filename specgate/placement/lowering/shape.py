"""How the DirectML provider describes a tensor: ones in front up to four dimensions, strides of 0 to broadcast.

Source: microsoft/onnxruntime, onnxruntime/core/providers/dml/DmlExecutionProvider/src/TensorDesc.cpp at
a30ebf1f3fb5405094e7174aa300bfda41807c7a.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.placement.lowering.reasons import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["ALIGNMENTS", "as_uint", "broadcast_strides", "packed_strides", "padded"]

Sizes = tuple[int, ...]


def padded(sizes: Sequence[int], least: int, align: str = "right") -> Sizes:
    """Return sizes with ones added until there are `least`. align: where the ones go, a key of `ALIGNMENTS`."""
    return ALIGNMENTS[align](tuple(sizes), max(0, least - len(sizes)))


def _spatial(sizes: Sizes, ones: int) -> Sizes:
    return sizes[:2] + (1,) * ones + sizes[2:]


def _at(place: int) -> Callable[[Sizes, int], Sizes]:
    """Return what puts the first size at a place, as far as there are ones to go before it."""

    def align(sizes: Sizes, ones: int) -> Sizes:
        before = min(place, ones)
        return (1,) * before + sizes + (1,) * (ones - before)

    return align


#: Ones in front of all; behind all; between batch, channel and the rest; the first size
#: as that of channels, or of the dimension behind them.
ALIGNMENTS: Final[Mapping[str, Callable[[Sizes, int], Sizes]]] = {
    "right": lambda sizes, ones: (1,) * ones + sizes,
    "left": lambda sizes, ones: sizes + (1,) * ones,
    "spatial": _spatial,
    "channel": _at(1),
    "height": _at(2),
}


def as_uint(number: float) -> int:
    """Return what 32 bits without a sign make of a number: the provider hands negative ones on unchecked."""
    return int(number) & 0xFFFFFFFF


def packed_strides(sizes: Sequence[int]) -> Sizes:
    """Return the strides of a tensor without gaps."""
    strides, stride = [], 1
    for size in reversed(sizes):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def broadcast_strides(held: Sequence[int], rank: int) -> Sizes:
    """Return the strides that read `held` as a larger tensor of `rank` dimensions: 0 where a size is 1 or missing.

    Raises Refused where there are more sizes than dimensions.
    """
    if len(held) > rank:
        raise Refused("broadcast", f"a tensor of {len(held)} dimensions is to be broadcast to {rank}")
    strides, stride = [0] * rank, 1
    for back, size in enumerate(reversed(held), 1):
        if size != 1:
            strides[rank - back] = stride
            stride *= size
    return tuple(strides)
