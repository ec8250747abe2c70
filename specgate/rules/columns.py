"""Compile a resolved operator into a function over columns.

It uses the compiler's translation. Numbers and words that differ between rows are a `Column` and `Words`, whose
operators compute with numpy; `Rows` evaluates conditions, loops and indices. All rows have the same fields, ranks and
lengths of arrays. Rows without an answer, such as those of a function of texts, are checked one by one.
"""

from __future__ import annotations

import ast
import operator
from functools import partial, partialmethod, reduce
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.rules import compile as compiler
from specgate.rules.compile import ERRORS, Builder, Translator, answer, call, check_of, load
from specgate.rules.functions import FUNCTIONS, NEST_LIMIT, bounded_range
from specgate.rules.language import LAYOUT_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.spec.forms import Resolved

#: The largest integer range that float64 represents exactly.
EXACT: Final = 2**53
_INTEGERS: Final = ((np.int32, 2**31), (np.int64, 2**63))
#: Loops with a row-dependent length have at most this many iterations.
_MAX_ITERATIONS: Final = 64
_PYTHON_FUNCTIONS: Final[Mapping[Any, Callable[..., Any]]] = {np.minimum: min, np.maximum: max}
#: Functions of integers; those of floats differ between numpy and Python, also by the order of their arguments.
_INTEGER_FUNCTIONS: Final = {operator.floordiv, operator.mod, *_PYTHON_FUNCTIONS}

Truth = Any  # a bool, or a Column of bools


class Open(Exception):
    """Raised where rows must be checked one by one."""


def _raise_open(*_: Any) -> Any:
    raise Open


def _kind(low: int | None, high: int | None) -> Any:
    """Return the narrowest array type for bounds: 32 bits are twice as fast as 64."""
    if low is None or high is None:
        return np.float64
    return next((kind for kind, end in _INTEGERS if -end <= low and high < end), object)


def apply(left: Any, function: Callable[[Any, Any], Any], right: Any) -> Any:
    """Return left + right, left < right and so on; divisors must not be 0.

    The result is plain where its bounds are equal.
    """
    left, right = _numeric(left), _numeric(right)
    low, high = _bounds(function, left, right)
    if low is not None and low == high:
        return low
    ends = (low, high, left.low, left.high, right.low, right.high)
    kind = np.float64 if None in ends else _kind(min(ends), max(ends))
    return Column(lambda: function(left.data.astype(kind, copy=False), right.data.astype(kind, copy=False)), low, high)


def _bounds(function: Callable[[Any, Any], Any], left: Column, right: Column) -> tuple[Any, Any]:
    """Return the bounds of a result from those of both operands."""
    if left.low is None or right.low is None:
        if function in _INTEGER_FUNCTIONS or any(
            side.low is not None and max(-side.low, side.high) > EXACT for side in (left, right)
        ):
            raise Open  # numpy would round the integers
        return (None, None) if function in {operator.add, operator.sub, operator.mul} else (False, True)
    if function is operator.eq:
        return False, left.low <= right.high and right.low <= left.high
    if function is operator.mod:
        unchanged = left.low >= 0 and left.high < right.low  # such as a size modulo 2**64
        return (left.low, left.high) if unchanged else (min(0, right.low + 1), max(0, right.high - 1))
    ends = (right.low, right.high, *(number for number in (-1, 1) if right.low < number < right.high))
    divisors = [end for end in ends if end or function is not operator.floordiv]
    plain: Any = _PYTHON_FUNCTIONS.get(function, function)
    corners = [plain(a, b) for a in (left.low, left.high) for b in divisors]
    return min(corners), max(corners)


