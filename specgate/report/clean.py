"""Text hygiene: what a file calls its nodes cannot drive a terminal, nor forge a line that a CI server obeys."""

from __future__ import annotations

__all__ = ["clean", "columns", "well_formed", "wrap"]

_LEAST_ROOM = 8  # an escape at the beginning of a line fits in it, so that every line takes something off a word
_BREAK_AFTER = "/\\_.,-:;)]}>="


def clean(text: str, limit: int | None = 200) -> str:
    r"""Return `text` on one line of printable characters, everything else shown as an escape such as ``\x1b``.

    Control characters, line ends, bidirectional overrides, invisible characters and lone surrogates are escaped,
    and so are the openings of CI commands (``::error``, ``##[error]``, ``##vso[``, ``##teamcity[``).
    limit: characters of `text` that are kept, None for all; what is left out of the middle is counted.
    """
    if limit is not None and len(text) > limit:
        head = limit * 2 // 3
        tail = limit - head
        text = f"{text[:head]}...[{len(text) - limit} more]...{text[len(text) - tail :]}"
    if not text.isprintable():
        text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    # A runner obeys "##[" anywhere in a line, and "::" where a line begins; wrapping may begin a line at any word.
    return _no_command(text.replace("##", "#\\x23").replace(" ::", " \\x3a:"))


def _no_command(text: str) -> str:
    return "\\x3a" + text[1:] if text.startswith("::") else text


def well_formed(text: str) -> str:
    """Return `text` with lone surrogates written as escapes, so that every reader of UTF-8 and JSON takes it."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def columns(text: str) -> int:
    """Return how many terminal columns cleaned text takes (wide characters 2, combining marks 0)."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def wrap(text: str, width: int, *, first: str = "", hang: str = "") -> list[str]:
    """Break cleaned text into lines of at most `width` columns; nothing is cut.

    first and hang are what the first and every other line begin with; where they leave less than eight columns,
    the lines become longer than width.
    """
    lines: list[str] = []
    indent, line = first, None
    for part in text.split(" "):
        word = part
        if line is not None:
            longer = f"{line} {word}"
            if columns(indent) + columns(longer) <= width:
                line = longer
                continue
            lines.append(indent + line)
            indent = hang
        while columns(word) > (room := max(width - columns(indent), _LEAST_ROOM)):
            piece, word = _split(word, room)
            lines.append(indent + piece)
            indent = hang
        line = word
    lines.append(indent + (line or ""))
    return [done.rstrip(" ") for done in lines]


def _split(word: str, room: int) -> tuple[str, str]:
    """Split a word that is wider than `room`, after a separator where the second half of the room has one."""
    used = end = 0
    for end, char in enumerate(word):  # noqa: B007 (the place where the loop stopped is the answer)
        used += columns(char)
        if used > room:
            break
    end = max(end, 1)
    for at in range(end, max(end // 2, 1), -1):
        if word[at - 1] in _BREAK_AFTER:
            end = at
            break
    return word[:end], _no_command(word[end:])
