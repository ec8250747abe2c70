"""Compilation of a runtime's YAML folder into one plain dict of tables.

Every file is checked, and all errors are reported together. Imported only when the tables are missing or stale, because
it needs pydantic and yaml, which placement must not import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.rules.shorthand import Shorthand, ShorthandError
from specgate.runtimes.onnxruntime.release_ranges import bounds, span
from specgate.runtimes.onnxruntime.table_files import (
    FunctionsFile,
    GraphsFile,
    InferenceFile,
    LoadingFile,
    ObservedFile,
    ProviderFile,
    ReleasesFile,
    RunsFile,
    SchemasFile,
    TypeSetsFile,
    function_problems,
    node_parts,
)
from specgate.runtimes.onnxruntime.table_references import (
    inference_problems,
    is_type,
    loading_problems,
    operator_problems,
    operator_scope,
    releases_problems,
    runs_problems,
    type_problems,
)
from specgate.spec.build import SpecErrors, dialect_files, load_file
from specgate.spec.short_forms import MARK, expand_sets, named_sets
from specgate.spec.yamlio import format_problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from specgate.rules.language import Scope
    from specgate.spec.yamlio import Keys, Lines

    Problem = tuple[Keys, str]

_RELEASES: Final = "releases.yaml"
_SETS: Final = "sets.yaml"
_SCHEMAS: Final = "schemas"
#: Only campaigns need this file; a folder may omit it.
_OBSERVED_FILE: Final = "observed.yaml"
_GRAPHS: Final = "graphs.yaml"
_LOADING: Final = "loading.yaml"
_RUNS_FILE: Final = "runs.yaml"
_INFERENCE: Final = "inference.yaml"
_FUNCTIONS: Final = "functions.yaml"
#: Folders that other parts of the placement read.
_OTHER_FOLDERS: Final = ("lowering/",)
#: Default values, which compiled rows omit.
_DEFAULTS: Final = {
    "constant_inputs": [], "cpu_inputs": [], "cpu_outputs": [], "graph": True, "graph_inputs": None, "needs": {},
    "query": None,
}  # fmt: skip


def build_runtime(folder: Path) -> dict[str, Any]:
    """Return the compiled tables of the runtime in `folder`.

    Raises SpecErrors with every problem.
    """
    return _Build(folder).tables()


class _Build:
    """One build with the tables compiled so far and the problems found."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[str] = []
        self.releases = self._load(_RELEASES, ReleasesFile)
        sets = self._load(_SETS, TypeSetsFile)
        self.sets, unknown_sets = named_sets(sets[0])
        self._tell(_SETS, sets[1], [*unknown_sets, *type_problems(self.sets["types"])])
        self.order: list[str] = list(self.releases[0].get("releases", {}))
        self.providers: Mapping[str, Any] = self.releases[0].get("providers", {})
        self.lists: dict[tuple[str, ...], int] = {}

    def tables(self) -> dict[str, Any]:
        self._tell(_RELEASES, self.releases[1], releases_problems(self.releases[0]))
        if self.problems:  # the other files depend on these
            raise SpecErrors(self.problems)
        entries: dict[str, Any] = {
            "registrations": {name: {} for name in self.providers},
            "schemas": {},
            "observed": [],
        }
        entries["loading"] = {"types": {}, "models": {}, "operators": {}}
        entries["runs"] = {"schemas": None, "outputs": None, "operators": {}}
        entries["inference"] = {"values": [], "unsized": []}
        entries["duplicating"] = [
            {"attributes": True, "inlined": True, **entry, **self._span(_RELEASES, self.releases[1], place, entry)}
            for place, entry in _number_entries("duplicating", self.releases[0].get("duplicating", ()))
        ]
        entries["removing"] = [
            {
                **entry,
                **self._span(_RELEASES, self.releases[1], place, entry),
                "operators": {name: _version_bounds(text) for name, text in entry["operators"].items()},
            }
            for place, entry in _number_entries("removing", self.releases[0].get("removing", ()))
        ]
        entries["lacks"] = {
            name: {
                version: self._span(_RELEASES, self.releases[1], ("lacks", name), {"releases": releases})
                for version, releases in versions.items()
            }
            for name, versions in self.releases[0].get("lacks", {}).items()
        }
        owners = {info["folder"]: name for name, info in self.providers.items()}
        files = {path.relative_to(self.folder).as_posix(): path for path in dialect_files(self.folder)}
        order = sorted(files, key=lambda name: (not name.startswith(f"{_SCHEMAS}/"), name))
        for name in order:  # schemas first, because the other files are checked against them
            top = name.partition("/")[0]
            if top == _SCHEMAS:
                self._schemas(name, entries["schemas"])
            elif top in owners:
                self._provider(name, owners[top], entries)
            elif name == _OBSERVED_FILE:
                entries["observed"] = self._load_observed()
            elif name == _GRAPHS:
                entries["graphs"] = self._load(name, GraphsFile)[0]
            elif name == _LOADING:
                self._loading(entries)
            elif name == _RUNS_FILE:
                self._runs(entries)
            elif name == _INFERENCE:
                self._inference(entries["inference"])
            elif name == _FUNCTIONS:
                entries["functions"] = self._functions()
            elif name not in {_RELEASES, _SETS} and not name.startswith(_OTHER_FOLDERS):
                names = ", ".join((_RELEASES, _SETS, f"{_SCHEMAS}/DOMAIN.yaml", *(f"{o}/DOMAIN.yaml" for o in owners)))
                self.problems.append(f"{files[name]}: not a runtime file; expected {names}")
        if self.problems:
            raise SpecErrors(self.problems)
        release_facts = {key: value for key, value in self.releases[0].items() if key != "sources"}
        spans = {name: bounds(info["releases"], self.order) for name, info in self.providers.items()}
        return {**release_facts, **entries, "known": spans, "types": [list(types) for types in self.lists]}

    def _load(self, name: str, kind: Any) -> tuple[dict[str, Any], Lines]:
        content, lines, texts = load_file(self.folder / name, kind)
        self.problems += texts
        return content, lines

    def _tell(self, name: str, lines: Lines, unknown_sets: list[Problem]) -> None:
        self.problems += [format_problem(str(self.folder / name), lines, path, text) for path, text in unknown_sets]

    def _load_observed(self) -> list[dict[str, Any]]:
        content, lines = self._load(_OBSERVED_FILE, ObservedFile)
        return [
            {**entry, "name": name, **self._span(_OBSERVED_FILE, lines, ("observed", name), entry)}
            for name, entry in content.get("observed", {}).items()
        ]

    def _loading(self, entries: dict[str, Any]) -> None:
        content, lines = self._load(_LOADING, LoadingFile)
        if content:
            self._tell(_LOADING, lines, loading_problems(content))
            models = {
                rule: {
                    **{key: entry.get(key) for key in ("read", "constants", "uncalled", "bodies", "absent")},
                    **self._span(_LOADING, lines, ("models", rule), entry),
                }
                for rule, entry in content.get("models", {}).items()
            }
            operators = {name: self._load_operator(name, lines, entry) for name, entry in content["operators"].items()}
            types = {
                name: self._span(_LOADING, lines, ("types", name), entry)
                for name, entry in content.get("types", {}).items()
            }
            entries["loading"] = {"types": types, "models": models, "operators": operators}

    def _runs(self, entries: dict[str, Any]) -> None:
        content, lines = self._load(_RUNS_FILE, RunsFile)
        if content:
            self._tell(_RUNS_FILE, lines, runs_problems(content))
            operators = {
                name: {key: self._rules(_RUNS_FILE, lines, name, entry, key) for key in ("runs", "fails")}
                for name, entry in content["operators"].items()
            }
            entries["runs"] = {key: content.get(key) for key in ("schemas", "outputs")} | {"operators": operators}

    def _rules(
        self, file: str, lines: Lines, operator: str, entry: Mapping[str, Any], key: str
    ) -> list[dict[str, Any]]:
        """Return the rules of a list, each with the releases it applies to."""
        rules = [{"rule": rule} if isinstance(rule, str) else rule for rule in entry.get(key, ())]
        return [rule | self._span(file, lines, ("operators", operator, key), rule) for rule in rules]

    def _load_operator(self, operator: str, lines: Lines, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return an operator's loading entry with releases per rule and check."""
        place: Keys = ("operators", operator)
        entries: dict[str, Any] = {key: self._rules(_LOADING, lines, operator, entry, key) for key in ("takes", "asks")}
        entries["refuses"] = {
            name: check | self._span(_LOADING, lines, (*place, "refuses", name), check)
            for name, check in entry.get("refuses", {}).items()
        }
        return entries

    def _inference(self, items_by_name: dict[str, list[Any]]) -> None:
        content, lines = self._load(_INFERENCE, InferenceFile)
        self._tell(_INFERENCE, lines, inference_problems(content))
        for part, entries in items_by_name.items():
            for index, entry in enumerate(content.get(part, ())):
                ends = self._span(_INFERENCE, lines, (part, index), entry)
                versions = {name: _version_bounds(text) for name, text in entry["operators"].items()}
                entries.append({**entry, **ends, "operators": versions})

    def _functions(self) -> dict[str, Any]:
        content, lines = self._load(_FUNCTIONS, FunctionsFile)
        self._tell(_FUNCTIONS, lines, list(function_problems(content)))
        entries = {}
        for name, entry in content.get("functions", {}).items():
            parts = [(node, node_parts(node["node"])) for node in entry["nodes"]]
            nodes = [
                {
                    **{key: node[key] for key in ("given", "without") if node.get(key)},
                    "result": r,
                    "operator": o,
                    "inputs": i,
                }
                for node, (r, o, i) in parts
            ]
            ends = self._span(_FUNCTIONS, lines, ("functions", name), entry)
            entries[name] = {"constants": {}, **entry, **ends, "nodes": nodes}
        return entries

    def _schemas(self, name: str, schemas: dict[str, Any]) -> None:
        content, lines = self._load(name, SchemasFile)
        if not content:
            return
        self._check_name(name, lines, content["domain"])
        versions_by_operator: dict[str, list[Any]] = {}
        schemas[content["domain"]] = versions_by_operator
        for operator, versions in content["operators"].items():
            versions_by_operator[operator] = [
                {**form, "version": version, **self._span(name, lines, path, form)}
                for path, version, _, form in _rows(operator, versions)
            ]

    def _provider(self, name: str, owner: str, entries: dict[str, Any]) -> None:
        content, lines = self._load(name, ProviderFile)
        if not content:
            return
        self._check_name(name, lines, content["domain"])
        if content["provider"] != owner:
            self._tell(name, lines, [(("provider",), f"expected {owner}, the name of the folder")])
        domain = content["domain"]
        kernels: dict[str, list[Any]] = {}
        entries["registrations"][owner][domain] = kernels
        for operator, versions in content["operators"].items():
            rows = kernels.setdefault(operator, [])
            for path, version, until_version, form in _rows(operator, versions):
                ends = self._span(name, lines, path, form, owner)
                types = [self._types(name, lines, (*path, "types"), kind) for kind in _to_list(form.get("types", {}))]
                if form.get("query") is not None:
                    scope = operator_scope(domain, operator, version, entries["schemas"])
                    self._plain_query(name, lines, path, form, scope)
                extra = {
                    key: form[key]
                    for key, default_value in _DEFAULTS.items()
                    if form.get(key, default_value) != default_value
                }
                rows += [
                    {"version": version, "until": until_version, "types": type_name, **ends, **extra}
                    for type_name in types
                ]
            self._tell(name, lines, operator_problems(domain, operator, versions, entries["schemas"], self.order))

    def _plain_query(self, name: str, lines: Lines, path: Keys, form: dict[str, Any], scope: Scope | None) -> None:
        """Expand the short forms in a row's query."""
        try:
            form["query"] = Shorthand({}, scope.optional if scope else ()).written_out(form["query"])
        except ShorthandError as error:
            self._tell(name, lines, [((*path, "query"), str(error))])

    def _check_name(self, name: str, lines: Lines, domain: str) -> None:
        if name.partition("/")[2] != f"{domain}.yaml":
            self._tell(name, lines, [(("domain",), f"expected the file to be called {domain}.yaml")])

    def _span(self, name: str, lines: Lines, path: Keys, form: Mapping[str, Any], owner: str = "") -> dict[str, int]:
        """Return the positions of a row's first and last release."""
        full_span = bounds(self.providers[owner]["releases"], self.order) if owner else (0, len(self.order) - 1)
        try:
            first, last = span(form.get("releases"), self.order, full_span)
        except ValueError as error:
            self._tell(name, lines, [((*path, "releases"), str(error))])
            return {"first": 0, "last": 0}
        return {"first": first, "last": last}

    def _types(self, name: str, lines: Lines, path: Keys, stated_entries: Mapping[str, Any]) -> dict[str, int]:
        """Return the position of the type list of each constraint."""
        numbers_by_name = {}
        for constraint, entries in stated_entries.items():
            if isinstance(entries, str) and not entries.startswith(MARK):
                self._tell(name, lines, [((*path, constraint), f"expected a list or a set such as {MARK}NAME")])
            types, unknown_sets = expand_sets(
                [entries] if isinstance(entries, str) else entries, self.sets["types"], "types"
            )
            type_names = () if isinstance(entries, str) else entries  # named sets are checked in their own file
            unknown_sets += [
                f"unknown type {item!r:.80}" for item in type_names if not item.startswith(MARK) and not is_type(item)
            ]
            self._tell(name, lines, [((*path, constraint), text) for text in unknown_sets])
            numbers_by_name[constraint] = self.lists.setdefault(tuple(types), len(self.lists))
        return numbers_by_name


def _rows(operator: str, versions: Mapping[str, Any]) -> Iterator[tuple[Keys, int, int | None, dict[str, Any]]]:
    """Yield each row with its path, first and last version (None if open)."""
    for key, forms in versions.items():
        first, _, last = key.partition("..")
        for index, form in enumerate(_to_list(forms)):
            place: Keys = (
                ("operators", operator, key, index) if isinstance(forms, list) else ("operators", operator, key)
            )
            yield place, int(first), int(last) if last else None, form


def _number_entries(part: str, entries: Iterable[dict[str, Any]]) -> Iterator[tuple[Keys, dict[str, Any]]]:
    for index, entry in enumerate(entries):
        yield (part, index), entry


def _version_bounds(versions: str) -> tuple[int, int | None]:
    first, _, last = versions.partition("..")
    return int(first), int(last) if last else None


def _to_list(entry: Any) -> list[Any]:
    return entry if isinstance(entry, list) else [entry]
