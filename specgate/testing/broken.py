"""Descriptors with exactly one thing wrong: the valid ones' search, with one rule or cell turned round."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from specgate.descriptors.core import Descriptor, Oddity, TensorDesc
from specgate.descriptors.read import read_dict, write_dict
from specgate.errors import Error
from specgate.rules.evaluate import Context, evaluate
from specgate.testing.choices import one_of
from specgate.testing.generate import valid_descriptors
from specgate.testing.problem import MAX_RANK, Goal, Problem
from specgate.testing.solve import solve
from specgate.validate.explain import explain_at
from specgate.validate.message import rule_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specgate.spec.forms import Bounds, Resolved
    from specgate.spec.tables import OperatorSpec
    from specgate.validate.explain import Failure

__all__ = ["Broken", "BrokenDescriptors", "broken_descriptors"]

_PROBES: Final = 2
_STRUCTURE: Final = ("required", "exists", "wrong-kind", "unknown-attribute")


@dataclass(frozen=True, slots=True)
class Broken:
    """A descriptor with one thing wrong.

    breaks: the finding's id, e.g. ``directml/ONE_HOT/axis-range`` or ``directml/ONE_HOT/IndicesTensor.type``. how: the
    finding in words. findings: every id that comes with it: more than `breaks` only where fields must agree, so that
    one illegal type is illegal in each of them.
    """

    descriptor: Descriptor
    breaks: str
    how: str
    findings: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class _Aim:
    """One finding to bring about. kind: of a `Goal`, or one of structure; name: the rule or field."""

    kind: str
    name: str
    id: str


def _aims(spec: OperatorSpec, resolved: Resolved) -> Iterator[_Aim]:
    """Yield every finding that the checks at one level can raise."""

    def made(kind: str, name: str, rule: str, scope: str = "operator") -> _Aim:
        return _Aim(kind, name, rule_id(spec.dialect.name, spec.name, rule, scope))

    loose = spec.dialect.unstated_outputs
    for name in dict.fromkeys(form.name for form in resolved.rules):
        yield made("rule", name, name)
    for name in dict.fromkeys(form.name for form in resolved.tensor_rules):
        yield made("tensor", name, name, "tensor")
    for name, info in resolved.fields.items():
        cell = resolved.cells.get(name)
        if cell is not None and cell.types is not None and set(spec.dialect.types) - set(cell.types):
            yield made("type", name, f"{name}.type")
        if cell is not None and cell.ranks is not None and _breakable(cell.ranks, resolved):
            yield made("rank", name, f"{name}.rank")
        if info.words is not None or (cell is not None and (cell.values is not None or cell.range is not None)):
            yield made("value", name, f"{name}.value")
        if not (info.optional or info.default is not None or (info.kind == "output" and loose)):
            yield made("required", name, f"{name}.required")
        if info.kind == "attribute":
            yield made("wrong-kind", name, f"{name}.wrong-kind")
    for name in spec.fields:
        if name not in resolved.fields:
            yield made("exists", name, f"{name}.exists")
    yield made("unknown-attribute", "", "unknown-attribute")


def _breakable(ranks: Bounds, resolved: Resolved) -> bool:
    """Return whether some rank is outside `ranks` without breaking a shared rule that is reported instead."""
    hiding = [form for form in resolved.tensor_rules if "ranks" in form.hides and form.when is None]

    def hidden(rank: int) -> bool:
        context = Context({"tensor": TensorDesc(None, (1,) * rank)}, resolved.numbers)
        return any(evaluate(form.require, context) is False for form in hiding)

    return any(rank not in ranks and not hidden(rank) for rank in range(MAX_RANK + 1))


def _goals(aim: _Aim) -> list[Goal]:
    """How far to go for it, from the mildest on: alone, with fields that must agree, with huge numbers."""
    tied = [False] if aim.kind == "rule" else [False, True]
    wild = [False, True] if aim.kind in {"rule", "tensor"} else [False]
    return [Goal(aim.kind, aim.name, tied=t, wild=w) for w in wild for t in tied]  # type: ignore[arg-type]


class BrokenDescriptors:
    """Draws near-valid descriptors of one operator at one level."""

    def __init__(self, spec: OperatorSpec, resolved: Resolved) -> None:
        self.spec = spec
        self.resolved = resolved
        self.aims = {aim.id: aim for aim in _aims(spec, resolved)}
        self._ways: dict[str, list[Problem | None]] = {}

    def ways(self, breaks: str) -> list[Problem | None]:
        """Return the searches that bring a finding about, none if nothing brings it about alone at this level."""
        if breaks not in self._ways:
            aim = self.aims[breaks]
            if aim.kind in _STRUCTURE:
                self._ways[breaks] = [None] if self._works(aim, None) else []
            else:
                slots = Problem([self.resolved]).slots() if aim.kind == "tensor" else [None]
                found = (self._way(aim, slot) for slot in slots if slot is None or "[" not in slot)
                self._ways[breaks] = [problem for problem in found if problem is not None]
        return self._ways[breaks]

    def _way(self, aim: _Aim, slot: str | None) -> Problem | None:
        problems = (Problem([self.resolved], goal, slot) for goal in _goals(aim))
        return next((problem for problem in problems if self._works(aim, problem)), None)

    def _works(self, aim: _Aim, way: Problem | None) -> bool:
        probes = (Random(seed).randint for seed in range(_PROBES))  # noqa: S311  # repeatable on purpose
        return any(self._draw(aim, way, pick) is not None for pick in probes)

    @property
    def ids(self) -> list[str]:
        """The findings that can be brought about."""
        return [breaks for breaks in self.aims if self.ways(breaks)]

    def draw(self, breaks: str, pick: Callable[[int, int], int]) -> Broken | None:
        """Return a descriptor with the finding `breaks`, None where these choices led nowhere."""
        ways = self.ways(breaks)
        return self._draw(self.aims[breaks], one_of(pick, ways), pick) if ways else None

    def _draw(self, aim: _Aim, way: Problem | None, pick: Callable[[int, int], int]) -> Broken | None:
        if way is None:
            made = self._structure(aim, pick)
            return None if made is None else self._told(aim, made, tied=False)
        tied = way.goal is not None and way.goal.tied
        return solve(way, pick, lambda made: self._told(aim, made, tied=tied))

    def _told(self, aim: _Aim, made: Descriptor, *, tied: bool) -> Broken | None:
        """Return the descriptor with its findings, None where they are not what was aimed at."""
        failures = explain_at(made, self.resolved)
        certain = [failure for failure in failures if not failure.unknown]
        ids = frozenset(self._id(failure) for failure in certain)
        if aim.id not in ids:
            return None
        others = [failure for failure in certain if self._id(failure) != aim.id]
        if aim.kind in _STRUCTURE:
            agreed = all(failure.aspect == "structure" for failure in others)
        else:
            agreed = len(failures) == len(certain) and (not others or tied)
            agreed = agreed and all(failure.aspect == aim.kind for failure in others)
        if not agreed:
            return None
        how = "; ".join(dict.fromkeys(failure.message for failure in certain))
        return Broken(made, aim.id, how, ids)

    def _id(self, failure: Failure) -> str:
        return rule_id(self.spec.dialect.name, self.spec.name, failure.rule, failure.scope)

    def _structure(self, aim: _Aim, pick: Callable[[int, int], int]) -> Descriptor | None:
        """Take a valid descriptor, and leave something out or add something that is not the operator's."""
        valid = valid_descriptors(self.spec, self.resolved.level).draw(pick)
        if valid is None:
            return None
        if aim.kind == "exists":
            info = self.spec.fields[aim.name]
            value: Any = info.words[pick(0, len(info.words) - 1)] if info.words else info.default
            return None if value is None else replace(valid, fields={**valid.fields, aim.name: value}, plain=False)
        if aim.kind == "unknown-attribute":
            return _odd(valid, Oddity("unknown-attribute", f"unknown_{pick(0, 9)}", "", pick(0, 9)))
        rest = {name: value for name, value in valid.fields.items() if name != aim.name}
        without = replace(valid, fields=rest, plain=False)
        return without if aim.kind == "required" else _odd(without, Oddity("wrong-kind", aim.name, "", {}))


def _odd(descriptor: Descriptor, oddity: Oddity) -> Descriptor | None:
    """Return a descriptor with something odd in it, as its dialect's reader tells it; None where none can be told."""
    try:
        made = read_dict(write_dict(replace(descriptor, oddities=(oddity,), plain=False)), descriptor.dialect)
    except Error:
        return None
    return made if made.oddities else None


_known: WeakKeyDictionary[OperatorSpec, dict[str, BrokenDescriptors]] = WeakKeyDictionary()


def broken_descriptors(spec: OperatorSpec, level: str) -> BrokenDescriptors:
    """Return what draws near-valid descriptors of `spec` at `level`; made once."""
    kept = _known.setdefault(spec, {})
    if level not in kept:
        resolved = spec.resolve(level)
        if resolved is None:
            raise ValueError(f"{spec.name} does not exist at {level}")
        kept[level] = BrokenDescriptors(spec, resolved)
    return kept[level]
