"""Pydantic models of support rows and the names used by all spec files."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    Tag,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from specgate.rules.shorthand import FORMULA

__all__ = [
    "AttributeName", "Cell", "CellRule", "CodesFile", "Counterexample", "DefineKey", "DialectFile",
    "EnvironmentsFile", "ExamplesFile", "Expression", "FamilyFile", "Implementation", "Level", "LevelsFile", "Name",
    "OperatorFile", "OtherValues", "RequiredRule", "RuleEntry", "RuleName", "SetName", "SetsFile", "Source",
    "Support", "TensorFile", "TypesFile", "ValueRule", "VariableRule", "is_constant",
]  # fmt: skip

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=120)]
AttributeName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", max_length=120)]
RuleName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=60)]
CellRule = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.(value|type|rank)$", max_length=130)]
VariableRule = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.same-type$", max_length=130)]
ValueRule = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.value$", max_length=130)]
RequiredRule = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.required$", max_length=130)]
Implementation = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*([-_.][a-z0-9]+)*$", max_length=60)]
Level = Annotated[str, StringConstraints(min_length=1, max_length=20)]
SetName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*([-_.][a-z0-9]+)*$", max_length=60)]
_WORD = r"[A-Za-z_][A-Za-z0-9_]*"


def _define_key(value: str) -> str:
    if not re.fullmatch(_WORD, value) and not FORMULA.fullmatch(value):
        raise ValueError("expected a name (window), or one with parameters (window(i, n))")
    return value


#: ``window``, or ``window(i)`` for a define with parameters.
DefineKey = Annotated[
    str,
    StringConstraints(max_length=120),
    AfterValidator(_define_key),
    WithJsonSchema({"type": "string", "pattern": rf"^({_WORD}|{FORMULA.pattern})$"}),
]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=2000)]

_RANGE = re.compile(r"-?[0-9]{1,19}\.\.(-?[0-9]{1,19})?")


def _ranks(value: int | str | list[int]) -> int | str | list[int]:
    if isinstance(value, str) and value != "any" and not _RANGE.fullmatch(value):
        raise ValueError('expected a rank (4), a range ("1..8", "1.."), a list ([4, 5]) or "any"')
    return value


def _range(value: str) -> str:
    if not _RANGE.fullmatch(value):
        raise ValueError('expected a range such as "0..3" or "1.."')
    return value


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Cell(_File):
    """The limits of a support row for one field."""

    types: Annotated[list[str], Field(min_length=1)] | str | None = Field(
        default=None, description="type names and sets ($NAME of sets.yaml), one of them, a name of type_sets, or any"
    )
    ranks: Annotated[int | str | list[int], AfterValidator(_ranks)] | None = None
    values: Annotated[list[str | int], Field(min_length=1)] | None = None
    range: Annotated[str, AfterValidator(_range)] | None = None
    operators: list[str] | str | None = Field(
        default=None,
        description="what a field may hold that fuses operators, sets of them ($NAME of sets.yaml) among them; RELU is "
        "short for ACTIVATION_RELU",
    )

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keep null, which removes a part of the previous row."""
        entries = {name: None for name in type(self).model_fields if name in self.model_fields_set}
        return {**entries, **handler(self)}


class SupportRow(BaseModel):
    """A support row: the limits per field from one level on, and type sets.

    A row states only the changes from the previous row. It inherits the cells that it omits, and the omitted parts of a
    cell. null removes a cell, a part of one or a type set.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, Cell | None] = Field(init=False)

    deprecated: bool = Field(default=False, description="the vendor withdrew this version: no level of the row has it")
    type_sets: dict[Name, list[str] | str | None] = Field(
        default={}, description="type variable -> types or a set ($NAME of sets.yaml), as in ONNX's schemas"
    )


class SupportCase(BaseModel):
    """The support rows, by level, of descriptors that satisfy a condition."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, SupportRow] = Field(init=False)

    when: Expression = Field(description="whose rows these are; no two of an operator's cases may hold at once")


