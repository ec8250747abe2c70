"""Rejection of rule patterns that match no rule, with suggestions."""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from specgate.dialects import dialect_names, is_dialect
from specgate.errors import InputError
from specgate.spec.rulebook import NODE_RULES, OWN_RULES, model_rules, other_groups, rule_names
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["expect_rule"]

_OWN = "specgate"
_MODEL = "model"
_SEGMENTS = 3


def expect_rule(pattern: str) -> None:
    """Raise InputError unless the pattern is a prefix of a rule id.

    Segments may have wildcards (see `selection.matches`).
    """
    parts = pattern.split("/")
    if len(parts) > _SEGMENTS or not all(parts):
        raise _unknown(pattern, "expected an id such as directml/GEMM/same-type, or a prefix of one")
    groups = _matching(parts[0], _groups())
    if not groups:
        raise _unknown(pattern, _near_group(pattern, parts))
    texts = [(group, "") for group in groups]
    for at, part in enumerate(parts[1:], start=1):
        if at == len(parts) - 1 and any(_matching(part, _below(*place)) for place in texts):
            return  # segment by segment, so that only the tables of matching operators are loaded
        below = {name for place in texts for name in _below(*place)}
        names = _matching(part, below)
        if not names:
            near = get_close_matches(part, sorted(below), 1) or _folded(part, below)
            raise _unknown(pattern, f"did you mean {'/'.join([*parts[:at], near[0]])}?" if near else "")
        texts = [(group, name) for group, _ in texts for name in names if name in _below(group, "")]


def _groups() -> tuple[str, ...]:
    return (*dialect_names(), *dict.fromkeys(group.partition("/")[0] for group in other_groups()), _OWN)


def _below(group: str, operator: str) -> set[str]:
    """Return the segments that may follow a group or an operator.

    operator: may also be ``model`` or ``tensor``.
    """
    if group == _OWN:
        return set(OWN_RULES) if not operator else set()
    if not is_dialect(group):
        others = other_groups()
        return set(others[f"{group}/{operator}"]) if operator else {o.partition("/")[2] for o in others}
    table = dialect(group)
    if not operator:
        return {*table.operators, _MODEL, "tensor"}
    if operator == _MODEL:
        return set(model_rules(group))
    return {*rule_names(table, operator), *NODE_RULES}


def _matching(pattern: str, names: Iterable[str]) -> list[str]:
    like = pattern.replace("[", "[[]")
    return [name for name in names if fnmatchcase(name, like)]


def _folded(part: str, names: Iterable[str]) -> list[str]:
    plain = part.replace("_", "").lower()
    return [name for name in sorted(names) if name.replace("_", "").lower() == plain]


def _near_group(pattern: str, parts: list[str]) -> str:
    """Return a suggestion for an unknown first segment.

    It may be an operator without its dialect, or a misspelled dialect.
    """
    of = [group for group in dialect_names() if _matching(parts[0], dialect(group).operators)]
    near = get_close_matches(parts[0], _groups(), 1)
    text = f"{of[0]}/{pattern}" if of else "/".join([near[0], *parts[1:]]) if near else None
    return f"did you mean {text}?" if text else f"ids begin with one of {', '.join(_groups())}"


def _unknown(pattern: str, hint: str) -> InputError:
    return InputError(f"no rule id matches {pattern!r:.100}" + (f"; {hint}" if hint else ""))
