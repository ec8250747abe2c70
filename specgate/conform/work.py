"""One shard of a campaign in a worker: draw, ask, compare, count.

Also shrinks single examples.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.conform.compare import kind_of, our_verdict, sides_taken
from specgate.conform.drawing import draw_cases, pool_of
from specgate.conform.shrink import shrink, size_of
from specgate.dialects import capability
from specgate.dialects.protocols import Backend
from specgate.errors import InputError
from specgate.spec.tables import dialect as tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.conform.compare import Verdicts
    from specgate.conform.drawing import Drawn
    from specgate.conform.result import Kind
    from specgate.descriptors.core import Descriptor
    from specgate.oracles.protocol import Oracle, Reply
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["ClassKey", "Counts", "Example", "Shard", "close_oracles", "run_shard", "shrink_example"]

#: Descriptors per batch; the time limit is checked between batches.
_BATCH: Final = 250
_OPEN_AT_ONCE: Final = 2


class Shard(NamedTuple):
    """Descriptors of one operator at one level to draw.

    until: when to stop, as `time.time`.
    """

    dialect: str
    operator: str
    level: str
    cases: int
    seed: str
    until: float
    alone: str | None = None  # the only implementation to ask


class ClassKey(NamedTuple):
    """The key that disagreements of one class have in common."""

    implementation: str
    kind: Kind
    findings: tuple[str, ...]
    theirs: str


@dataclass(slots=True)
class Example:
    """The count of a class, its smallest descriptor, and the reply to it."""

    count: int
    descriptor: Descriptor
    detail: str


@dataclass(slots=True)
class Counts:
    """The counts over some descriptors of one operator at one level."""

    operator: str
    level: str
    cases: int = 0
    capped: bool = False
    problem: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    words: dict[str, Counter[str]] = field(default_factory=dict)
    #: Per implementation: verdicts, acceptances, agreements with the documentation, agreements with known behaviour.
    tallies: dict[str, list[int]] = field(default_factory=dict)
    classes: dict[ClassKey, Example] = field(default_factory=dict)
    #: Per finding: accepted cases to which it applies, cases that it alone rejects, and how many of the latter the
    #: other side rejects, has no verdict on, and is known to accept.
    rules: dict[str, list[int]] = field(default_factory=dict)

    def add(self, other: Counts) -> None:
        """Add the counts of another shard of the same operator and level."""
        self.cases += other.cases
        self.capped = self.capped or other.capped
        self.problem = self.problem or other.problem
        self.versions.update(other.versions)
        for name, words in other.words.items():
            self.words.setdefault(name, Counter()).update(words)
        for mine, theirs in ((self.tallies, other.tallies), (self.rules, other.rules)):
            for key, numbers in theirs.items():
                mine[key] = [a + b for a, b in zip(mine.get(key, [0] * len(numbers)), numbers, strict=True)]
        for matching_key, example in other.classes.items():
            _count(self.classes, matching_key, example)


def _count(classes: dict[ClassKey, Example], key: ClassKey, example: Example) -> None:
    known = classes.get(key)
    if known is None:
        classes[key] = Example(example.count, example.descriptor, example.detail)
        return
    known.count += example.count
    if size_of(example.descriptor) < size_of(known.descriptor):
        known.descriptor, known.detail = example.descriptor, example.detail


_oracles: OrderedDict[tuple[str, str, str | None], Oracle] = OrderedDict()


def _oracle(dialect: str, level: str, alone: str | None = None) -> Oracle:
    """Return the oracle of a level.

    The most recent oracles stay open for the next shard.
    """
    key = (dialect, level, alone)
    if key not in _oracles:
        while len(_oracles) >= _OPEN_AT_ONCE:
            _oracles.popitem(last=False)[1].close()
        backend = capability(dialect, Backend)
        _oracles[key] = backend.oracle(level) if alone is None else backend.oracle_of(alone, level)
    _oracles.move_to_end(key)
    return _oracles[key]


def close_oracles() -> None:
    """Close the oracles that shards left open in this process."""
    while _oracles:
        with contextlib.suppress(InputError):
            _oracles.popitem()[1].close()


def run_shard(piece: Shard) -> Counts:
    """Draw, ask and compare.

    Never raises; `problem` of the result contains what cannot be drawn or asked.
    """
    counts = Counts(piece.operator, piece.level)
    try:
        spec = tables(piece.dialect).operator(piece.operator)
        oracle = _oracle(piece.dialect, piece.level, piece.alone)
        counts.versions.update(oracle.versions)
        for aim in pool_of(spec, piece.level, piece.seed).ids:
            counts.rules[aim] = [0] * 5
        batch: list[Drawn] = []
        for drawn in draw_cases(spec, piece.level, piece.cases, piece.seed):
            batch.append(drawn)
            if len(batch) >= _BATCH:
                _judge(spec, piece.level, oracle, batch, counts)
                batch.clear()
                if time.time() > piece.until:
                    counts.capped = True
                    return counts
        _judge(spec, piece.level, oracle, batch, counts)
    except InputError as error:
        counts.problem = str(error)
    return counts


def _judge(spec: OperatorSpec, level: str, oracle: Oracle, batch: Sequence[Drawn], counts: Counts) -> None:
    counts.cases += len(batch)
    for drawn, replies in zip(batch, oracle.ask([drawn.descriptor for drawn in batch]), strict=True):
        verdicts: Verdicts | None = None
        for name, reply in replies.items():
            counts.words.setdefault(name, Counter())[reply.word] += 1
            tally = counts.tallies.setdefault(name, [0, 0, 0, 0])
            result = reply.accepted
            verdicts = our_verdict(drawn.descriptor, spec, level, name, oracle.versions.get(name, ""))
            page, known = verdicts.documented.accepted, verdicts.observed.accepted
            if result is None or page is None or known is None:
                continue
            kind = kind_of(spec, drawn.descriptor.version or level, name, verdicts, reply)
            for place, holds in enumerate((True, result, page == result, known == result or kind == "not looked at")):
                tally[place] += holds
            if kind is not None:
                key = ClassKey(name, kind, verdicts.reasons(kind), reply.word)
                _count(counts.classes, key, Example(1, drawn.descriptor, reply.detail))
        if verdicts is not None:
            _count_rules(spec, drawn, verdicts, [r.accepted for r in replies.values()], counts)


def _count_rules(spec: OperatorSpec, drawn: Drawn, ours: Verdicts, theirs: list[bool | None], counts: Counts) -> None:
    if ours.documented.accepted and True in theirs:
        readers = {form.name: form.fields for form in spec.rule_forms}
        for finding, numbers in counts.rules.items():
            fields = readers.get(finding.rpartition("/")[2], ())
            numbers[0] += all(drawn.descriptor.fields.get(name) is not None for name in fields)
        return
    ids = ours.documented.ids
    sole = drawn.origin if drawn.origin in ids else next(iter(ids)) if len(ids) == 1 else None
    if sole is not None:
        numbers = counts.rules.setdefault(sole, [0] * 5)
        numbers[1] += 1
        numbers[2] += False in theirs
        numbers[3] += set(theirs) <= {None}
        numbers[4] += ours.observed.accepted is True and set(theirs) <= {None, True} and True in theirs


def shrink_example(dialect: str, operator: str, level: str, key: ClassKey, example: Example, until: float) -> Example:
    """Return the class's example with the smallest descriptor found.

    Stops at the time `until`.
    """
    spec = tables(dialect).operator(operator)
    alone = key.implementation if tables(dialect).implementations_with_targets.get(key.implementation) else None
    version = _oracle(dialect, level, alone).versions.get(key.implementation, "")
    details: dict[str, str] = {}
    both = key.kind in {"recorded", "bug"}  # unexplained means unexplained by the known behaviour

    def accepted_sides(candidate: Descriptor) -> tuple[bool, ...]:
        page, known = sides_taken(candidate, spec, level, key.implementation, version)
        return (page, known) if both else (known,)

    answers = accepted_sides(example.descriptor)

    def alike(candidate: Descriptor, reply: Reply | None) -> bool:
        if reply is None or reply.word != key.theirs:
            return False
        verdicts = our_verdict(candidate, spec, level, key.implementation, version)
        details[repr(candidate.fields)] = reply.detail
        at = candidate.version or level
        same_kind = kind_of(spec, at, key.implementation, verdicts, reply) == key.kind
        return same_kind and verdicts.reasons(key.kind) == key.findings

    def same(candidates: Sequence[Descriptor]) -> list[bool]:
        if time.time() > until:
            return [False] * len(candidates)
        likely = [accepted_sides(candidate) == answers for candidate in candidates]
        descriptors = [candidate for candidate, worth in zip(candidates, likely, strict=True) if worth]
        replies = iter(_oracle(dialect, level, alone).ask(descriptors))
        return [
            worth and alike(candidate, next(replies).get(key.implementation))
            for candidate, worth in zip(candidates, likely, strict=True)
        ]

    small = shrink(example.descriptor, spec, same)
    return Example(example.count, small, details.get(repr(small.fields), example.detail))
