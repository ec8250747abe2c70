"""Rules evaluated over columns: the rows of many descriptors of one operator at once, with numpy.

All rows have the same fields, ranks and lengths of arrays, so loops are written out. `column_checks` asks whole tables.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Descriptor
from specgate.rules.column_compare import compared
from specgate.rules.column_functions import OF_NUMBERS, of_tensor
from specgate.rules.column_rows import Rows
from specgate.rules.column_values import Broken, Column, Open, Words, both, choose, either, negation
from specgate.rules.language import ATTRIBUTES, LAYOUT_FUNCTIONS, member
from specgate.rules.primitives import LOOP_LIMIT, NEST_LIMIT, TENSOR_FUNCTIONS
from specgate.rules.spelling import TEXT_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from specgate.rules.language import Rule

__all__ = ["ColumnRules"]

#: Loops whose number of turns depends on the row are written out so far.
_MOST_TURNS: Final = 64


class ColumnRules(Rows):
    """Evaluates the trees of rules over a block of rows.

    fields: of the level, each a value of rules; None where it is left out. known: the names of the level's fields.
    """

    def __init__(
        self,
        count: int,
        fields: Mapping[str, Any],
        numbers: Mapping[str, int],
        bits: Mapping[str, int | None],
        defines: Mapping[str, Rule],
    ) -> None:
        super().__init__(count)
        self.fields = fields
        self.numbers = numbers
        self.bits = bits
        self.defines = defines
        self.kept: dict[Any, Any] = {}

    def value(self, node: ast.expr, variables: Mapping[str, Any]) -> Any:
        """Return the value of a part for each row that is asked for it; raise Broken or Open where none has any."""
        return _METHODS[type(node)](self, node, variables)

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return what `compute` gives, which is kept unless something was noted of rows that are asked now."""
        if key in self.kept:
            return self.kept[key]
        before = self.marks
        found = compute()
        if before == self.marks:
            self.kept[key] = found
        return found

    def chain(self, parts: Iterable[Callable[[], Any]], *, decisive: bool) -> Any:
        """Return `and` (decisive: False) or `or` of truths; each part is asked for the rows that are not settled."""
        found: Any = not decisive
        for part in parts:
            if isinstance(found, bool):
                found = part()
                if found is decisive:
                    return found
                continue
            truth = self.where(found, part, negated=decisive)
            if truth is None:
                return found
            found = either(found, truth) if decisive else both(found, truth)
            if found is decisive:
                return found
        return found

    def on_Constant(self, node: ast.Constant, _variables: Mapping[str, Any]) -> Any:
        return node.value

    def on_Name(self, node: ast.Name, variables: Mapping[str, Any]) -> Any:
        name = node.id
        if name in variables:
            return variables[name]
        if name in self.defines:
            return self.once(name, lambda: self.value(self.defines[name].tree, {}))
        if name in self.fields:
            return self.fields[name]
        return self.numbers.get(name, name)

    def on_Attribute(self, node: ast.Attribute, variables: Mapping[str, Any]) -> Any:
        owner = self.value(node.value, variables)
        field = isinstance(node.value, ast.Name) and node.value.id not in variables
        if owner is None and field:
            return None
        try:
            found = member(owner, node.attr)
        except AttributeError as error:
            raise Broken from error
        if found is None and node.attr != "sizes" and not field:
            raise Broken
        return found

    def on_Subscript(self, node: ast.Subscript, variables: Mapping[str, Any]) -> Any:
        sequence, index = self.value(node.value, variables), self.value(node.slice, variables)
        return self.at(sequence_of(sequence), index)

    def on_BoolOp(self, node: ast.BoolOp, variables: Mapping[str, Any]) -> Any:
        parts = (lambda part=part: truth_of(self.value(part, variables)) for part in node.values)
        return self.chain(parts, decisive=isinstance(node.op, ast.Or))

    def on_UnaryOp(self, node: ast.UnaryOp, variables: Mapping[str, Any]) -> Any:
        found = self.value(node.operand, variables)
        if isinstance(node.op, ast.Not):
            return negation(truth_of(found))
        return self.computed(ast.Sub, 0, found) if found.__class__ is not float else -found

    def on_BinOp(self, node: ast.BinOp, variables: Mapping[str, Any]) -> Any:
        return self.computed(type(node.op), self.value(node.left, variables), self.value(node.right, variables))

    def on_Compare(self, node: ast.Compare, variables: Mapping[str, Any]) -> Any:
        left = self.value(node.left, variables)
        if len(node.ops) == 1:
            return compared(node.ops[0], left, self.value(node.comparators[0], variables))
        before = [left]

        def link(op: ast.cmpop, part: ast.expr) -> Any:
            right = self.value(part, variables)
            found = compared(op, before[0], right)
            before[0] = right
            return found

        links = (lambda op=op, part=part: link(op, part) for op, part in zip(node.ops, node.comparators, strict=True))
        return self.chain(links, decisive=False)

    def on_IfExp(self, node: ast.IfExp, variables: Mapping[str, Any]) -> Any:
        test = truth_of(self.value(node.test, variables))
        if isinstance(test, bool):
            return self.value(node.body if test else node.orelse, variables)
        body = self.where(test, lambda: self.value(node.body, variables))
        orelse = self.where(test, lambda: self.value(node.orelse, variables), negated=True)
        if body is None or orelse is None:
            if body is orelse:
                raise Open  # all of them are noted; to leave more of them open does no harm
            return orelse if body is None else body
        return choose(test, body, orelse)

    def on_Tuple(self, node: ast.Tuple | ast.List, variables: Mapping[str, Any]) -> Any:
        return tuple([self.value(part, variables) for part in node.elts])

    def on_Call(self, node: ast.Call, variables: Mapping[str, Any]) -> Any:
        name: str = node.func.id  # type: ignore[attr-defined]  # parse() has checked it
        argument = node.args[0]
        if name in {"all", "any"}:
            return self.quantified(argument, variables, decisive=name == "any")  # type: ignore[arg-type]
        if name == "present":
            return self._present(argument, variables)
        if name in TENSOR_FUNCTIONS or name in LAYOUT_FUNCTIONS:
            tensor = self.value(argument, variables)
            return self.once((name, id(tensor)), lambda: of_tensor(self, name, tensor))
        if name in TEXT_FUNCTIONS:
            return _of_texts(name, [self.value(part, variables) for part in node.args])
        if name == "operator":
            return _operator(self.value(argument, variables))
        if isinstance(argument, ast.GeneratorExp):
            return OF_NUMBERS[name](self, list(self.collected(argument, variables)))
        found = self.value(argument, variables)
        many = isinstance(found, tuple | list | range)
        return OF_NUMBERS[name](self, [(item, True) for item in found] if many else found)

    def _present(self, argument: ast.expr, variables: Mapping[str, Any]) -> bool:
        if isinstance(argument, ast.Name):
            return self.fields.get(argument.id) is not None
        assert isinstance(argument, ast.Attribute)  # parse() has checked it  # noqa: S101
        owner = self.value(argument.value, variables)
        if owner is None or owner.__class__ is str:  # a field that is left out, or not there
            return False
        attribute = ATTRIBUTES.get(argument.attr)
        return getattr(owner, argument.attr if attribute is None else attribute.slot) is not None

    def turns(self, node: ast.GeneratorExp, variables: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
        """Yield (variables, which rows have it) of each turn of a loop, without its conditions."""
        loop = node.generators[0]
        name: str = loop.target.id  # type: ignore[attr-defined]
        if isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", "") == "range":
            stop = self.value(loop.iter.args[0], variables)
            if isinstance(stop, Column):
                yield from (({**variables, name: turn}, going) for turn, going in self._counted(stop))
                return
        items = sequence_of(self.value(loop.iter, variables))
        if len(items) > NEST_LIMIT:
            raise Open
        for item in items:
            yield {**variables, name: item}, True

    def _counted(self, stop: Column) -> Iterator[tuple[int, Any]]:
        """Yield the turns of a loop over range(stop), with the rows that have each of them."""
        if stop.low is None or stop.high is None:
            raise Broken
        if stop.high > LOOP_LIMIT:
            self.breaks(stop.data > LOOP_LIMIT)
        if stop.high > _MOST_TURNS:
            self.leaves(stop.data > _MOST_TURNS)
        for turn in range(min(stop.high, _MOST_TURNS)):
            yield turn, turn < stop.low or stop.data > turn

    def _kept(self, node: ast.GeneratorExp, inner: Mapping[str, Any], going: Any) -> Any:
        """Return which rows have a turn, by the conditions of the loop."""
        tests = [partial(self._truth, test, inner) for test in node.generators[0].ifs]
        return self.chain(tests if going is True else [lambda: going, *tests], decisive=False)

    def _truth(self, node: ast.expr, variables: Mapping[str, Any]) -> Any:
        return truth_of(self.value(node, variables))

    def quantified(self, node: ast.GeneratorExp, variables: Mapping[str, Any], *, decisive: bool) -> Any:
        """Return any() (decisive: True) or all() of a loop."""

        def turn(inner: Mapping[str, Any], going: Any) -> Any:
            kept = self._kept(node, inner, going)
            if kept is False:
                return not decisive
            if kept is True:
                return truth_of(self.value(node.elt, inner))
            found = self.where(kept, lambda: truth_of(self.value(node.elt, inner)))
            if found is None:
                return not decisive
            return both(kept, found) if decisive else either(negation(kept), found)

        turns = (lambda one=one: turn(*one) for one in self.turns(node, variables))
        return self.chain(turns, decisive=decisive)

    def collected(self, node: ast.GeneratorExp, variables: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
        """Yield (value, which rows have it) of each turn of a loop; rows without a value are noted."""
        for inner, going in self.turns(node, variables):
            kept = self._kept(node, inner, going)
            if kept is True:
                yield self.value(node.elt, inner), True
            elif kept is not False:
                found = self.where(kept, partial(self.value, node.elt, inner))
                if found is not None:
                    yield found, kept


_METHODS: Final[Mapping[type[ast.expr], Callable[[ColumnRules, Any, Mapping[str, Any]], Any]]] = {
    ast.Attribute: ColumnRules.on_Attribute,
    ast.BinOp: ColumnRules.on_BinOp,
    ast.BoolOp: ColumnRules.on_BoolOp,
    ast.Call: ColumnRules.on_Call,
    ast.Compare: ColumnRules.on_Compare,
    ast.Constant: ColumnRules.on_Constant,
    ast.IfExp: ColumnRules.on_IfExp,
    ast.List: ColumnRules.on_Tuple,
    ast.Name: ColumnRules.on_Name,
    ast.Subscript: ColumnRules.on_Subscript,
    ast.Tuple: ColumnRules.on_Tuple,
    ast.UnaryOp: ColumnRules.on_UnaryOp,
}


def sequence_of(value: Any) -> tuple[Any, ...]:
    """Return the elements of a sequence; there is no result where it is none."""
    if not isinstance(value, tuple | list | range):
        raise Broken
    return tuple(value)


def truth_of(value: Any) -> Any:
    """Return a truth value as one; all that rules ask of others is whether they are true."""
    return bool(value) if isinstance(value, int) else value


def _operator(held: Any) -> str:
    if not isinstance(held, Descriptor):
        raise Broken
    return held.operator


def _of_texts(name: str, arguments: list[Any]) -> Any:
    if any(isinstance(argument, Column | Words) for argument in arguments):
        raise Open
    try:
        return TEXT_FUNCTIONS[name](*arguments)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Broken from error
