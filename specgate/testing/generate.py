"""Valid descriptors, and ones with exactly one thing wrong, from any source of choices; strategies wrap these."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from specgate.errors import InputError
from specgate.spec.tables import dialect as tables
from specgate.testing.problem import Problem
from specgate.testing.solve import MAX_STEPS, Search, solve
from specgate.validate.explain import explain_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.descriptors.core import Descriptor
    from specgate.spec.forms import Resolved, Side
    from specgate.spec.tables import OperatorSpec
    from specgate.verdict import Basis

__all__ = ["ValidDescriptors", "find_operator", "valid_descriptors"]

_PROBES = 12


def find_operator(dialect: str, operator: str, level: str) -> OperatorSpec:
    """Return an operator that exists at `level`; raise InputError or NoTable that says what does."""
    spec = tables(dialect).operator(operator)
    spec.dialect.check_level(level)
    if level not in spec.levels:
        raise InputError(f"{dialect} {operator} does not exist at {level}; it does at {spec.levels}")
    return spec


@dataclass(frozen=True, slots=True)
class ValidDescriptors:
    """Draws descriptors that an operator accepts at one level."""

    problem: Problem

    @property
    def spec(self) -> OperatorSpec:
        return self.problem.spec

    def draw(self, pick: Callable[[int, int], int]) -> Descriptor | None:
        """Return one valid descriptor, None where these choices led nowhere."""
        return solve(self.problem, pick, self._checked)

    def _checked(self, made: Descriptor) -> Descriptor | None:
        return None if any(explain_at(made, side) for side in self.problem.sides) else made

    def require(self) -> None:
        """Raise InputError that names the operator and its most refusing rules if nothing valid can be found."""
        refusals: Counter[str] = Counter()
        for seed in range(_PROBES):
            pick = Random(seed).randint  # noqa: S311  # repeatable on purpose
            if self.draw(pick) is not None:
                return
            search = Search(self.problem, self.problem.draft(), Random(seed).randint)  # noqa: S311
            search.run(MAX_STEPS)
            refusals += search.refusals
        side = self.problem.sides[0]
        blamed = ", ".join(f"{name} ({count} times)" for name, count in refusals.most_common(3))
        raise InputError(
            f"no valid descriptor of {side.spec.dialect.name} {side.spec.name} at {side.level} was found in "
            f"{_PROBES} searches; what refused most: {blamed or 'no rule: a support row leaves nothing to choose'}"
        )


_known: WeakKeyDictionary[OperatorSpec, dict[Any, ValidDescriptors]] = WeakKeyDictionary()


def valid_descriptors(spec: OperatorSpec, level: str, basis: Basis = "documented") -> ValidDescriptors:
    """Return what draws valid descriptors of `spec` at `level`; made once, shown to work once (see `require`)."""
    kept = _known.setdefault(spec, {})
    if (level, basis) not in kept:
        wanted: list[Side] = ["documented", "observed"] if basis == "both" else [basis]
        sides: list[Resolved] = []
        for side in wanted:
            resolved = spec.resolve(level, side)
            if resolved is not None and all(resolved.key != other.key for other in sides):
                sides.append(resolved)
        made = ValidDescriptors(Problem(sides))
        made.require()
        kept[level, basis] = made
    return kept[level, basis]
