"""Targets: a dialect at a level, by level or by the name of a release, redistributable or runtime that users know."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import shown
from specgate.errors import InputError
from specgate.spec.store import DIALECTS
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.spec.tables import Dialect

__all__ = ["Target", "at_level", "known_targets", "parse_target", "parse_targets"]


@dataclass(frozen=True, slots=True)
class Target:
    """A dialect at a level: ``directml:4.1``. As a string it is spelt as it was given.

    alias: the name it was given by, if not the level itself. environment: what that name stands for.
    ir_version: the highest ONNX or OpenVINO IR version that the target reads, where known. domains: those of its own,
    beside the dialect's.
    """

    dialect: str
    level: str
    alias: str | None = None
    environment: str | None = None
    ir_version: int | None = None
    domains: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.dialect}:{self.alias or self.level}"

    @property
    def at_level(self) -> str:
        """The target by its level, whatever name it was given by: ``onnx:19`` for ``onnx:onnxruntime-1.16``."""
        return f"{self.dialect}:{self.level}"

    @property
    def described(self) -> str:
        """The target with the level that a name stands for: ``directml:windows-10-2004 (feature level 2.0)``."""
        return str(self) if self.alias is None else f"{self} ({dialect(self.dialect).spoken(self.level)})"


_parsed: dict[str, Target] = {}


def parse_target(text: str) -> Target:
    """Return the target ``DIALECT:LEVEL`` or ``DIALECT:ENVIRONMENT``; raise InputError that names near misses.

    A level wins over a release of the same spelling (``onnx:17`` is opset 17; ``onnx:1.16`` the release 1.16).
    """
    target = _parsed.get(text) if isinstance(text, str) else _parse(text)
    if target is None:
        target = _parsed[text] = _parse(text)
        if len(_parsed) > 1000:  # a long-running service asked with user input must not grow
            _parsed.clear()
    return target


def at_level(text: str) -> str:
    """Return a target's spelling by its level, so that two spellings can be compared; unknown ones as they are."""
    target = _parsed.get(text) or _found(text)
    return text if target is None else target.at_level


def forget() -> None:
    """Drop parsed targets; the tables they came from are gone."""
    _parsed.clear()


def _parse(text: str) -> Target:
    if not isinstance(text, str):
        raise InputError(f"expected a target such as directml:4.1, found {shown(text)}")
    name, colon, wanted = text.strip().partition(":")
    if not colon or not wanted:
        raise InputError(f"expected a target DIALECT:LEVEL such as directml:4.1 or onnx:17, found {text!r:.60}")
    table = dialect(name)
    target = _of(table, wanted)
    if target is not None:
        return target
    names = [*table.levels, *(str(entry["name"]) for entry in table.environments)]
    near = difflib.get_close_matches(wanted, names, 3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"levels: {', '.join(table.levels)}"
    raise InputError(
        f"unknown target {text!r:.80}: no {table.level_word} or release of {table.raw['dialect']['title']}; {hint}"
    )


def _found(text: str) -> Target | None:
    """The target that a text means, None where it means none."""
    name, _, wanted = text.strip().partition(":")
    try:
        return _of(dialect(name), wanted) if wanted else None
    except InputError:
        return None


def _of(table: Dialect, wanted: str) -> Target | None:
    """The target by a level or a release of a dialect, None where it has none of that name."""
    level = _level(table.levels, wanted)
    if level is not None:
        return Target(table.name, level, ir_version=table.raw["levels"]["levels"][level].get("ir_version"))
    for spelling in _spellings(wanted):
        for entry in table.environments:
            if entry["name"] == spelling:
                return _environment(table, entry, wanted)
    return None


def _level(levels: Iterable[str], wanted: str) -> str | None:
    """Match a level as written, or by its number alone (``13`` for ``opset13``, ``opset17`` for ``17``)."""
    for level in levels:
        if wanted in {level, level.removeprefix("opset")} or (level.isdecimal() and wanted == f"opset{level}"):
            return level
    return None


def _spellings(wanted: str) -> list[str]:
    """The name as given, then without a patch version that the table does not tell apart (``1.16.3`` → ``1.16``)."""
    lowered = wanted.lower()
    spellings = [wanted, lowered]
    head, dot, patch = lowered.rpartition(".")
    if dot and patch.isdecimal() and "." in head:
        spellings.append(head)
    return spellings


def _environment(table: Dialect, entry: dict[str, Any], alias: str) -> Target:
    own = table.raw["environments"].get("domains", {}).get(entry["kind"], {})
    return Target(table.name, entry["level"], alias, entry["title"], entry.get("ir_version"), tuple(own))


def parse_targets(texts: Iterable[str]) -> list[Target]:
    """Parse several targets, dropping repetitions of the same level or release."""
    found: dict[tuple[str, str, str | None], Target] = {}
    for text in texts:
        target = parse_target(text)
        found.setdefault((target.dialect, target.level, target.environment), target)
    return list(found.values())


def known_targets(names: Iterable[str] = DIALECTS) -> list[dict[str, Any]]:
    """Return every level and environment of the dialects: what `specgate targets` lists, each with its source."""
    rows: list[dict[str, Any]] = []
    for name in names:
        table = dialect(name)
        for level in table.levels:
            info = {k: v for k, v in table.raw["levels"]["levels"][level].items() if k != "limits"}
            rows.append({"target": f"{name}:{level}", "name": level, "kind": table.level_word, "level": level, **info})
        rows.extend({"target": f"{name}:{entry['name']}", **entry} for entry in table.environments)
    return rows
