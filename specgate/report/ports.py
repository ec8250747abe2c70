"""Text for a node's tensors: ``tokens (indices) INT64 [batch, 3]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.verdict import Location, NodeContext, Port, Report

_MAX_PORTS = 12


def context_at(report: Report, place: Location | None) -> NodeContext | None:
    """Return the context of a location, None if it is unknown."""
    return None if place is None or place.node is None else report.context.get((place.file, place.node))


def inputs_line(ports: Sequence[Port]) -> str:
    """Return the inputs in one line, not cleaned; "" without inputs."""
    port_texts = [f"{port_name(port)} {shape_words(port)}" for port in ports[:_MAX_PORTS]]
    if len(ports) > _MAX_PORTS:
        port_texts.append(f"{len(ports) - _MAX_PORTS} more")
    return ", ".join(port_texts)


def port_name(port: Port) -> str:
    """Return a tensor's name in the model, with the operator's field."""
    if port.name and port.field and port.name != port.field:
        return f"{port.name} ({port.field})"
    return port.name or port.field or "a tensor"


def shape_words(port: Port) -> str:
    """Return type and shape: ``?`` if unknown, ``[...]`` for unknown rank."""
    if port.type is None and port.sizes is None:
        return "unknown"
    sizes = "..." if port.sizes is None else ",".join("?" if size is None else str(size) for size in port.sizes)
    return f"{port.type or '?'} [{sizes}]"
