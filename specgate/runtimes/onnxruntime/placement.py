"""Placements of models and of their nodes, and texts about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from specgate.descriptors.read import write_dict
from specgate.runtimes.onnxruntime.constant_folding import fusing_setting
from specgate.runtimes.onnxruntime.qdq_duplication import duplicating
from specgate.spec.version import versions_of_targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.linting.nodes import Graph
    from specgate.runtimes.onnxruntime.functions import Functions
    from specgate.runtimes.onnxruntime.graph import Body
    from specgate.runtimes.onnxruntime.partition import Copy
    from specgate.verdict import Finding

_MAX_LISTED = 6


def pluralize(noun: str, count: int) -> str:
    """Return a noun in its plural form unless `count` is 1."""
    return noun if count == 1 else f"{noun}s"


def spared_reason(node: PlacedNode) -> str:
    """Return why only a session without optimizations fails due to a node."""
    reason = (
        node.why if not node.has_kernel else node.created_by or node.run_fails
    ) or "no provider has a kernel for it"
    action = "remove it" if node.removed else "compute its values early"
    return f"{reason}; default graph optimizations {action}; without them the session fails"


def format_list(items: Sequence[object], limit: int = _MAX_LISTED) -> str:
    """Return a comma-separated list; a long list omits its middle.

    The last items remain, because versions grow.
    """
    texts = [str(item) for item in items]
    if len(texts) > limit:
        return f"{', '.join(texts[:2])} … {', '.join(texts[2 - limit :])}"
    return ", ".join(texts)


Creation = Literal["created", "deferred", "fails", "unknown"]


@dataclass
class PlacedNode:
    """The placement of one node.

    node: its path in the file. version: its operator's version by the model's imports, None if the tables lack it.
    provider: "DirectML", "CPU", or None if no provider has a kernel. reason: why it is not on the target's first
    provider, in one word (`newer`, `older`, `unregistered`, `type`, `query`, `device`, `preferred`), "" if it is; why:
    the same as a sentence. casts: it runs as FLOAT between casts that the runtime inserts. has_kernel: whether its
    provider has a kernel for it; nodes that read FLOAT16 are left to the CPU even without one.
    creation: whether its kernel is created with the session, at the first run, or not at all; created_by: why it is not
    created with the session. run_fails: why a deferred kernel fails at the first run for all nonzero sizes, "" if that
    is not certain. outline: the known descriptors of such a kernel.
    lowered: the descriptors that it becomes, None if unknown. function: the path of the call that it belongs to.
    partition: the number of its partition, starting from 1. open: an assumption of the answer, "" for none. at_run: the
    session is created, and every run of this node fails; its `creation` is "fails".
    refused: the runtime rejects it on every provider, because it is invalid in ONNX. folds: default optimizations may
    fold it before placement, because its outputs follow from constants and known sizes. removed: they remove it before
    placement, because it is a no-op. fuses: its provider may fuse it with its neighbors unless a session forbids it; it
    stays on the provider.
    duplicates: copies that the runtime adds, one per further consumer, with separate names; reader: the path of a
    copy's consumer, "" for a node of the file. descriptor: the node by the tables of the models' dialect, None without
    a table.
    """

    node: str
    operator: str
    version: int | None
    provider: str | None
    reason: str = ""
    why: str = ""
    casts: bool = False
    has_kernel: bool = True
    function: str | None = None
    open: str = ""
    descriptor: Descriptor | None = field(default=None, repr=False, compare=False)
    # The following are set later, most of them for few nodes: defaults of the class cost nothing per node.
    creation: Creation = field(default="created", init=False)
    created_by: str = field(default="", init=False)
    run_fails: str = field(default="", init=False)
    outline: tuple[Descriptor, ...] = field(default=(), init=False)
    lowered: tuple[Descriptor, ...] | None = field(default=None, init=False)
    partition: int | None = field(default=None, init=False)
    refused: bool = field(default=False, init=False)
    at_run: bool = field(default=False, init=False)
    folds: bool = field(default=False, init=False)
    removed: bool = field(default=False, init=False)
    fuses: bool = field(default=False, init=False)
    findings: tuple[Finding, ...] = field(default=(), init=False)
    duplicates: tuple[PlacedNode, ...] = field(default=(), init=False)
    reader: str = field(default="", init=False)

    @property
    def gone(self) -> bool:
        """Return whether default optimizations remove the node.

        A node that is folded needs the CPU for that, so one that fails there does not count. The state of its kernel
        does not matter.
        """
        if not self.removed and not (self.folds and self.provider not in {None, "CPU"}):
            return False
        return self.at_run or not self.refused

    @property
    def fails(self) -> bool:
        """Return whether it makes a session with default optimizations fail."""
        return (self.provider is None or self.creation == "fails") and not self.gone

    @property
    def spared(self) -> bool:
        """Return whether only default optimizations keep it from failing."""
        return self.gone and (self.provider is None or self.creation == "fails" or bool(self.run_fails))

    @property
    def warnings(self) -> Sequence[Finding]:
        """Return warnings that its created kernel deviates from ONNX."""
        return () if self.creation == "fails" or self.run_fails else self.findings

    @property
    def times(self) -> int:
        """Return the number of copies in the runtime, itself included."""
        return 1 + len(self.duplicates)

    @property
    def unlike(self) -> Sequence[PlacedNode]:
        """Return the duplicates that become something else.

        Some releases add duplicates without the node's attributes.
        """
        return (
            [duplicate for duplicate in self.duplicates if duplicate.becomes != self.becomes] if self.duplicates else ()
        )

    @property
    def becomes(self) -> tuple[object, ...]:
        """Return the properties of its kernel in which duplicates may differ."""
        return self.creation, self.lowered, self.run_fails, self.outline

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``specgate place --format json`` prints it."""
        return {
            "node": self.node,
            "operator": self.operator,
            "version": self.version,
            "provider": self.provider,
            "reason": self.reason,
            "why": self.why,
            "casts": self.casts,
            "creation": self.creation,
            "creation_why": self.created_by,
            "run_fails": self.run_fails,
            "lowered": None if self.lowered is None else [write_dict(duplicate) for duplicate in self.lowered],
            "function": self.function,
            "partition": self.partition,
            "open": self.open,
            "refused": self.refused,
            "folds": self.folds,
            "removed": self.removed,
            "fuses": self.fuses,
            "findings": [finding.to_dict() for finding in self.findings],
            "times": self.times,
            "duplicates": [
                {
                    "node": duplicate.node,
                    "reader": duplicate.reader,
                    "partition": duplicate.partition,
                    "creation": duplicate.creation,
                    "creation_why": duplicate.created_by,
                }
                for duplicate in self.duplicates
            ],
        }


