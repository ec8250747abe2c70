"""What oracles of Python packages have in common."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["finished_levels", "need"]


def need(*names: str) -> None:
    """Raise InputError where one of the packages is not installed."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"{' and '.join(missing)} cannot be imported: pip install 'specgate-ml[oracles]'")


def finished_levels(dialect: str, levels: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the levels that a release has complete, and a line for each of the others."""
    from specgate.spec.tables import dialect as tables

    known = tables(dialect).raw["levels"]["levels"]
    unfinished = [level for level in levels if known[level].get("unfinished")]
    skipped = [f"{dialect}:{level}: no release has it complete" for level in unfinished]
    return [level for level in levels if level not in unfinished], skipped
