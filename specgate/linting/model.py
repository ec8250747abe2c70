"""Lint a whole file: read it, check each node per target, report."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import Descriptor
from specgate.descriptors.files import iterate_placed, read_placed
from specgate.descriptors.read import read_text_file
from specgate.descriptors.text import JSON_LINES_SUFFIXES, lines
from specgate.dialects import DEFAULT, capability, holds_text, implementing, is_dialect, package, package_of
from specgate.dialects.protocols import LibraryObjects, ModelFixes, ModelFormat
from specgate.errors import InputError
from specgate.linting.checker import TargetChecker
from specgate.linting.coverage import unchecked_findings
from specgate.linting.input_source import TEXT, InputSource, name_input
from specgate.linting.modified_model import ModifiedModel
from specgate.linting.nodes import Graph, Unit, context_of
from specgate.linting.settings import LintSettings
from specgate.loading import gc_paused
from specgate.runtimes import runtime_of
from specgate.slotted import replace
from specgate.spec.tables import dialect
from specgate.verdict import Finding, Location, Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from specgate.descriptors.files import Placed
    from specgate.runtimes.protocol import FileFindings, Runtime
    from specgate.targets import Target
    from specgate.verdict import Basis, Edit


def lint_model(
    model: Any,
    targets: Sequence[Target],
    basis: Basis = "both",
    device: frozenset[str] | None = None,
    settings: LintSettings | None = None,
) -> Report:
    """Return the report on `model`.

    model: a path or an ``onnx.ModelProto``. device: the capabilities of the device (see `check_at`). settings: lint
    settings. Files and targets without any check cause warnings (see `unjudged`). Raises InputError for an unusable
    file.
    """
    if not targets:
        raise InputError("expected at least one target such as onnx:17")
    result = settings or LintSettings()
    with gc_paused():
        report = _report(model, targets, basis, device, result)
        if not isinstance(model, str | os.PathLike) or not any(finding.edits for finding in report.findings):
            return report
        from specgate.linting.fix_trials import with_tried_edits  # few file formats support fixes

        path = os.fspath(model)
        return with_tried_edits(path, report, lambda edited: _report(edited, targets, basis, device, result))


def _report(
    model: Any, targets: Sequence[Target], basis: Basis, device: frozenset[str] | None, settings: LintSettings
) -> Report:
    graph = graph_of(model, settings)
    report = _report_graph(graph, _files(model), targets, basis, device)
    for place, part in graph.parts:
        part_targets = [target for target in targets if target.dialect in part.dialects()]
        report.extend(_embed_report(_report_graph(part, report.files, part_targets, basis, device), place))
    report.findings.extend(unchecked_findings(graph, targets, report))
    add_lines(report, model if isinstance(model, InputSource) else None)
    return report


def _report_graph(
    graph: Graph, files: list[str], targets: Sequence[Target], basis: Basis, device: frozenset[str] | None
) -> Report:
    """Return the report on one graph, without line numbers and warnings.

    The warnings about unchecked files and targets are added by the caller.
    """
    report = Report(files=list(files))
    file = report.files[0] if report.files else None
    graph_targets = [target for target in targets if target.dialect == graph.dialect]
    owner = capability(graph.dialect, ModelFormat)
    releases: list[FileFindings] = []
    for name in graph.dialects():
        for target in (target for target in targets if target.dialect == name):
            report.targets.append(str(target))
            runtime = runtime_of(target) if target.dialect == graph.dialect else None
            release = None if runtime is None else runtime.file_findings(graph, target, device, file)
            read_graph = graph if release is None else release.graph
            _judge_nodes(read_graph, target, TargetChecker(read_graph, target, basis, device), report, runtime, release)
            if release is not None:
                releases.append(release)
    file_findings = _file_findings(graph.findings, releases if len(releases) == len(report.targets) else [])
    report.findings[:0] = [*file_findings, *owner.file_findings(graph, graph_targets, file)]
    report.findings = list(_without_echoes(report.findings, owner.echoes))
    if isinstance(owner, ModelFixes):
        report.findings = owner.with_edits(graph, report.findings)
    if graph.not_inferred and report.undecided:
        report.findings.append(_not_inferred(graph, len(report.undecided), report.files))
    report.judged = dict.fromkeys(report.files, tuple(report.targets))
    report.context = context_of(graph.units, report)
    return report


def _embed_report(report: Report, place: Location) -> Report:
    """Return the report on a part as a report on the containing file.

    Node paths are prefixed with the part's location. Edits are removed.
    """

    def move_location(location: Location | None) -> Location:
        inner = None if location is None else location.node
        node = place.node if inner is None else f"{place.node}/{inner}"
        return replace(place, node=node, operator=location.operator if location is not None else None)

    report.findings = [replace(f, location=move_location(f.location), edits=()) for f in report.findings]
    report.undecided = [replace(node, location=move_location(node.location)) for node in report.undecided]
    report.no_table = [replace(node, location=move_location(node.location)) for node in report.no_table]
    report.context = {(place.file, f"{place.node}/{node}"): context for (_, node), context in report.context.items()}
    return report


def _files(model: Any) -> list[str]:
    if isinstance(model, InputSource | ModifiedModel):
        return [model.name]
    return [os.fspath(model)] if isinstance(model, str | os.PathLike) else []


def _file_findings(findings: Sequence[Finding], runtimes: Sequence[FileFindings]) -> Iterator[Finding]:
    """Yield the findings on the file itself.

    If all targets are runtimes, findings are errors only if one of the runtimes rejects the file. runtimes: the
    runtimes of the targets; empty if some target is not a runtime.
    """
    for finding in findings:
        refusing_runtimes = [runtime for runtime in runtimes if runtime.refuses(finding)]
        if refusing_runtimes:
            error = replace(finding, severity="error")
            all_refuse = len(refusing_runtimes) == len(runtimes)
            yield from (
                [error] if all_refuse else (replace(error, target=str(runtime.target)) for runtime in refusing_runtimes)
            )
        elif runtimes and finding.severity == "error":
            yield runtimes[0].as_warning(finding)
        else:
            yield finding


def _judge_nodes(
    graph: Graph,
    target: Target,
    judging: TargetChecker,
    report: Report,
    runtime: Runtime | None = None,
    release: FileFindings | None = None,
) -> None:
    """Check the nodes of the target's dialect.

    Findings on the requirements of the whole file come first.
    """
    start, opened_count, without_table = len(report.findings), len(report.undecided), len(report.no_table)
    judging.units(graph.units, report)
    owner = capability(graph.dialect, ModelFormat)
    if isinstance(owner, ModelFixes):
        report.findings[start:] = owner.limit_fixes(graph, target, runtime, report.findings[start:])
    findings = list(owner.target_findings(graph, target, report.files, judging.versions))
    unclear = (
        judging.refused or len(report.undecided) > opened_count or any(f.severity == "error" for f in graph.findings)
    )
    report.findings[start:start] = _with_true_levels(findings, unclear=unclear)
    report.findings.extend(judging.versions.changes(report.files[0] if report.files else None))
    if release is not None:
        report.findings[start:] = release.settle(report.findings[start:])
        unread = report.no_table[without_table:]
        report.no_table[without_table:] = unknown = release.unknown(unread)
        report.nodes += len(unread) - len(unknown)


def _with_true_levels(findings: list[Finding], *, unclear: bool) -> Iterator[Finding]:
    """Restrict findings on the file to levels that accept all of it.

    unclear: whether a node is rejected at its own import, or the file is rejected for another reason.
    """
    limiting = [finding for finding in findings if finding.levels]
    common_levels = (
        [level for level in limiting[0].levels if all(level in f.levels for f in limiting)] if limiting else []
    )
    levels = () if unclear else tuple(common_levels)
    for finding in findings:
        if finding.levels:
            yield replace(finding, levels=levels, first_level=levels[0] if levels else None)
        else:
            yield finding


def _without_echoes(findings: list[Finding], echoes: Sequence[str]) -> Iterator[Finding]:
    """Remove type contradictions that a rule already reports.

    The edits of a removed finding move to the findings that it causes.
    """
    wrong_nodes = {
        finding.location.node
        for finding in findings
        if finding.location is not None
        and (
            finding.severity == "error"
            or (finding.severity == "warning" and finding.target and finding.id not in echoes)
        )
    }
    dropped_edits: dict[str | None, tuple[Edit, ...]] = {}
    remaining_findings: list[Finding] = []
    for finding in findings:
        if finding.id in echoes and finding.location is not None and finding.node in wrong_nodes:
            dropped_edits[finding.node] = dropped_edits.get(finding.node, ()) + finding.edits
        else:
            remaining_findings.append(finding)
    for finding in remaining_findings:
        edits = dropped_edits.get(finding.location.node, ()) if finding.location is not None else ()
        yield replace(finding, edits=edits) if edits and not finding.edits and _names_output(finding) else finding


def _names_output(finding: Finding) -> bool:
    """Return whether a finding is about an output of its node."""
    name, operator = finding.id.partition("/")[0], finding.location.operator if finding.location is not None else None
    if not is_dialect(name) or operator not in dialect(name).tables.operators:
        return False
    items = set(re.findall(r"\w+", f"{finding.where} {finding.rule or ''} {finding.message}"))
    return any(info.name in items for info in dialect(name).operator(operator).outputs)


def _not_inferred(graph: Graph, count: int, files: list[str]) -> Finding:
    verdicts = "1 verdict remains" if count == 1 else f"{count} verdicts remain"
    return Finding(
        id=f"{graph.dialect}/model/not-inferred",
        severity="note",
        message=f"{verdicts} undecided, because missing types and shapes are inferred with the {graph.not_inferred} "
        "package, which is not installed",
        fix=f"pip install {graph.not_inferred}",
        location=Location(files[0] if files else None, None, "model"),
    )


def add_lines(report: Report, result: InputSource | None = None) -> None:
    """Set the line numbers of findings in JSON and YAML files.

    Files are parsed for line numbers only if there are findings. result: the input that was read from memory; findings
    with its name are located in it.
    """
    objects: dict[str, Any] = {}
    for index, finding in enumerate(report.findings):
        place = finding.location
        if place is None or place.file is None or place.line:
            continue
        if place.file not in objects:
            objects[place.file] = _lines_of(place.file, result)
        if objects[place.file]:
            dialect = finding.id.partition("/")[0]
            texts = package(dialect).containers if is_dialect(dialect) else ()
            line = _line(objects[place.file], place.node or "", finding.where, texts)
            report.findings[index] = replace(finding, location=replace(place, line=line))


def _lines_of(file: str, result: InputSource | None) -> Mapping[tuple[str | int, ...], int]:
    if result is not None and file == result.file:
        return (lines(result.text(), file) if result.kind == TEXT else None) or {}
    if file.lower().endswith(JSON_LINES_SUFFIXES) or not holds_text(file):
        return {}
    return lines(read_text_file(file), file) or {}


def _line(lines: Mapping[tuple[str | int, ...], int], node: str, field: str, containers: Sequence[str]) -> int | None:
    """Return the line of a field; of its descriptor if it does not have one.

    The location is the path from `read_descriptors`.
    """
    group, slash, name = node.partition("/")
    numbered = node.startswith("[") and node.endswith("]") and node[1:-1].isdecimal()
    while "/" in name and (group, name) not in lines:  # a node of a model that a part of the file references
        name = name.rpartition("/")[0]
    base: tuple[str | int, ...] = (int(node[1:-1]),) if numbered else (group, name) if slash else ()
    name = field.partition(".")[0].partition("[")[0]
    for path in (*((*base, key, name) for key in containers), (*base, name), base):
        if path in lines:
            return lines[path]
    return None


def graph_of(model: Any, settings: LintSettings | None = None) -> Graph:
    """Read a model into a graph.

    model: a model file of a dialect, a JSON or YAML file, an object of a vendor's library, or input in memory (see
    `InputSource`). settings: for type inference; without settings, nothing is inferred and referenced models are not
    read.
    """
    inner_settings, settings = settings, settings or LintSettings(infer=False)
    if isinstance(model, InputSource):
        return name_input(_graph_of_source(model, settings), model)
    if not isinstance(model, str | os.PathLike):  # before the check for a protocol, which is slow
        return model.graph(settings) if isinstance(model, ModifiedModel) else _source_of_object(model, settings)
    path = os.fspath(model)
    if holds_text(path):
        findings: list[Finding] = []
        return _descriptors(read_placed(path, findings=findings), path, findings, inner_settings)
    return package_of(path).graph(path, settings)


def _source_of_object(model: object, settings: LintSettings) -> Graph:
    owners = list(implementing(LibraryObjects))
    for owner in owners:
        data = owner.model_bytes(model)
        if data is not None:
            name = f"<{owner.model_class.rpartition('.')[2]}>"
            return capability(owner, ModelFormat).graph_of_bytes(data, name, settings)
    classes = " or ".join(owner.model_class for owner in owners)
    raise InputError(f"expected a path or an {classes}, found {type(model).__name__}")


def _graph_of_source(model: InputSource, settings: LintSettings) -> Graph:
    """Read a model in memory; does not search for external data files."""
    if model.kind != TEXT:
        return capability(model.kind, ModelFormat).graph_of_bytes(model.data, model.name, settings)
    findings: list[Finding] = []
    return _descriptors(iterate_placed(model.text(), model.name, findings=findings), model.name, findings)


def _descriptors(
    entries: Iterable[Placed], file: str, findings: list[Finding], settings: LintSettings | None = None
) -> Graph:
    """Return the graph of a descriptor file.

    settings: for the models that entries reference; without settings, these are not read.
    """
    units, parts = [], []
    for name, line, entry in entries:
        place = Location(file, line, name, entry.operator)
        if isinstance(entry, Descriptor):
            units.append(Unit(place, entry.operator, entry))
        elif entry.model is not None and settings is not None and not holds_text(entry.model):
            pinned = replace(settings, pins={**entry.pins, **settings.pins})
            parts.append((place, package_of(entry.model).graph(entry.model, pinned)))
        else:
            units.append(Unit(place, entry.operator, reason=entry.message))
    return Graph(DEFAULT, units, findings=findings, parts=parts)
