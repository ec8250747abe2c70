"""Nodes that ONNX Runtime prefers to run on the CPU, mostly shape math.

Source: onnxruntime core/framework/fallback_cpu_capability.cc, GetCpuPreferredNodes (commit 039e489f3). The environment
variable ORT_AGGRESSIVE_CPU_FALLBACK, which widens the walk, counts as not set.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.runtimes.onnxruntime.graph import Body, Node
    from specgate.runtimes.onnxruntime.registrations import Registration

__all__ = ["MOST_ELEMENTS", "preferred"]

#: An initializer of at most so many elements does not keep a node from the CPU.
MOST_ELEMENTS: Final = 100
#: Types whose nodes never prefer the CPU.
_NEVER: Final = frozenset(
    {
        "FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT4E2M1",
    }
)  # fmt: skip


def preferred(body: Body, kernels: Mapping[Node, Registration]) -> set[Node]:
    """Return the nodes of a body that the runtime moves to the CPU.

    `kernels` has the provider's registrations. The walk starts at outputs in CPU memory. It continues with the
    consumers of moved nodes, and of nodes without a registration.
    """
    on_cpu: set[str] = set()
    candidates: list[int] = []
    for node, row in kernels.items():
        for index, name in enumerate(node.proto.outputs):
            if name and index in row.cpu_outputs:
                on_cpu.add(name)
                candidates += (reader.index for reader in body.readers.get(name, ()))
    heapq.heapify(candidates)
    visited: set[int] = set()
    chosen: set[Node] = set()
    while candidates:
        at = heapq.heappop(candidates)
        if at in visited:
            continue
        visited.add(at)
        node = body.nodes[at]
        kernel = kernels.get(node)
        if kernel is not None and not _small(node, kernel, body, on_cpu):
            continue
        if kernel is not None:
            chosen.add(node)
        for name in node.proto.outputs:
            if name:
                on_cpu.add(name)
                for reader in body.readers.get(name, ()):
                    heapq.heappush(candidates, reader.index)
    return chosen


def _small(node: Node, row: Registration, body: Body, on_cpu: set[str]) -> bool:
    """Return whether a node's inputs are small, graph inputs or on the CPU.

    An input that the provider itself reads from CPU memory must be small or a graph input. Types in `_NEVER` do not
    count as small.
    """
    for index, (name, kind) in enumerate(zip(node.proto.inputs, node.kinds[0], strict=True)):
        if kind in _NEVER:
            return False
        if body.sizes.get(name, MOST_ELEMENTS + 1) <= MOST_ELEMENTS or name in body.inputs:
            continue
        if name not in on_cpu or index in row.cpu_inputs:  # an omitted input is not in memory
            return False
    return True
