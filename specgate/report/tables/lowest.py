"""The lowest level that accepts a descriptor as text, with what blocks the levels below."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specgate.levels import LevelSet
from specgate.report.tables.lines import wrapped

if TYPE_CHECKING:
    from specgate.lowest import Minimum
    from specgate.spec.dialect_spec import Dialect

__all__ = ["minimum_text"]


def minimum_text(found: Minimum, table: Dialect, operator: str, width: int) -> str:
    """Return the answer; neighbouring levels with the same blockers stand together."""
    lowest = table.label(found.level) if found.level else "none"
    lines = wrapped(f"{table.name} {operator}: lowest level {lowest}; accepted by {found.levels}", width, hang="  ")
    if found.undecided:
        lines.append(f"  undecided at {found.undecided}")
    for levels, blockers in _spans(found, table):
        span = str(LevelSet.of(table.levels, levels))
        lines.append(f"  {span}:")
        for rule_id, message in blockers:
            whole = message.replace(_HERE, table.label(levels[0]).removesuffix(levels[0]) + span)
            lines += wrapped(f"{rule_id}: {whole}", width, first="    ", hang="      ")
    return "\n".join(lines) + "\n"


_HERE = "\0"  # placeholder in a message for the level that was judged


def _spans(found: Minimum, table: Dialect) -> list[tuple[list[str], list[tuple[str, str]]]]:
    spans: list[tuple[list[str], list[tuple[str, str]]]] = []
    for level, findings in found.blockers.items():
        here = re.compile(rf"\b{re.escape(table.label(level))}(?![\w.]*\w)")
        blockers = [(finding.id, here.sub(_HERE, finding.message.replace(_HERE, ""))) for finding in findings]
        if spans and spans[-1][1] == blockers:
            spans[-1][0].append(level)
        else:
            spans.append(([level], blockers))
    return spans
