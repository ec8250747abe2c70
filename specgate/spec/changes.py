"""Changes of an operator across levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from specgate.errors import InputError
from specgate.levels import LevelSet
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import Bounds, Cell
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.targets import Target

Step = Literal["new", "changed"]


def iterate_distinct(spec: OperatorSpec) -> Iterator[tuple[str | None, Resolved, LevelSet]]:
    """Yield each distinct version of the operator, per case, with its levels.

    The first item is the case's condition, None for an operator without cases.
    """
    groups: dict[Any, tuple[Resolved, list[str]]] = {}
    for condition, _ in spec.support:
        for level in spec.levels:
            resolved = resolve_case(spec.resolve(level), condition)
            if resolved is not None:
                key = (condition, resolved.row, tuple(resolved.fields), resolved.rules)
                groups.setdefault(key, (resolved, []))[1].append(level)
    for (condition, *_), (resolved, levels) in groups.items():
        yield condition, resolved, LevelSet.of(spec.dialect.levels, levels)


def resolve_case(resolved: Resolved | None, later_level: str | None) -> Resolved | None:
    """Return the operator in the case of `later_level`, None without such a row."""
    if resolved is None or later_level is None:
        return resolved
    return next((case.resolved for case in resolved.cases if case.when.text == later_level), None)


def steps(spec: OperatorSpec) -> dict[str, Step]:
    """Return the levels at which the operator appears or changes."""
    texts_by_name: dict[str, Step] = {}
    before: Resolved | None = None
    for level in spec.levels:
        resolved = spec.resolve(level)
        if resolved is not None and (before is None or not _is_same_version(before, resolved)):
            texts_by_name[level] = "new" if before is None else "changed"
        before = resolved
    return texts_by_name


def more_from(spec: OperatorSpec, level: str) -> list[str]:
    """Return later levels that accept more than the level before each.

    Empty where the operator does not exist at `level`. A changed rule counts as accepting more, an added rule does not.
    """
    texts = []
    before = spec.resolve(level)
    position = spec.dialect.position
    for change in spec.levels if before is not None else ():
        if position[change] > position[level]:
            resolved = spec.resolve(change)
            if before is not None and resolved is not None and _accepts_more(before, resolved):
                texts.append(change)
            before = resolved
    return texts


def _is_same_version(old: Resolved, new: Resolved) -> bool:
    return (
        tuple(old.fields) == tuple(new.fields)
        and old.cells == new.cells
        and old.rules == new.rules
        and [(c.when.text, c.resolved.cells) for c in old.cases] == [(c.when.text, c.resolved.cells) for c in new.cases]
    )


def _accepts_more(old: Resolved, new: Resolved) -> bool:
    if new.fields.keys() - old.fields.keys() or not set(old.rules) <= set(new.rules):
        return True
    pairs = [(old.cells, new.cells)]
    for case in new.cases:
        before = resolve_case(old, case.when.text)
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


@dataclass(frozen=True, slots=True)
class Detail:
    """One change of an operator.

    what: ``types +INT64``, ``ranks 4 → 1 to 8``, ``added``; for a rule or behavior its name and both sides. field:
    whose cell changes, None for rules, behavior and whole cases. when: the only case that changes.
    """

    what: str
    field: str | None = None
    when: str | None = None

    def __str__(self) -> str:
        return ": ".join(part for part in (self.when, self.field, self.what) if part)


@dataclass(frozen=True, slots=True)
class Change:
    """The changes of one operator."""

    operator: str
    kind: Literal["added", "removed", "changed"]
    details: tuple[Detail, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain data."""
        return {"operator": self.operator, "change": self.kind, "details": [str(detail) for detail in self.details]}


