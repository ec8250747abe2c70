"""Short forms of the rule language: expand them, and find expressions with one."""

from __future__ import annotations

import ast
import re
from functools import reduce
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.rules.functions import FUNCTIONS
from specgate.rules.parse import MAX_NODES
from specgate.rules.show import copy_tree, shown_tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

DEFAULT: Final = "default"
COUNT: Final = "count_present"
SAME_TYPE: Final = "same_type"
#: Names that defines must not use.
RESERVED: Final = frozenset({*FUNCTIONS, "all", "any", DEFAULT, COUNT, SAME_TYPE})
#: The key of a define with parameters.
_WORD: Final = "[A-Za-z_][A-Za-z0-9_]*"
FORMULA: Final = re.compile(rf"({_WORD})\(({_WORD}(?:, *{_WORD})*)\)")
_HINTS: Final = re.compile(r"\[\s*-|\b(?:default|count_present)\s*\(")


class ShorthandError(ValueError):
    """Raised for a short form that cannot be expanded."""


class Formula(NamedTuple):
    """A define with parameters."""

    name: str
    parameters: tuple[str, ...]
    body: str


def formula_of(key: str, body: str) -> Formula | None:
    """Return the define of a key such as ``window(i)``, else None."""
    match = FORMULA.fullmatch(key)
    return Formula(match[1], tuple(re.split(r", *", match[2])), body) if match else None


class Shorthand:
    """Expands the short forms in an operator's expressions.

    formulas: its defines with parameters. optional: the fields that a descriptor may omit. reserved: names that
    parameters and renamed loop variables must not have.
    """

    def __init__(
        self, formulas: Mapping[str, Formula], optional: Collection[str] = (), reserved: Collection[str] = ()
    ) -> None:
        self.formulas = formulas
        self.optional = optional
        self.reserved = reserved
        self._bodies: dict[str, ast.expr] = {}
        self._open: list[str] = []
        names = "|".join(map(re.escape, formulas))
        self._calls = re.compile(rf"\b(?:{names})\b") if names else None

    def written_out(self, text: str) -> str:
        """Return the expression with its short forms expanded.

        Raises ShorthandError.
        """
        if not _HINTS.search(text) and not (self._calls and self._calls.search(text)):
            return text
        tree = _tree(text)
        if tree is None:
            return text
        try:
            plain_tree = _ShorthandExpander(self.optional).visit(_Calls(self, frozenset()).visit(tree))
            return shown_tree(plain_tree)
        except RecursionError:
            raise ShorthandError("the expression is nested too deeply") from None

    def conditions(self, text: str) -> list[str]:
        """Return the conditions of ``same_type(A, B, …)``, or the text alone.

        Required tensors are compared in one condition, and each optional one in a separate condition, which does
        not apply if the tensor is absent.
        """
        match _tree(text) if SAME_TYPE in text else None:
            case ast.Call(func=ast.Name(id="same_type"), args=[_, _, *_] as tensors, keywords=[]):
                names = [shown_tree(tensor) for tensor in tensors]
            case _:
                return [text]
        required = [f"type({name})" for name in names if name not in self.optional or name == names[0]]
        optional = [f"type({name}) == {required[0]}" for name in names[1:] if name in self.optional]
        return [" == ".join(required), *optional] if len(required) > 1 else optional

    def check(self) -> Iterator[tuple[str, str]]:
        """Yield the name and problem of each invalid define with parameters."""
        for name, formula in self.formulas.items():
            try:
                self._check(formula)
                self.body(name)
            except ShorthandError as error:
                yield name, str(error)

    def _check(self, formula: Formula) -> None:
        if formula.name in RESERVED:
            raise ShorthandError(f"the name {formula.name!r:.80} is already the name of a function")
        for name in (formula.name, *formula.parameters):
            if name in self.reserved or (name in self.formulas and name != formula.name):
                raise ShorthandError(
                    f"the name {name!r:.80} is already the name of a field, a limit, a type or another define"
                )
        if len(set(formula.parameters)) < len(formula.parameters):
            raise ShorthandError("expected parameters of different names")
        tree = _tree(formula.body)
        if tree is None:
            raise ShorthandError(f"expected one expression, found {formula.body!r:.80}")
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        unused_parameters = [name for name in formula.parameters if name not in names]
        if unused_parameters:
            raise ShorthandError(f"the parameter {unused_parameters[0]!r:.80} is not used")
        if any(isinstance(n, ast.GeneratorExp) and _targets(n) & set(formula.parameters) for n in ast.walk(tree)):
            raise ShorthandError("expected a loop variable that is not a parameter")

    def body(self, name: str) -> ast.expr:
        """Return the body of a define with parameters, expanded."""
        if name not in self._bodies:
            if name in self._open:
                way = " uses ".join([*self._open[self._open.index(name) :], name])
                raise ShorthandError(f"a define must not reference itself: {way}")
            tree = _tree(self.formulas[name].body)
            if tree is None:
                raise ShorthandError(f"the define {name} is not an expression")
            self._open.append(name)
            try:
                self._bodies[name] = _Calls(self, frozenset()).visit(tree)
            finally:
                self._open.pop()
        return self._bodies[name]


