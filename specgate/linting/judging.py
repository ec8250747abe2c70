"""Judge the nodes of a graph for one target. Nodes of one descriptor, of which models are full, are judged once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specgate.descriptors.core import Symbol
from specgate.descriptors.text import plain_name
from specgate.spec.tables import dialect
from specgate.validate.check import check_at, check_for
from specgate.verdict import Finding, NodeRef

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.linting.nodes import Graph, Unit
    from specgate.targets import Target
    from specgate.verdict import Basis, Report, Verdict

__all__ = ["Judging"]


class Judging:
    """Judges units of `graph` for `target`; a device as in `check_at`.

    The units must live as long: what is known of their descriptors is known by their identity.
    """

    def __init__(self, graph: Graph, target: Target, basis: Basis, device: frozenset[str] | None = None) -> None:
        self.graph = graph
        self.target = target
        self.word = str(target)
        self.basis = basis
        self.device = device
        self._known: dict[int, tuple[Verdict, Finding | None]] = {}
        self._changes: dict[tuple[str, str | None], Finding | None] = {}

    def unit(self, unit: Unit, report: Report) -> Verdict | None:
        """Judge one unit into `report`; return its verdict, None where it has no table."""
        descriptor = unit.descriptor
        if descriptor is None:
            report.no_table.append(NodeRef(unit.location, self.word, unit.reason))
            return None
        report.nodes += 1
        known = self._known.get(id(descriptor))
        if known is None:
            known = self._known[id(descriptor)] = self._verdict(descriptor), self._change(descriptor)
        verdict, change = known
        for found in verdict.findings:
            report.findings.append(replace(found, location=unit.location, target=self.word))
        if verdict.accepted is None:
            reason = "; ".join(
                [*(found.message.removesuffix(".") for found in verdict.undecided), *_pins(descriptor, verdict)]
            )
            report.undecided.append(NodeRef(unit.location, self.word, reason))
        if change is not None:
            report.findings.append(replace(change, location=unit.location))
        return verdict

    def _verdict(self, descriptor: Descriptor) -> Verdict:
        """An import above the target is one finding of the file: its nodes are judged at that import, not again."""
        spec = dialect(descriptor.dialect).operator(descriptor.operator)
        position, own, level = spec.dialect.position, descriptor.version, spec.level_for(self.target.level)
        if self.graph.imports and own is not None and (level is None or position[own] > position[level]):
            return check_at(descriptor, own, self.basis, device=self.device)
        return check_for(descriptor, self.target, self.basis, self.device)

    def _change(self, descriptor: Descriptor) -> Finding | None:
        key = descriptor.operator, descriptor.version
        if key not in self._changes:
            self._changes[key] = self._changed(descriptor)
        return self._changes[key]

    def _changed(self, descriptor: Descriptor) -> Finding | None:
        """Say of a model's node whether its operator is another version at the target."""
        if descriptor.version is None or descriptor.dialect != "onnx":
            return None
        spec = dialect(descriptor.dialect).operator(descriptor.operator)
        table, level = spec.dialect, spec.level_for(self.target.level)
        before, after = spec.row_at(descriptor.version), spec.row_at(level) if level is not None else None
        if before is None or after is None or table.position[after] <= table.position[before]:
            return None
        return Finding(
            id=f"{table.name}/{spec.name}/changed",
            severity="note",
            message=f"{spec.name} is version {before} in this model; the target has version {after} too",
            values={"version": before, "at target": after},
            target=self.word,
        )


def _pins(descriptor: Descriptor, verdict: Verdict) -> Iterator[str]:
    """Say which dimensions of an ONNX model would have to be given a size."""
    if descriptor.dialect != "onnx":
        return
    from specgate.linting.onnx_types import pinless

    sizes = (size for _, tensor in descriptor.tensors() for size in tensor.sizes or ())
    named = dict.fromkeys(str(size) for size in sizes if isinstance(size, Symbol) and not pinless(size))
    seen: set[str] = set()
    for found in verdict.undecided:
        for value in found.values.values():
            seen.update(item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str))
    wanted = [name for name in named if name in seen]
    if wanted:
        yield "pin " + " ".join(f"--pin {plain_name(name)}=SIZE" for name in wanted)
