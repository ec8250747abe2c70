"""FusedMatMul by strides, and Einsum of one or two tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from specgate.runtimes.onnxruntime.lowering.state import Refused
from specgate.runtimes.onnxruntime.lowering.tensor_builder import bare, operator, sizes_of, tensor_of
from specgate.runtimes.onnxruntime.lowering.tensors import describe_tensor, packed_strides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.runtimes.onnxruntime.lowering.state import State

__all__ = ["einsum", "fused_product", "turned_product"]


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

    def strided_tensor(self, labelled: _Labelled, labels: Sequence[str], *, kept: bool = False) -> TensorDesc:
        """Return a tensor with the dimensions of `labels`.

        kept: a missing dimension has size 1 and is not broadcast.
        """
        strides = labelled.strides()
        sizes = tuple(1 if label not in strides and kept else self.sizes.get(label, 1) for label in labels)
        word = self.state.dml_type(labelled.tensor)
        return describe_tensor(self.state, word, sizes, tuple(strides.get(label, 0) for label in labels), least=1)

    def packed_tensor(self, labels: Sequence[str]) -> TensorDesc:
        """Return an intermediate tensor with the dimensions of `labels`."""
        word = self.state.dml_type(self.output.tensor)
        return describe_tensor(self.state, word, tuple(self.sizes[label] for label in labels), None, least=1)


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
        yield _reduce_sum(whole.strided_tensor(whole.inputs[0], labels), whole, labels, axes)
    elif len(whole.inputs) == 2:
        yield from _matrices(whole) if _is_product(whole) else _elements(whole)
    else:
        raise Refused("inputs", "the kernel supports at most two tensors")


def _reduce_sum(source: TensorDesc, whole: _Sum, labels: str, axes: list[int]) -> Descriptor:
    output = whole.strided_tensor(whole.output, labels, kept=True)
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
    lengths = {sizes_of(operand.tensor)[operand.labels.index(inner)] for operand in whole.inputs}
    if len(lengths) > 1:
        raise Refused("inner-size", f"{inner} has different sizes {sorted(lengths)}")
    rows = [label for label in first.labels if label not in second.labels]
    (column,) = [label for label in second.labels if label not in first.labels]
    batch = [label for label in whole.order if label in first.labels and label in second.labels and label != inner]
    batch = [*rows[1:], *batch]
    front: list[str] = [*batch, *[""] * (2 - len(batch))]
    tensors = [
        whole.strided_tensor(first, [*front, rows[0], inner]),
        whole.strided_tensor(second, [*front, column, inner]),
        whole.strided_tensor(whole.output, [*front, rows[0], column]),
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
    first, second = (whole.strided_tensor(labelled, labels) for labelled in whole.inputs)
    between = whole.packed_tensor(labels) if whole.summed else whole.strided_tensor(whole.output, labels)
    yield operator("ELEMENT_WISE_MULTIPLY", ATensor=first, BTensor=second, OutputTensor=between)
    if whole.summed:
        yield _reduce_sum(between, whole, labels, [at for at, label in enumerate(labels) if label in whole.summed])


_Strided = tuple[list[int], list[int]]


def fused_product(state: State) -> Iterator[Descriptor]:
    """Yield the operator of a FusedMatMul whose matrices DirectML transposes."""
    yield _product(state, turned=False)


def turned_product(state: State) -> Iterator[Descriptor]:
    """Yield the operator of a FusedMatMul that uses strides to transpose."""
    yield _product(state, turned=True)


def _product(state: State, *, turned: bool) -> Descriptor:
    first, second = (tensor_of(state, name) for name in ("A", "B"))
    across = [bool(state.get(name)) for name in ("transA", "transB")]
    ours, theirs = (
        _input_strides(sizes_of(first), state.get("transBatchA")),
        _input_strides(sizes_of(second), state.get("transBatchB")),
    )
    if turned:
        ours, theirs = (
            _swap_last_axes(each) if swap else each for each, swap in zip((ours, theirs), across, strict=True)
        )
        across = [False, False]
    product = list(sizes_of(tensor_of(state, "Y")))
    if len(theirs[0]) == 1:
        theirs = [*theirs[0], 1], [*theirs[1], 0]
        product.append(1)
    if len(ours[0]) == 1:
        ours = [1, *ours[0]], [0, *ours[1]]
        product.insert(len(product) - 1, 1)
    ours, theirs = _broadcast(ours, product), _broadcast(theirs, product)
    word = state.dml_type(first)
    words = ["TRANSPOSE" if swap else "NONE" for swap in across]
    return operator(
        "GEMM",
        ATensor=bare(word, *ours),
        BTensor=bare(word, *theirs),
        OutputTensor=bare(word, product),
        TransA=words[0],
        TransB=words[1],
        Alpha=float(state.get("alpha")),
        Beta=0.0,
    )


def _swap_last_axes(strided: _Strided) -> _Strided:
    """Swap the last two dimensions; a vector is unchanged."""
    sizes, strides = strided
    return (sizes[:-2] + sizes[:-3:-1], strides[:-2] + strides[:-3:-1]) if len(sizes) > 1 else strided


def _input_strides(sizes: Sequence[int], batch: int) -> _Strided:
    """Return sizes and strides of an input.

    With `batch`, the first dimension becomes the second to last.
    """
    numbers, strides = list(sizes), list(packed_strides(sizes))
    if not batch:
        return numbers, strides
    if len(numbers) < 3:
        raise Refused("batch", "transBatch requires a batch dimension")
    for part in (numbers, strides):
        part.insert(len(part) - 2, part.pop(0))
    return numbers, strides


def _broadcast(strided: _Strided, product: Sequence[int]) -> _Strided:
    missing = len(product) - len(strided[0])
    sizes, strides = [1] * missing + strided[0], [0] * missing + strided[1]
    for at in range(len(product) - 2):
        if sizes[at] != product[at]:
            sizes[at], strides[at] = product[at], 0
    return sizes, strides
