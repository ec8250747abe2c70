"""The functions of the rule language over columns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.rules.column_compare import compared
from specgate.rules.column_values import Broken, Column, Open, Words, both, choose, column, either, is_column, negation
from specgate.rules.language import LAYOUT_FUNCTIONS
from specgate.rules.primitives import bounded_range, power_of_two

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specgate.descriptors.core import TensorDesc
    from specgate.rules.columns import ColumnRules

    #: What a loop gives: each value with the rows that have it; or a value alone, which is no sequence.
    Items = Any

__all__ = ["OF_NUMBERS", "of_tensor", "product_of", "sum_of"]


def of_tensor(rows: ColumnRules, name: str, tensor: TensorDesc | None) -> Any:
    """Return a function of a tensor's type, sizes or constant; None of a field that is left out, as they are."""
    if name == "dims":
        if tensor is None or tensor.sizes is None:
            raise Broken
        return range(len(tensor.sizes))
    if tensor is None:
        if name in {"rank", "type", "elements"}:
            return None
        raise Broken
    if name == "type":
        return tensor.type
    if name == "bits":
        return _bits(rows, tensor.type)
    if name in {"value", "values"}:
        return _constant(name, tensor.value)
    if tensor.sizes is None:
        raise Broken
    if name == "rank":
        return len(tensor.sizes)
    if name == "elements":
        return product_of(rows, tensor.sizes)
    function = LAYOUT_FUNCTIONS[name]
    if function.columns is None:
        raise Open
    return function.columns(rows, _bits(rows, tensor.type) if function.needs_bits else 0, tensor.sizes, tensor.strides)


def _bits(rows: ColumnRules, kind: Any) -> Any:
    known = rows.bits
    if kind.__class__ is not Words:
        bits = known.get(kind)
        if bits is None:
            raise Broken
        return bits
    unknown = kind.among(lambda word: known.get(word) is None)
    if unknown is True:
        raise Broken
    if unknown is not False:
        rows.breaks(unknown)
    return kind.numbers(lambda word: known.get(word) or 0)


def _constant(name: str, value: Any) -> Any:
    """Return the elements of a constant, or the single one; words are none."""
    if value is None or any(not (is_column(item) or isinstance(item, int | float)) for item in value):
        raise Broken
    if name == "values":
        return value
    if len(value) != 1:
        raise Broken
    return value[0]


def _length(_rows: ColumnRules, items: Items) -> Any:
    if not isinstance(items, list):
        raise Broken
    always = sum(kept is True for _, kept in items)
    found: Any = always
    sometimes = [kept for _, kept in items if kept is not True]
    if sometimes:
        data = np.full(len(sometimes[0]), always)
        for kept in sometimes:
            data += kept
        found = column(data)
    return found


def sum_of(rows: ColumnRules, numbers: Iterable[Any]) -> Any:
    """Return the sum, 0 of nothing."""
    return _folded(rows, [(number, True) for number in numbers], ast.Add, 0)


def product_of(rows: ColumnRules, numbers: Iterable[Any]) -> Any:
    """Return the product, 1 of nothing."""
    return _folded(rows, [(number, True) for number in numbers], ast.Mult, 1)


def _folded(rows: ColumnRules, items: Items, kind: type[ast.operator], start: int) -> Any:
    if not isinstance(items, list):
        raise Broken
    found: Any = start
    for item, kept in items:
        value = item if kept is True else choose(kept, item, start)
        found = value if found is start else rows.computed(kind, found, value)
    return found


def _extreme(rows: ColumnRules, items: Items, kind: type[ast.cmpop]) -> Any:
    """Return the least or the greatest; of floats that are no numbers Python returns another one, so none are taken."""
    if not isinstance(items, list) or not items:
        raise Broken
    given: Any = False
    found: Any = None
    for item, kept in items:
        if isinstance(item, float) or (isinstance(item, Column) and item.low is None):
            raise Open
        if found is None:
            found = item
        else:
            better = either(negation(given), compared(kind(), item, found))
            better = both(kept, better)
            found = item if better is True else found if better is False else choose(better, item, found)
        given = either(given, kept)
    if given is not True:
        rows.breaks(negation(given))
    return found


def _range(_rows: ColumnRules, value: Items) -> Any:
    if is_column(value):
        raise Open
    try:
        return bounded_range(value)
    except (TypeError, ValueError) as error:
        raise Broken from error


def _absolute(rows: ColumnRules, value: Items) -> Any:
    if not is_column(value):
        return _plain(abs, value)
    if value.__class__ is Column and value.low is None:
        return Column(np.abs(value.data), None, None)
    return _extreme(rows, [(value, True), (rows.computed(ast.Sub, 0, value), True)], ast.Gt)


def _whole(rows: ColumnRules, value: Items) -> Any:
    if not is_column(value):
        return _plain(int, value)
    if value.__class__ is Column and value.low is None:
        raise Open
    return rows.computed(ast.Add, value, 0)


def _power_of_two(_rows: ColumnRules, value: Items) -> Any:
    if not is_column(value):
        return _plain(power_of_two, value)
    if value.__class__ is not Column or value.low is None or value.beyond is not None:
        raise Open
    return (value.data > 0) & (value.data & (value.data - 1) == 0)


def _plain(compute: Callable[[Any], Any], value: Any) -> Any:
    try:
        return compute(value)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise Broken from error


OF_NUMBERS: Final[Mapping[str, Callable[[ColumnRules, Items], Any]]] = {
    "len": _length,
    "sum": lambda rows, items: _folded(rows, items, ast.Add, 0),
    "product": lambda rows, items: _folded(rows, items, ast.Mult, 1),
    "min": lambda rows, items: _extreme(rows, items, ast.Lt),
    "max": lambda rows, items: _extreme(rows, items, ast.Gt),
    "range": _range,
    "abs": _absolute,
    "int": _whole,
    "power_of_two": _power_of_two,
}
