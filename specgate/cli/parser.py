"""The commands and options, in one place; each command names the module and function that runs it."""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any

from specgate.cli.conform_options import conforming
from specgate.cli.options import executed, inferring, judged, lowest, placed
from specgate.cli.oracle_options import installing
from specgate.report import FORMATS

__all__ = ["make_parser"]

SPEC_KINDS = ("operator", "family", "dialect", "levels", "types", "sets", "environments", "tensor", "codes")
BENCH_GROUPS = ("check", "execute", "cold", "directml", "lint", "place")
OTHER_KINDS = ("config", "report", "baseline")
EPILOG = "Exit codes: 0 clean, 1 findings, 2 unusable input."


@cache
def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="specgate",
        description="Will this operator run on that DirectML feature level, ONNX opset or OpenVINO opset, what will it "
        "compute, and if not, why not and from which level on?",
        epilog=EPILOG,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    parser.add_argument("--specs", action="append", metavar="DIR", help="load the operators of another spec folder too")
    parser.add_argument("--kernels", action="append", metavar="FILE", help="run a Python file that registers kernels")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _judging(commands)
    _tables(commands)
    _specs(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from specgate import __version__

        parser.exit(0, f"specgate {__version__}\n")


def _command(commands: Any, name: str, module: str, help_text: str, **more: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=help_text, description=more.pop("about", help_text), **more
    )
    parser.set_defaults(module=module, function=name.replace("-", "_").replace(" ", "_"))
    return parser


def _judging(commands: Any) -> None:
    check = _command(
        commands,
        "check",
        "check",
        "judge descriptors",
        about="Judge single descriptors: files, or a JSON text given as it is. With --format jsonl each verdict is one "
        "line, written at once; standard input with one descriptor a line is then answered line by line.",
        epilog=EPILOG,
    )
    check.add_argument(
        "descriptor",
        nargs="+",
        help="descriptor or DxDispatch model file (JSON, JSON lines, YAML), a JSON text, or - for standard input",
    )
    judged(check, (*FORMATS, "jsonl"))
    check.add_argument(
        "-v", "--verbose", action="store_true", help="also print the expression and the page of each failed rule"
    )

    lint = _command(
        commands,
        "lint",
        "lint",
        "judge whole models",
        about="Judge whole models: ONNX, OpenVINO IR, descriptor files; files, directories and globs.",
        epilog=EPILOG,
    )
    lint.add_argument("path", nargs="+", help="model file, directory or glob pattern, or - for standard input")
    judged(lint, tuple(FORMATS))
    where = lint.add_mutually_exclusive_group()
    where.add_argument(
        "-j", "--jobs", type=int, default=1, metavar="N", help="judge files in N processes (0: one per core)"
    )
    where.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="judge files on the Dask cluster whose scheduler is at ADDRESS (tcp://host:8786); its workers need "
        "specgate and the same files",
    )
    lint.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also list the undecided nodes, with the sizes to pin, and print the expression of each failed rule and "
        "the address of its page",
    )
    lint.add_argument(
        "--max-per-rule",
        type=int,
        default=20,
        metavar="N",
        help="collapse a file's equal findings above N (default 20)",
    )
    inferring(lint)
    lint.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FORMAT=FILE",
        help="also write the report in another format, for instance sarif=specgate.sarif; repeat for several",
    )
    lint.add_argument(
        "--only-models",
        action="store_true",
        help="skip named files that do not look like a model, as files in directories are skipped",
    )
    lint.add_argument("--baseline", metavar="FILE", help="do not report the findings in FILE")
    lint.add_argument(
        "--update-baseline",
        action="store_true",
        help="write today's findings to the baseline file; what it says of files and targets not linted now is kept",
    )

    _placing(commands)

    run = _command(
        commands,
        "run",
        "run",
        "execute a descriptor or model",
        about="Execute a DxDispatch model file, a descriptor with .npy inputs, or an ONNX model of known operators.",
        epilog=EPILOG,
    )
    executed(run)

    minimum = _command(
        commands,
        "minimum",
        "tables",
        "the lowest level that accepts a descriptor or a model, and what blocks each level below",
    )
    lowest(minimum)


def _placing(commands: Any) -> None:
    place = _command(
        commands,
        "place",
        "place",
        "where a runtime runs each node of an ONNX model",
        about="Say where ONNX Runtime runs each node of a model without optimisations: on DirectML or on the CPU, and "
        "why; as which DirectML operators; in which partitions; and whether the session is created.",
        epilog="Exit codes: 0 the session is created, 1 it fails, 2 unusable input.",
    )
    placed(place)
    inferring(place)


