"""Campaigns: shards that draw, ask and compare in several processes."""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter, OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.conform.cases import draw_cases, pool_of, shrink, size_of
from specgate.conform.compare import accepting_sides, kind_of, verdicts_of
from specgate.conform.result import KIND_ORDER, Difference, Result, RuleCount, Tally
from specgate.conform.values import compare_values
from specgate.descriptors.read import write_dict
from specgate.dialects import capability, package
from specgate.dialects.protocols import Backend
from specgate.errors import InputError
from specgate.generate.cases import reproduce
from specgate.spec.tables import dialect as tables
from specgate.workers.pool import LostJob, Processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from specgate.conform.cases import DrawnCase
    from specgate.conform.compare import Verdicts
    from specgate.conform.result import Kind, ValueTally
    from specgate.descriptors.core import Descriptor
    from specgate.oracles.protocol import Oracle, Reply
    from specgate.spec.operator_spec import OperatorSpec

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
        for target, source in ((self.tallies, other.tallies), (self.rules, other.rules)):
            for key, numbers in source.items():
                target[key] = [a + b for a, b in zip(target.get(key, [0] * len(numbers)), numbers, strict=True)]
        for matching_key, example in other.classes.items():
            _count(self.classes, matching_key, example)


def _count(classes: dict[ClassKey, Example], key: ClassKey, example: Example) -> None:
    tally = classes.get(key)
    if tally is None:
        classes[key] = Example(example.count, example.descriptor, example.detail)
        return
    tally.count += example.count
    if size_of(example.descriptor) < size_of(tally.descriptor):
        tally.descriptor, tally.detail = example.descriptor, example.detail


_oracles: OrderedDict[tuple[str, str, str | None], Oracle] = OrderedDict()


def _oracle(dialect: str, level: str, target_level: str | None = None) -> Oracle:
    """Return the oracle of a level.

    The most recent oracles stay open for the next shard.
    """
    key = (dialect, level, target_level)
    if key not in _oracles:
        while len(_oracles) >= _OPEN_AT_ONCE:
            _oracles.popitem(last=False)[1].close()
        backend = capability(dialect, Backend)
        _oracles[key] = backend.oracle(level) if target_level is None else backend.oracle_of(target_level, level)
    _oracles.move_to_end(key)
    return _oracles[key]


def close_oracles() -> None:
    """Close the oracles that shards left open in this process."""
    while _oracles:
        with contextlib.suppress(InputError):
            _oracles.popitem()[1].close()


def run_shard(piece: Shard) -> Counts:
    """Draw, ask and compare.

    Never raises; `problem` of the result names parts that cannot be drawn or tested.
    """
    counts = Counts(piece.operator, piece.level)
    try:
        spec = tables(piece.dialect).operator(piece.operator)
        oracle = _oracle(piece.dialect, piece.level, piece.alone)
        counts.versions.update(oracle.versions)
        for aim in pool_of(spec, piece.level, piece.seed).ids:
            counts.rules[aim] = [0] * 5
        batch: list[DrawnCase] = []
        for drawn_case in draw_cases(spec, piece.level, piece.cases, piece.seed):
            batch.append(drawn_case)
            if len(batch) >= _BATCH:
                _judge_batch(spec, piece.level, oracle, batch, counts)
                batch.clear()
                if time.time() > piece.until:
                    counts.capped = True
                    return counts
        _judge_batch(spec, piece.level, oracle, batch, counts)
    except InputError as error:
        counts.problem = str(error)
    return counts


def _judge_batch(spec: OperatorSpec, level: str, oracle: Oracle, batch: Sequence[DrawnCase], counts: Counts) -> None:
    counts.cases += len(batch)
    for drawn_case, replies in zip(batch, oracle.ask([case.descriptor for case in batch]), strict=True):
        verdicts: Verdicts | None = None
        for name, reply in replies.items():
            counts.words.setdefault(name, Counter())[reply.word] += 1
            tally = counts.tallies.setdefault(name, [0, 0, 0, 0])
            result = reply.accepted
            verdicts = verdicts_of(drawn_case.descriptor, spec, level, name, oracle.versions.get(name, ""))
            page, observed = verdicts.documented.accepted, verdicts.observed.accepted
            if result is None or page is None or observed is None:
                continue
            kind = kind_of(spec, drawn_case.descriptor.version or level, name, verdicts, reply)
            for place, condition_holds in enumerate(
                (True, result, page == result, observed == result or kind == "not looked at")
            ):
                tally[place] += condition_holds
            if kind is not None:
                key = ClassKey(name, kind, verdicts.reasons(kind), reply.word)
                _count(counts.classes, key, Example(1, drawn_case.descriptor, reply.detail))
        if verdicts is not None:
            _count_rules(spec, drawn_case, verdicts, [r.accepted for r in replies.values()], counts)


