"""A rule with its levels, what builds do instead of the page, and an operator as it is at one level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from specgate.caching import cached_property
from specgate.rules.obeying import TensorRules
from specgate.rules.parse import parse, parse_later
from specgate.rules.walk import list_steps
from specgate.slotted import field, replace, slotted
from specgate.spec.fields import Cell, CellCheck

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specgate.levels import LevelSet
    from specgate.rules.language import Rule, Scope
    from specgate.rules.walk import Step
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

__all__ = [
    "Case",
    "OtherValues",
    "Overlay",
    "Resolved",
    "RuleForm",
    "SingleBasis",
    "cells_of",
    "make_forms",
    "rule_forms",
]

SingleBasis = Literal["documented", "observed"]
#: How the name of what asks for one of a field's values ends.
VALUE: Final = ".value"


@slotted(frozen=True)
class RuleForm:
    """One rule over one stretch of levels, parsed.

    scope: "operator", or "tensor" for rules that every tensor obeys. variable: the type variable that it follows from.
    structural: what breaks it is not computed. guard: because the executor holds it too, not because no kernel could.
    crashes: a build does where it is broken.
    """

    name: str
    require: Rule
    when: Rule | None = None
    since: str | None = None
    until: str | None = None
    because: str | None = None
    fix: str | None = None
    after: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    structural: bool = True
    guard: bool = False
    crashes: bool = False
    scope: str = "operator"
    on: str | None = None
    variable: str | None = None

    def applies_to(self, info: FieldInfo) -> bool:
        """Whether a tensor rule covers this field's tensors."""
        return self.on is None or self.on == info.kind

    @property
    def fields(self) -> frozenset[str]:
        """Every field that the rule or its condition reads."""
        return self.require.fields | self.when.fields if self.when is not None else self.require.fields

    @property
    def needs(self) -> frozenset[str]:
        """The paths whose absence makes the rule not apply."""
        return self.require.needs | self.when.needs if self.when is not None else self.require.needs


@slotted(frozen=True)
class OtherValues:
    """What is computed instead of what the page says; when: for which descriptors, elements: at which (None: any).

    arguments: of the kernel, by name, with which it computes this. kernel: another one that computes it. fields:
    attributes with the values that builds compute with, None for one that is left out. types: by type variable or
    field, the element type that builds compute in; results are converted back, those that become integers as
    `conversion` says. Without all four no kernel computes this. all_builds: values follow this entry by default.
    """

    what: str
    when: Rule | None = None
    elements: Rule | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    kernel: str | None = None
    fields: Mapping[str, Rule | None] = field(default_factory=dict)
    all_builds: bool = False
    types: Mapping[str, str] = field(default_factory=dict)
    conversion: str = "round"

    @property
    def computed(self) -> bool:
        """Whether the executor can compute this."""
        return bool(self.arguments or self.kernel or self.fields or self.types)

    @classmethod
    def make(cls, raw: Mapping[str, Any], scope: Scope) -> OtherValues:
        """Read the compiled form; RuleError (a ValueError) says what is wrong with an expression."""
        when, elements = raw.get("when"), raw.get("elements")
        return cls(
            raw["what"],
            parse(when, scope) if when else None,
            parse(elements, scope.of_elements()) if elements else None,
            raw.get("arguments", {}),
            raw.get("kernel"),
            {name: text and parse(text, scope, expect=None) for name, text in raw.get("fields", {}).items()},
            bool(raw.get("all_builds")),
            raw.get("types", {}),
            raw.get("conversion", "round"),
        )


@slotted(frozen=True, also="__dict__")
class Overlay:
    """What builds of some levels do instead of the page.

    by: the only implementation (or build system) that does it; None where every one does. cells: field -> the parts of
    its cell that differ, as compiled. not_enforced: names of rules that do not hold there. rules: those that hold
    instead. values: where other values are computed. bug: whether the build contradicts its own page. attributes: those
    accepted although the page does not define them. tools_write: names of rules, and of parts of cells, that the
    vendor's own tools break.
    """

    builds: LevelSet
    by: str | None = None
    cells: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    not_enforced: frozenset[str] = frozenset()
    rules: tuple[RuleForm, ...] = ()
    values: tuple[OtherValues, ...] = ()
    bug: bool = False
    attributes: frozenset[str] = frozenset()
    tools_write: frozenset[str] = frozenset()

    @classmethod
    def make(cls, raw: Mapping[str, Any], builds: LevelSet, scope: Scope, *, kind: str = "operator") -> Overlay:
        """Read the compiled form."""
        forms = {name: rule_forms(entry) for name, entry in raw.get("rules", {}).items()}
        return cls(
            builds,
            raw.get("by"),
            raw.get("support", {}),
            frozenset(raw.get("not_enforced", ())),
            make_forms(forms, scope, kind=kind),
            tuple(OtherValues.make(entry, scope) for entry in raw.get("values", {}).values()),
            bool(raw.get("bug")),
            frozenset(raw.get("attributes", ())),
            frozenset(raw.get("tools_write", ())),
        )

    @cached_property
    def free_values(self) -> tuple[str, ...]:
        """The fields of which any value is accepted: those whose ``FIELD.value`` is not enforced."""
        names = (name.removesuffix(VALUE) for name in self.not_enforced if name.endswith(VALUE))
        return tuple(sorted(names))

    def holds(self, level: str, by: str | None) -> bool:
        """Return whether it covers `level` as the implementation `by` has it (None: as every one has it).

        by: one name, or several joined by ``+``: an implementation, and the releases that it is one of.
        """
        return level in self.builds and (self.by is None or self.by in (by or "").split("+"))

    def applied(self, forms: list[RuleForm]) -> list[RuleForm]:
        """Return the rules that hold instead of `forms`."""
        return [form for form in forms if form.name not in self.not_enforced] + list(self.rules)


