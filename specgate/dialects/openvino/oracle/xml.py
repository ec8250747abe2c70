"""The IR of one layer: its inputs as Parameters and Consts, a Result for each of its outputs.

A layer that names bytes of the file of weights finds zeros there, an Assign the ReadValue of its variable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import quoteattr

from specgate.descriptors.core import shown
from specgate.dialects.openvino.oracle.layer import NotExpressibleError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.dialects.openvino.oracle.layer import Layer, Port

__all__ = ["ir_of"]

_VERSION: Final = 11
_ALIGNMENT: Final = 64
_MAX_WEIGHTS: Final = 2**20
_OPEN: Final = '<port id="{}" precision="{}">{}</port>'
_EDGE: Final = '<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}"/>'


def ir_of(layer: Layer, blobs: Sequence[bytes | None]) -> tuple[bytes, bytes]:
    """Return an IR of version 11 and its weights; blobs: each input's bytes if it is a constant, else None.

    Ports state what the descriptor states; what it leaves open is UNSPECIFIED, without dimensions.
    Raises NotExpressibleError for an attribute that has no text.
    """
    weights = bytearray()
    count = len(layer.inputs)
    parts = [_source(at, port, blob, weights) for at, (port, blob) in enumerate(zip(layer.inputs, blobs, strict=True))]
    ends = range(count, count + layer.ports)
    stated = [*layer.outputs, *[None] * (layer.ports - len(layer.outputs))]
    takes = "".join(_port(at, port) for at, port in enumerate(layer.inputs))
    gives = "".join(_port(end, port) for end, port in zip(ends, stated, strict=True))
    body = f"<input>{takes}</input>" * (count > 0) + f"<output>{gives}</output>"
    parts.append(_layer(count, layer.kind, layer.version, _data(layer.data), body))
    edges = [_EDGE.format(at, 0, count, at) for at in range(count)]
    if layer.kind == "Assign" and layer.inputs:
        parts.append(_read(layer, count + layer.ports + 1))
        edges[0] = _EDGE.format(0, 0, count + layer.ports + 1, 0) + _EDGE.format(count + layer.ports + 1, 1, count, 0)
    for end, port in zip(ends, stated, strict=True):
        parts.append(_layer(end + 1, "Result", "opset1", "", f"<input>{_port(0, port)}</input>"))
        edges.append(_EDGE.format(count, end, end + 1, 0))
    weights += _zeros(layer, len(weights))
    net = f'<net name="one" version="{_VERSION}"><layers>{"".join(parts)}</layers><edges>{"".join(edges)}</edges></net>'
    return ('<?xml version="1.0"?>' + net).encode(), bytes(weights)


def _read(layer: Layer, number: int) -> str:
    """Return what reads the variable that a layer writes, so that there is one, and hands on the layer's input."""
    port, name = layer.inputs[0], layer.data.get("variable_id")
    data: dict[str, Any] = {"variable_type": port.type or "dynamic", "variable_shape": _shape(port)}
    body = f"<input>{_port(0, port)}</input><output>{_port(1, port)}</output>"
    return _layer(
        number, "ReadValue", layer.version, _data(data if name is None else {"variable_id": name, **data}), body
    )


def _zeros(layer: Layer, there: int) -> bytes:
    """Return what the weights lack so that they have the bytes that the layer names."""
    offset, size = layer.data.get("offset"), layer.data.get("size")
    if not isinstance(offset, int) or not isinstance(size, int):
        return b""
    if offset + size > _MAX_WEIGHTS:
        raise NotExpressibleError(f"its bytes would end at {offset + size}, and are written up to {_MAX_WEIGHTS} only")
    return bytes(max(0, offset + size - there))


def _source(at: int, port: Port, blob: bytes | None, weights: bytearray) -> str:
    gives = f"<output>{_port(0, port)}</output>"
    data = f"<data element_type={quoteattr(port.type or 'dynamic')} shape={quoteattr(_shape(port))}"
    if blob is None:
        return _layer(at, "Parameter", "opset1", data + "/>", gives)
    weights += bytes(-len(weights) % _ALIGNMENT)
    data += f' offset="{len(weights)}" size="{len(blob)}"/>'
    weights += blob
    return _layer(at, "Const", "opset1", data, gives)


def _layer(number: int, kind: str, version: str, data: str, body: str) -> str:
    head = f'<layer id="{number}" name="{number}" type={quoteattr(kind)} version={quoteattr(version)}>'
    return f"{head}{data}{body}</layer>"


def _shape(port: Port) -> str:
    return "..." if port.sizes is None else ",".join("?" if size is None else str(size) for size in port.sizes)


def _port(number: int, port: Port | None) -> str:
    if port is None:
        return _OPEN.format(number, "UNSPECIFIED", "")
    sizes = "".join(f"<dim>{-1 if size is None else size}</dim>" for size in port.sizes or ())
    return _OPEN.format(number, port.precision, sizes)


def _data(data: dict[str, Any]) -> str:
    for name in data:
        if not (name.isascii() and name.replace("-", "_").replace(".", "_").isidentifier()):
            raise NotExpressibleError(f"{shown(name)} is no name of an attribute in XML")
    said = "".join(f" {name}={quoteattr(_text(name, value))}" for name, value in data.items())
    return f"<data{said}/>" if said else ""


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple) and not any(isinstance(item, list | tuple) for item in value):
        return ",".join(_text(name, item) for item in value)
    if isinstance(value, str) and all(_allowed(letter) for letter in value):
        return value
    raise NotExpressibleError(f"an IR has no text for the attribute {shown(name)} of {shown(value)}")


def _allowed(letter: str) -> bool:
    """Return whether XML 1.0 may hold a character."""
    return letter in "\t\n\r" or " " <= letter <= "\ud7ff" or "\ue000" <= letter <= "\ufffd" or letter > "\uffff"
