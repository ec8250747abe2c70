"""Fixes of nodes that name only what the target has: its opsets, and the types that its kernels read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.dialects.onnx.lint.walk import label
from specgate.errors import NoTable
from specgate.slotted import replace
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.linting.nodes import Graph
    from specgate.runtimes.protocol import Runtime
    from specgate.targets import Target
    from specgate.verdict import Finding

__all__ = ["fitted"]


def fitted(graph: Graph, target: Target, runtime: Runtime | None, findings: list[Finding]) -> list[Finding]:
    """Return findings on nodes of a model with fixes that the target allows. runtime: the target's."""
    if not graph.imports:
        return findings
    made = [_within(graph, found, target) if found.fix and found.levels else found for found in findings]
    if runtime is None or not any(found.id.endswith(".type") for found in made):
        return made
    nodes = _descriptors(graph, {found.node for found in made})
    return [
        runtime.registered_fix(found, held, target) if (held := nodes.get(found.node)) is not None else found
        for found in made
    ]


def _within(graph: Graph, found: Finding, target: Target) -> Finding:
    """Return a finding whose fix proposes no opset above the target's: the finding on the import covers that."""
    try:
        spec = dialect(target.dialect).operator(found.id.split("/")[1])
    except NoTable:
        return found
    position, top = spec.dialect.position, spec.level_for(target.level)
    own = graph.imports.get(spec.dialect.domain)
    if top in found.levels and own is not None and str(own) in position and position[str(own)] > position[str(top)]:
        return replace(found, fix=f"import {spec.dialect.label(str(top))}, at which the node is valid as it is")
    for level in found.levels:
        words = f"use {spec.dialect.label(level)}"
        fix = found.fix or ""
        if level in position and (top is None or position[level] > position[top]) and fix.endswith(words):
            return replace(found, fix=fix.removesuffix(words).removesuffix(" or ") or None)
    return found


def _descriptors(graph: Graph, places: set[str | None]) -> dict[str | None, Descriptor]:
    """Return the descriptors of nodes by their paths."""
    return {
        place: kind.descriptor
        for row in graph.source.found.rows
        for at, kind in enumerate(row.kinds)
        if kind is not None
        and kind.descriptor is not None
        and (place := f"{row.place}/{label(row.nodes[row.first + at], row.first + at)}") in places
    }
