"""Search for the nearest values with which a comparison holds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from specgate.rules.evaluate import Context, Evaluator, Undefined
from specgate.rules.resolving import resolved
from specgate.validate.places import Place, changed, place_of, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.rules.explain import Leaf

__all__ = ["probed", "toggled"]

#: Search range in each direction: every value nearby, then doubling steps.
_NEAR: Final = tuple(range(1, 17))
_FAR: Final = (32, 64, 128, 256, 512, 1024)
MAX_PARTS: Final = 10
_NUMBERS: Final = frozenset({"set", "element", "size", "entry", "member"})


def toggled(leaf: Leaf, context: Context) -> Iterator[tuple[Place, None]]:
    """Yield fields to add or remove where a leaf tests their presence."""
    for node in ast.walk(leaf.node):
        match node:
            case ast.Call(func=ast.Name(id="present"), args=[ast.Name(id=name)]):
                yield Place("given" if context.absent(name) else "absent", name), None


def probed(leaf: Leaf, context: Context) -> Iterator[tuple[Place, int]]:
    """Yield each number of a leaf with the nearest value that satisfies it."""
    for place, value in list(_numbers(leaf.node, context).items())[:MAX_PARTS]:
        number = _nearest(leaf, place, value, context)
        if number is not None:
            yield place, number


def _numbers(node: ast.expr, context: Context) -> dict[Place, int]:
    """Return the integer parts of an expression with their values."""
    numbers_by_place: dict[Place, int] = {}
    waiting = [node]
    while waiting:
        part = resolved(waiting.pop(0), context)
        if isinstance(part, ast.Name) and part.id in context.defines:
            waiting.append(context.defines[part.id].tree)
            continue
        place = place_of(part, context)
        if place is not None and place.kind in _NUMBERS:
            value = value_of(part, context)
            if isinstance(value, int) and not isinstance(value, bool):
                numbers_by_place[place] = value
        elif not isinstance(part, ast.GeneratorExp):
            waiting += [inner for inner in ast.iter_child_nodes(part) if isinstance(inner, ast.expr)]
    return numbers_by_place


def _nearest(leaf: Leaf, place: Place, value: int, context: Context) -> int | None:
    for step in (*_NEAR, *_FAR):
        for tried in (value - step, value + step):
            if _holds(leaf, place, tried, context):
                return _closest(leaf, place, value, tried, context)
    return None


def _closest(leaf: Leaf, place: Place, value: int, number: int, context: Context) -> int:
    """Return the passing number next to a failing one, by bisection."""
    bad = value
    while abs(number - bad) > 1:
        middle = (bad + number) // 2
        if _holds(leaf, place, middle, context):
            number = middle
        else:
            bad = middle
    return number


def _holds(leaf: Leaf, place: Place, value: int, context: Context) -> bool:
    if value < (1 if place.kind == "size" else -(2**31)):
        return False
    try:
        fields = changed(place, value, context.fields)
        answer: Any = Evaluator(Context(fields, context.numbers, context.bits, context.defines)).value(leaf.node, {})
    except (Undefined, TypeError):
        return False
    return answer is leaf.expected
