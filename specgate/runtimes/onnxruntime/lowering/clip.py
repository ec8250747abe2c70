"""Clip since 11, whose default bounds are the limits of the element type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import integer_limits
from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal
from specgate.runtimes.onnxruntime.lowering.tensor_builder import (
    broadcast_to,
    constant,
    operator,
    provider_tensor,
    tensor_of,
    tensor_shape,
)
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.runtimes.onnxruntime.lowering.state import State

_GREATEST_VALUES: Final = {"FLOAT16": 65504.0, "FLOAT32": 3.4028234663852886e38, "FLOAT64": 1.7976931348623157e308}


def limits_of(word: str) -> tuple[Any, Any]:
    """Return the minimum and maximum of a DirectML element type."""
    if word in _GREATEST_VALUES:
        return -_GREATEST_VALUES[word], _GREATEST_VALUES[word]
    return integer_limits(dialect("directml").bits[word] or 0, signed=not word.startswith("U"))


def clip(state: State) -> Iterator[Descriptor]:
    """Yield the operator of a Clip."""
    data, output = tensor_of(state, "input0"), tensor_of(state, "output0")
    word = state.dml_type(data)
    bounds = list(limits_of(word))
    for index in (0, 1):
        value = constant(state, f"input{index + 1}")
        if value is not None:
            if len(value) != 1:
                raise ProviderRefusal("bounds", "a bound must be a single number")
            bounds[index] = value[0]
    yield operator(
        "ELEMENT_WISE_CLIP1",
        InputTensor=broadcast_to(state, data, tensor_shape(output)),
        OutputTensor=provider_tensor(state, output),
        MinMaxDataType=word,
        Min=bounds[0],
        Max=bounds[1],
    )
