"""The structure of an ONNX model file, read without the onnx package: nodes, names, types and small constants.

Field numbers, enum numbers and the layout of tensor data are those of onnx/onnx.proto in onnx 1.23.2. Weights are
seeked over, so a model takes the memory of its structure whatever its size on disk.
"""

from __future__ import annotations

import os
import stat
import struct
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from specgate.errors import InputError
from specgate.models.wire import Reader, Span, WireError, enum, locate, messages

__all__ = [
    "MAX_CONSTANT_BYTES",
    "OnnxAttribute",
    "OnnxFunction",
    "OnnxGraph",
    "OnnxModel",
    "OnnxNode",
    "OnnxTensor",
    "OnnxType",
    "OnnxValueInfo",
    "read_model",
    "read_model_bytes",
]

MAX_CONSTANT_BYTES = 4096  # a tensor's payload, as encoded; larger ones are skipped
MAX_ATTRIBUTE_BYTES = 1 << 20  # of the strings of one attribute; larger ones are skipped
MAX_ATTRIBUTE_VALUES = 1 << 16  # of an attribute that is a list of numbers or strings; longer ones are skipped
MAX_DEPTH = 64  # of graphs in attributes, and of types in types

ELEM_TYPES = enum(
    "UNDEFINED FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 COMPLEX128 "
    "BFLOAT16 FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ UINT4 INT4 FLOAT4E2M1 FLOAT8E8M0 UINT2 INT2 "
    "FLOAT6E2M3 FLOAT6E3M2"
)  # TensorProto.DataType
ATTRIBUTE_TYPES = enum(
    "UNDEFINED FLOAT INT STRING TENSOR GRAPH FLOATS INTS STRINGS TENSORS GRAPHS SPARSE_TENSOR SPARSE_TENSORS "
    "TYPE_PROTO TYPE_PROTOS"
)  # AttributeProto.AttributeType
# The field that holds an attribute's value, by its type. Of an attribute without a type (IR version 1) the first field
# in this order that is there decides, which is what onnx.helper.get_attribute_value did then.
ATTRIBUTE_FIELDS = {
    "FLOAT": "f",
    "INT": "i",
    "STRING": "s",
    "TENSOR": "t",
    "GRAPH": "g",
    "FLOATS": "floats",
    "INTS": "ints",
    "STRINGS": "strings",
    "TENSORS": "tensors",
    "GRAPHS": "graphs",
    "SPARSE_TENSOR": "sparse_tensor",
    "TYPE_PROTO": "tp",
    "SPARSE_TENSORS": "sparse_tensors",
    "TYPE_PROTOS": "type_protos",
}

