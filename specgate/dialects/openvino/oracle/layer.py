"""OpenVINO layers as plain data, and as IRs of one layer."""

from __future__ import annotations

from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from xml.sax.saxutils import quoteattr

from specgate.descriptors.core import GraphDesc, Symbol, TensorDesc, format_value, integer_limits
from specgate.descriptors.positional import positional, read_by_page_names, reordered_for
from specgate.dialects.openvino.ir import MAPS
from specgate.errors import Error
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import Descriptor, Malformed
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.operator_spec import OperatorSpec

_VERSION: Final = 11
_ALIGNMENT: Final = 64
_MAX_WEIGHTS: Final = 2**20
#: Readers up to 2024.5 reject a shorter document; padding after the root counts.
_SHORTEST: Final = 512
_PORT_TEMPLATE: Final = '<port id="{}" precision="{}">{}</port>'
_ENTRY: Final = '<{} external_port_id="{}" internal_layer_id="{}"{}/>'
#: Number of leading inputs that are not passed to a body.
_LEADING_INPUTS: Final = {"If": 1, "Loop": 2}
_EDGE: Final = '<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}"/>'


def ir_of(layer: Layer, blobs: Sequence[bytes | None]) -> tuple[bytes, bytes]:
    """Return an IR of version 11 and its weights.

    blobs: the bytes of each constant input, None for others. Ports state what the descriptor states; anything else is
    UNSPECIFIED, without dimensions. Raises NotExpressibleError for an attribute without a text form.
    """
    if not layer.ports:
        raise NotExpressibleError("the reader drops layers without outputs unchecked")
    weights = bytearray()
    count = len(layer.inputs)
    parts = [_source(i, port, blob, weights) for i, (port, blob) in enumerate(zip(layer.inputs, blobs, strict=True))]
    ends = range(count, count + layer.ports)
    stated_ports = [*layer.outputs, *[None] * (layer.ports - len(layer.outputs))]
    input_text = "".join(_port(index, port) for index, port in enumerate(layer.inputs))
    output_text = "".join(_port(end, port) for end, port in zip(ends, stated_ports, strict=True))
    body = f"<input>{input_text}</input>" * (count > 0) + f"<output>{output_text}</output>"
    body += "".join(_body(layer, name) for name in layer.bodies)
    parts.append(_layer(count, layer.kind, layer.version, _data(layer.data), body))
    edges = [_EDGE.format(index, 0, count, index) for index in range(count)]
    if layer.kind == "Assign" and layer.inputs:
        parts.append(_write_read_value(layer, count + layer.ports + 1))
        edges[0] = _EDGE.format(0, 0, count + layer.ports + 1, 0) + _EDGE.format(count + layer.ports + 1, 1, count, 0)
    for end, port in zip(ends, stated_ports, strict=True):
        parts.append(_layer(end + 1, "Result", "opset1", "", f"<input>{_port(0, port)}</input>"))
        edges.append(_EDGE.format(count, end, end + 1, 0))
    weights += _zeros(layer, len(weights))
    net = f'<net name="one" version="{_VERSION}"><layers>{"".join(parts)}</layers><edges>{"".join(edges)}</edges>'
    return ('<?xml version="1.0"?>' + net.ljust(_SHORTEST) + "</net>").encode(), bytes(weights)


def _body(layer: Layer, name: str) -> str:
    """Return a body and its port map.

    It has a Parameter for each input and output, and a Result for each output.
    """
    input_ports, output_ports = layer.bodies[name]
    ends = range(len(input_ports) + len(output_ports), len(input_ports) + 2 * len(output_ports))
    layers = [_source(index, port, None, bytearray()) for index, port in enumerate((*input_ports, *output_ports))]
    layers += [
        _layer(index, "Result", "opset1", "", f"<input>{_port(0, port)}</input>")
        for index, port in zip(ends, output_ports, strict=True)
    ]
    edges = "".join(_EDGE.format(index - len(output_ports), 0, index, 0) for index in ends)
    fed_indices = range(_LEADING_INPUTS.get(layer.kind, 0), len(layer.inputs))
    entries = [
        _ENTRY.format("input", outer, i, "") for i, outer in zip(range(len(input_ports)), fed_indices, strict=False)
    ]
    if name == "body" and len(fed_indices) > len(input_ports):
        raise NotExpressibleError("the body has fewer inputs than the layer passes")
    left = list(ends)
    if layer.kind == "Loop":  # the last boolean, else the last output
        of_type = [index for index, port in zip(ends, output_ports, strict=True) if port.type == "boolean"]
        for condition in (of_type or left)[-1:]:
            entries.append(_ENTRY.format("output", -1, condition, ' purpose="execution_condition"'))
            left = [index for index in left if index != condition] or left
    outer_ends = range(len(layer.inputs), len(layer.inputs) + layer.ports)
    if name == "body":  # an output of a body may be mapped twice: last value and concatenation
        left = [left[index % len(left)] for index in range(layer.ports)] if left else []
    entries += [_ENTRY.format("output", outer, index, "") for outer, index in zip(outer_ends, left, strict=False)]
    port_map = f"<{MAPS[name]}>{''.join(entries)}</{MAPS[name]}>"
    return f"{port_map}<{name}><layers>{''.join(layers)}</layers><edges>{edges}</edges></{name}>"


