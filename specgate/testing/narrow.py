"""Which answers to one question a rule still allows: its expression read backwards from the truth that it must have.

What is returned holds every answer with which the rule may still become true (or false, where it is to be broken), so
that the first one to try is rarely refused.
"""

from __future__ import annotations

import ast
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from specgate.rules.evaluate import UNKNOWN
from specgate.testing import inverse
from specgate.testing.bounds import EMPTY, Env, Operand, Reader, Ref, View, settled
from specgate.testing.ranges import TOP, Span, Values, add, join, meet, multiply, point

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specgate.testing.problem import Problem

__all__ = ["Narrower"]

_OPPOSITE: Final[dict[type, type]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_MIRRORED: Final[dict[type, type]] = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
_LEFT: Final[dict[type, Any]] = {
    ast.Add: inverse.summand, ast.Sub: inverse.minuend, ast.Mult: inverse.factor, ast.FloorDiv: inverse.dividend,
    ast.Mod: inverse.modulo_of,
}  # fmt: skip
_RIGHT: Final[dict[type, Any]] = {
    ast.Add: inverse.summand, ast.Sub: inverse.subtrahend, ast.Mult: inverse.factor, ast.FloorDiv: inverse.divisor,
}  # fmt: skip


class Narrower:
    """Asks one rule about one place."""

    def __init__(self, view: View, target: Ref, slot: str | None) -> None:
        self.reader = Reader(view, slot)
        self.target = target
        self.base = "tensor" if slot is not None else target.slot.partition("[")[0]
        self.problem = view.problem

    def allowed(self, node: ast.expr, *, truth: bool) -> Values | None:
        """Return the answers with which `node` may have this truth; None: any."""
        return self.truth(node, EMPTY, truth=truth)

    def answer(self, node: ast.expr) -> Any:
        """Return whether `node` is true as things stand, UNKNOWN where that is open."""
        return self.reader.truth(node, EMPTY)

    def _concerned(self, node: ast.expr, env: Env) -> bool:
        names = self.problem.names(node)
        if self.base in names:
            return True
        return any(name in names and _slot(place) == self.target.slot for name, place in env.places.items())

    def truth(self, node: ast.expr, env: Env, *, truth: bool) -> Values | None:
        if not self._concerned(node, env):
            return None
        if isinstance(node, ast.BoolOp):
            decisive = isinstance(node.op, ast.And) is truth
            return self._combined([(part, env) for part in node.values], truth=truth, every=decisive)
        if isinstance(node, ast.UnaryOp):
            return self.truth(node.operand, env, truth=not truth)
        if isinstance(node, ast.Compare):
            return self._compare(node, env, truth=truth)
        if isinstance(node, ast.Call) and node.func.id in {"all", "any"}:  # type: ignore[attr-defined]
            return self._loop(node, env, truth=truth)
        if isinstance(node, ast.Name) and node.id in self.reader.context.defines:
            return self.truth(self.reader.context.defines[node.id].tree, EMPTY, truth=truth)
        if self.reader.ref(node, env) == self.target:
            return frozenset({truth})
        return None

    def _combined(self, parts: Iterable[tuple[ast.expr, Env]], *, truth: bool, every: bool) -> Values | None:
        """Return what lets every one of `parts` have a truth, or any one of them."""
        if every:
            result: Values | None = None
            for node, env in parts:
                if result is None or not settled(result):
                    result = meet(result, self.truth(node, env, truth=truth))
            return result
        found: list[Values | None] = []
        for node, env in parts:
            if self._concerned(node, env):
                found.append(self.truth(node, env, truth=truth))
            elif self.reader.truth(node, env) is not (not truth):
                return None
        return join(found)

    def _loop(self, node: ast.Call, env: Env, *, truth: bool) -> Values | None:
        loop: ast.GeneratorExp = node.args[0]  # type: ignore[assignment]  # parse() has checked it
        turns = self.reader.turns(loop, env, only=self._only(loop))
        if turns is None:
            return None
        every = (node.func.id == "all") is truth  # type: ignore[attr-defined]
        if not every:
            return self._combined([(loop.elt, inner) for inner, _ in turns], truth=truth, every=False)
        sure = [(loop.elt, inner) for inner, keep in turns if keep is True]
        return self._combined(sure, truth=truth, every=True)

    def _only(self, loop: ast.GeneratorExp) -> int | None:
        """Return the one turn that concerns the target, None where others may."""
        if self.target.aspect not in {"size", "item"} or not self.problem.turn_by_turn(loop, self.base):
            return None
        return self.target.at

    def _compare(self, node: ast.Compare, env: Env, *, truth: bool) -> Values | None:
        sides = [node.left, *node.comparators]
        if truth and len(node.ops) > 1 and all(isinstance(op, ast.Eq) for op in node.ops):
            return self._equal_chain(sides, env)
        links = [(left, op, right) for left, op, right in zip(sides, node.ops, sides[1:], strict=False)]
        if truth:
            result: Values | None = None
            for left, op, right in links:
                result = meet(result, self._link(left, type(op), right, env))
            return result
        return join(self._link(left, _OPPOSITE[type(op)], right, env) for left, op, right in links)

    def _equal_chain(self, sides: Sequence[ast.expr], env: Env) -> Values | None:
        """All are the same: what one of them may be is limited by every other one."""
        result: Values | None = None
        for index, side in enumerate(sides):
            if not self._concerned(side, env):
                continue
            others = [other for place, other in enumerate(sides) if place != index]
            if _is_list(side, self.problem):
                for other in others:
                    if result is None or not settled(result):
                        result = meet(result, self._list_link(side, ast.Eq, other, env))
                continue
            wanted: Values | None = None
            for other in others:
                if wanted is None or not settled(wanted):
                    wanted = meet(wanted, self.reader.values(other, env))
            result = meet(result, self._side(side, env, wanted))
        return result

    def _link(self, left: ast.expr, op: type, right: ast.expr, env: Env) -> Values | None:
        found: Any = self._list_link(left, op, right, env)
        if found is not _NO_LIST:
            linked: Values | None = found
            return linked
        if op in {ast.In, ast.NotIn}:
            return self._member(left, right, env, among=op is ast.In)
        result: Values | None = None
        for side, other, relation in ((left, right, op), (right, left, _MIRRORED.get(op, op))):
            if self._concerned(side, env):
                wanted = self._related(relation, side, other, env)
                result = meet(result, self._side(side, env, wanted))
        return result

    def _list_link(self, left: ast.expr, op: type, right: ast.expr, env: Env) -> Any:
        """Whole lists compared: element by element, and their lengths."""
        pairs = [(left, right), (right, left)]
        if not any(_is_list(side, self.problem) for side in (left, right)) or op in {ast.In, ast.NotIn}:
            return _NO_LIST
        if op is not ast.Eq:
            return None
        result: Values | None = None
        for side, other in pairs:
            if not self._concerned(side, env):
                continue
            theirs = self.reader.listed(other, env)
            result = meet(result, self._list_side(side, theirs, other, env))
        return result

    def _list_side(self, side: ast.expr, theirs: Sequence[Operand] | None, other: ast.expr, env: Env) -> Values | None:
        target = self.target
        length = _length_ref(self.reader, side, env)
        if length == target:
            if theirs is not None:
                return (point(len(theirs)),)
            place = _length_ref(self.reader, other, env)
            return None if place is None else self.reader.place(place)
        mine = self.reader.listed(side, env)
        if mine is None or theirs is None:
            return None
        if len(mine) != len(theirs):
            return ()
        result: Values | None = None
        for own, their in zip(mine, theirs, strict=True):
            if own == self.target or (not isinstance(own, Ref) and self._concerned(*own)):
                result = meet(result, self._operand(own, self.reader.operand(their)))
        return result

    def _related(self, op: type, side: ast.expr, other: ast.expr, env: Env) -> Values | None:
        theirs = self.reader.values(other, env)
        if op is ast.NotEq and isinstance(theirs, frozenset):
            mine = self.reader.values(side, env)
            return mine - theirs if isinstance(mine, frozenset) and len(theirs) == 1 else None
        return _related(op, theirs)

    def _member(self, left: ast.expr, right: ast.expr, env: Env, *, among: bool) -> Values | None:
        items = self.reader.listed(right, env)
        if items is None:
            return None
        options = [self.reader.operand(item) for item in items]
        if not among:
            if not self._concerned(left, env):
                return None
            known = [option for option in options if option is not None and _single(option)]
            if any(isinstance(option, frozenset) for option in known):
                mine = self.reader.values(left, env)
                return self._side(left, env, mine.difference(*known)) if isinstance(mine, frozenset) else None
            return self._side(left, env, reduce(meet, [_related(ast.NotEq, option) for option in known], None))
        result = self._side(left, env, join(options)) if self._concerned(left, env) else None
        if self._concerned(right, env):
            mine = self.reader.values(left, env)
            found: list[Values | None] = []
            for item, option in zip(items, options, strict=True):
                if isinstance(item, Ref) or self._concerned(*item):
                    found.append(self._operand(item, mine))
                elif meet(option, mine) != ():
                    found.append(None)
            result = meet(result, join(found))
        return result

    def _operand(self, item: Operand, wanted: Values | None) -> Values | None:
        if isinstance(item, Ref):
            return wanted if item == self.target else None
        node, env = item
        return self._side(node, env, wanted) if self._concerned(node, env) else None

    def _side(self, node: ast.expr, env: Env, wanted: Values | None) -> Values | None:
        """Return the answers with which a number or word may be `wanted`."""
        if wanted is None:
            return None
        ref = self.reader.ref(node, env)
        if ref is not None:
            return wanted if ref == self.target else None
        if isinstance(node, ast.Name):
            define = self.reader.context.defines.get(node.id)
            return None if define is None or node.id in env.values else self._side(define.tree, EMPTY, wanted)
        if isinstance(node, ast.IfExp):
            return self._chosen(node, env, wanted)
        if isinstance(wanted, frozenset):
            if isinstance(node, ast.BoolOp | ast.Compare | ast.UnaryOp | ast.Call):
                return join(self.truth(node, env, truth=bool(word)) for word in wanted)
            return None
        if isinstance(node, ast.BinOp):
            return self._operation(node, env, wanted)
        if isinstance(node, ast.UnaryOp):
            return self._side(node.operand, env, inverse.subtrahend(wanted, point(0)))
        if isinstance(node, ast.Call):
            return self._call(node, env, wanted)
        return None

    def _chosen(self, node: ast.IfExp, env: Env, wanted: Values) -> Values | None:
        test = self.reader.truth(node.test, env)
        if test is not UNKNOWN:
            return self._side(node.body if test else node.orelse, env, wanted)
        found: list[Values | None] = []
        for truth, branch in ((True, node.body), (False, node.orelse)):
            concerned = self._concerned(branch, env)
            if not concerned and not meet(self.reader.values(branch, env), wanted):
                continue  # this branch can never be what is wanted
            inner = self._side(branch, env, wanted) if concerned else None
            found.append(meet(self.truth(node.test, env, truth=truth), inner))
        return join(found)

    def _operation(self, node: ast.BinOp, env: Env, wanted: tuple[Span, ...]) -> Values | None:
        result: Values | None = None
        for side, other, table in ((node.left, node.right, _LEFT), (node.right, node.left, _RIGHT)):
            if not self._concerned(side, env):
                continue
            bounds = self.reader.number(other, env)
            back = table.get(type(node.op))
            if bounds is not None and back is not None:
                result = meet(result, self._side(side, env, back(wanted, bounds)))
        return result

    def _call(self, node: ast.Call, env: Env, wanted: tuple[Span, ...]) -> Values | None:
        name: str = node.func.id  # type: ignore[attr-defined]  # parse() has checked it
        if name == "abs":
            mirrored = tuple(span for one in wanted for span in (one, *inverse.subtrahend((one,), point(0))))
            return self._side(node.args[0], env, mirrored)
        if name not in {"sum", "product", "elements"}:
            return None
        operands = self.reader.operands(node, env)
        if operands is None:
            return None
        fold, back = (add, inverse.summand) if name == "sum" else (multiply, inverse.factor)
        bounds = [self.reader.hull(self.reader.operand(item)) for item in operands]
        result: Values | None = None
        for index, item in enumerate(operands):
            if (item != self.target) if isinstance(item, Ref) else not self._concerned(*item):
                continue
            rest = point(0 if name == "sum" else 1)
            for place, bound in enumerate(bounds):
                if place != index:
                    rest = fold(rest, bound or Span(-TOP, TOP))
            result = meet(result, self._operand(item, back(wanted, rest)))
        return result


_NO_LIST: Final = object()


def _slot(place: Ref | str) -> str:
    return place if isinstance(place, str) else place.slot


def _single(values: Values) -> bool:
    return len(values) == 1 and (isinstance(values, frozenset) or values[0].low == values[0].high)


def _is_list(node: ast.expr, problem: Problem) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in {"sizes", "strides"}
    if isinstance(node, ast.Name):
        info = problem.fields.get(node.id)
        return info is not None and info.type.endswith("[]")
    return isinstance(node, ast.Tuple | ast.List)


def _length_ref(reader: Reader, node: ast.expr, env: Env) -> Ref | None:
    if isinstance(node, ast.Attribute):
        slot = reader.tensor_slot(node.value, env)
        return None if slot is None else Ref(slot, "rank")
    return Ref(node.id, "attribute") if isinstance(node, ast.Name) else None


def _related(op: type, other: Values | None) -> Values | None:
    """Return what may have a relation to something that is one of `other`."""
    if other is None or not other:
        return None
    if op is ast.Eq:
        return other
    if isinstance(other, frozenset):
        return None
    low, high = min(span.low for span in other), max(span.high for span in other)
    if op is ast.NotEq:
        return (Span(-TOP, low - 1), Span(low + 1, TOP)) if low == high else None
    step = 1 if isinstance(low, int) and isinstance(high, int) else 0
    if op is ast.Lt:
        return (Span(-TOP, high - step),)
    if op is ast.LtE:
        return (Span(-TOP, high),)
    return (Span(low + step, TOP),) if op is ast.Gt else (Span(low, TOP),)
