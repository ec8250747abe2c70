"""What the page lists: findings, ignored findings and undecided nodes in one form, in one order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.report import details, nodes_in_order, place_order, sort_findings
from specgate.report.merging import merged
from specgate.verdict import Location

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.verdict import Finding, Report

__all__ = ["GRAVE", "KINDS", "Entry", "entries_of"]

#: From the gravest on; the last two are no findings.
KINDS: Final = ("error", "warning", "note", "undecided", "ignored")
#: Those that are shown at once; the others are folded.
GRAVE: Final = ("error", "warning")


class Entry(NamedTuple):
    """One line of the page. kind: one of KINDS; rule: the finding's id, "" for an undecided node."""

    kind: str
    place: Location
    target: str
    rule: str
    where: str
    message: str
    details: tuple[str, ...]
    fixable: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """The file and the node that it stands at."""
        return (self.place.file or "", self.place.node or "")


def entries_of(report: Report, most: int, queries: Mapping[str, Sequence[str]]) -> tuple[list[Entry], int]:
    """Return the gravest entry of every file and further ones up to so many; how many are left out.

    Of the further ones the gravest are kept. They are in order of files, in each the nodes with errors first.
    """
    made = [_entry(finding, finding.severity) for finding in merged(sort_findings(report.findings), queries)]
    made += [
        Entry("undecided", node.location, node.target or "", "", "", node.reason or "undecided", ())
        for node in nodes_in_order(report.undecided)
    ]
    made += [_entry(finding, "ignored") for finding in sort_findings(report.ignored)]
    made.sort(key=lambda entry: KINDS.index(entry.kind))
    met: set[str | None] = set()
    first: list[Entry] = []
    further: list[Entry] = []
    for entry in made:
        (further if entry.place.file in met else first).append(entry)
        met.add(entry.place.file)
    kept = first + further[: max(most - len(first), 0)]
    gravest: dict[tuple[str, str], int] = {}
    for entry in kept:
        gravest[entry.key] = min(gravest.get(entry.key, len(KINDS)), KINDS.index(entry.kind))
    kept.sort(key=lambda entry: (entry.place.file or "", gravest[entry.key], place_order(entry.place)))
    return kept, len(made) - len(kept)


def _entry(finding: Finding, kind: str) -> Entry:
    more = details(finding)
    if kind == "ignored" and finding.ignored:
        more.append(f"ignored: {finding.ignored}")
    place = finding.location or Location()
    message = finding.message or finding.id
    return Entry(kind, place, finding.target or "", finding.id, finding.where, message, tuple(more), finding.fixable)
