"""The nodes that another provider could take and that ONNX Runtime leaves to the CPU: computations of shapes, mostly.

Source: onnxruntime core/framework/fallback_cpu_capability.cc, GetCpuPreferredNodes (commit 039e489f3).
The environment variable ORT_AGGRESSIVE_CPU_FALLBACK, which widens the walk, counts as not set.
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
#: Types for which the CPU is never preferred.
_NEVER: Final = frozenset(
    {
        "FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT4E2M1",
    }
)  # fmt: skip


def preferred(body: Body, kernels: Mapping[Node, Registration]) -> set[Node]:
    """Return the nodes of one body that go to the CPU although `kernels` has a registration of the provider for them.

    The walk begins at what the provider itself leaves in CPU memory, and goes on behind nodes that the provider has no
    kernel for once it has reached them.
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
    """Whether all that a node reads is small or on the CPU already, and not meant to be read there by the provider."""
    for index, (name, kind) in enumerate(zip(node.proto.inputs, node.kinds[0], strict=True)):
        if kind in _NEVER:
            return False
        if body.sizes.get(name, MOST_ELEMENTS + 1) <= MOST_ELEMENTS or name in body.inputs:
            continue
        if name not in on_cpu or index in row.cpu_inputs:  # an input that is left out is in no memory
            return False
    return True
