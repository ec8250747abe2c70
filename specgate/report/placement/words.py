"""The sentences about a placement that text and page share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from specgate.report import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.placement.placed import PlacedNode, Placement

__all__ = ["Group", "at_run", "failing", "groups", "summary"]

_MOST = 5


class Group(NamedTuple):
    """Nodes that have one provider for one reason. provider: "none" where there is no kernel anywhere."""

    provider: str
    why: str
    nodes: list[PlacedNode]

    def named(self, most: int = _MOST) -> str:
        """Return the nodes with their operators, the first few of many."""
        operators = list(dict.fromkeys(node.operator for node in self.nodes))
        paths = ", ".join(node.node for node in self.nodes[:most])
        more = f" and {len(self.nodes) - most} more" if len(self.nodes) > most else ""
        return f"{paths}{more} ({', '.join(operators[:most])}{' …' if len(operators) > most else ''})"


def summary(placement: Placement) -> str:
    """Return where the nodes are, in one line."""
    first, total = placement.providers[0], len(placement.nodes)
    counts = placement.counts
    parts = [f"{counts.get(first, 0)} of {plural(total, 'node')} on {_the(first)}"]
    if placement.partitions:
        parts[0] += f" in {plural(len(placement.partitions), 'partition')}"
    parts += [f"{counts[other]} on {_the(other)}" for other in placement.providers[1:] if counts.get(other)]
    if counts.get(None):
        parts.append(f"{counts[None]} without a kernel")
    deferred = sum(node.creation == "deferred" for node in placement.nodes)
    if deferred:
        parts.append(f"{plural(deferred, 'kernel')} made at the first run")
    unknown = sum(node.creation == "unknown" for node in placement.nodes)
    if unknown:
        parts.append(f"of {unknown} it is not known whether the kernel is made")
    if placement.session == "fails":
        parts.append("the session fails")
    else:
        parts.append("the session is created" + ("" if placement.usable else ", but its first run fails"))
    return "; ".join(parts)


def _the(provider: str) -> str:
    return "the CPU" if provider == "CPU" else provider


def groups(placement: Placement) -> list[Group]:
    """Return the nodes that are not with the first provider, those of one reason together."""
    return _grouped((node.provider or "none", node.why, node) for node in placement.elsewhere)


def failing(placement: Placement) -> list[Group]:
    """Return the nodes that have a provider and whose kernels cannot be made."""
    failed = (node for node in placement.unlike if node.provider is not None and node.fails)
    late = (node for node in placement.unlike if node.run_fails and not node.gone)
    return _grouped(
        [(node.provider or "none", node.created_by, node) for node in failed]
        + [(node.provider or "none", at_run(node), node) for node in late]
    )


def at_run(node: PlacedNode) -> str:
    """Return why a node fails at the first run."""
    return f"at the first run, if its tensors have elements: {node.run_fails}"


def _grouped(entries: Iterable[tuple[str, str, PlacedNode]]) -> list[Group]:
    found: dict[tuple[str, str], Group] = {}
    for provider, why, node in entries:
        found.setdefault((provider, why), Group(provider, why, [])).nodes.append(node)
    return list(found.values())
