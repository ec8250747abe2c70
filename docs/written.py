"""The handwritten pages: Markdown in docs/pages.

It is also readable in the checkout.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt

from docs.frame import HERE, Page, link, trail
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
    made = MarkdownIt("commonmark", {"html": False}).enable("table").render(plain)
    made = _HEADING.sub(lambda found: f'<h{found[1]} id="{_anchor(found[2])}">{found[2]}</h{found[1]}>', made)
    made = _LINK.sub(_site_link, made)
    made = _BLOCK.sub(lambda found: f'<div class="command"><pre tabindex="0"><code>{found[1]}</code></pre></div>', made)
    made = made.replace("<pre><code", '<pre tabindex="0"><code')
    return Markup(_TABLE.sub(lambda found: f'<div class="scroll" tabindex="0">{found[0]}</div>', made))


def _anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"<[^>]+>", "", heading).lower()).strip("-")


def _site_link(found: re.Match[str]) -> str:
    """Return a link of the checkout as a link of the site.

    It leads to a written page, a generated page, or the source.
    """
    path, anchor = found[1], found[2] or ""
    if not path or path.startswith(("http:", "https:")):
        return f'href="{path}{anchor}"'
    if path.endswith(".md") and "/" not in path:
        return f'href="{HERE}guides/{path.removesuffix(".md")}.html{anchor}"'
    return f'href="{_SOURCE}{path.removeprefix("../../")}{anchor}"'


def _titles() -> dict[str, str]:
    found = {}
    for path in sorted(FOLDER.glob("*.md")):
        title = _TITLE.search(path.read_text(encoding="utf-8"))
        found[path.stem] = title[1] if title else path.stem
    return found


def written_pages() -> Iterator[Page]:
    """Yield each written page, and their index."""
    titles = _titles()
    items = [tag("li", link(f"guides/{name}.html", title)) for name, title in titles.items()]
    way = trail("Guides")
    yield Page("guides/index.html", "Guides", Markup(way + tag("h1", "Guides") + tag("ul", *items)))
    for name, title in titles.items():
        content = html_of((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
        way = trail(link("guides/index.html", "Guides"))
        yield Page(f"guides/{name}.html", title, Markup(way + content))
