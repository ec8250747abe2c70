"""Text sanitization for terminals and CI logs.

Names in a file cannot emit terminal escapes or CI commands.
"""

from __future__ import annotations

_MIN_COLUMNS = 8  # fits the longest escape, so every line consumes a part of the word
_BREAK_CHARACTERS = "/\\_.,-:;)]}>="


def clean(text: str, limit: int | None = 200) -> str:
    r"""Return `text` as one printable line, with escapes such as ``\x1b``.

    Control characters, line ends, bidirectional overrides, invisible characters and lone surrogates are escaped, and so
    are the openings of CI commands (``::error``, ``##[error]``, ``##vso[``, ``##teamcity[``). limit: maximum characters
    of `text`, None for all; a longer text has its middle replaced by the number of omitted characters.
    """
    if limit is not None and len(text) > limit:
        head = limit * 2 // 3
        tail = limit - head
        text = f"{text[:head]}...[{len(text) - limit} more]...{text[len(text) - tail :]}"
    if not text.isprintable():
        text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    # Runners execute "##[" anywhere in a line, and "::" at the start of a line. Wrapping may start a line at any word.
    return _no_command(text.replace("##", "#\\x23").replace(" ::", " \\x3a:"))


def _no_command(text: str) -> str:
    return "\\x3a" + text[1:] if text.startswith("::") else text


def well_formed(text: str) -> str:
    """Return `text` with lone surrogates escaped, valid in UTF-8 and JSON."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def columns(text: str) -> int:
    """Return the number of terminal columns of cleaned text.

    Wide characters count 2, combining marks 0.
    """
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def wrap(text: str, width: int, *, first: str = "", hanging_indent: str = "") -> list[str]:
    """Break cleaned text into lines of at most `width` columns.

    first, hanging_indent: prefixes of the first line and of the others. If they leave fewer than eight columns, lines
    exceed the width. All text is kept.
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
            indent = hanging_indent
        while columns(word) > (available_columns := max(width - columns(indent), _MIN_COLUMNS)):
            piece, word = _split_word(word, available_columns)
            lines.append(indent + piece)
            indent = hanging_indent
        line = word
    lines.append(indent + (line or ""))
    return [done.rstrip(" ") for done in lines]


def _split_word(word: str, available_columns: int) -> tuple[str, str]:
    """Split a word wider than `available_columns`, if possible after a separator.

    The separator must be in the second half of `available_columns`.
    """
    used_columns = end = 0
    for end, char in enumerate(word):  # noqa: B007 (used after the loop)
        used_columns += columns(char)
        if used_columns > available_columns:
            break
    end = max(end, 1)
    for end_index in range(end, max(end // 2, 1), -1):
        if word[end_index - 1] in _BREAK_CHARACTERS:
            end = end_index
            break
    return word[:end], _no_command(word[end:])
