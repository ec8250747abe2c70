"""The structure of an ONNX model: plain data classes, and the values of small constants."""

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
    """A TensorProto, or of a SparseTensorProto its name, element type and dense sizes.

    `data` is raw_data as bytes or the typed field's list as it stands, and None where it is external, sparse, in
    segments or more than MAX_CONSTANT_BYTES. `external` has external_data's entries (location, offset, length ...).
    `sparse` has a SparseTensorProto's values and indices. `held` has by field what the tensor holds of data, large or
    not: the bytes of raw_data, the elements of the others. `segment` is whether it is one of several segments. `spans`
    is where the message lies in the file, if its elements were skipped: begin and end of each part.
    """

    name: str = ""
    elem_type: str = "UNDEFINED"
    dims: tuple[int, ...] = ()
    location: str = "inline"
    external: dict[str, str] = field(default_factory=dict)
    data: bytes | list[Any] | None = None
    sparse: tuple[OnnxTensor, OnnxTensor] | None = None
    held: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    segment: bool = field(default=False, compare=False, repr=False)
    spans: tuple[tuple[int, int], ...] = field(default=(), compare=False, repr=False)

    def values(self) -> list[Any] | None:
        """The elements in row-major order as int, float, bool, complex or bytes (STRING).

        None where `data` is None or does not match `dims`.
        """
        if self.data is None or min(self.dims, default=0) < 0:
            return None
        if self.elem_type == "STRING":
            values = self.data if isinstance(self.data, list) else None
        else:
            values = decode(self.elem_type, self.data)
        count = 1
        for dim in sorted(self.dims):  # a size of 0 first, so that no product grows beyond any payload
            count = min(count * dim, 1 << 32)
        if values is None or not count <= len(values) <= count + padding(self.elem_type, self.data):
            return None
        return values[:count]


@dataclass(slots=True, frozen=True)
class OnnxType:
    """A TypeProto; equal ones of a model may be one object.

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


@dataclass(slots=True, frozen=True)
class OnnxAttribute:
    """An AttributeProto, which equal nodes may share.

    `kind` is its AttributeType's name, UNDEFINED where neither a type nor a value is there.

    `value` by kind: int, float, bytes (STRING), OnnxTensor, OnnxGraph, OnnxType, or a list of these. It is None for a
    reference (`ref_attr_name`), for a message that is missing, and for strings of more than MAX_ATTRIBUTE_BYTES or
    lists of more than MAX_ATTRIBUTE_VALUES, which are skipped; `spans` is where such an attribute lies in the file.
    """

    name: str = ""
    kind: str = "UNDEFINED"
    value: Any = None
    ref_attr_name: str | None = None
    spans: tuple[tuple[int, int], ...] = field(default=(), compare=False, repr=False)

    @property
    def plain(self) -> bool:
        """Whether it holds numbers or texts: no message, no reference, and nothing that was skipped."""
        return self.kind in PLAIN_KINDS and self.value is not None

    @property
    def whole(self) -> bool:
        """Whether nothing of it was skipped, and no graph is in it: it is plain, or a tensor with its elements."""
        tensor = self.value
        return self.plain or (isinstance(tensor, OnnxTensor) and tensor.data is not None and not tensor.segment)


NO_ATTRIBUTES: Final[Mapping[str, OnnxAttribute]] = {}


@dataclass(slots=True)
class OnnxNode:
    """A NodeProto; of attributes of one name the first is kept, and each further one named in `duplicates`.

    A large model has a hundred thousand of these: what equal ones have in common, names and attributes, is one object.
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
        """Whether its attributes hold numbers or texts alone: no graph or other message, and nothing skipped."""
        return not self.attributes or all(attribute.plain for attribute in self.attributes.values())


@dataclass(slots=True)
class OnnxGraph:
    """A GraphProto; `quantization` has by tensor the names that quantization_annotation gives its parameters.

    `runs` has the nodes that hold no messages as the file has them, where several stand side by side: the first's
    index, that behind the last, and the bytes of their fields.
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
    """A FunctionProto: `attributes` names those without a default, `attribute_protos` has those with one.

    `repeated_imports` has the versions of a domain that a later import of it replaces; `stated_imports` all of them, as
    the file has them.
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
    """A ModelProto. The domain of ai.onnx is "" in opset_imports, nodes and functions; `file` is None for bytes.

    `repeated_imports` has the versions of a domain that a later import of it replaces, `stated_imports` all of them, as
    the file has them.
    `training` has the graphs (initialization, algorithm) of each TrainingInfoProto that it has. `oddities` are bytes
    that protobuf takes and no writer means, each with its place: names that are no UTF-8, fields of a wrong type.
    `negative_size` is the place of the first size below 0, which counts as unknown.
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
