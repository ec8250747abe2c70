"""Evaluate a rule in strict Kleene logic over a descriptor."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Symbol, shown
from specgate.rules import primitives

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from specgate.descriptors.core import TensorDesc
    from specgate.rules.parse import Rule

__all__ = ["UNKNOWN", "Broken", "Context", "Evaluator", "decide", "evaluate"]


class _Unknown:
    """The third truth value, and the value of an unknown size."""

    def __repr__(self) -> str:
        return "unknown"

    def __bool__(self) -> bool:
        raise TypeError("an unknown value is neither true nor false")


UNKNOWN: Final = _Unknown()


class Broken(Exception):
    """A rule that cannot be evaluated on this descriptor (an index out of range, say): another rule failed first."""


class Context:
    """What a rule may read: the descriptor's fields, named numbers, and the bits of each type.

    fields: name -> TensorDesc, attribute value, or None where the descriptor leaves it out or does not know it.
    """

    __slots__ = ("bits", "defines", "fields", "numbers")

    def __init__(
        self,
        fields: Mapping[str, Any],
        numbers: Mapping[str, int] | None = None,
        bits: Mapping[str, int | None] | None = None,
        defines: Mapping[str, Rule] | None = None,
    ) -> None:
        self.fields = fields
        self.numbers = numbers or {}
        self.bits = bits or {}
        self.defines = defines or {}

    def absent(self, path: str) -> bool:
        """Return whether `path` (FIELD or FIELD.attribute) is left out of the descriptor."""
        name, _, attribute = path.partition(".")
        value = self.fields.get(name)
        if value is None or not attribute:
            return value is None
        return getattr(value, _SLOTS.get(attribute, attribute)) is None


_SLOTS: Final = {
    "TotalTensorSizeInBytes": "size_in_bytes",
    "GuaranteedBaseOffsetAlignment": "alignment",
    "Flags": "flags",
}
_ARITHMETIC: Final[Mapping[type, Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ORDER: Final[Mapping[type, Callable[[Any, Any], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(rule: Rule, context: Context) -> Any:
    """Return True, False or UNKNOWN (or the value of a sub-expression); raise Broken where it has none."""
    return Evaluator(context).value(rule.tree, {})


def _known(value: Any) -> Any:
    """A size as the logic sees it: None is unknown; a symbol stays itself, equal only to itself."""
    return UNKNOWN if value is None else value


def _number(value: Any) -> bool:
    return not isinstance(value, str) and value is not UNKNOWN


def decide(values: Iterable[Any], *, decisive: bool) -> Any:
    """Return `decisive` as soon as one of `values` is, UNKNOWN where one might be, else its opposite."""
    unknown = False
    try:
        for value in values:
            if value is UNKNOWN:
                unknown = True
            elif value is decisive:
                return decisive
    except Broken:
        if not unknown:
            raise
        return UNKNOWN  # once known, an earlier part may settle it before this one is reached
    return UNKNOWN if unknown else not decisive


class Evaluator:
    """Walks the trees of one context's rules; parse() has checked them."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.turns = 0

    def value(self, node: ast.expr, variables: Mapping[str, Any]) -> Any:
        method: Callable[[Any, Mapping[str, Any]], Any] = getattr(self, "on_" + type(node).__name__)
        return method(node, variables)

    def on_Constant(self, node: ast.Constant, _variables: Mapping[str, Any]) -> Any:
        return node.value

    def on_Name(self, node: ast.Name, variables: Mapping[str, Any]) -> Any:
        name = node.id
        if name in variables:
            return variables[name]
        if name in self.context.defines:
            return self.value(self.context.defines[name].tree, {})
        if name in self.context.fields:
            return _known(self.context.fields[name])
        if name in self.context.numbers:
            return self.context.numbers[name]
        return name  # a type's or enum's own name: its word

    def on_Attribute(self, node: ast.Attribute, variables: Mapping[str, Any]) -> Any:
        tensor = self.value(node.value, variables)
        if tensor is UNKNOWN:
            return UNKNOWN
        return _known(getattr(tensor, _SLOTS.get(node.attr, node.attr)))

    def on_Subscript(self, node: ast.Subscript, variables: Mapping[str, Any]) -> Any:
        sequence = self.value(node.value, variables)
        index = self.value(node.slice, variables)
        if sequence is UNKNOWN or not _number(index):
            return UNKNOWN
        if not isinstance(index, int) or not 0 <= index < len(sequence):
            raise Broken(f"{ast.unparse(node)}: index {shown(index)} of {len(sequence)}")
        return _known(sequence[index])

    def on_BoolOp(self, node: ast.BoolOp, variables: Mapping[str, Any]) -> Any:
        decisive = isinstance(node.op, ast.Or)
        return decide((self.value(part, variables) for part in node.values), decisive=decisive)

    def on_UnaryOp(self, node: ast.UnaryOp, variables: Mapping[str, Any]) -> Any:
        value = self.value(node.operand, variables)
        if value is UNKNOWN or isinstance(value, str):
            return UNKNOWN
        return (not value) if isinstance(node.op, ast.Not) else -value

    def on_BinOp(self, node: ast.BinOp, variables: Mapping[str, Any]) -> Any:
        left, right = self.value(node.left, variables), self.value(node.right, variables)
        if not (_number(left) and _number(right)):
            return UNKNOWN
        try:
            return _ARITHMETIC[type(node.op)](left, right)
        except (ArithmeticError, ValueError) as error:
            raise Broken(f"{ast.unparse(node)}: {error}") from None

    def on_Compare(self, node: ast.Compare, variables: Mapping[str, Any]) -> Any:
        return decide(self._links(node, variables), decisive=False)

    def _links(self, node: ast.Compare, variables: Mapping[str, Any]) -> Iterator[Any]:
        left = self.value(node.left, variables)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part, variables)
            yield self._compare(op, left, right)
            left = right

    @staticmethod
    def _compare(op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(op, ast.In | ast.NotIn):
            if right is UNKNOWN:
                return UNKNOWN
            found = decide((_equal(left, _known(item)) for item in right), decisive=True)
            return found if found is UNKNOWN or isinstance(op, ast.In) else not found
        if isinstance(op, ast.Eq | ast.NotEq):
            same = _equal(left, right)
            return same if same is UNKNOWN or isinstance(op, ast.Eq) else not same
        if not (_number(left) and _number(right)):
            return UNKNOWN
        return _ORDER[type(op)](left, right)

    def on_IfExp(self, node: ast.IfExp, variables: Mapping[str, Any]) -> Any:
        test = self.value(node.test, variables)
        if test is not UNKNOWN:
            return self.value(node.body if test else node.orelse, variables)
        try:
            first, second = self.value(node.body, variables), self.value(node.orelse, variables)
        except Broken:
            return UNKNOWN  # once known, the test may choose the other one
        return first if _equal(first, second) is True else UNKNOWN

    def on_Tuple(self, node: ast.Tuple | ast.List, variables: Mapping[str, Any]) -> Any:
        return tuple(self.value(part, variables) for part in node.elts)

    on_List = on_Tuple

    def on_Call(self, node: ast.Call, variables: Mapping[str, Any]) -> Any:
        name = node.func.id  # type: ignore[attr-defined]  # parse() has checked it
        argument = node.args[0]
        if name in {"all", "any"}:
            return self._quantify(argument, variables, decisive=name == "any")  # type: ignore[arg-type]
        if name == "present":
            return not self.context.absent(ast.unparse(argument))
        if isinstance(argument, ast.GeneratorExp):
            value: Any = self._collect(argument, variables)
        else:
            value = self.value(argument, variables)
        return UNKNOWN if value is UNKNOWN else self._apply(name, value, node)

    def _apply(self, name: str, value: Any, node: ast.Call) -> Any:
        if name in _TENSOR_FUNCTIONS:
            return _TENSOR_FUNCTIONS[name](value, self.context)
        items = value if isinstance(value, tuple | list | range) else (value,)
        if name != "len" and not all(_number(_known(item)) for item in items):
            return UNKNOWN
        try:
            return _NUMBER_FUNCTIONS[name](value)
        except (ValueError, OverflowError, TypeError) as error:
            raise Broken(f"{ast.unparse(node)}: {error}") from None

    def loop(self, node: ast.GeneratorExp, variables: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Any]] | None:
        """Return (variables, whether the turn counts) per turn of a loop, None where what it runs over is unknown."""
        sequence = self.value(node.generators[0].iter, variables)
        return None if sequence is UNKNOWN else self._turns(node.generators[0], sequence, variables)

    def _turns(
        self, loop: ast.comprehension, sequence: Sequence[Any], variables: Mapping[str, Any]
    ) -> Iterator[tuple[dict[str, Any], Any]]:
        name = loop.target.id  # type: ignore[attr-defined]  # parse() has checked it
        for item in sequence:
            self.turns += 1
            if self.turns > primitives.TURN_LIMIT:
                raise Broken(f"its loops take more than {primitives.TURN_LIMIT} turns")
            inner = {**variables, name: _known(item)}
            keep = decide((self.value(test, inner) for test in loop.ifs), decisive=False)
            if keep is not False:
                yield inner, keep

    def _quantify(self, node: ast.GeneratorExp, variables: Mapping[str, Any], *, decisive: bool) -> Any:
        turns = self.loop(node, variables)
        if turns is None:
            return UNKNOWN
        return decide((self.turn(node, *turn, decisive=decisive) for turn in turns), decisive=decisive)

    def turn(self, node: ast.GeneratorExp, inner: Mapping[str, Any], keep: Any, *, decisive: bool) -> Any:
        """What one turn says: where it is open whether the turn counts, only what would change nothing is known."""
        if keep is True:
            return self.value(node.elt, inner)
        try:
            found = self.value(node.elt, inner)
        except Broken:
            return UNKNOWN
        return found if found is (not decisive) else UNKNOWN

    def _collect(self, node: ast.GeneratorExp, variables: Mapping[str, Any]) -> Any:
        turns = self.loop(node, variables)
        if turns is None:
            return UNKNOWN
        items = []
        for inner, keep in turns:
            if keep is UNKNOWN:
                return UNKNOWN
            items.append(self.value(node.elt, inner))
        return tuple(items)


