"""Trees of type names such as ``seq(map(int64, tensor(float)))``."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

#: Nesting limit for names in files; types of models are far below it.
_MAX_NESTING = 32


class TypeName(NamedTuple):
    """A type name: a word, and the types in parentheses after it."""

    word: str
    parts: tuple[TypeName, ...] = ()

    def __str__(self) -> str:
        return f"{self.word}({', '.join(map(str, self.parts))})" if self.parts else self.word

    @property
    def element(self) -> str:
        """The element type, "" for a composed type.

        ``float`` for ``tensor(float)`` and for ``float``.
        """
        if self.word == "tensor" and len(self.parts) == 1 and not self.parts[0].parts:
            return self.parts[0].word
        return "" if self.parts else self.word


@lru_cache(maxsize=4096)
def parse_type(text: str) -> TypeName | None:
    """Return the tree of a type name, None where `text` is not a type name."""
    name, end = _parse_type(text, 0, _MAX_NESTING)
    return name if end == len(text) else None


def _parse_type(text: str, start: int, depth: int) -> tuple[TypeName | None, int]:
    """Return the type that begins at `start`, and its end."""
    end = start
    while end < len(text) and text[end] not in "(), ":
        end += 1
    if end == start or not depth:
        return None, -1
    word = text[start:end]
    if end == len(text) or text[end] != "(":
        return TypeName(word), end
    parts: list[TypeName] = []
    while text[end] != ")":
        begin = end + 1
        if parts and text.startswith(" ", begin):
            begin += 1
        part, end = _parse_type(text, begin, depth - 1)
        if part is None or end >= len(text) or text[end] not in ",)":
            return None, -1
        parts.append(part)
    return TypeName(word, tuple(parts)), end + 1