@dataclass(frozen=True, slots=True)
class Difference:
    """The changes between two targets of one dialect.

    operators: those that differ, in order.
    """

    before: Target
    after: Target
    operators: tuple[Change, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the data that ``specgate diff --format json`` prints."""
        return {
            "before": str(self.before),
            "after": str(self.after),
            "changes": [change.to_dict() for change in self.operators],
        }


def difference(before: Target, after: Target) -> Difference:
    """Return the changes from one target to another.

    Raises InputError for targets of two dialects.
    """
    if before.dialect != after.dialect:
        raise InputError(f"expected two targets of one dialect, found {before} and {after}")
    matching_changes = changes(dialect(before.dialect), before.level, after.level)
    return Difference(before, after, tuple(matching_changes))


def changes(table: Dialect, before: str, after: str) -> list[Change]:
    """Return the changes per operator between two levels.

    An operator is added, removed, or has changed fields and rules.
    """
    table.check_level(before)
    table.check_level(after)
    matching_changes: list[Change] = []
    for name in table.operators:
        spec = table.operator(name)
        first, second = spec.level_for(before), spec.level_for(after)
        old, new = (spec.resolve(level) if level is not None else None for level in (first, second))
        if old is None and new is None:
            continue
        if old is None or new is None:
            matching_changes.append(Change(name, "added" if old is None else "removed"))
            continue
        details = (
            *field_changes(old, new),
            *_case_changes(spec, old, new),
            *rule_changes(rule_texts(old.rules), rule_texts(new.rules)),
        )
        details += tuple(_behaviour_changes(spec, old.level, new.level))
        if details:
            matching_changes.append(Change(name, "changed", details))
    return matching_changes


class Side(Protocol):
    """A side of a comparison: fields and cells by name."""

    @property
    def fields(self) -> Mapping[str, Any]: ...
    @property
    def cells(self) -> Mapping[str, Cell]: ...


def field_changes(old: Side, new: Side) -> Iterator[Detail]:
    """Yield the added and removed fields and the changes of cells."""
    for name in dict.fromkeys([*old.fields, *new.fields]):
        if name not in old.fields:
            yield Detail("added", name)
        elif name not in new.fields:
            yield Detail("removed", name)
        else:
            for change in cell_changes(old.cells.get(name), new.cells.get(name)):
                yield Detail(change, name)


def _case_changes(spec: OperatorSpec, old: Resolved, new: Resolved) -> Iterator[Detail]:
    for condition_rule in spec.conditions:
        before, after = resolve_case(old, condition_rule.text), resolve_case(new, condition_rule.text)
        if before is None or after is None:
            if before is not after:
                yield Detail("added" if before is None else "removed", when=condition_rule.text)
            continue
        for name in [name for name in new.fields if name in old.fields]:
            for change in cell_changes(before.cells.get(name), after.cells.get(name)):
                yield Detail(change, name, condition_rule.text)


def cell_changes(old: Cell | None, new: Cell | None) -> Iterator[str]:
    """Yield the changes of a cell: ``types +INT64``, ``ranks 4 → 1 to 8``."""
    for part in ("types", "values", "operators"):
        before, after = (getattr(cell, part) or () if cell else () for cell in (old, new))
        added_values = [str(x) for x in after if x not in before]
        removed_values = [str(x) for x in before if x not in after]
        if added_values or removed_values:
            signed = [f"+{x}" for x in added_values] + [f"-{x}" for x in removed_values]
            yield f"{part} {' '.join(signed)}"
    for part in ("ranks", "range"):
        before, after = (getattr(cell, part) if cell else None for cell in (old, new))
        if before != after:
            yield f"{part} {before or 'any'} → {after or 'any'}"


def rule_changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Detail]:
    """Yield the rules whose expressions differ."""
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield Detail(f"rule {name}: {before.get(name, 'none')} → {after.get(name, 'none')}")


def rule_texts(rules: Iterable[RuleForm]) -> dict[str, str]:
    """Return the expressions of each rule, joining its forms."""
    return join_expressions(
        (form.name, form.require.text, None if form.when is None else form.when.text) for form in rules
    )


def join_expressions(forms: Iterable[tuple[str, str, str | None]]) -> dict[str, str]:
    """Return the expressions of rules by name.

    forms: (name, expression, condition).
    """
    texts_by_name: dict[str, str] = {}
    for name, require, condition in forms:
        text = require if condition is None else f"{require} where {condition}"
        texts_by_name[name] = f"{texts_by_name[name]}; {text}" if name in texts_by_name else text
    return texts_by_name


def _behaviour_changes(spec: OperatorSpec, before: str, after: str) -> Iterator[Detail]:
    old, new = spec.behaviour(before), spec.behaviour(after)
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            yield Detail(f"computes {name}: {_format_value(old.get(name))} → {_format_value(new.get(name))}")


def _format_value(value: Any) -> str:
    return str(value["expression"]) if isinstance(value, dict) else str(value)
