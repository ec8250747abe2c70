"""Shared by commands: configuration, targets and output."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from specgate.cli.options import columns
from specgate.errors import InputError
from specgate.files import write_text
from specgate.loading import lazy
from specgate.report.selection import RenderOptions, Selection
from specgate.targets import parse_targets

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.linting import ignores, input_source
    from specgate.linting.config import Config
    from specgate.report import jsonreport
    from specgate.targets import Target
else:
    input_source = lazy("specgate.linting.input_source")
    ignores = lazy("specgate.linting.ignores")
    jsonreport = lazy("specgate.report.jsonreport")

CONFIG_FILES = ("specgate.toml", "pyproject.toml")


def has_config(start: str) -> bool:
    """Return whether a configuration file may apply to `start`.

    Only then is it worth importing tomllib and pathlib.
    """
    try:
        folder = os.path.abspath(start)  # noqa: PTH100  # importing pathlib is too slow for check
    except OSError:  # the current folder is gone; loading the configuration reports it
        return True
    while True:
        if any(os.path.isfile(os.path.join(folder, name)) for name in CONFIG_FILES):  # noqa: PTH113, PTH118
            return True
        parent = os.path.dirname(folder)  # noqa: PTH120
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):  # noqa: PTH110, PTH118
            return False
        folder = parent


def options(
    arguments: argparse.Namespace,
    *,
    root: str = ".",
    open_nodes: bool = False,
    queries: Mapping[str, Sequence[str]] | None = None,
) -> RenderOptions:
    """Return the render options of a report.

    By default, color is used on a terminal, with the terminal's width. open_nodes: text lists the undecided nodes even
    without --verbose. queries: the targets of each query.
    """
    to_terminal = sys.stdout.isatty() and not arguments.output
    color = arguments.color == "always" or (
        arguments.color == "auto"
        and to_terminal
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
    return RenderOptions(
        color=color,
        width=output_width(arguments.output),
        verbose=open_nodes or getattr(arguments, "verbose", False),
        rules=getattr(arguments, "verbose", False),
        max_per_rule=getattr(arguments, "max_per_rule", 20),
        statistics=arguments.statistics,
        queries=queries or {},
        root=root,
        checkout=os.environ.get("GITHUB_WORKSPACE") or None,
    )


def selection(arguments: argparse.Namespace, config: Config | None) -> Selection:
    """Return the selection of the options, else of the configuration.

    Rules that either ignores are ignored. Sets ``arguments.statistics`` if the configuration enables statistics. Raises
    InputError for an unknown rule.
    """

    def rules_of(texts: Iterable[str] | None, option: str) -> tuple[str, ...]:
        return _rules((part.strip() for text in texts or () for part in text.split(",")), None, option)

    select, ignore = rules_of(arguments.select, "--select"), rules_of(arguments.ignore, "--ignore")
    severity, fail_on = arguments.severity, arguments.fail_on
    if config is not None:
        select = select or _rules(config.select, config.source, "select")
        ignore += _rules(config.ignored_rules, config.source, "ignore")
        severity, fail_on = severity or config.severity, fail_on or config.fail_on
        arguments.statistics = arguments.statistics or config.statistics
    return Selection(severity or "note", fail_on or "warning", select, ignore)


def _rules(patterns: Iterable[str], file: str | None, place: str) -> tuple[str, ...]:
    """Return the patterns; InputError with the place if one has no match."""
    texts = tuple(patterns)
    if texts:
        for pattern in texts:
            try:
                ignores.expect_rule(pattern)
            except InputError as error:
                raise InputError(error.message, file=file, place=place) from None
    return texts


def expect_severity(pattern: str, source: str | None) -> None:
    """Raise InputError with the place if a pattern matches no rule."""
    _rules([pattern], source, "severities")


def expect_once(sources: Sequence[str]) -> None:
    """Raise InputError if standard input is named twice."""
    if sources.count("-") > 1:
        raise InputError("'-' may be given only once")


def targets_of(texts: Iterable[str], source: str | None) -> list[Target]:
    """Return the targets that texts name.

    source: the configuration file that has them, named in errors. Raises InputError.
    """
    try:
        return parse_targets(texts)
    except InputError as error:
        place = "targets" if source is not None else error.place
        raise InputError(error.message, file=source or error.file, place=place) from None


def shown_source(source: str) -> str:
    """Return the name of a source in messages.

    Standard input and texts have fixed names.
    """
    result = input_source.argument(source)
    return input_source.STDIN if source == "-" else source if result is None else result.name


def output_width(output: str | None) -> int:
    """Return the columns of text: the terminal's, 100 elsewhere."""
    return columns(100) if sys.stdout.isatty() and not output else 100


def emit(text: str, output: str | None) -> None:
    """Write a report to a file atomically, or to standard output.

    output: None or "-" for standard output.
    """
    if output is None or output == "-":
        sys.stdout.write(text)
        return
    write_text(output, text)


def as_json(data: Any) -> str:
    """Return plain data as readable ASCII JSON with a final newline."""
    return jsonreport.dumps(data)


def text_table(rows: list[list[str]], *, indent: str = "") -> str:
    """Return rows as aligned columns, two spaces apart.

    The last column is not padded.
    """
    if not rows:
        return ""
    widths = [max(len(row[i]) if i < len(row) else 0 for row in rows) for i in range(max(map(len, rows)))]
    lines = []
    for row in rows:
        cells = [cell.ljust(widths[i]) for i, cell in enumerate(row[:-1])] + row[-1:]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines) + "\n"
