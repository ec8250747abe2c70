"""What a device must be able to do before it takes a type that the level takes: notes on it, or a decision."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from specgate.errors import InputError
from specgate.spec.tables import dialect as tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.levels import LevelSet
    from specgate.verdict import Finding, Verdict

__all__ = ["DEVICE_RULE", "capabilities", "device_of", "forget_gates", "gates", "judged_for", "lacking"]

#: The name of the finding on a type that a device does not take.
DEVICE_RULE: Final = "device-capability"
_WORDS: Final = {"all", "none"}
_known: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}


def forget_gates() -> None:
    """Drop what was read from tables that are gone."""
    _known.clear()


def gates(dialect: str, level: str) -> Mapping[str, tuple[str, ...]]:
    """Return, for each type that some devices refuse at a level, the capabilities that allow it (one is enough)."""
    found = _known.get((dialect, level))
    if found is None:
        table = tables(dialect)
        found = _known[dialect, level] = {
            name: tuple(gate["any"])
            for name, info in table.types.items()
            for gate in info.get("capability") or ()
            if table.holds(level, gate.get("since"), gate.get("until"))
        }
    return found


def capabilities(dialect: str) -> list[str]:
    """Return the names of all capabilities that the types of a dialect ask for."""
    types = tables(dialect).types.values()
    return sorted({name for info in types for gate in info.get("capability") or () for name in gate["any"]})


def device_of(given: str | Iterable[str] | None, dialect: str = "directml") -> frozenset[str] | None:
    """Return what a device reports: names of capabilities (several in one text with commas), ``all``, ``none``.

    None, a device that is not known, stays None.

    Raises InputError for a name that no type asks for.
    """
    if given is None:
        return None
    known = capabilities(dialect)
    texts = [given] if isinstance(given, str) else list(given)
    names = {part.strip() for text in texts for part in str(text).split(",")} - {""}
    strange = sorted(names - set(known) - _WORDS)
    if strange or not names:
        raise InputError(f"expected a device as {', '.join(known)}, all or none, found {', '.join(strange)[:60]!r}")
    return frozenset(known) if "all" in names else frozenset(names - _WORDS)


def lacking(descriptor: Descriptor, level: str, device: frozenset[str]) -> list[tuple[str, str]]:
    """Return (place, type) of each tensor whose type asks at `level` for what `device` lacks."""
    asked = gates(descriptor.dialect, level)
    if not asked:
        return []
    return [
        (place, str(tensor.type))
        for place, tensor in descriptor.tensors()
        if tensor.type in asked and device.isdisjoint(asked[str(tensor.type)])
    ]


def judged_for(
    verdict: Verdict, descriptor: Descriptor, level: str, device: frozenset[str] | None, by: str | None = None
) -> Verdict:
    """Return the verdict with what its types ask of a device: as notes, or findings where `device` lacks it.

    device: the capabilities that it reports, None where it is not known. by: as in `check_at`.
    """
    asked = gates(descriptor.dialect, level)
    if not asked or (device is None and verdict.accepted is not True):
        return verdict
    if device is None:
        notes = [
            f"{place} is {tensor.type}, which needs a device that reports {' or '.join(asked[str(tensor.type)])}"
            for place, tensor in descriptor.tensors()
            if tensor.type in asked
        ]
        return replace(verdict, notes=(*verdict.notes, *notes)) if notes else verdict
    lacked = lacking(descriptor, level, device)
    if not lacked:
        return verdict
    from specgate.validate.reach import Reach  # few devices lack anything

    spec = tables(descriptor.dialect).operator(descriptor.operator)
    taken = Reach(descriptor, spec, verdict.basis, by, device).accepting()
    findings = [_finding(place, kind, asked[kind], device, verdict, taken) for place, kind in lacked]
    return replace(verdict, accepted=False, findings=(*verdict.findings, *findings))


def _finding(
    place: str, kind: str, alternatives: tuple[str, ...], device: frozenset[str], verdict: Verdict, taken: LevelSet
) -> Finding:
    from specgate.validate.message import rule_id
    from specgate.verdict import Finding

    need = " or ".join(alternatives)
    reach = f"; no such need at {taken}" if taken else ""
    return Finding(
        id=rule_id(verdict.target.partition(":")[0], "", DEVICE_RULE, "tensor"),
        severity="error",
        message=f"{place} is {kind}, which needs a device that reports {need}; this one does not{reach}",
        where=f"{place}.DataType",
        values={f"{place}.DataType": kind, "device": sorted(device)},
        first_level=taken.first,
        levels=tuple(taken),
        fix=f"use a device that reports {need}, or another type for {place}",
        basis="observed" if verdict.basis == "observed" else "documented",
        target=verdict.target,
    )
