"""What a campaign against a runtime found: plain values that its reports are made of, and that JSON holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from specgate.placement.conform.compare import ASPECTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specgate.placement.conform.cases import CaseKind
    from specgate.placement.conform.compare import Aspect

__all__ = ["KINDS", "SCHEMA", "Difference", "Result", "Tally"]

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
