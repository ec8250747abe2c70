"""The command line of the tools: ``python -m tools COMMAND``.

Exit codes: 0 done, 1 differences, 2 unusable input.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specgate.errors import Error
from specgate.spec.folders import CHECKOUT, PACKAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools",
        description="Tools for those who maintain the tables.",
        epilog="Exit codes: 0 done or no difference, 1 differences (import --check), 2 unusable input.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_import(commands)
    propose = _command(commands, "propose", _propose, "propose observed entries for what `specgate conform` found")
    propose.add_argument("report", type=Path, help="what `specgate conform --format json` wrote")
    propose.add_argument("-o", "--output", metavar="FILE", default="-", help="the patch (default: standard output)")
    record = _command(commands, "record", _record, "record what a DirectML build computes of drawn cases")
    record.add_argument("--level", required=True, metavar="LEVEL", help="for instance 6.4")
    record.add_argument("--operator", required=True, metavar="NAME", help="for instance ONE_HOT")
    record.add_argument("--cases", type=int, default=100, metavar="N", help="descriptors (default 100)")
    record.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the random cases")
    record.add_argument("--to", required=True, metavar="DIR", help="the folder for directml-LEVEL-NAME.json")
    _command(commands, "stubs", _stubs, "write the type stubs of specgate.make, as `pip install -e .` does")
    arguments = parser.parse_args(argv)
    try:
        code: int = arguments.function(arguments)
    except Error as error:
        sys.stderr.write(f"tools: {error}\n")
        return 2
    return code


def _command(commands: Any, name: str, function: Callable[..., int], text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
    parser.set_defaults(function=function)
    return parser


def _add_import(commands: Any) -> None:
    about = "write what a vendor's package states into the tables; what people wrote there stays"
    parser = commands.add_parser("import", help=about, description=f"{about[:1].upper()}{about[1:]}.")
    sources = parser.add_subparsers(metavar="SOURCE", required=True)
    onnx = _command(sources, "onnx", _import_onnx, "the operators of the installed onnx package")
    openvino = _command(sources, "openvino", _import_openvino, "the types of the installed openvino package")
    openvino.add_argument(
        "--operator", action="append", default=[], metavar="TYPE", help="begin a table for this type; repeatable"
    )
    runtime = _command(sources, "onnxruntime", _import_onnxruntime, "the kernels that ONNX Runtime registers")
    runtime.add_argument(
        "--wheel", type=Path, metavar="FILE", help="a wheel of onnxruntime-directml for Windows, for what it registers "
        "(default: the installed package, for its CPU kernels)",
    )  # fmt: skip
    for name, source in (("onnx", onnx), ("openvino", openvino), ("onnxruntime", runtime)):
        source.add_argument("--check", action="store_true", help="write nothing; list where tables and package differ")
        source.add_argument(
            "--to", type=Path, metavar="DIR", default=Path(CHECKOUT, name), help=f"the tables (default: specs/{name})"
        )


def _import_onnx(arguments: argparse.Namespace) -> int:
    from tools.import_onnx.commands import compare_tables, import_tables

    if arguments.check:
        return 1 if compare_tables(arguments.to, _print_line) else 0
    import_tables(arguments.to, _print_line)
    return 0


def _import_openvino(arguments: argparse.Namespace) -> int:
    from tools.import_openvino.commands import begin_tables, compare_tables

    if arguments.check:
        return 1 if compare_tables(arguments.to, _print_line) else 0
    begin_tables(arguments.to, _print_line, arguments.operator)
    return 0


def _import_onnxruntime(arguments: argparse.Namespace) -> int:
    from tools.import_onnxruntime.update import compare_runtime, import_runtime

    if arguments.check:
        return 1 if compare_runtime(arguments.to, _print_line, arguments.wheel) else 0
    import_runtime(arguments.to, _print_line, arguments.wheel)
    return 0


def _propose(arguments: argparse.Namespace) -> int:
    from specgate.cli.common import emit
    from tools.propose import propose, read_report

    emit(propose(read_report(arguments.report)), arguments.output)
    return 0


def _record(arguments: argparse.Namespace) -> int:
    from specgate.errors import InputError
    from tools.recordings import record_values

    if arguments.cases < 1:
        raise InputError(f"expected --cases of at least 1, found {arguments.cases}")
    record_values(
        arguments.level,
        arguments.operator,
        arguments.to,
        cases=arguments.cases,
        seed=arguments.seed,
        progress=_print_line,
    )
    return 0


def _stubs(_: argparse.Namespace) -> int:
    from tools.stubs import write_stubs

    for path in write_stubs(Path(PACKAGE, "make")):
        _print_line(str(path))
    return 0


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
