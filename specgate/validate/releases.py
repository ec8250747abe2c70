"""Types that a target's release lacks although its level defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.slotted import replace
from specgate.spec.tables import dialect as tables
from specgate.spec.tables import until_change
from specgate.validate.message import rule_id
from specgate.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.targets import Target
    from specgate.verdict import Verdict

#: The name of the finding on a type that a release does not support.
RELEASE_RULE: Final = "type-release"


def newer_types(target: Target) -> Mapping[str, str]:
    """Return types newer than a target's release, with their first release.

    Empty for a target that is a level.
    """
    if target.environment is None or target.runtime is not None:
        return {}
    return types_newer_than(target.dialect, target.environment)


@until_change
def types_newer_than(dialect: str, release: str) -> Mapping[str, str]:
    """Return types newer than a release's title, with their first release."""
    table = tables(dialect)
    places = {str(entry["name"]): position for position, entry in enumerate(table.environments)}
    own_position = next(position for position, entry in enumerate(table.environments) if entry["title"] == release)
    firsts = {name: str(info["release"]) for name, info in table.types.items() if info.get("release")}
    return {name: first for name, first in firsts.items() if places[first] > own_position}


def with_release_findings(verdict: Verdict, descriptor: Descriptor, target: Target) -> Verdict:
    """Return the verdict with a finding per tensor of a newer type."""
    newer = newer_types(target)
    if not newer or verdict.basis == "documented":
        return verdict
    texts = places_of(newer, descriptor)
    if not texts:
        return verdict
    findings = [_finding(place, kind, newer[kind], target) for place, kind in texts]
    return replace(verdict, accepted=False, findings=(*verdict.findings, *findings))


def places_of(newer: Mapping[str, str], descriptor: Descriptor) -> list[tuple[str, str]]:
    """Return a descriptor's tensors with a type in `newer`, and that type."""
    if not newer:
        return []
    return [(place, str(tensor.type)) for place, tensor in descriptor.tensors() if tensor.type in newer]


def _finding(place: str, kind: str, first: str, target: Target) -> Finding:
    return Finding(
        id=rule_id(target.dialect, "", RELEASE_RULE, "tensor"),
        severity="error",
        message=f"{place} is {kind}, which {target.environment} does not support; {first} is the first release that "
        "does",
        where=place,
        values={place: kind, "first release": first},
        fix=f"use {first} or later, or another type for {place}",
        basis="observed",
        target=str(target),
    )
