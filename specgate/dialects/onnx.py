"""ONNX: nodes as NodeProto and TypeProto have them, ``.onnx`` files; the oracles are onnx and ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.dialects.base import DialectPackage
from specgate.dialects.installed import finished_levels, need

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.oracles.protocol import Oracle, ValuesSide
    from specgate.spec.forms import FieldInfo

__all__ = ["ONNX"]


class ONNX(DialectPackage):
    """See `DialectPackage`."""

    name = "onnx"
    shape = 'ONNX ("op_type")'
    suffixes = (".onnx",)

    def recognises(self, data: Mapping[str, Any]) -> bool:
        from specgate.descriptors.onnx import is_descriptor

        return is_descriptor(data)

    def read(self, data: Mapping[str, Any], place: str = "") -> Descriptor:
        from specgate.descriptors.onnx import read

        return read(data, place)

    def write(self, descriptor: Descriptor) -> dict[str, Any]:
        from specgate.descriptors.onnx import write

        return write(descriptor)

    def attribute_value(self, info: FieldInfo, raw: Any) -> Any:
        from specgate.descriptors.onnx import attribute_value

        return attribute_value(info, raw)

    def graph(self, path: str, settings: LintSettings) -> Graph:
        from specgate.linting.onnx_graph import onnx_units
        from specgate.models.onnx_model import read_model

        return onnx_units(read_model(path), settings)

    def oracle(self, level: str) -> Oracle:
        need("onnx", "onnxruntime")
        from specgate.oracles.onnx_oracle import ONNXOracle

        return ONNXOracle(level)

    def values(self, level: str) -> ValuesSide:
        return self.oracle(level)  # type: ignore[return-value]  # both protocols in one class

    def askable(self, levels: Sequence[str]) -> tuple[list[str], list[str]]:
        return finished_levels(self.name, levels)
