"""Targets: a dialect at a level.

A target is named by a level or by a release, redistributable or runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import format_value
from specgate.dialects import dialect_names, is_dialect
from specgate.errors import InputError
from specgate.loading import lazy
from specgate.runtimes import runtimes
from specgate.slotted import replace, slotted
from specgate.spec.tables import dialect, on_change

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate import near_names
    from specgate.runtimes.release import Runtime
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.written import EnvironmentEntry
    from specgate.targets import listing as targets_listing
    from specgate.targets import queries as targets_queries
else:
    near_names = lazy("specgate.near_names")  # few names are wrong
    targets_listing = lazy("specgate.targets.listing")
    targets_queries = lazy("specgate.targets.queries")

_EXPECTED: Final = "expected a target DIALECT:LEVEL such as directml:4.1 or onnx:17"
_LATEST: Final = "latest"
_MAX_NAME: Final = 80
_MAX_LISTED: Final = 3
#: Characters of which every query has at least one; names of releases may contain spaces, too.
_SIGNS: Final = frozenset("<>=! ")


@slotted(frozen=True)
class Target:
    """A dialect at a level: ``directml:4.1``; str() keeps its spelling.

    alias: the name it was given by, if not the level itself. environment: the release of that name. ir_version: the
    highest ONNX or OpenVINO IR version that the target reads, where known. domains: extra operator domains. by: the
    implementation whose specific observations apply, several joined by ``+``; family: the prefix of an implementation's
    targets, instead of the dialect's name. runtime: the release of a package that assigns nodes to devices, where the
    target is one.
    """

    dialect: str
    level: str
    alias: str | None = None
    environment: str | None = None
    ir_version: int | None = None
    domains: tuple[str, ...] = ()
    by: str | None = None
    family: str | None = None
    runtime: Runtime | None = None

    def __str__(self) -> str:
        return f"{self.family or self.dialect}:{self.alias or self.level}"

    @property
    def at_level(self) -> str:
        """The target by its level: ``onnx:19`` for ``onnx:onnxruntime-1.16``.

        The release of a runtime keeps its name, because its level does not describe it.
        """
        if self.runtime is not None:
            return str(self)
        return f"{self.family or self.dialect}:{self.level}"

    def to_dict(self) -> dict[str, Any]:
        """Return the target as plain data."""
        return {
            "target": self.at_level,
            "alias": self.alias,
            "environment": self.environment,
            "ir_version": self.ir_version,
        }

    @property
    def described(self) -> str:
        """The target with the level of its name.

        Example: ``directml:windows-10-2004 (feature level 2.0)``.
        """
        return str(self) if self.alias is None else f"{self} ({dialect(self.dialect).label(self.level)})"


_parsed: dict[str, Target] = {}


def parse_target(text: str, dialect_name: str | None = None) -> Target:
    """Return the target ``DIALECT:LEVEL`` or ``DIALECT:ENVIRONMENT``.

    A level wins over a release of the same spelling (``onnx:17`` is opset 17; ``onnx:1.16`` the release 1.16). Without
    a dialect (``5.0``, ``windows-11-22h2``) the dialect is `dialect_name`, else the only one that has the name.
    ``latest`` is the newest finished level. A query (see `specgate.targets.queries`) must match one target. Raises
    InputError with similar names.
    """
    if dialect_name is not None and isinstance(text, str) and ":" not in text and not is_query(text):
        text = f"{dialect_name}:{text}"
    target = _parsed.get(text) if isinstance(text, str) else _parse(text)
    if target is None:
        target = _parsed[text] = _parse(text)
        if len(_parsed) > 1000:  # bounded, because a service may parse user input for a long time
            _parsed.clear()
    return target


def at_level(text: str) -> str:
    """Return a target's spelling by its level, for comparison.

    Unknown targets are returned unchanged.
    """
    target = _parsed.get(text) or _look_up(text)
    return text if target is None else target.at_level


@on_change
def clear_cache() -> None:
    """Clear parsed targets after the tables changed."""
    _parsed.clear()


def _parse(text: str) -> Target:
    if not isinstance(text, str):
        raise InputError(f"expected a target such as directml:4.1, found {format_value(text)}")
    if is_query(text):
        return _only_target(text)
    name, colon, result = (part.strip() for part in text.partition(":"))
    if not colon:
        return _find_in_dialects(text, name)
    if not result:
        raise InputError(f"{_EXPECTED}, found {text!r:.60}")
    family_name = next((spelling for spelling in (name, name.lower()) if is_dialect(spelling)), None)
    if family_name is None:
        implementation = _implementation(name.lower(), result)
        if implementation is not None:
            return implementation
        _refuse_abbreviation(name, result)
    table = dialect(family_name or name)
    return _level_target(table, result) or _unknown(table, result, text)


def _implementation(family: str, text: str) -> Target | None:
    """Return the target of an implementation by a release's name, else None.

    None where no implementation has such targets.
    """
    for table in map(dialect, dialect_names()):
        for name, entry in table.implementations_with_targets.items():
            if entry["target"] != family:
                continue
            releases = entry["releases"]
            matching_target = _level_target(table, releases[-1] if text.lower() == _LATEST else text)
            if matching_target is None or matching_target.alias not in releases:
                raise InputError(
                    f"unknown target {f'{family}:{text}'!r:.80}: what {entry['title']} takes is known of "
                    f"{' and '.join(releases)}; for others: {table.name}:RELEASE"
                )
            return replace(
                matching_target,
                by=name if matching_target.by is None else f"{matching_target.by}+{name}",
                family=family,
            )
    targets = (runtime.target(family, text) for runtime in runtimes())
    return next((target for target in targets if target is not None), None)


def _find_in_dialects(text: str, result: str) -> Target:
    """Return the target of a name in the only dialect that has it."""
    if not result or is_dialect(result.lower()):
        raise InputError(f"{_EXPECTED}, found {text!r:.60}")
    tables = [dialect(name) for name in dialect_names()]
    targets = [target for table in tables for target in [_level_target(table, result)] if target is not None]
    if len(targets) == 1:
        return targets[0]
    if not targets:
        for table in tables:
            _refuse_unstated(table, result)
    suggestion = f"; did you mean {' or '.join(f'{t.dialect}:{result:.40}' for t in targets)}?" if targets else ""
    raise InputError(f"{_EXPECTED}, found {text!r:.60}{suggestion}")


def _look_up(text: str) -> Target | None:
    """Return the target of a text, else None."""
    name, _, result = (part.strip() for part in text.partition(":"))
    try:
        implementation = None if is_dialect(name) or not result else _implementation(name, result)
        return implementation or (_level_target(dialect(name), result) if result else None)
    except InputError:
        return None


def _level_target(table: Dialect, text: str) -> Target | None:
    """Return the target of a dialect's level or release, else None."""
    if text.lower() == _LATEST:
        infos = table.tables.levels
        newest = next(level for level in reversed(table.levels) if not infos[level].get("unfinished"))
        return Target(table.name, newest, _LATEST, ir_version=infos[newest].get("ir_version"))
    level = table.level_named(text)
    if level is not None:
        return Target(table.name, level, ir_version=table.tables.levels[level].get("ir_version"))
    for spelling in _spellings(text):
        for entry in table.environments:
            if spelling in {str(entry["name"]), _fold_release(entry["title"])}:
                return _environment(table, entry, text)
    return None


