"""Read the structure of an ONNX model file without the onnx package: nodes, names, types and small constants.

The layout is that of onnx/onnx.proto in onnx 1.23.2. Weights are seeked over, so a model takes the memory of its
structure whatever its size on disk.
"""

from __future__ import annotations

import os
import stat
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from specgate.collecting import gc_paused
from specgate.dialects.onnx.file.formats import SNIFFED_BYTES, recognised
from specgate.dialects.onnx.file.plain import Runs, Source, plain_info, plain_node
from specgate.dialects.onnx.file.schema import ATTRIBUTE_FIELDS, ATTRIBUTE_TYPES, KINDS, PROTO
from specgate.dialects.onnx.file.structure import (
    OnnxAttribute,
    OnnxFunction,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxType,
    OnnxValueInfo,
)
from specgate.dialects.onnx.file.tensors import (
    MAX_CONSTANT_BYTES,
    elem_type,
    numbers,
    read_sparse_tensor,
    read_tensor,
    skip,
)
from specgate.dialects.onnx.file.wire import MAX_NESTING, Reader, Span, WireError, locate
from specgate.errors import InputError

__all__ = ["MAX_CONSTANT_BYTES", "read_model", "read_model_bytes"]

MAX_ATTRIBUTE_BYTES = 1 << 20  # of the strings of one attribute; larger ones are skipped
MAX_ATTRIBUTE_VALUES = 1 << 16  # of an attribute that is a list of numbers or strings; longer ones are skipped
_NEARLY = MAX_NESTING - 10  # from this level on every message is counted; none but graphs and types go deeper than 10


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
    reader = Source(file, size)
    try:
        with gc_paused():
            model = _model(reader, [(0, size)])
            reader.walk(PROTO)
    except WireError as error:
        file.seek(0)
        if other := recognised(file.read(SNIFFED_BYTES)):
            raise InputError(f"expected a binary ONNX model, found {other}", file=name, place="byte 0") from None
        raise InputError(error.message, file=name, place=_place(file, size, error.offset)) from None
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
    model.graph = _graph(reader, graph, 1)
    return model


def _training(reader: Source, spans: list[Span]) -> tuple[OnnxGraph, OnnxGraph]:
    graphs: dict[str, list[Span]] = {"initialization": [], "algorithm": []}
    for name, value, end in reader.fields(spans, PROTO["TrainingInfoProto"]):
        graphs[name].append((value, end))
    return _graph(reader, graphs["initialization"], 2), _graph(reader, graphs["algorithm"], 2)


def _opset(reader: Reader, spans: list[Span], importer: OnnxModel | OnnxFunction) -> None:
    entry = {name: value for name, value, _ in reader.fields(spans, PROTO["OperatorSetIdProto"])}
    domain = _domain(entry.get("domain", ""))
    if domain in importer.opset_imports:
        importer.repeated_imports.setdefault(domain, []).append(importer.opset_imports[domain])
    importer.opset_imports[domain] = entry.get("version", 0)


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _function(reader: Source, spans: list[Span]) -> OnnxFunction:
    function = OnnxFunction()
    for name, value, end in reader.fields(spans, PROTO["FunctionProto"]):
        if name == "node":
            function.nodes.append(_node(reader, value, end, 1)[0])
        elif name == "attribute_proto":
            function.attribute_protos.append(_attribute(reader, [(value, end)], 0))
        elif name == "value_info":
            function.value_infos.append(_value_info(reader, value, end, 1))
        elif name == "opset_import":
            _opset(reader, [(value, end)], function)
        elif name == "domain":
            function.domain = _domain(value)
        elif name in {"name", "overload"}:
            setattr(function, name, value)
        else:  # input, output, attribute
            getattr(function, f"{name}s").append(value)
    return function


