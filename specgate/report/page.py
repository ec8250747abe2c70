"""One HTML file that needs no network and runs nothing but its own script: what the HTML reports share."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

from specgate.report.markup import Markup, tag

__all__ = ["document", "own_file", "scrolled"]


def document(title: str, main: Markup, *, style: str, script: str) -> str:
    """Return a whole document: `style` goes behind what all pages share; only these styles and this script count."""
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
    """Return the text of a file that lies in a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def scrolled(table: Markup, label: str) -> Markup:
    """Return a table that scrolls by itself, by keyboard too, where the page is too narrow for it."""
    return tag("div", table, class_="scroll", role="region", aria_label=label, tabindex="0")


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
