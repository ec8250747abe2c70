"""Explain a rule's value by the parts of its tree that decide it."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.descriptors.core import TensorDesc
from specgate.rules.evaluate import Evaluator
from specgate.rules.language import TRUTH, UNKNOWN, Undefined, size_or_unknown
from specgate.rules.show import copy_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.rules.language import Context, Rule


def resolve_node(node: ast.expr, context: Context) -> ast.expr:
    """Return the expression that a conditional or a name stands for."""
    while True:
        if isinstance(node, ast.IfExp):
            test = value_of(node.test, context)
            if test is not True and test is not False:
                return node
            node = node.body if test else node.orelse
        elif isinstance(node, ast.Name) and node.id in context.defines:
            inner = resolve_node(context.defines[node.id].tree, context)
            if isinstance(inner, ast.BinOp | ast.UnaryOp | ast.IfExp | ast.Call) and not _simple_call(inner):
                return node
            node = inner
        else:
            return node


def dimension(node: ast.Subscript, context: Context) -> tuple[int | None, int]:
    """Return the rank of the tensor whose size `node` is, and the dimension.

    The rank is None if unknown. Dimensions count from 0, or from the end (-1 is the last) where the rule counts from
    the end.
    """
    owner = node.value.value  # type: ignore[attr-defined]  # the caller checked that it is FIELD.sizes
    index = value_of(node.slice, context)
    tensor = value_of(owner, context)
    sizes = tensor.sizes if isinstance(tensor, TensorDesc) else None
    if not isinstance(index, int):
        raise Undefined(ast.unparse(node))
    if sizes is not None and _reads_rank(node.slice, ast.unparse(owner), context):
        return len(sizes), index - len(sizes)
    return None if sizes is None else len(sizes), index


def _reads_rank(node: ast.expr, owner: str, context: Context) -> bool:
    """Return whether an index is computed from the rank of its tensor."""
    match node:
        case ast.Call(func=ast.Name(id="rank"), args=[argument]):
            return ast.unparse(argument) == owner
        case ast.IfExp():
            branch = resolve_node(node, context)
            return branch is not node and _reads_rank(branch, owner, context)
        case ast.Name(id=name) if name in context.defines:
            return _reads_rank(context.defines[name].tree, owner, context)
    return any(_reads_rank(part, owner, context) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))


def _simple_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and node.func.id in {"rank", "type", "elements", "value", "values", "len"}  # type: ignore[attr-defined]


def value_of(node: ast.expr, context: Context) -> Any:
    """Return the value of a closed part, None if it does not have a value."""
    try:
        return Evaluator(context).value(node, {})
    except (Undefined, StopIteration):
        return None


#: Functions of numbers that are unknown if any argument is.
_COMBINING = frozenset({"max", "min", "range"})
#: Functions that return numbers from 0 up: a loop over one iterates over numbers, not parts of the descriptor.
_COUNT_FUNCTIONS = frozenset({"dims", "range"})


class Leaf(NamedTuple):
    """A comparison, or another atomic part, that decides a rule.

    node: the part, with every loop variable replaced by its value in the deciding iteration: ``X.sizes[1]`` instead of
    ``X.sizes[d]``. expected: the required value; the actual one is the opposite or unknown.
    """

    node: ast.expr
    expected: bool


def explain(rule: Rule, context: Context) -> dict[str, Any]:
    """Return the values that decide `rule`, by expression.

    For a loop, they are those of the first deciding iteration.
    """
    return _explain_rule(rule, context, closing=False).values


def decisive_parts(rule: Rule, context: Context) -> tuple[Leaf, ...]:
    """Return the leaves that decide `rule`.

    For a loop, they are those of the first deciding iteration.
    """
    return tuple(_explain_rule(rule, context, closing=True).leaves)


def _explain_rule(rule: Rule, context: Context, *, closing: bool) -> _Explainer:
    explainer = _Explainer(context, closing=closing)
    with suppress(Undefined):  # keep the leaves collected so far
        explainer.blame(rule.tree, rule.tree, {}, expected=True)
    return explainer


class _Substitution(ast.NodeTransformer):
    """Substitutes an expression for a loop variable."""

    def __init__(self, variable: str, rule: ast.expr) -> None:
        self.variable = variable
        self.written = rule

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.written if node.id == self.variable and isinstance(node.ctx, ast.Load) else node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        loop = node.generators[0]
        loop.iter = self.visit(loop.iter)
        if loop.target.id != self.variable:  # type: ignore[attr-defined]  # checked by parse()
            loop.ifs = [self.visit(test) for test in loop.ifs]
            node.elt = self.visit(node.elt)
        return node


class _Iteration(NamedTuple):
    """One loop iteration: variables, filter value, and index in the sequence."""

    inner: Mapping[str, Any]
    keep: Any
    place: int


class _Explainer:
    """Collects the parts that decide a rule.

    Each part is visited in two forms: the original one for `values`, in which only tensors of arrays are substituted,
    and a closed one for `leaves`, in which all loop variables are. Closing is the most expensive step.
    """

    def __init__(self, context: Context, *, closing: bool) -> None:
        self.context = context
        self.closing = closing
        self.leaves: list[Leaf] = []
        self.values: dict[str, Any] = {}

    def value(self, node: ast.expr, variables: Mapping[str, Any]) -> Any:
        """Return the value of a part.

        None, which is not a value of rules, if an earlier part prevents its evaluation.
        """
        try:
            return Evaluator(self.context).value(node, variables)
        except Undefined:
            return None

    def blame(self, node: ast.expr, closed: Any, variables: Mapping[str, Any], *, expected: bool) -> None:
        """Record the parts that prevent `node` from having the value `expected`."""
        if isinstance(node, ast.BoolOp):
            total_value = self.value(node, variables)
            for part, closed_part in zip(node.values, closed.values, strict=True):  # the parts of its value decide it
                if self.value(part, variables) is total_value:
                    self.blame(part, closed_part, variables, expected=expected)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.blame(node.operand, closed.operand, variables, expected=not expected)
        elif isinstance(node, ast.Call) and isinstance(node.args[0], ast.GeneratorExp):
            self._blame_loop(node, closed, variables, expected=expected)
        elif isinstance(node, ast.IfExp):
            test = self.value(node.test, variables)
            way = "test" if test is UNKNOWN else "body" if test else "orelse"
            self.blame(getattr(node, way), getattr(closed, way), variables, expected=expected)
        elif isinstance(node, ast.Name) and self._condition(node.id, variables):
            tree = self.context.defines[node.id].tree
            self.blame(tree, tree, {}, expected=expected)
        else:
            self._leaf(node, closed, variables, expected=expected)

    def _leaf(self, node: ast.expr, closed: ast.expr, variables: Mapping[str, Any], *, expected: bool) -> None:
        if self.closing:
            self.leaves.append(Leaf(closed, expected))
            return
        for part in (node.left, *node.comparators) if isinstance(node, ast.Compare) else (node,):
            value = self.value(part, variables) if self._adds_information(part, variables) else None
            if value is not None:
                self.values[_text(part)] = value

    def _condition(self, name: str, variables: Mapping[str, Any]) -> bool:
        defines = self.context.defines
        return name in defines and name not in variables and defines[name].kind == TRUTH

    def _adds_information(self, node: ast.expr, variables: Mapping[str, Any]) -> bool:
        """Return whether a value adds information to the rule's text.

        Literal numbers and words do not.
        """
        if isinstance(node, ast.Tuple | ast.List):
            return False
        known_names = (variables, self.context.fields, self.context.numbers, self.context.defines)
        return any(name in group for name in _names(node) for group in known_names)

    def _blame_loop(self, node: ast.Call, closed: Any, variables: Mapping[str, Any], *, expected: bool) -> None:
        loop: ast.GeneratorExp = node.args[0]  # type: ignore[assignment]  # checked by the caller
        closed_loop: ast.GeneratorExp = closed.args[0]
        decisive = node.func.id == "any"  # type: ignore[attr-defined]  # only all() and any() are truth values
        sequence = self.value(loop.generators[0].iter, variables)
        if sequence is UNKNOWN or sequence is None:
            self._blame_count(loop.generators[0].iter, closed_loop.generators[0].iter, variables, expected=expected)
            return
        evaluator = Evaluator(self.context)
        total_value = self.value(node, variables)
        for turn in self._turns(evaluator, loop, sequence, variables):
            if evaluator.turn(loop, turn.inner, turn.keep, decisive=decisive) is total_value:
                self._blame_turn(loop, closed_loop, turn, expected=expected)
                return

    def _blame_count(self, node: Any, closed: Any, variables: Mapping[str, Any], *, expected: bool) -> None:
        """Record the unknown parts of a loop's length, as in ``range(min(…))``."""
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _COMBINING:
            pairs = list(zip(node.args, closed.args, strict=True))
        elif isinstance(node, ast.Tuple | ast.List):
            pairs = list(zip(node.elts, closed.elts, strict=True))
        else:
            self.blame(node, closed, variables, expected=expected)
            return
        for part, closed_part in pairs:
            if isinstance(part, ast.Tuple | ast.List) or self.value(part, variables) is UNKNOWN:
                self._blame_count(part, closed_part, variables, expected=expected)

    @staticmethod
    def _turns(
        evaluator: Evaluator, loop: ast.GeneratorExp, sequence: Sequence[Any], variables: Mapping[str, Any]
    ) -> Iterator[_Iteration]:
        """Yield the iterations of a loop that may count."""
        name = loop.generators[0].target.id  # type: ignore[attr-defined]  # checked by parse()
        index = -1
        for inner, keep_item in evaluator.loop(loop, variables) or ():
            # The filter gives equal items the same answer, so the next equal item is the right one.
            item = inner[name]
            index = next(
                later_index
                for later_index in range(index + 1, len(sequence))
                if _is_same_value(size_or_unknown(sequence[later_index]), item)
            )
            yield _Iteration(inner, keep_item, index)

    def _blame_turn(
        self,
        loop: ast.GeneratorExp,
        closed_loop: ast.GeneratorExp,
        turn: _Iteration,
        *,
        expected: bool,
    ) -> None:
        generator = loop.generators[0]
        name = generator.target.id  # type: ignore[attr-defined]  # checked by parse()
        body, tests = loop.elt, generator.ifs
        if isinstance(turn.inner[name], TensorDesc) and not self.closing:
            element = ast.Subscript(generator.iter, ast.Constant(turn.place), ast.Load())
            body, *tests = _substitute_variable([body, *tests], name, element)
        closed = [closed_loop.elt, *closed_loop.generators[0].ifs]
        if self.closing:
            closed = _substitute_variable(closed, name, _item(closed_loop.generators[0].iter, turn))
        closed_body, *closed_tests = closed
        self.blame(body, closed_body, turn.inner, expected=expected)
        if turn.keep is UNKNOWN:
            for test, closed_test in zip(tests, closed_tests, strict=True):
                self.blame(test, closed_test, turn.inner, expected=not expected)


