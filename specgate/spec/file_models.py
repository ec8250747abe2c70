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
        default=None, description="type names and sets ($NAME of sets.yaml), a single one, a name of type_sets, or any"
    )
    ranks: Annotated[int | str | list[int], AfterValidator(_ranks)] | None = None
    values: Annotated[list[str | int], Field(min_length=1)] | None = None
    range: Annotated[str, AfterValidator(_range)] | None = None
    operators: list[str] | str | None = Field(
        default=None,
        description="operators that may be fused, and sets of them ($NAME of sets.yaml); RELU is short for "
        "ACTIVATION_RELU",
    )

    @model_serializer(mode="wrap")
    def _keep_null(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
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

    when: Expression = Field(description="condition of these rows; at most one case of an operator may apply")


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

    what: str = Field(description="what is computed instead of the documented values, in our words")
    when: Expression | None = Field(default=None, description="only descriptors for which this is true may differ")
    elements: Expression | None = Field(
        default=None,
        description="only elements for which this is true may differ: a tensor's name is its element at the same "
        "index; `ours` and `theirs` are the results at that index",
    )
    arguments: dict[Name, Any] = Field(
        default={},
        description="kernel argument -> constant, or expression: …, with which the kernel reproduces the values of "
        "builds",
    )
    kernel: Name | None = Field(
        default=None,
        description="kernel that computes this instead of the operator's; with the same arrays and arguments",
    )
    fields: dict[Name, Expression | None] = Field(
        default={},
        description="attribute -> expression for the value that builds use instead of the given one; null: as if "
        "omitted",
    )
    types: dict[Name, Name] = Field(
        default={},
        description="type variable or field -> element type that builds compute in; inputs are converted to it, and "
        "results back to their declared types",
    )
    conversion: Literal["round", "cut", "odd_up"] = Field(
        default="round",
        description="how results of `types` become integers: rounded or truncated; values out of range are saturated. "
        "odd_up: results in bf16 are truncated, and rounded up only if that is odd and at least half a unit remains",
    )
    undefined: bool = Field(
        default=False,
        description="builds leave the outputs undefined, such as uninitialized memory; with basis observed all "
        "elements are masked",
    )
    all_builds: bool = Field(
        default=False,
        description="every build of these levels computes this, so values follow it by default, with a note; basis "
        "documented gives the documented values",
    )

    @property
    def computed(self) -> bool:
        """True if the entry defines how the executor computes this."""
        return bool(self.arguments or self.kernel or self.fields or self.types or self.undefined)

    @model_validator(mode="after")
    def _check_all_builds(self) -> OtherValues:
        if self.all_builds and not self.computed:
            raise ValueError(
                "expected arguments, kernel, fields or types: values can follow all builds only with one of them"
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
    path: str | None = Field(
        default=None,
        description="the file in that repository; without a repository, in the folder of the dialect's pages",
    )
    commit: str | None = Field(default=None, description="the commit whose text was read")
    package: str | None = Field(default=None, description="a PyPI package that contains the fact")
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
        "a suffix [] makes it an array",
    )
    members: dict[Name, str] = Field(
        default={}, description="attributes of the fused operator that rules read, with their types"
    )
    vendor_name: str | None = Field(
        default=None, description="the vendor's name, if another field of the operator has the same name"
    )
    page_names: list[AttributeName] | None = Field(
        default=None, description="other documented names of the attribute that builds do not accept"
    )
    min_count: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="minimum number of elements of an array of tensors; 1 if absent, 0 if optional"
    )
    heterogeneous: bool = Field(
        default=False, description="the elements of an array of tensors may have different types"
    )
    counts: list[Name] | None = Field(default=None, description="the arrays whose length is the attribute's value")
    became: Name | None = Field(
        default=None,
        description="the input that replaces the attribute from its `until` on, if the names differ",
    )
    enum: Literal["element-type"] | None = Field(
        default=None,
        description="the attribute is the number of an element type in types.yaml; descriptors may use the type's "
        "name, and messages show it",
    )
    type_from: Name | None = Field(
        default=None,
        description="the enum attribute with the type of a scalar, whose range is the derived rule `value-fits`",
    )
    optional: bool = False
    default: Any = Field(default=None, description="the value of an absent attribute")
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
        description="condition; the entries of a list apply independently"
    )
    when: Expression | None = Field(default=None, description="the rule applies only if this is true")
    since: Level | None = None
    until: Level | None = Field(default=None, description="the first level at which it no longer applies")
    because: str | None = Field(default=None, description="the requirement of the documentation, in our words")
    fix: str | None = Field(default=None, description="what to change, in one phrase")
    after: list[str] | None = Field(
        default=None,
        description="rules whose failure makes this one redundant (default: earlier rules on the same ranks, "
        "lengths and attributes)",
    )
    on: Literal["input", "output"] | None = Field(default=None, description="in a tensor file: only these tensors")
    hides: list[Literal["ranks", "types"]] = Field(
        default=[], description="cell checks that this rule's failure replaces"
    )
    structural: bool = Field(default=True, description="false: the kernel could compute a descriptor that breaks it")
    guard: bool = Field(
        default=False, description="the executor checks it before the kernel, which relies on it or does not read it"
    )
    crashes: bool = Field(default=False, description="a build crashed on a violation, and no build accepts one")

    @model_validator(mode="after")
    def _check_guard(self) -> LongRule:
        if self.guard and not self.structural:
            raise ValueError("a rule that the executor checks is structural")
        return self


