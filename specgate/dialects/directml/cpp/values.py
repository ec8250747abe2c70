"""A part of a rule in C++: text, kind, and bounds of whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: All whole numbers are `int64_t` within this bound. An operation that may exceed it is checked in C++: if it does, the
#: evaluator of the header decides.
LIMIT: Final = 2**62
#: The largest whole number up to which doubles are exact.
_EXACT: Final = 2**53


class Untranslatable(ValueError):
    """A part of a rule without a C++ form; no header is written then."""


@dataclass(frozen=True, slots=True)
class Value:
    """A part of a rule in C++.

    kind: whole, real, truth, word, wholes, reals, tensor, tensors, operator, operators or pair. low, high: inclusive
    bounds of a whole number or of the elements of a sequence. enum: the enum of a word. tight: whether the text needs
    no parentheses as an operand. constant: the value of a literal. items: the parts of a literal list.
    """

    code: str
    kind: str
    low: int = 0
    high: int = 0
    enum: str | None = None
    tight: bool = False
    constant: int | float | str | None = None
    items: tuple[Value, ...] | None = None

    @property
    def operand(self) -> str:
        """Return the text as an operand of a larger expression."""
        return self.code if self.tight else f"({self.code})"


def make_integer(code: str, low: int, high: int, *, tight: bool = False, constant: int | None = None) -> Value:
    """Return a whole number; its bounds end at the limit."""
    return Value(code, "whole", max(low, -LIMIT), min(high, LIMIT), tight=tight, constant=constant)


def real(code: str, *, tight: bool = False, constant: float | None = None) -> Value:
    """Return a floating-point number."""
    return Value(code, "real", tight=tight, constant=constant)


def truth(code: str, *, tight: bool = False) -> Value:
    """Return a truth value."""
    return Value(code, "truth", tight=tight)


def format_operand(value: Value, sign: str) -> str:
    """Return a condition as an operand of `sign`, in parentheses if needed."""
    bare = value.tight or not any(other in value.code for other in {"&&", "||", " ? "} - {sign})
    return value.code if bare else f"({value.code})"


def negate_condition(value: Value) -> Value:
    """Return the negation of a condition."""
    if value.tight:
        return truth(value.code[1:] if value.code[0] == "!" else f"!{value.code}", tight=True)
    return truth(f"!({value.code})", tight=True)


def as_number(value: Value, *, floating: bool = False) -> str:
    """Return a number's text, converted to double if asked."""
    if floating:
        if value.kind == "real":
            return value.operand
        if isinstance(value.constant, int):
            return repr(float(value.constant))
        if max(-value.low, value.high) > _EXACT:
            raise Untranslatable(f"{value.code} is compared with a floating number, which may not hold it")
        return f"double({value.code})"
    if value.kind not in {"whole", "truth"}:
        raise Untranslatable(f"expected a number, found the {value.kind} {value.code}")
    if value.kind == "truth":
        return f"int64_t({value.code})"
    if isinstance(value.constant, int) and abs(value.constant) > LIMIT:
        return str(LIMIT if value.constant > 0 else -LIMIT)  # compares equally with all numbers within the limit
    return value.operand
