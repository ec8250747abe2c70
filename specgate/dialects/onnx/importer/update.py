"""Bring one operator's file up to what the package states, and keep what people wrote in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.onnx.importer.text import blocks, field_text, line, row_text, scalar
from specgate.spec.rows import changes_of, whole_rows
from specgate.spec.sets import by_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["updated"]

_ORDER: Final = ("operator", "family", "summary", "source", "unknowns", "fields", "support", "removed")
#: What people add to a field or a cell; the package states none of it.
_BY_HAND: Final = ("enum", "words", "counts", "doc")
_TYPES: Final = "types"
#: Behind the key of a section that the package states: what in it people write.
_MARKS: Final = {
    "fields": "# as the package states them; by hand: doc, enum, words, counts",
    "support": "# as the package states it; by hand: ranks, ranges, values",
}


def updated(
    name: str,
    content: Mapping[str, Any],
    source: Mapping[str, str],
    text: str = "",
    old: Mapping[str, Any] | None = None,
    sets: Mapping[str, list[str]] | None = None,
) -> str:
    """Return the file of operator `name` with `content`; `text` and `old` are the file as it is, and what it says.

    sets: the dialect's named lists of types.
    """
    old = old or {}
    sections = {key: part for key, part in blocks(text, 0) if key is not None}
    trailer = "".join(part for key, part in blocks(text, 0) if key is None) if sections else ""
    sections.setdefault("operator", f"operator: {scalar(name)}\n")
    sections["source"] = _source(source, old.get("source", []), sections.get("source"))
    sections["fields"] = _fields(content["fields"], old.get("fields") or {}, sections.get("fields", ""))
    whole = whole_rows(old.get("support") or {})[0]
    sections["support"] = _support(content["support"], whole, sections.get("support", ""), sets or {})
    if content.get("removed") is None:
        sections.pop("removed", None)
    elif content["removed"] != old.get("removed"):
        sections["removed"] = f"removed: {scalar(content['removed'])}\n"
    keys = [key for key in _ORDER if key in sections] + [key for key in sections if key not in _ORDER]
    return "".join(sections[key] for key in keys) + trailer


def _source(wanted: Mapping[str, str], old: list[dict[str, Any]], text: str | None) -> str:
    """The entry of the package, and the others as they are."""
    if text is not None and any(entry == wanted for entry in old):
        return text
    entries = [wanted if entry.get("package") == wanted["package"] else entry for entry in old]
    entries = entries if any(entry is wanted for entry in entries) else [wanted, *entries]
    lines = [one for entry in entries for one in line("  - ", dict(entry), 4)]
    return "\n".join([*_comments(text), "source:", *lines]) + "\n"


def _fields(wanted: Mapping[str, Any], old: Mapping[str, Any], text: str) -> str:
    chunks = dict(blocks(_inside(text), 2))
    parts = [_head(text, "fields")]
    for name, entry in wanted.items():
        before = old.get(name)
        forms, existing = _listed(entry), _listed(before)
        if [_without(form, _BY_HAND) for form in existing] == forms and name in chunks:
            parts.append(chunks[name])
            continue
        kept = [{**form, **_hand_of(form, existing)} for form in forms]
        comments = _comments(chunks.get(name))
        parts.append("".join(f"{c}\n" for c in comments) + field_text(name, kept[0] if len(kept) == 1 else kept))
    return "".join(parts)


def _listed(entry: Any) -> list[dict[str, Any]]:
    return entry if isinstance(entry, list) else [] if entry is None else [entry]


def _hand_of(form: Mapping[str, Any], existing: list[dict[str, Any]]) -> dict[str, Any]:
    """What people wrote of the form that begins where this one does, else of the last one before it."""
    same = next((e for e in existing if e.get("since") == form.get("since")), existing[-1] if existing else {})
    return {key: same[key] for key in _BY_HAND if key in same}


def _support(wanted: Mapping[str, Any], old: Mapping[str, Any], text: str, sets: Mapping[str, list[str]]) -> str:
    """The rows: those that say what is wanted as they are, up to the first that does not, and what changes from it."""
    chunks = dict(blocks(_inside(text), 2))
    made: dict[str, Any] = {}
    kept = 0
    for level, row in wanted.items():
        before = old.get(level, {})
        if kept == len(made) and level in chunks and list(chunks)[kept] == level and _stated(before) == _stated(row):
            made[level] = before
            kept += 1
            continue
        extra = {key: _extra(cell) for key, cell in (before or _last(made)).items() if key not in _ROW}
        made[level] = {key: {**cell, **extra[key]} if key in extra else cell for key, cell in row.items()}
        made[level] |= {key: cell for key, cell in extra.items() if key not in row and cell}
    parts = [_head(text, "support"), *(chunks[level] for level in list(made)[:kept])]
    named = {level: {key: _named(key, cell, sets) for key, cell in row.items()} for level, row in made.items()}
    for level, row in list(changes_of(named).items())[kept:]:
        parts.append("".join(f"{c}\n" for c in _comments(chunks.get(level))) + row_text(level, row))
    return "".join(parts)


_ROW: Final = ("deprecated", "type_sets")


def _last(rows: Mapping[str, Any]) -> Mapping[str, Any]:
    return list(rows.values())[-1] if rows else {}


def _named(key: str, cell: Any, sets: Mapping[str, list[str]]) -> Any:
    """A cell or a row's type sets with their lists by name."""
    if not isinstance(cell, dict):
        return cell
    named = cell if key == "type_sets" else {part: cell[part] for part in cell if part == _TYPES}
    return {**cell, **{part: by_name(types, sets) for part, types in named.items() if isinstance(types, list)}}


def _stated(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the package states of a row, so that it can be compared: the order of types does not count."""
    cells = {key: _types(cell[_TYPES]) for key, cell in row.items() if key not in _ROW and _TYPES in cell}
    used = [taken for taken in cells.values() if isinstance(taken, str)]
    sets = {variable: frozenset(types) for variable, types in row.get("type_sets", {}).items() if variable in used}
    return {"deprecated": row.get("deprecated", False), "type_sets": sets, **cells}


def _types(taken: Any) -> Any:
    return frozenset(taken) if isinstance(taken, list) else taken


def _extra(cell: Mapping[str, Any]) -> dict[str, Any]:
    return _without(cell, (_TYPES,))


def _without(entry: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in keys}


def _inside(text: str) -> str:
    """The lines of a section behind its key."""
    lines = text.splitlines(keepends=True)
    start = next((i for i, one in enumerate(lines) if one[:1].isalpha()), None)
    return "" if start is None else "".join(lines[start + 1 :])


def _head(text: str, key: str) -> str:
    """The line of a section's key, which says whose it is, with the comments above it."""
    lines = text.splitlines(keepends=True)
    start = next((i for i, one in enumerate(lines) if one[:1].isalpha()), None)
    above, own = ("", f"{key}:") if start is None else ("".join(lines[:start]), lines[start].rstrip())
    return f"{above}{own if '#' in own else f'{own}  {_MARKS[key]}'}\n"


def _comments(text: str | None) -> list[str]:
    """The comments of what is written anew, each on a line of its own."""
    return list(_found_comments(text or ""))


def _found_comments(text: str) -> Iterator[str]:
    for one in text.splitlines():
        code, mark, comment = one.partition("#")
        if mark and (not code.strip() or code.endswith(" ")):
            yield (code if not code.strip() else " " * (len(one) - len(one.lstrip()))) + mark + comment
