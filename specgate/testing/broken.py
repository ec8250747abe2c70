"""Descriptors with exactly one thing wrong: the valid ones' search, with one rule or cell turned round."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from specgate.descriptors.core import Descriptor, Oddity, TensorDesc
from specgate.descriptors.positional import relaid
from specgate.descriptors.read import read_dict, write_dict
from specgate.errors import Error
from specgate.rules.evaluate import Context, evaluate
from specgate.spec.tables import dialect as tables
from specgate.testing.choices import one_of
from specgate.testing.generate import valid_descriptors
from specgate.testing.places import MAX_RANK
from specgate.testing.problem import Goal, Problem, rows_of
from specgate.testing.solve import solve
from specgate.validate.cases import NO_CASE
from specgate.validate.explain import explain_at
from specgate.validate.message import rule_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from specgate.spec.forms import Bounds, Resolved, RuleForm
    from specgate.spec.tables import OperatorSpec
    from specgate.validate.failures import Failure

__all__ = ["Broken", "BrokenDescriptors", "broken_descriptors"]

_PROBES: Final = 2
#: Searches for one draw; and to find out whether there is any hope, a few, and then some more if there seems none.
_SEARCHES: Final = 12
_PROBED: Final = (1, 4)
#: What no attribute can hold, not even one that holds a tensor or a graph.
_OF_NO_KIND: Final = {"specgate": 0}
_STRUCTURE: Final = ("required", "exists", "wrong-kind", "unknown-attribute")


@dataclass(frozen=True, slots=True)
class Broken:
    """A descriptor with one thing wrong.

    breaks: the finding's id, e.g. ``directml/ONE_HOT/axis-range`` or ``directml/ONE_HOT/IndicesTensor.type``. how: the
    finding in words. findings: every id that comes with it: more than `breaks` only where fields must agree, so that
    one illegal type is illegal in each of them, or where a rule says of the field what its support row says too.
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
    rows = [row for sides, _ in rows_of([resolved]) for row in sides]

    def made(kind: str, name: str, rule: str, scope: str = "operator") -> _Aim:
        return _Aim(kind, name, rule_id(spec.dialect.name, spec.name, rule, scope))

    loose = spec.dialect.unstated_outputs
    if resolved.cases and not _exhaustive(resolved):
        yield made("case", NO_CASE, NO_CASE)
    for name in dict.fromkeys(form.name for form in resolved.rules):
        yield made("rule", name, name)
    for name in dict.fromkeys(form.name for form in resolved.tensor_rules):
        yield made("tensor", name, name, "tensor")
    for name, info in resolved.fields.items():
        cells = [cell for row in rows if (cell := row.cells.get(name)) is not None]
        if any(cell.types is not None and set(spec.dialect.types) - set(cell.types) for cell in cells):
            yield made("type", name, f"{name}.type")
        if any(cell.ranks is not None and _breakable(cell.ranks, resolved) for cell in cells):
            yield made("rank", name, f"{name}.rank")
        if info.words is not None or any(cell.values is not None or cell.range is not None for cell in cells):
            yield made("value", name, f"{name}.value")
        if info.fuses:
            yield made("operator", name, f"{name}.operator")
        if not (info.optional or info.default is not None or (info.kind == "output" and loose)):
            yield made("required", name, f"{name}.required")
        if info.kind == "attribute":
            yield made("wrong-kind", name, f"{name}.wrong-kind")
    for name in spec.fields:
        if name not in resolved.fields:
            yield made("exists", name, f"{name}.exists")
    if not spec.raw.get("unchecked_attributes"):
        yield made("unknown-attribute", "", "unknown-attribute")


def _exhaustive(resolved: Resolved) -> bool:
    """Return whether a case holds for every word of the one attribute that decides which it is."""
    read = {name for case in resolved.cases for name in case.when.fields}
    info = resolved.fields.get(next(iter(read))) if len(read) == 1 else None
    if info is None or info.words is None:
        return False
    contexts = [Context({info.name: word}, resolved.numbers) for word in info.words]
    return all(any(evaluate(case.when, context) is True for case in resolved.cases) for context in contexts)


def _breakable(ranks: Bounds, resolved: Resolved) -> bool:
    """Return whether some rank is outside `ranks` without breaking a shared rule that is reported instead."""
    hiding = [form for form in resolved.tensor_rules if "ranks" in form.hides and form.when is None]

    def hidden(rank: int) -> bool:
        context = Context({"tensor": TensorDesc(None, (1,) * rank)}, resolved.numbers)
        return any(evaluate(form.require, context) is False for form in hiding)

    return any(rank not in ranks and not hidden(rank) for rank in range(MAX_RANK + 1))


def _goals(aim: _Aim) -> list[Goal]:
    """How far to go for it, from the mildest on: alone, with fields that must agree, with huge numbers."""
    tied = [False] if aim.kind in {"rule", "case"} else [False, True]
    wild = [False, True] if aim.kind in {"rule", "tensor"} else [False]
    kind: Any = aim.kind
    found = [Goal(kind, aim.name, tied=t, wild=w) for w in wild for t in tied]
    return found if aim.kind in {"rule", "tensor", "case"} else [*found, Goal(kind, aim.name, tied=True, echoed=True)]


class _Variant(NamedTuple):
    """One way to bring a finding about: on which tensor, with which form of the rule, by which support row."""

    slot: str | None
    form: RuleForm | None
    row: int


