"""Nodes of the onnx package from descriptors, for tests of reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import onnx
import onnx.helper

from specgate.descriptors.core import UNKNOWN, UNSTATED, Descriptor, GraphDesc, TensorDesc
from specgate.descriptors.positional import attributes_of, positional
from specgate.dialects.onnx.protos import _WORDS
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from specgate.spec.fields import FieldInfo

helper: Any = onnx.helper
KINDS: Final = {word: number for number, word in _WORDS.items()}


def to_node_proto(descriptor: Descriptor) -> tuple[Any, dict[str, Any]]:
    """Return a NodeProto, and a ValueInfoProto for each value by name.

    Values are named after the table's fields (``indices``; ``inputs_0``, ``inputs_1`` … for a variadic field).
    Constants are in `constant_protos`.
    """
    spec = dialect("onnx").operator(descriptor.operator)
    domain, _, op_type = descriptor.operator.rpartition(".")
    layout = spec.layout(descriptor.layout or descriptor.version)
    attributes = {name: value for name, value in attributes_of(descriptor, spec).items() if value is not UNKNOWN}
    inputs, outputs = _name_tensors(descriptor, "input"), _name_tensors(descriptor, "output")
    outputs = outputs or [(info.name, None) for info in layout.outputs[:1]]  # its type is inferred
    kinds = {name: KINDS.get(info.type) for name, info in layout.attributes.items()}
    odd_places = {oddity.where for oddity in descriptor.oddities}
    names, results = ([name for name, _ in pairs] for pairs in (inputs, outputs))
    node = helper.make_node(op_type, names, results, name=descriptor.name, domain=domain)
    for name, value in attributes.items():
        info = layout.attributes.get(name)
        fitting = None if info is None or info.name in odd_places else kinds.get(name)
        node.attribute.append(helper.make_attribute(name, _proto(info, value), attr_type=fitting))
    stated = [(name, tensor) for name, tensor in [*inputs, *outputs] if tensor is not UNSTATED]
    return node, {name: _value_info(name, tensor) for name, tensor in stated if tensor is not None}


def _proto(info: FieldInfo | None, value: Any) -> Any:
    """Return the proto of a tensor, type or graph; other values as is."""
    if isinstance(value, list) and any(isinstance(item, TensorDesc | GraphDesc) for item in value):
        return [_proto(info, item) for item in value]
    if isinstance(value, GraphDesc):
        ends = [
            [_value_info(f"{word}_{i}", tensor) for i, tensor in enumerate(part)]
            for word, part in (("input", value.inputs), ("output", value.outputs))
        ]
        return helper.make_graph([], "graph", *ends)
    if not isinstance(value, TensorDesc):
        return value
    kind = info.type.removesuffix("[]") if info is not None else "tensor-proto"
    if kind == "type-proto":
        return _value_info("", value).type
    assert kind == "tensor-proto"
    return helper.make_tensor("", _number(value.type), value.sizes, list(value.value or ()))


def constant_protos(descriptor: Descriptor) -> dict[str, Any]:
    """Return an ``onnx.TensorProto`` for each constant of a descriptor.

    The names are those of `to_node_proto`.
    """
    return {
        name: helper.make_tensor(name, _number(tensor.type), tensor.sizes or (), list(tensor.value))
        for name, tensor in _name_tensors(descriptor, "input")
        if tensor is not None and tensor.value is not None and tensor.type is not None
    }


def _name_tensors(descriptor: Descriptor, kind: str) -> list[tuple[str, TensorDesc | None]]:
    """Return names and tensors of inputs or outputs in order.

    The name of an omitted tensor is empty.
    """
    layout = dialect("onnx").operator(descriptor.operator).layout(descriptor.layout or descriptor.version)
    infos = layout.inputs if kind == "input" else layout.outputs
    names = []
    for info in infos:
        value = descriptor.fields.get(info.name)
        if isinstance(value, list):
            names += [f"{info.name}_{i}" for i in range(len(value))]
        else:
            names.append(info.name)
    tensors = positional(descriptor.fields, infos)
    return [("" if tensor is None else name, tensor) for name, tensor in zip(names, tensors, strict=False)]


def _number(word: str | None) -> int | None:
    return 0 if word is None else dialect("onnx").types[word]["value"]


def _value_info(name: str, tensor: TensorDesc) -> Any:
    if tensor.type is None and tensor.sizes is None:
        return onnx.ValueInfoProto(name=name)
    shape = None if tensor.sizes is None else [s if s is None or isinstance(s, int) else str(s) for s in tensor.sizes]
    return helper.make_tensor_value_info(name, _number(tensor.type), shape)