def _equal(left: Any, right: Any) -> Any:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, tuple | list | range) and isinstance(right, tuple | list | range):
        if len(left) != len(right):
            return False
        parts = (_equal(_known(a), _known(b)) for a, b in zip(left, right, strict=True))
        return decide(parts, decisive=False)
    if isinstance(left, str) != isinstance(right, str):
        return UNKNOWN  # a symbolic size against a number
    if isinstance(left, Symbol) or isinstance(right, Symbol):
        return True if left == right else UNKNOWN
    return left == right


def _elements(tensor: TensorDesc, _context: Context) -> Any:
    sizes = tensor.sizes
    if sizes is None:
        return UNKNOWN
    if all(isinstance(size, int) for size in sizes):
        return primitives.product(sizes)  # type: ignore[arg-type]
    return UNKNOWN


def _bits(tensor: TensorDesc, context: Context) -> Any:
    return _known(context.bits.get(tensor.type)) if tensor.type is not None else UNKNOWN


def _value(tensor: TensorDesc, _context: Context) -> Any:
    if tensor.value is None:
        return UNKNOWN
    if len(tensor.value) != 1:
        raise Broken(f"a constant of {len(tensor.value)} elements has no single value")
    return tensor.value[0] if isinstance(tensor.value[0], int | float) else UNKNOWN