class BrokenDescriptors:
    """Draws near-valid descriptors of one operator at one level."""

    def __init__(self, spec: OperatorSpec, resolved: Resolved) -> None:
        self.spec = spec
        self.resolved = resolved
        self.aims = {aim.id: aim for aim in _aims(spec, resolved)}
        self._rows = rows_of([resolved])
        self._ways: dict[tuple[str, _Variant], Problem | None] = {}
        self._first: dict[str, _Variant | None] = {}

    def reachable(self, breaks: str) -> bool:
        """Return whether a descriptor was found that has this finding and nothing else wrong."""
        return self._reached(breaks) is not None

    def _reached(self, breaks: str) -> _Variant | None:
        if breaks not in self._first:
            aim = self.aims[breaks]
            variants = self._variants(aim)
            if aim.kind in _STRUCTURE:
                self._first[breaks] = variants[0] if self._works(aim, None) else None
            else:
                self._first[breaks] = next((v for v in variants if self._way(aim, v) is not None), None)
        return self._first[breaks]

    def _variants(self, aim: _Aim) -> list[_Variant]:
        slots: list[str | None] = [None]
        if aim.kind == "tensor":
            fields = self.resolved.fields.values()
            slots = [info.name if info.tensor else f"{info.name}[0]" for info in fields if "tensor" in info.type]
        forms: list[RuleForm | None] = [None]
        if aim.kind == "rule":
            forms = [form for form in self.resolved.rules if form.name == aim.name]
        rows = range(1 if self._caseless(aim) else len(self._rows))
        return [_Variant(*parts) for parts in product(slots, forms, rows)]

    def _caseless(self, aim: _Aim) -> bool:
        """Return whether no support row applies where this is wrong: it decides which one would."""
        decisive = {name for when in self.spec.whens for name in when.fields}
        return aim.kind in {"case", *_STRUCTURE} or (aim.kind == "value" and aim.name in decisive)

    def _way(self, aim: _Aim, variant: _Variant) -> Problem | None:
        """Return the mildest search that works, None where none does."""
        key = (aim.id, variant)
        if key not in self._ways:
            rows, when = ([self.resolved], None) if self._caseless(aim) else self._rows[variant.row]
            goals = [replace(goal, form=variant.form) for goal in _goals(aim)]
            problems = [Problem(rows, goal, variant.slot, when) for goal in goals]
            tries = ((problem, searches) for searches in _PROBED for problem in problems)
            self._ways[key] = next((way for way, searches in tries if self._works(aim, way, searches)), None)
        return self._ways[key]

    def _works(self, aim: _Aim, way: Problem | None, searches: int = _SEARCHES) -> bool:
        probes = (Random(seed).randint for seed in range(_PROBES))  # noqa: S311  # repeatable on purpose
        return any(self._draw(aim, way, pick, searches) is not None for pick in probes)

    @property
    def ids(self) -> list[str]:
        """The findings that can be brought about."""
        return [breaks for breaks in self.aims if self.reachable(breaks)]

    def draw(self, breaks: str, pick: Callable[[int, int], int]) -> Broken | None:
        """Return a descriptor with the finding `breaks`, None where these choices led nowhere."""
        usual = self._reached(breaks)
        if usual is None:
            return None
        aim = self.aims[breaks]
        if aim.kind in _STRUCTURE:
            return self._draw(aim, None, pick)
        way = self._way(aim, one_of(pick, self._variants(aim))) or self._way(aim, usual)
        return self._draw(aim, way, pick)

    def _draw(
        self, aim: _Aim, way: Problem | None, pick: Callable[[int, int], int], searches: int = _SEARCHES
    ) -> Broken | None:
        if way is None:
            made = self._structure(aim, pick)
            return None if made is None else self._told(aim, made)
        tied = way.goal is not None and way.goal.tied
        return solve(way, pick, lambda made: self._told(aim, made, way.echoes, tied=tied), searches)

    def _told(self, aim: _Aim, made: Descriptor, echoes: Collection[str] = (), *, tied: bool = False) -> Broken | None:
        """Return the descriptor with its findings, None where they are not what was aimed at."""
        failures = explain_at(made, self.resolved)
        certain = [failure for failure in failures if not failure.unknown]
        ids = frozenset(self._id(failure) for failure in certain)
        if aim.id not in ids:
            return None
        others = [failure for failure in certain if self._id(failure) != aim.id]
        aspect = {"tensor": "rule", "operator": "value"}.get(aim.kind, aim.kind)
        if aim.kind in _STRUCTURE:
            agreed = all(failure.aspect == "structure" for failure in others)
        else:
            agreed = len(failures) == len(certain) and (not others or tied)
            agreed = agreed and all(failure.aspect == aspect or failure.rule in echoes for failure in others)
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
        return without if aim.kind == "required" else _odd(without, Oddity("wrong-kind", aim.name, "", _OF_NO_KIND))


def _odd(descriptor: Descriptor, oddity: Oddity) -> Descriptor | None:
    """Return a descriptor with something odd in it, as its dialect's reader reports it; None where it cannot."""
    try:
        made = read_dict(write_dict(replace(descriptor, oddities=(oddity,), plain=False)), descriptor.dialect)
    except Error:
        return None
    if descriptor.layout is not None:
        made = relaid(made, tables(made.dialect).operator(made.operator), descriptor.layout)
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
