"""Pydantic models of the runtime's table files.

Imported only to build the tables.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from specgate.spec.file_models import (
    Expression,  # noqa: TC001 (the same)
    SetName,  # noqa: TC001 (the same)
    Source,  # noqa: TC001 (pydantic reads it)
)
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Problem = tuple[tuple[str | int, ...], str]

_NODE: Final = re.compile(r"(\w+) = (\w+)\((\w+(?:, \w+)*)\)")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FunctionNode(_File):
    """A node of a function.

    It may depend on the presence or absence of an input of the function.
    """

    node: Annotated[str, StringConstraints(pattern=rf"^{_NODE.pattern}$", max_length=200)]
    given: Word | None = None
    without: Word | None = None


class RuntimeFunction(_File):
    """The function body of one of the runtime's own operators."""

    opset: int = Field(ge=1, description="ai.onnx operators of the nodes")
    inputs: list[Word] = Field(min_length=1)
    outputs: list[Word] = Field(min_length=1)
    constants: dict[Word, float | Word] = Field(default={}, description="of the first input's type; or an attribute")
    nodes: list[FunctionNode] = Field(min_length=1)
    releases: ReleaseRange | None = None


class FunctionsFile(_File):
    """Function bodies of the runtime's own operators."""

    sources: list[Source] = Field(min_length=1)
    unknowns: list[str] = []
    functions: dict[OperatorName, RuntimeFunction]


def node_parts(text: str) -> tuple[str, str, list[str]]:
    """Return the result, operator and inputs of a node."""
    match = _NODE.fullmatch(text)
    assert match is not None  # noqa: S101  # the pattern of the model guarantees it
    return match[1], match[2], match[3].split(", ")


