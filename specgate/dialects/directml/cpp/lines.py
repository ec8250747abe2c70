"""Lines of C++: comments, and long conditions broken into lines."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["code_of", "comment", "fold_line", "quote_literal", "wrap_condition"]

WIDTH: Final = 116
_LONGEST: Final = 120
_STEP: Final = 4
#: String literals, brackets, and tokens after which a line may break.
_PARTS: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|[(\[{]|[)\]}]|, | (?:&&|\|\||\?|=) |(?<=\w): (?=return)|(?<=\{) (?=return)'
)


def wrap_condition(parts: Sequence[str], leave: str) -> Iterator[str]:
    """Yield an if statement, one condition per line if they are long."""
    parts = [f"({part})" if "||" in part and not part.startswith("check.") else part for part in parts]
    line = f"if ({' && '.join(parts)}) {leave};"
    if len(line) <= WIDTH:
        yield line
        return
    for number, part in enumerate(parts):
        start, end = "    " if number else "if (", ")" if number == len(parts) - 1 else " &&"
        yield f"{start}{part}{end}"
    yield f"  {leave};"


def comment(text: str) -> Iterator[str]:
    """Yield a text as lines of a comment."""
    for line in textwrap.wrap(text, WIDTH - _STEP, break_long_words=False, break_on_hyphens=False):
        yield f"// {line}"


def code_of(text: str) -> str:
    """Return C++ without comments and string literals."""
    return re.sub(r'"[^"\n]*"', '""', re.sub(r"//.*", "", text))


def quote_literal(text: str) -> str:
    """Return a text as a C++ string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def fold_line(line: str, hang: int | None = None) -> Iterator[str]:
    """Yield a long line of code as several, broken at the outermost brackets.

    hang: indentation of the continuation lines, None for one step more than the first line.
    """
    if len(line) <= _LONGEST or line.lstrip().startswith(("//", "#")):
        yield line
        return
    indent = len(line) - len(line.lstrip())
    hang = indent + _STEP if hang is None else hang
    at = _break(line, indent)
    if at is None:
        yield from _folded_text(line, indent)
        return
    yield line[:at].rstrip()
    yield from fold_line(" " * hang + line[at:], hang)


def _break(line: str, start: int) -> int | None:
    """Return the last break position in the fewest brackets, or None."""
    best: tuple[int, int] | None = None
    depth = 0
    for match in _PARTS.finditer(line, start):
        text = match[0]
        if text in "([{":
            depth += 1
        elif text in ")]}":
            depth -= 1
        elif text[0] != '"' and match.end() <= _LONGEST and match.end() < len(line):
            best = (depth, match.end()) if best is None or depth <= best[0] else best
    return None if best is None else best[1]


def _folded_text(line: str, indent: int) -> Iterator[str]:
    """Yield a long string literal as several adjacent ones."""
    match = next((m for m in _PARTS.finditer(line, indent) if m[0][0] == '"' and m.end() >= _LONGEST - _STEP), None)
    at = -1 if match is None else line.rfind(" ", match.start(), _LONGEST - _STEP) + 1
    if match is None or at <= match.start():
        yield line
        return
    yield line[:at] + '"'
    yield from fold_line(" " * indent + '"' + line[at:], indent)