RuleEntry = Expression | LongRule | list[LongRule]


class Example(_File):
    """A use of the operator with its expected results.

    It is from the vendor's page where the page has one.
    """

    source: str = Field(description="the example and its page, or `own`")
    since: Level | None = Field(default=None, description="first level that accepts it (default: the operator's first)")
    until: Level | None = Field(default=None, description="the first level that no longer accepts it unchanged")
    descriptor: dict[str, Any]
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}


class Counterexample(_File):
    """An example changed in one place so that exactly one rule fails."""

    of: str
    operator: str | None = Field(default=None, description="in a tensor file: the operator whose example it is")
    at: Level | None = Field(default=None, description="the level at which it is checked (default: the newest)")
    set: dict[str, Any] = Field(description="dotted path into the descriptor -> new value")


class ObservedCell(Cell):
    """The parts of a cell in which builds differ, in all cases or in one."""

    when: Expression | None = Field(default=None, description="the condition of the only case that differs")


class Observed(_File):
    """Differences of real builds from the page, measured with an oracle."""

    builds: list[Level] | str
    by: Implementation | None = Field(
        default=None, description="the only implementation or build system with this behavior"
    )
    support: dict[Name, ObservedCell] = {}
    not_enforced: list[RuleName | VariableRule | RequiredRule | ValueRule] = []
    attributes: list[AttributeName] = Field(
        default=[],
        description="undocumented attributes that builds accept; the default verdict follows the builds, with a note",
    )
    rules: dict[RuleName, RuleEntry] = {}
    values: dict[RuleName, OtherValues] = {}
    nondeterministic: list[RuleName] = Field(
        default=[],
        description="rules whose violation builds accept or reject unpredictably, because they read out of bounds",
    )
    partially_enforced: list[RuleName | CellRule] = Field(
        default=[],
        description="rules, and parts of a field's cell, that an implementation checks only in some cases, such as "
        "with a constant",
    )
    tools_write: list[RuleName | CellRule | VariableRule | RequiredRule] = Field(
        default=[],
        description="rules, and parts of a field's cell, that files of the vendor's own tools violate and builds do "
        "not enforce; the default verdict follows the builds, with a note",
    )
    evidence: str
    bug: bool = Field(default=False, description="the build contradicts its own documentation")


