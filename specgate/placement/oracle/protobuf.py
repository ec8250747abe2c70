"""As much of an ONNX file as the oracles read: the fields of a message, and the nodes of a model with their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.file.varints import I32, I64, LEN, VARINT, WireError, key_of, length_of, varint

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["nodes_of", "spans"]

_WIDTHS: Final = {I32: 4, I64: 8}
# Numbers of fields in onnx.proto.
_GRAPH: Final = 7
_NODE: Final = 1
_NAME, _TYPE, _ATTRIBUTE = 3, 4, 5
_BODIES: Final = (6, 11)  # of an attribute: a graph, several graphs


def spans(message: bytes, at: int = 0, end: int | None = None) -> Iterator[tuple[int, int, int]]:
    """Yield the number, begin and end of each field that has a length; raise WireError or IndexError."""
    last = len(message) if end is None else end
    while at < last:
        key, at = key_of(message, at, at)
        if key & 7 == LEN:
            length, at = length_of(message, at, at)
            if length > last - at:
                raise WireError("the message ends too soon", at)
            yield key >> 3, at, at + length
            at += length
        elif key & 7 == VARINT:
            _, at = varint(message, at, at)
        elif key & 7 in _WIDTHS:
            at += _WIDTHS[key & 7]
        else:
            raise WireError("a group", at)


def nodes_of(model: bytes) -> list[tuple[str, str]]:
    """Return the name and type of each node of a model's graphs, those of inner graphs behind the node they are of."""
    return [node for number, begin, end in spans(model) if number == _GRAPH for node in _of_graph(model, begin, end)]


def _of_graph(model: bytes, at: int, last: int) -> Iterator[tuple[str, str]]:
    for number, begin, end in spans(model, at, last):
        if number == _NODE:
            yield from _of_node(model, begin, end)


def _of_node(model: bytes, at: int, last: int) -> Iterator[tuple[str, str]]:
    parts = list(spans(model, at, last))
    texts = {
        number: model[begin:end].decode("utf-8", "replace") for number, begin, end in parts if number != _ATTRIBUTE
    }
    yield texts.get(_NAME, ""), texts.get(_TYPE, "")
    for number, begin, end in parts:
        if number == _ATTRIBUTE:
            for inner, inner_begin, inner_end in spans(model, begin, end):
                if inner in _BODIES:
                    yield from _of_graph(model, inner_begin, inner_end)
