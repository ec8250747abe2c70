"""C++ data for messages: numbers by name, and level limits."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from specgate.descriptors.words import unknown_word
from specgate.dialects.directml.cpp.levels import SIDES
from specgate.dialects.directml.cpp.lines import quote_literal
from specgate.validate.failures import capital
from specgate.validate.message import side_note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from specgate.dialects.directml.cpp.levels import Levels
    from specgate.spec.forms import RuleForm

_STRANGE = 4242


def sentence_lines(levels: Levels) -> Iterator[str]:
    """Yield the constants and functions that messages need."""
    numbers = {**levels.dialect.type_numbers, "UNKNOWN": 0}
    words = [word for word in numbers if word != "UNKNOWN"]
    text = unknown_word("", _STRANGE, "DML_TENSOR_DATA_TYPE", words).partition(str(_STRANGE))[2]
    yield f"inline constexpr const char* no_known_type = {quote_literal(text)};"
    for name, unit in (("by_zero", 1), ("real_by_zero", 1.0)):
        errors = ", ".join(quote_literal(_error(compute, unit)) for compute in (operator.floordiv, operator.mod))
        yield f"inline constexpr const char* {name}[] = {{{errors}}};"
    notes = (
        f"{{{', '.join(quote_literal(side_note(level, side, levels.dialect)) for side in SIDES)}}}"
        for level in levels.chosen
    )
    yield "// The notes on violations of one side of the tables only, by the position of the level."
    yield f"inline constexpr const char* side_notes[][2] = {{{', '.join(notes)}}};"


def capitalize_message(sentence: str, form: RuleForm, fields: Mapping[str, Any]) -> str:
    """Return a rule's message as the beginning of a finding."""
    return capital(sentence, fields) if form.because else sentence


def _error(compute: Callable[[float, float], float], unit: float) -> str:
    """Return Python's message for division by zero, which varies by version."""
    try:
        compute(unit, 0)
    except ZeroDivisionError as error:
        return str(error)
    raise AssertionError("a division by zero has no result")