@slotted(frozen=True)
class Case:
    """One of several support rows of an operator at one level: the descriptors it covers, and what it allows."""

    when: Rule
    resolved: Resolved


@slotted(frozen=True, also="__dict__")
class Resolved:
    """An operator at one level: its fields, cells and rules there, on one side (page or builds).

    cases: where the row depends on the descriptor, one for each row there is at the level; `cells` is empty then.
    attributes: names accepted besides those of fields.
    """

    spec: OperatorSpec
    level: str
    side: SingleBasis
    row: str
    fields: Mapping[str, FieldInfo]
    cells: Mapping[str, Cell]
    rules: tuple[RuleForm, ...]
    tensor_rules: tuple[RuleForm, ...]
    numbers: Mapping[str, int]
    cases: tuple[Case, ...] = ()
    attributes: frozenset[str] = frozenset()

    @property
    def alternatives(self) -> tuple[Resolved, ...]:
        """The level by each of its support rows: one for each case, or itself."""
        return tuple(case.resolved for case in self.cases) or (self,)

    @cached_property
    def ignores_attributes(self) -> bool:
        """Whether builds accept any attribute that the operator does not define at this level."""
        return self.side == "observed" and self.spec.dialect.ignores_attributes

    @cached_property
    def strangers(self) -> tuple[str, ...]:
        """The operator's fields at other levels that a descriptor must not have at this one."""
        ignored = "attribute" if self.ignores_attributes else None
        fields = self.spec.fields.items()
        return tuple(name for name, info in fields if name not in self.fields and info.kind != ignored)

    @cached_property
    def read(self) -> tuple[Any, ...]:
        """Equal for levels whose rules read the same of a descriptor: the same fields and limits."""
        return (*map(id, self.fields.values()), *self.numbers.items())

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The checks of the level in order; see `walk`."""
        return list_steps(self)

    @cached_property
    def cell_checks(self) -> Mapping[str, CellCheck]:
        """What the row says of each field's value, but for those that hold operators."""
        parts = ((name, info, self.cells.get(name)) for name, info in self.fields.items() if not info.fuses)
        return {name: CellCheck(info, cell) for name, info, cell in parts if cell is not None or info.words}

    @cached_property
    def rules_of_tensors(self) -> Mapping[str, TensorRules]:
        """What every tensor obeys, by the kind of its field; levels and operators that say the same share it."""
        rules_by_name = {info.kind: TensorRules(self, info.kind) for info in self.fields.values()}
        shared = self.spec.dialect.rules_of_tensors
        return {kind: shared.setdefault(rules.key, rules) for kind, rules in rules_by_name.items()}

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Equal for two levels at which the operator is the same, so that one answer serves both."""
        return (
            self.row,
            tuple(self.fields),
            tuple(self.cells.items()),
            self.rules,
            self.tensor_rules,
            tuple(sorted(self.numbers.items())),
            tuple((case.when.text, case.resolved.key) for case in self.cases),
            self.attributes,
            tuple(name for name, info in self.fields.items() if info.optional),
        )

    @cached_property
    def content(self) -> tuple[Any, ...]:
        """Equal for two levels of one operator that take and refuse the same descriptors.

        What may be fused depends on the level itself: which operators and attributes there are.
        """
        infos = self.fields.values()
        fused = self.level if any(info.fuses for info in infos) else None
        return (self.key, *map(id, infos), fused, self.strangers, self.ignores_attributes)


def make_forms(
    raw: Mapping[str, list[dict[str, Any]]], scope: Scope, *, kind: str = "operator"
) -> tuple[RuleForm, ...]:
    """Return the rules of compiled tables, whose texts were checked; each is parsed when it is needed."""
    forms = []
    for name, entries in raw.items():
        for entry in entries:
            extra: dict[str, Any] = {
                k: tuple(v) if isinstance(v, list) else v for k, v in entry.items() if k not in {"require", "when"}
            }
            names = scope.between(entry.get("since"), entry.get("until"))
            when = parse_later(entry["when"], names) if "when" in entry else None
            require = parse_later(entry["require"], names)
            forms.append(RuleForm(name=name, require=require, when=when, scope=kind, **extra))
    return tuple(forms)


def rule_forms(entry: Any) -> list[dict[str, Any]]:
    """Return a rule's forms (one per stretch of levels, and per expression) from any of its spellings."""
    entries = entry if isinstance(entry, list) else [entry]
    forms = [{"require": e} if isinstance(e, str) else e for e in entries]
    several = [form["require"] if isinstance(form["require"], list) else [form["require"]] for form in forms]
    return [{**form, "require": text} for form, texts in zip(forms, several, strict=True) for text in texts]


def cells_of(
    row: Mapping[str, Any], types: Iterable[str], overlays: Iterable[Overlay], when: str | None = None
) -> dict[str, Cell]:
    """Return a row's cells, with what builds do instead in all cases or in the one of `when`; types: all there are."""
    cells = {name: Cell.make(raw, types) for name, raw in row.items()}
    for overlay in overlays:
        for name, raw in overlay.cells.items():
            if raw.get("when") in {None, when}:
                parts = {key: getattr(Cell.make(raw, types), key) for key in raw if key != "when"}
                cells[name] = replace(cells.get(name, Cell()), **parts)
        for name in overlay.free_values:
            cells[name] = replace(cells.get(name, Cell()), values=None, range=None)
    return cells
