"""A target's operators as text: which there are, which take less than later levels do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from specgate.report.tables.lines import in_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["counts", "listing_text"]


def counts(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many of the operators that `operators_at` gives there are of each kind of support."""
    found = Counter(row["support"] for row in rows)
    return {kind: found[kind] for kind in ("yes", "limited", "no")}


def listing_text(described: str, rows: Sequence[Mapping[str, Any]], width: int) -> str:
    """Return the operators that `operators_at` gives as text, and how many there are of each kind."""
    number = counts(rows)
    lines = [
        f"{described}: {len(rows)} operators with a table",
        f"{number['yes']} yes, {number['limited']} limited (a later level takes more), {number['no']} no",
        *in_columns([(row["operator"], row["support"], _about(row)) for row in rows], width, indent="  "),
    ]
    return "\n".join(lines) + "\n"


def _about(row: Mapping[str, Any]) -> str:
    more = f"; more from {', '.join(row['more_from'])}" if row["more_from"] else ""
    return f"{'from' if row['support'] == 'no' else 'since'} {row['first_level']}{more}"
