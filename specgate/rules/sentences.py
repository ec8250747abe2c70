"""Facts as sentences: "A has rank 3 and B has rank 4"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import shown
from specgate.rules.language import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["MAX_ITEMS", "NO_VALUE", "Fact", "joined", "sentences", "spell_value"]

MAX_ITEMS: Final = 16
MAX_WORD: Final = 60
#: Longer lists of facts are cut.
MAX_FACTS: Final = 200
#: The placeholder of a missing value; real values are never spelled like this.
NO_VALUE: Final = ""
_UNKNOWN: Final[Mapping[str, str]] = {
    "rank": "the rank of {} is unknown",
    "type": "the type of {} is unknown",
    "sizes": "the sizes of {} are unknown",
    "elements": "the number of elements of {} is unknown",
    "values": "the values of {} are unknown",
    "holds": "the value of {} is unknown",
}
#: Templates for facts of one field and of several fields.
_PATTERNS: Final[Mapping[str, tuple[str, str]]] = {
    "is": ("{} is {}", "{} are {}"),
    "rank": ("{} has rank {}", "{} have rank {}"),
    "type": ("{} is {}", "{} are {}"),
    "given": ("{} is {}", "{} are {}"),
    "empty": ("{} is {}", "{} are {}"),
    "sizes": ("{} has the sizes {}", "{} have the sizes {}"),
    "holds": ("{} holds {}", "{} hold {}"),
    "values": ("{} holds {}", "{} hold {}"),
    "elements": ("{} has {} element", "{} have {} element"),
    "count": ("{} has {} value", "{} have {} value"),
    "tensors": ("{} has {} tensor", "{} have {} tensor"),
}
_COUNTED: Final = frozenset({"elements", "count", "tensors"})


class Fact(NamedTuple):
    """One value.

    kind: selects the words. of: the field or expression. at: the dimension, "" for none.
    """

    kind: str
    of: str
    value: str
    at: str = ""


def spell_value(value: Any) -> str:
    """Return a value as messages show it."""
    if isinstance(value, tuple | list | range):
        more = ", …" if len(value) > MAX_ITEMS else ""
        return "[" + ", ".join(spell_value(v) for v in value[:MAX_ITEMS]) + more + "]"
    if value is None or value is UNKNOWN:
        return "unknown"
    if isinstance(value, str):  # words and symbolic sizes are not quoted unless they contain line breaks
        return str(value) if value.isprintable() and 0 < len(value) <= MAX_WORD else shown(value)
    return shown(value)


def sentences(facts: Iterable[Fact]) -> list[str]:
    """Return facts as sentences.

    Facts of one kind are merged where they share the value or the field.
    """
    groups: dict[tuple[str, str, str], list[str]] = {}
    for fact in facts:
        groups.setdefault((fact.kind, fact.at, fact.value), []).append(fact.of)
    texts: list[str] = []
    done: set[tuple[str, str]] = set()
    for (kind, at, value), owners in groups.items():
        if kind == "size":
            if (kind, at) not in done:
                done.add((kind, at))
                same = {v: names for (k, a, v), names in groups.items() if (k, a) == (kind, at)}
                texts.append(_sizes_at(at, same))
        else:
            texts.append(_sentence(kind, value, owners))
    return texts


def _sizes_at(at: str, by_value: Mapping[str, list[str]]) -> str:
    if len(by_value) == 1:
        (value, owners), *_ = by_value.items()
        return f"dimension {at} of {_listed(owners)} is {value}"
    return f"dimension {at} is " + _listed([f"{value} in {_listed(owners)}" for value, owners in by_value.items()])


def _sentence(kind: str, value: str, owners: list[str]) -> str:
    names, several = _listed(owners), len(owners) > 1
    if value == "unknown" and kind in _UNKNOWN:
        return _UNKNOWN[kind].format(names)
    if kind == "said":
        return value.format(names)
    pattern = _PATTERNS[kind][several]
    return pattern.format(names, value) + ("s" if kind in _COUNTED and value != "1" else "")


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def joined(parts: Iterable[str]) -> str:
    """Return the parts joined with commas and "and".

    Parts beyond 200 characters are replaced by their number.
    """
    every = list(parts)
    kept: list[str] = []
    for part in every:
        if kept and sum(map(len, kept)) + len(part) > MAX_FACTS:
            break
        kept.append(part)
    if len(kept) < len(every):
        kept.append(f"{len(every) - len(kept)} more")
    if not kept:
        return ""
    return "; ".join(kept) if any(", expected" in part for part in kept) else _listed(kept)
