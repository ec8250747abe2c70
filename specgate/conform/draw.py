"""What a campaign asks: valid descriptors, descriptors with one thing wrong, and valid ones moved to a boundary.

Those of the pool come first; the others are these with small changes, which are kept where the page's verdict on them
is the wanted one. So a descriptor costs a fraction of a millisecond.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

from specgate.conform.pool import Drawn, pool_of
from specgate.generate.moves import Mutator
from specgate.validate.check import accepts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Basis

__all__ = ["Drawn", "draw_cases"]

#: Of ten cases: valid, with one thing wrong, moved to a boundary.
_MIX: Final = ("valid", "broken", "valid", "broken", "boundary", "valid", "broken", "valid", "broken", "boundary")
#: Valid by the page, by what builds take, by both: all three are worth asking.
_BASES: Final[tuple[Basis, ...]] = ("documented", "both", "both", "observed")
_ATTEMPTS: Final = 12


def draw_cases(spec: OperatorSpec, level: str, count: int, seed: str) -> Iterator[Drawn]:
    """Yield at most `count` different descriptors of an operator at a level, the same ones for the same seed.

    seed: the part before its first slash is the seed of the pool, which levels may share. Fewer come where
    nothing new is found in a number of attempts. Raises InputError where nothing valid is found.
    """
    source = _Source(spec, level, seed)
    seen: set[str] = set()
    for index in range(count):
        for _ in range(_ATTEMPTS):
            made = source.draw(_MIX[index % len(_MIX)])
            key = repr(made and (made.descriptor.fields, made.descriptor.oddities))
            if made is not None and key not in seen:
                seen.add(key)
                yield made
                break


class _Source:
    """What the pool holds, in any order, and then others made from it."""

    def __init__(self, spec: OperatorSpec, level: str, seed: str) -> None:
        self.level = level
        self.random = Random(seed)  # noqa: S311  # repeatable on purpose
        pool = pool_of(spec, level, seed)
        self.valid = list(pool.valid)
        self.taken = [made for made in pool.valid if accepts(made, level, "both")]
        self.broken = pool.broken
        self.waiting = {
            "valid": [Drawn(made, "valid") for made in pool.valid],
            "broken": list(pool.broken),
            "boundary": [],
        }
        for kind in self.waiting.values():
            self.random.shuffle(kind)
        self.mover = Mutator(spec, self.random.randint, pool.numbers, self.valid)

    def draw(self, kind: str) -> Drawn | None:
        """Return one of a kind, None where these choices led nowhere."""
        if self.waiting[kind]:
            return self.waiting[kind].pop()
        if kind == "broken" and self.broken:
            return self._broken()
        if kind == "boundary":
            return Drawn(
                self.mover.moved(self._any(self.taken or self.valid), 1 + self.random.randrange(2)), "boundary"
            )
        return self._valid()

    def _any(self, items: list[Any]) -> Any:
        return items[self.random.randrange(len(items))]

    def _valid(self) -> Drawn | None:
        basis = self._any(list(_BASES))
        known = self.taken if basis == "both" and self.taken else self.valid
        made: Descriptor = self.mover.moved(self._any(known), 1 + self.random.randrange(4))
        if not accepts(made, self.level, basis):
            return None
        if basis == "documented" or known is self.taken:
            known[self.random.randrange(len(known))] = made  # so that changes add up
        return Drawn(made, "valid")

    def _broken(self) -> Drawn | None:
        base: Drawn = self._any(self.broken)
        made = self.mover.moved(base.descriptor, 1 + self.random.randrange(3))
        return None if accepts(made, self.level, "documented") else Drawn(made, "broken")
