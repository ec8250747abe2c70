"""The structure of an ONNX model: plain data classes, and the values of small constants."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "OnnxAttribute",
    "OnnxFunction",
    "OnnxGraph",
    "OnnxModel",
    "OnnxNode",
    "OnnxTensor",
    "OnnxType",
    "OnnxValueInfo",
]

# How the elements of a type lie in raw_data: struct's codes; packed types by the byte.
CODES = {
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
PER_BYTE = {"UINT4": 2, "INT4": 2, "UINT2": 4, "INT2": 4}


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
        per_byte = PER_BYTE.get(self.elem_type, 1)
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
    """A FunctionProto: `attributes` names those without a default, `attribute_protos` has those with one.

    `repeated_imports` has the versions of a domain that a later import of it replaces.
    """

    name: str = ""
    domain: str = ""
    overload: str = ""
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    attribute_protos: list[OnnxAttribute] = field(default_factory=list)
    nodes: list[OnnxNode] = field(default_factory=list)
    opset_imports: dict[str, int] = field(default_factory=dict)
    repeated_imports: dict[str, list[int]] = field(default_factory=dict, compare=False, repr=False)
    value_infos: list[OnnxValueInfo] = field(default_factory=list)


@dataclass(slots=True)
class OnnxModel:
    """A ModelProto. The domain of ai.onnx is "" in opset_imports, nodes and functions; `file` is None for bytes.

    `repeated_imports` has the versions of a domain that a later import of it replaces.
    """

    ir_version: int | None = None
    opset_imports: dict[str, int] = field(default_factory=dict)
    repeated_imports: dict[str, list[int]] = field(default_factory=dict, compare=False, repr=False)
    producer_name: str = ""
    producer_version: str = ""
    domain: str = ""
    model_version: int = 0
    graph: OnnxGraph = field(default_factory=OnnxGraph)
    functions: list[OnnxFunction] = field(default_factory=list)
    file: str | None = None


def _decode(elem_type: str, data: bytes | list[Any]) -> list[Any] | None:
    code = CODES.get(elem_type)
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
    if elem_type in PER_BYTE:
        bits = 8 // PER_BYTE[elem_type]
        sign = 1 << bits - 1 if elem_type.startswith("INT") else 0
        return [((v >> shift & (1 << bits) - 1) ^ sign) - sign for v in values for shift in range(0, 8, bits)]
    return values
