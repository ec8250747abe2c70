"""Data classes for the structure of an ONNX model and small constants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.onnx.file.schema import PLAIN_KINDS
from specgate.dialects.onnx.file.values import decode, padding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "NO_ATTRIBUTES",
    "OnnxAttribute",
    "OnnxFunction",
    "OnnxGraph",
    "OnnxModel",
    "OnnxNode",
    "OnnxTensor",
    "OnnxType",
    "OnnxValueInfo",
]


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
