"""Candidate repairs of a rule: where a fix may set a value, and which one."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import TensorDesc
from specgate.dialects import package
from specgate.rules.evaluate import UNKNOWN, Context, Evaluator, Undefined, evaluate
from specgate.rules.explain import decisive_parts, dimension, resolve_node
from specgate.rules.language import LAYOUT_FUNCTIONS
from specgate.validate.fixes import is_lossless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.rules.explain import Leaf
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import FieldInfo
    from specgate.spec.forms import RuleForm


class Place(NamedTuple):
    """A part of a descriptor.

    kind: of an attribute ``set``, ``element``, ``member`` or ``length``; of a tensor ``size``, ``sizes``, ``rank``,
    ``type``, ``elements``, ``strides``, ``value`` or ``entry`` (of its constant); of both ``given`` or ``absent``.
    item: which tensor of an array. at: which dimension or element, from 0, or the name of a member. label: the
    dimension in messages.
    """

    kind: str
    field: str
    item: int | None = None
    at: int | str | None = None
    label: str = ""

    @property
    def owner(self) -> str:
        """The field's name in messages."""
        return self.field if self.item is None else f"{self.field}[{self.item}]"


def value_of(node: ast.expr, context: Context) -> Any:
    """Return the value of a closed expression, None without a value."""
    try:
        return Evaluator(context).value(node, {})
    except Undefined:
        return None


def place_of(node: ast.expr, context: Context) -> Place | None:
    """Return the part that an expression reads, None for a computed value."""
    node = resolve_node(node, context)
    match node:
        case ast.Name(id=name) if name in context.fields:
            return None if isinstance(context.fields[name], TensorDesc | list | tuple) else Place("set", name)
        case ast.Attribute(value=owner, attr="sizes"):
            return _tensor_place("sizes", owner, context)
        case ast.Attribute(value=ast.Name(id=name), attr=member) if hasattr(context.fields.get(name), "_asdict"):
            result = context.fields[name]
            return None if isinstance(result, TensorDesc) else Place("member", name, at=member)
        case ast.Subscript():
            return _element_place(node, context)
        case ast.Call(func=ast.Name(id=function), args=[argument]):
            return _call_place(function, argument, context)
    return None


def _element_place(node: ast.Subscript, context: Context) -> Place | None:
    index = value_of(node.slice, context)
    if not isinstance(index, int) or index < 0:
        return None
    match resolve_node(node.value, context):
        case ast.Attribute(attr="sizes", value=owner):
            place = _tensor_place("size", owner, context)
            if place is None:
                return None
            element_node = ast.Subscript(ast.Attribute(owner, "sizes", ast.Load()), node.slice, ast.Load())
            try:
                _, number = dimension(element_node, context)
            except Undefined:
                return None
            return place._replace(at=index, label=str(number))
        case ast.Call(func=ast.Name(id="values"), args=[owner]):
            place = _tensor_place("entry", owner, context)
            return None if place is None else place._replace(at=index)
        case ast.Name(id=name) if isinstance(context.fields.get(name), list | tuple):
            result = context.fields[name]
            tensors = isinstance(result, TensorDesc) or any(isinstance(part, TensorDesc) for part in result)
            return None if tensors else Place("element", name, at=index)
    return None


def _call_place(function: str, argument: ast.expr, context: Context) -> Place | None:
    if function == "int":
        return place_of(argument, context)
    if function in {"rank", "type", "elements", "value"}:
        return _tensor_place(function, argument, context)
    if function == "len":
        match resolve_node(argument, context):
            case ast.Name(id=name) if isinstance(context.fields.get(name), list | tuple):
                result = context.fields[name]
                tensors = isinstance(result, TensorDesc) or any(isinstance(part, TensorDesc) for part in result)
                return None if tensors or not result else Place("length", name)
    return None


def _tensor_place(kind: str, owner: ast.expr, context: Context) -> Place | None:
    match resolve_node(owner, context):
        case ast.Name(id=name) if isinstance(context.fields.get(name), TensorDesc):
            return Place(kind, name)
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            item = value_of(index, context)
            result = context.fields.get(name)
            if isinstance(result, list | tuple) and isinstance(item, int) and 0 <= item < len(result):
                return Place(kind, name, item)
    return None


