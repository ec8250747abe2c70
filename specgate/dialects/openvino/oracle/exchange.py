"""Data exchanged between the OpenVINO oracle and its subprocess."""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as metadata_version
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from specgate.dialects.openvino.oracle.layer import Layer


class Blob(NamedTuple):
    """A serialized array: row-major element bytes, or strings.

    Types of less than a byte are packed as in OpenVINO.
    """

    type: str
    shape: tuple[int, ...]
    data: bytes | list[str]


class ComputedOutputs(NamedTuple):
    """The result for one set of arrays."""

    word: str
    detail: str = ""
    outputs: list[Blob] | None = None


#: Column, layer, and sets of arrays for all inputs including constants.
Question = tuple[str, "Layer", "list[list[Blob]]"]


def version() -> str:
    """Return the package's version, "unknown" if built from source."""
    try:
        return metadata_version("openvino")
    except PackageNotFoundError:
        return "unknown"


def python_module(name: str) -> Any:
    """Return a module of openvino, or of openvino.runtime before 2025.0."""
    try:
        return importlib.import_module(f"openvino.{name}")
    except ModuleNotFoundError:
        return importlib.import_module(f"openvino.runtime.{name}")
