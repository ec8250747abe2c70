"""Judge a whole file: read it by its format, judge each node per target, and report what was and was not decided."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import InputError
from specgate.linting.nodes import Graph, Unit
from specgate.spec.tables import dialect
from specgate.validate.check import check_at, check_for
from specgate.verdict import Finding, Location, NodeRef, Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.targets import Target
    from specgate.verdict import Basis, Verdict

__all__ = ["add_lines", "graph_of", "judge", "lint_model"]

_TEXT: Final = (".json", ".yaml", ".yml")


def lint_model(
    model: Any, targets: Sequence[Target], basis: Basis = "both", device: frozenset[str] | None = None
) -> Report:
    """Return the report on `model`: a path, or an ``onnx.ModelProto``. Raises InputError for an unusable file.

    device: the capabilities that a device reports (see `check_at`).
    """
    if not targets:
        raise InputError("expected at least one target such as onnx:17")
    graph = graph_of(model)
    report = Report(files=[os.fspath(model)] if isinstance(model, str | os.PathLike) else [])
    report.findings.extend(graph.findings)
    for name in graph.dialects():
        own = [target for target in targets if target.dialect == name]
        if not own:
            report.findings.append(_no_target(name, targets, report.files))
        for target in own:
            report.targets.append(str(target))
            report.findings.extend(_file_findings(graph, target, report.files))
            for unit in graph.units:
                if unit.descriptor is None or unit.descriptor.dialect == name:
                    judge(unit, graph, target, basis, report, device)
    add_lines(report)
    return report


def add_lines(report: Report) -> None:
    """Give findings in JSON and YAML files their lines; the files are parsed for lines only when there are findings."""
    from specgate.descriptors.read import read_text_file
    from specgate.descriptors.text import lines

    known: dict[str, Any] = {}
    for index, found in enumerate(report.findings):
        place = found.location
        if place is None or place.file is None or place.line or not place.file.lower().endswith(_TEXT):
            continue
        if place.file not in known:
            known[place.file] = lines(read_text_file(place.file), place.file) or {}
        line = _line(known[place.file], place.node or "", found.where)
        report.findings[index] = replace(found, location=replace(place, line=line))


def _line(lines: Mapping[tuple[str | int, ...], int], node: str, field: str) -> int | None:
    """The line of a field, else of its descriptor, by the place that `read_descriptors` gave it."""
    group, slash, name = node.partition("/")
    numbered = node.startswith("[") and node.endswith("]") and node[1:-1].isdecimal()
    base: tuple[str | int, ...] = (int(node[1:-1]),) if numbered else (group, name) if slash else ()
    name = field.partition(".")[0].partition("[")[0]
    for path in ((*base, "desc", name), (*base, "Desc", name), (*base, "attributes", name), (*base, name), base):
        if path in lines:
            return lines[path]
    return None


def graph_of(model: Any) -> Graph:
    """Read a model by its format: ``.onnx``, OpenVINO IR (``.xml``), a JSON or YAML file, or a ModelProto."""
    if hasattr(model, "SerializeToString"):
        from specgate.linting.onnx_graph import onnx_units
        from specgate.models.onnx_model import read_model_bytes

        return onnx_units(read_model_bytes(model.SerializeToString(), "<ModelProto>"))
    if not isinstance(model, str | os.PathLike):
        raise InputError(f"expected a path or an onnx.ModelProto, found {type(model).__name__}")
    path = os.fspath(model)
    if path.lower().endswith(".xml"):
        from specgate.linting.openvino_graph import openvino_units
        from specgate.models.openvino_ir import read_ir

        return openvino_units(read_ir(path))
    if path.lower().endswith(_TEXT):
        return _descriptor_file(path)
    from specgate.linting.onnx_graph import onnx_units
    from specgate.models.onnx_model import read_model

    return onnx_units(read_model(path))


def _descriptor_file(path: str) -> Graph:
    from specgate.descriptors.core import Descriptor as Made
    from specgate.descriptors.files import read_descriptors

    units = []
    for name, entry in read_descriptors(path):
        place = Location(path, None, name, entry.operator)
        if isinstance(entry, Made):
            units.append(Unit(place, entry.operator, entry))
        else:
            units.append(Unit(place, entry.operator, reason=entry.message))
    return Graph("directml", units)


def judge(
    unit: Unit, graph: Graph, target: Target, basis: Basis, report: Report, device: frozenset[str] | None = None
) -> Verdict | None:
    """Judge one unit for one target into `report`; return its verdict, None where it has no table."""
    if unit.descriptor is None:
        report.no_table.append(NodeRef(unit.location, str(target), unit.reason))
        return None
    report.nodes += 1
    verdict = _judged(unit.descriptor, graph, target, basis, device)
    for found in verdict.findings:
        report.findings.append(_placed(found, unit.location, target))
    if verdict.accepted is None:
        reason = "; ".join(found.message for found in verdict.undecided)
        report.undecided.append(NodeRef(unit.location, str(target), reason))
    report.findings.extend(_changes(unit, target))
    return verdict


def _judged(
    descriptor: Descriptor, graph: Graph, target: Target, basis: Basis, device: frozenset[str] | None
) -> Verdict:
    """An import above the target is one finding of the file; its nodes are then judged at that import, not again."""
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    position, own, level = spec.dialect.position, descriptor.version, spec.level_for(target.level)
    if graph.imports and own is not None and (level is None or position[own] > position[level]):
        return check_at(descriptor, own, basis, device=device)
    return check_for(descriptor, target, basis, device)


def _placed(found: Finding, location: Location, target: Target) -> Finding:
    return replace(found, location=location, target=str(target))


def _changes(unit: Unit, target: Target) -> Iterator[Finding]:
    """Say of a model's node whether its operator is another version at the target."""
    descriptor = unit.descriptor
    if descriptor is None or descriptor.version is None or descriptor.dialect != "onnx":
        return
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    table, level = spec.dialect, spec.level_for(target.level)
    before, after = spec.row_at(descriptor.version), spec.row_at(level) if level is not None else None
    if before is None or after is None or table.position[after] <= table.position[before]:
        return
    yield Finding(
        id=f"{table.name}/{spec.name}/changed",
        severity="note",
        message=f"{spec.name} is version {before} in this model; the target has version {after} too",
        values={"version": before, "at target": after},
        target=str(target),
        location=unit.location,
    )


