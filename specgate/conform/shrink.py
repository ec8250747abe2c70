"""Shrinking of descriptors that keep a property.

Removes fields and dimensions first, then reduces numbers.
"""

from __future__ import annotations

from dataclasses import replace
from math import log2
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Descriptor, TensorDesc, is_record
from specgate.spec.tables import dialect as tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["shrink", "size_of"]

_ROUNDS: Final = 60
_LAYOUT: Final = ("strides", "size_in_bytes", "alignment", "flags", "value")


def shrink(
    descriptor: Descriptor, spec: OperatorSpec, same: Callable[[Sequence[Descriptor]], Sequence[bool]]
) -> Descriptor:
    """Return the smallest descriptor found for which `same` holds.

    `same` is called with many descriptors at once.
    """
    types = _order(spec.dialect.types)
    seen: set[str] = set()
    for _ in range(_ROUNDS):
        now = size_of(descriptor)
        candidates = []
        for candidate in _smaller(descriptor, types):
            key = repr(candidate.fields)
            if key not in seen and size_of(candidate) < now:
                seen.add(key)
                candidates.append(candidate)
        if not candidates:
            return descriptor
        kept = [c for c, result in zip(candidates, same(candidates), strict=True) if result]
        if not kept:
            return descriptor
        descriptor = min(kept, key=size_of)
    return descriptor


def _order(types: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(types)}


def size_of(descriptor: Descriptor) -> tuple[int, float, int]:
    """Return a size to compare descriptors.

    It consists of the number of parts, the magnitude of numbers, and the position of types.
    """
    types = _order(tables(descriptor.dialect).types)
    stated, numbers, unusual = 0, 0.0, 0
    for value in descriptor.fields.values():
        for tensor in value if isinstance(value, list | tuple) and not isinstance(value, TensorDesc) else [value]:
            if isinstance(tensor, TensorDesc):
                layout = [getattr(tensor, name) for name in _LAYOUT]
                stated += 2 + len(tensor.sizes or ()) + sum(2 for item in layout if item is not None)
                numbers += sum(_weight(item) for item in (tensor.sizes, *layout))
                unusual += types.get(str(tensor.type), len(types))
            elif isinstance(tensor, Descriptor):
                inner = size_of(tensor)
                stated, numbers = stated + 1 + inner[0], numbers + inner[1]
            elif tensor is not None:
                stated += 1
                numbers += _weight(tensor)
    return stated, numbers, unusual


def _weight(value: Any) -> float:
    """Return a weight for a number or a list of numbers.

    It grows with each number, steeply at first, so that every step down counts.
    """
    if isinstance(value, bool | str) or value is None:
        return int(value is True)
    if isinstance(value, int):
        size = abs(value)
        return 2 * size + (value < 0) if size < 64 else 1024 * log2(size) - 6016
    if isinstance(value, float):
        return 0 if value == 0 else 1 if value == 1 else 2
    return sum(_weight(item) for item in value) if isinstance(value, list | tuple) else 1


def _smaller(descriptor: Descriptor, types: dict[str, int]) -> Iterator[Descriptor]:
    fields = descriptor.fields

    def with_changes(changes: dict[str, Any]) -> Descriptor:
        kept = {name: changes.get(name, value) for name, value in fields.items()}
        left = {name: value for name, value in kept.items() if value is not None}
        return replace(descriptor, fields=left, plain=False)

    tensors = {name: value for name, value in fields.items() if isinstance(value, TensorDesc)}
    for name in fields:
        yield with_changes({name: None})
    ranks = {len(tensor.sizes) for tensor in tensors.values() if tensor.sizes}
    for rank in ranks:
        alike = {name: t for name, t in tensors.items() if t.sizes is not None and len(t.sizes) == rank}
        for axis in range(rank):
            yield with_changes({name: _without(tensor, axis) for name, tensor in alike.items()})
            for new in (1, 2, 3):
                yield with_changes({name: _sized(tensor, axis, new) for name, tensor in alike.items()})
    for text in list(types)[:4]:
        for current in {tensor.type for tensor in tensors.values()} - {text}:
            yield with_changes({n: t._replace(type=text, value=None) for n, t in tensors.items() if t.type == current})
    for name, value in fields.items():
        for smaller in _values(value, types):
            yield with_changes({name: smaller})


def _without(tensor: TensorDesc, axis: int) -> TensorDesc:
    sizes, strides = tensor.sizes or (), tensor.strides
    cut = None if strides is None or len(strides) != len(sizes) else strides[:axis] + strides[axis + 1 :]
    return tensor._replace(sizes=sizes[:axis] + sizes[axis + 1 :], strides=cut, value=None)


def _sized(tensor: TensorDesc, axis: int, size: int) -> TensorDesc:
    sizes = tensor.sizes or ()
    return tensor._replace(sizes=(*sizes[:axis], size, *sizes[axis + 1 :]), value=None)


def _values(value: Any, types: dict[str, int]) -> Iterator[Any]:
    """Yield smaller variants of one field's value."""
    if isinstance(value, TensorDesc):
        yield from (value._replace(**{name: None}) for name in _LAYOUT if getattr(value, name) is not None)
        yield from (value._replace(type=name) for name in list(types)[:4] if name != value.type)
        for axis, size in enumerate(value.sizes or ()):
            yield _without(value, axis)
            yield from (_sized(value, axis, new) for new in _numbers(size) if new >= 0)
        for name in ("strides", "value"):
            yield from (value._replace(**{name: items}) for items in _lists(getattr(value, name), types))
        for name in ("size_in_bytes", "alignment", "flags"):
            yield from (value._replace(**{name: new}) for new in _numbers(getattr(value, name)))
    elif is_record(value):
        yield from (value._replace(**{k: new}) for k, part in value._asdict().items() for new in _numbers(part))
    elif isinstance(value, Descriptor):
        yield from _smaller(value, types)
    elif isinstance(value, list | tuple):
        yield from _lists(value, types)
    elif isinstance(value, bool):
        yield False
    elif isinstance(value, int | float):
        yield from _numbers(value)


def _lists(items: Any, types: dict[str, int]) -> Iterator[Any]:
    for index, item in enumerate(items or ()):
        yield type(items)([*items[:index], *items[index + 1 :]])
        for smaller in _values(item, types):
            yield type(items)([*items[:index], smaller, *items[index + 1 :]])


def _numbers(number: Any) -> list[Any]:
    if isinstance(number, float):
        return [new for new in (0.0, 1.0) if new != number]
    if not isinstance(number, int):
        return [] if number is None else [1]
    options = [0, 1, 2, *(number - (number >> shift) for shift in range(1, abs(number).bit_length())), number - 1]
    return [new for new in dict.fromkeys(options) if new != number]
