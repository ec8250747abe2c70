"""Port maps and back edges of layers with bodies.

In a descriptor they are in `extra`, with the names of the IR. Rules in tables do not read them, because a descriptor
has only the inputs and outputs of a body, not its layers. In a file they are checked by this module.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import format_value
from specgate.dialects.openvino.ir import MAPS, shapes_agree
from specgate.dialects.openvino.references import rule_finding
from specgate.errors import InputError
from specgate.spec.tables import dialect
from specgate.verdict import Location

if TYPE_CHECKING:
    from collections.abc import Container, Generator, Iterator, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.openvino.ir import IrEntry, IrLayer, IrModel, IrNet, IrPort
    from specgate.verdict import Finding

BACK_EDGES: Final = "back_edges"
_NAMES: Final = (*MAPS.values(), BACK_EDGES)
_KEYS: Final = {
    **dict.fromkeys(
        MAPS.values(),
        (
            "external_port_id",
            "internal_layer_id",
            "internal_port_id",
            "axis",
            "start",
            "end",
            "stride",
            "part_size",
            "purpose",
        ),
    ),
    BACK_EDGES: ("from-layer", "to-layer"),
}


def with_maps(descriptor: Descriptor, maps: Mapping[str, Any]) -> Descriptor:
    """Return a descriptor with port maps and back edges."""
    return replace(descriptor, extra={**descriptor.extra, **maps}) if maps else descriptor


def maps_of(descriptor: Descriptor) -> dict[str, Any]:
    """Return the port maps and back edges of a descriptor."""
    return {name: descriptor.extra[name] for name in _NAMES if name in descriptor.extra}


def number_attributes(data: Mapping[str, str]) -> dict[str, Any]:
    """Return an entry's attributes, with integers converted where possible."""
    return {key: int(text) if len(text) < 20 and _is_number(text) else text for key, text in data.items()}


