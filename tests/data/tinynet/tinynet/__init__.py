"""An invented dialect: what a package has to bring so that every command of specgate takes it.

Its descriptors: ``{"call": "Flip", "since": "v2", "in": [["f32", [2, 3]]], "out": [["f32", [2, 3]]], "with": {"axis": 1}}``.
A tensor may end with how it lies in memory (``["f32", [2, 3], {"align": 16, "pages": 1}]``), and the type ``span`` of
an attribute holds two numbers (``{"first": 0, "last": 2}``): none of them is known outside of this package.
"""

from __future__ import annotations

import json
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.descriptors.core import UNSTATED, Descriptor, TensorDesc
from specgate.descriptors.positional import build, positional, shape_of
from specgate.dialects.protocols import ModelFormat, Positional
from specgate.errors import InputError, NoTable
from specgate.linting.nodes import Graph, Unit
from specgate.rules.language import NUMBER, Attribute, LayoutFunction, Vocabulary, register
from specgate.spec.tables import dialect
from specgate.verdict import Location

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.linting.settings import LintSettings
    from specgate.spec.fields import FieldInfo

__all__ = ["Span", "TinyNet"]

PAGE = 64


class Span(NamedTuple):
    """The positions from the first to the last, both included."""

    first: int
    last: int


def pages(bits: int, sizes: Sequence[int], _strides: Sequence[int] | None) -> int:
    """Return how many pages of 64 bytes a tensor needs; it has no strides here."""
    return -(-bits * prod(sizes) // (8 * PAGE))


VOCABULARY = Vocabulary(
    attributes={"align": Attribute(NUMBER, "alignment"), "pages": Attribute(NUMBER, "size_in_bytes")},
    functions={"pages_needed": LayoutFunction(NUMBER, pages, ("the pages that {} needs",), needs_bits=True)},
    records={"span": Span},
)
register(VOCABULARY)


class TinyNet(ModelFormat, Positional):
    """Three operators at three levels; a model is a JSON list of calls in a ``.tiny`` file."""

    name = "tinynet"
    shape = 'TinyNet ("call")'
    specs = Path(__file__).parent / "specs" / "tinynet"
    containers = ("with",)
    suffixes = (".tiny",)
    vocabulary = VOCABULARY

    def recognises(self, data: Mapping[str, Any]) -> bool:
        return "call" in data

    def read(self, data: Mapping[str, Any], place: str = "") -> Descriptor:
        spec = dialect(self.name).operator(str(data.get("call")))
        ports = [_tensor(port, place) for port in data.get("in", [])]
        results = [UNSTATED if port is None else _tensor(port, place) for port in data.get("out", [])]
        return build(
            spec, ports, results, data.get("with", {}), version=data.get("since"), convert=self.attribute_value
        )

    def write(self, descriptor: Descriptor) -> dict[str, Any]:
        spec = dialect(self.name).operator(descriptor.operator)
        fields = descriptor.fields
        written: dict[str, Any] = {
            "call": descriptor.operator,
            "in": [_port(tensor) for tensor in positional(fields, spec.inputs)],
            "out": [_port(tensor) for tensor in positional(fields, spec.outputs)],
            "with": {info.name: _plain(fields[info.name]) for info in spec.attributes if info.name in fields},
        }
        written["with"] |= {
            malformed.where: malformed.value
            for malformed in descriptor.oddities
            if malformed.code == "unknown-attribute"
        }
        return written if descriptor.version is None else {**written, "since": descriptor.version}

    def attribute_value(self, info: FieldInfo, raw: Any) -> Any:
        if info.type == "int" and (isinstance(raw, bool) or not isinstance(raw, int)):
            raise ValueError("an integer is expected")
        if info.type == "span":
            if (
                not isinstance(raw, dict)
                or set(raw) != {"first", "last"}
                or not all(type(n) is int for n in raw.values())
            ):
                raise ValueError("two integers, first and last, are expected")
            return Span(**raw)
        return raw

    def graph(self, path: str, settings: LintSettings) -> Graph:
        try:
            calls = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"expected a JSON list of calls: {error}", file=path) from None
        return Graph(self.name, [self._unit(call, Location(path, None, f"[{at}]")) for at, call in enumerate(calls)])

    def _unit(self, call: Any, place: Location) -> Unit:
        if not isinstance(call, dict):
            raise InputError("expected a call as an object", file=place.file, place=place.node)
        word = str(call.get("call"))
        place = replace(place, operator=word)
        try:
            return Unit(place, word, self.read(call, place.node or ""))
        except NoTable as error:
            return Unit(place, word, reason=str(error))


def _plain(value: Any) -> Any:
    return value._asdict() if isinstance(value, Span) else value


def _tensor(port: Any, place: str) -> TensorDesc | None:
    if port is None:
        return None
    if not isinstance(port, list) or len(port) not in {2, 3}:
        raise InputError("expected a tensor as [type, sizes]", place=place or None)
    memory = port[2] if len(port) == 3 else {}
    shape = shape_of(port[1], place, negative_is_unknown=True)
    return TensorDesc(port[0], shape, alignment=memory.get("align"), size_in_bytes=memory.get("pages"))


def _port(tensor: TensorDesc | None) -> list[Any] | None:
    if tensor is None or tensor is UNSTATED:
        return None
    sizes = [size if isinstance(size, int) or size is None else str(size) for size in tensor.sizes or ()]
    memory = {"align": tensor.alignment, "pages": tensor.size_in_bytes}
    numbers_by_name = {name: value for name, value in memory.items() if value is not None}
    return [tensor.type, None if tensor.sizes is None else sizes, *([numbers_by_name] if numbers_by_name else [])]
