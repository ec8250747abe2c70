"""What a spec file of an operator or a family may say: pydantic models. Imported only to (re)build a table."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from specgate.spec.model_rows import (
    AttributeName,
    Cell,
    CellRule,
    DefineKey,
    Expression,
    Implementation,
    Level,
    Name,
    RequiredRule,
    RuleName,
    Support,
    ValueRule,
    VariableRule,
)
from specgate.spec.model_values import OtherValues, is_constant

__all__ = [
    "Counterexample", "ExamplesFile", "FamilyFile", "OperatorFile", "OtherValues", "RuleEntry", "Source",
]  # fmt: skip


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Source(_File):
    """Where a table's facts stand: a vendor's page or package, with the version that was read."""

    page: str | None = Field(default=None, description="the page's name, e.g. ns-directml-dml_one_hot_operator_desc")
    name: str | None = None
    repository: str | None = Field(default=None, description="owner/name on GitHub")
    path: str | None = None
    commit: str | None = Field(default=None, description="the commit whose text was read")
    package: str | None = Field(default=None, description="a PyPI package that states the fact itself")
    version: str | None = None
    measured: str | None = Field(default=None, description="what was measured, and how")
    note: str | None = None


class FieldSpec(_File):
    """One field of an operator: a tensor, or an attribute with its type."""

    kind: Literal["input", "output", "attribute"]
    type: str = Field(
        default="tensor",
        description="tensor, uint, int, uint64, float, bool, string, enum:NAME, scalar, operator (fused into this "
        "one), tensor-proto, sparse-tensor-proto, graph, type-proto or a record that the dialect registers; "
        "[] behind it makes it an array",
    )
    members: dict[Name, str] = Field(
        default={}, description="of the operator that the field holds, the attributes that rules read, with their types"
    )
    vendor_name: str | None = Field(
        default=None, description="the vendor's name for it, where another field of the operator has that name"
    )
    page_names: list[AttributeName] | None = Field(
        default=None, description="other names that the page has for the attribute and builds do not know"
    )
    min_count: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="how many elements an array of tensors has at least; 1 if absent, 0 if optional"
    )
    heterogeneous: bool = Field(default=False, description="the elements of an array of tensors may differ in type")
    counts: list[Name] | None = Field(
        default=None, description="the arrays whose length the attribute states: it is that of each that is there"
    )
    became: Name | None = Field(
        default=None,
        description="the input that holds this value from the attribute's `until` on, where the two names differ",
    )
    enum: Literal["element-type"] | None = Field(
        default=None,
        description="the attribute holds the number that types.yaml gives an element type; descriptors may say the "
        "type's word, and messages have it",
    )
    type_from: Name | None = Field(default=None, description="the enum attribute that says which type a scalar has")
    optional: bool = False
    default: Any = Field(default=None, description="the value an absent attribute has")
    words: list[str] | None = Field(default=None, description="the legal values of a string attribute")
    since: Level | None = None
    until: Level | None = Field(default=None, description="the first level without it")
    doc: str | None = None


def _form_of_field(value: Any) -> str:
    return "forms" if isinstance(value, list) else "one"


#: A field, or the forms that it has one after the other, each from its `since` on and before its `until`.
FieldEntry = Annotated[
    Annotated[FieldSpec, Tag("one")] | Annotated[list[FieldSpec], Field(min_length=2), Tag("forms")],
    Discriminator(_form_of_field),
]


class LongRule(_File):
    """A rule with more to say than its expression."""

    require: Expression | Annotated[list[Expression], Field(min_length=2)] = Field(
        description="what must hold; of a list each applies for itself"
    )
    when: Expression | None = Field(default=None, description="the rule applies only where this holds")
    since: Level | None = None
    until: Level | None = Field(default=None, description="the first level where it no longer holds")
    because: str | None = Field(default=None, description="what the page says, in our words")
    fix: str | None = Field(default=None, description="what to change, in one phrase")
    after: list[str] | None = Field(
        default=None,
        description="rules whose failure makes this one an echo; without it the earlier rules on ranks, lengths and "
        "attributes that this one reads too",
    )
    on: Literal["input", "output"] | None = Field(default=None, description="in a tensor file: only these tensors")
    hides: list[Literal["ranks", "types"]] = Field(
        default=[], description="cell checks that this rule's failure replaces"
    )
    structural: bool = Field(default=True, description="false: the kernel could compute a descriptor that breaks it")
    guard: bool = Field(
        default=False, description="the executor holds it before the kernel runs, which relies on it or never reads it"
    )
    crashes: bool = Field(
        default=False, description="a build has been seen to crash where it is broken, and none to take that"
    )

    @model_validator(mode="after")
    def _refused(self) -> LongRule:
        if self.guard and not self.structural:
            raise ValueError("a rule that the executor holds is structural")
        return self


RuleEntry = Expression | LongRule | list[LongRule]


class Example(_File):
    """A use of the operator with its answer, from the vendor's page where there is one."""

    source: str = Field(description="the example and its page, or `own`")
    since: Level | None = Field(default=None, description="first level that accepts it; the operator's first if absent")
    until: Level | None = Field(default=None, description="the first level that no longer takes it as it stands")
    descriptor: dict[str, Any]
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}


class Counterexample(_File):
    """An example changed in one place so that exactly one rule fails."""

    of: str
    operator: str | None = Field(default=None, description="in a tensor file: the operator whose example it is")
    at: Level | None = Field(default=None, description="the level to judge it at; the newest if absent")
    set: dict[str, Any] = Field(description="dotted path into the descriptor -> new value")


class ObservedCell(Cell):
    """The parts of a cell in which builds differ, in all of the operator's cases or in one."""

    when: Expression | None = Field(default=None, description="the condition of the only case that differs")


