"""Nodes for tests of lowering, and the results as plain data."""

from __future__ import annotations

from typing import Any

from specgate.descriptors.core import TensorDesc, tensor
from specgate.dialects.directml.reader import write
from specgate.runtimes.onnxruntime.lower import NotLowered, lower, node


def tensor_of(raw: Any) -> TensorDesc | None:
    if raw is None:
        return None
    return tensor(raw.get("elem_type"), raw.get("shape"), value=raw.get("value"))


def attribute_of(raw: Any) -> Any:
    return tensor_of(raw) if isinstance(raw, dict) else raw


def _short(raw: Any) -> TensorDesc | None:
    return None if raw is None else tensor(*raw[:2], value=raw[2] if len(raw) > 2 else None)


def lowered(operator: str, inputs: list[Any], outputs: list[Any], version: int, **attributes: Any) -> Any:
    """Return the DxDispatch dicts of a node, or the `NotLowered`.

    Tensors are (type, sizes) or (type, sizes, elements).
    """
    ours, theirs = ([_short(part) for part in parts] for parts in (inputs, outputs))
    new_node = node(operator, ours, theirs, attributes, version)
    assert new_node is not None
    result = lower(new_node, version)
    return result if isinstance(result, NotLowered) else [write(descriptor) for descriptor in result]
