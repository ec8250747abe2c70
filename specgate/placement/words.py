"""How placements are put in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.placement.placed import PlacedNode

__all__ = ["listed", "several", "spared"]

_MOST = 6


def several(noun: str, count: int) -> str:
    """Return a noun as it stands behind a number."""
    return noun if count == 1 else f"{noun}s"


def spared(node: PlacedNode) -> str:
    """Return why a session without optimisations fails because of a node, and one with the default ones does not."""
    why = node.why if not node.has_kernel else node.created_by or node.run_fails
    how = "remove it" if node.removed else "compute its values early"
    return f"{why or 'no provider has a kernel for it'}; default optimisations {how}, a session without them fails"


def listed(items: Sequence[object], most: int = _MOST) -> str:
    """Return things with commas, the last ones where there are many: versions grow."""
    texts = [str(item) for item in items]
    if len(texts) > most:
        return f"{', '.join(texts[:2])} … {', '.join(texts[2 - most :])}"
    return ", ".join(texts)
