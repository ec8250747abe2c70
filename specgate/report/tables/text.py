"""A target's operators as text, with their support."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from specgate.levels import LevelSet
from specgate.report.tables import words
from specgate.report.tables.words import in_columns, wrap_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from specgate.lowest.descriptor import Minimum
    from specgate.spec.dialect_spec import Dialect


def counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of operators of each kind of support.

    rows: the result of `operators_at`.
    """
    matching_counts = Counter(row["support"] for row in rows)
    return {kind: matching_counts[kind] for kind in ("yes", "limited", "no")}


def listing_text(described: str, rows: Sequence[Mapping[str, Any]], width: int) -> str:
    """Return the rows of `operators_at` as text, with counts by kind."""
    number = counts(rows)
    lines = [
        f"{described}: {len(rows)} operators with a table",
        f"{number['yes']} yes, {number['limited']} limited (a later level supports more), {number['no']} no",
        *in_columns([(row["operator"], row["support"], _row_origin(row)) for row in rows], width, indent="  "),
    ]
    return "\n".join(lines) + "\n"


def _row_origin(row: Mapping[str, Any]) -> str:
    donors_text = f"; more from {', '.join(row['more_from'])}" if row["more_from"] else ""
    return f"{'from' if row['support'] == 'no' else 'since'} {row['first_level']}{donors_text}"


_INDENT: Final = "    "


def operator_text(table: Mapping[str, Any], level: str | None, width: int) -> str:
    """Return a `resolved_table` as text with the row of `level` marked.

    Lines have at most `width` columns.
    """
    facts = f"levels {words.whole_span(table)}; {words.kernel_words(table)}; {words.examples_count(table)}"
    title = ": ".join(filter(None, (f"{table['dialect']} {table['operator']}", table["summary"])))
    lines = wrap_text(title, width, hanging_indent="  ")
    lines += [*wrap_text(facts, width, hanging_indent="  "), *_attributes(table, width), *_rows(table, level, width)]
    lines += _section("rules", _rules(table["rules"], words.whole_span(table), width))
    lines += _section("unknowns", _points(table["unknowns"], width))
    lines += _section("differences of real builds", _observed_lines(table, width))
    lines += _section("sources", _points(map(words.source_words, table["source"]), width))
    return "\n".join(lines) + "\n"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    texts = list(lines)
    return ["", f"  {title}", *texts] if texts else []


def _points(texts: Iterable[str], width: int) -> list[str]:
    return [
        line for text in texts for line in wrap_text(text, width, first=f"{_INDENT}- ", hanging_indent=f"{_INDENT}  ")
    ]


def _attributes(table: Mapping[str, Any], width: int) -> list[str]:
    rows = [(name, words.about_attribute(info)) for name, info in table["attributes"].items()]
    return _section("attributes", in_columns(rows, width, indent=_INDENT))


def _rows(table: Mapping[str, Any], level: str | None, width: int) -> Iterator[str]:
    short = words.short_names(table)
    case, before = None, None
    for row in table["rows"]:
        if row.get("when") != case:
            case = row["when"]
            yield from ("", *wrap_text(f"where {case}", width, hanging_indent="  "))
        exists = level in row["levels"]
        cells = list(_cells(table, row, short))
        lines = in_columns(cells, width, indent=_INDENT)
        yield from ("", f"{'* ' if exists else '  '}{words.row_span(table, row['levels'])}{' <- this target' * exists}")
        yield from [f"{_INDENT}as before; only rules differ"] if (case, cells) == before and not exists else lines
        before = (case, cells)


