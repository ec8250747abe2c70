"""Edges of an IR's net, and types that input ports get from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from specgate.dialects.openvino.ir import IrLayer, IrNet, IrPort
    from specgate.errors import InputError

    _Error = Callable[[str, int, "IrLayer | None"], InputError]

__all__ = ["connect"]

_FEW: Final = 8  # linear search up to this many ports


def connect(net: IrNet, error: _Error) -> None:
    """Check ids and edges; set types and shapes of input ports.

    An input port gets the type and shape of its source. OpenVINO ignores what the input port states, so that counts
    only where the source is unknown. error: creates an InputError from a message, a line and a layer.
    """
    layers: dict[str, IrLayer] = {}
    for layer in net.layers:
        if layers.setdefault(layer.id, layer) is not layer:
            raise error(f"expected distinct layer ids, found {layer.id} twice", layer.line, layer)
        for ports in (layer.inputs, layer.outputs):
            if len(ports) > 1:
                _hold_distinct(ports, layer, error)
    outputs, inputs = _Ports(), _Ports()
    fed: set[int] = set()
    for edge in net.edges:
        start, stop = layers.get(edge.from_layer), layers.get(edge.to_layer)
        source = None if start is None else outputs.find(start.outputs, edge.from_port)
        target = None if stop is None else inputs.find(stop.inputs, edge.to_port)
        if source is None or target is None:
            way, number, port = (
                ("output", edge.from_layer, edge.from_port)
                if source is None
                else ("input", edge.to_layer, edge.to_port)
            )
            raise error(f"expected {way} port {port} of layer {number} for this edge, found none", edge.line, None)
        if id(target) in fed:
            message = f"expected one edge to port {edge.to_port} of layer {edge.to_layer}, found two"
            raise error(message, edge.line, None)
        fed.add(id(target))
        target.element_type = source.element_type or target.element_type
        target.shape = _merged(source.shape, target.shape)


def _merged(numbers: tuple[int, ...] | None, stated: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Return the source's shape, with unknown sizes from the input port."""
    if numbers is None or stated is None or len(numbers) != len(stated) or -1 not in numbers:
        return stated if numbers is None else numbers
    return tuple(other if size == -1 else size for size, other in zip(numbers, stated, strict=True))


def _hold_distinct(ports: Iterable[IrPort], layer: IrLayer, error: _Error) -> None:
    ids: set[str] = set()
    for port in ports:
        if port.id in ids:
            raise error(f"expected distinct port ids, found {port.id} twice", layer.line + port.below, layer)
        ids.add(port.id)


class _Ports:
    """Lookup of ports by id, with a table for layers with many ports."""

    def __init__(self) -> None:
        self.tables: dict[int, dict[str, IrPort]] = {}

    def find(self, ports: tuple[IrPort, ...], number: str) -> IrPort | None:
        if len(ports) > _FEW:
            table = self.tables.get(id(ports))
            if table is None:
                table = self.tables[id(ports)] = {port.id: port for port in ports}
            return table.get(number)
        for port in ports:
            if port.id == number:
                return port
        return None
