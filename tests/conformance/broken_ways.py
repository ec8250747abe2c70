"""Ways to break a node that its table detects: arity, attributes, types, opsets.

Each way is a function that yields (place, model), one model per place of the node where it applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.broken_edit import at_opset, drop_unused, leave_out, set_attribute, set_type, spare, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specgate.spec.fields import FieldInfo
    from tests.conformance.broken_nodes import Slot, Subject

    Made = Iterator[tuple[str, Any]]
    Way = Callable[[Subject], Made]

#: Types to try in place of a supported one, the likeliest mistakes first.
TYPES = ("FLOAT", "INT64", "STRING", "BOOL", "UINT8", "FLOAT16", "COMPLEX64", "DOUBLE", "INT32")
#: The kind of an attribute -> (another kind, a value of that kind), as numbers of AttributeProto.
OTHER_KIND = {1: (3, b"word"), 2: (1, 0.5), 3: (2, 1), 4: (2, 1), 5: (2, 1), 6: (7, [1]), 7: (2, 1), 8: (7, [1])}
KINDS = {"float": 1, "int": 2, "string": 3, "tensor-proto": 4, "graph": 5, "float[]": 6, "int[]": 7, "string[]": 8}
STATED: dict[str, Way] = {}


def state(way: Way) -> Way:
    """Register a way that is always wrong; its name is the function's."""
    STATED[way.__name__.replace("_", "-")] = way
    return way


@state
def input_too_many(subject: Subject) -> Made:
    defined = subject.spec.layout(subject.opset).inputs
    if not defined or defined[-1].type != "tensor[]":
        model = subject.copy()
        node = model.graph.node[0]
        extra = spare(model, node.input[0] if node.input else "")
        node.input.extend([""] * (len(defined) - len(node.input)) + [extra])
        yield "inputs", model


@state
def output_too_many(subject: Subject) -> Made:
    defined = subject.spec.layout(subject.opset).outputs
    if not defined or defined[-1].type != "tensor[]":
        model = subject.copy()
        node = model.graph.node[0]
        node.output.extend([""] * (len(defined) - len(node.output)) + ["specgate_extra"])
        yield "outputs", model


def _necessary(slots: list[Slot]) -> Iterator[Slot]:
    """Yield inputs or outputs that cannot be omitted.

    Each required one; all of an array of minimum length.
    """
    for slot in slots:
        least = slot.field.min_count if slot.field.min_count is not None else 0 if slot.field.optional else 1
        many = [other for other in slots if other.field is slot.field]
        if slot.field.type == "tensor[]":
            if len(many) == least and slot is many[-1]:
                yield slot
        elif not slot.field.optional:
            yield slot


@state
def input_missing(subject: Subject) -> Made:
    for slot in _necessary(subject.inputs):
        model = subject.copy()
        leave_out(model.graph.node[0].input, slot.place)
        drop_unused(model, slot.name)
        yield slot.label, model


@state
def output_missing(subject: Subject) -> Made:
    for slot in _necessary(subject.outputs):
        model = subject.copy()
        leave_out(model.graph.node[0].output, slot.place)
        for info in [info for info in model.graph.output if info.name == slot.name]:
            model.graph.output.remove(info)
        yield slot.label, model


@state
def attribute_unknown(subject: Subject) -> Made:
    if subject.operator != "LayerNormalization":  # AllowUncheckedAttributes in onnx/defs/nn/defs.cc, which Python hides
        yield "attributes", set_attribute(subject.copy(), "specgate_unknown", 2, 1)


@state
def attribute_missing(subject: Subject) -> Made:
    for info in subject.attributes:
        if not info.optional and info.default is None and info.vendor_name in subject.given:
            model = subject.copy()
            node = model.graph.node[0]
            node.attribute.remove(next(item for item in node.attribute if item.name == info.vendor_name))
            yield info.name, model


@state
def attribute_of_another_kind(subject: Subject) -> Made:
    for name, item in subject.given.items():
        if item.type in OTHER_KIND:
            yield name, set_attribute(subject.copy(), name, *OTHER_KIND[item.type])


@state
def attribute_word_unknown(subject: Subject) -> Made:
    for info in subject.attributes:
        cell = subject.resolved.cells.get(info.name)
        if info.type in {"string", "string[]"} and (info.words or (cell is not None and cell.values)):
            item, kind = info.type == "string", KINDS[info.type]
            yield (
                info.name,
                set_attribute(subject.copy(), info.vendor_name, kind, b"specgate" if item else [b"specgate"]),
            )


@state
def attribute_outside_its_values(subject: Subject) -> Made:
    for info in subject.attributes:
        cell = subject.resolved.cells.get(info.name)
        if cell is None or info.type != "int" or not (cell.values or cell.range):
            continue
        allowed = cell.range if cell.range is not None else cell.values or ()
        value = next((n for n in (-1, 2, 100, -100) if n not in allowed), None)
        if value is not None:
            yield info.name, set_attribute(subject.copy(), info.vendor_name, 2, value)


