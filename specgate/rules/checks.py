"""Checks of a rule's size, calls and loops.

`parse` checks all other nodes.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from specgate.rules.language import (
    NUMBER,
    NUMBERS,
    OPERATORS,
    TENSOR,
    TENSORS,
    TRUTH,
    TRUTHS,
    WORD,
    WORDS,
    Kind,
    RuleError,
    Scope,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ELEMENT", "Calls"]

MAX_NODES: Final = 400
MAX_DEPTH: Final = 40
MAX_LOOPS: Final = 4
MAX_NESTED: Final = 2

_QUANTIFIERS = ("all", "any")
ELEMENT: Final = {NUMBERS: NUMBER, WORDS: WORD, TENSORS: TENSOR}
_COUNTED = frozenset({NUMBERS, WORDS, TRUTHS, TENSORS, OPERATORS})


class Checks:
    """Limits and counters of a pass over a tree, and the kinds of its parts."""

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self.scope = scope
        self.needs: set[str] = set()
        self.fields: set[str] = set()
        self.loops = 0
        self.inside = 0
        self.parts = 0
        self.depth = 0

    def fail(self, message: str, node: ast.AST) -> RuleError:
        offset: int = getattr(node, "col_offset", 0)  # in bytes of UTF-8
        return RuleError(self.text, message, len(self.text.encode()[:offset].decode("utf-8", "ignore")))

    def grow(self, parts: int, node: ast.AST) -> None:
        self.parts += parts
        if self.parts > MAX_NODES:
            raise self.fail(f"expected at most {MAX_NODES} parts, with every define expanded", node)

    def reach(self, depth: int, node: ast.AST) -> None:
        self.depth = max(self.depth, depth)
        if depth > MAX_DEPTH:
            raise self.fail(f"expected at most {MAX_DEPTH} nested parts", node)

    def count_loops(self, loops: int, node: ast.AST) -> None:
        self.loops += loops
        if self.loops > MAX_LOOPS:
            raise self.fail(f"expected at most {MAX_LOOPS} plain loops in a rule", node)
        if self.inside and self.inside + loops > MAX_NESTED:  # the nesting of a define's loops is not known
            raise self.fail(f"expected at most {MAX_NESTED} loops inside one another", node)

    def kind(self, node: ast.expr, variables: Mapping[str, Kind], depth: int) -> Kind:
        self.reach(depth, node)
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            raise self.fail(f"{type(node).__name__} is not part of the rule language", node)
        result: Kind = method(node, variables, depth + 1)
        return result

    def want(self, node: ast.expr, kind: Kind, variables: Mapping[str, Kind], depth: int) -> None:
        text = self.kind(node, variables, depth)
        if text != kind:
            raise self.fail(f"expected a {kind}, found a {text}", node)

    def want_tensor(self, node: ast.expr, variables: Mapping[str, Kind], depth: int) -> None:
        """Require a field's name, so that absence is known before evaluation."""
        self.want(node, TENSOR, variables, depth)
        if not isinstance(node, ast.Name | ast.Subscript):
            raise self.fail("expected a tensor field's own name", node)

    def record(self, kind: Kind) -> tuple[str, ...] | None:
        """Return the names of the numbers in a record, None for another kind."""
        record = self.scope.vocabulary.records.get(kind)
        return None if record is None else tuple(record._fields)  # a NamedTuple

    def one_field(self, node: ast.expr, kind: Kind) -> None:
        """Require a single field instead of a choice, so that absence is known."""
        if kind in {TENSORS, OPERATORS} and not isinstance(node, ast.Name | ast.Attribute):  # a graph's ends
            raise self.fail("expected an array field's own name", node)


