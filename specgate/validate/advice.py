"""Fixes in words: "give dimension -1 of B the size 3 or 1"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.rules.sentences import spell_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specgate.spec.fields import FieldInfo
    from specgate.validate.places import Place
    from specgate.validate.repair import Repair, Step

__all__ = ["advice"]

MAX_CHOICES: Final = 6
#: With one value, and with several or a range of them.
_PATTERNS: Final[Mapping[str, str]] = {
    "set": "set {owner} to {values}",
    "member": "set {owner}.{at} to {values}",
    "element": "set {owner}[{at}] to {values}",
    "length": "give {owner} {values} {noun}",
    "absent": "leave {owner} out",
    "given": "give {owner}",
    "strides": "leave the strides of {owner} out",
    "size": "set dimension {label} of {owner} to {values}",
    "sizes": "set the sizes of {owner} to {values}",
    "rank": "give {owner} rank {values}",
    "type": "cast {owner} to {values}",
    "elements": "give {owner} {values} {noun}",
    "value": "give {owner} the value {values}",
    "entry": "set element {at} of {owner} to {values}",
}
#: Parts that one sentence can name for several tensors.
_TOGETHER: Final = frozenset({"rank", "type", "size", "sizes", "elements"})
_NOUNS: Final = {"length": "value", "elements": "element"}


def advice(
    repair: Repair,
    fields: Mapping[str, FieldInfo],
    names: Mapping[str, str],
    lost: Callable[[Step], str] | None = None,
) -> str | None:
    """Return a repair as one phrase, None where it would not help a reader.

    fields: by the names in the repair. names: display names where they differ. lost: describes what a cast loses.
    """
    phrases: list[str] = []
    groups: dict[tuple[Any, ...], list[Step]] = {}
    for step in repair:
        kind = step.place.kind
        alike = (kind, step.place.label, step.values, step.span) if kind in _TOGETHER else step
        groups.setdefault((*alike,), []).append(step)
    for steps in groups.values():
        places = [step.place for step in steps]
        losses = list(dict.fromkeys(filter(None, map(lost, steps)))) if lost is not None else []
        phrase = _phrase(steps[0], _listed([_owner(place, names) for place in places]), fields)
        phrases.append(phrase + (f" ({'; '.join(losses)})" if losses else ""))
    return " and ".join(phrases) if len(phrases) <= 3 else None


def _owner(place: Place, names: Mapping[str, str]) -> str:
    return names.get(place.field, place.field) + ("" if place.item is None else f"[{place.item}]")


def _phrase(step: Step, owner: str, fields: Mapping[str, FieldInfo]) -> str:
    place = step.place
    info = fields.get(place.field)
    pattern = _PATTERNS[place.kind]
    if place.kind == "type" and info is not None and info.kind == "output":
        pattern = "give {owner} the type {values}"
    values = _choices(step)
    noun = _NOUNS.get(place.kind, "")
    if noun and values != "1":
        noun += "s"
    return pattern.format(owner=owner, at=place.at, label=place.label or place.at, values=values, noun=noun)


def _choices(step: Step) -> str:
    if step.span:
        low, high = step.values
        if low is None:
            return f"{spell_value(high)} or less"
        return (
            f"{spell_value(low)} or more" if high is None else f"a value from {spell_value(low)} to {spell_value(high)}"
        )
    shown = [_value(value) for value in step.values[:MAX_CHOICES]]
    if len(step.values) > MAX_CHOICES:
        shown[-1] = f"another of {len(step.values)} values"
    return _listed(shown, "or")


def _value(value: Any) -> str:
    return spell_value(tuple(value) if isinstance(value, tuple | list) else value)


def _listed(parts: Iterable[str], word: str = "and") -> str:
    *first, last = dict.fromkeys(parts)
    return f"{', '.join(first)} {word} {last}" if first else last