def function_problems(content: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield nodes of unknown operators, undefined inputs and outputs."""
    operators = dialect("onnx").tables.operators
    for name, function in content.get("functions", {}).items():
        place = ("functions", name)
        items = {*function["inputs"], *function.get("constants", ())}
        for index, entry in enumerate(function["nodes"]):
            result, operator, inputs = node_parts(entry["node"])
            node_path = (*place, "nodes", index)
            if operator not in operators:
                yield node_path, f"unknown operator {operator!r:.60}"
            yield from ((node_path, f"no node produces {input_!r:.60}") for input_ in inputs if input_ not in items)
            items.add(result)
        yield from (
            (place, f"no node produces the output {output!r:.60}")
            for output in function["outputs"]
            if output not in items
        )


Minor = Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+$", max_length=20)]
Patch = Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$", max_length=20)]
#: ``1.13..1.17``, ``1.18..``, ``..1.17`` or ``1.20``.
ReleaseRange = Annotated[
    str, StringConstraints(pattern=r"^([0-9]+\.[0-9]+)?(\.\.([0-9]+\.[0-9]+)?)?$", min_length=2, max_length=40)
]
#: ``13`` is open-ended; ``6..12`` ends with schema version 12.
Versions = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*(\.\.[1-9][0-9]*)?$", max_length=20)]
#: ``17..`` or ``..12``.
RunOfVersions = Annotated[str, StringConstraints(pattern=r"^([1-9][0-9]*\.\.|\.\.[1-9][0-9]*)$", max_length=20)]
#: ``17..`` or ``12..15``.
SpanOfVersions = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*\.\.([1-9][0-9]*)?$", max_length=20)]
EntryName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=60)]
Domain = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(\.[a-z0-9]+)+$", max_length=60)]
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=120)]
OperatorName = Annotated[str, StringConstraints(pattern=r"^([a-z][a-z0-9]*\.)*[A-Za-z_][A-Za-z0-9_]*$", max_length=120)]
Types = Annotated[str, StringConstraints(min_length=1, max_length=200)] | list[str]
Index = Annotated[int, Field(ge=0, le=255)]


class Provider(_File):
    """One execution provider."""

    folder: Word = Field(description="folder with its files")
    title: str = Field(description="its name in the runtime")
    releases: ReleaseRange = Field(description="the releases whose registrations are known")


class Package(_File):
    """One package of the runtime."""

    providers: list[Word] = Field(min_length=1, description="execution providers in order of preference")
    carries: Word | None = Field(default=None, description="the dialect whose implementation the package contains")


class Folding(_File):
    """The constant folding optimization."""

    domains: list[Domain] = Field(description="whose operators it supports, except those in `never`")
    never: list[Word]
    only: dict[Domain, list[Word]] = Field(default={}, description="supported operators of other domains")
    by_sizes: list[Word] = Field(default=[], description="operators supported if the sizes of the input are known")


class Removing(_File):
    """Operators that default optimizations remove before placement."""

    releases: ReleaseRange
    operators: dict[Word, Versions] = Field(min_length=1, description="of ai.onnx, with their versions")
    same: Literal["type", "sizes"] | None = Field(
        default=None, description="what the first output shares with the first input"
    )
    when: str | None = Field(
        default=None, description="expression over the operators' fields: only nodes for which it is true"
    )


class Duplicating(_File):
    """Operators whose nodes are duplicated per further consumer.

    The duplication happens before placement.
    """

    releases: ReleaseRange
    operators: dict[Domain, list[Word]] = Field(min_length=1, description="by domain")
    attributes: bool = Field(default=True, description="added nodes copy the attributes of their node")
    inlined: bool = Field(default=True, description="in a model with functions, calls are inlined first")
    setting: str = Field(description="the session option that turns this off")


class Release(_File):
    """One minor release."""

    packages: dict[str, list[Patch]] = Field(description="the releases of each package that exist, oldest first")
    read: list[str] = Field(default=[], description="the packages with versions whose content was read")
    opsets: dict[Domain, int] = Field(description="the newest version of each domain that it accepts without a warning")
    ir_version: int
    carries: str | None = Field(default=None, description="the release of the contained implementation")
    carries_source: str | None = Field(default=None, description="a name in `sources`; missing if unknown")
    function_bodies: Literal["opset", "version"] = Field(
        default="opset", description="the attribute that selects the body of an ONNX function"
    )


class ReleasesFile(_File):
    """The releases of a runtime, and its packages and providers."""

    runtime: Word
    title: str
    sources: dict[str, Source]
    providers: dict[Word, Provider]
    packages: dict[str, Package]
    folding: Folding | None = None
    removing: list[Removing] = []
    duplicating: list[Duplicating] = []
    lacks: dict[Word, dict[str, str]] = Field(
        default={}, description="versions of operators, each with the releases that do not have it"
    )
    fusing: dict[Word, str] = Field(default={}, description="per provider, the session option that turns off fusion")
    releases: dict[Minor, Release]


class TypeSetsFile(_File):
    """Named lists of types.

    An entry ``$NAME`` stands for the types of an earlier set.
    """

    types: dict[SetName, list[str]]


class Row(_File):
    """A registration of an operator over the releases that have it."""

    types: dict[Word, Types] | list[dict[Word, Types]] = Field(
        default={}, description="types of each type constraint; a list for kernels with separate registrations"
    )
    constant_inputs: list[Index] = Field(
        default=[], description="inputs that the kernel requires in CPU memory, and as constants for early creation"
    )
    cpu_inputs: list[Index] = Field(default=[], description="further inputs that it requires in CPU memory")
    cpu_outputs: list[Index] = Field(default=[], description="outputs that it leaves in CPU memory")
    graph: bool = Field(default=True, description="it can be part of a fused graph")
    graph_inputs: int | None = Field(default=None, description="number of inputs for fusion (default: any number)")
    needs: dict[Word, list[Word]] = Field(
        default={}, description="per type, device capabilities of which one is required"
    )
    query: Expression | None = Field(default=None, description="condition on the node's arguments and attributes")
    releases: ReleaseRange | None = Field(
        default=None, description="releases that have it (default: all known releases)"
    )
    apart: bool = Field(default=False, description="registered by separate code, not in a library's table")
    note: str | None = None

    @model_validator(mode="after")
    def _whole(self) -> Row:
        if isinstance(self.types, list) and len(self.types) < 2:
            raise ValueError("a list of types is for two kernels or more")
        return self


class ProviderFile(_File):
    """A provider's registrations for the operators of one domain."""

    provider: Word
    domain: Domain
    sources: list[Source] = Field(min_length=1)
    unknowns: list[str] = []
    operators: dict[Word, dict[Versions, Row | list[Row]]]


AttributeType = Literal["int", "float", "string", "int[]", "float[]", "string[]", "graph", "tensor-proto"]


class Attribute(_File):
    """One attribute of a schema."""

    type: AttributeType
    default: Any = None


class Schema(_File):
    """One version of an operator without a table in any dialect.

    Inputs and outputs are in order, each with its type constraint or its only type. The suffix ``?`` marks an optional
    one, and ``*`` a variadic one.
    """

    inputs: dict[Word, str] = {}
    outputs: dict[Word, str] = {}
    attributes: dict[Word, AttributeType | Attribute] = {}
    deprecated: bool = False
    releases: ReleaseRange | None = None


class SchemasFile(_File):
    """The schemas of operators without a table in any dialect."""

    domain: Domain
    sources: list[Source] = Field(min_length=1)
    unknowns: list[str] = []
    operators: dict[Word, dict[Versions, Schema | list[Schema]]]


class Observation(_File):
    """A class of differences between these tables and a build."""

    aspects: list[Literal["session", "kernel", "run", "node", "descriptor"]] = Field(min_length=1)
    operators: list[str] | None = Field(default=None, description="names of providers, as in placements (default: any)")
    models: list[str] | None = Field(default=None, description="operators of single-node models (default: any model)")
    opsets: Versions | RunOfVersions | None = Field(default=None, description="imported by models (default: any)")
    packages: list[str] | None = Field(default=None, description="tested releases (default: any)")
    releases: ReleaseRange | None = Field(default=None, description="tested releases (default: any)")
    levels: list[str] | None = Field(default=None, description="of the library below (default: any)")
    ours: str = Field(default="", description="words contained in our answer")
    theirs: str = Field(default="", description="words contained in the runtime's answer")
    says: str = Field(min_length=10)
    evidence: str = Field(min_length=10, description="the build that showed it, and how often")


class ObservedFile(_File):
    """Known differences by name."""

    observed: dict[EntryName, Observation]


class ValueKind(_File):
    """A kind of value in random graphs."""

    type: Word
    shape: list[int | Word] = []
    values: list[int | float] = []
    made: bool = Field(default=False, description="only node outputs have this type")


class Piece(_File):
    """A node of random graphs."""

    node: str
    takes: dict[Word, Word]
    gives: Word
    constants: dict[Word, ValueKind] = {}
    opsets: Versions | RunOfVersions | None = None
    type: Word | None = Field(default=None, description="only in graphs of this type")


class GraphsFile(_File):
    """The building blocks of random graphs."""

    kinds: dict[Word, ValueKind]
    pieces: list[Piece] = Field(min_length=1)

    @model_validator(mode="after")
    def _check_kinds(self) -> GraphsFile:
        for piece in self.pieces:
            unknown = {piece.gives, *piece.takes.values()} - {*self.kinds}
            if unknown:
                raise ValueError(f"{piece.node}: unknown kind {min(unknown)!r:.40}")
        return self


class LoadingCheck(_File):
    """A check that the runtime itself makes."""

    when: Expression = Field(description="expression over the operator's fields; true for a rejected node")
    because: str
    since: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*$")] | None = None
    until: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*$")] | None = None
    cpu: bool = Field(default=False, description="only the CPU kernel rejects it")
    at: Literal["run"] | None = Field(
        default=None, description="the session is created, but every run of the CPU kernel fails"
    )
    inputs: int | None = Field(
        default=None, description="only nodes that list at most so many inputs, trailing ones without a name included"
    )
    releases: ReleaseRange | None = Field(default=None, description="releases that reject it (default: all)")


class LoadingRule(_File):
    """A rule of the dialect at some operator versions and releases."""

    rule: str
    since: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*$")] | None = None
    until: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*$")] | None = None
    cpu: bool = Field(default=False, description="for `asks`: enforced by the CPU kernel only")
    releases: ReleaseRange | None = Field(default=None, description="default: all")


class LoadingOperator(_File):
    """Load-time differences between the runtime and the dialect's tables.

    The tables describe the enforcement in the onnx package.
    """

    takes: list[str | LoadingRule] = Field(default=[], description="rules of the dialect that it does not enforce")
    asks: list[str | LoadingRule] = Field(
        default=[],
        description="rules that it enforces although the tables are uncertain, and rules for its own operators",
    )
    refuses: dict[str, LoadingCheck] = Field(default={}, description="checks that the dialect's tables do not contain")


class RunRule(_File):
    """A rule of the dialect, for some of the nodes that break it."""

    rule: str
    since: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*$")] | None = None
    until: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*$")] | None = None
    when: Expression | None = Field(
        default=None, description="expression over the operator's fields: only nodes for which it is true"
    )
    releases: ReleaseRange | None = Field(default=None, description="default: all")


class RunsOperator(_File):
    """Outcomes of loaded nodes of one operator that break a rule."""

    runs: list[str | RunRule] = Field(default=[], description="rules that are not enforced: violating nodes compute")
    fails: list[str | RunRule] = Field(default=[], description="rules whose violation makes every run fail")


class RunsFile(_File):
    """Outcomes of loaded nodes that break a rule of the dialect."""

    sources: list[Source] = Field(min_length=1)
    unknowns: list[str] = []
    schemas: Literal["refused"] | None = Field(
        default=None, description="outcome for nodes whose structure or types violate the schema"
    )
    outputs: Literal["run"] | None = Field(
        default=None, description="outcome for nodes that violate a rule about declared outputs"
    )
    operators: dict[OperatorName, RunsOperator]


class LoadingModel(_File):
    """A rule on a whole file whose violation prevents a session."""

    releases: ReleaseRange | None = Field(default=None, description="releases (default: all)")
    read: bool = Field(default=False, description="only if the constant is read")
    constants: Literal["graph", "body"] | None = Field(
        default=None,
        description="where Constant nodes, which become initializers, may violate it: the main graph, or subgraphs too",
    )
    uncalled: bool = Field(default=False, description="also in functions that are never called")
    bodies: bool = Field(default=False, description="only in subgraphs, not in the main graph")
    absent: bool = Field(default=False, description="only if the file omits the element in question")


class LoadingType(_File):
    """An element type that a release does not support in values."""

    releases: ReleaseRange | None = Field(default=None, description="releases (default: all)")


class LoadingFile(_File):
    """The checks of the runtime while it loads a model."""

    sources: list[Source] = Field(min_length=1)
    unknowns: list[str] = []
    types: dict[Word, LoadingType] = Field(default={}, description="element types that are not supported")
    models: dict[str, LoadingModel] = Field(default={}, description="by the rules' names: onnx/model/NAME")
    operators: dict[OperatorName, LoadingOperator]


KnownInput = Literal["sizes", "list", "number", "constant", "any"]


class KnownValues(_File):
    """Nodes whose results count as constants for the given input kinds."""

    operators: dict[Word, SpanOfVersions] = Field(min_length=1, description="by name the opsets")
    of: KnownInput | list[KnownInput] = Field(description="kinds of the inputs: one word for all, or one per input")
    by: Word = Field(description="how the elements are computed from those of the inputs")
    gives: Literal["list", "number"]
    releases: ReleaseRange | None = None


class Unsized(_File):
    """Operators whose outputs have an unknown rank."""

    operators: dict[Word, SpanOfVersions] = Field(min_length=1, description="by name the opsets")
    releases: ReleaseRange | None = None


class InferenceFile(_File):
    """Differences between the inference of the runtime and of onnx."""

    sources: list[Source] = Field(min_length=1)
    unknowns: list[str] = []
    values: list[KnownValues] = []
    unsized: list[Unsized] = []