class Observed(_File):
    """Where real builds differ from the page, measured with an oracle."""

    builds: list[Level] | str
    by: Implementation | None = Field(default=None, description="the only implementation or build system that does it")
    support: dict[Name, ObservedCell] = {}
    not_enforced: list[RuleName | VariableRule | RequiredRule | ValueRule] = []
    attributes: list[AttributeName] = Field(
        default=[],
        description="attributes that the page does not define and builds accept; the default verdict follows the "
        "builds, with a note",
    )
    rules: dict[RuleName, RuleEntry] = {}
    values: dict[RuleName, OtherValues] = {}
    nondeterministic: list[RuleName] = Field(
        default=[],
        description="rules whose breach builds take or refuse by chance, since they read past what is given",
    )
    partially_enforced: list[RuleName | CellRule] = Field(
        default=[],
        description="rules, and parts of a field's cell, that an implementation looks at in some cases only, as where "
        "it knows a constant",
    )
    tools_write: list[RuleName | CellRule | VariableRule | RequiredRule] = Field(
        default=[],
        description="rules, and parts of a field's cell, that the vendor's own tools break in files and builds "
        "do not enforce; the default verdict follows the builds, with a note",
    )
    evidence: str
    bug: bool = Field(default=False, description="the build contradicts its own page")


class Execute(BaseModel):
    """How the operator is computed: a kernel, its arguments, and behaviour that changes with the level.

    A family may say some of it and its operators the rest; together they need the kernel, the arrays and the outputs.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    kernel: Name | None = None
    arrays: dict[Name, Name | list[Name]] | None = Field(
        default=None,
        description="kernel argument -> tensor field whose array it gets; of a list, the field that the level has",
    )
    arguments: dict[Name, Expression] = Field(
        default={},
        description="kernel argument -> attribute that it gets as it is, tensors whose sizes it gets, or expression",
    )
    output_type: dict[Name, Name | list[Name]] | None = Field(
        default=None,
        description="kernel argument -> tensor field whose declared type it gets, or attribute that holds a type's "
        "number or name; of a list, the first that states a type",
    )
    outputs: list[Name | list[Name]] | None = Field(
        default=None,
        description="output fields in the order the kernel returns them; of a list, the field that the level has",
    )
    sized_by_values: list[Name] = Field(
        default=[],
        description="outputs with sizes that follow from the elements of inputs alone; a size that is declared for one "
        "is an expectation, which no rule decides",
    )
    since: Level | None = Field(
        default=None, description="first level that the kernel is for; before it the operator means something else"
    )
    unsupported_types: dict[Name, list[str]] = Field(
        default={}, description="tensor field -> types that a row or a build takes and the kernel does not compute"
    )

    @model_validator(mode="after")
    def _behaviour(self) -> Execute:
        for level, row in (self.model_extra or {}).items():
            if not isinstance(row, dict) or not all(is_constant(v) for v in row.values()):
                raise ValueError(f"expected level {level!r:.40} to hold constants, or expression: …, by argument name")
        return self


class ReplacedBy(_File):
    """An operator that computes the same where this one was removed."""

    operator: str
    inputs: dict[Name, Name] = Field(description="input of the other operator -> input that it gets")
    attributes: dict[Name, Any] = Field(
        default={},
        description="attribute of the other operator -> value without which it would compute something else, where a "
        "level has that attribute; attributes of the same name keep their values",
    )
    empty: list[Name] = Field(
        default=[], description="inputs of the other operator that some levels require, although nothing is in them"
    )
    evidence: str = Field(description="what says, or has shown, that the two compute the same")


class OperatorFile(_File):
    """One operator of one dialect, all its levels."""

    operator: str
    like: str | None = Field(
        default=None,
        description="the operator whose fields, support, rules and so on hold here too, unless they are stated; null "
        "removes an entry, and {} keeps it",
    )
    family: RuleName | None = Field(default=None, description="whose fields, rules and so on hold here too")
    summary: str = Field(
        default="",
        description="what it computes, in our words; a file that only says what a package states may leave it out",
    )
    source: list[Source]
    unknowns: list[str] = Field(default=[], description="facts that could not be found")
    fields: dict[Name, FieldEntry] | None = Field(default=None, description="all of them, or those the family lacks")
    support: Support
    removed: Level | None = None
    replaced_by: ReplacedBy | None = Field(default=None, description="what to write instead from `removed` on")
    unchecked_attributes: bool = Field(default=False, description="attributes that are not listed are taken too")
    define: dict[DefineKey, Expression] = Field(
        default={},
        description="expressions by their names: window; or window(i), which rules use with any argument, as window(0)",
    )
    rules: dict[RuleName, RuleEntry] = {}
    execute: Execute | None = None
    tolerance: Expression | None = None
    examples: dict[str, Example] = {}
    counterexamples: dict[RuleName, Counterexample] = {}
    observed: list[Observed] = []


class ExamplesFile(_File):
    """The examples and counterexamples of the operator whose file has the same name."""

    examples: dict[str, Example] = {}
    counterexamples: dict[RuleName, Counterexample] = {}


class FamilyFile(_File):
    """What several operators of a dialect share; each may add to it, and replace what it names again."""

    family: RuleName
    fields: dict[Name, FieldEntry] = {}
    define: dict[DefineKey, Expression] = Field(
        default={},
        description="expressions by their names: window; or window(i), which rules use with any argument, as window(0)",
    )
    rules: dict[RuleName, RuleEntry] = {}
    execute: Execute | None = None
    tolerance: Expression | None = None
    counterexamples: dict[RuleName, Counterexample] = Field(
        default={}, description="changes of an example that every operator of the family has"
    )
    observed: list[Observed] = []
