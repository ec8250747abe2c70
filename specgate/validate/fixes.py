"""Fixes at the same level: from the table, derived, or casts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.descriptors.words import near_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.validate.failures import Failure


class _Float(NamedTuple):
    """A floating-point format: significand bits and exponent range."""

    significand: int
    least: int
    most: int


#: By the names that numpy and ml_dtypes give the types; from IEEE 754 and the docstrings of ml_dtypes 0.5.
_FLOATS: Final = {
    "float16": _Float(11, -24, 15),
    "bfloat16": _Float(8, -133, 127),
    "float32": _Float(24, -149, 127),
    "float64": _Float(53, -1074, 1023),
    "float8_e4m3fn": _Float(4, -9, 8),
    "float8_e4m3fnuz": _Float(4, -10, 7),
    "float8_e5m2": _Float(3, -16, 15),
    "float8_e5m2fnuz": _Float(3, -17, 15),
    "float8_e8m0fnu": _Float(1, -127, 127),
    "float6_e2m3fn": _Float(4, -3, 2),
    "float6_e3m2fn": _Float(3, -4, 4),
    "float4_e2m1fn": _Float(2, -1, 2),
}
#: numpy's kind letters of the types that a cast converts between.
_NUMBERS: Final = "biufc"
_TO_FLOAT: Final = 2
MAX_DISTANCE: Final = 3


def nearest(text: str, allowed: Iterable[str], dialect: Dialect) -> str | None:
    """Return the allowed type closest to `text`, None without a castable one.

    A type that represents every value is preferred, then the same kind, then other integers before floating point for
    an integer. Within a kind the nearest type of at least the same width is preferred.
    """
    choices = tuple(name for name in allowed if name in dialect.types and family(name, dialect) in _NUMBERS)
    if text not in dialect.types or family(text, dialect) not in _NUMBERS or not choices:
        return None

    nearest_type = min(choices, key=lambda name: cast_distance(text, name, dialect))
    return nearest_type if cast_distance(text, nearest_type, dialect)[1] < MAX_DISTANCE else None


def cast_distance(text: str, other: str, dialect: Dialect) -> tuple[bool, int, int, int]:
    """Return the distance of two types of numbers, smaller for a better cast."""
    own_family, other_family = family(text, dialect), family(other, dialect)
    width = bits_of(other, dialect) - bits_of(text, dialect)
    if own_family == other_family:
        kind = 0
    elif {own_family, other_family} == {"i", "u"} or (own_family == "b" and other_family in "iuf"):
        kind = 1
    else:
        kind = _TO_FLOAT if own_family in "iu" and other_family == "f" else MAX_DISTANCE
    exact = is_lossless(text, other, dialect)
    return (not exact, kind, 0 if exact or (kind < _TO_FLOAT and width >= 0) else 1, abs(width))


def exact_up_to(text: str, other: str, dialect: Dialect) -> str | None:
    """Return the largest integer up to which an int-to-float cast is exact.

    None where every value is exact.
    """
    if family(text, dialect) not in "iu" or family(other, dialect) != "f":
        return None
    known_float = _format(other, dialect)
    return (
        f"2**{known_float.significand}"
        if known_float is not None and known_float.significand < _magnitude(text, dialect)
        else None
    )


def describe_loss(text: str, other: str, dialect: Dialect) -> str:
    """Return a description of a cast's loss, "" for no known loss."""
    if text == other or is_lossless(text, other, dialect):
        return ""
    exact = exact_up_to(text, other, dialect)
    if exact is not None:
        return f"exact for integers up to {exact}"
    own_family, other_family = family(text, dialect), family(other, dialect)
    if own_family in "iu" and other_family in "iu":
        bits = bits_of(other, dialect)
        low, high = (f"-2**{bits - 1}", f"2**{bits - 1} - 1") if other_family == "i" else ("0", f"2**{bits} - 1")
        return f"exact from {low} to {high}"
    left, right = _format(text, dialect), _format(other, dialect)
    if left is None or right is None:
        return ""
    parts = []
    if right.significand < left.significand:
        parts.append(f"{right.significand} of {left.significand} significant bits are kept")
    if right.most < left.most:
        parts.append(f"numbers from 2**{right.most + 1} on overflow")
    return ", ".join(parts)


