"""HTML that is safe by construction: what is not made by `tag` is text, and text is cleaned and escaped."""

from __future__ import annotations

from html import escape

from specgate.report.clean import clean

__all__ = ["Markup", "breakable", "lines", "tag", "text"]

_VOID = ("meta", "input", "link")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(element: str, /, *children: str, **attributes: str | bool) -> Markup:
    """Return an element; children that are no Markup are escaped.

    An attribute's underscores become hyphens (a last one is dropped: ``class_``); True is an attribute without a value,
    False is none.
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
    """Return a long name as HTML that breaks after its underscores and slashes rather than anywhere."""
    return Markup(text(name).replace("_", "_<wbr>").replace("/", "/<wbr>"))
