"""Types of compiled spec entries, for type checkers only.

`file_models.py` defines and documents the keys; a test compares them with these types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
    pages: NotRequired[dict[str, str]]
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


def cases_of(support: Any) -> list[tuple[tuple[str | int, ...], str | None, dict[str, Any]]]:
    """Return the path, the condition and the rows by level of each case.

    Rows without cases are one case without a condition.
    """
    if not isinstance(support, list):
        return [(("support",), None, support)]
    rows = [{level: row for level, row in case.items() if level != "when"} for case in support]
    return [(("support", index), case["when"], rows[index]) for index, case in enumerate(support)]


def support_of(cases: Sequence[tuple[str | None, dict[str, Any]]]) -> Any:
    """Return the support rows of cases, the inverse of `cases_of`."""
    if [when for when, _ in cases] == [None]:
        return cases[0][1]
    return [{"when": when, **rows} for when, rows in cases]


class _Entry:
    """A property for the value at a path of keys.

    A missing key has the default if there is one.
    """

    def __init__(self, path: str, *default: Any) -> None:
        *self.above, self.key = path.split(".")
        self.default = default

    def __get__(self, table: Any, _owner: type[Any]) -> Any:
        if table is None:
            return self
        entries = table.entries
        for key in self.above:
            entries = entries.get(key, {}) if self.default else entries[key]
        return entries.get(self.key, *self.default) if self.default else entries[self.key]


def _entry(path: str, *default: Any) -> Any:
    return _Entry(path, *default)


class _Table:
    __slots__ = ("entries",)

    def __init__(self, entries: dict[str, Any]) -> None:
        self.entries = entries


class _Rules(_Table):
    """The common members of operator files and the tensor file."""

    __slots__ = ()

    #: The rules by name: an expression, an entry or several entries.
    rules: Mapping[str, Any] = _entry("rules", {})
    #: Counterexamples by the name of the only rule that each violates.
    counterexamples: Mapping[str, Counterexample] = _entry("counterexamples", {})
    #: Observed differences from the page, in file order.
    observed: list[ObservedEntry] = _entry("observed", [])


class TensorTable(_Rules):
    """The rules of every tensor of a dialect."""

    __slots__ = ()

    sources: list[SourceEntry] = _entry("sources", [])


class OperatorTable(_Rules):
    """One operator, merged with its family."""

    __slots__ = ()

    name: str = _entry("operator")
    family: str | None = _entry("family", None)
    #: The operator's description, empty for tables generated from a package.
    summary: str = _entry("summary", "")
    sources: list[SourceEntry] = _entry("source")
    #: Facts that could not be found.
    unknowns: list[str] = _entry("unknowns", [])
    #: The fields by name: an entry, or one entry per range of levels.
    fields: Mapping[str, Any] = _entry("fields")
    #: The rows of withdrawn versions.
    deprecated: list[str] = _entry("deprecated", [])
    #: The first level without the operator, None if all later levels have it.
    removed: str | None = _entry("removed", None)
    #: The operator that replaces this one after its removal.
    replaced_by: ReplacedByEntry | None = _entry("replaced_by", None)
    #: True if unlisted attributes are accepted.
    unchecked_attributes: bool = _entry("unchecked_attributes", False)
    #: Named expressions, each of which may use earlier ones.
    defines: Mapping[str, str] = _entry("define", {})
    #: The operator's kernel entry, None without a kernel.
    recipe: Recipe | None = _entry("execute", None)
    #: The kernel's constants by the first level at which they apply.
    behaviour: Mapping[str, dict[str, Any]] = _entry("execute", {})
    #: The tolerance of results, as an expression.
    tolerance: str = _entry("tolerance", "0")
    examples: Mapping[str, Example] = _entry("examples", {})

    @property
    def cases(self) -> tuple[tuple[str | None, dict[str, dict[str, Any]]], ...]:
        """The rows by level: once without a condition, or one mapping per case."""
        return tuple((when, rows) for _, when, rows in cases_of(self.entries["support"]))

    @property
    def only_rows(self) -> dict[str, dict[str, Any]]:
        """The rows of an operator without cases."""
        ((_, rows),) = self.cases
        return rows


class DialectTables(_Table):
    """All files of one dialect."""

    __slots__ = ()

    #: The properties of the dialect.
    about: DialectEntry = _entry("dialect")
    #: The vendor's name of the dialect.
    title: str = _entry("dialect.title")
    #: Display names of the domains that another project defines.
    foreign: Mapping[str, str] = _entry("dialect.foreign", {})
    #: The digest, None where the build did not compute it.
    digest: str | None = _entry("digest", None)
    #: Precomputed outputs that are kept without a type, by operator.
    counted: Mapping[str, list[str]] = _entry("counted", {})
    #: The levels in order.
    levels: Mapping[str, LevelEntry] = _entry("levels.levels")
    #: IR versions, each with the first release that supports it.
    ir_versions: Mapping[str, str] = _entry("levels.ir_versions", {})
    #: The element types.
    types: dict[str, TypeEntry] = _entry("types.types")
    #: Type constructors with their number of parameters.
    containers: Mapping[str, int] = _entry("types.containers", {})
    #: The numbers of tensor flags.
    flags: Mapping[str, int] = _entry("types.flags", {})
    #: The named releases.
    environments: list[EnvironmentEntry] = _entry("environments.environments", [])
    #: Releases without a documented level.
    unstated: UnstatedEntry | None = _entry("environments.unstated", None)
    #: Error codes by their hexadecimal spelling.
    codes: Mapping[str, dict[str, Any]] = _entry("codes.codes", {})
    #: The numbers of enum words.
    enums: Mapping[str, dict[str, int]] = _entry("numbers.enums", {})
    operator_numbers: Mapping[str, int] = _entry("numbers.operators", {})
    #: The entries of all operators by name; see `OperatorTable`.
    operators: dict[str, dict[str, Any]] = _entry("operators")
    families: Mapping[str, dict[str, Any]] = _entry("families", {})
    #: Named sets by kind.
    sets: Mapping[str, dict[str, list[str]]] = _entry("sets", {})
    #: The file of each operator in the dialect's folder.
    files: Mapping[str, str] = _entry("files", {})
    #: The dialect's folder, if it differs from that of the tables in use.
    folder: str | None = _entry("folder", None)

    @property
    def tensor(self) -> TensorTable:
        return TensorTable(self.entries.get("tensor", {}))

    def domains_of(self, kind: str) -> Mapping[str, str]:
        """Return the extra domains of a kind of release, with their sources."""
        texts_by_name: Mapping[str, str] = self.entries.get("environments", {}).get("domains", {}).get(kind, {})
        return texts_by_name

    @property
    def sources_of_targets(self) -> list[SourceEntry]:
        """The sources of levels and releases."""
        return [*self.entries["levels"]["sources"], *self.entries.get("environments", {}).get("sources", [])]
