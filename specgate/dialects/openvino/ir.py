"""Reader of OpenVINO IR files: nets of layers with ports, and edges."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar
from xml.parsers import expat

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    _Error = Callable[[str, int, "IrLayer | None"], InputError]

MAX_BYTES = 512 * 1024 * 1024
MAX_TOKEN = 4 * 1024 * 1024  # one tag, comment or text; expat before 2.6 rescans an unfinished one at every block
MAX_ATTRIBUTE = 1024 * 1024
MAX_ATTRIBUTES = 1000  # per element
MAX_ELEMENTS = 10_000_000  # read or skipped
MAX_KEPT = 3_000_000  # elements kept in memory; a model of 20,000 layers has about 300,000
MAX_LAYERS = 500_000
MAX_NAME = 4096  # characters of a layer's name, type or version, because messages and paths repeat them
MAX_PATH = 8192  # total characters of nested layers' names
MAX_DEPTH = 200
MAX_BODIES = 32


class Counts:
    """Numbers of elements, kept elements or tensor names, and layers so far."""

    def __init__(self) -> None:
        self.elements = self.kept = self.layers = 0

    def element(self, tag: str, attributes: Mapping[str, str], depth: int, *, is_kept: bool) -> str | None:
        """Count an element at a depth; return a message if a limit is exceeded."""
        self.elements += 1
        self.kept += is_kept
        if self.elements > MAX_ELEMENTS or self.kept > MAX_KEPT:
            return self.limit_message()
        if depth > MAX_DEPTH:
            return f"expected at most {MAX_DEPTH} nested elements"
        if not is_kept or not attributes:
            return None
        if len(attributes) > MAX_ATTRIBUTES:
            return f"expected at most {MAX_ATTRIBUTES} attributes of <{tag}>, found {len(attributes)}"
        if max(map(len, attributes.values())) > MAX_ATTRIBUTE:
            return f"expected attributes of at most {MAX_ATTRIBUTE} characters, found a longer one"
        return None

    def add(self, elements: int, kept_count: int, layers: int = 0) -> None:
        self.elements += elements
        self.kept += kept_count
        self.layers += layers

    def limit_message(self) -> str | None:
        """Return a message if a count exceeds its limit."""
        if self.elements > MAX_ELEMENTS or self.kept > MAX_KEPT:
            return f"expected at most {MAX_ELEMENTS} elements, {MAX_KEPT} of them outside rt_info"
        return f"expected at most {MAX_LAYERS} layers" if self.layers > MAX_LAYERS else None


def depth_excess(bodies: int, outer_layers: Iterable[IrLayer]) -> str | None:
    """Return a message if bodies are nested too deep.

    `outer_layers` are the layers that contain the body.
    """
    if bodies > MAX_BODIES:
        return f"expected bodies nested at most {MAX_BODIES} deep"
    if bodies > 1 and sum(len(layer.name) for layer in outer_layers) > MAX_PATH:
        return f"expected nested layers whose names have at most {MAX_PATH} characters together"
    return None


def name_excess(attributes: Mapping[str, str]) -> str | None:
    """Return a message if a layer's name, type or version is too long."""
    for key in ("name", "type", "version"):
        if len(attributes.get(key, "")) > MAX_NAME:
            return f"expected a {key} of <layer> of at most {MAX_NAME} characters, found a longer one"
    return None


_LINEAR_SEARCH_PORTS: Final = 8  # linear search up to this many ports


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
                _require_distinct(ports, layer, error)
    outputs, inputs = _Ports(), _Ports()
    fed_ports: set[int] = set()
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
        if id(target) in fed_ports:
            message = f"expected one edge to port {edge.to_port} of layer {edge.to_layer}, found two"
            raise error(message, edge.line, None)
        fed_ports.add(id(target))
        target.element_type = source.element_type or target.element_type
        target.shape = _merge_shape(source.shape, target.shape)


