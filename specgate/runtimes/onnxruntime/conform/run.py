"""Campaigns that place models and compare with the runtime."""

from __future__ import annotations

import re
import shlex
import time
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from specgate.descriptors.read import write_dict
from specgate.errors import InputError
from specgate.files import write_bytes
from specgate.linting.input_source import InputSource
from specgate.linting.settings import LintSettings
from specgate.runtimes.onnxruntime.conform.cases import breaks_rule, file_cases, fitting_feeds, graph_cases, node_cases
from specgate.runtimes.onnxruntime.conform.compare import ASPECTS, PlacementComparison, compare, matching_entry
from specgate.runtimes.onnxruntime.oracle.cpu import CPU_PACKAGE, CpuPlacementOracle
from specgate.runtimes.onnxruntime.oracle.install import PACKAGE
from specgate.runtimes.onnxruntime.oracle.oracle import NOT_RUN, PlacementOracle
from specgate.runtimes.onnxruntime.place import place_model
from specgate.runtimes.onnxruntime.table_references import MODELS
from specgate.spec.tables import dialect
from specgate.targets import parse_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from specgate.runtimes.onnxruntime.conform.cases import Case, CaseKind
    from specgate.runtimes.onnxruntime.conform.compare import Aspect, Mismatch
    from specgate.runtimes.onnxruntime.oracle.oracle import Answer
    from specgate.targets import Target

    Progress = Callable[[int, int, str], object]

