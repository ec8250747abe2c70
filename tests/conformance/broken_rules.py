"""Ways to break a node that only its operator's rules can refuse: ranks, sizes, numbers, words, constants, graphs.

As in `broken_ways`; but where no rule covers it, the changed node is as good as the one before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.broken_edit import infos, loosen, open_outputs, set_attribute, set_type, sizes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conformance.broken_nodes import Slot, Subject

    Made = Iterator[tuple[str, Any]]
    Way = Callable[[Subject], Made]

#: A size that no backend test has: it agrees with nothing.
STRANGE = 37
FAR = 100
RULED: dict[str, Way] = {}


def ruled(way: Way) -> Way:
    """Register a way that is wrong where a rule says so; its name is the function's."""
    RULED[way.__name__.replace("_", "-")] = way
    return way


def _resized(subject: Subject, slot: Slot, sizes: list[int], *, output: bool = False) -> Any:
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


def _ranked(subject: Subject, slots: list[Slot]) -> Iterator[tuple[Slot, list[int]]]:
    for slot in slots:
        sizes = sizes_of(subject.model, slot.name)
        if sizes is not None:
            yield slot, sizes


@ruled
def input_of_a_higher_rank(subject: Subject) -> Made:
    for slot, sizes in _ranked(subject, subject.inputs):
        yield slot.label, _resized(subject, slot, [STRANGE, *sizes])


@ruled
def input_of_a_lower_rank(subject: Subject) -> Made:
    for slot, sizes in _ranked(subject, subject.inputs):
        if sizes:
            yield slot.label, _resized(subject, slot, sizes[1:])


@ruled
def input_a_scalar(subject: Subject) -> Made:
    for slot, sizes in _ranked(subject, subject.inputs):
        if len(sizes) > 1:
            yield slot.label, _resized(subject, slot, [])


@ruled
def input_of_another_size(subject: Subject) -> Made:
    for slot, sizes in _ranked(subject, subject.inputs):
        for axis, size in enumerate(sizes[:5]):
            if size >= 0:
                yield f"{slot.label}[{axis}]", _resized(subject, slot, sizes[:axis] + [STRANGE] + sizes[axis + 1 :])


@ruled
def output_of_a_higher_rank(subject: Subject) -> Made:
    for slot, sizes in _ranked(subject, subject.outputs):
        yield slot.label, _resized(subject, slot, [STRANGE, *sizes], output=True)


@ruled
def output_of_a_lower_rank(subject: Subject) -> Made:
    for slot, sizes in _ranked(subject, subject.outputs):
        if sizes:
            yield slot.label, _resized(subject, slot, sizes[1:], output=True)


@ruled
def output_of_another_size(subject: Subject) -> Made:
    for slot, sizes in _ranked(subject, subject.outputs):
        for axis, size in enumerate(sizes[:5]):
            if size >= 0:
                changed = sizes[:axis] + [STRANGE] + sizes[axis + 1 :]
                yield f"{slot.label}[{axis}]", _resized(subject, slot, changed, output=True)


def _rank(subject: Subject) -> int | None:
    found = next(_ranked(subject, subject.inputs[:1]), None)
    return None if found is None else len(found[1])


def _integer(subject: Subject, value: int | None) -> Made:
    for info in subject.attributes:
        if info.type == "int" and value is not None:
            given = subject.given.get(info.vendor_name)
            if given is None or given.i != value:
                yield info.name, open_outputs(set_attribute(subject.copy(), info.vendor_name, 2, value))


@ruled
def attribute_is_the_rank(subject: Subject) -> Made:
    yield from _integer(subject, _rank(subject))


@ruled
def attribute_below_minus_rank(subject: Subject) -> Made:
    rank = _rank(subject)
    yield from _integer(subject, None if rank is None else -rank - 1)


@ruled
def attribute_is_minus_one(subject: Subject) -> Made:
    yield from _integer(subject, -1)


@ruled
def attribute_is_zero(subject: Subject) -> Made:
    yield from _integer(subject, 0)


@ruled
def attribute_is_a_hundred(subject: Subject) -> Made:
    yield from _integer(subject, FAR)


def _number(subject: Subject, value: float) -> Made:
    for info in subject.attributes:
        if info.type == "float":
            yield info.name, open_outputs(set_attribute(subject.copy(), info.vendor_name, 1, value))


@ruled
def number_is_negative(subject: Subject) -> Made:
    yield from _number(subject, -1.5)


@ruled
def number_is_large(subject: Subject) -> Made:
    yield from _number(subject, 100.5)


