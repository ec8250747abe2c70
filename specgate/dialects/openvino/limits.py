"""Limits on IR files, so that a malicious one cannot exhaust resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specgate.dialects.openvino.ir import IrLayer

__all__ = ["Counts", "depth_excess", "name_excess"]

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

    def element(self, tag: str, attributes: Mapping[str, str], depth: int, *, kept: bool) -> str | None:
        """Count an element at a depth; return a message if a limit is exceeded."""
        self.elements += 1
        self.kept += kept
        if self.elements > MAX_ELEMENTS or self.kept > MAX_KEPT:
            return self.excess()
        if depth > MAX_DEPTH:
            return f"expected at most {MAX_DEPTH} nested elements"
        if not kept or not attributes:
            return None
        if len(attributes) > MAX_ATTRIBUTES:
            return f"expected at most {MAX_ATTRIBUTES} attributes of <{tag}>, found {len(attributes)}"
        if max(map(len, attributes.values())) > MAX_ATTRIBUTE:
            return f"expected attributes of at most {MAX_ATTRIBUTE} characters, found a longer one"
        return None

    def add(self, elements: int, kept: int, layers: int = 0) -> None:
        self.elements += elements
        self.kept += kept
        self.layers += layers

    def excess(self) -> str | None:
        """Return a message if a count exceeds its limit."""
        if self.elements > MAX_ELEMENTS or self.kept > MAX_KEPT:
            return f"expected at most {MAX_ELEMENTS} elements, {MAX_KEPT} of them outside rt_info"
        return f"expected at most {MAX_LAYERS} layers" if self.layers > MAX_LAYERS else None


def depth_excess(bodies: int, around: Iterable[IrLayer]) -> str | None:
    """Return a message if bodies are nested too deep.

    `around` are the layers that contain the body.
    """
    if bodies > MAX_BODIES:
        return f"expected at most {MAX_BODIES} bodies within each other"
    if bodies > 1 and sum(len(layer.name) for layer in around) > MAX_PATH:
        return f"expected layers within each other with names of at most {MAX_PATH} characters together"
    return None


def name_excess(attributes: Mapping[str, str]) -> str | None:
    """Return a message if a layer's name, type or version is too long."""
    for key in ("name", "type", "version"):
        if len(attributes.get(key, "")) > MAX_NAME:
            return f"expected a {key} of <layer> of at most {MAX_NAME} characters, found a longer one"
    return None