def _form_of_support(value: Any) -> str:
    return "cases" if isinstance(value, list) else "rows"


Support = Annotated[
    Annotated[dict[Level, SupportRow], Tag("rows")] | Annotated[list[SupportCase], Tag("cases")],
    Discriminator(_form_of_support),
]


def is_constant(value: Any) -> bool:
    """Return whether a kernel argument is a constant or an expression.

    An expression is written ``{expression: TEXT}``.
    """
    return isinstance(value, str | int | bool | float) or (isinstance(value, dict) and list(value) == ["expression"])


class OtherValues(BaseModel):
    """A difference in results rather than in acceptance."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    what: str = Field(description="what is computed instead of what the page says, in our words")
    when: Expression | None = Field(default=None, description="only descriptors for which this holds may differ")
    elements: Expression | None = Field(
        default=None,
        description="only elements for which this holds may differ: a tensor's name is the element of it at the same "
        "place, and `ours` and `theirs` are the results there",
    )
    arguments: dict[Name, Any] = Field(
        default={},
        description="kernel argument -> constant, or expression: …, with which the kernel computes this where the "
        "values of builds are asked for",
    )
    kernel: Name | None = Field(
        default=None,
        description="kernel that computes this instead of the operator's; it gets the same arrays and arguments",
    )
    fields: dict[Name, Expression | None] = Field(
        default={},
        description="attribute -> expression for the value that builds compute with instead of the stated one; null: "
        "as if it were left out",
    )
    types: dict[Name, Name] = Field(
        default={},
        description="type variable or field -> element type that builds compute in; inputs are converted to it, and "
        "results back to their own types",
    )
    conversion: Literal["round", "cut"] = Field(
        default="round",
        description="how results of `types` become integers: the nearest one, or without the fraction; what the type "
        "does not hold becomes its least or greatest value",
    )
    undefined: bool = Field(
        default=False,
        description="the values of builds depend on memory or chance, so that all elements are masked where the values "
        "of builds are asked for",
    )
    all_builds: bool = Field(
        default=False,
        description="every build of these levels computes this, so values follow it by default, with a note; only "
        "basis documented gives the page's",
    )

    @property
    def computed(self) -> bool:
        """True if the entry defines how the executor computes this."""
        return bool(self.arguments or self.kernel or self.fields or self.types or self.undefined)

    @model_validator(mode="after")
    def _followed(self) -> OtherValues:
        if self.all_builds and not self.computed:
            raise ValueError(
                "expected arguments, kernel, fields or types: values follow all builds only where it says how"
            )
        return self

    @model_validator(mode="after")
    def _constants(self) -> OtherValues:
        if not all(map(is_constant, self.arguments.values())):
            raise ValueError("expected arguments to be constants, or expression: …")
        return self


class Source(_File):
    """The source of a table's facts: a page or package, and its version."""

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


#: A field, or its definitions per range of levels, each from its `since` on and before its `until`.
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
    """A use of the operator with its expected results.

    It is from the vendor's page where the page has one.
    """

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
    """The parts of a cell in which builds differ, in all cases or in one."""

    when: Expression | None = Field(default=None, description="the condition of the only case that differs")