@ruled
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


@ruled
def list_longer(subject: Subject) -> Made:
    yield from _changed_lists(subject, lambda held, far: [*held, held[-1]] if held else [far])


@ruled
def list_shorter(subject: Subject) -> Made:
    yield from _changed_lists(subject, lambda held, _: held[:-1] if held else None)


@ruled
def list_with_a_far_element(subject: Subject) -> Made:
    yield from _changed_lists(subject, lambda held, far: [*held[:-1], far] if held else None)


@ruled
def list_with_a_negative_element(subject: Subject) -> Made:
    yield from _changed_lists(subject, lambda held, far: [*held[:-1], -far] if held and far == FAR else None)


@ruled
def list_with_a_zero(subject: Subject) -> Made:
    yield from _changed_lists(subject, lambda held, far: [*held[:-1], 0] if held and far == FAR else None)


@ruled
def list_with_a_repetition(subject: Subject) -> Made:
    yield from _changed_lists(
        subject, lambda held, _: [held[1], *held[1:]] if len(set(held)) == len(held) > 1 else None
    )


def _constants(subject: Subject, change: Callable[[list[int]], list[int] | None]) -> Made:
    """Change the elements of inputs that are constant integers; lists may become longer or shorter."""
    import numpy as np
    from onnx import numpy_helper

    names = {slot.name: slot.label for slot in subject.inputs}
    for place, item in enumerate(subject.model.graph.initializer):
        array = numpy_helper.to_array(item)
        if item.name in names and array.dtype.kind == "i" and array.ndim <= 1 and array.dtype.itemsize > 1:
            made = change(array.reshape(-1).tolist())
            if made is not None:
                model = open_outputs(subject.copy())
                changed = np.array(made, array.dtype)
                shaped = changed.reshape(array.shape) if changed.size == array.size else changed
                model.graph.initializer[place].CopyFrom(numpy_helper.from_array(shaped, item.name))
                for info in [info for info in model.graph.input if info.name == item.name]:
                    model.graph.input.remove(info)
                yield names[item.name], model


@ruled
def constant_far(subject: Subject) -> Made:
    yield from _constants(subject, lambda held: [*held[:-1], FAR] if held else None)


@ruled
def constant_negative(subject: Subject) -> Made:
    yield from _constants(subject, lambda held: [*held[:-1], -FAR] if held else None)


@ruled
def constant_zero(subject: Subject) -> Made:
    yield from _constants(subject, lambda held: [*held[:-1], 0] if held and held[-1] else None)


@ruled
def constant_longer(subject: Subject) -> Made:
    yield from _constants(subject, lambda held: [*held, held[-1] if held else 1])


@ruled
def constant_shorter(subject: Subject) -> Made:
    yield from _constants(subject, lambda held: held[:-1] if held else None)


@ruled
def constant_repeated(subject: Subject) -> Made:
    yield from _constants(subject, lambda held: [held[1], *held[1:]] if len(set(held)) == len(held) > 1 else None)


def _graphs(subject: Subject, part: str, *, more: bool) -> Made:
    for name, item in subject.given.items():
        if item.type != 5 or not (more or getattr(item.g, part)):
            continue
        model = subject.copy()
        held = next(a.g for a in model.graph.node[0].attribute if a.name == name)
        ends = getattr(held, part)
        if not more:
            del ends[-1]
        elif part == "input" or not ends:
            info = ends.add(name="specgate_extra")
            info.type.tensor_type.elem_type = 1
            info.type.tensor_type.shape.dim.add(dim_value=1)
        else:
            ends.append(ends[-1])
        yield name, open_outputs(model)


@ruled
def graph_with_an_input_more(subject: Subject) -> Made:
    yield from _graphs(subject, "input", more=True)


@ruled
def graph_with_an_input_less(subject: Subject) -> Made:
    yield from _graphs(subject, "input", more=False)


@ruled
def graph_with_an_output_more(subject: Subject) -> Made:
    yield from _graphs(subject, "output", more=True)


@ruled
def graph_with_an_output_less(subject: Subject) -> Made:
    yield from _graphs(subject, "output", more=False)


@ruled
def graph_outputs_of_another_type(subject: Subject) -> Made:
    """What a graph says of its last output is another type than the node's last output has."""
    for slot in subject.outputs[-1:]:
        if any(item.type == 5 for item in subject.given.values()):
            model = subject.copy()
            set_type(model, slot.name, "STRING")
            yield slot.label, model
