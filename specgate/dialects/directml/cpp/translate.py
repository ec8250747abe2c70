"""Translate a rule's tree to a C++ expression over loaded fields."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.directml.cpp.calls import Calls
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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_COMPARED: Final = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_LISTS: Final = frozenset({"wholes", "reals"})


class Translator(Calls):
    """Translates one operator's rules; see `Calls` for its state."""

    def on_Constant(self, node: ast.Constant) -> Value:
        value: Any = node.value
        if isinstance(value, bool):
            return truth("true" if value else "false", tight=True)
        if isinstance(value, int):
            return self._literal(value)
        if isinstance(value, float):
            return real(repr(value), tight=True, constant=value)
        return Value(str(value), "word", constant=str(value), tight=True)

    @staticmethod
    def _literal(value: int) -> Value:
        return Value(str(value), "whole", value, value, tight=value >= 0, constant=value)

    def on_Name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.variables:
            return self.variables[name]
        if name in self.defines:
            variables, self.variables = self.variables, {}
            written = self(self.defines[name].tree)
            self.variables = variables
            return written
        if name in self.fields:
            return self.fields[name]
        if name in self.limits:
            return self.limits[name]
        return Value(name, "word", constant=name, tight=True)

    def on_Attribute(self, node: ast.Attribute) -> Value:
        owner = self(node.value)
        if owner.kind == "operator":
            return self.member_of(owner, node.attr)
        if owner.kind == "pair":
            return self.part_of_pair(owner, node.attr)
        if owner.kind != "tensor":
            raise Untranslatable(f"{ast.unparse(node)} of a {owner.kind}")
        if isinstance(node.value, ast.Name) and node.value.id not in self.variables:
            return self.attribute(owner, node.attr)
        if node.attr != "sizes":
            raise Untranslatable(f"{ast.unparse(node)}: only the sizes of an array's tensors are read")
        return self.attribute(owner, node.attr)

    def on_Subscript(self, node: ast.Subscript) -> Value:
        sequence, index = self(node.value), self(node.slice)
        if sequence.kind == "tensors":
            return Value(f"at(check, {sequence.code}, {index.code})", "tensor", tight=True)
        code = f"at(check, {sequence.code}, {index.code})"
        if sequence.kind == "wholes":
            return make_integer(code, sequence.low, sequence.high, tight=True)
        if sequence.kind == "reals":
            return real(code, tight=True)
        raise _untranslatable_error(node)

    def on_BoolOp(self, node: ast.BoolOp) -> Value:
        sign = "||" if isinstance(node.op, ast.Or) else "&&"
        return truth(f" {sign} ".join(format_operand(self._condition(part), sign) for part in node.values))

    def _condition(self, node: ast.expr) -> Value:
        result = self(node)
        if result.kind != "truth":
            raise _untranslatable_error(node)
        return result

    def on_UnaryOp(self, node: ast.UnaryOp) -> Value:
        result = self(node.operand)
        if isinstance(node.op, ast.Not):
            return negate_condition(result)
        if isinstance(result.constant, int):
            return self._literal(-result.constant)
        if result.kind == "real":
            return real(f"-{result.operand}")
        return make_integer(f"-{result.operand}", -result.high, -result.low)

    def on_BinOp(self, node: ast.BinOp) -> Value:
        left, right = self(node.left), self(node.right)
        if isinstance(left.constant, int) and isinstance(right.constant, int):
            return self._literal(_FOLDED[type(node.op)](left.constant, right.constant))
        if "real" in {left.kind, right.kind}:
            if not isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
                raise _untranslatable_error(node)
            sign = _SIGNS[type(node.op)]
            return real(f"{as_number(left, floating=True)} {sign} {as_number(right, floating=True)}")
        if isinstance(node.op, ast.FloorDiv | ast.Mod):
            return self._translate_division(node, left, right)
        low, high = _bounds(node.op, left, right)
        if low < -LIMIT or high > LIMIT:
            other = f"-({as_number(right)})" if isinstance(node.op, ast.Sub) else as_number(right)
            function = "times" if isinstance(node.op, ast.Mult) else "plus"
            return make_integer(f"{function}(check, {as_number(left)}, {other})", low, high, tight=True)
        return make_integer(f"{as_number(left)} {_SIGNS[type(node.op)]} {as_number(right)}", low, high)

    def _translate_division(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        modulo = isinstance(node.op, ast.Mod)
        if modulo and left.low >= 0 and isinstance(right.constant, int) and right.constant > left.high:
            return left
        largest = max(abs(left.low), abs(left.high))
        divisor = max(abs(right.low), abs(right.high))
        if modulo:
            low, high = (0 if right.low >= 0 else -divisor), (divisor if right.high > 0 else 0)
            if left.low >= 0 and right.low >= 0:
                high = min(high, left.high)
        else:
            low, high = (0 if left.low >= 0 and right.low >= 0 else -largest - 1), largest
            if isinstance(right.constant, int) and right.constant > 0:
                low, high = left.low // right.constant, left.high // right.constant
        pair = as_number(left), as_number(right)
        if left.low >= 0 and isinstance(right.constant, int) and right.constant > 0:
            return make_integer(f"{pair[0]} {'%' if modulo else '/'} {pair[1]}", low, high)
        return make_integer(f"{'modulo' if modulo else 'quotient'}(check, {', '.join(pair)})", low, high, tight=True)

    def on_IfExp(self, node: ast.IfExp) -> Value:
        test, body, orelse = self(node.test), self(node.body), self(node.orelse)
        if body.kind == orelse.kind == "truth":
            return truth(f"{test.operand} ? {body.operand} : {orelse.operand}")
        if "real" in {body.kind, orelse.kind}:
            pair = as_number(body, floating=True), as_number(orelse, floating=True)
            return real(f"{test.operand} ? {pair[0]} : {pair[1]}")
        pair = _typed_number(body), _typed_number(orelse)
        low, high = min(body.low, orelse.low), max(body.high, orelse.high)
        return make_integer(f"{test.operand} ? {pair[0]} : {pair[1]}", low, high)

    def on_Tuple(self, node: ast.Tuple | ast.List) -> Value:
        items = tuple(self(part) for part in node.elts)
        kinds = {item.kind for item in items}
        if kinds == {"word"}:
            return Value("", "words", items=items)
        if "real" in kinds:
            return Value(f"{{{', '.join(as_number(i, floating=True) for i in items)}}}", "reals", items=items)
        low, high = min(item.low for item in items), max(item.high for item in items)
        return Value(f"{{{', '.join(item.code for item in items)}}}", "wholes", low, high, items=items)

    on_List = on_Tuple

    def on_Compare(self, node: ast.Compare) -> Value:
        parts = [self(part) for part in (node.left, *node.comparators)]
        links = [
            self._link(op, left, right, node) for op, left, right in zip(node.ops, parts[:-1], parts[1:], strict=True)
        ]
        if len(links) == 1:
            return links[0]
        return truth(" && ".join(format_operand(link, "&&") for link in links))

    def _link(self, op: ast.cmpop, left: Value, right: Value, node: ast.expr) -> Value:
        if isinstance(op, ast.In | ast.NotIn):
            result = self._translate_membership(left, right)
            return negate_condition(result) if isinstance(op, ast.NotIn) else result
        sign = _COMPARED[type(op)]
        if left.kind in _LISTS or right.kind in _LISTS:
            if sign not in {"==", "!="} or left.kind != right.kind:
                raise _untranslatable_error(node)
            same = f"same({self.sequence(left)}, {self.sequence(right)})"
            return truth(same if sign == "==" else f"!{same}", tight=True)
        if "word" in {left.kind, right.kind}:
            first, other = self.words(left, right)
            return truth(f"{first} {sign} {other}")
        if left.kind == right.kind == "truth":
            return truth(f"{left.operand} {sign} {right.operand}")
        floating = "real" in {left.kind, right.kind}
        pair = [as_number(v, floating=floating) for v in (left, right)]
        return truth(f"{pair[0]} {sign} {pair[1]}")

    def _translate_membership(self, left: Value, right: Value) -> Value:
        if right.kind == "words":
            pairs = [self.words(left, item) for item in right.items or ()]
            return truth(" || ".join(f"{item} == {other}" for item, other in pairs))
        if left.kind == "whole" and right.kind == "wholes":
            return truth(f"contains({self.sequence(right)}, {left.code})", tight=True)
        raise Untranslatable(f"{left.code} in {right.code}")


def _untranslatable_error(node: ast.expr) -> Untranslatable:
    return Untranslatable(f"C++ is not implemented for {ast.unparse(node)}")


def _typed_number(value: Value) -> str:
    """Return a number with an explicit C++ type.

    Both branches of a conditional expression need the same type.
    """
    return value.code if value.code.startswith("int64_t(") else f"int64_t({value.code})"


_SIGNS: Final = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_FOLDED: Final[Mapping[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__,
    ast.FloorDiv: int.__floordiv__, ast.Mod: int.__mod__,
}  # fmt: skip


def _bounds(op: ast.operator, left: Value, right: Value) -> tuple[int, int]:
    if isinstance(op, ast.Add):
        return left.low + right.low, left.high + right.high
    if isinstance(op, ast.Sub):
        return left.low - right.high, left.high - right.low
    ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    return min(ends), max(ends)
