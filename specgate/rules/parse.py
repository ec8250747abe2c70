"""Parse rules with Python's parser, then check nodes, names and kinds.

Everything outside closed lists is rejected.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from specgate.rules.checks import ELEMENT, Calls
from specgate.rules.language import (
    GRAPH,
    GRAPH_ENDS,
    NUMBER,
    NUMBERS,
    OPERATOR,
    TENSOR,
    TRUTH,
    TRUTHS,
    WORD,
    WORDS,
    Kind,
    Rule,
    RuleError,
    Scope,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["parse", "parse_later"]

MAX_LENGTH: Final = 2_000
MAX_LITERAL: Final = 2**64

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_EQUALITY = (ast.Eq, ast.NotEq)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_MEMBERSHIP = (ast.In, ast.NotIn)
_DEFINABLE = frozenset({NUMBER, TRUTH, WORD, NUMBERS, WORDS})
_COMPARABLE = _DEFINABLE | {TRUTHS}


def parse(text: str, scope: Scope, *, expect: Kind | None = TRUTH) -> Rule:
    """Return `text` parsed in `scope`.

    Raises RuleError for anything outside the language, or of another kind than `expect`.
    """
    text = " ".join(text.split())
    if len(text) > MAX_LENGTH:
        raise RuleError(text, f"expected at most {MAX_LENGTH} characters, found {len(text)}")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        column = max(0, (getattr(error, "offset", None) or 1) - 1)
        raise RuleError(text, f"expected one expression: {getattr(error, 'msg', None) or error}", column) from None
    checker = _Checker(text, scope)
    checker.grow(sum(1 for _ in ast.walk(tree)), tree)
    kind = checker.kind(tree, {}, 0)
    if kind not in _DEFINABLE or (expect is not None and kind != expect):
        raise RuleError(text, f"expected a {expect or 'number, word or truth'}, found a {kind}")
    return Rule(
        text,
        tree,
        kind,
        frozenset(checker.needs),
        frozenset(checker.fields),
        parts=checker.parts,
        depth=checker.depth,
        loops=checker.loops,
    )


class _Unparsed(Rule):
    """A rule that is parsed when anything but its text is first read."""

    __slots__ = ("_scope",)
    _scope: Scope

    def __init__(self, text: str, scope: Scope) -> None:
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "_scope", scope)

    def __hash__(self) -> int:
        return hash(self.text)

    def __getattr__(self, name: str) -> object:
        """Parse the rule, which sets the attributes."""
        if name not in Rule.__match_args__:
            raise AttributeError(name)
        parsed = parse(self.text, self._scope)
        for slot in Rule.__match_args__:
            object.__setattr__(self, slot, getattr(parsed, slot))
        return getattr(self, name)


def parse_later(text: str, scope: Scope) -> Rule:
    """Return a rule of compiled tables that is parsed when it is first needed.

    Most rules are never needed.
    """
    return _Unparsed(" ".join(text.split()), scope)


def _asked_for(test: ast.expr) -> str | None:
    """Return the field of a condition ``present(FIELD)``, else None."""
    match test:
        case ast.Call(func=ast.Name(id="present"), args=[ast.Name(id=name)]):
            return name
    return None


class _Checker(Calls):
    """One pass over the tree.

    It checks nodes against the whitelist, resolves names, infers kinds and collects the reads.
    """

    def on_Constant(self, node: ast.Constant, _variables: Mapping[str, Kind], _depth: int) -> Kind:
        match node.value:
            case bool():
                return TRUTH
            case int() if abs(node.value) <= MAX_LITERAL:
                return NUMBER
            case float() if abs(node.value) <= MAX_LITERAL:
                return NUMBER
            case str():
                return WORD
            case _:
                raise self.fail("expected a number up to 2**64, a word or a truth value", node)

    def on_Name(self, node: ast.Name, variables: Mapping[str, Kind], depth: int) -> Kind:
        name = node.id
        if name in variables:
            return variables[name]
        if name in self.scope.defines:
            define = self.scope.defines[name]
            self.grow(define.parts, node)
            self.reach(depth + define.depth, node)
            self.count_loops(define.loops, node)
            self.needs |= define.needs
            self.fields |= define.fields
            return define.kind
        if name in self.scope.fields:
            self.fields.add(name)
            if name in self.scope.optional:
                self.needs.add(name)
            return self.scope.fields[name]
        if name in self.scope.numbers:
            return NUMBER
        if name in self.scope.words:
            return WORD
        known = sorted({*self.scope.fields, *self.scope.numbers, *self.scope.defines})
        raise self.fail(f"unknown name {name!r:.80}; known here: {', '.join(known)}", node)

    def on_Attribute(self, node: ast.Attribute, variables: Mapping[str, Kind], depth: int) -> Kind:
        base = node.value
        if isinstance(base, ast.Name) and base.id not in variables and base.id in self.scope.members:
            return self._fused_member(node, base.id, variables, depth)
        if isinstance(base, ast.Name) and base.id not in variables and self.scope.fields.get(base.id) == GRAPH:
            return self._graph_end(node, variables, depth)
        if not isinstance(base, ast.Name | ast.Subscript | ast.Attribute):
            raise self.fail("expected FIELD.attribute", node)
        parts = None if isinstance(base, ast.Subscript) else self.record(self.kind(base, variables, depth))
        if parts is None:
            self.want_tensor(base, variables, depth)
        attributes = self.scope.tensor_attributes
        if node.attr not in (parts or attributes):
            known = ", ".join(parts or attributes)
            raise self.fail(f"unknown attribute {node.attr!r:.80}; known: {known}", node)
        if parts is not None:
            return NUMBER
        if node.attr != "sizes" and isinstance(base, ast.Name) and base.id not in variables:
            self.needs.add(f"{base.id}.{node.attr}")
        return attributes[node.attr]

    def _fused_member(self, node: ast.Attribute, field: str, variables: Mapping[str, Kind], depth: int) -> Kind:
        """Return the kind of a fused operator's attribute.

        A rule that reads it applies only to operators that have it.
        """
        self.want(node.value, OPERATOR, variables, depth)
        members = self.scope.members[field]
        if node.attr not in members:
            known = ", ".join(members)
            raise self.fail(f"unknown attribute {node.attr!r:.80}; {field} lists these members: {known}", node)
        self.needs.add(f"{field}.{node.attr}")
        return members[node.attr]

    def _graph_end(self, node: ast.Attribute, variables: Mapping[str, Kind], depth: int) -> Kind:
        self.want(node.value, GRAPH, variables, depth)
        if node.attr not in GRAPH_ENDS:
            raise self.fail(f"unknown attribute {node.attr!r:.80}; a graph has: {', '.join(GRAPH_ENDS)}", node)
        return GRAPH_ENDS[node.attr]

    def on_Subscript(self, node: ast.Subscript, variables: Mapping[str, Kind], depth: int) -> Kind:
        sequence = self.kind(node.value, variables, depth)
        if sequence not in ELEMENT:
            raise self.fail(f"expected a sequence, found a {sequence}", node)
        self.one_field(node.value, sequence)
        self.want(node.slice, NUMBER, variables, depth)
        return ELEMENT[sequence]

    def on_BoolOp(self, node: ast.BoolOp, variables: Mapping[str, Kind], depth: int) -> Kind:
        for value in node.values:
            self.want(value, TRUTH, variables, depth)
        return TRUTH

    def on_UnaryOp(self, node: ast.UnaryOp, variables: Mapping[str, Kind], depth: int) -> Kind:
        if isinstance(node.op, ast.Not):
            self.want(node.operand, TRUTH, variables, depth)
            return TRUTH
        if isinstance(node.op, ast.USub):
            self.want(node.operand, NUMBER, variables, depth)
            return NUMBER
        raise self.fail("expected `not` or a minus sign", node)

    def on_BinOp(self, node: ast.BinOp, variables: Mapping[str, Kind], depth: int) -> Kind:
        if not isinstance(node.op, _ARITHMETIC):
            raise self.fail("expected + - * // or %", node)
        self.want(node.left, NUMBER, variables, depth)
        self.want(node.right, NUMBER, variables, depth)
        return NUMBER

    def on_Compare(self, node: ast.Compare, variables: Mapping[str, Kind], depth: int) -> Kind:
        left, left_kind = node.left, self.kind(node.left, variables, depth)
        for op, right in zip(node.ops, node.comparators, strict=True):
            right_kind = self.kind(right, variables, depth)
            if isinstance(op, _EQUALITY):
                legal = left_kind == right_kind and left_kind in _COMPARABLE
            elif isinstance(op, _ORDER):
                legal = left_kind == right_kind == NUMBER
            elif isinstance(op, _MEMBERSHIP):
                legal = ELEMENT.get(right_kind) == left_kind != TENSOR
            else:
                raise self.fail("expected == != < <= > >= in or not in", node)
            if not legal:
                raise self.fail(f"cannot compare a {left_kind} with a {right_kind} this way", left)
            left, left_kind = right, right_kind
        return TRUTH

    def on_IfExp(self, node: ast.IfExp, variables: Mapping[str, Kind], depth: int) -> Kind:
        self.want(node.test, TRUTH, variables, depth)
        before = set(self.needs)
        kind = self.kind(node.body, variables, depth)
        if (name := _asked_for(node.test)) is not None:  # `strides[0] if present(strides) else 1` always applies
            self.needs = {path for path in self.needs if path in before or path != name}
        self.want(node.orelse, kind, variables, depth)
        return kind

    def on_Tuple(self, node: ast.Tuple | ast.List, variables: Mapping[str, Kind], depth: int) -> Kind:
        kinds = {self.kind(element, variables, depth) for element in node.elts}
        if kinds not in ({NUMBER}, {WORD}):
            raise self.fail("expected a list of numbers or a list of words", node)
        return NUMBERS if kinds == {NUMBER} else WORDS

    on_List = on_Tuple
