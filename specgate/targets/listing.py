"""All named targets: levels, releases, and releases of runtimes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.dialects import dialect_names
from specgate.runtimes import runtimes
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.spec.dialect_spec import Dialect


def known_targets(names: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Return every level and release of the dialects, with sources.

    `specgate targets` prints this list.
    """
    rows: list[dict[str, Any]] = []
    for name in dialect_names() if names is None else names:
        table = dialect(name)
        for level in table.levels:
            info = {k: v for k, v in table.tables.levels[level].items() if k != "limits"}
            rows.append({"target": f"{name}:{level}", "name": level, "kind": table.level_word, "level": level, **info})
        rows.extend({"target": f"{name}:{entry['name']}", **entry} for entry in table.environments)
        rows.extend(_implementation_rows(table))
        rows.extend(row for runtime in runtimes(name) for row in runtime.releases())
    return rows


def _implementation_rows(table: Dialect) -> Iterator[dict[str, Any]]:
    """Yield a row per release that an implementation was tested at."""
    entries = {str(entry["name"]): entry for entry in table.environments}
    for entry in table.implementations_with_targets.values():
        for release in entry["releases"]:
            yield {
                **entries[release], "target": f"{entry['target']}:{release}",
                "title": entry["title"], "via": entry["what"],
            }  # fmt: skip