def is_lossless(text: str, other: str, dialect: Dialect) -> bool:
    """Return whether one type represents every value of another."""
    own_family, other_family = family(text, dialect), family(other, dialect)
    width = bits_of(other, dialect) - bits_of(text, dialect)
    if own_family == "b" and other_family in "iuf":
        return True
    if own_family == "f" and other_family == "f":
        left, right = _format(text, dialect), _format(other, dialect)
        if left is None or right is None:
            return text == other
        return right.least <= left.least and right.most >= left.most and right.significand >= left.significand
    if own_family == other_family:
        return width >= 0 and own_family in "iuc"
    if own_family in "iu" and other_family == "f":
        known_float = _format(other, dialect)
        needed_magnitude = _magnitude(text, dialect)
        return (
            known_float is not None
            and known_float.significand >= needed_magnitude
            and known_float.most >= needed_magnitude
        )
    return own_family == "u" and other_family == "i" and width > 0


def family(name: str, dialect: Dialect) -> str:
    """Return numpy's kind letter of a type: i, u, f, c and so on."""
    numpy = str(dialect.types.get(name, {}).get("numpy") or name.lower())
    return "f" if numpy.startswith(("bf", "nf")) else numpy[:1]


def _format(name: str, dialect: Dialect) -> _Float | None:
    entry = dialect.types.get(name, {})
    return _FLOATS.get(str(entry.get("ml_dtypes") or entry.get("numpy")))


def _magnitude(name: str, dialect: Dialect) -> int:
    """Return the bits of the largest integer magnitude of a type."""
    return bits_of(name, dialect) - (family(name, dialect) == "i")


def bits_of(name: str, dialect: Dialect) -> int:
    """Return the bits per element of a type, 0 where unknown."""
    return dialect.types.get(name, {}).get("bits") or 0


MAX_CHOICES: Final = 6
_EXPECTED: Final = re.compile(r", but (.+) (?:is|are) expected")
_STATED_PATTERN: Final = re.compile(r", but it is stored as .+, and (.+) is expected")
_BOUND_PATTERN: Final = re.compile(r"at most \d+|at least \d+")


def own_fix(failure: Failure, spec: OperatorSpec, level: str) -> str | None:
    """Return a fix that keeps the level, None where nothing can be proposed."""
    if failure.fix or failure.remedy is not None:
        return failure.fix or failure.remedy.fix()  # type: ignore[union-attr]  # one of the two is set
    if failure.aspect == "type" and failure.values:
        return _type(failure, spec)
    if failure.aspect == "rank" and failure.allowed:
        return f"give {_vendor_place(failure, spec)} rank {_join_alternatives(failure.allowed[0].split(', '))}"
    if failure.aspect == "value" and failure.allowed:
        return _value(_vendor_place(failure, spec), failure.allowed)
    return _structure(failure, spec, level) if failure.aspect == "structure" else None


def _vendor_place(failure: Failure, spec: OperatorSpec) -> str:
    """Return the place of a failure with the vendor's field name."""
    name, bracket, rest = failure.where.partition("[")
    info = spec.fields.get(name)
    return (name if info is None else info.vendor_name) + bracket + rest


def _type(failure: Failure, spec: OperatorSpec) -> str:
    return cast_fix(failure.where, str(next(iter(failure.values.values()))), failure.allowed, spec)


