"""Options that several commands share, and help of the terminal's width."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from specgate.report.selection import FAIL_ON, SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def columns(otherwise: int) -> int:
    """Return the terminal's columns, as `shutil.get_terminal_size` does."""
    with suppress(KeyError, ValueError):
        if (columns_setting := int(os.environ["COLUMNS"])) > 0:
            return columns_setting
    with suppress(AttributeError, ValueError, OSError):
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or otherwise  # type: ignore[union-attr]
    return otherwise


class Help(argparse.HelpFormatter):
    """A help formatter that reads the width without `shutil`.

    argparse creates one per option.
    """

    def __init__(self, prog: str, **keywords: Any) -> None:
        super().__init__(prog, width=columns(80) - 2, **keywords)


@contextmanager
def progress(first: str = "asking") -> Iterator[Callable[[int, int, str], object]]:
    """Yield a progress function: a bar on a terminal, silent elsewhere.

    Its arguments are the number done, the total, and the current item.
    """
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first, total=None)
        yield lambda done, total, description: bar.update(task, completed=done, total=total, description=description)


def add_validation_options(parser: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """Add the options of validating commands: targets, reports, selection."""
    parser.add_argument(
        "-t",
        "--target",
        action="append",
        metavar="TARGET",
        help="directml:4.1, onnx:17, openvino:2024.0, or a query such as 'onnxruntime>=1.16' or 'last 2 openvino'; "
        "repeat for several",
    )
    parser.add_argument(
        "--basis",
        choices=("documented", "observed", "both"),
        help="documented: the vendor's pages; observed: real builds; both: what both accept (default)",
    )
    parser.add_argument(
        "--device",
        metavar="NAMES",
        help="optional capabilities of the D3D12 device: all, none, or a comma-separated list such as "
        "DoublePrecisionFloatShaderOps",
    )
    parser.add_argument(
        "--format", choices=formats, help=f"text (default), {', '.join(formats[1:-1])} or {formats[-1]}"
    )
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colored text (default: on a terminal)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report to FILE instead of standard output")
    _add_selection_options(parser)
    parser.add_argument("--config", metavar="FILE", help="configuration file (default: search for one)")


def _add_selection_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--severity", choices=SEVERITIES, metavar="LEVEL", help="lowest severity to show: error, warning or note"
    )
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        metavar="LEVEL",
        help="lowest severity that makes the exit code 1, even if hidden: error, warning (default), note or never",
    )
    parser.add_argument(
        "--select",
        action="append",
        metavar="IDS",
        help="only findings of these rules: ids or prefixes, with wildcards * and ?, such as directml/GEMM or "
        "onnx/*/changed; separated by commas, or repeated",
    )
    parser.add_argument("--ignore", action="append", metavar="IDS", help="no findings of these rules (same syntax)")
    parser.add_argument(
        "--statistics",
        action="store_true",
        help="count findings and files per rule; text shows only the counts, json adds them",
    )


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of reading models: symbol sizes and type inference."""
    parser.add_argument(
        "--pin",
        action="append",
        default=[],
        metavar="NAME=SIZE",
        help="fix a symbolic dimension of ONNX models to a size: batch=1, or x[0]=1 for an unnamed dimension of input "
        "x; repeat for several",
    )
    parser.add_argument(
        "--no-infer",
        action="store_true",
        help="do not infer the types and shapes that ONNX models omit",
    )


def add_place_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `place`, except those of reading models."""
    parser.add_argument("model", help=".onnx model, or - for standard input")
    parser.add_argument("-t", "--target", metavar="TARGET", help="onnxruntime-directml:1.24.4, onnxruntime:1.24.4")
    parser.add_argument(
        "--device",
        metavar="NAMES",
        help="optional capabilities of the D3D12 device: all (default), none, or names such as "
        "DoublePrecisionFloatShaderOps",
    )
    parser.add_argument("--format", choices=("text", "json", "html"), default="text")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")
    parser.add_argument("-v", "--verbose", action="store_true", help="text: list every node")
    parser.add_argument(
        "--descriptors",
        metavar="DIR",
        help="also write the DirectML operators of each node to DIR, as DxDispatch model files for `run` and `check`",
    )
    parser.add_argument(
        "--node",
        action="append",
        default=[],
        metavar="NAME",
        help="write only the descriptors of this node; repeat for several",
    )


def lowest(parser: argparse.ArgumentParser) -> None:
    """Add the options of `minimum`."""
    parser.add_argument(
        "descriptor", help="descriptor file, .onnx model or OpenVINO IR (.xml), a JSON text, or - for standard input"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="for models: also list what blocks each lower opset"
    )
    parser.add_argument(
        "--dialect",
        metavar="DIALECT",
        help="directml, for an ONNX model: the lowest feature level at which real builds create every operator that "
        "ONNX Runtime places on DirectML",
    )
    parser.add_argument(
        "-t", "--target", metavar="TARGET", help="the release of ONNX Runtime (default: onnxruntime-directml:latest)"
    )
    add_model_options(parser)
    parser.add_argument("--basis", choices=("documented", "observed", "both"), default="both")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `run`."""
    parser.add_argument(
        "file", help="DxDispatch model, descriptor file, .onnx model, a JSON text, or - for standard input"
    )
    parser.add_argument(
        "-t", "--target", metavar="TARGET", help="the level or release to emulate (default: the newest level)"
    )
    parser.add_argument(
        "-i", "--input", action="append", default=[], metavar="NAME=FILE.npy", help="input array; repeat for several"
    )
    parser.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="save an output as .npy, or as JSON if FILE ends in .json (for sequences, maps and strings); - is "
        "standard output; repeat for several",
    )
    parser.add_argument("--max-bytes", type=int, metavar="N", help="memory limit in bytes (default: 2 GiB, 2147483648)")
    parser.add_argument("--max-seconds", type=float, metavar="S", help="time limit in seconds (default: 300)")
    parser.add_argument(
        "--compare",
        metavar="IMPLEMENTATION",
        help="compare each node of a model with onnxruntime or reference (for an IR: cpu); exit 1 if any differs",
    )
    parser.add_argument(
        "--basis",
        choices=("both", "documented", "observed"),
        default="both",
        help="whose values: the page's except where all builds differ from it (both, the default), only the page's "
        "(documented), or those of builds as far as recorded differences can be computed (observed)",
    )
    parser.add_argument("--write-files", action="store_true", help="execute the writeFile commands of a model")
    parser.add_argument(
        "--read-outside", action="store_true", help="allow sourcePath to name files outside the model's folder"
    )
