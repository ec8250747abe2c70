"""Small changes to a descriptor: cheap where a search is dear. Whether the result is valid is not asked here."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import Descriptor, ScaleBias, Size2D, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from random import Random

    from specgate.spec.tables import OperatorSpec

__all__ = ["Mover"]

_LAYOUT = {"strides", "size_in_bytes", "alignment", "flags"}
_MAX_RANK = 9


class Mover:
    """Changes descriptors of one operator at random.

    numbers: what its rules compare with, and neighbours. donors: descriptors to take a field from.
    """

    def __init__(
        self, spec: OperatorSpec, random: Random, numbers: list[int], donors: Sequence[Descriptor], *, layouts: bool
    ) -> None:
        self.spec = spec
        self.donors = donors
        self.random = random
        self.numbers = numbers
        self.types = list(spec.dialect.types)
        self._moves: list[Callable[[Descriptor], dict[str, Any]]] = [
            self._resize, self._resize, self._retype, self._retype, self._deepen, self._value, self._leave_out,
            self._graft,
        ]  # fmt: skip
        if layouts:
            self._moves += [self._lay_out, self._lay_out]

    def moved(self, descriptor: Descriptor, steps: int) -> Descriptor:
        """Return the descriptor after so many changes, some of which may change nothing."""
        for _ in range(steps):
            changes = self._pick(self._moves)(descriptor)
            if changes:
                fields = {
                    name: changes.get(name, descriptor.fields.get(name)) for name in self._names(descriptor, changes)
                }
                left = {name: value for name, value in fields.items() if value is not None}
                descriptor = replace(descriptor, fields=left, plain=False)
        return descriptor

    def _names(self, descriptor: Descriptor, changes: dict[str, Any]) -> Iterable[str]:
        """Return the fields of both, in the table's order."""
        if changes.keys() <= descriptor.fields.keys():
            return descriptor.fields
        both = {**descriptor.fields, **changes}
        return [*(name for name in self.spec.fields if name in both), *(n for n in both if n not in self.spec.fields)]

    def _pick(self, items: Any) -> Any:
        return items[self.random.randrange(len(items))]

    def _put(self, descriptor: Descriptor, tensors: dict[str, TensorDesc]) -> dict[str, Any]:
        """Return the fields to change for tensors by their place."""
        changes: dict[str, Any] = {}
        for place, tensor in tensors.items():
            name, bracket, index = place.partition("[")
            if bracket:
                items = list(changes.get(name, descriptor.fields[name]))
                items[int(index[:-1])] = tensor
                changes[name] = type(descriptor.fields[name])(items)
            else:
                changes[name] = tensor
        return changes

    def near(self, number: Any) -> int:
        """Return a number beside another one, or one that the rules mention."""
        base = number if isinstance(number, int) else 1
        sample = self.random.sample(self.numbers, min(2, len(self.numbers)))
        return int(self._pick([base + 1, max(base - 1, 0), base * 2, *sample]))

    def _resize(self, descriptor: Descriptor) -> dict[str, Any]:
        """One dimension, in one tensor or in all that have the same size there."""
        tensors = {place: t for place, t in descriptor.tensors() if t.sizes}
        if not tensors:
            return {}
        first = tensors[self._pick(list(tensors))]
        sizes = first.sizes or ()
        axis = self.random.randrange(len(sizes))
        new = self._pick([1, 2, 3, 4, self.near(sizes[axis])])
        alike = self._pick(["one", "same", "all"])
        changed = {}
        for place, tensor in tensors.items():
            own = tensor.sizes or ()
            same = axis < len(own) and (own[axis] == sizes[axis] or alike == "all")
            if tensor is first or (alike != "one" and same):
                shape = (*own[:axis], new, *own[axis + 1 :])
                changed[place] = self._packed(tensor, shape)
        return self._put(descriptor, changed)

    @staticmethod
    def _packed(tensor: TensorDesc, sizes: tuple[Any, ...]) -> TensorDesc:
        """Return the tensor with other sizes; a layout that was made for its old ones goes, and so do its elements."""
        keep = tensor.strides is not None and len(tensor.strides) == len(sizes)
        return tensor._replace(sizes=sizes, value=None, size_in_bytes=None, strides=tensor.strides if keep else None)

    def _retype(self, descriptor: Descriptor) -> dict[str, Any]:
        """Another type: in one tensor, or in all that have the same one."""
        tensors = dict(descriptor.tensors())
        if not tensors:
            return {}
        first = tensors[self._pick(list(tensors))]
        new = self._pick(self.types)
        alone = self.random.randrange(3) == 0
        return self._put(
            descriptor,
            {
                place: t._replace(type=new, value=None, size_in_bytes=None)
                for place, t in tensors.items()
                if t is first or (not alone and t.type == first.type)
            },
        )

    def _deepen(self, descriptor: Descriptor) -> dict[str, Any]:
        """One dimension more or fewer: in front of all tensors, or anywhere in one."""
        tensors = {place: t for place, t in descriptor.tensors() if t.sizes is not None}
        if not tensors:
            return {}
        if self.random.randrange(4):
            add = self.random.randrange(2)
            chosen = tensors
        else:
            add, chosen = self.random.randrange(2), dict([self._pick(list(tensors.items()))])
        changed = {}
        for place, tensor in chosen.items():
            sizes = tensor.sizes or ()
            if (add and len(sizes) >= _MAX_RANK) or (not add and not sizes):
                return {}
            bare = tensor._replace(strides=None)
            changed[place] = self._packed(bare, (1, *sizes) if add else sizes[1:])
        return self._put(descriptor, changed)

    def _value(self, descriptor: Descriptor) -> dict[str, Any]:
        """One attribute, or one number in an array of them."""
        names = [info.name for info in self.spec.attributes if info.name in descriptor.fields]
        if not names:
            return {}
        name = self._pick(names)
        return {name: self._other(name, descriptor.fields[name])}

    def _other(self, name: str, value: Any) -> Any:
        words = self.spec.fields[name].words
        if isinstance(value, bool):
            return not value
        if isinstance(value, str) and words:
            return self._pick(words)
        if isinstance(value, int):
            return self._pick([0, 1, 2, 3, self.near(value)])
        if isinstance(value, Size2D):
            return value._replace(**{self._pick(["Width", "Height"]): self._pick([0, 1, 2, 3, self.near(value.Width)])})
        if isinstance(value, ScaleBias):
            return value._replace(**{self._pick(["Scale", "Bias"]): self._pick([0.0, 1.0, -1.0, 0.5, 2.0])})
        if isinstance(value, float):
            return self._pick([0.0, 1.0, -1.0, 0.5, 2.0, value])
        if isinstance(value, TensorDesc):
            return value._replace(sizes=self._pick([(), (1,), (2,)]), value=None)
        if isinstance(value, list | tuple) and value:
            items = list(value)
            index = self.random.randrange(len(items))
            how = self.random.randrange(6)
            if how == 0:
                items.pop(index)
            elif how == 1:
                items.append(items[index])
            else:
                items[index] = self._other(name, items[index])
            return type(value)(items)
        return value

    def _leave_out(self, descriptor: Descriptor) -> dict[str, Any]:
        """An optional field."""
        names = [n for n in descriptor.fields if n in self.spec.fields and self.spec.fields[n].optional]
        return {self._pick(names): None} if names and self.random.randrange(2) else {}

    def _graft(self, descriptor: Descriptor) -> dict[str, Any]:
        """A field as another descriptor has it, or none if that has none."""
        donor = self._pick(self.donors)
        names = [name for name in self.spec.fields if donor.fields.get(name) is not None]
        left = [name for name in descriptor.fields if name not in donor.fields]
        name = self._pick([*names, *left]) if names or left else None
        return {} if name is None else {name: donor.fields.get(name)}

    def _lay_out(self, descriptor: Descriptor) -> dict[str, Any]:
        """One tensor's strides, total size, alignment or flags."""
        tensors = {place: t for place, t in descriptor.tensors() if t.concrete}
        if not tensors:
            return {}
        place = self._pick(list(tensors))
        tensor = tensors[place]
        how = self.random.randrange(8)
        if how == 0:
            tensor = tensor._replace(strides=None, size_in_bytes=None)
        elif how <= 3:
            tensor = tensor._replace(strides=self._strides(tensor), size_in_bytes=None)
        elif how <= 5:
            tensor = tensor._replace(size_in_bytes=self._total(tensor))
        elif how == 6:
            tensor = tensor._replace(alignment=self._pick([None, 0, 1, 4, 8, 16, 32, 256, 3, 2**31]))
        else:
            tensor = tensor._replace(flags=self._pick([None, 0, 1, 1, 2]))
        return self._put(descriptor, {place: tensor})

    def _strides(self, tensor: TensorDesc) -> tuple[int, ...]:
        """Packed in some order of dimensions, with gaps or steps of zero, or with one number changed."""
        sizes = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        if tensor.strides and len(tensor.strides) == len(sizes) and self.random.randrange(2):
            axis = self.random.randrange(len(sizes))
            return (*tensor.strides[:axis], self.near(tensor.strides[axis]), *tensor.strides[axis + 1 :])
        order = list(range(len(sizes)))
        if self.random.randrange(2):
            self.random.shuffle(order)
        strides, step = [0] * len(sizes), 1
        for axis in reversed(order):
            strides[axis] = self._pick([step, step, step, 0]) if self.random.randrange(3) == 0 else step
            step *= max(sizes[axis], 1) + self._pick([0, 0, 0, 1, 2])
        return tuple(strides)

    def _total(self, tensor: TensorDesc) -> int | None:
        """About as many bytes as the elements need."""
        bits = self.spec.dialect.bits.get(str(tensor.type)) or 32
        sizes = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        last = prod(sizes)
        if tensor.strides and len(tensor.strides) == len(sizes):
            last = 1 + sum((size - 1) * stride for size, stride in zip(sizes, tensor.strides, strict=True))
        need = (last * bits + 7) // 8
        near = self._pick([need, (need + 3) // 4 * 4, need + 64, max(need - 1, 0), (need + 3) // 4 * 4 - 1, 0, None])
        return None if near is None else max(near, 0)
