"""Read an ONNX model's structure: nodes, names, types, small constants."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from specgate.caching import store_item
from specgate.descriptors.read import source_code
from specgate.dialects.onnx.file.graph import domain_of, read_attribute, read_graph, read_node, read_value_info
from specgate.dialects.onnx.file.schema import PROTO, WireError
from specgate.dialects.onnx.file.structure import OnnxFunction, OnnxGraph, OnnxModel
from specgate.dialects.onnx.file.tensors import MAX_CONSTANT_BYTES
from specgate.dialects.onnx.file.wire import MAX_ODDITIES, Reader, Span
from specgate.errors import InputError
from specgate.loading import gc_paused

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from specgate.dialects.onnx.file.schema import Message
    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxNode, OnnxType

__all__ = [
    "MAX_CONSTANT_BYTES",
    "SNIFFED_BYTES",
    "NodeEnd",
    "Source",
    "domain_of",
    "locate",
    "open_regular_file",
    "read_model",
    "read_model_bytes",
    "read_open_file",
    "recognize_file",
]  # fmt: skip

SNIFFED_BYTES = 512
_BINARY = {  # (offset, magic bytes) and a description
    (0, b"version https://git-lfs"): "a Git LFS pointer: the model itself was not fetched (git lfs pull)",
    (4, b"ORTM"): "ONNX Runtime's own format (.ort), which cannot be converted to ONNX: lint the original model",
    (0, b"PK\x03\x04"): "a ZIP archive: unpack it, or export a PyTorch checkpoint with torch.onnx.export",
    (0, b"\x1f\x8b"): "data compressed with gzip: unpack it",
    (0, b"\x89HDF\r\n"): "HDF5 (a Keras model?): convert it to ONNX",
    (0, b"\x80\x02"): "a Python pickle (a PyTorch checkpoint?): export it with torch.onnx.export",
    (4, b"TFL3"): "a TensorFlow Lite model: convert it to ONNX",
}
_CONVERT = "convert it with onnx.save(onnx.load(PATH), 'model.onnx') and lint the result"


def recognize_file(start: bytes) -> str | None:
    """Return a description of a file by its first bytes, with advice, or None."""
    for (mark_offset, mark), file_kind in _BINARY.items():
        if start.startswith(mark, mark_offset):
            return file_kind
    text = start.decode("ascii", "replace").lstrip("\ufffd \t\r\n")  # drop a byte order mark
    if not text or any(code < 32 and code not in {9, 10, 13} for code in start):
        return None
    if text.startswith("{"):
        return f"JSON text: if it is an ONNX model, {_CONVERT}" if '"graph"' in text or "pset" in text else "JSON text"
    if text.startswith("<") and ("ir_version" in text or "opset_import" in text):
        return f"ONNX's own text format (.onnxtxt): {_CONVERT}"
    if text.startswith(("ir_version", "graph {", "opset_import", "producer_name", "#")):
        return f"protobuf's text format (.textproto): {_CONVERT}"
    return "XML text (OpenVINO IR is read by its suffix, .xml)" if text.startswith("<") else "text"


def locate(reader: Reader, message: Message, messages: Mapping[str, Message], offset: int) -> str:
    """Return the path of the innermost message that contains a byte.

    For example `graph.node[3].attribute[0]`, or "" for the outermost message. The file is parsed again up to the byte,
    so that normal reading need not count elements.
    """
    path: list[str] = []
    span = (0, reader.size)
    inner: Message | None = message
    while inner:
        kinds = dict(inner.fields.values())
        counts = dict.fromkeys(kinds, 0)
        matching_message = inner
        inner = None
        try:
            for name, begin, end in reader.fields([span], matching_message):
                kind = kinds[name].removeprefix("repeated ")
                if end and begin <= offset < end and kind in messages:
                    path.append(name if kind == kinds[name] else f"{name}[{counts[name]}]")
                    span, inner = (begin, end), messages[kind]
                    break
                counts[name] += 1
        except WireError:
            break
    return ".".join(path)


MAX_SHARED = 4096  # types, attributes and node ends cached by their bytes
MAX_SHARED_BYTES = 127
MAX_END_BYTES = 512
_MAX_CACHED = 1 << 10


class NodeEnd(NamedTuple):
    """The end of a node's bytes, decoded: operator, domain and attributes.

    `bare` is True if the node has no other fields, so that its bytes can be copied.
    """

    op_type: str
    domain: str
    attributes: Mapping[str, OnnxAttribute]
    bare: bool


# Decoded bytes, shared across models. Only those without oddities are cached here.
_attributes: Final[dict[bytes, OnnxAttribute]] = {}
_types: Final[dict[bytes, OnnxType]] = {}
_ends: Final[dict[bytes, NodeEnd]] = {}


class Source(Reader):
    """A Reader with caches by bytes.

    `texts` caches names, `ends` the ends of nodes, and `types` types without oddities.
    """

    __slots__ = ("_attributes", "_types", "ends", "texts", "types")

    def __init__(self, file: BinaryIO, size: int) -> None:
        super().__init__(file, size)
        self.ends: Final = _ends
        self.types: Final = _types
        self.texts: dict[str, str] = {}
        # Parts with oddities, which are reported once per model.
        self._attributes: dict[bytes, OnnxAttribute] = {}
        self._types: dict[bytes, OnnxType] = {}

    def read_span(self, begin: int, end: int) -> bytes | None:
        """Return a span's bytes if they are in the current block or short."""
        data = self.span_in_block(begin, end)
        return self.read(begin, end) if data is None and end - begin <= _MAX_CACHED else data

    def text(self, data: bytes) -> str:
        """Decode bytes; equal texts are one object."""
        text = data.decode()
        return self.texts.setdefault(text, text)

    def attribute(self, data: bytes, read_attribute: Callable[[], OnnxAttribute]) -> OnnxAttribute:
        """Return the attribute in `data`, cached if it is small and complete."""
        attribute = _attributes.get(data) or self._attributes.get(data)
        if attribute is None:
            before = self._oddity_counts()
            attribute = read_attribute()
            if len(data) <= MAX_SHARED_BYTES and attribute.whole:
                store_item(_attributes if self._silent(before) else self._attributes, data, attribute, MAX_SHARED)
        return attribute

    def known_type(self, data: bytes) -> OnnxType | None:
        """Return the cached type in `data`."""
        return _types.get(data) or self._types.get(data)

    def type(self, data: bytes, read_type: Callable[[], OnnxType]) -> OnnxType:
        """Read the type in `data` and cache it."""
        before = self._oddity_counts()
        type_ = read_type()
        if not self._silent(before):
            store_item(self._types, data, type_, MAX_SHARED)
        elif len(data) <= MAX_SHARED_BYTES:
            store_item(_types, data, type_, MAX_SHARED)
        return type_

    def share_end(self, end: bytes, node: OnnxNode, attributes: Collection[bytes], *, is_bare: bool) -> None:
        """Cache the end of a node's bytes if all its attributes are cached."""
        if len(end) <= MAX_END_BYTES and not node.duplicates and all(data in _attributes for data in attributes):
            store_item(_ends, end, NodeEnd(node.op_type, node.domain, node.attributes, is_bare), MAX_SHARED)

    def _oddity_counts(self) -> tuple[int, int, int]:
        return len(self.oddities), len(self.pending), len(self.negative_sizes)

    def _silent(self, before: tuple[int, int, int]) -> bool:
        """Return True if nothing odd was found or queued since `before`.

        The number of oddities is capped, so at the cap the answer is False.
        """
        return self._oddity_counts() == before and len(self.oddities) < MAX_ODDITIES


