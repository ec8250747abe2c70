"""HTML that is escaped by default: all text is cleaned and escaped.

Only results of `tag` are HTML.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files

from specgate.report.clean import clean

__all__ = ["Markup", "breakable", "document", "lines", "own_file", "scrolled", "tag", "text"]

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


def scrolled(table: Markup, label: str) -> Markup:
    """Return a table in a scrollable region, accessible by keyboard."""
    return tag("div", table, class_="scroll", role="region", aria_label=label, tabindex="0")


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
