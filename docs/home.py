"""The home page, and the list of operators of each dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from docs.frame import HERE, Page, breadcrumb, command, link, search_box, section, table
from docs.rule_ids import other_rules, tensor_rule_names
from docs.runtime import best_opset
from specgate.dialects import BUILT_IN
from specgate.report.markup import Markup, tag, text
from specgate.report.rule_links import operator_page, rule_page
from specgate.spec.changes import steps
from specgate.spec.rulebook import rule_of
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["OPSET_QUESTION", "dialect_page", "first_page", "rules_page"]

#: Also found in the search box in the spelling that people type.
OPSET_QUESTION: Final = "Which opset may I export at for DirectML?"


def first_page() -> Page:
    """Return the home page: search, three example questions, and links."""
    parts = [
        tag("h1", "Will this operator run there?"),
        tag(
            "p",
            "Support of every DirectML feature level, ONNX opset and OpenVINO opset: operators, types, ranks and "
            "rules, compared with real builds.",
            class_="says",
        ),
        search_box("ONE_HOT INT64 2.1"),
        tag("div", id="answer", aria_live="polite"),
        section("Example questions", _questions()),
        section("All operators", tag("div", *(_tile(name) for name in BUILT_IN), class_="tiles")),
        section("Contents", _feature_list()),
        section(
            "On your machine",
            tag("p", "The same tables check descriptors and whole models, and execute them with numpy:"),
            command("specgate check model.json --target directml:2.1\nspecgate lint model.onnx --target onnx:17"),
        ),
    ]
    about = "Support of DirectML, ONNX and OpenVINO operators by level: types, ranks, rules, behavior of real builds."
    return Page("index.html", "specgate", Markup("".join(parts)), about)


def _questions() -> Markup:
    rows = [
        (
            "Does ONE_HOT support INT64 indices at 2.1?",
            tag(
                "a",
                "Matrix: ONE_HOT, INT64, DirectML 2.1",
                href=f"{HERE}matrix.html#dialect=directml&type=INT64&level=2.1&operator=ONE_HOT",
            ),
        ),
        (
            "Which operators support INT64 at DirectML 4.1?",
            link("matrix.html#dialect=directml&type=INT64&level=4.1", "Matrix: INT64 at 4.1"),
        ),
        (
            OPSET_QUESTION,
            link("runtime/index.html", f"Opset {best_opset()} or lower, and why"),
        ),
        (
            "What does a rule require?",
            tag(
                "span",
                "Type its id, or part of it: ",
                link("rules/directml/ONE_HOT/axis-range.html", "directml/ONE_HOT/axis-range"),
            ),
        ),
        (
            "What does E_INVALIDARG mean?",
            link("guides/invalid-argument.html", "From E_INVALIDARG to a fix in five minutes"),
        ),
    ]
    items = [tag("li", tag("b", question), " ", answer) for question, answer in rows]
    return tag("ul", *items, class_="questions")


def _tile(name: str) -> Markup:
    table_ = dialect(name)
    levels = f"{table_.level_word}s {table_.levels[0]} to {table_.levels[-1]}".replace("opsets opset", "opset").replace(
        "to opset", "to "
    )
    return tag(
        "a",
        tag("b", table_.tables.title),
        tag("span", f"{len(table_.operators)} operators, {levels}"),
        href=f"{HERE}{name}/index.html",
        class_="tile",
    )


def _feature_list() -> Markup:
    ways = (
        ("matrix.html", "Matrix", "search by operator, type, rank and level"),
        ("levels/index.html", "Levels", "what each level added, and which release has which level"),
        (
            "runtime/index.html",
            "ONNX Runtime",
            "what runs on DirectML, and what falls back to the CPU from which opset on",
        ),
        ("compare.html", "Dialects compared", "each operator in DirectML, ONNX and OpenVINO"),
        ("agreement.html", "Agreement", "the tables compared with real builds, by level"),
        ("rules/index.html", "Rules of models", "what lint checks in whole files"),
        ("guides/index.html", "Guides", "a fix in five minutes, CI in five minutes, your own operator"),
        ("reference/index.html", "Reference", "table format, rule language, Python functions"),
    )
    return tag("ul", *(tag("li", link(path, name), f": {description}") for path, name, description in ways))


def dialect_page(name: str, operators: Sequence[str]) -> Page:
    """Return the list of a dialect's operators and tensor rules."""
    table_ = dialect(name)
    rows = []
    for operator in operators:
        spec = table_.operator(operator)
        changed = ", ".join(list(steps(spec))[1:])
        rows.append((link(operator_page(name, operator), operator), str(spec.levels), changed, spec.table.summary))
    heads = ("operator", f"{table_.level_word}s", "changed at", "what it does")
    tensor = [
        tag("li", link(rule_page(f"{name}/tensor/{rule}"), rule), f": {rule_of(f'{name}/tensor/{rule}').says or ''}")
        for rule in tensor_rule_names(name)
    ]
    parts = [
        breadcrumb("operators"),
        tag("h1", f"{table_.tables.title} operators"),
        tag(
            "p",
            f"{len(operators)} operators. ",
            link(f"matrix.html#dialect={name}", "Search them by type and level"),
            ".",
            class_="says",
        ),
        table(f"Operators of {table_.tables.title}", heads, rows, "operators"),
        section("Rules of every tensor", tag("ul", *tensor)),
    ]
    title = f"{table_.tables.title} operators"
    return Page(
        f"{name}/index.html", title, Markup("".join(parts)), f"All {title} with the levels at which they exist."
    )


def rules_page() -> Page:
    """Return the list of the rules that are not in an operator's table."""
    groups: dict[str, list[str]] = {}
    for group, rule in other_rules():
        groups.setdefault(group, []).append(rule)
    parts = [
        breadcrumb("rules"),
        tag("h1", "Rules of whole models and of the checks"),
        tag(
            "p",
            "Rules on files, graphs, placements and settings. Rules of operators are on the operators' pages.",
            class_="says",
        ),
        *(
            section(group, tag("ul", *_list_rules(group, rules)), name=group.replace("/", "-"))
            for group, rules in groups.items()
        ),
    ]
    return Page("rules/index.html", "Rules of whole models", Markup("".join(parts)))


def _list_rules(group: str, rules: Sequence[str]) -> Iterator[Markup]:
    for rule in rules:
        yield tag("li", link(rule_page(f"{group}/{rule}"), rule), text(f": {rule_of(f'{group}/{rule}').says or ''}"))
