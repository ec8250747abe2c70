"""Fixes at the same level: from the table, or derived from the failure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from specgate.descriptors.words import near_word
from specgate.validate.casting import lost, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.spec.operator_spec import OperatorSpec
    from specgate.validate.failures import Failure

__all__ = ["cast_fix", "own_fix"]

MAX_CHOICES: Final = 6
_EXPECTED: Final = re.compile(r", but (.+) (?:is|are) expected")
_STATED: Final = re.compile(r", but it is stored as .+, and (.+) is expected")
_AT_MOST: Final = re.compile(r"at most \d+|at least \d+")


def own_fix(failure: Failure, spec: OperatorSpec, level: str) -> str | None:
    """Return a fix that keeps the level, None where nothing can be proposed."""
    if failure.fix or failure.remedy is not None:
        return failure.fix or failure.remedy.fix()  # type: ignore[union-attr]  # one of the two is set
    if failure.aspect == "type" and failure.values:
        return _type(failure, spec)
    if failure.aspect == "rank" and failure.allowed:
        return f"give {_called(failure, spec)} rank {_either(failure.allowed[0].split(', '))}"
    if failure.aspect == "value" and failure.allowed:
        return _value(_called(failure, spec), failure.allowed)
    return _structure(failure, spec, level) if failure.aspect == "structure" else None


def _called(failure: Failure, spec: OperatorSpec) -> str:
    """Return the place of a failure with the vendor's field name."""
    name, bracket, rest = failure.where.partition("[")
    info = spec.fields.get(name)
    return (name if info is None else info.vendor_name) + bracket + rest


def _type(failure: Failure, spec: OperatorSpec) -> str:
    return cast_fix(failure.where, str(next(iter(failure.values.values()))), failure.allowed, spec)


def cast_fix(where: str, text: str, allowed: Sequence[str], spec: OperatorSpec) -> str:
    """Return which allowed type to cast a tensor to, and what the cast loses."""
    near = nearest(text, allowed, spec.dialect)
    if near is None:
        return f"give {where} {_one_of('the type', tuple(allowed), 'those types')}"
    info = spec.fields.get(where.partition("[")[0])
    if info is not None and info.kind == "output":
        return f"give {where} the type {near}"
    loss = lost(text, near, spec.dialect)
    return f"cast {where} to {near}" + (f" ({loss})" if loss else "")


def _value(where: str, allowed: tuple[str, ...]) -> str:
    if len(allowed) == 1 and " to " in allowed[0]:
        return f"set {where} to a value from {allowed[0]}"
    return f"set {where} {_one_of('to', allowed, 'those values')}"


def _one_of(verb: str, allowed: tuple[str, ...], many: str) -> str:
    if len(allowed) > MAX_CHOICES:
        return f"{verb} one of {many}" if verb == "to" else f"one of {many}"
    return f"{verb} {_either(allowed)}"


def _either(words: tuple[str, ...] | list[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def _structure(failure: Failure, spec: OperatorSpec, level: str) -> str | None:
    kind = failure.rule.rpartition(".")[2]
    where = _called(failure, spec)
    limit = _AT_MOST.search(failure.message)
    if kind == "unknown-attribute":
        return _unknown(failure.where, spec, level)
    if kind.startswith("too-many-") and limit:
        noun = kind.removeprefix("too-many-")
        return f"give {limit[0]} {noun.removesuffix('s') if limit[0].endswith(' 1') else noun}"
    if kind == "required":
        return f"give {where} {limit[0]}" if limit else f"give {where}"
    if kind == "exists":
        return f"leave {where} out" if _decides_nothing(failure, spec, level) else None
    if kind == "unknown-word":
        info = spec.fields.get(failure.where)
        words = spec.dialect.numbers(info.enum) if info is not None and info.enum else ()
        near = near_word(failure.values.get(failure.where), words)
        return near and f"set {where} to {near}"
    stated, expected = _STATED.search(failure.message), _EXPECTED.search(failure.message)
    if kind != "wrong-kind" or expected is None:
        return None
    return f"state {where} as {stated[1]}" if stated else f"give {where} {expected[1]}"


def _decides_nothing(failure: Failure, spec: OperatorSpec, level: str) -> bool:
    """Return whether removing an undefined field leaves the results unchanged.

    It does where its value is the default, and where the kernel ignores it at the levels that define it.
    """
    name = failure.where
    having = [at for at in spec.levels if spec.field_at(name, at) is not None]
    order = spec.dialect.position
    later = [at for at in having if order[at] > order[level]]
    at = later[0] if later else having[-1]
    info = spec.field_at(name, at)
    value = failure.values.get(name)
    if info is None or info.kind != "attribute":
        return False
    return (info.default is not None and value == info.default) or (
        spec.has_kernel(at) and not _computes_with(spec, name)
    )


def _computes_with(spec: OperatorSpec, name: str) -> bool:
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
    near = get_close_matches(name[:60], attributes, n=1)
    return f"rename {name} to {near[0]}, or leave it out" if near else f"leave {name} out"
