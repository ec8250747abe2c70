"""What a campaign found: plain values that every report is rendered from, and that JSON holds as they are."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KINDS", "SCHEMA_VERSION", "Difference", "Kind", "Result", "RuleCount", "Tally", "ValueTally"]

SCHEMA_VERSION: Final = 1

Kind = Literal["unexplained", "recorded", "bug", "not looked at"]
#: What each kind means, for readers of a report.
KINDS: Final[dict[Kind, str]] = {
    "unexplained": "no observed entry says so: the table is wrong, or page and build differ unrecorded",
    "recorded": "the page and the implementation differ, and an observed entry says so",
    "bug": "the implementation contradicts its own page, and an observed entry says so",
    "not looked at": "the implementation does not look at this at all",
}


@dataclass(frozen=True, slots=True)
class Tally:
    """One operator at one level before one implementation.

    cases: descriptors that it gave a verdict on. accepted: how many of them it took. documented, observed: on how many
    our verdict by the page, and by what is known of builds (and of what they do not look at), is the same. words: every
    word it answered -> how often.
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
    """A class of disagreements: the same findings of ours against the same word of one implementation.

    level: or several, separated by commas. findings: the ids that our verdict rests on, none where we accept. theirs:
    the implementation's word; detail: its own message for `descriptor`, the smallest one found. count: of cases.
    kind: see `KINDS`. command: a shell
    line that shows our verdict again.
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
    """How often one rule or cell was met at one level.

    accepting: cases that we and an implementation take, which the rule applies to. rejecting: cases that only this
    finding rejects. oracle: those of them that an implementation refuses too. unasked: those that no implementation
    gave a verdict on. waived: those that all who did are known to take.
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
    """Values of one operator at one level against one implementation.

    cases: executed by both. equal: within the table's tolerance. differing: one line for each class that is not, with
    its smallest descriptor. unavailable: why the implementation computed nothing -> how often.
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
    """A whole campaign. command: runs it again. versions: by implementation. capped: out of time before its end."""

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
        """How many cases no table explains, values included."""
        kinds = sum(d.count for d in self.differences if d.kind == "unexplained")
        return kinds + sum(d.count for v in self.values for d in v.differing if d.kind == "unexplained")

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON's values."""
        return {"schema": SCHEMA_VERSION, **asdict(self), "unexplained": self.unexplained}
