"""Tensors whose data lies in other files: that the files are there, inside the model's folder, and large enough.

Source: docs/ExternalData.md of onnx, commit f75469120. The data is never read: a look at the file's size is enough.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from specgate.descriptors.beside import size_in_folder, unusable_location
from specgate.descriptors.core import shown
from specgate.dialects.onnx.lint.data import tensor_bytes
from specgate.dialects.onnx.lint.walk import finding, label, tensors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.dialects.onnx.file.structure import OnnxModel, OnnxTensor
    from specgate.dialects.onnx.lint.walk import Body, Place
    from specgate.verdict import Finding

__all__ = ["external_findings"]

_MOST_DIGITS: Final = 20


def external_findings(model: OnnxModel, walked: Sequence[Body]) -> Iterator[Finding]:
    """Yield what is wrong with the external data of `model`, whose bodies are `walked`.

    Of one read from memory the files are not looked for.
    """
    files = _Files(model.file)
    at: Place
    for body in walked:
        if body.graph is not None:
            sparse = (replace(tensor, elem_type="UNDEFINED") for tensor in body.graph.sparse_initializers)
            for tensor in (*body.graph.initializers, *sparse):  # whose dense sizes say nothing of their bytes
                if tensor.location == "external":
                    at = (model.file, body.place, None)
                    for found in files.check(tensor, f"the initializer {shown(tensor.name)}", at):
                        yield replace(found, values={**found.values, "initializer": tensor.name})
        for index, node in body.holders:
            for name, tensor in tensors(node):
                if tensor.location == "external":
                    at = (model.file, f"{body.place}/{label(node, index)}", node.op_type)
                    yield from files.check(tensor, f"the attribute {shown(name)}", at)


class _Files:
    """The files beside a model, each asked for once."""

    def __init__(self, model: str | None) -> None:
        self.folder = None if model is None else os.path.dirname(model) or "."  # noqa: PTH120
        self.sizes: dict[str, int | str | None] = {}

    def check(self, tensor: OnnxTensor, what: str, at: Place) -> Iterator[Finding]:
        location = tensor.external.get("location", "")
        problem = unusable_location(location)
        if problem:
            yield finding("external-location", "error", f"the data of {what} lies in {problem}", at, where="location")
            return
        numbers = {}
        for key in ("offset", "length"):
            text = tensor.external.get(key)
            number = _number(text)
            if text is not None and number is None:
                message = f"the {key} of the data of {what} is {shown(text)}, expected a number of bytes"
                yield finding("external-range", "error", message, at, where=key)
                return
            numbers[key] = number
        size = self.size(location)
        if isinstance(size, str):
            rule = "external-location" if size.startswith("leads") else "external-missing"
            message = f"the data of {what} lies in {shown(location)}, which {size}"
            yield finding(rule, "error", message, at, where="location")
            return
        yield from _range(tensor, what, numbers, size, at)

    def size(self, location: str) -> int | str | None:
        """Return the size of a file in bytes, None if it cannot be asked for, or what is wrong with the file."""
        if self.folder is None:
            return None
        if location not in self.sizes:
            self.sizes[location] = size_in_folder(self.folder, location)
        return self.sizes[location]


def _number(text: str | None) -> int | None:
    if text is None or not (text.isascii() and text.isdecimal()) or len(text) > _MOST_DIGITS:
        return None
    return int(text)


def _range(
    tensor: OnnxTensor, what: str, numbers: dict[str, int | None], size: int | None, at: Place
) -> Iterator[Finding]:
    """The bytes that are pointed at are as many as the tensor has, and are there."""
    offset, length, needed = numbers["offset"] or 0, numbers["length"], tensor_bytes(tensor)
    values = {"offset": offset, "length": length, "needed": needed, "file": size}
    if length is not None and needed is not None and length != needed:
        shape = "x".join(map(str, tensor.dims)) or "scalar"
        message = f"the data of {what} has a length of {length} bytes, but {tensor.elem_type} of {shape} takes {needed}"
        yield finding("external-length", "error", message, at, where="length", values=values)
    end = offset + (length if length is not None else needed or 0)
    if size is not None and end > size:
        name = shown(tensor.external.get("location"))
        message = f"the data of {what} ends at byte {end} of {name}, which has {size} bytes"
        yield finding("external-range", "error", message, at, where="offset", values=values)
