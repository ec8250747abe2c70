"""The support matrix of a dialect: operators as rows, levels as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.levels import LevelSet
from specgate.report import markup
from specgate.report.markup import Markup, breakable, document, own_file, tag, text
from specgate.report.tables import words
from specgate.report.tables.text import counts, observed_facts
from specgate.spec.changes import more_from, steps
from specgate.spec.view import observed_entries, operators_at, resolved_table, rules_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.spec.changes import Step
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.targets import Target

#: The sign and text of a cell by its class, so that color is not the only distinction.
_SIGNS: Final = {
    "absent": ("", "not available"),
    "limited": ("◐", "there"),
    "full": ("●", "full support (same as the newest level)"),
}
_STEPS: Final = {"new": ("+", "new"), "changed": ("Δ", "changed here")}


def matrix(table: Dialect, level: str | None) -> Markup:
    """Return the matrix with the column of `level` highlighted."""
    heads = [_head(name, marked=name == level) for name in table.levels]
    head = tag("tr", tag("th", "operator", class_="name", scope="col"), *heads)
    rows = [_row(table.operator(name), table, level) for name in table.operators]
    caption = f"Operators by {table.level_word}"
    return markup.table(caption, head, tag("tbody", *rows), class_="support")


def _head(name: str, *, marked: bool) -> Markup:
    if not marked:
        return tag("th", name, scope="col")
    return tag("th", name, tag("span", "target", class_="mark"), scope="col", class_="target")


def _row(spec: OperatorSpec, table: Dialect, target: str | None) -> Markup:
    own_steps = steps(spec)
    stepped: dict[str, Step] = {}
    cells, limited_names, before = [], [], None
    for level in table.levels:
        spec_level = spec.level_for(level)  # several levels may have the same version of a domain
        if spec_level is not None and spec_level != before and spec_level in own_steps:
            stepped[level] = own_steps[spec_level]
        before = spec_level
        kind = (
            "absent"
            if spec_level is None or spec_level not in spec.levels
            else "limited"
            if more_from(spec, spec_level)
            else "full"
        )
        limited_names += [level] if kind == "limited" else []
        cells.append(_cell(kind, stepped.get(level), marked=level == target))
    link = tag("a", breakable(spec.name), href=f"#{spec.dialect.name}/{spec.name}")
    data = {"data_changed": " ".join(stepped), "data_limited": " ".join(limited_names)}
    return tag("tr", tag("th", link, class_="name", scope="row"), *cells, id=spec.name, data_operator=spec.name, **data)


def _cell(kind: str, step: str | None, *, marked: bool) -> Markup:
    sign, result = _SIGNS[kind]
    extra, suffix = _STEPS[step] if step else ("", "")
    label = f"{result}, {suffix}" if suffix else result
    element = tag("span", sign, tag("b", extra) if extra else Markup(), class_=kind)
    return tag("td", element, aria_label=label, title=label, class_="target" if marked else False)


def legend() -> Markup:
    """Return the legend of the signs."""
    signs = [(kind, sign, result) for kind, (sign, result) in _SIGNS.items()]
    signs += [("", sign, result) for sign, result in _STEPS.values()]
    keys = [
        tag(
            "li",
            tag("span", sign, class_=f"key {kind}".strip()),
            f" {result}{', a later level supports more' * (kind == 'limited')}",
        )
        for kind, sign, result in signs
    ]
    return tag("ul", *keys, class_="legend")


def operator_details(table: Dialect, operator: str, level: str | None) -> Markup:
    """Return an operator, collapsed, with the row of `level` highlighted."""
    data = resolved_table(table.name, operator)
    span = words.whole_span(data)
    name = f"{table.name}/{operator}"
    summary = tag("summary", tag("b", breakable(operator)), " ", tag("span", span, class_="count"))
    facts = f"{words.kernel_words(data).capitalize()}; {words.examples_count(data)}."
    parts = [
        *([tag("p", data["summary"])] if data["summary"] else []),
        tag("p", f"Levels {span}. {facts}", class_="about"),
        fields_table(data),
        _support(data, level),
        *_render_section("Rules", _rules(name, data["rules"], span)),
        *_render_section("Unknowns", [markup.bullets(data["unknowns"])] if data["unknowns"] else []),
        *_render_section("Differences of real builds", _render_observed(name, data)),
        *_render_section("Sources", [markup.bullets(map(source_link, data["source"]))]),
    ]
    return tag("details", summary, *parts, class_="operator", id=name, data_operator=operator)


def tensor_rules(table: Dialect) -> Markup:
    """Return the rules of every tensor; empty if the dialect does not have any."""
    if not table.tensor_rules:
        return Markup()
    all_levels = LevelSet.of(table.levels, table.levels)
    name = f"{table.name}/tensor"
    rules = rules_of(table, table.tensor_rules, all_levels)
    tensor_table = table.tables.tensor
    entries = {
        "dialect": table.name,
        "observed": observed_entries(table, table.tensor_overlays, tensor_table.observed),
        "rules": rules,
        "rows": [],
    }
    parts = [
        *_rules(name, rules, str(all_levels)),
        *_render_section("Differences of real builds", _render_observed(name, entries)),
    ]
    sources = markup.bullets(map(source_link, tensor_table.sources))
    return tag("section", tag("h2", "Rules of every tensor"), *parts, *_render_section("Sources", [sources]), id=name)


def source_link(source: Mapping[str, Any]) -> Markup:
    """Return a source as text, with a permanent link if it is on GitHub."""
    repository, path, commit = (source.get(key) for key in ("repository", "path", "commit"))
    if not (repository and path and commit):
        return text(words.source_words(source))
    label = source.get("page") or source.get("name") or path
    link = tag("a", str(label), href=f"https://github.com/{repository}/blob/{commit}/{path}", rel="noreferrer")
    return tag("span", link, f" ({repository}, {str(commit)[:10]})")


def _render_section(title: str, parts: Iterable[Markup]) -> list[Markup]:
    markups = list(parts)
    return [tag("h3", title), *markups] if markups else []


def fields_table(data: Mapping[str, Any]) -> Markup:
    """Return the fields of a `resolved_table`: name, kind and summary."""
    rows = []
    for name, info in data["tensors"].items():
        kind = info["kind"] + ", optional" * info.get("optional", False)
        rows.append((name, kind, info.get("doc", "")))
    for name, info in data["attributes"].items():
        rows.append((name, words.about_attribute(info), info.get("doc", "")))
    lines = [
        tag("tr", tag("th", name, scope="row"), tag("td", kind, class_="words"), tag("td", doc, class_="words"))
        for name, kind, doc in rows
    ]
    head = tag("tr", *(tag("th", title, scope="col") for title in ("field", "kind", "description")))
    return markup.table("Fields", head, tag("tbody", *lines))


def _support(data: Mapping[str, Any], level: str | None) -> Markup:
    short = words.short_names(data)
    case = None
    before: Mapping[str, Any] = {}
    bodies = []
    for row in data["rows"]:
        if row.get("when") != case:
            case, before = row["when"], {}
            bodies.append(
                tag("tbody", tag("tr", tag("th", tag("code", f"where {case}"), colspan="3", scope="rowgroup")))
            )
        exists = level in row["levels"]
        title = [words.row_span(data, row["levels"]), tag("span", "target", class_="mark") if exists else Markup()]
        first = tag("tr", tag("th", *title, colspan="3", scope="rowgroup"), class_="span")
        bodies.append(tag("tbody", first, *_cells(data, row, before, short), class_="target" if exists else False))
        before = row["fields"]
    head = tag("tr", *(tag("th", name, scope="col") for name in ("tensor", "ranks", "supports")))
    return markup.table("Support; additions to the previous row are underlined", head, *bodies)


def _cells(
    data: Mapping[str, Any], row: Mapping[str, Any], before: Mapping[str, Any], short: Mapping[str, str]
) -> Iterator[Markup]:
    """Yield the lines of a row; fields with equal support share a line."""
    limited_names = words.limited_attributes(data)
    levels_by_cell: dict[tuple[Markup, Markup], list[str]] = {}
    for name, cell in row["fields"].items():
        if cell["kind"] != "attribute" or name in limited_names:
            levels_by_cell.setdefault(_cell_parts(cell, before.get(name), short), []).append(name)
    for (ranks, supported), names in levels_by_cell.items():
        yield tag(
            "tr",
            tag("th", ", ".join(names), scope="row"),
            tag("td", ranks, class_="ranks" if ranks else False),
            tag("td", supported, class_="words"),
        )


def _cell_parts(
    cell: Mapping[str, Any], before: Mapping[str, Any] | None, short: Mapping[str, str]
) -> tuple[Markup, Markup]:
    ranks, type_words = words.cell_parts(cell, short)
    tensor = cell["kind"] != "attribute"
    old_ranks, old = words.cell_parts(before, short) if before is not None else (ranks, type_words)
    words_by_kind = {word: set(operators) for word, operators in old}
    ranks_text = (ranks or "any") if tensor else ""
    parts = [
        _list_operators(word, operators, words_by_kind.get(word, set(operators))) for word, operators in type_words
    ]
    supported = Markup("; ".join(parts)) if parts else text("any type" if tensor else "any")
    return (tag("ins", ranks_text) if ranks != old_ranks else text(ranks_text)), supported


def _list_operators(word: str, operators: Iterable[str], names: set[str]) -> Markup:
    items = [text(name) if name in names else tag("ins", name) for name in operators]
    return Markup(" ".join([text(word), *items] if word else items))


def _rules(name: str, rules: Iterable[Mapping[str, Any]], full_range: str) -> Iterator[Markup]:
    for rule, forms in words.rule_groups(rules, full_range).items():
        yield tag("div", *_rule(f"{name}/{rule}", rule, forms), class_="rule", id=f"{name}/{rule}")


def _rule(anchor: str, rule: str, forms: Iterable[tuple[str, str, str]]) -> Iterator[Markup]:
    yield tag("a", rule, href=f"#{anchor}")
    for levels, expression, reason in forms:
        levels_mark = tag("span", f"{levels} ", class_="count") if levels else Markup()
        yield tag("p", levels_mark, tag("code", expression))
        if reason:
            yield tag("p", reason, class_="about")


def _render_observed(name: str, data: Mapping[str, Any]) -> Iterator[Markup]:
    short = words.short_names(data)
    rule_names = {rule["name"] for rule in data["rules"]}
    for entry in data["observed"]:
        source_text = f" ({entry['by']} only)" if "by" in entry else ""
        bug = ", contradicting the documentation" if entry.get("bug") else ""
        facts = [
            tag("div", tag("dt", result), tag("dd", detail))
            for result, detail in observed_facts(entry, short)
            if result != "require"
        ]
        rules = []
        for rule, forms in words.rule_groups(entry.get("rules", ()), entry["builds"]).items():
            anchor = f"{name}/{rule}"
            rules.append(
                tag("div", "require ", *_rule(anchor, rule, forms), class_="rule", id=rule not in rule_names and anchor)
            )
            rule_names.add(rule)
        yield tag(
            "div", tag("h4", f"Builds {entry['builds']}{source_text}{bug}"), *rules, tag("dl", *facts), class_="builds"
        )


def render(table: Dialect, target: Target | None) -> str:
    """Return the page of a dialect, with the column of `target` highlighted."""
    level = target.level if target else None
    title = table.tables.title
    main = tag(
        "main",
        tag(
            "header",
            tag("h1", f"{title}: operators by {table.level_word}"),
            _render_summary(table, target),
            _tiles(table, level),
        ),
        _filters(table, level),
        tag("section", tag("h2", "Support", id="support"), legend(), matrix(table, level)),
        tag("section", tag("h2", "Operators"), *(operator_details(table, name, level) for name in table.operators)),
        tensor_rules(table),
    )
    style, script = own_file(__package__, "style.css"), own_file(__package__, "filter.js")
    return document(f"{title}: operators by {table.level_word}", main, style=style, script=script)


def _render_summary(table: Dialect, target: Target | None) -> Markup:
    result = f"{len(table.operators)} operators with a table, {len(table.levels)} levels"
    return tag("p", result + (f"; {target.described} is marked." if target else "."), class_="headline")


def _tiles(table: Dialect, level: str | None) -> Markup:
    """Return operator counts at `level`, by default at the newest level."""
    shown_level = level or table.levels[-1]
    names = {"yes": "full support (same as the newest)", "limited": "limited", "no": "not available"}
    numbers = counts(operators_at(table, shown_level))
    return markup.tiles((f"{names[kind]} at {shown_level}", str(number), "") for kind, number in numbers.items())


def _filters(table: Dialect, level: str | None) -> Markup:
    """Return the filter form; it is hidden unless the script runs."""
    chosen_level = level or table.levels[-1]
    levels = [tag("option", name, value=name, selected=name == chosen_level) for name in table.levels]
    boxes = [
        tag("label", tag("input", type="checkbox", name=name, value=name), result, class_="choice")
        for name, result in (("changed", "new or changed there"), ("limited", "limited there"))
    ]
    return markup.filters(
        markup.search("Operator ", "operator"),
        tag("label", f"{table.level_word.capitalize()} ", tag("select", *levels, name="level"), class_="search"),
        *boxes,
        shown_text=f"{len(table.operators)} operators",
    )
