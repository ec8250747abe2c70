"""Words with numbers, in the spellings of headers and debuggers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import NumberedWord, format_value
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Prefixes by which debuggers mark the base of a number.
_BASES: Final = (("0x", 16), ("0n", 10), ("", 10))
_MAX_DIGITS: Final = 20
_LARGEST: Final = 2**64


def number_of(raw: Any) -> int | None:
    """Return an integer or the number in its text, else None.

    Texts are spelled ``52``, ``0x34`` or ``0n52``.
    """
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
    """Return the short word of a name or number.

    A name may have the vendor's prefix. A debugger's ``DML_PADDING_MODE_EDGE (1)`` is EDGE. Other values are returned
    unchanged.
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


def near_word(result: Any, known_words: Iterable[str]) -> str | None:
    """Return the word that was likely meant, else None.

    It is the first one with this prefix (FLOAT32 for FLOAT), or one with similar spelling.
    """
    if not isinstance(result, str) or not result:
        return None
    words = list(known_words)
    prefix_matches = [word for word in words if word.upper().startswith(result.upper())]
    from difflib import get_close_matches  # imported late: few words are wrong

    close_matches = get_close_matches(result.upper(), {word.upper(): word for word in words}, 1)
    return (
        prefix_matches[0]
        if prefix_matches
        else next((word for word in words if close_matches and word.upper() == close_matches[0]), None)
    )


def suggest_words(result: Any, known_words: Iterable[str], limit: int = 30) -> str:
    """Return the known words for a message, the likely one first."""
    words = list(known_words)
    similar = near_word(result, words)
    listing = ", ".join(words[:limit]) + (f" and {len(words) - limit} more" if len(words) > limit else "")
    return f"did you mean {similar}? Known: {listing}" if similar else f"known: {listing}"


def unknown_word(place: str, raw: Any, noun: str, words: Iterable[str]) -> str:
    """Return the sentence of a finding about an unknown word."""
    text = str(raw) if number_of(raw) is not None else format_value(raw)
    return f"{place} is {text}, which is not a valid {noun} ({suggest_words(raw, words)})"


class UnknownWord(ValueError):
    """Raised for a word that the dialect does not define.

    Its text lists the known words and follows "NAME is".
    """


def number_of_word(raw: Any, numbers: Mapping[str, int], spelling: str, prefix: str = "") -> Any:
    """Return the number of a word in any case.

    spelling: the description of the words. Values other than texts are returned unchanged. Raises UnknownWord for a
    text that is neither a word nor a number.
    """
    if not isinstance(raw, str):
        return raw
    number = number_of(raw)
    if number is not None:
        return number
    text = str(word_of(raw.strip().upper(), numbers, prefix.upper()))
    word = next((candidate for candidate in numbers if candidate.upper() == text), None)
    if word is None:
        raise UnknownWord(f"{format_value(raw)}, which is not a valid {spelling} ({suggest_words(raw, numbers)})")
    return NumberedWord(numbers[word], word)


def refuse_unknown(entries: Mapping[str, Any], names: Sequence[str], place: str, description: str) -> None:
    """Raise InputError for an unknown key; `description` describes the known ones."""
    for name in entries:
        if not isinstance(name, str) or name not in names:
            from difflib import get_close_matches

            similar = get_close_matches(name, names, 1) if isinstance(name, str) else []
            hint = f"did you mean {similar[0]}?" if similar else f"expected {', '.join(names)}"
            raise InputError(f"{format_value(name)} is not {description}; {hint}", place=place or None)
