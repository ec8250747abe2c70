"""Comparison of a node's operator version with that of the target.

A node is checked at the opset that its model imports. In addition, it is read here as the target's newest version of
the operator. If the import is above the target, this finds the nodes that the target does not have. If the import is
below, it finds what a newer version supports or means differently. Only the tables are used.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from specgate.slotted import field, replace, slotted
from specgate.spec.tables import dialect
from specgate.validate.behaviour import changed_behaviour
from specgate.validate.check import accepts, check_at
from specgate.validate.judge import domainless
from specgate.validate.message import field_elsewhere, rule_id
from specgate.verdict import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.targets import Target
    from specgate.verdict import Basis, Verdict

_MAX_LISTED = 3
_Key = tuple[str, str, str | None]


@slotted()
class _Change:
    """The count of a version that differs at the target, and its fields."""

    count: int = 0
    fields: dict[str, None] = field(default_factory=dict)


class Versions:
    """Compares nodes with the versions of `target`.

    newer: the number of nodes with an import above the target, by domain. unchanged: the number of these nodes that are
    the same at the target. plain: the number that are the same after removal of attributes with default values that the
    target lacks; defaults: these attributes.
    """

    def __init__(self, target: Target, basis: Basis, device: frozenset[str] | None = None) -> None:
        self.target = target
        self.basis = basis
        self.device = device
        self.newer: Counter[str] = Counter()
        self.unchanged: Counter[str] = Counter()
        self.plain: Counter[str] = Counter()
        self.defaults: dict[str, dict[str, None]] = {}
        self._changes: dict[_Key, _Change] = {}

    def is_above(self, descriptor: Descriptor) -> bool:
        """Return whether a node has a version that the target lacks."""
        spec, own_version, level = self._operator_versions(descriptor)
        return level is None or spec.dialect.position[own_version] > spec.dialect.position[level]

    def needs(self, descriptor: Descriptor, verdict: Verdict) -> tuple[Finding, ...]:
        """Return findings on features that a target lacks for a newer node.

        Findings that the node's own version has as well are left out.
        """
        spec, own_version, level = self._operator_versions(descriptor)
        if level is None:
            return domainless(descriptor, self.target, self.basis, self.device).findings
        if level in spec.levels and spec.last_row(own_version) == spec.last_row(level):
            return ()
        message = {(finding.id, finding.where) for finding in verdict.findings}
        newer = [name for name in descriptor.fields if level in spec.levels and spec.field_at(name, level) is None]
        plain_names = [name for name in newer if _is_default_attribute(spec, descriptor, name, own_version)]
        fields = {name: value for name, value in descriptor.fields.items() if name not in plain_names}
        other_findings = check_at(
            replace(descriptor, version=None, fields=fields), level, self.basis, device=self.device
        ).findings
        texts = other_findings[0].levels if other_findings else ()
        findings = [
            _missing_field_finding(spec, name, own_version, level, texts) for name in newer if name not in plain_names
        ]
        if findings:  # other findings are consequences, except for types and ranks of other fields
            other_findings = (
                *findings,
                *(finding for finding in other_findings if finding.id.endswith((".type", ".rank"))),
            )
        return tuple(finding for finding in other_findings if (finding.id, finding.where) not in message)

    def count(self, descriptor: Descriptor, *, is_unchanged: bool, nodes: int) -> None:
        """Count nodes of an import above the target."""
        domain = self._operator_versions(descriptor)[0].dialect.domain
        self.newer[domain] += nodes
        surplus = self._defaults_given(descriptor) if is_unchanged else []
        self.plain[domain] += nodes if surplus else 0
        self.unchanged[domain] += nodes if is_unchanged and not surplus else 0
        self.defaults.setdefault(domain, {}).update(dict.fromkeys(surplus))

    def _defaults_given(self, descriptor: Descriptor) -> list[str]:
        """Return attributes with default values that the target lacks."""
        spec, own_version, level = self._operator_versions(descriptor)
        if level is None or level not in spec.levels or own_version not in spec.levels:
            return []
        infos = (
            (name, spec.field_at(name, own_version)) for name in descriptor.fields if spec.field_at(name, level) is None
        )
        return [
            info.vendor_name
            for name, info in infos
            if info and _is_default_attribute(spec, descriptor, name, own_version)
        ]

    def differences(self, descriptor: Descriptor, verdict: Verdict) -> tuple[_Key, tuple[str, ...]] | None:
        """Return the used fields in which the target's version differs.

        None without a difference.
        """
        spec, own_version, level = self._operator_versions(descriptor)
        if level is None or own_version not in spec.levels:
            return None
        before, after = spec.last_row(own_version), spec.last_row(level)
        if level not in spec.levels:
            return (spec.name, str(before), None), ()
        if before == after:
            return None
        key = (spec.name, str(before), str(after))
        defaults = _defaults(spec, descriptor, own_version, level)
        version_free = replace(descriptor, version=None)
        refused_names: tuple[str, ...] = ()
        if verdict.accepted is not False and accepts(version_free, level, self.basis) is False:
            findings = check_at(version_free, level, self.basis, device=self.device).findings
            refused_names = tuple(finding.where.partition(".")[0].partition("[")[0] for finding in findings)
        if not refused_names and not defaults and not changed_behaviour(spec, descriptor, own_version, level):
            return None
        return key, (*refused_names, *defaults)

    def note(self, difference: tuple[_Key, tuple[str, ...]], nodes: int) -> None:
        """Count nodes whose operator differs at the target."""
        key, fields = difference
        change = self._changes.setdefault(key, _Change())
        change.count += nodes
        change.fields.update(dict.fromkeys(name for name in fields if name))

    def changes(self, file: str | None) -> Iterator[Finding]:
        """Yield one note per operator version that differs at the target."""
        for (operator, before, after), change in self._changes.items():
            nodes = "1 node is" if change.count == 1 else f"{change.count} nodes are"
            if after is None:
                level = dialect(self.target.dialect).label(self.target.level)
                rest = f"which is deprecated at {level}; runtimes keep it"
            else:
                names = _vendor_names(self.target.dialect, operator, change.fields)
                names_text = ", ".join(names[:_MAX_LISTED]) + (" …" if len(names) > _MAX_LISTED else "")
                difference_text = f"differs in {names_text}" if names_text else "may compute different values"
                rest = f"and version {after} at the target {difference_text}"
            yield Finding(
                id=f"{self.target.dialect}/{operator}/changed",
                severity="note",
                message=f"{nodes} {operator} version {before}, {rest}",
                values={"version": before, "at target": after, "nodes": change.count, "fields": list(change.fields)},
                target=str(self.target),
                location=Location(file, None, "model", operator),
            )

    def _operator_versions(self, descriptor: Descriptor) -> tuple[OperatorSpec, str, str | None]:
        """Return the operator, the node's version and the target's version."""
        spec = dialect(descriptor.dialect).operator(descriptor.operator)
        level = spec.level_for(self.target.level)
        return spec, str(descriptor.version), level


def _vendor_names(operator_name: str, operator: str, fields: Iterable[str]) -> list[str]:
    """Return the vendor's names of fields of `operator`, without duplicates.

    Two fields may share a name in different versions.
    """
    infos = dialect(operator_name).operator(operator).fields
    return list(dict.fromkeys(infos[name].vendor_name if name in infos else name for name in fields))


def _is_default_attribute(spec: OperatorSpec, descriptor: Descriptor, name: str, own_version: str) -> bool:
    """Return whether a field is an attribute set to its default."""
    info = spec.field_at(name, own_version)
    return info is not None and info.kind == "attribute" and descriptor.fields[name] == info.default


def _missing_field_finding(
    spec: OperatorSpec, name: str, own_version: str, level: str, texts: tuple[str, ...]
) -> Finding:
    """Return the finding for a field that exists only at later levels.

    texts: the levels that accept the node.
    """
    table = spec.dialect
    levels_with_field = [other_level for other_level in spec.levels if spec.field_at(name, other_level) is not None]
    later_level = next(
        (other_level for other_level in levels_with_field if table.position[other_level] > table.position[level]),
        own_version,
    )
    return Finding(
        id=rule_id(table.name, spec.name, f"{name}.exists"),
        severity="error",
        message=field_elsewhere(spec, name, level),
        where=name,
        values={"level": level},
        first_level=texts[0] if texts else None,
        levels=texts,
        fix=f"use {table.label(later_level)}" if later_level in texts else None,
    )


def _defaults(spec: OperatorSpec, descriptor: Descriptor, own_version: str, level: str) -> tuple[str, ...]:
    """Return omitted attributes whose default differs at another level."""
    texts = []
    for name, info in spec.fields_at(level).items():
        before = spec.field_at(name, own_version)
        if name not in descriptor.fields and before is not None and before.default != info.default:
            texts.append(name)
    return tuple(texts)
