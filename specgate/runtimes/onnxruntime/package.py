"""ONNX Runtime's releases as targets that place and run nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.runtimes.protocol import Runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.linting.nodes import Graph
    from specgate.runtimes.protocol import Executor, FileFindings
    from specgate.targets import Target
    from specgate.verdict import Finding, Verdict

__all__ = ["ONNXRuntime"]


class ONNXRuntime(Runtime):
    """See `Runtime`."""

    name = "onnxruntime"
    dialect = "onnx"

    def target(self, package: str, text: str) -> Target | None:
        from specgate.runtimes.onnxruntime.targets import runtime_target

        return runtime_target(package, text)

    def releases(self) -> Iterable[dict[str, Any]]:
        from specgate.runtimes.onnxruntime.targets import runtime_rows

        return runtime_rows()

    def table_hashes(self) -> Mapping[str, str]:
        from specgate.runtimes.onnxruntime.targets import hashes

        return hashes()

    def rule_groups(self) -> Mapping[str, Mapping[str, tuple[str, str, dict[str, str]]]]:
        from specgate.runtimes.onnxruntime.finding_rules import GROUP, RULES

        return {GROUP: RULES}

    def file_findings(
        self, graph: Graph, target: Target, device: frozenset[str] | None, file: str | None
    ) -> FileFindings:
        from specgate.runtimes.onnxruntime.findings import RuntimeFindings

        return RuntimeFindings(graph, target, device, file)

    def verdict(
        self, descriptor: Descriptor, version: str, page: Verdict, target: Target, device: frozenset[str] | None
    ) -> Verdict:
        from specgate.runtimes.onnxruntime.single_node import runtime_verdict

        return runtime_verdict(descriptor, version, page, target, device)

    def registered_fix(self, finding: Finding, descriptor: Descriptor, target: Target) -> Finding:
        from specgate.runtimes.onnxruntime.registered_casts import registered_fix

        return finding if target.runtime is None else registered_fix(finding, descriptor, target.runtime)

    def executor(self, path: str, target: Target, on_note: Callable[[str], object]) -> Executor | None:
        from specgate.runtimes.onnxruntime.executor import executor

        return executor(path, target, on_note)
