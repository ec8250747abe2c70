"""Checks of ONNX tensors and types: element types, sizes, amount of data.

Source: onnx/checker.cc of onnx, commit f75469120, and tests of what ONNX Runtime 1.31.1 rejects. Data is counted, never
read.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from specgate.descriptors.core import format_value
from specgate.descriptors.files import LEAVES_FOLDER, size_in_folder, unusable_location
from specgate.dialects.onnx.file.schema import DATA_FIELDS, PLAIN_KINDS
from specgate.dialects.onnx.file.structure import OnnxTensor, OnnxType
from specgate.dialects.onnx.lint.units import finding, label, tensors
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.dialects.onnx.file.structure import OnnxModel, OnnxNode
    from specgate.dialects.onnx.lint.units import Body, Place
    from specgate.verdict import Finding

_MAX_OFFSET: Final = 1 << 64
_NO_TYPE: Final = (None, "UNDEFINED")


def data_findings(model: OnnxModel, walked_bodies: Sequence[Body]) -> Iterator[Finding]:
    """Yield problems with the tensors and stated types of `model`.

    `walked_bodies` are its bodies.
    """
    sound: set[int] = set()  # ids of valid types and attributes, which most values and many nodes share
    for body in walked_bodies:
        place: Place = (model.file, body.place, None)
        graph = body.graph
        outermost = graph is None or graph is model.graph
        if graph is not None:
            for tensor in graph.initializers:
                yield from _tensor(tensor, "the initializer", tensor.name, place, outermost=outermost)
            for sparse in graph.sparse_initializers:
                yield from _parts(sparse, "the sparse initializer", sparse.name, place)
            infos = [*graph.inputs, *graph.outputs, *graph.value_infos]
        else:
            infos = body.function.value_infos if body.function is not None else []
        for info in infos:
            if info.type is not None and id(info.type) not in sound:
                findings = list(_type(info.type, format_value(info.name), place))
                yield from findings
                if not findings:
                    sound.add(id(info.type))
        for index, node in body.holders:
            if id(node.attributes) not in sound:
                node_at = (model.file, f"{body.place}/{label(node, index)}", node.op_type)
                findings = list(_attributes(node, node_at, outermost=outermost and node.op_type == "Constant"))
                yield from findings
                if not findings:
                    sound.add(id(node.attributes))
    for info in model.graph.inputs:
        if info.type is not None and info.type.kind == "tensor" and info.type.elem_type in _NO_TYPE:
            message = f"the input {format_value(info.name)} is a tensor without an element type"
            yield finding("type-element", "error", message, (model.file, "graph", None))


def tensor_bytes(tensor: OnnxTensor) -> int | None:
    """Return the bytes of a tensor's data, or None.

    None if its type or sizes do not determine that, for example for 6-bit types.
    """
    bits = dialect("onnx").bits.get(tensor.elem_type)
    if bits is None or bits & (bits - 1) or min(tensor.dims, default=0) < 0:
        return None
    return -(-_elements(tensor) * bits // 8)


def _elements(tensor: OnnxTensor) -> int:
    count = 1
    for dim in sorted(tensor.dims):  # size 0 first, so that the product stays small
        count = min(count * dim, _MAX_OFFSET)
    return count


def _attributes(node: OnnxNode, place: Place, *, outermost: bool) -> Iterator[Finding]:
    for name, tensor in tensors(node):
        yield from _tensor(tensor, "the attribute", name, place, outermost=outermost)
    for name, attribute in node.attributes.items():
        if attribute.kind in PLAIN_KINDS:
            continue
        for item in attribute.value if isinstance(attribute.value, list) else [attribute.value]:
            if isinstance(item, OnnxTensor) and item.sparse is not None:
                yield from _parts(item, "the attribute", name, place)
            elif isinstance(item, OnnxType):
                yield from _type(item, f"the attribute {format_value(name)}", place)


def _parts(sparse: OnnxTensor, noun: str, name: str, place: Place) -> Iterator[Finding]:
    for part, word in zip(sparse.sparse or (), ("values", "indices"), strict=False):
        yield from _tensor(part, f"the {word} of {noun}", name, place)


def _tensor(tensor: OnnxTensor, noun: str, name: str, place: Place, *, outermost: bool = False) -> Iterator[Finding]:
    """Yield problems with a tensor; `noun` and `name` are for messages.

    outermost: whether it is a constant of the main graph or a function. Runtimes may ignore its typed data if raw_data
    has the size that it needs.
    """
    if tensor.sparse is not None:
        return
    if tensor.elem_type not in DATA_FIELDS:
        text = "no element type" if tensor.elem_type in _NO_TYPE else f"the unknown element type {tensor.elem_type}"
        yield finding("tensor-type", "error", f"{noun} {format_value(name)} has {text}", place, graph_place="data_type")
    elif min(tensor.dims, default=0) < 0:
        message = f"{noun} {format_value(name)} has a size of {min(tensor.dims)}, which is negative"
        yield finding("tensor-size", "error", message, place, graph_place="dims")
    elif tensor.location == "inline" and not tensor.segment and (problem := _wrong_data(tensor)):
        message = f"{noun} {format_value(name)} {problem}"
        ignorable = outermost and len(tensor.stored_counts) > 1 and _elements(tensor)
        ignorable = ignorable and tensor.stored_counts.get("raw_data") == tensor_bytes(tensor)
        values = {"constants": "graph"} if ignorable else None
        yield finding(
            "tensor-data", "error", message, place, graph_place=next(iter(tensor.stored_counts), ""), values=values
        )


def _wrong_data(tensor: OnnxTensor) -> str | None:
    """Return the error in a tensor's data, or None."""
    count = _elements(tensor)
    numbers_by_name = tensor.stored_counts
    if not count:
        return f"has data, but {_describe_tensor(tensor)} has no elements" if any(numbers_by_name.values()) else None
    if len(numbers_by_name) != 1:
        fields = " and ".join(numbers_by_name) or "none"
        return f"has its data in {fields}, expected one field"
    (name, number), field = next(iter(numbers_by_name.items())), DATA_FIELDS[tensor.elem_type]
    if name != field and (name != "raw_data" or tensor.elem_type == "STRING"):
        return f"has its data in {name}, but {tensor.elem_type} data belongs in {field}"
    expected_length = tensor_bytes(tensor) if name == "raw_data" else _entries(tensor, count)
    if expected_length is None or expected_length == number:
        return None
    word = "bytes" if name == "raw_data" else "entries"
    return f"has {number} {word} in {name}, but {_describe_tensor(tensor)} needs {expected_length}"


