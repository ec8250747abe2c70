"""Lowering of operators that move elements, from their constant inputs.

Source: microsoft/onnxruntime, onnxruntime/core/providers/dml/OperatorAuthorHelper/OperatorHelper.cpp at
a64d1e6092a1f4b96c4d5e0b837b07e29bb93af8, and the files that the tables of the operators name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import TensorDesc
from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal
from specgate.runtimes.onnxruntime.lowering.tensor_builder import (
    constant,
    number,
    operator,
    optional_tensor,
    provider_tensor,
    tensor_of,
    tensor_shape,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.runtimes.onnxruntime.lowering.state import State

_INT32: Final = (-(2**31), 2**31 - 1)
_MODES: Final = {"constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECTION", "wrap": "WRAP"}


def joined(state: State) -> Iterator[Descriptor]:
    """Yield the operator that joins the nonempty inputs of a Concat."""
    output = tensor_of(state, "output0")
    nonempty = [tensor for tensor in state.get("inputs") if 0 not in tensor_shape(tensor)]
    axis, rank = number(state, "axis"), len(tensor_shape(output))
    yield operator(
        "JOIN",
        InputTensors=[provider_tensor(state, tensor) for tensor in nonempty],
        OutputTensor=provider_tensor(state, output),
        Axis=(axis if axis >= 0 else axis + rank) + max(0, state.least - rank),
    )


def _clamp_integers(state: State, name: str) -> list[int] | None:
    """Return a list of integers, clamped to 32 bits.

    It comes from the constant input of that name, or else from the attribute.
    """
    items = constant(state, name)
    if items is None:
        items = state.get(f"{name}_attribute")
    return None if items is None else [min(max(int(number), _INT32[0]), _INT32[1]) for number in items]


def _dimension(axis: int, rank: int) -> int:
    dimension = axis + rank if axis < 0 else axis
    if not 0 <= dimension < rank:
        raise ProviderRefusal("axes", f"axis {axis} is out of range for {rank} dimensions")
    return dimension


class _Window(NamedTuple):
    """The start, size and step of a slice along one dimension."""

    offset: int
    size: int
    step: int


def _window(size: int, start: int, end: int, step: int) -> _Window:
    if step == 0:
        raise ProviderRefusal("steps", "a step must not be 0")
    first = start + size if _INT32[0] < start < 0 else start
    last = end + size if end < 0 and start > _INT32[0] else end
    if step < 0:  # the window in memory order
        first, last = last, first
        first += first < _INT32[1]
        last += last < _INT32[1]
    first, last = max(first, 0), min(last, size)
    return _Window(first, max(last - first, 0), step)


def sliced(state: State) -> Iterator[Descriptor]:
    """Yield the operator of a Slice."""
    data, output = tensor_of(state, "input0"), tensor_of(state, "output0")
    sizes = tensor_shape(data)
    starts, ends = _clamp_integers(state, "starts") or [], _clamp_integers(state, "ends") or []
    axes, steps = _clamp_integers(state, "axes"), _clamp_integers(state, "steps")
    if any(part is not None and len(part) != len(starts) for part in (ends, axes or None, steps or None)):
        raise ProviderRefusal("counts", "starts, ends, axes and steps must have the same length")
    windows = [_Window(0, size, 1) for size in sizes]
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        dimension = _dimension(axes[index] if axes else index, len(sizes))
        windows[dimension] = _window(sizes[dimension], start, end, steps[index] if steps else 1)
    yield operator(
        "SLICE1",
        InputTensor=provider_tensor(state, data, least=1),
        OutputTensor=provider_tensor(state, output, least=1),
        InputWindowOffsets=[window.offset for window in windows],
        InputWindowSizes=[window.size for window in windows],
        InputWindowStrides=[window.step for window in windows],
    )


def padded(state: State) -> Iterator[Descriptor]:
    """Yield the operator of a Pad."""
    data, output = tensor_of(state, "input0"), tensor_of(state, "output0")
    rank, word = len(tensor_shape(data)), state.dml_type(data)
    pads = _pads(state)
    axes = [_dimension(axis, rank) for axis in _clamp_integers(state, "axes") or range(rank)]
    if len(pads) != 2 * len(axes):
        raise ProviderRefusal("pads-count", "each axis must have two pads")
    shift = max(0, state.least - rank)
    start, end = [0] * (rank + shift), [0] * (rank + shift)
    for index, axis in enumerate(axes):
        start[axis + shift], end[axis + shift] = pads[index], pads[index + len(axes)]
    yield operator(
        "PADDING1",
        InputTensor=provider_tensor(state, data),
        OutputTensor=provider_tensor(state, output),
        PaddingMode=_mode(state),
        PaddingValueDataType=word,
        PaddingValue=_value(state, word),
        StartPadding=start,
        EndPadding=end,
    )


def _mode(state: State) -> str:
    word = state.get("mode")
    if word not in _MODES:
        raise ProviderRefusal("mode", f"the kernel does not support the mode {word!r:.40}")
    return _MODES[word]


def _pads(state: State) -> list[int]:
    return _clamp_integers(state, "pads") or [int(pad) for pad in state.get("paddings") or ()]


def _value(state: State, word: str) -> int | float:
    items: Sequence[Any] | None = constant(state, "input2") if optional_tensor(state, "input2") is not None else None
    if items is not None and len(items) != 1:
        raise ProviderRefusal("value", "the pad value must be a single number")
    value = items[0] if items else (state.get("value") or state.get("value_attribute") or 0)
    if isinstance(value, TensorDesc):
        value = 0
    return float(value) if word.startswith("FLOAT") else int(value)


def without_ones(sizes: Sequence[int], *size_lists: Sequence[Any]) -> list[list[Any]]:
    """Return `size_lists` without the positions at which `sizes` is 1.

    If all sizes are 1, the first position remains.
    """
    kept_places = [index for index, size in enumerate(sizes) if size != 1] or [0][: len(sizes)]
    return [[other[index] for index in kept_places] for other in size_lists]


def tiled(state: State) -> Iterator[Descriptor]:
    """Yield the operator of a Tile."""
    data, output = tensor_of(state, "input0"), tensor_of(state, "output0")
    repeat_counts = constant(state, "input1") or ()
    if len(repeat_counts) != len(tensor_shape(data)):
        raise ProviderRefusal("repeats-count", "each dimension must have a repeat count")
    target = tensor_shape(output)
    if len(target) != len(repeat_counts):
        raise ProviderRefusal("output-rank", "the output must have as many dimensions as the input")
    target_sizes, data_sizes, counts = without_ones(
        target, tensor_shape(data), target, [int(count) for count in repeat_counts]
    )
    tensor = provider_tensor(state, output, data_sizes)
    yield operator(
        "TILE",
        InputTensor=provider_tensor(state, data, target_sizes),
        OutputTensor=tensor,
        Repeats=[1] * (len(tensor_shape(tensor)) - len(counts)) + counts,
    )
