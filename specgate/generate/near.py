"""Descriptors with exactly one thing wrong: valid ones and the table's counterexamples, changed until it is so.

For each finding a few such descriptors are looked for once. Each draw starts from one of them, or from a valid one, and
goes on as long as nothing else fails.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from specgate.descriptors.core import Descriptor, Malformed
from specgate.descriptors.positional import reordered_for
from specgate.descriptors.read import read_dict, write_dict
from specgate.errors import Error
from specgate.generate.aims import STRUCTURE, Aim, aims_of
from specgate.generate.breaks import broken_by
from specgate.generate.moves import Mutator
from specgate.generate.picks import one_of
from specgate.generate.seeds import concrete, counterexamples_at
from specgate.generate.walk import valid_descriptors
from specgate.spec.tables import dialect as tables
from specgate.validate.check import accepts
from specgate.validate.explain import explain_at
from specgate.validate.message import rule_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from specgate.spec.forms import Resolved
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.validate.failures import Failure

__all__ = ["BrokenDescriptors", "NearMiss", "broken_descriptors"]

#: What no attribute can hold, not even one that holds a tensor or a graph.
_OF_NO_KIND: Final = {"specgate": 0}
#: Random changes while there is a finding that no descriptor has; attempts for each finding before them.
_EXPLORED: Final = 300
_AIMED: Final = 60
#: Of them, how many where a descriptor was found that has other findings too: of a cell, of what rules say.
_ALONE: Final = (6, 15)
_STRUCTURAL: Final = 4
#: Descriptors that are kept for a finding.
_KEPT: Final = 8
#: Steps of one draw at most.
_STEPS: Final = 3
_CELLS: Final = frozenset({"type", "rank", "value", "operator"})
_ASPECTS: Final = {"tensor": "rule", "case": "rule", "operator": "value"}


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A descriptor with one thing wrong.

    breaks: the finding's id, e.g. ``directml/ONE_HOT/axis-range`` or ``directml/ONE_HOT/IndicesTensor.type``. how: the
    finding in words. findings: every id that comes with it: more than `breaks` only where fields must agree, so that
    one illegal type is illegal in each of them, or where a rule says of the field what its support row says too.
    """

    descriptor: Descriptor
    breaks: str
    how: str
    findings: frozenset[str] = field(default_factory=frozenset)


