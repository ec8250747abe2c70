"""OpenVINO: layers as an IR has them, ``.xml`` files, and the openvino package as oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.dialects.shipped import Packaged

if TYPE_CHECKING:
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.oracles.protocol import Oracle

__all__ = ["OpenVINO"]


class OpenVINO(Packaged):
    """See `DialectPackage`."""

    name = "openvino"
    shape = 'OpenVINO ("type", "data")'
    suffixes = (".xml",)
    implementations = ("openvino",)

    def graph(self, path: str, settings: LintSettings) -> Graph:
        from specgate.dialects.openvino.graph import openvino_units
        from specgate.dialects.openvino.ir import read_ir

        return openvino_units(read_ir(path))

    def opened(self, level: str) -> Oracle:
        from specgate.dialects.openvino.oracle.oracle import OpenVINOOracle

        return OpenVINOOracle(level)
