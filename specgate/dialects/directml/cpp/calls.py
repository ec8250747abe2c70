"""C++ for functions and loops of the rule language, and field access."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.dialects.directml.cpp.values import (
    LIMIT,
    Untranslatable,
    Value,
    as_number,
    format_operand,
    make_integer,
    negate_condition,
    real,
    truth,
)
from specgate.rules.functions import FUNCTIONS, LOOP_LIMIT, NEST_LIMIT
from specgate.rules.language import LAYOUT_FUNCTIONS, TRUTH, LayoutFunction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.dialects.directml.cpp.structures import Words
    from specgate.rules.language import Rule

UINT32: Final = 2**32 - 1
#: Tensors with more dimensions, and arrays longer than a loop may run over, are rejected before any rule reads them.
MAX_RANK: Final = 64
_ATTRIBUTES: Final[Mapping[str, tuple[str, int]]] = {
    "TotalTensorSizeInBytes": ("total", 2**64 - 1),
    "GuaranteedBaseOffsetAlignment": ("alignment", UINT32),
    "Flags": ("flags", UINT32),
}


class Turn(NamedTuple):
    """A loop: its range, its typed variable, its element and its filter."""

    over: str
    parameter: str
    element: Value
    test: str | None


class Calls:
    """The translation state of one operator's rules.

    fields: the C++ value of each field. limits: numbers of the level. variables: those of the enclosing loops.
    """

    def __init__(
        self,
        fields: Mapping[str, Value],
        limits: Mapping[str, Value],
        defines: Mapping[str, Rule],
        words: Words,
    ) -> None:
        self.fields = fields
        self.limits = limits
        self.defines = defines
        self.enums = words
        self.variables: dict[str, Value] = {}
        self.loops = 0
        self.written = 0

    def __call__(self, node: ast.expr) -> Value:
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            raise Untranslatable(f"{type(node).__name__} in {ast.unparse(node)}")
        result: Value = method(node)
        return result

    def words(self, left: Value, right: Value) -> tuple[str, str]:
        """Return two words as numbers; a word without an enum gets the other's."""
        enum = left.enum or right.enum
        if enum is None:
            raise Untranslatable(f"the words {left.code} and {right.code} do not belong to an enum")
        return tuple(  # type: ignore[return-value]
            self.enums.constant(enum, value.constant) if isinstance(value.constant, str) else value.code
            for value in (left, right)
        )

    def attribute(self, tensor: Value, name: str) -> Value:
        """Return the value of a tensor's attribute."""
        if name in {"sizes", "strides"}:
            return Value(f"{tensor.code}.{name}", "wholes", 0, UINT32, tight=True)
        member, high = _ATTRIBUTES[name]
        code = f"{tensor.code}.{member}"
        return make_integer(f"limited(check, {code})" if high > LIMIT else f"int64_t({code})", 0, high, tight=True)

    def member_of(self, operator: Value, name: str) -> Value:
        """Return the value of a member of an operator that a field holds."""
        if name == "ScaleBias":
            return Value(f'fused_pair({operator.code}, "{name}")', "pair", tight=True)
        return Value(f'fused_numbers({operator.code}, "{name}")', "wholes", 0, UINT32, tight=True)

    def part_of_pair(self, pair: Value, name: str) -> Value:
        """Return a member of a pair of numbers."""
        code = f"{pair.code}.{name}"
        return (
            make_integer(f"int64_t({code})", 0, UINT32, tight=True)
            if pair.enum == "size-2d"
            else real(f"double({code})", tight=True)
        )

    def present(self, node: ast.expr) -> str:
        """Return a condition that is true if a field or its member is present."""
        if isinstance(node, ast.Attribute):
            owner = self(node.value)
            if owner.kind == "operator":
                return f"{self.member_of(owner, node.attr).code}.given"
            if node.attr in {"sizes", "TotalTensorSizeInBytes"}:
                return f"{owner.code}.given"
            return (
                f"{owner.code}.strides.given"
                if node.attr == "strides"
                else f"{self.attribute(owner, node.attr).code} != 0"
            )
        name = node.id  # type: ignore[attr-defined]  # parse() has checked it
        if name not in self.fields:
            return "false"
        return f"{self.fields[name].code}.given" if _may_lack(self.fields[name]) else "true"

    def on_Call(self, node: ast.Call) -> Value:
        name = node.func.id  # type: ignore[attr-defined]  # parse() has checked it
        argument = node.args[0]
        if name in {"all", "any"}:
            return self._quantify_call(name, argument)  # type: ignore[arg-type]
        if name == "present":
            return truth(self.present(argument), tight=True)
        if isinstance(argument, ast.GeneratorExp):
            return self._fold_call(name, argument)
        result = self(argument)
        if result.kind == "tensor":
            return self._of_tensor(name, result)
        if name == "operator":
            return Value(f"{result.code}.type", "word", enum="OPERATOR_TYPE", tight=True)
        return self._of_numbers(name, result, node)

    def _of_tensor(self, name: str, tensor: Value) -> Value:
        if name == "type":
            return Value(f"{tensor.code}.type", "word", enum="TENSOR_DATA_TYPE", tight=True)
        if name == "dims":
            return Value(f"upto(rank({tensor.code}))", "wholes", 0, MAX_RANK, tight=True, items=())
        written = _write_call(name, tensor)
        if written is None:
            raise Untranslatable(f"{name} of a tensor")
        return written

    def _of_numbers(self, name: str, result: Value, node: ast.Call) -> Value:
        if name == "len":
            return make_integer(f"{result.code}.count", 0, LOOP_LIMIT, tight=True)
        if name == "range":
            high = min(LOOP_LIMIT, max(0, result.high))
            return Value(f"upto(check, {result.code})", "wholes", 0, high, tight=True, items=())
        if name == "abs" and result.kind == "whole":
            return make_integer(f"magnitude({result.code})", 0, max(abs(result.low), abs(result.high)), tight=True)
        if name == "abs" and result.kind == "real":
            return real(f"magnitude({result.code})", tight=True)
        if name == "product" and result.kind == "wholes" and result.low >= 0:
            return make_integer(f"product_of({result.code}, as_number)", 0, LIMIT, tight=True)
        if name in {"max", "min"} and result.items and result.kind == "wholes":
            typed = ", ".join(as_number(item) for item in result.items)
            return make_integer(f"std::{name}<int64_t>({{{typed}}})", result.low, result.high, tight=True)
        written = _write_call(name, result)
        if written is None:
            raise Untranslatable(ast.unparse(node))
        return written

    def sequence(self, value: Value) -> str:
        """Return a sequence as an argument.

        A literal list becomes an array of 64-bit integers or of doubles.
        """
        if value.items and value.code.startswith("{"):
            kind = "double" if value.kind == "reals" else "int64_t"
            return f"std::array<{kind}, {len(value.items)}>{value.code}"
        return value.code

    @contextmanager
    def turn(self, node: ast.GeneratorExp) -> Iterator[Turn]:
        """Yield a loop in C++ with its variable in scope."""
        loop = node.generators[0]
        over = self(loop.iter)
        name = loop.target.id  # type: ignore[attr-defined]  # parse() has checked it
        outer, self.variables = self.variables, {**self.variables, name: _element(over, name)}
        self.loops += 1
        before = self.written
        element = self(node.elt)
        tests = [format_operand(self(test), "&&") for test in loop.ifs]
        inner = self.written > before
        self.written += 1
        text = self.sequence(over)
        if (inner or self.loops > 1) and (
            over.kind != "wholes" or over.high > NEST_LIMIT or not _counts_from_zero(over)
        ):
            text = f"few(check, {text})"
        try:
            yield Turn(text, _parameter(over, name), element, " && ".join(tests) or None)
        finally:
            self.loops -= 1
            self.variables = outer

    def _quantify_call(self, name: str, node: ast.GeneratorExp) -> Value:
        with self.turn(node) as (text, parameter, element, test):
            pass
        decisive = element if name == "all" else negate_condition(element)
        body = (
            decisive.code
            if test is None
            else f"{negate_condition(truth(test)).code} || {format_operand(decisive, '||')}"
        )
        every = truth(f"every({text}, [&]({parameter}) {{ return {body}; }})", tight=True)
        return every if name == "all" else negate_condition(every)

    def _fold_call(self, name: str, node: ast.GeneratorExp) -> Value:
        with self.turn(node) as (text, parameter, element, test):
            pass
        if element.kind not in {"whole", "truth"}:
            raise Untranslatable(ast.unparse(node))
        code = as_number(element)
        if name == "len":
            code = "1"
        neutral = "1" if name == "product" else "0"
        body = f"int64_t({code})" if test is None else f"{test} ? int64_t({code}) : int64_t({neutral})"
        function = {"product": "product_of", "sum": "sum_of", "len": "sum_of"}.get(name)
        if function is None:
            raise Untranslatable(ast.unparse(node))
        checked = "check, " if function == "sum_of" else ""
        result = f"{function}({checked}{text}, [&]({parameter}) {{ return {body}; }})"
        if name == "product":
            return make_integer(result, 0 if element.low >= 0 else -LIMIT, LIMIT, tight=True)
        low, high = (0, 1) if name == "len" else (min(0, element.low), max(0, element.high))
        return make_integer(result, low * LOOP_LIMIT, high * LOOP_LIMIT, tight=True)


