"""Differences between two sets of tables in what they specify.

Compared are operators, fields, cells, rules and observed behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal

from specgate.levels import LevelSet
from specgate.spec.changes import Detail, field_changes, rule_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.export.reading import Fields, ReadDialect, ReadOperator, ReadSide

__all__ = ["DialectChange", "OperatorChange", "Stretch", "TablesDifference", "compare"]

DIFFERENCE_SCHEMA: Final = "specgate-tables-diff/1"
#: The name of every tensor's rules in rule ids.
_TENSOR: Final = "tensor"


@dataclass(frozen=True, slots=True)
class Stretch:
    """The changes at some levels of an operator.

    side: documented, observed or the name of an implementation.
    """

    levels: str
    side: str
    details: tuple[Detail, ...]


@dataclass(frozen=True, slots=True)
class OperatorChange:
    """The changes of one operator.

    kind: ``words`` if only texts, sources or examples differ. levels: of an added or removed operator.
    """

    operator: str
    kind: Literal["added", "removed", "changed", "words"]
    levels: str = ""
    stretches: tuple[Stretch, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        details = [
            {"levels": one.levels, "side": one.side, "field": each.field, "when": each.when, "what": each.what}
            for one in self.stretches
            for each in one.details
        ]
        return {"operator": self.operator, "change": self.kind, "levels": self.levels, "details": details}


@dataclass(frozen=True, slots=True)
class DialectChange:
    """The changes of a dialect.

    before, after: versions of its tables, None if it has no tables. facts: added, removed and changed levels, types and
    releases.
    """

    name: str
    title: str
    before: str | None
    after: str | None
    facts: tuple[str, ...] = ()
    operators: tuple[OperatorChange, ...] = ()

    def of(self, kind: str) -> list[OperatorChange]:
        """Return the operators with changes of a kind."""
        return [each for each in self.operators if each.kind == kind]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "before": self.before,
            "after": self.after,
            "facts": list(self.facts),
            "operators": [each.to_dict() for each in self.operators],
        }


@dataclass(frozen=True, slots=True)
class TablesDifference:
    """The changes between tables, by the dialects of either."""

    dialects: tuple[DialectChange, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``specgate diff --tables --format json`` prints it."""
        return {"schema": DIFFERENCE_SCHEMA, "dialects": {each.name: each.to_dict() for each in self.dialects}}


def compare(before: Mapping[str, ReadDialect], after: Mapping[str, ReadDialect]) -> TablesDifference:
    """Return the changes between two sets of tables."""
    changes = []
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old is not None and new is not None:
            operators = tuple(_operators(old, new))
            changes.append(DialectChange(name, new.title, old.version, new.version, tuple(_facts(old, new)), operators))
            continue
        only = old or new
        title = only.title if only is not None else name
        changes.append(DialectChange(name, title, old.version if old else None, new.version if new else None))
    return TablesDifference(tuple(changes))


def _facts(old: ReadDialect, new: ReadDialect) -> Iterator[str]:
    """Yield added, removed and changed levels, types and releases."""
    for kind, after in new.facts.items():
        before = old.facts[kind]
        for name in dict.fromkeys([*before, *after]):
            if name not in before or name not in after:
                yield f"{kind} {name} {'added' if name in after else 'removed'}"
                continue
            yield from (f"{kind} {name}: {what}" for what in _entry_changes(before[name], after[name]))


def _entry_changes(before: Any, after: Any, path: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            yield from _entry_changes(before.get(key), after.get(key), f"{path}.{key}" if path else key)
    elif before != after:
        yield f"{path} {_shown(before)} → {_shown(after)}".strip()


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)


