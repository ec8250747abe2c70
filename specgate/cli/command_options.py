"""Options of rarer commands: conform, oracle, export and diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.export import FORMATS

if TYPE_CHECKING:
    import argparse


def add_conform_options(conform: argparse.ArgumentParser) -> None:
    """Add the options."""
    conform.add_argument(
        "dialect",
        help="directml, onnx, openvino, openvino-cpu or a dialect of an installed package; or a runtime: "
        "onnxruntime-directml, onnxruntime",
    )
    conform.add_argument("--operator", action="append", metavar="NAME", help="only this operator; repeat for several")
    conform.add_argument(
        "--level",
        action="append",
        metavar="LEVEL",
        help="only this level; repeat, or use commas; for a runtime: the level of its DirectML",
    )
    conform.add_argument(
        "--versions", action="store_true", help="test each operator only at levels where its table changes"
    )
    conform.add_argument(
        "--cases", type=int, metavar="N", help="per operator and level (default 500; 20 for a runtime)"
    )
    conform.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the random cases")
    conform.add_argument("--values", action="store_true", help="also execute, and compare the values")
    conform.add_argument("--seconds", type=float, metavar="S", help="time limit")
    conform.add_argument("-j", "--jobs", type=int, default=0, metavar="N", help="processes (default: one per core)")
    conform.add_argument("--format", choices=("text", "json", "html", "markdown"), default="text")
    conform.add_argument("-o", "--output", metavar="FILE", help="write the report to FILE")
    runtime = conform.add_argument_group("for a runtime")
    runtime.add_argument(
        "--release", metavar="N", help="such as 1.24.4 or 1.24.4@5.0; several separated by commas (default: the newest)"
    )
    runtime.add_argument(
        "--graphs", type=int, metavar="N", help="random graphs that compute sizes (default 100; 0 with --operator)"
    )
    runtime.add_argument("--models", metavar="DIR", help="also every .onnx file in DIR")
    runtime.add_argument("--case", metavar="ID", help="only this model, as a report names it")
    runtime.add_argument("--keep", metavar="DIR", help="write the tested models to DIR; requires --case")


def add_install_command(install: argparse.ArgumentParser) -> None:
    """Add the options."""
    install.add_argument("dialect", choices=("directml", "onnxruntime-directml", "onnxruntime"))
    install.add_argument(
        "--levels",
        help="of DirectML, several separated by commas: 6.2 (default; 6.4 for values), or all; "
        "for a runtime: in addition to its bundled level",
    )
    install.add_argument("--release", metavar="N", help="of a runtime, such as 1.24.4; several separated by commas")
    install.add_argument("--system", choices=("linux", "windows"), help="only builds for this operating system")
    install.add_argument(
        "--values",
        action="store_true",
        help="also install what computes values: Wine 10 and Mesa, in a Debian root if necessary",
    )


def add_export_options(parser: argparse.ArgumentParser) -> None:
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


def add_diff_options(parser: argparse.ArgumentParser) -> None:
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
