"""Whether whole texts match a regular expression, in a time that their length and the pattern's bound.

The places in the pattern where a text may be are followed all at once, character by character: nothing is tried and
taken back. What follows from such a set of places and a kind of character is remembered.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.character_sets import PERL
from specgate.execution.kernels.patterns import Node, parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["match_pattern"]

#: Places that a pattern may have, and that all remembered sets have together.
_MOST_PLACES: Final = 2**16
_MOST_REMEMBERED: Final = 2**20
#: Kinds of what stands before and behind a place.
_EDGE, _NEWLINE, _WORDS, _OTHER = range(4)


def match_pattern(texts: NDArray[Any], *, pattern: str | None = None) -> NDArray[np.bool_]:
    """Return whether each text as a whole matches the pattern, in RE2's syntax.

    Raises InputError for a pattern that RE2 does not take, and NoKernel for one that is too large or has what is not
    computed.
    """
    if texts.dtype != np.object_ or not all(isinstance(text, str) for text in texts.flat):
        raise InputError("match_pattern: expected texts alone")
    if pattern is None:
        raise NoKernel("match_pattern: it is not said what is matched without a pattern")
    machine = _Machine(parsed(pattern))
    result = memory.empty(texts.shape, np.dtype(np.bool_))
    known: dict[str, bool] = {}
    for place, text in memory.in_time(enumerate(texts.flat)):
        if text not in known:
            known[text] = machine.matches(text)
        result.flat[place] = known[text]
    return result


class _Machine:
    """The places of a pattern: each reads a character of a set, asks what is around it, or leads on.

    sets: of each place, the number of the set that it reads, -1 of others; asks: what it asks, empty of others.
    """

    def __init__(self, pattern: Node) -> None:
        self.sets: list[int] = []
        self.asks: list[str] = []
        self.leads: list[list[int]] = []
        self._numbers: dict[Any, int] = {}
        self.last = self._place()
        self.first = self._built(pattern, self.last)
        ranges = [*self._numbers, ((10, 10),), PERL["w"]]
        self._begins = sorted({0, *(edge for each in ranges for low, high in each for edge in (low, high + 1))})
        self._members = [[self._within(each, begin) for each in ranges] for begin in self._begins]
        self._forget()

    def _place(self, leads: Iterable[int] = (), *, reads: int = -1, asks: str = "") -> int:
        if len(self.sets) >= _MOST_PLACES:
            raise NoKernel(f"patterns of more than {_MOST_PLACES} places are not computed")
        self.sets.append(reads)
        self.asks.append(asks)
        self.leads.append(list(leads))
        return len(self.sets) - 1

    def _built(self, node: Node, then: int) -> int:
        """Return the place where a part begins that leads on to `then`."""
        if node.kind == "set":
            return self._place([then], reads=self._numbers.setdefault(node.ranges, len(self._numbers)))
        if node.kind == "sequence":
            for part in reversed(node.parts):
                then = self._built(part, then)
            return then
        if node.kind == "choice":
            return self._place([self._built(part, then) for part in node.parts])
        if node.kind != "repeat":
            return self._place([then], asks=node.kind)
        (part,) = node.parts
        if node.most is None:
            again = self._place([then])
            self.leads[again].append(self._built(part, again))
            then = again
        else:
            for _ in memory.in_time(range(node.most - node.least)):
                then = self._place([then, self._built(part, then)])
        for _ in memory.in_time(range(node.least)):
            then = self._built(part, then)
        return then

    @staticmethod
    def _within(ranges: Any, code: int) -> bool:
        return any(low <= code <= high for low, high in ranges)

    def _forget(self) -> None:
        self._states: dict[tuple[frozenset[int], int], int] = {}
        self._kept: list[tuple[frozenset[int], int]] = []
        self._steps: list[dict[int, int]] = []
        self._ends: list[bool | None] = []
        self._size = 0
        self._start = self._state(frozenset([self.first]), _EDGE)

    def _state(self, places: frozenset[int], before: int) -> int:
        key = (places, before)
        if key not in self._states:
            self._states[key] = len(self._kept)
            self._kept.append(key)
            self._steps.append({})
            self._ends.append(None)
            self._size += len(places) + 8
        return self._states[key]

    def matches(self, text: str) -> bool:
        """Return whether the whole text matches."""
        state = self._start
        classes: dict[str, int] = {}
        for char in memory.in_time(text):
            kind = classes.get(char)
            if kind is None:
                kind = classes[char] = bisect_right(self._begins, ord(char)) - 1
            following = self._steps[state].get(kind)
            if following is None:
                following = self._step(state, kind)
            state = following
            if not self._kept[state][0]:
                return False
        found = self._ends[state]
        if found is None:
            places, before = self._kept[state]
            found = self._ends[state] = self.last in self._reached(places, before, _EDGE)
        return found

    def _step(self, state: int, kind: int) -> int:
        """Return the state behind a character of a kind, and remember it."""
        places, before = self._kept[state]
        members = self._members[kind]
        here = _NEWLINE if members[-2] else _WORDS if members[-1] else _OTHER
        reached = self._reached(places, before, here)
        after = frozenset(self.leads[p][0] for p in reached if self.sets[p] >= 0 and members[self.sets[p]])
        if self._size > _MOST_REMEMBERED:
            self._forget()
            return self._state(after, here)
        following = self._state(after, here)
        self._steps[state][kind] = following
        return following

    def _reached(self, places: Iterable[int], before: int, behind: int) -> set[int]:
        """Return the places that can be reached from some without a character, between two kinds of characters."""
        found, waiting = set(places), list(places)
        for place in self._popped(waiting):
            if self.sets[place] >= 0 or not _holds(self.asks[place], before, behind):
                continue
            for following in self.leads[place]:
                if following not in found:
                    found.add(following)
                    waiting.append(following)
        return found

    @staticmethod
    def _popped(waiting: list[int]) -> Iterator[int]:
        while waiting:
            yield waiting.pop()


def _holds(asked: str, before: int, behind: int) -> bool:
    if not asked:
        return True
    if asked in {"begin", "line-begin"}:
        return before == _EDGE or (asked == "line-begin" and before == _NEWLINE)
    if asked in {"end", "line-end"}:
        return behind == _EDGE or (asked == "line-end" and behind == _NEWLINE)
    return ((before == _WORDS) != (behind == _WORDS)) == (asked == "word-edge")
