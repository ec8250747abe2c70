"""Full-match regular expressions in RE2 syntax.

ONNX RegexFullMatch. Character sets are sorted, disjoint ranges of code points.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

Ranges = tuple[tuple[int, int], ...]

ALL: Final[Ranges] = ((0, sys.maxunicode),)
WORD: Final = re.compile(r"\w", re.ASCII)


def merge_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return sorted ranges with adjacent ones merged."""
    numbers: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if numbers and low <= numbers[-1][1] + 1:
            numbers[-1] = (numbers[-1][0], max(high, numbers[-1][1]))
        else:
            numbers.append((low, high))
    return tuple(numbers)


def complement(ranges: Ranges) -> Ranges:
    """Return the complement of sorted ranges."""
    begins = [0, *(high + 1 for _, high in ranges)]
    ends = [*(low - 1 for low, _ in ranges), ALL[0][1]]
    return tuple((low, high) for low, high in zip(begins, ends, strict=True) if low <= high)


def _make_ranges(*texts: str) -> Ranges:
    return merge_ranges((ord(text[0]), ord(text[-1])) for text in texts)


PERL: Final[dict[str, Ranges]] = {
    "d": _make_ranges("09"),
    "s": _make_ranges("\t\n", "\f\r", " "),
    "w": _make_ranges("09", "AZ", "_", "az"),
}
NAMED_SETS: Final[dict[str, Ranges]] = {
    "alnum": _make_ranges("09", "AZ", "az"),
    "alpha": _make_ranges("AZ", "az"),
    "ascii": _make_ranges("\0\x7f"),
    "blank": _make_ranges("\t", " "),
    "cntrl": _make_ranges("\0\x1f", "\x7f"),
    "digit": _make_ranges("09"),
    "graph": _make_ranges("!~"),
    "lower": _make_ranges("az"),
    "print": _make_ranges(" ~"),
    "punct": _make_ranges("!/", ":@", "[`", "{~"),
    "space": _make_ranges("\t\r", " "),
    "upper": _make_ranges("AZ"),
    "word": _make_ranges("09", "AZ", "_", "az"),
    "xdigit": _make_ranges("09", "AF", "af"),
}


@lru_cache(maxsize=1)
def _categories() -> dict[str, Ranges]:
    """Return the characters of each Unicode general category."""
    numbers_by_name: dict[str, list[tuple[int, int]]] = {}
    for code in range(sys.maxunicode + 1):
        ranges = numbers_by_name.setdefault(unicodedata.category(chr(code)), [])
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return {name: tuple(ranges) for name, ranges in numbers_by_name.items()}


def general(name: str) -> Ranges | None:
    """Return the characters of a general category (Lu) or group (L).

    None for other names.
    """
    if name == "Any":
        return ALL
    if len(name) > 2 or name in {"C", "Cn"}:  # Unicode versions differ in unassigned characters
        return None
    numbers = [span for key, ranges in _categories().items() if key.startswith(name) for span in ranges]
    return merge_ranges(numbers) if numbers else None


def _fold_case(char: str) -> str:
    """Return the case-folded form, which characters differing in case share."""
    text = char.casefold()
    text = text if len(text) == 1 else char.lower()
    return text if len(text) == 1 else char


@lru_cache(maxsize=1)
def _case_groups() -> tuple[tuple[int, ...], ...]:
    """Return groups of characters that differ in case only."""
    numbers_by_name: dict[str, list[int]] = {}
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if char.lower() != char or char.upper() != char or char.casefold() != char:
            numbers_by_name.setdefault(_fold_case(char), []).append(code)
    return tuple(tuple(codes) for codes in numbers_by_name.values() if len(codes) > 1)


def add_case_variants(ranges: Ranges) -> Ranges:
    """Return the characters and their case variants."""
    if not ranges or ranges == ALL:
        return ranges
    begins = [low for low, _ in ranges]

    def contains_code(code: int) -> bool:
        place = bisect_right(begins, code) - 1
        return place >= 0 and code <= ranges[place][1]

    variants = [(code, code) for codes in _case_groups() if any(map(contains_code, codes)) for code in codes]
    return merge_ranges([*ranges, *variants])


