"""The order in which a runtime looks at the nodes of a body."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from specgate.dialects.onnx.lint.walk import subgraphs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.dialects.onnx.file.structure import OnnxNode

__all__ = ["ordered"]


def ordered(nodes: list[tuple[int, OnnxNode]]) -> list[tuple[int, OnnxNode]]:
    """Return nodes in topological order: as they are if they are so, else each behind what it reads.

    What a subgraph reads of the graph around counts as read by its node. Nodes of a cycle come last.
    """
    made = {name: at for at, (_, node) in enumerate(nodes) for name in node.outputs if name}
    if _in_order(nodes, made):
        return nodes
    needs = [{made[name] for name in _reads(node) if name in made} - {at} for at, (_, node) in enumerate(nodes)]
    behind: dict[int, list[int]] = {}
    for at, need in enumerate(needs):
        for before in need:
            behind.setdefault(before, []).append(at)
    ready = [at for at, need in enumerate(needs) if not need]
    order: list[int] = []
    while ready:
        at = heapq.heappop(ready)
        order.append(at)
        for after in behind.get(at, ()):
            needs[after].discard(at)
            if not needs[after]:
                heapq.heappush(ready, after)
    cycle = [at for at, need in enumerate(needs) if need]  # which is reported by the linter
    return [nodes[at] for at in (*order, *cycle)]


def _in_order(nodes: Sequence[tuple[int, OnnxNode]], made: Mapping[str, int]) -> bool:
    for at, (_, node) in enumerate(nodes):
        for name in _reads(node):
            if name in made and made[name] >= at:
                return False
    return True


def _reads(node: OnnxNode) -> Sequence[str]:
    """Return the values that a node reads, and those that its subgraphs may read of the graph around."""
    if not node.attributes or all(held.plain for held in node.attributes.values()):
        return node.inputs
    found = list(node.inputs)
    for _, graph in subgraphs(node):
        for inner in graph.nodes:
            found += _reads(inner)
        found += (info.name for info in graph.outputs)
    return found
