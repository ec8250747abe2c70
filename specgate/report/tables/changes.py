"""Changes between two levels as text: added, changed, removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.report import plural
from specgate.report.tables.words import wrap_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from specgate.export.compare import DialectChange, OperatorChange, Stretch, TablesDifference
    from specgate.spec.changes import Change, Detail

_TITLES: Final = (("new operators", "added"), ("changed operators", "changed"), ("removed operators", "removed"))


def changes_text(heading: str, changes: Sequence[Change], total: int, width: int) -> str:
    """Return the changes as text; operators with equal changes are grouped.

    heading: names the two targets.
    """
    lines = wrap_text(f"{heading}: {len(changes)} of {total} operators differ", width, hanging_indent="  ")
    for title, kind in _TITLES:
        kind_changes = [change for change in changes if change.kind == kind]
        if not kind_changes:
            continue
        lines += ["", f"{title} ({len(kind_changes)})"]
        if kind != "changed":
            lines += _names([change.operator for change in kind_changes], width)
            continue
        for names, details in sorted(_group_changes(kind_changes).items(), key=lambda group: _only_rules(group[1])):
            lines += _names(names, width)
            for line in detail_lines(details):
                lines += wrap_text(line, width, first="      ", hanging_indent="        ")
    return "\n".join(lines) + "\n"


def _names(names: Iterable[str], width: int) -> list[str]:
    return wrap_text(", ".join(names), width, first="  ", hanging_indent="  ")


def _group_changes(changes: Iterable[Change]) -> dict[tuple[str, ...], tuple[Detail, ...]]:
    """Return operators grouped by equal changes, in order of first member."""
    groups: dict[tuple[Detail, ...], list[str]] = {}
    for change in changes:
        groups.setdefault(change.details, []).append(change.operator)
    return {tuple(names): details for details, names in groups.items()}


def _only_rules(details: Iterable[Detail]) -> bool:
    return all(detail.field is None and detail.when is None for detail in details)


def detail_lines(details: Sequence[Detail]) -> Iterator[str]:
    """Yield a line per set of fields with equal changes, then the rules.

    Observed behaviour comes last.
    """
    cells: dict[tuple[str | None, str], list[str]] = {}
    for detail in details:
        if detail.field is not None:
            cells.setdefault((detail.when, detail.field), []).append(detail.what)
    names_by_change: dict[tuple[str | None, str], list[str]] = {}
    for (condition, field), detail_text in cells.items():
        names_by_change.setdefault((condition, "; ".join(detail_text)), []).append(field)
    for (condition, detail_fields), fields in names_by_change.items():
        case = f"where {condition}: " if condition else ""
        yield f"{case}{', '.join(fields)}: {detail_fields}"
    for detail in details:
        if detail.field is None:
            yield f"where {detail.when}: {detail.what}" if detail.when else detail.what


_KINDS: Final = (("added", "Added"), ("changed", "Changed"), ("removed", "Removed"))


def tables_changes_text(difference: TablesDifference, width: int) -> str:
    """Return all changes by dialect; equal changes are grouped."""
    return "\n".join(line for change in difference.dialects for line in _dialect_text(change, width)) + "\n"


def _dialect_text(change: DialectChange, width: int) -> Iterator[str]:
    yield from wrap_text(f"{change.title}: {_versions(change)}", width, hanging_indent="  ")
    yield from wrap_text(_count_changes(change), width, first="  ", hanging_indent="  ")
    for fact in change.facts:
        yield from wrap_text(fact, width, first="  ", hanging_indent="    ")
    for kind, title in _KINDS:
        kind_changes = change.of(kind)
        if kind_changes:
            yield f"  {title.lower()} ({len(kind_changes)})"
        for names, first in _group_equal_changes(kind_changes):
            levels = f" ({first.levels})" if first.levels else ""
            yield from wrap_text(f"{', '.join(names)}{levels}", width, first="    ", hanging_indent="    ")
            for stretch in first.stretches:
                for line in detail_lines(stretch.details):
                    yield from wrap_text(
                        f"{_format_stretch(stretch)}: {line}", width, first="      ", hanging_indent="        "
                    )


def tables_changes_markdown(difference: TablesDifference) -> str:
    """Return all changes as a changelog section in Markdown.

    Each dialect with changes has a heading.
    """
    changed_dialects = [
        dialect_change
        for dialect_change in difference.dialects
        if dialect_change.facts or dialect_change.operators or dialect_change.before is None or not dialect_change.after
    ]
    if not changed_dialects:
        return "No table has changed.\n"
    return "\n".join(line for dialect_change in changed_dialects for line in _dialect_markdown(dialect_change))


def _dialect_markdown(change: DialectChange) -> Iterator[str]:
    yield from (f"### {change.title}", "", f"{_versions(change)}: {_count_changes(change)}.", "")
    if change.facts:
        yield from (*(f"- {fact}" for fact in change.facts), "")
    for kind, title in _KINDS:
        kind_changes = change.of(kind)
        if not kind_changes:
            continue
        yield from (f"#### {title}", "")
        for names, first in _group_equal_changes(kind_changes):
            levels = f" ({first.levels})" if first.levels else ""
            yield f"- {', '.join(f'`{name}`' for name in names)}{levels}"
            for stretch in first.stretches:
                yield from (f"  - {_format_stretch(stretch)}: {_code(line)}" for line in detail_lines(stretch.details))
        yield ""


def _code(text: str) -> str:
    """Return a text as code, since expressions may contain Markdown syntax."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _versions(change: DialectChange) -> str:
    if change.before == change.after:
        return str(change.before)
    return f"{change.before or 'no tables'} → {change.after or 'no tables'}"


def _count_changes(change: DialectChange) -> str:
    parts = [
        f"{plural(len(kind_changes), 'operator')} {kind}" for kind, _ in _KINDS if (kind_changes := change.of(kind))
    ]
    words = len(change.of("words"))
    if words:
        parts.append(f"{plural(words, 'operator')} with changed texts, sources or examples only")
    return ", ".join(parts) or ("no operator changed" if change.before and change.after else "exists only on one side")


def _format_stretch(stretch: Stretch) -> str:
    side_text = {"documented": "", "observed": " in builds"}.get(stretch.side, f" in {stretch.side}")
    return f"{stretch.levels}{side_text}"


def _group_equal_changes(changes: Iterable[OperatorChange]) -> list[tuple[list[str], OperatorChange]]:
    """Return operators grouped by equal changes, each with its first change."""
    groups: dict[object, tuple[list[str], OperatorChange]] = {}
    for change in changes:
        groups.setdefault((change.levels, change.stretches), ([], change))[0].append(change.operator)
    return list(groups.values())
