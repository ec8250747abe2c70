"""The lowest opsets of a model as text and as data."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from specgate.report import plural
from specgate.report.clean import clean
from specgate.report.tables.lines import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.linting.model_minimum import Blocked, DomainMinimum, ModelMinimum, Moved
    from specgate.verdict import Location

__all__ = ["model_minimum_json", "model_minimum_text"]

_EXAMPLES: Final = 3
_CAUTION: Final = (
    "Descriptors are judged: types, ranks, sizes, attributes. Whether another version of an operator computes the same "
    "is said only where the tables know it."
)


def model_minimum_text(found: ModelMinimum, name: str, width: int) -> str:
    """Return the answer for people: each domain with what keeps it there and what blocks every version below."""
    lines = [clean(name)]
    for domain in found.domains:
        lines += _domain(domain, width)
    if found.no_table:
        known = sorted(found.no_table.items(), key=lambda item: (-item[1], item[0]))
        listed = ", ".join(f"{clean(operator)} ({count})" for operator, count in known)
        lines += wrapped(f"not judged, without a table: {listed}", width, hang="  ")
    if found.domains:
        lines += wrapped(_CAUTION, width)
    else:
        lines.append("no node of the model has a table, so that every opset is as good as another")
    return "\n".join(lines) + "\n"


def _domain(found: DomainMinimum, width: int) -> Iterator[str]:
    written = "imports none" if found.imported is None else f"imports {found.imported}"
    lowest = "none" if found.version is None else found.version
    taken = f"; no descriptor of {plural(found.nodes, 'node')} is refused at {_ranges(found.taken)}"
    yield from wrapped(f"{found.domain}: lowest opset {lowest} (the model {written}){taken}", width, hang="  ")
    open_here = found.undecided.get(found.version or "", 0)
    if open_here:
        count = plural(open_here, "node")
        yield from wrapped(f"{count} undecided at {found.version}: sizes or types are unknown", width, first="  ")
    for blocked in found.keepers[:_EXAMPLES]:
        yield from wrapped(f"kept there by {_place(blocked.location)}", width, first="  ", hang="    ")
    if len(found.keepers) > _EXAMPLES:
        yield f"  and by {plural(len(found.keepers) - _EXAMPLES, 'more node')}"
    yield from _moved(found.moved, found.version, width)
    limit = None if found.version is None else int(found.version)
    below = {v: nodes for v, nodes in found.blocked.items() if limit is None or int(v) < limit}
    for versions, causes in _spans(below):
        yield f"  {_ranges(versions)}:"
        for (operator, rule, message), nodes in causes:
            more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
            head = f"{nodes[0]}{more} ({operator}): " if operator else f"{nodes[0]}{more}: "
            yield from wrapped(f"{head}{rule}: {message}", width, first="    ", hang="      ")


def _moved(moved: list[Moved], version: str | None, width: int) -> Iterator[str]:
    """Operators that are another version there, each once, with what the tables know of the difference."""
    by_kind: dict[tuple[str, str, str, tuple[str, ...]], int] = {}
    for one in moved:
        kind = (clean(one.location.operator or ""), one.written, one.there, one.behaviour)
        by_kind[kind] = by_kind.get(kind, 0) + 1
    for (operator, written, there, behaviour), count in by_kind.items():
        known = f"; it computes otherwise: {', '.join(behaviour)}" if behaviour else ""
        text = f"at {version} {operator} is version {there}, in the model {written} ({plural(count, 'node')}){known}"
        yield from wrapped(text, width, first="  ", hang="    ")


_Cause = tuple[tuple[str, str, str], tuple[str, ...]]


def _spans(blocked: Mapping[str, list[Blocked]]) -> Iterator[tuple[list[str], tuple[_Cause, ...]]]:
    """Neighbouring versions with the same reasons together."""
    every = [(version, _causes(nodes)) for version, nodes in blocked.items()]
    for causes, span in groupby(every, key=lambda pair: pair[1]):
        yield [version for version, _ in span], causes


def _causes(blocked: Iterable[Blocked]) -> tuple[_Cause, ...]:
    """Why nodes are refused, equal reasons of one operator together."""
    causes: dict[tuple[str, str, str], list[str]] = {}
    for node in blocked:
        for finding in node.findings:
            kind = (clean(node.location.operator or ""), finding.id, clean(finding.message))
            causes.setdefault(kind, []).append(clean(node.location.node or "the node"))
    return tuple((kind, tuple(nodes)) for kind, nodes in causes.items())


def _place(location: Location) -> str:
    operator = f" ({clean(location.operator)})" if location.operator else ""
    return clean(location.node or "a node") + operator


def _ranges(versions: list[str]) -> str:
    runs: list[list[int]] = []
    for version in map(int, versions):
        if runs and version == runs[-1][-1] + 1:
            runs[-1].append(version)
        else:
            runs.append([version])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs) or "no opset"


def model_minimum_json(found: ModelMinimum, name: str) -> dict[str, Any]:
    """Return the answer as plain data."""
    return {
        "schema": "specgate-model-minimum/1",
        "file": name,
        "domains": [_domain_json(domain) for domain in found.domains],
        "no_table": found.no_table,
        "caution": _CAUTION,
    }


def _domain_json(found: DomainMinimum) -> dict[str, Any]:
    return {
        "domain": found.domain,
        "imported": found.imported,
        "minimum": None if found.version is None else int(found.version),
        "taken": [int(version) for version in found.taken],
        "nodes": found.nodes,
        "undecided": {version: count for version, count in found.undecided.items() if count},
        "kept_by": [blocked.location.node for blocked in found.keepers],
        "changed": [
            {
                "node": moved.location.node,
                "operator": moved.location.operator,
                "written": moved.written,
                "there": moved.there,
                "computes_otherwise": list(moved.behaviour),
            }
            for moved in found.moved
        ],
        "blockers": [
            {
                "versions": [int(version) for version in versions],
                "operator": operator,
                "id": rule,
                "message": message,
                "nodes": list(nodes),
            }
            for versions, causes in _spans(found.blocked)
            for (operator, rule, message), nodes in causes
        ],
    }