class Observed(_File):
    """Differences of real builds from the page, measured with an oracle."""

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
    """The kernel of the operator, its arguments and level-dependent constants.

    A family may state some keys and its operators the rest; together they need the kernel, the arrays and the outputs.
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
    """The operator that computes the same after the removal of this one."""

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


def _allow_likeness(schema: dict[str, Any]) -> None:
    """Allow inherited keys to be absent, null or {} in a file with `like`."""
    inherited = ("family", "fields", "support", "unchecked_attributes", "define", "rules", "execute", "tolerance")
    strict = {name: schema["properties"][name] for name in inherited}
    schema["properties"] |= {name: {"description": part.get("description", "")} for name, part in strict.items()}
    schema["required"] = [name for name in schema["required"] if name not in inherited]
    schema["if"] = {"properties": {"like": {"type": "string"}}, "required": ["like"]}
    schema["else"] = {"properties": strict, "required": ["support"]}


class OperatorFile(_File):
    """One operator of one dialect at all levels."""

    model_config = ConfigDict(json_schema_extra=_allow_likeness)

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
    """The examples and counterexamples of the operator of the same file name."""

    examples: dict[str, Example] = {}
    counterexamples: dict[RuleName, Counterexample] = {}


class FamilyFile(_File):
    """The common part of several operators; each may add or replace entries."""

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


class ImplementationInfo(_File):
    """The properties of an implementation for `specgate conform` campaigns."""

    what: str = Field(description="which program it is, and what asking it means")
    ignores: list[Literal["structure", "type", "rank", "value", "rule", "outputs"]] = Field(
        default=[],
        description="what it does not look at, so that it disagrees with nothing that we refuse for; outputs: rules"
        " that read what is stated of an output",
    )
    infers_outputs: bool = Field(
        default=False, description="it infers outputs anew and looks at no type or shape that is stated of one"
    )
    reads_text: bool = Field(
        default=False, description="it reads attributes from text, so that values of another kind may have a meaning"
    )
    title: str | None = Field(default=None, description="what messages call it, where targets can ask for it")
    target: str | None = Field(
        default=None,
        pattern=r"^[a-z][a-z0-9-]*$",
        description="what stands before the colon of targets that ask for it; for others what it refuses is a note",
    )
    releases: list[str] = Field(
        default=[],
        description="names of the releases behind that colon: those that were asked; without target: what is observed"
        " by it holds for targets of the dialect that name one of these releases",
    )

    @model_validator(mode="after")
    def _whole_target(self) -> ImplementationInfo:
        if (self.target is None) != (self.title is None) or (self.target is not None and not self.releases):
            raise ValueError("target and title go together, with releases")
        return self


class DialectFile(_File):
    """The properties of a dialect as a whole."""

    dialect: Name
    title: str
    level: str = Field(description="what the dialect calls its version axis: feature level, opset")
    level_name: str | None = Field(default=None, description="what a header puts before a level: DML_FEATURE_LEVEL_")
    unstated_outputs: bool = Field(description="a descriptor may leave its outputs' types and shapes to inference")
    sources: list[Source] = []
    implementations: dict[Implementation, ImplementationInfo] = {}
    type_variables: bool = Field(
        default=False,
        description="fields whose cells name one type set of a row, and the elements of an array, have one type",
    )
    builds_ignore_attributes: bool = Field(
        default=False, description="builds accept attributes that the operator does not define, and do not read them"
    )
    rows_are_versions: bool = Field(
        default=False, description="a row stands for a version of the operator, even if equal to the one before"
    )
    domains: list[str] = Field(
        default=[],
        description="domains with versions of their own: operators of them are called DOMAIN.NAME, and each level says "
        "which version of a domain belongs to it",
    )
    foreign: dict[str, str] = Field(
        default={}, description="of these domains those that the dialect does not define itself, and who does"
    )
    stand_ins: dict[str, str] = Field(
        default={},
        description="operators that others have where the dialect has none, and the tables that execute them",
    )
    complete: bool = Field(
        default=False, description="every operator has a table: a cell may name no others as fused ones"
    )
    loose: list[Literal["type", "rank", "value"]] = Field(
        default=[],
        description="cells of a row that a kernel may go beyond where another row of the operator takes the same; rules"
        " say `structural: false`",
    )
    short_names: list[str] = Field(
        default=[],
        description="what a cell may leave out before the name of a fused operator; the first that makes a name counts",
    )


class LevelInfo(BaseModel):
    """One level; additional keys of a dialect are kept."""

    model_config = ConfigDict(extra="allow", strict=True)
    limits: dict[Name, int] = {}
    domains: dict[str, Level] = Field(default={}, description="the newest version of each further domain there")
    asked: bool = Field(default=True, description="a real implementation of this level was asked")


class LevelsFile(_File):
    """A dialect's levels in order."""

    dialect: Name
    what: str
    sources: list[Source]
    levels: dict[Level, LevelInfo]
    ir_versions: dict[str, str] = {}