def _count_rules(
    spec: OperatorSpec,
    drawn_case: DrawnCase,
    our_verdicts: Verdicts,
    reference_answers: list[bool | None],
    counts: Counts,
) -> None:
    if our_verdicts.documented.accepted and True in reference_answers:
        readers = {form.name: form.fields for form in spec.rule_forms}
        for finding, numbers in counts.rules.items():
            fields = readers.get(finding.rpartition("/")[2], ())
            numbers[0] += all(drawn_case.descriptor.fields.get(name) is not None for name in fields)
        return
    ids = our_verdicts.documented.ids
    sole = drawn_case.origin if drawn_case.origin in ids else next(iter(ids)) if len(ids) == 1 else None
    if sole is not None:
        numbers = counts.rules.setdefault(sole, [0] * 5)
        numbers[1] += 1
        numbers[2] += False in reference_answers
        numbers[3] += set(reference_answers) <= {None}
        numbers[4] += (
            our_verdicts.observed.accepted is True
            and set(reference_answers) <= {None, True}
            and True in reference_answers
        )


def shrink_example(
    dialect: str, operator: str, level: str, key: ClassKey, example: Example, deadline: float
) -> Example:
    """Return the class's example with the smallest descriptor found.

    Stops at the time `deadline`.
    """
    spec = tables(dialect).operator(operator)
    target_level = key.implementation if tables(dialect).implementations_with_targets.get(key.implementation) else None
    version = _oracle(dialect, level, target_level).versions.get(key.implementation, "")
    details: dict[str, str] = {}
    check_both = key.kind in {"recorded", "bug"}  # unexplained means unexplained by the known behaviour

    def accepted_sides(candidate: Descriptor) -> tuple[bool, ...]:
        page, observed = accepting_sides(candidate, spec, level, key.implementation, version)
        return (page, observed) if check_both else (observed,)

    answers = accepted_sides(example.descriptor)

    def is_same_difference(candidate: Descriptor, reply: Reply | None) -> bool:
        if reply is None or reply.word != key.theirs:
            return False
        verdicts = verdicts_of(candidate, spec, level, key.implementation, version)
        details[repr(candidate.fields)] = reply.detail
        candidate_level = candidate.version or level
        same_kind = kind_of(spec, candidate_level, key.implementation, verdicts, reply) == key.kind
        return same_kind and verdicts.reasons(key.kind) == key.findings

    def test_candidates(candidates: Sequence[Descriptor]) -> list[bool]:
        if time.time() > deadline:
            return [False] * len(candidates)
        confirmed = [accepted_sides(candidate) == answers for candidate in candidates]
        descriptors = [candidate for candidate, worth in zip(candidates, confirmed, strict=True) if worth]
        replies = iter(_oracle(dialect, level, target_level).ask(descriptors))
        return [
            worth and is_same_difference(candidate, next(replies).get(key.implementation))
            for candidate, worth in zip(candidates, confirmed, strict=True)
        ]

    small = shrink(example.descriptor, spec, test_candidates)
    return Example(example.count, small, details.get(repr(small.fields), example.detail))


