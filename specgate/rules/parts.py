"""Evaluators of syntax tree nodes, created on first use and cached."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import TensorDesc, shown
from specgate.rules.calls import count_turns, is_element, part_of_call
from specgate.rules.kleene import COMPARISONS, decide, equal
from specgate.rules.language import UNKNOWN, Undefined, known, member, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.rules.calls import Part, State

__all__ = ["ARITHMETIC", "part_of"]

ARITHMETIC: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def part_of(node: ast.expr) -> Part:
    """Return `f(state, variables)`, the evaluator of a part.

    It returns a value or UNKNOWN, and raises Undefined where the part has no value.
    """
    kept = node.__dict__
    function: Part | None = kept.get("_part")
    if function is None:
        function = kept["_part"] = _MAKERS[type(node)](node)
    return function


def _constant(node: ast.Constant) -> Part:
    value = node.value
    return lambda _state, _variables: value


def _name(node: ast.Name) -> Part:
    name = node.id

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        if name in variables:
            return variables[name]
        context = state.context
        if name in context.defines:
            return _defined(name, state)
        fields = context.fields
        if name in fields:
            result = fields[name]
            return UNKNOWN if result is None else result
        return context.numbers.get(name, name)  # the name of a type or an enum value

    return value


def _defined(name: str, state: State) -> Any:
    """Return the value of a define, cached per context.

    Its loops are counted on every use.
    """
    context = state.context
    kept = context.defined.get(name)
    if kept is None:
        before = state.turns
        value = part_of(context.defines[name].tree)(state, {})
        context.defined[name] = value, state.turns - before
        return value
    value, turns = kept
    if turns:
        count_turns(state, turns)
    return value


def _attribute(node: ast.Attribute) -> Part:
    owner_of, name, element = part_of(node.value), node.attr, is_element(node.value)

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        owner = owner_of(state, variables)
        if owner is UNKNOWN:
            return UNKNOWN
        if name == "sizes" and owner.__class__ is TensorDesc:
            sizes = owner.sizes
            return UNKNOWN if sizes is None else sizes
        try:
            result = member(owner, name)
        except AttributeError:
            raise Undefined(f"{ast.unparse(node.value)} is {shown(owner)}") from None
        if result is None and name != "sizes" and element(variables):
            raise Undefined(f"{ast.unparse(node)} is missing")
        return known(result)

    return value


def _subscript(node: ast.Subscript) -> Part:
    sequence_of, index_of = part_of(node.value), part_of(node.slice)

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        sequence = sequence_of(state, variables)
        index = index_of(state, variables)
        if sequence is UNKNOWN or not number(index):
            return UNKNOWN
        if not isinstance(index, int) or not 0 <= index < len(sequence):
            raise Undefined(f"{ast.unparse(node)}: index {shown(index)} of {len(sequence)}")
        result = sequence[index]
        return UNKNOWN if result is None else result

    return value


def _bool_op(node: ast.BoolOp) -> Part:
    parts, decisive = [part_of(part) for part in node.values], isinstance(node.op, ast.Or)

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        unknown = False
        try:
            for part in parts:
                result = part(state, variables)
                if result is UNKNOWN:
                    unknown = True
                elif result is decisive:
                    return decisive
        except Undefined:
            if not unknown:
                raise
            return UNKNOWN  # as in `decide`
        return UNKNOWN if unknown else not decisive

    return value


def _unary_op(node: ast.UnaryOp) -> Part:
    operand, negation = part_of(node.operand), isinstance(node.op, ast.Not)

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        result = operand(state, variables)
        if result is UNKNOWN or isinstance(result, str):
            return UNKNOWN
        return (not result) if negation else -result

    return value


def _bin_op(node: ast.BinOp) -> Part:
    left_of, right_of, compute = part_of(node.left), part_of(node.right), ARITHMETIC[type(node.op)]

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        left, right = left_of(state, variables), right_of(state, variables)
        both = left.__class__ is int and right.__class__ is int
        if not both and not (number(left) and number(right)):
            return UNKNOWN
        try:
            return compute(left, right)
        except (ArithmeticError, ValueError) as error:
            raise Undefined(f"{ast.unparse(node)}: {error}") from None

    return value


def _compare(node: ast.Compare) -> Part:
    first = part_of(node.left)
    links = [(COMPARISONS[type(op)], part_of(part)) for op, part in zip(node.ops, node.comparators, strict=True)]
    if len(links) == 1:
        [(compare, second)] = links

        def single(state: State, variables: Mapping[str, Any]) -> Any:
            left = first(state, variables)
            result = compare(left, second(state, variables))
            return UNKNOWN if result is UNKNOWN else result is not False

        return single

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        def compared() -> Any:
            left = first(state, variables)
            for compare, part in links:
                right = part(state, variables)
                yield compare(left, right)
                left = right

        return decide(compared(), decisive=False)

    return value


def _if_exp(node: ast.IfExp) -> Part:
    test_of, body, orelse = part_of(node.test), part_of(node.body), part_of(node.orelse)

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        test = test_of(state, variables)
        if test is not UNKNOWN:
            return (body if test else orelse)(state, variables)
        try:
            first, second = body(state, variables), orelse(state, variables)
        except Undefined:
            return UNKNOWN  # when it is known, the test may choose the other branch
        return first if equal(first, second) is True else UNKNOWN

    return value


def _tuple(node: ast.Tuple | ast.List) -> Part:
    parts = [part_of(part) for part in node.elts]
    return lambda state, variables: tuple([part(state, variables) for part in parts])


_MAKERS: Final[Mapping[type[ast.AST], Callable[[Any], Part]]] = {
    ast.Attribute: _attribute,
    ast.BinOp: _bin_op,
    ast.BoolOp: _bool_op,
    ast.Call: lambda node: part_of_call(node, part_of),
    ast.Compare: _compare,
    ast.Constant: _constant,
    ast.IfExp: _if_exp,
    ast.List: _tuple,
    ast.Name: _name,
    ast.Subscript: _subscript,
    ast.Tuple: _tuple,
    ast.UnaryOp: _unary_op,
}
