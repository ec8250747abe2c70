"""``specgate export``: what other programs use of the tables."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from specgate.export import Wanted
from specgate.export import export as write

if TYPE_CHECKING:
    import argparse

__all__ = ["export"]


def export(arguments: argparse.Namespace) -> int:
    """Write the tables in a format."""
    output = None if arguments.output == "-" else arguments.output
    for line in write(arguments.kind, Wanted(tuple(arguments.dialect), output=output)):
        sys.stdout.write(line)
    return 0