def _tables(commands: Any) -> None:
    support = _command(commands, "support", "tables", "an operator's table, or all operators of a target")
    support.add_argument("operator", nargs="?", help="ONE_HOT, OneHot; DIALECT/OPERATOR if it exists in several")
    support.add_argument(
        "-t", "--target", metavar="TARGET", help="mark the row that holds at TARGET; alone: list its operators"
    )
    support.add_argument(
        "--format", choices=("text", "json", "html"), default="text", help="html: every operator of a dialect, one page"
    )
    support.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")

    diff = _command(commands, "diff", "tables", "what changes from one target to another")
    diff.add_argument("before", help="for instance directml:4.1")
    diff.add_argument("after", help="for instance directml:5.0")
    diff.add_argument("--format", choices=("text", "json"), default="text")

    explain = _command(commands, "explain", "tables", "what an error code such as 0x80070057 means, and what to do")
    explain.add_argument(
        "code",
        nargs="+",
        help="hexadecimal (0x80070057, 80070057), decimal (-2147024809), by name (E_INVALIDARG), by its message (The "
        "parameter is incorrect.), or a log line that holds one",
    )
    explain.add_argument("--format", choices=("text", "json"), default="text")

    rule = _command(commands, "rule", "tables", "the reference of a rule: its levels, source and examples")
    rule.add_argument("id", help="for instance directml/ONE_HOT/axis-range")
    rule.add_argument("--format", choices=("text", "json"), default="text")

    targets = _command(commands, "targets", "tables", "list targets, or resolve the name of a release to one")
    targets.add_argument(
        "name", nargs="*", help="a dialect to list, or a target to resolve, e.g. directml:windows-10-2004"
    )
    targets.add_argument("--format", choices=("text", "json"), default="text")


def _specs(commands: Any) -> None:
    from specgate.cli.bringing import bring

    spec = commands.add_parser("spec", help="work on the tables", description="Work on the tables themselves.")
    kinds = spec.add_subparsers(metavar="COMMAND", required=True)
    check = _command(kinds, "check", "specs", "check spec files and run the data linters", epilog=EPILOG)
    check.add_argument("folder", nargs="?", help="a folder laid out as specs/ (default: the tables that specgate uses)")
    schema = _command(kinds, "schema", "specs", "print a JSON Schema: of spec files, configuration, report, baseline")
    schema.add_argument(
        "kind",
        nargs="?",
        default="operator",
        choices=(*SPEC_KINDS, *OTHER_KINDS),
    )
    brought = _command(
        kinds,
        "import",
        "importing",
        "write what a vendor's package states into the tables; what people wrote there stays",
        epilog="Exit codes: 0 done or no difference, 1 differences (--check), 2 unusable input.",
    )
    brought.set_defaults(function="import_tables")
    bring(brought)
    oracle = commands.add_parser(
        "oracle", help="builds of DirectML and ONNX Runtime", description="Real builds to ask for what they do."
    )
    actions = oracle.add_subparsers(metavar="COMMAND", required=True)
    listed = _command(actions, "list", "oracle", "what is installed, what is missing and the command that gets it")
    listed.set_defaults(function="listed")
    install = _command(actions, "install", "oracle", "fetch builds into the cache and build the host that asks them")
    installing(install)
    record = _command(actions, "record", "oracle", "draw cases of an operator and record what a build computes of them")
    record.add_argument("dialect", choices=("directml",))
    record.add_argument("--level", required=True, metavar="LEVEL", help="for instance 6.4")
    record.add_argument("--operator", required=True, metavar="NAME", help="for instance ONE_HOT")
    record.add_argument("--cases", type=int, default=100, metavar="N", help="descriptors (default 100)")
    record.add_argument("--seed", type=int, default=0, metavar="S", help="the same cases for the same number")
    record.add_argument("--to", required=True, metavar="DIR", help="the folder for directml-LEVEL-NAME.json")
    _conform(commands)
    bench = _command(commands, "bench", "bench", "time checks and kernels against peers, as ratios measured in one run")
    bench.add_argument(
        "what",
        nargs="*",
        type=_bench_group,
        metavar="WHAT",
        help="check, execute, cold, directml (its tables), lint (models of up to 50,000 nodes); default: all",
    )
    bench.add_argument("--format", choices=("text", "json"), default="text")
    bench.add_argument("--repeat", type=int, default=7, metavar="N", help="timed rounds of each side (default 7)")


def _bench_group(text: str) -> str:
    """Check one group; argparse's own choices would list the empty default among them."""
    if text not in BENCH_GROUPS:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(BENCH_GROUPS)}, found {text!r:.40}")
    return text


def _conform(commands: Any) -> None:
    conform = _command(
        commands,
        "conform",
        "conform",
        "hold the tables against real implementations",
        about="Draw descriptors, valid and broken, and compare our verdicts with those of what is installed: DirectML "
        "builds (see `specgate oracle`), onnx and ONNX Runtime, OpenVINO. A runtime is asked where it places nodes, "
        "which is compared with our answer.",
        epilog=f"{EPILOG} A finding is a disagreement that no observed entry explains.",
    )
    conforming(conform)