class Column:  # noqa: PLW1641  # __hash__ raises Open
    """A number or truth value per row, computed when it is first needed.

    Often the bounds suffice. low, high: bounds of integers, False and True for truth values, None for floats.
    """

    __slots__ = ("_data", "high", "low")

    def __init__(self, data: NDArray[Any] | Callable[[], NDArray[Any]], low: Any = None, high: Any = None) -> None:
        self._data = data
        self.low = low
        self.high = high

    @property
    def data(self) -> NDArray[Any]:
        """The numbers."""
        if callable(self._data):
            self._data = self._data()
            self._data = self._data.astype(bool, copy=False) if self.low is False else self._data
        return self._data

    def __and__(self, other: Truth) -> Truth:
        if other.__class__ is not Column:
            return self if other else False
        return Column(lambda: self.data & other.data, low=False, high=True)

    def __or__(self, other: Truth) -> Truth:
        if other.__class__ is not Column:
            return True if other else self
        return Column(lambda: self.data | other.data, low=False, high=True)

    def __abs__(self) -> Any:
        return Column(lambda: np.abs(self.data)) if self.low is None else apply(self, np.maximum, -self)

    __rand__, __ror__ = __and__, __or__
    __add__ = __radd__ = partialmethod(apply, operator.add)
    __mul__ = __rmul__ = partialmethod(apply, operator.mul)
    __sub__, __rsub__ = partialmethod(apply, operator.sub), lambda self, other: apply(other, operator.sub, self)
    __neg__: Any = lambda self: 0 - self
    __floordiv__: Any = lambda a, b: apply(a, operator.floordiv, b) if isinstance(b, int) and b else _raise_open()
    __lt__, __le__ = partialmethod(apply, operator.lt), partialmethod(apply, operator.le)
    __gt__, __ge__ = partialmethod(apply, operator.gt), partialmethod(apply, operator.ge)
    __eq__: Any = lambda a, b: apply(a, operator.eq, b) if isinstance(b, Column | int | float) else False
    __ne__: Any = lambda a, b: invert(a == b)
    __bool__ = __hash__ = __index__ = __int__ = __float__ = __iter__ = __len__ = __getattr__ = _raise_open


class Words:  # noqa: PLW1641  # __hash__ raises Open
    """A word per row, as a code.

    words: those that occur, with their codes, which columns of one call share.
    """

    __slots__ = ("codes", "words")

    def __init__(self, codes: NDArray[Any], words: Mapping[Any, int]) -> None:
        self.codes = codes
        self.words = words

    def look_up(self, value_of: Callable[[Any], Any]) -> Any:
        """Return one number or truth value per row, computed from its word."""
        values = [value_of(word) for word in self.words]
        low, high = min(values), max(values)
        table = np.zeros(max(self.words.values()) + 1, np.array(values).dtype)
        table[[*self.words.values()]] = values
        return low if low == high else Column(lambda: table[self.codes], low, high)

    def __eq__(self, other: object) -> Any:
        code = other.codes if isinstance(other, Words) else self.words.get(other)
        return code is not None and Column(lambda: self.codes == code, low=False, high=True)

    __ne__: Any = lambda a, b: invert(a == b)
    __bool__ = __hash__ = __iter__ = __len__ = __getitem__ = __getattr__ = _raise_open


def column(data: NDArray[Any]) -> Any:
    """Return an array as a rule's value, plain where all rows are equal."""
    low, high = (end if data.dtype == object else end.item() for end in (data.min(), data.max()))
    if low == high:
        return low
    if data.dtype.kind == "f":
        return Column(data)
    return Column(data if data.dtype.kind == "b" else lambda: data.astype(_kind(low, high), copy=False), low, high)


def _numeric(value: Any) -> Column:
    """Return a number as a column."""
    if value.__class__ is Column:
        return value
    if not isinstance(value, int | float):
        raise TypeError
    bounds = (value, value) if isinstance(value, int) else (None, None)
    return Column(np.array(value, _kind(*bounds)), *bounds)


def truth(value: Any) -> Truth:
    """Return the truth of a value."""
    if value.__class__ is not Column:
        return bool(value)
    return value if value.low is False else value != 0


def invert(value: Truth) -> Truth:
    """Return `not value`."""
    value = truth(value)
    return Column(lambda: ~value.data, low=False, high=True) if value.__class__ is Column else not value


def _are_sequences(*values: Any) -> bool:
    return all(isinstance(value, tuple | list | range) for value in values)


def equal(left: Any, right: Any) -> Truth:
    """Return whether numbers, words, truth values, or sequences of them are equal."""
    if not _are_sequences(left, right):
        return left == right
    return len(left) == len(right) and reduce(operator.and_, map(equal, left, right), True)


