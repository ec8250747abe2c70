"""Parse rules with Python's parser, then check nodes, names, kinds and size."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from specgate.rules.language import (
    GRAPH,
    GRAPH_ENDS,
    NUMBER,
    NUMBERS,
    OPERATOR,
    OPERATORS,
    TENSOR,
    TENSORS,
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

MAX_NODES: Final = 400
MAX_DEPTH: Final = 40
MAX_LOOPS: Final = 4
MAX_NESTED: Final = 2

_QUANTIFIERS = ("all", "any")
ELEMENT: Final = {NUMBERS: NUMBER, WORDS: WORD, TENSORS: TENSOR}
_COUNTABLE_KINDS = frozenset({NUMBERS, WORDS, TRUTHS, TENSORS, OPERATORS})


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

    def require_kind(self, node: ast.expr, kind: Kind, variables: Mapping[str, Kind], depth: int) -> None:
        text = self.kind(node, variables, depth)
        if text != kind:
            raise self.fail(f"expected a {kind}, found a {text}", node)

    def require_tensor(self, node: ast.expr, variables: Mapping[str, Kind], depth: int) -> None:
        """Require a field's name, so that absence is known before evaluation."""
        self.require_kind(node, TENSOR, variables, depth)
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
            names = ", ".join([*FUNCTIONS, *self.scope.vocabulary.functions, *_QUANTIFIERS])
            raise self.fail(f"unknown function {name!r:.80}; known: {names}", node)
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
                self.require_tensor(argument, variables, depth)
            elif name == "len":
                self._parse_counted(argument, variables, depth)
            else:
                self.require_kind(argument, kind, variables, depth)
                self.one_field(argument, kind)
        return result

    def _parse_counted(self, node: ast.expr, variables: Mapping[str, Kind], depth: int) -> None:
        text = self.kind(node, variables, depth)
        if text not in _COUNTABLE_KINDS:
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
            self.require_tensor(base, variables, depth)
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
            self.require_kind(condition, TRUTH, inner, depth)
        self.require_kind(node.elt, body, inner, depth)
        self.inside -= 1


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


class _LazyRule(Rule):
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
    return _LazyRule(" ".join(text.split()), scope)


def _presence_field(test: ast.expr) -> str | None:
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
        names = sorted({*self.scope.fields, *self.scope.numbers, *self.scope.defines})
        raise self.fail(f"unknown name {name!r:.80}; known here: {', '.join(names)}", node)

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
            self.require_tensor(base, variables, depth)
        attributes = self.scope.tensor_attributes
        if node.attr not in (parts or attributes):
            names = ", ".join(parts or attributes)
            raise self.fail(f"unknown attribute {node.attr!r:.80}; known: {names}", node)
        if parts is not None:
            return NUMBER
        if node.attr != "sizes" and isinstance(base, ast.Name) and base.id not in variables:
            self.needs.add(f"{base.id}.{node.attr}")
        return attributes[node.attr]

    def _fused_member(self, node: ast.Attribute, field: str, variables: Mapping[str, Kind], depth: int) -> Kind:
        """Return the kind of a fused operator's attribute.

        A rule that reads it applies only to operators that have it.
        """
        self.require_kind(node.value, OPERATOR, variables, depth)
        members = self.scope.members[field]
        if node.attr not in members:
            names = ", ".join(members)
            raise self.fail(f"unknown attribute {node.attr!r:.80}; {field} lists these members: {names}", node)
        self.needs.add(f"{field}.{node.attr}")
        return members[node.attr]

    def _graph_end(self, node: ast.Attribute, variables: Mapping[str, Kind], depth: int) -> Kind:
        self.require_kind(node.value, GRAPH, variables, depth)
        if node.attr not in GRAPH_ENDS:
            raise self.fail(f"unknown attribute {node.attr!r:.80}; a graph has: {', '.join(GRAPH_ENDS)}", node)
        return GRAPH_ENDS[node.attr]

    def on_Subscript(self, node: ast.Subscript, variables: Mapping[str, Kind], depth: int) -> Kind:
        sequence = self.kind(node.value, variables, depth)
        if sequence not in ELEMENT:
            raise self.fail(f"expected a sequence, found a {sequence}", node)
        self.one_field(node.value, sequence)
        self.require_kind(node.slice, NUMBER, variables, depth)
        return ELEMENT[sequence]

    def on_BoolOp(self, node: ast.BoolOp, variables: Mapping[str, Kind], depth: int) -> Kind:
        for value in node.values:
            self.require_kind(value, TRUTH, variables, depth)
        return TRUTH

    def on_UnaryOp(self, node: ast.UnaryOp, variables: Mapping[str, Kind], depth: int) -> Kind:
        if isinstance(node.op, ast.Not):
            self.require_kind(node.operand, TRUTH, variables, depth)
            return TRUTH
        if isinstance(node.op, ast.USub):
            self.require_kind(node.operand, NUMBER, variables, depth)
            return NUMBER
        raise self.fail("expected `not` or a minus sign", node)

    def on_BinOp(self, node: ast.BinOp, variables: Mapping[str, Kind], depth: int) -> Kind:
        if not isinstance(node.op, _ARITHMETIC):
            raise self.fail("expected + - * // or %", node)
        self.require_kind(node.left, NUMBER, variables, depth)
        self.require_kind(node.right, NUMBER, variables, depth)
        return NUMBER

    def on_Compare(self, node: ast.Compare, variables: Mapping[str, Kind], depth: int) -> Kind:
        left, left_kind = node.left, self.kind(node.left, variables, depth)
        for op, right in zip(node.ops, node.comparators, strict=True):
            right_kind = self.kind(right, variables, depth)
            if isinstance(op, _EQUALITY):
                is_legal = left_kind == right_kind and left_kind in _COMPARABLE
            elif isinstance(op, _ORDER):
                is_legal = left_kind == right_kind == NUMBER
            elif isinstance(op, _MEMBERSHIP):
                is_legal = ELEMENT.get(right_kind) == left_kind != TENSOR
            else:
                raise self.fail("expected == != < <= > >= in or not in", node)
            if not is_legal:
                raise self.fail(f"cannot compare a {left_kind} with a {right_kind} this way", left)
            left, left_kind = right, right_kind
        return TRUTH

    def on_IfExp(self, node: ast.IfExp, variables: Mapping[str, Kind], depth: int) -> Kind:
        self.require_kind(node.test, TRUTH, variables, depth)
        before = set(self.needs)
        kind = self.kind(node.body, variables, depth)
        if (name := _presence_field(node.test)) is not None:  # `strides[0] if present(strides) else 1` always applies
            self.needs = {path for path in self.needs if path in before or path != name}
        self.require_kind(node.orelse, kind, variables, depth)
        return kind

    def on_Tuple(self, node: ast.Tuple | ast.List, variables: Mapping[str, Kind], depth: int) -> Kind:
        kinds = {self.kind(element, variables, depth) for element in node.elts}
        if kinds not in ({NUMBER}, {WORD}):
            raise self.fail("expected a list of numbers or a list of words", node)
        return NUMBERS if kinds == {NUMBER} else WORDS

    on_List = on_Tuple