@dataclass(frozen=True, slots=True)
class Partition:
    """Nodes of one provider that run without nodes of another in between.

    place: their body. nodes: their paths; nodes that the runtime adds have separate paths.
    """

    number: int
    provider: str
    place: str
    nodes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``specgate place --format json`` prints it."""
        return {
            "number": self.number, "provider": self.provider, "place": self.place, "nodes": list(self.nodes),
        }  # fmt: skip


@dataclass(slots=True)
class Placement:
    """The placement of a model by a runtime.

    Iterates over the nodes of the file; counts also refer to these.
    target: as the caller gave it. providers: in order of preference. device: the capabilities that it reports, None if
    unknown, which counts as all. session: whether it is created. refusals: why the runtime rejects the model regardless
    of its nodes. file_findings: findings on the file for which it does so. own_refusals: refusals without a finding.
    fixes: changes that would move nodes to the first provider. notes: assumptions of the answer.
    All but `session` describes a session without optimizations, because only such a session keeps the nodes of the
    file.
    """

    target: str
    providers: tuple[str, ...]
    file: str | None = None
    device: frozenset[str] | None = None
    nodes: list[PlacedNode] = field(default_factory=list)
    partitions: list[Partition] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    file_findings: Sequence[Finding] = ()
    own_refusals: list[str] = field(default_factory=list)
    fixes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    optimisations: str = "off"

    def __iter__(self) -> Iterator[PlacedNode]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def every(self) -> Iterator[PlacedNode]:
        """Yield every node of the runtime: the file's, each before its copies."""
        for node in self.nodes:
            yield node
            yield from node.duplicates

    @property
    def unlike(self) -> Iterator[PlacedNode]:
        """Yield the nodes of the file, each before its differing duplicates."""
        for node in self.nodes:
            yield node
            yield from node.unlike

    @property
    def counts(self) -> Mapping[str | None, int]:
        """Return the number of nodes per provider; None: without a kernel."""
        return Counter(node.provider for node in self.nodes)

    @property
    def session(self) -> Literal["created", "fails"]:
        """Return whether the session is created.

        Nodes that default optimizations remove do not count.
        """
        failed = self.refusals or any(node.fails for node in self.every)
        return "fails" if failed else "created"

    @property
    def unoptimised(self) -> Literal["created", "fails"]:
        """Return whether a session without optimizations is created."""
        has_spared = any(node.spared and (node.provider is None or node.creation == "fails") for node in self.every)
        return "fails" if has_spared else self.session

    @property
    def usable(self) -> bool:
        """Return whether the session is created and no first run surely fails."""
        return self.session == "created" and not any(node.run_fails and not node.gone for node in self.every)

    @property
    def other_provider_nodes(self) -> Sequence[PlacedNode]:
        """Return the nodes that are not on the target's first provider."""
        return [node for node in self.nodes if node.provider != self.providers[0]]

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``specgate place --format json`` prints it."""
        return {
            "schema": "specgate-placement/1",
            "tables": versions_of_targets([self.target]),
            "target": self.target,
            "file": self.file,
            "optimisations": self.optimisations,
            "device": None if self.device is None else sorted(self.device),
            "session": self.session,
            "refusals": self.refusals,
            "counts": {str(provider): count for provider, count in self.counts.items()},
            "nodes": [node.to_dict() for node in self.nodes],
            "partitions": [partition.to_dict() for partition in self.partitions],
            "copies": [copy.to_dict() for copy in self.copies],
            "fixes": self.fixes,
            "notes": self.notes,
        }


def remark(placement: Placement, graph: Graph, functions: Functions, main: Body, release: str) -> None:
    """Add notes about the assumptions of the answer to a placement."""
    placement.notes.append("placement without graph optimizations; with them the runtime first fuses and removes nodes")
    folded = [node.node for node in placement.nodes if node.folds]
    if folded:
        nodes_text = f"{format_list(folded)}; others may then run elsewhere"
        placement.notes.append(f"default graph optimizations may fold {len(folded)} of these nodes: {nodes_text}")
    placement.notes.extend(
        f"{node.node} ({node.operator}): {spared_reason(node)}" for node in placement.nodes if node.spared
    )
    placement.notes.extend(
        f"{node.node} ({node.operator}): {finding.message}" for node in placement.nodes for finding in node.warnings
    )
    duplicated = [node for node in placement.nodes if node.duplicates]
    if duplicated:
        duplicate_count = sum(len(node.duplicates) for node in duplicated)
        nodes_text = format_list([f"{node.node} ({node.times} copies)" for node in duplicated])
        operators = format_list(sorted({node.operator for node in duplicated}))
        duplication = duplicating(release)
        unless = f" ({duplication.setting} turns that off)" if duplication else ""
        message = f"the runtime duplicates {operators} nodes ({duplicate_count} more than in the file)"
        placement.notes.append(f"{message}, one per consumer: {nodes_text}{unless}")
    fused = sum(node.fuses for node in placement.nodes)
    if fused:
        first = placement.providers[0]
        message = f"{fused} {pluralize('node', fused)}"
        placement.notes.append(
            f"{first} may fuse {message} into larger kernels; {fusing_setting(first)} turns that off"
        )
    if placement.device is None and len(placement.providers) > 1:
        placement.notes.append("assumes a GPU that supports every optional type (see --device)")
    if main.constant_nodes:
        message = "1 Constant node is" if main.constant_nodes == 1 else f"{main.constant_nodes} Constant nodes are"
        placement.notes.append(f"{message} not counted: they become initializers before nodes are placed")
    if functions.missing:
        placement.notes.append("install onnx to expand function operators")
    if graph.not_inferred:
        placement.notes.append(f"missing types and shapes were not inferred: {graph.not_inferred} is not installed")
