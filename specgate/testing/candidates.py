"""What a choice may be, in the order to try it: what the rules leave first, one of it drawn freely."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import RECORDS
from specgate.testing.bounds import View
from specgate.testing.choices import one_of, rotated
from specgate.testing.domains import (
    FEW,
    FLOATS,
    NUMBERS,
    OBJECTS,
    SIZES,
    SMALL,
    WILD,
    element_candidates,
    element_kind,
    integers,
    number_limits,
    text_candidates,
)
from specgate.testing.draft import Key
from specgate.testing.fused import operator_candidates
from specgate.testing.layouts import layout_candidates
from specgate.testing.places import MAX_ARRAY, MAX_COUNT, Room
from specgate.testing.problem import LAYOUT, Problem
from specgate.testing.ranges import TOP, Span, Values, meet

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from specgate.spec.forms import FieldInfo
    from specgate.testing.constraints import Budget, Constraint
    from specgate.testing.draft import Draft
    from specgate.testing.questions import Question

__all__ = ["candidates"]

_MAX_CONSTANT: Final = 16
#: Of a range, so many numbers from its low end.
_STEPS: Final = 5
#: Where rules leave nothing, so many are tried all the same: the rules that refuse them are those to blame.
_BLAMED: Final = 4
_SPANS: Final = 8


def candidates(
    question: Question,
    problem: Problem,
    draft: Draft,
    pick: Callable[[int, int], int],
    met: Collection[Constraint | Budget] = (),
    blame: set[Key] | None = None,
) -> Iterator[Any]:
    """Yield answers to try.

    met: constraints that no answer can violate any more, so that what they say is of no interest. blame: gets what to
    reconsider where rules leave no answer.
    """
    return _Chooser(question, problem, draft, pick, met, set() if blame is None else blame).answers()


class _Chooser:
    """Finds the answers to one question."""

    def __init__(
        self,
        question: Question,
        problem: Problem,
        draft: Draft,
        pick: Callable[[int, int], int],
        met: Collection[Constraint | Budget],
        blame: set[Key],
    ) -> None:
        self.blame = blame
        self.question = question
        self.slot = question.slot
        self.problem = problem
        self.draft = draft
        self.pick = pick
        self.met = met
        self.info: FieldInfo = problem.fields[question.slot.partition("[")[0]]
        self.aimed = problem.goal is not None
        self.limit = problem.row_range(self.info.name) if question.aspect in {"attribute", "item", "member"} else None

    def answers(self) -> Iterator[Any]:
        aspect = self.question.aspect
        if aspect == "rank":
            plain = self.pick(0, 3) == 3
            return ((rank, plain) for rank in self._among(self.problem.ranks(self.slot)))
        if aspect == "value":
            return self._constants()
        if aspect in LAYOUT:
            tensor = self.draft.tensor(self.slot)
            sizes = [s for s in (tensor.sizes if tensor else None) or () if isinstance(s, int)]
            shared = self.info.kind == "input"
            return layout_candidates(aspect, sizes, self._mentions, self.pick, shared=shared)
        if aspect == "present":
            return self._among(self._presence())
        if aspect == "type":
            return self._types()
        return self._sizes() if aspect == "size" else self._attribute()

    def _mentions(self) -> list[Any]:
        turn = self.question.at if self.question.aspect in {"size", "item"} else None
        found: dict[Any, None] = {}
        for constraint in self.problem.by_key.get(self.question.key, ()):
            if constraint not in self.met:
                found.update(dict.fromkeys(constraint.mentions(self.draft, turn)))
        return list(found)

    def _allowed(self, room: Room = "any") -> Values | None:
        allowed = View(self.problem, self.draft, self.met, room).allowed(self.question.ref)
        return meet(allowed, self.limit)

    def _among(self, domain: Sequence[Any]) -> Iterator[Any]:
        """Yield the members of a domain, those that the rules leave first, and the others where these are none."""
        allowed = self._allowed()
        inside = [item for item in domain if _holds(allowed, item)]
        yield from rotated(self.pick, inside)
        if self.aimed or not inside:
            rest = [item for item in domain if item not in inside]
            yield from islice(rotated(self.pick, rest), len(rest) if self.aimed else _BLAMED)

    def _presence(self) -> list[Any]:
        options: list[Any] = [True]
        if self.info.type == "tensor[]":
            options = [*range(1, MAX_ARRAY + 1)]
        return [False, *options, *options] if self.problem.omissible(self.slot) else options

    def _types(self) -> Iterator[Any]:
        domain = self.problem.types(self.slot)
        allowed = self._allowed()
        limits = [cell.types for cell in self.problem.cells(self.info.name) if cell.types is not None]
        usual = [t for t in domain if all(t in limit for limit in limits)] or domain
        inside = [t for t in usual if _holds(allowed, t)]
        yield from rotated(self.pick, inside)
        rest = [t for t in domain if t not in inside]
        if inside and not self.aimed:
            rest = [t for t in rest if _holds(allowed, t)]
        yield from islice(rest, len(rest) if self.aimed else _BLAMED)

    def _sizes(self) -> Iterator[Any]:
        wild = self.problem.goal is not None and self.problem.goal.wild
        usual = (*SIZES, *WILD) if wild else SIZES
        yield from self._numbers(usual, lambda number: 0 <= number < 2**32)
        if self.aimed:
            yield one_of(self.pick, usual)
            yield from (n for n in _near(self._mentions()) if 0 <= n < 2**32)
            yield from rotated(self.pick, [1, 2, 3, 4, 5, 0, *(WILD if wild else ())])

    def _numbers(
        self, usual: Sequence[Any], legal: Callable[[Any], bool], rooms: Sequence[Room] = ("wide", "fair", "any")
    ) -> Iterator[Any]:
        """Yield usual numbers that the rules leave, or else those at the ends of what they leave."""
        seen: list[Values | None] = []
        for room in rooms if self.draft.wide else rooms[1:]:
            allowed = self._allowed(room)
            if allowed in seen:
                continue
            seen.append(allowed)
            inside = [n for n in usual if _holds(allowed, n) and legal(n)]
            if self.slot in self.draft.plain and 1 in inside:
                yield 1
            yield from dict.fromkeys(rotated(self.pick, inside))
            if isinstance(allowed, tuple):
                ends = [n for n in _ends(allowed) if legal(n) and n not in usual]
                yield from rotated(self.pick, ends)
            elif allowed is None:
                break
        if seen[-1] == ():
            self._blame()

    def _blame(self) -> None:
        """Note what to reconsider where nothing is left: what the rules read that leave nothing."""
        near = self._reads([self.question.key])
        alone = View(self.problem, self.draft, self.met, depth=0).allowed(self.question.ref)
        self.blame |= near if alone == () else self._reads(near)

    def _reads(self, keys: Iterable[Key]) -> set[Key]:
        """Return what the rules that concern `keys` read."""
        constraints = {c for key in keys for c in self.problem.by_key.get(key, ()) if c not in self.met}
        return set().union(*(constraint.reads for constraint in constraints))

    def _constants(self) -> Iterator[Any]:
        """Yield the elements of a constant, or None for a tensor that is none; only where a rule reads them."""
        tensor = self.draft.tensor(self.slot)
        if tensor is None or tensor.sizes is None or Key(self.slot, "value") not in self.problem.read:
            yield None
            return
        count = 1
        for size in tensor.sizes:
            count *= size if isinstance(size, int) else 0
        kind, bits = element_kind(self.problem.spec.dialect, tensor.type)
        if count > _MAX_CONSTANT or kind == "c":
            yield None
            return
        forced = self.slot in self.draft.constants
        constant = forced or self.pick(0, 3) > 0
        if not constant:
            yield None
        if count == 1:
            yield from ((value,) for value in self._elements(kind, bits))
        else:
            yield tuple(next(element_candidates(kind, bits, list, self.pick)) for _ in range(count))
        if constant and not forced:
            yield None

    def _elements(self, kind: str, bits: int) -> Iterator[Any]:
        allowed = self._allowed()
        found = element_candidates(kind, bits, self._mentions, self.pick)
        yield from chain(
            (n for n in islice(found, len(SMALL)) if _holds(allowed, n)),
            element_candidates(kind, bits, self._mentions, self.pick),
        )

    def _attribute(self) -> Iterator[Any]:
        info, problem = self.info, self.problem
        base = info.type.removesuffix("[]")
        counted = info.type.endswith("[]") and self.question.aspect == "attribute"
        if counted:
            return self._among(range(MAX_COUNT + 1))
        if base in RECORDS and self.question.aspect == "attribute":
            record: Any = RECORDS[base]
            return iter([record(*[None] * len(record._fields))])
        if base == "operator":
            return operator_candidates(problem, info.name, self.pick)
        words = problem.words(self.slot)
        if words is not None or base == "bool":
            domain = [False, True] if words is None else list(words)
            return (word for word in self._among(domain) if problem.legal(self.slot, word))
        return self._scalars(base)

    def _scalars(self, base: str) -> Iterator[Any]:
        problem, info = self.problem, self.info
        found: Iterator[Any]
        if base == "scalar":
            kind, bits = element_kind(problem.spec.dialect, self.draft.fields.get(info.of or ""))
            found = element_candidates("f" if kind == "x" else kind, bits or 32, self._mentions, self.pick)
        elif base in {"float", "scale-bias"}:
            found = self._numbers(FLOATS, lambda _: True, ("any", "any"))
        elif base in NUMBERS or base == "size-2d":
            found = self._integers((0, 2**32 - 1) if base == "size-2d" else number_limits(problem.spec, info.name))
        elif base in OBJECTS:
            found = rotated(self.pick, OBJECTS[base])
        else:
            found = text_candidates(self._mentions, self.pick)
        return (value for value in found if problem.legal(info.name, value))

    def _integers(self, limits: tuple[int, int]) -> Iterator[int]:
        low, high = limits
        if self.pick(0, 15) == 15:  # now and then any number, however large
            number = self.pick(low, high)
            if _holds(self._allowed("fair"), number):
                yield number
        signed = SMALL if low < 0 else FEW
        usual = [n for n in signed if low <= n <= high]
        yield from self._numbers(usual, lambda number: low <= number <= high)
        if self.aimed:
            yield from integers(low, high, self._mentions, self.pick)


def _holds(allowed: Values | None, item: Any) -> bool:
    if allowed is None:
        return True
    if isinstance(allowed, frozenset):
        return item in allowed if isinstance(item, str) else bool(item) in allowed
    return isinstance(item, bool) or (isinstance(item, int | float) and any(span.holds(item) for span in allowed))


def _ends(allowed: tuple[Span, ...]) -> list[Any]:
    """Return numbers near the ends of ranges, those of small ranges all."""
    found: dict[Any, None] = {}
    for span in allowed[:_SPANS]:
        step = max(span.step, 1)
        if span.low > -TOP:
            found.update(dict.fromkeys(n for n in (span.low + step * k for k in range(_STEPS)) if n <= span.high))
        if span.high < TOP:
            found.setdefault(span.high if span.step <= 1 else span.high - (span.high - span.low) % step)
            if span.low <= -TOP:
                found.setdefault(span.high - 1)
    return list(found)


def _near(mentions: list[Any]) -> list[int]:
    """Numbers that rules mention, then those just above and below."""
    numbers = [n for n in mentions if isinstance(n, int)]
    return list(dict.fromkeys(n + step for step in (0, 1, -1) for n in numbers))
