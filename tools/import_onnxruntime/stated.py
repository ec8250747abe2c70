"""The kernels of a package as rows.

Kernels that are registered per type are merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.runtimes.onnxruntime.table_references import MODELS
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Key", "Stated", "in_order", "merged_types"]

#: The first and the last version of a row; None if open-ended.
Key = tuple[int, int | None]


class Stated(dict[tuple[str, str], dict[Key, dict[str, Any]]]):
    """Rows by domain and operator, then by versions.

    Several kernels of one version are one row.
    """

    def __init__(self, kernels: Iterable[tuple[str, str, int, int | None, Mapping[str, Any]]] = ()) -> None:
        super().__init__()
        every: dict[tuple[str, str], dict[Key, list[Mapping[str, Any]]]] = {}
        for domain, operator, version, until, row in kernels:
            every.setdefault((domain, operator), {}).setdefault((version, until), []).append(row)
        for name, versions in every.items():
            self[name] = {}
            for key, rows in sorted(versions.items(), key=lambda pair: pair[0][0]):
                types = merged_types([row["types"] for row in rows])
                self[name][key] = {**rows[0], "types": types[0] if len(types) == 1 else types}


def merged_types(kernels: Iterable[Mapping[str, Iterable[str]]]) -> list[dict[str, list[str]]]:
    """Return the fewest type sets that together equal the kernels' sets.

    Two sets are merged only if they differ in one constraint, because their union then accepts no other combination.
    """
    groups: list[dict[str, frozenset[str]]] = []
    for kernel in sorted(kernels, key=_sort_types):
        new = {name: frozenset(types) for name, types in kernel.items()}
        while (old := next((each for each in groups if _can_join(each, new)), None)) is not None:
            groups.remove(old)
            new = {name: types | old[name] for name, types in new.items()}
        groups.append(new)
    return sorted(({name: in_order(types) for name, types in each.items()} for each in groups), key=_sort_types)


def _sort_types(kernel: Mapping[str, Iterable[str]]) -> list[tuple[str, list[str]]]:
    return sorted((name, in_order(types)) for name, types in kernel.items())


def _can_join(row: Mapping[str, frozenset[str]], other: Mapping[str, frozenset[str]]) -> bool:
    return row.keys() == other.keys() and sum(row[name] != other[name] for name in row) <= 1


def in_order(types: Iterable[str]) -> list[str]:
    """Return types in the dialect's order, tensors before composite types."""
    order = {name: index for index, name in enumerate(dialect(MODELS).types)}
    return sorted(types, key=lambda kind: (order.get(kind, len(order)), kind))