# What is read of each message: its cost in memory (see Message), then number, label and type, and name of each field.
_PROTO = messages("""
ModelProto 700: 1 int64 ir_version; 2 string producer_name; 3 string producer_version; 4 string domain;
    5 int64 model_version; 7 GraphProto graph; 8 repeated OperatorSetIdProto opset_import;
    25 repeated FunctionProto functions
OperatorSetIdProto 100: 1 string domain; 2 int64 version
FunctionProto 700: 1 string name; 4 repeated string input; 5 repeated string output; 6 repeated string attribute;
    7 repeated NodeProto node; 9 repeated OperatorSetIdProto opset_import; 10 string domain;
    11 repeated AttributeProto attribute_proto; 12 repeated ValueInfoProto value_info; 13 string overload
GraphProto 500: 1 repeated NodeProto node; 2 string name; 5 repeated TensorProto initializer;
    11 repeated ValueInfoProto input; 12 repeated ValueInfoProto output; 13 repeated ValueInfoProto value_info;
    15 repeated SparseTensorProto sparse_initializer
NodeProto 400: 1 repeated string input; 2 repeated string output; 3 string name; 4 string op_type;
    5 repeated AttributeProto attribute; 7 string domain; 8 string overload
AttributeProto 250: 1 string name; 2 float f; 3 int64 i; 4 bytes s; 5 TensorProto t; 6 GraphProto g;
    7 repeated float floats; 8 repeated int64 ints; 9 repeated bytes strings; 10 repeated TensorProto tensors;
    11 repeated GraphProto graphs; 14 TypeProto tp; 15 repeated TypeProto type_protos; 20 enum type;
    21 string ref_attr_name; 22 SparseTensorProto sparse_tensor; 23 repeated SparseTensorProto sparse_tensors
ValueInfoProto 60: 1 string name; 2 TypeProto type
TypeProto 100: 1 TypeProto.Tensor tensor_type; 4 TypeProto.Sequence sequence_type; 5 TypeProto.Map map_type;
    7 TypeProto.Opaque opaque_type; 8 TypeProto.SparseTensor sparse_tensor_type; 9 TypeProto.Optional optional_type
TypeProto.Tensor 0: 1 int32 elem_type; 2 TensorShapeProto shape
TypeProto.SparseTensor 0: 1 int32 elem_type; 2 TensorShapeProto shape
TypeProto.Sequence 0: 1 TypeProto elem_type
TypeProto.Optional 0: 1 TypeProto elem_type
TypeProto.Map 0: 1 int32 key_type; 2 TypeProto value_type
TypeProto.Opaque 0:
TensorShapeProto 60: 1 repeated TensorShapeProto.Dimension dim
TensorShapeProto.Dimension 0: 1 int64 dim_value; 2 string dim_param
TensorProto 250: 1 repeated int64 dims; 2 int32 data_type; 3 TensorProto.Segment segment; 4 repeated float float_data;
    5 repeated int32 int32_data; 6 repeated bytes string_data; 7 repeated int64 int64_data; 8 string name;
    9 bytes raw_data; 10 repeated double double_data; 11 repeated uint64 uint64_data;
    13 repeated StringStringEntryProto external_data; 14 enum data_location
SparseTensorProto 0: 1 TensorProto values; 3 repeated int64 dims
StringStringEntryProto 0: 1 string key; 2 string value
""")
_KINDS = {name: dict(message.fields.values()) for name, message in _PROTO.items()}

# How the elements of a type lie in raw_data (struct's codes; packed types by the byte) and in which field else.
_CODES = {
    "FLOAT": "f",
    "UINT8": "B",
    "INT8": "b",
    "UINT16": "H",
    "INT16": "h",
    "INT32": "i",
    "INT64": "q",
    "BOOL": "?",
    "FLOAT16": "e",
    "DOUBLE": "d",
    "UINT32": "I",
    "UINT64": "Q",
    "COMPLEX64": "f",
    "COMPLEX128": "d",
    "BFLOAT16": "H",
    "UINT4": "B",
    "INT4": "B",
    "UINT2": "B",
    "INT2": "B",
}
_PER_BYTE = {"UINT4": 2, "INT4": 2, "UINT2": 4, "INT2": 4}
_STORED = dict.fromkeys(ELEM_TYPES[1:], "int32_data") | {
    "FLOAT": "float_data",
    "COMPLEX64": "float_data",
    "DOUBLE": "double_data",
    "COMPLEX128": "double_data",
    "INT64": "int64_data",
    "UINT32": "uint64_data",
    "UINT64": "uint64_data",
    "STRING": "string_data",
}
_ITEM_BYTES = {"float_data": 4, "double_data": 8, "int32_data": 1, "int64_data": 1, "uint64_data": 1}  # at least


@dataclass(slots=True)
class OnnxTensor:
    """A TensorProto, or of a SparseTensorProto its name, element type and dense sizes.

    `data` is raw_data as bytes or the typed field's list as it stands, and None where it is external, sparse, in
    segments or more than MAX_CONSTANT_BYTES. `external` has external_data's entries (location, offset, length ...).
    """

    name: str = ""
    elem_type: str = "UNDEFINED"
    dims: tuple[int, ...] = ()
    location: str = "inline"
    external: dict[str, str] = field(default_factory=dict)
    data: bytes | list[Any] | None = None

    def values(self) -> list[Any] | None:
        """The elements in row-major order as int, float, bool, complex or bytes (STRING).

        None where `data` is None, does not match `dims`, or is of a type without a Python counterpart (8, 6 and 4-bit
        floats).
        """
        if self.data is None or min(self.dims, default=0) < 0:
            return None
        if self.elem_type == "STRING":
            values = self.data if isinstance(self.data, list) else None
        else:
            values = _decode(self.elem_type, self.data)
        count = 1
        for dim in sorted(self.dims):  # a size of 0 first, so that no product grows beyond any payload
            count = min(count * dim, 1 << 32)
        per_byte = _PER_BYTE.get(self.elem_type, 1)
        if values is None or not count <= len(values) < count + per_byte:
            return None
        return values[:count]


