"""The page's entries: findings, ignored findings and undecided nodes."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.report import counts, details, markup, nodes_in_order, place_order, plural, sort_findings, without_table
from specgate.report.markup import Markup, breakable, document, own_file, tag, text
from specgate.report.merging import merge_findings, merge_target_names, requested_targets
from specgate.report.ports import context_at, port_name, shape_words
from specgate.report.rule_links import describe_rule, rule_address
from specgate.slotted import replace
from specgate.verdict import Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.report.selection import RenderOptions
    from specgate.verdict import Finding, NodeContext, Port, Report

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


def entries_of(report: Report, limit: int, queries: Mapping[str, Sequence[str]]) -> tuple[list[Entry], int]:
    """Return the entries to show, and the number of omitted ones.

    The most severe entry of every file is kept, and the most severe others up to `limit`. They are sorted by file,
    nodes with errors first.
    """
    entries = [_entry(finding, finding.severity) for finding in merge_findings(sort_findings(report.findings), queries)]
    entries += [
        Entry("undecided", node.location, node.target or "", "", "", node.reason or "undecided", ())
        for node in nodes_in_order(report.undecided)
    ]
    entries += [_entry(finding, "ignored") for finding in sort_findings(report.ignored)]
    entries.sort(key=lambda entry: KINDS.index(entry.kind))
    seen_files: set[str | None] = set()
    first: list[Entry] = []
    further: list[Entry] = []
    for entry in entries:
        (further if entry.place.file in seen_files else first).append(entry)
        seen_files.add(entry.place.file)
    chosen_entries = first + further[: max(limit - len(first), 0)]
    gravest: dict[tuple[str, str], int] = {}
    for entry in chosen_entries:
        gravest[entry.key] = min(gravest.get(entry.key, len(KINDS)), KINDS.index(entry.kind))
    chosen_entries.sort(key=lambda entry: (entry.place.file or "", gravest[entry.key], place_order(entry.place)))
    return chosen_entries, len(entries) - len(chosen_entries)


def _entry(finding: Finding, kind: str) -> Entry:
    detail_rows = details(finding)
    if kind == "ignored" and finding.ignored:
        detail_rows.append(f"ignored: {finding.ignored}")
    place = finding.location or Location()
    message = finding.message or finding.id
    return Entry(
        kind, place, finding.target or "", finding.id, finding.where, message, tuple(detail_rows), finding.fixable
    )


def node_article(report: Report, entries: Sequence[Entry], anchors: Mapping[tuple[str, str], str]) -> Markup:
    """Return a node with its entries.

    anchors: link targets of the other nodes on the page.
    """
    place = entries[0].place
    line = f"line {place.line}" if place.line is not None else ""
    facts = ", ".join(fact for fact in (place.operator or "", line) if fact)
    title = tag("h3", breakable(place.node or "The whole file"), " ", tag("span", facts, class_="count"))
    context = context_at(report, place)
    drawing = _neighbours(context, place.file or "", place.operator or "", anchors) if context is not None else Markup()
    grave_entries = [entry for entry in entries if entry.kind in GRAVE]
    lesser = [entry for entry in entries if entry.kind not in GRAVE]
    items = [tag("ul", *map(_finding, grave_entries or lesser), class_="findings")]
    if grave_entries and lesser:
        folded = tag("ul", *map(_finding, lesser), class_="findings")
        items.append(
            tag("details", tag("summary", count_kinds(entry.kind for entry in lesser)), folded, class_="lesser")
        )
    return tag(
        "article",
        title,
        drawing,
        *items,
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
    element = tag("a", name, href=f"#{anchor}") if anchor is not None else tag("span", name)
    return tag("span", element, f" ({operator})", class_="peer")


def _with_commas(parts: Sequence[Markup]) -> list[Markup]:
    return [
        part for i, markup_part in enumerate(parts) for part in ((text(", "), markup_part) if i else (markup_part,))
    ]


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


_MAX_FILES: Final = 500  # files in the list
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
    for kind, file in _all_places(report):
        counts.setdefault(file, dict.fromkeys(KINDS, 0))[kind] += 1
    if len(counts) < 2:
        return Markup()
    ordered = sorted(counts, key=lambda file: ([-counts[file][kind] for kind in KINDS], file))
    columns = [kind for kind in KINDS if any(numbers_by_name[kind] for numbers_by_name in counts.values())]
    head = tag("tr", tag("th", "File", scope="col"), *(_head(kind) for kind in columns))
    rows = [
        tag("tr", _file(file, anchors), *(_count(counts[file], kind) for kind in columns))
        for file in ordered[:_MAX_FILES]
    ]
    caption = f"{plural(len(counts), 'file')}, the worst first"
    if len(ordered) > _MAX_FILES:
        caption += f"; {len(ordered) - _MAX_FILES} more are not listed"
    table = markup.table(caption, head, tag("tbody", *rows), label="Files")
    return tag("section", tag("h2", "Files"), table, id="files")


def _all_places(report: Report) -> list[tuple[str, str]]:
    pairs = [(finding.severity, finding.location) for finding in report.findings]
    pairs += [("undecided", node.location) for node in report.undecided]  # type: ignore[misc]
    pairs += [("ignored", ignored_finding.location) for ignored_finding in report.ignored]  # type: ignore[misc]
    return [(kind, place.file or "" if place is not None else "") for kind, place in pairs]


def _head(kind: str) -> Markup:
    return tag("th", f"{kind}s" if kind in _WORDS else kind, scope="col", class_="number")


def _file(file: str, anchors: Mapping[str, str]) -> Markup:
    name = breakable(file or "No file")
    return tag("th", tag("a", name, href=f"#{anchors[file]}") if file in anchors else name, scope="row")


def _count(numbers_by_name: Mapping[str, int], kind: str) -> Markup:
    number = numbers_by_name[kind]
    element = tag("span", f"{number:,}", class_=f"mark {kind}") if number and kind in _WORDS else f"{number:,}"
    return tag("td", element if number else tag("span", "0", class_="count"), class_="number")


def rule_list(shown_entries: Sequence[Entry], anchors: Mapping[tuple[str, str], str]) -> Markup:
    """Return the rules of the entries, the most severe first, with nodes."""
    entries_by_rule: dict[str, list[Entry]] = {}
    for entry in shown_entries:
        if entry.rule:
            entries_by_rule.setdefault(entry.rule, []).append(entry)
    if not entries_by_rule:
        return Markup()
    severity_by_rule = {
        rule: min(KINDS.index(entry.kind) for entry in entries) for rule, entries in entries_by_rule.items()
    }
    ordered = sorted(entries_by_rule, key=lambda rule: (severity_by_rule[rule], -len(entries_by_rule[rule]), rule))
    return tag(
        "section", tag("h2", "Rules"), *(_rule(rule, entries_by_rule[rule], anchors) for rule in ordered), id="rules"
    )


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
    items = [_place_item(key, targets, anchors) for key, targets in list(places.items())[:_PLACES]]
    if len(places) > _PLACES:
        items.append(tag("li", f"and {len(places) - _PLACES} more"))
    files = len({file for file, _ in places})
    title = plural(len(places), "place") + (f" in {plural(files, 'file')}" if files > 1 else "")
    parts.append(tag("details", tag("summary", title), tag("ul", *items, class_="places")))
    return tag("div", *parts, class_="rule", id=f"rule/{rule}")


def _place_item(key: tuple[str, str], targets: Sequence[str], anchors: Mapping[tuple[str, str], str]) -> Markup:
    file, node = key
    name = Markup(": ").join(breakable(part) for part in (file, node or "the whole file") if part)
    targets_text = ", ".join(dict.fromkeys(target for target in targets if target))
    return tag("li", tag("a", Markup(name), href=f"#{anchors[key]}"), *([f" ({targets_text})"] if targets_text else []))


_MAX_NODES: Final = 2000  # findings on the page; browsers are slow with more


def render(report: Report, options: RenderOptions) -> str:
    """Return the complete page.

    It has at most about 2000 findings: the most severe of each file, then the most severe others.
    """
    shown_entries, omitted_count = entries_of(report, _MAX_NODES, options.queries)
    anchors = _anchors(shown_entries)
    merged_report = replace(
        report, findings=merge_findings(report.findings, options.queries)
    )  # a query's findings count once
    number = counts(merged_report)
    title = f"specgate: {plural(number['findings'], 'finding')} in {plural(len(report.files), 'file')}"
    head = (
        tag("h1", title),
        _render_headline(report, options),
        _tiles(number),
        _unreadable_files(report),
        _part_links(report, shown_entries),
    )
    main = tag(
        "main",
        tag("header", *head),
        _filters(merged_report, shown_entries, options) if shown_entries else Markup(),
        tag("p", f"{omitted_count} more are omitted here; --format json contains all of them.")
        if omitted_count
        else Markup(),
        file_list(merged_report, anchors.files),
        *_files(report, shown_entries, anchors),
        rule_list(shown_entries, anchors.nodes),
        _tables(report),
    )
    style, script = own_file(__package__, "style.css"), own_file(__package__, "filter.js")
    return document(title, main, style=style, script=script)


class Anchors(NamedTuple):
    """Link targets: nodes by file and path, and files."""

    nodes: dict[tuple[str, str], str]
    files: dict[str, str]


def _anchors(entries: Sequence[Entry]) -> Anchors:
    nodes = {key: f"node-{index}" for index, key in enumerate(dict.fromkeys(entry.key for entry in entries))}
    files = {file: f"file-{index}" for index, file in enumerate(dict.fromkeys(file for file, _ in nodes))}
    return Anchors(nodes, files)


def _render_headline(report: Report, options: RenderOptions) -> Markup:
    targets = ", ".join(merge_target_names(report.targets, options.queries)) or "none"
    summary_text = f"{plural(report.nodes, 'node')} of {plural(len(report.files), 'file')}"
    per_target_text = " (a node counts once per target)" if len(report.targets) > 1 else ""
    return tag("p", f"Targets: {targets}. {summary_text} linted{per_target_text}.", class_="headline")


def _part_links(report: Report, entries: Sequence[Entry]) -> Markup:
    """Return links to the parts of a long page."""
    parts = [("files", "Files", len(report.files) > 1), ("rules", "Rules", any(entry.rule for entry in entries))]
    parts.append(("no-table", "Without a table", bool(report.no_table)))
    links = [tag("li", tag("a", name, href=f"#{place}")) for place, name, is_present in parts if is_present]
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


def _unreadable_files(report: Report) -> Markup:
    if not report.unusable:
        return Markup()
    item_list = markup.bullets(report.unusable)
    return tag("div", tag("p", "Unreadable files:"), item_list, class_="unusable", role="alert")


def _filters(report: Report, entries: Sequence[Entry], options: RenderOptions) -> Markup:
    """Return the filter form; it is hidden unless the script runs."""
    kinds, all_kinds = [entry.kind for entry in entries], [kind for kind, _ in _all_places(report)]
    boxes = [
        markup.checkbox("kind", kind, _number_of(kinds.count(kind), all_kinds.count(kind)), checked=kind != "ignored")
        for kind in KINDS
        if kind in all_kinds
    ]
    texts = requested_targets(report.targets, options.queries)
    targets = list(dict.fromkeys([*texts, *(entry.target for entry in entries if entry.target)]))
    operators = sorted({entry.place.operator for entry in entries if entry.place.operator})
    return markup.filters(
        markup.search("Text ", "text"),
        tag("fieldset", tag("legend", "Severity"), *boxes),
        _choice("Target ", "target", targets),
        _choice("Operator ", "operator", operators),
        shown_text=f"entries: {len(entries)}",
    )


def _number_of(shown_count: int, total: int) -> str:
    return f"{total:,}" if shown_count == total else f"{shown_count:,} of {total:,}"


def _choice(label: str, name: str, values: Sequence[str]) -> Markup:
    options = [tag("option", "any", value=""), *(tag("option", value, value=value) for value in values)]
    return tag("label", label, tag("select", *options, name=name), class_="search")


def _files(report: Report, shown_entries: Sequence[Entry], anchors: Anchors) -> list[Markup]:
    sections = []
    for file, in_file in groupby(shown_entries, lambda entry: entry.place.file or ""):
        nodes = [list(entries) for _, entries in groupby(in_file, lambda entry: entry.key)]
        grave_files = [entries for entries in nodes if any(entry.kind in GRAVE for entry in entries)]
        lesser = [entries for entries in nodes if entries not in grave_files]
        parts = [node_article(report, entries, anchors.nodes) for entries in grave_files]
        if lesser:
            kinds = [entry.kind for entries in lesser for entry in entries]
            title = f"{count_kinds(kinds)} at {plural(len(lesser), 'further node' if grave_files else 'node')}"
            markups = [node_article(report, entries, anchors.nodes) for entries in lesser]
            parts.append(tag("details", tag("summary", title), *markups, class_="lesser"))
        head = tag("h2", breakable(file or "No file"))
        sections.append(tag("section", head, *parts, class_="file", id=anchors.files[file]))
    return sections or [tag("p", "No findings.", class_="nothing")]


def _tables(report: Report) -> Markup:
    if not report.no_table:
        return Markup()
    result = "Nodes of these operators, which have no table, were neither accepted nor rejected."
    item_list = markup.bullets(without_table(report.no_table), class_="operators")
    return tag("section", tag("h2", "Without a table"), tag("p", result), item_list, id="no-table")
