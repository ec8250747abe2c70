"""Minimal reader of ONNX files, and marker nodes for the oracles.

It reads the fields of a message, and the nodes of a model with their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.file.schema import I32, I64, LEN, VARINT, WireError, key_of, length_of, varint

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTHS: Final = {I32: 4, I64: 8}
# Field numbers of onnx.proto.
_GRAPH: Final = 7
_NODE: Final = 1
_NAME, _TYPE, _ATTRIBUTE = 3, 4, 5
_BODIES: Final = (6, 11)  # of an attribute: a graph, several graphs


def spans(message: bytes, offset: int = 0, end: int | None = None) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of each length-delimited field.

    Raises WireError or IndexError.
    """
    last = len(message) if end is None else end
    while offset < last:
        key, offset = key_of(message, offset, offset)
        if key & 7 == LEN:
            length, offset = length_of(message, offset, offset)
            if length > last - offset:
                raise WireError("the message is truncated", offset)
            yield key >> 3, offset, offset + length
            offset += length
        elif key & 7 == VARINT:
            _, offset = varint(message, offset, offset)
        elif key & 7 in _WIDTHS:
            offset += _WIDTHS[key & 7]
        else:
            raise WireError("a group", offset)


def nodes_of(model: bytes) -> list[tuple[str, str]]:
    """Return the name and type of each node of a model's graphs.

    Nodes of a nested graph follow the node that contains it.
    """
    return [node for number, begin, end in spans(model) if number == _GRAPH for node in _graph_marks(model, begin, end)]


def _graph_marks(model: bytes, offset: int, last: int) -> Iterator[tuple[str, str]]:
    for number, begin, end in spans(model, offset, last):
        if number == _NODE:
            yield from _node_marks(model, begin, end)


def _node_marks(model: bytes, offset: int, last: int) -> Iterator[tuple[str, str]]:
    parts = list(spans(model, offset, last))
    texts = {
        number: model[begin:end].decode("utf-8", "replace") for number, begin, end in parts if number != _ATTRIBUTE
    }
    yield texts.get(_NAME, ""), texts.get(_TYPE, "")
    for number, begin, end in parts:
        if number == _ATTRIBUTE:
            for inner, inner_begin, inner_end in spans(model, begin, end):
                if inner in _BODIES:
                    yield from _graph_marks(model, inner_begin, inner_end)


#: Prefix of the names of added nodes and values.
MARKER: Final = "specgate-marker-"
#: Their number of elements, which identifies an operator of a marker node.
MARKER_SIZE: Final = 7919
# Field numbers of onnx.proto.
_MODEL_GRAPH, _IMPORT, _DOMAIN, _VERSION = 7, 8, 1, 2
_GRAPH_NODE, _INPUT, _OUTPUT = 1, 11, 12
_NODE_INPUT, _NODE_OUTPUT, _NODE_NAME, _NODE_TYPE = 1, 2, 3, 4
_VALUE_NAME, _VALUE_TYPE, _TENSOR_TYPE, _ELEMENT, _SHAPE, _DIMENSION, _SIZE = 1, 2, 1, 1, 2, 1, 1
_STRING, _BOOL = 8, 9


def _field(number: int, *parts: bytes) -> bytes:
    data = b"".join(parts)
    if len(data) > 16383:  # cannot happen: all fields written here are short
        raise ValueError(len(data))
    length = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 127 | 128, len(data) >> 7])
    return bytes([number << 3 | LEN]) + length + data


def _number(number: int, value: int) -> bytes:
    low = bytes([value]) if value < 128 else bytes([value & 127 | 128, value >> 7])
    return bytes([number << 3 | VARINT]) + low


def _marker_graph(operator: str, kind: int) -> bytes:
    """Return the graph of one node with an input and output of a type."""
    name, source, result = (f"{MARKER}{operator}{end}".encode() for end in ("", "-in", "-out"))
    shape = _field(_SHAPE, _field(_DIMENSION, _number(_SIZE, MARKER_SIZE)))
    tensor = _field(_VALUE_TYPE, _field(_TENSOR_TYPE, _number(_ELEMENT, kind), shape))
    node = (
        _field(_NODE_INPUT, source),
        _field(_NODE_OUTPUT, result),
        _field(_NODE_NAME, name),
        _field(_NODE_TYPE, operator.encode()),
    )
    return (
        _field(_GRAPH_NODE, *node)
        + _field(_INPUT, _field(_VALUE_NAME, source), tensor)
        + _field(_OUTPUT, _field(_VALUE_NAME, result), tensor)
    )


#: DirectML does not support strings; it supports Not, which is the same at all opsets, on every device.
_MARKERS: Final = _field(_MODEL_GRAPH, _marker_graph("Not", _BOOL), _marker_graph("Identity", _STRING))
_DEFAULT_IMPORT: Final = _field(_IMPORT, _field(_DOMAIN), _number(_VERSION, 1))


def add_markers(model: bytes) -> bytes:
    """Return a serialized model with both marker nodes.

    Bytes that are not a model are returned unchanged. Protobuf merges a message that occurs twice, so that the nodes of
    a second graph are added to those of the first.
    """
    try:
        imports_default = _imports_default(model)
    except (WireError, IndexError):
        return model
    return model + _MARKERS + (b"" if imports_default else _DEFAULT_IMPORT)


def _imports_default(model: bytes) -> bool:
    """Return whether a model imports ai.onnx or does not import any domain.

    In the latter case a version of ai.onnx is assumed.
    """
    imports = [model[begin:end] for number, begin, end in spans(model) if number == _IMPORT]
    domains = [next((data[begin:end] for n, begin, end in spans(data) if n == _DOMAIN), b"") for data in imports]
    return not domains or b"" in domains or b"ai.onnx" in domains
