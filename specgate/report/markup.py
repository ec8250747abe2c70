"""HTML that is escaped by default: all text is cleaned and escaped.

Only results of `tag` are HTML.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from specgate.report.clean import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

_VOID = ("meta", "input", "link")


class Markup(str):
    """Text that already is HTML."""

    __slots__ = ()


def tag(element: str, /, *children: str, **attributes: str | bool) -> Markup:
    """Return an element; children that are not Markup are escaped.

    Underscores in attribute names become hyphens, and a last one is dropped (``class_``). True is an attribute without
    a value, False omits it.
    """
    parts = [element]
    for key, value in attributes.items():
        label = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(label)
        elif value is not False:
            parts.append(f'{label}="{escape(clean(value, None))}"')
    begin = f"<{' '.join(parts)}>"
    if element in _VOID:
        return Markup(begin)
    return Markup(f"{begin}{''.join(map(text, children))}</{element}>")


def text(content: str) -> Markup:
    """Return text on one line as HTML, Markup as it is."""
    return content if isinstance(content, Markup) else Markup(escape(clean(content, None)))


def lines(content: str) -> Markup:
    """Return text of several lines as HTML, each line cleaned."""
    return Markup("\n".join(map(text, content.split("\n"))))


def breakable(name: str) -> Markup:
    """Return a long name as HTML that breaks after underscores and slashes."""
    return Markup(text(name).replace("_", "_<wbr>").replace("/", "/<wbr>"))


def document(title: str, main: Markup, *, style: str, script: str) -> str:
    """Return a complete document; only its styles and script may run.

    style: added to the styles that all pages share.
    """
    style = own_file(__package__, "base.css") + style
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        Markup(f"<style>{style}</style>"),
    )
    body = tag("body", main, Markup(f"<script>{script}</script>"))
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def own_file(package: str, name: str) -> str:
    """Return the text of a file in a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def scrollable_region(table: Markup, label: str) -> Markup:
    """Return a table in a scrollable region, accessible by keyboard."""
    return tag("div", table, class_="scroll", role="region", aria_label=label, tabindex="0")


def table(caption: str, head: Markup, *bodies: Markup, label: str = "", class_: str | bool = False) -> Markup:
    """Return a scrollable table; label: its name for screen readers, by default the caption."""
    element = tag("table", tag("caption", tag("span", caption)), tag("thead", head), *bodies, class_=class_)
    return scrollable_region(element, label or caption)


def bullets(items: Iterable[str], *, class_: str | bool = False) -> Markup:
    """Return a list with an entry per text."""
    return tag("ul", *(tag("li", item) for item in items), class_=class_)


def tiles(numbers: Iterable[tuple[str, str, str]]) -> Markup:
    """Return the numbers at the top of a page: name, number and CSS class."""
    tile_elements = (tag("div", tag("dt", a), tag("dd", b), class_=f"tile {state}".strip()) for a, b, state in numbers)
    return tag("dl", *tile_elements, class_="tiles")


def filters(*controls: Markup, shown_text: str) -> Markup:
    """Return the filter form; it is hidden unless the page's script runs."""
    number = tag("p", tag("output", shown_text, aria_live="polite"))
    return tag("form", *controls, number, id="filters", hidden=True)


def search(label: str, name: str) -> Markup:
    """Return a search field of the filter form."""
    field = tag("input", type="search", name=name, autocomplete="off", spellcheck="false", placeholder="any")
    return tag("label", label, field, class_="search")


def checkbox(name: str, value: str, number: str, *, checked: bool) -> Markup:
    """Return a checkbox of the filter form, with the number of its entries."""
    box = tag("input", type="checkbox", name=name, value=value, checked=checked)
    return tag("label", box, f"{value} ", tag("span", number, class_="count"), class_="choice")


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
