"""The levels that accept a descriptor, and how far builds enforce it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from specgate.descriptors.positional import reordered_for
from specgate.levels import LevelSet
from specgate.validate.device import unsupported_types
from specgate.validate.facts import Facts
from specgate.validate.quick_accept import has_no_failures
from specgate.validate.row import cell_failures

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from specgate.descriptors.core import Descriptor
    from specgate.spec.forms import SingleBasis
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.spec.written import ImplementationEntry, ObservedEntry
    from specgate.verdict import Basis

    Unsure = Literal["nondeterministic", "partially_enforced"]


class Reach:
    """Answers of other levels on one descriptor, as written for each.

    by, device: as in `check_at`. facts: cached facts about the descriptor. doubts: rules that fail at the checked
    level, evaluated first because they probably fail elsewhere too.
    """

    def __init__(
        self,
        descriptor: Descriptor,
        spec: OperatorSpec,
        basis: Basis = "both",
        by: str | None = None,
        device: frozenset[str] | None = None,
        facts: Facts | None = None,
        doubts: Collection[str] = (),
    ) -> None:
        self.descriptor = descriptor
        self.spec = spec
        self.basis = basis
        self.by = by
        self.device = device
        self.facts = facts or Facts()
        self.doubts = doubts
        self._read: dict[str, Descriptor] = {}
        self._refused: dict[tuple[str, SingleBasis], frozenset[tuple[str, str]]] = {}

    def accepting(self) -> LevelSet:
        """Return the levels that accept without undecided parts."""
        texts: list[str] = []
        for resolved_by_operator, levels in self.spec.stretches(self.basis, self.by):
            descriptor = self._reread_at(levels[0])
            if all(
                has_no_failures(descriptor, resolved, self.facts, self.doubts)
                for resolved in resolved_by_operator.values()
            ):
                texts += [
                    level
                    for level in levels
                    if self.device is None or not unsupported_types(descriptor, level, self.device)
                ]
        return LevelSet.of(self.spec.dialect.levels, texts)

    def unsupported_aspects(self, field: str, side: SingleBasis) -> frozenset[tuple[str, str]]:
        """Return the (place, aspect) pairs of a field that no level supports.

        The aspect is a type, a rank or a value.
        """
        texts = self._refused.get((field, side))
        if texts is None:
            rows = list(self._rows(field, side))
            refused_sets = [frozenset(places) for places in rows]
            texts = self._refused[field, side] = frozenset.intersection(*refused_sets) if refused_sets else frozenset()
        return texts

    def _reread_at(self, level: str) -> Descriptor:
        """Return the descriptor as `level` reads it, usually unchanged."""
        if self.descriptor.layout is None:
            return self.descriptor
        descriptor = self._read.get(level)
        if descriptor is None:
            descriptor = self._read[level] = reordered_for(self.descriptor, self.spec, level)
        return descriptor

    def _rows(self, field: str, side: SingleBasis) -> Iterator[set[tuple[str, str]]]:
        """Yield the rejected (place, aspect) pairs of a field, per row."""
        visited: set[Any] = set()
        for resolved_by_operator, levels in self.spec.stretches(side, self.by):
            descriptor = self._reread_at(levels[0])
            resolved_sides = resolved_by_operator[side]
            context = self.facts.context(descriptor, resolved_sides)
            cases = [
                case.resolved for case in resolved_sides.cases if self.facts.holds(case.when, context) is not False
            ]
            for resolved in cases or [resolved_sides]:
                info = resolved.fields.get(field)
                if info is None:
                    continue
                key = (id(descriptor), id(info), resolved.cells.get(field), levels[0] if info.fuses else None)
                if key not in visited:
                    visited.add(key)
                    failures = cell_failures(info, resolved.cells.get(field), context.fields[field], resolved)
                    yield {(f.where, f.aspect) for f in failures if not f.unknown}


#: Keys of rules that an implementation does not always enforce.
UNSURE: Final[tuple[Unsure, ...]] = ("nondeterministic", "partially_enforced")


def implementation_entry(spec: OperatorSpec, implementation: str) -> ImplementationEntry | None:
    """Return the dialect's entry for an implementation."""
    return spec.dialect.tables.about.get("implementations", {}).get(implementation)


def checked_ids(spec: OperatorSpec, implementation: str, ids: Iterable[str]) -> set[str]:
    """Return the finding ids that the implementation checks at all."""
    entry = implementation_entry(spec, implementation)
    ignored_names = set(entry.get("ignores", ())) if entry else set()
    return {
        finding
        for finding in ids
        if aspect(finding) not in ignored_names and not ("outputs" in ignored_names and compares_outputs(spec, finding))
    }


def compares_outputs(spec: OperatorSpec, finding: str, *, observed: bool = False) -> bool:
    """Return whether a rule compares declared output types or shapes.

    observed: also look for rules that only builds enforce.
    """
    outputs = {info.name for info in spec.outputs}
    name = finding.rpartition("/")[2]
    observed_forms = [form for overlay in spec.overlays for form in overlay.rules] if observed else []
    forms = [form for form in (*spec.rule_forms, *observed_forms) if form.name == name]
    return bool(forms) and all(form.require.fields & outputs for form in forms)


def aspect(finding: str) -> str:
    """Return the subject of a finding: type, rank, value, structure or rule."""
    field, dot, aspect_name = finding.rpartition("/")[2].rpartition(".")
    if finding.endswith("/unknown-attribute"):
        return "structure"
    if not dot or not field:
        return "rule"
    if aspect_name == "same-type":
        return "type"
    return aspect_name if aspect_name in {"type", "rank", "value"} else "structure"


def entries_of(spec: OperatorSpec, level: str, implementation: str) -> Iterator[ObservedEntry]:
    """Yield observations of an implementation at a level.

    They are those of the operator and those of all tensors.
    """
    tensors = spec.dialect.tables.tensor.observed
    for entry in (*spec.table.observed, *tensors):
        if level in spec.dialect.level_set(entry["builds"]) and entry.get("by") in {None, implementation}:
            yield entry


def named_rules(key: Unsure, spec: OperatorSpec, level: str, implementation: str) -> set[str]:
    """Return the rules that an implementation's entries list under a key."""
    entries = entries_of(spec, level, implementation)
    return {name for entry in entries if key in entry for name in entry[key]}
