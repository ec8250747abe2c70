"""Evaluate a rule in strict Kleene logic over a descriptor."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Descriptor, Symbol, shown
from specgate.rules import primitives
from specgate.rules.language import LAYOUT_FUNCTIONS, UNKNOWN, Context, Undefined, known, member, number
from specgate.rules.spelling import TEXT_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from specgate.rules.language import Rule

__all__ = ["UNKNOWN", "Context", "Evaluator", "Undefined", "decide", "evaluate"]

_ARITHMETIC: Final[Mapping[type, Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ORDER: Final[Mapping[type, Callable[[Any, Any], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(rule: Rule, context: Context) -> Any:
    """Return True, False or UNKNOWN (or the value of a sub-expression); raise Undefined where it has none."""
    return Evaluator(context).value(rule.tree, {})


def decide(values: Iterable[Any], *, decisive: bool) -> Any:
    """Return `decisive` as soon as one of `values` is, UNKNOWN where one might be, else its opposite."""
    unknown = False
    try:
        for value in values:
            if value is UNKNOWN:
                unknown = True
            elif value is decisive:
                return decisive
    except Undefined:
        if not unknown:
            raise
        return UNKNOWN  # once known, an earlier part may settle it before this one is reached
    return UNKNOWN if unknown else not decisive


class Evaluator:
    """Walks the trees of one context's rules; parse() has checked them."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.turns = 0

    def value(self, node: ast.expr, variables: Mapping[str, Any]) -> Any:
        method: Callable[[Any, Mapping[str, Any]], Any] = getattr(self, "on_" + type(node).__name__)
        return method(node, variables)

    def on_Constant(self, node: ast.Constant, _variables: Mapping[str, Any]) -> Any:
        return node.value

    def on_Name(self, node: ast.Name, variables: Mapping[str, Any]) -> Any:
        name = node.id
        if name in variables:
            return variables[name]
        if name in self.context.defines:
            return self.value(self.context.defines[name].tree, {})
        if name in self.context.fields:
            return known(self.context.fields[name])
        if name in self.context.numbers:
            return self.context.numbers[name]
        return name  # a type's or enum's own name: its word

    def on_Attribute(self, node: ast.Attribute, variables: Mapping[str, Any]) -> Any:
        owner = self.value(node.value, variables)
        if owner is UNKNOWN:
            return UNKNOWN
        try:
            value = member(owner, node.attr)
        except AttributeError:
            raise Undefined(f"{ast.unparse(node.value)} is {shown(owner)}") from None
        if value is None and node.attr != "sizes" and self._element(node.value, variables):
            raise Undefined(f"{ast.unparse(node)} is left out")
        return known(value)

    def on_Subscript(self, node: ast.Subscript, variables: Mapping[str, Any]) -> Any:
        sequence = self.value(node.value, variables)
        index = self.value(node.slice, variables)
        if sequence is UNKNOWN or not number(index):
            return UNKNOWN
        if not isinstance(index, int) or not 0 <= index < len(sequence):
            raise Undefined(f"{ast.unparse(node)}: index {shown(index)} of {len(sequence)}")
        return known(sequence[index])

    def on_BoolOp(self, node: ast.BoolOp, variables: Mapping[str, Any]) -> Any:
        decisive = isinstance(node.op, ast.Or)
        return decide((self.value(part, variables) for part in node.values), decisive=decisive)

    def on_UnaryOp(self, node: ast.UnaryOp, variables: Mapping[str, Any]) -> Any:
        value = self.value(node.operand, variables)
        if value is UNKNOWN or isinstance(value, str):
            return UNKNOWN
        return (not value) if isinstance(node.op, ast.Not) else -value

    def on_BinOp(self, node: ast.BinOp, variables: Mapping[str, Any]) -> Any:
        left, right = self.value(node.left, variables), self.value(node.right, variables)
        if not (number(left) and number(right)):
            return UNKNOWN
        try:
            return _ARITHMETIC[type(node.op)](left, right)
        except (ArithmeticError, ValueError) as error:
            raise Undefined(f"{ast.unparse(node)}: {error}") from None

    def on_Compare(self, node: ast.Compare, variables: Mapping[str, Any]) -> Any:
        return decide(self._links(node, variables), decisive=False)

    def _links(self, node: ast.Compare, variables: Mapping[str, Any]) -> Iterator[Any]:
        left = self.value(node.left, variables)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part, variables)
            yield self._compare(op, left, right)
            left = right

    @staticmethod
    def _compare(op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(op, ast.In | ast.NotIn):
            if right is UNKNOWN:
                return UNKNOWN
            found = decide((_equal(left, known(item)) for item in right), decisive=True)
            return found if found is UNKNOWN or isinstance(op, ast.In) else not found
        if isinstance(op, ast.Eq | ast.NotEq):
            same = _equal(left, right)
            return same if same is UNKNOWN or isinstance(op, ast.Eq) else not same
        if not (number(left) and number(right)):
            return UNKNOWN
        return _ORDER[type(op)](left, right)

    def on_IfExp(self, node: ast.IfExp, variables: Mapping[str, Any]) -> Any:
        test = self.value(node.test, variables)
        if test is not UNKNOWN:
            return self.value(node.body if test else node.orelse, variables)
        try:
            first, second = self.value(node.body, variables), self.value(node.orelse, variables)
        except Undefined:
            return UNKNOWN  # once known, the test may choose the other one
        return first if _equal(first, second) is True else UNKNOWN

    def on_Tuple(self, node: ast.Tuple | ast.List, variables: Mapping[str, Any]) -> Any:
        return tuple(self.value(part, variables) for part in node.elts)

    on_List = on_Tuple

    def on_Call(self, node: ast.Call, variables: Mapping[str, Any]) -> Any:
        name = node.func.id  # type: ignore[attr-defined]  # parse() has checked it
        argument = node.args[0]
        if name in {"all", "any"}:
            return self._quantify(argument, variables, decisive=name == "any")  # type: ignore[arg-type]
        if name == "present":
            return self._present(argument, variables)
        if name == "operator":
            return self._operator(argument, variables)
        if name in TEXT_FUNCTIONS:
            return self._of_texts(node, variables)
        if isinstance(argument, ast.GeneratorExp):
            value: Any = self.collect(argument, variables)
        else:
            value = self.value(argument, variables)
        return UNKNOWN if value is UNKNOWN else self._apply(name, value, node)

    def _of_texts(self, node: ast.Call, variables: Mapping[str, Any]) -> Any:
        texts = [self.value(argument, variables) for argument in node.args]
        if any(text is UNKNOWN for text in texts):
            return UNKNOWN
        name = node.func.id  # type: ignore[attr-defined]  # parse() has checked it
        try:
            return TEXT_FUNCTIONS[name](*texts)
        except (AttributeError, LookupError, TypeError, ValueError) as error:  # no text, an empty mark, no place
            raise Undefined(f"{ast.unparse(node)}: {error}") from None

    def _operator(self, argument: ast.expr, variables: Mapping[str, Any]) -> Any:
        held = self.value(argument, variables)
        if held is UNKNOWN:
            return UNKNOWN
        if not isinstance(held, Descriptor):
            raise Undefined(f"{ast.unparse(argument)} is {shown(held)}")
        return held.operator

    def _present(self, argument: ast.expr, variables: Mapping[str, Any]) -> Any:
        if isinstance(argument, ast.Attribute) and self._element(argument.value, variables):
            tensor = self.value(argument.value, variables)
            return UNKNOWN if tensor is UNKNOWN else member(tensor, argument.attr) is not None
        return not self.context.absent(ast.unparse(argument))

    @staticmethod
    def _element(node: ast.expr, variables: Mapping[str, Any]) -> bool:
        """Whether it is an array's tensor, whose absent members are not checked before the rule is."""
        return isinstance(node, ast.Subscript) or (isinstance(node, ast.Name) and node.id in variables)

    def _apply(self, name: str, value: Any, node: ast.Call) -> Any:
        if name in primitives.TENSOR_FUNCTIONS:
            return primitives.TENSOR_FUNCTIONS[name](value, self.context)
        if name in LAYOUT_FUNCTIONS:
            return primitives.of_layout(name, value, self.context)
        items = value if isinstance(value, tuple | list | range) else (value,)
        if name != "len" and not all(number(known(item)) for item in items):
            return UNKNOWN
        try:
            return primitives.NUMBER_FUNCTIONS[name](value)
        except (ValueError, OverflowError, TypeError) as error:
            raise Undefined(f"{ast.unparse(node)}: {error}") from None

    def loop(self, node: ast.GeneratorExp, variables: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Any]] | None:
        """Return (variables, whether the turn counts) per turn of a loop, None where what it runs over is unknown."""
        sequence = self.value(node.generators[0].iter, variables)
        return None if sequence is UNKNOWN else self._turns(node.generators[0], sequence, variables)

    def _turns(
        self, loop: ast.comprehension, sequence: Sequence[Any], variables: Mapping[str, Any]
    ) -> Iterator[tuple[dict[str, Any], Any]]:
        name = loop.target.id  # type: ignore[attr-defined]  # parse() has checked it
        for item in sequence:
            self.turns += 1
            if self.turns > primitives.TURN_LIMIT:
                raise Undefined(f"its loops take more than {primitives.TURN_LIMIT} turns")
            inner = {**variables, name: known(item)}
            keep = decide((self.value(test, inner) for test in loop.ifs), decisive=False)
            if keep is not False:
                yield inner, keep

    def _quantify(self, node: ast.GeneratorExp, variables: Mapping[str, Any], *, decisive: bool) -> Any:
        turns = self.loop(node, variables)
        if turns is None:
            return UNKNOWN
        return decide((self.turn(node, *turn, decisive=decisive) for turn in turns), decisive=decisive)

    def turn(self, node: ast.GeneratorExp, inner: Mapping[str, Any], keep: Any, *, decisive: bool) -> Any:
        """What one turn says: where it is open whether the turn counts, only what would change nothing is known."""
        if keep is True:
            return self.value(node.elt, inner)
        try:
            found = self.value(node.elt, inner)
        except Undefined:
            return UNKNOWN
        return found if found is (not decisive) else UNKNOWN

    def collect(self, node: ast.GeneratorExp, variables: Mapping[str, Any]) -> Any:
        """Return the items that a loop gives, UNKNOWN where it is not known which."""
        turns = self.loop(node, variables)
        if turns is None:
            return UNKNOWN
        items = []
        for inner, keep in turns:
            if keep is UNKNOWN:
                return UNKNOWN
            items.append(self.value(node.elt, inner))
        return tuple(items)


def _equal(left: Any, right: Any) -> Any:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, tuple | list | range) and isinstance(right, tuple | list | range):
        if len(left) != len(right):
            return False
        parts = (_equal(known(a), known(b)) for a, b in zip(left, right, strict=True))
        return decide(parts, decisive=False)
    if isinstance(left, str) != isinstance(right, str):
        return UNKNOWN  # a symbolic size against a number
    if isinstance(left, Symbol) or isinstance(right, Symbol):
        return True if left == right else UNKNOWN
    return left == right
