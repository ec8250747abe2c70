"""OpenVINO layers as plain data for the oracle's subprocess."""

from __future__ import annotations

from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import GraphDesc, Symbol, TensorDesc, integer_limits, shown
from specgate.descriptors.positional import positional, read_by_page_names, reordered_for
from specgate.errors import Error
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor, Malformed
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["Body", "Layer", "NotExpressibleError", "Port", "layer_of"]

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

    outputs: as stated, None where not stated. ports: how many outputs an IR declares. data: attributes by name, except
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
        inputs.append(_port(tensor, tables))
    stated = positional(descriptor.fields, layout.outputs)
    outputs = tuple(None if tensor is None else _port(tensor, tables) for tensor in stated)
    needed = sum(not info.optional for info in layout.outputs)
    bodies = {
        name: Body(*(tuple(_port(end, tables) for end in part) for part in (value.inputs, value.outputs)))
        for name, value in descriptor.fields.items()
        if isinstance(value, GraphDesc)
    }
    ports = max(0 if bodies else 1, needed, len(outputs))
    return Layer(spec.name, version, tuple(inputs), outputs, ports, _attributes(descriptor, spec), bodies)


def _attributes(descriptor: Descriptor, spec: OperatorSpec) -> dict[str, Any]:
    """Return all attributes, including malformed ones."""
    values = {info.vendor_name: descriptor.fields.get(info.name) for info in spec.attributes}
    for name in read_by_page_names(descriptor, spec):
        values[name] = None
    entries = {name: value for name, value in values.items() if value is not None and not isinstance(value, GraphDesc)}
    entries.update(_odd(oddity) for oddity in descriptor.oddities)
    for name, value in entries.items():
        if not _simple(value, 2):
            raise NotExpressibleError(f"the attribute {shown(name)} is {shown(value)}")
    return entries


def _odd(oddity: Malformed) -> tuple[str, Any]:
    if oddity.code not in {"unknown-attribute", "wrong-kind"}:
        raise NotExpressibleError(f"{oddity.message}; the descriptor does not contain the others")
    return oddity.where, oddity.value


def _simple(value: Any, depth: int) -> bool:
    """Return True if a value is small and flat enough to be sent."""
    if isinstance(value, int):
        return value.bit_length() <= 128
    if isinstance(value, list | tuple):
        return depth > 0 and len(value) <= _MAX_ITEMS and all(_simple(item, depth - 1) for item in value)
    if isinstance(value, dict):
        return depth > 0 and all(isinstance(k, str) and _simple(v, depth - 1) for k, v in value.items())
    return value is None or isinstance(value, float | str)


def _port(result: Any, tables: Dialect) -> Port:
    if not isinstance(result, TensorDesc):
        raise NotExpressibleError(f"{shown(result)} is not a tensor")
    if result.type is not None and result.type not in tables.types:
        raise NotExpressibleError(f"{shown(result.type)} is not an element type")
    precision = "UNSPECIFIED" if result.type is None else str(tables.types[result.type]["ir"])
    sizes = None if result.sizes is None else tuple(map(_size, result.sizes))
    value = None if result.value is None else _constant(result.type, sizes, result.value, tables)
    return Port(result.type, precision, sizes, value)


def _size(size: Any) -> int | None:
    if size is None or isinstance(size, Symbol):
        return None
    if not isinstance(size, int) or not 0 <= size <= _MAX_SIZE:
        raise NotExpressibleError(f"OpenVINO's sizes are from 0 to 2**63 - 2, found {shown(size)}")
    return int(size)


def _constant(
    kind: str | None, sizes: tuple[int | None, ...] | None, value: tuple[Any, ...], tables: Dialect
) -> tuple[Any, ...]:
    if kind is None or sizes is None or None in sizes:
        raise NotExpressibleError("a constant needs its type and sizes")
    if prod(size for size in sizes if size is not None) != len(value):
        raise NotExpressibleError(f"a constant of the sizes {shown(list(sizes))} does not have {len(value)} elements")
    misfit = next((item for item in value if not _fits(kind, tables.types[kind].get("bits"), item)), None)
    if misfit is not None:
        raise NotExpressibleError(f"a constant of {kind} cannot hold {shown(misfit)}")
    return value


def _fits(kind: str, bits: int | None, item: Any) -> bool:
    if kind == "string":
        return isinstance(item, str) and not item.endswith("\0")  # numpy drops trailing zeros in transit
    if kind == "boolean":
        return isinstance(item, int) and item in {0, 1}
    if kind[0] in "iu" and bits is not None:
        low, high = integer_limits(bits, signed=kind[0] != "u")
        return isinstance(item, int) and low <= item <= high
    return isinstance(item, int | float) and not isinstance(item, bool)
