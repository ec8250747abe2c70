"""What a campaign against a runtime asks."""

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
    """What to ask. releases: of the package, with ``@5.0`` behind them for another level of the library below.

    operators: none for all. levels: of the library, each under each release; none: the release's own. cases: models of
    one node for each version of an operator. graphs: random ones. models: a folder of files. seconds: the most to
    spend on asking. case: the only one to ask. keep: a folder for what is asked.
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
        """Return the command line that runs it again; keep: it also writes what it asks to this folder."""
        words = ["specgate", "conform", self.package, "--release", ",".join(self.releases)]
        words += ["--level", ",".join(self.levels)] if self.levels else []
        words += [word for name in self.operators for word in ("--operator", name)]
        words += ["--cases", str(self.cases), "--graphs", str(self.graphs)]
        words += ["--models", shlex.quote(str(self.models))] if self.models is not None else []
        words += ["--seed", str(self.seed)]
        words += ["--case", shlex.quote(self.case)] if self.case else []
        return " ".join([*words, *(["--keep", keep] if keep else [])])

    def kept(self, case: Case) -> None:
        """Write a model to the folder for what is asked."""
        if self.keep is not None:
            self.keep.mkdir(parents=True, exist_ok=True)
            write_bytes(self.keep / f"{_UNSAFE.sub('-', case.id.removesuffix('.onnx'))}.onnx", case.model)


SCHEMA: Final = "specgate-placement-campaign/1"
#: What models of each kind are.
KINDS: Final[dict[CaseKind, str]] = {"node": "one node", "graph": "random graphs", "file": "files"}


@dataclass(frozen=True, slots=True)
class Tally:
    """How many comparisons of one aspect over models of one kind there were before one target, and how many agree.

    explained: how many of the others an entry of what was observed names.
    """

    target: str
    kind: CaseKind
    aspect: Aspect
    asked: int
    same: int
    explained: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A class of differences: of one aspect and operator, with the same words of both sides.

    operator: "" for whole models. opsets, targets: those it was met at. count: of comparisons. recorded: the entry that
    explains it, "" where none does; says: its words. case: the smallest model with it; node: that as a descriptor, of a
    model of one node; command: writes that model to a folder.
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
    """A whole campaign. command: runs it again. versions: by target what was asked. models: by kind how many.

    left_out: why something was not compared -> how often. capped: out of time before its end.
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
        """How many comparisons differ and no entry says why."""
        return sum(each.count for each in self.differences if not each.recorded)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON's values."""
        return {"schema": SCHEMA, **asdict(self), "unexplained": self.unexplained}

    def totals(self, target: str | None = None) -> Iterable[Tally]:
        """Yield a sum for each kind and aspect, of one target or all."""
        for kind in KINDS:
            for aspect in ASPECTS:
                of = [t for t in self.tallies if (t.kind, t.aspect) == (kind, aspect) and target in {None, t.target}]
                if of:
                    counts = (sum(t.asked for t in of), sum(t.same for t in of), sum(t.explained for t in of))
                    yield Tally(target or "", kind, aspect, *counts)
