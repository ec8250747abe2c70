"""A placement as text, and the sentences that the page shares."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.levels import LevelSet
from specgate.report import plural
from specgate.report.clean import clean, wrap
from specgate.report.tables.words import wrap_text
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from specgate.runtimes.onnxruntime.minimum import LevelMinimum
    from specgate.runtimes.onnxruntime.placement import PlacedNode, Placement
    from specgate.spec.dialect_spec import Dialect

__all__ = ["Group", "at_run", "failing_groups", "groups", "level_minimum_text", "render", "summary"]

_MOST = 5


class Group(NamedTuple):
    """Nodes with an equal provider and reason.

    provider: "none" without a kernel.
    """

    provider: str
    why: str
    nodes: list[PlacedNode]

    def node_names(self, most: int = _MOST) -> str:
        """Return the nodes and operators, at most `most` of each."""
        operators = list(dict.fromkeys(node.operator for node in self.nodes))
        paths = ", ".join(node.node for node in self.nodes[:most])
        more = f" and {len(self.nodes) - most} more" if len(self.nodes) > most else ""
        return f"{paths}{more} ({', '.join(operators[:most])}{' …' if len(operators) > most else ''})"


def summary(placement: Placement) -> str:
    """Return the numbers of nodes by provider, in one line."""
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
        parts.append(f"{plural(deferred, 'kernel')} compiled at the first run (dynamic sizes or inputs)")
    unknown = sum(node.creation == "unknown" for node in placement.nodes)
    if unknown:
        parts.append(f"{plural(unknown, 'kernel')} that may or may not be created")
    if placement.session == "fails":
        parts.append("the session fails")
    else:
        parts.append("the session is created" + ("" if placement.usable else ", but its first run fails"))
    return "; ".join(parts)


def _the(provider: str) -> str:
    return "the CPU" if provider == "CPU" else provider


def groups(placement: Placement) -> list[Group]:
    """Return the nodes outside the first provider, grouped by reason."""
    return _group_nodes((node.provider or "none", node.why, node) for node in placement.other_provider_nodes)


def failing_groups(placement: Placement) -> list[Group]:
    """Return the nodes that fail at kernel creation or at the first run.

    They are grouped by provider and reason.
    """
    failed = (node for node in placement.unlike if node.provider is not None and node.fails)
    late = (node for node in placement.unlike if node.run_fails and not node.gone)
    return _group_nodes(
        [(node.provider or "none", node.created_by, node) for node in failed]
        + [(node.provider or "none", at_run(node), node) for node in late]
    )


def at_run(node: PlacedNode) -> str:
    """Return the reason why a node fails at the first run."""
    return f"at the first run, if its tensors have elements: {node.run_fails}"


def _group_nodes(entries: Iterable[tuple[str, str, PlacedNode]]) -> list[Group]:
    groups_by_texts: dict[tuple[str, str], Group] = {}
    for provider, why, node in entries:
        groups_by_texts.setdefault((provider, why), Group(provider, why, [])).nodes.append(node)
    return list(groups_by_texts.values())


def render(placement: Placement, width: int = 100, *, verbose: bool = False) -> str:
    """Return the placement as text; verbose: also node by node."""
    lines = [summary(placement)]

    def say(label: str, words: str) -> None:
        lines.extend(wrap(clean(words, 2000), width, first=f"  {label}  ", hang=" " * (len(label) + 4)))

    for reason in placement.refusals:
        say("fails", reason)
    for group in failing_groups(placement):
        say("fails", f"{group.node_names()}: {group.why}")
    for group in groups(placement):
        say(group.provider, f"{group.node_names()}: {group.why}" if group.why else group.node_names())
    placeds = [node for node in placement.nodes if node.open]
    if placeds:
        say("open", f"{plural(len(placeds), 'node')}, such as {placeds[0].node}: {placeds[0].open}; assumed to hold")
    if placement.copies:
        names = ", ".join(f"{copy.value} to {copy.to}" for copy in placement.copies[:5])
        more = " …" if len(placement.copies) > 5 else ""
        say("copies", f"{plural(len(placement.copies), 'value')}: {names}{more}")
    for fix in placement.fixes:
        say("fix:", fix)
    if verbose:
        _every_node(placement, lines)
    for note in placement.notes:
        say("note:", note)
    return "\n".join(lines) + "\n"


def _every_node(placement: Placement, lines: list[str]) -> None:
    for node in placement.nodes:
        result = "" if node.creation == "created" else f"  {node.creation}: {node.created_by}"
        result += f"; fails {at_run(node)}" if node.run_fails else ""
        number = f" {node.partition}" if node.partition is not None else ""
        becomes = (
            ""
            if node.lowered is None
            else f"  {', '.join(operator.operator for operator in node.lowered) or 'no operator'}"
        )
        duplicates = f"  created {node.times} times" if node.duplicates else ""
        text = f"  {node.provider or 'none'}{number}  {node.node} ({node.operator}){becomes}{duplicates}{result}"
        lines.append(clean(text, 2000))


_EXAMPLES: Final = 5
_HERE: Final = "\0"  # placeholder for the level in a message

_Cause = tuple[str, str, str]  # operator, rule, message
_Causes = tuple[tuple[_Cause, tuple[str, ...]], ...]


def level_minimum_text(
    minimum: LevelMinimum, name: str, width: int, spoken: Callable[[str, str, str], str], *, verbose: bool = False
) -> str:
    """Return the minimum level as text; equal neighbouring levels are merged.

    spoken: replaces the level in a message. verbose: list every reason of every level.
    """
    table = dialect(minimum.dialect)
    title = table.tables.title
    lines = [clean(name)]
    for reason in minimum.refusals:
        lines += wrap_text(f"the session fails at every level: {reason}", width, first="  ", hang="    ")
    if not minimum.nodes:
        lines += wrap_text(f"{minimum.target} places no node of the model on {title}", width, hang="  ")
        return "\n".join(lines) + "\n"
    count = plural(minimum.nodes, "node")
    if minimum.level is None:
        text = f"{title}: no level creates the {count} that {minimum.target} places there"
    else:
        result = f"creates the {count} that {minimum.target} places there"
        all_levels = LevelSet.of(table.levels, minimum.levels)
        text = f"{title}: lowest {table.label(minimum.level)}; {result} at {all_levels}"
    lines += wrap_text(text, width, hang="  ")
    lines += _open(minimum, width)
    for levels, causes in _spans(minimum, table, spoken):
        span = str(LevelSet.of(table.levels, levels))
        levels_text = table.label(levels[0]).removesuffix(levels[0]) + span
        lines.append(f"  {span}:")
        shown = causes if verbose else causes[:_EXAMPLES]
        for (operator, rule, message), nodes in shown:
            more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
            whole = f"{nodes[0]}{more} ({operator}): {rule}: {message.replace(_HERE, levels_text)}"
            lines += wrap_text(whole, width, first="    ", hang="      ")
        if len(causes) > len(shown):
            lines.append(f"    and {plural(len(causes) - len(shown), 'more reason')} (-v lists them)")
    return "\n".join(lines) + "\n"


def _open(minimum: LevelMinimum, width: int) -> Iterator[str]:
    if minimum.deferred:
        count = plural(minimum.deferred, "kernel")
        text = f"{count} compiled at the first run: checked only for what does not depend on sizes"
        yield from wrap_text(text, width, first="  ", hang="    ")
    if minimum.unknown:
        text = f"{plural(minimum.unknown, 'node')} not checked: unknown which operators they become"
        yield from wrap_text(text, width, first="  ", hang="    ")


def _spans(
    minimum: LevelMinimum, table: Dialect, spoken: Callable[[str, str, str], str]
) -> Iterator[tuple[list[str], _Causes]]:
    """Yield neighbouring levels with equal reasons together.

    Messages have `_HERE` as the level.
    """
    every = [(level, _causes(minimum, level, table.label(level), spoken)) for level in minimum.blocked]
    for causes, span in groupby(every, key=lambda pair: pair[1]):
        yield [level for level, _ in span], causes


def _causes(minimum: LevelMinimum, level: str, label: str, spoken: Callable[[str, str, str], str]) -> _Causes:
    """Return the reasons that block nodes at a level, grouped by operator."""
    causes: dict[_Cause, list[str]] = {}
    for node in minimum.blocked[level]:
        for rule, message in node.causes:
            cause = clean(node.operator), rule, spoken(clean(message, None), label, _HERE)
            causes.setdefault(cause, []).append(clean(node.node))
    return tuple((cause, tuple(nodes)) for cause, nodes in causes.items())
