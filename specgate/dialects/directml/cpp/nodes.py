"""Expressions of the rule language as C++ data, for messages and fixes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from specgate.dialects.directml.cpp.lines import quote_literal
from specgate.dialects.directml.cpp.values import Untranslatable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.rules.language import Rule

__all__ = ["Nodes"]

_LINKS: Final[Mapping[type[ast.AST], str]] = {
    ast.Eq: "equal", ast.NotEq: "differs", ast.Lt: "less", ast.LtE: "at_most", ast.Gt: "more", ast.GtE: "at_least",
    ast.In: "among", ast.NotIn: "not_among",
}  # fmt: skip
_OPERATORS: Final[Mapping[type[ast.AST], str]] = {
    ast.Add: "sum", ast.Sub: "difference", ast.Mult: "product", ast.FloorDiv: "quotient", ast.Mod: "modulo",
    ast.Not: "negation", ast.USub: "minus", ast.And: "all_of", ast.Or: "any_of",
}  # fmt: skip
#: The functions that `evaluator.h` computes.
_FUNCTIONS: Final = frozenset((
    "all", "any", "present", "operator", "len", "range", "abs", "int", "power_of_two", "sum", "product", "min", "max",
    "rank", "dims", "type", "elements", "extent", "bits", "minimum_size",
))  # fmt: skip
#: Whole numbers above are known to the header by their digits alone.
_INT64: Final = 2**63


class Nodes:
    """The array of all nodes of a header, in which equal parts occur once.

    The parts of a node lie one after another, before it.
    """

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._starts: dict[tuple[str, ...], int] = {}
        self._links: dict[tuple[str, ...], int] = {}

    def pointer(self, tree: ast.expr) -> str:
        """Return the C++ address of an expression."""
        return f"nodes + {self._start([tree])}"

    def test(self, rule: Rule | None) -> str:
        """Return an expression and the paths that it needs as `Test`."""
        if rule is None:
            return "{}"
        needs = [ast.parse(path, mode="eval").body for path in sorted(rule.needs)]
        listed = f", {{nodes + {self._start(needs)}, {len(needs)}}}" if needs else ""
        return f"{{{self.pointer(rule.tree)}{listed}}}"

    def lines(self) -> Iterator[str]:
        """Yield the definitions of the arrays."""
        links = [f"Link::{link}" for sequence in self._links for link in sequence]
        yield f"inline constexpr Link links[] = {{{', '.join(links) or 'Link::equal'}}};"
        yield f"inline constexpr Node nodes[{max(1, len(self._rows))}] = {{"
        yield from (f"    {row}," for row in self._rows)
        yield "};"

    def _start(self, siblings: Sequence[ast.expr]) -> int:
        rows = tuple(map(self._row, siblings))
        if rows not in self._starts:
            self._starts[rows] = len(self._rows)
            self._rows += rows
        return self._starts[rows]

    def _row(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=bool()):
                raise Untranslatable(ast.unparse(node))
            case ast.Constant(value=int(number)):
                return self._node("constant", str(number), more=str(number) if number < _INT64 else "0")
            case ast.Constant(value=float(number)):
                return self._node("real", repr(number), more=f"0, {number!r}")
            case ast.Constant(value=str(text)):
                return self._node("text", text)
            case ast.Name():
                return self._node("name", node.id)
            case ast.Attribute():
                return self._node("attribute", node.attr, [node.value])
            case ast.Subscript():
                return self._node("subscript", "", [node.value, node.slice])
            case ast.Call(func=ast.Name(id=name)) if name in _FUNCTIONS:
                return self._node("call", name, node.args)
            case ast.Tuple() | ast.List():
                more = "0, 0, true" if isinstance(node, ast.List) else ""
                return self._node("list", "", node.elts, more=more)
            case ast.GeneratorExp(generators=[ast.comprehension(target=ast.Name(id=name)) as loop]):
                return self._node("loop", name, [node.elt, loop.iter, *loop.ifs])
            case ast.BoolOp():
                return self._node(_OPERATORS[type(node.op)], "", node.values)
            case ast.UnaryOp():
                return self._node(_OPERATORS[type(node.op)], "", [node.operand])
            case ast.BinOp():
                return self._node(_OPERATORS[type(node.op)], "", [node.left, node.right])
            case ast.Compare():
                return self._node("compare", "", [node.left, *node.comparators], [_LINKS[type(op)] for op in node.ops])
            case ast.IfExp():
                return self._node("choice", "", [node.test, node.body, node.orelse])
        raise Untranslatable(ast.unparse(node))

    def _node(
        self, kind: str, text: str, parts: Sequence[ast.expr] = (), links: Sequence[str] = (), *, more: str = ""
    ) -> str:
        values = [f"Kind::{kind}", quote_literal(text)]
        values.append(f"{{nodes + {self._start(parts)}, {len(parts)}}}" if parts else "{}")
        values.append(f"{{links + {self._link(tuple(links))}, {len(links)}}}" if links else "{}")
        values += [more] if more else []
        while values[-1] in {"{}", '""'}:
            values.pop()
        return f"{{{', '.join(values)}}}"

    def _link(self, links: tuple[str, ...]) -> int:
        if links not in self._links:
            self._links[links] = sum(map(len, self._links))
        return self._links[links]
