"""Conversion between onnx's NodeProto objects and descriptors.

Reading only accesses the objects and does not import onnx.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import UNKNOWN, UNSTATED, Descriptor, GraphDesc, Symbol, TensorDesc
from specgate.descriptors.positional import attributes_of, build, positional
from specgate.dialects.onnx.reader import attribute_value, container, operator_name
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from specgate.spec.fields import FieldInfo

__all__ = ["constant_protos", "from_node_proto", "to_node_proto"]

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
_KINDS: Final = {word: number for number, word in _WORDS.items()}
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
    many = field.endswith("s") and field != "s"
    return [_restore_value(item, attribute.name) for item in value] if many else _restore_value(value, attribute.name)


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


def to_node_proto(descriptor: Descriptor) -> tuple[Any, dict[str, Any]]:
    """Return a NodeProto, and a ValueInfoProto for each value by name.

    Values are named after the table's fields (``indices``; ``inputs_0``, ``inputs_1`` … for a variadic field).
    Constants are in `constant_protos`. Raises InputError without the onnx package, for a descriptor of another dialect,
    and for an attribute that no AttributeProto can express.
    """
    onnx = _onnx(descriptor)
    spec = dialect("onnx").operator(descriptor.operator)
    domain, _, op_type = descriptor.operator.rpartition(".")
    layout = spec.layout(descriptor.layout or descriptor.version)
    attributes = {name: value for name, value in attributes_of(descriptor, spec).items() if value is not UNKNOWN}
    inputs, outputs = _name_tensors(descriptor, "input"), _name_tensors(descriptor, "output")
    outputs = outputs or [(info.name, None) for info in layout.outputs[:1]]  # its type is inferred
    kinds = {name: _KINDS.get(info.type) for name, info in layout.attributes.items()}
    odd_places = {oddity.where for oddity in descriptor.oddities}
    try:
        node = onnx.helper.make_node(
            op_type, [name for name, _ in inputs], [name for name, _ in outputs], name=descriptor.name, domain=domain
        )
        for name, value in attributes.items():
            info = layout.attributes.get(name)
            fitting = None if info is None or info.name in odd_places else kinds.get(name)
            node.attribute.append(onnx.helper.make_attribute(name, _proto(onnx, info, value), attr_type=fitting))
        stated = [(name, tensor) for name, tensor in [*inputs, *outputs] if tensor is not UNSTATED]
        tensors = {name: tensor for name, tensor in stated if tensor is not None}
        return node, {name: _value_info(onnx, name, tensor) for name, tensor in tensors.items()}
    except (ValueError, TypeError) as error:
        raise InputError(f"cannot store this descriptor in a NodeProto: {error!s:.120}") from None


def _proto(onnx: ModuleType, info: FieldInfo | None, value: Any) -> Any:
    """Return the proto of a tensor, type or graph; other values as is."""
    if isinstance(value, list) and any(isinstance(item, TensorDesc | GraphDesc) for item in value):
        return [_proto(onnx, info, item) for item in value]
    if isinstance(value, GraphDesc):
        ends = [
            [_value_info(onnx, f"{word}_{i}", tensor) for i, tensor in enumerate(part)]
            for word, part in (("input", value.inputs), ("output", value.outputs))
        ]
        return onnx.helper.make_graph([], "graph", *ends)
    if not isinstance(value, TensorDesc):
        return value
    kind = info.type.removesuffix("[]") if info is not None else "tensor-proto"
    if kind == "type-proto":
        return _value_info(onnx, "", value).type
    if kind != "tensor-proto" or value.value is None or value.type is None or value.sizes is None:
        raise InputError("the values of a tensor in an attribute must be known", place=info.name if info else None)
    return onnx.helper.make_tensor("", dialect("onnx").types[value.type]["value"], value.sizes, list(value.value))


def constant_protos(descriptor: Descriptor) -> dict[str, Any]:
    """Return an ``onnx.TensorProto`` for each constant of a descriptor.

    The names are those of `to_node_proto`.
    """
    onnx = _onnx(descriptor)
    types = dialect("onnx").types
    entries = {}
    for name, tensor in _name_tensors(descriptor, "input"):
        if tensor is None or tensor.value is None or tensor.type is None:
            continue
        if not all(isinstance(size, int) for size in tensor.sizes or ()):
            raise InputError("a constant needs known sizes", place=name)
        number = types[tensor.type]["value"]
        try:
            entries[name] = onnx.helper.make_tensor(name, number, tensor.sizes or (), list(tensor.value))
        except (ValueError, TypeError, OverflowError) as error:
            raise InputError(f"cannot store this constant in a TensorProto: {error!s:.120}", place=name) from None
    return entries


def _onnx(descriptor: Descriptor) -> ModuleType:
    if descriptor.dialect != "onnx":
        raise InputError(f"expected a descriptor of onnx, found one of {descriptor.dialect}")
    try:
        import onnx
        import onnx.helper
    except ImportError:
        raise InputError("creating a NodeProto requires the onnx package: pip install 'specgate-ml[onnx]'") from None
    module: ModuleType = onnx
    return module


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


def _value_info(onnx: ModuleType, name: str, tensor: TensorDesc) -> Any:
    if tensor.type is None and tensor.sizes is None:
        return onnx.ValueInfoProto(name=name)
    if tensor.type is not None and tensor.type not in dialect("onnx").types:
        raise InputError(f"no ValueInfoProto exists for {tensor.type!r:.60}", place=name)
    number = 0 if tensor.type is None else dialect("onnx").types[tensor.type]["value"]
    shape = None if tensor.sizes is None else [s if s is None or isinstance(s, int) else str(s) for s in tensor.sizes]
    return onnx.helper.make_tensor_value_info(name, number, shape)
