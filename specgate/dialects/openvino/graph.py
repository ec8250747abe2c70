"""OpenVINO IR as units: every layer of the net and of its bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import GraphDesc, TensorDesc, shown
from specgate.descriptors.positional import build
from specgate.dialects.openvino.constants import constant_values
from specgate.dialects.openvino.maps import BACK_EDGES, numbered, with_maps
from specgate.dialects.openvino.net import MAPS
from specgate.dialects.openvino.reader import attribute_value
from specgate.dialects.openvino.rules import ir_findings
from specgate.dialects.openvino.words import spelt
from specgate.errors import NoTable
from specgate.linting.nodes import Graph, Unit
from specgate.spec.tables import dialect
from specgate.verdict import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.dialects.openvino.net import IrLayer, IrModel, IrNet, IrPort

__all__ = ["openvino_units"]


def openvino_units(model: IrModel) -> Graph:
    """Return the units of an IR model; each layer is judged at the opset that it names."""
    graph = Graph("openvino", ir_version=model.version)
    graph.findings.extend(ir_findings(model))
    graph.units.extend(_net(model, model.net, "net", graph.findings))
    return graph


def _net(model: IrModel, net: IrNet, place: str, findings: list[Finding]) -> Iterator[Unit]:
    layers = {layer.id: layer for layer in net.layers}
    feeds = {(edge.to_layer, edge.to_port): layers.get(edge.from_layer) for edge in net.edges}
    sources = {(edge.to_layer, edge.to_port): (edge.from_layer, edge.from_port) for edge in net.edges}
    for layer in net.layers:
        here = f"{place}/{layer.name or layer.id}"
        unit = _unit(model, layer, here, feeds)
        findings.extend(_opset(layer, unit))
        read = [sources.get((layer.id, port.id)) for port in layer.inputs]
        unit.reads = tuple("" if source is None else f"{place}:{source[0]}:{source[1]}" for source in read)
        unit.writes = tuple(f"{place}:{layer.id}:{port.id}" for port in layer.outputs)
        yield unit
        for name, body in layer.bodies.items():
            yield from _net(model, body, f"{here}/{name}", findings)


def _opset(layer: IrLayer, unit: Unit) -> Iterator[Finding]:
    """What is wrong with a layer's version at any target: it is an opset, or the name of an extension."""
    table = dialect("openvino")
    if layer.version in table.position or (layer.version and not layer.version.lower().startswith("opset")):
        return
    first, last = table.levels[0], table.levels[-1]
    yield Finding(
        id=f"openvino/{layer.type if layer.type.isidentifier() else 'layer'}/version",
        severity="error",
        message=f"states the version {shown(layer.version, 40)}; expected {first} to {last}, or an extension's name"
        if layer.version
        else f"states no version; expected {first} to {last}, or an extension's name",
        where="version",
        values={"version": layer.version},
        location=unit.location,
    )


def _unit(model: IrModel, layer: IrLayer, place: str, feeds: dict[tuple[str, str], IrLayer | None]) -> Unit:
    location = Location(model.file, layer.line, place, layer.type)
    table = dialect("openvino")
    if layer.version not in table.position:
        return Unit(location, layer.type, reason=f"its version {shown(layer.version, 40)} is no opset of OpenVINO")
    try:
        spec = table.operator(layer.type)
    except NoTable as error:
        return Unit(location, layer.type, reason=str(error), version=layer.version)
    inputs = [
        _port(model, port, feeds.get((layer.id, port.id)) if _reads_value(spec.name) else None) for port in layer.inputs
    ]
    outputs = [_port(model, port, None) for port in layer.outputs]
    attributes = {**layer.data, **{name: _ends(model, layer, name) for name in layer.bodies}}
    descriptor = build(
        spec, inputs, outputs, spelt(spec, attributes), version=layer.version, name=layer.name, convert=attribute_value
    )
    return Unit(location, layer.type, with_maps(descriptor, _maps(layer)))


def _ends(model: IrModel, layer: IrLayer, name: str) -> GraphDesc:
    """What a body takes and gives: Parameters in the order of the file, Results in that of the layer's outputs."""
    place: dict[str, int] = {}
    for entry in layer.maps.get(MAPS[name], ()):
        data = numbered(entry.data)
        port, result = data.get("external_port_id"), str(data.get("internal_layer_id"))
        if entry.kind == "output" and isinstance(port, int) and port >= 0:
            place[result] = min(port, place.get(result, port))
    inner = layer.bodies[name].layers
    results = sorted((each for each in inner if each.type == "Result"), key=lambda each: place.get(each.id, 2**64))
    takes = [port for each in inner if each.type == "Parameter" for port in each.outputs[:1]]
    gives = [port for each in results for port in each.inputs[:1]]
    return GraphDesc(*(tuple(_port(model, port, None) for port in ports) for ports in (takes, gives)))


def _maps(layer: IrLayer) -> dict[str, Any]:
    """The port maps and back edges of a layer as a descriptor has them."""
    found: dict[str, Any] = {}
    for name, entries in layer.maps.items():
        if name == BACK_EDGES:
            found[name] = [numbered(entry.data) for entry in entries]
        else:
            found[name] = {
                kind: [numbered(entry.data) for entry in entries if entry.kind == kind] for kind in ("input", "output")
            }
    return found


def _reads_value(operator: str) -> bool:
    """Return whether a rule of the operator reads a constant: only then is the .bin file worth opening."""
    spec = dialect("openvino").operator(operator)
    return any(path.endswith(".value") for form in spec.rule_forms for path in form.require.needs)


def _port(model: IrModel, port: IrPort, feed: IrLayer | None) -> TensorDesc:
    sizes = None if port.shape is None else tuple(None if size == -1 else size for size in port.shape)
    known = port.element_type if port.element_type in dialect("openvino").types else None
    values = constant_values(model, feed) if feed is not None and feed.type == "Const" else None
    return TensorDesc(known, sizes, value=None if values is None else tuple(values))
