"""FusedMatMul by strides, and Einsum of one or two tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal
from specgate.runtimes.onnxruntime.lowering.tensor_builder import bare, operator, tensor_of, tensor_shape
from specgate.runtimes.onnxruntime.lowering.tensors import describe_tensor, packed_strides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.runtimes.onnxruntime.lowering.state import State


class _Labelled(NamedTuple):
    """A tensor with a label per dimension; a repeated label is a diagonal."""

    labels: str
    tensor: TensorDesc

    def strides(self) -> dict[str, int]:
        """Return the stride of each label."""
        numbers_by_name: dict[str, int] = {}
        for label, stride in zip(self.labels, packed_strides(tensor_shape(self.tensor)), strict=True):
            numbers_by_name[label] = numbers_by_name.get(label, 0) + stride
        return numbers_by_name


class _EinsumEquation:
    """An equation over the tensors of a node.

    order: the labels of the inputs in order of appearance.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        tensors: list[TensorDesc] = state.get("inputs")
        terms, self.result = _equation(state.get("equation"))
        if len(terms) != len(tensors):
            raise ProviderRefusal("equation", "the equation must have a term for each input")
        self.inputs = [_Labelled(term, tensor) for term, tensor in zip(terms, tensors, strict=True)]
        self.output = _Labelled(self.result, tensor_of(state, "output0"))
        self.sizes: dict[str, int] = {}
        for labelled in (*self.inputs, self.output):
            if len(labelled.labels) != len(tensor_shape(labelled.tensor)):
                raise ProviderRefusal("equation", "each term must have a label for each dimension")
        for labelled in self.inputs:
            self.sizes |= dict(zip(labelled.labels, tensor_shape(labelled.tensor), strict=True))
        if not set(self.result) <= self.sizes.keys():
            raise ProviderRefusal("equation", "the output has a label that is not in any input")
        self.order = "".join(self.sizes)
        self.summed = [label for label in self.order if label not in self.result]

    def strided_tensor(self, labelled: _Labelled, labels: Sequence[str], *, keeps_strides: bool = False) -> TensorDesc:
        """Return a tensor with the dimensions of `labels`.

        keeps_strides: a missing dimension has size 1 and is not broadcast.
        """
        strides = labelled.strides()
        sizes = tuple(1 if label not in strides and keeps_strides else self.sizes.get(label, 1) for label in labels)
        word = self.state.dml_type(labelled.tensor)
        return describe_tensor(self.state, word, sizes, tuple(strides.get(label, 0) for label in labels), least=1)

    def packed_tensor(self, labels: Sequence[str]) -> TensorDesc:
        """Return an intermediate tensor with the dimensions of `labels`."""
        word = self.state.dml_type(self.output.tensor)
        return describe_tensor(self.state, word, tuple(self.sizes[label] for label in labels), None, least=1)


def _equation(text: object) -> tuple[list[str], str]:
    if not isinstance(text, str):
        raise ProviderRefusal("equation", "the node has no equation")
    left, arrow, right = text.replace(" ", "").partition("->")
    terms = left.split(",")
    if not all(term.isalpha() or not term for term in [*terms, right]):
        raise ProviderRefusal("equation", "the kernel supports only letters as labels")
    unique_labels = sorted(label for label in set(left) - {","} if left.count(label) == 1)
    return terms, right if arrow else "".join(unique_labels)


def einsum(state: State) -> Iterator[Descriptor]:
    """Yield the operators of an Einsum of one or two tensors."""
    equation_sum = _EinsumEquation(state)
    if len(equation_sum.inputs) == 1:
        labels = equation_sum.order
        axes = [index for index, label in enumerate(labels) if label in equation_sum.summed]
        yield _reduce_sum(equation_sum.strided_tensor(equation_sum.inputs[0], labels), equation_sum, labels, axes)
    elif len(equation_sum.inputs) == 2:
        yield from _matrices(equation_sum) if _is_product(equation_sum) else _elements(equation_sum)
    else:
        raise ProviderRefusal("inputs", "the kernel supports at most two tensors")


def _reduce_sum(source: TensorDesc, equation_sum: _EinsumEquation, labels: str, axes: list[int]) -> Descriptor:
    output = equation_sum.strided_tensor(equation_sum.output, labels, keeps_strides=True)
    return operator("REDUCE", Function="SUM", InputTensor=source, OutputTensor=output, Axes=axes)


def _is_product(equation_sum: _EinsumEquation) -> bool:
    """Return whether the equation is a matrix product.

    Both inputs share one summed label, and each has a label that the other lacks.
    """
    first, second = (set(labelled.labels) for labelled in equation_sum.inputs)
    own_labels = [first - second, second - first]
    return (
        len(equation_sum.summed) == 1
        and equation_sum.summed[0] in first & second
        and all(len(labels) <= 1 or index == 0 for index, labels in enumerate(own_labels))
        and all(own_labels)
        and len(equation_sum.order) <= 5
        and len(first | second) - 1 <= equation_sum.state.least
        and all(len(set(labelled.labels)) == len(labelled.labels) for labelled in equation_sum.inputs)
    )


