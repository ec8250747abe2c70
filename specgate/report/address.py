"""The address of the documentation, and in it of the page of each rule and operator: the one place of both."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from specgate.dialects import SHIPPED

__all__ = ["SITE", "operator_page", "rule_address", "rule_page"]

#: Where the site is published, with a slash behind it. A fork that publishes its own changes this line alone.
SITE: Final = "https://specgate.github.io/specgate/"

_OWN_FILES: Final = ("operators/", "families/")


def operator_page(dialect: str, operator: str) -> str:
    """Return the path of an operator's page within the site."""
    return f"{dialect}/{operator}.html"


def rule_page(rule_id: str) -> str:
    """Return the path of a rule's page within the site: ``rules/directml/ONE_HOT/axis-range.html``.

    Of two fields whose names differ in their case alone the second has a number behind it: some systems' files do not.
    """
    return f"rules/{rule_id}{'~2' if _is_second(rule_id) else ''}.html"


def _is_second(rule_id: str) -> bool:
    """Whether a rule is of a field, and another of its operator has the same name but for its case, and comes first."""
    name, _, rest = rule_id.partition("/")
    operator, _, rule = rest.partition("/")
    field, dot, _ = rule.partition(".")
    if not dot or name not in SHIPPED:
        return False
    from specgate.spec.tables import dialect

    table = dialect(name)
    fields = table.operator(operator).fields if operator in table.tables.operators else ()
    return any(other < field and other.lower() == field.lower() for other in fields)


def rule_address(rule_id: str) -> str | None:
    """Return where a rule is described, None where the site has no page of it.

    It has pages of what specgate ships: a user's own tables and other packages' dialects have rules of their own.
    """
    from specgate.errors import Error
    from specgate.spec.check_rules import file_rule

    if file_rule(rule_id) is None:
        dialect, _, rest = rule_id.partition("/")
        try:
            known = dialect in SHIPPED and _is_shipped(dialect, rest.partition("/")[0])
        except Error:
            known = False
        if not known:
            return None
    return SITE + quote(rule_page(rule_id))


def _is_shipped(dialect_name: str, operator: str) -> bool:
    """Return whether an operator's table is one of specgate's; "tensor" stands for what every tensor obeys."""
    from specgate.spec.tables import dialect

    # a file of a user's folder is named with the folder before it
    file = dialect(dialect_name).tables.files.get(operator, "")
    return operator == "tensor" or file.startswith(_OWN_FILES)
