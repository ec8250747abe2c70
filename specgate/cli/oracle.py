"""``specgate oracle``: install and list the real builds that verdicts are held against."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from specgate.cli.common import text_table

if TYPE_CHECKING:
    import argparse

__all__ = ["install", "listed"]


def install(arguments: argparse.Namespace) -> int:
    """Fetch the builds of the levels that were asked for, and build the host."""
    from specgate.oracles.install import install_directml

    levels = "all" if arguments.levels == "all" else [level.strip() for level in arguments.levels.split(",")]
    install_directml(levels, system=arguments.system, progress=lambda line: sys.stdout.write(f"{line}\n"))
    return 0


def listed(_arguments: argparse.Namespace) -> int:
    """Print every known build: installed, or the command that installs it."""
    from specgate.oracles.install import status

    rows = [
        [f"directml:{entry.build.level}", entry.build.system, entry.build.title]
        + (["installed"] if entry.installed else [f"missing: {entry.command}"])
        for entry in status()
    ]
    sys.stdout.write(text_table(rows))
    return 0
