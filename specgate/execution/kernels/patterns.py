"""Regular expressions in the syntax of RE2, read into trees of character sets, sequences, choices and repetitions.

Source: https://github.com/google/re2/wiki/Syntax; what that page leaves open is as RE2 itself does it in ONNX Runtime.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.character_sets import (
    ALL,
    NAMED,
    PERL,
    WORD,
    Ranges,
    closed,
    complement,
    general,
    merged,
)

__all__ = ["Node", "parsed"]

_MOST_REPEATED: Final = 1000
_DEEPEST: Final = 100
_LONGEST: Final = 2**16
_ESCAPED: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_COUNT: Final = re.compile(r"\{([0-9]+)(,([0-9]*))?\}", re.ASCII)
_FLAGS: Final = re.compile(r"\(\?([imsU]*)(-([imsU]+))?([:)])")
_NAME: Final = re.compile(r"\(\?P?<(\w+)>")
_CLASS: Final = re.compile(r"\[:(\^?)([a-z]+):\]")


class Node(NamedTuple):
    """A part of an expression.

    kind: set, with its ranges; sequence, choice, with parts; repeat, of one part; or where nothing is read: begin, end,
    line-begin, line-end, word-edge, no-word-edge. weight: of repetitions in it.
    """

    kind: str
    parts: tuple[Node, ...] = ()
    ranges: Ranges = ()
    least: int = 0
    most: int | None = None
    weight: int = 1


def parsed(text: str) -> Node:
    """Return what a pattern says; raise InputError for what RE2 does not take, NoKernel for what is not computed."""
    if len(text) > _LONGEST:
        raise NoKernel(f"patterns of more than {_LONGEST} characters are not computed")
    reader = _Reader(text)
    node = reader.choice(0)
    if reader.at != len(text):
        raise reader.error("an unexpected )")
    return node


def _together(kind: str, parts: list[Node]) -> Node:
    if len(parts) == 1:
        return parts[0]
    return Node(kind, tuple(parts), weight=max((part.weight for part in parts), default=1))


class _Reader:
    """Reads a pattern from left to right. flags: those in force, of i, m, s and U."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.flags: frozenset[str] = frozenset()

    def error(self, what: str) -> InputError:
        return InputError(f"the pattern {self.text!r:.60} has {what} at character {self.at}")

    def sees(self, start: str) -> bool:
        return self.text.startswith(start, self.at)

    def choice(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise NoKernel(f"patterns with more than {_DEEPEST} groups in each other are not computed")
        flags, found = self.flags, [self.sequence(depth)]
        while self.sees("|"):
            self.at += 1
            found.append(self.sequence(depth))
        self.flags = flags
        return _together("choice", found)

    def sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        repeated = False  # the last part ends with an operator, which another one may not follow
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            bounds = self.repetition()
            if bounds is not None:
                if repeated or not parts:
                    raise self.error("a repetition of nothing" if not parts else "two repetitions in a row")
                parts[-1] = self.repeat(parts[-1], *bounds)
                repeated = True
                continue
            parts += self.item(depth)
            repeated = False
        return _together("sequence", parts)

    def repetition(self) -> tuple[int, int | None] | None:
        """Read an operator, if there is one here; that it may be lazy makes no difference to a full match."""
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        bounds = simple.get(self.text[self.at])
        end = self.at + 1
        if bounds is None:
            found = _COUNT.match(self.text, self.at)
            if not found:
                return None
            least = int(found[1][:9])
            most = least if found[2] is None else int(found[3][:9]) if found[3] else None
            if max(least, most or 0) > _MOST_REPEATED or (most is not None and most < least):
                raise self.error("a repetition out of range")
            bounds, end = (least, most), found.end()
        self.at = end + self.text.startswith("?", end)
        return bounds

    def repeat(self, part: Node, least: int, most: int | None) -> Node:
        times = 1 if (least, most) in {(0, None), (1, None), (0, 1)} else (most if most is not None else least) or 1
        weight = part.weight * times
        if weight > _MOST_REPEATED:
            raise self.error("repetitions in each other that are too many")
        return Node("repeat", (part,), least=least, most=most, weight=weight)

    def item(self, depth: int) -> list[Node]:
        """Read one part, or flags that give none, or a quotation that gives several."""
        char = self.text[self.at]
        if char == "(":
            return self.group(depth)
        if char == "[":
            return [self.set_of(self.bracketed())]
        if char == "\\":
            return self.escape()
        self.at += 1
        if char == ".":
            return [Node("set", ranges=ALL if "s" in self.flags else complement(((10, 10),)))]
        if char in "^$":
            many = "m" in self.flags
            return [Node(("line-begin" if many else "begin") if char == "^" else ("line-end" if many else "end"))]
        return [self.literal(ord(char))]

    def literal(self, code: int) -> Node:
        return self.set_of(((code, code),))

    def set_of(self, ranges: Ranges) -> Node:
        return Node("set", ranges=closed(ranges) if "i" in self.flags else ranges)

    def group(self, depth: int) -> list[Node]:
        if self.sees("(?"):
            flags, name = _FLAGS.match(self.text, self.at), _NAME.match(self.text, self.at)
            if name:
                self.at = name.end()
            elif flags:
                before, self.at = self.flags, flags.end()
                self.flags = (before | set(flags[1])) - set(flags[3] or "")
                if flags[4] == ")":
                    return []
                found = self.closed_group(depth)
                self.flags = before
                return found
            else:
                raise self.error("a group that is none of RE2's")
        else:
            self.at += 1
        return self.closed_group(depth)

    def closed_group(self, depth: int) -> list[Node]:
        found = self.choice(depth + 1)
        if not self.sees(")"):
            raise self.error("a group that does not end")
        self.at += 1
        return [
            found if found.kind in {"choice", "sequence", "set"} else Node("sequence", (found,), weight=found.weight)
        ]

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
            raise NoKernel(r"patterns with \C, a byte of a character, are not computed")
        named = self.named_set()
        return [self.set_of(named) if named is not None else self.literal(self.character())]

    def named_set(self) -> Ranges | None:
        r"""Read a set with a name, such as \d or \pL, if there is one here."""
        char = self.text[self.at + 1 : self.at + 2]
        if char.lower() in PERL and char.isascii():
            self.at += 2
            ranges = PERL[char.lower()]
            return complement(ranges) if char.isupper() else ranges
        if char not in {"p", "P"}:
            return None
        found = re.compile(r"\\[pP](\{(\^?)(\w+)\}|([A-Za-z]))").match(self.text, self.at)
        if not found:
            raise self.error("a set of characters without a name")
        name = found[3] or found[4]
        inside = general(name)
        if inside is None:
            raise NoKernel(f"patterns with the set of characters {name!r:.40} are not computed")
        self.at = found.end()
        return complement(inside) if (char == "P") != bool(found[2]) else inside

    def character(self) -> int:
        """Read a character, which may be escaped, and return its number."""
        if not self.sees("\\"):
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
        raise self.error("an escape that is none of RE2's")

    def bracketed(self) -> Ranges:
        """Read a set in brackets."""
        self.at += 1
        negated = self.sees("^")
        self.at += negated
        found: list[tuple[int, int]] = []
        first = True
        while first or not self.sees("]"):
            first = False
            if self.at >= len(self.text):
                raise self.error("a set that does not end")
            named = _CLASS.match(self.text, self.at)
            if named:
                if named[2] not in NAMED:
                    raise self.error("a set without a name that is known")
                self.at = named.end()
                found += complement(NAMED[named[2]]) if named[1] else NAMED[named[2]]
                continue
            ranges = self.named_set() if self.sees("\\") else None
            if ranges is not None:
                found += ranges
                continue
            low = high = self.character()
            if self.sees("-") and not self.sees("-]") and self.at + 1 < len(self.text):
                self.at += 1
                high = self.character()
                if high < low:
                    raise self.error("a range that ends before it begins")
            found.append((low, high))
        self.at += 1
        if "i" in self.flags:
            found = list(closed(merged(found)))
        return complement(merged(found)) if negated else merged(found)
