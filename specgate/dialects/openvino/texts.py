"""Values that OpenVINO reads from attribute texts of another kind than the page defines.

Measured with `read_model` of OpenVINO 2026.4.1, one attribute of each kind and 85 texts: a boolean is true for ``true``
in any case and for ``1``, and false for every other text; a number is read up to the first character that does not
belong to it; lists are split at commas.
"""

from __future__ import annotations

import re
from typing import Any, Final

from specgate.descriptors.positional import INT64

__all__ = ["builds_read"]

_INTEGER: Final = re.compile(r"\s*(-?[0-9]{1,19})(?![0-9])", re.ASCII)
_FLOAT: Final = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)", re.ASCII)
_MAX_TEXT: Final = 10_000


def builds_read(kind: str, raw: Any) -> Any:
    """Return the value that builds read for a field of type `kind`, None where they reject the text."""
    text = _text(raw)
    if text is None or len(text) > _MAX_TEXT:
        return None
    if kind.endswith("[]"):
        items = text.split(",") if text else []
        if items and not items[-1]:
            items.pop()
        values = [_value(kind.removesuffix("[]"), item) for item in items]
        return None if None in values else values
    return _value(kind, text)


def _value(kind: str, text: str) -> Any:
    if kind == "string":
        return text
    if kind == "bool":
        return text.lower() == "true" or text == "1"
    if kind == "int":
        match = _INTEGER.match(text)
        number = None if match is None else int(match[1])
        return number if number is not None and INT64[0] <= number <= INT64[1] else None
    match = _FLOAT.match(text) if kind == "float" else None
    value = None if match is None else float(match[1])
    return None if value is None or value in {float("inf"), float("-inf")} else value


def _text(raw: Any) -> str | None:
    """Return a value as an IR spells it, None for what has no text there."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, int | float):
        return repr(raw)
    if isinstance(raw, str):
        return raw
    if isinstance(raw, list | tuple):
        items = [None if isinstance(item, list | tuple) else _text(item) for item in raw]
        return None if None in items else ",".join(map(str, items))
    return None
