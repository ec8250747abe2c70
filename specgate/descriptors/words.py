"""Words that a dialect also has numbers for: read as a word, or as headers number them and debuggers print them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Numbered, shown
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["UnknownWord", "hint", "near_word", "number_of", "numbered", "refuse_unknown", "unknown_word", "word_of"]

#: How a debugger marks the base of a number.
_BASES: Final = (("0x", 16), ("0n", 10), ("", 10))
_MAX_DIGITS: Final = 20
_LARGEST: Final = 2**64


def number_of(raw: Any) -> int | None:
    """Return the number in an integer or its text (``52``, ``0x34``, ``0n52``), None where there is none."""
    if isinstance(raw, int):
        return None if isinstance(raw, bool) or abs(raw) > _LARGEST else raw
    if isinstance(raw, str) and len(raw) <= _MAX_DIGITS and raw.isascii():
        for mark, base in _BASES:
            digits = raw.strip().lower().removeprefix(mark)
            if raw.strip().lower().startswith(mark) and digits.isalnum():
                try:
                    return int(digits, base)
                except ValueError:
                    return None
    return None


def word_of(raw: Any, numbers: Mapping[str, int], prefix: str = "") -> Any:
    """Return the short word that `raw` says: by its name, with the vendor's prefix or without, or by its number.

    A debugger's ``DML_PADDING_MODE_EDGE (1)`` is EDGE. What is neither a word nor a number of one comes back as it is.
    """
    number = number_of(raw)
    if number is not None:
        return next((word for word, value in numbers.items() if value == number), raw)
    if not isinstance(raw, str):
        return raw
    name, bracket, rest = raw.partition(" (")
    if bracket and rest.endswith(")") and number_of(rest[:-1]) is not None:
        raw = name
    return raw.removeprefix(prefix)


def near_word(result: Any, known: Iterable[str]) -> str | None:
    """Return the word that was likely meant: the first that begins so (FLOAT32 for FLOAT), else one spelt nearly so."""
    if not isinstance(result, str) or not result:
        return None
    words = list(known)
    begun = [word for word in words if word.upper().startswith(result.upper())]
    from difflib import get_close_matches  # few words are wrong

    close = get_close_matches(result.upper(), {word.upper(): word for word in words}, 1)
    return begun[0] if begun else next((word for word in words if close and word.upper() == close[0]), None)


def hint(result: Any, known: Iterable[str], limit: int = 30) -> str:
    """Return what a message says of the words there are: the likely one first, then the list."""
    words = list(known)
    near = near_word(result, words)
    listed = ", ".join(words[:limit]) + (f" and {len(words) - limit} more" if len(words) > limit else "")
    return f"did you mean {near}? Known: {listed}" if near else f"known: {listed}"


def unknown_word(where: str, raw: Any, what: str, known: Iterable[str]) -> str:
    """Return the sentence of a finding about a word that does not exist."""
    text = str(raw) if number_of(raw) is not None else shown(raw)
    return f"{where} is {text}, which is no {what} ({hint(raw, known)})"


class UnknownWord(ValueError):
    """A value is a word that the dialect does not have; its text says which there are, behind "NAME is"."""


def numbered(raw: Any, numbers: Mapping[str, int], what: str, prefix: str = "") -> Any:
    """Return the number of the word that `raw` says, in any case; what is no text comes back as it is.

    what: what the words are. Raises UnknownWord for a text that is neither a word nor a number.
    """
    if not isinstance(raw, str):
        return raw
    number = number_of(raw)
    if number is not None:
        return number
    text = str(word_of(raw.strip().upper(), numbers, prefix.upper()))
    word = next((known for known in numbers if known.upper() == text), None)
    if word is None:
        raise UnknownWord(f"{shown(raw)}, which is no {what} ({hint(raw, numbers)})")
    return Numbered(numbers[word], word)


def refuse_unknown(entries: Mapping[str, Any], known: Sequence[str], place: str, what: str) -> None:
    """Raise InputError for a key that is none of `known`; `what` says what each should be."""
    for name in entries:
        if not isinstance(name, str) or name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1) if isinstance(name, str) else []
            hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(known)}"
            raise InputError(f"{shown(name)} is not {what}; {hint}", place=place or None)