def read_model(path: str | os.PathLike[str]) -> OnnxModel:
    """Read a model's structure from a file; InputError if it is not usable."""
    name = os.fspath(path)
    with open_regular_file(name) as (file, size):
        return read_open_file(file, size, name)


@contextmanager
def open_regular_file(name: str) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file and yield it with its size.

    Raise InputError if it is not a regular file or cannot be read, also within the block.
    """
    try:
        # Check before opening, because opening may block (a FIFO) or act (a device), and again in case the file was
        # replaced.
        if not stat.S_ISREG(Path(name).stat().st_mode):
            raise InputError("expected a regular file", file=name)
        with open(name, "rb", buffering=0, opener=_open_nonblocking) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError("expected a regular file", file=name)
            yield file, status.st_size
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=name) from None
    except ValueError as error:  # raised by os.stat for an invalid path
        raise InputError(f"the path cannot be used: {error}", file=repr(name)) from None


def read_open_file(file: BinaryIO, size: int, name: str) -> OnnxModel:
    """Read a model's structure from an open file; `name` is for messages."""
    if not size:
        raise InputError("expected a binary ONNX model, found nothing", file=name)
    model = _read_model(file, size, name)
    model.file = name
    return model


def read_model_bytes(data: bytes, name: str = "<bytes>") -> OnnxModel:
    """Read a model's structure from a serialized ModelProto.

    Raises InputError, with `name` as the file, for other data.
    """
    return _read_model(BytesIO(data), len(data), name)


