"""What compiled rules call where a value may be unknown: the evaluator's logic, one call for each part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.rules import primitives
from specgate.rules.kleene import COMPARISONS, decide
from specgate.rules.language import LAYOUT_FUNCTIONS, UNKNOWN, Context, Undefined, known, member, number
from specgate.rules.parts import ARITHMETIC
from specgate.rules.spelling import TEXT_FUNCTIONS

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Mapping, Sequence

    from specgate.descriptors.core import TensorDesc

__all__ = ["FUNCTIONS", "NEST_LIMIT", "of_tensors"]

#: Loops inside one another that are longer are left to the evaluator, which counts all turns of a rule.
NEST_LIMIT: Final = 30


def _item(sequence: Any, index: Any) -> Any:
    if sequence is UNKNOWN or not number(index):
        return UNKNOWN
    if not isinstance(index, int) or not 0 <= index < len(sequence):
        raise Undefined("no such index")
    return known(sequence[index])


def _sizes(tensor: Any) -> Any:
    return UNKNOWN if tensor is UNKNOWN else known(tensor.sizes)


def _member(owner: Any, name: str) -> Any:
    """Return what a field's value has behind a dot."""
    return UNKNOWN if owner is UNKNOWN else known(member(owner, name))


def _of_element(owner: Any, name: str) -> Any:
    """Return what a tensor of an array has behind a dot; what is left out was not looked for before."""
    found = _member(owner, name)
    if found is UNKNOWN and owner is not UNKNOWN and name != "sizes":
        raise Undefined("it is left out")
    return found


def _held(owner: Any, name: str) -> Any:
    """Return whether a tensor of an array has something behind a dot."""
    return UNKNOWN if owner is UNKNOWN else member(owner, name) is not None


def _absent(value: Any, name: str) -> bool:
    """Return whether a field, or what it has behind a dot, is left out."""
    return value is None or (value is not UNKNOWN and member(value, name) is None)


def _not(value: Any) -> Any:
    return UNKNOWN if value is UNKNOWN or isinstance(value, str) else not value


def _minus(value: Any) -> Any:
    return UNKNOWN if value is UNKNOWN or isinstance(value, str) else -value


def _decided(value: Any) -> Any:
    """Return a condition; where it is open the evaluator looks at both ways."""
    if value is UNKNOWN:
        raise Undefined("it is open which way it goes")
    return value


def _kept(keep: Any, value: Any, decisive: bool) -> Any:
    """Return what one turn of a loop says; where it is open whether it counts, only what changes nothing is known."""
    return value if keep is True or value is (not decisive) else UNKNOWN


def _applied(applying: Any, value: Any) -> Any:
    return UNKNOWN if applying is UNKNOWN and value is False else value


def _turns(sequence: Any, limit: int) -> Sequence[Any]:
    """Return what a loop runs over, as the logic sees its items."""
    if len(sequence) > limit:
        raise Undefined("too many turns")
    return sequence if sequence.__class__ is range else [known(item) for item in sequence]


def _texts(name: str, *texts: Any) -> Any:
    return UNKNOWN if any(text is UNKNOWN for text in texts) else TEXT_FUNCTIONS[name](*texts)


def _of_numbers(name: str, found: Any) -> Any:
    if found is UNKNOWN:
        return UNKNOWN
    items: Sequence[Any] = found if isinstance(found, tuple | list | range) else (found,)
    if name != "len" and not all(number(known(item)) for item in items):
        return UNKNOWN
    return primitives.NUMBER_FUNCTIONS[name](found)


def _computing(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def computed(left: Any, right: Any) -> Any:
        both = left.__class__ is int and right.__class__ is int
        return compute(left, right) if both or (number(left) and number(right)) else UNKNOWN

    return computed


def _comparing(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def compared(left: Any, right: Any) -> Any:
        found = compare(left, right)
        return found if found is UNKNOWN else found is not False

    return compared


def _named(of: type[ast.AST]) -> str:
    return f"_{of.__name__}"


FUNCTIONS: Final[Mapping[str, Any]] = {
    "_unknown": UNKNOWN,
    "_known": known,
    "_decide": decide,
    **{name: value for name, value in globals().items() if name.startswith("_") and callable(value)},
    **{_named(of): _comparing(compare) for of, compare in COMPARISONS.items()},
    **{_named(of): _computing(compute) for of, compute in ARITHMETIC.items()},
}


def of_tensors(context: Context) -> dict[str, Callable[[Any], Any]]:
    """Return the functions of a tensor by their names in compiled rules. context: what they read of a level."""

    def of(compute: Callable[[TensorDesc, Context], Any]) -> Callable[[Any], Any]:
        return lambda tensor: UNKNOWN if tensor is UNKNOWN else compute(tensor, context)

    def of_layout(name: str) -> Callable[[Any], Any]:
        return of(lambda tensor, context: primitives.of_layout(name, tensor, context))

    return {
        **{f"_t_{name}": of(compute) for name, compute in primitives.TENSOR_FUNCTIONS.items()},
        **{f"_t_{name}": of_layout(name) for name in LAYOUT_FUNCTIONS},
    }