_UNSAFE_CHARACTERS: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Plan:
    """A campaign's plan.

    releases: package releases, with the suffix ``@5.0`` for another DirectML level. operators: empty for all. levels:
    DirectML levels to test with each release; empty for the release's own. cases: single-node models per operator
    version. graphs: number of random graphs. models: a folder of files. seconds: time limit. case: the only case to
    run. keep: a folder for the tested models.
    """

    package: str
    releases: tuple[str, ...]
    operators: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    cases: int = 20
    graphs: int = 0
    models: Path | None = None
    seed: int = 0
    seconds: float | None = None
    case: str | None = None
    keep: Path | None = None

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets, as users write them."""
        words = [f"{r}@{level}" for r in self.releases for level in self.levels] if self.levels else self.releases
        return tuple(f"{self.package}:{word}" for word in words)

    def command(self, save_path: str = "") -> str:
        """Return the command line that repeats the campaign.

        save_path: a folder to which it also writes the tested models.
        """
        words = ["specgate", "conform", self.package, "--release", ",".join(self.releases)]
        words += ["--level", ",".join(self.levels)] if self.levels else []
        words += [word for name in self.operators for word in ("--operator", name)]
        words += ["--cases", str(self.cases), "--graphs", str(self.graphs)]
        words += ["--models", shlex.quote(str(self.models))] if self.models is not None else []
        words += ["--seed", str(self.seed)]
        words += ["--case", shlex.quote(self.case)] if self.case else []
        return " ".join([*words, *(["--keep", save_path] if save_path else [])])

    def keep_model(self, case: Case) -> None:
        """Write a model to the `keep` folder."""
        if self.keep is not None:
            self.keep.mkdir(parents=True, exist_ok=True)
            write_bytes(self.keep / f"{_UNSAFE_CHARACTERS.sub('-', case.id.removesuffix('.onnx'))}.onnx", case.model)


SCHEMA: Final = "specgate-placement-campaign/1"
#: Titles of the kinds of models.
KINDS: Final[dict[CaseKind, str]] = {"node": "one node", "graph": "random graphs", "file": "files"}


@dataclass(frozen=True, slots=True)
class Tally:
    """Comparisons of one aspect over one kind of models on one target.

    explained: the number of differences that match an observed entry.
    """

    target: str
    kind: CaseKind
    aspect: Aspect
    comparisons: int
    same: int
    explained: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A class of differences with the same aspect, operator and texts.

    operator: "" for whole models. opsets, targets: where it occurred. count: number of comparisons. recorded: the
    observed entry that explains it, "" if none does; says: its text. case: the smallest model with the difference;
    node: its descriptor for a single-node model; command: writes that model to a folder.
    """

    aspect: Aspect
    operator: str
    ours: str
    theirs: str
    opsets: tuple[str, ...]
    targets: tuple[str, ...]
    count: int
    recorded: str
    says: str
    case: str
    size: int
    node: Mapping[str, Any] | None
    command: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a campaign.

    command: repeats it. versions: tested versions by target. models: number of models by kind. left_out: number of
    omitted comparisons by reason. capped: whether the time limit ended it.
    """

    package: str
    command: str
    seed: int
    seconds: float
    capped: bool
    versions: Mapping[str, Mapping[str, str]]
    models: Mapping[CaseKind, int]
    tallies: tuple[Tally, ...]
    differences: tuple[Difference, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def unexplained(self) -> int:
        """Number of differences without an observed entry."""
        return sum(difference.count for difference in self.differences if not difference.recorded)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {"schema": SCHEMA, **asdict(self), "unexplained": self.unexplained}

    def totals(self, target: str | None = None) -> Iterable[Tally]:
        """Yield totals per kind and aspect, for one target or all."""
        for kind in KINDS:
            for aspect in ASPECTS:
                matching_tallies = [
                    t for t in self.tallies if (t.kind, t.aspect) == (kind, aspect) and target in {None, t.target}
                ]
                if matching_tallies:
                    counts = (
                        sum(t.comparisons for t in matching_tallies),
                        sum(t.same for t in matching_tallies),
                        sum(t.explained for t in matching_tallies),
                    )
                    yield Tally(target or "", kind, aspect, *counts)


#: Models between two checks of the time limit.
_BATCH: Final = 50
#: Seconds per model; most take milliseconds.
_TIMEOUT: Final = 20.0


class RuntimeOracle(Protocol):
    """A runtime that reports placements."""

    @property
    def versions(self) -> Any: ...
    def ask(self, models: Sequence[bytes]) -> list[Answer]: ...
    def close(self) -> None: ...


@dataclass(slots=True)
class _Class:
    """The occurrences and the smallest model of a class of differences."""

    smallest: Case
    target: str
    count: int = 0
    entry: dict[str, Any] | None = None
    opsets: dict[str, None] = field(default_factory=dict)
    targets: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Counts:
    """Counts so far."""

    comparisons: Counter[tuple[str, CaseKind, Aspect]] = field(default_factory=Counter)
    same: Counter[tuple[str, CaseKind, Aspect]] = field(default_factory=Counter)
    explained: Counter[tuple[str, CaseKind, Aspect]] = field(default_factory=Counter)
    models: Counter[CaseKind] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    classes: dict[tuple[Mismatch, str], _Class] = field(default_factory=dict)
    capped: bool = False


def run(
    plan: Plan, progress: Progress = lambda *_: None, open_oracle: Callable[[Target], RuntimeOracle] | None = None
) -> Result:
    """Return the result of a campaign.

    progress: called with finished cases, all cases, and the current item. open_oracle: opens a target, by default an
    installed build.
    Raises InputError for an unknown operator or release, and if a build is not installed.
    """
    start_time = time.monotonic()
    deadline = start_time + plan.seconds if plan.seconds is not None else float("inf")
    counts, versions = _Counts(), {}
    for position, word in enumerate(plan.targets):
        target = parse_target(word)
        with closing((open_oracle or _oracle)(target)) as oracle:
            versions[str(target)] = dict(oracle.versions)
            pieces = _item_names(plan, target)
            for done_count, (name, cases) in enumerate(pieces, position * len(pieces)):
                progress(done_count, len(plan.targets) * len(pieces), f"{target} {name}")
                if time.monotonic() > deadline:
                    counts.capped = True
                    break
                _run_item(plan, target, oracle, cases, counts, deadline)
    return Result(
        package=plan.package,
        command=plan.command(),
        seed=plan.seed,
        seconds=round(time.monotonic() - start_time, 1),
        capped=counts.capped,
        versions=versions,
        models=dict(counts.models),
        tallies=tuple(
            Tally(*key, number, counts.same[key], counts.explained[key]) for key, number in counts.comparisons.items()
        ),
        differences=tuple(_differences(plan, counts)),
        left_out=dict(counts.left_out.most_common()),
    )


def _oracle(target: Target) -> RuntimeOracle:
    runtime = target.runtime
    if runtime is not None and runtime.package == CPU_PACKAGE:
        return CpuPlacementOracle(runtime.release, run=True, timeout=_TIMEOUT)
    if runtime is None or runtime.package != PACKAGE:
        raise InputError(f"no build of {target} is available")
    level = (target.alias or "").partition("@")[2]
    return PlacementOracle(runtime.release, level=level or None, timeout=_TIMEOUT)


def _run_item(
    plan: Plan, target: Target, oracle: RuntimeOracle, cases: Iterator[Case], counts: _Counts, deadline: float
) -> None:
    """Run the cases of one item on a target until the time limit."""
    batch: list[Case] = []
    for case in cases:
        if time.monotonic() > deadline:
            counts.capped = True
            break
        batch.append(case)
        if len(batch) >= _BATCH or case.kind == "file":
            _judge_batch(plan, target, oracle, batch, counts)
            batch.clear()
    _judge_batch(plan, target, oracle, batch, counts)


def _item_names(plan: Plan, target: Target) -> list[tuple[str, Iterator[Case]]]:
    """Return the items to test by name: operators, then graphs, then files."""
    tables = dialect(MODELS)
    assert target.runtime is not None  # noqa: S101  # every target of a plan has a runtime
    newest = min(target.runtime.opsets[""], int(tables.levels[-1]))
    seed = str(plan.seed)
    names = [tables.operator(name).name for name in plan.operators] or list(tables.operators)
    pairs = [(name, node_cases(name, plan.cases, seed, newest)) for name in names if plan.cases]
    if plan.graphs:
        pairs.append(("graphs", graph_cases(plan.graphs, seed, newest)))
    if plan.models is not None:
        pairs.append(("files", file_cases(plan.models.expanduser())))
    return pairs


def _judge_batch(plan: Plan, target: Target, oracle: RuntimeOracle, batch: Sequence[Case], counts: _Counts) -> None:
    cases = [case for case in batch if plan.case in {None, case.id}]
    for case, first in zip(cases, oracle.ask([case.model for case in cases]), strict=True):
        answer = _ask_with_inputs(target, oracle, case, first)
        counts.models[case.kind] += 1
        comparison = _compare_case(target, case, answer)
        counts.left_out.update(comparison.left_out)
        _count(target, case, comparison, counts)
        if plan.keep is not None:
            plan.keep_model(case)


def _ask_with_inputs(target: Target, oracle: RuntimeOracle, case: Case, answer: Answer) -> Answer:
    """Return the answer for inputs that fit the descriptor.

    It replaces `answer` if the default inputs could not be computed.
    """
    run = answer.word == "created" and answer.run not in {"", "ran", "crashed", "timeout"}
    if not run or case.descriptor is None or not isinstance(oracle, CpuPlacementOracle):
        return answer
    feeds = fitting_feeds(case.descriptor, case.level)
    if not feeds:
        return answer
    fed_answer = oracle.ask([case.model], [feeds])[0]
    assert target.runtime is not None  # noqa: S101  # every target of a plan has a runtime
    release = target.runtime.release
    failed = fed_answer.run not in {"ran", "crashed", "timeout"}
    if failed and all(breaks_rule(case.descriptor, case.level, feed, release) for feed in feeds):
        return replace(fed_answer, run=f"{NOT_RUN}: no suitable values")  # an input may still have such values
    return fed_answer


def _compare_case(target: Target, case: Case, answer: Answer) -> PlacementComparison:
    assert target.runtime is not None  # noqa: S101  # every target of a plan has a runtime
    result = case.drawn if case.kind == "file" else InputSource(case.model, MODELS, case.id)
    try:
        placement = place_model(result, target, None, LintSettings())
    except Exception as error:  # noqa: BLE001  # any exception is a finding of the campaign
        comparison = PlacementComparison()
        comparison.record("answer", case.operator, repr(error)[:200], "an answer", is_same=False)
        return comparison
    first = target.runtime.providers[0]
    return compare(answer, placement, first if target.runtime.below else "")


def _count(target: Target, case: Case, comparison: PlacementComparison, counts: _Counts) -> None:
    assert target.runtime is not None  # noqa: S101  # every target of a plan has a runtime
    word = str(target)
    for aspect, number in comparison.comparisons.items():
        counts.comparisons[word, case.kind, aspect] += number
        counts.same[word, case.kind, aspect] += comparison.same[aspect]
    for result in comparison.mismatches:
        entry = matching_entry(result, case.opset, target.runtime, model=case.operator)
        counts.explained[word, case.kind, result.aspect] += entry is not None
        key = (result, entry["name"] if entry else "")
        class_ = counts.classes.setdefault(key, _Class(case, word, entry=dict(entry) if entry else None))
        class_.count += 1
        class_.opsets[case.opset] = class_.targets[word] = None
        if len(case.model) < len(class_.smallest.model):
            class_.smallest, class_.target = case, word


def _differences(plan: Plan, counts: _Counts) -> list[Difference]:
    """Return the classes, unexplained and frequent ones first."""
    differences = []
    for (result, name), class_ in counts.classes.items():
        case = class_.smallest
        differences.append(
            Difference(
                aspect=result.aspect,
                operator=result.operator,
                ours=result.ours,
                theirs=result.theirs,
                opsets=tuple(filter(None, class_.opsets)),
                targets=tuple(class_.targets),
                count=class_.count,
                recorded=name,
                says=class_.entry["says"] if class_.entry else "",
                case=case.id,
                size=len(case.model),
                node=write_dict(case.descriptor) if case.descriptor is not None else None,
                command=_single_class_plan(plan, class_).command(save_path="DIR"),
            )
        )
    order = list(ASPECTS)
    return sorted(
        differences, key=lambda d: (bool(d.recorded), order.index(d.aspect), -d.count, d.operator, d.ours, d.theirs)
    )


def _single_class_plan(plan: Plan, class_: _Class) -> Plan:
    """Return a plan with only the smallest model of a class."""
    case = class_.smallest
    return replace(
        plan,
        releases=(class_.target.partition(":")[2],),
        levels=(),
        operators=(case.operator,) if case.operator else (),
        cases=plan.cases if case.kind == "node" else 0,
        graphs=plan.graphs if case.kind == "graph" else 0,
        models=plan.models if case.kind == "file" else None,
        case=case.id,
    )