@dataclass(slots=True)
class OnnxType:
    """A TypeProto.

    `kind` is tensor, sparse_tensor, sequence, map, optional, opaque or unknown (none is set). `elem_type` is the
    TensorProto name of a tensor's elements or a map's keys, `inner` the type inside a sequence, map or optional.
    `shape` is None where the rank is unknown, a size in it None where it is unknown and a string where it is symbolic.
    """

    kind: str = "unknown"
    elem_type: str | None = None
    shape: tuple[int | str | None, ...] | None = None
    inner: OnnxType | None = None


@dataclass(slots=True)
class OnnxValueInfo:
    """A ValueInfoProto: a value's name, and its type where it is stated."""

    name: str = ""
    type: OnnxType | None = None


@dataclass(slots=True)
class OnnxAttribute:
    """An AttributeProto; `kind` is its AttributeType's name, UNDEFINED where neither a type nor a value is there.

    `value` by kind: int, float, bytes (STRING), OnnxTensor, OnnxGraph, OnnxType, or a list of these. It is None for a
    reference (`ref_attr_name`), for a message that is missing, and for strings of more than MAX_ATTRIBUTE_BYTES or
    lists of more than MAX_ATTRIBUTE_VALUES, which are skipped.
    """

    name: str = ""
    kind: str = "UNDEFINED"
    value: Any = None
    ref_attr_name: str | None = None


@dataclass(slots=True)
class OnnxNode:
    """A NodeProto; of attributes of one name the first is kept, and each further one named in `duplicates`."""

    name: str = ""
    op_type: str = ""
    domain: str = ""
    overload: str = ""
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    attributes: dict[str, OnnxAttribute] = field(default_factory=dict)
    duplicates: list[str] = field(default_factory=list)


@dataclass(slots=True)
class OnnxGraph:
    """A GraphProto."""

    name: str = ""
    nodes: list[OnnxNode] = field(default_factory=list)
    inputs: list[OnnxValueInfo] = field(default_factory=list)
    outputs: list[OnnxValueInfo] = field(default_factory=list)
    value_infos: list[OnnxValueInfo] = field(default_factory=list)
    initializers: list[OnnxTensor] = field(default_factory=list)
    sparse_initializers: list[OnnxTensor] = field(default_factory=list)


@dataclass(slots=True)
class OnnxFunction:
    """A FunctionProto: `attributes` names those without a default, `attribute_protos` has those with one."""

    name: str = ""
    domain: str = ""
    overload: str = ""
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    attribute_protos: list[OnnxAttribute] = field(default_factory=list)
    nodes: list[OnnxNode] = field(default_factory=list)
    opset_imports: dict[str, int] = field(default_factory=dict)
    value_infos: list[OnnxValueInfo] = field(default_factory=list)


@dataclass(slots=True)
class OnnxModel:
    """A ModelProto. The domain of ai.onnx is "" in opset_imports, nodes and functions; `file` is None for bytes."""

    ir_version: int | None = None
    opset_imports: dict[str, int] = field(default_factory=dict)
    producer_name: str = ""
    producer_version: str = ""
    domain: str = ""
    model_version: int = 0
    graph: OnnxGraph = field(default_factory=OnnxGraph)
    functions: list[OnnxFunction] = field(default_factory=list)
    file: str | None = None


def read_model(path: str | os.PathLike[str]) -> OnnxModel:
    """Read a model's structure from a regular file; InputError where the path does not lead to a usable one."""
    name = os.fspath(path)
    try:
        # Asked before opening, which alone may block (a FIFO) or act (a device), and again in case it was replaced.
        if not stat.S_ISREG(Path(name).stat().st_mode):
            raise InputError("expected a regular file", file=name)
        with open(name, "rb", buffering=0, opener=_open) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError("expected a regular file", file=name)
            model = _read(file, status.st_size, name)
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror or error}", file=name) from None
    except ValueError as error:  # os.stat's, of a path that cannot be one
        raise InputError(f"the path cannot be used: {error}", file=repr(name)) from None
    model.file = name
    return model