def _cells(table: Mapping[str, Any], row: Mapping[str, Any], short: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """Yield the lines of a row: tensors, and attributes with limits."""
    limited_names = words.limited_attributes(table)
    for name, cell in row["fields"].items():
        ranks, type_words = words.cell_parts(cell, short)
        parts = [" ".join([word, *operators] if word else operators) for word, operators in type_words]
        if cell["kind"] != "attribute":
            kind = cell["kind"] + ", optional" * cell.get("optional", False)
            yield name, kind, "; ".join([f"rank {ranks}" if ranks else "any rank", *(parts or ["any type"])])
        elif name in limited_names:
            yield name, "attribute", "; ".join(parts) or "any"


def _rules(rules: Iterable[Mapping[str, Any]], full_range: str, width: int) -> list[str]:
    rows: list[tuple[str, str]] = []
    for name, forms in words.rule_groups(rules, full_range).items():
        label = name
        for levels, text, because in forms:
            line = f"{levels}: {text}" if levels else text
            reason = f"# {because}" if because else ""
            joined_line = f"{line}  {reason}"
            if reason and len(joined_line) + len(_INDENT) + 24 <= width:
                rows.append((label, joined_line))
            else:
                rows += [(label, line)] + ([("", reason)] if reason else [])
            label = ""
    return in_columns(rows, width, indent=_INDENT)


def _observed_lines(table: Mapping[str, Any], width: int) -> list[str]:
    short = words.short_names(table)
    lines: list[str] = []
    for entry in table["observed"]:
        source_text = f" ({entry['by']} only)" if "by" in entry else ""
        bug = ", contradicting the documentation" if entry.get("bug") else ""
        lines += wrap_text(f"{entry['builds']}{source_text}{bug}", width, first=_INDENT, hanging_indent=f"{_INDENT}  ")
        rows = [(result, text) for result, text in observed_facts(entry, short)]
        lines += in_columns(rows, width, indent=f"{_INDENT}  ")
    return lines


def observed_facts(entry: Mapping[str, Any], short: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield observed differences: the kind and the description."""
    for name, cell in entry.get("support", {}).items():
        ranks, type_words = words.cell_parts(cell, short)
        parts = ([f"rank {ranks}"] if ranks else []) + [
            " ".join([word, *operators] if word else operators) for word, operators in type_words
        ]
        yield "support", f"{name}: {'; '.join(parts)}" + (f" where {cell['when']}" if "when" in cell else "")
    if entry.get("not_enforced"):
        yield "do not require", " ".join(entry["not_enforced"])
    if entry.get("attributes"):
        yield "accept", " ".join(entry["attributes"]) + ", which the documentation does not define"
    if entry.get("nondeterministic"):
        yield "enforce unreliably", " ".join(entry["nondeterministic"])
    if entry.get("partially_enforced"):
        yield "enforce partially", " ".join(entry["partially_enforced"])
    if entry.get("tools_write"):
        yield "are lenient about", " ".join(entry["tools_write"]) + " that the vendor's own tools violate"
    for name, forms in words.rule_groups(entry.get("rules", ()), entry["builds"]).items():
        for levels, text, reason in forms:
            levels_text = f" at {levels}" if levels else ""
            yield "require", f"{name}{levels_text}: {text}" + (f"  # {reason}" if reason else "")
    for value in entry.get("values", {}).values():
        yield "compute", value["what"] + (f", where {value['when']}" if "when" in value else "")
    if "evidence" in entry:
        yield "measured", entry["evidence"]


def minimum_text(minimum: Minimum, table: Dialect, operator: str, width: int) -> str:
    """Return the minimum level as text; equal neighbouring levels are merged."""
    lowest = table.label(minimum.level) if minimum.level else "none"
    lines = wrap_text(
        f"{table.name} {operator}: lowest level {lowest}; accepted by {minimum.levels}", width, hanging_indent="  "
    )
    if minimum.undecided:
        lines.append(f"  undecided at {minimum.undecided}")
    for levels, blockers in _spans(minimum, table):
        span = str(LevelSet.of(table.levels, levels))
        lines.append(f"  {span}:")
        for rule_id, message in blockers:
            full_message = message.replace(_MARK, table.label(levels[0]).removesuffix(levels[0]) + span)
            lines += wrap_text(f"{rule_id}: {full_message}", width, first="    ", hanging_indent="      ")
    return "\n".join(lines) + "\n"


_MARK = "\0"  # placeholder for the level in a message


def _spans(minimum: Minimum, table: Dialect) -> list[tuple[list[str], list[tuple[str, str]]]]:
    spans: list[tuple[list[str], list[tuple[str, str]]]] = []
    for level, findings in minimum.blockers.items():
        pattern = re.compile(rf"\b{re.escape(table.label(level))}(?![\w.]*\w)")
        blockers = [(finding.id, pattern.sub(_MARK, finding.message.replace(_MARK, ""))) for finding in findings]
        if spans and spans[-1][1] == blockers:
            spans[-1][0].append(level)
        else:
            spans.append(([level], blockers))
    return spans
