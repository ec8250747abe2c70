"""``specgate export cpp``: the tables as a C++ header."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.cli.common import emit
from specgate.dialects import packages

if TYPE_CHECKING:
    import argparse

__all__ = ["export_cpp"]


def export_cpp(arguments: argparse.Namespace) -> int:
    """Write the header of the dialect that has one."""
    package = next(one for one in packages() if one.has_cpp_header)
    operators, levels = _listed(arguments.operators), _listed(arguments.levels)
    if operators is not None:
        operators = [package.named(name) for name in operators]
    emit(package.cpp_header(operators, levels, text=not arguments.no_text), arguments.output)
    return 0


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [part for part in (piece.strip() for piece in text.split(",")) if part]
