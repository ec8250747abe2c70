"""Implementations of the rule language's functions.

Some have a second form for arguments that may be unknown.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from specgate.rules.language import LAYOUT_FUNCTIONS, UNKNOWN, Context, Undefined, known

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specgate.descriptors.core import TensorDesc

__all__ = [
    "LOOP_LIMIT",
    "NEST_LIMIT",
    "TURN_LIMIT",
    "bits_of",
    "bounded_range",
    "extent",
    "few",
    "of_layout",
    "overlapping",
    "power_of_two",
    "product",
]

#: Maximum length of a loop, whatever numbers a descriptor holds.
LOOP_LIMIT = 10_000
#: Maximum total iterations of a rule, and maximum length of each nested loop.
TURN_LIMIT = 100_000
NEST_LIMIT = 300


def bounded_range(stop: int) -> range:
    """Return range(stop); raise above LOOP_LIMIT to bound the time of a check."""
    if stop > LOOP_LIMIT:
        raise ValueError(f"range({stop}) is longer than {LOOP_LIMIT}")
    return range(stop)


def few(items: Sequence[Any]) -> Sequence[Any]:
    """Return `items`, the sequence of an outer loop; raise above NEST_LIMIT."""
    if len(items) > NEST_LIMIT:
        raise ValueError(f"{len(items)} iterations of nested loops, more than {NEST_LIMIT}")
    return items


def product(numbers: Iterable[int]) -> int:
    """Return the product, 1 for no numbers."""
    return prod(numbers)


def power_of_two(number: int) -> bool:
    """Return whether `number` is a power of two."""
    return number > 0 and number & (number - 1) == 0


def extent(sizes: Sequence[int], strides: Sequence[int] | None) -> int:
    """Return the number of elements from a tensor's first to its last element.

    strides: None when packed.
    """
    if strides is None:
        return prod(sizes)
    if len(strides) != len(sizes):
        raise ValueError("the number of strides must equal the number of sizes")
    return 0 if 0 in sizes else 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


def overlapping(sizes: Sequence[int], strides: Sequence[int] | None) -> bool:
    """Return whether two coordinates may share an element.

    In order of stride, every stride must exceed the extent of the dimensions with smaller strides. That is exact for
    layouts from padding, broadcasting and permuting. A layout that interleaves dimensions without sharing counts as
    overlapping.
    """
    if strides is None or 0 in sizes:
        return False
    reached = 0
    for stride, size in sorted(zip(strides, sizes, strict=True)):  # strict: the rank must match
        if size <= 1:
            continue
        if stride <= reached:
            return True
        reached += (size - 1) * stride
    return False


def bits_of(tensor: TensorDesc, context: Context) -> Any:
    """Return the bits per element, UNKNOWN for an unknown type."""
    return known(context.bits.get(tensor.type)) if tensor.type is not None else UNKNOWN


def of_layout(name: str, tensor: TensorDesc, context: Context) -> Any:
    """Return a registered layout function's value.

    UNKNOWN where a size or the type is unknown; raises Undefined where the function raises ValueError.
    """
    function = LAYOUT_FUNCTIONS[name]
    bits = bits_of(tensor, context) if function.needs_bits else 0
    if bits is UNKNOWN or tensor.sizes is None:
        return UNKNOWN
    if not all(isinstance(each, int) for each in (*tensor.sizes, *(tensor.strides or ()))):
        return UNKNOWN
    try:
        return function.compute(bits, tensor.sizes, tensor.strides)
    except ValueError as error:
        raise Undefined(str(error)) from None
