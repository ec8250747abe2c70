"""Ways to break a node that only rules detect: ranks, sizes, values, graphs.

As in `broken_ways`, but if no rule covers the change, the node is still valid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.broken_edit import infos, loosen, open_outputs, set_attribute, set_type, tensor_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conformance.broken_nodes import Slot, Subject

    Made = Iterator[tuple[str, Any]]
    Way = Callable[[Subject], Made]

#: A size that no backend test uses, so that it matches nothing.
STRANGE = 37
FAR = 100
RULED: dict[str, Way] = {}


def register_ruled(way: Way) -> Way:
    """Register a way that is wrong if a rule says so; its name is the function's."""
    RULED[way.__name__.replace("_", "-")] = way
    return way


def _resize(subject: Subject, slot: Slot, sizes: list[int], *, output: bool = False) -> Any:
    model = subject.copy()
    loosen(model, slot.name)
    if not output:
        open_outputs(model)
    for info in infos(model, slot.name):
        shape = info.type.tensor_type.shape
        del shape.dim[:]
        shape.SetInParent()
        for size in sizes:
            shape.dim.add(**({} if size < 0 else {"dim_value": size}))
    return model


def _rank_variants(subject: Subject, slots: list[Slot]) -> Iterator[tuple[Slot, list[int]]]:
    for slot in slots:
        sizes = tensor_shape(subject.model, slot.name)
        if sizes is not None:
            yield slot, sizes


@register_ruled
def input_of_a_higher_rank(subject: Subject) -> Made:
    for slot, sizes in _rank_variants(subject, subject.inputs):
        yield slot.label, _resize(subject, slot, [STRANGE, *sizes])


@register_ruled
def input_of_a_lower_rank(subject: Subject) -> Made:
    for slot, sizes in _rank_variants(subject, subject.inputs):
        if sizes:
            yield slot.label, _resize(subject, slot, sizes[1:])


@register_ruled
def input_a_scalar(subject: Subject) -> Made:
    for slot, sizes in _rank_variants(subject, subject.inputs):
        if len(sizes) > 1:
            yield slot.label, _resize(subject, slot, [])


@register_ruled
def input_of_another_size(subject: Subject) -> Made:
    for slot, sizes in _rank_variants(subject, subject.inputs):
        for axis, size in enumerate(sizes[:5]):
            if size >= 0:
                yield f"{slot.label}[{axis}]", _resize(subject, slot, sizes[:axis] + [STRANGE] + sizes[axis + 1 :])


@register_ruled
def output_of_a_higher_rank(subject: Subject) -> Made:
    for slot, sizes in _rank_variants(subject, subject.outputs):
        yield slot.label, _resize(subject, slot, [STRANGE, *sizes], output=True)


@register_ruled
def output_of_a_lower_rank(subject: Subject) -> Made:
    for slot, sizes in _rank_variants(subject, subject.outputs):
        if sizes:
            yield slot.label, _resize(subject, slot, sizes[1:], output=True)


@register_ruled
def output_of_another_size(subject: Subject) -> Made:
    for slot, sizes in _rank_variants(subject, subject.outputs):
        for axis, size in enumerate(sizes[:5]):
            if size >= 0:
                changed = sizes[:axis] + [STRANGE] + sizes[axis + 1 :]
                yield f"{slot.label}[{axis}]", _resize(subject, slot, changed, output=True)


def _rank(subject: Subject) -> int | None:
    pair = next(_rank_variants(subject, subject.inputs[:1]), None)
    return None if pair is None else len(pair[1])


def _integer(subject: Subject, value: int | None) -> Made:
    for info in subject.attributes:
        if info.type == "int" and value is not None:
            inputs = subject.given.get(info.vendor_name)
            if inputs is None or inputs.i != value:
                yield info.name, open_outputs(set_attribute(subject.copy(), info.vendor_name, 2, value))


@register_ruled
def attribute_is_the_rank(subject: Subject) -> Made:
    yield from _integer(subject, _rank(subject))


@register_ruled
def attribute_below_minus_rank(subject: Subject) -> Made:
    rank = _rank(subject)
    yield from _integer(subject, None if rank is None else -rank - 1)


@register_ruled
def attribute_is_minus_one(subject: Subject) -> Made:
    yield from _integer(subject, -1)


@register_ruled
def attribute_is_zero(subject: Subject) -> Made:
    yield from _integer(subject, 0)


@register_ruled
def attribute_is_a_hundred(subject: Subject) -> Made:
    yield from _integer(subject, FAR)


def _number(subject: Subject, value: float) -> Made:
    for info in subject.attributes:
        if info.type == "float":
            yield info.name, open_outputs(set_attribute(subject.copy(), info.vendor_name, 1, value))


@register_ruled
def number_is_negative(subject: Subject) -> Made:
    yield from _number(subject, -1.5)


@register_ruled
def number_is_large(subject: Subject) -> Made:
    yield from _number(subject, 100.5)


@register_ruled
def word_is_strange(subject: Subject) -> Made:
    for name, item in subject.given.items():
        info = next((info for info in subject.attributes if info.vendor_name == name), None)
        if item.type == 3 and info is not None and not info.words:
            yield name, open_outputs(set_attribute(subject.copy(), name, 3, b"specgate"))


