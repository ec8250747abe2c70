"""The lowest level that accepts a descriptor, and what blocks each level below it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from specgate.levels import LevelSet
from specgate.spec.tables import dialect
from specgate.targets import Target
from specgate.validate.check import check_for
from specgate.validate.message import blocking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.verdict import Basis, Finding

__all__ = ["Minimum", "find_minimum"]


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """The answer of `minimum`.

    level: the lowest level that accepts, None if none does. levels: all that accept. undecided: levels that an unknown
    size leaves open. blockers: for every level below (or every level, if none accepts) the findings there.
    Compares and prints as the level itself.
    """

    level: str | None
    levels: LevelSet
    undecided: LevelSet
    blockers: Mapping[str, tuple[Finding, ...]]

    def __bool__(self) -> bool:
        return self.level is not None

    def __str__(self) -> str:
        return self.level or "none"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Minimum):
            return (self.level, self.levels, self.undecided) == (other.level, other.levels, other.undecided)
        return self.level == other

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data: the members that ``specgate minimum --format json`` prints of a descriptor."""
        return {
            "minimum": self.level,
            "levels": list(self.levels),
            "undecided": list(self.undecided),
            "blockers": {
                level: [{"id": f.id, "where": f.where, "message": f.message} for f in findings]
                for level, findings in self.blockers.items()
            },
        }

    def __hash__(self) -> int:
        return hash(self.level)


def find_minimum(descriptor: Descriptor, basis: Basis = "both") -> Minimum:
    """Judge `descriptor` at every level, as if written for each."""
    free = replace(descriptor, version=None)
    table = dialect(descriptor.dialect)
    verdicts = {level: check_for(free, Target(table.name, level), basis) for level in table.levels}
    accepted = LevelSet.of(table.levels, [level for level, v in verdicts.items() if v.accepted])
    first = accepted.first
    below = table.levels if first is None else table.levels[: table.position[first]]
    return Minimum(
        level=first,
        levels=accepted,
        undecided=LevelSet.of(table.levels, [level for level, v in verdicts.items() if v.accepted is None]),
        blockers={level: blocking(verdicts[level].findings) for level in below},
    )
