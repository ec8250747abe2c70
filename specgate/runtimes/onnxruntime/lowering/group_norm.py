"""GroupNorm: normalization of channel groups, with a SiLU activation."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal
from specgate.runtimes.onnxruntime.lowering.tensor_builder import bare, number, operator, tensor_of, tensor_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.runtimes.onnxruntime.lowering.state import State


def group_normalization(state: State) -> Iterator[Descriptor]:
    """Yield the operators of a GroupNorm."""
    data, scale = tensor_of(state, "X"), tensor_of(state, "gamma")
    word, narrow = state.dml_type(data), state.dml_type(scale)
    sizes, groups, last = tensor_shape(data), number(state, "groups"), bool(state.get("channels_last"))
    if len(sizes) != 4:
        raise ProviderRefusal("four-dimensions", "the kernel requires four dimensions")
    channels = sizes[3] if last else sizes[1]
    if groups < 1 or channels % groups:
        raise ProviderRefusal("groups", "the number of channels must be a multiple of the number of groups")
    channels_per_group, places = channels // groups, prod(sizes) // (sizes[0] * channels)
    grouped_sizes = (sizes[0], groups, channels_per_group, places)
    strides = (prod(sizes[1:]), channels_per_group, 1, channels)
    packed = bare(word, grouped_sizes)
    laid_out_tensor = bare(word, grouped_sizes, strides) if last else packed
    row = bare(narrow, grouped_sizes, (0, channels_per_group, 1, 0))
    used_tensor = row if narrow == word else bare(word, grouped_sizes, strides)
    yield operator(
        "MEAN_VARIANCE_NORMALIZATION",
        InputTensor=packed,
        ScaleTensor=used_tensor,
        BiasTensor=used_tensor,
        OutputTensor=packed,
        CrossChannel=False,
        NormalizeVariance=True,
        Epsilon=float(state.get("epsilon")),
    )
    if last:
        yield operator("ELEMENT_WISE_IDENTITY", InputTensor=laid_out_tensor, OutputTensor=packed)
    if narrow != word:
        yield operator("CAST", InputTensor=row, OutputTensor=used_tensor)
        yield operator("CAST", InputTensor=row, OutputTensor=used_tensor)
    if state.get("activation"):
        yield operator("ACTIVATION_SIGMOID", InputTensor=packed, OutputTensor=laid_out_tensor)
        yield operator("ELEMENT_WISE_MULTIPLY", ATensor=packed, BTensor=laid_out_tensor, OutputTensor=laid_out_tensor)
    elif last:
        yield operator("ELEMENT_WISE_IDENTITY", InputTensor=packed, OutputTensor=laid_out_tensor)
