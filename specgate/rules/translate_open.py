"""Rewrite a rule's tree into one for values that may be unknown: every part becomes a call of `open_parts`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, Protocol

from specgate.rules import primitives
from specgate.rules.language import LAYOUT_FUNCTIONS
from specgate.rules.open_parts import NEST_LIMIT
from specgate.rules.primitives import TENSOR_FUNCTIONS
from specgate.rules.spelling import TEXT_FUNCTIONS
from specgate.rules.translate import call, load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.forms import Resolved

__all__ = ["OpenTranslator", "Unwritten"]

#: They may have no value; the others are worked out once for all rules.
_FAILING: Final = frozenset({"value", *LAYOUT_FUNCTIONS})


class Unwritten(Exception):
    """A part that is left to the evaluator."""


class Builder(Protocol):
    """What a translator asks of the function under construction."""

    resolved: Resolved

    def local(self, name: str, value: ast.expr) -> ast.expr:
        """Return a local that holds a value, which is worked out before the statement that reads it."""


class OpenTranslator:
    """Rewrites rules. bound: which field the name `tensor` stands for."""

    def __init__(self, builder: Builder, bound: Mapping[str, str]) -> None:
        self.builder = builder
        self.bound = bound
        self.variables: frozenset[str] = frozenset()
        self.loops = self.temporaries = 0
        self.iterated = False  # a value may not be named inside of what a loop runs over

    def __call__(self, node: ast.expr) -> ast.expr:
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            raise Unwritten
        result: ast.expr = method(node)
        return result

    def temporary(self) -> str:
        if self.iterated:
            raise Unwritten
        self.temporaries += 1
        return f"x{self.temporaries}"

    def field(self, name: str) -> str:
        """Return the local that holds a field as it is given."""
        return f"t_{self.bound.get(name, name)}"

    def held(self, name: str) -> bool:
        """Whether the level has such a field."""
        return name in (self.bound or self.builder.resolved.fields)

    def value(self, name: str) -> ast.expr:
        """Return what reads a field as the logic sees it."""
        local = self.field(name)
        return self.builder.local(f"k_{local}", call("_known", load(local)))

    def on_Constant(self, node: ast.Constant) -> ast.expr:
        return node

    def on_Name(self, node: ast.Name) -> ast.expr:
        name, resolved = node.id, self.builder.resolved
        if name in self.variables:
            return load(f"v_{name}")
        if name in resolved.spec.scope.defines and not self.bound:
            variables, self.variables = self.variables, frozenset()
            written = self(resolved.spec.scope.defines[name].tree)
            self.variables = variables
            return written
        if self.held(name):
            return self.value(name)
        return ast.Constant(resolved.numbers.get(name, name))

    def is_field(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id not in self.variables and self.held(node.id)

    def on_Attribute(self, node: ast.Attribute) -> ast.expr:
        if self.is_field(node.value):
            name = node.value.id  # type: ignore[attr-defined]
            local = f"k_{self.field(name)}.{node.attr}"
            return self.builder.local(local, call("_member", self.value(name), ast.Constant(node.attr)))
        if isinstance(node.value, ast.Attribute):
            raise Unwritten  # of a fused operator
        return call("_of_element", self(node.value), ast.Constant(node.attr))

    def on_Subscript(self, node: ast.Subscript) -> ast.expr:
        return call("_item", self(node.value), self(node.slice))

    def on_Tuple(self, node: ast.Tuple | ast.List) -> ast.expr:
        return ast.Tuple([self(item) for item in node.elts], ast.Load())

    on_List = on_Tuple

    def on_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return node
        return call("_not" if isinstance(node.op, ast.Not) else "_minus", self(node.operand))

    def on_BinOp(self, node: ast.BinOp) -> ast.expr:
        return call(f"_{type(node.op).__name__}", self(node.left), self(node.right))

    def on_IfExp(self, node: ast.IfExp) -> ast.expr:
        return ast.IfExp(call("_decided", self(node.test)), self(node.body), self(node.orelse))

    def on_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return self.decided([self(part) for part in node.values], decisive=isinstance(node.op, ast.Or))

    def decided(self, parts: list[ast.expr], *, decisive: bool) -> ast.expr:
        """Return what asks one part after the other until one is decisive."""
        names = [self.temporary() for _ in parts]
        opens: list[ast.expr] = [_is(load(name), load("_unknown")) for name in names]
        made: ast.expr = ast.IfExp(ast.BoolOp(ast.Or(), opens), load("_unknown"), ast.Constant(not decisive))
        for name, part in zip(reversed(names), reversed(parts), strict=True):
            held = ast.NamedExpr(ast.Name(name, ast.Store()), part)
            made = ast.IfExp(_is(held, ast.Constant(decisive)), ast.Constant(decisive), made)
        return made

    def on_Compare(self, node: ast.Compare) -> ast.expr:
        left = self(node.left)
        if len(node.ops) == 1:
            return call(f"_{type(node.ops[0]).__name__}", left, self(node.comparators[0]))
        links: list[ast.expr] = []
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            name = self.temporary()
            right = ast.NamedExpr(ast.Name(name, ast.Store()), self(comparator))
            links.append(call(f"_{type(op).__name__}", left, right))
            left = load(name)
        return self.decided(links, decisive=False)

    def on_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id  # type: ignore[attr-defined]  # parse() has checked it
        argument = node.args[0]
        if name in {"all", "any"}:
            return self.quantified(argument, decisive=name == "any")
        if name == "present":
            return self.present(argument)
        if name == "operator":
            raise Unwritten
        if name in TEXT_FUNCTIONS:
            return call("_texts", ast.Constant(name), *map(self, node.args))
        if name in TENSOR_FUNCTIONS or name in LAYOUT_FUNCTIONS:
            written = call(f"_t_{name}", self(argument))
            if name not in _FAILING and self.is_field(argument):
                return self.builder.local(f"{name} {self.field(argument.id)}", written)  # type: ignore[attr-defined]
            return written
        collected = self.collected(argument) if isinstance(argument, ast.GeneratorExp) else self(argument)
        return call("_of_numbers", ast.Constant(name), collected)

    def present(self, argument: ast.expr) -> ast.expr:
        if isinstance(argument, ast.Attribute):
            if not self.is_field(argument.value):
                if isinstance(argument.value, ast.Name) and argument.value.id not in self.variables:
                    return ast.Constant(value=False)
                return call("_held", self(argument.value), ast.Constant(argument.attr))
            local = load(self.field(argument.value.id))  # type: ignore[attr-defined]
            return ast.UnaryOp(ast.Not(), call("_absent", local, ast.Constant(argument.attr)))
        name = argument.id  # type: ignore[attr-defined]
        if not self.held(name):
            return ast.Constant(value=False)
        return ast.Compare(load(self.field(name)), [ast.IsNot()], [ast.Constant(None)])

    def quantified(self, node: ast.expr, *, decisive: bool) -> ast.expr:
        target, iterated, element, keep = self.loop(node)
        tests: list[ast.expr] = []
        if keep is not None:
            name = self.temporary()
            held = ast.NamedExpr(ast.Name(name, ast.Store()), keep)
            tests = [ast.Compare(held, [ast.IsNot()], [ast.Constant(value=False)])]
            element = call("_kept", load(name), element, ast.Constant(decisive))
        loop = ast.GeneratorExp(element, [ast.comprehension(target, iterated, tests, 0)])
        keyword = ast.keyword("decisive", ast.Constant(decisive))
        return ast.Call(load("_decide"), [loop], [keyword])

    def collected(self, node: ast.GeneratorExp) -> ast.expr:
        target, iterated, element, keep = self.loop(node)
        tests: list[ast.expr] = [] if keep is None else [call("_decided", keep)]
        return call("tuple", ast.GeneratorExp(element, [ast.comprehension(target, iterated, tests, 0)]))

    def loop(self, node: ast.expr) -> tuple[ast.Name, ast.expr, ast.expr, ast.expr | None]:
        """Return the variable of a loop, what it runs over, what each turn gives, and whether the turn counts."""
        assert isinstance(node, ast.GeneratorExp)  # noqa: S101  # parse() has checked it
        loop = node.generators[0]
        variable: str = loop.target.id  # type: ignore[attr-defined]
        before, self.iterated = self.iterated, True
        sequence = self(loop.iter)
        self.iterated = before
        outer = self.variables
        self.variables |= {variable}
        self.loops += 1
        element, tests = self(node.elt), [self(test) for test in loop.ifs]
        keep = None if not tests else tests[0] if len(tests) == 1 else self.decided(tests, decisive=False)
        inner = any(isinstance(part, ast.GeneratorExp) for tree in (node.elt, *loop.ifs) for part in ast.walk(tree))
        limit = NEST_LIMIT if inner or self.loops > 1 else primitives.LOOP_LIMIT
        self.loops -= 1
        self.variables = outer
        return ast.Name(f"v_{variable}", ast.Store()), call("_turns", sequence, ast.Constant(limit)), element, keep


def _is(left: ast.expr, right: ast.expr) -> ast.Compare:
    return ast.Compare(left, [ast.Is()], [right])
