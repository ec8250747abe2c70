"""``specgate check``: judge single descriptors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from specgate.cli.common import as_json, emit, has_config, options
from specgate.descriptors.read import load_document, read_dict
from specgate.errors import InputError, NoTable
from specgate.linting.nodes import Graph, Unit
from specgate.spec.tables import dialect
from specgate.targets import parse_target, parse_targets
from specgate.validate.device import device_of
from specgate.verdict import Location, Report

if TYPE_CHECKING:
    import argparse

    from specgate.targets import Target
    from specgate.verdict import Basis, Verdict

__all__ = ["check"]


def check(arguments: argparse.Namespace) -> int:
    """Judge every descriptor for every target of its dialect; 1 when one is rejected."""
    basis, texts = arguments.basis, arguments.target
    if (basis is None or texts is None) and has_config("."):
        from pathlib import Path

        from specgate.linting.config import load_config

        config = load_config(Path(), Path(arguments.config) if arguments.config else None)
        texts, basis = texts or config.targets, basis or config.basis
    given = parse_targets(texts or [])
    device = device_of(arguments.device)
    report = Report()
    answers: list[tuple[str, Unit, Target, Verdict | None]] = []
    assumed: set[str] = set()
    for source in arguments.descriptor:
        graph = _graph(source)
        report.files.extend([] if source.lstrip().startswith("{") else [source])
        for unit in graph.units:
            goals = _goals(unit, given, assumed)
            answers.extend((source, unit, t, _judge(unit, graph, t, basis or "both", report, device)) for t in goals)
    if report.findings:
        from specgate.linting.model import add_lines

        add_lines(report)
    report.targets = list(dict.fromkeys(str(target) for _, _, target, _ in answers))
    if not answers:
        raise InputError("no descriptor that a target could judge", file=arguments.descriptor[0])
    _print(arguments, report, answers, assumed)
    refused = any(verdict is not None and verdict.accepted is False for *_, verdict in answers)
    return 1 if refused or not report.clean else 0


def _graph(source: str) -> Graph:
    if source.lstrip().startswith("{"):
        try:
            descriptor = read_dict(load_document(source, "<argument>"))
        except NoTable as error:
            raise InputError(str(error)) from None
        return Graph(
            descriptor.dialect, [Unit(Location(operator=descriptor.operator), descriptor.operator, descriptor)]
        )
    from specgate.linting.model import graph_of

    return graph_of(source)


def _goals(unit: Unit, given: list[Target], assumed: set[str]) -> list[Target]:
    """The targets of the unit's dialect; its newest level where none were given at all."""
    if unit.descriptor is None:
        return given[:1] or [parse_target(f"directml:{dialect('directml').levels[-1]}")]
    name = unit.descriptor.dialect
    if not given:
        newest = f"{name}:{dialect(name).levels[-1]}"
        assumed.add(newest)
        return [parse_target(newest)]
    return [target for target in given if target.dialect == name]


def _judge(
    unit: Unit, graph: Graph, target: Target, basis: Basis, report: Report, device: frozenset[str] | None
) -> Verdict | None:
    from specgate.linting.judging import Judging

    return Judging(graph, target, basis, device).unit(unit, report)


def _print(
    arguments: argparse.Namespace,
    report: Report,
    answers: list[tuple[str, Unit, Target, Verdict | None]],
    assumed: set[str],
) -> None:
    chosen = arguments.format or "text"
    if chosen == "json":
        emit(as_json(_json(report, answers)), arguments.output)
        return
    from specgate.report import render

    body = ""
    if chosen == "text":
        body = _verdict_lines(answers, assumed)
        if not report.findings and not report.undecided and not report.no_table:
            emit(body, arguments.output)
            return
        body += "\n"
    emit(body + render(report, chosen, options=options(arguments, open_nodes=True)), arguments.output)


def _verdict_lines(answers: list[tuple[str, Unit, Target, Verdict | None]], assumed: set[str]) -> str:
    from specgate.report.clean import clean

    lines = []
    for source, unit, target, verdict in answers:
        name = unit.location.node or (os.path.basename(source) if unit.location.file else "descriptor")  # noqa: PTH119
        word = "no table" if verdict is None else verdict.word
        notes = "".join(f"; {note}" for note in verdict.notes) if verdict is not None else ""
        lines.append(f"{word:<9}  {target.described}  {clean(unit.operator)}  {clean(name)}{notes}\n")
    lines.extend(f"(no target was given: judged for the newest, {name})\n" for name in sorted(assumed))
    return "".join(lines)


def _json(report: Report, answers: list[tuple[str, Unit, Target, Verdict | None]]) -> dict[str, Any]:
    from specgate.report.jsonreport import document

    verdicts = []
    for source, unit, target, verdict in answers:
        entry: dict[str, Any] = {"file": source if unit.location.file else None, "node": unit.location.node}
        if verdict is None:
            entry |= {"operator": unit.operator, "target": str(target), "verdict": "no table"}
        else:
            entry |= verdict.to_dict() | {"operator": unit.operator, "target": str(target)}
        verdicts.append(entry)
    return {**document(report), "schema": "specgate-check/1", "verdicts": verdicts}
