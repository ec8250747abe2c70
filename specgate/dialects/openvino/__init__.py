"""OpenVINO dialect: IR layers and ``.xml`` files.

The oracle is the openvino package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from specgate.dialects.protocols import LowestLevel, Packaged, Runnable
from specgate.loading import lazy
from specgate.rules.language import NUMBERS, Attribute, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specgate.dialects.openvino import graph as openvino_graph
    from specgate.dialects.openvino import ir as openvino_ir
    from specgate.dialects.openvino import minimum as openvino_minimum
    from specgate.dialects.openvino import reader, run
    from specgate.dialects.openvino import references as openvino_references
    from specgate.dialects.openvino import rules as openvino_rules
    from specgate.dialects.openvino.oracle import oracle as openvino_oracle
    from specgate.execution.comparison import ModelComparison
    from specgate.execution.memory import Budget
    from specgate.execution.observed import Outputs
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.linting.versions import Versions
    from specgate.lowest.text import ModelMinimum
    from specgate.oracles.protocol import Oracle
    from specgate.targets import Target
    from specgate.verdict import Basis, Finding
else:
    reader = lazy("specgate.dialects.openvino.reader")
    run = lazy("specgate.dialects.openvino.run")
    openvino_graph = lazy("specgate.dialects.openvino.graph")
    openvino_ir = lazy("specgate.dialects.openvino.ir")
    openvino_minimum = lazy("specgate.dialects.openvino.minimum")
    openvino_oracle = lazy("specgate.dialects.openvino.oracle.oracle")
    openvino_references = lazy("specgate.dialects.openvino.references")
    openvino_rules = lazy("specgate.dialects.openvino.rules")


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

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary({"value": Attribute(NUMBERS, "value")})

    def table_word(self, word: Any, enum: str | None) -> Any:
        return reader.type_word(word)

    def builds_read(self, kind: str, raw: Any) -> Any:
        return reader.builds_read(kind, raw)

    def is_meant(self, item: Mapping[str, Any]) -> bool:
        kind, version = item.get("type", item.get("Type")), item.get("version")
        if not isinstance(kind, str):
            return False
        return "inputs" in item or "outputs" in item or (isinstance(version, str) and version.startswith("opset"))

    def begins_model(self, start: bytes) -> bool:
        return start.startswith(b"<")

    def graph(self, path: str, settings: LintSettings) -> Graph:
        return openvino_graph.openvino_units(openvino_ir.read_ir(path))

    def graph_of_bytes(self, data: bytes, name: str, settings: LintSettings) -> Graph:
        return openvino_graph.openvino_units(openvino_ir.read_ir_bytes(data, name))

    def file_rules(self) -> Mapping[str, tuple[str, str, dict[str, str]]]:
        return openvino_references.RULES

    def target_findings(self, graph: Graph, target: Target, files: list[str], versions: Versions) -> Iterable[Finding]:
        return openvino_rules.release_findings(graph, target, files)

    def minimum(self, model: Any, settings: LintSettings | None, basis: Basis) -> ModelMinimum:
        return openvino_minimum.ir_minimum(model, basis)

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
        del evaluate  # unused: no runtime computes single layers
        return run.run_model(path, arrays, target, budget=budget, on_node=on_node, basis=basis)

    def compare_model(
        self,
        path: str,
        arrays: Mapping[str, Any],
        implementation: str,
        target: Target | None,
        *,
        budget: Budget,
        on_node: Callable[[int, int], object],
        basis: Basis = "both",
    ) -> ModelComparison:
        return run.compare_model(path, arrays, implementation, target, budget=budget, on_node=on_node, basis=basis)

    def open_oracle(self, level: str) -> Oracle:
        return openvino_oracle.OpenVINOOracle(level)

    def oracle_of(self, implementation: str, level: str) -> Oracle:
        self.oracle(level).close()  # reports a missing installation
        return openvino_oracle.OpenVINOOracle(level, (implementation,))
