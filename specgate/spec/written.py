"""Types of compiled spec entries, for type checkers only.

`file_models.py` defines and documents the keys; a test compares them with these types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Counterexample", "DialectEntry", "DialectTables", "EnvironmentEntry", "Example", "ImplementationEntry",
    "LevelEntry", "ObservedEntry", "OperatorTable", "Recipe", "ReplacedByEntry", "SourceEntry", "TensorTable",
    "TypeEntry", "UnstatedEntry", "ValuesEntry",
]  # fmt: skip


class SourceEntry(TypedDict, total=False):
    """The source of facts."""

    name: str
    page: str
    repository: str
    path: str
    commit: str
    package: str
    version: str
    measured: str
    note: str


class Example(TypedDict):
    """A use of the operator."""

    source: str
    since: NotRequired[str]
    until: NotRequired[str]
    descriptor: dict[str, Any]
    inputs: NotRequired[dict[str, Any]]
    outputs: NotRequired[dict[str, Any]]


class Counterexample(TypedDict):
    """An example with one change."""

    of: str
    operator: NotRequired[str]
    at: NotRequired[str]
    set: dict[str, Any]


class ValuesEntry(TypedDict):
    """A difference in results."""

    what: str
    when: NotRequired[str]
    elements: NotRequired[str]
    arguments: NotRequired[dict[str, Any]]
    kernel: NotRequired[str]
    fields: NotRequired[dict[str, str | None]]
    types: NotRequired[dict[str, str]]
    conversion: NotRequired[str]
    undefined: NotRequired[bool]
    all_builds: NotRequired[bool]


class ObservedEntry(TypedDict):
    """Observed differences from the page."""

    builds: list[str] | str
    by: NotRequired[str]
    support: NotRequired[dict[str, dict[str, Any]]]
    not_enforced: NotRequired[list[str]]
    attributes: NotRequired[list[str]]
    rules: NotRequired[dict[str, Any]]
    values: NotRequired[dict[str, ValuesEntry]]
    nondeterministic: NotRequired[list[str]]
    partially_enforced: NotRequired[list[str]]
    tools_write: NotRequired[list[str]]
    evidence: str
    bug: NotRequired[bool]


class ReplacedByEntry(TypedDict):
    """The replacement of a removed operator."""

    operator: str
    inputs: dict[str, str]
    attributes: NotRequired[dict[str, Any]]
    empty: NotRequired[list[str]]
    evidence: str


class Recipe(TypedDict):
    """The kernel of an operator.

    The constants of a level are additional keys under the level's name.
    """

    kernel: str
    arrays: dict[str, str | list[str]]
    arguments: NotRequired[dict[str, str]]
    output_type: NotRequired[dict[str, str | list[str]]]
    outputs: list[str | list[str]]
    sized_by_values: NotRequired[list[str]]
    since: NotRequired[str]
    unsupported_types: NotRequired[dict[str, list[str]]]


class ImplementationEntry(TypedDict):
    """An implementation that conformance campaigns test."""

    what: str
    ignores: NotRequired[list[str]]
    infers_outputs: NotRequired[bool]
    reads_text: NotRequired[bool]
    title: NotRequired[str | None]
    target: NotRequired[str | None]
    releases: NotRequired[list[str]]


class DialectEntry(TypedDict):
    """The properties of a dialect."""

    dialect: str
    title: str
    level: str
    level_name: NotRequired[str]
    unstated_outputs: bool
    sources: NotRequired[list[SourceEntry]]
    implementations: NotRequired[dict[str, ImplementationEntry]]
    type_variables: NotRequired[bool]
    builds_ignore_attributes: NotRequired[bool]
    rows_are_versions: NotRequired[bool]
    domains: NotRequired[list[str]]
    foreign: NotRequired[dict[str, str]]
    stand_ins: NotRequired[dict[str, str]]
    complete: NotRequired[bool]
    loose: NotRequired[list[str]]
    short_names: NotRequired[list[str]]


class LevelEntry(TypedDict, total=False):
    """A level.

    Dialects add keys, such as the release or whether the level is unfinished.
    """

    limits: dict[str, int]
    domains: dict[str, str]
    asked: bool
    ir_version: int
    release: str
    target_version: str
    unfinished: bool
    carries: list[str]
    version: str


class TypeEntry(TypedDict, total=False):
    """An element type.

    Lookups of unknown words return an empty entry.
    """

    value: int | None
    bits: int | None
    numpy: str | None
    ml_dtypes: str
    since: str
    release: str | None
    capability: list[dict[str, Any]]
    tensor: str
    ir_version: int
    ir: str


class EnvironmentEntry(TypedDict):
    """A release."""

    name: str
    title: str
    kind: str
    level: str
    ir_version: NotRequired[int]
    via: str | None
    source: str


class UnstatedEntry(TypedDict):
    """Releases of an unknown level."""

    instead: str
    releases: dict[str, str]


class _Rules:
    """The common members of operator files and the tensor file."""

    __slots__ = ("entries",)

    def __init__(self, entries: dict[str, Any]) -> None:
        self.entries = entries

    @property
    def rules(self) -> Mapping[str, Any]:
        """The rules by name: an expression, an entry or several entries."""
        rules: Mapping[str, Any] = self.entries.get("rules", {})
        return rules

    @property
    def counterexamples(self) -> Mapping[str, Counterexample]:
        """Counterexamples by the name of the only rule that each violates."""
        entries_by_name: Mapping[str, Counterexample] = self.entries.get("counterexamples", {})
        return entries_by_name

    @property
    def observed(self) -> list[ObservedEntry]:
        """Observed differences from the page, in file order."""
        entries: list[ObservedEntry] = self.entries.get("observed", [])
        return entries


class TensorTable(_Rules):
    """The rules of every tensor of a dialect."""

    __slots__ = ()

    @property
    def sources(self) -> list[SourceEntry]:
        entries: list[SourceEntry] = self.entries.get("sources", [])
        return entries


class OperatorTable(_Rules):
    """One operator, merged with its family."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self.entries["operator"])

    @property
    def family(self) -> str | None:
        name: str | None = self.entries.get("family")
        return name

    @property
    def summary(self) -> str:
        """The operator's description, empty for tables generated from a package."""
        return str(self.entries.get("summary", ""))

    @property
    def sources(self) -> list[SourceEntry]:
        entries: list[SourceEntry] = self.entries["source"]
        return entries

    @property
    def unknowns(self) -> list[str]:
        """Facts that could not be found."""
        texts: list[str] = self.entries.get("unknowns", [])
        return texts

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields by name: an entry, or one entry per range of levels."""
        entries: Mapping[str, Any] = self.entries["fields"]
        return entries

    @property
    def cases(self) -> tuple[tuple[str | None, dict[str, dict[str, Any]]], ...]:
        """The rows by level: once without a condition, or one mapping per case."""
        result = self.entries["support"]
        cases = [result] if isinstance(result, dict) else result
        return tuple((case.get("when"), {at: row for at, row in case.items() if at != "when"}) for case in cases)

    @property
    def only_rows(self) -> dict[str, dict[str, Any]]:
        """The rows of an operator without cases."""
        ((_, rows),) = self.cases
        return rows

    @property
    def deprecated(self) -> list[str]:
        """The rows of withdrawn versions."""
        texts: list[str] = self.entries.get("deprecated", [])
        return texts

    @property
    def removed(self) -> str | None:
        """The first level without the operator, None if all later levels have it."""
        level: str | None = self.entries.get("removed")
        return level

    @property
    def replaced_by(self) -> ReplacedByEntry | None:
        """The operator that replaces this one after its removal."""
        entry: ReplacedByEntry | None = self.entries.get("replaced_by")
        return entry

    @property
    def unchecked_attributes(self) -> bool:
        """True if unlisted attributes are accepted."""
        return bool(self.entries.get("unchecked_attributes"))

    @property
    def defines(self) -> Mapping[str, str]:
        """Named expressions, each of which may use earlier ones."""
        texts_by_name: Mapping[str, str] = self.entries.get("define", {})
        return texts_by_name

    @property
    def recipe(self) -> Recipe | None:
        """The operator's kernel entry, None without a kernel."""
        entry: Recipe | None = self.entries.get("execute")
        return entry

    @property
    def behaviour(self) -> Mapping[str, dict[str, Any]]:
        """The kernel's constants by the first level at which they apply."""
        entries: Mapping[str, dict[str, Any]] = self.entries.get("execute", {})
        return entries

    @property
    def tolerance(self) -> str:
        """The tolerance of results, as an expression."""
        return str(self.entries.get("tolerance", "0"))

    @property
    def examples(self) -> Mapping[str, Example]:
        entries_by_name: Mapping[str, Example] = self.entries.get("examples", {})
        return entries_by_name


