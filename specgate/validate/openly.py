"""Answers on descriptors in which something is unknown: evaluated at first, compiled for what is asked often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.rules.evaluate import UNKNOWN, Undefined
from specgate.spec.tables import on_change
from specgate.validate.facts import judge
from specgate.validate.passing import passes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.rules.evaluate import Context
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.validate.facts import Facts

    Open = Callable[[Mapping[str, Any]], Any]

__all__ = ["open_check", "taken"]

#: Compiling takes as long as what it saves so many times.
WORTH: Final = 64

_asked: dict[int, int] = {}
_compiled: dict[int, Open] = {}
_shared: dict[tuple[Any, ...], Open] = {}


@on_change
def _forget() -> None:
    _asked.clear()
    _compiled.clear()
    _shared.clear()


def taken(descriptor: Descriptor, said: Resolved, facts: Facts) -> bool | None:
    """Return whether a level's row and rules take a descriptor, None where that is undecided.

    said: what the level says of the operator; it lives as long as the tables. facts: what is known of the descriptor.
    """
    key = id(said)
    if key not in facts.answers:
        check = _compiled.get(key)
        if check is None and not said.cases:
            asked = _asked[key] = _asked.get(key, 0) + 1
            check = _kept(said) if asked > WORTH else None
        found: Any = None if check is None or descriptor.oddities else check(descriptor.fields)
        if found is None:
            found = (descriptor.plain and passes(descriptor, said, facts)) or _explained(descriptor, said, facts)
        facts.answers[key] = None if found is UNKNOWN else found
    return facts.answers[key]


def _explained(descriptor: Descriptor, said: Resolved, facts: Facts) -> Any:
    from specgate.validate.explain import explain_at  # what passes is not explained

    failures = explain_at(descriptor, said, facts, bare=True)
    certain = any(not failure.unknown for failure in failures)
    return False if certain else UNKNOWN if failures else True


def _kept(said: Resolved) -> Open:
    """Return the compiled function; levels at which the operator is the same share it."""
    content = (said.spec.dialect.name, said.spec.name, said.side, said.content)
    found = _shared.get(content)
    if found is None:
        found = _shared[content] = open_check(said)
    _compiled[id(said)] = found
    return found


def open_check(said: Resolved) -> Open:
    """Return `f(fields)` for what a level says; see `compile_open`."""
    from specgate.rules.compile_open import compile_open  # most runs ask too little

    return compile_open(said, _judged, Undefined)


def _judged(form: RuleForm, context: Context) -> Any:
    try:
        return judge(form, context)
    except Undefined as error:
        return error
