"""ONNX dialect: NodeProto descriptors and ``.onnx`` files.

The oracles are the onnx package and ONNX Runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from specgate.dialects.protocols import LibraryObjects, LowestLevel, ModelFixes, Runnable
from specgate.dialects.shipped import Packaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from specgate.descriptors.core import Descriptor, Symbol
    from specgate.execution.comparison import Compared
    from specgate.execution.memory import Budget
    from specgate.execution.observed import Outputs
    from specgate.linting.modified_model import Edited
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.linting.versions import Versions
    from specgate.lowest.result import ModelMinimum
    from specgate.oracles.protocol import Oracle
    from specgate.runtimes.protocol import Runtime
    from specgate.targets import Target
    from specgate.verdict import Basis, Edit, Finding

__all__ = ["ONNX"]


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
        from specgate.dialects.onnx.protos import from_node_proto

        return from_node_proto(data)

    def spelt(self, word: Any, enum: str | None) -> Any:
        from specgate.dialects.onnx.reader import type_word

        return type_word(word)

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
        from specgate.dialects.onnx.file.model import read_model
        from specgate.dialects.onnx.lint.graph import onnx_units

        return onnx_units(read_model(path), settings)

    def graph_of_bytes(self, data: bytes, name: str, settings: LintSettings) -> Graph:
        from specgate.dialects.onnx.file.model import read_model_bytes
        from specgate.dialects.onnx.lint.graph import onnx_units

        return onnx_units(read_model_bytes(data, name), settings)

    def edited(self, path: str, edits: Iterable[Edit]) -> Edited:
        from specgate.dialects.onnx.file.edit import EditedModel

        return EditedModel(path, edits)

    def file_rules(self) -> Mapping[str, tuple[str, str, dict[str, str]]]:
        from specgate.dialects.onnx.lint.references import RULES

        return RULES

    def file_findings(self, graph: Graph, targets: Sequence[Target], file: str | None) -> Iterable[Finding]:
        if not graph.custom:
            return ()
        from specgate.dialects.onnx.lint.versions import custom_findings

        return custom_findings(graph, targets, file)

    def target_findings(self, graph: Graph, target: Target, files: list[str], versions: Versions) -> Iterable[Finding]:
        from specgate.dialects.onnx.lint.versions import target_findings

        return target_findings(graph, target, files, versions)

    def fitted(self, graph: Graph, target: Target, runtime: Runtime | None, findings: list[Finding]) -> list[Finding]:
        from specgate.dialects.onnx.lint.node_fixes import fitted

        return fitted(graph, target, runtime, findings)

    def with_edits(self, graph: Graph, findings: list[Finding]) -> list[Finding]:
        from specgate.dialects.onnx.lint.node_fixes import with_edits

        return with_edits(graph, findings)

    def pins(self, graph: Graph, size: Symbol) -> Iterable[str]:
        from specgate.dialects.onnx.lint.types import input_symbols, pinless, symbols_in

        if graph.source is None or pinless(size):
            return ()
        return symbols_in(size, input_symbols(graph.source.model)) or ([size] if size.isidentifier() else ())

    def minimum(self, model: object, settings: LintSettings | None, basis: Basis) -> ModelMinimum:
        from specgate.dialects.onnx.minimum import opset_minimum

        return opset_minimum(model, settings, basis)

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
        from specgate.dialects.onnx.run.model import run_model

        return run_model(path, arrays, target, budget=budget, on_node=on_node, evaluate=evaluate, basis=basis)

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
        from specgate.dialects.onnx.run.comparing import compare_model

        return compare_model(path, arrays, implementation, target, budget=budget, on_node=on_node)

    def opened(self, level: str) -> Oracle:
        from specgate.dialects.onnx.oracle.oracle import ONNXOracle

        return ONNXOracle(level)
