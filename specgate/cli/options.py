"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.report.selection import FAIL_ON, SEVERITIES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["executed", "inferring", "judged", "lowest", "placed"]


def judged(parser: argparse.ArgumentParser, formats: Sequence[str]) -> None:
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
        help="what the pages say, what builds do, or what both take (default)",
    )
    parser.add_argument(
        "--device",
        metavar="NAMES",
        help="what a D3D12 device reports: all, none, or names such as DoublePrecisionFloatShaderOps, with commas",
    )
    parser.add_argument(
        "--format", choices=formats, help=f"text (default), {', '.join(formats[1:-1])} or {formats[-1]}"
    )
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colour in text (default: on a terminal)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report to FILE instead of standard output")
    _selecting(parser)
    parser.add_argument("--config", metavar="FILE", help="use this configuration instead of searching for one")


def _selecting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--severity", choices=SEVERITIES, metavar="LEVEL", help="the least severity to show: error, warning or note"
    )
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        metavar="LEVEL",
        help="exit with 1 from this severity on, shown or not: error, warning (default), note or never",
    )
    parser.add_argument(
        "--select",
        action="append",
        metavar="IDS",
        help="only findings of these rules: ids or what they begin with, with * and ?, such as directml/GEMM or "
        "onnx/*/changed; with commas, or repeated",
    )
    parser.add_argument("--ignore", action="append", metavar="IDS", help="no findings of these rules, named likewise")
    parser.add_argument(
        "--statistics",
        action="store_true",
        help="text: how many findings and files each rule has, instead of the findings; json: beside them",
    )


def inferring(parser: argparse.ArgumentParser) -> None:
    """Add the options of reading models: symbol sizes and type inference."""
    parser.add_argument(
        "--pin",
        action="append",
        default=[],
        metavar="NAME=SIZE",
        help="give a symbolic dimension of ONNX models a size: batch=1, or x[0]=1 for a nameless one of the input x; "
        "repeat for several",
    )
    parser.add_argument(
        "--no-infer",
        action="store_true",
        help="do not ask the onnx package for types and shapes that ONNX models leave out",
    )


def placed(parser: argparse.ArgumentParser) -> None:
    """Add the options of `place`, except those of reading models."""
    parser.add_argument("model", help=".onnx model, or - for standard input")
    parser.add_argument("-t", "--target", metavar="TARGET", help="onnxruntime-directml:1.24.4, onnxruntime:1.24.4")
    parser.add_argument(
        "--device",
        metavar="NAMES",
        help="what a D3D12 device reports: all (default), none, or names such as DoublePrecisionFloatShaderOps",
    )
    parser.add_argument("--format", choices=("text", "json", "html"), default="text")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")
    parser.add_argument("-v", "--verbose", action="store_true", help="text: also every node")
    parser.add_argument(
        "--descriptors",
        metavar="DIR",
        help="also write what each node becomes into DIR: DxDispatch model files, which `run` and `check` take",
    )
    parser.add_argument(
        "--node",
        action="append",
        default=[],
        metavar="NAME",
        help="only the descriptors of this node; repeat for several",
    )


def lowest(parser: argparse.ArgumentParser) -> None:
    """Add the options of `minimum`."""
    parser.add_argument(
        "descriptor", help="descriptor file, .onnx model or OpenVINO IR (.xml), a JSON text, or - for standard input"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="of models: also what blocks each opset below")
    parser.add_argument(
        "--dialect",
        metavar="DIALECT",
        help="directml, of an ONNX model: the lowest feature level at which every node that ONNX Runtime puts on "
        "DirectML is also created, as builds have it",
    )
    parser.add_argument(
        "-t", "--target", metavar="TARGET", help="the release that puts it there (default: onnxruntime-directml:latest)"
    )
    inferring(parser)
    parser.add_argument("--basis", choices=("documented", "observed", "both"), default="both")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def executed(parser: argparse.ArgumentParser) -> None:
    """Add the options of `run`."""
    parser.add_argument(
        "file", help="DxDispatch model, descriptor file, .onnx model, a JSON text, or - for standard input"
    )
    parser.add_argument("-t", "--target", metavar="TARGET", help="whose behaviour applies (default: the newest level)")
    parser.add_argument(
        "-i", "--input", action="append", default=[], metavar="NAME=FILE.npy", help="an input array; repeat for several"
    )
    parser.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="save an output: as .npy, or as JSON where FILE ends in .json (sequences, maps, texts); - is standard "
        "output; repeat for several",
    )
    parser.add_argument(
        "--max-bytes", type=int, metavar="N", help="what may be held in memory at a time (default: 2 GiB, 2147483648)"
    )
    parser.add_argument("--max-seconds", type=float, metavar="S", help="how long it may take (default: 300)")
    parser.add_argument(
        "--compare",
        metavar="IMPLEMENTATION",
        help="hold each node of a model against onnxruntime or reference (an IR: cpu); exit 1 if one differs",
    )
    parser.add_argument(
        "--basis",
        choices=("both", "documented", "observed"),
        default="both",
        help="whose values: the page's except where all builds differ from it (both, the default), only the page's "
        "(documented), or those of builds as far as recorded differences can be computed (observed)",
    )
    parser.add_argument("--write-files", action="store_true", help="allow a model's writeFile commands")
    parser.add_argument(
        "--read-outside", action="store_true", help="allow a model's sourcePath to name files outside of its folder"
    )