def _layout(compute: Callable[..., Any]) -> Callable[[TensorDesc, Context], Any]:
    """Wrap a primitive of (sizes, strides): unknown where a size is, broken where strides and sizes do not match."""

    def wrapped(tensor: TensorDesc, context: Context) -> Any:
        if _elements(tensor, context) is UNKNOWN:
            return UNKNOWN
        try:
            return compute(tensor, context)
        except ValueError as error:
            raise Broken(str(error)) from None

    return wrapped


def _minimum_size(tensor: TensorDesc, context: Context) -> Any:
    bits = _bits(tensor, context)
    return UNKNOWN if bits is UNKNOWN else primitives.minimum_size(bits, tensor.sizes, tensor.strides)  # type: ignore[arg-type]


_TENSOR_FUNCTIONS: Final[Mapping[str, Callable[[TensorDesc, Context], Any]]] = {
    "rank": lambda tensor, _: UNKNOWN if tensor.sizes is None else len(tensor.sizes),
    "dims": lambda tensor, _: UNKNOWN if tensor.sizes is None else range(len(tensor.sizes)),
    "type": lambda tensor, _: _known(tensor.type),
    "elements": _elements,
    "bits": _bits,
    "value": _value,
    "extent": _layout(lambda tensor, _: primitives.extent(tensor.sizes, tensor.strides)),
    "minimum_size": _layout(_minimum_size),
    "overlapping": _layout(lambda tensor, _: primitives.overlapping(tensor.sizes, tensor.strides)),
}
_NUMBER_FUNCTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "len": len,
    "sum": sum,
    "product": primitives.product,
    "min": min,
    "max": max,
    "range": primitives.bounded_range,
    "abs": abs,
    "int": int,
    "power_of_two": primitives.power_of_two,
}