def _describe_tensor(tensor: OnnxTensor) -> str:
    sizes = "x".join(map(str, tensor.dims)) if len(tensor.dims) <= 8 else f"{len(tensor.dims)} dimensions"
    return f"{tensor.elem_type} of {sizes}" if tensor.dims else f"one {tensor.elem_type}"


def _entries(tensor: OnnxTensor, count: int) -> int | None:
    """Return the number of typed field entries for some elements."""
    if tensor.elem_type.startswith("COMPLEX"):
        return 2 * count
    bits = dialect("onnx").bits.get(tensor.elem_type) or 8
    return -(-count * bits // 8) if bits in {2, 4} else count  # packed types


def _type(stated_type: OnnxType, noun: str, place: Place) -> Iterator[Finding]:
    inner: OnnxType | None = stated_type
    while inner is not None:
        if inner.elem_type is not None and inner.elem_type != "UNDEFINED" and inner.elem_type not in DATA_FIELDS:
            message = f"the type of {noun} has the unknown element type {inner.elem_type}"
            yield finding("type-element", "error", message, place)
        inner = inner.inner


_MAX_DIGITS: Final = 20


def external_findings(model: OnnxModel, walked_bodies: Sequence[Body]) -> Iterator[Finding]:
    """Yield problems with the external data of `model`.

    `walked_bodies` are its bodies. For a model read from memory, files are not checked.
    """
    files = _Files(model.file)
    place: Place
    for body in walked_bodies:
        if body.graph is not None:
            sparse = (replace(tensor, elem_type="UNDEFINED") for tensor in body.graph.sparse_initializers)
            for tensor in (*body.graph.initializers, *sparse):  # their dense sizes do not determine bytes
                if tensor.location == "external":
                    place = (model.file, body.place, None)
                    for matching_finding in files.check(tensor, f"the initializer {format_value(tensor.name)}", place):
                        yield replace(matching_finding, values={**matching_finding.values, "initializer": tensor.name})
        for index, node in body.holders:
            for name, tensor in tensors(node):
                if tensor.location == "external":
                    place = (model.file, f"{body.place}/{label(node, index)}", node.op_type)
                    yield from files.check(tensor, f"the attribute {format_value(name)}", place)


class _Files:
    """Cache of the sizes of files next to a model."""

    def __init__(self, model: str | None) -> None:
        self.folder = None if model is None else os.path.dirname(model) or "."  # noqa: PTH120
        self.sizes: dict[str, int | str | None] = {}

    def check(self, tensor: OnnxTensor, noun: str, place: Place) -> Iterator[Finding]:
        location = tensor.external.get("location", "")
        problem = unusable_location(location)
        if problem:
            yield finding(
                "external-location",
                "error",
                f"the location of the data of {noun} is {problem}",
                place,
                graph_place="location",
            )
            return
        numbers = {}
        for key in ("offset", "length"):
            text = tensor.external.get(key)
            number = _number(text)
            if text is not None and number is None:
                message = f"the {key} of the data of {noun} is {format_value(text)}, expected a number of bytes"
                yield finding("external-range", "error", message, place, graph_place=key)
                return
            numbers[key] = number
        size = self.size(location)
        if isinstance(size, str):
            rule = "external-location" if size == LEAVES_FOLDER else "external-missing"
            message = f"the data of {noun} is in {format_value(location)}, which {size}"
            yield finding(rule, "error", message, place, graph_place="location")
            return
        yield from _range(tensor, noun, numbers, size, place)

    def size(self, location: str) -> int | str | None:
        """Return a file's size in bytes, or its error.

        None without a folder.
        """
        if self.folder is None:
            return None
        if location not in self.sizes:
            self.sizes[location] = size_in_folder(self.folder, location)
        return self.sizes[location]


def _number(text: str | None) -> int | None:
    if text is None or not (text.isascii() and text.isdecimal()) or len(text) > _MAX_DIGITS:
        return None
    return int(text)


def _range(
    tensor: OnnxTensor, noun: str, numbers: dict[str, int | None], size: int | None, place: Place
) -> Iterator[Finding]:
    """Check length and range of external data."""
    offset, length, needed_bytes = numbers["offset"] or 0, numbers["length"], tensor_bytes(tensor)
    values = {"offset": offset, "length": length, "needed": needed_bytes, "file": size}
    if length is not None and needed_bytes is not None and length != needed_bytes:
        shape = "x".join(map(str, tensor.dims)) or "scalar"
        message = (
            f"the data of {noun} has a length of {length} bytes, but {tensor.elem_type} of {shape} needs {needed_bytes}"
        )
        yield finding("external-length", "error", message, place, graph_place="length", values=values)
    end = offset + (length if length is not None else needed_bytes or 0)
    if size is not None and end > size:
        name = format_value(tensor.external.get("location"))
        message = f"the data of {noun} ends at byte {end} of {name}, which has {size} bytes"
        yield finding("external-range", "error", message, place, graph_place="offset", values=values)
