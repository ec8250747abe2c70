"""``specgate check``: validate single descriptors."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.cli.common import as_json, emit, expect_once, has_config, options, selection, shown_source, targets_of
from specgate.dialects import DEFAULT
from specgate.errors import InputError
from specgate.files import refuse_replaced
from specgate.linting.checker import TargetChecker
from specgate.linting.input_source import argument, standard_input
from specgate.linting.model import add_lines, graph_of
from specgate.loading import lazy
from specgate.report import render
from specgate.report.clean import clean
from specgate.slotted import field, slotted
from specgate.spec.tables import dialect
from specgate.targets import parse_target, queries_of
from specgate.validate.device import device_of
from specgate.verdict import Report

if TYPE_CHECKING:
    import argparse
    import pathlib

    from specgate.cli import stream as cli_stream
    from specgate.linting import config as linting_config
    from specgate.linting.nodes import Graph, Unit
    from specgate.report import jsonreport
    from specgate.report.selection import RenderOptions
    from specgate.targets import Target
    from specgate.verdict import Basis, Finding, Verdict
else:
    pathlib = lazy("pathlib")
    cli_stream = lazy("specgate.cli.stream")
    linting_config = lazy("specgate.linting.config")
    jsonreport = lazy("specgate.report.jsonreport")


def check(arguments: argparse.Namespace) -> int:
    """Validate every descriptor for its targets; 1 if one is rejected."""
    basis, texts, config = arguments.basis, arguments.target, None
    if arguments.config or has_config("."):
        config = linting_config.load_config(
            pathlib.Path(), pathlib.Path(arguments.config) if arguments.config else None
        )
        texts, basis = texts or config.targets, basis or config.basis
    selected = selection(arguments, config)
    source = config.source if config is not None and not arguments.target else None
    result = CheckOptions(targets_of(texts or [], source), basis or "both", device_of(arguments.device))
    expect_once(arguments.descriptor)
    if arguments.output:
        refuse_replaced([arguments.output], arguments.descriptor)
    if arguments.format == "jsonl":
        return cli_stream.stream(arguments, result, selected)
    report = Report()
    answers = [answer for source in arguments.descriptor for answer in _answers(source, result, report)]
    report.targets = list(dict.fromkeys(str(answer.target) for answer in answers))
    if not answers:
        raise InputError(_explain_no_verdict(arguments.descriptor, result), file=shown_source(arguments.descriptor[0]))
    if result.passed:
        names = " and ".join(sorted(result.passed))
        sys.stderr.write(f"specgate: note: skipped the {names} descriptors: none of the targets is for {names}\n")
    failed = selected.apply(report)
    _print(arguments, report, answers, result.assumed, queries_of(texts or []))
    return 1 if failed else 0


def _explain_no_verdict(sources: list[str], result: CheckOptions) -> str:
    """Return the reason for no answer: other dialects, or no descriptor."""
    names = sorted({target.dialect for target in result.targets})
    if not names or not result.passed:
        return "expected a descriptor, found none"
    kinds = " and ".join(dialect(name).tables.title for name in sorted(result.passed))
    noun = "descriptor" if len(sources) == 1 else "descriptors"
    targets = " and ".join(dialect(name).tables.title for name in names)
    return f"{kinds} {noun}, but only {targets} targets were given"


@slotted()
class CheckOptions:
    """The targets and settings that every descriptor is validated for.

    assumed: the targets that were used because none was given. passed: dialects without a target.
    """

    targets: list[Target]
    basis: Basis
    device: frozenset[str] | None
    assumed: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)

    def goals(self, unit: Unit, graph: Graph) -> list[Target]:
        """Return the targets of the unit's dialect.

        By default, this is the dialect's newest level.
        """
        name = graph.dialect if unit.descriptor is None else unit.descriptor.dialect
        if not self.targets:
            if unit.descriptor is None:
                return [parse_target(f"{name}:{dialect(name).levels[-1]}")]
            newest = f"{name}:{dialect(name).levels[-1]}"
            self.assumed.add(newest)
            return [parse_target(newest)]
        dialect_targets = [target for target in self.targets if target.dialect == name]
        if not dialect_targets:
            self.passed.add(name)
        return dialect_targets if unit.descriptor is not None else dialect_targets[:1] or self.targets[:1]

    def whole(self, graph: Graph) -> list[Finding]:
        """Return findings on the input as a whole, such as edges of a graph.

        For other models, lint reports them.
        """
        return graph.findings if graph.dialect == DEFAULT else []

    def judge(self, unit: Unit, graph: Graph, target: Target, report: Report) -> Verdict | None:
        """Return the verdict, None without a table; add findings to the report."""
        return TargetChecker(graph, target, self.basis, self.device).unit(unit, report)


class _Answer(NamedTuple):
    unit: Unit
    target: Target
    verdict: Verdict | None


def _answers(source: str, result: CheckOptions, report: Report) -> list[_Answer]:
    outcome = standard_input() if source == "-" else argument(source)
    graph = graph_of(source if outcome is None else outcome)
    file = source if outcome is None else outcome.file
    if file is None and all(unit.descriptor is None for unit in graph.units):
        raise InputError(next(iter(graph.units)).reason if graph.units else "expected a descriptor, found none")
    report.files.extend([] if file is None else [file])
    report.findings.extend(result.whole(graph))
    answers = [
        _Answer(unit, target, result.judge(unit, graph, target, report))
        for unit in graph.units
        for target in result.goals(unit, graph)
    ]
    if report.findings:
        add_lines(report, outcome)
    return answers


def _print(
    arguments: argparse.Namespace,
    report: Report,
    answers: list[_Answer],
    assumed: set[str],
    queries: dict[str, list[str]],
) -> None:
    format_name = arguments.format or "text"
    if format_name == "json":
        emit(as_json(_json(report, answers, options(arguments, queries=queries))), arguments.output)
        return
    body = ""
    if format_name == "text":
        body = _verdict_lines(answers, assumed)
        if not (report.findings or report.undecided or report.no_table or report.hidden):
            emit(body, arguments.output)
            return
        body += "\n"
    emit(
        body + render(report, format_name, options=options(arguments, open_nodes=True, queries=queries)),
        arguments.output,
    )


def _verdict_lines(answers: list[_Answer], assumed: set[str]) -> str:
    lines = []
    is_multi_file = len({answer.unit.location.file for answer in answers}) > 1
    for unit, target, verdict in answers:
        name = unit.location.node or os.path.basename(unit.location.file or "descriptor")  # noqa: PTH119
        if is_multi_file:
            name = ": ".join(part for part in (unit.location.file or "descriptor", unit.location.node) if part)
        word = "no table" if verdict is None else verdict.word
        notes = "".join(f"; {note}" for note in (verdict.notes if verdict is not None else (unit.reason,)) if note)
        lines.append(f"{word:<9}  {target.described}  {clean(unit.operator)}  {clean(name)}{clean(notes, None)}\n")
    lines.extend(f"(no target given: checked against the newest, {name})\n" for name in sorted(assumed))
    return "".join(lines)


def _json(report: Report, answers: list[_Answer], render_options: RenderOptions) -> dict[str, Any]:
    verdicts = []
    for unit, target, verdict in answers:
        entry: dict[str, Any] = {"file": unit.location.file, "node": unit.location.node}
        if verdict is None:
            entry |= {"operator": unit.operator, "target": str(target), "verdict": "no table"}
        else:
            entry |= verdict.to_dict() | {"operator": unit.operator, "target": str(target)}
        verdicts.append(entry)
    return {**jsonreport.document(report, render_options), "schema": "specgate-check/1", "verdicts": verdicts}
