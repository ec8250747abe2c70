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

#: Maximum length of a list of sizes.
_MAX_LENGTH: Final = 256
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

    def unranked_operators(self, opset: int) -> frozenset[str]:
        """Return the operators whose outputs have an unknown rank at an opset."""
        return frozenset(
            name for name, spans in self.unsized.items() if any(_in_opset_range(opset, *span) for span in spans)
        )

    def value(
        self, node: OnnxNode, opset: int, values: Mapping[str, Value], sizes: Callable[[str], Sizes],
        constant: Callable[[str], Sequence[Any] | None],
    ) -> Value | None:  # fmt: skip
        """Return the value that a node computes, None if it is unknown.

        known: earlier known values by name. sizes: returns the sizes of a value. constant: returns the elements of a
        constant.
        """
        if node.domain or len(node.outputs) != 1:
            return None
        for row in self.values.get(node.op_type, ()):
            if not _in_opset_range(opset, row.first, row.last):
                continue
            texts = [row.of] * len(node.inputs) if isinstance(row.of, str) else row.of
            used_items = [
                _select(kind, name, values, sizes, constant) for kind, name in zip(texts, node.inputs, strict=False)
            ]
            items = [item for item in used_items if item is not None]
            if not used_items or len(items) < len(used_items):
                continue
            bounds = [node.attributes[name].value if name in node.attributes else None for name in ("start", "end")]
            numbers = METHODS[row.by](items, slice(*(item if isinstance(item, int) else None for item in bounds)))
            if (
                numbers is not None
                and len(numbers) <= _MAX_LENGTH
                and all(-_LARGEST <= item < _LARGEST for item in numbers)
            ):
                return Value(row.gives, numbers)
        return None


def _in_opset_range(opset: int, first: int, last: int | None) -> bool:
    return first <= opset and (last is None or opset <= last)


def _select(
    kind: str, name: str, values: Mapping[str, Value], sizes: Callable[[str], Sizes],
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
    value = values.get(name)
    return value.elements if value is not None and value.kind == kind else None


def _sizes(inputs: Sequence[Sequence[Any]], part: slice) -> tuple[int, ...] | None:
    items = tuple(inputs[0][part])
    return items if all(isinstance(size, int) for size in items) else None


def _pick_item(inputs: Sequence[Sequence[Any]], _: slice) -> tuple[int, ...] | None:
    items, (index,) = inputs
    return (items[index],) if isinstance(index, int) and -len(items) <= index < len(items) else None


def _combine_elements(
    function: Callable[[int, int], int | None],
) -> Callable[[Sequence[Sequence[Any]], slice], tuple[int, ...] | None]:
    """Return a function that combines two lists by element.

    A list with one element is broadcast.
    """

    def combine_lists(inputs: Sequence[Sequence[Any]], _: slice) -> tuple[int, ...] | None:
        if len(inputs) != 2:
            return None
        count = max(map(len, inputs))
        first, second = (list(items) * count if len(items) == 1 else list(items) for items in inputs)
        if len(first) != len(second):
            return None
        new_numbers = [function(*pair) for pair in zip(first, second, strict=True)]
        numbers = tuple([number for number in new_numbers if number is not None])
        return numbers if len(numbers) == len(new_numbers) else None

    return combine_lists


def _quotient(dividend: int, two: int) -> int | None:
    """Return a quotient rounded toward 0, None for a divisor of 0."""
    return None if two == 0 else abs(dividend) // abs(two) * (1 if (dividend < 0) == (two < 0) else -1)


#: Computation of elements from those of the inputs. The slice is the part of all sizes that a node selects.
METHODS: Final[Mapping[str, Callable[[Sequence[Sequence[Any]], slice], tuple[int, ...] | None]]] = {
    "sizes": _sizes,
    "same": lambda inputs, _: tuple(inputs[0]),
    "joined": lambda inputs, _: tuple([item for items in inputs for item in items]),
    "picked": _pick_item,
    "sum": _combine_elements(lambda first, second: first + second),
    "difference": _combine_elements(lambda first, second: first - second),
    "product": _combine_elements(lambda first, second: first * second),
    "quotient": _combine_elements(_quotient),
}
