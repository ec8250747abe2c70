"""Attention in its forms: masks by their dimensions, and products or Casts around the attention."""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Any

from specgate.placement.lowering.building import (
    bare,
    constant,
    given,
    number,
    operator,
    plain,
    sizes_of,
    spread,
    tensor_of,
)
from specgate.placement.lowering.reasons import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.placement.lowering.state import State

__all__ = ["attention", "grouped_attention", "multihead_attention", "quantized_attention"]


def _as_is(state: State, name: str) -> TensorDesc | None:
    tensor = given(state, name)
    return None if tensor is None else plain(state, tensor, least=1)


def _masked(state: State, name: str, batch: int, queries: int) -> dict[str, Any]:
    """Return the fields of a mask: lengths, starts and ends, or truth values for each key."""
    mask = given(state, name)
    if mask is None:
        return {"MaskType": "NONE"}
    sizes, word = sizes_of(mask), state.dml_type(mask)
    if len(sizes) > 1:
        held = {2: (sizes[0], 1, 1, sizes[-1]), 3: (sizes[0], 1, *sizes[1:]), 4: sizes}.get(len(sizes))
        if held is None:
            raise Refused("mask-rank", "a mask has at most four dimensions")
        wanted = (batch, _heads(state), queries, sizes[-1])
        return {"MaskTensor": spread(word, wanted, held), "MaskType": "BOOLEAN"}
    if sizes == (batch,):
        return {"MaskTensor": bare(word, (1, batch)), "MaskType": "KEY_SEQUENCE_LENGTH"}
    if sizes == (3 * batch + 2,):
        return {"MaskTensor": bare(word, sizes), "MaskType": "KEY_QUERY_SEQUENCE_LENGTH_START_END"}
    raise Refused("mask-size", "a mask of one dimension has one number for each batch, or three and two more")


def _heads(state: State) -> int:
    heads = number(state, "num_heads")
    if heads < 1:
        raise Refused("heads", "num_heads must be above 0")
    return heads


def _attended(state: State, head: int, **fields: Any) -> Descriptor:
    scale = state.get("scale")
    return operator(
        "MULTIHEAD_ATTENTION",
        **fields,
        OutputTensor=_as_is(state, "output"),
        Scale=float(scale) if scale else 1.0 / sqrt(head),
        MaskFilterValue=float(state.get("mask_filter_value")),
        HeadCount=_heads(state),
    )


def multihead_attention(state: State) -> Iterator[Descriptor]:
    """Yield the operator of a MultiHeadAttention."""
    query = tensor_of(state, "query")
    sizes = sizes_of(query)
    if len(sizes) not in {3, 5}:
        raise Refused("input-rank", "the query must have three dimensions, or five where it is stacked")
    fields: dict[str, Any] = {"BiasTensor": _as_is(state, "bias")}
    if len(sizes) == 5:
        fields["StackedQueryKeyValueTensor"] = _as_is(state, "query")
        head = sizes[4]
    else:
        fields |= {"QueryTensor": _as_is(state, "query"), **_keys(state)}
        head = sizes[-1] // _heads(state)
    fields |= _masked(state, "key_padding_mask", sizes[0], sizes[1])
    fields["RelativePositionBiasTensor"] = _as_is(state, "attention_bias")
    for name, field in (("past_key", "PastKeyTensor"), ("past_value", "PastValueTensor")):
        if given(state, name) is not None:
            fields[field] = _as_is(state, name)
    fields["OutputPresentKeyTensor"] = _as_is(state, "present_key")
    fields["OutputPresentValueTensor"] = _as_is(state, "present_value")
    yield _attended(state, head, **fields)


def _keys(state: State) -> dict[str, Any]:
    """Keys and values: stacked, each its own, or with four dimensions as what is past."""
    key, value = given(state, "key"), given(state, "value")
    if key is None:
        return {}
    if len(sizes_of(key)) == 5:
        return {"StackedKeyValueTensor": _as_is(state, "key")}
    if len(sizes_of(key)) == 4:
        return {"PastKeyTensor": _as_is(state, "key"), "PastValueTensor": _as_is(state, "value")}
    return {"KeyTensor": _as_is(state, "key"), "ValueTensor": None if value is None else _as_is(state, "value")}