def _text(node: ast.expr) -> str:
    """Return the text of a part, cached on the node."""
    cached = node.__dict__
    text: str | None = cached.get("_text")
    if text is None:
        text = cached["_text"] = ast.unparse(node)
    return text


def _names(node: ast.expr) -> tuple[str, ...]:
    """Return the names in a part, cached on the node."""
    cached = node.__dict__
    texts: tuple[str, ...] | None = cached.get("_names")
    if texts is None:
        texts = cached["_names"] = tuple(dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))
    return texts


def _substitute_variable(nodes: list[ast.expr], variable: str, expressions: ast.expr) -> list[ast.expr]:
    placed_visitor = _Substitution(variable, expressions)
    return [placed_visitor.visit(copy_tree(node)) for node in nodes]


def _item(iterated: ast.expr, turn: _Iteration) -> ast.expr:
    """Return the expression of a loop variable in one iteration.

    It is a number where the loop counts, else a part of the field.
    """
    if isinstance(iterated, ast.Tuple | ast.List):
        return iterated.elts[turn.place]
    if isinstance(iterated, ast.Call) and iterated.func.id in _COUNT_FUNCTIONS:  # type: ignore[attr-defined]
        return ast.Constant(turn.place)
    return ast.Subscript(iterated, ast.Constant(turn.place), ast.Load())


def _is_same_value(value: Any, other: Any) -> bool:
    return value is other or (type(value) is type(other) and bool(value == other))
