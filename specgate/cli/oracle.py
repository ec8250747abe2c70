"""``specgate oracle``: the real builds that verdicts and values are held against; install, list, record."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from specgate.cli.common import text_table

if TYPE_CHECKING:
    import argparse

__all__ = ["install", "listed", "record"]


def install(arguments: argparse.Namespace) -> int:
    """Fetch the builds of the levels that were asked for, and build the host; with --values what executes, too."""
    from specgate.dialects.directml.oracle.install import install_directml
    from specgate.dialects.directml.oracle.values_install import install_values
    from specgate.errors import InputError

    default = "6.4" if arguments.values else "6.2"
    chosen = arguments.levels or default
    levels = "all" if chosen == "all" else [level.strip() for level in chosen.split(",")]
    if not arguments.values:
        install_directml(levels, system=arguments.system, progress=_say)
        return 0
    if arguments.system == "linux":
        raise InputError("values are computed with Windows builds, so --system linux has none")
    install_values(levels, progress=_say)
    return 0


def listed(_arguments: argparse.Namespace) -> int:
    """Print every known build: installed, or the command that installs it; and whether it computes values here."""
    from specgate.dialects.directml.oracle.install import status

    rows = [
        [f"directml:{entry.build.level}", entry.build.system, entry.build.title]
        + ["installed" if entry.installed else f"missing: {entry.command}"]
        + ([_values(entry.build.level)] if entry.build.system == "windows" else [])
        for entry in status()
    ]
    sys.stdout.write(text_table(rows))
    return 0


def record(arguments: argparse.Namespace) -> int:
    """Write what a build computes for drawn cases to a file."""
    from specgate.dialects.directml.oracle.record import record_values

    record_values(
        arguments.level,
        arguments.operator,
        arguments.to,
        cases=arguments.cases,
        seed=arguments.seed,
        progress=_say,
    )
    return 0


def _values(level: str) -> str:
    from specgate.dialects.directml.oracle.place import VALUE_LEVELS, missing_values, values_command

    if level not in VALUE_LEVELS:
        return "no values"
    return f"values missing: {values_command([level])}" if missing_values(level) else "values installed"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
