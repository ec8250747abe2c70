"""What changes between two levels as text, in the order of a vendor's history: new, changed, gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.report.tables.lines import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from specgate.spec.changes import Change, Detail

__all__ = ["changes_text", "said"]

_TITLES: Final = (("new operators", "added"), ("changed operators", "changed"), ("removed operators", "removed"))


def changes_text(heading: str, changes: Sequence[Change], total: int, width: int) -> str:
    """Return `changes` between the targets that `heading` names; operators that change alike stand together."""
    lines = wrapped(f"{heading}: {len(changes)} of {total} operators differ", width, hang="  ")
    for title, kind in _TITLES:
        mine = [change for change in changes if change.kind == kind]
        if not mine:
            continue
        lines += ["", f"{title} ({len(mine)})"]
        if kind != "changed":
            lines += _names([change.operator for change in mine], width)
            continue
        for names, details in sorted(_alike(mine).items(), key=lambda group: _only_rules(group[1])):
            lines += _names(names, width)
            for line in said(details):
                lines += wrapped(line, width, first="      ", hang="        ")
    return "\n".join(lines) + "\n"


def _names(names: Iterable[str], width: int) -> list[str]:
    return wrapped(", ".join(names), width, first="  ", hang="  ")


def _alike(changes: Iterable[Change]) -> dict[tuple[str, ...], tuple[Detail, ...]]:
    """Return groups of operators with what changes in all of them, in the order of each group's first."""
    groups: dict[tuple[Detail, ...], list[str]] = {}
    for change in changes:
        groups.setdefault(change.details, []).append(change.operator)
    return {tuple(names): details for details, names in groups.items()}


def _only_rules(details: Iterable[Detail]) -> bool:
    return all(detail.field is None and detail.when is None for detail in details)


def said(details: Sequence[Detail]) -> Iterator[str]:
    """Yield a line for each set of fields that change alike, then rules and behaviour."""
    cells: dict[tuple[str | None, str], list[str]] = {}
    for detail in details:
        if detail.field is not None:
            cells.setdefault((detail.when, detail.field), []).append(detail.what)
    alike: dict[tuple[str | None, str], list[str]] = {}
    for (when, field), what in cells.items():
        alike.setdefault((when, "; ".join(what)), []).append(field)
    for (when, together), fields in alike.items():
        case = f"where {when}: " if when else ""
        yield f"{case}{', '.join(fields)}: {together}"
    for detail in details:
        if detail.field is None:
            yield f"where {detail.when}: {detail.what}" if detail.when else detail.what