def read_model_bytes(data: bytes, name: str = "<bytes>") -> OnnxModel:
    """Read a model's structure from a serialized ModelProto; InputError, with `name` for the file, where it is none."""
    return _read(BytesIO(data), len(data), name)


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read(file: BinaryIO, size: int, name: str) -> OnnxModel:
    try:
        return _model(Reader(file, size), [(0, size)])
    except WireError as error:
        within = locate(Reader(file, size), _PROTO["ModelProto"], _PROTO, error.offset)
        if len(within) > 200:
            within = f"{within[:150]} ... {within[-45:]}"
        place = f"byte {error.offset}" + (f", {within}" if within else "")
        raise InputError(error.message, file=name, place=place) from None


def _model(reader: Reader, spans: list[Span]) -> OnnxModel:
    model = OnnxModel()
    graph: list[Span] = []
    for name, value, end in reader.fields(spans, _PROTO["ModelProto"]):
        if name == "graph":
            graph.append((value, end))
        elif name == "opset_import":
            _opset(reader, [(value, end)], model.opset_imports)
        elif name == "functions":
            model.functions.append(_function(reader, [(value, end)]))
        else:
            setattr(model, name, value)
    if not graph:
        raise WireError("expected a model with a graph, found no graph", reader.size)
    model.graph = _graph(reader, graph, 1)
    return model


def _opset(reader: Reader, spans: list[Span], opsets: dict[str, int]) -> None:
    entry = {name: value for name, value, _ in reader.fields(spans, _PROTO["OperatorSetIdProto"])}
    opsets[_domain(entry.get("domain", ""))] = entry.get("version", 0)


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _function(reader: Reader, spans: list[Span]) -> OnnxFunction:
    function = OnnxFunction()
    for name, value, end in reader.fields(spans, _PROTO["FunctionProto"]):
        if name == "node":
            function.nodes.append(_node(reader, [(value, end)], 1))
        elif name == "attribute_proto":
            function.attribute_protos.append(_attribute(reader, [(value, end)], 1))
        elif name == "value_info":
            function.value_infos.append(_value_info(reader, [(value, end)]))
        elif name == "opset_import":
            _opset(reader, [(value, end)], function.opset_imports)
        elif name == "domain":
            function.domain = _domain(value)
        elif name in {"name", "overload"}:
            setattr(function, name, value)
        else:  # input, output, attribute
            getattr(function, f"{name}s").append(value)
    return function


def _graph(reader: Reader, spans: list[Span], depth: int) -> OnnxGraph:
    if depth > MAX_DEPTH:
        raise WireError(f"graphs are nested more than {MAX_DEPTH} deep", spans[0][0])
    graph = OnnxGraph()
    for name, value, end in reader.fields(spans, _PROTO["GraphProto"]):
        if name == "node":
            graph.nodes.append(_node(reader, [(value, end)], depth))
        elif name == "value_info":
            graph.value_infos.append(_value_info(reader, [(value, end)]))
        elif name == "initializer":
            graph.initializers.append(_tensor(reader, [(value, end)]))
        elif name == "input":
            graph.inputs.append(_value_info(reader, [(value, end)]))
        elif name == "output":
            graph.outputs.append(_value_info(reader, [(value, end)]))
        elif name == "sparse_initializer":
            graph.sparse_initializers.append(_sparse_tensor(reader, [(value, end)]))
        else:
            graph.name = value
    return graph


def _node(reader: Reader, spans: list[Span], depth: int) -> OnnxNode:
    node = OnnxNode()
    for name, value, end in reader.fields(spans, _PROTO["NodeProto"]):
        if name == "input":
            node.inputs.append(value)
        elif name == "output":
            node.outputs.append(value)
        elif name == "attribute":
            attribute = _attribute(reader, [(value, end)], depth)
            if node.attributes.setdefault(attribute.name, attribute) is not attribute:
                node.duplicates.append(attribute.name)
        elif name == "domain":
            node.domain = _domain(value)
        else:  # name, op_type, overload
            setattr(node, name, value)
    return node


