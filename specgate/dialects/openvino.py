"""OpenVINO: layers as an IR has them, ``.xml`` files, and the openvino package as oracle."""

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

__all__ = ["OpenVINO"]


class OpenVINO(DialectPackage):
    """See `DialectPackage`."""

    name = "openvino"
    shape = 'OpenVINO ("type", "data")'
    suffixes = (".xml",)

    def recognises(self, data: Mapping[str, Any]) -> bool:
        from specgate.descriptors.openvino import is_descriptor

        return is_descriptor(data)

    def read(self, data: Mapping[str, Any], place: str = "") -> Descriptor:
        from specgate.descriptors.openvino import read

        return read(data, place)

    def write(self, descriptor: Descriptor) -> dict[str, Any]:
        from specgate.descriptors.openvino import write

        return write(descriptor)

    def attribute_value(self, info: FieldInfo, raw: Any) -> Any:
        from specgate.descriptors.openvino import attribute_value

        return attribute_value(info, raw)

    def graph(self, path: str, settings: LintSettings) -> Graph:
        from specgate.linting.openvino_graph import openvino_units
        from specgate.models.openvino_ir import read_ir

        return openvino_units(read_ir(path))

    def oracle(self, level: str) -> Oracle:
        need("openvino")
        from specgate.oracles.openvino_oracle import OpenVINOOracle

        return OpenVINOOracle(level)

    def values(self, level: str) -> ValuesSide:
        return self.oracle(level)  # type: ignore[return-value]  # both protocols in one class

    def askable(self, levels: Sequence[str]) -> tuple[list[str], list[str]]:
        return finished_levels(self.name, levels)
