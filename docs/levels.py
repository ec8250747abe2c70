"""Pages of levels and releases.

They list what is new at a level, and which level a release implements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docs.frame import Page, breadcrumb, command, link, listing, section, table
from specgate.dialects import BUILT_IN
from specgate.report.markup import Markup, tag, text
from specgate.report.rule_links import operator_page
from specgate.spec.changes import changes
from specgate.spec.tables import dialect
from specgate.targets.listing import known_targets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from specgate.spec.changes import Change, Detail
    from specgate.spec.dialect_spec import Dialect

__all__ = ["level_page_path", "level_pages"]


def level_page_path(dialect_name: str, level: str) -> str:
    """Return the path of the page of a level."""
    return f"levels/{dialect_name}-{level}.html"


def level_pages() -> Iterator[Page]:
    """Yield the page of all levels and releases, and a page per level."""
    yield _index()
    for name in BUILT_IN:
        table_ = dialect(name)
        befores = (None, *table_.levels)
        yield from (_level(table_, before, level) for before, level in zip(befores, table_.levels, strict=False))


def _title(table_: Dialect, level: str) -> str:
    label = table_.label(level)
    return (
        f"{table_.tables.title} {label}" if table_.level_word != "feature level" else f"{table_.tables.title} {level}"
    )


def _releases(table_: Dialect) -> Mapping[str, list[Mapping[str, Any]]]:
    releases: dict[str, list[Mapping[str, Any]]] = {}
    for row in known_targets([table_.name]):
        if row["kind"] != "level":
            releases.setdefault(str(row["level"]), []).append(row)
    return releases


def _index() -> Page:
    parts = [
        breadcrumb("Levels"),
        tag("h1", "Levels and releases"),
        tag(
            "p",
            "Which level a Windows version, a package or a runtime has, and what each level added.",
            class_="says",
        ),
        command("specgate targets"),
    ]
    for name in BUILT_IN:
        table_ = dialect(name)
        releases = _releases(table_)
        rows = [
            (link(level_page_path(name, level), _title(table_, level)), _release_names(releases.get(level, [])))
            for level in reversed(table_.levels)
        ]
        parts.append(
            section(
                table_.tables.title,
                table(f"{table_.tables.title}, newest first", ("level", "releases"), rows),
                name=name,
            )
        )
    return Page("levels/index.html", "Levels and releases", Markup("".join(parts)))


def _release_names(rows: Iterable[Mapping[str, Any]]) -> str:
    return "; ".join(str(row.get("title") or row["target"]) for row in rows)


def _level(table_: Dialect, before: str | None, level: str) -> Page:
    title = f"What is new in {_title(table_, level)}"
    parts = [
        breadcrumb(link("levels/index.html", "Levels")),
        tag("h1", title),
    ]
    if before is None:
        first = [name for name in table_.operators if _has_operator(table_, name, level)]
        parts += [
            tag("p", f"The first level, with {len(first)} operators.", class_="says"),
            _operators(table_, first),
        ]
    else:
        changed = changes(table_, before, level)
        parts += [_summary(table_, before, changed), *_render_changes(table_, changed)]
        parts.append(
            section("From the command line", command(f"specgate diff {table_.name}:{before} {table_.name}:{level}"))
        )
    targets = [
        tag("span", str(row.get("title") or ""), " ", tag("code", str(row["target"])))
        for row in _releases(table_).get(level, [])
    ]
    parts.append(section("Releases of this level", listing(targets)))
    return Page(level_page_path(table_.name, level), title, Markup("".join(parts)))


def _has_operator(table_: Dialect, name: str, level: str) -> bool:
    spec = table_.operator(name)
    at = spec.level_for(level)
    return at is not None and at in spec.levels


def _summary(table_: Dialect, before: str, changed: Sequence[Change]) -> Markup:
    counts = {kind: sum(change.kind == kind for change in changed) for kind in ("added", "changed", "removed")}
    words = {"added": "new", "changed": "changed", "removed": "removed"}
    counted = ", ".join(f"{number} {words[kind]}" for kind, number in counts.items() if number)
    previous = link(level_page_path(table_.name, before), _title(table_, before))
    return tag("p", f"Operators: {counted or 'no differences'}, compared with ", previous, ".", class_="says")


def _operators(table_: Dialect, names: Iterable[str]) -> Markup:
    return listing((link(operator_page(table_.name, name), name) for name in names), "names")


def _render_changes(table_: Dialect, changed: Sequence[Change]) -> Iterator[Markup]:
    yield section("New operators", _operators(table_, [c.operator for c in changed if c.kind == "added"]))
    groups: dict[tuple[Detail, ...], list[str]] = {}
    for change in changed:
        if change.kind == "changed":
            groups.setdefault(change.details, []).append(change.operator)
    blocks = [
        tag("div", _operators(table_, names), listing(text(str(detail)) for detail in details), class_="change")
        for details, names in groups.items()
    ]
    yield section("Changed operators", *blocks)
    yield section("Removed operators", _operators(table_, [c.operator for c in changed if c.kind == "removed"]))
