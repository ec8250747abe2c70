"""The page's entries: findings, ignored findings and undecided nodes."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.report import counts, details, markup, nodes_in_order, place_order, plural, sort_findings, without_table
from specgate.report.markup import Markup, breakable, document, own_file, tag, text
from specgate.report.merging import asked_targets, merge_findings, named_targets
from specgate.report.ports import context_at, port_name, shape_words
from specgate.report.rule_links import describe_rule, rule_address
from specgate.slotted import replace
from specgate.verdict import Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.report.selection import RenderOptions
    from specgate.verdict import Finding, NodeContext, Port, Report

__all__ = ["GRAVE", "KINDS", "Entry", "count_kinds", "entries_of", "file_list", "node_article", "render", "rule_list"]

#: The most severe first; the last two are not findings.
KINDS: Final = ("error", "warning", "note", "undecided", "ignored")
#: Expanded by default; the others are collapsed.
GRAVE: Final = ("error", "warning")


class Entry(NamedTuple):
    """One line of the page.

    kind: one of KINDS; rule: the finding's id, "" for an undecided node.
    """

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
        """Return its file and node."""
        return (self.place.file or "", self.place.node or "")


def entries_of(report: Report, most: int, queries: Mapping[str, Sequence[str]]) -> tuple[list[Entry], int]:
    """Return the entries to show, and the number of omitted ones.

    The most severe entry of every file is kept, and the most severe others up to `most`. They are sorted by file, nodes
    with errors first.
    """
    entries = [_entry(finding, finding.severity) for finding in merge_findings(sort_findings(report.findings), queries)]
    entries += [
        Entry("undecided", node.location, node.target or "", "", "", node.reason or "undecided", ())
        for node in nodes_in_order(report.undecided)
    ]
    entries += [_entry(finding, "ignored") for finding in sort_findings(report.ignored)]
    entries.sort(key=lambda entry: KINDS.index(entry.kind))
    met: set[str | None] = set()
    first: list[Entry] = []
    further: list[Entry] = []
    for entry in entries:
        (further if entry.place.file in met else first).append(entry)
        met.add(entry.place.file)
    kept = first + further[: max(most - len(first), 0)]
    gravest: dict[tuple[str, str], int] = {}
    for entry in kept:
        gravest[entry.key] = min(gravest.get(entry.key, len(KINDS)), KINDS.index(entry.kind))
    kept.sort(key=lambda entry: (entry.place.file or "", gravest[entry.key], place_order(entry.place)))
    return kept, len(entries) - len(kept)


def _entry(finding: Finding, kind: str) -> Entry:
    more = details(finding)
    if kind == "ignored" and finding.ignored:
        more.append(f"ignored: {finding.ignored}")
    place = finding.location or Location()
    message = finding.message or finding.id
    return Entry(kind, place, finding.target or "", finding.id, finding.where, message, tuple(more), finding.fixable)


def node_article(report: Report, entries: Sequence[Entry], anchors: Mapping[tuple[str, str], str]) -> Markup:
    """Return a node with its entries.

    anchors: link targets of the other nodes on the page.
    """
    place = entries[0].place
    line = f"line {place.line}" if place.line is not None else ""
    facts = ", ".join(fact for fact in (place.operator or "", line) if fact)
    title = tag("h3", breakable(place.node or "The whole file"), " ", tag("span", facts, class_="count"))
    context = context_at(report, place)
    drawn = _neighbours(context, place.file or "", place.operator or "", anchors) if context is not None else Markup()
    grave = [entry for entry in entries if entry.kind in GRAVE]
    lesser = [entry for entry in entries if entry.kind not in GRAVE]
    listed = [tag("ul", *map(_finding, grave or lesser), class_="findings")]
    if grave and lesser:
        folded = tag("ul", *map(_finding, lesser), class_="findings")
        listed.append(
            tag("details", tag("summary", count_kinds(entry.kind for entry in lesser)), folded, class_="lesser")
        )
    return tag(
        "article",
        title,
        drawn,
        *listed,
        class_="node",
        id=anchors[entries[0].key],
        data_operator=place.operator or "",
    )


def _neighbours(context: NodeContext, file: str, operator: str, anchors: Mapping[tuple[str, str], str]) -> Markup:
    if not context.inputs and not context.outputs:
        return Markup()
    sides = [
        tag("div", tag("h4", title), tag("ul", *(_port(port, side, file, anchors) for port in ports)), class_=side)
        for title, side, ports in (("Inputs from", "from", context.inputs), ("Outputs to", "to", context.outputs))
    ]
    label = tag("div", tag("b", breakable(operator or "this node")), class_="here")
    return tag("div", sides[0], label, sides[1], class_="neighbours")


def _port(port: Port, side: str, file: str, anchors: Mapping[tuple[str, str], str]) -> Markup:
    name = tag("span", breakable(port_name(port)), class_="field")
    shape = tag("code", shape_words(port))
    nodes = [_peer(node, operator, anchors.get((file, node))) for node, operator in port.nodes]
    if port.more:
        nodes.append(tag("span", f"and {port.more} more", class_="count"))
    if not nodes:
        nodes = [tag("span", *_no_node(port, side), class_="count")]
    return tag("li", name, " ", shape, tag("div", *_with_commas(nodes), class_="peers"))


def _no_node(port: Port, side: str) -> list[str]:
    """Return notes on a tensor without a producer or consumer node."""
    if port.name is None:
        return ["unknown node"]
    return ["an input or a constant" if side == "from" else "not read by any node"]


def _peer(node: str, operator: str, anchor: str | None) -> Markup:
    name = breakable(node)
    shown = tag("a", name, href=f"#{anchor}") if anchor is not None else tag("span", name)
    return tag("span", shown, f" ({operator})", class_="peer")


def _with_commas(parts: Sequence[Markup]) -> list[Markup]:
    return [part for at, each in enumerate(parts) for part in ((text(", "), each) if at else (each,))]


def _finding(entry: Entry) -> Markup:
    rule = tag("a", breakable(entry.rule), href=f"#rule/{entry.rule}") if entry.rule else Markup()
    head = tag(
        "p",
        tag("span", entry.kind, class_=f"mark {entry.kind}"),
        " ",
        tag("span", entry.target, class_="target"),
        " ",
        rule,
        " ",
        tag("span", entry.where, class_="field"),
        *([" ", tag("span", "fixable with --fix", class_="count")] if entry.fixable else []),
    )
    body = [tag("p", entry.message), *(tag("p", line, class_="about") for line in entry.details)]
    return tag("li", head, *body, class_="finding", data_kind=entry.kind, data_target=entry.target)


_MOST: Final = 500  # files in the list
_PLACES: Final = 100  # nodes per rule
_WORDS: Final = {"error": "error", "warning": "warning", "note": "note"}


def count_kinds(kinds: Iterable[str]) -> str:
    """Return the number of entries of each kind: ``2 notes, 1 undecided``."""
    texts = list(kinds)
    numbers = {kind: texts.count(kind) for kind in KINDS}
    return ", ".join(
        plural(number, _WORDS[kind]) if kind in _WORDS else f"{number} {kind}"
        for kind, number in numbers.items()
        if number
    )


def file_list(report: Report, anchors: Mapping[str, str]) -> Markup:
    """Return a table of the files with links, the worst first.

    It is empty for a single file.
    """
    counts = {file: dict.fromkeys(KINDS, 0) for file in report.files}
    for kind, file in _all(report):
        counts.setdefault(file, dict.fromkeys(KINDS, 0))[kind] += 1
    if len(counts) < 2:
        return Markup()
    ordered = sorted(counts, key=lambda file: ([-counts[file][kind] for kind in KINDS], file))
    columns = [kind for kind in KINDS if any(numbers_by_name[kind] for numbers_by_name in counts.values())]
    head = tag("tr", tag("th", "File", scope="col"), *(_head(kind) for kind in columns))
    rows = [
        tag("tr", _file(file, anchors), *(_count(counts[file], kind) for kind in columns)) for file in ordered[:_MOST]
    ]
    caption = f"{plural(len(counts), 'file')}, the worst first"
    if len(ordered) > _MOST:
        caption += f"; {len(ordered) - _MOST} more are not listed"
    table = markup.table(caption, head, tag("tbody", *rows), label="Files")
    return tag("section", tag("h2", "Files"), table, id="files")


def _all(report: Report) -> list[tuple[str, str]]:
    pairs = [(finding.severity, finding.location) for finding in report.findings]
    pairs += [("undecided", node.location) for node in report.undecided]  # type: ignore[misc]
    pairs += [("ignored", ignored.location) for ignored in report.ignored]  # type: ignore[misc]
    return [(kind, place.file or "" if place is not None else "") for kind, place in pairs]


def _head(kind: str) -> Markup:
    return tag("th", f"{kind}s" if kind in _WORDS else kind, scope="col", class_="number")


def _file(file: str, anchors: Mapping[str, str]) -> Markup:
    name = breakable(file or "No file")
    return tag("th", tag("a", name, href=f"#{anchors[file]}") if file in anchors else name, scope="row")


def _count(numbers_by_name: Mapping[str, int], kind: str) -> Markup:
    number = numbers_by_name[kind]
    shown = tag("span", f"{number:,}", class_=f"mark {kind}") if number and kind in _WORDS else f"{number:,}"
    return tag("td", shown if number else tag("span", "0", class_="count"), class_="number")


def rule_list(shown: Sequence[Entry], anchors: Mapping[tuple[str, str], str]) -> Markup:
    """Return the rules of the entries, the most severe first, with nodes."""
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
    description = describe_rule(rule)
    parts = [
        tag("h3", breakable(rule), " ", tag("span", count_kinds(entry.kind for entry in entries), class_="count")),
        tag("p", description.says),
        *(tag("p", line, class_="about") for line in description.lines),
    ]
    if (address := rule_address(rule)) is not None:
        parts.append(tag("p", tag("a", "the rule's page", href=address, rel="noreferrer")))
    if description.url is not None:
        parts.append(tag("p", tag("a", "the source of the rule", href=description.url, rel="noreferrer")))
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


_MOST_NODES: Final = 2000  # findings on the page; browsers are slow with more


def render(report: Report, options: RenderOptions) -> str:
    """Return the complete page.

    It has at most about 2000 findings: the most severe of each file, then the most severe others.
    """
    shown, left_out = entries_of(report, _MOST_NODES, options.queries)
    anchors = _anchors(shown)
    listed = replace(report, findings=merge_findings(report.findings, options.queries))  # a query's findings count once
    number = counts(listed)
    title = f"specgate: {plural(number['findings'], 'finding')} in {plural(len(report.files), 'file')}"
    head = (
        tag("h1", title),
        _render_headline(report, options),
        _tiles(number),
        _unusable(report),
        _leads(report, shown),
    )
    main = tag(
        "main",
        tag("header", *head),
        _filters(listed, shown, options) if shown else Markup(),
        tag("p", f"{left_out} more are omitted here; --format json contains all of them.") if left_out else Markup(),
        file_list(listed, anchors.files),
        *_files(report, shown, anchors),
        rule_list(shown, anchors.nodes),
        _tables(report),
    )
    style, script = own_file(__package__, "style.css"), own_file(__package__, "filter.js")
    return document(title, main, style=style, script=script)


class Anchors(NamedTuple):
    """Link targets: nodes by file and path, and files."""

    nodes: dict[tuple[str, str], str]
    files: dict[str, str]


def _anchors(shown: Sequence[Entry]) -> Anchors:
    nodes = {key: f"node-{at}" for at, key in enumerate(dict.fromkeys(entry.key for entry in shown))}
    files = {file: f"file-{at}" for at, file in enumerate(dict.fromkeys(file for file, _ in nodes))}
    return Anchors(nodes, files)


def _render_headline(report: Report, options: RenderOptions) -> Markup:
    targets = ", ".join(named_targets(report.targets, options.queries)) or "none"
    judged = f"{plural(report.nodes, 'node')} of {plural(len(report.files), 'file')}"
    each = " (a node counts once per target)" if len(report.targets) > 1 else ""
    return tag("p", f"Targets: {targets}. {judged} linted{each}.", class_="headline")


def _leads(report: Report, shown: Sequence[Entry]) -> Markup:
    """Return links to the parts of a long page."""
    parts = [("files", "Files", len(report.files) > 1), ("rules", "Rules", any(entry.rule for entry in shown))]
    parts.append(("no-table", "Without a table", bool(report.no_table)))
    links = [tag("li", tag("a", name, href=f"#{place}")) for place, name, there in parts if there]
    return tag("nav", tag("ul", *links), aria_label="Parts of this page", class_="leads") if links else Markup()


def _tiles(number: Mapping[str, int]) -> Markup:
    tiles = [
        ("errors", number["errors"], "bad" if number["errors"] else "good"),
        ("warnings", number["warnings"], ""),
        ("notes", number["notes"], ""),
        ("undecided", number["undecided"], ""),
        ("without a table", number["no_table"], ""),
        ("ignored", number["ignored"], ""),
    ]
    return markup.tiles((name, f"{count:,}", state) for name, count, state in tiles)


def _unusable(report: Report) -> Markup:
    if not report.unusable:
        return Markup()
    listed = markup.bullets(report.unusable)
    return tag("div", tag("p", "Unreadable files:"), listed, class_="unusable", role="alert")


def _filters(report: Report, shown: Sequence[Entry], options: RenderOptions) -> Markup:
    """Return the filter form; it is hidden unless the script runs."""
    kinds, whole = [entry.kind for entry in shown], [kind for kind, _ in _all(report)]
    boxes = [
        markup.checkbox("kind", kind, _number_of(kinds.count(kind), whole.count(kind)), checked=kind != "ignored")
        for kind in KINDS
        if kind in whole
    ]
    texts = asked_targets(report.targets, options.queries)
    targets = list(dict.fromkeys([*texts, *(entry.target for entry in shown if entry.target)]))
    operators = sorted({entry.place.operator for entry in shown if entry.place.operator})
    return markup.filters(
        markup.search("Text ", "text"),
        tag("fieldset", tag("legend", "Severity"), *boxes),
        _choice("Target ", "target", targets),
        _choice("Operator ", "operator", operators),
        shown=f"entries: {len(shown)}",
    )


def _number_of(shown: int, whole: int) -> str:
    return f"{whole:,}" if shown == whole else f"{shown:,} of {whole:,}"


def _choice(label: str, name: str, values: Sequence[str]) -> Markup:
    options = [tag("option", "any", value=""), *(tag("option", value, value=value) for value in values)]
    return tag("label", label, tag("select", *options, name=name), class_="search")


def _files(report: Report, shown: Sequence[Entry], anchors: Anchors) -> list[Markup]:
    sections = []
    for file, in_file in groupby(shown, lambda entry: entry.place.file or ""):
        nodes = [list(entries) for _, entries in groupby(in_file, lambda entry: entry.key)]
        grave = [entries for entries in nodes if any(entry.kind in GRAVE for entry in entries)]
        lesser = [entries for entries in nodes if entries not in grave]
        parts = [node_article(report, entries, anchors.nodes) for entries in grave]
        if lesser:
            kinds = [entry.kind for entries in lesser for entry in entries]
            title = f"{count_kinds(kinds)} at {plural(len(lesser), 'further node' if grave else 'node')}"
            markups = [node_article(report, entries, anchors.nodes) for entries in lesser]
            parts.append(tag("details", tag("summary", title), *markups, class_="lesser"))
        head = tag("h2", breakable(file or "No file"))
        sections.append(tag("section", head, *parts, class_="file", id=anchors.files[file]))
    return sections or [tag("p", "No findings.", class_="nothing")]


def _tables(report: Report) -> Markup:
    if not report.no_table:
        return Markup()
    result = "Nodes of these operators, which have no table, were neither accepted nor rejected."
    listed = markup.bullets(without_table(report.no_table), class_="operators")
    return tag("section", tag("h2", "Without a table"), tag("p", result), listed, id="no-table")
