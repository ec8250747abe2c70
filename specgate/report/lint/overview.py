"""What the page has beside its nodes: the files with their counts, and the rules with the places where they failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.report import plural
from specgate.report.about import about
from specgate.report.address import rule_address
from specgate.report.lint.entries import KINDS, Entry
from specgate.report.markup import Markup, breakable, tag
from specgate.report.page import scrolled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.verdict import Report

__all__ = ["counted", "file_list", "rule_list"]

_MOST: Final = 500  # files in the list
_PLACES: Final = 100  # of a rule
_WORDS: Final = {"error": "error", "warning": "warning", "note": "note"}


def counted(kinds: Iterable[str]) -> str:
    """Return how many entries there are of each kind: ``2 notes, 1 undecided``."""
    given = list(kinds)
    numbers = {kind: given.count(kind) for kind in KINDS}
    return ", ".join(
        plural(number, _WORDS[kind]) if kind in _WORDS else f"{number} {kind}"
        for kind, number in numbers.items()
        if number
    )


def file_list(report: Report, anchors: Mapping[str, str]) -> Markup:
    """Return a table of the files, the worst first, each with a link to its nodes; none of a single file."""
    counts = {file: dict.fromkeys(KINDS, 0) for file in report.files}
    for kind, file in _all(report):
        counts.setdefault(file, dict.fromkeys(KINDS, 0))[kind] += 1
    if len(counts) < 2:
        return Markup()
    ordered = sorted(counts, key=lambda file: ([-counts[file][kind] for kind in KINDS], file))
    columns = [kind for kind in KINDS if any(held[kind] for held in counts.values())]
    head = tag("tr", tag("th", "File", scope="col"), *(_head(kind) for kind in columns))
    rows = [
        tag("tr", _file(file, anchors), *(_count(counts[file], kind) for kind in columns)) for file in ordered[:_MOST]
    ]
    caption = f"{plural(len(counts), 'file')}, the worst first"
    if len(ordered) > _MOST:
        caption += f"; {len(ordered) - _MOST} more are not listed"
    table = tag("table", tag("caption", tag("span", caption)), tag("thead", head), tag("tbody", *rows))
    return tag("section", tag("h2", "Files"), scrolled(table, "Files"), id="files")


def _all(report: Report) -> list[tuple[str, str]]:
    found = [(found.severity, found.location) for found in report.findings]
    found += [("undecided", node.location) for node in report.undecided]  # type: ignore[misc]
    found += [("ignored", ignored.location) for ignored in report.ignored]  # type: ignore[misc]
    return [(kind, place.file or "" if place is not None else "") for kind, place in found]


def _head(kind: str) -> Markup:
    return tag("th", f"{kind}s" if kind in _WORDS else kind, scope="col", class_="number")


def _file(file: str, anchors: Mapping[str, str]) -> Markup:
    name = breakable(file or "No file")
    return tag("th", tag("a", name, href=f"#{anchors[file]}") if file in anchors else name, scope="row")


def _count(held: Mapping[str, int], kind: str) -> Markup:
    number = held[kind]
    shown = tag("span", f"{number:,}", class_=f"mark {kind}") if number and kind in _WORDS else f"{number:,}"
    return tag("td", shown if number else tag("span", "0", class_="count"), class_="number")


def rule_list(shown: Sequence[Entry], anchors: Mapping[tuple[str, str], str]) -> Markup:
    """Explain the rules that were met, the gravest first, each with the nodes where it failed."""
    met: dict[str, list[Entry]] = {}
    for entry in shown:
        if entry.rule:
            met.setdefault(entry.rule, []).append(entry)
    if not met:
        return Markup()
    grave = {rule: min(KINDS.index(entry.kind) for entry in entries) for rule, entries in met.items()}
    ordered = sorted(met, key=lambda rule: (grave[rule], -len(met[rule]), rule))
    return tag("section", tag("h2", "Rules"), *(_rule(rule, met[rule], anchors) for rule in ordered), id="rules")


def _rule(rule: str, entries: Sequence[Entry], anchors: Mapping[tuple[str, str], str]) -> Markup:
    known = about(rule)
    parts = [
        tag("h3", breakable(rule), " ", tag("span", counted(entry.kind for entry in entries), class_="count")),
        tag("p", known.says),
        *(tag("p", line, class_="about") for line in known.lines),
    ]
    if (address := rule_address(rule)) is not None:
        parts.append(tag("p", tag("a", "the page of the rule", href=address, rel="noreferrer")))
    if known.url is not None:
        parts.append(tag("p", tag("a", "the source that was read", href=known.url, rel="noreferrer")))
    places: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        places.setdefault(entry.key, []).append(entry.target)
    listed = [_place(key, targets, anchors) for key, targets in list(places.items())[:_PLACES]]
    if len(places) > _PLACES:
        listed.append(tag("li", f"and {len(places) - _PLACES} more"))
    files = len({file for file, _ in places})
    title = plural(len(places), "place") + (f" in {plural(files, 'file')}" if files > 1 else "")
    parts.append(tag("details", tag("summary", title), tag("ul", *listed, class_="places")))
    return tag("div", *parts, class_="rule", id=f"rule/{rule}")


def _place(key: tuple[str, str], targets: Sequence[str], anchors: Mapping[tuple[str, str], str]) -> Markup:
    file, node = key
    name = Markup(": ").join(breakable(part) for part in (file, node or "the whole file") if part)
    named = ", ".join(dict.fromkeys(target for target in targets if target))
    return tag("li", tag("a", Markup(name), href=f"#{anchors[key]}"), *([f" ({named})"] if named else []))