def _is_number(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdigit()


def split_attributes(data: Mapping[str, Any], place: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a layer's attributes from its port maps and back edges.

    Raises InputError for malformed ones.
    """
    maps = {name: _check_entries(name, data[name], f"{place}.{name}") for name in _NAMES if name in data}
    return {name: value for name, value in data.items() if name not in maps}, maps


def _check_entries(name: str, raw: Any, place: str) -> Any:
    if name == BACK_EDGES:
        return _entries(name, raw, place)
    if not isinstance(raw, dict) or not raw.keys() <= {"input", "output"}:
        raise InputError(f"expected an object with input and output, found {format_value(raw)}", place=place)
    return {kind: _entries(name, raw[kind], f"{place}.{kind}") for kind in raw}


def _entries(name: str, raw: Any, place: str) -> list[dict[str, Any]]:
    if not isinstance(raw, list):
        raise InputError(f"expected a list of objects, found {format_value(raw)}", place=place)
    for i, entry in enumerate(raw):
        if not isinstance(entry, dict) or not entry.keys() <= set(_KEYS[name]):
            expected = ", ".join(_KEYS[name])
            raise InputError(f"expected an object of {expected}, found {format_value(entry)}", place=f"{place}[{i}]")
        if not all(type(value) is int or isinstance(value, str) for value in entry.values()):
            raise InputError(f"expected numbers and words, found {format_value(entry)}", place=f"{place}[{i}]")
    return [dict(entry) for entry in raw]


#: Number of leading inputs that need no port map entry: a Loop's trip count and execution condition.
_LEADING_INPUTS: Final = {"TensorIterator": 0, "Loop": 2}
_LAYERS: Final = {"input": "Parameter", "output": "Result"}
_REQUIRED_KEYS: Final = ("external_port_id", "internal_layer_id")
_SLICES: Final = ("axis", "start", "end", "stride", "part_size")
_NONZERO_KEYS: Final = ("stride", "part_size")
_CONDITION: Final = "execution_condition"
#: Rules about types and shapes, by the kind of an entry.
_BORDERS: Final = {
    **dict.fromkeys(("input", "output"), ("port-map-type", "port-map-shape")),
    "edge": ("back-edge-type", "back-edge-shape"),
}
#: Types of a Loop's special ports, by purpose.
_SPECIAL_PORT_TYPES: Final = {
    ("Loop", "input", "current_iteration"): ("i32", "i64"),
    ("Loop", "output", _CONDITION): ("boolean",),
}
#: Layers whose tables already compare output types with those of the bodies.
_TYPED: Final = ("If",)


def body_findings(layer: IrLayer, place: Location) -> Iterator[Finding]:
    """Yield problems with a layer's port maps and back edges.

    Layers of extensions are not checked.
    """
    if layer.version not in dialect("openvino").position:
        return
    for name, body in layer.bodies.items():
        yield from _Map(layer, name, body, place).findings()


class _Map:
    """A port map with its body; `entries` have integers converted."""

    def __init__(self, layer: IrLayer, name: str, body: IrNet, place: Location) -> None:
        self.layer, self.body, self.place = layer, body, place
        self.layers = {inner.id: inner for inner in body.layers}
        self.name = MAPS[name]
        self.entries = [(entry, number_attributes(entry.data)) for entry in layer.maps.get(self.name, ())]

    def findings(self) -> Iterator[Finding]:
        is_consistent = True
        for entry, data in self.entries:
            findings = list(self._entry(entry, data))
            is_consistent = is_consistent and not findings
            yield from findings
        if is_consistent:
            missing_maps = list(self._missing())
            yield from missing_maps
            fed_ports = yield from self._borders()
            if not missing_maps:
                yield from self._unmapped_parameters(fed_ports)
        for edge in self.layer.maps.get(BACK_EDGES, ()) if self.name == MAPS["body"] else ():
            yield from self._back_edge(edge)

    def _wrong(self, rule: str, message: str, entry: IrEntry | None = None) -> Finding:
        location = self.place if entry is None else replace(self.place, line=entry.line)
        return rule_finding(rule, message, location, rule_place=BACK_EDGES if rule.startswith("back") else self.name)

    def _entry(self, entry: IrEntry, data: dict[str, Any]) -> Iterator[Finding]:
        for key in (*_REQUIRED_KEYS, *(key for key in _SLICES if key in data)):
            least = 0 if key == "internal_layer_id" or (key == "axis" and entry.kind == "input") else None
            number = data.get(key)
            if not isinstance(number, int) or (least is not None and number < least):
                expected = "a whole number" if least is None else "an integer of at least 0"
                message = f"expected {expected} as {key} of an {entry.kind}, found {_format_entry(entry, key)}"
                yield self._wrong("port-map", message, entry)
                return
            if not number and key in _NONZERO_KEYS and "axis" in data:
                yield self._wrong("port-map", f"expected a number other than 0 as {key} of an {entry.kind}", entry)
                return
        inner = self.layers.get(str(data["internal_layer_id"]))
        if inner is None or inner.type != _LAYERS[entry.kind]:
            text = "none" if inner is None else f"a {format_value(inner.type)}"
            number = data["internal_layer_id"]
            message = f"expected a {_LAYERS[entry.kind]} as layer {number} of the body, found {text}"
            yield self._wrong("port-map-layer", message, entry)
            return
        outer: IrPort | None = None
        if entry.kind == "input":
            number, count = data["external_port_id"], len(self.layer.inputs)
            if number >= count or (number < 0 and self.layer.type == "TensorIterator"):
                message = f"expected one of {count} inputs by its number, counted from 0, found {number}"
                yield self._wrong("port-map-port", message, entry)
                return
            outer = self.layer.inputs[number] if number >= 0 else None
        elif inner.inputs:
            outer = inner.inputs[0]
        yield from self._axis(entry, data, outer)

    def _axis(self, entry: IrEntry, data: dict[str, Any], sliced: IrPort | None) -> Iterator[Finding]:
        if "axis" not in data or sliced is None or sliced.shape is None:
            return
        rank = len(sliced.shape)
        if not -rank <= data["axis"] < rank:
            message = f"axis {data['axis']} of an {entry.kind} is out of range for a tensor of {rank} dimensions"
            yield self._wrong("port-map-axis", message, entry)

    def _missing(self) -> Iterator[Finding]:
        required_keys = _LEADING_INPUTS.get(self.layer.type)
        ports = {kind: {d["external_port_id"] for e, d in self.entries if e.kind == kind} for kind in _LAYERS}
        if required_keys is not None:
            for number in range(required_keys, len(self.layer.inputs)):
                if number not in ports["input"]:
                    yield self._wrong("port-map-missing", f"input {number} is not mapped to a Parameter of the body")
        count = len({number for number in ports["output"] if number >= 0})
        if count < len(self.layer.outputs):
            message = f"{count} of {len(self.layer.outputs)} declared outputs are mapped to Results of the body"
            yield self._wrong("port-map-missing", message)
        if self.layer.type == "Loop" and not any(
            e.kind == "output" and d.get("purpose") == _CONDITION for e, d in self.entries
        ):
            yield self._wrong("port-map-missing", f"no output of the port map has the purpose {_CONDITION}")

    def _borders(self) -> Generator[Finding, None, Container[str]]:
        """Yield type and shape conflicts; return ids of mapped Parameters."""
        fed_ports: dict[str, str] = {}
        outputs = sorted({data["external_port_id"] for entry, data in self.entries if entry.kind == "output"} - {-1})
        for entry, data in self.entries:
            inner = self.layers[str(data["internal_layer_id"])]
            number = data["external_port_id"]
            if entry.kind == "input":
                if fed_ports.get(inner.id, str(number)) != str(number):
                    message = f"{_layer_name(inner)} has two inputs: {fed_ports[inner.id]} and {number}"
                    yield self._wrong("port-map-twice", message, entry)
                fed_ports[inner.id] = str(number)
                outer = self.layer.inputs[number] if number >= 0 else None
                ends, name = inner.outputs[:1], f"input {number} of the layer"
            else:
                position = outputs.index(number) if number >= 0 else len(self.layer.outputs)
                outer = self.layer.outputs[position] if position < len(self.layer.outputs) else None
                ends, name = inner.inputs[:1], f"output {position} of the layer"
            for port in ends:
                required_keys = _SPECIAL_PORT_TYPES.get((self.layer.type, entry.kind, str(data.get("purpose"))))
                if required_keys is not None and number < 0:
                    yield from self._special(required_keys, port, inner, entry)
                elif outer is not None:
                    yield from self._against(port, inner, outer, name, entry, data)
        return fed_ports

    def _unmapped_parameters(self, fed_ports: Container[str]) -> Iterator[Finding]:
        targets = {str(number_attributes(edge.data).get("to-layer")) for edge in self.layer.maps.get(BACK_EDGES, ())}
        for inner in self.body.layers:
            if inner.type == "Parameter" and inner.id not in fed_ports and inner.id not in targets:
                yield self._wrong("port-map-unfed", f"{_layer_name(inner)} of the body is not mapped to an input")

    def _against(
        self, port: IrPort, inner: IrLayer, outer: IrPort, name: str, entry: IrEntry, data: dict[str, Any]
    ) -> Iterator[Finding]:
        """Yield conflicts between a body's port and the outer tensor."""
        of_type, of_shape = _BORDERS[entry.kind]
        kinds = port.element_type, outer.element_type
        if None not in kinds and kinds[0] != kinds[1] and self.layer.type not in _TYPED:
            yield self._wrong(of_type, f"{_layer_name(inner)} is {kinds[0]}, but {name} is {kinds[1]}", entry)
        if port.shape is None or outer.shape is None:
            return
        sizes: list[int] = list(outer.shape)
        axis = data.get("axis")
        if axis is not None:
            part = abs(data["part_size"]) if "part_size" in data else -1
            sizes[axis] = part if entry.kind == "input" else -1
        if not shapes_agree(port.shape, sizes):
            sliced = "" if axis is None else f", with parts along axis {axis}"
            message = f"{_layer_name(inner)} has the shape {list(port.shape)}, but {name} {list(outer.shape)}{sliced}"
            yield self._wrong(of_shape, message, entry)

    def _special(self, kinds: tuple[str, ...], port: IrPort, inner: IrLayer, entry: IrEntry) -> Iterator[Finding]:
        """Yield problems with the iteration counter or execution condition."""
        map_purpose = entry.data.get("purpose")
        if port.element_type is not None and port.element_type not in kinds:
            message = f"{_layer_name(inner)} is {port.element_type}, but {map_purpose} is {' or '.join(kinds)}"
            yield self._wrong("port-map-type", message, entry)
        if port.shape is not None and any(size not in (-1, 1) for size in port.shape):
            message = f"{_layer_name(inner)} has the shape {list(port.shape)}, but {map_purpose} is one element"
            yield self._wrong("port-map-shape", message, entry)

    def _back_edge(self, edge: IrEntry) -> Iterator[Finding]:
        for key, kind, rule in (
            ("from-layer", "Result", "back-edge"),
            ("to-layer", "Parameter", "back-edge-target"),
        ):
            number = number_attributes(edge.data).get(key)
            inner = self.layers.get(str(number))
            if not isinstance(number, int):
                rule, text = "back-edge", _format_entry(edge, key)  # noqa: PLW2901  # both ends require a number
            elif inner is None or inner.type != kind:
                text = f"{number}, which is " + ("none" if inner is None else f"a {format_value(inner.type)}")
            else:
                continue
            yield self._wrong(rule, f"expected a {kind} of the body as {key}, found {text}", edge)
            return
        data = number_attributes(edge.data)
        result, parameter = self.layers[str(data["from-layer"])], self.layers[str(data["to-layer"])]
        for port, used_port in zip(result.inputs[:1], parameter.outputs[:1], strict=False):
            yield from self._against(used_port, parameter, port, f"the back edge of {_layer_name(result)}", edge, {})


def _layer_name(layer: IrLayer) -> str:
    return f"the {layer.type} {format_value(layer.name or layer.id, 40)}"


def _format_entry(entry: IrEntry, key: str) -> str:
    return format_value(entry.data[key], 40) if key in entry.data else "none"


def variable_findings(model: IrModel, net: IrNet, path: str) -> Iterator[Finding]:
    """Yield each Assign without a ReadValue of its variable in the same net."""
    read_variables = {layer.data.get("variable_id") for layer in net.layers if layer.type == "ReadValue"}
    for layer in net.layers:
        name = layer.data.get("variable_id")
        if layer.type == "Assign" and name is not None and name not in read_variables:
            place = Location(model.file, layer.line, f"{path}/{layer.name or layer.id}", layer.type)
            message = f"this net does not have a ReadValue of the variable {format_value(name, 40)}"
            yield rule_finding("variable", message, place, rule_place="variable_id")
