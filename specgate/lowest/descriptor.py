"""The lowest level that accepts a descriptor, and lower rejections."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """The result of `minimum`.

    level: the lowest level that accepts, None if none does. levels: all that accept. undecided: levels undecided
    because of an unknown size. blockers: findings per lower level (or per level, if none accepts). It compares and
    prints as the level itself.
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
        """Return the data that ``specgate minimum --format json`` prints."""
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
    """Check `descriptor` at every level, as if written for each."""
    free = replace(descriptor, version=None)
    table = dialect(descriptor.dialect)
    verdicts = {level: check_for(free, Target(table.name, level), basis) for level in table.levels}
    accepted_levels = LevelSet.of(table.levels, [level for level, v in verdicts.items() if v.accepted])
    first = accepted_levels.first
    lower_levels = table.levels if first is None else table.levels[: table.position[first]]
    return Minimum(
        level=first,
        levels=accepted_levels,
        undecided=LevelSet.of(table.levels, [level for level, v in verdicts.items() if v.accepted is None]),
        blockers={level: blocking(verdicts[level].findings) for level in lower_levels},
    )
