"""What the parts of a rule are, as far as a draft goes: places of a descriptor, and bounds of what is still open."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from specgate.descriptors.core import TensorDesc
from specgate.rules.evaluate import UNKNOWN, Broken
from specgate.rules.language import RECORDS
from specgate.testing.draft import Key, Open
from specgate.testing.places import TRUTHS, Room
from specgate.testing.ranges import Span, Values, add, divide, join, meet, modulo, multiply, negate, point

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from specgate.rules.evaluate import Context
    from specgate.testing.draft import Draft
    from specgate.testing.problem import Problem

__all__ = ["EMPTY", "MEMBERS", "Env", "Operand", "Reader", "Ref", "View"]

#: The numbers of records, by their place in it.
MEMBERS: Final = {name: index for names in RECORDS.values() for index, name in enumerate(names)}
_FOLLOWED: Final = frozenset({"size", "type", "rank", "present"})
_KEYS: Final = {"rank": "shape", "size": "shape", "item": "attribute", "member": "attribute"}
_FORWARD: Final[Mapping[type, Callable[[Span, Span], Span | None]]] = {
    ast.Add: add,
    ast.Sub: lambda one, other: add(one, negate(other)),
    ast.Mult: multiply,
    ast.FloorDiv: divide,
    ast.Mod: modulo,
}
_FOLDS: Final = {"sum": add, "product": multiply, "elements": multiply}


class Ref(NamedTuple):
    """A place that one choice fills: what a question asks. at: the dimension, element or member."""

    slot: str
    aspect: str
    at: int = 0

    @property
    def key(self) -> Key:
        """What rules read there."""
        return Key(self.slot, _KEYS.get(self.aspect, self.aspect))


class Env(NamedTuple):
    """Variables of loops: their values as far as known, and the places or tensors that they stand for."""

    values: Mapping[str, Any]
    places: Mapping[str, Ref | str]


EMPTY: Final = Env({}, {})
#: A place, or an expression with the variables that it reads.
Operand: TypeAlias = "Ref | tuple[ast.expr, Env]"


class _Contradiction(Exception):
    """A place for which rules leave nothing any more: what was asked for leads nowhere."""


@dataclass(frozen=True, slots=True)
class View:
    """A draft as one question sees it.

    met: constraints that nothing can violate any more. room: how large open sizes may become (see `Room`). depth: how
    often what rules say of an open place is asked on the way to what they say of another. asked: those places. via:
    the rule that led to the last one.
    """

    problem: Problem
    draft: Draft
    met: Collection[Any] = ()
    room: Room = "any"
    depth: int = 1
    asked: tuple[Ref, ...] = ()
    via: Any = None
    memo: dict[tuple[Ref, Any], Values | None] = field(default_factory=dict)

    def allowed(self, ref: Ref) -> Values | None:
        """Return what may stand at an open place by every rule that is not met; None: anything."""
        near = self.problem.allowed(replace(self, depth=0, asked=(ref,)), ref)
        if not self.depth or ref.aspect not in _FOLLOWED or (near is not None and settled(near)):
            return near
        try:
            return self.problem.allowed(replace(self, asked=(ref,)), ref)
        except _Contradiction:
            return ()

    def open(self, ref: Ref) -> Values | None:
        """Return what an open place may come to hold, as far as the rules that cover it say."""
        basic = self.problem.places.possible(self.draft, ref, self.room)
        if not self.depth or ref.aspect not in _FOLLOWED or ref in self.asked:
            return basic
        key = (ref, self.via)
        if key not in self.memo:
            self.memo[key] = basic
            inner = replace(self, depth=self.depth - 1, asked=(*self.asked, ref))
            self.memo[key] = meet(basic, self.problem.allowed(inner, ref))
        found = self.memo[key]
        if found is not None and not found and basic:
            raise _Contradiction
        return found

    def skips(self, constraint: Any, ref: Ref) -> bool:
        """Return whether a rule has nothing to add on a place that another place is asked for the sake of."""
        if self.via is None:
            return False
        known = self.draft.touched & constraint.reads
        if constraint is not self.via:
            return all(key.slot == ref.slot for key in known)
        slots = {asked.slot for asked in self.asked}
        return all(key.slot in slots or key.aspect != ref.key.aspect for key in known)


class Reader:
    """Reads one rule over one draft. slot: the tensor that ``tensor`` stands for in a shared rule."""

    def __init__(self, view: View, slot: str | None) -> None:
        self.view = view
        self.problem = view.problem
        self.draft = draft = view.draft
        self.slot = slot
        self._memo: dict[tuple[ast.expr, int], tuple[Values | None, Env]] = {}
        self.context: Context = draft.context if slot is None else draft.bound(slot)
        self.evaluator = Open(self.context, draft)

    def truth(self, node: ast.expr, env: Env) -> Any:
        """Return True or False, UNKNOWN where it is open or has no value."""
        try:
            return self.evaluator.value(node, env.values)
        except (Broken, KeyError, AttributeError, TypeError):
            return UNKNOWN

    def tensor_slot(self, node: ast.expr, env: Env) -> str | None:
        """Return where the tensor stands that an expression names."""
        if isinstance(node, ast.Name):
            place = env.places.get(node.id)
            if place is not None:
                return place if isinstance(place, str) else None
            return self.slot if self.slot is not None and node.id == "tensor" else node.id
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            index = self.exact(node.slice, env)
            return None if index is None else f"{node.value.id}[{index}]"
        return None

    def exact(self, node: ast.expr, env: Env) -> int | None:
        """Return a whole number where it is known."""
        if isinstance(node, ast.Name) and node.id in env.values:
            value = env.values[node.id]
            return value if isinstance(value, int) else None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) else None
        bounds = self.number(node, env)
        return bounds.low if bounds is not None and bounds.low == bounds.high else None

    def number(self, node: ast.expr, env: Env) -> Span | None:
        """Return the bounds of a number as one span."""
        return self.hull(self.values(node, env))

    @staticmethod
    def hull(found: Values | None) -> Span | None:
        if not isinstance(found, tuple) or not found:
            return None
        if len(found) == 1:
            return found[0]
        return Span(min(span.low for span in found), max(span.high for span in found))

    def ref(self, node: ast.expr, env: Env) -> Ref | None:
        """Return the place that an expression reads, None where it computes something."""
        if isinstance(node, ast.Name):
            place = env.places.get(node.id)
            if isinstance(place, Ref):
                return place
            info = self.problem.fields.get(node.id)
            return Ref(node.id, "attribute") if info is not None and info.kind == "attribute" else None
        if isinstance(node, ast.Attribute) and node.attr in MEMBERS and isinstance(node.value, ast.Name):
            return Ref(node.value.id, "member", MEMBERS[node.attr])
        if isinstance(node, ast.Subscript):
            index = self.exact(node.slice, env)
            items = self.listed(node.value, env)
            found = items[index] if items is not None and index is not None and 0 <= index < len(items) else None
            return found if isinstance(found, Ref) else None
        return self._called_ref(node, env) if isinstance(node, ast.Call) else None

    def _called_ref(self, node: ast.Call, env: Env) -> Ref | None:
        name, argument = node.func.id, node.args[0]  # type: ignore[attr-defined]  # parse() has checked it
        if name in {"rank", "type", "value"}:
            slot = self.tensor_slot(argument, env)
            return None if slot is None else Ref(slot, name)
        if name == "present" and isinstance(argument, ast.Name):
            return Ref(argument.id, "present")
        if name == "len" and isinstance(argument, ast.Name):
            info = self.problem.fields.get(argument.id)
            return None if info is None else Ref(argument.id, "present" if info.type == "tensor[]" else "attribute")
        if name == "len" and isinstance(argument, ast.Attribute) and argument.attr == "sizes":
            slot = self.tensor_slot(argument.value, env)
            return None if slot is None else Ref(slot, "rank")
        return None

    def listed(self, node: ast.expr, env: Env) -> Sequence[Operand] | None:
        """Return the elements of a list whose length is known."""
        if isinstance(node, ast.Attribute) and node.attr == "sizes":
            slot = self.tensor_slot(node.value, env)
            tensor = None if slot is None else self.draft.tensor(slot)
            if not isinstance(tensor, TensorDesc) or tensor.sizes is None:
                return None
            return [Ref(slot or "", "size", d) for d in range(len(tensor.sizes))]
        if isinstance(node, ast.Name) and node.id not in env.places:
            value = self.draft.fields.get(node.id)
            info = self.problem.fields.get(node.id)
            if info is None or info.kind != "attribute" or not isinstance(value, list | tuple):
                return None
            return [Ref(node.id, "item", index) for index in range(len(value))]
        if isinstance(node, ast.Tuple | ast.List):
            return [(part, env) for part in node.elts]
        return None

    def turns(self, node: ast.GeneratorExp, env: Env, only: int | None = None) -> list[tuple[Env, Any]] | None:
        """Return each turn's variables, and whether it counts; None where it is open how many there are.

        only: a place in a list: the turns of others are left out.
        """
        loop = node.generators[0]
        name: str = loop.target.id  # type: ignore[attr-defined]  # parse() has checked it
        inner: list[Env] = []
        listed = self.listed(loop.iter, env)
        if listed is not None:
            for index, item in enumerate(listed):
                if only is not None and index != only:
                    continue
                value = self.known(item) if isinstance(item, Ref) else self.truth(*item)
                places = {**env.places, name: item} if isinstance(item, Ref) else env.places
                inner.append(Env({**env.values, name: value}, places))
        else:
            items = self.truth(loop.iter, env)
            if not isinstance(items, tuple | list | range):
                return None
            tensors = bool(items) and isinstance(items[0], TensorDesc)
            for index, item in enumerate(items):
                if only is not None and item != only:
                    continue
                slot = f"{loop.iter.id}[{index}]" if tensors and isinstance(loop.iter, ast.Name) else None
                places = env.places if slot is None else {**env.places, name: slot}
                inner.append(Env({**env.values, name: UNKNOWN if item is None else item}, places))
        found = []
        for variables in inner:
            keep = all_of(self.truth(test, variables) for test in loop.ifs)
            if keep is not False:
                found.append((variables, keep))
        return found

    def operands(self, node: ast.Call, env: Env) -> Sequence[Operand] | None:
        """Return what a sum, product or count of elements is made of."""
        argument = node.args[0]
        if node.func.id == "elements":  # type: ignore[attr-defined]
            return self.listed(ast.Attribute(argument, "sizes", ast.Load()), env)
        if not isinstance(argument, ast.GeneratorExp):
            return self.listed(argument, env)
        turns = self.turns(argument, env)
        if turns is None or any(keep is UNKNOWN for _, keep in turns):
            return None
        return [(argument.elt, variables) for variables, _ in turns]

    def known(self, ref: Ref) -> Any:
        """Return what stands at a place, UNKNOWN where that is not chosen yet."""
        return self.problem.places.known(self.draft, ref)

    def operand(self, item: Operand) -> Values | None:
        """Return what an operand may be."""
        return self.place(item) if isinstance(item, Ref) else self.values(*item)

    def place(self, ref: Ref) -> Values | None:
        """Return what may stand at a place."""
        value = self.known(ref)
        if value is UNKNOWN:
            return self.view.open(ref)
        return frozenset({value}) if isinstance(value, str | bool) else (point(value),)

    def values(self, node: ast.expr, env: Env) -> Values | None:
        """Return what an expression may be, None where nothing can be said."""
        if isinstance(node, ast.Name | ast.Subscript | ast.Call | ast.Attribute):
            ref = self.ref(node, env)
            if ref is not None:
                return self.place(ref)
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is not None:
            key = (node, id(env))
            if key not in self._memo:
                self._memo[key] = (method(node, env), env)  # with what the number stands for, so that no other takes it
            return self._memo[key][0]
        value = self.truth(node, env)
        return TRUTHS if value is UNKNOWN else frozenset({value}) if isinstance(value, bool) else None

    def on_Constant(self, node: ast.Constant, _env: Env) -> Values | None:
        value = node.value
        return frozenset({value}) if isinstance(value, str | bool) else (point(value),)

    def on_Name(self, node: ast.Name, env: Env) -> Values | None:
        if node.id in env.values:
            value = env.values[node.id]
            return (point(value),) if isinstance(value, int | float) else None
        define = self.context.defines.get(node.id)
        if define is not None:
            return self.values(define.tree, EMPTY)
        if node.id in self.context.numbers:
            return (point(self.context.numbers[node.id]),)
        return None if node.id in self.problem.spec.fields else frozenset({node.id})

    def on_Subscript(self, node: ast.Subscript, env: Env) -> Values | None:
        items = self.listed(node.value, env)
        index = self.number(node.slice, env)
        if items is None or index is None:
            return None
        return join(self.operand(items[i]) for i in range(max(index.low, 0), min(index.high, len(items) - 1) + 1))

    def on_Attribute(self, _node: ast.Attribute, _env: Env) -> Values | None:
        return None

    def on_UnaryOp(self, node: ast.UnaryOp, env: Env) -> Values | None:
        if isinstance(node.op, ast.Not):
            value = self.truth(node, env)
            return TRUTHS if value is UNKNOWN else frozenset({value})
        operand = self.number(node.operand, env)
        return None if operand is None else (negate(operand),)

    def on_BinOp(self, node: ast.BinOp, env: Env) -> Values | None:
        left, right = self.number(node.left, env), self.number(node.right, env)
        if left is None or right is None:
            return None
        found = _FORWARD[type(node.op)](left, right)
        return None if found is None else (found,)

    def on_IfExp(self, node: ast.IfExp, env: Env) -> Values | None:
        test = self.truth(node.test, env)
        branches = [node.body, node.orelse] if test is UNKNOWN else [node.body if test else node.orelse]
        return join(self.values(branch, env) for branch in branches)

    def on_Call(self, node: ast.Call, env: Env) -> Values | None:
        name: str = node.func.id  # type: ignore[attr-defined]  # parse() has checked it
        if name in _FOLDS:
            return self._folded(name, node, env)
        if name == "abs":
            operand = self.number(node.args[0], env)
            if operand is None:
                return None
            sides = (abs(operand.low), abs(operand.high))
            return (Span(0 if operand.low < 0 < operand.high else min(sides), max(sides)),)
        value = self.truth(node, env)
        if value is UNKNOWN:
            return TRUTHS if name in {"all", "any", "overlapping", "power_of_two"} else None
        return frozenset({value}) if isinstance(value, str | bool) else (point(value),) if is_number(value) else None

    def _folded(self, name: str, node: ast.Call, env: Env) -> Values | None:
        operands = self.operands(node, env)
        if operands is None:
            return None
        total = point(0 if name == "sum" else 1)
        for item in operands:
            bounds = self.hull(self.operand(item))
            if bounds is None:
                return None
            total = _FOLDS[name](total, bounds)
        return (total,)


def settled(values: Values) -> bool:
    """Return whether there is at most one value."""
    return len(values) < 2 and (not values or isinstance(values, frozenset) or values[0].low == values[0].high)


def is_number(value: Any) -> bool:
    """Return whether a value is a number and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def all_of(answers: Any) -> Any:
    """Return False if one is, UNKNOWN if one might be, else True."""
    result: Any = True
    for answer in answers:
        if answer is False:
            return False
        if answer is UNKNOWN:
            result = UNKNOWN
    return result