def _matrices(equation_sum: _EinsumEquation) -> Iterator[Descriptor]:
    first, second = equation_sum.inputs
    inner = equation_sum.summed[0]
    lengths = {tensor_shape(operand.tensor)[operand.labels.index(inner)] for operand in equation_sum.inputs}
    if len(lengths) > 1:
        raise ProviderRefusal("inner-size", f"{inner} has different sizes {sorted(lengths)}")
    rows = [label for label in first.labels if label not in second.labels]
    (column,) = [label for label in second.labels if label not in first.labels]
    batch = [
        label for label in equation_sum.order if label in first.labels and label in second.labels and label != inner
    ]
    batch = [*rows[1:], *batch]
    front: list[str] = [*batch, *[""] * (2 - len(batch))]
    tensors = [
        equation_sum.strided_tensor(first, [*front, rows[0], inner]),
        equation_sum.strided_tensor(second, [*front, column, inner]),
        equation_sum.strided_tensor(equation_sum.output, [*front, rows[0], column]),
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


def _elements(equation_sum: _EinsumEquation) -> Iterator[Descriptor]:
    labels = equation_sum.order
    first, second = (equation_sum.strided_tensor(labelled, labels) for labelled in equation_sum.inputs)
    inner_tensor = (
        equation_sum.packed_tensor(labels)
        if equation_sum.summed
        else equation_sum.strided_tensor(equation_sum.output, labels)
    )
    yield operator("ELEMENT_WISE_MULTIPLY", ATensor=first, BTensor=second, OutputTensor=inner_tensor)
    if equation_sum.summed:
        yield _reduce_sum(
            inner_tensor,
            equation_sum,
            labels,
            [index for index, label in enumerate(labels) if label in equation_sum.summed],
        )


_Strided = tuple[list[int], list[int]]


def fused_product(state: State) -> Iterator[Descriptor]:
    """Yield the operator of a FusedMatMul whose matrices DirectML transposes."""
    yield _product(state, is_transposed=False)


def turned_product(state: State) -> Iterator[Descriptor]:
    """Yield the operator of a FusedMatMul that uses strides to transpose."""
    yield _product(state, is_transposed=True)


def _product(state: State, *, is_transposed: bool) -> Descriptor:
    first, second = (tensor_of(state, name) for name in ("A", "B"))
    transposed_flags = [bool(state.get(name)) for name in ("transA", "transB")]
    left_strides, right_strides = (
        _input_strides(tensor_shape(first), state.get("transBatchA")),
        _input_strides(tensor_shape(second), state.get("transBatchB")),
    )
    if is_transposed:
        left_strides, right_strides = (
            _swap_last_axes(strides) if swap else strides
            for strides, swap in zip((left_strides, right_strides), transposed_flags, strict=True)
        )
        transposed_flags = [False, False]
    product = list(tensor_shape(tensor_of(state, "Y")))
    if len(right_strides[0]) == 1:
        right_strides = [*right_strides[0], 1], [*right_strides[1], 0]
        product.append(1)
    if len(left_strides[0]) == 1:
        left_strides = [1, *left_strides[0]], [0, *left_strides[1]]
        product.insert(len(product) - 1, 1)
    left_strides, right_strides = _broadcast(left_strides, product), _broadcast(right_strides, product)
    word = state.dml_type(first)
    words = ["TRANSPOSE" if swap else "NONE" for swap in transposed_flags]
    return operator(
        "GEMM",
        ATensor=bare(word, *left_strides),
        BTensor=bare(word, *right_strides),
        OutputTensor=bare(word, product),
        TransA=words[0],
        TransB=words[1],
        Alpha=float(state.get("alpha")),
        Beta=0.0,
    )


def _swap_last_axes(strided_sizes: _Strided) -> _Strided:
    """Swap the last two dimensions; a vector is unchanged."""
    sizes, strides = strided_sizes
    return (sizes[:-2] + sizes[:-3:-1], strides[:-2] + strides[:-3:-1]) if len(sizes) > 1 else strided_sizes


def _input_strides(sizes: Sequence[int], batch: int) -> _Strided:
    """Return sizes and strides of an input.

    With `batch`, the first dimension becomes the second to last.
    """
    numbers, strides = list(sizes), list(packed_strides(sizes))
    if not batch:
        return numbers, strides
    if len(numbers) < 3:
        raise ProviderRefusal("batch", "transBatch requires a batch dimension")
    for part in (numbers, strides):
        part.insert(len(part) - 2, part.pop(0))
    return numbers, strides


def _broadcast(strided_sizes: _Strided, product: Sequence[int]) -> _Strided:
    missing_count = len(product) - len(strided_sizes[0])
    sizes, strides = [1] * missing_count + strided_sizes[0], [0] * missing_count + strided_sizes[1]
    for index in range(len(product) - 2):
        if sizes[index] != product[index]:
            sizes[index], strides[index] = product[index], 0
    return sizes, strides
