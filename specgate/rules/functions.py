"""Definitions of the rule language's functions, with a form per engine.

See `language.Function`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.rules.language import (
    ANY_TENSOR_OR_FIELD,
    FUNCTIONS,
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
    Function,
    Undefined,
    define_functions,
    known,
)
from specgate.rules.primitives import bits_of, bounded_range, power_of_two, product
from specgate.spec.type_names import parse_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.descriptors.core import TensorDesc
    from specgate.rules.language import Context

__all__ = ["FUNCTIONS"]

_REST: Final = "..."
#: Longer texts are not equations; the limit bounds the time of rules that iterate over letters.
_LONGEST: Final = 1_000


def _letters(text: str) -> list[str]:
    if len(text) > _LONGEST:
        raise ValueError(f"a text of {len(text)} characters, more than {_LONGEST}")
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


def _labelled(terms: Sequence[str], tensors: Sequence[TensorDesc], letter: str) -> Any:
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
        ahead = len(_letters(text.split(_REST)[0]))
        behind = len(tensor.sizes) - len(names)
        places = [n if n < ahead else n + behind for n, name in enumerate(names) if name == letter]
        items += [known(tensor.sizes[_not_negative(place)]) for place in places]
    return tuple(items)


def _covered(terms: Sequence[str], tensors: Sequence[TensorDesc], place: int) -> Any:
    """Return the sizes under an ellipsis at a place, counted from the last.

    UNKNOWN where a rank is not known. A tensor with fewer such dimensions contributes none.
    """
    items = []
    for text, tensor in zip(terms, tensors, strict=True):
        if _REST not in text:
            continue
        if tensor.sizes is None:
            return UNKNOWN
        count = len(tensor.sizes) - len(_letters(text))
        if _not_negative(place) < count:
            items.append(known(tensor.sizes[len(_letters(text.split(_REST)[0])) + count - 1 - place]))
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
_SATURATED: Final = 2**62
define_functions(
    {
        "rank": Function(
            (TENSOR,), NUMBER, lambda t, _: UNKNOWN if t.sizes is None else len(t.sizes), ("rank({})", 0, 64)
        ),
        "type": Function((TENSOR,), WORD, lambda t, _: known(t.type)),
        "elements": Function((TENSOR,), NUMBER, _elements, ("elements({})", 0, _SATURATED)),
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
        "labelled": Function((WORDS, TENSORS, WORD), NUMBERS, _labelled),
        "covered": Function((WORDS, TENSORS, NUMBER), NUMBERS, _covered),
    }
)
