"""Valid descriptors, and ones with exactly one thing wrong, from any source of choices; strategies wrap these."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from specgate.descriptors.core import shown
from specgate.errors import InputError
from specgate.rules.compile import compile_resolved
from specgate.rules.evaluate import evaluate
from specgate.spec.tables import dialect as tables
from specgate.testing.choices import one_of
from specgate.testing.problem import Problem, rows_of
from specgate.testing.solve import MAX_STEPS, SEARCHES, Search, solve
from specgate.validate.cases import compile_cases
from specgate.validate.explain import explain_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.spec.forms import Resolved, Side
    from specgate.spec.tables import OperatorSpec
    from specgate.verdict import Basis

__all__ = ["ValidDescriptors", "find_operator", "named_level", "valid_descriptors"]

_PROBES = 12


def named_level(dialect: str, operator: str, level: str | float) -> str:
    """Return the level that a text or a number names (17, 5.0, ``DML_FEATURE_LEVEL_5_0``) for an operator's versions.

    What names none comes back as text, so that who looks for it says so.
    """
    return tables(dialect).operator(operator).dialect.level_named(level) or shown(level).strip("'")


def find_operator(dialect: str, operator: str, level: str) -> OperatorSpec:
    """Return an operator that exists at `level`; raise InputError or NoTable that says what does."""
    spec = tables(dialect).operator(operator)
    spec.dialect.check_level(level)
    if level not in spec.levels:
        raise InputError(f"{dialect} {operator} does not exist at {level}; it does at {spec.levels}")
    return spec


@dataclass(frozen=True, slots=True)
class ValidDescriptors:
    """Draws descriptors that an operator accepts at one level: by the support row of any of its cases."""

    sides: Sequence[Resolved]
    problems: Sequence[Problem]
    fast: Sequence[Callable[[Mapping[str, Any]], bool]]
    shown: list[bool] = field(default_factory=list)

    @property
    def spec(self) -> OperatorSpec:
        return self.sides[0].spec

    def draw(self, pick: Callable[[int, int], int], searches: int = SEARCHES) -> Descriptor | None:
        """Return one valid descriptor, None where these choices led nowhere."""
        return solve(one_of(pick, self.problems), pick, self._checked, searches) if self.problems else None

    def problem_of(self, descriptor: Descriptor) -> Problem:
        """Return the problem with the support row that holds for a descriptor."""
        if len(self.problems) > 1:
            for problem in self.problems:
                draft = problem.draft()
                draft.fields.update({n: descriptor.fields.get(n, info.default) for n, info in problem.fields.items()})
                if problem.when is not None and evaluate(problem.when, draft.context) is True:
                    return problem
        return self.problems[0]

    def _checked(self, made: Descriptor) -> Descriptor | None:
        # What the compiled checks refuse may still be valid: their agreement is for tests to show.
        valid = all(fast(made.fields) for fast in self.fast) or not any(explain_at(made, side) for side in self.sides)
        return made if valid else None

    def require(self) -> None:
        """Raise InputError that names the operator and its most refusing rules if nothing valid can be found."""
        if self.shown:
            return
        refusals: Counter[str] = Counter()
        for seed in range(_PROBES):
            pick = Random(seed).randint  # noqa: S311  # repeatable on purpose
            if self.draw(pick) is not None:
                self.shown.append(True)
                return
            for problem in self.problems:
                search = Search(problem, problem.draft(), Random(seed).randint)  # noqa: S311
                search.run(MAX_STEPS)
                refusals += search.refusals
        side = self.sides[0]
        blamed = ", ".join(f"{name} ({count} times)" for name, count in refusals.most_common(3))
        raise InputError(
            f"no valid descriptor of {side.spec.dialect.name} {side.spec.name} at {side.level} was found in "
            f"{_PROBES} searches; what refused most: {blamed or 'no rule: a support row leaves nothing to choose'}"
        )


_known: WeakKeyDictionary[OperatorSpec, dict[Any, ValidDescriptors]] = WeakKeyDictionary()


def valid_descriptors(
    spec: OperatorSpec, level: str, basis: Basis = "documented", *, proven: bool = True
) -> ValidDescriptors:
    """Return what draws valid descriptors of `spec` at `level`, made once.

    proven: raise InputError where it finds nothing (see `require`).
    """
    kept = _known.setdefault(spec, {})
    if (level, basis) not in kept:
        wanted: list[Side] = ["documented", "observed"] if basis == "both" else [basis]
        sides: list[Resolved] = []
        for side in wanted:
            resolved = spec.resolve(level, side)
            if resolved is not None and all(resolved.key != other.key for other in sides):
                sides.append(resolved)
        fast = [compile_cases(side) if side.cases else compile_resolved(side) for side in sides]
        made = ValidDescriptors(sides, [Problem(rows, when=when) for rows, when in rows_of(sides)], fast)
        kept[level, basis] = made
    if proven:
        kept[level, basis].require()
    return kept[level, basis]
