"""Port maps and back edges, which say how a layer's ports and its bodies belong together, in a descriptor's `extra`.

They stand there in the words of the IR. No rule of a table reads them: a descriptor holds the ends of a body, and not
the layers that the maps name. Of a file they are judged by `specgate.dialects.openvino.bodies`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import shown
from specgate.dialects.openvino.net import MAPS
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor

__all__ = ["BACK_EDGES", "maps_of", "numbered", "parted", "with_maps"]

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


def numbered(data: Mapping[str, str]) -> dict[str, Any]:
    """Return the attributes of an entry, numbers as such; a text that is none stays as it is."""
    return {key: int(text) if len(text) < 20 and _is_number(text) else text for key, text in data.items()}


def _is_number(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdigit()


def parted(data: Mapping[str, Any], place: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the attributes of a layer's dict, and its port maps and back edges; raise InputError for odd ones."""
    maps = {name: _checked(name, data[name], f"{place}.{name}") for name in _NAMES if name in data}
    return {name: value for name, value in data.items() if name not in maps}, maps


def _checked(name: str, raw: Any, place: str) -> Any:
    if name == BACK_EDGES:
        return _entries(name, raw, place)
    if not isinstance(raw, dict) or not raw.keys() <= {"input", "output"}:
        raise InputError(f"expected an object with input and output, found {shown(raw)}", place=place)
    return {kind: _entries(name, raw[kind], f"{place}.{kind}") for kind in raw}


def _entries(name: str, raw: Any, place: str) -> list[dict[str, Any]]:
    if not isinstance(raw, list):
        raise InputError(f"expected a list of objects, found {shown(raw)}", place=place)
    for at, entry in enumerate(raw):
        if not isinstance(entry, dict) or not entry.keys() <= set(_KEYS[name]):
            expected = ", ".join(_KEYS[name])
            raise InputError(f"expected an object of {expected}, found {shown(entry)}", place=f"{place}[{at}]")
        if not all(type(value) is int or isinstance(value, str) for value in entry.values()):
            raise InputError(f"expected numbers and words, found {shown(entry)}", place=f"{place}[{at}]")
    return [dict(entry) for entry in raw]
