"""Text of descriptor files: relaxed JSON, JSON lines, places and lines."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.read import load_document
from specgate.errors import InputError

if TYPE_CHECKING:
    from specgate.spec.yamlio import Lines

#: Suffixes of files with one document per line.
JSON_LINES_SUFFIXES: Final = (".jsonl", ".ndjson")


def place_of(group: str, key: str) -> str:
    """Return ``group/key``, shortening and quoting unusual keys."""
    return f"{group}/{plain_name(key)}"


def plain_name(name: str) -> str:
    """Return a name from a file, shortened and quoted if unusual."""
    return name if name.isprintable() and len(name) <= 80 else repr(name[:60])


def load_relaxed(text: str, name: str) -> Any:
    """Return the JSON or YAML document in `text`.

    JSON may have comments and trailing commas, as DxDispatch accepts them. Its parser sets rapidjson's flags for both
    kinds of comments, for trailing commas and for full precision, and not those for NaN and infinity
    (DxDispatch/src/model/JsonParsers.cpp, commit 2f1cee954). Raises InputError with the line and column in the file.
    """
    if name.endswith((".yaml", ".yml")):
        return load_document(text, name)
    start = text.lstrip()[:1]
    try:
        return load_document(without_comments(text, name) if start == "/" else text, name)
    except InputError:
        plain_text = without_comments(text, name) if start in {"{", "["} else text
        if plain_text == text:
            raise
    return load_document(plain_text, name)


def in_lines(text: str, name: str) -> list[tuple[int, str]] | None:
    """Return the documents of JSON lines with their 1-based lines, else None.

    A text is JSON lines by the file's suffix, or where the first two lines that are not blank begin with a brace and
    the first is a complete document.
    """
    if not name.lower().endswith(JSON_LINES_SUFFIXES) and not _begins_lined(text):
        return None
    return [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _begins_lined(text: str) -> bool:
    start = (line for line in text[: 2 * 2**20].split("\n") if line.strip())
    two = [line.strip() for line in islice(start, 2)]
    return len(two) == 2 and all(line[0] == "{" for line in two) and two[0].endswith("}") and _is_json(two[0])


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def without_comments(text: str, name: str = "") -> str:
    """Return JSON with comments and trailing commas blanked.

    Every character keeps its line and column.
    """
    # Each alternative also matches up to the end of the text, so that an unclosed one costs one pass only.
    string = r'"(?:[^"\\]++|\\.)*+\\?(?:"|\Z)'

    def blank(match: re.Match[str]) -> str:
        token = match.group()
        if token[0] == '"':
            return token
        if token[1] == "*" and not token.endswith("*/", 2):
            line = text.count("\n", 0, match.start()) + 1
            raise InputError("unterminated comment", file=name or None, place=f"line {line}")
        return re.sub(r"[^\n]", " ", token)

    def keep_string(match: re.Match[str]) -> str:
        return " " if match.group() == "," else match.group()

    plain_text = re.sub(rf"{string}|//[^\n]*|/\*.*?(?:\*/|\Z)", blank, text, flags=re.DOTALL)
    return re.sub(rf"{string}|,(?=\s*[\]}}])", keep_string, plain_text, flags=re.DOTALL)


def lines(text: str, name: str) -> Lines | None:
    """Return the 1-based line of each value by its path, None on failure.

    It fails for deeply nested documents, for example. The text is parsed again as YAML, of which JSON is nearly a
    subset, so call it only when lines are shown.
    """
    from specgate.spec.yamlio import load_yaml

    if text.lstrip()[:1] in {"{", "[", "/"} and not name.endswith((".yaml", ".yml")):
        try:
            text = without_comments(text).replace("\t", " ")  # YAML rejects tabs, and only lines matter
        except InputError:
            return None
    try:
        return load_yaml(text, name)[1]
    except InputError:
        return None
