"""Checks of an OpenVINO IR: version, edges, cycles, bodies, constants.

Source: what `read_model` of OpenVINO 2026.4.1 rejects. The .bin file is never read; its size is sufficient.
"""

from __future__ import annotations

import stat
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from specgate.descriptors.core import format_value
from specgate.dialects.openvino.bodies import body_findings, variable_findings
from specgate.dialects.openvino.ir import DECLARING, whole_number
from specgate.dialects.openvino.references import rule_finding
from specgate.spec.tables import dialect
from specgate.verdict import Location

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specgate.dialects.openvino.ir import IrLayer, IrModel, IrNet
    from specgate.linting.nodes import Graph
    from specgate.targets import Target
    from specgate.verdict import Finding

_MAX_LISTED: Final = 5
#: Bytes needed for a Const without elements, and bytes that OpenVINO writes for it.
_EMPTY: Final = (0, 1)


def ir_findings(model: IrModel) -> Iterator[Finding]:
    """Yield problems with the file itself.

    For a model read from memory, the .bin file is not checked.
    """
    versions = dialect("openvino").tables.ir_versions
    if str(model.version) not in versions:
        text = "has no IR version" if model.version is None else f"has IR version {model.version}"
        place = Location(model.file, None, "model")
        yield rule_finding("ir-version", f"{text}, expected {' or '.join(versions)}", place, rule_place="ir_version")
    weights = _Weights(model.file)
    yield from _net(model, model.net, "net", weights)
    if weights.problem and weights.const_count:
        place = Location(model.file, None, "model")
        layers = f"{weights.const_count} Const layer{'' if weights.const_count == 1 else 's'}"
        message = f"the bytes of {layers} are in {weights.name}, which {weights.problem}"
        yield rule_finding("weights-missing", message, place)


def release_findings(graph: Graph, target: Target, files: list[str]) -> Iterator[Finding]:
    """Yield a finding if a release does not support the file's IR version.

    A target that is only an opset does not determine that.
    """
    table = dialect("openvino")
    newest = target.ir_version if target.environment is not None else None
    if graph.ir_version is None or newest is None or graph.ir_version <= newest:
        return
    reading = (entry["title"] for entry in table.environments if entry.get("ir_version", 0) >= graph.ir_version)
    first = next(reading, None)
    if first is None:
        return  # not supported by any OpenVINO, which is reported without a target
    finding = rule_finding(
        "ir-version",
        f"has IR version {graph.ir_version}, but {target.environment} reads those up to {newest}",
        Location(files[0] if files else None, None, "model"),
        rule_place="ir_version",
        values={"ir_version": graph.ir_version, "target": newest},
    )
    yield replace(finding, target=str(target), fix=f"use {first}")


class _Weights:
    """Size and problems of the .bin file next to a model.

    The size is None if unknown.
    """

    def __init__(self, model: str | None) -> None:
        self.size: int | None = None
        self.problem = self.name = ""
        self.const_count = 0
        if model is None:
            return
        file = Path(model).with_suffix(".bin")
        self.name = format_value(file.name)
        try:
            status = file.stat()
        except FileNotFoundError:
            self.problem = "does not exist"
        except (OSError, ValueError) as error:
            self.problem = f"cannot be used: {getattr(error, 'strerror', None) or error}"
        else:
            self.size = status.st_size if stat.S_ISREG(status.st_mode) else None
            self.problem = "" if self.size is not None else "is not a regular file"


def _net(model: IrModel, net: IrNet, path: str, weights: _Weights) -> Iterator[Finding]:
    fed_ports = {(edge.to_layer, edge.to_port) for edge in net.edges}
    for layer in net.layers:
        layer_path = f"{path}/{layer.name or layer.id}"
        for port in layer.inputs:
            if (layer.id, port.id) not in fed_ports:
                message = f"the input port {port.id} is not connected"
                yield rule_finding(
                    "input-unconnected",
                    message,
                    _layer_location(model, layer, layer_path),
                    rule_place=f"port {port.id}",
                )
        yield from _outputs(layer, partial(_layer_location, model, layer, layer_path))
        if layer.type == "Const":
            yield from _constant(layer, partial(_layer_location, model, layer, layer_path), weights)
        if layer.bodies:
            yield from body_findings(layer, _layer_location(model, layer, layer_path))
        for name, body in layer.bodies.items():
            yield from _net(model, body, f"{layer_path}/{name}", weights)
    yield from variable_findings(model, net, path)
    circular = _layers_in_cycles(net)
    if circular:
        first = circular[0]
        names = ", ".join(format_value(layer.name or layer.id) for layer in circular[:_MAX_LISTED])
        message = f"is part of a cycle: {names}{' …' if len(circular) > _MAX_LISTED else ''}"
        yield rule_finding("cycle", message, _layer_location(model, first, f"{path}/{first.name or first.id}"))


