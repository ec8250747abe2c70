"""The order in which a runtime visits the nodes of a body."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from specgate.dialects.onnx.lint.units import subgraphs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.dialects.onnx.file.structure import OnnxNode

__all__ = ["ordered", "reads", "walked"]


def ordered(nodes: list[tuple[int, OnnxNode]]) -> list[tuple[int, OnnxNode]]:
    """Return nodes in topological order, unchanged if already sorted.

    Values that a subgraph reads from enclosing graphs count as read by its node. Nodes of a cycle come last.
    """
    numbers_by_name = {name: at for at, (_, node) in enumerate(nodes) for name in node.outputs if name}
    if _in_order(nodes, numbers_by_name):
        return nodes
    needs = [
        {numbers_by_name[name] for name in reads(node) if name in numbers_by_name} - {at}
        for at, (_, node) in enumerate(nodes)
    ]
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
    cycle = [at for at, need in enumerate(needs) if need]  # the linter reports cycles
    return [nodes[at] for at in (*order, *cycle)]


def _in_order(nodes: Sequence[tuple[int, OnnxNode]], numbers_by_name: Mapping[str, int]) -> bool:
    for at, (_, node) in enumerate(nodes):
        for name in reads(node):
            if name in numbers_by_name and numbers_by_name[name] >= at:
                return False
    return True


def reads(node: OnnxNode) -> Sequence[str]:
    """Return the values that a node or its subgraphs read.

    They include values of the enclosing graph.
    """
    if node.plain:
        return node.inputs
    texts = list(node.inputs)
    for _, graph in subgraphs(node):
        for inner in graph.nodes:
            texts += reads(inner)
        texts += (info.name for info in graph.outputs)
    return texts


def walked(nodes: Sequence[OnnxNode]) -> list[int]:
    """Return node indices in the reverse depth-first order of ONNX Runtime.

    Its optimizers walk from the last node without consumers, and list a node's inputs before the node, the last input
    first. Source: onnxruntime core/graph/graph_viewer.cc (commit 486da22c9) and Graph::ReverseDFSFrom of
    core/graph/graph.cc.
    """
    numbers_by_name = {name: at for at, node in enumerate(nodes) for name in node.outputs if name}
    needs = [
        sorted({numbers_by_name[name] for name in reads(node) if name in numbers_by_name} - {at})
        for at, node in enumerate(nodes)
    ]
    read = {at for need in needs for at in need}
    waiting = [(at, False) for at in range(len(nodes)) if at not in read]
    order: list[int] = []
    seen: set[int] = set()
    while waiting:
        at, done = waiting.pop()
        if done:
            order.append(at)
        elif at not in seen:
            seen.add(at)
            waiting.append((at, True))
            waiting += [(need, False) for need in needs[at] if need not in seen]
    return order + [at for at in range(len(nodes)) if at not in seen]  # nodes of a cycle, which the linter reports