def grouped_attention(state: State) -> Iterator[Descriptor]:
    """Yield the operators of a GroupQueryAttention: the attention, Casts around it, a 0 for each batch as its past.

    All lengths of the past are 0 where the query has more than one position.
    """
    batch, length, width = sizes_of(tensor_of(state, "query"))
    heads, groups = number(state, "num_heads"), number(state, "kv_num_heads")
    past, total = given(state, "past_key"), constant(state, "total_sequence_length") or (0,)
    most = max(int(total[0]) % 2**32, 0 if past is None else sizes_of(past)[2])
    present = (batch, groups, most, sizes_of(tensor_of(state, "key"))[2] // groups)
    word = state.dml_type(tensor_of(state, "query"))
    scale = state.get("scale")
    read = {f"{name.title()}Tensor": sizes_of(tensor_of(state, name)) for name in ("query", "key", "value")}
    made = {
        "OutputTensor": (batch, length, width),
        "OutputPresentKeyTensor": present,
        "OutputPresentValueTensor": present,
    }
    starts = bare("INT32", (batch,))
    yield operator(
        "MULTIHEAD_ATTENTION1",
        **{name: bare("FLOAT32", sizes) for name, sizes in (read | made).items()},
        PastSequenceLengthsTensor=starts,
        Scale=_root_scale(width // heads) if scale is None else float(scale),
        MaskFilterValue=-10000.0,
        QueryHeadCount=heads,
        KeyValueHeadCount=groups,
        MaskType="NONE",
    )
    if word != "FLOAT32":
        for sizes in read.values():
            yield operator("CAST", InputTensor=bare(word, sizes), OutputTensor=bare("FLOAT32", sizes))
        for sizes in made.values():
            yield operator("CAST", InputTensor=bare("FLOAT32", sizes), OutputTensor=bare(word, sizes))
    if length != 1:
        yield operator("FILL_VALUE_CONSTANT", OutputTensor=starts, ValueDataType="INT32", Value=0)


def _root_scale(head: int) -> float:
    return 1.0 / sqrt(head) if head > 0 else inf


class _Stack:
    """The sizes of the product for query, key and value: of each, and of them together."""

    def __init__(self, state: State, weights: str) -> None:
        sizes = sizes_of(tensor_of(state, "input"))
        if len(sizes) != 3:
            raise Refused("input-rank", "the input must have three dimensions")
        self.state = state
        self.batch, self.length, self.inner = sizes
        if len(sizes_of(tensor_of(state, weights))) != 2:
            raise Refused("weight-rank", "the weights must have two dimensions")
        self.width = sizes_of(tensor_of(state, weights))[-1]
        stated = state.get("qkv_hidden_sizes") or [self.width // 3] * 3
        self.hidden, self.values = int(stated[0]), int(stated[-1])
        self.heads = _heads(state)
        self.head = self.hidden // self.heads

    @property
    def rows(self) -> tuple[int, int, int]:
        return self.batch, self.length, self.width

    def stacked(self, word: str, count: int) -> tuple[TensorDesc, TensorDesc]:
        """Return `count` of query, key and value as they lie in the product, and head by head."""
        sizes = (self.batch, self.length, self.heads, count, self.head)
        row = self.hidden * count
        return bare(word, sizes, (row * self.length, row, self.head, self.hidden, 1)), bare(word, sizes)

    def attended(self, word: str) -> Iterator[Descriptor]:
        """Yield the attention over the product, and what brings its parts in order."""
        mask = _masked(self.state, "mask_index", self.batch, self.length)
        shorter = self._shorter(mask)
        mask["RelativePositionBiasTensor"] = _as_is(self.state, "attention_bias")
        alike = self.values == self.hidden
        laid, packed = self.stacked(word, 3 if alike else 2)
        if alike:
            yield _attended(self.state, self.head, StackedQueryKeyValueTensor=packed, **mask)
        else:
            values = bare(word, (self.batch, self.length, self.values))
            yield _attended(self.state, self.head, StackedQueryKeyTensor=packed, ValueTensor=values, **mask)
            yield self._cut(word, 0, 2 * self.hidden)
            yield self._cut(word, 2 * self.hidden, self.values)
        yield operator("ELEMENT_WISE_IDENTITY", InputTensor=laid, OutputTensor=packed)
        if shorter is not None:
            yield shorter

    def _shorter(self, mask: dict[str, Any]) -> Descriptor | None:
        """Put what is read of a mask for longer sequences into `mask`, and return what cuts it off."""
        held = given(self.state, "mask_index")
        wanted = (self.batch, self.heads, self.length, self.length)
        if held is None or len(sizes_of(held)) != len(wanted) or sizes_of(held)[2:] == wanted[2:]:
            return None
        word, sizes = self.state.dml_type(held), sizes_of(held)
        whole = (*wanted[:2], *sizes[2:])
        mask["MaskTensor"] = short = bare(word, wanted)
        return operator(
            "SLICE1",
            InputTensor=bare(word, whole) if sizes == whole else spread(word, whole, sizes),
            OutputTensor=short,
            InputWindowOffsets=[0, 0, 0, 0],
            InputWindowSizes=list(wanted),
            InputWindowStrides=[1, 1, 1, 1],
        )

    def _cut(self, word: str, start: int, size: int) -> Descriptor:
        taken: Sequence[int] = (self.batch, self.length, size)
        return operator(
            "SLICE1",
            InputTensor=bare(word, self.rows),
            OutputTensor=bare(word, taken),
            InputWindowOffsets=[0, 0, start],
            InputWindowSizes=list(taken),
            InputWindowStrides=[1, 1, 1],
        )


def attention(state: State) -> Iterator[Descriptor]:
    """Yield the operators of an Attention without a past."""
    stack = _Stack(state, "weights")
    word = state.dml_type(tensor_of(state, "input"))
    bias = given(state, "bias")
    yield operator(
        "GEMM",
        ATensor=_as_is(state, "input"),
        BTensor=bare(word, (stack.batch, stack.inner, stack.width), (0, stack.width, 1)),
        CTensor=None if bias is None else bare(word, stack.rows, (0, 0, 1)),
        OutputTensor=bare(word, stack.rows),
        TransA="NONE",
        TransB="NONE",
        Alpha=1.0,
        Beta=1.0,
    )
    yield from stack.attended(word)


def quantized_attention(state: State) -> Iterator[Descriptor]:
    """Yield the operators of a QAttention without a past."""
    stack = _Stack(state, "weight")
    word = state.dml_type(tensor_of(state, "bias"))
    weights = state.dml_type(tensor_of(state, "weight"))
    yield operator(
        "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
        ATensor=_as_is(state, "input"),
        AScaleTensor=_as_is(state, "input_scale"),
        AZeroPointTensor=_as_is(state, "input_zero_point"),
        BTensor=bare(weights, (stack.batch, stack.inner, stack.width), (0, stack.width, 1)),
        BScaleTensor=_as_is(state, "weight_scale"),
        BZeroPointTensor=_as_is(state, "weight_zero_point"),
        BiasTensor=bare(word, stack.rows, (0, 0, 1)),
        OutputTensor=bare(word, stack.rows),
    )
    yield from stack.attended(word)
