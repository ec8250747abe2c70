"""Parse a rule: Python's own parser, then every node, name and kind is checked against closed lists."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FUNCTIONS", "TENSOR_ATTRIBUTES", "Kind", "Rule", "RuleError", "Scope", "parse"]

#: Static kinds of expressions: a rule's kinds are known before any descriptor is seen.
Kind = str
NUMBER, TRUTH, WORD, TENSOR = "number", "truth", "word", "tensor"
NUMBERS, TRUTHS, WORDS, TENSORS = "numbers", "truths", "words", "tensors"
ANY_TENSOR_OR_FIELD: Final = "field"

MAX_LENGTH: Final = 2_000
MAX_NODES: Final = 400
MAX_DEPTH: Final = 40
MAX_LITERAL: Final = 2**64
MAX_LOOPS: Final = 2
MAX_SHOWN: Final = 160

#: What may stand behind a dot, and its kind. Absent ones (no Strides given) make a rule not apply.
TENSOR_ATTRIBUTES: Final[Mapping[str, Kind]] = {
    "sizes": NUMBERS,
    "strides": NUMBERS,
    "TotalTensorSizeInBytes": NUMBER,
    "GuaranteedBaseOffsetAlignment": NUMBER,
    "Flags": NUMBER,
}

#: Functions: name -> (kinds of the arguments, kind of the result).
FUNCTIONS: Final[Mapping[str, tuple[tuple[Kind, ...], Kind]]] = {
    "rank": ((TENSOR,), NUMBER),
    "type": ((TENSOR,), WORD),
    "elements": ((TENSOR,), NUMBER),
    "dims": ((TENSOR,), NUMBERS),
    "bits": ((TENSOR,), NUMBER),
    "value": ((TENSOR,), NUMBER),
    "extent": ((TENSOR,), NUMBER),
    "minimum_size": ((TENSOR,), NUMBER),
    "overlapping": ((TENSOR,), TRUTH),
    "present": ((ANY_TENSOR_OR_FIELD,), TRUTH),
    "len": ((NUMBERS,), NUMBER),
    "sum": ((NUMBERS,), NUMBER),
    "product": ((NUMBERS,), NUMBER),
    "min": ((NUMBERS,), NUMBER),
    "max": ((NUMBERS,), NUMBER),
    "range": ((NUMBER,), NUMBERS),
    "abs": ((NUMBER,), NUMBER),
    "int": ((NUMBER,), NUMBER),
    "power_of_two": ((NUMBER,), TRUTH),
}
_QUANTIFIERS = ("all", "any")
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_EQUALITY = (ast.Eq, ast.NotEq)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_MEMBERSHIP = (ast.In, ast.NotIn)
_ELEMENT = {NUMBERS: NUMBER, WORDS: WORD}


class RuleError(ValueError):
    """A rule that is not of the language; the message shows the expression with a caret under the place.

    reason: the message alone. line: all of it on one line.
    """

    def __init__(self, text: str, message: str, column: int = 0) -> None:
        start = max(0, column - MAX_SHOWN // 2) if column >= MAX_SHOWN else 0
        cut = text[start : start + MAX_SHOWN]
        shown = "…" * (start > 0) + cut + "…" * (start + MAX_SHOWN < len(text))
        shown = "".join(c if c.isprintable() else "?" for c in shown)
        caret = " " * (column - start + (start > 0)) + "^"
        super().__init__(f"{message}\n    {shown}\n    {caret}")
        self.reason = message
        self.line = f"{message}, at column {column + 1} of: {shown}"


@dataclass(frozen=True, slots=True)
class Scope:
    """The names an operator's rules may use: fields, named numbers and words, and shared sub-expressions.

    fields: field name -> kind. optional: fields that a descriptor may leave out. numbers: limits by name (their
    values depend on the level). words: type names and enum values. defines: name -> parsed sub-expression.
    """

    fields: Mapping[str, Kind]
    optional: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    defines: Mapping[str, Rule] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """A parsed expression.

    needs: the paths (FIELD, FIELD.strides, FIELD.value …) whose absence makes the rule not apply; those mentioned only
    inside ``present()`` are not among them. fields: every field it reads. parts, depth, loops: its size with every
    define written out, so that defines of defines cannot make it grow without bound.
    """

    text: str
    tree: ast.expr
    kind: Kind
    needs: frozenset[str]
    fields: frozenset[str]
    parts: int = 1
    depth: int = 1
    loops: int = 0


def parse(text: str, scope: Scope, *, expect: Kind | None = TRUTH) -> Rule:
    """Parse `text` in `scope`; raise RuleError for anything outside the language or of another kind than `expect`."""
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
    if kind in {TENSOR, TENSORS, TRUTHS} or (expect is not None and kind != expect):
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


class _Checker:
    """One pass over the tree: whitelists nodes, resolves names, infers kinds, collects what the rule reads."""

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self.scope = scope
        self.needs: set[str] = set()
        self.fields: set[str] = set()
        self.loops = 0
        self.parts = 0
        self.depth = 0

    def fail(self, message: str, node: ast.AST) -> RuleError:
        offset: int = getattr(node, "col_offset", 0)  # in bytes of UTF-8
        return RuleError(self.text, message, len(self.text.encode()[:offset].decode("utf-8", "ignore")))

    def grow(self, parts: int, node: ast.AST) -> None:
        self.parts += parts
        if self.parts > MAX_NODES:
            raise self.fail(f"expected at most {MAX_NODES} parts, with every define written out", node)

    def reach(self, depth: int, node: ast.AST) -> None:
        self.depth = max(self.depth, depth)
        if depth > MAX_DEPTH:
            raise self.fail(f"expected at most {MAX_DEPTH} nested parts", node)

    def count_loops(self, loops: int, node: ast.AST) -> None:
        self.loops += loops
        if self.loops > MAX_LOOPS:
            raise self.fail(f"expected at most {MAX_LOOPS} plain loops in a rule", node)

    def kind(self, node: ast.expr, variables: Mapping[str, Kind], depth: int) -> Kind:
        self.reach(depth, node)
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            raise self.fail(f"{type(node).__name__} is not part of the rule language", node)
        result: Kind = method(node, variables, depth + 1)
        return result

    def want(self, node: ast.expr, kind: Kind, variables: Mapping[str, Kind], depth: int) -> None:
        found = self.kind(node, variables, depth)
        if found != kind:
            raise self.fail(f"expected a {kind}, found a {found}", node)

    def want_tensor(self, node: ast.expr, variables: Mapping[str, Kind], depth: int) -> None:
        """Tensors go by their field's own name, so that what is absent can be told before anything is computed."""
        self.want(node, TENSOR, variables, depth)
        if not isinstance(node, ast.Name):
            raise self.fail("expected a tensor field's own name", node)

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
        if not isinstance(node.value, ast.Name):
            raise self.fail("expected FIELD.attribute", node)
        self.want_tensor(node.value, variables, depth)
        if node.attr not in TENSOR_ATTRIBUTES:
            raise self.fail(f"unknown attribute {node.attr!r:.80}; known: {', '.join(TENSOR_ATTRIBUTES)}", node)
        if node.attr != "sizes":
            self.needs.add(f"{node.value.id}.{node.attr}")
        return TENSOR_ATTRIBUTES[node.attr]

    def on_Subscript(self, node: ast.Subscript, variables: Mapping[str, Kind], depth: int) -> Kind:
        sequence = self.kind(node.value, variables, depth)
        if sequence not in _ELEMENT:
            raise self.fail(f"expected something that has elements, found a {sequence}", node)
        self.want(node.slice, NUMBER, variables, depth)
        return _ELEMENT[sequence]

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
                legal = left_kind == right_kind and left_kind != TENSOR
            elif isinstance(op, _ORDER):
                legal = left_kind == right_kind == NUMBER
            elif isinstance(op, _MEMBERSHIP):
                legal = _ELEMENT.get(right_kind) == left_kind
            else:
                raise self.fail("expected == != < <= > >= in or not in", node)
            if not legal:
                raise self.fail(f"cannot compare a {left_kind} with a {right_kind} this way", left)
            left, left_kind = right, right_kind
        return TRUTH

    def on_IfExp(self, node: ast.IfExp, variables: Mapping[str, Kind], depth: int) -> Kind:
        self.want(node.test, TRUTH, variables, depth)
        kind = self.kind(node.body, variables, depth)
        self.want(node.orelse, kind, variables, depth)
        return kind

    def on_Tuple(self, node: ast.Tuple | ast.List, variables: Mapping[str, Kind], depth: int) -> Kind:
        kinds = {self.kind(element, variables, depth) for element in node.elts}
        if kinds not in ({NUMBER}, {WORD}):
            raise self.fail("expected a list of numbers or a list of words", node)
        return NUMBERS if kinds == {NUMBER} else WORDS

    on_List = on_Tuple

    def on_Call(self, node: ast.Call, variables: Mapping[str, Kind], depth: int) -> Kind:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise self.fail("expected function(argument)", node)
        name = node.func.id
        if name in _QUANTIFIERS:
            if len(node.args) != 1 or not isinstance(node.args[0], ast.GeneratorExp):
                raise self.fail(f"expected {name}(condition for d in …)", node)
            self._loop(node.args[0], TRUTH, variables, depth)
            return TRUTH
        if name not in FUNCTIONS:
            raise self.fail(f"unknown function {name!r:.80}; known: {', '.join([*FUNCTIONS, *_QUANTIFIERS])}", node)
        wanted, result = FUNCTIONS[name]
        if len(node.args) != len(wanted):
            raise self.fail(f"{name} takes {len(wanted)} argument(s), found {len(node.args)}", node)
        if name == "present":
            self._present(node.args[0])
            return result
        if name == "value" and isinstance(node.args[0], ast.Name):
            self.needs.add(f"{node.args[0].id}.value")
        for argument, kind in zip(node.args, wanted, strict=True):
            if isinstance(argument, ast.GeneratorExp) and kind == NUMBERS:
                self._loop(argument, NUMBER, variables, depth)
            elif kind == TENSOR:
                self.want_tensor(argument, variables, depth)
            else:
                self.want(argument, kind, variables, depth)
        return result

    def _present(self, node: ast.expr) -> None:
        base = node.value if isinstance(node, ast.Attribute) else node
        if not isinstance(base, ast.Name) or base.id not in self.scope.fields:
            raise self.fail("expected present(FIELD) or present(FIELD.attribute)", node)
        if isinstance(node, ast.Attribute) and node.attr not in TENSOR_ATTRIBUTES:
            raise self.fail(f"unknown attribute {node.attr!r:.80}; known: {', '.join(TENSOR_ATTRIBUTES)}", node)
        self.fields.add(base.id)

    def _loop(self, node: ast.GeneratorExp, body: Kind, variables: Mapping[str, Kind], depth: int) -> None:
        if len(node.generators) != 1 or node.generators[0].is_async:
            raise self.fail("expected one plain loop: … for d in …", node)
        self.count_loops(1, node)
        loop = node.generators[0]
        if not isinstance(loop.target, ast.Name) or loop.target.id in self.scope.fields:
            raise self.fail("expected a loop variable with a name of its own", node)
        sequence = self.kind(loop.iter, variables, depth)
        if sequence not in _ELEMENT:
            raise self.fail(f"expected something to loop over, found a {sequence}", loop.iter)
        inner = {**variables, loop.target.id: _ELEMENT[sequence]}
        for condition in loop.ifs:
            self.want(condition, TRUTH, inner, depth)
        self.want(node.elt, body, inner, depth)
