"""Sets of levels of a dialect, with set operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.errors import InputError
from specgate.slotted import slotted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@slotted(frozen=True)
class LevelSet:
    """A set of levels of one dialect.

    order: all levels of the dialect, oldest first. members: the indices of the levels in the set.
    """

    order: tuple[str, ...]
    members: frozenset[int]

    @classmethod
    def of(cls, order: Iterable[str], members: Iterable[str]) -> LevelSet:
        """Return the set of `members`; raise InputError for an unknown level."""
        axis = tuple(order)
        positions = {level: position for position, level in enumerate(axis)}
        chosen_levels = list(members)
        for level in chosen_levels:
            if level not in positions:
                raise InputError(f"unknown level {level!r:.40}; expected one of {', '.join(axis)}")
        return cls(axis, frozenset(positions[level] for level in chosen_levels))

    def __contains__(self, level: str) -> bool:
        return level in self.order and self.order.index(level) in self.members

    def __iter__(self) -> Iterator[str]:
        return (self.order[position] for position in sorted(self.members))

    def __len__(self) -> int:
        return len(self.members)

    def _with_members(self, other: LevelSet, members: frozenset[int]) -> LevelSet:
        if self.order != other.order:
            raise ValueError("level sets of different dialects do not mix")
        return LevelSet(self.order, members)

    def __or__(self, other: LevelSet) -> LevelSet:
        return self._with_members(other, self.members | other.members)

    def __and__(self, other: LevelSet) -> LevelSet:
        return self._with_members(other, self.members & other.members)

    def __sub__(self, other: LevelSet) -> LevelSet:
        return self._with_members(other, self.members - other.members)

    def __le__(self, other: LevelSet) -> bool:
        return self._with_members(other, self.members).members <= other.members

    def complement(self) -> LevelSet:
        """Return the levels that are not in this set."""
        return LevelSet(self.order, frozenset(range(len(self.order))) - self.members)

    @property
    def first(self) -> str | None:
        """The lowest level of the set; None if it is empty."""
        return self.order[min(self.members)] if self.members else None

    def __str__(self) -> str:
        """Return ranges: ``2.1``, ``3.0..6.4``, ``2.0, 3.0..4.0`` or ``none``."""
        parts: list[str] = []
        run: list[int] = []
        for position in [*sorted(self.members), None]:
            if run and (position is None or position != run[-1] + 1):
                first, last = self.order[run[0]], self.order[run[-1]]
                parts.append(first if len(run) == 1 else f"{first}..{last}")
                run = []
            if position is not None:
                run.append(position)
        return ", ".join(parts) or "none"
