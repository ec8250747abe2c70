"""Rules per range of levels, observed differences, and resolved operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from specgate.caching import cached_property
from specgate.loading import lazy
from specgate.rules.language import Context
from specgate.rules.parse import parse, parse_later
from specgate.rules.tensor_rules import TensorRules
from specgate.rules.walk import list_steps
from specgate.slotted import field, replace, slotted
from specgate.spec.fields import Cell, CellCheck

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specgate.levels import LevelSet
    from specgate.rules import evaluate as rule_engine
    from specgate.rules.language import Rule, Scope
    from specgate.rules.walk import Step
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec
else:
    rule_engine = lazy("specgate.rules.evaluate")

SingleBasis = Literal["documented", "observed"]
#: The suffix of checks on a field's values.
VALUE: Final = ".value"


@slotted(frozen=True)
class RuleForm:
    """One parsed rule over one range of levels.

    scope: "operator", or "tensor" for rules of every tensor. variable: the type variable that the rule derives from.
    structural: a violation makes computing impossible. guard: the rule exists because the executor requires it,
    although kernels could compute without it. crashes: builds crash on a violation.
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
        """Return whether a tensor rule applies to this field's tensors."""
        return self.on is None or self.on == info.kind

    @property
    def fields(self) -> frozenset[str]:
        """All fields that the rule or its condition reads."""
        return self.require.fields | self.when.fields if self.when is not None else self.require.fields

    @property
    def needs(self) -> frozenset[str]:
        """The paths whose absence makes the rule inapplicable."""
        return self.require.needs | self.when.needs if self.when is not None else self.require.needs


@slotted(frozen=True)
class OtherValues:
    """Results that differ from the page.

    when: for which descriptors. elements: for which elements (None: all). arguments: kernel arguments that compute
    this. kernel: another kernel that computes it. fields: attributes with the values that builds use, None for an
    omitted one. types: per type variable or field the element type in which builds compute; results are converted back,
    and conversions to integers follow `conversion`. undefined: builds leave the outputs undefined, so all elements are
    masked. Without these five, no kernel computes this. all_builds: the executor follows this entry by default.
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
    undefined: bool = False

    @property
    def computed(self) -> bool:
        """True if the executor can compute this."""
        return bool(self.arguments or self.kernel or self.fields or self.types or self.undefined)

    @classmethod
    def make(cls, raw: Mapping[str, Any], scope: Scope) -> OtherValues:
        """Return the entry from the compiled form.

        Raises RuleError (a ValueError) for an invalid expression.
        """
        condition, elements = raw.get("when"), raw.get("elements")
        return cls(
            raw["what"],
            parse(condition, scope) if condition else None,
            parse(elements, scope.of_elements()) if elements else None,
            raw.get("arguments", {}),
            raw.get("kernel"),
            {name: text and parse(text, scope, expect=None) for name, text in raw.get("fields", {}).items()},
            bool(raw.get("all_builds")),
            raw.get("types", {}),
            raw.get("conversion", "round"),
            bool(raw.get("undefined")),
        )


@slotted(frozen=True, extra_slot="__dict__")
class Overlay:
    """Observed behavior of builds at some levels.

    by: the only implementation (or build system) with this behavior, None for all. cells: field -> the parts of its
    cell that differ, as compiled. not_enforced: rules that do not apply. rules: those that apply instead. values:
    differing results. bug: whether the build contradicts its own page. attributes: undocumented attributes that are
    accepted. tools_write: rules and parts of cells that the vendor's own tools violate.
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
        """Return an overlay from the compiled form."""
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
        """Fields that accept any value: their ``FIELD.value`` is not enforced."""
        names = (name.removesuffix(VALUE) for name in self.not_enforced if name.endswith(VALUE))
        return tuple(sorted(names))

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """The constants that builds use for absent attributes, by attribute."""
        return {
            name: rule_engine.evaluate(rule, Context({}, {}))
            for values in self.values
            for name, rule in values.fields.items()
            if rule is not None and not rule.fields and values.when and values.when.text == f"not present({name})"
        }

    def holds(self, level: str, by: str | None) -> bool:
        """Return whether the overlay applies at `level` for implementation `by`.

        by: None for all builds, a name, or several names joined by ``+`` (an implementation and the releases it belongs
        to).
        """
        return level in self.builds and (self.by is None or self.by in (by or "").split("+"))

    def apply_overlay(self, forms: list[RuleForm]) -> list[RuleForm]:
        """Return `forms` with this overlay applied."""
        return [form for form in forms if form.name not in self.not_enforced] + list(self.rules)


