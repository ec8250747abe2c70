"""Campaigns: run shards in several processes and collect a result."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from specgate.conform.result import Difference, Result, RuleCount, Tally
from specgate.conform.shrink import size_of
from specgate.conform.values import compare_values
from specgate.conform.work import ClassKey, Counts, Example, Shard, close_oracles, run_shard, shrink_example
from specgate.descriptors.read import write_dict
from specgate.dialects import package
from specgate.dialects.protocols import Backend
from specgate.errors import InputError
from specgate.generate.cases import reproduce
from specgate.spec.tables import dialect as tables
from specgate.workers.lost import Lost
from specgate.workers.pool import Processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from specgate.conform.result import ValueTally

__all__ = ["Plan", "run"]

#: Cases per shard: few enough to distribute them and to stop in time, enough to justify the start of a process.
_PIECE: Final = 5_000
#: Shrinking may use a quarter of the time of the comparison, but at least this number of seconds.
_SHRINK_SECONDS: Final = 60.0
_KIND_ORDER: Final = ("unexplained", "bug", "recorded", "not looked at")


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
    until = started + plan.seconds if plan.seconds is not None else float("inf")
    pieces, skipped = _pieces(plan, until)
    merged: dict[tuple[str, str], Counts] = {}
    total, done = sum(piece.cases for piece in pieces), 0
    with _pool(plan.jobs) as each:
        for piece, counts in each(run_shard, [(piece,) for piece in pieces]):
            done += piece[0].cases
            merged.setdefault((counts.operator, counts.level), Counts(counts.operator, counts.level)).add(counts)
            progress(done, total, f"{counts.operator} {counts.level}")
        number = time.time()
        _shrink_all(plan, merged, each, max(_SHRINK_SECONDS, min(until - number, (number - started) / 4)))
        values, computing = _values(plan, pieces, each, until) if plan.values else ([], {})
    order = {(p.operator, p.level): index for index, p in enumerate(reversed(pieces))}
    counted = [merged[key] for key in sorted(merged, key=lambda key: -order[key])]
    skipped += [f"{plan.dialect}:{c.level} {c.operator}: {c.problem}" for c in counted if c.problem]
    return Result(
        dialect=plan.dialect,
        command=plan.command,
        seed=plan.seed,
        cases=sum(c.cases for c in counted),
        seconds=round(time.time() - started, 1),
        capped=any(c.capped for c in counted),
        versions={**_versions(counted), **computing},
        tallies=tuple(_tallies(counted)),
        differences=tuple(_differences(plan, counted)),
        rules=tuple(_rules(counted)),
        values=tuple(values),
        skipped=tuple(skipped),
    )


def _pieces(plan: Plan, until: float) -> tuple[list[Shard], list[str]]:
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
                    pieces.append(Shard(plan.dialect, name, level, cases, seed, until, plan.alone))
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

        def each(function: Callable[..., Any], items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
            for item, answer in zip(items, workers.answers([(function, item) for item in items]), strict=True):
                if isinstance(answer, Lost):
                    raise answer.error or InputError(answer.reason)
                yield item, answer

        yield each


def _call(job: tuple[Callable[..., Any], Sequence[Any]]) -> Any:
    function, arguments = job
    return function(*arguments)


def _shrink_all(plan: Plan, merged: dict[tuple[str, str], Counts], each: Any, seconds: float) -> None:
    """Shrink one example per class, unexplained classes first.

    The example is checked at the first of the levels that share the class.
    """
    until = time.time() + seconds
    pairs_by_key: dict[tuple[str, ClassKey], tuple[str, Example]] = {}
    for (operator, level), counts in merged.items():
        for key, example in counts.classes.items():
            if key.kind == "unexplained" or (plan.shrink_known and key.kind != "not looked at"):
                pairs_by_key.setdefault((operator, key), (level, example))
    pairs = sorted(pairs_by_key.items(), key=lambda item: _KIND_ORDER.index(item[0][1].kind))
    items = [(plan.dialect, operator, level, key, example, until) for (operator, key), (level, example) in pairs]
    for (_, operator, level, key, _, _), example in each(shrink_example, items):
        merged[operator, level].classes[key] = example


def _values(plan: Plan, pieces: Sequence[Shard], each: Any, until: float) -> tuple[list[ValueTally], dict[str, str]]:
    expected_entries = dict.fromkeys((p.operator, p.level) for p in pieces)
    items = [(plan.dialect, operator, level, plan.cases, plan.seed, until) for operator, level in expected_entries]
    entries = {(item[1], item[2]): answer for item, answer in each(compare_values, items)}
    tallies = [tally for key in expected_entries for tally in entries[key][0]]
    return tallies, {name: version for key in expected_entries for name, version in entries[key][1].items()}


def _versions(counted: Iterable[Counts]) -> dict[str, str]:
    """Return implementation -> version.

    If the version depends on the level, it is listed with each of its levels.
    """
    entries: dict[str, dict[str, list[str]]] = {}
    for counts in counted:
        for name, version in counts.versions.items():
            levels = entries.setdefault(name, {}).setdefault(version, [])
            if counts.level not in levels:
                levels.append(counts.level)
    return {
        name if len(versions) == 1 else f"{name} {', '.join(levels)}": version
        for name, versions in entries.items()
        for version, levels in versions.items()
    }


def _tallies(counted: Iterable[Counts]) -> Iterator[Tally]:
    for counts in counted:
        for name, words in counts.words.items():
            cases, accepted, documented, observed = counts.tallies.get(name, [0, 0, 0, 0])
            yield Tally(counts.operator, counts.level, name, cases, accepted, documented, observed, dict(words))


def _differences(plan: Plan, counted: Iterable[Counts]) -> list[Difference]:
    """Return the classes, unexplained and frequent ones first.

    Classes that several levels share are merged.
    """
    shared: dict[tuple[str, ClassKey], list[tuple[str, Example]]] = {}
    for counts in counted:
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
        differences, key=lambda d: (_KIND_ORDER.index(d.kind), -d.count, d.operator, d.implementation, d.findings)
    )


def _rules(counted: Iterable[Counts]) -> Iterator[RuleCount]:
    for counts in counted:
        for finding, numbers in counts.rules.items():
            yield RuleCount(counts.operator, counts.level, finding, *numbers)