def _write_read_value(layer: Layer, number: int) -> str:
    """Return a ReadValue for the variable of an Assign, fed with its input."""
    port, name = layer.inputs[0], layer.data.get("variable_id")
    data: dict[str, Any] = {"variable_type": port.type or "dynamic", "variable_shape": _shape(port)}
    body = f"<input>{_port(0, port)}</input><output>{_port(1, port)}</output>"
    return _layer(
        number, "ReadValue", layer.version, _data(data if name is None else {"variable_id": name, **data}), body
    )


def _zeros(layer: Layer, available_bytes: int) -> bytes:
    """Return the zeros to append so that the layer's bytes exist."""
    offset, size = layer.data.get("offset"), layer.data.get("size")
    if not isinstance(offset, int) or not isinstance(size, int):
        return b""
    if offset + size > _MAX_WEIGHTS:
        raise NotExpressibleError(f"its bytes would end at {offset + size}, beyond the limit of {_MAX_WEIGHTS}")
    return bytes(max(0, offset + size - available_bytes))


def _source(index: int, port: Port, blob: bytes | None, weights: bytearray) -> str:
    output_text = f"<output>{_port(0, port)}</output>"
    data = f"<data element_type={quoteattr(port.type or 'dynamic')} shape={quoteattr(_shape(port))}"
    if blob is None:
        return _layer(index, "Parameter", "opset1", data + "/>", output_text)
    weights += bytes(-len(weights) % _ALIGNMENT)
    data += f' offset="{len(weights)}" size="{len(blob)}"/>'
    weights += blob
    return _layer(index, "Const", "opset1", data, output_text)


def _layer(number: int, kind: str, version: str, data: str, body: str) -> str:
    head = f'<layer id="{number}" name="{number}" type={quoteattr(kind)} version={quoteattr(version)}>'
    return f"{head}{data}{body}</layer>"


def _shape(port: Port) -> str:
    return "..." if port.sizes is None else ",".join("?" if size is None else str(size) for size in port.sizes)


def _port(number: int, port: Port | None) -> str:
    if port is None:
        return _PORT_TEMPLATE.format(number, "UNSPECIFIED", "")
    sizes = "".join(f"<dim>{-1 if size is None else size}</dim>" for size in port.sizes or ())
    return _PORT_TEMPLATE.format(number, port.precision, sizes)


def _data(data: dict[str, Any]) -> str:
    for name in data:
        if not (name.isascii() and name.replace("-", "_").replace(".", "_").isidentifier()):
            raise NotExpressibleError(f"{format_value(name)} is not a valid XML attribute name")
    text = "".join(f" {name}={quoteattr(_text(name, value))}" for name, value in data.items())
    return f"<data{text}/>" if text else ""


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple) and not any(isinstance(item, list | tuple) for item in value):
        return ",".join(_text(name, item) for item in value)
    if isinstance(value, str) and all(_is_allowed_character(letter) for letter in value):
        return value
    raise NotExpressibleError(f"an IR cannot express the attribute {format_value(name)} of {format_value(value)}")


def _is_allowed_character(letter: str) -> bool:
    """Return True if XML 1.0 allows a character."""
    return letter in "\t\n\r" or " " <= letter <= "\ud7ff" or "\ue000" <= letter <= "\ufffd" or letter > "\uffff"


#: OpenVINO writes a dimension without an upper bound as 2**63 - 1.
_MAX_SIZE: Final = 2**63 - 2
_MAX_ITEMS: Final = 1_000_000


class NotExpressibleError(Exception):
    """A descriptor cannot be expressed for an implementation; see the message."""


class Port(NamedTuple):
    """One tensor.

    type: as in the tables, None if unknown. precision: the type as an IR's port spells it. sizes: None for an unknown
    rank, with None for an unknown size. value: the flat elements of a constant.
    """

    type: str | None
    precision: str
    sizes: tuple[int | None, ...] | None
    value: tuple[Any, ...] | None = None