def _open_nonblocking(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read_model(file: BinaryIO, size: int, name: str) -> OnnxModel:
    reader = Source(file, size)
    try:
        with gc_paused():
            model = _model(reader, [(0, size)])
            reader.walk(PROTO)
    except WireError as error:
        file.seek(0)
        if other := source_code(name) or recognize_file(file.read(SNIFFED_BYTES)):
            raise InputError(f"expected a binary ONNX model, found {other}", file=name, place="byte 0") from None
        raise InputError(error.message, file=name, place=_place(file, size, error.offset)) from None
    model.negative_size = _place(file, size, reader.negative_sizes[0]) if reader.negative_sizes else None
    model.oddities = [f"{_place(file, size, offset)}: {oddity}" for offset, oddity in sorted(reader.oddities.items())]
    return model


def _place(file: BinaryIO, size: int, offset: int) -> str:
    field_place = locate(Reader(file, size), PROTO["ModelProto"], PROTO, offset)
    if len(field_place) > 200:
        field_place = f"{field_place[:150]} ... {field_place[-45:]}"
    return f"byte {offset}" + (f", {field_place}" if field_place else "")


def _model(reader: Source, spans: list[Span]) -> OnnxModel:
    model = OnnxModel()
    graph: list[Span] = []
    for name, value, end in reader.fields(spans, PROTO["ModelProto"]):
        if name == "graph":
            graph.append((value, end))
        elif name == "opset_import":
            _opset(reader, [(value, end)], model)
        elif name == "functions":
            model.functions.append(_function(reader, [(value, end)]))
        elif name == "training_info":
            model.training.append(_training(reader, [(value, end)]))
        else:
            setattr(model, name, value)
    if not graph:
        raise WireError("expected a model with a graph, found no graph", reader.size)
    model.graph = read_graph(reader, graph, 1)
    return model


def _training(reader: Source, spans: list[Span]) -> tuple[OnnxGraph, OnnxGraph]:
    graphs: dict[str, list[Span]] = {"initialization": [], "algorithm": []}
    for name, value, end in reader.fields(spans, PROTO["TrainingInfoProto"]):
        graphs[name].append((value, end))
    return read_graph(reader, graphs["initialization"], 2), read_graph(reader, graphs["algorithm"], 2)


def _opset(reader: Reader, spans: list[Span], importer: OnnxModel | OnnxFunction) -> None:
    entry = {name: value for name, value, _ in reader.fields(spans, PROTO["OperatorSetIdProto"])}
    domain = domain_of(entry.get("domain", ""))
    if domain in importer.opset_imports:
        importer.repeated_imports.setdefault(domain, []).append(importer.opset_imports[domain])
    importer.opset_imports[domain] = entry.get("version", 0)
    importer.stated_imports.append((entry.get("domain", ""), entry.get("version", 0)))


def _function(reader: Source, spans: list[Span]) -> OnnxFunction:
    function = OnnxFunction()
    for name, value, end in reader.fields(spans, PROTO["FunctionProto"]):
        if name == "node":
            function.nodes.append(read_node(reader, value, end, 1)[0])
        elif name == "attribute_proto":
            function.attribute_protos.append(read_attribute(reader, [(value, end)], 0))
        elif name == "value_info":
            function.value_infos.append(read_value_info(reader, value, end, 1))
        elif name == "opset_import":
            _opset(reader, [(value, end)], function)
        elif name == "domain":
            function.domain = domain_of(value)
        elif name in {"name", "overload"}:
            setattr(function, name, value)
        else:
            getattr(function, f"{name}s").append(value)
    return function
