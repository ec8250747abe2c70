"""Mutations of one part of a descriptor, in one tensor or several.

The result may be invalid.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import cycle, islice
from math import prod
from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import Descriptor, GraphDesc, TensorDesc, is_record, whole_numbers
from specgate.generate.seeds import pick_option

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from specgate.spec.operator_spec import OperatorSpec


def change_fields(descriptor: Descriptor, spec: OperatorSpec, fields: Mapping[str, Any]) -> Descriptor:
    """Return the descriptor with some fields set or, for None, removed.

    Fields are in the table's order.
    """
    merged_fields = {**descriptor.fields, **fields}
    if not fields.keys() <= descriptor.fields.keys():
        merged_fields = {name: merged_fields[name] for name in (*spec.fields, *merged_fields) if name in merged_fields}
    present_fields = {name: value for name, value in merged_fields.items() if value is not None}
    return replace(descriptor, fields=present_fields, plain=False)


def replace_tensors(descriptor: Descriptor, tensors: Mapping[str, TensorDesc]) -> Descriptor:
    """Return the descriptor with tensors replaced.

    The keys name tensors, such as ``A`` and ``Inputs[1]``.
    """
    fields = dict(descriptor.fields)
    for place, tensor in tensors.items():
        name, bracket, index = place.partition("[")
        if bracket:
            items = list(fields[name])
            items[int(index[:-1])] = tensor
            fields[name] = type(descriptor.fields[name])(items)
        else:
            fields[name] = tensor
    return replace(descriptor, fields=fields, plain=False)


def resize_tensor(tensor: TensorDesc, sizes: tuple[Any, ...]) -> TensorDesc:
    """Return the tensor with other sizes.

    A memory layout for the old sizes is removed. A constant is extended or truncated.
    """
    value = tensor.value
    if value is not None:
        number = prod(size for size in sizes if isinstance(size, int))
        value = tuple(islice(cycle(value or (0,)), min(number, 4096)))
    keep_strides = tensor.strides is not None and len(tensor.strides) == len(sizes)
    return tensor._replace(
        sizes=sizes, value=value, size_in_bytes=None, strides=tensor.strides if keep_strides else None
    )


def resize_dimension(tensor: TensorDesc, axis: int, size: int) -> TensorDesc:
    """Return the tensor with one size changed."""
    sizes = tensor.sizes or ()
    return resize_tensor(tensor, (*sizes[:axis], size, *sizes[axis + 1 :]))


def retype_tensors(descriptor: Descriptor, places: Iterable[str], kind: str) -> Descriptor:
    """Return the descriptor with another type for the named tensors."""
    tensors = dict(descriptor.tensors())
    return replace_tensors(descriptor, {p: tensors[p]._replace(type=kind, size_in_bytes=None) for p in places})


def retyped_within(descriptor: Descriptor, places: Collection[str], kind: str) -> Descriptor:
    """Return the descriptor with another type for the named tensors.

    Tensors of the same type in its subgraphs change too.
    """
    tensors = dict(descriptor.tensors())
    old = {tensors[place].type for place in places}

    def broadcast_ends(ends: Iterable[TensorDesc]) -> tuple[TensorDesc, ...]:
        return tuple(end._replace(type=kind) if end.type in old else end for end in ends)

    graphs = {name: value for name, value in descriptor.fields.items() if isinstance(value, GraphDesc)}
    new_graphs = {
        name: GraphDesc(broadcast_ends(graph.inputs), broadcast_ends(graph.outputs)) for name, graph in graphs.items()
    }
    return retype_tensors(replace(descriptor, fields={**descriptor.fields, **new_graphs}), places, kind)


def add_dimensions(descriptor: Descriptor, places: Iterable[str], steps: int) -> Descriptor:
    """Return the descriptor with `steps` leading dimensions added.

    The added dimensions have size 1. A negative number removes leading dimensions. Only the tensors in `places` change.
    """
    tensors = dict(descriptor.tensors())
    tensors_by_name = {}
    for place in places:
        sizes = tensors[place].sizes or ()
        deeper = (1,) * steps + sizes if steps > 0 else sizes[min(-steps, len(sizes)) :]
        tensors_by_name[place] = resize_tensor(tensors[place]._replace(strides=None), deeper)
    return replace_tensors(descriptor, tensors_by_name)


def change_depth(
    descriptor: Descriptor,
    spec: OperatorSpec,
    position_from_end: int,
    *,
    drop_dimension: bool = False,
    places: Collection[str] | None = None,
) -> Descriptor:
    """Return the descriptor with a dimension duplicated or dropped.

    This applies to all tensors, or to those in `places`, and to the numbers per dimension in all arrays.
    position_from_end: the dimension counted from the last, which is 1. An array of even length above the maximum rank
    holds two numbers per dimension: first all starts, then all ends.
    """
    ranks = [len(tensor.sizes or ()) for _, tensor in descriptor.tensors()]
    max_rank = max(ranks, default=0)

    def changed_items(items: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(items) < position_from_end:
            return items
        position = len(items) - position_from_end
        return (
            *items[:position],
            *(() if drop_dimension else items[position : position + 1] * 2),
            *items[position + 1 :],
        )

    entries: dict[str, Any] = {}
    for name, value in descriptor.fields.items():
        if isinstance(value, list | tuple) and not hasattr(value, "_fields") and value and _numeric(value):
            halves = (value[: len(value) // 2], value[len(value) // 2 :]) if len(value) > max_rank else (value,)
            entries[name] = type(value)([item for half in halves for item in changed_items(tuple(half))])
    entries |= {i.name: len(entries[i.counts[0]]) for i in spec.attributes if i.counts and i.counts[0] in entries}
    chosen_tensors = [(p, t) for p, t in descriptor.tensors() if places is None or p in places]
    tensors = {p: t for p, t in chosen_tensors if t.sizes is not None and len(t.sizes) >= position_from_end}
    sized = {p: resize_tensor(t._replace(strides=None), changed_items(t.sizes or ())) for p, t in tensors.items()}
    return replace_tensors(replace(descriptor, fields={**descriptor.fields, **entries}, plain=False), sized)


def _numeric(items: Any) -> bool:
    return all(isinstance(item, int | float) for item in items)


def linked_tensors(descriptor: Descriptor, place: str, aspect: str) -> Iterator[list[str]]:
    """Yield groups of tensors to change together with one of them.

    The groups are the tensors with the same type or rank, all tensors, and the tensor itself.
    """
    tensors = dict(descriptor.tensors())
    if aspect == "type":
        same_type_places = [p for p, t in tensors.items() if t.type == tensors[place].type]
    else:
        same_type_places = [p for p, t in tensors.items() if len(t.sizes or ()) == len(tensors[place].sizes or ())]
    groups = [same_type_places, [place]] if aspect == "type" else [same_type_places, [place], list(tensors)]
    yield from (list(group) for group in dict.fromkeys(map(tuple, groups)))


MAX_RANK = 9
_FLOATS = (0.0, 1.0, -1.0, 0.5, 2.0)
#: Maximum length of a generated array of tensors.
_MAX_ARRAY = 3


@lru_cache(maxsize=1024)
def type_names(spec: OperatorSpec) -> tuple[tuple[str, Any, str], ...]:
    """Return the attributes that name a type.

    Each comes with its values and the type that the value means.
    """
    parts: list[tuple[str, Any, str]] = []
    for info in spec.attributes:
        values = spec.dialect.numbers(info.enum) if info.enum is not None else {word: word for word in info.words or ()}
        if not info.type.endswith("[]"):
            parts += [(info.name, value, word) for word, value in values.items() if word in spec.dialect.types]
    return tuple(parts)


class Mutator:
    """Random mutations of the descriptors of one operator.

    numbers: the numbers with which its rules compare, and their neighbours. donors: descriptors from which fields are
    copied. types: for each tensor field the candidate types; all types of the dialect by default.
    """

    def __init__(
        self,
        spec: OperatorSpec,
        pick: Callable[[int, int], int],
        numbers: Sequence[int],
        donors: Sequence[Descriptor],
        types: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.spec = spec
        self.donors = donors
        self.pick = pick
        self.numbers = numbers
        self.every_type = list(spec.dialect.types)
        self.types = types or {}
        self._names = type_names(spec)
        self._moves: list[Callable[[Descriptor], Descriptor]] = [
            self._resize, self._resize, self.retype_tensor, self.retype_tensor, self._change_rank, self._value,
            self._leave_out, self._copy_field,
        ]  # fmt: skip
        if any("tensor.strides" in form.require.needs for form in spec.dialect.tensor_rules):
            self._moves += [self._change_layout, self._change_layout]
        if any(info.type == "tensor[]" for info in spec.fields.values()):
            self._moves.append(self._count)

    def mutate_descriptor(self, descriptor: Descriptor, steps: int) -> Descriptor:
        """Return the descriptor after `steps` mutations.

        Some of them may have no effect.
        """
        for _ in range(steps):
            descriptor = self._pick_item(self._moves)(descriptor)
        return descriptor

    def _pick_item(self, items: Sequence[Any]) -> Any:
        return pick_option(self.pick, items)

    def nearby_number(self, number: Any) -> int:
        """Return a number close to another one, or a number from the rules."""
        base = number if isinstance(number, int) else 1
        return int(
            self._pick_item(
                [base + 1, max(base - 1, 0), base * 2, self._pick_item(self.numbers), self._pick_item(self.numbers)]
            )
        )

    def _resize(self, descriptor: Descriptor) -> Descriptor:
        """Change one dimension, in one tensor or in all of equal size there."""
        tensors = {place: t for place, t in descriptor.tensors() if t.sizes}
        if not tensors:
            return descriptor
        first = tensors[self._pick_item(list(tensors))]
        sizes = first.sizes or ()
        axis = self.pick(0, len(sizes) - 1)
        new = self._pick_item([1, 2, 3, 4, self.nearby_number(sizes[axis])])
        group = self._pick_item(["one", "same", "all"])
        tensors_by_name = {}
        for place, tensor in tensors.items():
            own_sizes = tensor.sizes or ()
            is_linked = axis < len(own_sizes) and (own_sizes[axis] == sizes[axis] or group == "all")
            if tensor is first or (group != "one" and is_linked):
                tensors_by_name[place] = resize_dimension(tensor, axis, new)
        return replace_tensors(descriptor, tensors_by_name)

    def retype_tensor(self, descriptor: Descriptor) -> Descriptor:
        """Return the descriptor with another type.

        Changes one tensor, all tensors of the same type, or a tensor together with the attribute that names its type.
        """
        tensors = dict(descriptor.tensors())
        if not tensors:
            return descriptor
        place = self._pick_item(list(tensors))
        if self._names and self.pick(0, 1):
            name, value, new = self._pick_item(self._names)
            descriptor = change_fields(descriptor, self.spec, {name: value})
        else:
            new = self._pick_item(self.types.get(place.partition("[")[0], self.every_type))
        is_single = self.pick(0, 3) == 3
        own_type = tensors[place].type
        return retype_tensors(
            descriptor, [p for p, t in tensors.items() if p == place or (not is_single and t.type == own_type)], new
        )

    def _change_rank(self, descriptor: Descriptor) -> Descriptor:
        """Add or remove a dimension.

        At the front of all tensors or of one, or at any position in all tensors and arrays.
        """
        tensors = {place: t for place, t in descriptor.tensors() if t.sizes is not None}
        if not tensors:
            return descriptor
        choice, add = self.pick(0, 7), self.pick(0, 1)
        chosen_places = [self._pick_item(list(tensors))] if choice == 7 else list(tensors)
        ranks = [len(tensors[place].sizes or ()) for place in chosen_places]
        if max(ranks) >= MAX_RANK if add else min(ranks) == 0:
            return descriptor
        if choice > 3 and choice < 7:
            return change_depth(descriptor, self.spec, self.pick(1, max(*ranks, 1)), drop_dimension=not add)
        return add_dimensions(descriptor, chosen_places, 1 if add else -1)

    def _value(self, descriptor: Descriptor) -> Descriptor:
        """Change one attribute, one array element, or one constant element."""
        names = [info.name for info in self.spec.attributes if info.name in descriptor.fields]
        names += [place for place, tensor in descriptor.tensors() if tensor.value]
        if not names:
            return descriptor
        return self.change_value(descriptor, self._pick_item(names))

    def change_value(self, descriptor: Descriptor, place: str) -> Descriptor:
        """Return the descriptor with one attribute or constant element changed."""
        tensor = dict(descriptor.tensors()).get(place)
        if tensor is not None and tensor.value:
            position = self.pick(0, len(tensor.value) - 1)
            value = (
                *tensor.value[:position],
                self._other(place, tensor.value[position]),
                *tensor.value[position + 1 :],
            )
            return replace_tensors(descriptor, {place: tensor._replace(value=value)})
        return change_fields(descriptor, self.spec, {place: self._other(place, descriptor.fields[place])})

    def _other(self, name: str, value: Any) -> Any:
        info = self.spec.fields.get(name)
        words = info.words if info is not None else None
        if isinstance(value, bool):
            return not value
        if isinstance(value, str) and words:
            return self._pick_item(words)
        if isinstance(value, int):
            return self._pick_item(
                [0, 1, 2, 3, self.nearby_number(value), *([-1, -2] if value < 0 or self._is_signed(name) else [])]
            )
        if is_record(value):
            first = value[0]
            candidates = [0, 1, 2, 3, self.nearby_number(first)] if whole_numbers(type(value)) else list(_FLOATS)
            return value._replace(**{self._pick_item(list(value._fields)): self._pick_item(candidates)})
        if isinstance(value, float):
            return self._pick_item((*_FLOATS, value))
        if isinstance(value, TensorDesc):
            return value._replace(sizes=self._pick_item([(), (1,), (2,)]), value=None)
        if isinstance(value, Descriptor):
            inner = value.fields
            part = self._pick_item(list(inner)) if inner else None
            return value if part is None else change_fields(value, self.spec, {part: self._other(part, inner[part])})
        if isinstance(value, list | tuple) and value:
            return self._other_items(name, value)
        return value

    def _is_signed(self, name: str) -> bool:
        info = self.spec.fields.get(name)
        return info is not None and info.type.removesuffix("[]") in {"int", "int64", "scalar"}

    def _other_items(self, name: str, value: list[Any] | tuple[Any, ...]) -> Any:
        items = list(value)
        index = self.pick(0, len(items) - 1)
        choice = self.pick(0, 5)
        if choice == 4:
            items.pop(index)
        elif choice == 5:
            items.append(items[index])
        else:
            items[index] = self._other(name, items[index])
        return type(value)(items)

    def _leave_out(self, descriptor: Descriptor) -> Descriptor:
        """Remove an optional field."""
        infos = (self.spec.fields[n] for n in descriptor.fields if n in self.spec.fields)
        names = [info.name for info in infos if self.spec.dialect.may_omit(info)]
        return change_fields(descriptor, self.spec, {self._pick_item(names): None}) if names else descriptor

    def _copy_field(self, descriptor: Descriptor) -> Descriptor:
        """Copy a field from another descriptor; remove it if missing there."""
        if not self.donors:
            return descriptor
        donor = self._pick_item(self.donors)
        names = [name for name in self.spec.fields if donor.fields.get(name) is not None]
        left = [name for name in descriptor.fields if name not in donor.fields]
        name = self._pick_item([*names, *left]) if names or left else None
        return descriptor if name is None else change_fields(descriptor, self.spec, {name: donor.fields.get(name)})

    def _count(self, descriptor: Descriptor) -> Descriptor:
        """Add or remove one tensor in an array of tensors."""
        names = [n for n in descriptor.fields if self.spec.fields[n].type == "tensor[]"]
        if not names:
            return descriptor
        name = self._pick_item(names)
        items = list(descriptor.fields[name])
        # Keep the last one, because no file format contains an empty array of tensors.
        if len(items) > 1 and (self.pick(0, 1) or len(items) >= _MAX_ARRAY):
            items.pop(self.pick(0, len(items) - 1))
        elif items:
            items.append(self._pick_item(items))
        return change_fields(descriptor, self.spec, {name: type(descriptor.fields[name])(items)})

    def _change_layout(self, descriptor: Descriptor) -> Descriptor:
        """Change the strides, total size, alignment or flags of one tensor."""
        tensors = {place: t for place, t in descriptor.tensors() if t.concrete}
        if not tensors:
            return descriptor
        place = self._pick_item(list(tensors))
        return replace_tensors(descriptor, {place: self.laid_out(tensors[place])})

    def laid_out(self, tensor: TensorDesc) -> TensorDesc:
        """Return a tensor with one part of its memory layout changed."""
        choice = self.pick(0, 7)
        if choice == 0:
            return tensor._replace(strides=None, size_in_bytes=None)
        if choice <= 3:
            return tensor._replace(strides=self._strides(tensor), size_in_bytes=None)
        if choice <= 5:
            return tensor._replace(size_in_bytes=self._total(tensor))
        if choice == 6:
            return tensor._replace(alignment=self._pick_item([None, 0, 1, 4, 8, 16, 32, 256, 3, 2**31]))
        return tensor._replace(flags=self._pick_item([None, 0, 1, 1, 2]))

    def _strides(self, tensor: TensorDesc) -> tuple[int, ...]:
        """Return strides in a random order of dimensions.

        They may have gaps, zeros, or one changed number.
        """
        sizes = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        if sizes and tensor.strides and len(tensor.strides) == len(sizes) and self.pick(0, 1):
            axis = self.pick(0, len(sizes) - 1)
            stride = min(self.nearby_number(tensor.strides[axis]), 2**32 - 1)  # the largest that can be written
            return (*tensor.strides[:axis], stride, *tensor.strides[axis + 1 :])
        order = list(range(len(sizes)))
        if self.pick(0, 1):
            for last in range(len(sizes) - 1, 0, -1):
                other = self.pick(0, last)
                order[last], order[other] = order[other], order[last]
        strides, step = [0] * len(sizes), 1
        zeros = self.pick(0, 2) == 2
        for axis in reversed(order):
            strides[axis] = self._pick_item([step, step, step, 0]) if zeros else step
            step *= max(sizes[axis], 1) + self._pick_item([0, 0, 0, 1, 2])
        return tuple(strides)

    def _total(self, tensor: TensorDesc) -> int | None:
        """Return approximately the number of bytes that the elements need."""
        bits = self.spec.dialect.bits.get(str(tensor.type)) or 32
        sizes = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        last = prod(sizes)
        if tensor.strides and len(tensor.strides) == len(sizes):
            last = 1 + sum((size - 1) * stride for size, stride in zip(sizes, tensor.strides, strict=True))
        needed_bytes = (last * bits + 7) // 8
        required_size = (needed_bytes + 3) // 4 * 4
        candidate_size = self._pick_item(
            [
                required_size,
                needed_bytes,
                required_size + 64,
                max(needed_bytes - 1, 0),
                max(required_size - 1, 0),
                0,
                None,
            ]
        )
        return None if candidate_size is None else max(candidate_size, 0)
