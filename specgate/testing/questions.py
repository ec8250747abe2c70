"""The choices that make a descriptor, in order: what each may be, and which further ones its answer opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.testing.choices import one_of, rotated
from specgate.testing.domains import SIZES, WILD, element_candidates, element_kind, scalar_candidates
from specgate.testing.draft import Draft, Key
from specgate.testing.layouts import layout_candidates
from specgate.testing.problem import LAYOUT, MAX_ARRAY, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from specgate.testing.constraints import Budget, Constraint

__all__ = ["Question", "answer", "candidates", "constant_question", "first_questions"]

#: In this order: what is decided early narrows what comes later, and outputs come after all that determines them.
_PHASES: Final = (
    "present", "type", "word", "rank", "number", "item", "size of input", "value", "size of output", *LAYOUT,
)  # fmt: skip
_MAX_CONSTANT: Final = 16


class Question(NamedTuple):
    """One choice. phase, order, at: where it stands in the row of questions; at: the dimension or element."""

    phase: int
    order: int
    at: int
    slot: str
    aspect: str

    @property
    def key(self) -> Key:
        """What the choice is about, as rules read it."""
        return Key(self.slot, {"rank": "shape", "size": "shape", "item": "attribute"}.get(self.aspect, self.aspect))


def _ask(phase: str, slot: str, aspect: str, order: int, at: int = 0) -> Question:
    return Question(_PHASES.index(phase), order, at, slot, aspect)


def first_questions(problem: Problem, draft: Draft) -> list[Question]:
    """Return the questions that every descriptor begins with, and mark what they leave open."""
    found = [_ask("present", name, "present", order) for order, name in enumerate(problem.fields)]
    draft.waiting.update(Key(name, "present") for name in problem.fields)
    for slot in problem.slots():
        draft.waiting.update(Key(slot, aspect) for aspect in ("value", *LAYOUT))
    return found


def candidates(
    question: Question,
    problem: Problem,
    draft: Draft,
    pick: Callable[[int, int], int],
    met: Collection[Constraint | Budget] = (),
) -> Iterator[Any]:
    """Yield answers to try, the first one drawn freely where the choice is free.

    met: constraints that no answer can violate any more, so that what they mention is of no interest.
    """

    def mentions() -> list[Any]:
        turn = question.at if question.aspect in {"size", "item"} else None
        found: dict[Any, None] = {}
        for constraint in problem.by_key.get(question.key, ()):
            if constraint in met:
                continue
            found.update(dict.fromkeys(constraint.mentions(draft, turn)))
        return list(found)

    slot, aspect = question.slot, question.aspect
    info = problem.fields[slot.partition("[")[0]]
    if aspect == "present":
        yield from _presence(problem, slot, pick)
    elif aspect == "type":
        yield from _types(problem, slot, mentions, pick)
    elif aspect == "rank":
        found = _ranks(problem, slot, mentions, pick)
        yield from ((rank, plain) for plain in (pick(0, 3) == 3,) for rank in found)
    elif aspect == "size":
        yield from _sizes(problem, draft, question, mentions, pick)
    elif aspect == "value":
        yield from _constants(problem, draft, slot, mentions, pick)
    elif aspect in LAYOUT:
        tensor = draft.tensor(slot)
        sizes = [s for s in (tensor.sizes if tensor else None) or () if isinstance(s, int)]
        yield from layout_candidates(aspect, sizes, mentions, pick, shared=info.kind == "input")
    elif info.type.endswith("[]") and aspect == "attribute":
        yield from rotated(pick, range(_MAX_CONSTANT // 2))
    else:
        found = scalar_candidates(problem.spec, info, problem.words(slot), mentions, pick)
        yield from (value for value in found if problem.legal(slot, value))


def _presence(problem: Problem, name: str, pick: Callable[[int, int], int]) -> Iterator[Any]:
    options: list[Any] = [True]
    if problem.fields[name].type == "tensor[]":
        options = [*range(1, MAX_ARRAY + 1)]
    if problem.omissible(name):
        options = [False, *options, *options]
    yield from rotated(pick, options)


def _types(
    problem: Problem, slot: str, mentions: Callable[[], list[Any]], pick: Callable[[int, int], int]
) -> Iterator[Any]:
    domain = problem.types(slot)
    usual = [t for t in domain if all(t in (c.types or domain) for c in problem.cells(slot.partition("[")[0]))]
    order = list(rotated(pick, usual or domain))
    yield from order[:1]
    yield from (word for word in mentions() if word in domain)
    yield from order[1:]
    yield from (word for word in domain if word not in order)


def _near(mentions: list[Any]) -> list[int]:
    """Numbers that rules mention, then those just above and below."""
    numbers = [n for n in mentions if isinstance(n, int)]
    return list(dict.fromkeys(n + step for step in (0, 1, -1) for n in numbers))


def _ranks(
    problem: Problem, slot: str, mentions: Callable[[], list[Any]], pick: Callable[[int, int], int]
) -> Iterator[Any]:
    domain = problem.ranks(slot)
    if not domain:
        return
    yield one_of(pick, domain)
    yield from (n for n in _near(mentions()) if n in domain)
    yield from rotated(pick, domain)


def _sizes(
    problem: Problem,
    draft: Draft,
    question: Question,
    mentions: Callable[[], list[Any]],
    pick: Callable[[int, int], int],
) -> Iterator[Any]:
    if question.slot in draft.plain:
        yield 1
    kind = problem.fields[question.slot.partition("[")[0]].kind
    wild = problem.goal is not None and problem.goal.wild
    free = one_of(pick, (*SIZES, *WILD) if wild else SIZES)
    if kind == "input" or pick(0, 3) == 3:
        yield free
    yield from (n for n in _near(mentions()) if 0 <= n < 2**32)
    yield free
    yield from rotated(pick, [1, 2, 3, 4, 5, 0])
    if wild:
        yield from rotated(pick, WILD)


def _constants(
    problem: Problem,
    draft: Draft,
    slot: str,
    mentions: Callable[[], list[Any]],
    pick: Callable[[int, int], int],
) -> Iterator[Any]:
    """Yield the elements of a constant, or None for a tensor that is none; only where a rule reads them."""
    tensor = draft.tensor(slot)
    if tensor is None or tensor.sizes is None or Key(slot, "value") not in problem.read:
        yield None
        return
    count = 1
    for size in tensor.sizes:
        count *= size if isinstance(size, int) else 0
    kind, bits = element_kind(problem.spec.dialect, tensor.type)
    if count > _MAX_CONSTANT or kind == "c":
        yield None
        return
    forced = slot in draft.constants
    constant = forced or pick(0, 3) > 0
    if not constant:
        yield None
    if count == 1:
        yield from ((value,) for value in element_candidates(kind, bits, mentions, pick))
    else:
        yield tuple(next(element_candidates(kind, bits, list, pick)) for _ in range(count))
    if constant and not forced:
        yield None


def constant_question(slot: str) -> Question:
    """Return the question for the elements of the tensor at `slot`."""
    return _ask("value", slot, "value", 0)


def answer(question: Question, value: Any, problem: Problem, draft: Draft) -> list[Question]:
    """Write one answer into the draft; return the questions that it opens."""
    slot, aspect = question.slot, question.aspect
    draft.waiting.discard(question.key)
    if aspect == "present":
        return _answer_presence(slot, value, problem, draft)
    if aspect == "rank":
        rank, plain = value
        draft.change(slot, sizes=(None,) * rank)
        (draft.plain.add if plain else draft.plain.discard)(slot)
        kind = problem.fields[slot.partition("[")[0]].kind
        return [_ask(f"size of {kind}", slot, "size", question.order, d) for d in range(rank)]
    if aspect == "size":
        tensor = draft.tensor(slot)
        sizes = tensor.sizes if tensor is not None and tensor.sizes is not None else ()
        draft.change(slot, sizes=(*sizes[: question.at], value, *sizes[question.at + 1 :]))
    elif aspect == "attribute" and problem.fields[slot].type.endswith("[]"):
        draft.fields[slot] = [None] * value
        draft.held.discard(slot)
        return [_ask("item", slot, "item", question.order, i) for i in range(value)]
    elif aspect == "item":
        items = draft.fields[slot]
        draft.fields[slot] = [*items[: question.at], value, *items[question.at + 1 :]]
    elif aspect == "attribute":
        draft.fields[slot] = value
        draft.held.discard(slot)
    else:
        draft.change(slot, **{aspect: value})
    return []


def _answer_presence(name: str, given: Any, problem: Problem, draft: Draft) -> list[Question]:
    info = problem.fields[name]
    order = list(problem.fields).index(name)
    if given is False:
        draft.left_out.add(name)
        draft.fields[name] = info.default
        return []
    if not info.type.startswith("tensor"):
        draft.fields[name] = None
        draft.held.add(name)
        early = info.type == "bool" or problem.words(name) is not None
        return [_ask("word" if early else "number", name, "attribute", order)]
    array = info.type == "tensor[]"
    draft.blank(name, given if array else None)
    found: list[Question] = []
    for slot in [f"{name}[{i}]" for i in range(given)] if array else [name]:
        found.append(_ask("type", slot, "type", problem.order["type"][slot]))
        found.append(_ask("rank", slot, "rank", problem.order["shape"][slot]))
        found += [_ask(a, slot, a, order) for a in LAYOUT if Key(slot, a) in problem.read]
        found.append(_ask("value", slot, "value", order))
    return found
