"""Levels and table sides of a part of the header, as masks of bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.directml.cpp.values import Untranslatable

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.forms import Resolved, SingleBasis
    from specgate.spec.operator_spec import OperatorSpec

SIDES: Final[tuple[SingleBasis, ...]] = ("documented", "observed")
#: A level, and a side or one implementation. An implementation has all shared observations and its own.
Stretch = tuple[str, str]
#: The bits of each side in a mask.
_BITS: Final = 16
_WORD: Final = 64


class Levels:
    """The levels of a header, and masks of levels and sides.

    A mask has a bit per level for each of: documented, observed, and every implementation with separate observations.
    """

    def __init__(self, dialect: Dialect, chosen: Sequence[str]) -> None:
        self.dialect = dialect
        self.chosen = tuple(level for level in dialect.levels if level in chosen)
        every = (by for name in dialect.operators for by in _own(dialect.operator(name)))
        self.implementations = tuple(sorted(set(every)))
        if len(self.chosen) > _BITS or _BITS * len((*SIDES, *self.implementations)) > _WORD:
            raise Untranslatable("too many levels or implementations for masks of 64 bits")

    def number(self, level: str) -> int:
        """Return the number of a level as in the vendor's headers."""
        return int(self.dialect.tables.levels[level]["target_version"], 16)

    def bits(self, levels: Iterable[str]) -> int:
        """Return levels as bits of their positions."""
        members = set(levels)
        return sum(1 << number for number, level in enumerate(self.chosen) if level in members)

    def sides(self, spec: OperatorSpec) -> dict[Stretch, Resolved]:
        """Return the table of an operator per level and side."""
        resolved_by_stretch: dict[Stretch, Resolved] = {}
        texts: list[tuple[str, SingleBasis, str | None]] = [(side, side, None) for side in SIDES]
        texts += [(by, "observed", by) for by in self.implementations if by in _own(spec)]
        for level in self.chosen:
            for name, side, by in texts:
                resolved = spec.resolve(level, side, by)
                if resolved is not None:
                    resolved_by_stretch[level, name] = resolved
        return resolved_by_stretch

    def everywhere(self, levels: Iterable[str]) -> list[tuple[str, SingleBasis]]:
        """Return levels with both sides."""
        return [(level, side) for level in levels for side in SIDES]

    def mask(self, where: Iterable[Stretch], every: Iterable[Stretch]) -> int:
        """Return the bits of `where`.

        every: all possible stretches. An implementation that is not among them has the bits of the observed side.
        """
        texts, sides = set(where), {side for _, side in every}
        mask = 0
        for number, side in enumerate((*SIDES, *self.implementations)):
            name = side if side in sides else "observed"
            mask |= self.bits(level for level in self.chosen if (level, name) in texts) << number * _BITS
        return mask


def _own(spec: OperatorSpec) -> set[str]:
    """Return the implementations with separate observations."""
    return {o.by for o in spec.overlays if o.by is not None and (o.cells or o.rules or o.not_enforced)}


def group_levels(entries: Mapping[Stretch, Hashable]) -> dict[Any, list[Stretch]]:
    """Return each distinct entry with its levels and sides, in level order."""
    texts_by_value: dict[Any, list[Stretch]] = {}
    for stretch, entry in entries.items():
        texts_by_value.setdefault(entry, []).append(stretch)
    return texts_by_value