_MAX_REPETITIONS: Final = 1000
_MAX_NESTING: Final = 100
_MAX_LENGTH: Final = 2**16
_ESCAPED: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_COUNT: Final = re.compile(r"\{([0-9]+)(,([0-9]*))?\}", re.ASCII)
_FLAGS: Final = re.compile(r"\(\?([imsU]*)(-([imsU]+))?([:)])")
_NAME: Final = re.compile(r"\(\?P?<(\w+)>")
_CLASS: Final = re.compile(r"\[:(\^?)([a-z]+):\]")


class Node(NamedTuple):
    """Part of an expression.

    kind: set, with its ranges; sequence or choice, with parts; repeat, of one part; or zero-width: begin, end,
    line-begin, line-end, word-edge, no-word-edge. weight: number of repetitions in it.
    """

    kind: str
    parts: tuple[Node, ...] = ()
    ranges: Ranges = ()
    least: int = 0
    most: int | None = None
    weight: int = 1


def parse_pattern(text: str) -> Node:
    """Return the parsed pattern.

    Raises InputError for syntax that RE2 rejects, NoKernel for syntax that is not implemented.
    """
    if len(text) > _MAX_LENGTH:
        raise NoKernel(f"patterns of more than {_MAX_LENGTH} characters are not supported")
    reader = _Reader(text)
    node = reader.choice(0)
    if reader.at != len(text):
        raise reader.error("an unexpected )")
    return node


def _join_nodes(kind: str, parts: list[Node]) -> Node:
    if len(parts) == 1:
        return parts[0]
    return Node(kind, tuple(parts), weight=max((part.weight for part in parts), default=1))