def _tree(text: str) -> ast.expr | None:
    """Return the parsed text, None if it is not an expression.

    The parser of rules reports the error.
    """
    try:
        return ast.parse(" ".join(text.split()), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _free(tree: ast.AST) -> set[str]:
    """Return the free names of an expression."""
    if isinstance(tree, ast.Name):
        return {tree.id}
    names = set().union(*map(_free, ast.iter_child_nodes(tree)), set())
    return names - _targets(tree) if isinstance(tree, ast.GeneratorExp) else names


def _targets(node: ast.AST) -> set[str]:
    loops = node.generators if isinstance(node, ast.GeneratorExp) else []
    return {loop.target.id for loop in loops if isinstance(loop.target, ast.Name)}


class _Calls(ast.NodeTransformer):
    """Replaces calls of defines by their bodies."""

    def __init__(self, shorthand: Shorthand, bound: frozenset[str]) -> None:
        self.shorthand = shorthand
        self.bound = bound

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        inner = _Calls(self.shorthand, self.bound | _targets(node))
        for index, loop in enumerate(node.generators):
            loop.iter = (inner if index else self).visit(loop.iter)
            loop.ifs = [inner.visit(test) for test in loop.ifs]
        node.elt = inner.visit(node.elt)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.shorthand.formulas and node.id not in self.bound:
            formula = self.shorthand.formulas[node.id]
            raise ShorthandError(f"{node.id} needs its arguments: {node.id}({', '.join(formula.parameters)})")
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        node.args = [self.visit(argument) for argument in node.args]
        if name not in self.shorthand.formulas:
            return node
        formula = self.shorthand.formulas[name]
        if len(node.args) != len(formula.parameters) or node.keywords:
            number = len(node.args) + len(node.keywords)
            raise ShorthandError(f"{name} takes {len(formula.parameters)} argument(s), found {number}")
        body = self.shorthand.body(name)
        hidden = (_free(body) - set(formula.parameters)) & self.bound
        if hidden:
            raise ShorthandError(f"the loop variable {min(hidden)!r:.80} hides a name that {name} reads; rename it")
        result = _Arguments(dict(zip(formula.parameters, node.args, strict=True)), self.shorthand.reserved).visit(
            copy_tree(body)
        )
        if sum(1 for _ in ast.walk(result)) > MAX_NODES:
            raise ShorthandError(f"expected at most {MAX_NODES} parts, with every define expanded")
        return result  # type: ignore[no-any-return]


class _Arguments(ast.NodeTransformer):
    """Replaces parameters by arguments.

    Loop variables that would capture a name are renamed.
    """

    def __init__(self, arguments: Mapping[str, ast.expr], reserved: Collection[str]) -> None:
        self.arguments = dict(arguments)
        self.reserved = reserved
        self.read = set().union(*map(_free, arguments.values()), set())

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy_tree(self.arguments[node.id]) if node.id in self.arguments else node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        for old in _targets(node) & self.read:
            new = old
            while new in self.read or new in self.reserved or new in _free(node):
                new += "_"
            renamed, loop = _Arguments({old: ast.Name(new, ast.Load())}, ()), node.generators[0]
            loop.target, loop.ifs = renamed.visit(loop.target), [renamed.visit(test) for test in loop.ifs]
            node.elt = renamed.visit(node.elt)
        return self.generic_visit(node)


class _ShorthandExpander(ast.NodeTransformer):
    """Expands indices from the end, ``default`` and ``count_present``.

    It also removes parentheses within a chain of one operator.
    """

    def __init__(self, optional: Collection[str]) -> None:
        self.optional = optional

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        are_same_kind = [isinstance(v, ast.BoolOp) and type(v.op) is type(node.op) for v in node.values]
        chains = zip(node.values, are_same_kind, strict=True)
        node.values = [part for v, is_chain in chains for part in (v.values if is_chain else [v])]  # type: ignore[attr-defined]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        end = _first_term(node.slice)
        if end is not None:
            node.slice = _from_negative(node.slice, end, length_of(node.value))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == COUNT:
            return self._count(node)
        if not isinstance(node.func, ast.Name) or node.func.id != DEFAULT:
            return node
        if len(node.args) != 2 or node.keywords:
            raise ShorthandError("default takes 2 argument(s): an optional field's value, and the value without it")
        fields = sorted(_free(node.args[0]) & set(self.optional))
        if len(fields) != 1:
            text = ", ".join(fields) or "none"
            raise ShorthandError(
                f"expected default({shown_tree(node.args[0])}, …) to read one optional field, found {text}"
            )
        return ast.IfExp(_presence(ast.Name(fields[0], ast.Load())), node.args[0], node.args[1])

    def _count(self, node: ast.Call) -> ast.expr:
        if not node.args or node.keywords or any(shown_tree(field) not in self.optional for field in node.args):
            raise ShorthandError(f"expected optional fields in {shown_tree(node)}")
        presence_terms = (ast.IfExp(_presence(field), ast.Constant(1), ast.Constant(0)) for field in node.args)
        return reduce(lambda count, term: ast.BinOp(count, ast.Add(), term), presence_terms)  # type: ignore[arg-type, return-value]


def _presence(field: ast.expr) -> ast.Call:
    return ast.Call(ast.Name("present", ast.Load()), [field], [])


def _first_term(index: ast.expr) -> ast.UnaryOp | None:
    """Return the leading negative number of an index from the end.

    None for other indices.
    """
    while isinstance(index, ast.BinOp) and isinstance(index.op, ast.Add | ast.Sub):
        index = index.left
    match index:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))) if number:
            return index
    return None


