"""Compile a resolved operator into a function over columns.

It uses the compiler's translation (`compile`, `translate`). A part whose value may differ between rows becomes a call
of a function of `column_values` or of `Rows`, which tracks the rows for which a part is evaluated. All rows have the
same fields, ranks and lengths of arrays.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.rules import column_values
from specgate.rules.column_values import Column, Open, Words, both, choose, either, is_column, negation
from specgate.rules.compile import Builder, Translator, answer, call, check_of, load
from specgate.rules.functions import FUNCTIONS, LOOP_LIMIT, NEST_LIMIT, bounded_range, power_of_two
from specgate.rules.language import LAYOUT_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.spec.forms import Resolved

__all__ = ["Rows", "compile_columns"]

#: Loops with a row-dependent length are unrolled up to this length.
_MOST_TURNS: Final = 64
#: The value of parts without one: a check rejects it.
_ERRORS: Final = (LookupError, TypeError, ArithmeticError, ValueError, AttributeError)

Truth = Any  # a bool, or an array with one bool per row


def compile_columns(resolved: Resolved) -> Callable[[Mapping[str, Any], int], tuple[Truth, Truth]]:
    """Return `f(fields, count)`, which returns accepted and undecided rows."""
    builder = _Builder(resolved)
    body = builder.statements()
    functions = {f"_{name}": partial(_plainly, function.compute) for name, function in FUNCTIONS.items()}
    scope = {**functions, **_GLOBALS, **builder.constants}
    check = check_of(body, f"columns of {resolved.spec.name} at {resolved.level}", scope, "fields, rows")

    def check_columns(fields: Mapping[str, Any], count: int) -> tuple[Truth, Truth]:
        rows = Rows(count, resolved.spec.dialect.bits)
        try:
            with np.errstate(all="ignore"):  # rows that are undecided or not evaluated
                if not check(fields, rows):
                    return False, False
        except _ERRORS:  # a required field is missing
            return False, False
        return rows.accepted, both(rows.accepted, rows.left)

    return check_columns


class Rows:
    """The rows of a block during the checks.

    accepted: rows that have passed so far. left: those of them for which some check is undecided. broken, open: rows
    for which the current check has an undefined or unknown value. conditions: the rows for which the current part is
    evaluated.
    """

    def __init__(self, count: int, bits: Mapping[str, int | None]) -> None:
        self.count = count
        self.bit_counts = bits
        self.accepted: Truth = True
        self.left: Truth = False
        self.broken: Truth = False
        self.open: Truth = False
        self.conditions: list[tuple[NDArray[np.bool_], bool]] = []
        self.kept: dict[str, Any] = {}

    def refuse_all(self, test: Callable[[], Truth]) -> bool:
        """Keep the rows that pass a check; return whether none remains."""
        try:
            passed = _truth(test())
        except _ERRORS:
            passed = False
        except Open:
            passed = self.open = True
        passed = either(both(passed, negation(self.broken)), self.open)
        self.left = either(self.left, self.open)
        self.broken = self.open = False
        self.accepted = both(self.accepted, passed)
        return self.accepted is False or (self.accepted is not True and not self.accepted.any())

    def _condition(self, where: Truth) -> Truth:
        for mask, negated in self.conditions:
            where = both(where, ~mask if negated else mask)
        return where

    def leave(self, where: Truth = True) -> None:
        """Mark evaluated rows for which the current check is undecided."""
        self.open = either(self.open, self._condition(where))

    def refuse(self, where: Truth = True) -> None:
        """Mark evaluated rows for which a value is undefined."""
        self.broken = either(self.broken, self._condition(where))

    def where(self, mask: NDArray[np.bool_], part: Callable[[], Any], *, negated: bool = False) -> Any:
        """Return `part` evaluated for the rows of `mask`, or the others.

        None where it is undecided for all of these rows.
        """
        self.conditions.append((mask, negated))
        try:
            return part()
        except _ERRORS:
            self.refuse()
        except Open:
            self.leave()
        finally:
            self.conditions.pop()
        return None

    def cache_once(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return the cached result of `compute`.

        A result that left rows undecided is not cached.
        """
        if key in self.kept:
            return self.kept[key]
        before = self.broken, self.open
        value = compute()
        if self.broken is before[0] and self.open is before[1]:
            self.kept[key] = value
        return value

    def chain(self, decisive: bool, *parts: Callable[[], Any]) -> Truth:
        """Return `and` (decisive: False) or `or`.

        Each part is evaluated for the rows that are not yet decided.
        """
        result: Truth = not decisive
        for part in parts:
            if isinstance(result, bool):
                result = _truth(part())
            else:
                truth = self.where(result, part, negated=decisive)
                if truth is None:
                    return result
                result = either(result, _truth(truth)) if decisive else both(result, _truth(truth))
            if result is decisive:
                return result
        return result

    def choice(self, test: Truth, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        """Return `body if test else orelse`."""
        test = _truth(test)
        if isinstance(test, bool):
            return body() if test else orelse()
        left, right = self.where(test, body), self.where(test, orelse, negated=True)
        if left is None or right is None:
            if left is right:
                raise Open  # marks all of them: too many undecided rows do no harm
            return right if left is None else left
        return choose(test, left, right)

    def compare(self, left: Any, *links: tuple[str, Callable[[], Any]]) -> Truth:
        """Return a chain of comparisons."""
        before = [left]

        def link(kind: str, part: Callable[[], Any]) -> Truth:
            before.append(part())
            return column_values.compare(kind, *before[-2:])

        return self.chain(False, *(partial(link, *each) for each in links))

    def divide(self, kind: str, left: Any, right: Any) -> Any:
        """Return left // right or left % right; undefined for a divisor of 0."""
        if (
            isinstance(right, Column)
            and right.low is not None
            and right.high is not None
            and right.low <= 0 <= right.high
        ):
            zero = right.data == 0
            self.refuse(zero)
            right = Column(np.where(zero, right.data.dtype.type(1), right.data), min(right.low, 1), max(right.high, 1))
        return column_values.arithmetic(kind, left, right)

    def at(self, sequence: Any, index: Any) -> Any:
        """Return an element of a sequence, per row where the index is a column."""
        if not isinstance(index, Column):
            if not 0 <= index < len(sequence):
                raise LookupError
            return sequence[index]
        if index.low is None or index.high is None:
            raise Open
        if index.high < 0 or index.low >= len(sequence):
            raise LookupError
        if index.low < 0 or index.high >= len(sequence):
            self.refuse((index.data < 0) | (index.data >= len(sequence)))
        first, last = max(index.low, 0), min(index.high, len(sequence) - 1)
        value = sequence[last]
        for place in range(first, last):
            value = choose(index.data == place, sequence[place], value)
        return value

    def turns(self, stop: Any) -> Sequence[tuple[int, Truth]]:
        """Return the iterations of a loop over range(stop), with their rows."""
        if not isinstance(stop, Column):
            return items(bounded_range(stop))
        if stop.low is None or stop.high is None:
            raise Open
        if stop.high > _MOST_TURNS:
            self.leave(stop.data > _MOST_TURNS)
        turns = range(min(stop.high, _MOST_TURNS, LOOP_LIMIT))
        return [(turn, turn < stop.low or stop.data > turn) for turn in turns]

    def kept_by(self, test: Callable[[Any], Truth] | None, item: Any, going: Truth) -> Truth:
        """Return the rows for which an iteration counts."""
        return going if test is None else self.chain(False, lambda: going, lambda: test(item))

    def quantify(
        self, decisive: bool, turns: Any, test: Callable[[Any], Truth] | None, element: Callable[[Any], Truth]
    ) -> Truth:
        """Return any() (decisive: True) or all() of a loop."""

        def turn(item: Any, going: Truth) -> Truth:
            kept = self.kept_by(test, item, going)
            kept = kept if decisive else negation(kept)
            return self.chain(not decisive, lambda: kept, lambda: element(item))

        return self.chain(decisive, *(partial(turn, *each) for each in turns))

    def collect(self, turns: Any, test: Callable[[Any], Truth] | None, element: Callable[[Any], Any]) -> Collected:
        """Return the values of a loop, each with its rows."""
        collected = Collected()
        for item, going in turns:
            kept = self.kept_by(test, item, going)
            if kept is False:
                continue
            value = element(item) if kept is True else self.where(kept, partial(element, item))
            if value is not None:
                collected.append((value, kept))
        return collected

    def extreme(self, kind: str, several: Any) -> Any:
        """Return the minimum or maximum.

        Floats are undecided, because Python's result depends on their order.
        """
        value: Any = None
        present: Truth = False
        for item, kept in _pairs(several):
            if isinstance(item, float) or (isinstance(item, Column) and item.low is None):
                raise Open
            if value is None:
                value = item
            else:
                better = both(kept, either(negation(present), column_values.compare(kind, item, value)))
                value = item if better is True else value if better is False else choose(better, item, value)
            present = either(present, kept)
        if value is None:
            raise ValueError
        self.refuse(negation(present))
        return value

    def bits(self, kind: Any) -> Any:
        """Return the bits of an element."""
        if kind.__class__ is not Words:
            return _known_value(self.bit_counts.get(kind))
        self.refuse(kind.among(lambda word: self.bit_counts.get(word) is None))
        return kind.numbers(lambda word: self.bit_counts.get(word) or 0)

    def layout(self, name: str, kind: Any, sizes: Any, strides: Any) -> Any:
        """Return a registered layout function of a tensor."""
        function = LAYOUT_FUNCTIONS[name]
        if function.columns is None:
            raise Open
        return function.columns(self, self.bits(kind) if function.needs_bits else 0, sizes, strides)


class Collected(list[tuple[Any, Truth]]):
    """The values of a loop, each with its rows."""


def items(sequence: Any) -> list[tuple[Any, Truth]]:
    """Return the iterations of a loop over a sequence."""
    if len(sequence) > NEST_LIMIT:
        raise Open
    return [(item, True) for item in sequence]


def _pairs(several: Any) -> Iterable[tuple[Any, Truth]]:
    return several if isinstance(several, Collected) else [(item, True) for item in several]


def _kept_values(several: Any, neutral: int) -> Iterable[Any]:
    """Yield the values per row, `neutral` in rows without the value."""
    for value, kept in _pairs(several):
        yield value if kept is True else choose(kept, value, neutral)


def _length(several: Any) -> Any:
    return (
        len(several)
        if not isinstance(several, Collected)
        else column_values.total(_kept_values(Collected((1, kept) for _, kept in several), 0))
    )


def _truth(value: Any) -> Truth:
    """Return the truth of a value; rules only test other values for truth."""
    return bool(value) if isinstance(value, int) else value


def _known_value(value: Any) -> Any:
    if value is None:
        raise ValueError
    return value


def _numbers(value: Any) -> Any:
    """Return the elements of a constant, None if they are not numbers."""
    numeric = value is not None and all(is_column(item) or isinstance(item, int | float) for item in value)
    return value if numeric else None


def _single(value: Any) -> Any:
    [item] = _known_value(_numbers(value))
    return item


def _plainly(compute: Callable[..., Any], *arguments: Any) -> Any:
    """Return a function of plain values, common to all rows."""
    if any(isinstance(argument, Column | Words | np.ndarray) for argument in arguments):
        raise Open
    return compute(*arguments)


def _is_whole(value: Any) -> bool:
    return value.__class__ is np.ndarray or (value.__class__ is Column and value.low is not None)


def _absolute(value: Any) -> Any:
    if not is_column(value):
        return abs(value)
    negative = column_values.arithmetic("Sub", 0, value)
    if _is_whole(value):
        return choose(column_values.compare("Lt", value, 0), negative, value)
    return Column(np.abs(value.data))


def _power_of_two(value: Any) -> Truth:
    if not _is_whole(value):
        return _plainly(power_of_two, value)
    return (value.data > 0) & (value.data & (value.data - 1) == 0)


#: Columnar functions.
FORMS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "product": lambda several: column_values.product(_kept_values(several, 1)),
    "sum": lambda several: column_values.total(_kept_values(several, 0)),
    "len": _length,
    "abs": _absolute,
    "int": lambda value: value if _is_whole(value) else _plainly(int, value),
    "power_of_two": _power_of_two,
}
_GLOBALS: Final[Mapping[str, Any]] = {
    "_given": _known_value,
    "_numbers": _numbers,
    "_single": _single,
    "_items": items,
    "_among": column_values.among,
    "_within": column_values.within,
    "_arithmetic": column_values.arithmetic,
    "_compare": column_values.compare,
    "_not": lambda value: negation(_truth(value)),
    **{f"_{name}": form for name, form in FORMS.items()},
}


