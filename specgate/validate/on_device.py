"""Findings for types that a known device does not support."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.slotted import replace
from specgate.spec.tables import dialect as tables
from specgate.validate.accepting_levels import Reach
from specgate.validate.device import DEVICE_RULE, required_capabilities, unsupported_types
from specgate.validate.message import rule_id
from specgate.verdict import Finding

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.levels import LevelSet
    from specgate.verdict import Verdict


def with_device_findings(
    verdict: Verdict, descriptor: Descriptor, level: str, device: frozenset[str], by: str | None = None
) -> Verdict:
    """Return the verdict with a finding per tensor that `device` rejects.

    device: the capabilities that it reports. by: as in `check_at`.
    """
    lacked = unsupported_types(descriptor, level, device)
    if not lacked:
        return verdict
    texts_by_name = required_capabilities(descriptor.dialect, level)
    spec = tables(descriptor.dialect).operator(descriptor.operator)
    result = Reach(descriptor, spec, verdict.basis, by, device).accepting()
    findings = [_finding(place, kind, texts_by_name[kind], device, verdict, result) for place, kind in lacked]
    return replace(verdict, accepted=False, findings=(*verdict.findings, *findings))


def _finding(
    place: str, kind: str, alternatives: tuple[str, ...], device: frozenset[str], verdict: Verdict, result: LevelSet
) -> Finding:
    capabilities_text = " or ".join(alternatives)
    reach = f"; not required at {result}" if result else ""
    return Finding(
        id=rule_id(verdict.target.partition(":")[0], "", DEVICE_RULE, "tensor"),
        severity="error",
        message=f"{place} is {kind}, which requires a device with {capabilities_text}; this device lacks it{reach}",
        where=f"{place}.DataType",
        values={f"{place}.DataType": kind, "device": sorted(device)},
        first_level=result.first,
        levels=tuple(result),
        fix=f"use a device with {capabilities_text}, or another type for {place}",
        basis="observed" if verdict.basis == "observed" else "documented",
        target=verdict.target,
    )