class Calls(Checks):
    """Checks of function calls and of loops in their arguments."""

    def on_Call(self, node: ast.Call, variables: Mapping[str, Kind], depth: int) -> Kind:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise self.fail("expected function(argument)", node)
        from specgate.rules.functions import FUNCTIONS  # imported late: many runs parse no rule

        name = node.func.id
        if name in _QUANTIFIERS:
            if len(node.args) != 1 or not isinstance(node.args[0], ast.GeneratorExp):
                raise self.fail(f"expected {name}(condition for d in …)", node)
            self._loop(node.args[0], TRUTH, variables, depth)
            return TRUTH
        function = self.scope.function(name)
        if function is None:
            known = ", ".join([*FUNCTIONS, *self.scope.vocabulary.functions, *_QUANTIFIERS])
            raise self.fail(f"unknown function {name!r:.80}; known: {known}", node)
        texts, result = function
        if len(node.args) != len(texts):
            raise self.fail(f"{name} takes {len(texts)} argument(s), found {len(node.args)}", node)
        if name == "present":
            self._present(node.args[0], variables, depth)
            return result
        if name in {"value", "values"}:
            self._constant_field(node.args[0], variables)
        for argument, kind in zip(node.args, texts, strict=True):
            if isinstance(argument, ast.GeneratorExp) and kind == NUMBERS:
                self._loop(argument, NUMBER, variables, depth)
            elif kind == TENSOR:
                self.want_tensor(argument, variables, depth)
            elif name == "len":
                self._counted(argument, variables, depth)
            else:
                self.want(argument, kind, variables, depth)
                self.one_field(argument, kind)
        return result

    def _counted(self, node: ast.expr, variables: Mapping[str, Kind], depth: int) -> None:
        text = self.kind(node, variables, depth)
        if text not in _COUNTED:
            raise self.fail(f"expected a {NUMBERS}, found a {text}", node)
        self.one_field(node, text)

    def _constant_field(self, node: ast.expr, variables: Mapping[str, Kind]) -> None:
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Name) and variables.get(node.id) == TENSOR):
            raise self.fail("expected a field, not an element of an array", node)
        if isinstance(node, ast.Name):
            self.needs.add(f"{node.id}.value")

    def _present(self, node: ast.expr, variables: Mapping[str, Kind], depth: int) -> None:
        base = node.value if isinstance(node, ast.Attribute) else node
        attributes = self.scope.tensor_attributes
        if isinstance(node, ast.Attribute) and node.attr not in attributes:
            raise self.fail(f"unknown attribute {node.attr!r:.80}; known: {', '.join(attributes)}", node)
        if isinstance(node, ast.Attribute) and self._element(base, variables):
            self.want_tensor(base, variables, depth)
            return
        if not isinstance(base, ast.Name) or base.id not in self.scope.fields:
            raise self.fail("expected present(FIELD) or present(FIELD.attribute)", node)
        if isinstance(node, ast.Attribute) and self.scope.fields[base.id] != TENSOR:
            raise self.fail(f"expected a tensor, found a {self.scope.fields[base.id]}", base)
        self.fields.add(base.id)

    @staticmethod
    def _element(node: ast.expr, variables: Mapping[str, Kind]) -> bool:
        """Return whether a node is an array element: a loop variable or an index."""
        return isinstance(node, ast.Subscript) or (isinstance(node, ast.Name) and node.id in variables)

    def _loop(self, node: ast.GeneratorExp, body: Kind, variables: Mapping[str, Kind], depth: int) -> None:
        if len(node.generators) != 1 or node.generators[0].is_async:
            raise self.fail("expected one plain loop: … for d in …", node)
        self.count_loops(1, node)
        loop = node.generators[0]
        if not isinstance(loop.target, ast.Name) or loop.target.id in self.scope.fields:
            raise self.fail("expected a loop variable with a unique name", node)
        sequence = self.kind(loop.iter, variables, depth)
        if sequence not in ELEMENT:
            raise self.fail(f"expected a sequence to loop over, found a {sequence}", loop.iter)
        self.one_field(loop.iter, sequence)
        inner = {**variables, loop.target.id: ELEMENT[sequence]}
        self.inside += 1
        for condition in loop.ifs:
            self.want(condition, TRUTH, inner, depth)
        self.want(node.elt, body, inner, depth)
        self.inside -= 1
