"""Read an ONNX model's structure: nodes, names, types, small constants.

The layout follows onnx/onnx.proto in onnx 1.23.2; the onnx package is not needed. The reader seeks past weights, so
memory depends on the structure only, not on the file size.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from specgate.descriptors.read import source_code
from specgate.dialects.onnx.file.diagnosis import SNIFFED_BYTES, locate, recognised
from specgate.dialects.onnx.file.graph import domain_of, read_attribute, read_graph, read_node, read_value_info
from specgate.dialects.onnx.file.schema import PROTO
from specgate.dialects.onnx.file.source import Source
from specgate.dialects.onnx.file.structure import (
    OnnxFunction,
    OnnxGraph,
    OnnxModel,
)
from specgate.dialects.onnx.file.tensors import (
    MAX_CONSTANT_BYTES,
)
from specgate.dialects.onnx.file.varints import WireError
from specgate.dialects.onnx.file.wire import Reader, Span
from specgate.errors import InputError
from specgate.loading import gc_paused

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAX_CONSTANT_BYTES", "domain_of", "opened", "read_model", "read_model_bytes", "read_open"]


def read_model(path: str | os.PathLike[str]) -> OnnxModel:
    """Read a model's structure from a file; InputError if it is not usable."""
    name = os.fspath(path)
    with opened(name) as (file, size):
        return read_open(file, size, name)


@contextmanager
def opened(name: str) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file and yield it with its size.

    Raise InputError if it is not a regular file or cannot be read, also within the block.
    """
    try:
        # Check before opening, because opening may block (a FIFO) or act (a device), and again in case the file was
        # replaced.
        if not stat.S_ISREG(Path(name).stat().st_mode):
            raise InputError("expected a regular file", file=name)
        with open(name, "rb", buffering=0, opener=_open) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError("expected a regular file", file=name)
            yield file, status.st_size
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=name) from None
    except ValueError as error:  # raised by os.stat for an invalid path
        raise InputError(f"the path cannot be used: {error}", file=repr(name)) from None


def read_open(file: BinaryIO, size: int, name: str) -> OnnxModel:
    """Read a model's structure from an open file; `name` is for messages."""
    if not size:
        raise InputError("expected a binary ONNX model, found nothing", file=name)
    model = _read(file, size, name)
    model.file = name
    return model


def read_model_bytes(data: bytes, name: str = "<bytes>") -> OnnxModel:
    """Read a model's structure from a serialized ModelProto.

    Raises InputError, with `name` as the file, for other data.
    """
    return _read(BytesIO(data), len(data), name)


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read(file: BinaryIO, size: int, name: str) -> OnnxModel:
    reader = Source(file, size)
    try:
        with gc_paused():
            model = _model(reader, [(0, size)])
            reader.walk(PROTO)
    except WireError as error:
        file.seek(0)
        if other := source_code(name) or recognised(file.read(SNIFFED_BYTES)):
            raise InputError(f"expected a binary ONNX model, found {other}", file=name, place="byte 0") from None
        raise InputError(error.message, file=name, place=_place(file, size, error.offset)) from None
    model.negative_size = _place(file, size, reader.negative_sizes[0]) if reader.negative_sizes else None
    model.oddities = [f"{_place(file, size, at)}: {odd}" for at, odd in sorted(reader.oddities.items())]
    return model


def _place(file: BinaryIO, size: int, offset: int) -> str:
    within = locate(Reader(file, size), PROTO["ModelProto"], PROTO, offset)
    if len(within) > 200:
        within = f"{within[:150]} ... {within[-45:]}"
    return f"byte {offset}" + (f", {within}" if within else "")


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