@slotted(frozen=True)
class Case:
    """One conditional support row: the descriptors it covers, and its limits."""

    when: Rule
    resolved: Resolved


@slotted(frozen=True, extra_slot="__dict__")
class Resolved:
    """An operator at one level and on one side (page or builds).

    cases: the rows, where they depend on the descriptor; `cells` is then empty. attributes: accepted names besides
    those of fields.
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
        """The resolved operator per support row: one per case, or itself."""
        return tuple(case.resolved for case in self.cases) or (self,)

    @cached_property
    def ignores_attributes(self) -> bool:
        """True if builds accept any undefined attribute at this level."""
        return self.side == "observed" and self.spec.dialect.ignores_attributes

    @cached_property
    def foreign_fields(self) -> tuple[str, ...]:
        """Fields of other levels that a descriptor must not have at this one."""
        ignored_kind = "attribute" if self.ignores_attributes else None
        fields = self.spec.fields.items()
        return tuple(name for name, info in fields if name not in self.fields and info.kind != ignored_kind)

    @cached_property
    def read(self) -> tuple[Any, ...]:
        """A key of the fields and limits that rules read."""
        return (*map(id, self.fields.values()), *self.numbers.items())

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The checks of the level in order; see `walk`."""
        return list_steps(self)

    @cached_property
    def cell_checks(self) -> Mapping[str, CellCheck]:
        """The checks of each field's value, except fused operators."""
        parts = ((name, info, self.cells.get(name)) for name, info in self.fields.items() if not info.fuses)
        return {name: CellCheck(info, cell) for name, info, cell in parts if cell is not None or info.words}

    @cached_property
    def rules_of_tensors(self) -> Mapping[str, TensorRules]:
        """Tensor rules by field kind, shared between equal levels and operators."""
        rules_by_name = {info.kind: TensorRules(self, info.kind) for info in self.fields.values()}
        shared = self.spec.dialect.rules_of_tensors
        return {kind: shared.setdefault(rules.key, rules) for kind, rules in rules_by_name.items()}

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """A key that is equal for levels at which the operator is the same."""
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
        """A key that is equal for levels that accept the same descriptors.

        Fusion depends on the level itself, because of the operators and attributes that it defines.
        """
        infos = self.fields.values()
        fused = self.level if any(info.fuses for info in infos) else None
        return (self.key, *map(id, infos), fused, self.foreign_fields, self.ignores_attributes)


def make_forms(
    raw: Mapping[str, list[dict[str, Any]]], scope: Scope, *, kind: str = "operator"
) -> tuple[RuleForm, ...]:
    """Return the rules of compiled tables, parsed when they are first used.

    Their texts were checked when the tables were built.
    """
    forms = []
    for name, entries in raw.items():
        for entry in entries:
            extra: dict[str, Any] = {
                k: tuple(v) if isinstance(v, list) else v for k, v in entry.items() if k not in {"require", "when"}
            }
            names = scope.scope_between(entry.get("since"), entry.get("until"))
            condition = parse_later(entry["when"], names) if "when" in entry else None
            require = parse_later(entry["require"], names)
            forms.append(RuleForm(name=name, require=require, when=condition, scope=kind, **extra))
    return tuple(forms)


def rule_forms(entry: Any) -> list[dict[str, Any]]:
    """Return a rule's forms, one per range of levels and expression."""
    entries = entry if isinstance(entry, list) else [entry]
    forms = [{"require": e} if isinstance(e, str) else e for e in entries]
    requirements = [form["require"] if isinstance(form["require"], list) else [form["require"]] for form in forms]
    return [{**form, "require": text} for form, texts in zip(forms, requirements, strict=True) for text in texts]


def cells_of(
    row: Mapping[str, Any], types: Iterable[str], overlays: Iterable[Overlay], condition: str | None = None
) -> dict[str, Cell]:
    """Return a row's cells with overlays applied.

    types: all element types. condition: the case; its overlays apply in addition to those without a case.
    """
    cells = {name: Cell.make(raw, types) for name, raw in row.items()}
    for overlay in overlays:
        for name, raw in overlay.cells.items():
            if raw.get("when") in {None, condition}:
                parts = {key: getattr(Cell.make(raw, types), key) for key in raw if key != "when"}
                cells[name] = replace(cells.get(name, Cell()), **parts)
        for name in overlay.free_values:
            cells[name] = replace(cells.get(name, Cell()), values=None, range=None)
    return cells
