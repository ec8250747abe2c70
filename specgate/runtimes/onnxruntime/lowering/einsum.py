"""Einsum of one or two tensors.

Source: microsoft/onnxruntime, onnxruntime/core/providers/dml/DmlExecutionProvider/src/Operators/DmlOperatorEinSum.cpp
at 9a306e859906f102ae0ee4099936676af248d09f, and the DirectML calls of onnxruntime-directml 1.24.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from specgate.runtimes.onnxruntime.lowering.state import Refused
from specgate.runtimes.onnxruntime.lowering.tensor_builder import operator, sizes_of, tensor_of
from specgate.runtimes.onnxruntime.lowering.tensors import described, packed_strides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.runtimes.onnxruntime.lowering.state import State

__all__ = ["einsum"]


class _Labelled(NamedTuple):
    """A tensor with a label per dimension; a repeated label is a diagonal."""

    labels: str
    tensor: TensorDesc

    def strides(self) -> dict[str, int]:
        """Return the stride of each label."""
        numbers_by_name: dict[str, int] = {}
        for label, stride in zip(self.labels, packed_strides(sizes_of(self.tensor)), strict=True):
            numbers_by_name[label] = numbers_by_name.get(label, 0) + stride
        return numbers_by_name


class _Sum:
    """An equation over the tensors of a node.

    order: the labels of the inputs in order of appearance.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        tensors: list[TensorDesc] = state.get("inputs")
        terms, self.result = _equation(state.get("equation"))
        if len(terms) != len(tensors):
            raise Refused("equation", "the equation must have a term for each input")
        self.inputs = [_Labelled(term, tensor) for term, tensor in zip(terms, tensors, strict=True)]
        self.output = _Labelled(self.result, tensor_of(state, "output0"))
        self.sizes: dict[str, int] = {}
        for labelled in (*self.inputs, self.output):
            if len(labelled.labels) != len(sizes_of(labelled.tensor)):
                raise Refused("equation", "each term must have a label for each dimension")
        for labelled in self.inputs:
            self.sizes |= dict(zip(labelled.labels, sizes_of(labelled.tensor), strict=True))
        if not set(self.result) <= self.sizes.keys():
            raise Refused("equation", "the output has a label that is not in any input")
        self.order = "".join(self.sizes)
        self.summed = [label for label in self.order if label not in self.result]

    def strided(self, labelled: _Labelled, labels: Sequence[str], *, kept: bool = False) -> TensorDesc:
        """Return a tensor with the dimensions of `labels`.

        kept: a missing dimension has size 1 and is not broadcast.
        """
        strides = labelled.strides()
        sizes = tuple(1 if label not in strides and kept else self.sizes.get(label, 1) for label in labels)
        word = self.state.dml_type(labelled.tensor)
        return described(self.state, word, sizes, tuple(strides.get(label, 0) for label in labels), least=1)

    def packed(self, labels: Sequence[str]) -> TensorDesc:
        """Return an intermediate tensor with the dimensions of `labels`."""
        word = self.state.dml_type(self.output.tensor)
        return described(self.state, word, tuple(self.sizes[label] for label in labels), None, least=1)


def _equation(text: object) -> tuple[list[str], str]:
    if not isinstance(text, str):
        raise Refused("equation", "the node has no equation")
    left, arrow, right = text.replace(" ", "").partition("->")
    terms = left.split(",")
    if not all(term.isalpha() or not term for term in [*terms, right]):
        raise Refused("equation", "the kernel supports only letters as labels")
    once = sorted(label for label in set(left) - {","} if left.count(label) == 1)
    return terms, right if arrow else "".join(once)


def einsum(state: State) -> Iterator[Descriptor]:
    """Yield the operators of an Einsum of one or two tensors."""
    whole = _Sum(state)
    if len(whole.inputs) == 1:
        labels = whole.order
        axes = [at for at, label in enumerate(labels) if label in whole.summed]
        yield _reduced(whole.strided(whole.inputs[0], labels), whole, labels, axes)
    elif len(whole.inputs) == 2:
        yield from _matrices(whole) if _is_product(whole) else _elements(whole)
    else:
        raise Refused("inputs", "the kernel supports at most two tensors")


def _reduced(source: TensorDesc, whole: _Sum, labels: str, axes: list[int]) -> Descriptor:
    output = whole.strided(whole.output, labels, kept=True)
    return operator("REDUCE", Function="SUM", InputTensor=source, OutputTensor=output, Axes=axes)


def _is_product(whole: _Sum) -> bool:
    """Return whether the equation is a matrix product.

    Both inputs share one summed label, and each has a label that the other lacks.
    """
    first, second = (set(labelled.labels) for labelled in whole.inputs)
    own = [first - second, second - first]
    return (
        len(whole.summed) == 1
        and whole.summed[0] in first & second
        and all(len(labels) <= 1 or index == 0 for index, labels in enumerate(own))
        and all(own)
        and len(whole.order) <= 5
        and len(first | second) - 1 <= whole.state.least
        and all(len(set(labelled.labels)) == len(labelled.labels) for labelled in whole.inputs)
    )


def _matrices(whole: _Sum) -> Iterator[Descriptor]:
    first, second = whole.inputs
    inner = whole.summed[0]
    lengths = {sizes_of(one.tensor)[one.labels.index(inner)] for one in whole.inputs}
    if len(lengths) > 1:
        raise Refused("inner-size", f"{inner} has different sizes {sorted(lengths)}")
    rows = [label for label in first.labels if label not in second.labels]
    (column,) = [label for label in second.labels if label not in first.labels]
    batch = [label for label in whole.order if label in first.labels and label in second.labels and label != inner]
    batch = [*rows[1:], *batch]
    front: list[str] = [*batch, *[""] * (2 - len(batch))]
    tensors = [
        whole.strided(first, [*front, rows[0], inner]),
        whole.strided(second, [*front, column, inner]),
        whole.strided(whole.output, [*front, rows[0], column]),
    ]
    yield operator(
        "GEMM",
        ATensor=tensors[0],
        BTensor=tensors[1],
        OutputTensor=tensors[2],
        TransA="NONE",
        TransB="TRANSPOSE",
        Alpha=1.0,
        Beta=0.0,
    )


def _elements(whole: _Sum) -> Iterator[Descriptor]:
    labels = whole.order
    first, second = (whole.strided(labelled, labels) for labelled in whole.inputs)
    between = whole.packed(labels) if whole.summed else whole.strided(whole.output, labels)
    yield operator("ELEMENT_WISE_MULTIPLY", ATensor=first, BTensor=second, OutputTensor=between)
    if whole.summed:
        yield _reduced(between, whole, labels, [at for at, label in enumerate(labels) if label in whole.summed])
