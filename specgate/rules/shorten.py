"""Find expressions that have a short form; the inverse of `shorthand`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from specgate.rules.shorthand import DEFAULT, length_of
from specgate.rules.show import shown_tree

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["Shortener"]


class Shortener(ast.NodeTransformer):
    """Replaces expressions by their short forms.

    `replacements` holds each pair of long and short form. optional: the fields without a default that a descriptor may
    omit.
    """

    def __init__(self, optional: Collection[str]) -> None:
        self.optional = optional
        self.replacements: list[tuple[str, str]] = []

    def shortened(self, text: str) -> str:
        """Return the expression with short forms.

        Unchanged where none applies or the text is not an expression.
        """
        before = len(self.replacements)
        try:
            tree = self.visit(ast.parse(" ".join(text.split()), mode="eval").body)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return text
        return text if len(self.replacements) == before else shown_tree(tree)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        long = shown_tree(node)
        index = _from_the_end(node.slice, shown_tree(length_of(node.value)))
        if index is None:
            return node
        subscript = ast.Subscript(node.value, index, ast.Load())
        self.replacements.append((long, shown_tree(subscript)))
        return subscript

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        long = shown_tree(node)
        self.generic_visit(node)
        match node.test:
            case ast.Call(func=ast.Name(id="present"), args=[ast.Name(id=field)]):
                names = {part.id for part in ast.walk(node.body) if isinstance(part, ast.Name)}
                if names & set(self.optional) == {field}:
                    call = ast.Call(ast.Name(DEFAULT, ast.Load()), [node.body, node.orelse], [])
                    self.replacements.append((long, shown_tree(call)))
                    return call
        return node


def _from_the_end(index: ast.expr, length: str) -> ast.expr | None:
    """Return ``-1 - d`` for ``rank(X) - 1 - d``, else None."""
    if not isinstance(index, ast.BinOp):
        return None
    if isinstance(index.op, ast.Sub) and shown_tree(index.left) == length and isinstance(index.right, ast.Constant):
        return ast.UnaryOp(ast.USub(), index.right) if index.right.value else None
    left = _from_the_end(index.left, length) if isinstance(index.op, ast.Add | ast.Sub) else None
    return None if left is None else ast.BinOp(left, index.op, index.right)