class Execute(BaseModel):
    """The kernel of the operator, its arguments and level-dependent constants.

    A family may state some keys and its operators the rest; together they need the kernel, the arrays and the outputs.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    kernel: Name | None = None
    arrays: dict[Name, Name | list[Name]] | None = Field(
        default=None,
        description="kernel argument -> tensor field with its array; of a list, the field that exists at the level",
    )
    arguments: dict[Name, Expression] = Field(
        default={},
        description="kernel argument -> attribute (its value), tensors (their sizes), or expression",
    )
    output_type: dict[Name, Name | list[Name]] | None = Field(
        default=None,
        description="kernel argument -> tensor field (its declared type), or attribute with a type's number or "
        "name; of a list, the first that has a type",
    )
    outputs: list[Name | list[Name]] | None = Field(
        default=None,
        description="output fields in the order of the kernel's results; of a list, the field that exists at the level",
    )
    sized_by_values: list[Name] = Field(
        default=[],
        description="outputs whose sizes depend on input elements; their declared sizes are expectations that no "
        "rule checks",
    )
    since: Level | None = Field(
        default=None, description="first level that the kernel implements; before it, the operator has another meaning"
    )
    unsupported_types: dict[Name, list[str]] = Field(
        default={}, description="tensor field -> supported types that the kernel does not compute"
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
    inputs: dict[Name, Name] = Field(description="input of the other operator -> input passed to it")
    attributes: dict[Name, Any] = Field(
        default={},
        description="attribute of the other operator -> its required value, if the level defines the attribute; "
        "attributes of the same name keep their values",
    )
    empty: list[Name] = Field(
        default=[], description="inputs of the other operator that some levels require, although they are empty"
    )
    evidence: str = Field(description="evidence that both compute the same")


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
        description="the operator whose fields, support, rules and so on are inherited unless redefined; null "
        "removes an entry, and {} keeps it",
    )
    family: RuleName | None = Field(default=None, description="the family whose fields, rules and so on are inherited")
    summary: str = Field(
        default="",
        description="what it computes, in our words; optional in a file that only repeats a package",
    )
    source: list[Source]
    unknowns: list[str] = Field(default=[], description="facts that could not be found")
    fields: dict[Name, FieldEntry] | None = Field(
        default=None, description="all fields, or those that the family does not define"
    )
    support: Support
    removed: Level | None = None
    replaced_by: ReplacedBy | None = Field(default=None, description="replacement from `removed` on")
    unchecked_attributes: bool = Field(default=False, description="unlisted attributes are accepted, too")
    define: dict[DefineKey, Expression] = Field(
        default={},
        description="expressions by name: window, or window(i), which rules call with any argument, such as window(0)",
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
        description="expressions by name: window, or window(i), which rules call with any argument, such as window(0)",
    )
    rules: dict[RuleName, RuleEntry] = {}
    execute: Execute | None = None
    tolerance: Expression | None = None
    counterexamples: dict[RuleName, Counterexample] = Field(
        default={}, description="changes of an example of every operator of the family"
    )
    observed: list[Observed] = []


class ImplementationInfo(_File):
    """The properties of an implementation for `specgate conform` campaigns."""

    what: str = Field(description="which program it is, and how it is queried")
    ignores: list[Literal["structure", "type", "rank", "value", "rule", "outputs"]] = Field(
        default=[],
        description="what it does not check, so that it never contradicts our rejections; outputs: rules on "
        "declared outputs",
    )
    infers_outputs: bool = Field(
        default=False, description="it infers outputs again and ignores declared types and shapes"
    )
    reads_text: bool = Field(
        default=False, description="it parses attributes from text, so values of another kind may be valid"
    )
    title: str | None = Field(default=None, description="its name in messages, if it can be a target")
    target: str | None = Field(
        default=None,
        pattern=r"^[a-z][a-z0-9-]*$",
        description="the prefix of its targets, before the colon; for other targets its rejections are notes",
    )
    releases: list[str] = Field(
        default=[],
        description="names of the tested releases, after that colon; without target: observations apply to targets "
        "of the dialect that name one of these releases",
    )

    @model_validator(mode="after")
    def _whole_target(self) -> ImplementationInfo:
        if (self.target is None) != (self.title is None) or (self.target is not None and not self.releases):
            raise ValueError("target and title go together, with releases")
        return self


class Pages(_File):
    """The repository and folder of a dialect's pages."""

    repository: str = Field(description="owner/name on GitHub, of sources that name only a page and a commit")
    folder: str = Field(description="their folder; a page without a path is PAGE.md in it")


