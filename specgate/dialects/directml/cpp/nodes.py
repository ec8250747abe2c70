"""Expressions of the rule language as C++ data, for messages and fixes."""

from __future__ import annotations

import ast
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.dialects.directml.cpp.lines import quote_literal
from specgate.dialects.directml.cpp.values import Untranslatable
from specgate.rules.functions import FUNCTIONS
from specgate.rules.language import LAYOUT_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.rules.language import Rule

_LINKS: Final[Mapping[type[ast.AST], str]] = {
    ast.Eq: "equal", ast.NotEq: "differs", ast.Lt: "less", ast.LtE: "at_most", ast.Gt: "more", ast.GtE: "at_least",
    ast.In: "among", ast.NotIn: "not_among",
}  # fmt: skip
_KINDS: Final[Mapping[type[object], str]] = {
    ast.Add: "sum", ast.Sub: "difference", ast.Mult: "product", ast.FloorDiv: "quotient", ast.Mod: "modulo",
    ast.Not: "negation", ast.USub: "minus", ast.And: "all_of", ast.Or: "any_of", ast.Attribute: "attribute",
    ast.Subscript: "subscript", ast.Tuple: "list", ast.List: "list", ast.Compare: "compare", ast.IfExp: "choice",
}  # fmt: skip
#: The functions that `evaluator.h` computes.
_FUNCTIONS: Final = frozenset((
    "all", "any", "present", "operator", "len", "range", "abs", "int", "power_of_two", "sum", "product", "min", "max",
    "rank", "dims", "type", "elements", "extent", "bits", "minimum_size",
))  # fmt: skip
#: Larger whole numbers are read from their digits.
_INT64: Final = 2**63
#: The position of an attribute in a tensor or in a pair of numbers; see `values.h`.
_PARTS: Final = {
    "sizes": 1, "strides": 2, "TotalTensorSizeInBytes": 3, "GuaranteedBaseOffsetAlignment": 4, "Flags": 5,
    "Width": 0, "Height": 1, "Scale": 0, "Bias": 1,
}  # fmt: skip


def _words_of(function: str) -> str:
    """Return the words for the result of a function, with $0 for its tensor."""
    if function in LAYOUT_FUNCTIONS:
        words: str | None = LAYOUT_FUNCTIONS[function].phrases[0]
    else:
        words = FUNCTIONS[function].words if function in FUNCTIONS else None
    return (words or "").replace("{}", "$0")


class Names(NamedTuple):
    """Names that an expression may use; other names are words.

    types: the numbers of the element types. variables: those of the enclosing loops.
    """

    fields: Sequence[str] = ()
    limits: Sequence[str] = ()
    defines: Mapping[str, Rule] = MappingProxyType({})
    types: Mapping[str, int] = MappingProxyType({})
    variables: frozenset[str] = frozenset()


class Nodes:
    """The array of all nodes of a header, in which equal parts occur once.

    The parts of a node lie one after another, before it.
    """

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._starts: dict[tuple[str, ...], int] = {}
        self._links: dict[tuple[str, ...], int] = {}

    def pointer(self, tree: ast.expr, names: Names) -> str:
        """Return the C++ address of an expression."""
        return f"nodes + {self._start([tree], names)}"

    def test(self, rule: Rule | None, names: Names) -> str:
        """Return an expression and the paths that it needs as `Test`."""
        if rule is None:
            return "{}"
        needs = [ast.parse(path, mode="eval").body for path in sorted(rule.needs)]
        listed = f", {{nodes + {self._start(needs, names)}, {len(needs)}}}" if needs else ""
        return f"{{{self.pointer(rule.tree, names)}{listed}}}"

    def lines(self) -> Iterator[str]:
        """Yield the definitions of the arrays."""
        links = [f"Link::{link}" for sequence in self._links for link in sequence]
        yield f"inline constexpr Link links[] = {{{', '.join(links) or 'Link::equal'}}};"
        yield f"inline constexpr Node nodes[{max(1, len(self._rows))}] = {{"
        yield from (f"    {row}," for row in self._rows)
        yield "};"

    def _start(self, siblings: Sequence[ast.expr], names: Names) -> int:
        rows = tuple(self._row(node, names) for node in siblings)
        if rows not in self._starts:
            self._starts[rows] = len(self._rows)
            self._rows += rows
        return self._starts[rows]

    def _row(self, node: ast.expr, names: Names) -> str:
        kind, name, words, number, real, links = _KINDS.get(type(getattr(node, "op", node))), "", "", "0", "0", "{}"
        parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        inner = names
        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                kind = "constant"
                name, number = ("", str(value)) if value < _INT64 else (str(value), "0")
            case ast.Constant(value=float(value)):
                kind, real = "real", repr(value)
            case ast.Constant(value=str(name)):
                kind = "text"
            case ast.Name(id=name):
                kind, number, parts = self._name(name, names)
                inner = names._replace(variables=frozenset())
            case ast.Attribute(attr=name):
                number = str(_PARTS.get(name, 0))
            case ast.Call(func=ast.Name(id=name)) if name in _FUNCTIONS:
                kind, words, parts = "call", _words_of(name), node.args
            case ast.GeneratorExp(generators=[ast.comprehension(target=ast.Name(id=name)) as loop]):
                if name in {*names.variables, *names.fields}:
                    raise Untranslatable(f"the loop variable {name} has the name of another value")
                kind, parts = "loop", [node.elt, loop.iter, *loop.ifs]
                inner = names._replace(variables=names.variables | {name})
            case ast.Compare(ops=ops):
                links = self._link(tuple(_LINKS[type(op)] for op in ops))
        if kind is None:
            raise Untranslatable(ast.unparse(node))
        listed = f"{{nodes + {self._start(parts, inner)}, {len(parts)}}}" if parts else "{}"
        texts = [quote_literal(text) for text in (ast.unparse(node), name, words)]
        values = [f"Kind::{kind}", texts[0], listed, texts[1], number, real, links, texts[2]]
        while values[-1] in {"{}", '""', "0"}:
            values.pop()
        return f"{{{', '.join(values)}}}"

    @staticmethod
    def _name(name: str, names: Names) -> tuple[str, str, list[ast.expr]]:
        """Return the kind of a name, its position, and what it stands for."""
        if name in names.variables:
            return "variable", "0", []
        if name in names.defines:
            return "define", "0", [names.defines[name].tree]
        for kind, known in (("field", names.fields), ("limit", names.limits)):
            if name in known:
                return kind, str(known.index(name)), []
        return "word", str(names.types.get(name, 0)), []

    def _link(self, links: tuple[str, ...]) -> str:
        if links not in self._links:
            self._links[links] = sum(map(len, self._links))
        return f"{{links + {self._links[links]}, {len(links)}}}"