class DialectTables:
    """All files of one dialect."""

    __slots__ = ("entries",)

    def __init__(self, entries: dict[str, Any]) -> None:
        self.entries = entries

    @property
    def about(self) -> DialectEntry:
        """The properties of the dialect."""
        entry: DialectEntry = self.entries["dialect"]
        return entry

    @property
    def digest(self) -> str | None:
        """The digest, None where the build did not compute it."""
        text: str | None = self.entries.get("digest")
        return text

    @property
    def counted(self) -> Mapping[str, list[str]]:
        """Precomputed outputs that are kept without a type, by operator."""
        texts_by_name: Mapping[str, list[str]] = self.entries.get("counted", {})
        return texts_by_name

    @property
    def foreign(self) -> Mapping[str, str]:
        """Display names of the domains that another project defines."""
        return self.about.get("foreign", {})

    @property
    def title(self) -> str:
        """The vendor's name of the dialect."""
        return self.about["title"]

    @property
    def levels(self) -> Mapping[str, LevelEntry]:
        """The levels in order."""
        entries_by_name: Mapping[str, LevelEntry] = self.entries["levels"]["levels"]
        return entries_by_name

    @property
    def ir_versions(self) -> Mapping[str, str]:
        """IR versions, each with the first release that supports it."""
        texts_by_name: Mapping[str, str] = self.entries["levels"].get("ir_versions", {})
        return texts_by_name

    @property
    def types(self) -> dict[str, TypeEntry]:
        """The element types."""
        entries_by_name: dict[str, TypeEntry] = self.entries["types"]["types"]
        return entries_by_name

    @property
    def containers(self) -> Mapping[str, int]:
        """Type constructors with their number of parameters."""
        numbers_by_name: Mapping[str, int] = self.entries["types"].get("containers", {})
        return numbers_by_name

    @property
    def flags(self) -> Mapping[str, int]:
        """The numbers of tensor flags."""
        numbers_by_name: Mapping[str, int] = self.entries["types"].get("flags", {})
        return numbers_by_name

    @property
    def tensor(self) -> TensorTable:
        return TensorTable(self.entries.get("tensor", {}))

    @property
    def environments(self) -> list[EnvironmentEntry]:
        """The named releases."""
        entries: list[EnvironmentEntry] = self.entries.get("environments", {}).get("environments", [])
        return entries

    @property
    def unstated(self) -> UnstatedEntry | None:
        """Releases without a documented level."""
        entry: UnstatedEntry | None = self.entries.get("environments", {}).get("unstated")
        return entry

    def domains_of(self, kind: str) -> Mapping[str, str]:
        """Return the extra domains of a kind of release, with their sources."""
        texts_by_name: Mapping[str, str] = self.entries.get("environments", {}).get("domains", {}).get(kind, {})
        return texts_by_name

    @property
    def sources_of_targets(self) -> list[SourceEntry]:
        """The sources of levels and releases."""
        return [*self.entries["levels"]["sources"], *self.entries.get("environments", {}).get("sources", [])]

    @property
    def codes(self) -> Mapping[str, dict[str, Any]]:
        """Error codes by their hexadecimal spelling."""
        entries: Mapping[str, dict[str, Any]] = self.entries.get("codes", {}).get("codes", {})
        return entries

    @property
    def enums(self) -> Mapping[str, dict[str, int]]:
        """The numbers of enum words."""
        entries: Mapping[str, dict[str, int]] = self.entries.get("numbers", {}).get("enums", {})
        return entries

    @property
    def operator_numbers(self) -> Mapping[str, int]:
        numbers_by_name: Mapping[str, int] = self.entries.get("numbers", {}).get("operators", {})
        return numbers_by_name

    @property
    def operators(self) -> dict[str, dict[str, Any]]:
        """The entries of all operators by name; see `OperatorTable`."""
        entries: dict[str, dict[str, Any]] = self.entries["operators"]
        return entries

    @property
    def families(self) -> Mapping[str, dict[str, Any]]:
        entries: Mapping[str, dict[str, Any]] = self.entries.get("families", {})
        return entries

    @property
    def sets(self) -> Mapping[str, dict[str, list[str]]]:
        """Named sets by kind."""
        entries: Mapping[str, dict[str, list[str]]] = self.entries.get("sets", {})
        return entries

    @property
    def files(self) -> Mapping[str, str]:
        """The file of each operator in the dialect's folder."""
        texts_by_name: Mapping[str, str] = self.entries.get("files", {})
        return texts_by_name

    @property
    def folder(self) -> str | None:
        """The dialect's folder, if it differs from that of the tables in use."""
        text: str | None = self.entries.get("folder")
        return text