def among(value: Any, allowed: Iterable[Any]) -> Truth:
    """Return whether a value is among others."""
    if value.__class__ is Words:
        return value.look_up(lambda word: word in allowed)
    return reduce(operator.or_, (equal(value, item) for item in allowed), False)


def choose(mask: Truth, left: Any, right: Any) -> Any:
    """Return `left` where the mask is true, else `right`."""
    if mask.__class__ is not Column or left is right:
        return left if mask else right
    if _are_sequences(left, right) and len(left) == len(right):
        return tuple(choose(mask, a, b) for a, b in zip(left, right, strict=True))
    if not all(isinstance(side, Column | int | float) for side in (left, right)):
        raise Open
    left, right = _numeric(left), _numeric(right)
    if (left.low is None) is not (right.low is None):
        raise Open  # an integer on one side, a float on the other
    low, high = (None, None) if left.low is None else (min(left.low, right.low), max(left.high, right.high))
    if low is not None and low == high:
        return low
    return Column(lambda: np.where(mask.data, left.data, right.data), low, high)


def _pick(pick: Any, numbers: Iterable[Any]) -> Any:
    """Return the minimum or maximum of numbers."""
    items = list(numbers)
    columns = any(item.__class__ is Column for item in items)
    return reduce(lambda left, right: apply(left, pick, right), items) if columns else _PYTHON_FUNCTIONS[pick](items)


