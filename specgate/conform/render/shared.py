"""What the renderers share: order, percentages, sums, and the sentences that say what was compared."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.conform.result import Difference, Kind, Result, Tally

__all__ = [
    "KIND_ORDER",
    "Sum",
    "agreements",
    "answers",
    "by_kind",
    "count",
    "headline",
    "natural",
    "ours",
    "percent",
    "repeat_command",
    "size",
    "sort_tallies",
    "uncomputed",
    "value_lines",
    "values_by_kind",
]

_VERDICTS: Final = ("accepted", "rejected")

#: Every kind, in the order to show them.
KIND_ORDER: Final[tuple[Kind, ...]] = ("unexplained", "bug", "recorded", "not looked at")


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key by which ``opset9`` comes before ``opset13`` and ``2.1`` before ``10.0``, whatever the case."""
    digits = "0123456789"
    runs = ("".join(run) for _, run in groupby(text.casefold(), digits.__contains__))
    keys = ((0, len(n := run.lstrip("0")), n) if run[0] in digits else (1, 0, run) for run in runs)
    return (*keys, (-1, 0, text))  # shorter first; those equal but for case or zeros have one order too


def count(number: int, noun: str, nouns: str = "") -> str:
    """Return ``1 case`` or ``1,200 cases``."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def percent(part: int, whole: int) -> str:
    """Return a percentage with two decimals, rounded down: only all is ``100.00``; only none is ``0.00``."""
    if whole <= 0:
        return "-"
    hundredths = part * 10_000 // whole
    return "<0.01" if part > 0 and hundredths == 0 else f"{hundredths // 100}.{hundredths % 100:02}"


@dataclass(frozen=True, slots=True)
class Sum:
    """Tallies added up."""

    cases: int
    accepted: int
    documented: int
    observed: int

    @classmethod
    def of(cls, tallies: Iterable[Tally]) -> Sum:
        """Return the sum of `tallies`."""
        rows = [(t.cases, t.accepted, t.documented, t.observed) for t in tallies]
        return cls(*(sum(column) for column in zip(*rows, strict=True))) if rows else cls(0, 0, 0, 0)

    @property
    def percents(self) -> tuple[str, str, str]:
        """Return what was accepted, and the agreement documented and observed, as percentages."""
        return (
            percent(self.accepted, self.cases),
            percent(self.documented, self.cases),
            percent(self.observed, self.cases),
        )


def sort_tallies(result: Result) -> list[Tally]:
    """Return the tallies by operator, level and implementation; implementations as `result.versions` lists them."""
    return sorted(
        result.tallies,
        key=lambda t: (natural(t.operator), natural(t.level), _rank(result, t.implementation), t.implementation),
    )


def _rank(result: Result, implementation: str) -> int:
    """Return where `result.versions` lists an implementation: by its name, alone or before levels."""
    names = (name == implementation or name.startswith(f"{implementation} ") for name in result.versions)
    return next((at for at, found in enumerate(names) if found), len(result.versions))


def by_kind(result: Result) -> dict[Kind, list[Difference]]:
    """Return the differences of each kind that there is, what is unexplained first."""
    kinds = {kind: [d for d in result.differences if d.kind == kind] for kind in KIND_ORDER}
    return {kind: found for kind, found in kinds.items() if found}


def ours(findings: Sequence[str]) -> str:
    """Return our side of a difference in words."""
    return f"rejected by {', '.join(findings)}" if findings else "accepted"


def size(differences: Sequence[Difference]) -> str:
    """Return ``12 cases in 3 classes``."""
    return f"{count(sum(d.count for d in differences), 'case')} in {count(len(differences), 'class', 'classes')}"


def agreements(result: Result) -> dict[str, Sum]:
    """Return the sum of each implementation that was asked, as `result.versions` lists them."""
    names = sorted({t.implementation for t in result.tallies}, key=lambda name: (_rank(result, name), name))
    return {name: Sum.of(t for t in result.tallies if t.implementation == name) for name in names}


def answers(words: Mapping[str, int]) -> str:
    """Return the words that are neither ``accepted`` nor ``rejected``, each with its number."""
    other = sorted((word, number) for word, number in words.items() if word not in _VERDICTS and number)
    return ", ".join(f"{word} {number:,}" for word, number in other)


def uncomputed(result: Result) -> list[tuple[str, str, int, tuple[str, ...]]]:
    """Return why values are missing: implementation, reason, how often, and the operators; the most frequent first."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for tally in result.values:
        for reason, number in tally.unavailable.items():
            found.setdefault((tally.implementation, reason), []).append((number, tally.operator))
    rows = [
        (
            implementation,
            reason,
            sum(n for n, _ in seen),
            tuple(sorted({operator for _, operator in seen}, key=natural)),
        )
        for (implementation, reason), seen in found.items()
    ]
    return sorted(rows, key=lambda row: (-row[2], row[:2]))


def value_lines(result: Result) -> list[tuple[str, str, str, int, int, int]]:
    """Return operator, level, implementation, cases, equal, not computed of every value tally, in order."""
    return sorted(
        ((v.operator, v.level, v.implementation, v.cases, v.equal, sum(v.unavailable.values())) for v in result.values),
        key=lambda row: (natural(row[0]), natural(row[1]), row[2]),
    )


def headline(result: Result) -> str:
    """Return the campaign in one sentence, what is unexplained first."""
    total = Sum.of(result.tallies)
    values = [sum(column) for column in zip(*((v.cases, v.equal) for v in result.values), strict=True)] or [0, 0]
    if not total.cases and not values[0]:
        said = ["nothing was compared"]
    elif result.unexplained:
        of_values = f" ({values[0] - values[1]:,} of them values)" if values[0] > values[1] else ""
        said = [f"{count(result.unexplained, 'case')} UNEXPLAINED{of_values}"]
    else:
        said = ["nothing unexplained"]
    said.append(f"{count(result.cases, 'descriptor')}, {count(total.cases, 'verdict')}")
    if total.cases:
        said.append(f"agreement {total.percents[1]} % documented, {total.percents[2]} % observed")
    if values[0]:
        said.append(f"{percent(values[1], values[0])} % of {count(values[0], 'value')} equal")
    if result.capped:
        said.append("STOPPED BY THE TIME LIMIT")
    return "; ".join(said)


def values_by_kind(result: Result) -> list[tuple[Kind, list[Difference]]]:
    """Return the differences in values by their kind, the unexplained first."""
    every = [d for tally in result.values for d in tally.differing]
    found = [(kind, [d for d in every if d.kind == kind]) for kind in KIND_ORDER]
    return [(kind, differing) for kind, differing in found if differing]


def repeat_command(result: Result, form: str) -> str:
    """Return the shell line that repeats the campaign in format `form`."""
    return f"{result.command} --format {form}"