def cast_fix(place: str, text: str, allowed: Sequence[str], spec: OperatorSpec) -> str:
    """Return the allowed type to cast a tensor to, and the cast's loss."""
    nearest_type = nearest(text, allowed, spec.dialect)
    if nearest_type is None:
        return f"give {place} {format_choices('the type', tuple(allowed), 'those types')}"
    info = spec.fields.get(place.partition("[")[0])
    if info is not None and info.kind == "output":
        return f"give {place} the type {nearest_type}"
    loss = describe_loss(text, nearest_type, spec.dialect)
    return f"cast {place} to {nearest_type}" + (f" ({loss})" if loss else "")


def _value(place: str, allowed: tuple[str, ...]) -> str:
    if len(allowed) == 1 and " to " in allowed[0]:
        return f"set {place} to a value from {allowed[0]}"
    return f"set {place} {format_choices('to', allowed, 'those values')}"


def format_choices(verb: str, allowed: tuple[str, ...], plural_noun: str) -> str:
    """Return the words that a fix may use, or one of a plural noun for many."""
    if len(allowed) > MAX_CHOICES:
        return f"{verb} one of {plural_noun}" if verb == "to" else f"one of {plural_noun}"
    return f"{verb} {_join_alternatives(allowed)}"


def _join_alternatives(words: tuple[str, ...] | list[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def _structure(failure: Failure, spec: OperatorSpec, level: str) -> str | None:
    kind = failure.rule.rpartition(".")[2]
    place = _vendor_place(failure, spec)
    limit = _BOUND_PATTERN.search(failure.message)
    if kind == "unknown-attribute":
        return _unknown(failure.where, spec, level)
    if kind.startswith("too-many-") and limit:
        noun = kind.removeprefix("too-many-")
        return f"give {limit[0]} {noun.removesuffix('s') if limit[0].endswith(' 1') else noun}"
    if kind == "required":
        return f"give {place} {limit[0]}" if limit else f"give {place}"
    if kind == "exists":
        return f"leave {place} out" if _is_removal_safe(failure, spec, level) else None
    if kind == "unknown-word":
        info = spec.fields.get(failure.where)
        words = spec.dialect.numbers(info.enum) if info is not None and info.enum else ()
        similar = near_word(failure.values.get(failure.where), words)
        return similar and f"set {place} to {similar}"
    stated_match, expected = _STATED_PATTERN.search(failure.message), _EXPECTED.search(failure.message)
    if kind != "wrong-kind" or expected is None:
        return None
    return f"state {place} as {stated_match[1]}" if stated_match else f"give {place} {expected[1]}"


def _is_removal_safe(failure: Failure, spec: OperatorSpec, level: str) -> bool:
    """Return whether removing an undefined field leaves the results unchanged.

    It does where its value is the default, and where the kernel ignores it at the levels that define it.
    """
    name = failure.where
    levels_with_field = [level_ for level_ in spec.levels if spec.field_at(name, level_) is not None]
    order = spec.dialect.position
    later_levels = [level_ for level_ in levels_with_field if order[level_] > order[level]]
    other_level = later_levels[0] if later_levels else levels_with_field[-1]
    info = spec.field_at(name, other_level)
    value = failure.values.get(name)
    if info is None or info.kind != "attribute":
        return False
    return (info.default is not None and value == info.default) or (
        spec.has_kernel(other_level) and not _recipe_uses(spec, name)
    )


def _recipe_uses(spec: OperatorSpec, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", repr(spec.table.recipe)) is not None


def _unknown(name: str, spec: OperatorSpec, level: str) -> str:
    from difflib import get_close_matches  # imported late: only misspelled attributes need it

    info = spec.layout(level).page_names.get(name)
    if info is not None:
        return f"rename {name} to {info.vendor_name}"
    fields = [info for info in spec.fields.values() if spec.field_at(info.name, level) is not None]
    if any(info.kind == "input" and info.vendor_name == name for info in fields):
        return f"give {name} as an input"
    attributes = [info.vendor_name for info in fields if info.kind == "attribute"]
    similar = get_close_matches(name[:60], attributes, n=1)
    return f"rename {name} to {similar[0]}, or leave it out" if similar else f"leave {name} out"
