"""Lines of C++: comments, and long conditions broken into lines."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTH: Final = 116
_STEP: Final = 4


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
