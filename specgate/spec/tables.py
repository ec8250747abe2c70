"""The tables at run time: dialects, operator specs, and an operator resolved for one level and side. No pydantic."""

from __future__ import annotations

import difflib
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from specgate.errors import InputError, NoTable
from specgate.levels import LevelSet
from specgate.rules.parse import TENSOR, Rule, RuleError, Scope, parse
from specgate.spec.forms import (
    Case,
    Cell,
    FieldInfo,
    Layout,
    Overlay,
    Resolved,
    RuleForm,
    Side,
    make_forms,
    rule_forms,
)
from specgate.spec.store import DIALECTS, compiled_tables, spec_folders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["Dialect", "OperatorSpec", "dialect", "in_use", "use_specs"]


def _support(raw: Any) -> tuple[tuple[str | None, dict[str, Any]], ...]:
    if isinstance(raw, dict):
        return ((None, raw),)
    return tuple((case["when"], {level: row for level, row in case.items() if level != "when"}) for case in raw)


class OperatorSpec:
    """What the tables say of one operator over all levels."""

    def __init__(self, dialect: Dialect, raw: dict[str, Any]) -> None:
        self.dialect = dialect
        self.raw = raw
        self.name: str = raw["operator"]
        #: The support rows: once, without a condition, or for each case that the descriptor may be.
        self.support: tuple[tuple[str | None, dict[str, Any]], ...] = _support(raw["support"])
        order = dialect.position
        every = dict.fromkeys(level for _, rows in self.support for level in rows)
        self.rows: tuple[str, ...] = tuple(
            every if len(self.support) == 1 else sorted(every, key=lambda x: order.get(x, -1))
        )
        #: Every field, of whatever level; see `field_at` for one that changes.
        self.fields: dict[str, FieldInfo] = {name: FieldInfo.make(name, info) for name, info in raw["fields"].items()}
        self._layouts: dict[str, Layout] = {}
        self._resolved: dict[tuple[str, Side, str | None], Resolved | None] = {}

    @cached_property
    def levels(self) -> LevelSet:
        """The levels at which the operator exists."""
        order = self.dialect.levels
        first = order.index(self.rows[0])
        last = order.index(self.raw["removed"]) if self.raw.get("removed") else len(order)
        withdrawn = self.raw.get("deprecated", ())
        starts = [*(order.index(row) for row in self.rows), last]
        gone = {
            at
            for row, start, end in zip(self.rows, starts, starts[1:], strict=False)
            if row in withdrawn
            for at in range(start, end)
        }
        return LevelSet(order, frozenset(range(first, last)) - gone)

    def field_at(self, name: str, level: str) -> FieldInfo | None:
        """Return a field as it is at `level`, None where it is not there."""
        info = self.fields[name]
        return next((f for f in info.forms or (info,) if self.dialect.holds(level, f.since, f.until)), None)

    @cached_property
    def varies(self) -> bool:
        """Whether its inputs and outputs stand otherwise at some levels than at others, or fields change."""
        return any(f.forms or (f.kind != "attribute" and (f.since or f.until)) for f in self.fields.values())

    def layout(self, level: str | None) -> Layout:
        """Return how a descriptor written for `level` is read; None, or a level that is not known: for the newest."""
        at = level if level in self.dialect.position and self.varies else self.dialect.levels[-1]
        found = self._layouts.get(at)
        if found is None:
            found = self._layouts[at] = Layout.make(self.fields_at(at), self.fields)
        return found

    def fields_at(self, level: str) -> dict[str, FieldInfo]:
        """Return the fields that there are at `level`, as they are there."""
        found = ((name, self.field_at(name, level)) for name in self.fields)
        return {name: info for name, info in found if info is not None}

    @property
    def inputs(self) -> list[FieldInfo]:
        return [f for f in self.fields.values() if f.kind == "input"]

    @property
    def outputs(self) -> list[FieldInfo]:
        return [f for f in self.fields.values() if f.kind == "output"]

    @property
    def attributes(self) -> list[FieldInfo]:
        return [f for f in self.fields.values() if f.kind == "attribute"]

    @cached_property
    def words(self) -> frozenset[str]:
        """The words that rules may use without quotes: types, values of the operator's enums, operators it fuses."""
        enums = (info.words or () for info in self.fields.values() if info.type.startswith("enum:"))
        rows = [row for _, rows in self.support for row in rows.values()]
        rows += [entry.get("support", {}) for entry in self.raw.get("observed", ())]
        fused = (
            row.get(info.name, {}).get("operators", ()) for info in self.fields.values() if info.fuses for row in rows
        )
        return self.dialect.words.union(*enums, *fused)

    @cached_property
    def scope(self) -> Scope:
        """The names that this operator's rules may use."""
        defines: dict[str, Rule] = {}
        for name, text in self.raw.get("define", {}).items():
            defines[name] = self.parse_define(name, text, defines)
        return self.scope_with(defines)

    def scope_with(self, defines: Mapping[str, Rule]) -> Scope:
        """Return the names of fields, limits and types, and `defines`."""
        loose = self.dialect.unstated_outputs
        optional = {
            name
            for name, f in self.fields.items()
            if (f.optional and f.default is None) or (loose and f.kind == "output") or f.since or f.until or f.forms
        }
        scope = Scope(
            fields={name: info.rule_kind for name, info in self.fields.items()},
            optional=frozenset(optional),
            numbers=frozenset(self.dialect.limit_names),
            words=self.words,
            defines=dict(defines),
            members={name: info.member_kinds for name, info in self.fields.items() if info.members},
        )
        changing = [f for f in self.fields.values() if len({form.rule_kind for form in f.forms}) > 1]
        return replace(scope, stretch=lambda *ends: self._stretched(scope, changing, *ends)) if changing else scope

    def _stretched(self, scope: Scope, changing: list[FieldInfo], since: str | None, until: str | None) -> Scope:
        """Return the names with the kinds that fields have from `since` on and before `until`."""
        kinds = dict(scope.fields)
        order = self.dialect.position
        held = [at for at in self.levels if order[since or at] <= order[at] and (not until or order[at] < order[until])]
        for info in changing:
            found = {form.rule_kind: form.since for at in held if (form := self.field_at(info.name, at))}
            parts = [f"{kind} from {first or self.rows[0]} on" for kind, first in found.items()]
            kinds[info.name] = next(iter(found)) if len(found) == 1 else " and a ".join(parts) or info.rule_kind
        return replace(scope, fields=kinds)

    def parse_define(self, name: str, text: str, earlier: Mapping[str, Rule]) -> Rule:
        """Return a named sub-expression, which may use the earlier ones; raise RuleError."""
        if name in self.fields or name in self.dialect.limit_names or name in self.words:
            raise RuleError(text, f"the name {name!r:.80} is taken by a field, a limit, a type or an enum's value")
        return parse(text, self.scope_with(earlier), expect=None)

    @cached_property
    def rule_forms(self) -> tuple[RuleForm, ...]:
        """Every documented rule of the operator, all its forms, and what follows from its type variables."""
        own = make_forms(self.raw.get("rules", {}), self.scope)
        if not self.dialect.raw["dialect"].get("type_variables"):
            return own
        from specgate.spec.variables import variable_forms

        return (*own, *variable_forms(self))

    @cached_property
    def whens(self) -> tuple[Rule, ...]:
        """The conditions of the cases, none for an operator whose rows hold for every descriptor."""
        return tuple(parse(when, self.scope) for when, _ in self.support if when is not None)

    def row_at(self, level: str, rows: Iterable[str] | None = None) -> str | None:
        """Return the support row (of `rows`, a case's, if given) that holds at `level`, None where there is none."""
        return self.row_held(level, rows) if level in self.levels else None

    def row_held(self, level: str, rows: Iterable[str] | None = None) -> str | None:
        """Return the last row up to `level`, be it of a version that was withdrawn."""
        position = self.dialect.position
        held = (row for row in (self.rows if rows is None else rows) if position[row] <= position[level])
        return max(held, key=position.__getitem__, default=None)

    def level_for(self, target_level: str) -> str | None:
        """Return the level by which this operator is judged for a target of its dialect: its domain's version."""
        home = self.dialect
        return target_level if home.whole is None else home.whole.domain_level(home.domain, target_level)

    @cached_property
    def overlays(self) -> list[Overlay]:
        """What builds do instead of the page, in the order of the file."""
        entries = self.raw.get("observed", [])
        return [Overlay.make(entry, self.dialect.level_set(entry["builds"]), self.scope) for entry in entries]

    def resolve(self, level: str, side: Side = "documented", by: str | None = None) -> Resolved | None:
        """Return the operator at `level`, None where it does not exist; raise InputError for an unknown level.

        by: the implementation whose own observations hold on the observed side too (see `Overlay`).
        """
        key = (level, side, by if side == "observed" else None)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(*key)
        return self._resolved[key]

    def _resolve(self, level: str, side: Side, by: str | None) -> Resolved | None:
        self.dialect.check_level(level)
        row = self.row_at(level)  # none where a version is withdrawn
        if row is None:
            return None
        overlays = [o for o in self.overlays if o.holds(level, by)] if side == "observed" else []
        resolved = Resolved(
            spec=self,
            level=level,
            side=side,
            row=row,
            fields=self.fields_at(level),
            cells={} if self.whens else self._cells(self.raw["support"][row], None, overlays),
            rules=self.dialect.rules_at(level, self.rule_forms, overlays),
            tensor_rules=self.dialect.tensor_rules_at(level, side, by),
            numbers=self.dialect.limits(level),
        )
        return replace(resolved, cases=tuple(self._cases(resolved, overlays))) if self.whens else resolved

    def _cases(self, whole: Resolved, overlays: Sequence[Overlay]) -> Iterator[Case]:
        """Yield the cases that have a row at the level of `whole`."""
        for rule, (when, rows) in zip(self.whens, self.support, strict=True):
            row = self.row_at(whole.level, rows)
            if row is not None:
                yield Case(rule, replace(whole, row=row, cells=self._cells(rows[row], when, overlays)))

    def _cells(self, row: Mapping[str, Any], when: str | None, overlays: Sequence[Overlay]) -> dict[str, Cell]:
        """Return a row's cells, with what builds do instead in all cases or in the one of `when`."""
        types = self.dialect.types
        cells = {name: Cell.make(raw, types) for name, raw in row.items()}
        for overlay in overlays:
            for name, raw in overlay.cells.items():
                if raw.get("when") in {None, when}:
                    parts = {key: getattr(Cell.make(raw, types), key) for key in raw if key != "when"}
                    cells[name] = replace(cells.get(name, Cell()), **parts)
        return cells

    def behaviour(self, level: str) -> dict[str, Any]:
        """Return the kernel's constants at `level`: of each execute row up to it, the latest."""
        merged: dict[str, Any] = {}
        position = self.dialect.position
        for key, row in self.raw.get("execute", {}).items():
            if key in position and position[key] <= position[level]:
                merged.update(row)
        return merged


