"""What the rule language's functions compute: plainly for known values, and for the evaluator where some may not be."""

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

#: No rule may loop further than this, whatever numbers a descriptor holds.
LOOP_LIMIT = 10_000
#: How many turns all loops of a rule may take together, and how long loops inside one another may be each.
TURN_LIMIT = 100_000
NEST_LIMIT = 300


def bounded_range(stop: int) -> range:
    """range(stop), refused above LOOP_LIMIT so that a descriptor cannot make a check run long."""
    if stop > LOOP_LIMIT:
        raise ValueError(f"range({stop}) is longer than {LOOP_LIMIT}")
    return range(stop)


def few(items: Sequence[Any]) -> Sequence[Any]:
    """Return `items`, refused above NEST_LIMIT: what a loop with another loop in it may run over."""
    if len(items) > NEST_LIMIT:
        raise ValueError(f"{len(items)} turns of nested loops, more than {NEST_LIMIT}")
    return items


def product(numbers: Iterable[int]) -> int:
    """Return the product, 1 of nothing."""
    return prod(numbers)


def power_of_two(number: int) -> bool:
    """Return whether `number` is 1, 2, 4, 8 and so on."""
    return number > 0 and number & (number - 1) == 0


def extent(sizes: Sequence[int], strides: Sequence[int] | None) -> int:
    """Return how many elements lie between a tensor's first and last one, both counted; strides None when packed."""
    if strides is None:
        return prod(sizes)
    if len(strides) != len(sizes):
        raise ValueError("as many strides as sizes are needed")
    return 0 if 0 in sizes else 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


def overlapping(sizes: Sequence[int], strides: Sequence[int] | None) -> bool:
    """Return whether two coordinates may share an element, judged dimension by dimension.

    Sorted by stride, every stride must step over all that the smaller ones reach. That is exact for layouts made by
    padding, broadcasting and permuting; one that interleaves dimensions without sharing is taken to overlap.
    """
    if strides is None or 0 in sizes:
        return False
    reached = 0
    for stride, size in sorted(zip(strides, sizes, strict=True)):  # strict: as many strides as sizes
        if size <= 1:
            continue
        if stride <= reached:
            return True
        reached += (size - 1) * stride
    return False


def bits_of(tensor: TensorDesc, context: Context) -> Any:
    """Return the bits of an element, unknown where the type is."""
    return known(context.bits.get(tensor.type)) if tensor.type is not None else UNKNOWN


def of_layout(name: str, tensor: TensorDesc, context: Context) -> Any:
    """Compute a function that a dialect registers: unknown where a size or the type is, broken where it says so."""
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
