"""The lowest opsets of a model as data and as text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from specgate.lowest.model import release_json, release_lines
from specgate.report import plural
from specgate.report.clean import clean
from specgate.report.tables.words import wrap_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.verdict import Finding, Location


@dataclass(frozen=True, slots=True)
class BlockedNode:
    """A node that a version rejects, and why."""

    location: Location
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class MovedOperator:
    """A node whose operator has another version at the lowest opset.

    behaviour: differences in results that the tables know; other differences are in the texts of the versions.
    """

    location: Location
    written: str
    there: str
    behaviour: tuple[str, ...] = ()


@dataclass(slots=True)
class DomainMinimum:
    """The answer for one domain.

    imported: the version in the model. version: the lowest one that rejects no node, None if each rejects some. taken:
    all versions that reject no node. blocked: per rejecting version its nodes. undecided: per version the number of
    nodes undecided because of an unknown size or type. moved: nodes whose operator differs at `version`. spoken: the
    name of each version in messages (``opset 17``).
    """

    domain: str
    imported: int | None
    nodes: int = 0
    version: str | None = None
    accepted: list[str] = field(default_factory=list)
    blocked: dict[str, list[BlockedNode]] = field(default_factory=dict)
    undecided: dict[str, int] = field(default_factory=dict)
    moved: list[MovedOperator] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def nearest(self) -> str:
        """The version that rejects the fewest nodes.

        Of several, the imported one, else the newest.
        """
        return min(self.blocked, key=lambda v: (len(self.blocked[v]), v != str(self.imported), -int(v)))

    @property
    def keepers(self) -> list[BlockedNode]:
        """Nodes rejected by the next lower version, which require `version`."""
        if self.version is None:
            return []
        lower_versions = [version for version in self.blocked if int(version) < int(self.version)]
        return self.blocked[max(lower_versions, key=int)] if lower_versions else []


@dataclass(frozen=True, slots=True)
class Release:
    """A release: its newest opset, and the newest IR version that it reads.

    refuses: whether its opset rejects a node. reads: whether it reads the file's IR version. newer: types in the model
    that it does not support yet. alone: whether it rejects a node that its opset accepts.
    """

    name: str
    title: str
    opset: str
    ir_version: int | None
    refuses: bool = False
    reads: bool = True
    newer: tuple[str, ...] = ()
    alone: bool = False

    @property
    def accepts_model(self) -> bool:
        """True if the release accepts the whole model."""
        return self.reads and not (self.refuses or self.newer or self.alone)


@dataclass(frozen=True, slots=True)
class ReleaseMinimum:
    """The first release that accepts a whole model, and all earlier ones.

    The first is None where no release accepts it. ir_version: of the file.
    """

    first: Release | None
    before: tuple[Release, ...]
    ir_version: int | None


@dataclass(slots=True)
class ModelMinimum:
    """The answer of `model_minimum`.

    no_table: operators without a table, with their numbers of nodes. main: the domain whose version is the level of the
    model. release: the answer for releases, if requested.
    """

    domains: list[DomainMinimum]
    no_table: dict[str, int]
    findings: list[Finding]
    main: str
    release: ReleaseMinimum | None = None

    def __bool__(self) -> bool:
        return all(minimum.version is not None for minimum in self.domains)

    def __str__(self) -> str:
        return self.level or "none"

    @property
    def level(self) -> str | None:
        """The lowest version of the main domain.

        None without one, or where no node of the domain was checked.
        """
        main = [minimum.version for minimum in self.domains if minimum.domain == self.main]
        return main[0] if main else None

    def to_dict(self, name: str = "") -> dict[str, Any]:
        """Return the data that ``specgate minimum --format json`` prints.

        name: the displayed name of the file.
        """
        return model_minimum_json(self, name)


_EXAMPLES: Final = 3
_CAUTION: Final = (
    "This checks types, ranks, sizes and attributes. Different results of another operator version are reported "
    "only where the tables record them."
)
_VERBOSE_HINT: Final = " -v lists what blocks each opset below."

_Cause = tuple[tuple[str, str, str], tuple[str, ...]]


def model_minimum_text(minimum: ModelMinimum, name: str, width: int, *, verbose: bool = False) -> str:
    """Return the answer as text: the lowest opsets with their causes.

    Where no opset accepts the model, the text names the causes for each. verbose: also list nodes with another version
    of their operator, and the causes for each lower version.
    """
    lines = [clean(name)]
    for domain in minimum.domains:
        lines += _answer(domain, width)
    if minimum.release is not None:
        lines += release_lines(minimum.release, minimum.main, width)
    if minimum.no_table:
        counts = sorted(minimum.no_table.items(), key=lambda item: (-item[1], item[0]))
        listing = ", ".join(f"{clean(operator)} ({count})" for operator, count in counts)
        lines += wrap_text(f"not checked, because they have no table: {listing}", width, hanging_indent="  ")
    if not minimum.domains:
        lines.append("no node of the model has a table, so the lowest opset is unknown")
        return "\n".join(lines) + "\n"
    for domain in minimum.domains if verbose else ():
        lines += _blockers(domain, width)
    lines += wrap_text(
        _CAUTION if verbose or not any(map(_rejected_nodes, minimum.domains)) else _CAUTION + _VERBOSE_HINT, width
    )
    return "\n".join(lines) + "\n"


def _answer(minimum: DomainMinimum, width: int) -> Iterator[str]:
    import_text = "imports none" if minimum.imported is None else f"imports {minimum.imported}"
    if minimum.version is None:
        text = f"{minimum.domain}: no opset accepts this model ({plural(minimum.nodes, 'node')}; it {import_text})"
        yield from wrap_text(text, width, hanging_indent="  ")
        nearest = minimum.nearest
        count = plural(len(minimum.blocked[nearest]), "node")
        yield from wrap_text(f"opset {nearest} is the closest; it rejects {count}:", width, first="  ")
        yield from _causes_text(minimum, [nearest], _causes(minimum, nearest), width, limit=_EXAMPLES)
        return
    result = (
        f"all {plural(minimum.nodes, 'node')} are valid {_opsets(minimum.accepted)}"
        if minimum.nodes > 1
        else f"its node is valid {_opsets(minimum.accepted)}"
    )
    text = f"{minimum.domain}: lowest opset {minimum.version} (the model {import_text}); {result}"
    yield from wrap_text(text, width, hanging_indent="  ")
    if open_here := minimum.undecided.get(minimum.version, 0):
        count = plural(open_here, "node")
        yield from wrap_text(f"{count} undecided at {minimum.version}: sizes or types are unknown", width, first="  ")
    for blocked in minimum.keepers[:_EXAMPLES]:
        reason = f": {blocked.findings[0].message}" if blocked.findings else ""
        yield from wrap_text(
            f"because of {_format_place(blocked.location)}{reason}", width, first="  ", hanging_indent="    "
        )
    if len(minimum.keepers) > _EXAMPLES:
        yield f"  and of {plural(len(minimum.keepers) - _EXAMPLES, 'more node')}"
    yield from _moved_lines(
        [moved_operator for moved_operator in minimum.moved if moved_operator.behaviour], minimum.version, width
    )


def _rejected_nodes(minimum: DomainMinimum) -> dict[str, list[BlockedNode]]:
    """Return the rejected nodes of lower versions; of all if none accepts."""
    limit = None if minimum.version is None else int(minimum.version)
    return {version: nodes for version, nodes in minimum.blocked.items() if limit is None or int(version) < limit}


def _blockers(minimum: DomainMinimum, width: int) -> Iterator[str]:
    """Yield moved operators, and the causes of rejection at lower versions."""
    rejected_nodes = _rejected_nodes(minimum)
    unchanged_operators = [moved_operator for moved_operator in minimum.moved if not moved_operator.behaviour]
    if rejected_nodes or unchanged_operators:
        yield f"{minimum.domain}, opset by opset:"
    yield from _moved_lines(unchanged_operators, minimum.version, width)
    for versions, causes in _spans(minimum, rejected_nodes):
        yield f"  {_ranges(versions)}:"
        yield from _causes_text(minimum, versions, causes, width)


def _causes_text(
    minimum: DomainMinimum, versions: list[str], causes: tuple[_Cause, ...], width: int, limit: int | None = None
) -> Iterator[str]:
    for (operator, rule, message), nodes in causes[:limit]:
        remainder = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
        head = f"{nodes[0]}{remainder} ({operator}): " if operator else f"{nodes[0]}{remainder}: "
        text = f"{head}{rule}: {_version_message(minimum, versions, message)}"
        yield from wrap_text(text, width, first="    ", hanging_indent="      ")
    if limit is not None and len(causes) > limit:
        yield f"    and {plural(len(causes) - limit, 'more reason')} (-v lists them)"


def _moved_lines(moved_operators: list[MovedOperator], version: str | None, width: int) -> Iterator[str]:
    """Yield operators with another version, with known differences."""
    by_kind: dict[tuple[str, str, str, tuple[str, ...]], int] = {}
    for change in moved_operators:
        kind = (clean(change.location.operator or ""), change.written, change.there, change.behaviour)
        by_kind[kind] = by_kind.get(kind, 0) + 1
    for (operator, old_name, newer, behaviour), count in by_kind.items():
        suffix = f"; different results: {', '.join(behaviour)}" if behaviour else ""
        text = (
            f"at opset {version}, {operator} is version {newer}; the model uses version {old_name} "
            f"({plural(count, 'node')}){suffix}"
        )
        yield from wrap_text(text, width, first="  ", hanging_indent="    ")


_LEVEL_MARK: Final = "\0"  # replaces the version in a message


def _spans(
    minimum: DomainMinimum, blocked: Mapping[str, list[BlockedNode]]
) -> Iterator[tuple[list[str], tuple[_Cause, ...]]]:
    """Yield runs of neighboring versions with equal causes.

    In their messages `_MARK` stands for the version.
    """
    causes_by_version = [(version, _causes(minimum, version)) for version in blocked]
    for causes, span in groupby(causes_by_version, key=lambda pair: pair[1]):
        yield [version for version, _ in span], causes


def _causes(minimum: DomainMinimum, version: str) -> tuple[_Cause, ...]:
    """Return the causes of rejections at a version, grouped by operator."""
    causes: dict[tuple[str, str, str], list[str]] = {}
    for node in minimum.blocked[version]:
        for finding in node.findings:
            message = clean(finding.message)
            if label := minimum.labels.get(version):
                message = at_level(message, label, _LEVEL_MARK)
            kind = (clean(node.location.operator or ""), finding.id, message)
            causes.setdefault(kind, []).append(clean(node.location.node or "the node"))
    return tuple((kind, tuple(nodes)) for kind, nodes in causes.items())


def _version_message(minimum: DomainMinimum, versions: list[str], message: str) -> str:
    """Return a message for a range of versions: ``at opset 1..4``."""
    first = minimum.labels.get(versions[0], versions[0])
    return message.replace(_LEVEL_MARK, first.removesuffix(versions[0]) + _ranges(versions))


def _format_place(location: Location) -> str:
    operator = f" ({clean(location.operator)})" if location.operator else ""
    return clean(location.node or "a node") + operator


def _opsets(versions: list[str]) -> str:
    """Return ``at opset 10``, ``from opset 10 to 17`` or ``at opsets 1..3, 5``."""
    ranges = _ranges(versions)
    first, dots, last = ranges.partition("..")
    if ", " in ranges:
        return f"at opsets {ranges}"
    return f"from opset {first} to {last}" if dots else f"at opset {first}"


def _ranges(versions: list[str]) -> str:
    runs: list[list[int]] = []
    for version in map(int, versions):
        if runs and version == runs[-1][-1] + 1:
            runs[-1].append(version)
        else:
            runs.append([version])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs) or "no opset"


def model_minimum_json(minimum: ModelMinimum, name: str) -> dict[str, Any]:
    """Return the answer as plain data."""
    return {
        "schema": "specgate-model-minimum/1",
        "file": name,
        "domains": [_domain_json(domain) for domain in minimum.domains],
        **({} if minimum.release is None else {"release": release_json(minimum.release)}),
        "no_table": minimum.no_table,
        "caution": _CAUTION,
    }


def _domain_json(minimum: DomainMinimum) -> dict[str, Any]:
    return {
        "domain": minimum.domain,
        "imported": minimum.imported,
        "minimum": None if minimum.version is None else int(minimum.version),
        "taken": [int(version) for version in minimum.accepted],
        "nodes": minimum.nodes,
        "undecided": {version: count for version, count in minimum.undecided.items() if count},
        "kept_by": [blocked.location.node for blocked in minimum.keepers],
        "changed": [
            {
                "node": moved_operator.location.node,
                "operator": moved_operator.location.operator,
                "written": moved_operator.written,
                "there": moved_operator.there,
                "computes_otherwise": list(moved_operator.behaviour),
            }
            for moved_operator in minimum.moved
        ],
        "blockers": [
            {
                "versions": [int(version) for version in versions],
                "operator": operator,
                "id": rule,
                "message": _version_message(minimum, versions, message),
                "nodes": list(nodes),
            }
            for versions, causes in _spans(minimum, minimum.blocked)
            for (operator, rule, message), nodes in causes
        ],
    }


def at_level(message: str, label: str, replacement_label: str) -> str:
    """Return a message with the level `label` replaced by `replacement_label`.

    It distinguishes ``opset 1`` from ``opset 17``.
    """
    if label not in message:
        return message
    return re.sub(rf"(?<!\w){re.escape(label)}(?!\.?\w)", lambda _: replacement_label, message)