def change_part(place: Place, value: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with a part set.

    Sizes that a change of rank or length adds are 1.
    """
    result: Any = fields.get(place.field)
    if place.kind in {"set", "given", "absent"}:
        outcome = None if place.kind == "absent" else value
    elif place.kind == "member":
        outcome = result._replace(**{str(place.at): value})
    elif place.kind == "element":
        outcome = _set_item(result, place.at, value)
    elif place.kind == "length":
        outcome = _resize_items(result, value)
    elif place.item is None:
        outcome = _tensor(place, value, result)
    else:
        outcome = _set_item(result, place.item, _tensor(place, value, result[place.item]))
    return {**fields, place.field: outcome}


def _set_item(items: Any, value_: Any, value: Any) -> Any:
    return type(items)(value if index == value_ else item for index, item in enumerate(items))


def _resize_items(items: Any, length: int) -> Any:
    return type(items)((*items, *(items[-1:] * max(length - len(items), 0)))[:length])


def _tensor(place: Place, value: Any, tensor: TensorDesc) -> TensorDesc:
    sizes = tensor.sizes or ()
    match place.kind:
        case "type":
            return tensor._replace(type=value)
        case "value":
            return tensor._replace(value=(value,))
        case "entry":
            return tensor._replace(value=_set_item(tensor.value, place.at, value))
        case "size":
            sizes = _set_item(sizes, place.at, value)
        case "sizes":
            sizes = tuple(value)
        case "rank":
            padded = (*(1 for _ in range(value - len(sizes))), *sizes)
            sizes = padded[len(padded) - value :]
        case "elements":
            sizes = _element_sizes(value, len(sizes))
    return tensor._replace(sizes=sizes, strides=None)


def _element_sizes(number: int, rank: int) -> tuple[int, ...]:
    return (*(1 for _ in range(rank - 1)), number) if rank else () if number == 1 else (number,)


#: Search range in each direction: every value nearby, then doubling steps.
_SMALL_STEPS: Final = tuple(range(1, 17))
_LARGE_STEPS: Final = (32, 64, 128, 256, 512, 1024)
MAX_PARTS: Final = 10
_NUMBERS: Final = frozenset({"set", "element", "size", "entry", "member"})


def toggle_fields(leaf: Leaf, context: Context) -> Iterator[tuple[Place, None]]:
    """Yield fields to add or remove where a leaf tests their presence."""
    for node in ast.walk(leaf.node):
        match node:
            case ast.Call(func=ast.Name(id="present"), args=[ast.Name(id=name)]):
                yield Place("given" if context.absent(name) else "absent", name), None


def probe_numbers(leaf: Leaf, context: Context) -> Iterator[tuple[Place, int]]:
    """Yield each number of a leaf with the nearest value that satisfies it."""
    for place, value in list(_numbers(leaf.node, context).items())[:MAX_PARTS]:
        number = _nearest(leaf, place, value, context)
        if number is not None:
            yield place, number


def _numbers(node: ast.expr, context: Context) -> dict[Place, int]:
    """Return the integer parts of an expression with their values."""
    numbers_by_place: dict[Place, int] = {}
    waiting = [node]
    while waiting:
        part = resolve_node(waiting.pop(0), context)
        if isinstance(part, ast.Name) and part.id in context.defines:
            waiting.append(context.defines[part.id].tree)
            continue
        place = place_of(part, context)
        if place is not None and place.kind in _NUMBERS:
            value = value_of(part, context)
            if isinstance(value, int) and not isinstance(value, bool):
                numbers_by_place[place] = value
        elif not isinstance(part, ast.GeneratorExp):
            waiting += [inner for inner in ast.iter_child_nodes(part) if isinstance(inner, ast.expr)]
    return numbers_by_place


def _nearest(leaf: Leaf, place: Place, value: int, context: Context) -> int | None:
    for step in (*_SMALL_STEPS, *_LARGE_STEPS):
        for candidate in (value - step, value + step):
            if _leaf_holds(leaf, place, candidate, context):
                return _nearest_passing(leaf, place, value, candidate, context)
    return None


def _nearest_passing(leaf: Leaf, place: Place, value: int, number: int, context: Context) -> int:
    """Return the passing number next to a failing one, by bisection."""
    bad = value
    while abs(number - bad) > 1:
        middle = (bad + number) // 2
        if _leaf_holds(leaf, place, middle, context):
            number = middle
        else:
            bad = middle
    return number


def _leaf_holds(leaf: Leaf, place: Place, value: int, context: Context) -> bool:
    if value < (1 if place.kind == "size" else -(2**31)):
        return False
    try:
        fields = change_part(place, value, context.fields)
        answer: Any = Evaluator(Context(fields, context.numbers, context.bits, context.defines)).value(leaf.node, {})
    except (Undefined, TypeError):
        return False
    return answer is leaf.expected


MAX_STEPS: Final = 8
MAX_FIRST: Final = 6
_MIRRORED: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}  # fmt: skip
_ASCENDING_OPS: Final = (ast.Lt, ast.LtE)
_STRICT: Final = (ast.Lt, ast.Gt)


class Step(NamedTuple):
    """One part to set.

    It is set to any of `values`, or with `span` to anything from the first to the second (None: unbounded).
    """

    place: Place
    values: tuple[Any, ...]
    span: bool = False

    @property
    def values_to_test(self) -> tuple[Any, ...]:
        """The values to test."""
        if not self.span:
            return self.values
        low, high = self.values
        return tuple(end for end in (low, high) if end is not None)


#: Lower and upper bounds of sizes, ranks and so on, whatever a rule computes.
_LOWER_BOUNDS: Final = {"size": 1, "rank": 0, "length": 0, "elements": 1}
_UPPER_BOUNDS: Final = {"rank": 64, "length": 1000, "elements": 2**62}

#: More tensors than almost any array has.
_MAX_ITEMS: Final = 10_000
#: Costs of setting attributes, the preferred first.
_ATTRIBUTE_COSTS: Final = {"set": 1.0, "member": 1.0, "element": 1.2, "length": 1.4}

#: The cost of a lossy cast; any lossless repair is preferred.
_LOSSY: Final = 1.5

#: Maximum number of combined steps.
Repair = tuple[Step, ...]


def repairs(
    form: RuleForm, context: Context, leaves: Iterable[Leaf], fields: Mapping[str, FieldInfo], dialect: Dialect
) -> Iterator[Repair]:
    """Yield changes after which `form` holds for `context`, best first.

    leaves: the parts that make it fail. fields: by the names that the rule uses.
    """
    search = _Search(form, context, fields, dialect)
    for option in search.options(leaves, context)[:MAX_FIRST]:
        steps = search.extend_option(option)
        if steps is not None:
            yield steps


class _Search:
    def __init__(self, form: RuleForm, context: Context, fields: Mapping[str, FieldInfo], dialect: Dialect) -> None:
        self.form = form
        self.context = context
        self.fields = fields
        self.dialect = dialect
        self.largest = package(dialect.name).largest_size
        self.order = list(fields)

    def answer(self, context: Context) -> Any:
        """Return whether the rule holds or no longer applies, None if undefined."""
        if any(context.absent(path) for path in self.form.require.needs):
            return True
        try:
            if self.form.when is not None and evaluate(self.form.when, context) is not True:
                return None  # a change that only makes the rule inapplicable is not a repair
            return evaluate(self.form.require, context)
        except (Undefined, TypeError):
            return None

    def context_after(self, steps: Iterable[tuple[Place, Any]]) -> Context:
        fields: Mapping[str, Any] = self.context.fields
        for place, value in steps:
            fields = change_part(place, value, fields)
        old = self.context
        return Context(fields, old.numbers, old.bits, old.defines)

    def extend_option(self, option: Repair) -> Repair | None:
        """Return an option extended until the rule holds, None if it never does."""
        steps: list[Step] = []
        done_settings: list[tuple[Place, Any]] = []
        expected_steps: Repair | None = option
        while expected_steps is not None and len(steps) + len(expected_steps) <= MAX_STEPS:
            helping = self._working_option(done_settings, expected_steps)
            if helping is not None:
                return (*steps, *helping)
            if not all(
                step.values_to_test and self.possible(step.place, step.values_to_test[0]) for step in expected_steps
            ):
                return None
            done_settings += [(step.place, step.values_to_test[0]) for step in expected_steps]
            steps += [step._replace(values=step.values_to_test[:1], span=False) for step in expected_steps]
            touched = {place for place, _ in done_settings}
            context = self.context_after(done_settings)
            options = self.options(decisive_parts(self.form.require, context), context)
            later_repairs = [repair for repair in options if not touched & {step.place for step in repair}]
            owner = option[0].place.owner
            expected_steps = min(later_repairs, key=lambda repair: repair[0].place.owner != owner, default=None)
        return None

    def _working_option(self, done_settings: list[tuple[Place, Any]], option: Repair) -> Repair | None:
        """Return the option with only its working values, None without any."""
        *rest, last = option
        if not all(self.possible(step.place, value) for step in option for value in step.values_to_test):
            last = last._replace(
                values=tuple(v for v in last.values_to_test if self.possible(last.place, v)), span=False
            )
        if not all(self.possible(step.place, step.values_to_test[0]) for step in rest):
            return None
        fixed = [(step.place, step.values_to_test[0]) for step in rest]
        good = [
            v
            for v in last.values_to_test
            if self.answer(self.context_after([*done_settings, *fixed, (last.place, v)])) is True
        ]
        if not good:
            return None
        steps = [step._replace(values=step.values_to_test[:1], span=False) for step in rest]
        if last.span and len(good) == len(last.values_to_test):
            return (*steps, last)
        return (*steps, last._replace(values=tuple(good), span=False))

    def possible(self, place: Place, value: Any) -> bool:
        """Return whether a part can have a value at all, regardless of rules."""
        if place.kind in _LOWER_BOUNDS:
            maximum = self.largest if place.kind == "size" else _UPPER_BOUNDS[place.kind]
            return isinstance(value, int) and _LOWER_BOUNDS[place.kind] <= value <= maximum
        if place.kind in {"set", "element"}:
            info = self.fields.get(place.field)
            kind = (info.type if info is not None else "").removesuffix("[]")
            if kind.startswith("uint") and isinstance(value, int):
                return value >= 0 and (kind != "uint" or value <= self.largest)
        return True

    def options(self, leaves: Iterable[Leaf], context: Context) -> list[Repair]:
        """Return the options that satisfy a deciding part, preferred first."""
        merged: dict[tuple[Place, ...], Repair] = {}
        for leaf in leaves:
            direct = list(_leaf_repairs(leaf, context)) or list(_repair_parts(leaf, context))
            for repair in map(self.fill_choices, direct):
                key = tuple(step.place for step in repair)
                previous = merged.get(key)
                merged[key] = repair if previous is None else _merge_choices(previous, repair)
        return sorted(merged.values(), key=lambda repair: max(self.cost(step, context) for step in repair))

    def fill_choices(self, repair: Repair) -> Repair:
        """Return a repair with concrete values for free choices."""
        step = repair[0]
        if step.place.kind != "given":
            return repair
        info = self.fields.get(step.place.field)
        return (step._replace(values=(TensorDesc(None, None) if info is not None and info.tensor else UNKNOWN,)),)

    def cost(self, step: Step, context: Context) -> tuple[float, float]:
        """Return the cost of a step to a reader.

        Outputs follow from the rest, attributes are easy to set, inputs come last.
        """
        place = step.place
        info = self.fields.get(place.field)
        kind = "attribute" if info is None else info.kind
        field_rank = -self.order.index(place.field) - (place.item or 0) / _MAX_ITEMS if place.field in self.order else 0
        if kind == "output" and place.kind in {"size", "sizes", "type"}:
            return (0, field_rank)
        if kind == "attribute":
            return (_ATTRIBUTE_COSTS.get(place.kind, 1.6), field_rank)
        if kind == "output":
            return (1.5, field_rank)
        lossy = 0.0
        if place.kind == "type":
            result = value_of(_type_of(place), context)
            lossy = (
                0.0 if isinstance(result, str) and is_lossless(result, str(step.values[0]), self.dialect) else _LOSSY
            )
        return ((2.0 if info is not None and info.optional else 3.0) + lossy, field_rank)


def _type_of(place: Place) -> ast.expr:
    return ast.parse(f"type({place.owner})", mode="eval").body


def _merge_choices(repair: Repair, other: Repair) -> Repair:
    """Return a repair whose only step allows the values of both.

    Repairs with several steps are not merged; the first is returned.
    """
    if len(repair) > 1 or repair[0].span or other[0].span:
        return repair
    return (repair[0]._replace(values=tuple(dict.fromkeys([*repair[0].values, *other[0].values]))),)


def _leaf_repairs(leaf: Leaf, context: Context) -> Iterator[Repair]:
    """Yield repairs that set the parts of a leaf directly."""
    node = leaf.node
    match node:
        case ast.Compare():
            if leaf.expected:
                yield from _comparison_changes([node.left, *node.comparators], list(map(type, node.ops)), context)
            elif len(node.ops) == 1:
                yield from _comparison_changes([node.left, *node.comparators], [_MIRRORED[type(node.ops[0])]], context)
        case ast.Call(func=ast.Name(id=function), args=[ast.Name(id=name)]) if (
            function in LAYOUT_FUNCTIONS and not leaf.expected
        ):
            yield (Step(Place("strides", name), (None,)),)
        case _:
            place = place_of(node, context)
            if place is not None and place.kind == "set":
                yield (Step(place, (leaf.expected,)),)


def _repair_parts(leaf: Leaf, context: Context) -> Iterator[Repair]:
    """Yield repairs that set parts a leaf computes with."""
    for place, absent_value in toggle_fields(leaf, context):
        yield (Step(place, (absent_value,)),)
    for place, number in probe_numbers(leaf, context):
        yield (Step(place, (number,)),)


def _comparison_changes(parts: list[ast.expr], ops: list[type[ast.cmpop]], context: Context) -> Iterator[Repair]:
    places = [place_of(part, context) for part in parts]
    values = [value_of(part, context) for part in parts]
    if any(value is None for value in values):
        return
    if all(op is ast.Eq for op in ops):
        yield from _equalizing_changes(places, values)
    elif ops == [ast.In]:
        allowed_values = [v for v in values[1] if v is not UNKNOWN] if isinstance(values[1], tuple | list) else []
        if places[0] is not None and allowed_values:
            yield (Step(places[0], tuple(dict.fromkeys(allowed_values))),)
    elif ops == [ast.NotEq]:
        for place, value in zip(places, reversed(values), strict=True):
            if place is not None and isinstance(value, int) and not isinstance(value, bool):
                yield (Step(place, (1 if value == 0 else value + 1, value - 1)),)
    elif all(issubclass(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in ops):
        yield from _ordering_changes(places, values, ops)


def _equalizing_changes(places: list[Place | None], values: list[Any]) -> Iterator[Repair]:
    """Yield changes that make all parts equal, the most frequent value first."""
    if any(value is UNKNOWN for value in values):
        return
    keys = [tuple(v) if isinstance(v, list | range) else v for v in values]
    for result, _ in Counter(keys).most_common():
        other_places = [place for place, key in zip(places, keys, strict=True) if key != result]
        if other_places and all(place is not None for place in other_places):
            yield tuple(Step(place, (result,)) for place in dict.fromkeys(other_places) if place is not None)


def _ordering_changes(places: list[Place | None], values: list[Any], ops: list[type[ast.cmpop]]) -> Iterator[Repair]:
    """Yield, per part that can be set, the values between its neighbors."""
    for index, place in enumerate(places):
        if place is None:
            continue
        low = high = None
        if index > 0:
            low, high = _narrow_range(values[index - 1], ops[index - 1], low, high, precedes_part=True)
        if index < len(ops):
            low, high = _narrow_range(values[index + 1], ops[index], low, high, precedes_part=False)
        if (low is None and high is None) or (low is not None and high is not None and low > high):
            continue
        if low is not None and low == high:
            yield (Step(place, (low,)),)
        else:
            yield (Step(place, (low, high), span=True),)


def _narrow_range(value: Any, op: type[ast.cmpop], low: Any, high: Any, *, precedes_part: bool) -> tuple[Any, Any]:
    """Narrow a range by a neighbor; `precedes_part`: it precedes the part."""
    if not isinstance(value, int) or isinstance(value, bool):
        if isinstance(value, float) and op not in _STRICT:
            return (value, high) if (op in _ASCENDING_OPS) == precedes_part else (low, value)
        return low, high
    if (op in _ASCENDING_OPS) == precedes_part:
        return value + (op in _STRICT), high
    return low, value - (op in _STRICT)
