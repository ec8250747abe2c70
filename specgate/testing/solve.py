"""Choose a descriptor step by step, and take back the choices that leave a rule without a chance.

The rules themselves guide the search: judged in three values over what is chosen so far, a rule that is already false
refuses the last choice, and the choices that it read are the ones to reconsider. Nothing here knows any operator.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from specgate.testing.candidates import candidates
from specgate.testing.questions import Question, answer, first_questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.testing.constraints import Budget, Constraint
    from specgate.testing.draft import Draft, Key
    from specgate.testing.problem import Problem

__all__ = ["MAX_STEPS", "SEARCHES", "Search", "solve"]

MAX_STEPS = 300
SEARCHES = 12
#: A search that had to take back so much began badly: another one is cheaper.
_MAX_RETREATS = 8
_MAX_AIMED = 30
_WIDE = 8
T = TypeVar("T")


def solve(
    problem: Problem,
    pick: Callable[[int, int], int],
    accept: Callable[[Descriptor], T | None],
    searches: int = SEARCHES,
) -> T | None:
    """Return what `accept` makes of a solution, None where none was found in so many searches."""
    for _ in range(searches):
        draft = Search(problem, problem.draft(), pick).run(MAX_STEPS)
        made = None if draft is None else accept(draft.descriptor())
        if made is not None:
            return made
    return None


class _Step:
    """One choice on the way: how things stood before it, and what was found to refuse its answers."""

    __slots__ = ("agenda", "answers", "blame", "met", "question", "state")

    def __init__(
        self, question: Question, answers: Iterator[Any], agenda: list[Question], search: Search, blame: set[Key]
    ) -> None:
        self.question = question
        self.answers = answers
        self.agenda = agenda
        self.state = search.draft.snapshot()
        self.met = set(search.met)
        self.blame = blame


class Search:
    """A depth-first search that jumps back to the choice to blame. refusals: how often each rule refused an answer."""

    def __init__(self, problem: Problem, draft: Draft, pick: Callable[[int, int], int]) -> None:
        self.problem = problem
        self.draft = draft
        self.pick = pick
        self.met: set[Constraint | Budget] = set()
        self.refusals: Counter[str] = Counter()
        self.tries = 0
        self.retreats = 0

    def run(self, max_steps: int, agenda: list[Question] | None = None) -> Draft | None:
        """Answer every question of `agenda` (all of a fresh descriptor's if not given); None after `max_steps`."""
        if agenda is None:
            self.draft.wide = self.pick(0, _WIDE)
        waiting = first_questions(self.problem, self.draft) if agenda is None else agenda
        trail: list[_Step] = []
        while waiting:
            question, *rest = waiting
            blame: set[Key] = set()
            answers = candidates(question, self.problem, self.draft, self.pick, frozenset(self.met), blame)
            step = _Step(question, answers, rest, self, blame)
            following = self._advance(step, max_steps)
            if following is None:
                following = self._back(step, trail, max_steps)
                if following is None:
                    return None
            else:
                trail.append(step)
            waiting = following
        return self.draft

    def _advance(self, step: _Step, max_steps: int) -> list[Question] | None:
        """Take the next answer that nothing refuses; return what is to be asked then."""
        for value in step.answers:
            self.tries += 1
            if self.tries > max_steps:
                return None
            opened = answer(step.question, value, self.problem, self.draft)
            if self._holds(step):
                agenda = list(step.agenda)
                for question in opened:
                    insort(agenda, question)
                return agenda
            self.draft.restore(step.state)
            self.met = set(step.met)
        return None

    def _holds(self, step: _Step) -> bool:
        for constraint in self.problem.by_key.get(step.question.key, ()):
            if constraint in self.met:
                continue
            verdict = constraint.judge(self.draft)
            if verdict is False:
                self.refusals[constraint.name] += 1
                step.blame |= constraint.reads
                return False
            if verdict is True:
                self.met.add(constraint)
        return True

    def _back(self, stuck: _Step, trail: list[_Step], max_steps: int) -> list[Question] | None:
        """Undo choices up to the latest one to blame that has another answer; None where there is none."""
        self.retreats += 1
        if self.retreats > (_MAX_RETREATS if self.problem.goal is None else _MAX_AIMED):
            return None
        blame = stuck.blame
        slots = {key.slot for key in blame} | {stuck.question.slot}
        while trail and self.tries <= max_steps:
            step = trail.pop()
            if step.question.key not in blame and not (
                step.question.aspect == "present" and step.question.slot in slots
            ):
                continue
            self.draft.restore(step.state)
            self.met = set(step.met)
            step.blame |= blame
            following = self._advance(step, max_steps)
            if following is not None:
                trail.append(step)
                return following
            blame = step.blame
            slots = {key.slot for key in blame} | {step.question.slot}
        return None
