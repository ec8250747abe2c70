"""Every table with exactly one change: rules removed or shifted, rows, cells."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, Any

from specgate.spec.dialect_spec import Dialect
from specgate.spec.forms import rule_forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["mutants"]

_TURNED: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE,),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE,),
    ast.GtE: (ast.Gt,),
    ast.Eq: (ast.GtE, ast.LtE, ast.NotEq),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}


def mutants(table: Dialect, operator: str) -> Iterator[tuple[str, Dialect]]:
    """Yield (change, changed dialect) for one operator and the shared tensor rules."""

    def changed(change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Dialect:
        kept = {**table.tables.entries, "operators": {operator: table.tables.operators[operator]}}
        raw = copy.deepcopy(kept)
        raw |= {"operators": {**table.tables.operators, **raw["operators"]}, "counted": {}}
        change(raw["operators"][operator], raw)
        return Dialect(table.name, raw)

    spec = table.tables.operators[operator]
    for name in spec["rules"]:
        yield from _rule_mutants(name, spec["rules"][name], table, lambda raw, _: raw["rules"], changed)
    shared = table.tables.tensor.rules
    for name in shared:
        yield from _rule_mutants(
            name, rule_forms(shared[name]), table, lambda _, whole: whole["tensor"]["rules"], changed
        )
    yield from _row_mutants(spec, table, changed)


def _rule_mutants(
    name: str, forms: list[dict[str, Any]], table: Dialect, rules: Callable[..., Any], changed: Callable[..., Dialect]
) -> Iterator[tuple[str, Dialect]]:
    def replace_at(index: int, **parts: Any) -> Dialect:
        def change(raw: dict[str, Any], whole: dict[str, Any]) -> None:
            rules(raw, whole)[name] = [{**f, **parts} if i == index else f for i, f in enumerate(forms)]

        return changed(change)

    def without(index: int) -> Dialect:
        def change(raw: dict[str, Any], whole: dict[str, Any]) -> None:
            rest = [form for i, form in enumerate(forms) if i != index]
            if rest:
                rules(raw, whole)[name] = rest
            else:
                del rules(raw, whole)[name]

        return changed(change)

    for index, form in enumerate(forms):
        yield f"rule {name}[{index}] dropped", without(index)
        for text in dict.fromkeys(_turn(form["require"])):
            yield f"rule {name}[{index}] is {text}", replace_at(index, require=text)
        for key in ("since", "until"):
            for shifted in _neighbours(table, form[key]) if key in form else ():
                yield f"rule {name}[{index}] {key} {shifted}", replace_at(index, **{key: shifted})


def _neighbours(table: Dialect, level: str) -> Iterator[str]:
    at = table.position[level]
    yield from (table.levels[i] for i in (at - 1, at + 1) if 0 <= i < len(table.levels))


def _turn(text: str) -> Iterator[str]:
    """Yield the expression with one operator or one number changed."""
    count = sum(1 for _ in ast.walk(ast.parse(text, mode="eval")))
    for position in range(count):
        tree = ast.parse(text, mode="eval")
        node = list(ast.walk(tree))[position]
        if isinstance(node, ast.Compare):
            for i, op in enumerate(node.ops):
                for other in _TURNED.get(type(op), ()):
                    kept, node.ops[i] = node.ops[i], other()
                    yield ast.unparse(tree)
                    node.ops[i] = kept
        elif isinstance(node, ast.BoolOp):
            node.op = _TURNED[type(node.op)][0]()
            yield ast.unparse(tree)
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            for step in (1, -1):
                node.value += step
                yield ast.unparse(tree)
                node.value -= step


def _row_mutants(
    spec: dict[str, Any], table: Dialect, changed: Callable[..., Dialect]
) -> Iterator[tuple[str, Dialect]]:
    rows = list(spec["support"])
    for level in rows:
        if len(rows) > 1:
            yield f"row {level} dropped", changed(lambda raw, _, at=level: raw["support"].pop(at))
        for shifted in _neighbours(table, level):
            if shifted not in rows:
                yield f"row {level} moved to {shifted}", changed(lambda raw, _, a=level, b=shifted: _move(raw, a, b))
        for name, cell in spec["support"][level].items():
            for what, new in _cell_mutants(cell, table):
                yield (
                    f"row {level} {name} {what}",
                    changed(lambda raw, _, at=level, n=name, c=new: raw["support"][at].__setitem__(n, c)),
                )


def _move(raw: dict[str, Any], old: str, new: str) -> None:
    raw["support"] = {new if level == old else level: row for level, row in raw["support"].items()}


def _cell_mutants(cell: dict[str, Any], table: Dialect) -> Iterator[tuple[str, dict[str, Any]]]:
    types = cell.get("types")
    if isinstance(types, list):
        for name in types:
            yield f"without {name}", {**cell, "types": [t for t in types if t != name]}
        for name in table.types:
            if name not in types:
                yield f"with {name}", {**cell, "types": [*types, name]}
    elif types == "any":
        yield "with one type", {**cell, "types": [next(iter(table.types))]}
    if isinstance(cell.get("ranks"), list):
        low, high = cell["ranks"]
        for what, ranks in (("higher", [low, high + 1]), ("from one more", [low + 1, max(high, low + 1)])):
            yield f"ranks {what}", {**cell, "ranks": ranks}
        yield "without ranks", {k: v for k, v in cell.items() if k != "ranks"}
