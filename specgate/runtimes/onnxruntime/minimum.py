"""The minimum feature level for the nodes of a runtime's first provider.

At this level, every such node is also created.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from specgate.errors import InputError
from specgate.linting.model import graph_of
from specgate.loading import gc_paused
from specgate.lowest.text import at_level
from specgate.runtimes.onnxruntime.finding_rules import GROUP
from specgate.runtimes.onnxruntime.functions import Functions
from specgate.runtimes.onnxruntime.node_assignment import Assigner, assign_model
from specgate.runtimes.onnxruntime.place import place_graph
from specgate.runtimes.onnxruntime.provider_choice import missing_types
from specgate.runtimes.onnxruntime.registrations import runtime_tables
from specgate.spec.tables import dialect
from specgate.targets import parse_target
from specgate.validate.check import check_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.runtimes.onnxruntime.placement import PlacedNode, Placement
    from specgate.targets import Target

    Causes = tuple[tuple[str, str], ...]

#: The reason why a node is not on the first provider at a level ("" if it is), by the path of the node and the number
#: of earlier nodes with that path.
_Elsewhere = dict[tuple[str, int], str]


@dataclass(frozen=True, slots=True)
class BlockedNode:
    """A node that is not created at a level.

    causes: rule id and message of each finding.
    """

    node: str
    operator: str
    causes: Causes


@dataclass(slots=True)
class LevelMinimum:
    """The answer of `level_minimum`.

    target: the release that places the nodes. dialect: the dialect of the levels. level: the lowest level without
    blocked nodes, None if none exists or the provider does not run any node. levels: all such levels. nodes: number of
    the provider's nodes; deferred: number of those created at the first run, because sizes are unknown; unknown: number
    of those without a lowering table. blocked: blocked nodes of each other level. refusals: why the runtime does not
    load the model.
    """

    target: str
    dialect: str
    nodes: int = 0
    deferred: int = 0
    unknown: int = 0
    level: str | None = None
    levels: list[str] = field(default_factory=list)
    blocked: dict[str, list[BlockedNode]] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.level is not None and not self.refusals

    def __str__(self) -> str:
        return self.level or "none"

    def to_dict(self, name: str = "") -> dict[str, Any]:
        """Return the JSON form that ``specgate minimum --dialect`` prints.

        name: the file.
        """
        return {
            "schema": "specgate-level-minimum/1",
            "file": name,
            "target": self.target,
            "dialect": self.dialect,
            "minimum": self.level,
            "levels": self.levels,
            "nodes": self.nodes,
            "deferred": self.deferred,
            "unknown": self.unknown,
            "refusals": self.refusals,
            "blockers": {
                level: [
                    {
                        "node": node.node,
                        "operator": node.operator,
                        "findings": [{"id": rule, "message": message} for rule, message in node.causes],
                    }
                    for node in nodes
                ]
                for level, nodes in self.blocked.items()
            },
        }


def runtime_target(dialect_name: str | None, target: str | Target | None) -> Target:
    """Return `target`, or the newest release with the library of `dialect_name`.

    Raises InputError if no release exists, or if the target creates operators of another dialect.
    """
    if target is None:
        for name, package_facts in runtime_tables()["packages"].items():
            if package_facts.get("carries") == dialect_name:
                return parse_target(f"{name}:latest")
        raise InputError(f"no known runtime creates {dialect_name!r:.40} operators")
    new_target = parse_target(target) if isinstance(target, str) else target
    if dialect_name is not None and (new_target.runtime is None or new_target.runtime.below != dialect_name):
        raise InputError(f"{new_target} does not create {dialect_name!r:.40} operators")
    return new_target


def level_minimum(model: Any, target: Target, settings: LintSettings) -> LevelMinimum:
    """Place a model on `target`, and judge its descriptors at every level.

    Verdicts follow observed behavior of builds. A node of the provider blocks a level if it would be elsewhere there,
    or if one of its descriptors is rejected there. Raises InputError for an unusable file, and for a target that does
    not create descriptors.
    """
    runtime = target.runtime
    if runtime is None or not runtime.below:
        raise InputError(
            f"{target} does not create DirectML operators; use a release such as onnxruntime-directml:1.24.4"
        )
    table = dialect(runtime.below)
    with gc_paused():
        graph = graph_of(model, replace(settings, placing=True))
        if graph.dialect != target.dialect or graph.source is None:
            raise InputError(f"{target} places only models of {target.dialect}")
        placement = place_graph(graph, target, None, None)
        minimum = LevelMinimum(str(target), table.name, refusals=placement.refusals)
        pairs = [(key, node) for key, node in _key_nodes(placement) if node.provider == runtime.providers[0]]
        minimum.nodes = len(pairs)
        minimum.deferred = sum(node.creation == "deferred" for _, node in pairs)
        minimum.unknown = sum(node.creation == "unknown" for _, node in pairs)
        judge = _LevelChecker(graph, target)
        for level in table.levels if pairs else ():
            if nodes := list(judge.blocked_nodes(pairs, level)):
                minimum.blocked[level] = nodes
            else:
                minimum.levels.append(level)
        minimum.level = minimum.levels[0] if minimum.levels else None
    return minimum


def _key_nodes(placement: Placement) -> Iterator[tuple[tuple[str, int], PlacedNode]]:
    """Yield nodes and differing duplicates, keyed by path and count.

    The count is the number of earlier nodes with the same path.
    """
    name_counts: Counter[str] = Counter()
    for node in placement.unlike:
        yield (node.node, name_counts[node.node]), node
        name_counts[node.node] += 1


class _LevelChecker:
    """Judges the nodes of one model at levels.

    Descriptors that several nodes share are judged once.
    """

    def __init__(self, graph: Graph, target: Target) -> None:
        assert target.runtime is not None  # noqa: S101  # checked by the caller
        self.graph = graph
        self.runtime = target.runtime
        self.table = dialect(self.runtime.below)
        self.own = frozenset(missing_types(self.runtime, None))
        self._placed: dict[frozenset[str], tuple[str, _Elsewhere]] = {}
        self._judged: dict[tuple[int, str], Causes] = {}

    def blocked_nodes(self, pairs: list[tuple[tuple[str, int], PlacedNode]], level: str) -> Iterator[BlockedNode]:
        """Yield the nodes that are not created at a level."""
        on_provider, other_nodes = self._locate_elsewhere(level)
        inlined_text = f"its call is inlined, because {self.table.tables.title} does not support it there"
        for key, node in pairs:
            if node.gone:
                continue
            causes: Causes = ()
            if other_nodes is not None and (reason := other_nodes.get(key, inlined_text)):
                message = at_level(reason, self.table.label(on_provider), self.table.label(level))
                causes = ((f"{GROUP}/on-cpu", message),)
            elif node.lowered is not None and not node.refused:
                causes = self._rejection_causes(node.lowered, level)
            elif node.creation == "fails":
                causes = ((f"{GROUP}/session-fails", node.created_by),)
            elif node.creation == "deferred":
                causes = self._at_run(node, level)
            if causes:
                yield BlockedNode(node.node, node.operator, causes)

    def _locate_elsewhere(self, level: str) -> tuple[str, _Elsewhere | None]:
        """Return a level with equal types, and the location of nodes there.

        The location is None if nodes are placed as on the target.
        """
        runtime = replace(self.runtime, level=level)
        lacked = frozenset(missing_types(runtime, None))
        if lacked == self.own:
            return level, None
        if lacked not in self._placed:
            source = self.graph.source
            functions = Functions(source.model, runtime.opsets, runtime.release)
            name_counts: Counter[str] = Counter()
            texts_by_key: _Elsewhere = {}
            for assigned_node in assign_model(source, Assigner(runtime, None), functions).nodes:
                path = assigned_node.node.path
                texts_by_key[path, name_counts[path]] = (
                    ""
                    if assigned_node.provider == runtime.providers[0]
                    else assigned_node.why or "it is placed on another provider"
                )
                name_counts[path] += 1
            self._placed[lacked] = level, texts_by_key
        return self._placed[lacked]

    def _at_run(self, node: PlacedNode, level: str) -> Causes:
        """Return why a deferred kernel fails at a level for all sizes."""
        if node.outline:
            return self._rejection_causes(node.outline, level)
        return ((f"{GROUP}/session-fails", f"fails at the first run: {node.run_fails}"),) if node.run_fails else ()

    def _rejection_causes(self, lowered: tuple[Descriptor, ...], level: str) -> Causes:
        key = id(lowered), level
        if key not in self._judged:
            causes = []
            for descriptor in lowered:
                verdict = check_at(descriptor, level, "observed")
                if verdict.accepted is False:
                    causes += [(finding.id, finding.message) for finding in verdict.findings]
            self._judged[key] = tuple(dict.fromkeys(causes))
        return self._judged[key]