def _unknown(table: Dialect, result: str, text: str) -> Target:
    _refuse_unstated(table, result)
    similar = _near_levels(table, result)[-_MAX_LISTED:]
    hint = f"did you mean {' or '.join(similar)}?" if similar else f"levels: {', '.join(table.levels)}"
    raise InputError(f"unknown target {text!r:.80}: no {table.level_word} or release of {table.tables.title}; {hint}")


def _refuse_abbreviation(name: str, result: str) -> None:
    """Raise InputError for an abbreviation, such as ``dml``.

    The message lists the targets that it may mean.
    """
    families = {str(row["target"]).partition(":")[0] for runtime in runtimes() for row in runtime.releases()}
    similar = near_names.expand_abbreviation(
        name, [*dialect_names(), *sorted(families, key=lambda family_name: (len(family_name), family_name))]
    )
    if similar:
        text = " or ".join(
            f"{family_name}:{_near_level(family_name, result):.40}" for family_name in similar[:_MAX_LISTED]
        )
        raise InputError(f"unknown dialect {name!r:.60}; did you mean {text}?")


def _near_level(name: str, text: str) -> str:
    """Return the first level or release that `text` may mean.

    It is ``5.0`` for ``5``; for a runtime it is `text` itself.
    """
    if not is_dialect(name) or text.lower() == _LATEST or _level_target(dialect(name), text) is not None:
        return text
    similar = _near_levels(dialect(name), text)
    return similar[0] if similar else text


