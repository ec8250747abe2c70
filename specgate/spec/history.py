"""How an operator changes over a dialect's levels: stretches at which it is the same, and steps between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from specgate.levels import LevelSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.spec.fields import Bounds, Cell
    from specgate.spec.forms import Resolved
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["Step", "distinct", "in_case", "more_from", "steps"]

Step = Literal["new", "changed"]


def distinct(spec: OperatorSpec) -> Iterator[tuple[str | None, Resolved, LevelSet]]:
    """Yield the operator, case by case, once per stretch of levels at which it is the same, with those levels.

    The first part is the case's condition, None for an operator without cases.
    """
    groups: dict[Any, tuple[Resolved, list[str]]] = {}
    for when, _ in spec.support:
        for level in spec.levels:
            resolved = in_case(spec.resolve(level), when)
            if resolved is not None:
                key = (when, resolved.row, tuple(resolved.fields), resolved.rules)
                groups.setdefault(key, (resolved, []))[1].append(level)
    for (when, *_), (resolved, levels) in groups.items():
        yield when, resolved, LevelSet.of(spec.dialect.levels, levels)


def in_case(resolved: Resolved | None, when: str | None) -> Resolved | None:
    """Return an operator as it is where `when` holds, None where it has no row for that."""
    if resolved is None or when is None:
        return resolved
    return next((case.resolved for case in resolved.cases if case.when.text == when), None)


def steps(spec: OperatorSpec) -> dict[str, Step]:
    """Return the levels at which the operator is new, or is another than at the level before."""
    found: dict[str, Step] = {}
    before: Resolved | None = None
    for level in spec.levels:
        here = spec.resolve(level)
        if here is not None and (before is None or not _same(before, here)):
            found[level] = "new" if before is None else "changed"
        before = here
    return found


def more_from(spec: OperatorSpec, level: str) -> list[str]:
    """Return the levels above `level` at which the operator takes more than at the one before; none where it is gone.

    A rule that changes its words counts as more, one that is only added does not.
    """
    found = []
    before = spec.resolve(level)
    position = spec.dialect.position
    for later in spec.levels if before is not None else ():
        if position[later] > position[level]:
            here = spec.resolve(later)
            if before is not None and here is not None and _takes_more(before, here):
                found.append(later)
            before = here
    return found


def _same(old: Resolved, new: Resolved) -> bool:
    return (
        tuple(old.fields) == tuple(new.fields)
        and old.cells == new.cells
        and old.rules == new.rules
        and [(c.when.text, c.resolved.cells) for c in old.cases] == [(c.when.text, c.resolved.cells) for c in new.cases]
    )


def _takes_more(old: Resolved, new: Resolved) -> bool:
    if new.fields.keys() - old.fields.keys() or not set(old.rules) <= set(new.rules):
        return True
    pairs = [(old.cells, new.cells)]
    for case in new.cases:
        before = in_case(old, case.when.text)
        if before is None:
            return True
        pairs.append((before.cells, case.resolved.cells))
    return any(_cell_takes_more(cell, after.get(name)) for before, after in pairs for name, cell in before.items())


def _cell_takes_more(old: Cell, new: Cell | None) -> bool:
    if new is None:
        return True
    for part in ("types", "values", "operators"):
        before, after = getattr(old, part), getattr(new, part)
        if before is not None and (after is None or set(after) - set(before)):
            return True
    return _wider(old.ranks, new.ranks) or _wider(old.range, new.range)


def _wider(old: Bounds | None, new: Bounds | None) -> bool:
    if old is None or old == new:
        return False
    if new is None or new.high is None:
        return new is None or old.high is not None or new.low < old.low
    if new.only is not None:
        return any(number not in old for number in new.only)
    if new.low not in old or new.high not in old:
        return True
    return old.only is not None and any(number not in old for number in range(new.low, new.high + 1))
