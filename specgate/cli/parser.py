"""All commands and options, with the module and function of each."""

from __future__ import annotations

import argparse
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from specgate.cli.options import (
    Help,
    add_model_options,
    add_place_options,
    add_run_options,
    add_validation_options,
    lowest,
)
from specgate.dialects import BUILT_IN
from specgate.loading import lazy
from specgate.report import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specgate.cli import command_options, completion
else:
    completion = lazy("specgate.cli.completion")
    command_options = lazy("specgate.cli.command_options")

SPEC_KINDS = (
    "operator", "examples", "family", "dialect", "levels", "types", "sets", "environments", "tensor", "codes",
)  # fmt: skip
OTHER_KINDS = ("config", "report", "baseline", "export", "descriptor")
SHELLS = ("bash", "zsh", "tcsh")
EPILOG = "Exit codes: 0 clean, 1 findings, 2 unusable input."


def make_parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    words: if they begin with a command, only that command is added.
    """
    return _parser(words[0] if words and words[0] in _COMMANDS else None)


@cache
def _parser(command: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="specgate",
        description="Check whether an operator or model runs on a DirectML feature level, ONNX opset or OpenVINO "
        "opset, explain why not, and compute its results.",
        epilog=EPILOG,
        formatter_class=Help,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the versions of specgate and of its tables")
    parser.add_argument(
        "--print-completion",
        action=_Completion,
        metavar="SHELL",
        choices=SHELLS,
        help=f"print a script that completes commands and options in a shell ({', '.join(SHELLS)}), and exit",
    )
    parser.add_argument(
        "--specs", action="append", metavar="DIR", help="also load the operators of another spec folder"
    )
    parser.add_argument("--kernels", action="append", metavar="FILE", help="run a Python file that registers kernels")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, prog=parser.prog)
    for add in _COMMANDS.values() if command is None else [_COMMANDS[command]]:
        add(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from specgate import __version__
        from specgate.spec.version import tables_version, versions

        single = ", ".join(f"{name} {version}" for name, version in versions(BUILT_IN).items())
        sys.stdout.write(f"specgate {__version__}\ntables {tables_version()} ({single})\n")
        parser.exit(0)


class _Completion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, *__: Any) -> None:
        sys.stdout.write(completion.script(parser, shell))
        parser.exit()


def _command(commands: Any, name: str, module: str, help_text: str, **keywords: Any) -> argparse.ArgumentParser:
    description = keywords.pop("about", f"{help_text[:1].upper()}{help_text[1:]}.")
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=help_text, description=description, formatter_class=Help, **keywords
    )
    parser.set_defaults(module=module, function=name.replace("-", "_").replace(" ", "_"))
    return parser


def _check(commands: Any) -> None:
    check = _command(
        commands,
        "check",
        "check",
        "check descriptors",
        about="Check single descriptors: files, or JSON texts. With --format jsonl each verdict is a line, written "
        "immediately; standard input with one descriptor per line is then answered line by line.",
        epilog=EPILOG,
    )
    check.add_argument(
        "descriptor",
        nargs="+",
        help="descriptor or DxDispatch model file (JSON, JSON lines, YAML), a JSON text, or - for standard input",
    )
    add_validation_options(check, (*FORMATS, "jsonl"))
    check.add_argument(
        "-v", "--verbose", action="store_true", help="also print the expression and the source page of each failed rule"
    )


def _lint(commands: Any) -> None:
    lint = _command(
        commands,
        "lint",
        "lint",
        "check whole models",
        about="Check whole models: ONNX, OpenVINO IR, descriptor files; files, directories and globs.",
        epilog=EPILOG,
    )
    lint.add_argument("path", nargs="+", help="model file, directory or glob pattern, or - for standard input")
    add_validation_options(lint, tuple(FORMATS))
    group = lint.add_mutually_exclusive_group()
    group.add_argument(
        "-j", "--jobs", type=int, default=1, metavar="N", help="check files in N processes (0: one per core)"
    )
    group.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="check files on the Dask cluster whose scheduler is at ADDRESS (tcp://host:8786); its workers need "
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
        help="collapse equal findings of a file above N (default 20)",
    )
    add_model_options(lint)
    changes = lint.add_mutually_exclusive_group()
    changes.add_argument(
        "--fix",
        action="store_true",
        help="change ONNX files so that the findings marked [*] go, whose changes alter no value; report what is left",
    )
    changes.add_argument(
        "--diff", action="store_true", help="print what --fix would change, and change nothing; 1 if there is something"
    )
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
    lint.add_argument("--baseline", metavar="FILE", help="do not report findings that are recorded in FILE")
    lint.add_argument(
        "--update-baseline",
        action="store_true",
        help="write the current findings to the baseline file; its entries for other files and targets stay",
    )


def _run(commands: Any) -> None:
    run = _command(
        commands,
        "run",
        "run",
        "execute a descriptor or model",
        about="Execute a DxDispatch model file, a descriptor with .npy inputs, or an ONNX model of known operators.",
        epilog=EPILOG,
    )
    add_run_options(run)


def _minimum(commands: Any) -> None:
    minimum = _command(
        commands,
        "minimum",
        "tables",
        "find the lowest level that accepts a descriptor or model, and what blocks each lower level",
    )
    lowest(minimum)


def _add_place_command(commands: Any) -> None:
    place = _command(
        commands,
        "place",
        "place",
        "predict where a runtime runs each node of an ONNX model",
        about="Say where ONNX Runtime runs each node of a model without optimisations: on DirectML or on the CPU, and "
        "why; as which DirectML operators; in which partitions; and whether the session is created.",
        epilog="Exit codes: 0 the session is created, 1 it fails, 2 unusable input.",
    )
    add_place_options(place)
    add_model_options(place)


def _support(commands: Any) -> None:
    support = _command(commands, "support", "tables", "print an operator's table, or list all operators of a target")
    support.add_argument("operator", nargs="?", help="ONE_HOT, OneHot; DIALECT/OPERATOR if it exists in several")
    support.add_argument(
        "-t",
        "--target",
        metavar="TARGET",
        help="mark the row that applies at TARGET; without OPERATOR: list its operators",
    )
    support.add_argument(
        "--format",
        choices=("text", "json", "html"),
        default="text",
        help="html: one page with every operator of a dialect",
    )
    support.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")


def _diff(commands: Any) -> None:
    diff = _command(commands, "diff", "tables", "compare two targets, or two versions of the tables")
    command_options.add_diff_options(diff)


def _explain(commands: Any) -> None:
    explain = _command(commands, "explain", "tables", "explain an error code such as 0x80070057")
    explain.add_argument(
        "code",
        nargs="+",
        help="hexadecimal (0x80070057, 80070057), decimal (-2147024809), by name (E_INVALIDARG), by its message (The "
        "parameter is incorrect.), or a log line that contains one",
    )
    explain.add_argument("--format", choices=("text", "json"), default="text")


def _rule(commands: Any) -> None:
    rule = _command(commands, "rule", "tables", "describe a rule: its levels, source and examples")
    rule.add_argument("id", help="for instance directml/ONE_HOT/axis-range")
    rule.add_argument("--format", choices=("text", "json"), default="text")


def _export(commands: Any) -> None:
    description = (
        "Write the tables as data: as written, and resolved per level, documented and observed. "
        "`specgate spec schema export` prints the JSON Schema."
    )
    command_options.add_export_options(
        _command(commands, "export", "export", "export the tables as data for other programs", about=description)
    )


def _targets(commands: Any) -> None:
    targets = _command(commands, "targets", "tables", "list targets, or resolve the name of a release or a query")
    targets.add_argument(
        "name",
        nargs="*",
        help="a dialect to list, a target to resolve (directml:windows-10-2004) or a query (last 2 openvino)",
    )
    targets.add_argument("--format", choices=("text", "json"), default="text")


def _spec(commands: Any) -> None:
    spec = commands.add_parser(
        "spec", help="work on the tables", description="Work on the tables themselves.", formatter_class=Help
    )
    kinds = spec.add_subparsers(metavar="COMMAND", required=True)
    check = _command(kinds, "check", "specs", "check spec files and run the data linters", epilog=EPILOG)
    check.add_argument("folder", nargs="?", help="a folder laid out as specs/ (default: the tables that specgate uses)")
    schema = _command(
        kinds,
        "schema",
        "specs",
        "print a JSON Schema: of spec files, configuration, report, baseline, export, descriptors",
    )
    schema.add_argument(
        "kind",
        nargs="?",
        default="operator",
        choices=(*SPEC_KINDS, *OTHER_KINDS),
    )
    schema.add_argument("--dialect", metavar="NAME", help="dialect of the descriptors, for `schema descriptor`")


def _oracle(commands: Any) -> None:
    oracle = commands.add_parser(
        "oracle",
        help="manage builds of DirectML and ONNX Runtime",
        description="Real builds to ask for what they do.",
        formatter_class=Help,
    )
    actions = oracle.add_subparsers(metavar="COMMAND", required=True)
    list_command = _command(actions, "list", "oracle", "list what is installed, what is missing and how to install it")
    list_command.set_defaults(function="list_builds")
    install = _command(
        actions, "install", "oracle", "download builds into the cache and compile the host that runs them"
    )
    command_options.add_install_command(install)


def _conform(commands: Any) -> None:
    conform = _command(
        commands,
        "conform",
        "conform",
        "compare the tables with real implementations",
        about="Draw descriptors, valid and broken, and compare our verdicts with those of installed implementations: "
        "DirectML builds (see `specgate oracle`), onnx and ONNX Runtime, OpenVINO. For a runtime, the placement of "
        "nodes is compared.",
        epilog=f"{EPILOG} A finding is a disagreement without an `observed` entry.",
    )
    command_options.add_conform_options(conform)


#: The function that adds each command, in the order of the help.
_COMMANDS: Final[dict[str, Callable[[Any], None]]] = {
    "check": _check,
    "lint": _lint,
    "place": _add_place_command,
    "run": _run,
    "minimum": _minimum,
    "support": _support,
    "diff": _diff,
    "explain": _explain,
    "rule": _rule,
    "export": _export,
    "targets": _targets,
    "spec": _spec,
    "oracle": _oracle,
    "conform": _conform,
}