class DialectFile(_File):
    """The properties of a dialect as a whole."""

    dialect: Name
    title: str
    level: str = Field(description="the dialect's word for its version axis: feature level, opset")
    level_name: str | None = Field(default=None, description="prefix of a level in a header: DML_FEATURE_LEVEL_")
    unstated_outputs: bool = Field(description="a descriptor may omit the types and shapes of its outputs")
    sources: list[Source] = []
    pages: Pages | None = Field(default=None, description="where the vendor's pages of operators are")
    implementations: dict[Implementation, ImplementationInfo] = {}
    type_variables: bool = Field(
        default=False,
        description="fields whose cells name the same type set of a row, and the elements of an array, have the "
        "same type",
    )
    builds_ignore_attributes: bool = Field(
        default=False, description="builds accept undefined attributes and do not read them"
    )
    rows_are_versions: bool = Field(
        default=False, description="a row is a version of the operator, even if equal to the previous one"
    )
    domains: list[str] = Field(
        default=[],
        description="domains with separate versions; their operators are named DOMAIN.NAME, and each level states the "
        "version of each domain",
    )
    foreign: dict[str, str] = Field(
        default={}, description="domains of these that the dialect does not define, and who defines them"
    )
    stand_ins: dict[str, str] = Field(
        default={},
        description="operators of other projects in the dialect's domain, and the tables that execute them",
    )
    complete: bool = Field(
        default=False, description="every operator has a table, so cells can name only these as fused operators"
    )
    loose: list[Literal["type", "rank", "value"]] = Field(
        default=[],
        description="aspects of a cell that a kernel may exceed if another row of the operator supports them; rules "
        "use `structural: false`",
    )
    short_names: list[str] = Field(
        default=[],
        description="prefixes that a cell may omit from the name of a fused operator; the first match counts",
    )


class LevelInfo(BaseModel):
    """One level; additional keys of a dialect are kept."""

    model_config = ConfigDict(extra="allow", strict=True)
    limits: dict[Name, int] = {}
    domains: dict[str, Level] = Field(default={}, description="the newest version of each further domain at this level")
    asked: bool = Field(default=True, description="a real implementation of this level was tested")


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

    any: list[str] = Field(min_length=1, description="device capabilities, of which one is required")
    since: Level | None = None
    until: Level | None = Field(default=None, description="the first level that does not require it")


class TypeInfo(_File):
    """One element type."""

    value: int | None = None
    bits: int | None
    numpy: str | None
    ml_dtypes: str | None = Field(
        default=None, description="the type in the package ml_dtypes, if numpy does not have it"
    )
    since: Level | None = None
    release: str | None = Field(
        default=None, description="the first release that supports the type, one of environments"
    )
    capability: list[Gate] | None = Field(
        default=None, description="required device capabilities; one entry applies at a level"
    )
    tensor: str | None = None
    ir_version: int | None = None
    ir: str | None = None


class TypesFile(_File):
    """A dialect's element types."""

    dialect: Name
    sources: list[Source]
    types: dict[str, TypeInfo]
    containers: dict[Name, int] = Field(
        default={}, description="type constructors, such as seq in seq(tensor(float)), with their number of arguments"
    )
    flags: dict[str, int] = {}


class SetsFile(_File):
    """A dialect's named lists; an entry ``$NAME`` inserts an earlier set."""

    dialect: Name
    types: dict[SetName, list[str]] = Field(default={}, description="used in cells as `types: $NAME`")
    operators: dict[SetName, list[str]] = Field(default={}, description="used in cells as `operators: $NAME`")


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

    instead: str = Field(description="how to find the level, as a clause")
    releases: dict[str, str] = Field(description="titles by the name that users type")


class EnvironmentsFile(_File):
    """A dialect's releases."""

    dialect: Name
    sources: list[Source]
    environments: list[Environment]
    domains: dict[Literal["release", "runtime"], dict[str, str]] = Field(
        default={},
        description="per kind of release, its additional domains with operators, each with its source",
    )
    unstated: Unstated | None = None


class Code(_File):
    """An error code that users meet."""

    name: str
    meaning: str
    advice: str
    texts: list[str] = Field(default=[], description="phrases of the system's message, in lower case")
    source: str


class CodesFile(_File):
    """A dialect's error codes, by their hexadecimal spelling."""

    dialect: Name
    sources: list[Source]
    codes: dict[Annotated[str, StringConstraints(pattern=r"^0x[0-9A-F]{8}$")], Code]


class ObservedTensors(_File):
    """Differences of real builds for tensors of any operator."""

    builds: list[Level] | str
    by: Implementation | None = Field(
        default=None, description="the only implementation or build system with this behavior"
    )
    not_enforced: list[RuleName] = []
    rules: dict[RuleName, RuleEntry] = {}
    values: dict[RuleName, OtherValues] = {}
    evidence: str
    bug: bool = Field(default=False, description="the build contradicts its own documentation")


class TensorFile(_File):
    """The rules of every tensor of a dialect; they use the name `tensor`."""

    dialect: Name
    sources: list[Source]
    rules: dict[RuleName, RuleEntry]
    counterexamples: dict[RuleName, Counterexample] = {}
    observed: list[ObservedTensors] = []
