"""Minimum opset per domain for which an ONNX model could be written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specgate.descriptors.positional import reordered_for
from specgate.dialects.onnx.lint.units import domain_name
from specgate.linting.model import graph_of
from specgate.lowest.text import BlockedNode, DomainMinimum, ModelMinimum, MovedOperator, at_level
from specgate.spec.tables import dialect
from specgate.validate.behaviour import changed_behaviour
from specgate.validate.check import accepts, check_at
from specgate.validate.message import blocking, rule_id
from specgate.validate.row import explain_at
from specgate.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.descriptors.core import Descriptor
    from specgate.linting.nodes import Unit
    from specgate.linting.settings import LintSettings
    from specgate.spec.forms import SingleBasis
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Basis


def opset_minimum(model: object, settings: LintSettings | None = None, basis: Basis = "both") -> ModelMinimum:
    """Return the minimum opsets, checking every node at every opset.

    `model` is as for `model_minimum`. Nodes are checked against the operator's definition at each opset, so an accepted
    node may still compute something else there. Raises InputError for an unusable file.
    """
    graph = graph_of(model, settings)
    no_table: dict[str, int] = {}
    domains: dict[str, list[Unit]] = {}
    for unit in graph.units:
        if unit.descriptor is None:
            no_table[unit.operator] = no_table.get(unit.operator, 0) + 1
        else:
            domains.setdefault(unit.operator.rpartition(".")[0], []).append(unit)
    minimums = [_domain(domain, graph.imports.get(domain), domains[domain], basis) for domain in sorted(domains)]
    return ModelMinimum(minimums, no_table, graph.findings, domain_name(""))


def _domain(domain: str, imported: int | None, units: Iterable[Unit], basis: Basis) -> DomainMinimum:
    minimum = DomainMinimum(domain_name(domain), imported)
    blocked: dict[str, list[BlockedNode]] = {}
    judged_pairs: list[tuple[Unit, Descriptor]] = []
    levels_by_operator: dict[str, dict[str, str]] = {}
    answers_by_descriptor: dict[
        int, dict[str, tuple[bool | None, tuple[Finding, ...]]]
    ] = {}  # equal nodes share a descriptor
    for unit in units:
        if unit.descriptor is None:
            continue
        minimum.nodes += 1
        judged_pairs.append((unit, unit.descriptor))
        if unit.operator not in levels_by_operator:
            levels_by_operator[unit.operator] = _group_levels(dialect("onnx").operator(unit.descriptor.operator))
            for version in reversed(levels_by_operator[unit.operator]):
                blocked.setdefault(version, [])
                minimum.labels[version] = dialect("onnx").operator(unit.descriptor.operator).dialect.label(version)
                minimum.undecided.setdefault(version, 0)
        answers = answers_by_descriptor.get(id(unit.descriptor))
        if answers is None:
            free = replace(unit.descriptor, version=None)
            answers = {
                level: _check_level(free, level, basis)
                for level in dict.fromkeys(levels_by_operator[unit.operator].values())
            }
            answers_by_descriptor[id(unit.descriptor)] = answers
        for version, level in levels_by_operator[unit.operator].items():
            is_accepted, findings = answers[level]
            if is_accepted is False:
                if level != version:  # one verdict covers several versions; adapt the message
                    findings = _reword_findings(findings, minimum.labels[level], minimum.labels[version])
                blocked[version].append(BlockedNode(unit.location, findings))
            elif is_accepted is None:
                minimum.undecided[version] += 1
    minimum.accepted = [version for version in blocked if not blocked[version]]
    minimum.blocked = {version: nodes for version, nodes in blocked.items() if nodes}
    if minimum.accepted:
        minimum.version = minimum.accepted[0]
        lowest = minimum.version
        minimum.moved = [
            moved_operator
            for unit, descriptor in judged_pairs
            if (moved_operator := _moved_operator(unit, descriptor, lowest)) is not None
        ]
    return minimum


def _reword_findings(findings: tuple[Finding, ...], level: str, version: str) -> tuple[Finding, ...]:
    return tuple(replace(finding, message=at_level(finding.message, level, version)) for finding in findings)


def _check_level(descriptor: Descriptor, level: str, basis: Basis) -> tuple[bool | None, tuple[Finding, ...]]:
    """Check a descriptor at one level.

    Unlike `check_at`, this does not search for levels at which each finding disappears.
    """
    spec = dialect("onnx").operator(descriptor.operator)
    if level not in spec.levels:
        return False, blocking(check_at(descriptor, level, basis).findings)
    if descriptor.plain and accepts(descriptor, level, basis):
        return True, ()
    descriptor = reordered_for(descriptor, spec, level)  # inputs may have a different order there
    sides: list[SingleBasis] = ["documented", "observed"] if basis == "both" else [basis]
    findings: dict[str, Finding] = {}
    unknown = False
    for side in sides:
        resolved = spec.resolve(level, side)
        for failure in explain_at(descriptor, resolved) if resolved is not None else ():
            unknown |= failure.unknown
            if not failure.unknown:
                name = rule_id("onnx", spec.name, failure.rule, failure.scope)
                message = failure.message + (f"; supported: {', '.join(failure.allowed)}" if failure.allowed else "")
                findings.setdefault(f"{name} {failure.where}", Finding(name, "error", message, where=failure.where))
    return (False if findings else None if unknown else True), tuple(findings.values())


def _group_levels(spec: OperatorSpec) -> dict[str, str]:
    """Map each level to the newest level with the same operator definition.

    Levels that map to the same one share a verdict.
    """
    last: dict[object, str] = {}
    return {level: last.setdefault(_key(spec, level), level) for level in reversed(spec.dialect.levels)}


def _key(spec: OperatorSpec, level: str) -> object:
    sides = (spec.resolve(level, "documented"), spec.resolve(level, "observed"))
    keys = tuple(None if resolved is None else resolved.key for resolved in sides)
    return keys if any(key is not None for key in keys) else (level in spec.levels, _is_before(spec, level))


def _is_before(spec: OperatorSpec, level: str) -> bool:
    """Return True if an operator is introduced after `level`."""
    position = spec.dialect.position
    return position[level] < position[spec.rows[0]]


def _moved_operator(unit: Unit, descriptor: Descriptor, level: str) -> MovedOperator | None:
    spec = dialect("onnx").operator(descriptor.operator)
    stated_row = None if descriptor.version is None else spec.row_at(descriptor.version)
    row = spec.row_at(level)
    if stated_row is None or row is None or stated_row == row:
        return None
    return MovedOperator(unit.location, stated_row, row, changed_behaviour(spec, descriptor, stated_row, row))
