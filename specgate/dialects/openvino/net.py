"""What an OpenVINO IR file is made of: layers with ports, edges, and nets, which are models or bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "DECLARING", "MAPS", "IrEdge", "IrEntry", "IrLayer", "IrModel", "IrNet", "IrPort", "contradiction", "shapes_agree",
    "tensor_names", "whole_number",
]  # fmt: skip

#: The layers whose <data> states the type and the shape of the output.
DECLARING: Final = ("Const", "Parameter")


_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(slots=True)
class IrPort:
    """One port of a layer.

    `element_type` is OpenVINO's spelling (`f32`, `i64`, `boolean`), None if dynamic or not stated. In `shape` -1 is
    an unknown size (an interval too), None an unknown rank. The IR writes a scalar and a tensor of unknown rank
    alike, as a port without dims, so `()` stands only where a Const or Parameter says it. `below`: how many lines below
    that of its layer it stands.
    """

    id: str
    element_type: str | None
    shape: tuple[int, ...] | None
    names: tuple[str, ...]
    below: int


@dataclass(slots=True)
class IrEdge:
    """From an output port to an input port, all four by id within the same net."""

    from_layer: str
    from_port: str
    to_layer: str
    to_port: str
    line: int = 0


#: What maps the ports of a layer to each of its bodies.
MAPS: Final = {"body": "port_map", "then_body": "then_port_map", "else_body": "else_port_map"}


@dataclass(slots=True)
class IrEntry:
    """One line of a port map (`kind` is input or output) or of back_edges (edge), with its attributes as text."""

    kind: str
    data: dict[str, str]
    line: int = 0


@dataclass(slots=True)
class IrNet:
    """The layers and edges of a model or of a body, in the order of the file."""

    layers: list[IrLayer] = field(default_factory=list)
    edges: list[IrEdge] = field(default_factory=list)


@dataclass(slots=True)
class IrLayer:
    """One layer: `type` and `version` (`opset1`, `extension`, None) as written, `data` its attributes as text.

    bodies, maps: by the tags of the IR, maps being the port maps and back_edges. contradicted: the type or shape of the
    output port of a Const or Parameter where `data` states another. Treat as immutable: layers share what is equal.
    """

    id: str
    name: str
    type: str
    version: str | None
    line: int
    data: Mapping[str, str] = field(default_factory=lambda: _NONE)
    inputs: tuple[IrPort, ...] = ()
    outputs: tuple[IrPort, ...] = ()
    bodies: Mapping[str, IrNet] = field(default_factory=lambda: _NONE)
    maps: Mapping[str, list[IrEntry]] = field(default_factory=lambda: _NONE)
    contradicted: str | tuple[int, ...] | None = None

    @property
    def body(self) -> IrNet | None:
        """The body of a TensorIterator or Loop; an If has `then_body` and `else_body` in `bodies`."""
        return self.bodies.get("body")


@dataclass(slots=True)
class IrModel:
    """A whole IR: its name, the IR version of <net> (None if not stated), its net and the file it was read from."""

    name: str
    version: int | None
    net: IrNet
    file: str | None


def whole_number(text: str) -> int | None:
    """Read a decimal integer from 0 to 2^63-1; None for anything else."""
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        return None
    return value if (value := int(text)) < 2**63 else None


def shapes_agree(one: Sequence[int], other: Sequence[int]) -> bool:
    """Return whether two shapes can be those of one tensor; -1 is an unknown size."""
    return len(one) == len(other) and all(-1 in (a, b) or a == b for a, b in zip(one, other, strict=True))


def contradiction(kind: str | None, shape: tuple[int, ...] | None, port: IrPort) -> str | tuple[int, ...] | None:
    """Return the type or the shape with which a port cannot be what it is, None where it can."""
    if kind != port.element_type and None not in (kind, port.element_type):
        return kind
    return None if shape is None or port.shape is None or shapes_agree(shape, port.shape) else shape


def tensor_names(text: str) -> tuple[str, ...]:
    """Split the names of a tensor at commas; a comma within a name follows a backslash."""
    parts = text.replace("\\,", "\0").split(",")  # XML has no zero character
    return tuple(part.replace("\0", ",") for part in parts if part)
