"""Run-time model of an operator: fields, rows and rules over all levels.

`resolve` returns the operator at one level and on one side.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from specgate.caching import cached_property
from specgate.levels import LevelSet
from specgate.rules.language import Rule, RuleError, Scope
from specgate.rules.parse import parse
from specgate.slotted import replace
from specgate.spec.fields import Cell, FieldInfo, Layout
from specgate.spec.forms import VALUE, Case, Overlay, Resolved, RuleForm, SingleBasis, cells_of, make_forms
from specgate.spec.written import OperatorTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.type_union import SupportUnion
    from specgate.verdict import Basis

#: The suffix of checks that a field is given.
REQUIRED: Final = ".required"
#: The parts of a cell by their words in the names of findings.
_PARTS: Final = {"type": ("types",), "rank": ("ranks",), "value": ("values", "range")}


class OperatorSpec:
    """The table of one operator over all levels."""

    def __init__(self, dialect: Dialect, entries: dict[str, Any]) -> None:
        self.dialect = dialect
        self.table = OperatorTable(entries)
        self.name: str = self.table.name
        #: Support rows: one entry without a condition, or one per case.
        self.support: tuple[tuple[str | None, dict[str, Any]], ...] = self.table.cases
        order = dialect.position
        all_levels = dict.fromkeys(level for _, rows in self.support for level in rows)
        self.rows: tuple[str, ...] = tuple(
            all_levels if len(self.support) == 1 else sorted(all_levels, key=lambda x: order.get(x, -1))
        )
        #: The fields of all levels; see `field_at` for those that change.
        self.fields: dict[str, FieldInfo] = {
            name: FieldInfo.make(name, info) for name, info in self.table.fields.items()
        }
        self._fields_at: dict[str, Mapping[str, FieldInfo]] = {}
        self._layouts: dict[str, Layout] = {}
        self._excused_at: dict[str, frozenset[str]] = {}
        #: Keyed by the identity of the page's field, whether builds require it, whether they check its words, and its
        #: default in builds.
        self._changed: dict[tuple[int, bool, bool, Any], FieldInfo] = {}
        self._resolved: dict[tuple[str, SingleBasis, str | None], Resolved | None] = {}
        self._sides: dict[tuple[str, Basis, str | None], dict[SingleBasis, Resolved]] = {}
        self._stretches: dict[tuple[Basis, str | None], list[tuple[dict[SingleBasis, Resolved], list[str]]]] = {}

    @cached_property
    def levels(self) -> LevelSet:
        """The levels at which the operator exists."""
        order = self.dialect.levels
        first = order.index(self.rows[0])
        last = order.index(self.table.removed) if self.table.removed else len(order)
        withdrawn_levels = self.table.deprecated
        starts = [*(order.index(row) for row in self.rows), last]
        removed_rows = {
            position
            for row, start, end in zip(self.rows, starts, starts[1:], strict=False)
            if row in withdrawn_levels
            for position in range(start, end)
        }
        return LevelSet(order, frozenset(range(first, last)) - removed_rows)

    def is_written_for(self, level: str | None) -> bool:
        """Return whether descriptors can be written for `level`.

        An unfinished level lacks most operators.
        """
        info = self.dialect.tables.levels.get(level or "")
        return not info or not info.get("unfinished") or level in self.rows or self.name in info.get("carries", ())

    def field_at(self, name: str, level: str) -> FieldInfo | None:
        """Return a field as it is at `level`, None where it is not defined."""
        info = self.fields[name]
        return next((f for f in info.forms or (info,) if self.dialect.holds(level, f.since, f.until)), None)

    @cached_property
    def varies(self) -> bool:
        """True if the order of tensors or any field changes between levels."""
        return any(f.forms or (f.kind != "attribute" and (f.since or f.until)) for f in self.fields.values())

    def layout(self, level: str | None) -> Layout:
        """Return the layout of descriptors written for `level`.

        None, or an unknown level, selects the newest level.
        """
        layout_level = level if level in self.dialect.position and self.varies else self.dialect.levels[-1]
        layout = self._layouts.get(layout_level)
        if layout is None:
            layout = self._layouts[layout_level] = Layout.make(self.fields_at(layout_level), self.fields)
        return layout

    def several_at(self, level: str) -> bool:
        """Return whether the last output at `level` is an array of tensors."""
        outputs = self.layout(level).outputs
        return bool(outputs) and outputs[-1].type == "tensor[]"

    def fields_at(self, level: str) -> Mapping[str, FieldInfo]:
        """Return the fields of `level`, as defined there."""
        if (fields := self._fields_at.get(level)) is None:
            pairs = ((name, self.field_at(name, level)) for name in self.fields)
            fields = self._fields_at[level] = {name: info for name, info in pairs if info is not None}
        return fields

    @cached_property
    def counted_outputs(self) -> frozenset[str]:
        """Outputs that are kept without a type.

        A rule tests their presence, or some levels do not define them.
        """
        if (worked_out := self.dialect.tables.counted.get(self.name)) is not None:
            return frozenset(worked_out)
        forms = (*self.rule_forms, *(form for overlay in self.overlays for form in overlay.rules))
        rules = (rule for form in forms for rule in (form.require, form.when) if rule is not None)
        names = {name for rule in rules for name in rule.fields - {path.partition(".")[0] for path in rule.needs}}
        return frozenset(f.name for f in self.outputs if f.name in names or f.since or f.until or f.forms)

    @cached_property
    def inputs(self) -> list[FieldInfo]:
        return self._of_kind("input")

    @cached_property
    def outputs(self) -> list[FieldInfo]:
        return self._of_kind("output")

    @cached_property
    def attributes(self) -> list[FieldInfo]:
        return self._of_kind("attribute")

    @cached_property
    def became(self) -> Mapping[str, str]:
        """Attributes that became inputs, each with the input of its new levels."""
        forms = [form for info in self.inputs for form in info.forms or (info,)]
        starts = {(key, form.since): form.name for form in forms for key in (form.name, form.vendor_name)}
        pairs = ((f.name, starts.get((f.became or f.vendor_name, f.until))) for f in self.attributes if f.until)
        return {old: new for old, new in pairs if new is not None}

    def _of_kind(self, kind: str) -> list[FieldInfo]:
        return [f for f in self.fields.values() if f.kind == kind]

    @cached_property
    def words(self) -> frozenset[str]:
        """Words that rules use without quotes: types, enum values, operators."""
        enums = (info.words or () for info in self.fields.values() if info.type.startswith("enum:"))
        rows = [row for _, rows in self.support for row in rows.values()]
        rows += [entry.get("support", {}) for entry in self.table.observed]
        fusing_names = [info.name for info in self.fields.values() if info.fuses]
        fused = (row.get(name, {}).get("operators", ()) for name in fusing_names for row in rows)
        return self.dialect.words.union(*enums, *fused)

    @cached_property
    def scope(self) -> Scope:
        """The names that this operator's rules may use."""
        defines: dict[str, Rule] = {}
        for name, text in self.table.defines.items():
            defines[name] = self.parse_define(name, text, defines)
        return self.scope_with(defines)

    def scope_with(self, defines: Mapping[str, Rule]) -> Scope:
        """Return the names of fields, limits and types, and `defines`."""
        loose = self.dialect.infers_outputs
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
            vocabulary=self.dialect.vocabulary,
        )
        scope = replace(scope, optional=scope.optional | self._omissible_fields)
        changing_fields = [f for f in self.fields.values() if len({form.rule_kind for form in f.forms}) > 1]
        return (
            replace(scope, stretch=lambda *ends: self._scope_between(scope, changing_fields, *ends))
            if changing_fields
            else scope
        )

    @cached_property
    def _omissible_fields(self) -> frozenset[str]:
        """Required fields that some builds allow to omit."""
        names = (name for entry in self.table.observed for name in entry.get("not_enforced", ()))
        return frozenset(name.removesuffix(REQUIRED) for name in names if name.endswith(REQUIRED))

    def _scope_between(
        self, scope: Scope, changing_fields: list[FieldInfo], since: str | None, until_level: str | None
    ) -> Scope:
        """Return the names with field kinds from `since` on and before `until_level`."""
        kinds = dict(scope.fields)
        order = self.dialect.position
        texts = [
            level
            for level in self.levels
            if order[since or level] <= order[level] and (not until_level or order[level] < order[until_level])
        ]
        for info in changing_fields:
            texts_by_name = {form.rule_kind: form.since for level in texts if (form := self.field_at(info.name, level))}
            parts = [f"{kind} from {first or self.rows[0]} on" for kind, first in texts_by_name.items()]
            kinds[info.name] = (
                next(iter(texts_by_name)) if len(texts_by_name) == 1 else " and a ".join(parts) or info.rule_kind
            )
        return replace(scope, fields=kinds)

    def parse_define(self, name: str, text: str, earlier_rules: Mapping[str, Rule]) -> Rule:
        """Return a parsed define, which may use the earlier ones.

        Raises RuleError.
        """
        if name in self.fields or name in self.dialect.limit_names or name in self.words:
            raise RuleError(
                text, f"the name {name!r:.80} is already the name of a field, a limit, a type or an enum's value"
            )
        return parse(text, self.scope_with(earlier_rules), expect=None)

    @cached_property
    def rule_forms(self) -> tuple[RuleForm, ...]:
        """All documented rules of the operator, including type variables.

        Each rule has one form per range of levels.
        """
        own_forms = make_forms(self.table.rules, self.scope)
        if not self.dialect.tables.about.get("type_variables"):
            return own_forms
        from specgate.spec.variables import variable_forms

        return (*own_forms, *variable_forms(self))

    @cached_property
    def conditions(self) -> tuple[Rule, ...]:
        """The conditions of the cases, empty for an operator without cases."""
        return tuple(parse(condition, self.scope) for condition, _ in self.support if condition is not None)

    def row_at(self, level: str, rows: Iterable[str] | None = None) -> str | None:
        """Return the support row that applies at `level`, None without one.

        rows: those of a case.
        """
        return self.last_row(level, rows) if level in self.levels else None

    def last_row(self, level: str, rows: Iterable[str] | None = None) -> str | None:
        """Return the last row up to `level`, including withdrawn versions."""
        position = self.dialect.position
        rows = self.rows if rows is None else rows
        return max((row for row in rows if position[row] <= position[level]), key=position.__getitem__, default=None)

    def level_for(self, target_level: str) -> str | None:
        """Return the level that applies to a target: its domain's version."""
        home = self.dialect
        return target_level if home.parent is None else home.parent.domain_level(home.domain, target_level)

    @cached_property
    def overlays(self) -> list[Overlay]:
        """Observed differences, in file order."""
        level_set, scope = self.dialect.level_set, self.scope
        return [Overlay.make(entry, level_set(entry["builds"]), scope) for entry in self.table.observed]

    @cached_property
    def restricting_implementations(self) -> dict[str, str]:
        """Selectable implementations with additional restrictions: name -> title."""
        implementations = self.dialect.implementations_with_targets
        refusing_names = {overlay.by for overlay in self.overlays if overlay.cells or overlay.rules}
        return {name: str(entry["title"]) for name, entry in implementations.items() if name in refusing_names}

    @cached_property
    def support_union(self) -> SupportUnion:
        """The union of the rows of all levels."""
        from specgate.spec.type_union import SupportUnion

        return SupportUnion(self)

    def resolve(self, level: str, side: SingleBasis = "documented", by: str | None = None) -> Resolved | None:
        """Return the operator at `level`, None where it does not exist.

        by: the implementation whose specific observations also apply on the observed side (see `Overlay`). Raises
        InputError for an unknown level.
        """
        key = (level, side, by if side == "observed" else None)
        if key not in self._resolved:
            resolved = self._resolve(*key)
            shared = self.resolve(level, side) if key[2] and resolved else None  # one object where equal
            self._resolved[key] = shared if shared and resolved and resolved.content == shared.content else resolved
        return self._resolved[key]

    def sides_at(self, level: str, basis: Basis = "both", by: str | None = None) -> dict[SingleBasis, Resolved]:
        """Return the sides of `basis` at `level`.

        One entry where both sides are the same, none without the operator.
        """
        resolved_by_side = self._sides.get((level, basis, by))
        if resolved_by_side is None:
            sides: list[SingleBasis] = ["documented", "observed"] if basis == "both" else [basis]
            resolved_by_side = {
                side: resolved for side in sides if (resolved := self.resolve(level, side, by)) is not None
            }
            if len(resolved_by_side) == 2:
                resolved_by_side["documented"] = self._page_with_excuses(
                    resolved_by_side["documented"], resolved_by_side["observed"], self.ignored_requirements(level)
                )
            if len(resolved_by_side) == 2 and resolved_by_side["documented"].key == resolved_by_side["observed"].key:
                del resolved_by_side["observed"]
            self._sides[level, basis, by] = resolved_by_side
        return resolved_by_side

    def stretches(
        self, basis: Basis = "both", by: str | None = None
    ) -> list[tuple[dict[SingleBasis, Resolved], list[str]]]:
        """Return all levels with the operator, grouped where `basis` is the same.

        Each group has its sides and its levels.
        """
        pairs = self._stretches.get((basis, by))
        if pairs is None:
            pairs_by_value: dict[Any, tuple[dict[SingleBasis, Resolved], list[str]]] = {}
            for level in self.levels:
                resolved_by_side = self.sides_at(level, basis, by)
                key = tuple((side, resolved.content) for side, resolved in resolved_by_side.items())
                pairs_by_value.setdefault(key, (resolved_by_side, []))[1].append(level)
            pairs = self._stretches[basis, by] = list(pairs_by_value.values())
        return pairs

    def _resolve(self, level: str, side: SingleBasis, by: str | None) -> Resolved | None:
        self.dialect.check_level(level)
        row = self.row_at(level)  # empty where a version is withdrawn
        if row is None:
            return None
        overlays = [o for o in self.overlays if o.holds(level, by)] if side == "observed" else []
        waived_rules = frozenset(name for overlay in overlays for name in overlay.not_enforced)
        defaults = {name: value for overlay in overlays for name, value in overlay.defaults.items()}
        resolved = Resolved(
            spec=self,
            level=level,
            side=side,
            row=row,
            fields=self._fields_without(self.fields_at(level), waived_rules, defaults),
            cells={} if self.conditions else cells_of(self.support[0][1][row], self.dialect.types, overlays),
            rules=self.dialect.rules_at(level, self.rule_forms, overlays),
            tensor_rules=self.dialect.tensor_rules_at(level, side, by),
            numbers=self.dialect.limits(level),
            attributes=frozenset(
                [name for overlay in overlays for name in overlay.attributes]
                if side == "observed"
                else self.layout(level).page_names
            ),
        )
        return replace(resolved, cases=tuple(self._cases(resolved, overlays))) if self.conditions else resolved

    def follows_builds(self, level: str) -> bool:
        """Return whether the default verdict follows builds somewhere at `level`."""
        return bool(self.ignored_requirements(level))

    def ignored_requirements(self, level: str) -> frozenset[str]:
        """Return documented requirements that the default verdict ignores.

        They are names of rules, parts of cells, and attributes.
        """
        matching_names = self._excused_at.get(level)
        if matching_names is None:
            overlays = [overlay for overlay in self.overlays if overlay.holds(level, None)]
            names = (name for overlay in overlays for name in (*overlay.tools_write, *overlay.attributes))
            matching_names = self._excused_at[level] = frozenset(names)
        return matching_names

    def _page_with_excuses(self, page: Resolved, builds: Resolved, excused: frozenset[str]) -> Resolved:
        """Return the documented side with the observed behavior of excused names."""
        if not excused:
            return page
        cells = dict(page.cells)
        for name, _, aspect_name in (text.rpartition(".") for text in excused):
            parts = _PARTS.get(aspect_name, ())
            if name in cells and parts:
                other = builds.cells.get(name, Cell())
                cells[name] = replace(cells[name], **{part: getattr(other, part) for part in parts})
        cases = zip(page.cases, builds.cases, strict=True)
        return replace(
            page,
            cells=cells,
            rules=tuple(form for form in page.rules if form.name not in excused),
            fields=self._fields_without(page.fields, excused),
            cases=tuple(
                replace(a, resolved=self._page_with_excuses(a.resolved, b.resolved, excused)) for a, b in cases
            ),
            attributes=page.attributes | (builds.attributes & excused),
        )

    def _fields_without(
        self,
        fields: Mapping[str, FieldInfo],
        waived_rules: frozenset[str],
        defaults: Mapping[str, Any] = MappingProxyType({}),
    ) -> Mapping[str, FieldInfo]:
        """Return fields without waived requirements.

        defaults: of attributes that may be absent. Equal arguments return the same objects.
        """
        names = {name for name, info in fields.items() if not info.optional and f"{name}{REQUIRED}" in waived_rules}
        free = {name for name, info in fields.items() if info.words and f"{name}{VALUE}" in waived_rules}
        constants = {
            name: value
            for name, value in defaults.items()
            if name in names or (name in fields and fields[name].optional)
        }
        if not names and not free and not constants:
            return fields
        changed_fields = dict(fields)
        for name in names | free | constants.keys():
            info, default = fields[name], constants.get(name)
            key = id(info), name in names, name in free, default
            if key not in self._changed:
                self._changed[key] = replace(
                    info,
                    optional=name in names or info.optional,
                    words=None if name in free else info.words,
                    default=info.default if default is None else default,
                )
            changed_fields[name] = self._changed[key]
        return changed_fields

    def _cases(self, resolved: Resolved, overlays: Sequence[Overlay]) -> Iterator[Case]:
        """Yield the cases that have a row at the level of `resolved`."""
        for rule, (condition, rows) in zip(self.conditions, self.support, strict=True):
            row = self.row_at(resolved.level, rows)
            if row is not None:
                yield Case(
                    rule, replace(resolved, row=row, cells=cells_of(rows[row], self.dialect.types, overlays, condition))
                )

    def has_kernel(self, level: str) -> bool:
        """Return whether the table names a kernel for `level`."""
        return (recipe := self.table.recipe) is not None and self.dialect.holds(level, recipe.get("since"), None)

    def behaviour(self, level: str) -> dict[str, Any]:
        """Return the kernel's constants at `level`.

        For each constant the latest execute row up to this level applies.
        """
        merged: dict[str, Any] = {}
        position = self.dialect.position
        for key, row in self.table.behaviour.items():
            if key in position and position[key] <= position[level]:
                merged.update(row)
        return merged