class Gate(BaseModel):
    """The capability that tensors of a type require at some levels."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    any: list[str] = Field(min_length=1, description="device capabilities; one of them is enough")
    since: Level | None = None
    until: Level | None = Field(default=None, description="the first level that does not ask for it")


class TypeInfo(_File):
    """One element type."""

    value: int | None = None
    bits: int | None
    numpy: str | None
    ml_dtypes: str | None = Field(default=None, description="the type of the package ml_dtypes, where numpy has none")
    since: Level | None = None
    release: str | None = Field(default=None, description="the first release that knows the type, one of environments")
    capability: list[Gate] | None = Field(default=None, description="what the device must report; one holds at a level")
    tensor: str | None = None
    ir_version: int | None = None
    ir: str | None = None


class TypesFile(_File):
    """A dialect's element types."""

    dialect: Name
    sources: list[Source]
    types: dict[str, TypeInfo]
    containers: dict[Name, int] = Field(
        default={}, description="what makes types of types, as seq in seq(tensor(float)), and of how many"
    )
    flags: dict[str, int] = {}


class SetsFile(_File):
    """A dialect's named lists; an entry ``$NAME`` inserts an earlier set."""

    dialect: Name
    types: dict[SetName, list[str]] = Field(default={}, description="what cells write as `types: $NAME`")
    operators: dict[SetName, list[str]] = Field(default={}, description="what cells write as `operators: $NAME`")


class Environment(_File):
    """A named release, and the level that it implements."""

    name: str
    title: str
    kind: Literal["windows", "package", "wheel", "release", "runtime"]
    level: Level
    ir_version: int | None = None
    via: str | None
    source: str


class Unstated(_File):
    """Releases whose level no source documents."""

    instead: str = Field(description="how to find the level there, as a clause")
    releases: dict[str, str] = Field(description="the title of each, by the name that a user may type")


class EnvironmentsFile(_File):
    """A dialect's releases."""

    dialect: Name
    sources: list[Source]
    environments: list[Environment]
    domains: dict[Literal["release", "runtime"], dict[str, str]] = Field(
        default={},
        description="by kind of release the domains of its own that it has operators in, each with its source",
    )
    unstated: Unstated | None = None


class Code(_File):
    """An error code that users meet."""

    name: str
    meaning: str
    advice: str
    texts: list[str] = Field(default=[], description="phrases of the message that systems print, in small letters")
    source: str


class CodesFile(_File):
    """A dialect's error codes, by their hexadecimal spelling."""

    dialect: Name
    sources: list[Source]
    codes: dict[Annotated[str, StringConstraints(pattern=r"^0x[0-9A-F]{8}$")], Code]


class ObservedTensors(_File):
    """Differences of real builds for tensors of any operator."""

    builds: list[Level] | str
    by: Implementation | None = Field(default=None, description="the only implementation or build system that does it")
    not_enforced: list[RuleName] = []
    rules: dict[RuleName, RuleEntry] = {}
    values: dict[RuleName, OtherValues] = {}
    evidence: str
    bug: bool = Field(default=False, description="the build contradicts its own page")


class TensorFile(_File):
    """The rules of every tensor of a dialect; they use the name `tensor`."""

    dialect: Name
    sources: list[Source]
    rules: dict[RuleName, RuleEntry]
    counterexamples: dict[RuleName, Counterexample] = {}
    observed: list[ObservedTensors] = []
