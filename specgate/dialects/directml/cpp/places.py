"""The field that a finding of a rule points at.

It is a field that the rule compares directly, else the first that decides the rule. The place is constant if all
deciding parts name the same field; otherwise the header finds the deciding part.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from specgate.dialects.directml.cpp.values import joined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.dialects.directml.cpp.translate import Translator
    from specgate.rules.language import Rule

__all__ = ["place_of"]


class _Named(NamedTuple):
    """The fields that a part names: compared directly, and any, as bits.

    The bits are in the order of the fields in the rule's text.
    """

    alone: int = 0
    within: int = 0


def place_of(rule: Rule, translate: Translator) -> str:
    """Return the place of a broken rule as C++: a text or a lambda."""
    names = sorted(rule.fields, key=lambda name: (rule.text.find(name), name))
    if not names:
        return '""'
    blamer = _Blamer(names, translate)
    blamed = blamer.blame(rule.tree, {}, value=False)
    if isinstance(blamed, _Named):
        bits = blamed.alone or blamed.within or 1
        return f'"{names[(bits & -bits).bit_length() - 1]}"'
    listed = ", ".join(f'"{name}"' for name in names)
    return f"[&] {{ return first_of({{{listed}}}, {blamed}); }}"


class _Blamer:
    """Finds the parts of a rule that decide its value.

    Like the explanation of findings, it follows the parts whose value equals that of the whole.
    """

    def __init__(self, names: list[str], translate: Translator) -> None:
        self.names = names
        self.translate = translate

    def blame(self, node: ast.expr, written: Mapping[str, str], *, value: bool) -> _Named | str:
        """Return the fields that make a part equal `value`.

        written: the C++ expressions of loop variables.
        """
        if isinstance(node, ast.BoolOp):
            return self._joined(node, written, value=value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.blame(node.operand, written, value=not value)
        if isinstance(node, ast.Call) and isinstance(node.args[0], ast.GeneratorExp):
            return self._loop(node.args[0], written, value=value)
        if isinstance(node, ast.IfExp):
            body, orelse = (self.blame(part, written, value=value) for part in (node.body, node.orelse))
            if body == orelse:
                return body
            return f"({self.translate(node.test).operand} ? {_code(body)} : {_code(orelse)})"
        defines = self.translate.defines
        named = isinstance(node, ast.Name) and node.id not in written
        if named and node.id in defines and defines[node.id].kind == "truth":  # type: ignore[attr-defined]
            return self.blame(defines[node.id].tree, {}, value=value)  # type: ignore[attr-defined]
        return self._leaf(node, written)

    def _joined(self, node: ast.BoolOp, written: Mapping[str, str], *, value: bool) -> _Named | str:
        parts = [self.blame(part, written, value=value) for part in node.values]
        every = isinstance(node.op, ast.Or) is not value  # all parts have the value of the whole
        named = [part for part in parts if isinstance(part, _Named)]
        if len(named) == len(parts) and (every or len({self._first(part) for part in named}) == 1):
            return _Named(_union(part.alone for part in named), _union(part.within for part in named))
        looked = []
        for part, blamed in zip(node.values, parts, strict=True):
            result = joined(self.translate(part), "||")
            text = "true" if value else "false"
            looked.append(
                _code(blamed) if every else f"(check.was({text}, [&] {{ return {result}; }}) ? {_code(blamed)} : 0)"
            )
        return f"({' | '.join(looked)})"

    def _first(self, named: _Named) -> tuple[bool, int]:
        bits = named.alone or named.within
        return bool(named.alone), bits & -bits

    def _loop(self, loop: ast.GeneratorExp, written: Mapping[str, str], *, value: bool) -> _Named | str:
        generator = loop.generators[0]
        name = generator.target.id  # type: ignore[attr-defined]  # parse() has checked it
        over = ast.unparse(generator.iter)
        tensors = self.translate(generator.iter).kind == "tensors"
        inner = {**written, name: f"{over}[0]" if tensors else name}
        with self.translate.turn(loop) as turn:
            blamed = self.blame(loop.elt, inner, value=value)
            if isinstance(blamed, _Named):
                return blamed
            text = "true" if value else "false"
            counts = f"{turn.test} && " if turn.test else ""
            element = turn.element.code
        test = f"{counts}check.was({text}, [&] {{ return {element}; }})"
        lambdas = (f"[&]({turn.parameter}) {{ return {part}; }}" for part in (test, blamed))
        return f"turn_of({turn.over}, {', '.join(lambdas)})"

    def _leaf(self, node: ast.expr, written: Mapping[str, str]) -> _Named:
        alone = within = 0
        for part in (node.left, *node.comparators) if isinstance(node, ast.Compare) else (node,):
            if isinstance(part, ast.Tuple | ast.List):
                continue
            text = ast.unparse(part)
            for variable, meaning in written.items():
                if meaning != variable:
                    text = _replaced(text, variable, meaning)
            for number, name in enumerate(self.names):
                alone |= (text == name) << number
                within |= (name in text) << number
        return _Named(alone, within)


def _replaced(text: str, variable: str, stands: str) -> str:
    """Return an expression with a variable replaced."""
    tree = ast.parse(text, mode="eval").body
    for part in ast.walk(tree):
        if isinstance(part, ast.Name) and part.id == variable:
            part.id = stands
    return ast.unparse(tree)


def _union(bits: object) -> int:
    number = 0
    for each in bits:  # type: ignore[attr-defined]
        number |= each
    return number


def _code(blamed: _Named | str) -> str:
    return blamed if isinstance(blamed, str) else f"named({blamed.alone:#x}, {blamed.within:#x})"