def _graph(reader: Source, spans: list[Span], depth: int) -> OnnxGraph:
    _enter(reader, spans, "GraphProto", depth)
    graph = OnnxGraph()
    runs = Runs()
    for name, value, end in reader.fields(spans, PROTO["GraphProto"]):
        if name == "node":
            node, bare = _node(reader, value, end, depth)
            if bare:
                runs.add(len(graph.nodes), value, end)
            graph.nodes.append(node)
        elif name == "value_info":
            graph.value_infos.append(_value_info(reader, value, end, depth))
        elif name == "initializer":
            graph.initializers.append(read_tensor(reader, [(value, end)]))
        elif name == "input":
            graph.inputs.append(_value_info(reader, value, end, depth))
        elif name == "output":
            graph.outputs.append(_value_info(reader, value, end, depth))
        elif name == "sparse_initializer":
            graph.sparse_initializers.append(read_sparse_tensor(reader, [(value, end)]))
        elif name == "quantization_annotation":
            _quantization(reader, [(value, end)], graph.quantization)
        else:
            graph.name = value
    if len(spans) == 1:  # else something stands between nodes that is none of theirs
        runs.close()
        graph.runs = [(first, past, reader.keep(begin, end)) for first, past, begin, end in runs.found]
    return graph


def _enter(reader: Reader, spans: list[Span], kind: str, level: int) -> None:
    """Refuse what protobuf finds too deep: exactly near that depth, where the message is walked through."""
    if level > MAX_NESTING:
        raise WireError(f"messages are nested more than {MAX_NESTING} deep", spans[0][0])
    if level > _NEARLY:
        reader.pending.extend((begin, end, kind, level) for begin, end in spans)


def _quantization(reader: Reader, spans: list[Span], known: dict[str, dict[str, str]]) -> None:
    tensor = ""
    names: dict[str, str] = {}
    for name, value, end in reader.fields(spans, PROTO["TensorAnnotation"]):
        if name == "tensor_name":
            tensor = value
        else:
            pair = {key: text for key, text, _ in reader.fields([(value, end)], PROTO["StringStringEntryProto"])}
            names[pair.get("key", "")] = pair.get("value", "")
    known.setdefault(tensor, {}).update(names)


def _node(reader: Source, begin: int, end: int, depth: int) -> tuple[OnnxNode, bool]:
    """Read a node; return also whether it is self-contained, so that it may be copied as it is."""
    plain = plain_node(reader, begin, end)
    if plain is None:
        return _any_node(reader, begin, end, depth), False
    node, held, bare = plain
    known = node.attributes
    for data, at in held:
        attribute = reader.attributes.get(data)
        if attribute is None:
            attribute = _attribute(reader, [(at, at + len(data))], depth)
            reader.share(data, attribute)
        if attribute.name in known:
            node.duplicates.append(attribute.name)
            bare = False
        else:
            known[attribute.name] = attribute
            bare = bare and attribute.plain
    return node, bare


def _any_node(reader: Source, begin: int, end: int, depth: int) -> OnnxNode:
    node = OnnxNode()
    for name, value, stop in reader.fields([(begin, end)], PROTO["NodeProto"]):
        if name == "input":
            node.inputs.append(value)
        elif name == "output":
            node.outputs.append(value)
        elif name == "attribute":
            attribute = _attribute(reader, [(value, stop)], depth)
            if node.attributes.setdefault(attribute.name, attribute) is not attribute:
                node.duplicates.append(attribute.name)
        elif name == "domain":
            node.domain = _domain(value)
        else:  # name, op_type, overload
            setattr(node, name, value)
    return node


def _attribute(reader: Source, spans: list[Span], depth: int) -> OnnxAttribute:
    named, kind, reference = "", "UNDEFINED", ""
    found: dict[str, list[Any]] = {}  # numbers and spans by field; which of them is the value is known at the end
    for name, value, end in reader.fields(spans, PROTO["AttributeProto"]):
        if name == "name":
            named = value
        elif name == "ref_attr_name":
            reference = value
        elif name == "type":
            if 0 <= value < len(ATTRIBUTE_TYPES):  # a closed enum: other numbers count as unknown fields
                kind = ATTRIBUTE_TYPES[value]
        elif name not in found or name in {"f", "i", "s"}:
            if not end or end > value or name not in {"floats", "ints"}:  # packed, but none: as if it were not there
                found[name] = [(value, end) if end else value]
        elif len(found[name]) <= MAX_ATTRIBUTE_VALUES:
            found[name].append((value, end) if end else value)
        elif end:
            skip(reader, "AttributeProto", name, [(value, end)], depth + 3)
    if kind == "UNDEFINED":
        kind = next((kind for kind, name in ATTRIBUTE_FIELDS.items() if name in found), "UNDEFINED")
    content = None
    if kind != "UNDEFINED" and not reference:
        items = found.pop(ATTRIBUTE_FIELDS[kind], [])
        content = _value(reader, kind, items, depth)
        if content is None:
            skip(reader, "AttributeProto", ATTRIBUTE_FIELDS[kind], items, depth + 3)
    for name, items in found.items():
        skip(reader, "AttributeProto", name, items, depth + 3)
    return OnnxAttribute(named, kind, content, reference or None)


