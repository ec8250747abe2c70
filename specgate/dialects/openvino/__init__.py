"""OpenVINO dialect: IR layers and ``.xml`` files.

The oracle is the openvino package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from specgate.dialects.protocols import LowestLevel, Runnable
from specgate.dialects.shipped import Packaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specgate.execution.comparison import Compared
    from specgate.execution.memory import Budget
    from specgate.execution.observed import Outputs
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.linting.versions import Versions
    from specgate.lowest.result import ModelMinimum
    from specgate.oracles.protocol import Oracle
    from specgate.targets import Target
    from specgate.verdict import Basis, Finding

__all__ = ["OpenVINO"]


class OpenVINO(Packaged, Runnable, LowestLevel):
    """OpenVINO dialect; see `specgate.dialects.protocols`."""

    name = "openvino"
    shape = 'OpenVINO ("type", "data")'
    keys = (("type", "element_type"),)
    suffixes = (".xml",)
    marker = b"<net"
    max_bytes = 2**30  # without weights, which are in another file
    implementations = ("openvino",)
    tensor_words: ClassVar[Mapping[str, str]] = {"element_type": "type", "shape": "sizes", "value": "value"}

    def spelt(self, word: Any, enum: str | None) -> Any:
        from specgate.dialects.openvino.reader import type_word

        return type_word(word)

    def builds_read(self, kind: str, raw: Any) -> Any:
        from specgate.dialects.openvino.attribute_texts import builds_read

        return builds_read(kind, raw)

    def is_meant(self, item: Mapping[str, Any]) -> bool:
        kind, version = item.get("type", item.get("Type")), item.get("version")
        if not isinstance(kind, str):
            return False
        return "inputs" in item or "outputs" in item or (isinstance(version, str) and version.startswith("opset"))

    def begins_model(self, start: bytes) -> bool:
        return start.startswith(b"<")

    def graph(self, path: str, settings: LintSettings) -> Graph:
        from specgate.dialects.openvino.graph import openvino_units
        from specgate.dialects.openvino.ir import read_ir

        return openvino_units(read_ir(path))

    def graph_of_bytes(self, data: bytes, name: str, settings: LintSettings) -> Graph:
        from specgate.dialects.openvino.graph import openvino_units
        from specgate.dialects.openvino.ir import read_ir_bytes

        return openvino_units(read_ir_bytes(data, name))

    def file_rules(self) -> Mapping[str, tuple[str, str, dict[str, str]]]:
        from specgate.dialects.openvino.references import RULES

        return RULES

    def target_findings(self, graph: Graph, target: Target, files: list[str], versions: Versions) -> Iterable[Finding]:
        from specgate.dialects.openvino.rules import release_findings

        return release_findings(graph, target, files)

    def minimum(self, model: Any, settings: LintSettings | None, basis: Basis) -> ModelMinimum:
        from specgate.dialects.openvino.minimum import ir_minimum

        return ir_minimum(model, basis)

    def run_model(
        self,
        path: str,
        arrays: Mapping[str, Any],
        target: Target | None,
        *,
        budget: Budget,
        on_node: Callable[[int, int], object],
        basis: Basis,
        evaluate: Callable[..., dict[str, Any]] | None = None,
    ) -> Outputs:
        from specgate.dialects.openvino.run import run_model

        del evaluate  # unused: no runtime computes single layers
        return run_model(path, arrays, target, budget=budget, on_node=on_node, basis=basis)

    def compare_model(
        self,
        path: str,
        arrays: Mapping[str, Any],
        implementation: str,
        target: Target | None,
        *,
        budget: Budget,
        on_node: Callable[[int, int], object],
    ) -> Compared:
        from specgate.dialects.openvino.comparing import compare_model

        return compare_model(path, arrays, implementation, target, budget=budget, on_node=on_node)

    def opened(self, level: str) -> Oracle:
        from specgate.dialects.openvino.oracle.oracle import OpenVINOOracle

        return OpenVINOOracle(level)

    def oracle_of(self, implementation: str, level: str) -> Oracle:
        from specgate.dialects.openvino.oracle.oracle import OpenVINOOracle

        self.oracle(level).close()  # reports a missing installation
        return OpenVINOOracle(level, (implementation,))
