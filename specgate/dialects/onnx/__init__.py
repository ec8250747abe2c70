"""ONNX dialect: NodeProto descriptors and ``.onnx`` files.

The oracles are the onnx package and ONNX Runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from specgate.dialects.protocols import LibraryObjects, LowestLevel, ModelFixes, Packaged, Runnable
from specgate.loading import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from specgate.descriptors.core import Descriptor, Symbol
    from specgate.dialects.onnx import minimum as onnx_minimum
    from specgate.dialects.onnx import protos as onnx_protos
    from specgate.dialects.onnx import reader as onnx_reader
    from specgate.dialects.onnx.file import edit
    from specgate.dialects.onnx.file import model as file_model
    from specgate.dialects.onnx.lint import fixes as node_fixes
    from specgate.dialects.onnx.lint import graph as lint_graph
    from specgate.dialects.onnx.lint import references, types
    from specgate.dialects.onnx.lint import versions as lint_versions
    from specgate.dialects.onnx.oracle import oracle as onnx_oracle
    from specgate.dialects.onnx.run import model as onnx_run
    from specgate.execution.comparison import ModelComparison
    from specgate.execution.memory import Budget
    from specgate.execution.observed import Outputs
    from specgate.linting.modified_model import ModifiedModel
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.linting.versions import Versions
    from specgate.lowest.text import ModelMinimum
    from specgate.oracles.protocol import Oracle
    from specgate.runtimes.protocol import Runtime
    from specgate.targets import Target
    from specgate.verdict import Basis, Edit, Finding
else:
    edit = lazy("specgate.dialects.onnx.file.edit")
    file_model = lazy("specgate.dialects.onnx.file.model")
    lint_graph = lazy("specgate.dialects.onnx.lint.graph")
    node_fixes = lazy("specgate.dialects.onnx.lint.fixes")
    references = lazy("specgate.dialects.onnx.lint.references")
    types = lazy("specgate.dialects.onnx.lint.types")
    lint_versions = lazy("specgate.dialects.onnx.lint.versions")
    onnx_minimum = lazy("specgate.dialects.onnx.minimum")
    onnx_oracle = lazy("specgate.dialects.onnx.oracle.oracle")
    onnx_protos = lazy("specgate.dialects.onnx.protos")
    onnx_reader = lazy("specgate.dialects.onnx.reader")
    onnx_run = lazy("specgate.dialects.onnx.run.model")


class ONNX(Packaged, ModelFixes, Runnable, LibraryObjects, LowestLevel):
    """ONNX dialect; see `specgate.dialects.protocols`."""

    name = "onnx"
    shape = 'ONNX ("op_type")'
    containers = ("attributes",)
    node_class = "onnx.NodeProto"
    single_floats = True  # FLOAT is single precision
    tensor_words: ClassVar[Mapping[str, str]] = {"elem_type": "type", "shape": "sizes", "value": "value"}
    keys = (("op_type",),)
    marks = ('"op_type"',)
    suffixes = (".onnx",)
    max_bytes = 2**31 - 1  # protobuf's message size limit
    model_class = "onnx.ModelProto"
    echoes = ("onnx/model/stated-type", "onnx/model/stated-shape")
    implementations = ("onnx", "onnxruntime")

    def recognises(self, data: Mapping[str, Any]) -> bool:
        return "op_type" in data  # checked inline, without importing the reader, because it runs for every dict

    def descriptor_of(self, data: object) -> Descriptor | None:
        if not hasattr(data, "op_type") and not isinstance(data, tuple):
            return None
        return onnx_protos.from_node_proto(data)

    def table_word(self, word: Any, enum: str | None) -> Any:
        return onnx_reader.type_word(word)

    def operator_of(self, data: Mapping[str, Any]) -> str:
        return str(data.get("op_type"))

    def is_meant(self, item: Mapping[str, Any]) -> bool:
        return isinstance(item.get("op_type"), str)

    def begins_model(self, start: bytes) -> bool:
        # Near its start a ModelProto has lengths and field numbers below 32, which text never has.
        return not start.startswith(b"<") and any(code < 32 and code not in b"\t\n\r" for code in start)

    def is_model(self, model: object) -> bool:
        return hasattr(model, "graph")

    def model_bytes(self, model: object) -> bytes | None:
        return model.SerializeToString() if hasattr(model, "SerializeToString") else None

    def graph(self, path: str, settings: LintSettings) -> Graph:
        return lint_graph.onnx_units(file_model.read_model(path), settings)

    def graph_of_bytes(self, data: bytes, name: str, settings: LintSettings) -> Graph:
        return lint_graph.onnx_units(file_model.read_model_bytes(data, name), settings)

    def apply_edits(self, path: str, edits: Iterable[Edit]) -> ModifiedModel:
        return edit.EditedModel(path, edits)

    def file_rules(self) -> Mapping[str, tuple[str, str, dict[str, str]]]:
        return references.RULES

    def file_findings(self, graph: Graph, targets: Sequence[Target], file: str | None) -> Iterable[Finding]:
        if not graph.custom:
            return ()
        return lint_versions.custom_findings(graph, targets, file)

    def target_findings(self, graph: Graph, target: Target, files: list[str], versions: Versions) -> Iterable[Finding]:
        return lint_versions.target_findings(graph, target, files, versions)

    def limit_fixes(
        self, graph: Graph, target: Target, runtime: Runtime | None, findings: list[Finding]
    ) -> list[Finding]:
        return node_fixes.limit_fixes(graph, target, runtime, findings)

    def with_edits(self, graph: Graph, findings: list[Finding]) -> list[Finding]:
        return node_fixes.with_edits(graph, findings)

    def pins(self, graph: Graph, size: Symbol) -> Iterable[str]:
        if graph.source is None or types.is_invented(size):
            return ()
        return types.symbols_in(size, types.input_symbols(graph.source.model)) or (
            [size] if size.isidentifier() else ()
        )

    def minimum(self, model: object, settings: LintSettings | None, basis: Basis) -> ModelMinimum:
        return onnx_minimum.opset_minimum(model, settings, basis)

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
        return onnx_run.run_model(path, arrays, target, budget=budget, on_node=on_node, evaluate=evaluate, basis=basis)

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
        return onnx_run.compare_model(path, arrays, implementation, target, budget=budget, on_node=on_node, basis=basis)

    def open_oracle(self, level: str) -> Oracle:
        return onnx_oracle.ONNXOracle(level)
