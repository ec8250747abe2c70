"""The page of one rule.

Contains the requirement, its levels, the fix, and a violating example.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from docs.frame import Page, breadcrumb, command, link, listing, section, table
from specgate.errors import Error
from specgate.report.markup import Markup, tag, text
from specgate.report.rule_links import operator_page, rule_page
from specgate.report.tables.html import source_link
from specgate.spec.rulebook import Rule, rule_of
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["check_command", "other_rule_page", "rule_page_of"]


def rule_page_of(dialect_name: str, operator: str, name: str) -> Page:
    """Return the page of a rule of an operator or of all tensors.

    operator: ``tensor`` for the latter.
    """
    rule_id = f"{dialect_name}/{operator}/{name}"
    rule = rule_of(rule_id)
    page = operator_page(dialect_name, operator) if operator != "tensor" else f"{dialect_name}/index.html"
    whose = link(page, operator) if operator != "tensor" else tag("span", "every tensor of ", link(page, dialect_name))
    main = Markup(
        "".join(
            [
                breadcrumb(whose, "rule"),
                tag("h1", text(rule_id)),
                tag("p", _rule_sentence(rule), class_="says"),
                section("Levels", _render_levels(rule)),
                section("How to fix it", tag("p", _sentence(rule.fix)) if rule.fix else Markup()),
                section("An example that violates it", *_render_rejected(rule_id, rule)),
                _builds(dialect_name, operator, name),
                section("From the command line", command(f"specgate rule {rule_id}"), _silencing_section(rule_id)),
                section("Sources", listing(source_link(source) for source in rule.source)),
            ]
        )
    )
    return Page(rule_page(rule_id), rule_id, main, _rule_sentence(rule), by_operator=True)


def other_rule_page(group: str, name: str) -> Page:
    """Return the page of a rule that is in no table."""
    rule_id = f"{group}/{name}"
    rule = rule_of(rule_id)
    main = Markup(
        "".join(
            [
                breadcrumb(link("rules/index.html", group), "rule"),
                tag("h1", text(rule_id)),
                tag("p", _rule_sentence(rule), class_="says"),
                section("From the command line", command(f"specgate rule {rule_id}"), _silencing_section(rule_id)),
                section("Sources", listing(source_link(source) for source in rule.source)),
            ]
        )
    )
    return Page(rule_page(rule_id), rule_id, main, _rule_sentence(rule), by_operator=True)


def check_command(descriptor: Mapping[str, Any], target: str) -> str:
    """Return the shell command that checks a descriptor."""
    return f"specgate check {_quote_shell(json.dumps(descriptor))} --target {target}"


def _quote_shell(argument: str) -> str:
    return "'" + argument.replace("'", "'\\''") + "'"


def _rule_sentence(rule: Rule) -> str:
    return _sentence(rule.says or (rule.holds[0]["text"] if rule.holds else "a check of specgate"))


def _sentence(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith(".") else ".")


def _render_levels(rule: Rule) -> Markup:
    whose = {"documented": "page", "observed": "builds"}
    rows = [
        (
            form["levels"] or "no level",
            tag("code", form["text"]),
            f"{form['by']} only" if "by" in form else whose[form.get("basis", "documented")],
        )
        for form in rule.holds
    ]
    return table("Levels and requirements", ("levels", "formula", "by"), rows)


def _render_rejected(rule_id: str, rule: Rule) -> list[Markup]:
    if rule.rejected is None or rule.accepted is None:
        return []
    changes = ", ".join(f"{path} = {json.dumps(value)}" for path, value in rule.rejected["change"].items())
    target = f"{rule_id.partition('/')[0]}:{rule.rejected['at']}"
    parts = [
        tag("p", "This descriptor is rejected because ", tag("code", changes), ":"),
        command(check_command(rule.rejected["descriptor"], target)),
    ]
    message = _message(rule_id, rule.rejected["descriptor"], target)
    if message:
        parts.append(tag("blockquote", tag("p", message)))
    return [*parts, tag("p", "Without that change it is accepted:"), command(check_command(rule.accepted, target))]


def _message(rule_id: str, descriptor: Mapping[str, Any], target: str) -> str:
    """Return the message of `check` for the example.

    Tests of the tables ensure that the example breaks this rule and no other.
    """
    from specgate.api import check

    try:
        findings = check(dict(descriptor), target, "documented").findings
    except Error:
        return ""
    return next((finding.message for finding in findings if finding.id == rule_id), "")


def _builds(dialect_name: str, operator: str, name: str) -> Markup:
    """Return the builds that do not enforce the rule, with evidence."""
    table_ = dialect(dialect_name)
    entries: Sequence[Mapping[str, Any]] = (
        table_.tables.tensor.observed if operator == "tensor" else table_.operator(operator).table.observed
    )
    kinds = {
        "not_enforced": "do not require it",
        "partially_enforced": "enforce it partially",
        "nondeterministic": "enforce it unreliably",
        "tools_write": "accept files of the vendor's own tools that violate it",
    }
    markups: list[Markup] = []
    for entry in entries:
        facts = [words for key, words in kinds.items() if name in entry.get(key, ())]
        if facts:
            by = f" ({entry['by']} only)" if "by" in entry else ""
            levels = (
                table_.level_set(entry["builds"]) if operator == "tensor" else _levels(dialect_name, operator, entry)
            )
            line = f"Builds of {levels}{by} {' and '.join(facts)}: {entry['evidence']}."
            markups.append(tag("li", line))
    return section("What builds do", tag("ul", *markups) if markups else Markup())


def _levels(dialect_name: str, operator: str, entry: Mapping[str, Any]) -> str:
    return str(dialect(dialect_name).operator(operator).dialect.level_set(entry["builds"]))


def _silencing_section(rule_id: str) -> Markup:
    """Return instructions for silencing a finding."""
    entry = f'[[ignore]]\nrule = "{rule_id}"\nreason = "why it is acceptable here"'
    summary = tag("summary", "Ignore it on purpose")
    return tag("details", summary, tag("p", "In ", tag("code", "specgate.toml"), ":"), command(entry))