def _write_call(name: str, argument: Value) -> Value | None:
    """Return a function call from its entry, None without a C++ form."""
    function = LAYOUT_FUNCTIONS.get(name) or FUNCTIONS[name]
    if function.cpp is None:
        return None
    text, low, high = function.cpp
    code = text.format(argument.code)
    kind = function.kind if isinstance(function, LayoutFunction) else function.result
    return truth(code, tight=True) if kind == TRUTH else make_integer(code, low, high, tight=True)


def _counts_from_zero(over: Value) -> bool:
    """Return whether a loop counts from 0, so its length is its bound."""
    return over.items == ()


def _may_lack(value: Value) -> bool:
    return value.kind in {"tensor", "tensors", "operator", "operators", "wholes", "reals"} or value.enum == "scale-bias"


def _element(over: Value, name: str) -> Value:
    if over.kind == "tensors":
        return Value(name, "tensor", tight=True)
    if over.kind == "reals":
        return real(name, tight=True)
    if over.kind == "wholes":
        return Value(name, "whole", over.low, over.high, tight=True)
    raise Untranslatable(f"a loop over {over.code}")


def _parameter(over: Value, name: str) -> str:
    kinds: Any = {"tensors": "const Tensor&", "reals": "double", "wholes": "int64_t"}
    return f"{kinds[over.kind]} {name}"
