"""The frame of every page, and links between pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from specgate.report import markup
from specgate.report.markup import Markup, lines, tag, text

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["HERE", "Page", "breadcrumb", "command", "link", "listing", "render", "search_box", "section", "table"]

#: Prefix of paths within the site. `render` replaces it by the relative path from the page, so that the site works at
#: any location.
HERE: Final = "site:/"
_SITE_LINK: Final = re.compile(rf'(href|src|action)="{HERE}([^"]*)"')
#: Only files of the site are loaded; `file:` is for a copy that is opened without a server.
_POLICY: Final = "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src 'self' file:"
_SECTIONS: Final = (
    ("Matrix", "matrix.html"),
    ("DirectML", "directml/index.html"),
    ("ONNX", "onnx/index.html"),
    ("OpenVINO", "openvino/index.html"),
    ("ONNX Runtime", "runtime/index.html"),
    ("Levels", "levels/index.html"),
    ("Guides", "guides/index.html"),
)


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    path: within the site. about: a description for search engines. scripts: files of assets/, in addition to the
    search. by_operator: whether it is the page of an operator or rule, which the search finds by name.
    """

    path: str
    title: str
    main: Markup
    about: str = ""
    scripts: tuple[str, ...] = ()
    by_operator: bool = False


def link(path: str, label: str) -> Markup:
    """Return a link to a page of the site by its path."""
    place, sharp, anchor = path.partition("#")
    return tag("a", label, href=HERE + quote(place) + sharp + quote(anchor, safe="/=&.-"))


def section(title: str, *parts: Markup, name: str | None = None) -> Markup:
    """Return a section with a title; empty if it has no content."""
    if not any(parts):
        return Markup()
    anchor = name or re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    heading = tag("h2", title, id=anchor)
    return tag("section", heading, *parts, aria_labelledby=anchor)


def breadcrumb(*steps: str) -> Markup:
    """Return the breadcrumb of a page."""
    return tag("p", link("index.html", "specgate"), *(part for step in steps for part in (" › ", step)), class_="path")


def listing(items: Iterable[str], kind: str = "") -> Markup:
    """Return a list; empty if it has no items."""
    texts = list(items)
    return markup.bullets(texts, class_=kind or False) if texts else Markup()


def table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]], kind: str = "") -> Markup:
    """Return a table that scrolls horizontally if the page is too narrow.

    The first cell of a row is its header.
    """
    head = tag("tr", *(tag("th", name, scope="col") for name in heads))
    body = [tag("tr", tag("th", first, scope="row"), *(tag("td", cell) for cell in rest)) for first, *rest in rows]
    return markup.table(caption, head, tag("tbody", *body), class_=kind or False) if body else Markup()


def command(line: str) -> Markup:
    """Return a command with a button that copies it.

    The button requires scripts.
    """
    return tag("div", tag("pre", tag("code", lines(line)), tabindex="0"), class_="command")


def render(page: Page) -> str:
    """Return a page as a complete document."""
    up = "../" * page.path.count("/")
    scripts = ("site.js", "support.js", *page.scripts, "search.js")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        *([tag("meta", name="description", content=page.about)] if page.about else []),
        tag("title", f"{page.title} · specgate" if page.title != "specgate" else "specgate"),
        tag("link", rel="stylesheet", href=f"{up}assets/site.css"),
        tag("link", rel="icon", href=f"{up}assets/icon.svg", type="image/svg+xml"),
    )
    body = tag(
        "body",
        tag("a", "To the content", href="#content", class_="skip"),
        _header(page),
        tag("main", page.main, id="content", tabindex="-1"),
        _footer(),
        *(tag("script", src=f"{up}assets/{name}", defer=True) for name in scripts),
        data_root=up,
    )
    document = f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"
    return _SITE_LINK.sub(lambda match: f'{match[1]}="{up}{match[2]}"', document)


def _header(page: Page) -> Markup:
    own = page.path.partition("/")[0]
    items = [
        tag("li", tag("a", label, href=HERE + path, aria_current="true" if path.partition("/")[0] == own else False))
        for label, path in _SECTIONS
    ]
    return tag(
        "header",
        tag("a", "specgate", href=f"{HERE}index.html", class_="home"),
        tag("nav", tag("ul", *items), aria_label="Sections"),
        Markup() if page.path == "index.html" else search_box(),
        class_="top",
    )


def search_box(placeholder: str = "operator, rule, level …") -> Markup:
    """Return the search form; without scripts, it leads to the matrix."""
    box = tag(
        "input",
        type="search",
        name="operator",
        autocomplete="off",
        spellcheck="false",
        placeholder=placeholder,
        aria_label="Search operators, rules and levels",
        role="combobox",
        aria_expanded="false",
        aria_controls="found",
    )
    results = tag("div", id="found", role="listbox", aria_label="Found", hidden=True)
    return tag("form", box, results, role="search", class_="find", action=f"{HERE}matrix.html")


def _footer() -> Markup:
    return tag(
        "footer",
        text("Generated from the tables of specgate. Each page cites the vendors' documentation that it restates. "),
        link("agreement.html", "Agreement with real builds"),
        text(" · "),
        link("compare.html", "Dialects compared"),
        text(" · "),
        link("reference/index.html", "Reference"),
        text(" · "),
        tag("a", "Source", href="https://github.com/specgate/specgate"),
    )
