"""C++ data for messages: numbers by name, and level limits."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from specgate.descriptors.words import unknown_word
from specgate.dialects.directml.cpp.lines import quoted
from specgate.validate.device import required_capabilities
from specgate.validate.rule_failures import capital

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from specgate.dialects.directml.cpp.levels import Levels
    from specgate.dialects.directml.cpp.structures import Words
    from specgate.spec.forms import RuleForm

__all__ = ["capitalized", "limit_names", "sentence_lines", "written"]

_STRANGE = 4242


def sentence_lines(words: Words, levels: Levels) -> Iterator[str]:
    """Yield the constants and functions that messages need."""
    numbers = {**levels.dialect.type_numbers, "UNKNOWN": 0}
    known = [word for word in numbers if word != "UNKNOWN"]
    text = unknown_word("", _STRANGE, "DML_TENSOR_DATA_TYPE", known).partition(str(_STRANGE))[2]
    yield f"inline constexpr const char* no_known_type = {quoted(text)};"
    for name, one in (("by_zero", 1), ("real_by_zero", 1.0)):
        errors = ", ".join(quoted(_error(compute, one)) for compute in (operator.floordiv, operator.mod))
        yield f"inline constexpr const char* {name}[] = {{{errors}}};"
    yield "// The levels whose builds are asked where a level has none of its own."
    yield "inline const char* asked_instead(uint32_t level) {"
    yield "  switch (level) {"
    for level in levels.chosen:
        others = levels.dialect.neighbours(level)
        if others != (level,):
            yield f"    case {levels.name(level)}: return {quoted(' and '.join(others))};"
    yield "    default: return nullptr;"
    yield "  }"
    yield "}"
    yield "// What a device must report, one of them, to take a type."
    yield "inline const char* needs_of(uint32_t type, uint32_t level) {"
    for level in levels.chosen:
        for kind, needs in required_capabilities(levels.dialect.name, level).items():
            test = f"type == {words.constant('TENSOR_DATA_TYPE', kind)} && level == {levels.name(level)}"
            yield f"  if ({test}) return {quoted(' or '.join(needs))};"
    yield '  return "nothing";'
    yield "}"


def limit_names(names: Mapping[str, Any]) -> Iterator[str]:
    """Yield the function that returns a level's number by its rule name."""
    yield "inline bool limit_named(std::string_view name, uint32_t level, int64_t& number) {"
    for name in names:
        yield f'  if (name == "{name}") return number = limit_{name}(level), true;'
    yield "  return (void)level, (void)number, (void)name, false;"
    yield "}"


def written(form: RuleForm) -> Iterator[str]:
    """Yield a rule's expressions and its fix as members of `Rule`."""
    texts = [form.require.text, form.when.text if form.when is not None else None, form.fix]
    while texts[-1] is None:
        texts.pop()
    yield from ("nullptr" if text is None else quoted(text) for text in texts)


def capitalized(sentence: str, form: RuleForm, fields: Mapping[str, Any]) -> str:
    """Return a rule's message as the beginning of a finding."""
    return capital(sentence, fields) if form.because else sentence


def _error(compute: Callable[[float, float], float], one: float) -> str:
    """Return Python's message for division by zero, which varies by version."""
    try:
        compute(one, 0)
    except ZeroDivisionError as error:
        return str(error)
    raise AssertionError("a division by zero has no result")