def _operators(old: ReadDialect, new: ReadDialect) -> Iterator[OperatorChange]:
    stretches = tuple(_stretches(old.tensor, new.tensor))
    if stretches:
        yield OperatorChange(_TENSOR, "changed", stretches=stretches)
    for name in sorted({*old.operators, *new.operators}):
        before, after = old.operators.get(name), new.operators.get(name)
        if before is None or after is None:
            there = before or after
            levels = str(LevelSet.of(there.order, there.at)) if there is not None else ""
            yield OperatorChange(name, "added" if before is None else "removed", levels)
            continue
        stretches = tuple(_stretches(before, after))
        if stretches:
            yield OperatorChange(name, "changed", stretches=stretches)
        elif before.whole != after.whole:
            yield OperatorChange(name, "words")


def _stretches(old: ReadOperator, new: ReadOperator) -> Iterator[Stretch]:
    """Yield the changes, grouped by equal levels and sides."""
    levels: dict[tuple[str, Detail], list[str]] = {}
    for level in new.order:
        for side, detail in _at(old, new, level):
            levels.setdefault((side, detail), []).append(level)
    groups: dict[tuple[str, str], list[Detail]] = {}
    for (side, detail), texts in levels.items():
        groups.setdefault((str(LevelSet.of(new.order, texts)), side), []).append(detail)
    for (held_at, side), details in groups.items():
        yield Stretch(held_at, side, tuple(details))
    whole = str(LevelSet.of(new.order, [level for level in new.order if level in new.at]))
    details = [*_define_changes(old.defines, new.defines), *_recipe_changes(old, new)]
    if details:
        yield Stretch(whole, "documented", tuple(details))
    for builds, sign, what in chain(_notes(old, new, "-"), _notes(new, old, "+")):
        yield Stretch(builds, "observed", (Detail(f"different results {sign} {what}"),))


def _at(old: ReadOperator, new: ReadOperator, level: str) -> Iterator[tuple[str, Detail]]:
    """Yield the changes at a level, by side.

    A level that the older tables lack is compared with its predecessor.
    """
    at = level
    if level not in old.order:
        known = [one for one in new.order[: new.order.index(level)] if one in old.order]
        at = known[-1] if known else level
    before, after = old.at.get(at), new.at.get(level)
    if before is None or after is None:
        if before is not after:
            yield "documented", Detail("operator added" if before is None else "operator removed")
        return
    page = list(_side_changes(before["documented"], after["documented"]))
    yield from (("documented", detail) for detail in page)
    builds = list(_side_changes(before["observed"], after["observed"]))
    yield from (("observed", detail) for detail in builds if detail not in page)
    for by in dict.fromkeys([*before, *after]):
        if by not in {"documented", "observed"}:
            alone = _side_changes(before.get(by, before["observed"]), after.get(by, after["observed"]))
            yield from ((by, detail) for detail in alone if detail not in builds)


def _side_changes(old: ReadSide, new: ReadSide) -> Iterator[Detail]:
    if old == new:
        return
    yield from field_changes(old.whole, new.whole)
    yield from _about_changes(old.whole, new.whole)
    for when in dict.fromkeys([*old.cases, *new.cases]):
        before, after = old.cases.get(when), new.cases.get(when)
        if before is None or after is None:
            yield Detail("added" if before is None else "removed", when=when)
            continue
        yield from (Detail(each.what, each.field, when) for each in field_changes(before, after))
    yield from rule_changes(old.rules, new.rules)


def _about_changes(old: Fields, new: Fields) -> Iterator[Detail]:
    for name, about in new.fields.items():
        if name in old.fields:
            yield from (Detail(what, name) for what in _entry_changes(old.fields[name], about))


def _define_changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Detail]:
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            yield Detail(f"define {name}: {_shown(old.get(name))} → {_shown(new.get(name))}")


def _recipe_changes(old: ReadOperator, new: ReadOperator) -> Iterator[Detail]:
    for what in _entry_changes(old.recipe, new.recipe):
        yield Detail(f"computes {what}")


def _notes(one: ReadOperator, other: ReadOperator, sign: str) -> Iterator[tuple[str, str, str]]:
    yield from ((builds, sign, what) for builds, what in one.noted if (builds, what) not in other.noted)
