"""Descriptors of onnx's NodeProto objects.

Reading only accesses the objects and does not import onnx.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import UNKNOWN, UNSTATED, Descriptor, GraphDesc, Symbol, TensorDesc
from specgate.descriptors.positional import build
from specgate.dialects.onnx.reader import attribute_value, container, operator_name
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

# Field with the value by AttributeProto.AttributeType (onnx/onnx.proto of onnx 1.23.2).
_FIELDS: Final = {
    1: "f",
    2: "i",
    3: "s",
    4: "t",
    5: "g",
    6: "floats",
    7: "ints",
    8: "strings",
    9: "tensors",
    10: "graphs",
    11: "sparse_tensor",
    12: "sparse_tensors",
    13: "tp",
    14: "type_protos",
}
_WORDS: Final = {
    1: "float", 2: "int", 3: "string", 4: "tensor-proto", 5: "graph", 6: "float[]", 7: "int[]", 8: "string[]",
    9: "tensor-proto[]", 10: "graph[]", 11: "sparse-tensor-proto", 12: "sparse-tensor-proto[]", 13: "type-proto",
    14: "type-proto[]",
}  # fmt: skip
MAX_DEPTH: Final = 8


def from_node_proto(node: Any, opset: int | str | None = None) -> Descriptor:
    """Return a NodeProto's Descriptor; raise InputError or NoTable.

    node: an ``onnx.NodeProto``, or a pair of it and the known values by name: ``onnx.ValueInfoProto``,
    ``onnx.TypeProto``, or ``onnx.TensorProto`` for a constant. opset: the opset it was written for. Without it, the
    node is checked as written for the target.
    """
    types: Mapping[str, Any] = {}
    if isinstance(node, tuple):
        if len(node) != 2 or not hasattr(node[1], "keys"):
            raise InputError("expected a pair of an onnx.NodeProto and its types by name")
        node, types = node
    if not all(hasattr(node, name) for name in ("op_type", "domain", "input", "output", "attribute")):
        raise InputError(f"expected an onnx.NodeProto, found {type(node).__name__}")
    spec = dialect("onnx").operator(operator_name(node.op_type, node.domain))
    return build(
        spec,
        [_tensor(name, types.get(name)) if name else None for name in node.input],
        [(_tensor(name, types[name]) if name in types else UNSTATED) if name else None for name in node.output],
        {attribute.name: _attribute(attribute) for attribute in node.attribute},
        version=None if opset is None else str(opset),
        name=node.name or None,
        convert=attribute_value,
        kinds={a.name: _WORDS[a.type] for a in node.attribute if a.type in _WORDS},
    )


def _attribute(attribute: Any) -> Any:
    """Return an AttributeProto's value, UNKNOWN for a function's parameter."""
    if attribute.ref_attr_name:
        return UNKNOWN
    field = _FIELDS.get(attribute.type)
    if field is None:
        raise InputError(f"the attribute {attribute.name!r:.60} has no type")
    value = getattr(attribute, field)
    is_list = field.endswith("s") and field != "s"
    return (
        [_restore_value(item, attribute.name) for item in value] if is_list else _restore_value(value, attribute.name)
    )


def _restore_value(value: Any, name: str) -> Any:
    """Return the description of a tensor, type or graph; other values as is."""
    if hasattr(value, "data_type"):
        return TensorDesc(_type(value.data_type, name), tuple(value.dims), value=_values(value))
    if hasattr(value, "indices"):  # SparseTensorProto
        return TensorDesc(_type(value.values.data_type, name), tuple(value.dims))
    if hasattr(value, "initializer"):  # GraphProto
        ends = [tuple(_tensor(info.name, info) for info in part) for part in (value.input, value.output)]
        return GraphDesc(ends[0], ends[1])
    return _tensor(name, value) if hasattr(value, "WhichOneof") else value


def _tensor(name: str, info: Any) -> TensorDesc:
    if info is None:
        return TensorDesc(None, None)
    if hasattr(info, "data_type"):  # TensorProto
        return TensorDesc(_type(info.data_type, name), tuple(info.dims), value=_values(info))
    kind = info.type if hasattr(info, "type") else info
    if not hasattr(kind, "WhichOneof"):
        raise InputError(f"expected an onnx.ValueInfoProto, found {type(info).__name__}", place=name[:60])
    case = kind.WhichOneof("value")
    if case is None:
        return TensorDesc(None, None)
    if case != "tensor_type":
        return TensorDesc(_spell_type(kind, name), None)
    result = kind.tensor_type
    sizes = tuple(_size(dim) for dim in result.shape.dim) if result.HasField("shape") else None
    kind_of = {number: word for word, number in dialect("onnx").type_numbers.items()}
    number = int(result.elem_type)  # an invalid number is kept, so that it is reported
    return TensorDesc(kind_of.get(number, str(number)) if number else None, sizes)


def _spell_type(kind: Any, name: str, depth: int = 0) -> str | None:
    """Return a TypeProto in operator schema spelling, None if partly unknown."""
    case = kind.WhichOneof("value")
    if case is None or depth > MAX_DEPTH:
        return None
    result = getattr(kind, case)
    types = dialect("onnx").types
    if case in {"tensor_type", "sparse_tensor_type"}:
        element = _type(result.elem_type, name)
        spelling = None if element is None else str(types[element]["tensor"])
        return f"sparse_{spelling}" if spelling and case == "sparse_tensor_type" else spelling
    if case not in {"sequence_type", "optional_type", "map_type"}:
        raise InputError(f"is an {case.removesuffix('_type')} type, which no operator accepts", place=name[:60])
    inner = _spell_type(result.value_type if case == "map_type" else result.elem_type, name, depth + 1)
    key = _type(result.key_type, name) if case == "map_type" else None
    if inner is None or (case == "map_type" and key is None):
        return None
    return container(case.removesuffix("_type"), inner, key)


def _size(dim: Any) -> int | Symbol | None:
    case = dim.WhichOneof("value")
    if case == "dim_value":
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return Symbol(dim.dim_param) if case == "dim_param" and dim.dim_param else None


def _type(number: int, name: str) -> str | None:
    if number == 0:
        return None
    for word, info in dialect("onnx").types.items():
        if info["value"] == number:
            return word
    raise InputError(f"{number} is not a TensorProto.DataType that the tables know", place=name[:60])


def _values(tensor: Any) -> tuple[Any, ...] | None:
    from onnx import numpy_helper  # a TensorProto implies that onnx is installed

    try:
        array = numpy_helper.to_array(tensor)
    except (ValueError, TypeError, OSError) as error:
        raise InputError(f"the tensor cannot be read: {error!s:.120}", place=tensor.name[:60] or None) from None
    return tuple(array.reshape(-1).tolist())
