"""A descriptor as JSON for people: on one line, or broken where lines become long."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from specgate.report.jsonreport import safe_values

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["one_line", "pretty"]

_WIDTH: Final = 96


def one_line(descriptor: Mapping[str, Any]) -> str:
    """Return a descriptor as ASCII JSON on one line, which opens no command in a CI server's log."""
    return _dump(safe_values(descriptor))


def pretty(descriptor: Mapping[str, Any]) -> str:
    """Return a descriptor as ASCII JSON, broken where a line would become long."""
    return _pretty(safe_values(descriptor), 0)


def _pretty(value: Any, indent: int) -> str:
    line = _dump(value)
    if len(line) + indent <= _WIDTH or not isinstance(value, (dict, list)) or not value:
        return line
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [f"{_dump(key)}: {_pretty(item, indent + 2)}" for key, item in value.items()]
        begin, end = "{}"
    else:
        parts = [_pretty(item, indent + 2) for item in value]
        begin, end = "[]"
    return f"{begin}\n{pad}" + f",\n{pad}".join(parts) + f"\n{' ' * indent}{end}"


def _dump(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    # Neither occurs outside strings, where an escape means the same.
    return text.replace("##", "#\\u0023").replace("::", ":\\u003a")
