"""Layers and edges of an IR as OpenVINO itself writes them, read by patterns instead of tag by tag.

That takes a fourth of the time. A pattern matches a whole layer, or it does not: from the first layer on that is
written otherwise (another order or spelling, an entity, a comment, a body) the rest is left to the XML parser, which is
also fed all that stands around layers and edges. What is read is the same, and so is every error; tests hold both ways
against each other.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

from specgate.dialects.openvino.net import DECLARING, IrEdge, IrLayer, IrPort, tensor_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.dialects.openvino.limits import Counts
    from specgate.dialects.openvino.net import IrNet

__all__ = ["RegularParts"]

#: A layer, or what stands before the first, that is longer than this is left to the XML parser.
_WINDOW: Final = 256 * 1024
_MANY: Final = 100  # attributes: the XML parser holds them against its limit, as it does long names
_REMEMBERED: Final = 100  # texts, with what they say

_SPACE = rb"[ \t\n]*+"
_CHARACTER = rb'[^"&<\x00-\x1f]'
_TEXT = _CHARACTER + rb"*+"
_NUMBER = rb"(?:0|[1-9][0-9]{0,17}+)"  # as it is when it is written again
_ATTRIBUTE = rb'[A-Za-z_][A-Za-z0-9_.-]*+="' + _TEXT + rb'"'
_ATTRIBUTES = rb"(?: " + _ATTRIBUTE + rb")*+"
_INFO = rb"(?:<rt_info>%s(?:<attribute%s ?/>%s)*+</rt_info>%s)?+" % (_SPACE, _ATTRIBUTES, _SPACE, _SPACE)
_PORT = rb'<port id="(%s)"(?: precision="([A-Za-z_][A-Za-z0-9_]{0,58}+)")?+(?: names="(%s)")?+ ?' % (
    _NUMBER,
    _TEXT,
) + rb"(?:/>|>%s((?:<dim>(?:-1|[0-9]{1,18}+)</dim>%s)*+)</port>)%s" % (_SPACE, _SPACE, _SPACE)
_UNNUMBERED = re.sub(rb"\((?!\?)", rb"(?:", _PORT)
_PORTS = rb"(?:<%s>%s((?:" + _UNNUMBERED.replace(b"%", b"%%") + rb")*+)</%s>%s)?+"

_HEAD = re.compile(rb"(?:<\?xml[^<>&?]*+\?>)?+%s<net%s>%s<layers>" % (_SPACE, _ATTRIBUTES, _SPACE))
_LAYER = re.compile(
    rb'%s(<layer id="(%s)" name="(%s{0,1000}+)" type="(%s{1,100}+)" version="(%s{0,100}+)"(?: output_names="%s")?+>)%s'
    % (_SPACE, _NUMBER, _CHARACTER, _CHARACTER, _CHARACTER, _TEXT, _SPACE)
    + rb"(%s(?:<data(%s) ?/>%s)?+%s)" % (_INFO, _ATTRIBUTES, _SPACE, _INFO)
    + _PORTS % (b"input", _SPACE, b"input", _SPACE)
    + _PORTS % (b"output", _SPACE, b"output", _SPACE)
    + rb"</layer>"
)
_BETWEEN = re.compile(rb"%s</layers>%s<edges>" % (_SPACE, _SPACE))
_EDGE = re.compile(
    rb'%s<edge from-layer="(%s)" from-port="(%s)" to-layer="(%s)" to-port="(%s)" ?/>'
    % (_SPACE, _NUMBER, _NUMBER, _NUMBER, _NUMBER)
)
_AFTER = re.compile(rb"%s</edges>" % _SPACE)
_ONE_PORT = re.compile(_PORT)
_ONE_ATTRIBUTE = re.compile(rb' ([A-Za-z_][A-Za-z0-9_.-]*+)="(%s)"' % _TEXT)
_ONE_INFO = re.compile(rb"<attribute(%s)" % _ATTRIBUTES)
_DIM = re.compile(rb"-?[0-9]++")
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
#: What the <data> of a layer may state of its output; see `Reader.declare`.
_DECLARED = {
    "element_type": re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,58}"),
    "shape": re.compile(r"\.\.\.|(?:{0}(?:, ?{0})*)?".format(r"(?:-1|\?|[0-9]{1,18}|[0-9]{0,18}\.\.[0-9]{0,18})")),
}
_Port = tuple[str, str | None, tuple[int, ...] | None, tuple[str, ...], int]


class Reader(Protocol):
    """The reader of XML, as far as it is needed here. skipped: how many lines its parser does not see."""

    skipped: int
    counts: Counts
    nets: list[IrNet]

    @property
    def line(self) -> int:
        """The line that the parser has come to."""

    def parse(self, data: bytes) -> None:
        """Let the parser read on; raise InputError."""

    def between(self, tag: str) -> bool:
        """Whether the parser is at the top of the model, within `tag`."""

    def element_type(self, text: str) -> str | None:
        """Return the type that a word means."""

    def declare(self, layer: IrLayer) -> None:
        """Give the output of a Const or Parameter what its <data> states."""


class RegularParts:
    """Takes the blocks of a file in order, and hands to `reader` what it does not read itself."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.data, self.at = b"", 0
        self.step: Callable[[], bool] | None = self._head
        self.words: dict[str, str] = {}
        self.sections: dict[bytes, list[_Port]] = {}
        self.datas: dict[bytes, dict[str, str]] = {}

    def take(self, block: bytes) -> None:
        """Read another block, b"" at the end; raise InputError."""
        if self.step is None:
            self.reader.parse(block)
            return
        self.data, self.at = self.data[self.at :] + block, 0
        while self.step is not None and self.step():
            pass
        if not block or len(self.data) - self.at > _WINDOW:
            self.step = None
        if self.step is None:
            rest, self.data = self.data[self.at :], b""
            for known in (self.words, self.sections, self.datas):
                known.clear()
            self.reader.parse(rest)

    def _turn_to(self, step: Callable[[], bool] | None, found: re.Match[bytes], tag: str) -> bool:
        """Hand what was found between the parts to the parser, and go on with `step`, if the parser sees it alike."""
        self.at = found.end()
        self.reader.parse(found.group())
        self.step = step if self.reader.between(tag) else None
        return True

    def _head(self) -> bool:
        found = _HEAD.match(self.data)
        return found is not None and self._turn_to(self._layers, found, "layers")

    def _layers(self) -> bool:
        """Read as many layers as there are; each is either read whole, or not at all."""
        data, match, layer, reader = self.data, _LAYER.match, self._layer, self.reader
        line = reader.line
        while (found := match(data, self.at)) is not None:
            if not layer(found, line + data.count(b"\n", self.at, found.start(1))):
                self.step = None
                return False
            lines = data.count(b"\n", self.at, found.end())
            reader.skipped += lines
            line += lines
            self.at = found.end()
        between = _BETWEEN.match(data, self.at)
        return between is not None and self._turn_to(self._edges, between, "edges")

    def _layer(self, found: re.Match[bytes], line: int) -> bool:
        """Read a layer; return False for what the parser has to judge, or to read."""
        _, number, name, kind, version, stated, data, inputs, outputs = found.groups()
        whole = found.group()
        if not whole.isascii() and not _is_text(whole):
            return False
        elements = whole.count(b"<") - whole.count(b"</")
        informing = stated.count(b"<rt_info>") + stated.count(b"<attribute")
        values = _NONE if data is None else self._data(data)
        if values is None or (informing and not _sound(stated)):
            return False
        word = self._word
        layer = IrLayer(word(number), name.decode(), word(kind), word(version), line, values)
        start = found.start(1)
        if inputs:
            layer.inputs = self._ports(inputs, found.string.count(b"\n", start, found.start(8)))
        if outputs:
            layer.outputs = self._ports(outputs, found.string.count(b"\n", start, found.start(9)))
        if layer.type in DECLARING:
            if not all(_DECLARED[key].fullmatch(values[key]) for key in _DECLARED if key in values):
                return False
            self.reader.declare(layer)
        named = sum(len(port.names) for ports in (layer.inputs, layer.outputs) for port in ports)
        if not self.reader.counts.take(elements, elements - informing + named, 1):
            return False
        self.reader.nets[-1].layers.append(layer)
        return True

    def _word(self, text: bytes) -> str:
        """Return a text that is there many times."""
        word = text.decode()
        return self.words.setdefault(word, word)

    def _data(self, text: bytes) -> Mapping[str, str] | None:
        """Return attributes, None where one is there twice; many layers have the same."""
        known = self.datas.get(text)
        if known is None:
            pairs = _ONE_ATTRIBUTE.findall(text)
            known = {self._word(name): value.decode() for name, value in pairs}
            if len(known) != len(pairs) or len(pairs) > _MANY:
                return None
            _remember(self.datas, text, known)
        return known

    def _ports(self, text: bytes, below: int) -> tuple[IrPort, ...]:
        known = self.sections.get(text)
        if known is None:
            known = [self._port(text, port) for port in _ONE_PORT.finditer(text)]
            _remember(self.sections, text, known)
        return tuple([IrPort(number, kind, shape, names, below + at) for number, kind, shape, names, at in known])

    def _port(self, text: bytes, found: re.Match[bytes]) -> _Port:
        number, precision, names, dims = found.groups()
        kind = None if precision is None else self.reader.element_type(precision.decode())
        shape = tuple(map(int, _DIM.findall(dims))) if dims else None
        called = tensor_names(names.decode()) if names else ()
        return self._word(number), kind, shape or None, called, text.count(b"\n", 0, found.start())

    def _edges(self) -> bool:
        data, match, word, edges, reader = self.data, _EDGE.match, self._word, self.reader.nets[-1].edges, self.reader
        line = reader.line
        while (found := match(data, self.at)) is not None:
            if not reader.counts.take(1, 1):
                self.step = None
                return False
            lines = data.count(b"\n", self.at, found.end())
            line += lines
            reader.skipped += lines
            start, start_port, stop, stop_port = found.groups()
            edges.append(IrEdge(word(start), word(start_port), word(stop), word(stop_port), line))
            self.at = found.end()
        if _AFTER.match(data, self.at) is not None:
            self.step = None
        return False


def _remember(known: dict[bytes, Any], text: bytes, meaning: object) -> None:
    if len(known) >= _REMEMBERED:
        known.clear()
    known[text] = meaning


def _is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8 of characters that XML has; those below U+0020 are looked for elsewhere."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return "\ufffe" not in text and "\uffff" not in text


def _sound(stated: bytes) -> bool:
    """Whether no tag of rt_info has an attribute twice."""
    for found in _ONE_INFO.finditer(stated):
        names = [name for name, _ in _ONE_ATTRIBUTE.findall(found.group(1))]
        if len(set(names)) != len(names):
            return False
    return True