class BrokenDescriptors:
    """Draws near-valid descriptors of one operator at one level."""

    def __init__(self, spec: OperatorSpec, resolved: Resolved) -> None:
        self.spec = spec
        self.resolved = resolved
        self.aims = {aim.id: aim for aim in aims_of(spec, resolved)}
        self.valid = valid_descriptors(spec, resolved.level, proven=False)
        #: For each finding, by how little else comes with it, descriptors that have it.
        self._found: dict[str, dict[int, list[NearMiss]]] = {}
        if self.valid.found:
            self._explore(Random(f"{spec.name} broken").randint)  # noqa: S311  # repeatable on purpose

    def reachable(self, breaks: str) -> bool:
        """Return whether a descriptor was found that has this finding and nothing else wrong."""
        return bool(self._found.get(breaks))

    @property
    def ids(self) -> list[str]:
        """The findings that can be brought about."""
        return [breaks for breaks in self.aims if self.reachable(breaks)]

    def draw(self, breaks: str, pick: Callable[[int, int], int]) -> NearMiss | None:
        """Return a descriptor with the finding `breaks`, None where none was found when this was made."""
        if not self.reachable(breaks):
            return None
        aim = self.aims[breaks]
        grade = min(self._found[breaks])
        made = one_of(pick, self._found[breaks][grade])
        if aim.kind in STRUCTURE:
            fresh = self._structure(aim, self.valid.draw(pick), pick)
            return (None if fresh is None else self._shown(aim, fresh, grade)) or made
        if aim.kind in _CELLS and pick(0, 1):
            base = self.valid.draw(pick)
            attempt = next(broken_by(aim, base, self.resolved, pick), None)
            return (None if attempt is None else self._shown(aim, attempt, grade)) or made
        mover = self._mover(pick)
        for _ in range(pick(0, _STEPS)):
            moved = mover.moved(made.descriptor, 1)
            if moved is not made.descriptor and self.valid.small(moved) >= self.valid.small(made.descriptor):
                made = self._shown(aim, moved, grade) or made
        return made

    def _mover(self, pick: Callable[[int, int], int]) -> Mutator:
        return Mutator(self.spec, pick, self.valid.numbers, self.valid.found, self.valid.types)

    def _explore(self, pick: Callable[[int, int], int]) -> None:
        for made in counterexamples_at(self.spec, self.resolved.level):
            self._sort_in(concrete(made))
        for aim in self.aims.values():
            for attempt in range(_STRUCTURAL if aim.kind in STRUCTURE else _AIMED):
                grades = self._found.get(aim.id, ())
                if 0 in grades or (grades and attempt >= _ALONE[aim.kind not in _CELLS]):
                    break
                base = one_of(pick, self.valid.found)
                if aim.kind in STRUCTURE:
                    damaged = self._structure(aim, base, pick)
                    self._keep(aim, [] if damaged is None else [damaged])
                else:
                    self._keep(aim, broken_by(aim, base, self.resolved, pick))
        self._explore_at_random(pick)

    def _explore_at_random(self, pick: Callable[[int, int], int]) -> None:
        """Take steps from valid descriptors while a finding is on none, or a rule's on none alone."""
        wild = Mutator(self.spec, pick, self.valid.numbers, self.valid.found)
        sought = [aim for aim in self.aims.values() if aim.kind not in STRUCTURE]
        for _ in range(_EXPLORED):
            if all(map(self._is_shown, sought)):
                return
            self._sort_in(wild.moved(one_of(pick, self.valid.found), 1))

    def _is_shown(self, aim: Aim) -> bool:
        grades = self._found.get(aim.id, {})
        return bool(grades) if aim.kind in _CELLS else 0 in grades

    def _sort_in(self, made: Descriptor) -> None:
        """Keep a descriptor for the one finding that it has, if it has one."""
        if accepts(made, self.resolved.level, "documented") is not False:
            return
        failures = explain_at(made, self.resolved)
        ids = {self._id(failure) for failure in failures}
        if len(ids) == 1 and not any(failure.unknown for failure in failures):
            (only,) = ids
            if only in self.aims:
                self._add(self.aims[only], made, failures, 0)

    def _keep(self, aim: Aim, attempts: Iterable[Descriptor]) -> None:
        for made in attempts:
            failures, grade = self._graded(aim, made)
            if grade is not None:
                self._add(aim, made, failures, grade)
                if grade == 0:
                    return

    def _add(self, aim: Aim, made: Descriptor, failures: list[Failure], grade: int) -> None:
        kept = self._found.setdefault(aim.id, {}).setdefault(grade, [])
        if len(kept) < _KEPT:
            kept.append(self._broken(aim, made, failures))

    def _shown(self, aim: Aim, made: Descriptor, grade: int) -> NearMiss | None:
        """Return the descriptor with its findings, None where they are not what was aimed at, or more than `grade`."""
        failures, found = self._graded(aim, made)
        return self._broken(aim, made, failures) if found is not None and found <= grade else None

    def _graded(self, aim: Aim, made: Descriptor) -> tuple[list[Failure], int | None]:
        """Return what fails and how much of it beside the aim, None where it is not what was aimed at."""
        if aim.kind not in STRUCTURE and accepts(made, self.resolved.level, "documented") is not False:
            return [], None
        failures = explain_at(made, self.resolved)
        return failures, self._grade(aim, failures)

    def _broken(self, aim: Aim, made: Descriptor, failures: list[Failure]) -> NearMiss:
        certain = [failure for failure in failures if not failure.unknown]
        how = "; ".join(dict.fromkeys(failure.message for failure in certain))
        return NearMiss(made, aim.id, how, frozenset(self._id(failure) for failure in certain))

    def _grade(self, aim: Aim, failures: list[Failure]) -> int | None:
        """Return how much else fails: 0 for nothing, 1 for the same part of other fields, 2 for rules about it too."""
        certain = [failure for failure in failures if not failure.unknown]
        others = [failure for failure in certain if self._id(failure) != aim.id]
        if len(others) == len(certain):
            return None
        if aim.kind in STRUCTURE:
            return 0 if all(failure.aspect == "structure" for failure in others) else None
        if len(failures) > len(certain):
            return None
        if not others:
            return 0
        aspect = _ASPECTS.get(aim.kind, aim.kind)
        if aim.kind in {"rule", "case"}:
            return None
        if all(failure.aspect == aspect for failure in others):
            return 1
        about = {form.name for form in self.resolved.rules if aim.name in form.fields}
        about |= {form.name for case in self.resolved.cases for form in case.resolved.rules if aim.name in form.fields}
        return 2 if all(failure.aspect == aspect or failure.rule in about for failure in others) else None

    def _id(self, failure: Failure) -> str:
        return rule_id(self.spec.dialect.name, self.spec.name, failure.rule, failure.scope)

    def _structure(self, aim: Aim, valid: Descriptor, pick: Callable[[int, int], int]) -> Descriptor | None:
        """Leave something out of a valid descriptor, or add something that is not the operator's."""
        if aim.kind == "exists":
            info = self.spec.fields[aim.name]
            value: Any = one_of(pick, info.words) if info.words else info.default
            return None if value is None else replace(valid, fields={**valid.fields, aim.name: value}, plain=False)
        if aim.kind == "unknown-attribute":
            return _odd(valid, Malformed("unknown-attribute", f"unknown_{pick(0, 9)}", "", pick(0, 9)))
        rest = {name: value for name, value in valid.fields.items() if name != aim.name}
        without = replace(valid, fields=rest, plain=False)
        return without if aim.kind == "required" else _odd(without, Malformed("wrong-kind", aim.name, "", _OF_NO_KIND))


def _odd(descriptor: Descriptor, oddity: Malformed) -> Descriptor | None:
    """Return a descriptor with something odd in it, as its dialect's reader reports it; None where it cannot."""
    try:
        made = read_dict(write_dict(replace(descriptor, oddities=(oddity,), plain=False)), descriptor.dialect)
    except Error:
        return None
    if descriptor.layout is not None:
        made = reordered_for(made, tables(made.dialect).operator(made.operator), descriptor.layout)
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
