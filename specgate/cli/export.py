"""``specgate export``: the tables as data for other programs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from specgate.errors import InputError
from specgate.export import ExportScope
from specgate.export import export as export_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def export(arguments: argparse.Namespace) -> int:
    """Write the tables in a format."""
    if arguments.kind and arguments.format and arguments.kind != arguments.format:
        raise InputError(f"expected one format, found {arguments.kind} and {arguments.format}")
    output = None if arguments.output == "-" else arguments.output
    operators, levels = _split_words(arguments.operator), _split_words(arguments.level)
    result = ExportScope(tuple(arguments.dialect), operators, output, levels, text=not arguments.no_text)
    for line in export_lines(arguments.kind or arguments.format or "json", result):
        sys.stdout.write(line)
    return 0


def _split_words(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())
