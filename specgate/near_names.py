"""Suggestions for misspelled names of operators, levels and releases."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VERSION: Final = re.compile(r"[A-Za-z]*(\d{1,9}(?:\.\d{1,9})*)")
_CLOSE_CUTOFF: Final = 0.9
_MAX_LENGTH: Final = 80


def near_operators(text: str, names: Collection[str], least: float = 0.6) -> list[str]:
    """Return the operator that `text` most likely means, as a list.

    The list is empty if no name is similar. Case, underscores and the affixes of vendor structures
    (``DML_…_OPERATOR_DESC``) are ignored. The words of `text` may be a subset of the words of a name (``ADD`` for
    ``ELEMENT_WISE_ADD``).

    least: the minimum similarity of other names, from 0 to 1.
    """
    text = text[:_MAX_LENGTH]
    folded = {fold_name(name): name for name in names}
    for folded_name in (fold_name(text), fold_name(text).rstrip("0123456789")):
        if folded_name in folded:
            return [folded[folded_name]]
    if close_matches := get_close_matches(fold_name(text), folded, 1, _CLOSE_CUTOFF):
        return [folded[close_matches[0]]]
    words = {name: _words(name) for name in names}
    all_words = {word for word_list in words.values() for word in word_list}
    texts = _words(text)
    expected = [word for word in texts if word in all_words]
    if expected == texts:
        matching_names = [name for name, word_list in words.items() if all(word in word_list for word in expected)]
    else:
        matching_names = [name for name, word_list in words.items() if "".join(word_list) == "".join(expected)]
    if expected and matching_names:
        return [
            min(
                matching_names,
                key=lambda name: (len(words[name]), words[name][-len(expected) :] != expected, name),
            )
        ]
    return [folded[match] for match in get_close_matches(fold_name(text), folded, 1, least)]


def fold_name(name: str) -> str:
    """Return a name without case and underscores, for comparison."""
    return name.replace("_", "").lower()


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def near_versions(text: str, names: Sequence[str]) -> list[str]:
    """Return the versions that a wrong version may mean, oldest first.

    ``5`` gives every 5.x. Other numbers give the next lower and next higher version, so a number beyond all versions
    gives the newest. Text that is not a version gives similarly spelled versions.
    """
    key = _key(text[:_MAX_LENGTH])
    if key is None:
        return get_close_matches(text[:_MAX_LENGTH], names, 3)
    pairs = sorted((version_key, name) for name in names if (version_key := _key(name)) is not None)
    prefixed_names = [name for each, name in pairs if each[: len(key)] == key]
    if prefixed_names:
        return prefixed_names
    same_length = [pair for pair in pairs if len(pair[0]) == len(key)] or pairs
    lower_names = [name for each, name in same_length if each < key]
    higher_names = [name for each, name in same_length if each > key]
    return [*lower_names[-1:], *higher_names[:1]]


def _key(name: str) -> tuple[int, ...] | None:
    match = _VERSION.fullmatch(name)
    return None if match is None else tuple(map(int, match[1].split(".")))


def expand_abbreviation(text: str, names: Iterable[str]) -> list[str]:
    """Return the names that `text` may abbreviate, such as ``dml``.

    A name matches if it starts with the same letter and contains all letters of `text` in order.
    """
    letters = text[:_MAX_LENGTH].lower()
    return [name for name in names if letters[:1] == name[:1] and _in_order(letters, name)]


def _in_order(letters: str, name: str) -> bool:
    rest = iter(name)
    return len(letters) > 1 and all(letter in rest for letter in letters)
