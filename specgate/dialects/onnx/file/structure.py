"""Data classes for the structure of an ONNX model and small constants."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.onnx.file.schema import PLAIN_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# struct codes of the types in raw_data; types that are not listed are stored as bytes, packed or not.
CODES = {
    "FLOAT": "f",
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
}
#: Bits per element of packed types; the first element is in the lowest bits.
SUB_BYTE = {"UINT4": 4, "INT4": 4, "FLOAT4E2M1": 4, "UINT2": 2, "INT2": 2, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6}
#: Exponent bits, mantissa bits, exponent bias, and which codes are not finite numbers.
SMALL_FLOATS = {
    "FLOAT8E4M3FN": (4, 3, 7, "nan at the end"),
    "FLOAT8E4M3FNUZ": (4, 3, 8, "nan for -0"),
    "FLOAT8E5M2": (5, 2, 15, "ieee"),
    "FLOAT8E5M2FNUZ": (5, 2, 16, "nan for -0"),
    "FLOAT4E2M1": (2, 1, 1, "all finite"),
    "FLOAT6E2M3": (2, 3, 1, "all finite"),
    "FLOAT6E3M2": (3, 2, 3, "all finite"),
}
_BYTES = {"UINT8", "FLOAT8E8M0", *SMALL_FLOATS, *SUB_BYTE}


def decode(elem_type: str, data: bytes | list[Any]) -> list[Any] | None:
    """Return elements as int, float, bool or complex, or None.

    Packed types give as many elements as the bytes hold, padding included. None if the type is unknown, or if the data
    is not a whole number of elements.
    """
    if elem_type in _BYTES:
        return _decode_bytes(elem_type, data)
    code = CODES.get(elem_type)
    if code is None:
        return None
    width = struct.calcsize(code)
    if isinstance(data, bytes):
        raw = data
    elif code in "fd":
        raw = struct.pack(f"<{len(data)}{code}", *data)
    else:  # integers and bit patterns; int32_data may hold extra high bits
        raw = b"".join((item & (1 << 8 * width) - 1).to_bytes(width, "little") for item in data)
    if len(raw) % width:
        return None
    values = list(struct.unpack(f"<{len(raw) // width}{code}", raw))
    if elem_type == "BFLOAT16":
        return list(struct.unpack(f"<{len(values)}f", struct.pack(f"<{len(values)}I", *(v << 16 for v in values))))
    if elem_type in {"COMPLEX64", "COMPLEX128"}:
        pairs = zip(values[::2], values[1::2], strict=False)
        return None if len(values) % 2 else [complex(*pair) for pair in pairs]
    return values


def padding(elem_type: str, data: bytes | list[Any]) -> int:
    """Return the maximum number of padding elements in the last byte."""
    bits = SUB_BYTE.get(elem_type, 8)
    return 0 if bits == 6 and not isinstance(data, bytes) else (8 - (bits & -bits)) // bits


def _decode_bytes(elem_type: str, data: bytes | list[Any]) -> list[Any]:
    codes = list(data) if isinstance(data, bytes) else [item & 255 for item in data]
    bits = SUB_BYTE.get(elem_type, 8)
    if bits == 6 and not isinstance(data, bytes):  # the only packed type that int32_data stores unpacked
        codes = [item & 63 for item in codes]
    elif bits < 8:
        stream = int.from_bytes(bytes(codes), "little")
        count = len(codes) * 8 // bits
        codes = [stream >> shift & (1 << bits) - 1 for shift in range(0, count * bits, bits)]
    if elem_type in {"INT4", "INT2"}:
        sign = 1 << bits - 1
        return [(code ^ sign) - sign for code in codes]
    if elem_type in {"UINT8", "UINT4", "UINT2"}:
        return codes
    table = _floats(elem_type)
    return [table[code] for code in codes]


@cache
def _floats(elem_type: str) -> list[float]:
    """Return the value of each code of a small float type."""
    if elem_type == "FLOAT8E8M0":  # only an exponent
        return [2.0 ** (code - 127) for code in range(255)] + [float("nan")]
    exponent_bits, mantissa_bits, bias, special_values = SMALL_FLOATS[elem_type]
    positive = [_number(code, mantissa_bits, bias) for code in range(1 << exponent_bits + mantissa_bits)]
    if special_values == "ieee":
        first = len(positive) - (1 << mantissa_bits)
        positive[first:] = [float("inf"), *[float("nan")] * ((1 << mantissa_bits) - 1)]
    elif special_values == "nan at the end":
        positive[-1] = float("nan")
    negative = [-value for value in positive]
    if special_values == "nan for -0":
        negative[0] = float("nan")
    return positive + negative


def _number(code: int, mantissa_bits: int, bias: int) -> float:
    exponent, mantissa = divmod(code, 1 << mantissa_bits)
    if exponent == 0:
        return float(2.0 ** (1 - bias) * mantissa / (1 << mantissa_bits))
    return float(2.0 ** (exponent - bias) * (1 + mantissa / (1 << mantissa_bits)))


@dataclass(slots=True)
class OnnxTensor:
    """A TensorProto, or name, element type and dense sizes of a sparse one.

    `data` is raw_data as bytes or the list of the typed field. It is None if the data is external, sparse, in segments
    or larger than MAX_CONSTANT_BYTES. `external` has the entries of external_data (location, offset, length ...).
    `sparse` has values and indices of a SparseTensorProto. `stored_counts` has the amount of data by field, read or
    not: bytes of raw_data, elements of the other fields. `segment` is True for one of several segments. `spans` has
    begin and end of each part of the message in the file if its elements were skipped.
    """

    name: str = ""
    elem_type: str = "UNDEFINED"
    dims: tuple[int, ...] = ()
    location: str = "inline"
    external: dict[str, str] = field(default_factory=dict)
    data: bytes | list[Any] | None = None
    sparse: tuple[OnnxTensor, OnnxTensor] | None = None
    stored_counts: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    segment: bool = field(default=False, compare=False, repr=False)
    spans: tuple[tuple[int, int], ...] = field(default=(), compare=False, repr=False)

    def values(self) -> list[Any] | None:
        """Return the elements in row-major order, or None.

        Elements are int, float, bool, complex or bytes (STRING). None if `data` is None or does not match `dims`.
        """
        if self.data is None or min(self.dims, default=0) < 0:
            return None
        if self.elem_type == "STRING":
            values = self.data if isinstance(self.data, list) else None
        else:
            values = decode(self.elem_type, self.data)
        count = 1
        for dim in sorted(self.dims):  # size 0 first, so that the product stays small
            count = min(count * dim, 1 << 32)
        if values is None or not count <= len(values) <= count + padding(self.elem_type, self.data):
            return None
        return values[:count]


@dataclass(slots=True, frozen=True)
class OnnxType:
    """A TypeProto; equal types of a model may be one object.

    `kind` is tensor, sparse_tensor, sequence, map, optional, opaque or unknown (not set). `elem_type` is the
    TensorProto name of a tensor's elements or a map's keys, `inner` the type inside a sequence, map or optional.
    `shape` is None if the rank is unknown; a size is None if unknown and a string if symbolic.
    """

    kind: str = "unknown"
    elem_type: str | None = None
    shape: tuple[int | str | None, ...] | None = None
    inner: OnnxType | None = None


@dataclass(slots=True)
class OnnxValueInfo:
    """A ValueInfoProto: a value's name, and its type if stated."""

    name: str = ""
    type: OnnxType | None = None


