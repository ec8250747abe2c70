"""All named targets: levels, releases, and releases of runtimes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.dialects import dialect_names
from specgate.runtimes import runtimes
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.spec.dialect_spec import Dialect

__all__ = ["known_targets"]


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
        rows.extend(_of_implementations(table))
        rows.extend(row for each in runtimes(name) for row in each.releases())
    return rows


def _of_implementations(table: Dialect) -> Iterator[dict[str, Any]]:
    """Yield a row per release that an implementation was tested at."""
    entries = {str(entry["name"]): entry for entry in table.environments}
    for own in table.implementations_with_targets.values():
        for release in own["releases"]:
            yield {
                **entries[release], "target": f"{own['target']}:{release}", "title": own["title"], "via": own["what"],
            }  # fmt: skip
