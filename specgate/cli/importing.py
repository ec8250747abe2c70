"""``specgate spec import``: what a vendor's package states of its operators, into the tables or held against them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from specgate.dialects import implementing, package
from specgate.dialects.protocols import Importer
from specgate.errors import InputError
from specgate.placement.registrations import RUNTIME

if TYPE_CHECKING:
    import argparse

__all__ = ["import_tables"]


def import_tables(arguments: argparse.Namespace) -> int:
    """Write the tables of a package, or with --check list where they differ; 1 where they do.

    Raises InputError for what has no importer.
    """
    if arguments.dialect == RUNTIME:
        return _import_runtime(arguments)
    if arguments.wheel is not None:
        raise InputError(f"--wheel is for {RUNTIME} alone")
    owner = package(arguments.dialect)
    if not isinstance(owner, Importer):
        known = [*(each.name for each in implementing(Importer)), RUNTIME]
        raise InputError(f"{owner.name} has no importer; these have one: {', '.join(known)}")
    if arguments.check:
        if arguments.operator:
            raise InputError("--check compares all tables; --operator is for what is written")
        return 1 if owner.compare_tables(arguments.to, _say) else 0
    owner.import_tables(arguments.to, _say, arguments.operator)
    return 0


def _import_runtime(arguments: argparse.Namespace) -> int:
    """Do the same with what a package of the runtime registers."""
    from specgate.placement.importer.update import compare_runtime, import_runtime

    if arguments.operator:
        raise InputError(f"{RUNTIME} states whole releases; --operator is for dialects")
    wheel = None if arguments.wheel is None else Path(arguments.wheel)
    if arguments.check:
        return 1 if compare_runtime(arguments.to, _say, wheel) else 0
    import_runtime(arguments.to, _say, wheel)
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
