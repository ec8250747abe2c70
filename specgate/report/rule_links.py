"""URLs of the documentation: rule pages and operator pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from specgate.dialects import BUILT_IN
from specgate.errors import Error
from specgate.loading import lazy
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.report.tables import words
    from specgate.spec import rulebook
    from specgate.spec.rulebook import Rule
else:
    words = lazy("specgate.report.tables.words")
    rulebook = lazy("specgate.spec.rulebook")

#: The URL of the published site, with a final slash. A fork with a separate site changes only this line.
SITE: Final = "https://specgate.github.io/specgate/"

_OPERATOR_FOLDERS: Final = ("operators/", "families/")


def operator_page(dialect: str, operator: str) -> str:
    """Return the path of an operator's page within the site."""
    return f"{dialect}/{operator}.html"


def rule_page(rule_id: str) -> str:
    """Return a rule's path: ``rules/directml/ONE_HOT/axis-range.html``.

    If two fields differ only in case, the second one's path ends with a number, as some file systems ignore case.
    """
    return f"rules/{rule_id}{'~2' if _is_second(rule_id) else ''}.html"


def _is_second(rule_id: str) -> bool:
    """Return whether the rule's field is second of two that differ in case."""
    name, _, rest = rule_id.partition("/")
    operator, _, rule = rest.partition("/")
    field, dot, _ = rule.partition(".")
    if not dot or name not in BUILT_IN:
        return False
    table = dialect(name)
    fields = table.operator(operator).fields if operator in table.tables.operators else ()
    return any(other < field and other.lower() == field.lower() for other in fields)


def rule_address(rule_id: str) -> str | None:
    """Return a rule's URL, None if the site has no page for it.

    The site has pages for the tables of specgate only, not for tables of users and of other packages.
    """
    if rulebook.file_rule(rule_id) is None:
        dialect, _, rest = rule_id.partition("/")
        try:
            shipped = dialect in BUILT_IN and _is_shipped(dialect, rest.partition("/")[0])
        except Error:
            shipped = False
        if not shipped:
            return None
    return SITE + quote(rule_page(rule_id))


def _is_shipped(dialect_name: str, operator: str) -> bool:
    """Return whether an operator's table is part of specgate.

    "tensor" is the rules of every tensor.
    """
    # a path in a user's folder includes the folder
    file = dialect(dialect_name).tables.files.get(operator, "")
    return operator == "tensor" or file.startswith(_OPERATOR_FOLDERS)


@dataclass(frozen=True, slots=True)
class About:
    """A rule for readers: summary, details and source.

    lines: the details, not cleaned. url: the source, None if it is not on the web.
    """

    says: str
    lines: tuple[str, ...] = ()
    url: str | None = None


def describe_rule(rule: str) -> About:
    """Return the description of a rule; unknown ids are specgate checks."""
    text = rulebook.file_rule(rule)
    if text is not None:
        return About(text)

    try:
        return _about_rule(rulebook.rule_reference(rule))
    except Error:
        return About(f"a check of specgate, {rule}")


def _about_rule(rule: Rule) -> About:
    levels_texts = [level_text(entry) for entry in rule.holds]
    lines = [*levels_texts]
    if rule.fix:
        lines.append(f"fix: {rule.fix}")
    lines += [f"source: {words.source_words(source)}" for source in rule.source]
    if rule.rejected is not None:
        lines.append(f"specgate rule {rule.id} prints a passing and a failing example")
    first = levels_texts[0].partition(": ")[2] if levels_texts else ""
    meaning = rule.says or first or f"a check of specgate, {rule.id}"
    return About(meaning, tuple(lines), next((url for url in map(_url, rule.source) if url), None))


def level_text(entry: Mapping[str, Any]) -> str:
    source_text = (
        f" ({entry['by']} only)" if "by" in entry else " (builds, not the documentation)" if entry.get("basis") else ""
    )
    return f"{entry['levels']}{source_text}: {entry['text']}"


def _url(source: Mapping[str, Any]) -> str | None:
    repository, path, commit = (source.get(key) for key in ("repository", "path", "commit"))
    return f"https://github.com/{repository}/blob/{commit}/{path}" if repository and path and commit else None