class Body(NamedTuple):
    """Inputs and outputs of a layer's body."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


class Layer(NamedTuple):
    """One operation; version: its opset.

    outputs: as stated, None where not stated. ports: the number of outputs in an IR. data: attributes by name, except
    bodies.
    """

    kind: str
    version: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port | None, ...]
    ports: int
    data: dict[str, Any]
    bodies: Mapping[str, Body] = MappingProxyType({})


def layer_of(descriptor: Descriptor, level: str) -> Layer:
    """Return a descriptor's layer for `level`, or raise NotExpressibleError."""
    if descriptor.dialect != "openvino":
        raise NotExpressibleError(f"it is a descriptor of {descriptor.dialect}")
    tables = dialect("openvino")
    try:
        spec = tables.operator(descriptor.operator)
    except Error as error:
        raise NotExpressibleError(str(error)) from None
    version = descriptor.version or level
    if tables.position.get(version, -1) > tables.position[level]:
        raise NotExpressibleError(f"the layer is of {version}, and builds cannot be limited to {level}")
    if descriptor.layout not in {None, version}:
        descriptor = reordered_for(descriptor, spec, version)
    layout = spec.layout(version)
    inputs = []
    for tensor in positional(descriptor.fields, layout.inputs):
        if tensor is None:
            raise NotExpressibleError("OpenVINO cannot omit an input before another one")
        inputs.append(_port_of(tensor, tables))
    stated_ports = positional(descriptor.fields, layout.outputs)
    outputs = tuple(None if tensor is None else _port_of(tensor, tables) for tensor in stated_ports)
    required_count = sum(not info.optional for info in layout.outputs)
    bodies = {
        name: Body(*(tuple(_port_of(end, tables) for end in part) for part in (value.inputs, value.outputs)))
        for name, value in descriptor.fields.items()
        if isinstance(value, GraphDesc)
    }
    ports = max(0 if bodies else 1, required_count, len(outputs))
    return Layer(spec.name, version, tuple(inputs), outputs, ports, _attributes(descriptor, spec), bodies)


def _attributes(descriptor: Descriptor, spec: OperatorSpec) -> dict[str, Any]:
    """Return all attributes, including malformed ones."""
    values = {info.vendor_name: descriptor.fields.get(info.name) for info in spec.attributes}
    for name in read_by_page_names(descriptor, spec):
        values[name] = None
    entries = {name: value for name, value in values.items() if value is not None and not isinstance(value, GraphDesc)}
    entries.update(_oddity_pair(oddity) for oddity in descriptor.oddities)
    for name, value in entries.items():
        if not _is_simple(value, 2):
            raise NotExpressibleError(f"the attribute {format_value(name)} is {format_value(value)}")
    return entries


def _oddity_pair(oddity: Malformed) -> tuple[str, Any]:
    if oddity.code not in {"unknown-attribute", "wrong-kind"}:
        raise NotExpressibleError(f"{oddity.message}; the descriptor does not contain the others")
    return oddity.where, oddity.value


def _is_simple(value: Any, depth: int) -> bool:
    """Return True if a value is small and flat enough to be sent."""
    if isinstance(value, int):
        return value.bit_length() <= 128
    if isinstance(value, list | tuple):
        return depth > 0 and len(value) <= _MAX_ITEMS and all(_is_simple(item, depth - 1) for item in value)
    if isinstance(value, dict):
        return depth > 0 and all(isinstance(k, str) and _is_simple(v, depth - 1) for k, v in value.items())
    return value is None or isinstance(value, float | str)


def _port_of(result: Any, tables: Dialect) -> Port:
    if not isinstance(result, TensorDesc):
        raise NotExpressibleError(f"{format_value(result)} is not a tensor")
    if result.type is not None and result.type not in tables.types:
        raise NotExpressibleError(f"{format_value(result.type)} is not an element type")
    precision = "UNSPECIFIED" if result.type is None else str(tables.types[result.type]["ir"])
    sizes = None if result.sizes is None else tuple(map(_size, result.sizes))
    value = None if result.value is None else _constant(result.type, sizes, result.value, tables)
    return Port(result.type, precision, sizes, value)


def _size(size: Any) -> int | None:
    if size is None or isinstance(size, Symbol):
        return None
    if not isinstance(size, int) or not 0 <= size <= _MAX_SIZE:
        raise NotExpressibleError(f"OpenVINO's sizes are from 0 to 2**63 - 2, found {format_value(size)}")
    return int(size)


def _constant(
    kind: str | None, sizes: tuple[int | None, ...] | None, value: tuple[Any, ...], tables: Dialect
) -> tuple[Any, ...]:
    if kind is None or sizes is None or None in sizes:
        raise NotExpressibleError("a constant needs its type and sizes")
    if prod(size for size in sizes if size is not None) != len(value):
        raise NotExpressibleError(
            f"a constant of the sizes {format_value(list(sizes))} does not have {len(value)} elements"
        )
    misfit = next((item for item in value if not _fits_type(kind, tables.types[kind].get("bits"), item)), None)
    if misfit is not None:
        raise NotExpressibleError(f"a constant of {kind} cannot hold {format_value(misfit)}")
    return value


def _fits_type(kind: str, bits: int | None, item: Any) -> bool:
    if kind == "string":
        return isinstance(item, str) and not item.endswith("\0")  # numpy drops trailing zeros in transit
    if kind == "boolean":
        return isinstance(item, int) and item in {0, 1}
    if kind[0] in "iu" and bits is not None:
        low, high = integer_limits(bits, signed=kind[0] != "u")
        return isinstance(item, int) and low <= item <= high
    return isinstance(item, int | float) and not isinstance(item, bool)
