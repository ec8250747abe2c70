"""Functions of texts that rules may call, some of them beside the tensors whose dimensions the texts name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.rules.language import TENSOR_TYPES, UNKNOWN, known
from specgate.spec.type_names import parse_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from specgate.descriptors.core import TensorDesc

__all__ = ["TEXT_FUNCTIONS"]

_REST: Final = "..."
#: Longer texts name no dimensions: a rule that goes through one letter by letter would take too long.
_LONGEST: Final = 1_000


def _letters(text: str) -> list[str]:
    if len(text) > _LONGEST:
        raise ValueError(f"a text of {len(text)} characters, more than {_LONGEST}")
    return [c for c in text if c.isascii() and c.isalpha()]


def _letter(text: str, place: int) -> str:
    """Return the letter of a text at a place, counted from 0 without what is no ASCII letter."""
    return _letters(text)[_not_negative(place)]


def _single_letters(text: str) -> str:
    """Return the letters that a text has once, in the order of ASCII."""
    found = _letters(text)
    return "".join(sorted(c for c in found if found.count(c) == 1))


def _item_type(text: str) -> str:
    """Return the type in a sequence or an optional: FLOAT of ``seq(tensor(float))``."""
    tree = parse_type(text)
    if tree is None or tree.element or len(tree.parts) != 1:
        raise ValueError(f"{text} is not a type that holds another one")
    item = str(tree.parts[0])
    return TENSOR_TYPES.get(item, item)


def _labelled(terms: Sequence[str], tensors: Sequence[TensorDesc], letter: str) -> Any:
    """Return the sizes that a letter stands for in all tensors, UNKNOWN where it is not known which.

    terms: for each tensor a text with a letter for each dimension, but for those that three points stand for.
    """
    found = []
    for text, tensor in zip(terms, tensors, strict=True):
        names = _letters(text)
        if letter not in names:
            continue
        if tensor.sizes is None:
            return UNKNOWN
        ahead = len(_letters(text.split(_REST)[0]))
        behind = len(tensor.sizes) - len(names)
        places = [n if n < ahead else n + behind for n, name in enumerate(names) if name == letter]
        found += [known(tensor.sizes[_not_negative(place)]) for place in places]
    return tuple(found)


def _covered(terms: Sequence[str], tensors: Sequence[TensorDesc], place: int) -> Any:
    """Return the sizes of all tensors that three points stand for at a place, counted from the last of them.

    It is UNKNOWN where a rank is not known. A tensor with fewer of them gives none.
    """
    found = []
    for text, tensor in zip(terms, tensors, strict=True):
        if _REST not in text:
            continue
        if tensor.sizes is None:
            return UNKNOWN
        count = len(tensor.sizes) - len(_letters(text))
        if _not_negative(place) < count:
            found.append(known(tensor.sizes[len(_letters(text.split(_REST)[0])) + count - 1 - place]))
    return tuple(found)


def _not_negative(place: int) -> int:
    if place < 0:
        raise IndexError(f"there is no place {place}")
    return place


#: A rule that calls one is about what a text spells, such as the equation of Einsum.
TEXT_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "split": lambda text, mark: tuple(text.split(mark)),
    "count": lambda text, part: text.count(part),
    "item_type": _item_type,
    "letters": lambda text: sum(c.isascii() and c.isalpha() for c in text),
    "letter": _letter,
    "single_letters": _single_letters,
    "labelled": _labelled,
    "covered": _covered,
}