@dataclass(slots=True, frozen=True)
class OnnxAttribute:
    """An AttributeProto; equal nodes may share it.

    `kind` is the name of its AttributeType, UNDEFINED if it has neither a type nor a value. `value` depends on the
    kind: int, float, bytes (STRING), OnnxTensor, OnnxGraph, OnnxType, or a list of these. It is None for a reference
    (`ref_attr_name`), for a missing message, for strings of more than MAX_ATTRIBUTE_BYTES and for lists of more than
    MAX_ATTRIBUTE_VALUES, which are skipped. `spans` is the position of a skipped attribute in the file.
    """

    name: str = ""
    kind: str = "UNDEFINED"
    value: Any = None
    ref_attr_name: str | None = None
    spans: tuple[tuple[int, int], ...] = field(default=(), compare=False, repr=False)

    @property
    def plain(self) -> bool:
        """True for numbers or strings: not a message, reference or skipped value."""
        return self.kind in PLAIN_KINDS and self.value is not None

    @property
    def whole(self) -> bool:
        """True if it was read completely and holds no graph.

        That is a plain attribute, or a tensor with its elements.
        """
        tensor = self.value
        return self.plain or (isinstance(tensor, OnnxTensor) and tensor.data is not None and not tensor.segment)


NO_ATTRIBUTES: Final[Mapping[str, OnnxAttribute]] = {}