def _file_findings(graph: Graph, target: Target, files: list[str]) -> Iterator[Finding]:
    """What the file itself asks of a target: its opset imports and its IR version."""
    location = Location(files[0] if files else None, None, "model", None)
    table = dialect(graph.dialect)
    opset = graph.imports.get("")
    newest = int(table.levels[-1]) if graph.imports else 0
    if opset is not None and opset > (position_number(target)):
        yield Finding(
            id=f"{graph.dialect}/model/opset-import",
            severity="error",
            message=f"imports opset {opset}, but the target implements opsets up to {target.level}"
            + (f"; the tables end at {newest}" if opset > newest else ""),
            where="opset_import",
            values={"opset_import": opset, "target": target.level},
            first_level=str(opset) if str(opset) in table.position else None,
            levels=tuple(table.levels[table.position[str(opset)] :]) if str(opset) in table.position else (),
            fix=f"export for opset {target.level} or lower",
            target=str(target),
            location=location,
        )
    yield from _domain_findings(graph, target, location)
    readable = target.ir_version if target.alias is not None else None  # only a release reads files
    if graph.ir_version is not None and readable is not None and graph.ir_version > readable:
        yield Finding(
            id=f"{graph.dialect}/model/ir-version",
            severity="error",
            message=f"has IR version {graph.ir_version}, but {target.environment} reads those up to {readable}",
            where="ir_version",
            values={"ir_version": graph.ir_version, "target": readable},
            fix=f"save it with IR version {readable}",
            target=str(target),
            location=location,
        )


def _domain_findings(graph: Graph, target: Target, location: Location) -> Iterator[Finding]:
    """Imports of domains with versions of their own, beyond the one that comes with the target."""
    table = dialect(graph.dialect)
    for domain, version in graph.imports.items():
        newest = table.domain_level(domain, target.level) if domain in table.domains else str(version)
        if newest is not None and version <= int(newest):
            continue
        having = [at for at in table.levels if version <= int(table.domain_level(domain, at) or 0)]
        has = f"implements versions up to {newest}" if newest is not None else "does not have that domain"
        yield Finding(
            id=f"{graph.dialect}/model/opset-import",
            severity="error",
            message=f"imports {domain} version {version}, but the target {has}",
            where="opset_import",
            values={"opset_import": version, "domain": domain, "target": newest},
            first_level=having[0] if having else None,
            levels=tuple(having),
            fix=f"export for {domain} version {newest} or lower" if newest is not None else None,
            target=str(target),
            location=location,
        )


def position_number(target: Target) -> int:
    """The target's opset as a number."""
    return int(target.level.removeprefix("opset"))


def _no_target(name: str, targets: Sequence[Target], files: list[str]) -> Finding:
    given = ", ".join(str(target) for target in targets)
    return Finding(
        id="specgate/no-target",
        severity="warning",
        message=f"speaks {name}, but no target of that dialect was given ({given}); nothing in it was judged",
        location=Location(files[0] if files else None),
    )
