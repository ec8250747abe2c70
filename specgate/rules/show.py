"""Copy expression trees, and format them with the parentheses that they need.

An `and` inside an `or` is parenthesized as well.
"""

from __future__ import annotations

import ast
from typing import Any, Final

_CHOICE, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN, _ATOM = range(9)
_BINARY: Final[dict[type[ast.operator], tuple[str, int]]] = {
    ast.Add: ("+", _SUM),
    ast.Sub: ("-", _SUM),
    ast.Mult: ("*", _PRODUCT),
    ast.FloorDiv: ("//", _PRODUCT),
    ast.Mod: ("%", _PRODUCT),
}
_COMPARED: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in",
}  # fmt: skip


def copy_tree(node: Any) -> Any:
    """Return a modifiable copy of a tree.

    Nodes without fields, such as operators, are shared.
    """
    if isinstance(node, list):
        return [copy_tree(part) for part in node]
    if not isinstance(node, ast.AST) or not node._fields:
        return node
    return type(node)(**{name: copy_tree(value) for name, value in ast.iter_fields(node)})


def shown_tree(node: ast.expr) -> str:
    """Return the text of an expression; outside the language as Python does."""
    return _format_node(node, _CHOICE)


def _format_node(node: ast.AST, least: int) -> str:
    """Return the text of a part, parenthesized below precedence `least`."""
    text, binds = _part(node)
    return f"({text})" if binds < least else text


def _part(node: ast.AST) -> tuple[str, int]:
    match node:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return (
                f"{_format_node(body, _OR)} if {_format_node(test, _OR)} else {_format_node(orelse, _CHOICE)}",
                _CHOICE,
            )
        case ast.BoolOp(op=op, values=values):
            word, binds = ("or", _OR) if isinstance(op, ast.Or) else ("and", _AND)
            return f" {word} ".join(_format_node(value, _NOT) for value in values), binds
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"not {_format_node(operand, _NOT)}", _NOT
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"-{_format_node(operand, _SIGN)}", _SIGN
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARED for op in ops):
            comparisons = (f" {_COMPARED[type(op)]} {_format_node(x, _SUM)}" for op, x in zip(ops, others, strict=True))
            return _format_node(left, _SUM) + "".join(comparisons), _COMPARE
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            sign, binds = _BINARY[type(op)]
            return f"{_format_node(left, binds)} {sign} {_format_node(right, binds + 1)}", binds
        case ast.GeneratorExp():
            return f"({_loop(node)})", _ATOM
        case _:
            return _atom(node), _ATOM


def _atom(node: ast.AST) -> str:
    match node:
        case ast.Call(func=function, args=[ast.GeneratorExp() as loop], keywords=[]):
            return f"{_format_node(function, _ATOM)}({_loop(loop)})"
        case ast.Call(func=function, args=arguments, keywords=[]):
            return f"{_format_node(function, _ATOM)}({_format_elements(arguments)})"
        case ast.Attribute(value=value, attr=name) if not isinstance(value, ast.Constant):
            return f"{_format_node(value, _ATOM)}.{name}"
        case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice | ast.Tuple):
            return f"{_format_node(value, _ATOM)}[{_format_node(index, _CHOICE)}]"
        case ast.Tuple(elts=elements):
            return f"({_format_elements(elements)}{',' if len(elements) == 1 else ''})"
        case ast.List(elts=elements):
            return f"[{_format_elements(elements)}]"
        case _:
            return ast.unparse(node)


def _format_elements(elements: list[ast.expr]) -> str:
    return ", ".join(_format_node(element, _CHOICE) for element in elements)


def _loop(node: ast.GeneratorExp) -> str:
    text = _format_node(node.elt, _CHOICE)
    for loop in node.generators:
        text += f" for {_format_node(loop.target, _ATOM)} in {_format_node(loop.iter, _OR)}"
        text += "".join(f" if {_format_node(test, _OR)}" for test in loop.ifs)
    return text
