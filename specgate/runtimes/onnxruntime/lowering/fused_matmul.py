"""FusedMatMul with batches and matrices transposed by strides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.runtimes.onnxruntime.lowering.state import Refused
from specgate.runtimes.onnxruntime.lowering.tensor_builder import bare, operator, sizes_of, tensor_of
from specgate.runtimes.onnxruntime.lowering.tensors import packed_strides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.runtimes.onnxruntime.lowering.state import State

__all__ = ["fused_product", "turned_product"]

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
        _turned(sizes_of(first), state.get("transBatchA")),
        _turned(sizes_of(second), state.get("transBatchB")),
    )
    if turned:
        ours, theirs = (_across(each) if swap else each for each, swap in zip((ours, theirs), across, strict=True))
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


def _across(strided: _Strided) -> _Strided:
    """Swap the last two dimensions; a vector is unchanged."""
    sizes, strides = strided
    return (sizes[:-2] + sizes[:-3:-1], strides[:-2] + strides[:-3:-1]) if len(sizes) > 1 else strided


def _turned(sizes: Sequence[int], batch: int) -> _Strided:
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