_LISTS: dict[int, tuple[str, Any]] = {6: ("floats", 100.5), 7: ("ints", FAR), 8: ("strings", b"specgate")}


def _changed_lists(subject: Subject, change: Callable[[list[Any], Any], list[Any] | None]) -> Made:
    for name, item in subject.given.items():
        if item.type in _LISTS:
            field, far = _LISTS[item.type]
            value = change(list(getattr(item, field)), far)
            if value is not None:
                yield name, open_outputs(set_attribute(subject.copy(), name, item.type, value))


@register_ruled
def list_longer(subject: Subject) -> Made:
    yield from _changed_lists(subject, lambda value, far: [*value, value[-1]] if value else [far])


@register_ruled
def list_shorter(subject: Subject) -> Made:
    yield from _changed_lists(subject, lambda value, _: value[:-1] if value else None)


@register_ruled
def list_with_a_far_element(subject: Subject) -> Made:
    yield from _changed_lists(subject, lambda value, far: [*value[:-1], far] if value else None)


@register_ruled
def list_with_a_negative_element(subject: Subject) -> Made:
    yield from _changed_lists(subject, lambda value, far: [*value[:-1], -far] if value and far == FAR else None)


@register_ruled
def list_with_a_zero(subject: Subject) -> Made:
    yield from _changed_lists(subject, lambda value, far: [*value[:-1], 0] if value and far == FAR else None)


@register_ruled
def list_with_a_repetition(subject: Subject) -> Made:
    yield from _changed_lists(
        subject, lambda value, _: [value[1], *value[1:]] if len(set(value)) == len(value) > 1 else None
    )


def _constants(subject: Subject, change: Callable[[list[int]], list[int] | None]) -> Made:
    """Change elements of constant integer inputs; lists may change their length."""
    import numpy as np
    from onnx import numpy_helper

    names = {slot.name: slot.label for slot in subject.inputs}
    for place, item in enumerate(subject.model.graph.initializer):
        array = numpy_helper.to_array(item)
        if item.name in names and array.dtype.kind == "i" and array.ndim <= 1 and array.dtype.itemsize > 1:
            numbers = change(array.reshape(-1).tolist())
            if numbers is not None:
                model = open_outputs(subject.copy())
                changed = np.array(numbers, array.dtype)
                shaped = changed.reshape(array.shape) if changed.size == array.size else changed
                model.graph.initializer[place].CopyFrom(numpy_helper.from_array(shaped, item.name))
                for info in [info for info in model.graph.input if info.name == item.name]:
                    model.graph.input.remove(info)
                yield names[item.name], model


@register_ruled
def constant_far(subject: Subject) -> Made:
    yield from _constants(subject, lambda value: [*value[:-1], FAR] if value else None)


@register_ruled
def constant_negative(subject: Subject) -> Made:
    yield from _constants(subject, lambda value: [*value[:-1], -FAR] if value else None)


@register_ruled
def constant_zero(subject: Subject) -> Made:
    yield from _constants(subject, lambda value: [*value[:-1], 0] if value and value[-1] else None)


@register_ruled
def constant_longer(subject: Subject) -> Made:
    yield from _constants(subject, lambda value: [*value, value[-1] if value else 1])


@register_ruled
def constant_shorter(subject: Subject) -> Made:
    yield from _constants(subject, lambda value: value[:-1] if value else None)


@register_ruled
def constant_repeated(subject: Subject) -> Made:
    yield from _constants(subject, lambda value: [value[1], *value[1:]] if len(set(value)) == len(value) > 1 else None)


def _graphs(subject: Subject, part: str, *, more: bool) -> Made:
    for name, item in subject.given.items():
        if item.type != 5 or not (more or getattr(item.g, part)):
            continue
        model = subject.copy()
        value = next(a.g for a in model.graph.node[0].attribute if a.name == name)
        ends = getattr(value, part)
        if not more:
            del ends[-1]
        elif part == "input" or not ends:
            info = ends.add(name="specgate_extra")
            info.type.tensor_type.elem_type = 1
            info.type.tensor_type.shape.dim.add(dim_value=1)
        else:
            ends.append(ends[-1])
        yield name, open_outputs(model)


@register_ruled
def graph_with_an_input_more(subject: Subject) -> Made:
    yield from _graphs(subject, "input", more=True)


@register_ruled
def graph_with_an_input_less(subject: Subject) -> Made:
    yield from _graphs(subject, "input", more=False)


@register_ruled
def graph_with_an_output_more(subject: Subject) -> Made:
    yield from _graphs(subject, "output", more=True)


@register_ruled
def graph_with_an_output_less(subject: Subject) -> Made:
    yield from _graphs(subject, "output", more=False)


@register_ruled
def graph_outputs_of_another_type(subject: Subject) -> Made:
    """State another type for a graph's last output than its node has."""
    for slot in subject.outputs[-1:]:
        if any(item.type == 5 for item in subject.given.values()):
            model = subject.copy()
            set_type(model, slot.name, "STRING")
            yield slot.label, model
