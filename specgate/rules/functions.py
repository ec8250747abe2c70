"""The rule language's functions, with a form per engine."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

from specgate.rules.language import (
    ANY_TENSOR_OR_FIELD,
    FUNCTIONS,
    LAYOUT_FUNCTIONS,
    NUMBER,
    NUMBERS,
    OPERATOR,
    TENSOR,
    TENSOR_TYPES,
    TENSORS,
    TRUTH,
    UNKNOWN,
    WORD,
    WORDS,
    Context,
    Function,
    Undefined,
    define_functions,
    size_or_unknown,
)
from specgate.spec.type_names import parse_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specgate.descriptors.core import TensorDesc

__all__ = [
    "FUNCTIONS",
    "LOOP_LIMIT",
    "NEST_LIMIT",
    "TURN_LIMIT",
    "bits_of",
    "bounded_range",
    "check_nesting",
    "extent",
    "layout_value",
    "overlapping",
    "overlapping_rows", "power_of_two",
    "product",
]  # fmt: skip

#: Maximum length of a loop, whatever numbers a descriptor holds.
LOOP_LIMIT = 10_000
#: Maximum total iterations of a rule, and maximum length of each nested loop.
TURN_LIMIT = 100_000
NEST_LIMIT = 300


def bounded_range(stop: int) -> range:
    """Return range(stop); raise above LOOP_LIMIT to bound the time of a check."""
    if stop > LOOP_LIMIT:
        raise ValueError(f"range({stop}) is longer than {LOOP_LIMIT}")
    return range(stop)


def check_nesting(items: Sequence[Any]) -> Sequence[Any]:
    """Return `items`, the sequence of an outer loop; raise above NEST_LIMIT."""
    if len(items) > NEST_LIMIT:
        raise ValueError(f"{len(items)} iterations of nested loops, more than {NEST_LIMIT}")
    return items


def product(numbers: Iterable[int]) -> int:
    """Return the product, 1 for no numbers."""
    return prod(numbers)


def power_of_two(number: int) -> bool:
    """Return whether `number` is a power of two."""
    return number > 0 and number & (number - 1) == 0


def extent(sizes: Sequence[int], strides: Sequence[int] | None) -> int:
    """Return the number of elements from a tensor's first to its last element.

    strides: None when packed.
    """
    if strides is None:
        return prod(sizes)
    if len(strides) != len(sizes):
        raise ValueError("the number of strides must equal the number of sizes")
    reach = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return reach * prod(size != 0 for size in sizes)


def overlapping(sizes: Sequence[int], strides: Sequence[int] | None) -> bool:
    """Return whether two coordinates may share an element.

    In order of stride, every stride must exceed the extent of the dimensions with smaller strides. That is exact for
    layouts from padding, broadcasting and permuting. A layout that interleaves dimensions without sharing counts as
    overlapping.
    """
    if strides is None or 0 in sizes:
        return False
    reached_bits = 0
    for stride, size in sorted(zip(strides, sizes, strict=True)):  # strict: the rank must match
        if size <= 1:
            continue
        if stride <= reached_bits:
            return True
        reached_bits += (size - 1) * stride
    return False


def overlapping_rows(sizes: Sequence[Any], strides: Sequence[Any] | None) -> Any:
    """Return `overlapping` per row of columns, which are compared without sorting."""
    if strides is None:
        return False
    reaches = [(size - 1) * stride for size, stride in zip(sizes, strides, strict=True)]
    shared: Any = False
    for place, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        others = zip(reaches[:place] + reaches[place + 1 :], [*strides[:place], *strides[place + 1 :]], strict=True)
        reached = sum(reach * (other <= stride) for reach, other in others)
        shared = shared | ((size > 1) & (stride <= reached))
    return shared & (prod(size != 0 for size in sizes) > 0)


def bits_of(tensor: TensorDesc, context: Context) -> Any:
    """Return the bits per element, UNKNOWN for an unknown type."""
    return size_or_unknown(context.bits.get(tensor.type)) if tensor.type is not None else UNKNOWN


def layout_value(name: str, tensor: TensorDesc, context: Context) -> Any:
    """Return a registered layout function's value.

    UNKNOWN where a size or the type is unknown; raises Undefined where the function raises ValueError.
    """
    function = LAYOUT_FUNCTIONS[name]
    bits = bits_of(tensor, context) if function.needs_bits else 0
    if bits is UNKNOWN or tensor.sizes is None:
        return UNKNOWN
    if not all(isinstance(size, int) for size in (*tensor.sizes, *(tensor.strides or ()))):
        return UNKNOWN
    try:
        return function.compute(bits, tensor.sizes, tensor.strides)
    except ValueError as error:
        raise Undefined(str(error)) from None


_ELLIPSIS: Final = "..."
#: Longer texts are not equations; the limit bounds the time of rules that iterate over letters.
_MAX_EQUATION: Final = 1_000


def _letters(text: str) -> list[str]:
    if len(text) > _MAX_EQUATION:
        raise ValueError(f"a text of {len(text)} characters, more than {_MAX_EQUATION}")
    return [c for c in text if c.isascii() and c.isalpha()]


def _letter(text: str, place: int) -> str:
    """Return the ASCII letter at an index, ignoring other characters."""
    return _letters(text)[_not_negative(place)]


def _single_letters(text: str) -> str:
    """Return the letters that occur once in a text, in ASCII order."""
    texts = _letters(text)
    return "".join(sorted(c for c in texts if texts.count(c) == 1))


def _item_type(text: str) -> str:
    """Return the element type of a sequence or an optional.

    It is FLOAT for ``seq(tensor(float))``.
    """
    tree = parse_type(text)
    if tree is None or tree.element or len(tree.parts) != 1:
        raise ValueError(f"{text} is not a container type")
    item = str(tree.parts[0])
    return TENSOR_TYPES.get(item, item)


def _labeled_sizes(terms: Sequence[str], tensors: Sequence[TensorDesc], letter: str) -> Any:
    """Return the sizes labeled by a letter in all tensors.

    UNKNOWN where a rank is not known. terms: per tensor a text with one letter per dimension, except those covered by
    an ellipsis.
    """
    items = []
    for text, tensor in zip(terms, tensors, strict=True):
        names = _letters(text)
        if letter not in names:
            continue
        if tensor.sizes is None:
            return UNKNOWN
        leading_letters = len(_letters(text.split(_ELLIPSIS)[0]))
        extra = len(tensor.sizes) - len(names)
        places = [n if n < leading_letters else n + extra for n, name in enumerate(names) if name == letter]
        items += [size_or_unknown(tensor.sizes[_not_negative(place)]) for place in places]
    return tuple(items)


def _ellipsis_sizes(terms: Sequence[str], tensors: Sequence[TensorDesc], place: int) -> Any:
    """Return the sizes under an ellipsis at a place, counted from the last.

    UNKNOWN where a rank is not known. A tensor with fewer such dimensions contributes none.
    """
    items = []
    for text, tensor in zip(terms, tensors, strict=True):
        if _ELLIPSIS not in text:
            continue
        if tensor.sizes is None:
            return UNKNOWN
        count = len(tensor.sizes) - len(_letters(text))
        if _not_negative(place) < count:
            items.append(size_or_unknown(tensor.sizes[len(_letters(text.split(_ELLIPSIS)[0])) + count - 1 - place]))
    return tuple(items)


def _not_negative(place: int) -> int:
    if place < 0:
        raise IndexError(f"there is no element {place}")
    return place


def _elements(tensor: TensorDesc, _context: Context) -> Any:
    sizes = tensor.sizes
    if sizes is None:
        return UNKNOWN
    if all(isinstance(size, int) for size in sizes):
        return product(sizes)  # type: ignore[arg-type]
    return UNKNOWN


def _value(tensor: TensorDesc, _context: Context) -> Any:
    if tensor.value is None:
        return UNKNOWN
    if len(tensor.value) != 1:
        raise Undefined(f"a constant of {len(tensor.value)} elements does not have a single value")
    return tensor.value[0] if isinstance(tensor.value[0], int | float) else UNKNOWN


def _values(tensor: TensorDesc, _context: Context) -> Any:
    if tensor.value is None or not all(isinstance(item, int | float) for item in tensor.value):
        return UNKNOWN
    return tensor.value


#: Products are capped here: no level supports tensors with as many elements.
_MAX_PRODUCT: Final = 2**62
define_functions(
    {
        "rank": Function(
            (TENSOR,), NUMBER, lambda t, _: UNKNOWN if t.sizes is None else len(t.sizes), ("rank({})", 0, 64)
        ),
        "type": Function((TENSOR,), WORD, lambda t, _: size_or_unknown(t.type)),
        "elements": Function((TENSOR,), NUMBER, _elements, ("elements({})", 0, _MAX_PRODUCT)),
        "dims": Function((TENSOR,), NUMBERS, lambda t, _: UNKNOWN if t.sizes is None else range(len(t.sizes))),
        "bits": Function(
            (TENSOR,), NUMBER, bits_of, ("bits(check, {})", 0, 64), "the number of bits of an element of {}"
        ),
        "value": Function((TENSOR,), NUMBER, _value),
        "values": Function((TENSOR,), NUMBERS, _values),
        "operator": Function((OPERATOR,), WORD),
        "present": Function((ANY_TENSOR_OR_FIELD,), TRUTH),
        "len": Function((NUMBERS,), NUMBER, len, words="the number of"),
        "sum": Function((NUMBERS,), NUMBER, sum, words="the sum of"),
        "product": Function((NUMBERS,), NUMBER, product, words="the product of"),
        "min": Function((NUMBERS,), NUMBER, min, words="the least of"),
        "max": Function((NUMBERS,), NUMBER, max, words="the greatest of"),
        "range": Function((NUMBER,), NUMBERS, bounded_range),
        "abs": Function((NUMBER,), NUMBER, abs),
        "int": Function((NUMBER,), NUMBER, int),
        "power_of_two": Function((NUMBER,), TRUTH, power_of_two, ("power_of_two({})", 0, 1)),
        "split": Function((WORD, WORD), WORDS, lambda text, mark: tuple(text.split(mark))),
        "count": Function((WORD, WORD), NUMBER, lambda text, part: text.count(part)),
        "item_type": Function((WORD,), WORD, _item_type),
        "letters": Function((WORD,), NUMBER, lambda text: sum(c.isascii() and c.isalpha() for c in text)),
        "letter": Function((WORD, NUMBER), WORD, _letter),
        "single_letters": Function((WORD,), WORD, _single_letters),
        "labelled": Function((WORDS, TENSORS, WORD), NUMBERS, _labeled_sizes),
        "covered": Function((WORDS, TENSORS, NUMBER), NUMBERS, _ellipsis_sizes),
    }
)
