"""The entries of spec files as the compiled tables have them, for type checkers only.

`model.py`, `model_rows.py` and `dialect_model.py` say what a file may have and what it means; a test holds these
against them.
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
    """Where facts are from."""

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
    """An example with a change."""

    of: str
    operator: NotRequired[str]
    at: NotRequired[str]
    set: dict[str, Any]


class ValuesEntry(TypedDict):
    """A difference in what is computed."""

    what: str
    when: NotRequired[str]
    elements: NotRequired[str]
    arguments: NotRequired[dict[str, Any]]
    kernel: NotRequired[str]
    fields: NotRequired[dict[str, str | None]]
    types: NotRequired[dict[str, str]]
    conversion: NotRequired[str]
    all_builds: NotRequired[bool]


class ObservedEntry(TypedDict):
    """Where builds differ from the page."""

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
    """An operator that computes the same where one was removed."""

    operator: str
    inputs: dict[str, str]
    attributes: NotRequired[dict[str, Any]]
    empty: NotRequired[list[str]]
    evidence: str


class Recipe(TypedDict):
    """How the operator is computed; the constants of a level stand beside these under its name."""

    kernel: str
    arrays: dict[str, str | list[str]]
    arguments: NotRequired[dict[str, str]]
    output_type: NotRequired[dict[str, str | list[str]]]
    outputs: list[str | list[str]]
    sized_by_values: NotRequired[list[str]]
    since: NotRequired[str]
    unsupported_types: NotRequired[dict[str, list[str]]]


class ImplementationEntry(TypedDict):
    """A program that is asked."""

    what: str
    ignores: NotRequired[list[str]]
    infers_outputs: NotRequired[bool]
    reads_text: NotRequired[bool]
    title: NotRequired[str | None]
    target: NotRequired[str | None]
    releases: NotRequired[list[str]]


class DialectEntry(TypedDict):
    """A dialect as a whole."""

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
    """A level; dialects record more of it, such as its release or whether it is unfinished."""

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
    """An element type; of a word that is none it is asked too, and is empty then."""

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
    """A release that users know."""

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
    """What an operator's file and the one of all tensors have in common."""

    __slots__ = ("entries",)

    def __init__(self, entries: dict[str, Any]) -> None:
        self.entries = entries

    @property
    def rules(self) -> Mapping[str, Any]:
        """The rules by their names, each an expression, an entry or several."""
        rules: Mapping[str, Any] = self.entries.get("rules", {})
        return rules

    @property
    def counterexamples(self) -> Mapping[str, Counterexample]:
        """By the name of the one rule that each breaks."""
        entries_by_name: Mapping[str, Counterexample] = self.entries.get("counterexamples", {})
        return entries_by_name

    @property
    def observed(self) -> list[ObservedEntry]:
        """What builds do instead of the page, in the order of the file."""
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
    """One operator, with what its family gives it."""

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
        """What it computes; empty where the file only has what a package states."""
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
        """The fields by their names, each an entry or the forms that it has at some levels and at others."""
        entries: Mapping[str, Any] = self.entries["fields"]
        return entries

    @property
    def cases(self) -> tuple[tuple[str | None, dict[str, dict[str, Any]]], ...]:
        """The rows by their levels: once, without a condition, or for each case that a descriptor may be."""
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
        """The rows of versions that were withdrawn."""
        texts: list[str] = self.entries.get("deprecated", [])
        return texts

    @property
    def removed(self) -> str | None:
        """The first level without the operator, None where each has it."""
        level: str | None = self.entries.get("removed")
        return level

    @property
    def replaced_by(self) -> ReplacedByEntry | None:
        """The operator to write instead once this one is removed."""
        entry: ReplacedByEntry | None = self.entries.get("replaced_by")
        return entry

    @property
    def unchecked_attributes(self) -> bool:
        """Whether attributes that are not listed are taken too."""
        return bool(self.entries.get("unchecked_attributes"))

    @property
    def defines(self) -> Mapping[str, str]:
        """Named expressions, each of which may use those before it."""
        texts_by_name: Mapping[str, str] = self.entries.get("define", {})
        return texts_by_name

    @property
    def recipe(self) -> Recipe | None:
        """How it is computed, None where the table names no kernel."""
        entry: Recipe | None = self.entries.get("execute")
        return entry

    @property
    def behaviour(self) -> Mapping[str, dict[str, Any]]:
        """The kernel's constants by the level from which on they hold, among the other keys of the recipe."""
        entries: Mapping[str, dict[str, Any]] = self.entries.get("execute", {})
        return entries

    @property
    def tolerance(self) -> str:
        """How far results may be off, as an expression."""
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
        """What holds for the dialect as a whole."""
        entry: DialectEntry = self.entries["dialect"]
        return entry

    @property
    def digest(self) -> str | None:
        """The hash of what they say, None where it was not worked out when they were built."""
        text: str | None = self.entries.get("digest")
        return text

    @property
    def counted(self) -> Mapping[str, list[str]]:
        """By operator the outputs that count although they have no type, as far as they were worked out before."""
        texts_by_name: Mapping[str, list[str]] = self.entries.get("counted", {})
        return texts_by_name

    @property
    def foreign(self) -> Mapping[str, str]:
        """Domains that another project defines, each with its name."""
        return self.about.get("foreign", {})

    @property
    def title(self) -> str:
        """What the vendor calls the dialect."""
        return self.about["title"]

    @property
    def levels(self) -> Mapping[str, LevelEntry]:
        """The levels in order."""
        entries_by_name: Mapping[str, LevelEntry] = self.entries["levels"]["levels"]
        return entries_by_name

    @property
    def ir_versions(self) -> Mapping[str, str]:
        """The versions of the file format, each with the first release that has it."""
        texts_by_name: Mapping[str, str] = self.entries["levels"].get("ir_versions", {})
        return texts_by_name

    @property
    def types(self) -> dict[str, TypeEntry]:
        """The element types."""
        entries_by_name: dict[str, TypeEntry] = self.entries["types"]["types"]
        return entries_by_name

    @property
    def containers(self) -> Mapping[str, int]:
        """What makes types of types, and of how many."""
        numbers_by_name: Mapping[str, int] = self.entries["types"].get("containers", {})
        return numbers_by_name

    @property
    def flags(self) -> Mapping[str, int]:
        """The numbers of the flags of tensors."""
        numbers_by_name: Mapping[str, int] = self.entries["types"].get("flags", {})
        return numbers_by_name

    @property
    def tensor(self) -> TensorTable:
        return TensorTable(self.entries.get("tensor", {}))

    @property
    def environments(self) -> list[EnvironmentEntry]:
        """The releases that users know."""
        entries: list[EnvironmentEntry] = self.entries.get("environments", {}).get("environments", [])
        return entries

    @property
    def unstated(self) -> UnstatedEntry | None:
        """The releases whose level no source states."""
        entry: UnstatedEntry | None = self.entries.get("environments", {}).get("unstated")
        return entry

    def domains_of(self, kind: str) -> Mapping[str, str]:
        """Return the domains of its own that a kind of release has operators in, each with its source."""
        texts_by_name: Mapping[str, str] = self.entries.get("environments", {}).get("domains", {}).get(kind, {})
        return texts_by_name

    @property
    def sources_of_targets(self) -> list[SourceEntry]:
        """Where levels and releases are from."""
        return [*self.entries["levels"]["sources"], *self.entries.get("environments", {}).get("sources", [])]

    @property
    def codes(self) -> Mapping[str, dict[str, Any]]:
        """The error codes that users meet, by their hexadecimal spelling."""
        entries: Mapping[str, dict[str, Any]] = self.entries.get("codes", {}).get("codes", {})
        return entries

    @property
    def enums(self) -> Mapping[str, dict[str, int]]:
        """The numbers of the words of enums."""
        entries: Mapping[str, dict[str, int]] = self.entries.get("numbers", {}).get("enums", {})
        return entries

    @property
    def operator_numbers(self) -> Mapping[str, int]:
        numbers_by_name: Mapping[str, int] = self.entries.get("numbers", {}).get("operators", {})
        return numbers_by_name

    @property
    def operators(self) -> dict[str, dict[str, Any]]:
        """The entries of all operators by their names; see `OperatorTable`."""
        entries: dict[str, dict[str, Any]] = self.entries["operators"]
        return entries

    @property
    def families(self) -> Mapping[str, dict[str, Any]]:
        entries: Mapping[str, dict[str, Any]] = self.entries.get("families", {})
        return entries

    @property
    def sets(self) -> Mapping[str, dict[str, list[str]]]:
        """Named lists, by what they are of."""
        entries: Mapping[str, dict[str, list[str]]] = self.entries.get("sets", {})
        return entries

    @property
    def files(self) -> Mapping[str, str]:
        """The file of each operator in the dialect's folder."""
        texts_by_name: Mapping[str, str] = self.entries.get("files", {})
        return texts_by_name

    @property
    def folder(self) -> str | None:
        """Where the files are, if they are not those of the tables in use."""
        text: str | None = self.entries.get("folder")
        return text
