"""Check the nodes of a graph for one target.

Equal descriptors, which are frequent, are checked once.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from specgate.caching import get_cache
from specgate.descriptors.core import Symbol
from specgate.descriptors.text import plain_name
from specgate.dialects import capability
from specgate.dialects.protocols import ModelFormat
from specgate.linting.nodes import kinds_of, units_of
from specgate.linting.versions import Versions
from specgate.slotted import replace, slotted
from specgate.spec.tables import dialect, on_change
from specgate.validate.check import check_at, check_for, with_target_spelling
from specgate.validate.releases import with_release_findings
from specgate.validate.verdict_cache import Memo, key_of
from specgate.verdict import Finding, NodeRef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.linting.nodes import Graph, Unit, Units
    from specgate.targets import Target
    from specgate.verdict import Basis, Report, Verdict


@slotted(frozen=True)
class _CachedResult:
    """The result for a descriptor, shared by all of its nodes.

    above: its opset import is above the target's. needs: findings on what the target lacks for it. difference: how a
    newer version at the target differs, from `Versions.differences`. reason: computes the text for an undecided
    verdict.
    """

    verdict: Verdict
    reason: Callable[[], str]
    above: bool = False
    needs: tuple[Finding, ...] = ()
    difference: Any = None

    @property
    def is_reported(self) -> bool:
        """True if each node with this descriptor is reported."""
        return self.verdict.accepted is not True or bool(self.verdict.findings or self.needs)


_VERDICTS: Final[Memo[_CachedResult]] = Memo()
#: Results by everything that matters besides the descriptor, then by its id(). Each entry references its descriptor,
#: which keeps the id() unique.
_DESCRIPTOR_CACHE: Final[dict[tuple[Any, ...], dict[int, tuple[Descriptor, _CachedResult]]]] = {}
_MAX_CACHED: Final = 8192
on_change(_DESCRIPTOR_CACHE.clear)


class TargetChecker:
    """Checks the units of `graph` for `target`; `device` as in `check_at`."""

    def __init__(self, graph: Graph, target: Target, basis: Basis, device: frozenset[str] | None = None) -> None:
        self.graph = graph
        self.target = target
        self.word = str(target)
        self.basis = basis
        self.device = device
        self.refused = False  # whether a node is rejected at its own import
        self.versions = Versions(target, basis, device)
        #: Everything that affects a result besides the descriptor.
        self._key = self.word, target, basis, device, bool(graph.imports), graph.ir_version is None
        self._verdicts = get_cache(_DESCRIPTOR_CACHE, self._key, _MAX_CACHED)

    def units(self, units: Units | Sequence[Unit], report: Report) -> None:
        """Check the units of the target's dialect, each kind once."""
        numbers: set[int] = set()
        for unit, count in kinds_of(units):
            descriptor = unit.descriptor
            if descriptor is None or (
                descriptor.dialect == self.target.dialect and self._count_nodes(descriptor, report, count).is_reported
            ):
                numbers.add(id(unit))
        for unit in units_of(units, numbers):
            self._tell(unit, report)

    def unit(self, unit: Unit, report: Report) -> Verdict | None:
        """Check one unit and report on it; return its verdict.

        None if it has no table.
        """
        result = None if unit.descriptor is None else self._count_nodes(unit.descriptor, report, 1)
        self._tell(unit, report)
        return None if result is None else result.verdict

    def _count_nodes(self, descriptor: Descriptor, report: Report, count: int) -> _CachedResult:
        """Return the result for a descriptor and add `count` to its node count."""
        report.nodes += count
        result = self._result_of(descriptor)
        self.refused = self.refused or result.verdict.accepted is False
        if result.above:
            self.versions.count(descriptor, is_unchanged=not result.needs, nodes=count)
        elif result.difference is not None:
            self.versions.note(result.difference, nodes=count)
        return result

    def _result_of(self, descriptor: Descriptor) -> _CachedResult:
        pair = self._verdicts.get(id(descriptor))
        if pair is None:
            result = _VERDICTS.of(lambda: (self._key, key_of(descriptor)), lambda: self._check_descriptor(descriptor))
            pair = self._verdicts[id(descriptor)] = descriptor, result
        return pair[1]

    def _tell(self, unit: Unit, report: Report) -> None:
        """Report the findings of a unit, undecided rules and a missing table."""
        if unit.descriptor is None:
            report.no_table.append(NodeRef(unit.location, self.word, unit.reason))
            report.findings.extend(self._version_findings(unit))
            return
        result = self._result_of(unit.descriptor)
        for finding in (*result.verdict.findings, *result.needs):
            report.findings.append(replace(finding, location=unit.location, target=self.word))
        if result.verdict.accepted is None:
            explain_finding = partial(_with_pins, result.reason, self.graph, unit.descriptor, result.verdict)
            report.undecided.append(NodeRef.unread(unit.location, self.word, explain_finding))

    def _check_descriptor(self, descriptor: Descriptor) -> _CachedResult:
        """Return the result for a descriptor.

        A node of a model is checked at the opset that the model imports; other descriptors are checked for the target.
        """
        own_version = descriptor.version
        if not self.graph.imports or own_version is None:
            verdict = check_for(descriptor, self.target, self.basis, self.device)
            return _CachedResult(verdict, cache(partial(_reason, verdict)))
        verdict = with_target_spelling(
            check_at(descriptor, own_version, self.basis, self.target.by, self.device), self.word
        )
        verdict = with_release_findings(verdict, descriptor, self.target)
        reason = cache(partial(_reason, verdict))
        if self.versions.is_above(descriptor):
            return _CachedResult(verdict, reason, above=True, needs=self.versions.needs(descriptor, verdict))
        return _CachedResult(verdict, reason, difference=self.versions.differences(descriptor, verdict))

    def _version_findings(self, unit: Unit) -> Iterator[Finding]:
        """Yield findings on the version of a node without a table."""
        table = dialect(self.graph.dialect)
        if unit.version is not None and table.position[unit.version] > table.position[self.target.level]:
            yield Finding(
                id=f"{table.name}/{unit.operator if unit.operator.isidentifier() else 'layer'}/version",
                severity="error",
                message=f"written for {table.label(unit.version)}, but the target supports levels up to "
                f"{self.target.level}",
                where="version",
                values={"version": unit.version, "level": self.target.level},
                first_level=unit.version,
                levels=tuple(table.level_set(f"{unit.version}..")),
                fix=f"use a target of {table.label(unit.version)} or later",
                target=self.word,
                location=unit.location,
            )


def _reason(verdict: Verdict) -> str:
    """Return a text that names the undecided rules."""
    return "; ".join(finding.message.removesuffix(".") for finding in verdict.undecided)


def _with_pins(reason: Callable[[], str], graph: Graph, descriptor: Descriptor, verdict: Verdict) -> str:
    """Return the undecided rules and the dimensions to pin.

    Dimensions are included if the models of the dialect name them; the names are quoted for a shell.
    """
    from shlex import quote  # only computed for undecided nodes

    sizes = (size for _, tensor in descriptor.tensors() for size in tensor.sizes or ())
    symbols = dict.fromkeys(size for size in sizes if isinstance(size, Symbol))
    pinned_texts: set[str] = set()
    for finding in verdict.undecided:
        for value in finding.values.values():
            pinned_texts.update(
                item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)
            )
    pins = capability(graph.dialect, ModelFormat).pins
    entries = dict.fromkeys(name for size in symbols if str(size) in pinned_texts for name in pins(graph, size))
    options = " ".join(f"--pin {quote(f'{plain_name(name)}=SIZE')}" for name in entries)
    return f"{reason()}; pin {options}" if entries else reason()
