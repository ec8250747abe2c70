"""How placements are put in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["listed", "several"]

_MOST = 6


def several(noun: str, count: int) -> str:
    """Return a noun as it stands behind a number."""
    return noun if count == 1 else f"{noun}s"


def listed(items: Sequence[object], most: int = _MOST) -> str:
    """Return things with commas, the last ones where there are many: versions grow."""
    texts = [str(item) for item in items]
    if len(texts) > most:
        return f"{', '.join(texts[:2])} … {', '.join(texts[2 - most :])}"
    return ", ".join(texts)
