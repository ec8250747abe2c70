"""The protobuf wire format and the ONNX message types that are read."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

VARINT, I64, LEN, GROUP, END_GROUP, I32 = range(6)
WIRES = ("a varint", "64 bits", "a length-delimited field", "a group", "an end-group tag", "32 bits")
_MAX_LENGTH = (1 << 31) - 1  # of a field, as in protobuf
_MAX_PREFIX = 5  # bytes of a key or a length


class WireError(Exception):
    """Bytes at `offset` that violate the wire format or the message type."""

    def __init__(self, message: str, offset: int) -> None:
        self.message = message
        self.offset = offset
        super().__init__(f"byte {offset}: {message}")


def int64(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def int32(value: int) -> int:
    return ((value & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


def wire_error(error: Exception, offset: int) -> WireError:
    if isinstance(error, WireError):
        return error
    return WireError("a field is truncated at the end of the file", offset)


def varint(buffer: bytes, i: int, offset: int) -> tuple[int, int]:
    value = shift = 0
    while (byte := buffer[i]) > 127:
        value |= (byte & 127) << shift
        shift += 7
        i += 1
        if shift > 63:
            raise WireError("a varint of more than 10 bytes", offset)
    return (value | byte << shift) & 0xFFFFFFFFFFFFFFFF, i + 1


def key_of(buffer: bytes, i: int, offset: int) -> tuple[int, int]:
    key, after = varint(buffer, i, offset)
    if after - i > _MAX_PREFIX or key >> 32:
        raise WireError(
            f"expected a field's key in at most {_MAX_PREFIX} bytes and 32 bits, found a longer one", offset
        )
    return key, after


def length_of(buffer: bytes, i: int, offset: int) -> tuple[int, int]:
    length, after = varint(buffer, i, offset)
    if after - i > _MAX_PREFIX:
        raise WireError(f"expected a field's length in at most {_MAX_PREFIX} bytes, found a longer one", offset)
    if length > _MAX_LENGTH:
        raise WireError(f"expected a field of at most {_MAX_LENGTH} bytes, found one of {length}", offset)
    return length, after


def keep_value(value: int) -> int:
    return value


# Wire type of each .proto scalar, and its decoder, which gets the varint's number or the bytes.
SCALARS: dict[str, tuple[int, Callable[..., Any]]] = {
    "int64": (VARINT, int64),
    "int32": (VARINT, int32),
    "enum": (VARINT, int32),
    "uint64": (VARINT, keep_value),
    "float": (I32, struct.Struct("<f").unpack_from),
    "double": (I64, struct.Struct("<d").unpack_from),
}

Codec = tuple[str, Callable[..., Any], bool]  # field name, decoder, True for strings
SKIPPED_CODEC: Codec = ("", keep_value, False)


class Message:
    """A message type: the fields to read, as (name, type) by field number.

    Name and type are those of the .proto file ("repeated string"). A type is a scalar type, `enum`, `bytes` or a
    message name. Unlisted fields are skipped. Fields with the label "skipped" hold messages that are only checked
    (`walked`: their names by key). `cost` is the expected memory of one message in bytes after reading.
    """

    __slots__ = ("_bare", "by_key", "cost", "fields", "name", "walked")

    def __init__(self, name: str, cost: int, fields: Mapping[int, tuple[str, str]]) -> None:
        self.name = name
        self.cost = cost
        self.walked = {n << 3 | LEN: kind[8:] for n, (_, kind) in fields.items() if kind.startswith("skipped ")}
        self.fields = {number: field for number, field in fields.items() if number << 3 | LEN not in self.walked}
        self.by_key: dict[int, Codec] = {}
        self._bare: Message | None = None
        for number, (field, label_and_type) in self.fields.items():
            kind = label_and_type.removeprefix("repeated ")
            wire, convert = SCALARS.get(kind, (LEN, keep_value))
            self.by_key[number << 3 | wire] = (field, convert, kind == "string")
            if wire != LEN and kind != label_and_type:  # repeated numbers are packed or not
                self.by_key[number << 3 | LEN] = (field, keep_value, False)

    @property
    def bare(self) -> Message:
        """Return the message with strings as bytes, for checking only."""
        if self._bare is None:
            fields = {number: (name, kind.replace("string", "bytes")) for number, (name, kind) in self.fields.items()}
            fields |= {key >> 3: ("", f"skipped {kind}") for key, kind in self.walked.items()}
            self._bare = Message(self.name, 0, fields)
        return self._bare

    def describe_skipped(self, key: int, offset: int) -> str | None:
        """Return a warning for a skipped field with a wrong wire type, or None.

        Raise WireError if the field number is invalid.
        """
        number = key >> 3
        if not 0 < number < 1 << 29:
            raise WireError(f"expected a field number from 1 to 536870911, found {number}", offset)
        if number in self.fields and key & 7 < len(WIRES):
            name, kind = self.fields[number]
            return f"expected {kind} in {self.name}.{name}, found {WIRES[key & 7]}; skipped, as protobuf does"
        return None


def enum(text: str) -> tuple[str, ...]:
    """Return enum names in the order of their numbers, from 0."""
    return tuple(text.split())


def messages(text: str) -> dict[str, Message]:
    """Return messages by name from their text notation.

    For example `TypeProto.Map 0: 1 int32 key_type; 2 TypeProto value_type`: a name and a cost, then number, label if
    repeated, type and name of each field. A line that begins with a blank continues the previous one.
    """
    messages_by_name: dict[str, Message] = {}
    for line in text.strip().replace("\n ", " ").splitlines():
        head, _, rest = line.partition(":")
        name, cost = head.split()
        fields = {}
        for words in (part.split() for part in rest.split(";") if part.strip()):
            fields[int(words[0])] = (words[-1], " ".join(words[1:-1]))
        messages_by_name[name] = Message(name, int(cost), fields)
    return messages_by_name


ELEM_TYPES = enum(
    "UNDEFINED FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 COMPLEX128 "
    "BFLOAT16 FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ UINT4 INT4 FLOAT4E2M1 FLOAT8E8M0 UINT2 INT2 "
    "FLOAT6E2M3 FLOAT6E3M2"
)  # TensorProto.DataType
ATTRIBUTE_TYPES = enum(
    "UNDEFINED FLOAT INT STRING TENSOR GRAPH FLOATS INTS STRINGS TENSORS GRAPHS SPARSE_TENSOR SPARSE_TENSORS "
    "TYPE_PROTO TYPE_PROTOS"
)  # AttributeProto.AttributeType
GRAPH_KINDS = frozenset({"GRAPH", "GRAPHS"})  # attribute types that hold graphs
PLAIN_KINDS = frozenset({"FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS"})  # attribute types without messages
# Field of an attribute's value by type. If an attribute has no type (IR version 1), the first of these fields that is
# present decides, as onnx.helper.get_attribute_value did then.
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

# Messages as read: memory cost (see Message), then number, label and type, and name of each field. Other fields are
# skipped, because no verdict depends on them: documentation, metadata, denotations, devices, and where training writes
# its results. Messages in them are still checked, because protobuf rejects a file with a malformed one.
PROTO = messages("""
ModelProto 700: 1 int64 ir_version; 2 string producer_name; 3 string producer_version; 4 string domain;
    5 int64 model_version; 7 GraphProto graph; 8 repeated OperatorSetIdProto opset_import;
    14 skipped StringStringEntryProto metadata_props; 20 repeated TrainingInfoProto training_info;
    25 repeated FunctionProto functions; 26 skipped DeviceConfigurationProto configuration
