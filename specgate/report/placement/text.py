"""A placement as text: the summary, what is not where it was meant to be and why, and what would change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.report import plural
from specgate.report.clean import clean, wrap
from specgate.report.placement.words import at_run, failing, groups, summary

if TYPE_CHECKING:
    from specgate.placement.placed import Placement

__all__ = ["render"]


def render(placement: Placement, width: int = 100, *, verbose: bool = False) -> str:
    """Return the placement as text; verbose: also node by node."""
    lines = [summary(placement)]

    def say(label: str, words: str) -> None:
        lines.extend(wrap(clean(words, 2000), width, first=f"  {label}  ", hang=" " * (len(label) + 4)))

    for reason in placement.refusals:
        say("fails", reason)
    for group in failing(placement):
        say("fails", f"{group.named()}: {group.why}")
    for group in groups(placement):
        say(group.provider, f"{group.named()}: {group.why}" if group.why else group.named())
    taken = [node for node in placement.nodes if node.open]
    if taken:
        say("open", f"{plural(len(taken), 'node')}, such as {taken[0].node}: {taken[0].open}; taken for granted")
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
        made = "" if node.creation == "created" else f"  {node.creation}: {node.created_by}"
        made += f"; fails {at_run(node)}" if node.run_fails else ""
        number = f" {node.partition}" if node.partition is not None else ""
        becomes = (
            "" if node.lowered is None else f"  {', '.join(one.operator for one in node.lowered) or 'no operator'}"
        )
        again = f"  made {node.times} times" if node.duplicates else ""
        text = f"  {node.provider or 'none'}{number}  {node.node} ({node.operator}){becomes}{again}{made}"
        lines.append(clean(text, 2000))