def _attribute(reader: Reader, spans: list[Span], depth: int) -> OnnxAttribute:
    attribute = OnnxAttribute()
    found: dict[str, list[Any]] = {}  # numbers and spans by field; which of them is the value is known at the end
    for name, value, end in reader.fields(spans, _PROTO["AttributeProto"]):
        if name == "name":
            attribute.name = value
        elif name == "ref_attr_name":
            attribute.ref_attr_name = value or None
        elif name == "type":
            if 0 <= value < len(ATTRIBUTE_TYPES):  # a closed enum: other numbers count as unknown fields
                attribute.kind = ATTRIBUTE_TYPES[value]
        elif name not in found or name in {"f", "i", "s"}:
            if not end or end > value or name not in {"floats", "ints"}:  # packed, but none: as if it were not there
                found[name] = [(value, end) if end else value]
        elif len(found[name]) <= MAX_ATTRIBUTE_VALUES:
            found[name].append((value, end) if end else value)
    if attribute.kind == "UNDEFINED":
        attribute.kind = next((kind for kind, name in ATTRIBUTE_FIELDS.items() if name in found), "UNDEFINED")
    if attribute.kind != "UNDEFINED" and attribute.ref_attr_name is None:
        attribute.value = _value(reader, attribute.kind, found.get(ATTRIBUTE_FIELDS[attribute.kind], []), depth)
    return attribute


def _value(reader: Reader, kind: str, items: list[Any], depth: int) -> Any:
    if len(items) > MAX_ATTRIBUTE_VALUES:
        return None
    if kind in {"FLOAT", "INT"}:
        return items[-1] if items else 0.0 if kind == "FLOAT" else 0
    if kind in {"FLOATS", "INTS"}:
        return _numbers(reader, items, "float" if kind == "FLOATS" else "int64")
    if kind in {"STRING", "STRINGS"}:
        if sum(end - begin for begin, end in items) > MAX_ATTRIBUTE_BYTES:
            return None
        strings = [reader.keep(begin, end) for begin, end in items]
        return strings if kind == "STRINGS" else strings[-1] if strings else b""
    if kind in {"TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO"}:
        return _element(reader, kind, items, depth) if items else None
    return [_element(reader, kind.removesuffix("S"), [span], depth) for span in items]


def _numbers(reader: Reader, items: list[Any], kind: str) -> list[Any] | None:
    if sum(item[1] - item[0] for item in items if isinstance(item, tuple)) > MAX_ATTRIBUTE_BYTES:
        return None
    numbers: list[Any] = []
    for item in items:
        if isinstance(item, tuple):
            numbers += reader.packed(item[0], item[1], kind)
        else:
            numbers.append(item)
    return numbers if len(numbers) <= MAX_ATTRIBUTE_VALUES else None


def _element(reader: Reader, kind: str, spans: list[Span], depth: int) -> Any:
    if kind == "TENSOR":
        return _tensor(reader, spans)
    if kind == "GRAPH":
        return _graph(reader, spans, depth + 1)
    if kind == "SPARSE_TENSOR":
        return _sparse_tensor(reader, spans)
    return _type(reader, spans, 1)


def _value_info(reader: Reader, spans: list[Span]) -> OnnxValueInfo:
    info = OnnxValueInfo()
    types: list[Span] = []
    for name, value, end in reader.fields(spans, _PROTO["ValueInfoProto"]):
        if name == "name":
            info.name = value
        else:
            types.append((value, end))
    info.type = _type(reader, types, 1) if types else None
    return info


def _type(reader: Reader, spans: list[Span], depth: int) -> OnnxType:
    if depth > MAX_DEPTH:
        raise WireError(f"types are nested more than {MAX_DEPTH} deep", spans[0][0])
    of = OnnxType()
    case = ""
    content: list[Span] = []
    for name, value, end in reader.fields(spans, _PROTO["TypeProto"]):
        if name != case:  # a oneof: the last one stands
            case = name
            content = []
        content.append((value, end))
    if not case:
        return of
    of.kind = case.removesuffix("_type")
    inner: list[Span] = []
    for _, value, end in reader.fields(content, _PROTO[_KINDS["TypeProto"][case]]):
        if end:
            inner.append((value, end))
        else:
            of.elem_type = _elem_type(value)
    if inner and of.kind in {"tensor", "sparse_tensor"}:
        of.shape = _shape(reader, inner)
    elif inner:
        of.inner = _type(reader, inner, depth + 1)
    return of


def _elem_type(number: int) -> str:
    return ELEM_TYPES[number] if 0 <= number < len(ELEM_TYPES) else f"DataType({number})"


