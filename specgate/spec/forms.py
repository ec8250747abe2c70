"""The parts of a table: what a cell allows, what a field is, a rule with its levels, and what builds do instead."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from specgate.caching import cached_property
from specgate.rules.parse import (
    GRAPH,
    NUMBER,
    OPERATOR,
    SCALE_BIAS,
    SIZE_2D,
    TENSOR,
    TRUTH,
    WORD,
    Rule,
    Scope,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specgate.levels import LevelSet
    from specgate.spec.tables import OperatorSpec

__all__ = [
    "SHORT_NAMES", "Bounds", "Case", "Cell", "FieldInfo", "Layout", "Overlay", "Resolved", "RuleForm", "SingleBasis",
    "make_forms", "rule_forms",
]  # fmt: skip

#: What may be left out before a fused operator's name where the dialect says nothing of its own.
SHORT_NAMES: Final = ("ACTIVATION_", "ELEMENT_WISE_")
SingleBasis = Literal["documented", "observed"]
_KINDS: Final = {
    "uint": NUMBER, "int": NUMBER, "uint64": NUMBER, "int64": NUMBER, "float": NUMBER, "bool": TRUTH, "string": WORD,
    "tensor": TENSOR, "scalar": NUMBER, "size-2d": SIZE_2D, "scale-bias": SCALE_BIAS, "operator": OPERATOR,
    "tensor-proto": TENSOR, "sparse-tensor-proto": TENSOR, "type-proto": TENSOR, "graph": GRAPH,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bounds:
    """Ranks or numbers that a cell allows: from `low` to `high` (None: no bound), or exactly those in `only`."""

    low: int
    high: int | None = None
    only: tuple[int, ...] | None = None

    def __contains__(self, number: int) -> bool:
        if self.only is not None:
            return number in self.only
        return self.low <= number and (self.high is None or number <= self.high)

    def __str__(self) -> str:
        if self.only is not None:
            return ", ".join(str(n) for n in self.only)
        if self.high is None:
            return f"{self.low} or more"
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"

    @classmethod
    def make(cls, raw: Any) -> Bounds | None:
        """Read the compiled form: [low, high], {"only": [...]} or None."""
        if raw is None:
            return None
        if isinstance(raw, dict):
            only = tuple(raw["only"])
            return cls(only[0], only[-1], only)
        return cls(raw[0], raw[1])


@dataclass(frozen=True, slots=True)
class Cell:
    """What a support row allows for one field; None means that the row does not limit it.

    operators: full names of those that a field may hold, fused into its own. variable: the row's name for `types`.
    """

    types: tuple[str, ...] | None = None
    ranks: Bounds | None = None
    values: tuple[Any, ...] | None = None
    range: Bounds | None = None
    operators: tuple[str, ...] | None = None
    variable: str | None = None

    @classmethod
    def make(cls, raw: Mapping[str, Any], every_type: Iterable[str]) -> Cell:
        """Read the compiled form; `every_type` is what the word ``any`` stands for."""
        types = raw.get("types")
        return cls(
            types=tuple(every_type) if types == "any" else tuple(types) if types else None,
            ranks=Bounds.make(raw.get("ranks")),
            values=tuple(raw["values"]) if "values" in raw else None,
            range=Bounds.make(raw.get("range")),
            operators=tuple(raw["operators"]) if "operators" in raw else None,
            variable=raw.get("variable"),
        )


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """One field: kind is input, output or attribute; optional ones may be left out and then have their default.

    type_from: the enum field that says which type a ``scalar`` has. members: of the operator that a field holds, the
    attributes that rules read, with their types. vendor_name: what the vendor calls it, `name` if empty.
    min_count: how many elements an array of tensors must have; heterogeneous: they may differ in type. counts: the
    arrays whose length an attribute states. enum: the enum whose numbers the attribute holds. forms: what the field is
    over its stretches of levels, where it changes; the rest is then what it is in the newest one.
    """

    name: str
    kind: str
    type: str = "tensor"
    optional: bool = False
    default: Any = None
    words: tuple[str, ...] | None = None
    since: str | None = None
    until: str | None = None
    doc: str | None = None
    type_from: str | None = None
    members: Mapping[str, str] = field(default_factory=dict)
    vendor_name: str = ""
    min_count: int | None = None
    heterogeneous: bool = False
    counts: tuple[str, ...] = ()
    enum: str | None = None
    forms: tuple[FieldInfo, ...] = ()

    @classmethod
    def make(cls, name: str, raw: Mapping[str, Any] | list[Mapping[str, Any]]) -> FieldInfo:
        """Read the compiled form: of one field, or of what it is over several stretches of levels."""
        if isinstance(raw, list):
            forms = tuple(cls.make(name, form) for form in raw)
            return replace(forms[-1], since=forms[0].since, forms=forms)
        lists = {"words": tuple(raw["words"]) if raw.get("words") else None, "counts": tuple(raw.get("counts") or ())}
        return cls(name, **{**raw, **lists})

    def __post_init__(self) -> None:
        if not self.vendor_name:
            object.__setattr__(self, "vendor_name", self.name)

    @property
    def tensor(self) -> bool:
        return self.type == "tensor"

    @property
    def fuses(self) -> bool:
        """Whether it holds an operator, or an array of them."""
        return self.type in {"operator", "operator[]"}

    @property
    def rule_kind(self) -> str:
        """The kind that expressions see."""
        return kind_of(self.type)

    @property
    def member_kinds(self) -> dict[str, str]:
        """The kinds of `members`, by their names."""
        return {name: kind_of(type_) for name, type_ in self.members.items()}


def kind_of(type_: str) -> str:
    """Return the kind of a field's or a member's type in rules."""
    kind = _KINDS.get(type_.removesuffix("[]"), WORD)  # an enum's values are words
    return f"{kind}s" if type_.endswith("[]") else kind


@dataclass(frozen=True, slots=True)
class Layout:
    """How descriptors of one level are read: tensors by position, attributes by the vendor's names for them.

    attributes: those of the level, and behind them those that only other levels have.
    """

    inputs: tuple[FieldInfo, ...]
    outputs: tuple[FieldInfo, ...]
    attributes: Mapping[str, FieldInfo]

    @classmethod
    def make(cls, held: Mapping[str, FieldInfo], every: Mapping[str, FieldInfo]) -> Layout:
        """Put the fields `held` at a level in order; `every` field is there to name attributes of other levels."""
        attributes = {f.vendor_name: f for f in held.values() if f.kind == "attribute"}
        others = {f.vendor_name: f for f in every.values() if f.kind == "attribute" and f.vendor_name not in attributes}
        inputs = tuple(f for f in held.values() if f.kind == "input")
        return cls(inputs, tuple(f for f in held.values() if f.kind == "output"), attributes | others)


@dataclass(frozen=True, slots=True)
class RuleForm:
    """One rule over one stretch of levels, parsed.

    scope: "operator", or "tensor" for rules that every tensor obeys. variable: the type variable that it follows from.
    structural: what breaks it is not computed. guard: because the executor holds it too, not because no kernel could.
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


