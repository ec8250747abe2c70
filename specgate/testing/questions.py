"""The choices that make a descriptor, in order, and which further ones the answer to each opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import RECORDS
from specgate.testing.bounds import Ref
from specgate.testing.draft import Draft, Key
from specgate.testing.places import MAX_ARRAY
from specgate.testing.problem import LAYOUT, Problem

if TYPE_CHECKING:
    from specgate.spec.forms import FieldInfo

__all__ = ["Question", "answer", "constant_question", "first_questions"]

#: In this order: what is decided early narrows what comes later, and outputs come after all that determines them.
_PHASES: Final = (
    "present", "type", "word", "rank", "number", "count", "item", "size of input", "value", "size of output", *LAYOUT,
)  # fmt: skip


class Question(NamedTuple):
    """One choice. phase, order, at: where it is in the row of questions; at: the dimension, element or member."""

    phase: int
    order: int
    at: int
    slot: str
    aspect: str

    @property
    def ref(self) -> Ref:
        """The place that the choice fills."""
        return Ref(self.slot, self.aspect, self.at)

    @property
    def key(self) -> Key:
        """What the choice is about, as rules read it."""
        return self.ref.key


def _ask(phase: str, slot: str, aspect: str, order: int, at: int = 0) -> Question:
    return Question(_PHASES.index(phase), order, at, slot, aspect)


def constant_question(slot: str) -> Question:
    """Return the question for the elements of the tensor at `slot`."""
    return _ask("value", slot, "value", 0)


def first_questions(problem: Problem, draft: Draft) -> list[Question]:
    """Return the questions that every descriptor begins with, and mark what they leave open."""
    found = [_ask("present", name, "present", order) for order, name in enumerate(problem.fields)]
    draft.waiting.update(Key(name, "present") for name in problem.fields)
    for slot in problem.slots():
        draft.waiting.update(Key(slot, aspect) for aspect in ("value", *LAYOUT))
    return found


def answer(question: Question, value: Any, problem: Problem, draft: Draft) -> list[Question]:
    """Write one answer into the draft; return the questions that it opens."""
    slot, aspect = question.slot, question.aspect
    draft.waiting.discard(question.key)
    if aspect != "rank":
        draft.touched.add(question.key)
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
    elif aspect == "attribute":
        draft.held.discard(slot)
        return _answer_attribute(question, value, problem.fields[slot], draft)
    elif aspect == "item":
        items = draft.fields[slot]
        draft.fields[slot] = [*items[: question.at], value, *items[question.at + 1 :]]
    elif aspect == "member":
        record = draft.fields[slot]
        draft.fields[slot] = record._replace(**{record._fields[question.at]: value})
    else:
        draft.change(slot, **{aspect: value})
    return []


def _answer_attribute(question: Question, value: Any, info: FieldInfo, draft: Draft) -> list[Question]:
    slot = question.slot
    if info.type.endswith("[]"):
        draft.fields[slot] = [None] * value
        return [_ask("item", slot, "item", question.order, i) for i in range(value)]
    draft.fields[slot] = value
    if info.type in RECORDS:
        return [_ask("item", slot, "member", question.order, i) for i in range(len(value))]
    return []


def _answer_presence(name: str, given: Any, problem: Problem, draft: Draft) -> list[Question]:
    info = problem.fields[name]
    order = list(problem.fields).index(name)
    array = info.type == "tensor[]"
    if array or (info.tensor and not given):
        missing = [f"{name}[{i}]" for i in range(int(given), MAX_ARRAY)] if array else [name]
        draft.waiting.difference_update(Key(slot, aspect) for slot in missing for aspect in ("value", *LAYOUT))
    if given is False:
        draft.left_out.add(name)
        draft.fields[name] = info.default
        return []
    if not (array or info.tensor):
        draft.fields[name] = None
        draft.held.add(name)
        early = info.type == "bool" or problem.words(name) is not None
        late = info.type.endswith("[]") or info.type == "operator"
        return [_ask("word" if early else "count" if late else "number", name, "attribute", order)]
    draft.blank(name, given if array else None)
    found: list[Question] = []
    for slot in [f"{name}[{i}]" for i in range(given)] if array else [name]:
        found.append(_ask("type", slot, "type", problem.order["type"][slot]))
        found.append(_ask("rank", slot, "rank", problem.order["shape"][slot]))
        found += [_ask(a, slot, a, order) for a in LAYOUT if Key(slot, a) in problem.read]
        found.append(_ask("value", slot, "value", order))
    return found
