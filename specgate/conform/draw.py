"""What a campaign asks: valid descriptors, descriptors with one thing wrong, and valid ones moved to a boundary.

A search through the rules finds a few hundred of them; the others are these with small changes, which are kept where
the page's verdict on them is the wanted one. So a descriptor costs a fraction of a millisecond.
"""

from __future__ import annotations

import ast
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.conform.moves import Mover
from specgate.errors import InputError
from specgate.testing.broken import broken_descriptors
from specgate.testing.generate import valid_descriptors
from specgate.validate.check import accepts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.tables import OperatorSpec
    from specgate.verdict import Basis

__all__ = ["Drawn", "draw_cases"]

#: Of ten cases: valid, with one thing wrong, moved to a boundary.
_MIX: Final = ("valid", "broken", "valid", "broken", "boundary", "valid", "broken", "valid", "broken", "boundary")
#: Valid by the page, by what builds take, by both: all three are worth asking.
_BASES: Final[tuple[Basis, ...]] = ("documented", "documented", "both", "observed")
#: Of each kind, so many are searched for: one in ten, at least these, at most those.
_SEARCHED: Final = (40, 150)
_ATTEMPTS: Final = 12


class Drawn(NamedTuple):
    """A descriptor to ask about.

    origin: ``valid``, ``boundary``, the id of the finding that was searched for, or ``broken``: made from such a one.
    """

    descriptor: Descriptor
    origin: str


def draw_cases(spec: OperatorSpec, level: str, count: int, seed: str) -> Iterator[Drawn]:
    """Yield at most `count` different descriptors of an operator at a level, the same ones for the same seed.

    Fewer come where nothing new is found in a number of attempts. Raises InputError where nothing valid is found.
    """
    random = Random(seed)  # noqa: S311  # repeatable on purpose
    source = _Source(spec, level, random, min(max(count // 10, _SEARCHED[0]), _SEARCHED[1]))
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
    """Searched descriptors, and others made from them."""

    def __init__(self, spec: OperatorSpec, level: str, random: Random, searched: int) -> None:
        self.spec = spec
        self.level = level
        self.random = random
        self.searched = searched
        self.valid: list[Descriptor] = []
        self.broken: list[Drawn] = []
        self.ids = list(broken_descriptors(spec, level).ids)
        random.shuffle(self.ids)
        self.turn = 0
        self.searched_broken = max(searched, 3 * len(self.ids))
        layouts = any("tensor.strides" in form.require.needs for form in spec.dialect.tensor_rules)
        self.mover = Mover(spec, random, _rule_numbers(spec, level), layouts=layouts)

    def draw(self, kind: str) -> Drawn | None:
        """Return one of a kind, None where these choices led nowhere."""
        if kind == "broken" and self.ids:
            return self._broken()
        if kind == "boundary" and self.valid:
            return Drawn(self.mover.moved(self._any(self.valid), 1 + self.random.randrange(2)), "boundary")
        return self._valid()

    def _any(self, items: list[Any]) -> Any:
        return items[self.random.randrange(len(items))]

    def _valid(self) -> Drawn | None:
        if len(self.valid) < self.searched:
            basis = self._any(list(_BASES))
            made = valid_descriptors(self.spec, self.level, basis).draw(self.random.randint)
            if made is not None:
                self.valid.append(made)
            return None if made is None else Drawn(made, "valid")
        made = self.mover.moved(self._any(self.valid), 1 + self.random.randrange(4))
        if not accepts(made, self.level, "documented"):
            return None
        self.valid[self.random.randrange(len(self.valid))] = made  # so that changes add up
        return Drawn(made, "valid")

    def _broken(self) -> Drawn | None:
        if len(self.broken) < self.searched_broken:
            self.turn += 1
            aim = self.ids[self.turn % len(self.ids)]
            found = broken_descriptors(self.spec, self.level).draw(aim, self.random.randint)
            if found is not None:
                self.broken.append(Drawn(found.descriptor, found.breaks))
            return None if found is None else self.broken[-1]
        base = self._any(self.broken)
        made = self.mover.moved(base.descriptor, 1 + self.random.randrange(3))
        return None if accepts(made, self.level, "documented") else Drawn(made, "broken")


def _rule_numbers(spec: OperatorSpec, level: str) -> list[int]:
    """Return the numbers that rules and cells at a level compare with, and their neighbours."""
    resolved = spec.resolve(level, "observed")
    if resolved is None:
        raise InputError(f"{spec.name} does not exist at {spec.dialect.spoken(level)}")
    found = {0, 1, 2, *resolved.numbers.values()}
    for form in (*resolved.rules, *resolved.tensor_rules):
        for tree in (form.require.tree, *([form.when.tree] if form.when is not None else [])):
            found.update(n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int)
    near = {number + step for number in found for step in (-1, 0, 1)}
    return sorted(number for number in near if 0 <= number < 2**32)