def _value(reader: Source, kind: str, items: list[Any], depth: int) -> Any:
    if len(items) > MAX_ATTRIBUTE_VALUES:
        return None
    if kind in {"FLOAT", "INT"}:
        return items[-1] if items else 0.0 if kind == "FLOAT" else 0
    if kind in {"FLOATS", "INTS"}:
        if sum(item[1] - item[0] for item in items if isinstance(item, tuple)) > MAX_ATTRIBUTE_BYTES:
            return None
        found = numbers(reader, items, "float" if kind == "FLOATS" else "int64")
        return found if len(found) <= MAX_ATTRIBUTE_VALUES else None
    if kind in {"STRING", "STRINGS"}:
        if sum(end - begin for begin, end in items) > MAX_ATTRIBUTE_BYTES:
            return None
        strings = [reader.keep(begin, end) for begin, end in items]
        return strings if kind == "STRINGS" else strings[-1] if strings else b""
    if kind in {"TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO"}:
        return _element(reader, kind, items, depth) if items else None
    return [_element(reader, kind.removesuffix("S"), [span], depth) for span in items]


def _element(reader: Source, kind: str, spans: list[Span], depth: int) -> Any:
    if kind == "TENSOR":
        return read_tensor(reader, spans)
    if kind == "GRAPH":
        return _graph(reader, spans, depth + 3)  # node, attribute, graph
    if kind == "SPARSE_TENSOR":
        return read_sparse_tensor(reader, spans)
    return _type(reader, spans, depth + 3)


def _value_info(reader: Source, begin: int, end: int, depth: int) -> OnnxValueInfo:
    plain = plain_info(reader, begin, end)
    if plain is not None:
        named, data, at = plain
        kind = reader.types.get(data) if depth < _NEARLY // 2 else None  # at 127 bytes it goes no deeper than that
        if kind is None:
            kind = _type(reader, [(at, at + len(data))], depth + 2)
            reader.share_type(data, kind)
        return OnnxValueInfo(named, kind)
    info = OnnxValueInfo()
    types: list[Span] = []
    for name, value, stop in reader.fields([(begin, end)], PROTO["ValueInfoProto"]):
        if name == "name":
            info.name = value
        else:
            types.append((value, stop))
    info.type = _type(reader, types, depth + 2) if types else None
    return info


def _type(reader: Reader, spans: list[Span], depth: int) -> OnnxType:
    _enter(reader, spans, "TypeProto", depth)
    case = ""
    content: list[Span] = []
    for name, value, end in reader.fields(spans, PROTO["TypeProto"]):
        if name != case:  # a oneof: the last one stands
            skip(reader, "TypeProto", case, content, depth + 1)
            case = name
            content = []
        content.append((value, end))
    if not case:
        return OnnxType()
    kind = case.removesuffix("_type")
    element: str | None = None
    inner: list[Span] = []
    for _, value, end in reader.fields(content, PROTO[KINDS["TypeProto"][case]]):
        if end:
            inner.append((value, end))
        else:
            element = elem_type(value)
    if inner and kind in {"tensor", "sparse_tensor"}:
        return OnnxType(kind, element, _shape(reader, inner))
    return OnnxType(kind, element, None, _type(reader, inner, depth + 2) if inner else None)


def _shape(reader: Reader, spans: list[Span]) -> tuple[int | str | None, ...]:
    dimension = PROTO["TensorShapeProto.Dimension"]
    shape: list[int | str | None] = []
    for _, begin, end in reader.fields(spans, PROTO["TensorShapeProto"]):
        size = None
        for _, value, _ in reader.fields([(begin, end)], dimension):  # a oneof: the last one stands
            size = None if value == "" else value
        shape.append(size)
    return tuple(shape)
