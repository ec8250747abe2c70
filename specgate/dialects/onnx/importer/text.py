"""Write tables as text: what the package states anew, what people wrote as it stands, comments included."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["blocks", "field_text", "line", "row_text", "scalar"]

WIDTH: Final = 120
#: The most entries of a row on one line.
SHORT_ROW: Final = 3
_PLAIN: Final = re.compile(r"\$?[A-Za-z_][\w.()-]*|-?\d+\.\.(-?\d+)?")
_WORDS: Final = {"null", "true", "false"}


def scalar(value: Any) -> str:
    """Return a scalar as the tables write it: strings bare where nothing could take them for something else."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return repr(value)
    return value if _PLAIN.fullmatch(value) and value not in _WORDS else json.dumps(value, ensure_ascii=False)


def flow(value: Any) -> list[str]:
    """Return a value on one line as the parts between which the line may be broken."""
    if isinstance(value, dict):
        return _bracketed("{", [(f"{key}: ", flow(part)) for key, part in value.items()], "}")
    if isinstance(value, list):
        return _bracketed("[", [("", flow(part)) for part in value], "]")
    return [scalar(value)]


def _bracketed(left: str, items: list[tuple[str, list[str]]], right: str) -> list[str]:
    parts: list[str] = []
    for index, (label, inner) in enumerate(items):
        comma = "," if index + 1 < len(items) else ""
        parts += [label + inner[0], *inner[1:]]
        parts[-1] += comma
    if not parts:
        return [left + right]
    return [left + parts[0], *parts[1:-1], parts[-1] + right] if len(parts) > 1 else [left + parts[0] + right]


def line(start: str, value: Any, hang: int | None = None) -> list[str]:
    """Return ``start`` and the value behind it, broken into lines that hang by `hang` (under the bracket if None)."""
    lines = [start]
    indent = " " * (len(start) + 1 if hang is None else hang)
    for index, part in enumerate(flow(value)):
        glue = "" if index == 0 or lines[-1] == indent else " "
        if index and len(lines[-1]) + len(glue) + len(part) > WIDTH:
            lines.append(indent)
            glue = ""
        lines[-1] += glue + part
    return lines


def field_text(name: str, forms: dict[str, Any] | list[dict[str, Any]]) -> str:
    """Return the lines of one entry of ``fields``."""
    if isinstance(forms, dict):
        return "\n".join(line(f"  {name}: ", _shown(forms), 4)) + "\n"
    lines = [f"  {name}:"]
    for form in forms:
        lines += line("    - ", _shown(form), 6)
    return "\n".join(lines) + "\n"


def _shown(form: Mapping[str, Any]) -> dict[str, Any]:
    order = (
        "kind",
        "type",
        "vendor_name",
        "min_count",
        "heterogeneous",
        "optional",
        "default",
        "enum",
        "words",
        "counts",
        "since",
        "until",
        "doc",
    )
    return {key: form[key] for key in order if key in form}


def row_text(level: str, row: Mapping[str, Any]) -> str:
    """Return the lines of one support row: one line for a short row."""
    lines = line(f'  "{level}": ', row)
    if len(row) > SHORT_ROW or len(lines) > 1:
        lines = [f'  "{level}":']
        for key, value in row.items():
            parts = line(f"    {key}: ", value)
            if key == "type_sets" and len(parts) > 1:
                parts = ["    type_sets:"]
                parts += [one for variable, types in value.items() for one in line(f"      {variable}: ", types)]
            lines += parts
    return "\n".join(lines) + "\n"


def blocks(text: str, indent: int) -> Iterator[tuple[str | None, str]]:
    """Yield each key at `indent` spaces with its lines, comments and blank lines above it included.

    What stands before the first key belongs to it; the key is None where there is none at all, or behind the last.
    """
    start = re.compile(rf"""^ {{{indent}}}(?:"([^"]+)"|'([^']+)'|([^\s#:'"-][^:]*)):(?:\s|$)""")
    waiting: list[str] = []
    held: list[str] = []
    key: str | None = None
    for one in text.splitlines(keepends=True):
        found = start.match(one)
        if found:
            if key is not None:
                yield key, "".join(held)
            key, held, waiting = found[1] or found[2] or found[3], [*waiting, one], []
        elif key is None or not one.strip() or (one.lstrip().startswith("#") and _indent(one) <= indent):
            waiting.append(one)
        else:
            held += [*waiting, one]
            waiting = []
    if key is not None:
        yield key, "".join(held)
    if waiting:
        yield None, "".join(waiting)


def _indent(one: str) -> int:
    return len(one) - len(one.lstrip())