@dataclass(frozen=True, slots=True)
class OtherValues:
    """What is computed instead of what the page says; when: for which descriptors, elements: at which (None: any)."""

    what: str
    when: Rule | None = None
    elements: Rule | None = None

    @classmethod
    def make(cls, raw: Mapping[str, Any], scope: Scope) -> OtherValues:
        """Read the compiled form; RuleError (a ValueError) says what is wrong with an expression."""
        when, elements = raw.get("when"), raw.get("elements")
        return cls(
            raw["what"],
            parse(when, scope) if when else None,
            parse(elements, scope.of_elements()) if elements else None,
        )


@dataclass(frozen=True, slots=True)
class Overlay:
    """What builds of some levels do instead of the page.

    by: the only implementation (or build system) that does it; None where every one does. cells: field -> the parts of
    its cell that differ, as compiled. not_enforced: names of rules that do not hold there. rules: those that hold
    instead. values: where other values are computed. bug: whether the build contradicts its own page.
    """

    builds: LevelSet
    by: str | None = None
    cells: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    not_enforced: frozenset[str] = frozenset()
    rules: tuple[RuleForm, ...] = ()
    values: tuple[OtherValues, ...] = ()
    bug: bool = False

    @classmethod
    def make(cls, raw: Mapping[str, Any], builds: LevelSet, scope: Scope, *, kind: str = "operator") -> Overlay:
        """Read the compiled form; RuleError (a ValueError) says what is wrong with a rule."""
        forms = {name: rule_forms(entry) for name, entry in raw.get("rules", {}).items()}
        return cls(
            builds,
            raw.get("by"),
            raw.get("support", {}),
            frozenset(raw.get("not_enforced", ())),
            make_forms(forms, scope, kind=kind),
            tuple(OtherValues.make(entry, scope) for entry in raw.get("values", {}).values()),
            bool(raw.get("bug")),
        )

    def holds(self, level: str, by: str | None) -> bool:
        """Return whether it covers `level` as the implementation `by` has it (None: as every one has it)."""
        return level in self.builds and (self.by is None or self.by == by)

    def applied(self, forms: list[RuleForm]) -> list[RuleForm]:
        """Return the rules that hold instead of `forms`."""
        return [form for form in forms if form.name not in self.not_enforced] + list(self.rules)


@dataclass(frozen=True, slots=True)
class Case:
    """One of several support rows of an operator at one level: the descriptors it covers, and what it allows."""

    when: Rule
    resolved: Resolved


@dataclass(frozen=True)
class Resolved:
    """An operator at one level: its fields, cells and rules there, on one side (page or builds).

    cases: where the row depends on the descriptor, one for each row there is at the level; `cells` is empty then.
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

    @property
    def alternatives(self) -> tuple[Resolved, ...]:
        """The level by each of its support rows: one for each case, or itself."""
        return tuple(case.resolved for case in self.cases) or (self,)

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
        )

    @cached_property
    def content(self) -> tuple[Any, ...]:
        """Equal for two levels of one operator that take and refuse the same descriptors.

        What may be fused depends on the level itself: which operators and attributes there are.
        """
        infos = self.fields.values()
        return (self.key, *map(id, infos), self.level if any(info.fuses for info in infos) else None)


def make_forms(
    raw: Mapping[str, list[dict[str, Any]]], scope: Scope, *, kind: str = "operator"
) -> tuple[RuleForm, ...]:
    """Parse compiled rules; RuleError (a ValueError) says what is wrong with one."""
    forms = []
    for name, entries in raw.items():
        for entry in entries:
            extra: dict[str, Any] = {
                k: tuple(v) if isinstance(v, list) else v for k, v in entry.items() if k not in {"require", "when"}
            }
            names = scope.between(entry.get("since"), entry.get("until"))
            when = parse(entry["when"], names) if "when" in entry else None
            forms.append(RuleForm(name=name, require=parse(entry["require"], names), when=when, scope=kind, **extra))
    return tuple(forms)


def rule_forms(entry: Any) -> list[dict[str, Any]]:
    """Return a rule's forms (one per stretch of levels, and per expression) from any of its spellings."""
    entries = entry if isinstance(entry, list) else [entry]
    forms = [{"require": e} if isinstance(e, str) else e for e in entries]
    several = [form["require"] if isinstance(form["require"], list) else [form["require"]] for form in forms]
    return [{**form, "require": text} for form, texts in zip(forms, several, strict=True) for text in texts]
