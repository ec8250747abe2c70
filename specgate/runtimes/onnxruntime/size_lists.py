"""Lists of sizes and single sizes that a runtime knows while it infers.

Nodes compute them. The data is inference.yaml in the folder of the runtime, which lists the operators that pass on such
values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from specgate.dialects.onnx.file.structure import OnnxNode

    Sizes = Sequence[int | str | None] | None

__all__ = ["WAYS", "Inference", "Row", "Value"]

#: Maximum length of a list of sizes.
_MOST: Final = 256
#: Sizes must fit 64 bits.
_LARGEST: Final = 1 << 63


class Value(NamedTuple):
    """A known value.

    kind: ``list`` or ``number``; a number has one element.
    """

    kind: str
    elements: tuple[int, ...]


class Row(NamedTuple):
    """The results of one operator at a range of opsets.

    of: kinds of the inputs, as one word each or one for all.
    """

    first: int
    last: int | None
    of: str | Sequence[str]
    by: str
    gives: str


class Inference(NamedTuple):
    """Differences of a release's inference from the onnx package's.

    values: rows by operator. unsized: by operator, the opsets at which its outputs have an unknown rank.
    """

    values: Mapping[str, Sequence[Row]]
    unsized: Mapping[str, Sequence[tuple[int, int | None]]]

    def unsized_at(self, opset: int) -> frozenset[str]:
        """Return the operators whose outputs have an unknown rank at an opset."""
        return frozenset(name for name, spans in self.unsized.items() if any(_within(opset, *one) for one in spans))

    def value(
        self, node: OnnxNode, opset: int, known: Mapping[str, Value], sizes: Callable[[str], Sizes],
        constant: Callable[[str], Sequence[Any] | None],
    ) -> Value | None:  # fmt: skip
        """Return the value that a node computes, None if it is unknown.

        known: earlier known values by name. sizes: returns the sizes of a value. constant: returns the elements of a
        constant.
        """
        if node.domain or len(node.outputs) != 1:
            return None
        for row in self.values.get(node.op_type, ()):
            if not _within(opset, row.first, row.last):
                continue
            texts = [row.of] * len(node.inputs) if isinstance(row.of, str) else row.of
            used_items = [
                _select(kind, name, known, sizes, constant) for kind, name in zip(texts, node.inputs, strict=False)
            ]
            items = [one for one in used_items if one is not None]
            if not used_items or len(items) < len(used_items):
                continue
            bounds = [node.attributes[name].value if name in node.attributes else None for name in ("start", "end")]
            numbers = WAYS[row.by](items, slice(*(one if isinstance(one, int) else None for one in bounds)))
            if numbers is not None and len(numbers) <= _MOST and all(-_LARGEST <= one < _LARGEST for one in numbers):
                return Value(row.gives, numbers)
        return None


def _within(opset: int, first: int, last: int | None) -> bool:
    return first <= opset and (last is None or opset <= last)


def _select(
    kind: str, name: str, known: Mapping[str, Value], sizes: Callable[[str], Sizes],
    constant: Callable[[str], Sequence[Any] | None],
) -> Sequence[Any] | None:  # fmt: skip
    """Return the elements of an input, None if it is of another kind."""
    if kind == "any":
        return ()
    if kind == "sizes":
        return sizes(name)
    if kind == "constant":
        items = constant(name)
        return items if items is not None and len(items) == 1 else None
    value = known.get(name)
    return value.elements if value is not None and value.kind == kind else None


def _sizes(inputs: Sequence[Sequence[Any]], part: slice) -> tuple[int, ...] | None:
    items = tuple(inputs[0][part])
    return items if all(isinstance(size, int) for size in items) else None


def _picked(inputs: Sequence[Sequence[Any]], _: slice) -> tuple[int, ...] | None:
    items, (index,) = inputs
    return (items[index],) if isinstance(index, int) and -len(items) <= index < len(items) else None


def _each(
    function: Callable[[int, int], int | None],
) -> Callable[[Sequence[Sequence[Any]], slice], tuple[int, ...] | None]:
    """Return a function that combines two lists by element.

    A list with one element is broadcast.
    """

    def combined(inputs: Sequence[Sequence[Any]], _: slice) -> tuple[int, ...] | None:
        if len(inputs) != 2:
            return None
        count = max(map(len, inputs))
        one, two = (list(items) * count if len(items) == 1 else list(items) for items in inputs)
        if len(one) != len(two):
            return None
        new_numbers = [function(*pair) for pair in zip(one, two, strict=True)]
        numbers = tuple([each for each in new_numbers if each is not None])
        return numbers if len(numbers) == len(new_numbers) else None

    return combined


def _quotient(one: int, two: int) -> int | None:
    """Return a quotient rounded toward 0, None for a divisor of 0."""
    return None if two == 0 else abs(one) // abs(two) * (1 if (one < 0) == (two < 0) else -1)


#: Computation of elements from those of the inputs. The slice is the part of all sizes that a node selects.
WAYS: Final[Mapping[str, Callable[[Sequence[Sequence[Any]], slice], tuple[int, ...] | None]]] = {
    "sizes": _sizes,
    "same": lambda inputs, _: tuple(inputs[0]),
    "joined": lambda inputs, _: tuple([one for items in inputs for one in items]),
    "picked": _picked,
    "sum": _each(lambda one, two: one + two),
    "difference": _each(lambda one, two: one - two),
    "product": _each(lambda one, two: one * two),
    "quotient": _each(_quotient),
}
