"""Checks of a built site.

Links must have a target, pages must be small, and nothing may be loaded from other sites.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["LARGEST", "problems"]

#: Maximum size of a file of the site, in bytes.
LARGEST: Final = 500_000
#: Link targets that are missing from a partial site.
_BY_OPERATOR: Final = re.compile(r"(?:rules/)?(?:directml|onnx|openvino)/")


class _Reader(HTMLParser):
    """Collects the links of a page, the files that it loads, and its anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if "id" in attributes:
            self.anchors.append(attributes["id"])
        if tag == "a" and "href" in attributes:
            self.links.add(attributes["href"])
        elif tag == "form":
            self.links.add(attributes.get("action", ""))
        else:
            self.loaded.update(attributes[name] for name in ("href", "src") if name in attributes)


def problems(site: Path, *, whole: bool = True) -> list[str]:
    """Return the problems of the site in a folder, one line each.

    whole: whether all operators have pages.
    """
    files = {path.relative_to(site).as_posix(): path for path in sorted(site.rglob("*")) if path.is_file()}
    read = {name: _read_page(path) for name, path in files.items() if name.endswith(".html")}
    messages = [f"{name}: {size:,} bytes" for name, path in files.items() if (size := path.stat().st_size) > LARGEST]
    for name, page in read.items():
        messages += [f"{name}: {problem}" for problem in _check_page(name, page, files, read, whole=whole)]
    return messages


def _read_page(path: Path) -> _Reader:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def _check_page(
    name: str, page: _Reader, files: dict[str, Path], read: dict[str, _Reader], *, whole: bool
) -> Iterator[str]:
    twice = {anchor for anchor in page.anchors if page.anchors.count(anchor) > 1}
    yield from (f"two elements have the id {anchor}" for anchor in sorted(twice))
    for target in sorted(page.links | page.loaded):
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            if target in page.loaded:
                yield f"loads {target}"
            continue
        place = _resolve_link(name, unquote(parts.path))
        if place not in files:
            if whole or not _BY_OPERATOR.match(place):
                yield f"{target} is a page that does not exist"
        elif parts.fragment and "=" not in parts.fragment and unquote(parts.fragment) not in read[place].anchors:
            yield f"{target} is an anchor that does not exist in {place}"


def _resolve_link(page: str, target: str) -> str:
    """Return the path within the site of a link on a page."""
    if not target:
        return page
    parts = page.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return f"outside: {target}"
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
