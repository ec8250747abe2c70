"""``specgate check --format jsonl``: verdicts as streamed JSON lines."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from specgate.cli.common import emit
from specgate.descriptors.read import MAX_FILE
from specgate.descriptors.text import JSON_LINES_SUFFIXES
from specgate.errors import Error, InputError
from specgate.linting.input_source import STDIN, TEXT, InputSource, argument, source_bytes, standard_input
from specgate.linting.model import add_lines, graph_of
from specgate.report.clean import clean, well_formed
from specgate.report.jsonreport import finding_json, verdict_json
from specgate.verdict import Report

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from specgate.cli.check import CheckOptions
    from specgate.report.selection import Selection
    from specgate.verdict import Finding, Verdict


def stream(arguments: argparse.Namespace, result: CheckOptions, selected: Selection) -> int:
    """Answer every descriptor of every source in order.

    Returns 2 if a line or source was unusable, else 1 for findings. An unusable one has the verdict ``unusable`` and an
    ``error``; the next line is still read.
    """
    lines: list[str] = []
    writes_file = arguments.output not in {None, "-"}
    exit_code = 0
    for source in arguments.descriptor:
        for entry, code in _entries(source, result, selected):
            exit_code = max(exit_code, code)
            line = json.dumps(entry, ensure_ascii=True, allow_nan=False).replace("##", "#\\u0023") + "\n"
            if writes_file:
                lines.append(line)
            else:
                sys.stdout.write(line)
                sys.stdout.flush()
    if writes_file:
        emit("".join(lines), arguments.output)
    return exit_code


def _entries(source: str, result: CheckOptions, selected: Selection) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the answers of a source, each with its exit code."""
    for value, line in _documents(source):
        try:
            if isinstance(value, InputError):
                raise value
            yield from _check_value(value, line, result, selected)
        except Error as error:
            file = STDIN if source == "-" else None if argument(source) else source
            sys.stderr.write(f"specgate: {clean(_prefix_error(error, file, line), 2000)}\n")
            message = error.message if isinstance(error, InputError) else str(error)
            place = error.place if isinstance(error, InputError) and line is None else None
            error_text = f"{place}: {message}" if place else message
            yield _place(file, line) | {"verdict": "unusable", "accepted": None, "error": well_formed(error_text)}, 2


def _prefix_error(error: Error, file: str | None, line: int | None) -> str:
    """Return the message with the file and the line."""
    message = error.message if isinstance(error, InputError) else str(error)
    place = error.place if isinstance(error, InputError) else None
    line_text = f"line {line}" if line is not None else None
    return ": ".join(part for part in (file or "<argument>", line_text, None if line_text else place, message) if part)


def _place(file: str | None, line: int | None, node: str | None = None) -> dict[str, Any]:
    return {"file": None if file is None else well_formed(file), "line": line, "node": node and well_formed(node)}


def _documents(source: str) -> Iterator[tuple[InputSource | str | InputError, int | None]]:
    """Yield documents: the source, or each JSON line with its number."""
    if source == "-":
        yield from _standard_input()
    elif source.lower().endswith(JSON_LINES_SUFFIXES):
        try:
            if os.path.exists(source) and not os.path.isfile(source):  # noqa: PTH110, PTH113  # a FIFO would block
                raise InputError("expected a regular file", file=source)
            with open(source, "rb") as file:  # noqa: PTH123  # avoids importing pathlib
                yield from _lines(iter(lambda: file.readline(MAX_FILE + 1), b""), source, 1)
        except InputError as error:
            yield error, None
        except OSError as error:
            yield InputError(f"cannot be read: {error.strerror or error}", file=source), None
    else:
        yield argument(source) or source, None


def _standard_input() -> Iterator[tuple[InputSource | InputError, int | None]]:
    """Yield lines as they arrive, or all of standard input at its end.

    Lines are yielded if the first one is a complete document.
    """
    try:
        source = source_bytes()
        first, number = source.readline(MAX_FILE + 1), 1
        while first and not first.strip() and len(first) <= MAX_FILE:
            first, number = source.readline(MAX_FILE + 1), number + 1
    except (InputError, OSError, ValueError) as error:
        yield error if isinstance(error, InputError) else InputError(f"cannot be read: {error}", file=STDIN), None
        return
    if _is_document(first):
        yield from _lines([first], STDIN, number)
        yield from _lines(iter(lambda: source.readline(MAX_FILE + 1), b""), STDIN, number + 1)
        return
    try:
        result = standard_input(first)
    except InputError as error:
        yield error, None
    else:
        yield result, None


def _is_document(line: bytes) -> bool:
    if not line.lstrip().startswith(b"{"):
        return False
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(line), dict)
    return False


def _lines(lines: Iterable[bytes], name: str, first: int) -> Iterator[tuple[InputSource | InputError, int | None]]:
    for number, line in enumerate(lines, start=first):
        if len(line) > MAX_FILE:
            yield InputError(f"expected at most {MAX_FILE} bytes in a line, found more", file=name), number
            return
        if line.strip():
            yield InputSource(line, TEXT, name), number


def _check_value(
    value: InputSource | str, line: int | None, result: CheckOptions, selected: Selection
) -> Iterator[tuple[dict[str, Any], int]]:
    graph = graph_of(value)
    for unit in graph.units:
        goals = result.goals(unit, graph)
        place = unit.location
        start = _place(place.file, line or place.line, place.node) | {"operator": well_formed(unit.operator)}
        if not goals:
            yield start | {"target": None, "verdict": "no target", "accepted": None}, 0
        for target in goals:
            report = Report()
            verdict = result.judge(unit, graph, target, report)
            if line is None:
                _add_lines(value, report)
            failed = selected.apply(report)
            yield start | _answer(str(target), verdict, report, line), int(failed)
    yield from _answer_graphs(value, line, result.whole(graph), selected)


def _answer_graphs(
    result: InputSource | str, line: int | None, findings: Sequence[Finding], selected: Selection
) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield an answer per graph with findings on the graph itself.

    These findings apply to all targets.
    """
    for place in dict.fromkeys(finding.location for finding in findings):
        report = Report(findings=[finding for finding in findings if finding.location == place])
        if line is None:
            _add_lines(result, report)
        failed = selected.apply(report)
        if place is not None and report.findings:
            location = report.findings[0].location or place
            is_accepted = not any(finding.severity == "error" for finding in report.findings)
            start = _place(location.file, line or location.line, location.node) | {
                "operator": location.operator,
                "target": None,
            }
            verdict = {"verdict": "accepted" if is_accepted else "rejected", "accepted": is_accepted}
            tables_by_name = {"notes": [], "findings": _findings(report, line), "undecided": []}
            yield start | verdict | tables_by_name, int(failed)


def _add_lines(result: InputSource | str, report: Report) -> None:
    if report.findings:
        add_lines(report, result if isinstance(result, InputSource) else None)


def _answer(target: str, verdict: Verdict | None, report: Report, line: int | None) -> dict[str, Any]:
    if verdict is None:
        return {"target": target, "verdict": "no table", "accepted": None}
    return verdict_json(verdict) | {"findings": _findings(report, line)}


def _findings(report: Report, line: int | None) -> list[dict[str, Any]]:
    findings = []
    for finding in report.findings:
        entry = finding_json(finding)
        if line is not None and entry["location"] is not None:
            entry["location"]["line"] = line
        findings.append(entry)
    return findings
