"""The handwritten pages: Markdown in docs/pages.

It is also readable in the checkout.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt

from docs.frame import HERE, Page, breadcrumb, link
from specgate.report.markup import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FOLDER", "html_of", "written_pages"]

FOLDER: Final = Path(__file__).parent / "pages"
_SOURCE: Final = "https://github.com/specgate/specgate/blob/main/"
_TITLE: Final = re.compile(r"^# (.+)\n", re.MULTILINE)
_HEADING: Final = re.compile(r"<h([23])>(.*?)</h\1>")
_LINK: Final = re.compile(r'href="([^"#]*)(#[^"]*)?"')
_BLOCK: Final = re.compile(r'<pre><code class="language-(?:bash|console)">(.*?)</code></pre>', re.DOTALL)
_TABLE: Final = re.compile(r"<table>.*?</table>", re.DOTALL)


def html_of(markdown: str) -> Markup:
    """Return the HTML of Markdown.

    Headings get anchors, commands a copy button, and links point within the site. Comments, which mark the blocks that
    tests run, are removed. Other HTML is not supported.
    """
    plain = re.sub(r"^<!--.*?-->\n", "", markdown, flags=re.MULTILINE)
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(plain)
    html = _HEADING.sub(lambda match: f'<h{match[1]} id="{_anchor(match[2])}">{match[2]}</h{match[1]}>', html)
    html = _LINK.sub(_site_link, html)
    html = _BLOCK.sub(lambda match: f'<div class="command"><pre tabindex="0"><code>{match[1]}</code></pre></div>', html)
    html = html.replace("<pre><code", '<pre tabindex="0"><code')
    return Markup(_TABLE.sub(lambda match: f'<div class="scroll" tabindex="0">{match[0]}</div>', html))


def _anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"<[^>]+>", "", heading).lower()).strip("-")


def _site_link(match: re.Match[str]) -> str:
    """Return a link of the checkout as a link of the site.

    It leads to a written page, a generated page, or the source.
    """
    path, anchor = match[1], match[2] or ""
    if not path or path.startswith(("http:", "https:")):
        return f'href="{path}{anchor}"'
    if path.endswith(".md") and "/" not in path:
        return f'href="{HERE}guides/{path.removesuffix(".md")}.html{anchor}"'
    return f'href="{_SOURCE}{path.removeprefix("../../")}{anchor}"'


def _titles() -> dict[str, str]:
    titles = {}
    for path in sorted(FOLDER.glob("*.md")):
        title = _TITLE.search(path.read_text(encoding="utf-8"))
        titles[path.stem] = title[1] if title else path.stem
    return titles


def written_pages() -> Iterator[Page]:
    """Yield each written page, and their index."""
    titles = _titles()
    items = [tag("li", link(f"guides/{name}.html", title)) for name, title in titles.items()]
    way = breadcrumb("Guides")
    yield Page("guides/index.html", "Guides", Markup(way + tag("h1", "Guides") + tag("ul", *items)))
    for name, title in titles.items():
        content = html_of((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
        way = breadcrumb(link("guides/index.html", "Guides"))
        yield Page(f"guides/{name}.html", title, Markup(way + content))
