"""The page of one operator of one dialect."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from docs.agreement import AGREEMENT, operator_agreement
from docs.frame import Page, breadcrumb, command, link, listing, section, table
from docs.rule_ids import operator_rules, written_rules
from docs.rules import check_command
from docs.runtime import registered_kernels
from docs.support import support_matrices
from docs.twins import closest_operators, onnx_by_directml
from specgate.report.markup import Markup, tag, text
from specgate.report.rule_links import operator_page, rule_page
from specgate.report.tables import words
from specgate.report.tables.html import fields_table, source_link
from specgate.report.tables.text import observed_facts
from specgate.spec.lint import levels_of_example
from specgate.spec.tables import dialect
from specgate.spec.view import resolved_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["operator_page_of"]

#: Longer examples are collapsed. Very long ones are replaced by the name of the file, to keep pages small.
_LONG: Final = 600
_LONGEST: Final = 6000
_MOST_EXAMPLES: Final = 6


def operator_page_of(dialect_name: str, operator: str) -> Page:
    """Return the page of an operator."""
    table_ = dialect(dialect_name)
    spec = table_.operator(operator)
    data = resolved_table(dialect_name, operator)
    parts = [
        breadcrumb(link(f"{dialect_name}/index.html", table_.tables.title)),
        tag("h1", text(operator)),
        tag("p", data["summary"], class_="says") if data["summary"] else Markup(),
        _facts(spec, data),
        section("Support", _legend(), *support_matrices(spec)),
        section("Fields", fields_table(data)),
        section("Rules", *_rules(spec, data), _other_rules(spec)),
        section("Differences of real builds", *_render_observed(spec, data)),
        section("Examples", *_examples(spec)),
        section("Agreement with real builds", *_agreement_section(dialect_name, operator)),
        section("In other dialects", _equivalents_section(dialect_name, operator)),
        section("In ONNX Runtime", *_runtime(dialect_name, operator)),
        section("Unknown facts", listing(data["unknowns"])),
        section("Sources", listing(source_link(source) for source in data["source"])),
    ]
    about = f"{table_.tables.title} {operator}: support by {table_.level_word}, rules, examples. {data['summary']}"
    return Page(
        operator_page(dialect_name, operator),
        f"{operator} ({table_.tables.title})",
        Markup("".join(parts)),
        about,
        by_operator=True,
    )


def _facts(spec: OperatorSpec, data: Mapping[str, Any]) -> Markup:
    tolerance = spec.table.tolerance
    recipe = spec.table.recipe
    computed = (
        f"by the kernel {data['kernel']}, " + ("exactly" if tolerance == "0" else f"within {tolerance}")
        if recipe is not None
        else "not computed, or only within models"
    )
    facts = [
        (spec.dialect.level_word.capitalize(), words.whole_span(data)),
        ("Executed", computed),
        ("Command", tag("code", f"specgate support {spec.dialect.name}/{spec.name}")),
    ]
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in facts), class_="facts")


def _legend() -> Markup:
    signs = (
        ("● ", "supported"),
        ("◐ ", "undocumented, but works"),
        ("○ ", "documented, but rejected by real builds"),
        ("blank ", "not supported"),
    )
    return listing((tag("span", tag("b", sign), meaning) for sign, meaning in signs), "legend")


def _rules(spec: OperatorSpec, data: Mapping[str, Any]) -> Iterator[Markup]:
    """Yield each rule as a sentence, with expressions and levels collapsed."""
    for name, forms in words.rule_groups(data["rules"], words.whole_span(data)).items():
        says = [because for _, _, because in forms if because] or [""]
        formulas = [tag("li", f"{levels}: " if levels else "", tag("code", formula)) for levels, formula, _ in forms]
        yield tag(
            "div",
            tag("p", says[0] + " " if says[0] else "", link(_rule(spec, name), name)),
            tag("details", tag("summary", "formula"), tag("ul", *formulas)),
            class_="rule",
            id=name,
        )


def _rule(spec: OperatorSpec, name: str) -> str:
    return rule_page(f"{spec.dialect.name}/{spec.name}/{name}")


def _other_rules(spec: OperatorSpec) -> Markup:
    """Return links to the rules that follow from the support table."""
    own = set(written_rules(spec))
    others = [name for name in operator_rules(spec) if name not in own]
    items = [link(_rule(spec, name), name) for name in others]
    summary = tag("summary", f"{len(items)} more rule ids that follow from the tables above")
    return tag("details", summary, listing(items, "names"))


def _render_observed(spec: OperatorSpec, data: Mapping[str, Any]) -> Iterator[Markup]:
    short = words.short_names(data)
    for entry in data["observed"]:
        by = f" ({entry['by']} only)" if "by" in entry else ""
        bug = ", contradicting the documentation" if entry.get("bug") else ""
        facts = [
            tag("div", tag("dt", fact), tag("dd", _link_rules(spec, fact, what)))
            for fact, what in observed_facts(entry, short)
        ]
        yield tag("div", tag("h3", f"Builds of {entry['builds']}{by}{bug}"), tag("dl", *facts), class_="builds")


def _link_rules(spec: OperatorSpec, fact: str, what: str) -> Markup:
    """Return a fact about builds, with a link for each rule it names."""
    if fact in {"do not require", "enforce unreliably", "enforce partially"}:
        names = what.split(" ")
        return Markup(" ".join(link(_rule(spec, name), name) for name in names))
    return text(what)


def _examples(spec: OperatorSpec) -> Iterator[Markup]:
    examples = list(spec.table.examples.items())
    for name, example in examples[:_MOST_EXAMPLES]:
        levels = levels_of_example(spec, example)
        if not levels:
            continue
        home = spec.dialect
        level = home.parent.levels[-1] if home.parent is not None else levels[-1]
        shell_line = check_command(example["descriptor"], f"{home.name}:{level}")
        if len(shell_line) > _LONGEST:
            yield tag("p", f"{name}: too long for a page; it is in the operator's file.")
            continue
        shown = command(shell_line)
        title = tag("h3", f"{name}", id=f"example-{name}")
        about = tag("p", f"{example['source']}, accepted at {levels[0]}..{levels[-1]}.", class_="about")
        values = _values(example)
        folded = tag("details", tag("summary", "the command"), shown) if len(shell_line) > _LONG else shown
        yield tag("div", title, about, folded, values, class_="example")
    if len(examples) > _MOST_EXAMPLES:
        yield tag("p", f"{len(examples) - _MOST_EXAMPLES} more examples are in the operator's file under specs/.")


def _values(example: Mapping[str, Any]) -> Markup:
    """Return the values of an example, if the table has short ones."""
    inputs = [(f"{name} (input)", value) for name, value in example.get("inputs", {}).items()]
    inputs += [(f"{name} (output)", value) for name, value in example.get("outputs", {}).items()]
    rows = [(name, tag("code", json.dumps(value))) for name, value in inputs]
    if not rows or sum(len(row[1]) for row in rows) > _LONGEST:
        return Markup()
    return tag("details", tag("summary", "values"), table("Values", ("field", "value"), rows))


def _agreement_section(dialect_name: str, operator: str) -> list[Markup]:
    rows = operator_agreement(dialect_name, operator)
    if not rows:
        return []
    intro = tag(
        "p",
        "Verdicts for random descriptors compared with builds; ",
        link(f"agreement.html#{dialect_name}", "how"),
        ".",
    )
    return [intro, table("Share of verdicts that agree", AGREEMENT[1:], rows)]


def _equivalents_section(dialect_name: str, operator: str) -> Markup:
    items = []
    for name, equivalents in closest_operators(dialect_name, operator).items():
        links = Markup(", ".join(link(operator_page(name, other), other) for other in equivalents))
        items.append(tag("span", f"{dialect(name).tables.title}: ", links))
    if not items:
        return Markup()
    intro = tag(
        "p", "The nearest operators; their fields and limits differ. ", link("compare.html", "All of them"), "."
    )
    return Markup(intro + listing(items))


def _runtime(dialect_name: str, operator: str) -> list[Markup]:
    """Return the placement of an ONNX operator by ONNX Runtime.

    For a DirectML operator, returns the ONNX operators that are lowered to it.
    """
    if dialect_name == "onnx":
        return registered_kernels(operator)
    names = onnx_by_directml().get(operator, ()) if dialect_name == "directml" else ()
    if not names:
        return []
    operators = dialect("onnx").tables.operators
    links = [link(operator_page("onnx", name), name) if name in operators else text(name) for name in names]
    return [tag("p", "Its DirectML provider lowers nodes of these operators to it: ", Markup(", ".join(links)), ".")]