@state
def attribute_of_another_version(subject: Subject) -> Made:
    for info in subject.spec.attributes:
        value = {"int": 1, "float": 1.0, "string": b"specgate", "int[]": [1], "float[]": [1.0], "string[]": [b"a"]}
        own = {value.vendor_name for value in subject.attributes}
        if info.name not in subject.resolved.fields and info.vendor_name not in own and info.type in value:
            yield info.name, set_attribute(subject.copy(), info.vendor_name, KINDS[info.type], value[info.type])


def _groups(subject: Subject) -> Iterator[tuple[str, list[Slot], tuple[str, ...]]]:
    """Yield slots that share a type variable, or single ones, with their types."""
    groups: dict[str, list[Slot]] = {}
    for slot in [*subject.inputs, *subject.outputs]:
        if slot.cell is not None and slot.cell.types is not None:
            alone = slot.cell.variable is None or slot.field.heterogeneous
            groups.setdefault(f"{slot.label}" if alone else f"{slot.cell.variable}", []).append(slot)
    for name, slots in groups.items():
        assert slots[0].cell is not None
        yield name, slots, slots[0].cell.types or ()


def _not_taken(subject: Subject, *, inputs: bool) -> Made:
    names = {slot.name for slot in subject.inputs}
    for label, slots, allowed in _groups(subject):
        refused = [word for word in TYPES if word not in allowed]
        if refused and any(slot.name in names for slot in slots) is inputs:
            for word in refused[:2]:
                model = subject.copy()
                for slot in slots:
                    set_type(model, slot.name, word)
                yield f"{label}={word}", model


@state
def input_type_not_taken(subject: Subject) -> Made:
    yield from _not_taken(subject, inputs=True)


@state
def output_type_not_taken(subject: Subject) -> Made:
    yield from _not_taken(subject, inputs=False)


def _differing(subject: Subject, slots: list[Slot], allowed: tuple[str, ...]) -> Made:
    for slot in slots:
        current = type_of(subject, slot.name)
        word = next((word for word in TYPES if word in allowed and word != current), None)
        if current is not None and word is not None:
            model = subject.copy()
            set_type(model, slot.name, word)
            yield slot.label, model


def _variables(subject: Subject) -> Iterator[tuple[list[Slot], list[Slot], tuple[str, ...]]]:
    """Yield the inputs and outputs of each type variable that at least two share."""
    inputs = {slot.name for slot in subject.inputs}
    for _, slots, allowed in _groups(subject):
        if slots[0].cell is not None and slots[0].cell.variable and not slots[0].field.heterogeneous:
            yield [s for s in slots if s.name in inputs], [s for s in slots if s.name not in inputs], allowed


@state
def inputs_of_a_variable_differ(subject: Subject) -> Made:
    for inputs, _, allowed in _variables(subject):
        if len({slot.name for slot in inputs}) > 1:
            yield from _differing(subject, inputs[1:], allowed)


@state
def output_differs_from_its_variable(subject: Subject) -> Made:
    for inputs, outputs, allowed in _variables(subject):
        if inputs:
            yield from _differing(subject, outputs, allowed)


@state
def opset_before_the_operator(subject: Subject) -> Made:
    first = int(subject.spec.rows[0])
    if first > 1:
        yield "opset", at_opset(subject, str(first - 1))


@state
def opset_after_its_removal(subject: Subject) -> Made:
    own = int(subject.opset)
    later = (level for level in subject.spec.dialect.levels if int(level) > own and level not in subject.spec.levels)
    level = next(later, None)
    if level is not None:
        yield "opset", at_opset(subject, level)


def _earlier(subject: Subject) -> Iterator[str]:
    """Return the last opset of each earlier version."""
    rows = [row for row in subject.spec.rows if int(row) <= int(subject.opset)]
    yield from (str(int(row) - 1) for row in reversed(rows[1:]) if str(int(row) - 1) in subject.spec.levels)


@state
def opset_before_an_attribute(subject: Subject) -> Made:
    for level in _earlier(subject):
        existing = {info.vendor_name for info in subject.spec.fields_at(level).values() if info.kind == "attribute"}
        lacking = [name for name in subject.given if name not in existing]
        if lacking:
            yield lacking[0], at_opset(subject, level)
            return


@state
def opset_before_an_input(subject: Subject) -> Made:
    for level in _earlier(subject):
        existing: tuple[FieldInfo, ...] = subject.spec.layout(level).inputs
        if len(subject.node.input) > len(existing) and (not existing or existing[-1].type != "tensor[]"):
            yield "inputs", at_opset(subject, level)
            return


@state
def opset_before_a_type(subject: Subject) -> Made:
    for level in _earlier(subject):
        resolved = subject.spec.resolve(level)
        layout = subject.spec.layout(level).inputs
        for slot in subject.inputs:
            cell = resolved.cells.get(layout[min(slot.place, len(layout) - 1)].name) if resolved and layout else None
            word = type_of(subject, slot.name)
            if cell is not None and cell.types is not None and word is not None and word not in cell.types:
                yield slot.label, at_opset(subject, level)
                return
