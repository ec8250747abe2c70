"""Sequence and optional operators of ONNX.

ONNX ConcatFromSequence, Optional, OptionalGetElement, OptionalHasElement, SequenceAt, SequenceConstruct, SequenceEmpty,
SequenceErase, SequenceInsert, SequenceLength, SplitToSequence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.containers import ArrayList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def empty_sequence() -> list[Any]:
    """Return an empty sequence."""
    return []


def sequence_construct(inputs: Sequence[Any]) -> list[Any]:
    """Return a sequence of the tensors in `inputs`, of one element type."""
    if not inputs:
        raise InputError("expected at least one tensor for a sequence")
    kinds = {array.dtype for array in inputs}
    if len(kinds) > 1:
        raise InputError(f"expected tensors of one type in a sequence, found {', '.join(sorted(map(str, kinds)))}")
    return list(inputs)


def sequence_at(sequence: list[Any], position: NDArray[Any]) -> Any:
    """Return the element at `position`, from -n to n-1."""
    return sequence[_wrap_position(position, len(sequence), len(sequence) - 1)]


def sequence_insert(sequence: list[Any], tensor: NDArray[Any], position: NDArray[Any] | None = None) -> list[Any]:
    """Return `sequence` with `tensor` inserted at `position`, from -n to n.

    Default at the end.
    """
    if sequence and sequence[0].dtype != tensor.dtype:
        raise InputError(f"expected a tensor of {sequence[0].dtype} for the sequence, found {tensor.dtype}")
    place = len(sequence) if position is None else _wrap_position(position, len(sequence), len(sequence))
    return [*sequence[:place], tensor, *sequence[place:]]


def sequence_erase(sequence: list[Any], position: NDArray[Any] | None = None) -> list[Any]:
    """Return `sequence` without its element at `position`, default the last."""
    if not sequence:
        raise InputError("expected a sequence with an element to erase, found an empty one")
    place = len(sequence) - 1 if position is None else _wrap_position(position, len(sequence), len(sequence) - 1)
    return [*sequence[:place], *sequence[place + 1 :]]


def sequence_length(sequence: list[Any]) -> NDArray[Any]:
    """Return the number of elements, a scalar of int64."""
    return np.array(len(sequence), np.int64)


def _wrap_position(position: NDArray[Any], count: int, limit: int) -> int:
    if position.size != 1:
        raise InputError(f"expected a position of one element, found {position.size}")
    place = int(position.reshape(()))
    if not -count <= place <= limit:
        raise InputError(f"expected a position from {-count} to {limit} for {count} elements, found {place}")
    return place + count if place < 0 else place


def concat_from_sequence(sequence: list[Any], axis: int, *, new_axis: int = 0) -> NDArray[Any]:
    """Return the tensors concatenated along `axis`, stacked if new_axis is 1."""
    if not sequence:
        raise InputError("expected a sequence of at least one tensor, found an empty one")
    if new_axis not in {0, 1}:
        raise InputError(f"expected new_axis 0 or 1, found {new_axis}")
    first = sequence[0]
    rank = first.ndim + new_axis
    if not -rank <= axis < rank:
        raise InputError(f"expected an axis from {-rank} to {rank - 1}, found {axis}")
    axis %= rank
    for index, array in enumerate(sequence):
        shapes_agree = array.shape == first.shape if new_axis else _equal_except(array.shape, first.shape, axis)
        if not shapes_agree:
            raise InputError(
                f"tensor {index} of the shape {list(array.shape)} does not match the first, {list(first.shape)}"
            )
    length = len(sequence) if new_axis else sum(array.shape[axis] for array in sequence)
    rest = first.shape[:axis], first.shape[axis + (0 if new_axis else 1) :]
    matching_array = memory.empty((*rest[0], length, *rest[1]), first.dtype)
    (np.stack if new_axis else np.concatenate)(sequence, axis=axis, out=matching_array)
    return matching_array


def _equal_except(shape: tuple[int, ...], other: tuple[int, ...], axis: int) -> bool:
    return len(shape) == len(other) and all(
        a == b for place, (a, b) in enumerate(zip(shape, other, strict=True)) if place != axis
    )


def _require_parts(count: int) -> None:
    """Raise InputError where so many arrays exceed the memory budget.

    The number counts, even for arrays without elements.
    """
    memory.check_budget((count, 8), np.dtype(np.float64))


def split_to_sequence(
    data: NDArray[Any], split: NDArray[Any] | None = None, *, axis: int = 0, keepdims: int = 1
) -> list[Any]:
    """Return the parts of `data` along `axis` as a sequence.

    split: a scalar is the size of each part (the last may be smaller), a list holds all sizes. Without it each part has
    size 1, and the dimension is dropped where keepdims is 0.
    """
    if not -data.ndim <= axis < data.ndim:
        raise InputError(f"expected an axis from {-data.ndim} to {data.ndim - 1}, found {axis}")
    axis %= data.ndim
    length = data.shape[axis]
    if split is None:
        _require_parts(length)
        places = ([place] if keepdims else place for place in memory.within_time_limit(range(length)))
        return [np.take(data, place, axis=axis) for place in places]
    if split.ndim == 0:
        size = int(split)
        if size < 1:
            raise InputError(f"expected a split size of at least 1, found {size}")
        sizes = [min(size, length - start) for start in range(0, length, size)]
    else:
        sizes = [int(size) for size in split.reshape(-1)]
    if min(sizes, default=0) < 0 or sum(sizes) != length:
        raise InputError(f"expected split sizes that add up to {length}, found {sizes[:8]}")
    ends = np.cumsum(sizes)
    _require_parts(len(sizes))
    return [
        np.take(data, range(end - size, end), axis=axis)
        for size, end in memory.within_time_limit(zip(sizes, map(int, ends), strict=True))
    ]


def make_optional(value: Any = None) -> ArrayList:
    """Return an optional that holds `value`, or is empty."""
    return ArrayList(value)


def optional_get_element(value: Any) -> Any:
    """Return the content of an optional; other values are returned as is."""
    result = value.value if isinstance(value, ArrayList) else value
    if result is None:
        raise InputError("the optional is empty")
    return result


def optional_has_element(value: Any = None) -> NDArray[Any]:
    """Return whether an optional holds a value, a scalar of bool."""
    result = value.value if isinstance(value, ArrayList) else value
    return np.array(result is not None)
