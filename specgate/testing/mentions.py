"""What a rule computes along the way: the likeliest values of whatever is still to be chosen for it."""

from __future__ import annotations

import ast
import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from specgate.rules.evaluate import UNKNOWN, Broken, evaluate
from specgate.rules.parse import Rule

if TYPE_CHECKING:
    from specgate.rules.evaluate import Context

__all__ = ["mentioned"]


def mentioned(rule: Rule, context: Context, turn: int | None = None) -> list[Any]:
    """Return the numbers and words that the largest parts of `rule` already have, without repetition.

    Where ``output.sizes[d] == indices.sizes[d] + 1`` and the indices are known, the right side's value is among them,
    so whatever shape a rule has, the value that satisfies it is rarely far from one that it mentions. turn: the
    element of loops to look at first, others are left out when it is one of them.
    """
    found: dict[Any, None] = {}
    _collect(rule.tree, context, turn, found)
    return list(found)


def _collect(node: ast.expr, context: Context, turn: int | None, found: dict[Any, None]) -> None:
    if isinstance(node, ast.GeneratorExp):
        _collect_loop(node, context, turn, found)
        return
    value = _value(node, context)
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        found.setdefault(value)
        return
    if isinstance(value, tuple | list):
        found.update(dict.fromkeys(v for v in value if isinstance(v, int | float | str)))
    parts = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    for part in parts:
        if isinstance(part, ast.expr):
            _collect(part, context, turn, found)


def _collect_loop(node: ast.GeneratorExp, context: Context, turn: int | None, found: dict[Any, None]) -> None:
    loop = node.generators[0]
    items = _value(loop.iter, context)
    if not isinstance(items, tuple | list | range):
        return
    chosen = [turn] if turn in items else list(items)[:16]
    for item in chosen:
        if isinstance(item, int | str):
            _collect(_unrolled(node.elt, loop.target.id, item), context, turn, found)  # type: ignore[attr-defined]


def _value(node: ast.expr, context: Context) -> Any:
    try:
        return evaluate(Rule("", node, "", frozenset(), frozenset()), context)
    except (Broken, KeyError, AttributeError, TypeError):
        return UNKNOWN


class _Unroll(ast.NodeTransformer):
    def __init__(self, name: str, item: int | str) -> None:
        self.name = name
        self.item = item

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self.item) if node.id == self.name else node


@lru_cache(maxsize=4096)
def _unrolled(node: ast.expr, name: str, item: int | str) -> ast.expr:
    result: ast.expr = _Unroll(name, item).visit(copy.deepcopy(node))
    return result
