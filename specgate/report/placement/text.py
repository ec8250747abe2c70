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

_MAX_NODES = 5


class Group(NamedTuple):
    """Nodes with an equal provider and reason.

    provider: "none" without a kernel.
    """

    provider: str
    why: str
    nodes: list[PlacedNode]

    def node_names(self, limit: int = _MAX_NODES) -> str:
        """Return the nodes and operators, at most `limit` of each."""
        operators = list(dict.fromkeys(node.operator for node in self.nodes))
        paths = ", ".join(node.node for node in self.nodes[:limit])
        remainder = f" and {len(self.nodes) - limit} more" if len(self.nodes) > limit else ""
        return f"{paths}{remainder} ({', '.join(operators[:limit])}{' …' if len(operators) > limit else ''})"


def summary(placement: Placement) -> str:
    """Return the numbers of nodes by provider, in one line."""
    first, total = placement.providers[0], len(placement.nodes)
    counts = placement.counts
    parts = [f"{counts.get(first, 0)} of {plural(total, 'node')} on {_provider_phrase(first)}"]
    if placement.partitions:
        parts[0] += f" in {plural(len(placement.partitions), 'partition')}"
    parts += [f"{counts[other]} on {_provider_phrase(other)}" for other in placement.providers[1:] if counts.get(other)]
    if counts.get(None):
        parts.append(f"{counts[None]} without a kernel")
    deferred_count = sum(node.creation == "deferred" for node in placement.nodes)
    if deferred_count:
        parts.append(f"{plural(deferred_count, 'kernel')} compiled at the first run (dynamic sizes or inputs)")
    unknown = sum(node.creation == "unknown" for node in placement.nodes)
    if unknown:
        parts.append(f"{plural(unknown, 'kernel')} that may or may not be created")
    if placement.session == "fails":
        parts.append("the session fails")
    else:
        parts.append("the session is created" + ("" if placement.usable else ", but its first run fails"))
    return "; ".join(parts)


def _provider_phrase(provider: str) -> str:
    return "the CPU" if provider == "CPU" else provider


def groups(placement: Placement) -> list[Group]:
    """Return the nodes outside the first provider, grouped by reason."""
    return _group_nodes((node.provider or "none", node.why, node) for node in placement.other_provider_nodes)


def failing_groups(placement: Placement) -> list[Group]:
    """Return the nodes that fail at kernel creation or at the first run.

    They are grouped by provider and reason.
    """
    failed = (node for node in placement.unlike if node.provider is not None and node.fails)
    run_failures = (node for node in placement.unlike if node.run_fails and not node.gone)
    return _group_nodes(
        [(node.provider or "none", node.created_by, node) for node in failed]
        + [(node.provider or "none", run_failure_text(node), node) for node in run_failures]
    )


def run_failure_text(node: PlacedNode) -> str:
    """Return the reason why a node fails at the first run."""
    return f"at the first run, if its tensors have elements: {node.run_fails}"


def _group_nodes(entries: Iterable[tuple[str, str, PlacedNode]]) -> list[Group]:
    groups_by_texts: dict[tuple[str, str], Group] = {}
    for provider, reason, node in entries:
        groups_by_texts.setdefault((provider, reason), Group(provider, reason, [])).nodes.append(node)
    return list(groups_by_texts.values())


def render(placement: Placement, width: int = 100, *, verbose: bool = False) -> str:
    """Return the placement as text; verbose: also node by node."""
    lines = [summary(placement)]

    def say(label: str, words: str) -> None:
        lines.extend(wrap(clean(words, 2000), width, first=f"  {label}  ", hanging_indent=" " * (len(label) + 4)))

    for reason in placement.refusals:
        say("fails", reason)
    for group in failing_groups(placement):
        say("fails", f"{group.node_names()}: {group.why}")
    for group in groups(placement):
        say(group.provider, f"{group.node_names()}: {group.why}" if group.why else group.node_names())
    open_nodes = [node for node in placement.nodes if node.open]
    if open_nodes:
        say(
            "open",
            f"{plural(len(open_nodes), 'node')}, such as {open_nodes[0].node}: {open_nodes[0].open}; assumed to hold",
        )
    if placement.copies:
        names = ", ".join(f"{copy.value} to {copy.to}" for copy in placement.copies[:5])
        remainder = " …" if len(placement.copies) > 5 else ""
        say("copies", f"{plural(len(placement.copies), 'value')}: {names}{remainder}")
    for fix in placement.fixes:
        say("fix:", fix)
    if verbose:
        _node_lines(placement, lines)
    for note in placement.notes:
        say("note:", note)
    return "\n".join(lines) + "\n"


