"""Support of one operator as a matrix of fields and levels.

Consecutive levels with the same support share a column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from docs.frame import table
from specgate.levels import LevelSet
from specgate.report.markup import Markup, tag
from specgate.spec.changes import resolve_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.spec.fields import Cell
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["Stretch", "stretches", "support_matrices", "supported_words"]

#: Symbol, words and class of a cell by (documented, observed).
_SIGNS: Final = {
    (True, True): ("●", "supported", "full"),
    (False, True): ("◐", "undocumented, but works", "limited"),
    (True, False): ("○", "documented, but rejected by real builds", "limited"),
    (False, False): ("", "not supported", "absent"),
}
#: Parts of a cell that list words, each with its prefix.
_LISTS: Final = (("types", ""), ("values", "= "), ("operators", "fuses "))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive levels at which an operator has the same support.

    page: documented support. builds: observed support. Both are None if the operator does not exist there. kinds: the
    kind of each field that exists at the first of the levels.
    """

    levels: LevelSet
    page: Mapping[str, Cell] | None
    builds: Mapping[str, Cell] | None
    kinds: Mapping[str, str]

    def has(self, name: str, part: str) -> bool:
        """Return whether a field exists, for types as a tensor."""
        return name in self.kinds and (part != "types" or self.kinds[name] != "attribute")


def stretches(spec: OperatorSpec, when: str | None = None) -> list[Stretch]:
    """Return the stretches of an operator or of one of its cases."""
    groups: list[tuple[list[str], Any, dict[str, str]]] = []
    for level in spec.dialect.levels:
        sides: list[dict[str, Cell] | None] = []
        kinds: dict[str, str] = {}
        for side in ("documented", "observed"):
            whole = spec.resolve(level, side) if level in spec.levels else None
            resolved = resolve_case(whole, when)
            cells = None if resolved is None else resolved.cells
            kinds |= {} if resolved is None else {name: info.kind for name, info in resolved.fields.items()}
            named = None if resolved is None or cells is None else {n: c for n, c in cells.items() if n in spec.fields}
            sides.append(named)
        if groups and groups[-1][1] == sides:
            groups[-1][0].append(level)
        else:
            groups.append(([level], sides, kinds))
    order = spec.dialect.levels
    return [Stretch(LevelSet.of(order, levels), page, builds, kinds) for levels, (page, builds), kinds in groups]


def support_matrices(spec: OperatorSpec) -> Iterator[Markup]:
    """Yield a support matrix for each case of an operator."""
    for when, _ in spec.support:
        parts = stretches(spec, when)
        rows = list(_rows(spec, parts))
        caption = "Support of each field, by level" + (f", where {when}" if when else "")
        if rows:
            yield table(caption, ["field", *(str(stretch.levels) for stretch in parts)], rows, "support")
        else:
            spans = [str(stretch.levels) for stretch in parts if stretch.page is not None]
            yield tag("p", f"No field is restricted at {', '.join(spans)}.")


def supported_words(cell: Cell | None, part: str) -> tuple[str, ...] | None:
    """Return the list in a part of a cell; None if everything is supported."""
    words: Sequence[Any] | None = getattr(cell, part) if cell is not None else None
    return None if words is None else tuple(map(str, words))


def _rows(spec: OperatorSpec, parts: Sequence[Stretch]) -> Iterator[list[Markup | str]]:
    """Yield the rows for ranks and lists of each field.

    Fields with the same support at all levels share rows.
    """
    for part, before in _LISTS:
        alike: dict[Any, list[str]] = {}
        for name in spec.fields:
            key = tuple(
                (supported_words(s.page.get(name), part), _observed_words(s, name, part))
                if s.page is not None and s.has(name, part)
                else None
                for s in parts
            )
            if any(sides is not None and sides != (None, None) for sides in key):
                alike.setdefault(key, []).append(name)
        for key, names in alike.items():
            if not (part == "values" and _covers_enum(spec, names, key)):
                yield from _list_rows(", ".join(names), before, key)
    yield from _bounds_rows(spec, parts)


def _observed_words(stretch: Stretch, name: str, part: str) -> tuple[str, ...] | None:
    return supported_words(stretch.builds.get(name), part) if stretch.builds is not None else None


def _covers_enum(spec: OperatorSpec, names: Sequence[str], key: Sequence[Any]) -> bool:
    """Return whether the cells contain all words of an enum at all levels.

    The table of fields then already lists them.
    """
    words = spec.fields[names[0]].words
    return words is not None and all(sides in {None, (None, None), (tuple(words), tuple(words))} for sides in key)


def _list_rows(title: str, before: str, key: Sequence[Any]) -> Iterator[list[Markup | str]]:
    words = dict.fromkeys(w for sides in key if sides is not None for side in sides for w in side or ())
    yield [tag("b", title), *(Markup() for _ in key)]
    for word in words:
        cells: list[Markup | str] = [tag("span", f"{before}{word}", class_="item")]
        for sides in key:
            if sides is None:
                cells.append(_sign("–", "does not exist", "absent"))
                continue
            page, builds = sides
            cells.append(_sign(*_SIGNS[page is None or word in page, builds is None or word in builds]))
        yield cells


def _sign(sign: str, meaning: str, kind: str) -> Markup:
    return tag("span", sign, tag("span", meaning, class_="unseen"), class_=f"sign {kind}", title=meaning)


def _bounds_rows(spec: OperatorSpec, parts: Sequence[Stretch]) -> Iterator[list[Markup | str]]:
    for part, word in (("ranks", "ranks"), ("range", "range")):
        alike: dict[Any, list[str]] = {}
        for name in spec.fields:
            key = tuple(_bounds(stretch, name, part) for stretch in parts)
            if any(text not in {"–", "any"} for text in key):
                alike.setdefault(key, []).append(name)
        for key, names in alike.items():
            yield [tag("span", tag("b", f"{word} of "), ", ".join(names)), *key]


def _bounds(stretch: Stretch, name: str, part: str) -> str:
    if stretch.page is None:
        return "–"
    page, builds = (_format_bounds(cells, name, part) for cells in (stretch.page, stretch.builds or {}))
    return page if page == builds else f"{page} (builds: {builds})"


def _format_bounds(cells: Mapping[str, Cell], name: str, part: str) -> str:
    cell = cells.get(name)
    bounds = getattr(cell, part) if cell is not None else None
    return "any" if bounds is None else str(bounds)