@dataclass
class Dialect:
    """One dialect's levels, types and operators."""

    name: str
    raw: dict[str, Any]
    #: "", or the domain whose versions are the levels here.
    domain: str = ""
    #: The dialect that a domain with versions of its own belongs to.
    whole: Dialect | None = None
    _operators: dict[str, OperatorSpec] = field(default_factory=dict)
    _domains: dict[str, Dialect] = field(default_factory=dict)

    @cached_property
    def levels(self) -> tuple[str, ...]:
        return tuple(self.raw["levels"]["levels"])

    @cached_property
    def position(self) -> dict[str, int]:
        return {level: index for index, level in enumerate(self.levels)}

    @cached_property
    def types(self) -> dict[str, dict[str, Any]]:
        types: dict[str, dict[str, Any]] = self.raw["types"]["types"]
        return types

    @cached_property
    def bits(self) -> dict[str, int | None]:
        return {name: info.get("bits") for name, info in self.types.items()}

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.types)

    @property
    def level_word(self) -> str:
        """What the dialect calls its version axis, e.g. ``feature level``."""
        return str(self.raw["dialect"]["level"])

    def spoken(self, level: str) -> str:
        """The level in a sentence: ``feature level 4.1``, ``opset 17``, ``opset13``."""
        return level if level.startswith(self.level_word) else f"{self.level_word} {level}"

    @property
    def unstated_outputs(self) -> bool:
        return bool(self.raw["dialect"]["unstated_outputs"])

    @cached_property
    def limit_names(self) -> frozenset[str]:
        return frozenset(n for info in self.raw["levels"]["levels"].values() for n in info.get("limits", {}))

    def limits(self, level: str) -> dict[str, int]:
        """Return the named limits at `level` (``max_dimensions``)."""
        return dict(self.raw["levels"]["levels"][level].get("limits", {}))

    @property
    def domains(self) -> list[str]:
        """The domains with versions of their own."""
        return list(self.raw["dialect"].get("domains", ()))

    def of_domain(self, domain: str) -> Dialect:
        """Return the dialect with the versions of `domain` as its levels; itself for a domain without its own."""
        if domain not in self.domains:
            return self
        if domain not in self._domains:
            newest = max(int(version) for version in map(partial(self.domain_level, domain), self.levels) if version)
            raw = {
                **self.raw,
                "dialect": {**self.raw["dialect"], "level": f"{domain} version", "domains": []},
                "levels": {"levels": {str(version): {} for version in range(1, newest + 1)}},
                "environments": {},
            }
            self._domains[domain] = Dialect(self.name, raw, domain, self)
        return self._domains[domain]

    def domain_level(self, domain: str, level: str) -> str | None:
        """Return the version of `domain` that belongs to `level`, None where none does; `level` for any other one."""
        self.check_level(level)
        if domain not in self.domains:
            return level
        version: str | None = self.raw["levels"]["levels"][level].get("domains", {}).get(domain)
        return version

    def knows_type(self, name: str, depth: int = 4) -> bool:
        """Return whether `name` is an element type, or one made of them: ``seq(tensor(float))``."""
        if name in self.types or not depth:
            return name in self.types
        word, _, inner = name.partition("(")
        count = self.raw["types"].get("containers", {}).get(word)
        if count is None or not inner.endswith(")"):
            return False
        spelt = {str(info.get("tensor")) for info in self.types.values()}
        spelt |= {text.removeprefix("tensor(").removesuffix(")") for text in spelt}
        parts = inner[:-1].split(", ", count - 1)
        return len(parts) == count and all(part in spelt or self.knows_type(part, depth - 1) for part in parts)

    def neighbours(self, level: str) -> tuple[str, ...]:
        """Return the levels whose implementations speak for `level`: itself, or where it has none those next to it."""
        asked = [name for name, info in self.raw["levels"]["levels"].items() if info.get("asked", True)]
        here = self.position[level]
        before = [name for name in asked if self.position[name] <= here]
        after = [name for name in asked if self.position[name] >= here]
        return tuple(dict.fromkeys([*before[-1:], *after[:1]]))

    @cached_property
    def tensor_rules(self) -> tuple[RuleForm, ...]:
        rules = self.raw.get("tensor", {}).get("rules", {})
        return make_forms({n: rule_forms(entry) for n, entry in rules.items()}, self.tensor_scope, kind="tensor")

    def tensor_rules_at(self, level: str, side: Side, by: str | None = None) -> tuple[RuleForm, ...]:
        """Return the shared tensor rules that hold at `level`: by the page, as all builds or as `by` enforces them."""
        overlays = [o for o in self.tensor_overlays if o.holds(level, by)] if side == "observed" else []
        return self.rules_at(level, self.tensor_rules, overlays)

    def rules_at(self, level: str, forms: Sequence[RuleForm], overlays: Sequence[Overlay]) -> tuple[RuleForm, ...]:
        """Return those of `forms` that hold at `level`, with what `overlays` waive and add, one after the other."""
        found = list(forms)
        for overlay in overlays:
            found = overlay.applied(found)
        return tuple(form for form in found if self.holds(level, form.since, form.until))

    @cached_property
    def tensor_overlays(self) -> list[Overlay]:
        """What builds do instead of the page, for tensors of any operator, in the order of the file."""
        entries = self.raw.get("tensor", {}).get("observed", [])
        scope = self.tensor_scope
        return [Overlay.make(entry, self.level_set(entry["builds"]), scope, kind="tensor") for entry in entries]

    @property
    def tensor_scope(self) -> Scope:
        """The names that the rules of every tensor may use."""
        return Scope(fields={"tensor": TENSOR}, numbers=self.limit_names, words=self.words)

    @property
    def environments(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.raw.get("environments", {}).get("environments", [])
        return found

    def check_level(self, level: str) -> None:
        """Raise InputError when `level` is not one of this dialect's."""
        if level not in self.position:
            near = difflib.get_close_matches(level, self.levels, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            known = ", ".join(self.levels)
            raise InputError(f"unknown {self.level_word} {level!r:.40} of {self.name}; expected one of {known}{hint}")

    def holds(self, level: str, since: str | None, until: str | None) -> bool:
        """Return whether `level` lies from `since` on and before `until`."""
        here = self.position[level]
        return (since is None or here >= self.position[since]) and (until is None or here < self.position[until])

    def level_set(self, text: str | Sequence[str]) -> LevelSet:
        """Read ``"3.0..6.4"``, ``"4.1.."``-style text or a list of levels as a set."""
        if not isinstance(text, str):
            return LevelSet.of(self.levels, text)
        first, dots, last = text.partition("..")
        for level in filter(None, (first, last)):
            self.check_level(level)
        if not (first or last):
            raise InputError(f"expected levels such as 3.0, 3.0..6.4 or 3.0.., found {text!r:.40}")
        start = self.position[first] if first else 0
        end = self.position[last] if last else (len(self.levels) - 1 if dots else start)
        if end < start:
            raise InputError(f"expected levels in their order, found {text!r:.40}")
        return LevelSet(self.levels, frozenset(range(start, end + 1)))

    def operator(self, name: str) -> OperatorSpec:
        """Return an operator's spec; raise NoTable when there is none."""
        if name not in self._operators:
            if name not in self.raw["operators"]:
                near = difflib.get_close_matches(name, self.raw["operators"], 1)
                raise NoTable(
                    f"{self.name} has no table for {name!r:.80}" + (f"; did you mean {near[0]}?" if near else "")
                )
            home = self if self.domain else self.of_domain(name.rpartition(".")[0])
            self._operators[name] = OperatorSpec(home, self.raw["operators"][name])
        return self._operators[name]

    @property
    def operators(self) -> list[str]:
        """The names of all operators that have a table, sorted."""
        return sorted(self.raw["operators"])


_dialects: dict[str, Dialect] = {}
_extra: list[Path] = []


def dialect(name: str) -> Dialect:
    """Return a dialect's tables, loaded once; raise InputError when there is no such dialect."""
    if name not in _dialects:
        extra = (*spec_folders(), *_extra)
        if name not in DIALECTS and not any((root / name / "levels.yaml").is_file() for root in extra):
            raise InputError(f"unknown dialect {name!r:.60}; expected one of {', '.join(DIALECTS)}")
        _dialects[name] = Dialect(name, compiled_tables(name, extra))
    return _dialects[name]


def use_specs(*folders: Path) -> None:
    """Load the operators of further spec folders too (each laid out as ``specs/``); replaces an earlier call's."""
    _extra[:] = folders
    _dialects.clear()
    _forget()


@contextmanager
def in_use(table: Dialect) -> Iterator[None]:
    """Judge by `table` for a while, whatever the tables of that dialect are otherwise."""
    usual = _dialects.get(table.name)
    if usual is table:
        yield
        return
    _dialects[table.name] = table
    _forget()
    try:
        yield
    finally:
        del _dialects[table.name]
        if usual is not None:
            _dialects[table.name] = usual
        _forget()


def _forget() -> None:
    """Drop what was compiled from tables that no longer count."""
    from specgate import targets
    from specgate.validate.check import forget

    forget()
    targets.forget()