@dataclass(slots=True)
class OnnxNode:
    """A NodeProto; of equally named attributes the first is kept.

    `duplicates` names the others. Large models have a hundred thousand nodes, so equal names and attributes are shared.
    """

    name: str = ""
    op_type: str = ""
    domain: str = ""
    overload: str = ""
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    attributes: Mapping[str, OnnxAttribute] = field(default_factory=lambda: NO_ATTRIBUTES)
    duplicates: Sequence[str] = ()

    @property
    def plain(self) -> bool:
        """True if all attributes are plain."""
        return not self.attributes or all(attribute.plain for attribute in self.attributes.values())


@dataclass(slots=True)
class OnnxGraph:
    """A GraphProto.

    `quantization` has, by tensor, the names of its parameters in quantization_annotation. `runs` has the serialized
    fields of adjacent nodes without messages: index of the first node, end index (exclusive), bytes.
    """

    name: str = ""
    nodes: list[OnnxNode] = field(default_factory=list)
    inputs: list[OnnxValueInfo] = field(default_factory=list)
    outputs: list[OnnxValueInfo] = field(default_factory=list)
    value_infos: list[OnnxValueInfo] = field(default_factory=list)
    initializers: list[OnnxTensor] = field(default_factory=list)
    sparse_initializers: list[OnnxTensor] = field(default_factory=list)
    quantization: dict[str, dict[str, str]] = field(default_factory=dict)
    runs: list[tuple[int, int, bytes]] = field(default_factory=list, compare=False, repr=False)


@dataclass(slots=True)
class OnnxFunction:
    """A FunctionProto.

    `attributes` names those without a default, `attribute_protos` has those with one. `repeated_imports` has versions
    of a domain that a later import overrides, `stated_imports` all imports as written.
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
    stated_imports: list[tuple[str, int]] = field(default_factory=list, compare=False, repr=False)
    value_infos: list[OnnxValueInfo] = field(default_factory=list)


@dataclass(slots=True)
class OnnxModel:
    """A ModelProto; domain ai.onnx is "", and `file` is None for bytes.

    `repeated_imports` has versions of a domain that a later import overrides, `stated_imports` all imports as written.
    `training` has the graphs (initialization, algorithm) of each TrainingInfoProto. `oddities` lists, with their
    offsets, bytes that protobuf accepts although no writer intends them: names that are not UTF-8, fields of a wrong
    wire type. `negative_size` is the offset of the first size below 0, which counts as unknown.
    """

    ir_version: int | None = None
    opset_imports: dict[str, int] = field(default_factory=dict)
    repeated_imports: dict[str, list[int]] = field(default_factory=dict, compare=False, repr=False)
    stated_imports: list[tuple[str, int]] = field(default_factory=list, compare=False, repr=False)
    producer_name: str = ""
    producer_version: str = ""
    domain: str = ""
    model_version: int = 0
    graph: OnnxGraph = field(default_factory=OnnxGraph)
    functions: list[OnnxFunction] = field(default_factory=list)
    training: list[tuple[OnnxGraph, OnnxGraph]] = field(default_factory=list)
    file: str | None = None
    negative_size: str | None = field(default=None, compare=False, repr=False)
    oddities: list[str] = field(default_factory=list, compare=False, repr=False)
