"""Say in words why a rule does not hold: the values that decide it, from the rule's own syntax tree."""

from __future__ import annotations

import ast
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import TensorDesc, shown
from specgate.rules.evaluate import UNKNOWN, Broken, Evaluator
from specgate.rules.parse import TRUTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.rules.evaluate import Context
    from specgate.rules.parse import Rule

__all__ = ["explain"]

MAX_ITEMS: Final = 16
MAX_WORD: Final = 60


def explain(rule: Rule, context: Context) -> tuple[str, dict[str, Any]]:
    """Return the rule with what decides it ("A < B, but A is 4 and B is 4"), and those values by expression."""
    explainer = _Explainer(context)
    try:
        prefix = explainer.blame(rule.tree, {})
    except Broken:
        prefix = ""
    facts = " and ".join(f"{text} is {_told(value)}" for text, value in explainer.values.items())
    message = rule.text + (f", but {prefix}{facts}" if facts else "")
    return message, explainer.values


def _told(value: Any) -> str:
    if isinstance(value, tuple | list | range):
        more = ", …" if len(value) > MAX_ITEMS else ""
        return "[" + ", ".join(_told(v) for v in value[:MAX_ITEMS]) + more + "]"
    if value is None or value is UNKNOWN:
        return "unknown"
    if isinstance(value, str):  # a word, or a symbolic size: as it stands, unless it would break the line
        return str(value) if value.isprintable() and 0 < len(value) <= MAX_WORD else shown(value)
    return shown(value)


class _Placed(ast.NodeTransformer):
    """Writes FIELD[index] for a loop's variable that stands for one tensor of the array FIELD."""

    def __init__(self, variable: str, field: ast.expr, index: int) -> None:
        self.variable = variable
        self.element = ast.Subscript(field, ast.Constant(index), ast.Load())

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.element if node.id == self.variable and isinstance(node.ctx, ast.Load) else node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        loop = node.generators[0]
        loop.iter = self.visit(loop.iter)
        if loop.target.id != self.variable:  # type: ignore[attr-defined]  # parse() has checked it
            loop.ifs = [self.visit(test) for test in loop.ifs]
            node.elt = self.visit(node.elt)
        return node


class _Explainer:
    """Collects into `values` what decides a rule, by expression."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.values: dict[str, Any] = {}

    def value(self, node: ast.expr, variables: Mapping[str, Any]) -> Any:
        """The value of a part; None, which no part has, where an earlier part keeps it from being asked."""
        try:
            return Evaluator(self.context).value(node, variables)
        except Broken:
            return None

    def blame(self, node: ast.expr, variables: Mapping[str, Any]) -> str:
        """Note what gives `node` the value it has; return a prefix that names the turn of a loop."""
        if isinstance(node, ast.BoolOp):
            return self._blame_parts(node, variables)
        if isinstance(node, ast.UnaryOp):
            return self.blame(node.operand, variables)
        if isinstance(node, ast.Call) and isinstance(node.args[0], ast.GeneratorExp):
            return self._blame_loop(node, node.args[0], variables)
        if isinstance(node, ast.IfExp):
            test = self.value(node.test, variables)
            return self.blame(node.test if test is UNKNOWN else node.body if test else node.orelse, variables)
        if isinstance(node, ast.Name) and self._condition(node.id, variables):
            return self.blame(self.context.defines[node.id].tree, {})
        for part in (node.left, *node.comparators) if isinstance(node, ast.Compare) else (node,):
            value = self.value(part, variables) if self._says_more(part, variables) else None
            if value is not None:
                self.values[ast.unparse(part)] = value
        return ""

    def _condition(self, name: str, variables: Mapping[str, Any]) -> bool:
        defines = self.context.defines
        return name in defines and name not in variables and defines[name].kind == TRUTH

    def _says_more(self, node: ast.expr, variables: Mapping[str, Any]) -> bool:
        """A number or word as it stands says nothing that the rule's text does not."""
        if isinstance(node, ast.Tuple | ast.List):
            return False
        names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
        known = (variables, self.context.fields, self.context.numbers, self.context.defines)
        return any(name in group for name in names for group in known)

    def _blame_parts(self, node: ast.BoolOp, variables: Mapping[str, Any]) -> str:
        """The parts that have the value of the whole are those that gave it."""
        whole = self.value(node, variables)
        prefix = ""
        for part in node.values:
            if self.value(part, variables) is whole:
                prefix = self.blame(part, variables) or prefix
        return prefix

    def _placed(
        self, loop: ast.GeneratorExp, inner: Mapping[str, Any], variables: Mapping[str, Any]
    ) -> tuple[ast.expr, list[ast.expr]]:
        """Return a loop's body and tests for one turn, where a tensor goes by its place in its array."""
        generator = loop.generators[0]
        name = generator.target.id  # type: ignore[attr-defined]  # parse() has checked it
        if not isinstance(inner[name], TensorDesc):
            return loop.elt, generator.ifs
        tensors = self.value(generator.iter, variables)
        index = next(i for i, tensor in enumerate(tensors) if tensor is inner[name])
        placed = _Placed(name, generator.iter, index)
        return placed.visit(deepcopy(loop.elt)), [placed.visit(deepcopy(test)) for test in generator.ifs]

    def _blame_loop(self, node: ast.Call, loop: ast.GeneratorExp, variables: Mapping[str, Any]) -> str:
        evaluator = Evaluator(self.context)
        turns = evaluator.loop(loop, variables)
        if turns is None:
            self.blame(loop.generators[0].iter, variables)
            return ""
        whole = self.value(node, variables)
        decisive = node.func.id == "any"  # type: ignore[attr-defined]  # parse() has checked it
        name = loop.generators[0].target.id  # type: ignore[attr-defined]
        for inner, keep in turns:
            if evaluator.turn(loop, inner, keep, decisive=decisive) is whole:
                told, tests = self._placed(loop, inner, variables)
                prefix = self.blame(told, inner)
                if keep is UNKNOWN:
                    for test in tests:
                        self.blame(test, inner)
                quiet = name in self.values or isinstance(inner[name], TensorDesc)
                turn = "" if quiet else f"for {name} = {_told(inner[name])}: "
                return turn + prefix
        return ""
