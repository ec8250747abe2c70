"""The result of a campaign as plain data, for reports and JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION: Final = 1

Kind = Literal["unexplained", "recorded", "bug", "not looked at"]
#: The meaning of each kind, for readers of a report.
KINDS: Final[dict[Kind, str]] = {
    "unexplained": "no observed entry: the table is wrong, or documentation and build differ and this is not recorded",
    "recorded": "the documentation and the implementation differ, as an observed entry records",
    "bug": "the implementation contradicts its own documentation, as an observed entry records",
    "not looked at": "the implementation does not check this",
}
#: Every kind, in display order.
KIND_ORDER: Final[tuple[Kind, ...]] = ("unexplained", "bug", "recorded", "not looked at")


@dataclass(frozen=True, slots=True)
class Tally:
    """One operator at one level for one implementation.

    cases: descriptors on which it gave a verdict. accepted: the number that it accepted. documented, observed: how
    many verdicts agree with our documented verdict, and with our verdict for known builds and the fields that they
    ignore. words: reply -> count.
    """

    operator: str
    level: str
    implementation: str
    cases: int
    accepted: int
    documented: int
    observed: int
    words: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Difference:
    """A class of disagreements with equal findings and an equal reply.

    level: one level, or several separated by commas. findings: the ids of our findings; empty if we accept. theirs: the
    implementation's reply. detail: its own message for `descriptor`, the smallest example. count: number of cases.
    kind: see `KINDS`. command: a shell command that shows our verdict.
    """

    operator: str
    level: str
    implementation: str
    kind: Kind
    findings: tuple[str, ...]
    theirs: str
    detail: str
    count: int
    descriptor: Mapping[str, Any]
    command: str


@dataclass(frozen=True, slots=True)
class RuleCount:
    """The coverage of one rule or cell at one level.

    accepting: cases to which the rule applies and that both sides accept. rejecting: cases that only this finding
    rejects. oracle: rejecting cases that an implementation rejects too. unasked: rejecting cases on which no
    implementation gave a verdict. waived: rejecting cases that all implementations with a verdict are known to accept.
    """

    operator: str
    level: str
    finding: str
    accepting: int
    rejecting: int
    oracle: int
    unasked: int = 0
    waived: int = 0


@dataclass(frozen=True, slots=True)
class ValueTally:
    """Values of one operator at one level for one implementation.

    cases: executed by both. equal: within the table's tolerance. differing: one entry per class of differences, with
    its smallest descriptor. unavailable: why the implementation computed nothing -> count.
    """

    operator: str
    level: str
    implementation: str
    cases: int
    equal: int
    unavailable: Mapping[str, int]
    differing: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a campaign.

    command: repeats the campaign. versions: by implementation. capped: whether the time limit ended it early.
    """

    dialect: str
    command: str
    seed: int
    cases: int
    seconds: float
    capped: bool
    versions: Mapping[str, str]
    tallies: tuple[Tally, ...]
    differences: tuple[Difference, ...]
    rules: tuple[RuleCount, ...]
    values: tuple[ValueTally, ...] = ()
    skipped: tuple[str, ...] = field(default=())

    @property
    def unexplained(self) -> int:
        """The number of cases that no table explains, including values."""
        kinds = sum(d.count for d in self.differences if d.kind == "unexplained")
        return kinds + sum(d.count for v in self.values for d in v.differing if d.kind == "unexplained")

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {"schema": SCHEMA_VERSION, **asdict(self), "unexplained": self.unexplained}
