"""What a spec file may say: pydantic models of every file under ``specs/``. Imported only to (re)build a table."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

__all__ = ["CodesFile", "DialectFile", "EnvironmentsFile", "LevelsFile", "OperatorFile", "TensorFile", "TypesFile"]

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=120)]
RuleName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=60)]
Implementation = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*([-_.][a-z0-9]+)*$", max_length=60)]
Level = Annotated[str, StringConstraints(min_length=1, max_length=20)]
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
        description="tensor, uint, int, uint64, float, bool, string or enum:NAME; [] behind it makes it an array",
    )
    optional: bool = False
    default: Any = Field(default=None, description="the value an absent attribute has")
    words: list[str] | None = Field(default=None, description="the legal values of a string attribute")
    since: Level | None = None
    until: Level | None = Field(default=None, description="the first level without it")
    doc: str | None = None


class Cell(_File):
    """What a support row allows for one field."""

    types: Annotated[list[str], Field(min_length=1)] | str | None = Field(
        default=None, description="type names, a name from type_sets, or any"
    )
    ranks: Annotated[int | str | list[int], AfterValidator(_ranks)] | None = None
    values: Annotated[list[str | int], Field(min_length=1)] | None = None
    range: Annotated[str, AfterValidator(_range)] | None = None


class SupportRow(BaseModel):
    """What one level allows from there on: a cell per field, and the type sets that cells may name."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, Cell] = Field(init=False)

    type_sets: dict[Name, list[str]] = Field(default={}, description="type variable -> types, as in ONNX's schemas")


class LongRule(_File):
    """A rule with more to say than its expression."""

    require: Expression
    when: Expression | None = Field(default=None, description="the rule applies only where this holds")
    since: Level | None = None
    until: Level | None = Field(default=None, description="the first level where it no longer holds")
    because: str | None = Field(default=None, description="what the page says, in our words")
    fix: str | None = Field(default=None, description="what to change, in one phrase")
    after: list[str] = Field(default=[], description="rules whose failure makes this one an echo")
    on: Literal["input", "output"] | None = Field(default=None, description="in a tensor file: only these tensors")
    hides: list[Literal["ranks", "types"]] = Field(
        default=[], description="cell checks that this rule's failure replaces"
    )
    structural: bool = Field(default=True, description="false: the kernel could compute a descriptor that breaks it")


RuleEntry = Expression | LongRule | list[LongRule]


class Example(_File):
    """A use of the operator with its answer, from the vendor's page where there is one."""

    source: str = Field(description="which example of which page, or `own`")
    since: Level | None = Field(default=None, description="first level that accepts it; the operator's first if absent")
    descriptor: dict[str, Any]
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}


class Counterexample(_File):
    """An example changed in one place so that exactly one rule fails."""

    of: str
    operator: str | None = Field(default=None, description="in a tensor file: the operator whose example it is")
    at: Level | None = Field(default=None, description="the level to judge it at; the newest if absent")
    set: dict[str, Any] = Field(description="dotted path into the descriptor -> new value")


class OtherValues(_File):
    """A difference in what is computed, not in what is accepted."""

    what: str = Field(description="what is computed instead of what the page says, in our words")
    when: Expression | None = Field(default=None, description="only descriptors for which this holds may differ")


class Observed(_File):
    """Where real builds differ from the page, measured with an oracle."""

    builds: list[Level] | str
    by: Implementation | None = Field(default=None, description="the only implementation or build system that does it")
    support: dict[Name, Cell] = {}
    waives: list[RuleName] = []
    rules: dict[RuleName, RuleEntry] = {}
    values: dict[RuleName, OtherValues] = {}
    evidence: str
    bug: bool = Field(default=False, description="the build contradicts its own page")


def _constant(value: Any) -> bool:
    return isinstance(value, str | int | bool | float) or (isinstance(value, dict) and list(value) == ["expression"])


