"""Function calls in rules, as evaluators of arguments that may be unknown."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import Descriptor, shown
from specgate.rules import primitives
from specgate.rules.functions import FUNCTIONS
from specgate.rules.language import LAYOUT_FUNCTIONS, UNKNOWN, Undefined, known, member, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    from specgate.descriptors.core import TensorDesc
    from specgate.rules.language import Context

    class State(Protocol):
        """Evaluation state shared by the parts of one rule; see `Evaluator`."""

        context: Context
        turns: int

        def quantify(self, node: ast.GeneratorExp, variables: Mapping[str, Any], *, decisive: bool) -> Any: ...

        def collect(self, node: ast.GeneratorExp, variables: Mapping[str, Any]) -> Any: ...

    Part = Callable[[State, Mapping[str, Any]], Any]
    Maker = Callable[[ast.expr], Part]

__all__ = ["count_turns", "is_element", "part_of_call"]


def count_turns(state: State, turns: int) -> None:
    """Count loop iterations; raise Undefined above the limit."""
    state.turns += turns
    if state.turns > primitives.TURN_LIMIT:
        raise Undefined(f"its loops have more than {primitives.TURN_LIMIT} iterations")


def is_element(node: ast.expr) -> Callable[[Mapping[str, Any]], bool]:
    """Return a test whether a value is the tensor of an array.

    Absent members of such a tensor are not checked before the rule.
    """
    if isinstance(node, ast.Name):
        name = node.id
        return lambda variables: name in variables
    subscript = isinstance(node, ast.Subscript)
    return lambda _variables: subscript


def part_of_call(node: ast.Call, part_of: Maker) -> Part:
    """Return the evaluator of a call.

    part_of: returns the evaluators of its arguments.
    """
    name: str = node.func.id  # type: ignore[attr-defined]  # checked by parse()
    argument = node.args[0]
    if name in {"all", "any"}:
        loop: ast.GeneratorExp = argument  # type: ignore[assignment]  # checked by parse()
        decisive = name == "any"
        return lambda state, variables: state.quantify(loop, variables, decisive=decisive)
    if name == "present":
        return _present(argument, part_of)
    if name == "operator":
        return _operator(argument, part_of)
    if name in LAYOUT_FUNCTIONS:
        return _of_tensor(
            lambda tensor, context: primitives.of_layout(name, tensor, context), _argument(argument, part_of)
        )
    function = FUNCTIONS[name]
    if function.of_texts:
        return _of_texts(function.compute, node, part_of)
    if function.of_tensor:
        return _of_tensor(function.compute, _argument(argument, part_of))
    return _of_numbers(function.compute, node, _argument(argument, part_of))


def _argument(node: ast.expr, part_of: Maker) -> Part:
    if isinstance(node, ast.GeneratorExp):
        return lambda state, variables: state.collect(node, variables)
    return part_of(node)


def _present(argument: ast.expr, part_of: Maker) -> Part:
    path = ast.unparse(argument)
    if not isinstance(argument, ast.Attribute):
        return lambda state, _variables: not state.context.absent(path)
    owner_of, name, element = part_of(argument.value), argument.attr, is_element(argument.value)

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        if not element(variables):
            return not state.context.absent(path)
        owner = owner_of(state, variables)
        return UNKNOWN if owner is UNKNOWN else member(owner, name) is not None

    return value


def _operator(argument: ast.expr, part_of: Maker) -> Part:
    held_by = part_of(argument)

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        result = held_by(state, variables)
        if result is UNKNOWN:
            return UNKNOWN
        if not isinstance(result, Descriptor):
            raise Undefined(f"{ast.unparse(argument)} is {shown(result)}")
        return result.operator

    return value


def _of_texts(compute: Callable[..., Any], node: ast.Call, part_of: Maker) -> Part:
    parts = [part_of(argument) for argument in node.args]

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        texts = [part(state, variables) for part in parts]
        if any(text is UNKNOWN for text in texts):
            return UNKNOWN
        try:
            return compute(*texts)
        except (AttributeError, LookupError, TypeError, ValueError) as error:  # an empty text or an invalid index
            raise Undefined(f"{ast.unparse(node)}: {error}") from None

    return value


def _of_tensor(compute: Callable[[TensorDesc, Context], Any], tensor_of: Part) -> Part:

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        tensor = tensor_of(state, variables)
        return UNKNOWN if tensor is UNKNOWN else compute(tensor, state.context)

    return value


def _of_numbers(compute: Callable[..., Any], node: ast.Call, numbers_of: Part) -> Part:
    any_items = compute is len

    def value(state: State, variables: Mapping[str, Any]) -> Any:
        result = numbers_of(state, variables)
        if result is UNKNOWN:
            return UNKNOWN
        items: Sequence[Any] = result if isinstance(result, tuple | list | range) else (result,)
        if not any_items and not all(number(known(item)) for item in items):
            return UNKNOWN
        try:
            return compute(result)
        except (ValueError, OverflowError, TypeError) as error:
            raise Undefined(f"{ast.unparse(node)}: {error}") from None

    return value