def _node_lines(placement: Placement, lines: list[str]) -> None:
    for node in placement.nodes:
        result = "" if node.creation == "created" else f"  {node.creation}: {node.created_by}"
        result += f"; fails {run_failure_text(node)}" if node.run_fails else ""
        number = f" {node.partition}" if node.partition is not None else ""
        operators_text = (
            ""
            if node.lowered is None
            else f"  {', '.join(operator.operator for operator in node.lowered) or 'no operator'}"
        )
        duplicates = f"  created {node.times} times" if node.duplicates else ""
        text = f"  {node.provider or 'none'}{number}  {node.node} ({node.operator}){operators_text}{duplicates}{result}"
        lines.append(clean(text, 2000))


_EXAMPLES: Final = 5
_LEVEL_MARK: Final = "\0"  # placeholder for the level in a message

_Cause = tuple[str, str, str]  # operator, rule, message
_Causes = tuple[tuple[_Cause, tuple[str, ...]], ...]


def level_minimum_text(
    minimum: LevelMinimum, name: str, width: int, format_level: Callable[[str, str, str], str], *, verbose: bool = False
) -> str:
    """Return the minimum level as text; equal neighbouring levels are merged.

    format_level: replaces the level in a message. verbose: list every reason of every level.
    """
    table = dialect(minimum.dialect)
    title = table.tables.title
    lines = [clean(name)]
    for reason in minimum.refusals:
        lines += wrap_text(f"the session fails at every level: {reason}", width, first="  ", hanging_indent="    ")
    if not minimum.nodes:
        lines += wrap_text(f"{minimum.target} places no node of the model on {title}", width, hanging_indent="  ")
        return "\n".join(lines) + "\n"
    count = plural(minimum.nodes, "node")
    if minimum.level is None:
        text = f"{title}: no level creates the {count} that {minimum.target} places there"
    else:
        result = f"creates the {count} that {minimum.target} places there"
        all_levels = LevelSet.of(table.levels, minimum.levels)
        text = f"{title}: lowest {table.label(minimum.level)}; {result} at {all_levels}"
    lines += wrap_text(text, width, hanging_indent="  ")
    lines += _open_nodes_text(minimum, width)
    for levels, causes in _spans(minimum, table, format_level):
        span = str(LevelSet.of(table.levels, levels))
        levels_text = table.label(levels[0]).removesuffix(levels[0]) + span
        lines.append(f"  {span}:")
        shown_causes = causes if verbose else causes[:_EXAMPLES]
        for (operator, rule, message), nodes in shown_causes:
            remainder = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
            line = f"{nodes[0]}{remainder} ({operator}): {rule}: {message.replace(_LEVEL_MARK, levels_text)}"
            lines += wrap_text(line, width, first="    ", hanging_indent="      ")
        if len(causes) > len(shown_causes):
            lines.append(f"    and {plural(len(causes) - len(shown_causes), 'more reason')} (-v lists them)")
    return "\n".join(lines) + "\n"


def _open_nodes_text(minimum: LevelMinimum, width: int) -> Iterator[str]:
    if minimum.deferred:
        count = plural(minimum.deferred, "kernel")
        text = f"{count} compiled at the first run: checked only for what does not depend on sizes"
        yield from wrap_text(text, width, first="  ", hanging_indent="    ")
    if minimum.unknown:
        text = f"{plural(minimum.unknown, 'node')} not checked: unknown which operators they become"
        yield from wrap_text(text, width, first="  ", hanging_indent="    ")


def _spans(
    minimum: LevelMinimum, table: Dialect, format_level: Callable[[str, str, str], str]
) -> Iterator[tuple[list[str], _Causes]]:
    """Yield neighbouring levels with equal reasons together.

    Messages have `_MARK` as the level.
    """
    causes_by_level = [(level, _causes(minimum, level, table.label(level), format_level)) for level in minimum.blocked]
    for causes, span in groupby(causes_by_level, key=lambda pair: pair[1]):
        yield [level for level, _ in span], causes


def _causes(minimum: LevelMinimum, level: str, label: str, format_level: Callable[[str, str, str], str]) -> _Causes:
    """Return the reasons that block nodes at a level, grouped by operator."""
    causes: dict[_Cause, list[str]] = {}
    for node in minimum.blocked[level]:
        for rule, message in node.causes:
            cause = clean(node.operator), rule, format_level(clean(message, None), label, _LEVEL_MARK)
            causes.setdefault(cause, []).append(clean(node.node))
    return tuple((cause, tuple(nodes)) for cause, nodes in causes.items())
