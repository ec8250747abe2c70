"""MultiHeadAttention and GroupQueryAttention, with masks and casts."""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Any

from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal
from specgate.runtimes.onnxruntime.lowering.tensor_builder import (
    bare,
    broadcast_tensor,
    constant,
    number,
    operator,
    optional_tensor,
    provider_tensor,
    tensor_of,
    tensor_shape,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.runtimes.onnxruntime.lowering.state import State


def without_leading_ones(state: State, name: str) -> TensorDesc | None:
    """Return a tensor of the node without leading ones, None if omitted."""
    tensor = optional_tensor(state, name)
    return None if tensor is None else provider_tensor(state, tensor, least=1)


def _mask_fields(state: State, batch: int, queries: int, keys: int, past: int) -> dict[str, Any]:
    """Return the mask fields for the mask's rank.

    A mask has lengths per batch, starts and ends per batch, or a Boolean per key.
    """
    mask = optional_tensor(state, "key_padding_mask")
    if mask is None:
        return {"MaskType": "NONE"}
    sizes, word, heads = tensor_shape(mask), state.dml_type(mask), heads_of(state)
    if len(sizes) == 1:
        if sizes == (batch,):
            return {"MaskTensor": bare(word, (1, batch)), "MaskType": "KEY_SEQUENCE_LENGTH"}
        if sizes == (3 * batch + 2,):
            return {"MaskTensor": bare(word, sizes), "MaskType": "KEY_QUERY_SEQUENCE_LENGTH_START_END"}
        raise ProviderRefusal("mask-size", "a 1-D mask must have batch_size or 3 * batch_size + 2 elements")
    total = keys + past
    expected_numbers = {2: (batch, keys), 3: (batch, queries, total), 4: (batch, heads, queries, total)}.get(len(sizes))
    if sizes != expected_numbers:
        raise ProviderRefusal(
            "mask-size", "a mask must have one number per key, per query and key, or per head, query and key"
        )
    numbers = {2: (batch, 1, 1, keys), 3: (batch, 1, queries, total)}.get(len(sizes), sizes)
    return {"MaskTensor": broadcast_tensor(word, (batch, heads, queries, sizes[-1]), numbers), "MaskType": "BOOLEAN"}


def heads_of(state: State) -> int:
    """Return the number of heads; raise Refused if it is missing."""
    heads = number(state, "num_heads")
    if heads < 1:
        raise ProviderRefusal("heads", "num_heads must be above 0")
    return heads


def lower_attention(state: State, head: int, **fields: Any) -> Descriptor:
    """Return the attention operator of a node.

    head: number of elements of a head.
    """
    scale = state.get("scale")
    entries = {
        "OutputTensor": without_leading_ones(state, "output"),
        "Scale": float(scale) if scale else 1.0 / sqrt(head),
        "MaskFilterValue": float(state.get("mask_filter_value")),
        "HeadCount": heads_of(state),
    }
    return operator("MULTIHEAD_ATTENTION", **entries | fields)


def multihead_attention(state: State) -> Iterator[Descriptor]:
    """Yield the operator of a MultiHeadAttention."""
    query = tensor_of(state, "query")
    sizes = tensor_shape(query)
    if len(sizes) not in {3, 5}:
        raise ProviderRefusal("input-rank", "the query must have three dimensions, or five if it is packed")
    fields: dict[str, Any] = {"BiasTensor": without_leading_ones(state, "bias")}
    if len(sizes) == 5:
        fields["StackedQueryKeyValueTensor"] = without_leading_ones(state, "query")
        head = sizes[4]
    else:
        fields |= {"QueryTensor": without_leading_ones(state, "query"), **_keys(state)}
        head = sizes[-1] // heads_of(state)
    fields |= _mask_fields(state, sizes[0], sizes[1], *_lengths(state, sizes[1]))
    fields["RelativePositionBiasTensor"] = without_leading_ones(state, "attention_bias")
    for name, field in (("past_key", "PastKeyTensor"), ("past_value", "PastValueTensor")):
        if optional_tensor(state, name) is not None:
            fields[field] = without_leading_ones(state, name)
    fields["OutputPresentKeyTensor"] = without_leading_ones(state, "present_key")
    fields["OutputPresentValueTensor"] = without_leading_ones(state, "present_value")
    yield lower_attention(state, head, **fields)


def _lengths(state: State, queries: int) -> tuple[int, int]:
    """Return the numbers of keys and of past keys."""
    key, past = optional_tensor(state, "key"), optional_tensor(state, "past_key")
    numbers = None if key is None else tensor_shape(key)
    if numbers is not None and len(numbers) == 4:  # a rank of 4 means past keys
        return numbers[2], numbers[2]
    return queries if numbers is None else numbers[1], 0 if past is None else tensor_shape(past)[2]


def _keys(state: State) -> dict[str, Any]:
    """Return the fields of keys and values.

    They are stacked, separate, or past tensors of rank 4.
    """
    key, value = optional_tensor(state, "key"), optional_tensor(state, "value")
    if key is None:
        return {}
    if len(tensor_shape(key)) == 5:
        return {"StackedKeyValueTensor": without_leading_ones(state, "key")}
    if len(tensor_shape(key)) == 4:
        return {
            "PastKeyTensor": without_leading_ones(state, "key"),
            "PastValueTensor": without_leading_ones(state, "value"),
        }
    return {
        "KeyTensor": without_leading_ones(state, "key"),
        "ValueTensor": None if value is None else without_leading_ones(state, "value"),
    }


def grouped_attention(state: State) -> Iterator[Descriptor]:
    """Yield the operators of a GroupQueryAttention.

    They are the attention, casts for types other than FLOAT32, and for a query of several positions a fill that sets
    the past length of each batch to 0.
    """
    batch, length, width = tensor_shape(tensor_of(state, "query"))
    heads, groups = number(state, "num_heads"), number(state, "kv_num_heads")
    past, total = optional_tensor(state, "past_key"), constant(state, "total_sequence_length") or (0,)
    max_length = max(int(total[0]) % 2**32, 0 if past is None else tensor_shape(past)[2])
    present = (batch, groups, max_length, tensor_shape(tensor_of(state, "key"))[2] // groups)
    word = state.dml_type(tensor_of(state, "query"))
    scale = state.get("scale")
    input_sizes = {f"{name.title()}Tensor": tensor_shape(tensor_of(state, name)) for name in ("query", "key", "value")}
    numbers_by_name = {
        "OutputTensor": (batch, length, width),
        "OutputPresentKeyTensor": present,
        "OutputPresentValueTensor": present,
    }
    starts = bare("INT32", (batch,))
    yield operator(
        "MULTIHEAD_ATTENTION1",
        **{name: bare("FLOAT32", sizes) for name, sizes in (input_sizes | numbers_by_name).items()},
        PastSequenceLengthsTensor=starts,
        Scale=_root_scale(width // heads) if scale is None else float(scale),
        MaskFilterValue=-10000.0,
        QueryHeadCount=heads,
        KeyValueHeadCount=groups,
        MaskType="NONE",
    )
    if word != "FLOAT32":
        for sizes in input_sizes.values():
            yield operator("CAST", InputTensor=bare(word, sizes), OutputTensor=bare("FLOAT32", sizes))
        for sizes in numbers_by_name.values():
            yield operator("CAST", InputTensor=bare("FLOAT32", sizes), OutputTensor=bare(word, sizes))
    if length != 1:
        yield operator("FILL_VALUE_CONSTANT", OutputTensor=starts, ValueDataType="INT32", Value=0)


def _root_scale(head: int) -> float:
    return 1.0 / sqrt(head) if head > 0 else inf
