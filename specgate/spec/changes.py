"""What changes from one level of a dialect to another: operators, fields, cells, rules, behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from specgate.errors import InputError
from specgate.spec.history import in_case
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import Cell
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.targets import Target

__all__ = [
    "Change", "Detail", "Difference", "Side", "cell_changes", "changes", "difference", "differences", "field_changes",
    "joined", "rule_changes", "rule_texts",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Detail:
    """One thing that changes of an operator.

    what: ``types +INT64``, ``ranks 4 → 1 to 8``, ``added``; or for a rule and for behaviour its name and both sides.
    field: whose cell changes, None for rules, behaviour and whole cases. when: the only case that it concerns.
    """

    what: str
    field: str | None = None
    when: str | None = None

    def __str__(self) -> str:
        return ": ".join(part for part in (self.when, self.field, self.what) if part)


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one operator."""

    operator: str
    kind: Literal["added", "removed", "changed"]
    details: tuple[Detail, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"operator": self.operator, "change": self.kind, "details": [str(detail) for detail in self.details]}


@dataclass(frozen=True, slots=True)
class Difference:
    """What changes between two targets of one dialect. operators: those that differ, in order."""

    before: Target
    after: Target
    operators: tuple[Change, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``specgate diff --format json`` prints it."""
        return {
            "before": str(self.before),
            "after": str(self.after),
            "changes": [change.to_dict() for change in self.operators],
        }


def difference(before: Target, after: Target) -> Difference:
    """Return what changes from one target to another; raise InputError for targets of two dialects."""
    if before.dialect != after.dialect:
        raise InputError(f"expected two targets of one dialect, found {before} and {after}")
    found = changes(dialect(before.dialect), before.level, after.level)
    return Difference(before, after, tuple(found))


def differences(table: Dialect, before: str, after: str) -> list[dict[str, Any]]:
    """Return what changes from level `before` to `after` as plain data, per operator."""
    return [change.to_dict() for change in changes(table, before, after)]


def changes(table: Dialect, before: str, after: str) -> list[Change]:
    """Return what changes from level `before` to `after`, per operator: added, removed, or fields and rules changed."""
    table.check_level(before)
    table.check_level(after)
    found: list[Change] = []
    for name in table.operators:
        spec = table.operator(name)
        one, other = spec.level_for(before), spec.level_for(after)
        old, new = (spec.resolve(level) if level is not None else None for level in (one, other))
        if old is None and new is None:
            continue
        if old is None or new is None:
            found.append(Change(name, "added" if old is None else "removed"))
            continue
        details = (
            *field_changes(old, new),
            *_case_changes(spec, old, new),
            *rule_changes(rule_texts(old.rules), rule_texts(new.rules)),
        )
        details += tuple(_behaviour_changes(spec, old.level, new.level))
        if details:
            found.append(Change(name, "changed", details))
    return found


class Side(Protocol):
    """What is compared: fields by their names, and what is taken of some of them."""

    @property
    def fields(self) -> Mapping[str, Any]: ...
    @property
    def cells(self) -> Mapping[str, Cell]: ...


def field_changes(old: Side, new: Side) -> Iterator[Detail]:
    """Yield which fields come and go, and what cells take more and less."""
    for name in dict.fromkeys([*old.fields, *new.fields]):
        if name not in old.fields:
            yield Detail("added", name)
        elif name not in new.fields:
            yield Detail("removed", name)
        else:
            for what in cell_changes(old.cells.get(name), new.cells.get(name)):
                yield Detail(what, name)


def _case_changes(spec: OperatorSpec, old: Resolved, new: Resolved) -> Iterator[Detail]:
    for when in spec.whens:
        before, after = in_case(old, when.text), in_case(new, when.text)
        if before is None or after is None:
            if before is not after:
                yield Detail("added" if before is None else "removed", when=when.text)
            continue
        for name in [name for name in new.fields if name in old.fields]:
            for what in cell_changes(before.cells.get(name), after.cells.get(name)):
                yield Detail(what, name, when.text)


def cell_changes(old: Cell | None, new: Cell | None) -> Iterator[str]:
    """Yield what a cell takes more and less: ``types +INT64``, ``ranks 4 → 1 to 8``."""
    for part in ("types", "values", "operators"):
        before, after = (getattr(cell, part) or () if cell else () for cell in (old, new))
        added = [str(x) for x in after if x not in before]
        gone = [str(x) for x in before if x not in after]
        if added or gone:
            signed = [f"+{x}" for x in added] + [f"-{x}" for x in gone]
            yield f"{part} {' '.join(signed)}"
    for part in ("ranks", "range"):
        before, after = (getattr(cell, part) if cell else None for cell in (old, new))
        if before != after:
            yield f"{part} {before or 'any'} → {after or 'any'}"


def rule_changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Detail]:
    """Yield the rules, by their names, whose expressions are others."""
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield Detail(f"rule {name}: {before.get(name, 'none')} → {after.get(name, 'none')}")


def rule_texts(rules: Iterable[RuleForm]) -> dict[str, str]:
    """Return each rule's expressions, all its forms."""
    return joined((form.name, form.require.text, None if form.when is None else form.when.text) for form in rules)


def joined(forms: Iterable[tuple[str, str, str | None]]) -> dict[str, str]:
    """Return the expressions of rules by their names, of forms as their name, expression and condition."""
    found: dict[str, str] = {}
    for name, require, when in forms:
        text = require if when is None else f"{require} where {when}"
        found[name] = f"{found[name]}; {text}" if name in found else text
    return found


def _behaviour_changes(spec: OperatorSpec, before: str, after: str) -> Iterator[Detail]:
    old, new = spec.behaviour(before), spec.behaviour(after)
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            yield Detail(f"computes {name}: {_shown(old.get(name))} → {_shown(new.get(name))}")


def _shown(value: Any) -> str:
    return str(value["expression"]) if isinstance(value, dict) else str(value)