def _merge_shape(numbers: tuple[int, ...] | None, stated_shape: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Return the source's shape, with unknown sizes from the input port."""
    if numbers is None or stated_shape is None or len(numbers) != len(stated_shape) or -1 not in numbers:
        return stated_shape if numbers is None else numbers
    return tuple(other if size == -1 else size for size, other in zip(numbers, stated_shape, strict=True))


def _require_distinct(ports: Iterable[IrPort], layer: IrLayer, error: _Error) -> None:
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
        if len(ports) > _LINEAR_SEARCH_PORTS:
            table = self.tables.get(id(ports))
            if table is None:
                table = self.tables[id(ports)] = {port.id: port for port in ports}
            return table.get(number)
        for port in ports:
            if port.id == number:
                return port
        return None


#: Layers whose <data> states the output's type and shape.
DECLARING: Final = ("Const", "Parameter")


_NO_ATTRIBUTES: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(slots=True)
class IrPort:
    """One port of a layer.

    `element_type` is in OpenVINO's spelling (`f32`, `i64`, `boolean`), None if dynamic or not stated. In `shape` -1 is
    an unknown size or an interval; None is an unknown rank. The IR writes a scalar and a tensor of unknown rank in the
    same way, as a port without dims. `()` therefore only occurs if a Const or Parameter states it. `below` is the line
    of the port relative to its layer.
    """

    id: str
    element_type: str | None
    shape: tuple[int, ...] | None
    names: tuple[str, ...]
    below: int


@dataclass(slots=True)
class IrEdge:
    """An edge from an output port to an input port, by ids within a net."""

    from_layer: str
    from_port: str
    to_layer: str
    to_port: str
    line: int = 0


#: Port map tag for each body tag.
MAPS: Final = {"body": "port_map", "then_body": "then_port_map", "else_body": "else_port_map"}


@dataclass(slots=True)
class IrEntry:
    """An entry of a port map (`kind` input or output) or back_edges (edge).

    `data` has its attributes as text.
    """

    kind: str
    data: dict[str, str]
    line: int = 0


@dataclass(slots=True)
class IrNet:
    """Layers and edges of a model or body, in file order."""

    layers: list[IrLayer] = field(default_factory=list)
    edges: list[IrEdge] = field(default_factory=list)


@dataclass(slots=True)
class IrLayer:
    """One layer, with its `type`, `version` and attributes (`data`) as text.

    `version` is `opset1`, `extension` or None, as written. `bodies` and `maps` (port maps and back_edges) are by IR
    tag. `contradicted` is the type or shape that the output port of a Const or Parameter states differently from
    `data`. Treat as immutable, because layers share equal parts.
    """

    id: str
    name: str
    type: str
    version: str | None
    line: int
    data: Mapping[str, str] = field(default_factory=lambda: _NO_ATTRIBUTES)
    inputs: tuple[IrPort, ...] = ()
    outputs: tuple[IrPort, ...] = ()
    bodies: Mapping[str, IrNet] = field(default_factory=lambda: _NO_ATTRIBUTES)
    maps: Mapping[str, list[IrEntry]] = field(default_factory=lambda: _NO_ATTRIBUTES)
    contradicted: str | tuple[int, ...] | None = None

    @property
    def body(self) -> IrNet | None:
        """Return the body of a TensorIterator or Loop.

        An If has `then_body` and `else_body` in `bodies`.
        """
        return self.bodies.get("body")


@dataclass(slots=True)
class IrModel:
    """A whole IR: name, IR version of <net> (None if missing), net, file."""

    name: str
    version: int | None
    net: IrNet
    file: str | None


def whole_number(text: str) -> int | None:
    """Parse a decimal integer from 0 to 2^63-1; None for anything else."""
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        return None
    return value if (value := int(text)) < 2**63 else None


def shapes_agree(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Return True if two shapes are compatible; -1 is an unknown size."""
    return len(shape) == len(other) and all(-1 in (a, b) or a == b for a, b in zip(shape, other, strict=True))


def contradiction(kind: str | None, shape: tuple[int, ...] | None, port: IrPort) -> str | tuple[int, ...] | None:
    """Return the type or shape that conflicts with a port's, or None."""
    if kind != port.element_type and None not in (kind, port.element_type):
        return kind
    return None if shape is None or port.shape is None or shapes_agree(shape, port.shape) else shape


def tensor_names(text: str) -> tuple[str, ...]:
    """Split tensor names at commas; a backslash escapes a comma."""
    parts = text.replace("\\,", "\0").split(",")  # XML cannot contain NUL
    return tuple(part.replace("\0", ",") for part in parts if part)


_T = TypeVar("_T")

_BLOCK = 16 * 1024
_MAX_QUOTED = 60  # characters of quoted text in messages
_PRECISIONS = {"FP16": "f16", "FP32": "f32", "FP64": "f64", "BOOL": "boolean", "BIN": "u1"}  # others are lower case
_UNKNOWN = ("UNSPECIFIED", "UNDEFINED", "DYNAMIC")


def read_ir(path: str | os.PathLike[str]) -> IrModel:
    """Read the structure of an IR file (.xml).

    Raises InputError if it is not a regular file or not a usable IR.
    """
    file = os.fspath(path)
    try:
        if not stat.S_ISREG(Path(file).stat().st_mode):  # before opening, because opening a pipe blocks
            raise InputError("expected a regular file", file=file)
        with Path(file).open("rb") as stream:
            model = _Reader(file).read(iter(lambda: stream.read(_BLOCK), b""))
    except (OSError, ValueError) as error:  # ValueError: invalid path
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=file) from None
    model.file = file
    return model


def read_ir_bytes(data: bytes, name: str = "<bytes>") -> IrModel:
    """Read an IR's structure from memory; `name` is the file in errors.

    Raises InputError.
    """
    return _Reader(name).read(data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))


