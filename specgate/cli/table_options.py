"""The options of ``specgate export`` and ``specgate diff``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.export import FORMATS

if TYPE_CHECKING:
    import argparse

__all__ = ["compared", "exported"]


def exported(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``specgate export``."""
    parser.add_argument("kind", nargs="?", choices=tuple(FORMATS), metavar="FORMAT", help=", ".join(FORMATS))
    parser.add_argument("--format", choices=tuple(FORMATS), help="the same as FORMAT (default json)")
    parser.add_argument(
        "--dialect", action="append", default=[], metavar="NAME", help="only this dialect; repeat for several"
    )
    parser.add_argument(
        "--operator",
        "--operators",
        action="append",
        default=[],
        metavar="NAME",
        help="only this operator (ONE_HOT, DIALECT/OPERATOR); repeat for several, or use commas",
    )
    parser.add_argument(
        "--level",
        "--levels",
        action="append",
        default=[],
        metavar="LEVEL",
        help="for cpp: only this level; repeat for several, or use commas",
    )
    parser.add_argument(
        "--no-text", action="store_true", help="for cpp: omit the messages of findings, keeping id and place"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE_OR_DIR",
        help="FILE.json: one file; a folder: one file per operator and an index; default: standard output",
    )


def compared(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``specgate diff``."""
    parser.add_argument("before", help="for instance directml:4.1; with --tables the older tables")
    parser.add_argument("after", help="for instance directml:5.0; with --tables the newer tables")
    parser.add_argument(
        "--tables",
        action="store_true",
        help="compare tables: files or folders that `specgate export` wrote, folders laid out as specs/, or "
        "`installed` for those in use",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "markdown"),
        default="text",
        help="markdown: a changelog section, for --tables",
    )
