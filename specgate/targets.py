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

__all__ = ["Target", "known_targets", "parse_target", "parse_targets"]


@dataclass(frozen=True, slots=True)
class Target:
    """A dialect at a level: ``directml:4.1``.

    alias: the name it was given by, if not the level itself. environment: what that name stands for.
    ir_version: the highest ONNX or OpenVINO IR version that the target reads, where known.
    """

    dialect: str
    level: str
    alias: str | None = None
    environment: str | None = None
    ir_version: int | None = None

    def __str__(self) -> str:
        return f"{self.dialect}:{self.level}"

    @property
    def described(self) -> str:
        """The target with the alias it came from: ``directml:2.0 (windows-10-2004)``."""
        return str(self) if self.alias is None else f"{self} ({self.alias})"


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
    level = _level(table.levels, wanted)
    if level is not None:
        ir = table.raw["levels"]["levels"][level].get("ir_version")
        return Target(name, level, ir_version=ir)
    for spelling in _spellings(wanted):
        for entry in table.environments:
            if entry["name"] == spelling:
                return _environment(name, entry, wanted)
    names = [*table.levels, *(str(entry["name"]) for entry in table.environments)]
    near = difflib.get_close_matches(wanted, names, 3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"levels: {', '.join(table.levels)}"
    raise InputError(
        f"unknown target {text!r:.80}: no {table.level_word} or release of {table.raw['dialect']['title']}; {hint}"
    )


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


def _environment(name: str, entry: dict[str, Any], alias: str) -> Target:
    ir = entry.get("ir_version")
    return Target(name, entry["level"], alias, entry["title"], ir)


def parse_targets(texts: Iterable[str]) -> list[Target]:
    """Parse several targets, dropping repetitions of the same dialect and level."""
    found: dict[str, Target] = {}
    for text in texts:
        target = parse_target(text)
        found.setdefault(str(target), target)
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