def _on_rows(method: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(load("rows"), method, ast.Load()), list(arguments), [])


def _later(value: ast.expr, *parameters: str) -> ast.expr:
    """Return a lambda that evaluates to a value."""
    arguments = ast.arguments([], [ast.arg(name) for name in parameters], None, [], [], None, [])
    return ast.Lambda(arguments, value)


class _Translator(Translator):
    """Rewrites rules: parts that may differ between rows become calls."""

    def on_Name(self, node: ast.Name) -> ast.expr:
        written = super().on_Name(node)
        if node.id in self.variables or node.id not in self.builder.resolved.spec.scope.defines:
            return written
        return _on_rows("cache_once", ast.Constant(node.id), _later(written))

    def on_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        decisive = ast.Constant(isinstance(node.op, ast.Or))
        return _on_rows("chain", decisive, *(_later(self(part)) for part in node.values))

    def on_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self(node.operand)
        if isinstance(node.op, ast.Not):
            return call("_not", operand)
        if isinstance(operand, ast.Constant):
            return ast.UnaryOp(node.op, operand)
        return call("_arithmetic", ast.Constant("Sub"), ast.Constant(0), operand)

    def on_BinOp(self, node: ast.BinOp) -> ast.expr:
        kind = type(node.op).__name__
        sides = ast.Constant(kind), self(node.left), self(node.right)
        return _on_rows("divide", *sides) if kind in {"FloorDiv", "Mod"} else call("_arithmetic", *sides)

    def on_IfExp(self, node: ast.IfExp) -> ast.expr:
        return _on_rows("choice", self(node.test), _later(self(node.body)), _later(self(node.orelse)))

    def on_Compare(self, node: ast.Compare) -> ast.expr:
        kinds = [ast.Constant(type(op).__name__) for op in node.ops]
        left, rest = self(node.left), [self(part) for part in node.comparators]
        if len(kinds) == 1:
            return call("_compare", kinds[0], left, rest[0])
        links = [ast.Tuple([kind, _later(part)], ast.Load()) for kind, part in zip(kinds, rest, strict=True)]
        return _on_rows("compare", left, *links)

    def on_Subscript(self, node: ast.Subscript) -> ast.expr:
        return _on_rows("at", self(node.value), self(node.slice))

    def on_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return _on_rows("collect", *self._loop(node))

    def on_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id  # type: ignore[attr-defined]  # checked by parse()
        argument = node.args[0]
        if name in {"all", "any"}:
            return _on_rows("quantify", ast.Constant(name == "any"), *self._loop(argument))  # type: ignore[arg-type]
        if name in {"min", "max"}:
            return _on_rows("extreme", ast.Constant("Lt" if name == "min" else "Gt"), self(argument))
        if name == "len":
            return call("_len", self(argument))
        return super().on_Call(node)

    def _loop(self, node: ast.GeneratorExp) -> tuple[ast.expr, ast.expr, ast.expr]:
        """Return a loop's iterations, its filter and its element as functions."""
        loop = node.generators[0]
        counted = isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", "") == "range"
        turns = (
            _on_rows("turns", self(loop.iter.args[0]))  # type: ignore[attr-defined]
            if counted
            else call("_items", self(loop.iter))
        )
        variable: str = loop.target.id  # type: ignore[attr-defined]
        outer, self.variables = self.variables, self.variables | {variable}
        tests = [_later(self(test)) for test in loop.ifs]
        element = _later(self(node.elt), f"v_{variable}")
        self.variables = outer
        if not tests:
            return turns, ast.Constant(None), element
        return turns, _later(_on_rows("chain", ast.Constant(value=False), *tests), f"v_{variable}"), element

    def layout(self, name: str, kind: ast.expr, sizes: ast.expr, strides: ast.expr) -> ast.expr:
        return _on_rows("layout", ast.Constant(name), kind, sizes, strides)

    def bits(self, kind: ast.expr) -> ast.expr:
        return _on_rows("bits", kind)


class _Builder(Builder):
    translator = _Translator

    def refuse_unless(self, condition: ast.expr) -> None:
        self.out.append(ast.If(_on_rows("refuse_all", _later(condition)), [answer(value=False)], []))

    def any_of(self, parts: list[ast.expr]) -> ast.expr:
        return _on_rows("chain", ast.Constant(value=True), *map(_later, parts))

    def among(self, value: ast.expr, allowed: Iterable[Any]) -> ast.expr:
        return call("_among", value, self.constant(frozenset(allowed)))

    def within(self, value: ast.expr, low: int, high: int | None) -> ast.expr:
        return call("_within", value, ast.Constant(low), ast.Constant(high))

    def require(self, tree: ast.expr, guards: list[ast.expr], translate: Translator) -> None:
        self.refuse_unless(self.any_of([*guards, translate(tree)]))
