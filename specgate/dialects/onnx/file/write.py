"""Writer of an ONNX model's structure as protobuf, without weights.

Its output is input for shape inference and other tools. The layout follows onnx/onnx.proto in onnx 1.23.2, see
https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import FileList
from specgate.dialects.onnx.file.schema import (
    ATTRIBUTE_FIELDS,
    ATTRIBUTE_TYPES,
    DATA_FIELDS,
    ELEM_TYPES,
    GRAPH_KINDS,
    PROTO,
)
from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxTensor, OnnxType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxFunction, OnnxModel, OnnxNode


def _numbers() -> dict[str, dict[str, tuple[int, str]]]:
    """Return field numbers and types by field name, per message."""
    return {
        message.name: {
            name: (number, kind.removeprefix("repeated ")) for number, (name, kind) in message.fields.items()
        }
        for message in PROTO.values()
    }


_FIELDS: Final = _numbers()
_KINDS: Final = {name: number for number, name in enumerate(ATTRIBUTE_TYPES)}
_TYPES: Final = {name: number for number, name in enumerate(ELEM_TYPES)}


_SINGLE_BYTES: Final = [bytes([number]) for number in range(128)]


def varint_bytes(value: int) -> bytes:
    if 0 <= value < 128:
        return _SINGLE_BYTES[value]
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _varints(values: list[int]) -> bytes:
    return b"".join(map(varint_bytes, values))


_PACKERS: Final[dict[str, Callable[[list[Any]], bytes]]] = {
    "int64": _varints,
    "int32": _varints,
    "uint64": _varints,
    "float": lambda values: struct.pack(f"<{len(values)}f", *values),
    "double": lambda values: struct.pack(f"<{len(values)}d", *values),
}


def _field(message: str, name: str, value: Any) -> bytes:
    """Return one serialized field: a number, a string or message bytes."""
    number, kind = _FIELDS[message][name]
    if kind in {"float", "double"} and not isinstance(value, bytes):
        wire, code = (5, "<f") if kind == "float" else (1, "<d")
        return varint_bytes(number << 3 | wire) + struct.pack(code, value)
    if isinstance(value, str | bytes):
        data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        return varint_bytes(number << 3 | 2) + varint_bytes(len(data)) + data
    return varint_bytes(number << 3) + varint_bytes(value)


def _fields(message: str, **entries: Any) -> bytes:
    """Return serialized fields, skipping None.

    A list is a repeated field, packed if its elements are numbers.
    """
    parts: list[bytes] = []
    for name, value in entries.items():
        if isinstance(value, list):
            packed = _PACKERS.get(_FIELDS[message][name][1])
            parts += [_field(message, name, item) for item in ([packed(value)] if packed and value else value)]
        elif value is not None:
            parts.append(_field(message, name, value))
    return b"".join(parts)


def write_model(model: OnnxModel, graph: bytes, functions: Iterable[bytes]) -> bytes:
    """Return a serialized ModelProto from a serialized graph and functions."""
    return _fields(
        "ModelProto",
        ir_version=model.ir_version,
        opset_import=_imports(model.opset_imports),
        graph=graph,
        functions=list(functions),
    )


def _imports(imports: Mapping[str, int]) -> list[bytes]:
    return [_fields("OperatorSetIdProto", domain=domain, version=version) for domain, version in imports.items()]


def write_graph(
    graph: OnnxGraph,
    nodes: Iterable[bytes],
    *,
    initializers: Iterable[OnnxTensor],
    outputs: Iterable[tuple[str, OnnxType | None]],
    value_infos: Iterable[tuple[str, OnnxType | None]],
    parts: Parts | None = None,
) -> bytes:
    """Return a serialized GraphProto with some of its initializers.

    `nodes` are complete serialized fields. `parts` caches types and tensors by identity, so these must outlive it.
    """
    parts = parts or Parts()
    return b"".join(nodes) + _fields(
        "GraphProto",
        name=graph.name or "graph",
        initializer=[parts.tensor(tensor) for tensor in initializers],
        input=[parts.info(info.name, info.type) for info in graph.inputs],
        output=[parts.info(name, kind) for name, kind in outputs],
        value_info=[parts.info(name, kind) for name, kind in value_infos],
    )


def node_field(node: bytes) -> bytes:
    """Return the GraphProto field that holds a serialized NodeProto."""
    return _NODE + varint_bytes(len(node)) + node


def added_field(message: str, name: str, content: str | bytes) -> bytes:
    """Return one complete field: a string or a serialized message."""
    return _field(message, name, content)


def write_attribute(attribute: OnnxAttribute) -> bytes:
    """Return a serialized AttributeProto without graphs."""
    return _attribute(attribute, None)


def write_function(function: OnnxFunction, nodes: Iterable[bytes]) -> bytes:
    """Return a serialized FunctionProto."""
    return _fields(
        "FunctionProto",
        name=function.name,
        domain=function.domain,
        overload=function.overload or None,
        input=function.inputs,
        output=function.outputs,
        attribute=function.attributes,
        attribute_proto=[_attribute(attribute, None) for attribute in function.attribute_protos],
        node=list(nodes),
        opset_import=_imports(function.opset_imports),
    )


class _Texts(dict[str, bytes]):
    """Cache of strings with their length prefix; most names occur repeatedly."""

    def __missing__(self, text: str) -> bytes:
        data = text.encode("utf-8", "surrogatepass")
        new_data = self[text] = varint_bytes(len(data)) + data
        return new_data


class Nodes:
    """Fast writer of nodes, which serializes shared attributes once.

    It bypasses `_fields`, because a model can have many nodes. Shared attributes are recognized by identity, so the
    model must outlive the writer.
    """

    def __init__(self) -> None:
        self._texts = _Texts()
        self._attributes: dict[int, bytes] = {}

    def write(self, node: OnnxNode, subgraph: Callable[[OnnxGraph], bytes]) -> bytes:
        """Return a serialized NodeProto; `subgraph` serializes nested graphs."""
        texts = self._texts
        parts: list[bytes] = []
        for name in node.inputs:
            parts += (_INPUT, texts[name])
        for name in node.outputs:
            parts += (_OUTPUT, texts[name])
        for key, text in ((_NAME, node.name), (_OP_TYPE, node.op_type), (_DOMAIN, node.domain)):
            if text:
                parts += (key, texts[text])
        if node.overload:
            parts += (_OVERLOAD, texts[node.overload])
        for attribute in node.attributes.values():
            data = self._attributes.get(id(attribute))
            if data is None:
                data = _field("NodeProto", "attribute", _attribute(attribute, subgraph))
                if attribute.kind not in GRAPH_KINDS:
                    self._attributes[id(attribute)] = data
            parts.append(data)
        return b"".join(parts)


_NODE = varint_bytes(_FIELDS["GraphProto"]["node"][0] << 3 | 2)
_INPUT, _OUTPUT, _NAME, _OP_TYPE, _DOMAIN, _OVERLOAD = (
    varint_bytes(_FIELDS["NodeProto"][key][0] << 3 | 2)
    for key in ("input", "output", "name", "op_type", "domain", "overload")
)


def _attribute(attribute: OnnxAttribute, subgraph: Callable[[OnnxGraph], bytes] | None) -> bytes:
    entries: dict[str, Any] = {"name": attribute.name, "type": _KINDS[attribute.kind]}
    if attribute.ref_attr_name is not None:
        entries["ref_attr_name"] = attribute.ref_attr_name
    elif attribute.value is not None and attribute.kind in _VALUES:
        if isinstance(attribute.value, FileList):
            return _fields("AttributeProto", **entries) + attribute.value.data
        entries[_VALUES[attribute.kind]] = _write_value(attribute.value, subgraph)
    return _fields("AttributeProto", **entries)


#: Sparse tensors are not written, because shape inference needs their types only.
_VALUES: Final = {kind: field for kind, field in ATTRIBUTE_FIELDS.items() if "SPARSE" not in kind}


def _write_value(value: Any, subgraph: Callable[[OnnxGraph], bytes] | None) -> Any:
    if isinstance(value, list):
        return [_write_value(item, subgraph) for item in value]
    if isinstance(value, OnnxTensor):
        return write_tensor(value)
    if isinstance(value, OnnxGraph):
        return b"" if subgraph is None else subgraph(value)
    return _type(value) if isinstance(value, OnnxType) else value


def write_tensor(tensor: OnnxTensor) -> bytes:
    """Return a serialized TensorProto with its data."""
    entries: dict[str, Any] = {"dims": list(tensor.dims), "data_type": _TYPES.get(tensor.elem_type, 0)}
    if isinstance(tensor.data, bytes):
        entries["raw_data"] = tensor.data
    elif tensor.data is not None and tensor.elem_type in DATA_FIELDS:
        entries[DATA_FIELDS[tensor.elem_type]] = tensor.data
    return _fields("TensorProto", **entries, name=tensor.name or None)


class Parts:
    """Writer that serializes each type and tensor object once.

    It keeps references, so that identities are not reused.
    """

    def __init__(self) -> None:
        self._written: dict[int, tuple[object, bytes]] = {id(None): (None, b"")}

    def info(self, name: str, kind: OnnxType | None) -> bytes:
        """Return a serialized ValueInfoProto, with its type cached."""
        data = self._written.get(id(kind))
        if data is None:
            assert kind is not None  # noqa: S101  # None is in the cache
            data = self._written[id(kind)] = kind, _field("ValueInfoProto", "type", _type(kind))
        text = name.encode("utf-8", "surrogatepass")
        return _VALUE + varint_bytes(len(text)) + text + data[1]

    def tensor(self, tensor: OnnxTensor) -> bytes:
        """Return a serialized TensorProto, cached."""
        data = self._written.get(id(tensor))
        if data is None:
            data = self._written[id(tensor)] = tensor, write_tensor(tensor)
        return data[1]


_VALUE = varint_bytes(_FIELDS["ValueInfoProto"]["name"][0] << 3 | 2)


def _type(kind: OnnxType) -> bytes:
    """Return a serialized TypeProto; b"" if the type is unknown."""
    if kind.kind == "unknown":
        return b""
    message = {"tensor": "TypeProto.Tensor", "sparse_tensor": "TypeProto.SparseTensor", "map": "TypeProto.Map"}.get(
        kind.kind, f"TypeProto.{kind.kind.capitalize()}"
    )
    number = None if kind.elem_type is None else _TYPES.get(kind.elem_type, 0)
    inner = None if kind.inner is None else _type(kind.inner)
    if kind.kind in {"tensor", "sparse_tensor"}:
        body = _fields(message, elem_type=number, shape=None if kind.shape is None else _shape(kind.shape))
    elif kind.kind == "map":
        body = _fields(message, key_type=number, value_type=inner)
    else:
        body = b"" if kind.kind == "opaque" else _fields(message, elem_type=inner)
    return _fields("TypeProto", **{f"{kind.kind}_type": body})


def _shape(sizes: tuple[int | str | None, ...]) -> bytes:
    names = {int: "dim_value", str: "dim_param"}
    dims = [
        b""
        if size is None
        else _fields("TensorShapeProto.Dimension", **{names[int if isinstance(size, int) else str]: size})
        for size in sizes
    ]
    return _fields("TensorShapeProto", dim=dims)
