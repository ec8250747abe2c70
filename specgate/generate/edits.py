"""Changes of one thing in a descriptor, in one tensor or in several. Whether the result is valid is not asked."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice
from math import prod
from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import GraphDesc

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["alike", "changed", "deepened", "packed", "put", "reranked", "resized", "retyped", "retyped_within"]


def changed(descriptor: Descriptor, spec: OperatorSpec, fields: Mapping[str, Any]) -> Descriptor:
    """Return the descriptor with some fields set, those to None left out; all in the table's order."""
    both = {**descriptor.fields, **fields}
    if not fields.keys() <= descriptor.fields.keys():
        both = {name: both[name] for name in (*spec.fields, *both) if name in both}
    kept = {name: value for name, value in both.items() if value is not None}
    return replace(descriptor, fields=kept, plain=False)


def put(descriptor: Descriptor, tensors: Mapping[str, TensorDesc]) -> Descriptor:
    """Return the descriptor with tensors set by their places, such as ``A`` and ``Inputs[1]``."""
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


def packed(tensor: TensorDesc, sizes: tuple[Any, ...]) -> TensorDesc:
    """Return the tensor with other sizes; a layout that was made for its old ones goes, a constant grows or shrinks."""
    value = tensor.value
    if value is not None:
        wanted = prod(size for size in sizes if isinstance(size, int))
        value = tuple(islice(cycle(value or (0,)), min(wanted, 4096)))
    keep = tensor.strides is not None and len(tensor.strides) == len(sizes)
    return tensor._replace(sizes=sizes, value=value, size_in_bytes=None, strides=tensor.strides if keep else None)


def resized(tensor: TensorDesc, axis: int, size: int) -> TensorDesc:
    """Return the tensor with one size changed."""
    sizes = tensor.sizes or ()
    return packed(tensor, (*sizes[:axis], size, *sizes[axis + 1 :]))


def retyped(descriptor: Descriptor, places: Iterable[str], kind: str) -> Descriptor:
    """Return the descriptor with another type for the tensors at some places."""
    tensors = dict(descriptor.tensors())
    return put(descriptor, {p: tensors[p]._replace(type=kind, size_in_bytes=None) for p in places})


def retyped_within(descriptor: Descriptor, places: Collection[str], kind: str) -> Descriptor:
    """Return the descriptor with another type for the tensors at some places, and for those like them in its graphs."""
    tensors = dict(descriptor.tensors())
    old = {tensors[place].type for place in places}

    def made(ends: Iterable[TensorDesc]) -> tuple[TensorDesc, ...]:
        return tuple(end._replace(type=kind) if end.type in old else end for end in ends)

    graphs = {name: value for name, value in descriptor.fields.items() if isinstance(value, GraphDesc)}
    within = {name: GraphDesc(made(graph.inputs), made(graph.outputs)) for name, graph in graphs.items()}
    return retyped(replace(descriptor, fields={**descriptor.fields, **within}), places, kind)


def reranked(descriptor: Descriptor, places: Iterable[str], steps: int) -> Descriptor:
    """Return the descriptor with so many leading dimensions of 1 more (fewer: the first ones) for some tensors."""
    tensors = dict(descriptor.tensors())
    made = {}
    for place in places:
        sizes = tensors[place].sizes or ()
        deeper = (1,) * steps + sizes if steps > 0 else sizes[min(-steps, len(sizes)) :]
        made[place] = packed(tensors[place]._replace(strides=None), deeper)
    return put(descriptor, made)


def deepened(
    descriptor: Descriptor,
    spec: OperatorSpec,
    back: int,
    *,
    drop: bool = False,
    places: Collection[str] | None = None,
) -> Descriptor:
    """Return the descriptor with a dimension doubled (or dropped) in all tensors, and its numbers in all arrays.

    back: which one, counted from the last, which is 1. places: the tensors, where not all are meant. An array of an
    even length that is longer than any rank has the numbers of each dimension twice: those of all ends behind those of
    all beginnings.
    """
    ranks = [len(tensor.sizes or ()) for _, tensor in descriptor.tensors()]
    most = max(ranks, default=0)

    def changed_items(items: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(items) < back:
            return items
        at = len(items) - back
        return (*items[:at], *(() if drop else items[at : at + 1] * 2), *items[at + 1 :])

    made: dict[str, Any] = {}
    for name, value in descriptor.fields.items():
        if isinstance(value, list | tuple) and not hasattr(value, "_fields") and value and _numeric(value):
            halves = (value[: len(value) // 2], value[len(value) // 2 :]) if len(value) > most else (value,)
            made[name] = type(value)([item for half in halves for item in changed_items(tuple(half))])
    made |= {i.name: len(made[i.counts[0]]) for i in spec.attributes if i.counts and i.counts[0] in made}
    chosen = [(p, t) for p, t in descriptor.tensors() if places is None or p in places]
    tensors = {p: t for p, t in chosen if t.sizes is not None and len(t.sizes) >= back}
    sized = {p: packed(t._replace(strides=None), changed_items(t.sizes or ())) for p, t in tensors.items()}
    return put(replace(descriptor, fields={**descriptor.fields, **made}, plain=False), sized)


def _numeric(items: Any) -> bool:
    return all(isinstance(item, int | float) for item in items)


def alike(descriptor: Descriptor, place: str, aspect: str) -> Iterator[list[str]]:
    """Yield groups of places to change together with one: those like it (in type or rank), all, and it alone."""
    tensors = dict(descriptor.tensors())
    if aspect == "type":
        same = [p for p, t in tensors.items() if t.type == tensors[place].type]
    else:
        same = [p for p, t in tensors.items() if len(t.sizes or ()) == len(tensors[place].sizes or ())]
    groups = [same, [place]] if aspect == "type" else [same, [place], list(tensors)]
    yield from (list(group) for group in dict.fromkeys(map(tuple, groups)))
