"""Named sets: a dialect's lists of types and of fused operators, which cells use by name (``$float``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.spec.yamlio import Keys

    Problem = tuple[Keys, str]

__all__ = ["KINDS", "MARK", "by_name", "expanded", "named_sets", "written_out"]

#: What stands before the name of a set.
MARK: Final = "$"
#: The part of a cell, and the kind of set that it may name.
KINDS: Final = ("types", "operators")
#: The fewest entries of a set that goes by its name within a longer list.
LONG: Final = 2


def named_sets(content: Mapping[str, Any]) -> tuple[dict[str, dict[str, list[str]]], list[Problem]]:
    """Return the sets of ``sets.yaml`` with every set in them written out, by kind; and what is wrong with them."""
    problems: list[Problem] = []
    made: dict[str, dict[str, list[str]]] = {}
    for kind in KINDS:
        known = made[kind] = {}
        for name, entries in content.get(kind, {}).items():
            found, wrong = expanded(entries, known, kind)
            problems += [((kind, name), text) for text in wrong]
            known[name] = found
    return made, problems


def written_out(
    content: dict[str, Any], sets: Mapping[str, Mapping[str, list[str]]] | None
) -> tuple[dict[str, Any], list[Problem]]:
    """Return an operator's or family's content with its sets written out, and what is wrong.

    sets: the dialect's, by kind; None where they could not be read, so that no name counts as unknown.
    """
    problems: list[Problem] = []

    def out(path: Keys, entries: Any, kind: str) -> Any:
        if isinstance(entries, str) and not entries.startswith(MARK) and (kind == "operators" or "type_sets" in path):
            problems.append((path, f"expected a list or a set such as {MARK}NAME, found {entries!r:.80}"))
        if not _names_sets(entries) or sets is None:
            return entries
        found, wrong = expanded([entries] if isinstance(entries, str) else entries, sets.get(kind, {}), kind)
        problems.extend((path, text) for text in wrong)
        return found or entries

    for path, place, key, kind in _places(content):
        place[key] = out(path, place[key], kind)
    return content, problems


def _places(content: Mapping[str, Any]) -> Iterator[tuple[Keys, dict[str, Any], str, str]]:
    """Yield where sets may be named: the path, what holds it, the key there, and the kind of set."""
    support = content.get("support", {})
    cases = enumerate(support) if isinstance(support, list) else [(None, support)]
    for index, rows in cases:
        above: Keys = ("support",) if index is None else ("support", index)
        for level, row in rows.items():
            if level == "when":
                continue
            for variable in row.get("type_sets") or {}:
                yield (*above, level, "type_sets", variable), row["type_sets"], variable, "types"
            yield from _cells((*above, level), row)
    for index, overlay in enumerate(content.get("observed", [])):
        yield from _cells(("observed", index, "support"), overlay.get("support", {}))
    lacks = content.get("execute", {}).get("unsupported_types", {})
    for name in lacks:
        yield ("execute", "unsupported_types", name), lacks, name, "types"


def _cells(above: Keys, cells: Mapping[str, Any]) -> Iterator[tuple[Keys, dict[str, Any], str, str]]:
    for name, cell in cells.items():
        if isinstance(cell, dict) and name != "type_sets":
            yield from (((*above, name, kind), cell, kind, kind) for kind in KINDS if kind in cell)


def _names_sets(entries: Any) -> bool:
    listed = [entries] if isinstance(entries, str) else entries or ()
    return any(entry.startswith(MARK) for entry in listed)


def expanded(entries: Sequence[str], sets: Mapping[str, list[str]], kind: str) -> tuple[list[str], list[str]]:
    """Return the entries of a list with those of sets in their places, and a text for each mistake.

    sets: those that entries may name, of one kind.
    """
    found: dict[str, str] = {}
    problems = []
    for entry in entries:
        name = entry.removeprefix(MARK)
        if entry.startswith(MARK) and name not in sets:
            known = ", ".join(MARK + other for other in sets) or "none"
            problems.append(f"unknown set {entry!r:.80} of {kind}; known here: {known}")
            continue
        for item in sets[name] if entry.startswith(MARK) else [entry]:
            if item in found:
                problems.append(f"{item} is there twice: {found[item]} and {entry}"[:200])
            found.setdefault(item, entry)
    return list(found), problems


def by_name(listed: list[str], sets: Mapping[str, list[str]]) -> str | list[str]:
    """Return a list as a file writes it: by the name of its set, or with the names of long sets among its entries."""
    whole = next((name for name, items in sets.items() if items == listed), None)
    if whole is not None and len(listed) > 1:
        return MARK + whole
    found: list[str] = []
    at = 0
    while at < len(listed):
        inside = {name: len(items) for name, items in sets.items() if items == listed[at : at + len(items)]}
        longest = max(inside, key=inside.__getitem__, default="")
        long = inside.get(longest, 0) >= LONG
        found.append(MARK + longest if long else listed[at])
        at += inside[longest] if long else 1
    return found
