"""Archaic and foreign turns of phrase stay out of messages, tables, docstrings, comments and the documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Turns that are not used, as regular expressions, and what to write instead. Blanks also match a line break.
BANNED: Final = {
    r"(?:stands?|stood|standing) in": "is in, has; replaces",
    r"(?:speaks?|spoke|spoken|speaking) of": "mention, cover, name",
    r"tells?(?!\(|(?: \S+){0,2} (?:apart|from))": "say, report, show",
    r"(?:is|are|was|were|be|been) told(?! apart)": "is reported, is given, is known",
    r"be (?:it|they)": "even if, also where",
    r"such a one": "one of these",
    r"nobody(?!@)": "the passive: is never used, is not read",
    r"nothing asks": "the passive: is not needed",
    r"somebody": "the caller, another program; the passive",
    r"whoever": "the one that, the user",
    r"(?:to|can|could) be had": "is available",
    r"aloud": "report",
    r"own affair": "is up to",
    r"(?<!each\s)(?<!some\s)(?<!one\s)(?<!all\s)(?<!either\s)of which": "whose, that; two sentences",
    r"upon": "on",
    r"lest": "so that … not",
}
_BREAK: Final = r"(?:[ \t]+|[ \t]*\n[ \t]*(?:#:?[ \t]*)?)"  # within a line, or to the next one of a text or comment
_TURNS: Final = {turn.replace(" ", _BREAK): better for turn, better in BANNED.items()}
_ANY: Final = re.compile(rf"\b(?:{'|'.join(_TURNS)})\b")


def turns(name: str, text: str) -> Iterator[str]:
    """Yield ``FILE:LINE: turn -> suggestion`` for each banned turn of a text."""
    for found in _ANY.finditer(text.lower()):
        line = text.count("\n", 0, found.start()) + 1
        words = " ".join(word for word in found[0].split() if word not in {"#", "#:"})
        yield f"{name}:{line}: {words} -> {next(_TURNS[turn] for turn in _TURNS if re.fullmatch(turn, found[0]))}"


def texts() -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file that is written for this project by hand."""
    left_out = (ROOT / "tests" / "data", ROOT / "tests" / "conformance" / "reports")
    patterns = (
        "*.md",
        "docs/**/*.py",
        "docs/**/*.md",
        "docs/**/*.js",
        "specgate/**/*.py",
        "specs/**/*.yaml",
        "tests/**/*.py",
        "tests/**/*.yaml",
        "tests/**/*.md",
    )
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        if path.name != "test_english.py" and not any(path.is_relative_to(folder) for folder in left_out):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def test_no_banned_turn_is_used() -> None:
    found = [line for name, text in texts() for line in turns(name, text)]
    assert not found, "\n" + "\n".join(found)


def test_banned_turns_are_found() -> None:
    text = "It tells\nthem apart.\n#: No rule speaks\n#: of it.\nNobody asks; each of which is told twice.\n"
    assert list(turns("a.py", text)) == [
        "a.py:3: speaks of -> mention, cover, name",
        "a.py:5: nobody -> the passive: is never used, is not read",
        "a.py:5: is told -> is reported, is given, is known",
    ]
    assert not list(turns("a.py", "file.tell(); told = 1; nobody@nowhere; largest; of that; stands for; one of which"))
