"""What lint says of a placement: nodes that are not where the target was chosen for, and sessions that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.placement.place import place_graph
from specgate.placement.rules import GROUP, RULES
from specgate.verdict import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.linting.nodes import Graph
    from specgate.placement.placed import PlacedNode, Placement
    from specgate.targets import Target

__all__ = ["findings_of", "placement_findings"]


def placement_findings(
    graph: Graph, target: Target, device: frozenset[str] | None, file: str | None
) -> Iterator[Finding]:
    """Yield the findings on where the nodes of a model run."""
    yield from findings_of(place_graph(graph, target, device, file))


def findings_of(placement: Placement) -> Iterator[Finding]:
    """Yield the findings of a placement that was made."""
    model = Location(placement.file, None, "model")
    for refusal in placement.refusals:
        yield _finding(placement, "session-fails", refusal, model)
    for node in placement.unlike:
        at = Location(placement.file, None, node.node, node.operator)
        fix = placement.fixes[0] if placement.fixes and node.reason == "newer" else None
        values = {"provider": node.provider, "version": node.version}
        rule = _rule(node)
        if rule is not None:
            yield _finding(placement, rule, node.why or "no provider has a kernel for it", at, values, fix)
        if node.has_kernel and node.creation == "fails" and not node.refused:  # lint has said that
            yield _finding(placement, "session-fails", node.created_by, at, values)
        if node.open:
            yield _finding(placement, "undecided", node.open, at, values)


def _rule(node: PlacedNode) -> str | None:
    if not node.has_kernel:
        return "no-kernel"
    if node.casts:
        return "cast"
    if not node.reason:
        return None
    return {"newer": "newer-than-registered", "preferred": "preferred-cpu"}.get(node.reason, "on-cpu")


def _finding(
    placement: Placement,
    rule: str,
    message: str,
    location: Location,
    values: dict[str, Any] | None = None,
    fix: str | None = None,
) -> Finding:
    severity: Any = RULES[rule][0]
    return Finding(
        f"{GROUP}/{rule}", severity, message, values=values or {}, fix=fix, target=placement.target, location=location
    )