def _near_levels(table: Dialect, text: str) -> list[str]:
    """Return the levels and releases similar to a wrong one, oldest first."""
    return near_names.near_versions(text, [*table.levels, *(str(entry["name"]) for entry in table.environments)])


def _refuse_unstated(table: Dialect, text: str) -> None:
    """Raise InputError for a release without a documented level."""
    unstated_kind = table.tables.unstated
    if unstated_kind is None:
        return
    folded = _fold_release(text)
    for name, title in unstated_kind["releases"].items():
        if folded in {name, _fold_release(title)}:
            kind = name.partition("-")[0]
            names = [str(entry["name"]) for entry in table.environments if str(entry["name"]).startswith(f"{kind}-")]
            version_text = f"which version of {table.tables.title} {title} has"
            raise InputError(
                f"no source states {version_text}; {unstated_kind['instead']}; known are {', '.join(names)}"
            )


def _spellings(text: str) -> list[str]:
    """Return a name, then the name without a patch version.

    Tables may not distinguish patch versions (``1.16.3`` → ``1.16``).
    """
    lowered = text.lower()
    spellings = [text, lowered, _fold_release(text)]
    head, dot, patch = lowered.rpartition(".")
    if dot and patch.isdecimal() and "." in head:
        spellings.append(head)
    return spellings


def _fold_release(name: str) -> str:
    """Return a release's name as tables spell it.

    ``windows-11-24h2`` for ``Windows 11, version 24H2`` and ``Win11 24H2``. Names longer than any in the tables are
    truncated.
    """
    words = "".join(c if c.isalnum() or c == "." else " " for c in name[:_MAX_NAME].lower()).split()
    if words and words[0].startswith("win") and words[0][3:].isdecimal():
        words[:1] = ["windows", words[0][3:]]
    elif words and words[0] == "server":
        words.insert(0, "windows")
    return "-".join(word for word in words if word != "version")


def _environment(table: Dialect, entry: EnvironmentEntry, alias: str) -> Target:
    domains = table.tables.domains_of(entry["kind"])
    implementation_name = table.by_release(str(entry["name"]))
    return Target(
        table.name, entry["level"], alias, entry["title"], entry.get("ir_version"), tuple(domains), implementation_name
    )


def parse_targets(texts: str | Target | Iterable[str | Target]) -> list[Target]:
    """Return targets and queries parsed, without duplicates."""
    targets_by_texts: dict[tuple[str, str, str | None, str | None], Target] = {}
    for text in [texts] if isinstance(texts, str | Target) else texts:
        for target in map(parse_target, expand_query(text)) if isinstance(text, str) else [text]:
            targets_by_texts.setdefault((target.dialect, target.level, target.environment, target.by), target)
    return list(targets_by_texts.values())


def is_query(text: str) -> bool:
    """Return whether a text looks like a query.

    The exact test is imported only for texts with characters of a query.
    """
    if _SIGNS.isdisjoint(text):
        return False
    return targets_queries.is_query(text)


def expand_query(text: str) -> list[str]:
    """Return the targets of a query, oldest first, or a plain name as it is.

    Raises InputError.
    """
    if not is_query(text):
        return [text]
    return targets_queries.targets_of(text)


def _only_target(text: str) -> Target:
    texts = expand_query(text)
    if len(texts) > 1:
        raise InputError(f"expected one target, found a query for {len(texts)}: {', '.join(texts[:_MAX_LISTED])} …")
    return parse_target(texts[0])


def queries_of(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return the queries among texts, each with its targets in reports."""
    return {" ".join(text.split()): list(map(str, parse_targets(text))) for text in texts if is_query(text)}


def listed_targets(*names: str) -> list[Target]:
    """Return the targets of names: dialects, single targets or queries.

    A dialect means all its levels and releases. Without names, the targets of every dialect are returned. Raises
    InputError for an unknown name.
    """
    targets: list[Target] = []
    for name in names or dialect_names():
        if is_dialect(name):
            targets += [parse_target(row["target"]) for row in targets_listing.known_targets([name])]
        else:
            targets += parse_targets(name)
    return targets
