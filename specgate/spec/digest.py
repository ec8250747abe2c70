"""A hash of the content of compiled tables.

It does not depend on spelling, comments, layout and short forms of the files, and is the same on every system, in a
wheel and in a checkout.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Keys derived from others or about the files' layout.
_EXCLUDED_KEYS: Final = frozenset({"counted", "digest", "families", "files", "folder", "format", "operators", "sets"})


def digest(tables: Mapping[str, Any]) -> str:
    """Return the hash of compiled tables; equal content has equal hashes."""
    h = hashlib.sha256()
    rest = {name: part for name, part in tables.items() if name not in _EXCLUDED_KEYS}
    h.update(json.dumps(rest, sort_keys=True).encode())
    operators = tables.get("operators", {})
    for name in sorted(operators):  # order matters inside a table: inputs, and rows with conditions
        h.update(json.dumps([name, operators[name]]).encode())
    return h.hexdigest()
