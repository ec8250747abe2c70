"""C++ data for messages: numbers by name, and level limits."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from specgate.descriptors.words import unknown_word
from specgate.dialects.directml.cpp.lines import quote_literal
from specgate.validate.failures import capital

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from specgate.dialects.directml.cpp.levels import Levels
    from specgate.spec.forms import RuleForm

__all__ = ["capitalize_message", "limit_names", "sentence_lines"]

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
    others = (levels.dialect.neighbours(level) for level in levels.chosen)
    conditions = (
        "nullptr" if names == (level,) else quote_literal(" and ".join(names))
        for level, names in zip(levels.chosen, others, strict=True)
    )
    yield "// The levels whose builds are used for a level without a build, by position."
    yield f"inline constexpr const char* asked_instead[] = {{{', '.join(conditions)}}};"


def limit_names(names: Iterable[str]) -> Iterator[str]:
    """Yield the function that returns a level's number by its rule name."""
    yield "inline bool limit_named(std::string_view name, uint32_t place, int64_t& number) {"
    for name in names:
        yield f'  if (name == "{name}") return number = limit_{name}[place], true;'
    yield "  return (void)place, (void)number, (void)name, false;"
    yield "}"


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
