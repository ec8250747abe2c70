"""Levels and table sides of a part of the header, as C++ conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.validate.device import required_capabilities

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.forms import Resolved, SingleBasis
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["SIDES", "Levels", "Stretch", "grouped"]

SIDES: Final[tuple[SingleBasis, ...]] = ("documented", "observed")
#: A level, and a side or one implementation. An implementation has all shared observations and its own.
Stretch = tuple[str, str]


class Levels:
    """The levels of a header, and conditions on a check's members.

    The members are `level`, `documented` and `observed`.
    """

    def __init__(self, dialect: Dialect, chosen: Sequence[str]) -> None:
        self.dialect = dialect
        self.chosen = tuple(level for level in dialect.levels if level in chosen)
        every = (by for name in dialect.operators for by in _own(dialect.operator(name)))
        self.implementations = tuple(sorted(set(every)))

    def number(self, level: str) -> int:
        """Return the number of a level as in the vendor's headers."""
        return int(self.dialect.tables.levels[level]["target_version"], 16)

    def sides(self, spec: OperatorSpec) -> dict[Stretch, Resolved]:
        """Return the table of an operator per level and side."""
        resolved_by_stretch: dict[Stretch, Resolved] = {}
        texts: list[tuple[str, SingleBasis, str | None]] = [(side, side, None) for side in SIDES]
        texts += [(by, "observed", by) for by in self.implementations if by in _own(spec)]
        for level in self.chosen:
            for name, side, by in texts:
                resolved = spec.resolve(level, side, by)
                if resolved is not None:
                    resolved_by_stretch[level, name] = resolved
        return resolved_by_stretch

    def stretches(self, spec: OperatorSpec) -> tuple[int, int]:
        """Return the levels at which an operator changes, as bits.

        The second mask has the levels whose sides are equal.
        """
        sides = self.sides(spec)
        names = (*SIDES, *self.implementations)
        changes = alike = 0
        before: object = None
        for number, level in enumerate(self.chosen):
            keys = [sides[level, name].key for name in names if (level, name) in sides]
            pair = keys, required_capabilities(self.dialect.name, level)
            changes |= (pair != before) << number
            alike |= (len(set(keys)) <= 1) << number
            before = pair
        return changes, alike

    def everywhere(self, levels: Iterable[str]) -> list[tuple[str, SingleBasis]]:
        """Return levels with both sides."""
        return [(level, side) for level in levels for side in SIDES]

    def condition(self, where: Iterable[Stretch], every: Iterable[Stretch]) -> str | None:
        """Return a condition for `where`, None if it always holds.

        every: all possible stretches; outside of them the condition may have any value.
        """
        texts, possible = set(where), set(every)
        if texts >= possible:
            return None
        names = {side for _, side in possible}
        levels = [level for level in self.chosen if any((level, side) in possible for side in names)]
        ranges = {
            side: self._range([level for level in levels if (level, side) in texts], levels)
            for side in (*SIDES, *self.implementations)
            if side in names
        }
        if len(set(ranges.values())) == 1:
            return next(iter(ranges.values()))
        alone = [by for by in self.implementations if by in names and ranges[by] != ranges["observed"]]
        flags = {by: f"by_{by}" for by in alone}
        flags |= {"documented": "documented", "observed": " && ".join(("observed", *(f"!by_{by}" for by in alone)))}
        parts = [
            flags[side] if text is None else f"{flags[side]} && {f'({text})' if '||' in text else text}"
            for side, text in ranges.items()
            if text != "false" and side in flags
        ]
        return parts[0] if len(parts) == 1 else " || ".join(f"({part})" if "&&" in part else part for part in parts)

    def _range(self, known_texts: Sequence[str], levels: Sequence[str]) -> str | None:
        """Return a condition on `level`: None for always, false for never."""
        runs: list[list[str]] = []
        for level in levels:
            if level not in known_texts:
                continue
            position = levels.index(level)
            if runs and levels.index(runs[-1][-1]) == position - 1:
                runs[-1].append(level)
            else:
                runs.append([level])
        if not runs:
            return "false"
        texts = [text for run in runs if (text := self._run(run, levels)) is not None]
        if not texts:
            return None
        return texts[0] if len(texts) == 1 else " || ".join(f"({text})" if "&&" in text else text for text in texts)

    def _run(self, run: Sequence[str], levels: Sequence[str]) -> str | None:
        parts = []
        if run[0] != levels[0]:
            parts.append(f"level >= {self.name(run[0])}")
        if run[-1] != levels[-1]:
            parts.append(f"level < {self.name(levels[levels.index(run[-1]) + 1])}")
        return " && ".join(parts) or None

    @staticmethod
    def name(level: str) -> str:
        """Return the name of a level's constant in the header."""
        return f"level_{level.replace('.', '_')}"


def _own(spec: OperatorSpec) -> set[str]:
    """Return the implementations with separate observations."""
    return {o.by for o in spec.overlays if o.by is not None and (o.cells or o.rules or o.not_enforced)}


def grouped(entries: Mapping[Stretch, Hashable]) -> dict[Any, list[Stretch]]:
    """Return each distinct entry with its levels and sides, in level order."""
    texts_by_value: dict[Any, list[Stretch]] = {}
    for stretch, entry in entries.items():
        texts_by_value.setdefault(entry, []).append(stretch)
    return texts_by_value
