"""OpenVINO IR as units: all layers of the net and of its bodies."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import GraphDesc, TensorDesc, format_value
from specgate.descriptors.positional import build
from specgate.dialects.openvino.bodies import BACK_EDGES, number_attributes, with_maps
from specgate.dialects.openvino.ir import MAPS
from specgate.dialects.openvino.reader import attribute_value, builds_read, spell_attributes
from specgate.dialects.openvino.references import rule_finding
from specgate.dialects.openvino.rules import ir_findings
from specgate.dialects.openvino.weights import Constants
from specgate.errors import NoTable
from specgate.linting.nodes import Graph, Unit
from specgate.spec.tables import dialect
from specgate.verdict import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.dialects.openvino.ir import IrEdge, IrLayer, IrModel, IrNet, IrPort

_NO_LOCATION: Final = Location()


def openvino_units(model: IrModel) -> Graph:
    """Return the units of an IR; each layer is checked at its stated opset."""
    graph = Graph("openvino", ir_version=model.version)
    graph.findings.extend(ir_findings(model))
    with Constants(model.file) as constants:
        walk = _Walk(model.file, constants)
        graph.units = list(walk.net(model.net, "net"))
    graph.findings.extend(walk.findings)
    return graph


class _Walk:
    """Builder of the units of one model.

    Equal layers share a descriptor, so that it is checked once. `units_by_content` has the units of such layers by
    content; tensors are compared by identity and live as long as the walk.
    """

    def __init__(self, file: str | None, constants: Constants) -> None:
        self.file = file
        self.constants = constants
        self.findings: list[Finding] = []
        self.table = dialect("openvino")
        self.tensors: dict[Any, TensorDesc] = {}
        self.units_by_content: dict[tuple[Any, ...], Unit] = {}
        self.reading: dict[str, bool] = {}
        self.types: dict[str, str] = {}

    def net(self, net: IrNet, place: str) -> Iterator[Unit]:
        layers = {layer.id: layer for layer in net.layers}
        sources = {(edge.to_layer, edge.to_port): edge for edge in net.edges}
        counts = Counter(layer.name for layer in net.layers)
        repeated = frozenset(name for name, count in counts.items() if count > 1)
        scope = _Scope(self.file, place, layers, sources, repeated)
        for layer in net.layers:
            unit = self.unit(layer, scope)
            if layer.version not in self.table.position:
                self.findings.extend(_opset(layer, unit))
            elif unit.descriptor is None:
                self.findings.append(unknown_type(layer, unit))
            yield unit
            for name, body in layer.bodies.items():
                yield from self.net(body, f"{scope.path(layer)}/{name}")

    def unit(self, layer: IrLayer, scope: _Scope) -> Unit:
        place = _Place(layer, scope)
        if layer.version not in self.table.position:
            return Unit(
                place,
                layer.type,
                None,
                f"its version {format_value(layer.version, 40)} is not an opset of OpenVINO",
                place,
            )
        reading = self.reading.get(layer.type)
        if reading is None:
            reading = self.reading[layer.type] = _reads_value(self.table_spelling(layer.type))
        inputs = [self.port(port, scope.feed(layer, port) if reading else None) for port in layer.inputs]
        outputs = [self.port(port, None) for port in layer.outputs]
        key = (layer.type, layer.version, *map(id, inputs), None, *map(id, outputs), None, *layer.data.items())
        first = self.units_by_content.get(key) if not layer.bodies and not layer.maps else None
        if first is None:
            first = self.units_of(layer, inputs, outputs)
            if not layer.bodies and not layer.maps:
                self.units_by_content[key] = first
        return Unit(place, layer.type, first.descriptor, first.reason, place, first.version)

    def units_of(self, layer: IrLayer, inputs: list[TensorDesc], outputs: list[TensorDesc]) -> Unit:
        """Return a unit with a layer's descriptor, or with a reason.

        The reason names the missing table.
        """
        try:
            spec = self.table.operator(self.table_spelling(layer.type))
        except NoTable as error:
            return Unit(_NO_LOCATION, layer.type, reason=str(error), version=layer.version)
        attributes = {**layer.data, **{name: self.ends(layer, name) for name in layer.bodies}}
        descriptor = build(
            spec,
            inputs,
            outputs,
            spell_attributes(spec, attributes),
            version=layer.version,
            convert=attribute_value,
            builds_read=builds_read,
        )
        return Unit(_NO_LOCATION, layer.type, with_maps(descriptor, _maps(layer)))

    def table_spelling(self, kind: str) -> str:
        """Return a layer type in table spelling; types are case-insensitive."""
        if not self.types:
            self.types = {name.lower(): name for name in self.table.operators}
        return self.types.get(kind.lower(), kind)

    def ends(self, layer: IrLayer, name: str) -> GraphDesc:
        """Return the inputs and outputs of a body.

        Parameters are in file order, Results in the order of the layer's outputs.
        """
        place: dict[str, int] = {}
        for entry in layer.maps.get(MAPS[name], ()):
            data = number_attributes(entry.data)
            port, result = data.get("external_port_id"), str(data.get("internal_layer_id"))
            if entry.kind == "output" and isinstance(port, int) and port >= 0:
                place[result] = min(port, place.get(result, port))
        inner = layer.bodies[name].layers
        results = sorted(
            (inner_layer for inner_layer in inner if inner_layer.type == "Result"),
            key=lambda inner_layer: place.get(inner_layer.id, 2**64),
        )
        input_ports = [
            port for inner_layer in inner if inner_layer.type == "Parameter" for port in inner_layer.outputs[:1]
        ]
        output_ports = [port for inner_layer in results for port in inner_layer.inputs[:1]]
        return GraphDesc(*(tuple(self.port(port, None) for port in ports) for ports in (input_ports, output_ports)))

    def port(self, port: IrPort, feed: IrLayer | None) -> TensorDesc:
        values = self.constants.values(feed) if feed is not None and feed.type == "Const" else None
        key = port.element_type, port.shape, id(values)  # equal values are one object, which is kept
        tensor = self.tensors.get(key)
        if tensor is None:
            sizes = None if port.shape is None else tuple(None if size == -1 else size for size in port.shape)
            element_type = port.element_type if port.element_type in self.table.types else None
            tensor = self.tensors[key] = TensorDesc(element_type, sizes, value=values)
        return tensor


class _Scope(NamedTuple):
    """One net: its path, its layers by id, and the edge of each input port."""

    file: str | None
    place: str
    layers: dict[str, IrLayer]
    sources: dict[tuple[str, str], IrEdge]
    repeated: frozenset[str]  # names of several layers

    def value(self, layer_id: str, port: str) -> str:
        """Return the unique name of an output: layer and port."""
        layer = self.layers.get(layer_id)
        if layer is None or not layer.name or layer.name in self.repeated:
            return f"{self.place}/#{layer_id}:{port}"
        return f"{self.place}/{layer.name}:{port}"

    def path(self, layer: IrLayer) -> str:
        return f"{self.place}/{layer.name or layer.id}"

    def feed(self, layer: IrLayer, port: IrPort) -> IrLayer | None:
        """Return the layer that an input port reads."""
        edge = self.sources.get((layer.id, port.id))
        return None if edge is None else self.layers.get(edge.from_layer)


class _Place:
    """Location and value names of a layer, computed on demand."""

    __slots__ = ("layer", "scope")

    def __init__(self, layer: IrLayer, scope: _Scope) -> None:
        self.layer = layer
        self.scope = scope

    def __call__(self) -> Location:
        layer = self.layer
        return Location(self.scope.file, layer.line, self.scope.path(layer), layer.type)

    def names(self) -> tuple[list[str], list[str]]:
        layer = self.layer
        sources = [self.scope.sources.get((layer.id, port.id)) for port in layer.inputs]
        return (
            ["" if edge is None else self.scope.value(edge.from_layer, edge.from_port) for edge in sources],
            [self.scope.value(layer.id, port.id) for port in layer.outputs],
        )


def unknown_type(layer: IrLayer, unit: Unit) -> Finding:
    """Return the finding for a layer type missing in its opset.

    OpenVINO rejects such a layer.
    """
    reason = unit.reason.partition("; ")[2]
    message = f"{layer.version} does not have an operation {format_value(layer.type, 40)}" + (
        f"; {reason}" if reason else ""
    )
    return rule_finding("unknown-type", message, unit.location, rule_place="type")


def _opset(layer: IrLayer, unit: Unit) -> Iterator[Finding]:
    """Yield a finding if a layer's version is not an opset or extension."""
    table = dialect("openvino")
    if layer.version and not layer.version.lower().startswith("opset"):
        return
    first, last = table.levels[0], table.levels[-1]
    yield Finding(
        id=f"openvino/{layer.type if layer.type.isidentifier() else 'layer'}/version",
        severity="error",
        message=f"has the version {format_value(layer.version, 40)}; expected {first} to {last}, or an extension's name"
        if layer.version
        else f"has no version; expected {first} to {last}, or an extension's name",
        where="version",
        values={"version": layer.version},
        location=unit.location,
    )


def _maps(layer: IrLayer) -> dict[str, Any]:
    """Return a layer's port maps and back edges for a descriptor."""
    matching_entries: dict[str, Any] = {}
    for name, entries in layer.maps.items():
        if name == BACK_EDGES:
            matching_entries[name] = [number_attributes(entry.data) for entry in entries]
        else:
            matching_entries[name] = {
                kind: [number_attributes(entry.data) for entry in entries if entry.kind == kind]
                for kind in ("input", "output")
            }
    return matching_entries


def _reads_value(operator: str) -> bool:
    """Return True if a rule of the operator reads a constant.

    Otherwise the .bin file need not be opened.
    """
    try:
        spec = dialect("openvino").operator(operator)
    except NoTable:
        return False
    return any(path.endswith(".value") for form in spec.rule_forms for path in form.require.needs)
