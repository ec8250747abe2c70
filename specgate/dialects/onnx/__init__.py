"""ONNX: nodes as NodeProto and TypeProto have them, ``.onnx`` files; the oracles are onnx and ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.dialects.shipped import Packaged

if TYPE_CHECKING:
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.oracles.protocol import Oracle

__all__ = ["ONNX"]


class ONNX(Packaged):
    """See `DialectPackage`."""

    name = "onnx"
    shape = 'ONNX ("op_type")'
    suffixes = (".onnx",)
    implementations = ("onnx", "onnxruntime")

    def graph(self, path: str, settings: LintSettings) -> Graph:
        from specgate.dialects.onnx.file.model import read_model
        from specgate.dialects.onnx.lint.graph import onnx_units

        return onnx_units(read_model(path), settings)

    def opened(self, level: str) -> Oracle:
        from specgate.dialects.onnx.oracle.oracle import ONNXOracle

        return ONNXOracle(level)