def _from_negative(index: ast.expr, end: ast.UnaryOp, length: ast.expr) -> ast.expr:
    if index is end:
        return ast.BinOp(length, ast.Sub(), end.operand)
    if isinstance(index, ast.BinOp):
        return ast.BinOp(_from_negative(index.left, end, length), index.op, index.right)
    return index


def length_of(sequence: ast.expr) -> ast.expr:
    """Return the expression for a sequence's length; for sizes it is the rank."""
    sizes = isinstance(sequence, ast.Attribute) and sequence.attr == "sizes"
    operand = sequence.value if sizes and isinstance(sequence, ast.Attribute) else sequence
    return ast.Call(ast.Name("rank" if sizes else "len", ast.Load()), [copy_tree(operand)], [])


class Shortener(ast.NodeTransformer):
    """Replaces expressions by their short forms.

    `replacements` holds each pair of long and short form. optional: the fields without a default that a descriptor may
    omit.
    """

    def __init__(self, optional: Collection[str]) -> None:
        self.optional = optional
        self.replacements: list[tuple[str, str]] = []

    def shorten_text(self, text: str) -> str:
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
        index = _end_offset(node.slice, shown_tree(length_of(node.value)))
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


def _end_offset(index: ast.expr, length: str) -> ast.expr | None:
    """Return ``-1 - d`` for ``rank(X) - 1 - d``, else None."""
    if not isinstance(index, ast.BinOp):
        return None
    if isinstance(index.op, ast.Sub) and shown_tree(index.left) == length and isinstance(index.right, ast.Constant):
        return ast.UnaryOp(ast.USub(), index.right) if index.right.value else None
    left = _end_offset(index.left, length) if isinstance(index.op, ast.Add | ast.Sub) else None
    return None if left is None else ast.BinOp(left, index.op, index.right)
