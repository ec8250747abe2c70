"""Lines of text with columns: the last one wraps under itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.report.clean import clean, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["in_columns", "wrapped"]

_LEAST = 30  # columns that the last cell should have at least; else it goes below the others


def wrapped(text: str, width: int, *, first: str = "", hang: str = "") -> list[str]:
    """Return text as cleaned lines of at most `width` columns."""
    return wrap(clean(text, None), width, first=first, hang=hang)


def in_columns(rows: Iterable[Sequence[str]], width: int, *, indent: str = "") -> list[str]:
    """Return rows of equally many cells as aligned columns, two spaces apart; the last column wraps.

    A row whose cells before the last are wider than the room for them has its last one below them.
    """
    cleaned = [[clean(cell, None) for cell in row] for row in rows]
    if not cleaned:
        return []
    room = max(width - len(indent) - _LEAST, 8)
    widths = [max(len(row[at]) for row in cleaned) for at in range(len(cleaned[0]) - 1)]
    if sum(widths) + 2 * len(widths) > room:
        widths = []
    lines: list[str] = []
    for *before, last in cleaned:
        if widths:
            start = indent + "".join(cell.ljust(size) + "  " for cell, size in zip(before, widths, strict=True))
            hang = " " * (len(start) + (2 if last.startswith("# ") else 0))
            lines += wrap(last, width, first=start, hang=hang)
            continue
        lines += wrap("  ".join(cell for cell in before if cell), width, first=indent, hang=indent + "  ")
        lines += wrap(last, width, first=f"{indent}    ", hang=f"{indent}    ") if last else []
    return lines