def _show(text: str) -> str:
    return repr(text if len(text) <= _MAX_QUOTED else text[:_MAX_QUOTED] + "…")


class _Reader:
    """Handlers of expat events; unknown tags are skipped with their content."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.model: IrModel | None = None
        self.states = ["document"]  # open tags, bodies as "net"
        self.nets: list[IrNet] = []  # open nets; likewise the layers
        self.layers: list[IrLayer] = []
        self.sections: list[set[str]] = []  # per open net and layer, the child tags seen so far
        self.bodies: list[dict[str, IrNet]] = []  # per open layer
        self.maps: list[dict[str, list[IrEntry]]] = []
        self.ports: list[IrPort] = []
        self.dims: list[int] = []
        self.text = ""
        self.shared: dict[Any, Any] = {}  # interned words and shapes
        self.datas: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
        self.counts = Counts()
        self.skipping = self.fed = 0
        self.parser = parser = expat.ParserCreate("utf-8")  # fixed, so that a declared encoding is ignored
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self.refuse
        parser.ExternalEntityRefHandler = self.refuse

    def read(self, blocks: Iterable[bytes]) -> IrModel:
        try:
            for block in blocks:
                self.parse(block)
            self.parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise self.error(f"expected well-formed XML, found: {expat.ErrorString(error.code)}") from None
        if self.model is None:
            raise self.error("expected an OpenVINO IR, found nothing")
        return self.model

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber

    def parse(self, block: bytes) -> None:
        self.fed += len(block)
        if self.fed > MAX_BYTES:
            raise self.error(f"expected at most {MAX_BYTES} bytes of XML")
        self.parser.Parse(block, False)
        if self.fed - self.parser.CurrentByteIndex > MAX_TOKEN:
            raise self.error(f"expected tags and texts of at most {MAX_TOKEN} bytes, found a longer one")

    def error(self, message: str, line: int | None = None, layer: IrLayer | None = None) -> InputError:
        layer = layer or (self.layers[-1] if self.layers else None)
        place = f"line {line or self.line}"
        return InputError(
            message, file=self.file, place=place + (f", layer {_show(layer.name or layer.id)}" if layer else "")
        )

    def refuse_excess(self, message: str | None) -> None:
        if message is not None:
            raise self.error(message)

    def refuse(self, *_: object) -> int:
        raise self.error("an IR must not contain a document type or entity declaration")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        state = self.states[-1]
        opener = None if self.skipping else _START_HANDLERS.get((state, tag))
        depth = len(self.states) + self.skipping
        self.refuse_excess(self.counts.element(tag, attributes, depth, is_kept=opener is not None))
        if opener is None:
            if state in ("document", "dim"):
                expected = "<net>, the root element of an OpenVINO IR" if state == "document" else "a number in <dim>"
                raise self.error(f"expected {expected}, found an element {_show(tag)}")
            self.skipping += 1
            return
        if state in ("net", "layer"):
            if tag in self.sections[-1]:
                raise self.error(f"expected one <{tag}>, found a second")
            self.sections[-1].add(tag)
        opener(self, tag, attributes)
        self.states.append("net" if tag in MAPS else "entry" if state in _MAPPED else tag)

    def end(self, _tag: str) -> None:
        if self.skipping:
            self.skipping -= 1
        elif (end_handler := _END_HANDLERS.get(self.states.pop())) is not None:
            end_handler(self)

    def number(self, tag: str, attributes: dict[str, str], key: str) -> str:
        text = attributes.get(key)
        value = None if text is None else whole_number(text)
        if value is None:
            result = "none" if text is None else _show(text)
            raise self.error(f"expected a whole number as {key} of <{tag}>, found {result}")
        return self.share(str(value))

    def share(self, value: _T) -> _T:
        """Return the first equal value, so that equal values are stored once."""
        shared: _T = self.shared.setdefault(value, value)
        return shared

    def open_net(self, tag: str, attributes: dict[str, str]) -> None:
        self.refuse_excess(depth_excess(len(self.nets), self.layers))
        net = IrNet()
        if self.layers:
            self.bodies[-1][tag] = net
        else:
            version = int(self.number(tag, attributes, "version")) if "version" in attributes else None
            self.model = IrModel(attributes.get("name", ""), version, net, None)
        self.nets.append(net)
        self.sections.append(set())

    def open_layer(self, tag: str, attributes: dict[str, str]) -> None:
        if not attributes.get("type"):
            raise self.error("expected a type of <layer>, found none")
        number, name, version = (
            self.number(tag, attributes, "id"),
            attributes.get("name", ""),
            attributes.get("version"),
        )
        self.counts.add(0, 0, 1)
        self.refuse_excess(name_excess(attributes) or self.counts.limit_message())
        self.layers.append(IrLayer(number, name, self.share(attributes["type"]), self.share(version), self.line))
        self.nets[-1].layers.append(self.layers[-1])
        self.sections.append(set())
        self.bodies.append({})
        self.maps.append({})

    def declare(self, layer: IrLayer) -> None:
        """Set the output from <data>, as OpenVINO does; record a contradiction."""
        for port in layer.outputs[:1]:
            kind, shape = port.element_type, port.shape
            if "element_type" in layer.data:
                port.element_type = self.element_type(layer.data["element_type"])
            if "shape" in layer.data:
                port.shape = self.shape(layer.data["shape"])
            layer.contradicted = contradiction(kind, shape, port)

    def close_layer(self) -> None:
        layer = self.layers[-1]
        if layer.type in DECLARING:
            self.declare(layer)
        layer.bodies, layer.maps = self.bodies.pop() or layer.bodies, self.maps.pop() or layer.maps
        self.layers.pop()
        self.sections.pop()

    def open_map(self, tag: str, _attributes: dict[str, str]) -> None:
        self.maps[-1][tag] = []

    def open_entry(self, tag: str, attributes: dict[str, str]) -> None:
        self.maps[-1][self.states[-1]].append(IrEntry(tag, attributes, self.line))

    def open_ports(self, _tag: str, _attributes: dict[str, str]) -> None:
        self.ports = []

    def close_inputs(self) -> None:
        self.layers[-1].inputs = tuple(self.ports)

    def close_outputs(self) -> None:
        self.layers[-1].outputs = tuple(self.ports)

    def open_data(self, _tag: str, attributes: dict[str, str]) -> None:
        self.layers[-1].data = self.datas.setdefault(tuple(attributes.items()), attributes)

    def open_port(self, tag: str, attributes: dict[str, str]) -> None:
        number, names = self.number(tag, attributes, "id"), tensor_names(attributes.get("names", ""))
        self.counts.add(0, len(names))
        kind = self.element_type(attributes["precision"]) if "precision" in attributes else None
        self.ports.append(IrPort(number, kind, None, self.share(names), self.line - self.layers[-1].line))
        self.dims = []

    def close_port(self) -> None:
        self.ports[-1].shape = self.share(tuple(self.dims)) or None

    def open_dim(self, _tag: str, _attributes: dict[str, str]) -> None:
        self.text = ""
        self.parser.CharacterDataHandler = self.characters

    def characters(self, text: str) -> None:
        self.text += text
        if len(self.text) > _MAX_QUOTED:
            raise self.error(f"expected a number in <dim>, found {_show(self.text)}")

    def close_dim(self) -> None:
        self.parser.CharacterDataHandler = None
        self.dims.append(self.size(self.text))

    def size(self, text: str) -> int:
        value = -1 if text.strip() == "-1" else whole_number(text)
        if value is None:
            raise self.error(f"expected a size from 0 to 2^63-1, or -1, found {_show(text)}")
        return value

    def shape(self, text: str) -> tuple[int, ...] | None:
        """Parse the shape of <data>.

        "2,?,1..3" has unknown sizes, "" is a scalar, "..." an unknown rank.
        """
        if text.strip() in ("", "..."):
            return None if text.strip() else ()
        return tuple(-1 if part.strip() == "?" or ".." in part else self.size(part) for part in text.split(","))

    def element_type(self, text: str) -> str | None:
        if not (text.isascii() and text.isidentifier() and len(text) < _MAX_QUOTED):
            raise self.error(f"expected an element type such as FP32 or i64, found {_show(text)}")
        return None if text.upper() in _UNKNOWN else self.share(_PRECISIONS.get(text.upper(), text.lower()))

    def open_edge(self, tag: str, attributes: dict[str, str]) -> None:
        start, start_port = (self.number(tag, attributes, key) for key in ("from-layer", "from-port"))
        stop, stop_port = (self.number(tag, attributes, key) for key in ("to-layer", "to-port"))
        self.nets[-1].edges.append(IrEdge(start, start_port, stop, stop_port, self.line))

    def close_net(self) -> None:
        self.sections.pop()
        connect(self.nets.pop(), self.error)


_MAPPED = {**dict.fromkeys(MAPS.values(), ("input", "output")), "back_edges": ("edge",)}
_START_HANDLERS: dict[tuple[str, str], Callable[[_Reader, str, dict[str, str]], None]] = {
    ("document", "net"): _Reader.open_net,
    ("layers", "layer"): _Reader.open_layer,
    ("edges", "edge"): _Reader.open_edge,
    ("layer", "data"): _Reader.open_data,
    ("input", "port"): _Reader.open_port,
    ("output", "port"): _Reader.open_port,
    ("port", "dim"): _Reader.open_dim,
    **dict.fromkeys((("layer", tag) for tag in MAPS), _Reader.open_net),
    **dict.fromkeys((("layer", tag) for tag in _MAPPED), _Reader.open_map),
    **{(tag, inner): _Reader.open_entry for tag, tags in _MAPPED.items() for inner in tags},
    **dict.fromkeys((("layer", "input"), ("layer", "output")), _Reader.open_ports),
    **dict.fromkeys((("net", "layers"), ("net", "edges")), lambda *_: None),
}
_END_HANDLERS: dict[str, Callable[[_Reader], None]] = {
    "net": _Reader.close_net,
    "layer": _Reader.close_layer,
    "port": _Reader.close_port,
    "input": _Reader.close_inputs,
    "output": _Reader.close_outputs,
    "dim": _Reader.close_dim,
}
