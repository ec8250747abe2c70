"""What the spec files of a dialect as a whole may say: pydantic models. Imported only to (re)build a table."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from specgate.spec.model import Counterexample, RuleEntry, Source  # noqa: TC001 (pydantic reads them)
from specgate.spec.model_rows import Implementation, Level, Name, RuleName, SetName  # noqa: TC001 (the same)
from specgate.spec.model_values import OtherValues  # noqa: TC001 (the same)

__all__ = ["CodesFile", "DialectFile", "EnvironmentsFile", "LevelsFile", "SetsFile", "TensorFile", "TypesFile"]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ImplementationInfo(_File):
    """What a campaign of `specgate conform` must know of an implementation."""

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
    """What holds for a dialect as a whole."""

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
    """One level; what else a dialect records of it is kept as it is."""

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
    """What a device must report at some levels before it takes tensors of a type."""

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
    """A dialect's named lists; an entry ``$NAME`` means those of a set before it."""

    dialect: Name
    types: dict[SetName, list[str]] = Field(default={}, description="what cells write as `types: $NAME`")
    operators: dict[SetName, list[str]] = Field(default={}, description="what cells write as `operators: $NAME`")


class Environment(_File):
    """A release that users know, and the level it stands for."""

    name: str
    title: str
    kind: Literal["windows", "package", "wheel", "release", "runtime"]
    level: Level
    ir_version: int | None = None
    via: str | None
    source: str


class Unstated(_File):
    """Releases that exist, but no source states their level."""

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
    """Where real builds differ from the page for tensors of any operator."""

    builds: list[Level] | str
    by: Implementation | None = Field(default=None, description="the only implementation or build system that does it")
    not_enforced: list[RuleName] = []
    rules: dict[RuleName, RuleEntry] = {}
    values: dict[RuleName, OtherValues] = {}
    evidence: str
    bug: bool = Field(default=False, description="the build contradicts its own page")


class TensorFile(_File):
    """Rules that every tensor of a dialect obeys; they read it as `tensor`."""

    dialect: Name
    sources: list[Source]
    rules: dict[RuleName, RuleEntry]
    counterexamples: dict[RuleName, Counterexample] = {}
    observed: list[ObservedTensors] = []
