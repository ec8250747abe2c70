"""ONNX Runtime's releases as targets that place and run nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.loading import lazy
from specgate.runtimes.protocol import Runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.linting.nodes import Graph
    from specgate.runtimes.onnxruntime import executor as onnxruntime_executor
    from specgate.runtimes.onnxruntime import finding_rules, findings, fixes, single_node, targets
    from specgate.runtimes.protocol import Executor, FileFindings
    from specgate.targets import Target
    from specgate.verdict import Finding, Verdict
else:
    onnxruntime_executor = lazy("specgate.runtimes.onnxruntime.executor")
    finding_rules = lazy("specgate.runtimes.onnxruntime.finding_rules")
    findings = lazy("specgate.runtimes.onnxruntime.findings")
    fixes = lazy("specgate.runtimes.onnxruntime.fixes")
    single_node = lazy("specgate.runtimes.onnxruntime.single_node")
    targets = lazy("specgate.runtimes.onnxruntime.targets")


class ONNXRuntime(Runtime):
    """See `Runtime`."""

    name = "onnxruntime"
    dialect = "onnx"

    def target(self, package: str, text: str) -> Target | None:
        return targets.runtime_target(package, text)

    def releases(self) -> Iterable[dict[str, Any]]:
        return targets.runtime_rows()

    def table_hashes(self) -> Mapping[str, str]:
        return targets.hashes()

    def rule_groups(self) -> Mapping[str, Mapping[str, tuple[str, str, dict[str, str]]]]:
        return {finding_rules.GROUP: finding_rules.RULES}

    def file_findings(
        self, graph: Graph, target: Target, device: frozenset[str] | None, file: str | None
    ) -> FileFindings:
        return findings.RuntimeFindings(graph, target, device, file)

    def verdict(
        self, descriptor: Descriptor, version: str, page: Verdict, target: Target, device: frozenset[str] | None
    ) -> Verdict:
        return single_node.runtime_verdict(descriptor, version, page, target, device)

    def registered_fix(self, finding: Finding, descriptor: Descriptor, target: Target) -> Finding:
        return finding if target.runtime is None else fixes.registered_fix(finding, descriptor, target.runtime)

    def executor(self, path: str, target: Target, on_note: Callable[[str], object]) -> Executor | None:
        return onnxruntime_executor.executor(path, target, on_note)