class _Reader:
    """Left-to-right pattern parser.

    flags: those in force, of i, m, s and U.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.flags: frozenset[str] = frozenset()

    def error(self, expected: str) -> InputError:
        return InputError(f"the pattern {self.text!r:.60} has {expected} at character {self.at}")

    def starts_with(self, start: str) -> bool:
        return self.text.startswith(start, self.at)

    def choice(self, depth: int) -> Node:
        if depth > _MAX_NESTING:
            raise NoKernel(f"patterns with groups nested more than {_MAX_NESTING} deep are not supported")
        flags, nodes = self.flags, [self.sequence(depth)]
        while self.starts_with("|"):
            self.at += 1
            nodes.append(self.sequence(depth))
        self.flags = flags
        return _join_nodes("choice", nodes)

    def sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        repeated = False  # the last part ends with an operator, so another operator is invalid
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            bounds = self.repetition()
            if bounds is not None:
                if repeated or not parts:
                    raise self.error(
                        "a repetition operator without an operand" if not parts else "two repetition operators in a row"
                    )
                parts[-1] = self.repeat(parts[-1], *bounds)
                repeated = True
                continue
            parts += self.item(depth)
            repeated = False
        return _join_nodes("sequence", parts)

    def repetition(self) -> tuple[int, int | None] | None:
        """Parse a repetition operator, if any; laziness is irrelevant here.

        It does not change a full match.
        """
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        bounds = simple.get(self.text[self.at])
        end = self.at + 1
        if bounds is None:
            match = _COUNT.match(self.text, self.at)
            if not match:
                return None
            least = int(match[1][:9])
            maximum = least if match[2] is None else int(match[3][:9]) if match[3] else None
            if max(least, maximum or 0) > _MAX_REPETITIONS or (maximum is not None and maximum < least):
                raise self.error("a repetition out of range")
            bounds, end = (least, maximum), match.end()
        self.at = end + self.text.startswith("?", end)
        return bounds

    def repeat(self, part: Node, least: int, maximum: int | None) -> Node:
        times = (
            1
            if (least, maximum) in {(0, None), (1, None), (0, 1)}
            else (maximum if maximum is not None else least) or 1
        )
        weight = part.weight * times
        if weight > _MAX_REPETITIONS:
            raise self.error("too deeply nested repetitions")
        return Node("repeat", (part,), least=least, most=maximum, weight=weight)

    def item(self, depth: int) -> list[Node]:
        """Parse one part, a flag group (no part) or a quotation (several parts)."""
        char = self.text[self.at]
        if char == "(":
            return self.group(depth)
        if char == "[":
            return [self.set_of(self.parse_brackets())]
        if char == "\\":
            return self.escape()
        self.at += 1
        if char == ".":
            return [Node("set", ranges=ALL if "s" in self.flags else complement(((10, 10),)))]
        if char in "^$":
            is_multiline = "m" in self.flags
            return [
                Node(
                    ("line-begin" if is_multiline else "begin")
                    if char == "^"
                    else ("line-end" if is_multiline else "end")
                )
            ]
        return [self.literal(ord(char))]

    def literal(self, code: int) -> Node:
        return self.set_of(((code, code),))

    def set_of(self, ranges: Ranges) -> Node:
        return Node("set", ranges=add_case_variants(ranges) if "i" in self.flags else ranges)

    def group(self, depth: int) -> list[Node]:
        if self.starts_with("(?"):
            flags, name = _FLAGS.match(self.text, self.at), _NAME.match(self.text, self.at)
            if name:
                self.at = name.end()
            elif flags:
                before, self.at = self.flags, flags.end()
                self.flags = (before | set(flags[1])) - set(flags[3] or "")
                if flags[4] == ")":
                    return []
                nodes = self.closed_group(depth)
                self.flags = before
                return nodes
            else:
                raise self.error("a group that RE2 does not define")
        else:
            self.at += 1
        return self.closed_group(depth)

    def closed_group(self, depth: int) -> list[Node]:
        node = self.choice(depth + 1)
        if not self.starts_with(")"):
            raise self.error("an unterminated group")
        self.at += 1
        return [node if node.kind in {"choice", "sequence", "set"} else Node("sequence", (node,), weight=node.weight)]

    def escape(self) -> list[Node]:
        char = self.text[self.at + 1 : self.at + 2]
        if char == "Q":
            end = self.text.find("\\E", self.at + 2)
            quoted = self.text[self.at + 2 : end if end >= 0 else None]
            self.at = end + 2 if end >= 0 else len(self.text)
            return [self.literal(ord(c)) for c in quoted]
        kinds = {"A": "begin", "z": "end", "b": "word-edge", "B": "no-word-edge"}
        if char in kinds:
            self.at += 2
            return [Node(kinds[char])]
        if char == "C":
            raise NoKernel(r"patterns with \C (a single byte) are not supported")
        character_set = self.named_set()
        return [self.set_of(character_set) if character_set is not None else self.literal(self.character())]

    def named_set(self) -> Ranges | None:
        r"""Parse a named set such as \d or \pL, if any."""
        char = self.text[self.at + 1 : self.at + 2]
        if char.lower() in PERL and char.isascii():
            self.at += 2
            ranges = PERL[char.lower()]
            return complement(ranges) if char.isupper() else ranges
        if char not in {"p", "P"}:
            return None
        match = re.compile(r"\\[pP](\{(\^?)(\w+)\}|([A-Za-z]))").match(self.text, self.at)
        if not match:
            raise self.error("a character class without a name")
        name = match[3] or match[4]
        member_set = general(name)
        if member_set is None:
            raise NoKernel(f"patterns with the character class {name!r:.40} are not supported")
        self.at = match.end()
        return complement(member_set) if (char == "P") != bool(match[2]) else member_set

    def character(self) -> int:
        """Return the code point of the next, possibly escaped, character."""
        if not self.starts_with("\\"):
            self.at += 1
            return ord(self.text[self.at - 1])
        rest = self.text[self.at + 1 :]
        octal = re.match(r"0[0-7]{0,2}|[1-7][0-7]{1,2}", rest, re.ASCII)
        hexadecimal = re.match(r"x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))", rest, re.ASCII)
        if octal:
            self.at += 1 + octal.end()
            return int(octal[0], 8)
        if hexadecimal:
            code = int((hexadecimal[1] or hexadecimal[2])[:12], 16)
            if code <= ALL[0][1]:
                self.at += 1 + hexadecimal.end()
                return code
        elif rest[:1] in _ESCAPED or (rest and ord(rest[0]) < 128 and (rest[0] == "_" or not WORD.match(rest[0]))):
            self.at += 2
            return _ESCAPED.get(rest[0], ord(rest[0]))
        raise self.error("an escape that RE2 does not define")

    def parse_brackets(self) -> Ranges:
        """Parse a bracketed character set."""
        self.at += 1
        negated = self.starts_with("^")
        self.at += negated
        numbers: list[tuple[int, int]] = []
        first = True
        while first or not self.starts_with("]"):
            first = False
            if self.at >= len(self.text):
                raise self.error("an unterminated set")
            set_name = _CLASS.match(self.text, self.at)
            if set_name:
                if set_name[2] not in NAMED_SETS:
                    raise self.error("an unknown character class")
                self.at = set_name.end()
                numbers += complement(NAMED_SETS[set_name[2]]) if set_name[1] else NAMED_SETS[set_name[2]]
                continue
            ranges = self.named_set() if self.starts_with("\\") else None
            if ranges is not None:
                numbers += ranges
                continue
            low = high = self.character()
            if self.starts_with("-") and not self.starts_with("-]") and self.at + 1 < len(self.text):
                self.at += 1
                high = self.character()
                if high < low:
                    raise self.error("an invalid character range")
            numbers.append((low, high))
        self.at += 1
        if "i" in self.flags:
            numbers = list(add_case_variants(merge_ranges(numbers)))
        return complement(merge_ranges(numbers)) if negated else merge_ranges(numbers)


#: Maximum number of states per pattern, and of all cached state sets together.
_MAX_STATES: Final = 2**16
_MAX_CACHED_STATES: Final = 2**20
#: Kinds of the characters before and after a position.
_EDGE, _NEWLINE, _WORDS, _OTHER = range(4)


def regex_full_match(texts: NDArray[Any], *, pattern: str | None = None) -> NDArray[np.bool_]:
    """Return whether each string fully matches the pattern, in RE2 syntax.

    Raises InputError for a pattern that RE2 rejects, and NoKernel for one that is too large or uses unsupported syntax.
    """
    if texts.dtype != np.object_ or not all(isinstance(text, str) for text in texts.flat):
        raise InputError("regex_full_match: expected strings")
    if pattern is None:
        raise NoKernel("regex_full_match: it is unspecified what a missing pattern matches")
    machine = _Machine(parse_pattern(pattern))
    result = memory.empty(texts.shape, np.dtype(np.bool_))
    matches_by_text: dict[str, bool] = {}
    for place, text in memory.within_time_limit(enumerate(texts.flat)):
        if text not in matches_by_text:
            matches_by_text[text] = machine.matches(text)
        result.flat[place] = matches_by_text[text]
    return result


class _Machine:
    """NFA of a pattern.

    Each state reads a character of a set, checks an assertion, or is an epsilon transition. sets: the number of the set
    that each state reads, -1 for others; asks: its assertion, empty for others.
    """

    def __init__(self, pattern: Node) -> None:
        self.sets: list[int] = []
        self.asks: list[str] = []
        self.leads: list[list[int]] = []
        self._numbers: dict[Any, int] = {}
        self.last = self._place()
        self.first = self._build_state(pattern, self.last)
        ranges = [*self._numbers, ((10, 10),), PERL["w"]]
        self._begins = sorted(
            {0, *(edge for code_ranges in ranges for low, high in code_ranges for edge in (low, high + 1))}
        )
        self._members = [[self._in_ranges(code_ranges, begin) for code_ranges in ranges] for begin in self._begins]
        self._forget()

    def _place(self, next_places: Iterable[int] = (), *, expected_set: int = -1, condition: str = "") -> int:
        if len(self.sets) >= _MAX_STATES:
            raise NoKernel(f"patterns with more than {_MAX_STATES} states are not supported")
        self.sets.append(expected_set)
        self.asks.append(condition)
        self.leads.append(list(next_places))
        return len(self.sets) - 1

    def _build_state(self, node: Node, next_state: int) -> int:
        """Return the start state of a part that continues at `next_state`."""
        if node.kind == "set":
            return self._place([next_state], expected_set=self._numbers.setdefault(node.ranges, len(self._numbers)))
        if node.kind == "sequence":
            for part in reversed(node.parts):
                next_state = self._build_state(part, next_state)
            return next_state
        if node.kind == "choice":
            return self._place([self._build_state(part, next_state) for part in node.parts])
        if node.kind != "repeat":
            return self._place([next_state], condition=node.kind)
        (part,) = node.parts
        if node.most is None:
            loop = self._place([next_state])
            self.leads[loop].append(self._build_state(part, loop))
            next_state = loop
        else:
            for _ in memory.within_time_limit(range(node.most - node.least)):
                next_state = self._place([next_state, self._build_state(part, next_state)])
        for _ in memory.within_time_limit(range(node.least)):
            next_state = self._build_state(part, next_state)
        return next_state

    @staticmethod
    def _in_ranges(ranges: Any, code: int) -> bool:
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
        """Return whether the whole string matches."""
        state = self._start
        classes: dict[str, int] = {}
        for char in memory.within_time_limit(text):
            kind = classes.get(char)
            if kind is None:
                kind = classes[char] = bisect_right(self._begins, ord(char)) - 1
            next_state = self._steps[state].get(kind)
            if next_state is None:
                next_state = self._step(state, kind)
            state = next_state
            if not self._kept[state][0]:
                return False
        result = self._ends[state]
        if result is None:
            places, before = self._kept[state]
            result = self._ends[state] = self.last in self._reachable_states(places, before, _EDGE)
        return result

    def _step(self, state: int, kind: int) -> int:
        """Return the state set after a character of a kind, and cache it."""
        places, before = self._kept[state]
        members = self._members[kind]
        members_kind = _NEWLINE if members[-2] else _WORDS if members[-1] else _OTHER
        reached_places = self._reachable_states(places, before, members_kind)
        after = frozenset(self.leads[p][0] for p in reached_places if self.sets[p] >= 0 and members[self.sets[p]])
        if self._size > _MAX_CACHED_STATES:
            self._forget()
            return self._state(after, members_kind)
        next_places = self._state(after, members_kind)
        self._steps[state][kind] = next_places
        return next_places

    def _reachable_states(self, places: Iterable[int], before: int, previous_kind: int) -> set[int]:
        """Return the epsilon closure of states between two kinds of characters."""
        numbers, waiting = set(places), list(places)
        for place in self._pop_all(waiting):
            if self.sets[place] >= 0 or not _is_edge(self.asks[place], before, previous_kind):
                continue
            for next_place in self.leads[place]:
                if next_place not in numbers:
                    numbers.add(next_place)
                    waiting.append(next_place)
        return numbers

    @staticmethod
    def _pop_all(waiting: list[int]) -> Iterator[int]:
        while waiting:
            yield waiting.pop()


def _is_edge(text: str, before: int, previous_kind: int) -> bool:
    if not text:
        return True
    if text in {"begin", "line-begin"}:
        return before == _EDGE or (text == "line-begin" and before == _NEWLINE)
    if text in {"end", "line-end"}:
        return previous_kind == _EDGE or (text == "line-end" and previous_kind == _NEWLINE)
    return ((before == _WORDS) != (previous_kind == _WORDS)) == (text == "word-edge")