class Execute(BaseModel):
    """How the operator is computed: a kernel, its arguments, and behaviour that changes with the level."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    kernel: Name
    arrays: dict[Name, Name] = Field(description="kernel argument -> tensor field whose array it gets")
    arguments: dict[Name, Expression] = Field(default={}, description="kernel argument -> expression over the fields")
    outputs: list[Name] = Field(description="output fields in the order the kernel returns them")

    @model_validator(mode="after")
    def _behaviour(self) -> Execute:
        for level, row in (self.model_extra or {}).items():
            if not isinstance(row, dict) or not all(_constant(v) for v in row.values()):
                raise ValueError(f"expected level {level!r:.40} to hold constants, or expression: …, by argument name")
        return self


class OperatorFile(_File):
    """One operator of one dialect, all its levels."""

    operator: str
    summary: str = Field(description="what it computes, in our words")
    source: list[Source]
    unknowns: list[str] = Field(default=[], description="facts that could not be found")
    fields: dict[Name, FieldSpec]
    support: dict[Level, SupportRow]
    removed: Level | None = None
    define: dict[Name, Expression] = {}
    rules: dict[RuleName, RuleEntry] = {}
    execute: Execute | None = None
    tolerance: Expression | None = None
    examples: dict[str, Example] = {}
    counterexamples: dict[RuleName, Counterexample] = {}
    observed: list[Observed] = []


class ImplementationInfo(_File):
    """What a campaign of `specgate conform` must know of an implementation."""

    what: str = Field(description="which program it is, and what asking it means")
    ignores: list[Literal["structure", "type", "rank", "value", "rule"]] = Field(
        default=[], description="what it does not look at, so that it disagrees with nothing that we refuse for"
    )


class DialectFile(_File):
    """What holds for a dialect as a whole."""

    dialect: Name
    title: str
    level: str = Field(description="what the dialect calls its version axis: feature level, opset")
    unstated_outputs: bool = Field(description="a descriptor may leave its outputs' types and shapes to inference")
    sources: list[Source] = []
    implementations: dict[Implementation, ImplementationInfo] = {}


class LevelInfo(BaseModel):
    """One level; what else a dialect records of it is kept as it is."""

    model_config = ConfigDict(extra="allow", strict=True)
    limits: dict[Name, int] = {}


class LevelsFile(_File):
    """A dialect's levels in order."""

    dialect: Name
    what: str
    sources: list[Source]
    levels: dict[Level, LevelInfo]
    ir_versions: dict[str, str] = {}


class TypeInfo(_File):
    """One element type."""

    value: int | None = None
    bits: int | None
    numpy: str | None
    since: Level | None = None
    capability: list[str] | None = Field(default=None, description="device capabilities, any one of which it needs")
    tensor: str | None = None
    ir_version: int | None = None
    ir: str | None = None


class TypesFile(_File):
    """A dialect's element types."""

    dialect: Name
    sources: list[Source]
    types: dict[str, TypeInfo]
    flags: dict[str, int] = {}


class Environment(_File):
    """A release that users know, and the level it stands for."""

    name: str
    title: str
    kind: Literal["windows", "package", "wheel", "release", "runtime"]
    level: Level
    ir_version: int | None = None
    via: str | None
    source: str


class EnvironmentsFile(_File):
    """A dialect's releases."""

    dialect: Name
    sources: list[Source]
    environments: list[Environment]


class Code(_File):
    """An error code that users meet."""

    name: str
    meaning: str
    advice: str
    source: str


class CodesFile(_File):
    """A dialect's error codes, by their hexadecimal spelling."""

    dialect: Name
    sources: list[Source]
    codes: dict[Annotated[str, StringConstraints(pattern=r"^0x[0-9A-F]{8}$")], Code]


class ObservedTensors(_File):
    """Where real builds differ from the page for tensors of any operator."""

    builds: list[Level] | str
    by: Implementation | None = Field(default=None, description="the only implementation or build system that does it")
    waives: list[RuleName] = []
    rules: dict[RuleName, RuleEntry] = {}
    evidence: str
    bug: bool = Field(default=False, description="the build contradicts its own page")


class TensorFile(_File):
    """Rules that every tensor of a dialect obeys; they read it as `tensor`."""

    dialect: Name
    sources: list[Source]
    rules: dict[RuleName, RuleEntry]
    counterexamples: dict[RuleName, Counterexample] = {}
    observed: list[ObservedTensors] = []
