"""``specgate oracle``: install and list real builds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from specgate.cli.common import text_table
from specgate.dialects import capability, implementing
from specgate.dialects.protocols import Builds
from specgate.errors import InputError
from specgate.runtimes.onnxruntime.oracle import installable

if TYPE_CHECKING:
    import argparse


def install(arguments: argparse.Namespace) -> int:
    """Install the builds of the requested levels, and build the host.

    With --values, install the environment that computes values too.
    """
    if installable.is_runtime(arguments.dialect):
        if arguments.system or arguments.values:
            raise InputError("--system and --values apply to builds of a dialect, not of a runtime")
        installable.install(arguments.dialect, arguments.release, arguments.levels, _print_line)
        return 0
    if arguments.release:
        raise InputError("--release applies to runtimes; choose builds of a dialect with --levels")
    capability(arguments.dialect, Builds).install(
        arguments.levels, system=arguments.system, values=arguments.values, progress=_print_line
    )
    return 0


def list_builds(_arguments: argparse.Namespace) -> int:
    """Print every known build with its state.

    The state is installed or the install command, and whether the build computes values here.
    """
    rows = [list(row) for dialect_builds in implementing(Builds) for row in dialect_builds.builds()]
    sys.stdout.write(text_table([*rows, *installable.rows()]))
    return 0


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
