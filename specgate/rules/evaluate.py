"""Evaluate a rule in strong Kleene logic over a descriptor."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import Descriptor, Symbol, TensorDesc, format_value
from specgate.rules import functions
from specgate.rules.functions import FUNCTIONS, TURN_LIMIT
from specgate.rules.language import LAYOUT_FUNCTIONS, UNKNOWN, Context, Undefined, member, number, size_or_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from specgate.rules.language import Function, Rule

    Part = Callable[["Evaluator", Mapping[str, Any]], Any]

__all__ = ["UNKNOWN", "Context", "Evaluator", "Undefined", "equal", "evaluate"]

#: Below this length, evaluating is as fast as comparing.
MIN_LENGTH: Final = 256
_COMPARED: Final = ({int}, {str})  # equal elements of these classes are interchangeable


def first_turns(node: ast.GeneratorExp, sequence: Sequence[Any], context: Context) -> list[int] | None:
    """Return the indices of the first of equal iterations.

    None where this cannot be determined. Iterations are equal if they read equal values: an element of `sequence`, or
    elements at the same index of other lists.
    """
    turn = _compile_turn(node)
    if turn.loops or not turn.names.isdisjoint(context.defines):  # their iterations are counted separately
        return None
    read_parts = [sequence]
    if isinstance(sequence, range):
        read_parts = [context.fields.get(name) for name in turn.lists]  # type: ignore[misc]  # checked next
    if not read_parts or any(not isinstance(values, list) or len(values) < len(sequence) for values in read_parts):
        return None
    if isinstance(sequence, range) and sequence != range(len(sequence)):
        return None
    if any(set(map(type, values)) not in _COMPARED for values in read_parts):
        return None
    items = (read_parts[0] if len(read_parts) == 1 else list(zip(*read_parts, strict=False)))[: len(sequence)]
    return sorted(dict(zip(reversed(items), range(len(items) - 1, -1, -1), strict=True)).values())


class _LoopReads(NamedTuple):
    """The reads of a loop's body.

    lists: the lists that it reads at the current index; None where it reads anything else.
    """

    loops: bool
    names: frozenset[str]
    lists: tuple[str, ...]


def _compile_turn(node: ast.GeneratorExp) -> _LoopReads:
    cached = node.__dict__
    turn: _LoopReads | None = cached.get("_turn")
    if turn is None:
        loop = node.generators[0]
        parts = [part for subtree in (node.elt, *loop.ifs) for part in ast.walk(subtree)]
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        variable: str = loop.target.id  # type: ignore[attr-defined]  # checked by parse()
        indexed = [part for part in parts if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)]
        lists = [part.value.id for part in indexed if getattr(part.slice, "id", None) == variable]  # type: ignore[attr-defined]
        turn = cached["_turn"] = _LoopReads(
            any(isinstance(part, ast.GeneratorExp) for part in parts),
            frozenset(names),
            tuple(dict.fromkeys(lists)) if len(lists) == names.count(variable) else (),
        )
    return turn


def decide(values: Iterable[Any], *, decisive: bool) -> Any:
    """Return `decisive` if a value equals it, UNKNOWN if one may, else its negation."""
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
        return UNKNOWN  # when it is known, an earlier part may decide first
    return UNKNOWN if unknown else not decisive


def equal(left: Any, right: Any) -> Any:
    """Return whether two values are equal, UNKNOWN where undecided."""
    if left.__class__ is int and right.__class__ is int:  # the common case
        return left == right
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, tuple | list | range) and isinstance(right, tuple | list | range):
        if len(left) != len(right):
            return False
        parts = (equal(size_or_unknown(a), size_or_unknown(b)) for a, b in zip(left, right, strict=True))
        return decide(parts, decisive=False)
    if isinstance(left, Symbol) or isinstance(right, Symbol):
        return True if left == right else UNKNOWN
    return left == right


def _is_in(left: Any, right: Any) -> Any:
    if right is UNKNOWN:
        return UNKNOWN
    return decide((equal(left, size_or_unknown(item)) for item in right), decisive=True)


def _negate(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def compare_negated(left: Any, right: Any) -> Any:
        result = compare(left, right)
        return result if result is UNKNOWN else not result

    return compare_negated


def _make_ordering(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def compare_ordered(left: Any, right: Any) -> Any:
        if left.__class__ is int and right.__class__ is int:
            return compare(left, right)
        return compare(left, right) if number(left) and number(right) else UNKNOWN

    return compare_ordered


#: The function of each comparison operator.
COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: equal, ast.NotEq: _negate(equal), ast.In: _is_in, ast.NotIn: _negate(_is_in),
    ast.Lt: _make_ordering(operator.lt), ast.LtE: _make_ordering(operator.le),
    ast.Gt: _make_ordering(operator.gt), ast.GtE: _make_ordering(operator.ge),
}  # fmt: skip
ARITHMETIC: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip


def part_of(node: ast.expr) -> Part:
    """Return `f(state, variables)`, the evaluator of a part.

    It returns a value or UNKNOWN, and raises Undefined where the part has no value.
    """
    cached = node.__dict__
    function: Part | None = cached.get("_part")
    if function is None:
        function = cached["_part"] = _MAKERS[type(node)](node)
    return function


def _constant(node: ast.Constant) -> Part:
    value = node.value
    return lambda _state, _variables: value


def _name(node: ast.Name) -> Part:
    name = node.id

    def value(state: Evaluator, variables: Mapping[str, Any]) -> Any:
        if name in variables:
            return variables[name]
        context = state.context
        if name in context.defines:
            return _evaluate_define(name, state)
        fields = context.fields
        if name in fields:
            result = fields[name]
            return UNKNOWN if result is None else result
        return context.numbers.get(name, name)  # the name of a type or an enum value

    return value


def _evaluate_define(name: str, state: Evaluator) -> Any:
    """Return the value of a define, cached per context.

    Its loops are counted on every use.
    """
    context = state.context
    cached = context.defined.get(name)
    if cached is None:
        before = state.turns
        value = part_of(context.defines[name].tree)(state, {})
        context.defined[name] = value, state.turns - before
        return value
    value, turns = cached
    if turns:
        count_turns(state, turns)
    return value


def _attribute(node: ast.Attribute) -> Part:
    owner_of, name, element = part_of(node.value), node.attr, is_element(node.value)

    def value(state: Evaluator, variables: Mapping[str, Any]) -> Any:
        owner = owner_of(state, variables)
        if owner is UNKNOWN:
            return UNKNOWN
        if name == "sizes" and owner.__class__ is TensorDesc:
            sizes = owner.sizes
            return UNKNOWN if sizes is None else sizes
        try:
            result = member(owner, name)
        except AttributeError:
            raise Undefined(f"{ast.unparse(node.value)} is {format_value(owner)}") from None
        if result is None and name != "sizes" and element(variables):
            raise Undefined(f"{ast.unparse(node)} is missing")
        return size_or_unknown(result)

    return value


def _subscript(node: ast.Subscript) -> Part:
    sequence_construct, index_of = part_of(node.value), part_of(node.slice)

    def value(state: Evaluator, variables: Mapping[str, Any]) -> Any:
        sequence = sequence_construct(state, variables)
        index = index_of(state, variables)
        if sequence is UNKNOWN or not number(index):
            return UNKNOWN
        if not isinstance(index, int) or not 0 <= index < len(sequence):
            raise Undefined(f"{ast.unparse(node)}: index {format_value(index)} of {len(sequence)}")
        result = sequence[index]
        return UNKNOWN if result is None else result

    return value


def _bool_op(node: ast.BoolOp) -> Part:
    parts, decisive = [part_of(part) for part in node.values], isinstance(node.op, ast.Or)

    def value(state: Evaluator, variables: Mapping[str, Any]) -> Any:
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

    def value(state: Evaluator, variables: Mapping[str, Any]) -> Any:
        result = operand(state, variables)
        if result is UNKNOWN or isinstance(result, str):
            return UNKNOWN
        return (not result) if negation else -result

    return value


def _bin_op(node: ast.BinOp) -> Part:
    left_of, right_of, compute = part_of(node.left), part_of(node.right), ARITHMETIC[type(node.op)]

    def value(state: Evaluator, variables: Mapping[str, Any]) -> Any:
        left, right = left_of(state, variables), right_of(state, variables)
        are_integers = left.__class__ is int and right.__class__ is int
        if not are_integers and not (number(left) and number(right)):
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

        def single(state: Evaluator, variables: Mapping[str, Any]) -> Any:
            left = first(state, variables)
            result = compare(left, second(state, variables))
            return UNKNOWN if result is UNKNOWN else result is not False

        return single

    def value(state: Evaluator, variables: Mapping[str, Any]) -> Any:
        def compare_links() -> Any:
            left = first(state, variables)
            for compare, part in links:
                right = part(state, variables)
                yield compare(left, right)
                left = right

        return decide(compare_links(), decisive=False)

    return value


def _if_exp(node: ast.IfExp) -> Part:
    test_of, body, orelse = part_of(node.test), part_of(node.body), part_of(node.orelse)

    def value(state: Evaluator, variables: Mapping[str, Any]) -> Any:
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


def count_turns(state: Evaluator, turns: int) -> None:
    """Count loop iterations; raise Undefined above the limit."""
    state.turns += turns
    if state.turns > functions.TURN_LIMIT:
        raise Undefined(f"its loops have more than {functions.TURN_LIMIT} iterations")


def is_element(node: ast.expr) -> Callable[[Mapping[str, Any]], bool]:
    """Return a function that is true if a value is an array's tensor.

    Absent members of such a tensor are not checked before the rule.
    """
    if isinstance(node, ast.Name):
        name = node.id
        return lambda variables: name in variables
    subscript = isinstance(node, ast.Subscript)
    return lambda _variables: subscript


def part_of_call(node: ast.Call) -> Part:
    name: str = node.func.id  # type: ignore[attr-defined]  # checked by parse()
    argument = node.args[0]
    if name in {"all", "any"}:
        loop: ast.GeneratorExp = argument  # type: ignore[assignment]  # checked by parse()
        decisive = name == "any"
        return lambda state, variables: state.quantify(loop, variables, decisive=decisive)
    if name == "present":
        return _present(argument)
    if name == "operator":
        return _operator(argument)
    if name in LAYOUT_FUNCTIONS:
        return _of_tensor(lambda tensor, context: functions.layout_value(name, tensor, context), _argument(argument))
    function = FUNCTIONS[name]
    if function.of_tensor:
        return _of_tensor(function.compute, _argument(argument))
    return _of_values(function, node)


def _argument(node: ast.expr) -> Part:
    if isinstance(node, ast.GeneratorExp):
        return lambda state, variables: state.collect(node, variables)
    return part_of(node)


def _present(argument: ast.expr) -> Part:
    path = ast.unparse(argument)
    if not isinstance(argument, ast.Attribute):
        return lambda state, _variables: not state.context.absent(path)
    owner_of, name, element = part_of(argument.value), argument.attr, is_element(argument.value)

    def value(state: Evaluator, variables: Mapping[str, Any]) -> Any:
        if not element(variables):
            return not state.context.absent(path)
        owner = owner_of(state, variables)
        return UNKNOWN if owner is UNKNOWN else member(owner, name) is not None

    return value


def _operator(argument: ast.expr) -> Part:
    operand_part = part_of(argument)

    def value(state: Evaluator, variables: Mapping[str, Any]) -> Any:
        result = operand_part(state, variables)
        if result is UNKNOWN:
            return UNKNOWN
        if not isinstance(result, Descriptor):
            raise Undefined(f"{ast.unparse(argument)} is {format_value(result)}")
        return result.operator

    return value


def _of_tensor(compute: Callable[[TensorDesc, Context], Any], tensor_of: Part) -> Part:

    def value(state: Evaluator, variables: Mapping[str, Any]) -> Any:
        tensor = tensor_of(state, variables)
        return UNKNOWN if tensor is UNKNOWN else compute(tensor, state.context)

    return value


def _of_values(function: Function, node: ast.Call) -> Part:
    parts, compute = [_argument(argument) for argument in node.args], function.compute
    needs_numbers = not function.of_texts and compute is not len

    def value(state: Evaluator, variables: Mapping[str, Any]) -> Any:
        values = [part(state, variables) for part in parts]
        if [each for each in values if each is UNKNOWN]:
            return UNKNOWN
        if needs_numbers:
            items: Sequence[Any] = values[0] if isinstance(values[0], tuple | list | range) else values
            if not all(number(size_or_unknown(item)) for item in items):
                return UNKNOWN
        try:
            return compute(*values)
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
            raise Undefined(f"{ast.unparse(node)}: {error}") from None

    return value


_MAKERS: Final[Mapping[type[ast.AST], Callable[[Any], Part]]] = {
    ast.Attribute: _attribute, ast.BinOp: _bin_op, ast.BoolOp: _bool_op, ast.Call: part_of_call, ast.Compare: _compare,
    ast.Constant: _constant, ast.IfExp: _if_exp, ast.List: _tuple, ast.Name: _name, ast.Subscript: _subscript,
    ast.Tuple: _tuple, ast.UnaryOp: _unary_op,
}  # fmt: skip


def evaluate(rule: Rule, context: Context) -> Any:
    """Return True, False, UNKNOWN, or the value of a sub-expression.

    Raises Undefined where it has no value.
    """
    return Evaluator(context).value(rule.tree, {})


def certainly_holds(rule: Rule, context: Context) -> bool:
    """Return whether a rule applies and holds."""
    try:
        return not any(map(context.absent, rule.needs)) and evaluate(rule, context) is True
    except Undefined:
        return False


class Evaluator:
    """Evaluates trees of one context's rules, checked by parse().

    turns: the number of loop iterations so far.
    """

    __slots__ = ("context", "turns")

    def __init__(self, context: Context) -> None:
        self.context = context
        self.turns = 0

    def value(self, node: ast.expr, variables: Mapping[str, Any]) -> Any:
        """Return the value of a part.

        variables: those of the enclosing loops.
        """
        return part_of(node)(self, variables)

    def loop(self, node: ast.GeneratorExp, variables: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Any]] | None:
        """Return (variables, whether it counts) per iteration of a loop.

        None where the sequence is unknown.
        """
        sequence = part_of(node.generators[0].iter)(self, variables)
        return None if sequence is UNKNOWN else self._turns(node.generators[0], sequence, variables)

    def _turns(
        self, loop: ast.comprehension, sequence: Sequence[Any], variables: Mapping[str, Any]
    ) -> Iterator[tuple[dict[str, Any], Any]]:
        name = loop.target.id  # type: ignore[attr-defined]  # checked by parse()
        tests = [part_of(test) for test in loop.ifs]
        for item in sequence:
            count_turns(self, 1)
            inner = {**variables, name: size_or_unknown(item)}
            keep_item = decide((test(self, inner) for test in tests), decisive=False) if tests else True
            if keep_item is not False:
                yield inner, keep_item

    def _first_turns(
        self, loop: ast.comprehension, sequence: Sequence[Any], variables: Mapping[str, Any], indices: list[int]
    ) -> Iterator[tuple[dict[str, Any], Any]]:
        before = self.turns
        for index in indices:
            self.turns = before + index
            yield from self._turns(loop, (sequence[index],), variables)
        self.turns = before + len(sequence)

    def quantify(self, node: ast.GeneratorExp, variables: Mapping[str, Any], *, decisive: bool) -> Any:
        """Return any() (decisive: True) or all() of a loop."""
        loop = node.generators[0]
        sequence = part_of(loop.iter)(self, variables)
        if sequence is UNKNOWN:
            return UNKNOWN
        turns = self._turns(loop, sequence, variables)
        if MIN_LENGTH <= len(sequence) <= TURN_LIMIT - self.turns:
            indices = first_turns(node, sequence, self.context)
            turns = turns if indices is None else self._first_turns(loop, sequence, variables, indices)
        return decide((self.turn(node, *turn, decisive=decisive) for turn in turns), decisive=decisive)

    def turn(self, node: ast.GeneratorExp, inner: Mapping[str, Any], keep_item: Any, *, decisive: bool) -> Any:
        """Return the value of one iteration.

        Where it is unknown whether the iteration counts, only a value that does not change the result is known.
        """
        if keep_item is True:
            return part_of(node.elt)(self, inner)
        try:
            result = part_of(node.elt)(self, inner)
        except Undefined:
            return UNKNOWN
        return result if result is (not decisive) else UNKNOWN

    def collect(self, node: ast.GeneratorExp, variables: Mapping[str, Any]) -> Any:
        """Return the items of a loop, UNKNOWN where its filter is unknown."""
        turns = self.loop(node, variables)
        if turns is None:
            return UNKNOWN
        items = []
        for inner, keep_item in turns:
            if keep_item is UNKNOWN:
                return UNKNOWN
            items.append(part_of(node.elt)(self, inner))
        return tuple(items)
