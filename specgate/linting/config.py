"""Read the configuration of lint: ``specgate.toml``, or ``[tool.specgate]`` in ``pyproject.toml``."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specgate.errors import InputError
from specgate.linting.config_table import PROBLEMS_LIMIT, Table, described
from specgate.linting.files import path_matches, quoted, read_whole, relative_name
from specgate.report.selection import FAIL_ON, SEVERITIES

if TYPE_CHECKING:
    from datetime import date

__all__ = ["Config", "Ignore", "PathRule", "load_config"]

_OWN = "specgate.toml"
_SHARED = "pyproject.toml"
_BASES = ("documented", "observed", "both")
_SIZE_LIMIT = 1 << 20  # bytes
_DOTS_LIMIT = 1000  # per line: the time and memory that tomllib takes grow with the square of a dotted key's parts


@dataclass(frozen=True, slots=True)
class PathRule:
    """What ``[[paths]]`` says of the files that match a gitignore-style pattern; None leaves a matter open."""

    match: str
    targets: list[str] | None = None
    exclude: bool | None = None


@dataclass(frozen=True, slots=True)
class Ignore:
    """One ``[[ignore]]``: findings of `rule` are silenced, for a reason and perhaps only for a time.

    rule: a rule id, where ``*`` and ``?`` may stand inside of its segments. path: gitignore-style pattern. node: glob
    on the node path, with or without its first segment. target: by its level or by a release. until: the last day on
    which it holds. source: the file it is in; place: where in that file, ``ignore[0]`` being the first.
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
    """What the configuration says; without any, all that it can say is empty.

    targets: as written, not parsed. severity, fail_on, select, ignored_rules, statistics: as the options of these names
    (the strings in ``ignore`` are ``ignored_rules``), None and empty where nothing is said. baseline: as written,
    relative to `root`. custom_domains: of ONNX operators, which the targets are known to have. source: the file that
    was read. root: its directory, to which every pattern is relative (without a file the repository's, else where the
    search began).
    """

    targets: list[str] = field(default_factory=list)
    basis: str = "both"
    paths: list[PathRule] = field(default_factory=list)
    ignores: list[Ignore] = field(default_factory=list)
    baseline: str | None = None
    format: str | None = None
    severity: str | None = None
    fail_on: str | None = None
    select: list[str] = field(default_factory=list)
    ignored_rules: list[str] = field(default_factory=list)
    statistics: bool = False
    custom_domains: list[str] = field(default_factory=list)
    source: str | None = None
    root: Path = field(default_factory=Path)

    def targets_for(self, file: str) -> list[str]:
        """Return the targets of `file`: those of the last matching path rule that has any, else the general ones."""
        for rule in reversed(self.paths):
            if rule.targets is not None and path_matches(rule.match, relative_name(file, self.root)):
                return rule.targets
        return self.targets

    def excluded(self, file: str) -> bool:
        """Whether `file` is to be skipped, by the last matching path rule with `exclude`."""
        for rule in reversed(self.paths):
            if rule.exclude is not None and path_matches(rule.match, relative_name(file, self.root)):
                return rule.exclude
        return False


def load_config(start: Path, explicit: Path | None = None) -> Config:
    """Read the file `explicit`, or the nearest configuration at or above the directory `start`.

    The search ends at the first directory that has a configuration or is the top of a git repository. Raises InputError
    for a file that cannot be read, for two configurations in one directory, and for wrong entries, all of them at once.
    """
    try:
        if explicit is None:
            root, source, table = _search(Path(os.path.normpath(start.absolute())))
        else:
            root, source, table = Path(os.path.normpath(explicit.absolute())).parent, explicit, _read(explicit)
    except OSError as error:
        raise InputError(f"cannot look for a configuration: {error.strerror}", file=str(explicit or start)) from error
    if source is None:
        return Config(root=root)
    name = _name(source)
    problems: list[str] = []
    config = _config(Table(table, "", problems), name, root)
    if problems:
        more = len(problems) - PROBLEMS_LIMIT
        listed = problems[:PROBLEMS_LIMIT] + ([f"and {more} more"] if more > 0 else [])
        raise InputError(f"\n{name}: ".join(listed), file=name)
    return config


