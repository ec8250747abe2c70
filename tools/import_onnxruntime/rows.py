"""The rows of an operator over all releases.

They are split by release, changed in one release, and merged again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.runtimes.onnxruntime.release_ranges import span
from specgate.spec.short_forms import expand_sets, names_for_types
from tools.import_onnxruntime.stated import in_order, merged_types

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tools.import_onnxruntime.stated import Key

    #: The rows of each release, by its index.
    Releases = dict[int, dict[Key, dict[str, Any]]]

__all__ = ["Axis", "by_release", "format_rows", "is_handwritten"]

#: The keys of a row in a file, in order.
_ORDER: Final = (
    "types", "constant_inputs", "cpu_inputs", "cpu_outputs", "graph", "graph_inputs", "needs", "query", "apart",
    "note", "releases",
)  # fmt: skip

#: Minimum length of a named list that replaces a part of a longer list.
_LONG: Final = 8


class Axis:
    """The releases of a provider, and the named type lists of its files."""

    def __init__(self, order: Sequence[str], whole: tuple[int, int], sets: Mapping[str, list[str]]) -> None:
        self.order = order
        self.whole = whole
        self.sets = {name: in_order(types) for name, types in sets.items()}

    def types(self, types_: Any) -> Any:
        """Return a row's types with named lists expanded.

        Types are in the dialect's order.
        """
        if isinstance(types_, list):
            return merged_types([self.types(each) for each in types_])
        return {
            name: in_order(expand_sets([entries] if isinstance(entries, str) else entries, self.sets, "types")[0])
            for name, entries in types_.items()
        }

    def named(self, types: Any) -> Any:
        """Return a row's types with named lists substituted."""
        if isinstance(types, list):
            return [self.named(each) for each in types]
        return {name: self._name_types(listed) for name, listed in types.items()}

    def _name_types(self, listed: list[str]) -> str | list[str]:
        whole = names_for_types(listed, self.sets)
        long = {name: types for name, types in self.sets.items() if len(types) >= _LONG}
        return whole if isinstance(whole, str) else names_for_types(listed, long)


def range_text(first: int, last: int, order: Sequence[str], whole: tuple[int, int]) -> str | None:
    """Return the text of a range, None for `whole`.

    A start or end that equals that of `whole` is omitted.
    """
    if (first, last) == whole:
        return None
    if first == last:
        return order[first]
    begin = "" if first == whole[0] else order[first]
    return f"{begin}..{'' if last == whole[1] else order[last]}"


def by_release(versions: Mapping[str, Any], axis: Axis) -> Releases:
    """Return the rows of an operator in a file by release."""
    rows_by_release: Releases = {}
    for key, forms in versions.items():
        first, _, last = key.partition("..")
        for form in forms if isinstance(forms, list) else [forms]:
            row = {name: value for name, value in form.items() if name != "releases"}
            row["types"] = axis.types(row.get("types", {}))
            begin, end = span(form.get("releases"), axis.order, axis.whole)
            for at in range(begin, end + 1):
                rows_by_release.setdefault(at, {})[int(first), int(last) if last else None] = row
    return rows_by_release


def is_handwritten(row: Mapping[str, Any]) -> bool:
    """Return whether the row is handwritten and in no package."""
    return bool(row.get("apart"))


def format_rows(releases: Releases, axis: Axis) -> dict[str, Any]:
    """Return the rows as a file contains them.

    Equal rows are merged with their range of releases. The oldest versions come first.
    """
    from tools.rewrite import Quoted

    keys = sorted({key for rows in releases.values() for key in rows}, key=lambda key: (key[0], key[1] or 1 << 30))
    entries: dict[str, Any] = {}
    for key in keys:
        forms: list[tuple[int, int, dict[str, Any]]] = []
        for at in sorted(releases):
            row = releases[at].get(key)
            if row is None:
                continue
            if forms and forms[-1][1] == at - 1 and forms[-1][2] == row:
                forms[-1] = (forms[-1][0], at, row)
            else:
                forms.append((at, at, row))
        written = [_write_row(row, range_text(first, last, axis.order, axis.whole), axis) for first, last, row in forms]
        name = Quoted(f"{key[0]}" if key[1] is None else f"{key[0]}..{key[1]}")
        entries[name] = written[0] if len(written) == 1 else written
    return entries


def _write_row(row: Mapping[str, Any], releases: str | None, axis: Axis) -> dict[str, Any]:
    from tools.rewrite import Quoted

    content = {**row, "types": axis.named(row["types"]), "releases": None if releases is None else Quoted(releases)}
    return {name: content[name] for name in _ORDER if content.get(name) not in (None, {})}
