"""Error codes in the spellings that systems print, with their meaning."""

from __future__ import annotations

import difflib
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects import dialect_names
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TEXT: Final = 100_000
#: A word or number of a log line. Digits of addresses (``00007FFE11451461``) are too long for a code.
_TOKEN: Final = re.compile(r"-?[0-9A-Za-z_]+")
_HEXADECIMAL: Final = re.compile(r"(?:0[xX])?([0-9A-Fa-f]{8})[lLuU]*")


@dataclass(frozen=True, slots=True)
class Explanation:
    """An error code and its meaning.

    code: ``0x80070057``. name: as spelled in headers. meaning, advice: one or two sentences each. dialect: the dialect
    whose implementations return the code. source: a key of that dialect's list of sources.
    """

    code: str
    name: str
    meaning: str
    advice: str
    dialect: str
    source: str

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data."""
        return asdict(self)


def explain_codes(text: str) -> list[Explanation]:
    """Return the codes that `text` contains, in the order of the tables.

    text: a hexadecimal number with or without 0x, a signed or unsigned decimal number, a name or part of a name, a
    system message, or a log line that contains any of these. Raises InputError if no code is found.
    """
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_TEXT:
        raise InputError("expected an error code such as 0x80070057 or E_INVALIDARG, or a log line that contains one")
    every_explanation = list(_iterate_explanations())
    words = {token.upper() for token in _TOKEN.findall(text)}
    codes = {code for token in words for code in [_code(token)] if code is not None}
    explanations = [entry for entry, _ in every_explanation if entry.code in codes or entry.name.split()[0] in words]
    if not explanations:
        lowered = " ".join(text.lower().split())
        explanations = [entry for entry, texts in every_explanation if any(phrase in lowered for phrase in texts)]
    if not explanations and len(lowered) > 3:  # part of a name or of a message
        part = lowered.rstrip(".").replace(" ", "_")
        explanations = [
            e
            for e, texts in every_explanation
            if part in e.name.lower() or any(lowered.rstrip(".") in t for t in texts)
        ]
    if not explanations:
        raise InputError(_unknown(text.strip(), [entry for entry, _ in every_explanation]))
    return explanations


def _iterate_explanations() -> Iterator[tuple[Explanation, list[str]]]:
    for name in dialect_names():
        for code, entry in dialect(name).tables.codes.items():
            explanation = Explanation(code, entry["name"], entry["meaning"], entry["advice"], name, entry["source"])
            yield explanation, entry.get("texts", [])


def _code(token: str) -> str | None:
    """Return a number as ``0x80070057``; None for other tokens.

    Accepts eight hexadecimal digits, or a signed or unsigned decimal number of 32 bits.
    """
    match = _HEXADECIMAL.fullmatch(token)
    if match is not None:
        return f"0x{match[1].upper()}"
    digits = token.removeprefix("-")
    if not digits.isdecimal() or not 9 <= len(digits) <= 10 or not -(2**31) <= int(token) < 2**32:
        return None
    return f"0x{int(token) & 0xFFFFFFFF:08X}"


def _unknown(text: str, explanations: list[Explanation]) -> str:
    similar = difflib.get_close_matches(text.upper(), [entry.name for entry in explanations], 2)
    hint = f"; did you mean {' or '.join(similar)}?" if similar else ". Known codes:"
    codes = [] if similar else [f"  {entry.code} {entry.name}" for entry in explanations]
    return "\n".join([f"no known error code in {text!r:.80}{hint}", *codes])
