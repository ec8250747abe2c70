"""Configuration of lint: ``specgate.toml`` or ``[tool.specgate]``.

The latter is a table in ``pyproject.toml``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specgate.errors import InputError
from specgate.linting.files import path_matches, quote_text, read_content, relative_name

if TYPE_CHECKING:
    from datetime import date

    from pydantic import ValidationError

    from specgate.report.selection import FailOn
    from specgate.verdict import Basis, Severity

_CONFIG_FILE = "specgate.toml"
_PROJECT_FILE = "pyproject.toml"
_SIZE_LIMIT = 1 << 20  # bytes
_PROBLEMS_LIMIT = 50
_DOTS_LIMIT = 1000  # per line: tomllib needs quadratic time and memory for dotted keys

_KINDS = {
    "bool": "a boolean", "int": "an integer", "float": "a float", "dict": "a table", "list": "an array",
    "datetime": "a date with a time", "date": "a date", "time": "a time", "NoneType": "nothing",
}  # fmt: skip
_UNKNOWN = "extra_forbidden"
_TEXT = "a non-blank string"
_TEXTS = "an array of non-blank strings"
#: The expected values for each type of error from pydantic or from our validators.
_EXPECTED = {
    "string_type": _TEXT, "literal_error": _TEXT, "missing": _TEXT, "list_type": _TEXTS, "too_short": _TEXTS,
    "dict_type": "a table of severities by rule", "bool_type": "true or false",
    "date_type": "a date such as 2027-01-31", "model_type": "a table",
    "entry_type": f"a table or {_TEXT}", "any_segments": "a * for each segment of the id",
}  # fmt: skip
_INPUT_WORDS = {"missing": "nothing", "too_short": "an empty array"}


@dataclass(frozen=True, slots=True)
class PathRule:
    """One ``[[paths]]`` entry for files that match a gitignore-style pattern.

    None leaves a setting unchanged.
    """

    match: str
    targets: list[str] | None = None
    exclude: bool | None = None


@dataclass(frozen=True, slots=True)
class Ignore:
    """One ``[[ignore]]`` entry: silences findings of `rule`.

    rule: a rule id; its segments may contain ``*`` and ``?``. path: gitignore-style pattern. node: glob for the node
    path, with or without its first segment. target: a level or a release. until: the last day on which it applies.
    source: the configuration file. place: the position in that file, such as ``ignore[0]`` for the first entry.
    """

    rule: str
    reason: str
    path: str | None = None
    node: str | None = None
    target: str | None = None
    until: date | None = None
    source: str | None = None
    place: str | None = None


@dataclass(slots=True)
class Config:
    """The configuration; without a file, all fields are empty.

    targets: unparsed. severity, fail_on, select, ignored_rules, statistics: like the command-line options; None or
    empty if not configured. The strings of ``ignore`` are in `ignored_rules`. severities: by rule id or prefix; the
    last match applies. baseline: unparsed path relative to `root`. custom_domains: ONNX operator domains that the
    targets are known to provide. source: the file that was read. root: its directory, to which all patterns are
    relative; without a file it is the top of the repository, or else the directory in which the search began.
    """

    targets: list[str] = field(default_factory=list)
    basis: Basis = "both"
    paths: list[PathRule] = field(default_factory=list)
    ignores: list[Ignore] = field(default_factory=list)
    baseline: str | None = None
    format: str | None = None
    severity: Severity | None = None
    fail_on: FailOn | None = None
    select: list[str] = field(default_factory=list)
    ignored_rules: list[str] = field(default_factory=list)
    severities: dict[str, Severity] = field(default_factory=dict)
    statistics: bool = False
    custom_domains: list[str] = field(default_factory=list)
    source: str | None = None
    root: Path = field(default_factory=Path)

    def targets_for(self, file: str) -> list[str]:
        """Return the targets of `file`.

        They come from the last matching path rule with targets; without one, the general targets apply.
        """
        for rule in reversed(self.paths):
            if rule.targets is not None and path_matches(rule.match, relative_name(file, self.root)):
                return rule.targets
        return self.targets

    def is_excluded(self, file: str) -> bool:
        """Return whether the last matching path rule with `exclude` excludes it."""
        for rule in reversed(self.paths):
            if rule.exclude is not None and path_matches(rule.match, relative_name(file, self.root)):
                return rule.exclude
        return False


def load_config(start: Path, explicit: Path | None = None) -> Config:
    """Return the configuration from `explicit` or the nearest file.

    The search starts in the directory `start` and ends at the first directory that contains a configuration or is the
    top of a git repository. Raises InputError for an unreadable file, for two configurations in one directory, and for
    invalid entries, which are all listed.
    """
    try:
        if explicit is None:
            root, source, table = _search(Path(os.path.normpath(start.absolute())))
        else:
            root, source, table = Path(os.path.normpath(explicit.absolute())).parent, explicit, _read_section(explicit)
    except OSError as error:
        raise InputError(f"cannot look for a configuration: {error.strerror}", file=str(explicit or start)) from error
    if source is None:
        return Config(root=root)
    return _config(table, _name(source), root)


def _search(start: Path) -> tuple[Path, Path | None, dict[str, Any]]:
    for folder in (start, *start.parents):
        own_file, shared = folder / _CONFIG_FILE, folder / _PROJECT_FILE
        section = _section(shared) if shared.is_file() else None
        if own_file.is_file():
            if section is not None:
                conflict = f"found {_name(own_file)} and [tool.specgate] in {_name(shared)}"
                raise InputError(f"expected one configuration, {conflict}", file=_name(folder))
            return folder, own_file, _parse_toml(own_file)
        if section is not None:
            return folder, shared, section
        if (folder / ".git").exists():  # a file in a linked worktree
            return folder, None, {}
    return start, None, {}


def _read_section(explicit: Path) -> dict[str, Any]:
    if explicit.name != _PROJECT_FILE:
        return _parse_toml(explicit)
    section = _section(explicit)
    if section is None:
        raise InputError("expected a table, found nothing", file=_name(explicit), place="tool.specgate")
    return section


def _section(path: Path) -> dict[str, Any] | None:
    tool = _parse_toml(path).get("tool")
    section = tool.get("specgate") if isinstance(tool, dict) else None
    if section is None or isinstance(section, dict):
        return section
    raise InputError(f"expected a table, found {describe_value(section)}", file=_name(path), place="tool.specgate")


def _parse_toml(path: Path) -> dict[str, Any]:
    import tomllib

    data = read_content(path, _SIZE_LIMIT, name=_name(path))
    if any(line.count(b".") > _DOTS_LIMIT for line in data.splitlines()):
        raise InputError(f"expected at most {_DOTS_LIMIT} dots in a line, found more", file=_name(path))
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except RecursionError as error:
        raise InputError("expected TOML, found values nested too deeply", file=_name(path)) from error
    except ValueError as error:
        raise InputError(f"expected TOML, found an error: {quote_text(str(error))}", file=_name(path)) from error


def _name(path: Path) -> str:
    """Return the shortest name of a file relative to the working directory."""
    path = Path(os.path.normpath(path.absolute()))
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _config(table: dict[str, Any], source: str, root: Path) -> Config:
    import pydantic

    from specgate.linting.config_model import ConfigFile

    try:
        config_file = ConfigFile.model_validate(table)
    except pydantic.ValidationError as error:
        raise InputError(f"\n{source}: ".join(_problems(error)), file=source) from None
    return Config(
        **config_file.model_dump(exclude={"paths", "ignore"}),
        paths=[PathRule(entry.match, entry.targets or None, entry.exclude) for entry in config_file.paths],
        ignores=[
            Ignore(**entry.model_dump(), source=source, place=f"ignore[{index}]")
            for index, entry in enumerate(config_file.ignore)
            if not isinstance(entry, str)
        ],
        ignored_rules=[entry for entry in config_file.ignore if isinstance(entry, str)],
        source=source,
        root=root,
    )


def _problems(error: ValidationError) -> list[str]:
    """Return one line per invalid entry, with its key and the problem.

    Unknown keys of a table come first. Long lists are shortened.
    """
    items: list[Any] = error.errors(include_url=False)
    first: dict[tuple[int | str, ...], int] = {}
    for index, item in enumerate(items):
        for depth in range(len(item["loc"])):
            first.setdefault(item["loc"][:depth], index)
    placed_items = [
        (first[item["loc"][:-1]], 0, item) if item["type"] == _UNKNOWN else (i, 1, item) for i, item in enumerate(items)
    ]
    texts = [
        _problem(item) for *_, item in sorted(placed_items, key=lambda placed_item: placed_item[:2])[:_PROBLEMS_LIMIT]
    ]
    return texts + ([f"and {len(items) - _PROBLEMS_LIMIT} more"] if len(items) > _PROBLEMS_LIMIT else [])


def _problem(error: Any) -> str:
    path = error["loc"]
    if path[0] == "ignore":
        path = path[:2] + path[3:]  # after the index, pydantic inserts the kind of the entry
    words = (
        part if isinstance(part, int) or (part.isidentifier() and len(part) <= 80) else quote_text(part)
        for part in path
    )
    place = "".join(f"[{word}]" if isinstance(word, int) else f".{word}" for word in words).removeprefix(".")
    return f"{place}: {_message(error, path)}"


def _message(error: Any, path: tuple[int | str, ...]) -> str:
    kind, value, key = error["type"], error["input"], path[-1]
    if kind == _UNKNOWN:
        from specgate.linting.config_model import ConfigFile, IgnoreTable, PathTable

        table = ConfigFile if len(path) == 1 else PathTable if path[0] == "paths" else IgnoreTable
        similar = get_close_matches(str(key)[:80], table.model_fields, 1)
        keys = ", ".join(table.model_fields)
        return f"unknown key, did you mean {similar[0]}?" if similar else f"unknown key, expected one of {keys}"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if value is None:  # TOML has no null: see PathTable
        return "expected targets or exclude, found neither"
    expected, text = _EXPECTED[kind], describe_value(value)
    if kind == "literal_error" and isinstance(value, str) and value.strip():
        expected = "one of " + error["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
    if kind == "list_type" and key in {"paths", "ignore"}:
        expected = f"an array of tables, [[{key}]]"
    return f"expected {expected}, found {_INPUT_WORDS.get(kind, text)}"


def describe_value(value: object) -> str:
    """Describe a value of a TOML or JSON file for a message.

    Short strings are quoted in full; other values are described by type.
    """
    return quote_text(value) if isinstance(value, str) else _KINDS[type(value).__name__]
