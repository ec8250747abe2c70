"""Lowering functions for what table rows cannot express, by name.

Each accepts the state of a node and yields the descriptors in the order in which the provider creates them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.runtimes.onnxruntime.lowering.state import State

#: Module of this package by name; the function in it has the same name.
FUNCTIONS: Final[Mapping[str, str]] = {
    "clip": "clip",
    **dict.fromkeys(("joined", "padded", "sliced", "tiled"), "data_movement"),
    **dict.fromkeys(("grouped_attention", "multihead_attention"), "attention"),
    **dict.fromkeys(("attention", "quantized_attention"), "packed_qkv_attention"),
    **dict.fromkeys(("embedding", "rotation", "whole_rotation"), "embedding"),
    "einsum": "matmul",
    **dict.fromkeys(("fused_product", "turned_product"), "matmul"),
    "group_normalization": "group_norm",
    "recurrent": "recurrent",
    **dict.fromkeys(("resampled", "resampled_plainly"), "resize"),
}


def function_of(name: str) -> Callable[[State], Iterable[Descriptor]]:
    """Return a lowering function by its name."""
    module = import_module(f"specgate.runtimes.onnxruntime.lowering.{FUNCTIONS[name]}")
    function: Callable[[State], Iterable[Descriptor]] = getattr(module, name)
    return function
