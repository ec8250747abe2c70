"""The lowest level at which all that a runtime places there is created, as text."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from specgate.levels import LevelSet
from specgate.report import plural
from specgate.report.clean import clean
from specgate.report.tables.lines import wrapped
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specgate.placement.minimum import LevelMinimum
    from specgate.spec.dialect_spec import Dialect

__all__ = ["level_minimum_text"]

_EXAMPLES: Final = 5
_HERE: Final = "\0"  # in a message, for the level that was judged

_Cause = tuple[str, str, str]  # of an operator, by a rule, with a message
_Causes = tuple[tuple[_Cause, tuple[str, ...]], ...]


def level_minimum_text(
    found: LevelMinimum, name: str, width: int, spoken: Callable[[str, str, str], str], *, verbose: bool = False
) -> str:
    """Return the answer; neighbouring levels with the same reasons are one part.

    spoken: gives a message with another text for the level that it names. verbose: every reason of every level.
    """
    table = dialect(found.dialect)
    title = table.tables.title
    lines = [clean(name)]
    for reason in found.refusals:
        lines += wrapped(f"the session fails at every level: {reason}", width, first="  ", hang="    ")
    if not found.nodes:
        lines += wrapped(f"{found.target} puts no node of the model on {title}", width, hang="  ")
        return "\n".join(lines) + "\n"
    count = plural(found.nodes, "node")
    if found.level is None:
        text = f"{title}: at no level are all {count} created that {found.target} puts there"
    else:
        taken = f"nothing blocks the {count} that {found.target} puts there"
        all_levels = LevelSet.of(table.levels, found.levels)
        text = f"{title}: lowest {table.label(found.level)}; {taken} at {all_levels}"
    lines += wrapped(text, width, hang="  ")
    lines += _open(found, width)
    for levels, causes in _spans(found, table, spoken):
        span = str(LevelSet.of(table.levels, levels))
        here = table.label(levels[0]).removesuffix(levels[0]) + span
        lines.append(f"  {span}:")
        shown = causes if verbose else causes[:_EXAMPLES]
        for (operator, rule, message), nodes in shown:
            more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
            whole = f"{nodes[0]}{more} ({operator}): {rule}: {message.replace(_HERE, here)}"
            lines += wrapped(whole, width, first="    ", hang="      ")
        if len(causes) > len(shown):
            lines.append(f"    and {plural(len(causes) - len(shown), 'more reason')} (-v lists them)")
    return "\n".join(lines) + "\n"


def _open(found: LevelMinimum, width: int) -> Iterator[str]:
    if found.deferred:
        count = plural(found.deferred, "kernel")
        text = f"{count} made at the first run: judged only by what holds for all sizes"
        yield from wrapped(text, width, first="  ", hang="    ")
    if found.unknown:
        text = f"{plural(found.unknown, 'node')} not judged: it is not known which operators they become"
        yield from wrapped(text, width, first="  ", hang="    ")


def _spans(
    found: LevelMinimum, table: Dialect, spoken: Callable[[str, str, str], str]
) -> Iterator[tuple[list[str], _Causes]]:
    """Yield neighbouring levels with the same reasons together; in their messages `_HERE` is the level itself."""
    every = [(level, _causes(found, level, table.label(level), spoken)) for level in found.blocked]
    for causes, span in groupby(every, key=lambda pair: pair[1]):
        yield [level for level, _ in span], causes


def _causes(found: LevelMinimum, level: str, label: str, spoken: Callable[[str, str, str], str]) -> _Causes:
    """Return why nodes are blocked at a level, equal reasons of one operator together."""
    causes: dict[_Cause, list[str]] = {}
    for node in found.blocked[level]:
        for rule, message in node.causes:
            cause = clean(node.operator), rule, spoken(clean(message, None), label, _HERE)
            causes.setdefault(cause, []).append(clean(node.node))
    return tuple((cause, tuple(nodes)) for cause, nodes in causes.items())