def _outputs(layer: IrLayer, place: Callable[[], Location]) -> Iterator[Finding]:
    """Yield unknown types of output ports, and conflicts with the layer."""
    types = dialect("openvino").types
    for port in layer.outputs:
        declared = layer.contradicted if layer.type in DECLARING else None
        kind = declared if isinstance(declared, str) else port.element_type if layer.type not in DECLARING else None
        if kind is not None and kind not in types:
            word = format_value(kind, 40)
            message = f"the output port {port.id} has the element type {word}, which OpenVINO does not define"
            yield rule_finding("port-type", message, place(), rule_place=f"port {port.id}")
        elif declared is not None and (isinstance(declared, tuple) or port.element_type in types):
            declared_text = port.element_type if isinstance(declared, str) else f"the shape {list(port.shape or ())}"
            shape_text = declared if isinstance(declared, str) else f"the shape {list(declared)}"
            message = (
                f"the output port declares {shape_text}, but the layer declares {declared_text}, which OpenVINO uses"
            )
            yield rule_finding("declared", message, place(), rule_place=f"port {port.id}")


def _layer_location(model: IrModel, layer: IrLayer, path: str) -> Location:
    return Location(model.file, layer.line, path, layer.type)


def _layers_in_cycles(net: IrNet) -> list[IrLayer]:
    """Return the layers in cycles, in file order.

    Layers that are not in or between cycles are removed from both ends.
    """
    position = {layer.id: index for index, layer in enumerate(net.layers)}
    if all(position[edge.from_layer] < position[edge.to_layer] for edge in net.edges):
        return []  # topological order, as OpenVINO writes it
    after: dict[str, set[str]] = {}
    before: dict[str, set[str]] = {}
    for edge in net.edges:
        after.setdefault(edge.from_layer, set()).add(edge.to_layer)
        before.setdefault(edge.to_layer, set()).add(edge.from_layer)
    left = {layer.id for layer in net.layers}
    for links, back_edges in ((before, after), (after, before)):
        counts = {layer: len(links.get(layer, set()) & left) for layer in left}
        free = [layer for layer, count in counts.items() if not count]
        while free:
            layer = free.pop()
            left.discard(layer)
            for other in back_edges.get(layer, ()):
                if other in left:
                    counts[other] -= 1
                    if not counts[other]:
                        free.append(other)
    return [layer for layer in net.layers if layer.id in left]


def _constant(layer: IrLayer, place: Callable[[], Location], weights: _Weights) -> Iterator[Finding]:
    """Yield problems with a Const and with its bytes in the .bin file."""
    port = layer.outputs[0] if layer.outputs else None
    kind = layer.data.get("element_type")
    if port is None or kind is None or port.element_type not in dialect("openvino").types:
        text = _format_attribute(layer, "element_type")
        yield rule_finding(
            "constant", f"expected a known element_type, found {text}", place(), rule_place="element_type"
        )
        return
    sizes = port.shape
    if "shape" not in layer.data or sizes is None or min(sizes, default=0) < 0:
        yield rule_finding(
            "constant",
            f"expected a shape of known sizes, found {_format_attribute(layer, 'shape')}",
            place(),
            rule_place="shape",
        )
        return
    numbers = []
    for key in ("offset", "size"):
        number = whole_number(layer.data.get(key, ""))
        if number is None:
            message = f"expected a number of bytes as {key}, found {_format_attribute(layer, key)}"
            yield rule_finding("constant", message, place(), rule_place=key)
            return
        numbers.append(number)
    weights.const_count += 1
    offset, size = numbers
    needed_bytes = _bytes(port.element_type, sizes)
    values = {"offset": offset, "size": size, "needed": needed_bytes, "file": weights.size}
    if weights.size is not None and offset + size > weights.size:
        message = f"ends at byte {offset + size} of {weights.name}, which has {weights.size} bytes"
        yield rule_finding("weights-range", message, place(), rule_place="offset", values=values)
    if needed_bytes is not None and size != needed_bytes and (needed_bytes, size) != _EMPTY:
        rule = "weights-size" if size < needed_bytes else "weights-unused"
        shape = "x".join(map(str, sizes)) if sizes else "one element"
        message = f"has {size} bytes, but {port.element_type} of {shape} needs {needed_bytes}"
        yield rule_finding(rule, message, place(), rule_place="size", values=values)


def _format_attribute(layer: IrLayer, key: str) -> str:
    return format_value(layer.data[key]) if key in layer.data else "none"


def _bytes(kind: str | None, sizes: tuple[int, ...]) -> int | None:
    """Return the bytes of elements, None if the type does not determine it.

    That applies to strings and to types of 3 or 6 bits.
    """
    bits = dialect("openvino").bits.get(kind or "")
    if bits is None or bits & (bits - 1):
        return None
    count = 1
    for size in sorted(sizes):
        count = min(count * size, 1 << 64)
    return -(-count * bits // 8)
