"""Descriptors with sizes of 0: one dimension and related dimensions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specgate.generate.moves import replace_tensors, resize_dimension

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["dimensions_of", "empty_out"]


def dimensions_of(descriptor: Descriptor) -> list[tuple[str, int]]:
    """Return the tensor and axis of each dimension of known nonzero size."""
    return [
        (place, axis)
        for place, tensor in descriptor.tensors()
        for axis, size in enumerate(tensor.sizes or ())
        if isinstance(size, int) and size
    ]


def empty_out(descriptor: Descriptor, spec: OperatorSpec, place: str, axis: int) -> Iterator[Descriptor]:
    """Yield the descriptor with size 0 for a dimension and related ones.

    Candidates for related dimensions are those of equal size (also if the size is a number in an attribute or
    constant), those on the same axis counted from either end, and none. The results may be invalid.
    """
    tensors = dict(descriptor.tensors())
    sizes = tensors[place].sizes or ()
    restored = len(sizes) - axis
    same = [(p, a) for p, t in tensors.items() for a, size in enumerate(t.sizes or ()) if size == sizes[axis]]
    groups = (
        same,
        [(p, a) for p, a in same if a == axis],
        [(p, a) for p, a in same if len(tensors[p].sizes or ()) - a == restored],
        [(place, axis)],
    )
    yield _renumber(_resize(descriptor, same), spec, sizes[axis])
    yield from (_resize(descriptor, group) for group in dict.fromkeys(map(tuple, groups)))


def _resize(descriptor: Descriptor, dimensions: Iterable[tuple[str, int]]) -> Descriptor:
    """Return the descriptor with size 0 for some dimensions."""
    tensors = dict(descriptor.tensors())
    changed: dict[str, TensorDesc] = {}
    for place, axis in dimensions:
        changed[place] = resize_dimension(changed.get(place, tensors[place]), axis, 0)
    return replace_tensors(descriptor, changed)


def _renumber(descriptor: Descriptor, spec: OperatorSpec, size: Any) -> Descriptor:
    """Return the descriptor with 0 instead of `size` in integer arrays.

    Changes attributes and constants.
    """

    def other(items: Iterable[Any]) -> list[Any]:
        return [0 if type(item) is int and item == size else item for item in items]

    values = {p: t._replace(value=tuple(other(t.value))) for p, t in descriptor.tensors() if t.value is not None}
    fields = dict(replace_tensors(descriptor, values).fields)
    for info in spec.attributes:
        value = fields.get(info.name)
        if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            fields[info.name] = type(value)(other(value))
    return replace(descriptor, fields=fields, plain=False)
