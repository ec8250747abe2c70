"""Minimum opset and release that support every layer of an OpenVINO IR."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from specgate.dialects.openvino.graph import openvino_units, unknown_type
from specgate.dialects.openvino.ir import read_ir, read_ir_bytes
from specgate.lowest.text import BlockedNode, DomainMinimum, ModelMinimum, Release, ReleaseMinimum
from specgate.spec.tables import dialect
from specgate.targets import parse_target
from specgate.validate.check import check_at
from specgate.validate.message import blocking, rule_id
from specgate.validate.releases import newer_types
from specgate.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.openvino.ir import IrLayer, IrNet
    from specgate.linting.input_source import InputSource
    from specgate.linting.nodes import Unit
    from specgate.verdict import Basis


def ir_minimum(source: str | os.PathLike[str] | InputSource, basis: Basis = "both") -> ModelMinimum:
    """Return the minimum opset and release, checking layers at all opsets.

    A layer without a table counts by the opset that it states. source: the IR's path, or an IR read from memory.
    Versions are opset numbers (``13``). Raises InputError for an unusable file.
    """
    if isinstance(source, str | os.PathLike):
        model = read_ir(os.fspath(source))
    else:
        model = read_ir_bytes(source.data, source.name)
    graph = openvino_units(model)
    table = dialect(graph.dialect)
    numbers = {level: level.removeprefix(table.level_word) for level in table.levels}
    minimum = DomainMinimum(graph.dialect, None)
    minimum.undecided = dict.fromkeys(numbers.values(), 0)
    minimum.labels = {number: table.label(level) for level, number in numbers.items()}
    blocked: dict[str, list[BlockedNode]] = {number: [] for number in numbers.values()}
    no_table: dict[str, int] = {}
    answers_by_layer: dict[tuple[int, str, str], tuple[bool | None, tuple[Finding, ...]]] = {}
    for unit, layer in zip(graph.units, _layers(model.net), strict=True):
        version = layer.version or ""
        if unit.descriptor is None:
            no_table[unit.operator] = no_table.get(unit.operator, 0) + 1
        if version not in table.position:
            continue
        minimum.nodes += 1
        minimum.imported = max(int(numbers[version]), minimum.imported or 0)
        for level, number in numbers.items():
            key = id(unit.descriptor), version, level  # equal layers share a descriptor
            if unit.descriptor is None or key not in answers_by_layer:
                answers_by_layer[key] = _check_layer(unit, layer, level, basis)
            is_accepted, findings = answers_by_layer[key]
            if is_accepted is False:
                blocked[number].append(BlockedNode(unit.location, findings))
            elif is_accepted is None:
                minimum.undecided[number] += 1
    minimum.accepted = [number for number, nodes in blocked.items() if not nodes]
    minimum.blocked = {number: nodes for number, nodes in blocked.items() if nodes}
    minimum.version = minimum.accepted[0] if minimum.accepted else None
    if not minimum.nodes:
        return ModelMinimum([], no_table, graph.findings, graph.dialect)
    descriptors = (unit.descriptor for unit in graph.units if unit.descriptor is not None and basis != "documented")
    judged_descriptors = list({id(descriptor): descriptor for descriptor in descriptors}.values())
    release = _release(minimum, numbers, model.version, judged_descriptors, basis)
    return ModelMinimum([minimum], no_table, graph.findings, graph.dialect, release)


def _release(
    minimum: DomainMinimum,
    numbers: dict[str, str],
    ir_version: int | None,
    judged_descriptors: list[Descriptor],
    basis: Basis,
) -> ReleaseMinimum:
    """Return the first release that supports all layers, the file and types.

    Layers are checked at the release's newest opset.
    """
    before: list[Release] = []
    table = dialect("openvino")
    types = {str(tensor.type) for descriptor in judged_descriptors for _, tensor in descriptor.tensors()}
    for entry in table.environments:
        opset, newest = numbers[entry["level"]], entry.get("ir_version")
        supports_file = ir_version is None or newest is None or ir_version <= newest
        newer = tuple(sorted(types & newer_types(parse_target(f"openvino:{entry['name']}")).keys()))
        result = opset in minimum.accepted
        lower_rejects = result and _is_rejected(
            judged_descriptors, entry["level"], basis, table.by_release(entry["name"])
        )
        release = Release(entry["name"], entry["title"], opset, newest, not result, supports_file, newer, lower_rejects)
        if release.accepts_model:
            return ReleaseMinimum(release, tuple(before), ir_version)
        before.append(release)
    return ReleaseMinimum(None, tuple(before), ir_version)


def _is_rejected(judged_descriptors: list[Descriptor], level: str, basis: Basis, by: str | None) -> bool:
    """Return True if observations of a release reject a layer."""
    return by is not None and any(
        check_at(descriptor, level, basis, by).accepted is False for descriptor in judged_descriptors
    )


def _layers(net: IrNet) -> Iterator[IrLayer]:
    """Yield layers in the order of units: a layer, then those in its bodies."""
    for layer in net.layers:
        yield layer
        for body in layer.bodies.values():
            yield from _layers(body)


def _check_layer(unit: Unit, layer: IrLayer, level: str, basis: Basis) -> tuple[bool | None, tuple[Finding, ...]]:
    table, version = dialect("openvino"), layer.version or ""
    if table.position[version] > table.position[level]:
        name = rule_id(table.name, unit.operator, "version")
        return False, (Finding(name, "error", f"written for {version}", where="version", first_level=version),)
    if unit.descriptor is None:
        return False, (unknown_type(layer, unit),)
    verdict = check_at(unit.descriptor, level, basis)
    return verdict.accepted, blocking(verdict.findings)