def _shape(reader: Reader, spans: list[Span]) -> tuple[int | str | None, ...]:
    dimension = _PROTO["TensorShapeProto.Dimension"]
    shape: list[int | str | None] = []
    for _, begin, end in reader.fields(spans, _PROTO["TensorShapeProto"]):
        size = None
        for _, value, _ in reader.fields([(begin, end)], dimension):  # a oneof: the last one stands
            size = None if value == "" else value
        shape.append(size)
    return tuple(shape)


def _sparse_tensor(reader: Reader, spans: list[Span]) -> OnnxTensor:
    dims: list[int] = []
    values: list[Span] = []
    for name, value, end in reader.fields(spans, _PROTO["SparseTensorProto"]):
        if name == "values":
            values.append((value, end))
        else:
            dims += reader.packed(value, end, "int64") if end else [value]
    tensor = _tensor(reader, values)
    tensor.dims = tuple(dims)
    tensor.data = None
    return tensor


def _tensor(reader: Reader, spans: list[Span]) -> OnnxTensor:
    tensor = OnnxTensor()
    dims: list[int] = []
    raw: Span | None = None
    typed: dict[str, list[Any]] = {}
    segment = False
    for name, value, end in reader.fields(spans, _PROTO["TensorProto"]):
        if name == "dims":
            dims += reader.packed(value, end, "int64") if end else [value]
        elif name == "data_type":
            tensor.elem_type = _elem_type(value)
        elif name == "name":
            tensor.name = value
        elif name == "raw_data":
            raw = (value, end)
        elif name == "data_location":
            if value in {0, 1}:  # a closed enum, as above
                tensor.location = "external" if value else "inline"
        elif name == "external_data":
            entry = {key: text for key, text, _ in reader.fields([(value, end)], _PROTO["StringStringEntryProto"])}
            tensor.external[entry.get("key", "")] = entry.get("value", "")
        elif name == "segment":
            segment = True
        else:
            items = typed.setdefault(name, [])
            if len(items) <= MAX_CONSTANT_BYTES:  # each item is a byte at least
                items.append((value, end) if end else value)
    tensor.dims = tuple(dims)
    if raw and not segment and tensor.location == "inline":
        tensor.data = reader.keep(*raw) if raw[1] - raw[0] <= MAX_CONSTANT_BYTES else None
    elif not segment and tensor.location == "inline" and (stored := _STORED.get(tensor.elem_type)):
        tensor.data = _typed_data(reader, stored, typed.get(stored, []))
    return tensor


def _typed_data(reader: Reader, name: str, items: list[Any]) -> list[Any] | None:
    if len(items) > MAX_CONSTANT_BYTES:
        return None
    size = sum(item[1] - item[0] if isinstance(item, tuple) else _ITEM_BYTES[name] for item in items)
    if name == "string_data":
        size += len(items)  # a length each
        return [reader.keep(*item) for item in items] if size <= MAX_CONSTANT_BYTES else None
    kind = _KINDS["TensorProto"][name].removeprefix("repeated ")
    return _numbers(reader, items, kind) if size <= MAX_CONSTANT_BYTES else None


def _decode(elem_type: str, data: bytes | list[Any]) -> list[Any] | None:
    code = _CODES.get(elem_type)
    if code is None:
        return None
    width = struct.calcsize(code)
    if isinstance(data, bytes):
        raw = data
    elif code in "fd":
        raw = struct.pack(f"<{len(data)}{code}", *data)
    else:  # integers and bit patterns, of which int32_data may hold more bits than the type has
        raw = b"".join((item & (1 << 8 * width) - 1).to_bytes(width, "little") for item in data)
    if len(raw) % width:
        return None
    values = list(struct.unpack(f"<{len(raw) // width}{code}", raw))
    if elem_type == "BFLOAT16":
        return list(struct.unpack(f"<{len(values)}f", struct.pack(f"<{len(values)}I", *(v << 16 for v in values))))
    if elem_type in {"COMPLEX64", "COMPLEX128"}:
        return (
            [complex(*pair) for pair in zip(values[::2], values[1::2], strict=True)] if len(values) % 2 == 0 else None
        )
    if elem_type in _PER_BYTE:
        bits = 8 // _PER_BYTE[elem_type]
        sign = 1 << bits - 1 if elem_type.startswith("INT") else 0
        return [((v >> shift & (1 << bits) - 1) ^ sign) - sign for v in values for shift in range(0, 8, bits)]
    return values
