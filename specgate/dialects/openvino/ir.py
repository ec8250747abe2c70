"""A streaming reader of the structure of an OpenVINO IR file: layers, ports, edges, bodies.

The XML never becomes a tree: expat reports tags, the reader keeps what a layer is made of and skips the rest, and
every count, length and depth is bounded, so that a hostile file costs an error and neither memory nor time.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

from specgate.dialects.openvino.net import MAPS, IrEdge, IrEntry, IrLayer, IrModel, IrNet, IrPort, whole_number
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["read_ir", "read_ir_bytes"]

_BLOCK = 64 * 1024
_MAX_BYTES = 512 * 1024 * 1024
_MAX_TOKEN = 4 * 1024 * 1024  # one tag, comment or text; expat before 2.6 rescans an unfinished one at every block
_MAX_ATTRIBUTE = 1024 * 1024
_MAX_ELEMENTS = 10_000_000  # read or skipped
_MAX_KEPT = 3_000_000  # those that take memory; a model of 20,000 layers has some 300,000
_MAX_DEPTH = 200
_MAX_BODIES = 32
_SHOWN = 60  # characters of the file's text in a message

# precisions that are not the element type in capitals
_PRECISIONS = {"FP16": "f16", "FP32": "f32", "FP64": "f64", "BOOL": "boolean", "BIN": "u1"}
_UNKNOWN = ("UNSPECIFIED", "UNDEFINED", "DYNAMIC")


def read_ir(path: str | os.PathLike[str]) -> IrModel:
    """Read the structure of an IR file (.xml); raises InputError if it is no regular file or no usable IR."""
    file = os.fspath(path)
    try:
        if not stat.S_ISREG(Path(file).stat().st_mode):  # before opening: to open a pipe would wait
            raise InputError("expected a regular file", file=file)
        with Path(file).open("rb") as stream:
            model = _Reader(file).read(iter(lambda: stream.read(_BLOCK), b""))
    except (OSError, ValueError) as error:  # a ValueError is a path that the system cannot take
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=file) from None
    model.file = file
    return model


def read_ir_bytes(data: bytes, name: str = "<bytes>") -> IrModel:
    """Read the structure of an IR from memory; `name` stands for the file in errors. Raises InputError."""
    return _Reader(name).read(data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))


def _show(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def _names(text: str) -> tuple[str, ...]:
    """Split tensor names at commas; a comma within a name follows a backslash."""
    parts = text.replace("\\,", "\0").split(",")  # XML has no zero character
    return tuple(part.replace("\0", ",") for part in parts if part)


class _Reader:
    """What expat calls back; unknown tags are skipped whole."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.model: IrModel | None = None
        self.states = ["document"]  # the tags that lead here, bodies as "net"
        self.nets: list[IrNet] = []  # those open now, as are
        self.layers: list[IrLayer] = []
        self.sections: list[set[str]] = []  # per open net and layer: the tags met in it
        self.dims: list[int] = []
        self.text = ""
        self.skipping = self.elements = self.kept = 0
        self.parser = parser = expat.ParserCreate("utf-8")  # so a declared encoding is never looked up
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self.refuse
        parser.ExternalEntityRefHandler = self.refuse

    def read(self, blocks: Iterable[bytes]) -> IrModel:
        total = 0
        try:
            for block in blocks:
                total += len(block)
                if total > _MAX_BYTES:
                    raise self.error(f"expected at most {_MAX_BYTES} bytes of XML")
                self.parser.Parse(block, False)
                if total - self.parser.CurrentByteIndex > _MAX_TOKEN:
                    raise self.error(f"expected tags and texts of at most {_MAX_TOKEN} bytes, found a longer one")
            self.parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise self.error(f"expected well-formed XML, found: {expat.ErrorString(error.code)}") from None
        if self.model is None:
            raise self.error("expected an OpenVINO IR, found nothing")
        return self.model

    def error(self, message: str, line: int | None = None, layer: IrLayer | None = None) -> InputError:
        layer = layer or (self.layers[-1] if self.layers else None)
        place = f"line {line or self.parser.CurrentLineNumber}"
        return InputError(
            message, file=self.file, place=place + (f", layer {_show(layer.name or layer.id)}" if layer else "")
        )

    def refuse(self, *_: object) -> int:
        raise self.error("expected no document type and no entity declaration in an IR, found one")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        state = self.states[-1]
        opener = None if self.skipping else _OPENERS.get((state, tag))
        self.elements += 1
        self.kept += opener is not None
        if self.elements > _MAX_ELEMENTS or self.kept > _MAX_KEPT:
            raise self.error(f"expected at most {_MAX_ELEMENTS} elements, {_MAX_KEPT} of them outside rt_info")
        if len(self.states) + self.skipping > _MAX_DEPTH:
            raise self.error(f"expected at most {_MAX_DEPTH} nested elements")
        if opener is None:
            if state in ("document", "dim"):
                expected = "<net>, the root element of an OpenVINO IR" if state == "document" else "a number in <dim>"
                raise self.error(f"expected {expected}, found an element {_show(tag)}")
            self.skipping += 1
            return
        if max(map(len, attributes.values()), default=0) > _MAX_ATTRIBUTE:
            raise self.error(f"expected attributes of at most {_MAX_ATTRIBUTE} characters, found a longer one")
        if state in ("net", "layer"):
            if tag in self.sections[-1]:
                raise self.error(f"expected one <{tag}>, found a second")
            self.sections[-1].add(tag)
        opener(self, tag, attributes)
        self.states.append("net" if tag in MAPS else "entry" if state in _MAPPED else tag)

    def end(self, _tag: str) -> None:
        if self.skipping:
            self.skipping -= 1
        elif (closer := _CLOSERS.get(self.states.pop())) is not None:
            closer(self)

    def number(self, tag: str, attributes: dict[str, str], key: str) -> str:
        text = attributes.get(key)
        value = None if text is None else whole_number(text)
        if value is None:
            found = "none" if text is None else _show(text)
            raise self.error(f"expected a whole number as {key} of <{tag}>, found {found}")
        return str(value)

    def open_net(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.nets) > _MAX_BODIES:
            raise self.error(f"expected at most {_MAX_BODIES} bodies within each other")
        net = IrNet()
        if self.layers:
            self.layers[-1].bodies[tag] = net
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
        self.layers.append(IrLayer(number, name, attributes["type"], version, self.parser.CurrentLineNumber))
        self.nets[-1].layers.append(self.layers[-1])
        self.sections.append(set())

    def close_layer(self) -> None:
        layer = self.layers[-1]
        if layer.type in ("Const", "Parameter"):  # their <data> states type and shape, and is what OpenVINO goes by
            for port in layer.outputs[:1]:
                if "element_type" in layer.data:
                    port.element_type = self.element_type(layer.data["element_type"])
                if "shape" in layer.data:
                    port.shape = self.shape(layer.data["shape"])
        self.layers.pop()
        self.sections.pop()

    def open_map(self, tag: str, _attributes: dict[str, str]) -> None:
        self.layers[-1].maps[tag] = []

    def open_entry(self, tag: str, attributes: dict[str, str]) -> None:
        entry = IrEntry(tag, attributes, self.parser.CurrentLineNumber)
        self.layers[-1].maps[self.states[-1]].append(entry)

    def open_data(self, _tag: str, attributes: dict[str, str]) -> None:
        self.layers[-1].data = attributes

    def open_port(self, tag: str, attributes: dict[str, str]) -> None:
        number, names = self.number(tag, attributes, "id"), _names(attributes.get("names", ""))
        kind = self.element_type(attributes["precision"]) if "precision" in attributes else None
        layer = self.layers[-1]
        ports = layer.inputs if self.states[-1] == "input" else layer.outputs
        ports.append(IrPort(number, kind, None, names, self.parser.CurrentLineNumber))
        self.dims = []

    def close_port(self) -> None:
        layer = self.layers[-1]
        ports = layer.inputs if self.states[-1] == "input" else layer.outputs
        ports[-1].shape = tuple(self.dims) or None

    def open_dim(self, _tag: str, _attributes: dict[str, str]) -> None:
        self.text = ""
        self.parser.CharacterDataHandler = self.characters

    def characters(self, text: str) -> None:
        self.text += text
        if len(self.text) > _SHOWN:
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
        """Read the shape of <data>: "2,?,1..3", "" for a scalar, "..." for an unknown rank."""
        if text.strip() in ("", "..."):
            return None if text.strip() else ()
        return tuple(-1 if part.strip() == "?" or ".." in part else self.size(part) for part in text.split(","))

    def element_type(self, text: str) -> str | None:
        if not (text.isascii() and text.isidentifier() and len(text) < _SHOWN):
            raise self.error(f"expected an element type such as FP32 or i64, found {_show(text)}")
        return None if text.upper() in _UNKNOWN else _PRECISIONS.get(text.upper(), text.lower())

    def open_edge(self, tag: str, attributes: dict[str, str]) -> None:
        start, start_port = (self.number(tag, attributes, key) for key in ("from-layer", "from-port"))
        stop, stop_port = (self.number(tag, attributes, key) for key in ("to-layer", "to-port"))
        self.nets[-1].edges.append(IrEdge(start, start_port, stop, stop_port, self.parser.CurrentLineNumber))

    def close_net(self) -> None:
        """Check ids and edges, and give input ports what they leave open from the output ports they read."""
        net = self.nets.pop()
        self.sections.pop()
        sources: dict[tuple[str, str], IrPort] = {}
        targets: dict[tuple[str, str], IrPort] = {}
        self.index(net, sources, targets)
        fed: set[tuple[str, str]] = set()
        for edge in net.edges:
            start, stop = (edge.from_layer, edge.from_port), (edge.to_layer, edge.to_port)
            source, target = sources.get(start), targets.get(stop)
            if source is None or target is None:
                way, (layer, port) = ("output", start) if source is None else ("input", stop)
                raise self.error(f"expected {way} port {port} of layer {layer} for this edge, found none", edge.line)
            if stop in fed:
                raise self.error(f"expected one edge to port {stop[1]} of layer {stop[0]}, found two", edge.line)
            fed.add(stop)
            target.element_type = target.element_type or source.element_type
            target.shape = source.shape if target.shape is None else target.shape

    def index(self, net: IrNet, sources: dict[tuple[str, str], IrPort], targets: dict[tuple[str, str], IrPort]) -> None:
        ids: set[str] = set()
        for layer in net.layers:
            if layer.id in ids:
                raise self.error(f"expected distinct layer ids, found {layer.id} twice", layer.line, layer)
            ids.add(layer.id)
            for ports, found in ((layer.inputs, targets), (layer.outputs, sources)):
                for port in ports:
                    if found.setdefault((layer.id, port.id), port) is not port:
                        raise self.error(f"expected distinct port ids, found {port.id} twice", port.line, layer)


_MAPPED = {**dict.fromkeys(MAPS.values(), ("input", "output")), "back_edges": ("edge",)}
_OPENERS: dict[tuple[str, str], Callable[[_Reader, str, dict[str, str]], None]] = {
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
    **dict.fromkeys((("net", "layers"), ("net", "edges"), ("layer", "input"), ("layer", "output")), lambda *_: None),
}
_CLOSERS: dict[str, Callable[[_Reader], None]] = {
    "net": _Reader.close_net,
    "layer": _Reader.close_layer,
    "port": _Reader.close_port,
    "dim": _Reader.close_dim,
}
