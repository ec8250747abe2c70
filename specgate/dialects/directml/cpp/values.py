"""A part of a rule in C++: text, kind, and bounds of whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["Untranslatable", "Value", "as_number", "joined", "narrow", "negated", "real", "truth", "whole"]

#: Whole numbers within these bounds are `int64_t`, larger ones `Wide`. Numbers beyond `Wide` are rejected here.
_NARROW: Final = 2**63 - 1
_WIDE: Final = 2**126
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


def narrow(value: Value) -> bool:
    """Return whether a whole number is an `int64_t`."""
    return value.low >= -_NARROW and value.high <= _NARROW


def whole(code: str, low: int, high: int, *, tight: bool = False, constant: int | None = None) -> Value:
    """Return a whole number; raise Untranslatable if it may overflow."""
    if low < -_WIDE or high > _WIDE:
        raise Untranslatable(f"{code} may be from {low} to {high}, which no integer holds")
    return Value(code, "whole", low, high, tight=tight, constant=constant)


def real(code: str, *, tight: bool = False, constant: float | None = None) -> Value:
    """Return a floating-point number."""
    return Value(code, "real", tight=tight, constant=constant)


def truth(code: str, *, tight: bool = False) -> Value:
    """Return a truth value."""
    return Value(code, "truth", tight=tight)


def joined(value: Value, sign: str) -> str:
    """Return a condition as an operand of `sign`, in parentheses if needed."""
    bare = value.tight or not any(other in value.code for other in {"&&", "||", " ? "} - {sign})
    return value.code if bare else f"({value.code})"


def negated(value: Value) -> Value:
    """Return the negation of a condition."""
    if value.tight:
        return truth(value.code[1:] if value.code[0] == "!" else f"!{value.code}", tight=True)
    return truth(f"!({value.code})", tight=True)


def as_number(value: Value, *, wide: bool = False, floating: bool = False) -> str:
    """Return a number's text, converted to `Wide` or double if asked."""
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
    return f"Wide({value.code})" if wide and narrow(value) else value.operand