#: Cases per shard: few enough to distribute them and to stop in time, enough to justify the start of a process.
_PIECE: Final = 5_000
#: Shrinking may use a quarter of the time of the comparison, but at least this number of seconds.
_MIN_SHRINK_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a campaign.

    cases: per operator and level. seconds: time limit. jobs: number of processes. alone: the only implementation to
    ask, which must be available as a target. versions: compare each operator only at the levels at which its table
    changes. shrink_known: also shrink the examples of recorded differences.
    """

    dialect: str
    operators: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    cases: int = 500
    seed: int = 0
    seconds: float | None = None
    jobs: int = 1
    values: bool = False
    alone: str | None = None
    versions: bool = False
    shrink_known: bool = True

    @property
    def command(self) -> str:
        """The command line that repeats the campaign."""
        words = ["specgate", "conform", self.family]
        words += [word for name in self.operators for word in ("--operator", name)]
        words += ["--level", ",".join(self.levels)] if self.levels else []
        words += ["--versions"] if self.versions else []
        words += ["--cases", str(self.cases), "--seed", str(self.seed)]
        return " ".join([*words, *(["--values"] if self.values else [])])

    @property
    def family(self) -> str:
        """The prefix of its targets: the dialect or the only implementation."""
        entry = tables(self.dialect).implementations_with_targets.get(self.alone or "")
        return self.dialect if entry is None else str(entry["target"])


def run(plan: Plan, progress: Callable[[int, int, str], object] = lambda *_: None) -> Result:
    """Run a campaign and return its result.

    progress: called with the number of finished cases, the number of all cases, and the last finished part. Raises
    InputError for an unknown operator or level, and if no implementation is available.
    """
    started = time.time()
    deadline = started + plan.seconds if plan.seconds is not None else float("inf")
    pieces, skipped = _make_shards(plan, deadline)
    merged: dict[tuple[str, str], Counts] = {}
    total, done_count = sum(piece.cases for piece in pieces), 0
    with _pool(plan.jobs) as pool:
        for piece, counts in pool(run_shard, [(piece,) for piece in pieces]):
            done_count += piece[0].cases
            merged.setdefault((counts.operator, counts.level), Counts(counts.operator, counts.level)).add(counts)
            progress(done_count, total, f"{counts.operator} {counts.level}")
        number = time.time()
        _shrink_all(plan, merged, pool, max(_MIN_SHRINK_SECONDS, min(deadline - number, (number - started) / 4)))
        values, computing = _values(plan, pieces, pool, deadline) if plan.values else ([], {})
    order = {(p.operator, p.level): index for index, p in enumerate(reversed(pieces))}
    all_counts = [merged[key] for key in sorted(merged, key=lambda key: -order[key])]
    skipped += [f"{plan.dialect}:{c.level} {c.operator}: {c.problem}" for c in all_counts if c.problem]
    return Result(
        dialect=plan.dialect,
        command=plan.command,
        seed=plan.seed,
        cases=sum(c.cases for c in all_counts),
        seconds=round(time.time() - started, 1),
        capped=any(c.capped for c in all_counts),
        versions={**_versions(all_counts), **computing},
        tallies=tuple(_tallies(all_counts)),
        differences=tuple(_differences(plan, all_counts)),
        rules=tuple(_rules(all_counts)),
        values=tuple(values),
        skipped=tuple(skipped),
    )


def _make_shards(plan: Plan, deadline: float) -> tuple[list[Shard], list[str]]:
    dialect = tables(plan.dialect)
    for level in plan.levels:
        dialect.check_level(level)
    names = [dialect.operator(name).name for name in plan.operators] or list(dialect.operators)
    owner, texts = package(plan.dialect), plan.levels or dialect.levels
    if isinstance(owner, Backend):
        levels, skipped = owner.askable(texts)
    else:
        levels, skipped = [], [f"{owner.name}:{level}: {owner.name} has no oracle" for level in texts]
    pieces = []
    for name in names:
        spec = dialect.operator(name)
        for level in levels:
            unfinished = dialect.tables.levels[level].get("unfinished") and level not in spec.rows
            result = level in spec.levels and (level in spec.rows or not plan.versions)
            if result and not unfinished:  # a partial level only counts for its new operators
                for part, first in enumerate(range(0, plan.cases, _PIECE)):
                    cases = min(_PIECE, plan.cases - first)
                    seed = f"{plan.seed}/{name}/{level}/{part}"
                    pieces.append(Shard(plan.dialect, name, level, cases, seed, deadline, plan.alone))
    if not pieces:
        raise InputError("; ".join(["no implementation is available here", *skipped]))
    return sorted(pieces, key=lambda p: (dialect.position[p.level], names.index(p.operator))), skipped


@contextmanager
def _pool(jobs: int) -> Iterator[Callable[[Callable[..., Any], Sequence[Any]], Iterator[tuple[Any, Any]]]]:
    """Yield a function that maps a function over tuples of arguments.

    The yielded function returns an iterator of (arguments, answer).
    """
    if jobs == 1:
        try:
            yield lambda function, items: ((item, function(*item)) for item in items)
        finally:
            close_oracles()
        return
    with Processes(_call, jobs or os.cpu_count() or 1) as workers:

        def zip_answers(function: Callable[..., Any], items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
            for item, answer in zip(items, workers.answers([(function, item) for item in items]), strict=True):
                if isinstance(answer, LostJob):
                    raise answer.error or InputError(answer.reason)
                yield item, answer

        yield zip_answers


def _call(job: tuple[Callable[..., Any], Sequence[Any]]) -> Any:
    function, arguments = job
    return function(*arguments)


def _shrink_all(plan: Plan, merged: dict[tuple[str, str], Counts], pool: Any, seconds: float) -> None:
    """Shrink one example per class, unexplained classes first.

    The example is checked at the first of the levels that share the class.
    """
    deadline = time.time() + seconds
    pairs_by_key: dict[tuple[str, ClassKey], tuple[str, Example]] = {}
    for (operator, level), counts in merged.items():
        for key, example in counts.classes.items():
            if key.kind == "unexplained" or (plan.shrink_known and key.kind != "not looked at"):
                pairs_by_key.setdefault((operator, key), (level, example))
    pairs = sorted(pairs_by_key.items(), key=lambda item: KIND_ORDER.index(item[0][1].kind))
    items = [(plan.dialect, operator, level, key, example, deadline) for (operator, key), (level, example) in pairs]
    for (_, operator, level, key, _, _), example in pool(shrink_example, items):
        merged[operator, level].classes[key] = example


def _values(plan: Plan, pieces: Sequence[Shard], pool: Any, deadline: float) -> tuple[list[ValueTally], dict[str, str]]:
    expected_entries = dict.fromkeys((p.operator, p.level) for p in pieces)
    items = [(plan.dialect, operator, level, plan.cases, plan.seed, deadline) for operator, level in expected_entries]
    entries = {(item[1], item[2]): answer for item, answer in pool(compare_values, items)}
    tallies = [tally for key in expected_entries for tally in entries[key][0]]
    return tallies, {name: version for key in expected_entries for name, version in entries[key][1].items()}


def _versions(all_counts: Iterable[Counts]) -> dict[str, str]:
    """Return implementation -> version.

    If the version depends on the level, it is listed with each of its levels.
    """
    entries: dict[str, dict[str, list[str]]] = {}
    for counts in all_counts:
        for name, version in counts.versions.items():
            levels = entries.setdefault(name, {}).setdefault(version, [])
            if counts.level not in levels:
                levels.append(counts.level)
    return {
        name if len(versions) == 1 else f"{name} {', '.join(levels)}": version
        for name, versions in entries.items()
        for version, levels in versions.items()
    }


def _tallies(all_counts: Iterable[Counts]) -> Iterator[Tally]:
    for counts in all_counts:
        for name, words in counts.words.items():
            cases, accepted_count, documented, observed = counts.tallies.get(name, [0, 0, 0, 0])
            yield Tally(counts.operator, counts.level, name, cases, accepted_count, documented, observed, dict(words))


def _differences(plan: Plan, all_counts: Iterable[Counts]) -> list[Difference]:
    """Return the classes, unexplained and frequent ones first.

    Classes that several levels share are merged.
    """
    shared: dict[tuple[str, ClassKey], list[tuple[str, Example]]] = {}
    for counts in all_counts:
        for key, example in counts.classes.items():
            shared.setdefault((counts.operator, key), []).append((counts.level, example))
    differences = []
    for (operator, key), members in shared.items():
        level, example = min(members, key=lambda member: size_of(member[1].descriptor))  # at least one was shrunk
        differences.append(
            Difference(
                operator=operator,
                level=", ".join(level for level, _ in members),
                implementation=key.implementation,
                kind=key.kind,
                findings=key.findings,
                theirs=key.theirs,
                detail=example.detail,
                count=sum(example.count for _, example in members),
                descriptor=write_dict(example.descriptor),
                command=reproduce(example.descriptor, f"{plan.dialect}:{level}"),
            )
        )
    return sorted(
        differences, key=lambda d: (KIND_ORDER.index(d.kind), -d.count, d.operator, d.implementation, d.findings)
    )


def _rules(all_counts: Iterable[Counts]) -> Iterator[RuleCount]:
    for counts in all_counts:
        for finding, numbers in counts.rules.items():
            yield RuleCount(counts.operator, counts.level, finding, *numbers)
