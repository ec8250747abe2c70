"""A hash of what tables say.

It is of the compiled tables, so it is the same for every spelling of the files, on every system, in a wheel and in a
checkout. Comments, the layout of files and the short forms of tables do not count.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["digest"]

#: What follows from the rest, or says how files are laid out.
_ASIDE: Final = frozenset({"counted", "digest", "families", "files", "folder", "format", "operators", "sets"})


def digest(tables: Mapping[str, Any]) -> str:
    """Return the hash of compiled tables: equal where they say the same, in whatever files."""
    h = hashlib.sha256()
    rest = {name: part for name, part in tables.items() if name not in _ASIDE}
    h.update(json.dumps(rest, sort_keys=True).encode())
    operators = tables.get("operators", {})
    for name in sorted(operators):  # inside a table the order counts: that of inputs, and of rows with conditions
        h.update(json.dumps([name, operators[name]]).encode())
    return h.hexdigest()
