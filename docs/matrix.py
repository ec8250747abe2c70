"""The page for searching all operators by type, rank and level."""

from __future__ import annotations

from docs.frame import Page, breadcrumb, table
from specgate.dialects import BUILT_IN
from specgate.report.markup import Markup, tag, text
from specgate.spec.tables import dialect

__all__ = ["matrix_page"]


def matrix_page() -> Page:
    """Return the matrix: a form and a table that a script fills.

    The script loads data files of the site.
    """
    choices = [tag("option", dialect(name).tables.title, value=name) for name in BUILT_IN]
    boxes = [
        tag("label", "dialect", tag("select", *choices, name="dialect")),
        tag("label", "operator", tag("input", type="search", name="operator", autocomplete="off", spellcheck="false")),
        tag("label", "type", tag("select", name="type")),
        tag("label", "rank", tag("input", type="number", name="rank", min="1", max="99")),
        tag("label", "level", tag("select", name="level")),
    ]
    heads = ("operator", "tensors", "at the level", "supported at", "by level")
    shown = table("Tensors that support it", heads, [("", "", "", "", "")])
    parts = [
        breadcrumb("Matrix"),
        tag("h1", "Which operators support it?"),
        tag(
            "p",
            "Operators by type, rank and level. The address of this page contains the query, so you can share it.",
            class_="says",
        ),
        tag(
            "noscript",
            tag("p", "The matrix requires JavaScript; the operators' pages have the same tables without it."),
        ),
        tag("form", *boxes, id="ask", class_="ask", hidden=True, action="#"),
        _key(),
        tag("p", tag("output", id="count", aria_live="polite")),
        tag("div", shown, id="answers"),
    ]
    return Page(
        "matrix.html", "Matrix", Markup("".join(parts)), "All operators by type, rank and level.", ("matrix.js",)
    )


def _key() -> Markup:
    signs = (
        ("page", "documented"),
        ("builds", "undocumented, but works"),
        ("refused", "documented, but rejected by real builds"),
        ("no", "not supported"),
    )
    items = [
        tag("li", tag("span", tag("span", class_=f"is-{kind}"), class_="strip"), text(meaning))
        for kind, meaning in signs
    ]
    return tag("ul", *items, class_="legend key")
