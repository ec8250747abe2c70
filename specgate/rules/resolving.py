"""Resolve branches, defines and dimensions of a rule on a descriptor."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import TensorDesc
from specgate.rules.evaluate import Evaluator
from specgate.rules.language import Undefined

if TYPE_CHECKING:
    from specgate.rules.language import Context

__all__ = ["dimension", "resolved", "value_of"]


def resolved(node: ast.expr, context: Context) -> ast.expr:
    """Return the expression that a conditional or a name stands for."""
    while True:
        if isinstance(node, ast.IfExp):
            test = value_of(node.test, context)
            if test is not True and test is not False:
                return node
            node = node.body if test else node.orelse
        elif isinstance(node, ast.Name) and node.id in context.defines:
            inner = resolved(context.defines[node.id].tree, context)
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
            chosen = resolved(node, context)
            return chosen is not node and _reads_rank(chosen, owner, context)
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
