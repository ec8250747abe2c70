"""``specgate spec import``: what a vendor's package states of its operators, into the tables or held against them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from specgate.dialects import importers, package
from specgate.errors import InputError

if TYPE_CHECKING:
    import argparse

__all__ = ["import_tables"]


def import_tables(arguments: argparse.Namespace) -> int:
    """Write the tables of the installed package, or with --check list where they differ; 1 where they do.

    Raises InputError for a dialect without an importer.
    """
    owner = package(arguments.dialect)
    if not owner.has_importer:
        raise InputError(f"{owner.name} has no importer; these have one: {', '.join(importers())}")
    if arguments.check:
        return 1 if owner.compare_tables(arguments.to, _say) else 0
    owner.import_tables(arguments.to, _say, arguments.operator)
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
