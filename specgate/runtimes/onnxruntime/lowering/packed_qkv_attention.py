"""Attention and QAttention, whose query, key and value are one product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.runtimes.onnxruntime.lowering.attention import heads_of, lower_attention, without_leading_ones
from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal
from specgate.runtimes.onnxruntime.lowering.tensor_builder import (
    bare,
    broadcast_tensor,
    operator,
    optional_tensor,
    tensor_of,
    tensor_shape,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.runtimes.onnxruntime.lowering.state import State


#: Number of mask values per batch, and the mask type for it.
_ENDS: Final = {1: "KEY_SEQUENCE_LENGTH", 2: "KEY_SEQUENCE_END_START"}
#: Score of positions that a causal mask hides: the lowest FLOAT, whatever the node states.
_LOWEST: Final = -3.4028234663852886e38


class _Past(NamedTuple):
    """Past keys and values in one tensor.

    Present keys and values are one tensor, too.
    """

    packed: TensorDesc
    word: str
    batch: int
    heads: int
    length: int
    added: int
    head: int

    def sizes(self, added_length: int = 0) -> tuple[int, ...]:
        """Return the sizes of the keys or of the values alone."""
        return 1, self.batch, self.heads, self.length + added_length, self.head

    def fields(self) -> dict[str, Any]:
        """Return the past and present fields of the attention."""
        past, present = bare(self.word, self.sizes()), bare(self.word, self.sizes(self.added))
        return {
            "PastKeyTensor": past,
            "PastValueTensor": past,
            "OutputPresentKeyTensor": present,
            "OutputPresentValueTensor": present,
        }

    def split_and_join(self) -> Iterator[Descriptor]:
        """Yield the operators that split the past and join the present."""
        numbers = self.sizes()
        for start in (0, 1):
            yield operator(
                "SLICE1",
                InputTensor=bare(self.word, tensor_shape(self.packed)),
                OutputTensor=bare(self.word, numbers),
                InputWindowOffsets=[start, 0, 0, 0, 0],
                InputWindowSizes=list(numbers),
                InputWindowStrides=[1, 1, 1, 1, 1],
            )
        single_tensor = bare(self.word, self.sizes(self.added))
        both_tensors = bare(self.word, (2, *self.sizes(self.added)[1:]))
        yield operator("JOIN", InputTensors=[single_tensor, single_tensor], OutputTensor=both_tensors, Axis=0)


class _Stack:
    """The sizes of query, key and value in the product, single and total."""

    def __init__(self, state: State, weights: str) -> None:
        sizes = tensor_shape(tensor_of(state, "input"))
        self.state = state
        self.batch, self.length, self.inner = sizes
        if len(tensor_shape(tensor_of(state, weights))) != 2:
            raise ProviderRefusal("weight-rank", "the weights must have two dimensions")
        self.width = tensor_shape(tensor_of(state, weights))[-1]
        hidden_sizes = state.get("qkv_hidden_sizes") or [self.width // 3] * 3
        self.hidden, self.values = int(hidden_sizes[0]), int(hidden_sizes[-1])
        self.heads = heads_of(state)
        self.head = self.hidden // self.heads

    @property
    def rows(self) -> tuple[int, int, int]:
        return self.batch, self.length, self.width

    def stacked_tensors(self, word: str, count: int) -> tuple[TensorDesc, TensorDesc]:
        """Return `count` of query, key and value, packed and per head."""
        sizes = (self.batch, self.length, self.heads, count, self.head)
        row = self.hidden * count
        return bare(word, sizes, (row * self.length, row, self.head, self.hidden, 1)), bare(word, sizes)

    def lower_attention(self, word: str, past: _Past | None = None) -> Iterator[Descriptor]:
        """Yield the attention over the product, and the reordering of its input.

        past: of a QAttention.
        """
        mask = self._mask_fields(past)
        shorter = self._shorter(mask)
        mask["RelativePositionBiasTensor"] = without_leading_ones(self.state, "attention_bias")
        if past is not None:
            mask |= past.fields()
        equal_sizes = self.values == self.hidden
        laid_out_tensor, packed = self.stacked_tensors(word, 3 if equal_sizes else 2)
        if equal_sizes:
            yield lower_attention(self.state, self.head, StackedQueryKeyValueTensor=packed, **mask)
        else:
            values = bare(word, (self.batch, self.length, self.values))
            yield lower_attention(self.state, self.head, StackedQueryKeyTensor=packed, ValueTensor=values, **mask)
            yield self._slice_rows(word, 0, 2 * self.hidden)
            yield self._slice_rows(word, 2 * self.hidden, self.values)
        yield operator("ELEMENT_WISE_IDENTITY", InputTensor=laid_out_tensor, OutputTensor=packed)
        if shorter is not None:
            yield shorter

    def _mask_fields(self, past: _Past | None) -> dict[str, Any]:
        """Return the fields of a mask.

        A mask has ends per batch, ends and starts per batch, or a Boolean per key.
        """
        mask = optional_tensor(self.state, "mask_index")
        if mask is None:
            return self._causal(0 if past is None else past.length)
        sizes, word = tensor_shape(mask), self.state.dml_type(mask)
        if len(sizes) == 1:
            rows = sizes[0] // self.batch
            if rows not in _ENDS:
                raise ProviderRefusal("mask-size", "a 1-D mask must have batch_size or 2 * batch_size elements")
            return {"MaskTensor": bare(word, (rows, self.batch)), "MaskType": _ENDS[rows]}
        if not 2 <= len(sizes) <= 4:
            raise ProviderRefusal("mask-rank", "a mask must have one to four dimensions")
        numbers = (sizes[0], *(1,) * (4 - len(sizes)), *sizes[1:])
        expected_numbers = (self.batch, self.heads, self.length, self.length)
        return {"MaskTensor": broadcast_tensor(word, expected_numbers, numbers), "MaskType": "BOOLEAN"}

    def _causal(self, past: int) -> dict[str, Any]:
        """Return the fields of the causal mask if the node has one.

        The mask hides the keys after each query.
        """
        if not self.state.get("unidirectional"):
            return {"MaskType": "NONE"}
        total = past + self.length
        sizes = (self.batch, self.heads, self.length, total)
        return {
            "MaskTensor": broadcast_tensor("INT32", sizes, (1, 1, self.length, total)),
            "MaskType": "BOOLEAN",
            "MaskFilterValue": _LOWEST,
        }

    def triangle(self, past: int) -> Descriptor:
        """Return the operator that fills the causal mask with ones.

        The ones end at the diagonal of the last keys.
        """
        return operator(
            "DIAGONAL_MATRIX1",
            OutputTensor=bare("INT32", (1, 1, self.length, past + self.length)),
            ValueDataType="INT32",
            Value=1,
            DiagonalFillBegin=-(2**31),
            DiagonalFillEnd=past + 1,
        )

    def _shorter(self, mask: dict[str, Any]) -> Descriptor | None:
        """Add the used part of a longer mask to `mask`; return its slice."""
        tensor = optional_tensor(self.state, "mask_index")
        numbers = (self.batch, self.heads, self.length, self.length)
        if tensor is None or len(tensor_shape(tensor)) != len(numbers) or tensor_shape(tensor)[2] == self.length:
            return None
        word, sizes = self.state.dml_type(tensor), tensor_shape(tensor)
        if sizes[2] != sizes[3]:
            raise ProviderRefusal(
                "mask-size", "a mask of another sequence length must have equal query and key lengths"
            )
        new_sizes = (*numbers[:2], *sizes[2:])
        mask["MaskTensor"] = short = bare(word, numbers)
        return operator(
            "SLICE1",
            InputTensor=bare(word, new_sizes) if sizes == new_sizes else broadcast_tensor(word, new_sizes, sizes),
            OutputTensor=short,
            InputWindowOffsets=[0, 0, 0, 0],
            InputWindowSizes=list(numbers),
            InputWindowStrides=[1, 1, 1, 1],
        )

    def _slice_rows(self, word: str, start: int, size: int) -> Descriptor:
        numbers: Sequence[int] = (self.batch, self.length, size)
        return operator(
            "SLICE1",
            InputTensor=bare(word, self.rows),
            OutputTensor=bare(word, numbers),
            InputWindowOffsets=[0, 0, start],
            InputWindowSizes=list(numbers),
            InputWindowStrides=[1, 1, 1],
        )


def attention(state: State) -> Iterator[Descriptor]:
    """Yield the operators of an Attention without a past."""
    stack = _Stack(state, "weights")
    word = state.dml_type(tensor_of(state, "input"))
    bias = optional_tensor(state, "bias")
    yield operator(
        "GEMM",
        ATensor=without_leading_ones(state, "input"),
        BTensor=bare(word, (stack.batch, stack.inner, stack.width), (0, stack.width, 1)),
        CTensor=None if bias is None else bare(word, stack.rows, (0, 0, 1)),
        OutputTensor=bare(word, stack.rows),
        TransA="NONE",
        TransB="NONE",
        Alpha=1.0,
        Beta=1.0,
    )
    yield from stack.lower_attention(word)


def quantized_attention(state: State) -> Iterator[Descriptor]:
    """Yield the operators of a QAttention."""
    stack = _Stack(state, "weight")
    word = state.dml_type(tensor_of(state, "bias"))
    weights = state.dml_type(tensor_of(state, "weight"))
    tensor = optional_tensor(state, "past")
    if (tensor is None) != (optional_tensor(state, "present") is None):
        raise ProviderRefusal("present", "past and present must be given together")
    past = None
    if tensor is not None:
        if len(tensor_shape(tensor)) != 5:
            raise ProviderRefusal("past-rank", "the past must have five dimensions")
        past = _Past(tensor, word, stack.batch, stack.heads, tensor_shape(tensor)[3], stack.length, stack.head)
    yield operator(
        "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
        ATensor=without_leading_ones(state, "input"),
        AScaleTensor=without_leading_ones(state, "input_scale"),
        AZeroPointTensor=without_leading_ones(state, "input_zero_point"),
        BTensor=bare(weights, (stack.batch, stack.inner, stack.width), (0, stack.width, 1)),
        BScaleTensor=without_leading_ones(state, "weight_scale"),
        BZeroPointTensor=without_leading_ones(state, "weight_zero_point"),
        BiasTensor=bare(word, stack.rows, (0, 0, 1)),
        OutputTensor=bare(word, stack.rows),
    )
    yield from stack.lower_attention(word, past)
    if past is not None:
        yield from past.split_and_join()
    if state.get("unidirectional") and optional_tensor(state, "mask_index") is None:
        yield stack.triangle(0 if past is None else past.length)
