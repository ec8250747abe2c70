"""The plan of a campaign against a runtime, and its result."""

from __future__ import annotations

import re
import shlex
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from specgate.files import write_bytes
from specgate.runtimes.onnxruntime.conform.compare import ASPECTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from specgate.runtimes.onnxruntime.conform.cases import Case, CaseKind
    from specgate.runtimes.onnxruntime.conform.compare import Aspect

__all__ = ["KINDS", "SCHEMA", "Difference", "Plan", "Result", "Tally"]

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


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

    def command(self, keep: str = "") -> str:
        """Return the command line that repeats the campaign.

        keep: a folder to which it also writes the tested models.
        """
        words = ["specgate", "conform", self.package, "--release", ",".join(self.releases)]
        words += ["--level", ",".join(self.levels)] if self.levels else []
        words += [word for name in self.operators for word in ("--operator", name)]
        words += ["--cases", str(self.cases), "--graphs", str(self.graphs)]
        words += ["--models", shlex.quote(str(self.models))] if self.models is not None else []
        words += ["--seed", str(self.seed)]
        words += ["--case", shlex.quote(self.case)] if self.case else []
        return " ".join([*words, *(["--keep", keep] if keep else [])])

    def kept(self, case: Case) -> None:
        """Write a model to the `keep` folder."""
        if self.keep is not None:
            self.keep.mkdir(parents=True, exist_ok=True)
            write_bytes(self.keep / f"{_UNSAFE.sub('-', case.id.removesuffix('.onnx'))}.onnx", case.model)


SCHEMA: Final = "specgate-placement-campaign/1"
#: Titles of the kinds of models.
KINDS: Final[dict[CaseKind, str]] = {"node": "one node", "graph": "random graphs", "file": "files"}


@dataclass(frozen=True, slots=True)
class Tally:
    """Comparisons of one aspect over one kind of models on one target.

    explained: how many differences match an observed entry.
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
        return sum(each.count for each in self.differences if not each.recorded)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {"schema": SCHEMA, **asdict(self), "unexplained": self.unexplained}

    def totals(self, target: str | None = None) -> Iterable[Tally]:
        """Yield totals per kind and aspect, for one target or all."""
        for kind in KINDS:
            for aspect in ASPECTS:
                of = [t for t in self.tallies if (t.kind, t.aspect) == (kind, aspect) and target in {None, t.target}]
                if of:
                    counts = (sum(t.comparisons for t in of), sum(t.same for t in of), sum(t.explained for t in of))
                    yield Tally(target or "", kind, aspect, *counts)
