"""What the answer of a placement rests on, and what defaults of the runtime change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.placement.duplicating import duplicating
from specgate.placement.folding import fusing_setting
from specgate.placement.words import listed, several, spared

if TYPE_CHECKING:
    from specgate.linting.nodes import Graph
    from specgate.placement.functions import Functions
    from specgate.placement.graph import Body
    from specgate.placement.placed import Placement

__all__ = ["remark"]


def remark(placement: Placement, graph: Graph, functions: Functions, main: Body, release: str) -> None:
    """Say what the answer rests on."""
    placement.notes.append("optimisations are off; with them nodes are fused, folded and moved before they are placed")
    folded = [node.node for node in placement.nodes if node.folds]
    if folded:
        which = f"{listed(folded)}; others may then run elsewhere"
        placement.notes.append(f"default optimisations may fold {len(folded)} of these nodes: {which}")
    placement.notes.extend(f"{node.node} ({node.operator}): {spared(node)}" for node in placement.nodes if node.spared)
    placement.notes.extend(
        f"{node.node} ({node.operator}): {found.message}" for node in placement.nodes for found in node.warnings
    )
    again = [node for node in placement.nodes if node.duplicates]
    if again:
        more = sum(len(node.duplicates) for node in again)
        which = listed([f"{node.node} (made {node.times} times)" for node in again])
        why = "as nodes that read one of these have one each"
        how = duplicating(release)
        unless = f" ({how.setting} keeps it from that)" if how else ""
        what = f"the runtime has {more} {several('node', more)} more than the file"
        placement.notes.append(f"{what}, {why}: {which}{unless}")
    fused = sum(node.fuses for node in placement.nodes)
    if fused:
        first = placement.providers[0]
        what = "1 of these nodes a part" if fused == 1 else f"{fused} of these nodes parts"
        setting = fusing_setting(first)
        placement.notes.append(f"by default {first} may make {what} of larger kernels ({setting} keeps it from that)")
    if placement.device is None and len(placement.providers) > 1:
        placement.notes.append("the device counts as one that reports every capability")
    if main.constant_nodes:
        what = "1 Constant node is" if main.constant_nodes == 1 else f"{main.constant_nodes} Constant nodes are"
        placement.notes.append(f"{what} not counted: their values are initializers when nodes are placed")
    if functions.missing:
        placement.notes.append(
            "what functions without a kernel are made of says the onnx package, which is not installed"
        )
    errors = sum(found.severity == "error" for found in graph.findings)
    if errors:
        what = "1 error" if errors == 1 else f"{errors} errors"
        placement.notes.append(f"the model itself has {what}, which the runtime may refuse: lint it")
    if graph.not_inferred:
        placement.notes.append(
            f"types and shapes that the file leaves out were not inferred: {graph.not_inferred} is not installed"
        )