TrainingInfoProto 200: 1 GraphProto initialization; 2 GraphProto algorithm;
    3 skipped StringStringEntryProto initialization_binding; 4 skipped StringStringEntryProto update_binding
OperatorSetIdProto 100: 1 string domain; 2 int64 version
FunctionProto 700: 1 string name; 4 repeated string input; 5 repeated string output; 6 repeated string attribute;
    7 repeated NodeProto node; 9 repeated OperatorSetIdProto opset_import; 10 string domain;
    11 repeated AttributeProto attribute_proto; 12 repeated ValueInfoProto value_info; 13 string overload;
    14 skipped StringStringEntryProto metadata_props
GraphProto 500: 1 repeated NodeProto node; 2 string name; 5 repeated TensorProto initializer;
    11 repeated ValueInfoProto input; 12 repeated ValueInfoProto output; 13 repeated ValueInfoProto value_info;
    14 repeated TensorAnnotation quantization_annotation; 15 repeated SparseTensorProto sparse_initializer;
    16 skipped StringStringEntryProto metadata_props
TensorAnnotation 250: 1 string tensor_name; 2 repeated StringStringEntryProto quant_parameter_tensor_names
NodeProto 400: 1 repeated string input; 2 repeated string output; 3 string name; 4 string op_type;
    5 repeated AttributeProto attribute; 7 string domain; 8 string overload;
    9 skipped StringStringEntryProto metadata_props; 10 skipped NodeDeviceConfigurationProto device_configurations
AttributeProto 250: 1 string name; 2 float f; 3 int64 i; 4 bytes s; 5 TensorProto t; 6 GraphProto g;
    7 repeated float floats; 8 repeated int64 ints; 9 repeated bytes strings; 10 repeated TensorProto tensors;
    11 repeated GraphProto graphs; 14 TypeProto tp; 15 repeated TypeProto type_protos; 20 enum type;
    21 string ref_attr_name; 22 SparseTensorProto sparse_tensor; 23 repeated SparseTensorProto sparse_tensors
ValueInfoProto 60: 1 string name; 2 TypeProto type; 4 skipped StringStringEntryProto metadata_props
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
    13 repeated StringStringEntryProto external_data; 14 enum data_location;
    16 skipped StringStringEntryProto metadata_props
TensorProto.Segment 0:
SparseTensorProto 250: 1 TensorProto values; 2 TensorProto indices; 3 repeated int64 dims
StringStringEntryProto 0: 1 string key; 2 string value
DeviceConfigurationProto 0:
NodeDeviceConfigurationProto 0: 2 skipped ShardingSpecProto sharding_spec
ShardingSpecProto 0: 2 repeated int64 device; 3 skipped IntIntListEntryProto index_to_device_group_map;
    4 skipped ShardedDimProto sharded_dim
IntIntListEntryProto 0: 2 repeated int64 value
ShardedDimProto 0: 2 skipped SimpleShardedDimProto simple_sharding
SimpleShardedDimProto 0:
""")
KINDS = {name: dict(message.fields.values()) for name, message in PROTO.items()}

# Field that holds a tensor's elements if raw_data does not.
DATA_FIELDS = dict.fromkeys(ELEM_TYPES[1:], "int32_data") | {
    "FLOAT": "float_data",
    "COMPLEX64": "float_data",
    "DOUBLE": "double_data",
    "COMPLEX128": "double_data",
    "INT64": "int64_data",
    "UINT32": "uint64_data",
    "UINT64": "uint64_data",
    "STRING": "string_data",
}
ITEM_BYTES = {"float_data": 4, "double_data": 8, "int32_data": 1, "int64_data": 1, "uint64_data": 1}  # minimum