def _search(start: Path) -> tuple[Path, Path | None, dict[str, Any]]:
    for folder in (start, *start.parents):
        own, shared = folder / _OWN, folder / _SHARED
        section = _section(shared) if shared.is_file() else None
        if own.is_file():
            if section is not None:
                both = f"found {_name(own)} and [tool.specgate] in {_name(shared)}"
                raise InputError(f"expected one configuration, {both}", file=_name(folder))
            return folder, own, _parsed(own)
        if section is not None:
            return folder, shared, section
        if (folder / ".git").exists():  # a file in a linked work tree
            return folder, None, {}
    return start, None, {}


def _read(explicit: Path) -> dict[str, Any]:
    if explicit.name != _SHARED:
        return _parsed(explicit)
    section = _section(explicit)
    if section is None:
        raise InputError("expected a table, found nothing", file=_name(explicit), place="tool.specgate")
    return section


def _section(path: Path) -> dict[str, Any] | None:
    tool = _parsed(path).get("tool")
    section = tool.get("specgate") if isinstance(tool, dict) else None
    if section is None or isinstance(section, dict):
        return section
    raise InputError(f"expected a table, found {described(section)}", file=_name(path), place="tool.specgate")


def _parsed(path: Path) -> dict[str, Any]:
    import tomllib

    data = read_whole(path, _SIZE_LIMIT, name=_name(path))
    if any(line.count(b".") > _DOTS_LIMIT for line in data.splitlines()):
        raise InputError(f"expected at most {_DOTS_LIMIT} dots in a line, found more", file=_name(path))
    try:
        return tomllib.loads(data.decode())
    except RecursionError as error:
        raise InputError("expected TOML, found values nested too deeply", file=_name(path)) from error
    except ValueError as error:
        raise InputError(f"expected TOML, found an error: {quoted(str(error))}", file=_name(path)) from error


def _name(path: Path) -> str:
    """Name a file as short as it can be from where the user is."""
    path = Path(os.path.normpath(path.absolute()))
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


_KEYS = (
    "targets", "basis", "baseline", "format", "severity", "fail_on", "select", "statistics", "custom_domains", "paths",
    "ignore",
)  # fmt: skip


def _config(table: Table, source: str, root: Path) -> Config:
    table.expect_only(*_KEYS)
    return Config(
        targets=table.texts("targets") or [],
        basis=table.word("basis", _BASES) or "both",
        paths=[_path_rule(entry) for entry in table.tables("paths")],
        ignores=[_ignore(entry, source) for entry in table.tables("ignore", strings=True)],
        baseline=table.text("baseline"),
        format=table.text("format"),
        severity=table.word("severity", SEVERITIES),
        fail_on=table.word("fail_on", FAIL_ON),
        select=table.texts("select") or [],
        ignored_rules=_strings(table.values.get("ignore")),
        statistics=table.flag("statistics") or False,
        custom_domains=table.texts("custom_domains") or [],
        source=source,
        root=root,
    )


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _path_rule(table: Table) -> PathRule:
    table.expect_only("match", "targets", "exclude")
    if not {"targets", "exclude"} & table.values.keys():
        table.note("targets", "expected targets or exclude, found neither")
    match = table.pattern("match", required=True) or ""
    return PathRule(match=match, targets=table.texts("targets"), exclude=table.flag("exclude"))


def _ignore(table: Table, source: str) -> Ignore:
    table.expect_only("rule", "path", "node", "target", "reason", "until")
    rule = table.text("rule", required=True) or ""
    if "**" in rule:
        table.note("rule", f"expected a * for each segment of the id, found {quoted(rule)}")
    return Ignore(
        rule=rule,
        reason=table.text("reason", required=True) or "",
        path=table.pattern("path"),
        node=table.text("node"),
        target=table.text("target"),
        until=table.day("until"),
        source=source,
        place=table.place,
    )