class Rows:
    """The rows of a block during the checks.

    accepted: rows that have passed so far. left: those for which some check is undecided. open: those for which the
    current check is. masks: the rows for which the current part is evaluated.
    """

    def __init__(self, bits: Mapping[str, int | None]) -> None:
        self.bit_counts = bits
        self.accepted: Truth = True
        self.left: Truth = False
        self.open: Truth = False
        self.masks: list[Column] = []

    def refuse_all(self, test: Callable[[], Truth]) -> bool:
        """Keep the rows that pass a check; return whether none remains."""
        self.open = False
        try:
            passed = truth(test())
        except ERRORS:
            passed = False
        except Open:
            passed = self.open = True
        self.left = self.left | self.open
        self.accepted = self.accepted & (passed | self.open)
        if self.accepted.__class__ is Column and not self.accepted.data.any():
            self.accepted = False
        return self.accepted is False

    def leave(self, where: Truth = True) -> None:
        """Mark evaluated rows for which the current check is undecided."""
        self.open = self.open | reduce(operator.and_, self.masks, where)

    def where(self, mask: Column, part: Callable[[], Any]) -> Any:
        """Return `part` evaluated for the rows of `mask`.

        None where it is undecided for all of these rows.
        """
        self.masks.append(mask)
        try:
            value = part()
        except (*ERRORS, Open):
            value = None
        if value is None:
            self.leave()
        self.masks.pop()
        return value

    def chain(self, decisive: bool, *parts: Callable[[], Any]) -> Truth:
        """Return `and` (decisive: False) or `or`.

        Each part is evaluated for the rows that are not yet decided.
        """
        result: Truth = not decisive
        for part in parts:
            if result.__class__ is not Column:
                value = part()
            elif (value := self.where(invert(result) if decisive else result, part)) is None:
                return result
            result = result | truth(value) if decisive else result & truth(value)
            if result is decisive:
                return result
        return result

    def choice(self, test: Truth, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        """Return `body if test else orelse`."""
        test = truth(test)
        if test.__class__ is not Column:
            return body() if test else orelse()
        left, right = self.where(test, body), self.where(invert(test), orelse)
        if left is right is None:
            raise Open
        return right if left is None else left if right is None else choose(test, left, right)

    def divide(self, kind: str, left: Any, right: Any) -> Any:
        """Return left // right or left % right; undecided for a divisor of 0."""
        if right.__class__ is Column and right.low is not None and right.low <= 0 <= right.high:
            zero = right == 0
            self.leave(zero)
            right = choose(zero, 1, right)
        compute = getattr(operator, kind)
        return apply(left, compute, right) if Column in {left.__class__, right.__class__} else compute(left, right)

    def at(self, sequence: Any, index: Any) -> Any:
        """Return an element of a sequence, per row where the index is a column."""
        if index.__class__ is not Column:
            return compiler.index_safely(sequence, index)
        inside = (index >= 0) & (index < len(sequence))
        if inside is False:
            raise LookupError
        self.leave(invert(inside))
        *others, last = range(max(index.low, 0), min(index.high + 1, len(sequence)))
        return reduce(lambda value, place: choose(index == place, sequence[place], value), others, sequence[last])

    def range(self, stop: Any) -> Sequence[int]:
        """Return the numbers below the largest `stop` of all rows."""
        if stop.__class__ is not Column:
            return bounded_range(stop)
        self.leave(stop > _MAX_ITERATIONS)
        return range(min(stop.high, _MAX_ITERATIONS))

    def loop(self, decisive: bool, items: Any, element: Callable[[Any], Truth]) -> Truth:
        """Return any() (decisive: True) or all() of a loop."""
        if len(items) > NEST_LIMIT:
            raise Open
        return self.chain(decisive, *(partial(element, item) for item in items))

    def bits(self, kind: Any) -> Any:
        """Return the bits of an element."""
        if kind.__class__ is not Words:
            return self.bit_counts[kind]
        self.leave(kind.look_up(lambda word: self.bit_counts.get(word) is None))
        return kind.look_up(lambda word: self.bit_counts.get(word) or 0)


def _on_rows(method: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(load("rows"), method, ast.Load()), list(arguments), [])


def _later(value: ast.expr, *parameters: str) -> ast.expr:
    """Return a lambda that evaluates to a value."""
    arguments = ast.arguments([], [ast.arg(name) for name in parameters], None, [], [], None, [])
    return ast.Lambda(arguments, value)


class _Translator(Translator):
    """Rewrites rules: Python's own control flow becomes calls, which may differ between rows."""

    def on_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        decisive = ast.Constant(isinstance(node.op, ast.Or))
        return _on_rows("chain", decisive, *(_later(self(part)) for part in node.values))

    def on_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return call("_not", self(node.operand)) if isinstance(node.op, ast.Not) else self._children(node)

    def on_BinOp(self, node: ast.BinOp) -> ast.expr:
        if not isinstance(node.op, ast.FloorDiv | ast.Mod):
            return self._children(node)
        return _on_rows("divide", ast.Constant(type(node.op).__name__.lower()), self(node.left), self(node.right))

    def on_IfExp(self, node: ast.IfExp) -> ast.expr:
        return _on_rows("choice", self(node.test), _later(self(node.body)), _later(self(node.orelse)))

    def on_Compare(self, node: ast.Compare) -> ast.expr:
        sides = [node.left, *node.comparators]
        if len(node.ops) > 1:
            links = zip(sides, node.ops, sides[1:], strict=False)
            return self(ast.BoolOp(ast.And(), [ast.Compare(left, [op], [right]) for left, op, right in links]))
        if isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            return self._children(node)
        test = call("_equal" if isinstance(node.ops[0], ast.Eq | ast.NotEq) else "_among", *map(self, sides))
        return call("_not", test) if isinstance(node.ops[0], ast.NotEq | ast.NotIn) else test

    def on_Subscript(self, node: ast.Subscript) -> ast.expr:
        return _on_rows("at", self(node.value), self(node.slice))

    def on_Call(self, node: ast.Call) -> ast.expr:
        name, argument = node.func.id, node.args[0]  # type: ignore[attr-defined]  # checked by parse()
        if name == "up_to":
            return _on_rows("range", self(argument))
        if not isinstance(argument, ast.GeneratorExp) or name in {"min", "max"}:
            return super().on_Call(node)
        loop, tests = _counted(argument.generators[0])
        if name in {"all", "any"}:
            tests = tests if name == "any" else [ast.UnaryOp(ast.Not(), test) for test in tests]
            logic = ast.And() if name == "any" else ast.Or()
            element = ast.BoolOp(logic, [*tests, argument.elt]) if tests else argument.elt
            turns = self.on_GeneratorExp(ast.GeneratorExp(element, [loop]))
            target: ast.Name = turns.generators[0].target  # type: ignore[attr-defined]
            test = _later(turns.elt, target.id)  # type: ignore[attr-defined]
            return _on_rows("loop", ast.Constant(name == "any"), turns.generators[0].iter, test)  # type: ignore[attr-defined]
        element, neutral = ast.Constant(1) if name == "len" else argument.elt, ast.Constant(int(name == "product"))
        for test in reversed(tests):
            element = ast.IfExp(test, element, neutral)
        return call("_product" if name == "product" else "_sum", self(ast.GeneratorExp(element, [loop])))

    def bits(self, kind: ast.expr) -> ast.expr:
        return _on_rows("bits", kind)


def _counted(loop: ast.comprehension) -> tuple[ast.comprehension, list[ast.expr]]:
    """Return a loop without its conditions, and its conditions."""
    iterated, tests = loop.iter, loop.ifs
    if isinstance(iterated, ast.Call) and iterated.func.id == "range":  # type: ignore[attr-defined]
        below = ast.Compare(load(loop.target.id), [ast.Lt()], iterated.args)  # type: ignore[attr-defined]
        iterated, tests = call("up_to", *iterated.args), [below, *tests]  # up to the largest n
    return ast.comprehension(loop.target, iterated, [], 0), tests


class _Builder(Builder):
    translator = _Translator

    def refuse_unless(self, condition: ast.expr) -> None:
        self.out.append(ast.If(_on_rows("refuse_all", _later(condition)), [answer(value=False)], []))

    def any_of(self, parts: list[ast.expr]) -> ast.expr:
        return _on_rows("chain", ast.Constant(value=True), *map(_later, parts))

    def among(self, value: ast.expr, allowed: Iterable[Any]) -> ast.expr:
        return call("_among", value, self.constant(frozenset(allowed)))

    def within(self, value: ast.expr, low: int, high: int | None) -> ast.expr:
        least = ast.Compare(value, [ast.GtE()], [ast.Constant(low)])
        most = ast.Compare(value, [ast.LtE()], [ast.Constant(high)])
        return least if high is None else ast.BinOp(least, ast.BitAnd(), most)


def _numbers(value: Any) -> Any:
    """Return the elements of a constant, None if they may not be numbers."""
    columns = value is not None and any(item.__class__ is Column for item in value)
    return value if columns else compiler.GLOBALS["_numbers"](value)


def _of_plain(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of texts for rows with equal arguments."""
    return lambda *values: _raise_open() if any(isinstance(v, Column | Words) for v in values) else compute(*values)


def compile_columns(resolved: Resolved) -> Callable[[Mapping[str, Any]], tuple[Any, Any]]:
    """Return `f(fields)`, which returns the accepted and the undecided rows.

    Each is a truth value for all rows, or an array.
    """
    builder = _Builder(resolved)
    body = builder.statements()
    functions = {f"_{name}": _of_plain(f.compute) if f.of_texts else f.compute for name, f in FUNCTIONS.items()}
    layout = {f"_{name}": function.columns or function.compute for name, function in LAYOUT_FUNCTIONS.items()}
    scope = {**functions, **layout, **compiler.GLOBALS, **_GLOBALS, **builder.constants}
    check = check_of(body, f"columns of {resolved.spec.name} at {resolved.level}", scope, "fields, rows")

    def check_columns(fields: Mapping[str, Any]) -> tuple[Any, Any]:
        rows = Rows(resolved.spec.dialect.bits)
        with np.errstate(all="ignore"):  # rows that are undecided or not evaluated
            try:
                if not check(fields, rows):
                    return False, False
            except Open:
                return True, True
            except ERRORS:  # a required field is missing
                return False, False
            undecided = rows.accepted & rows.left
            return rows_of(rows.accepted), rows_of(undecided)

    return check_columns


def rows_of(value: Truth) -> Any:
    """Return a truth value for all rows, or an array."""
    return value.data if value.__class__ is Column else value


_GLOBALS: Final[Mapping[str, Any]] = {
    "_among": among,
    "_equal": equal,
    "_not": invert,
    "_numbers": _numbers,
    "_min": partial(_pick, np.minimum),
    "_max": partial(_pick, np.maximum),
    "_int": lambda value: value if value.__class__ is Column and value.low is not None else int(value),
}
