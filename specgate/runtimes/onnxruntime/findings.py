"""Lint findings for a release of a runtime.

One placement answers for `lint` and `place`. What ONNX forbids but the release loads and creates is a warning. What the
release rejects is an error, even if ONNX's tables do not have a rule for it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from specgate.runtimes.onnxruntime.finding_rules import GROUP, RULES
from specgate.runtimes.onnxruntime.graph import with_imports
from specgate.runtimes.onnxruntime.node_assignment import CPU
from specgate.runtimes.onnxruntime.place import place_graph
from specgate.runtimes.onnxruntime.placement import spared_reason
from specgate.runtimes.onnxruntime.registrations import runtime_tables
from specgate.runtimes.onnxruntime.run_outcomes import outcome
from specgate.slotted import replace
from specgate.verdict import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from specgate.linting.nodes import Graph
    from specgate.runtimes.onnxruntime.placement import PlacedNode, Placement
    from specgate.runtimes.onnxruntime.run_outcomes import Outcome
    from specgate.targets import Target
    from specgate.verdict import NodeRef

#: Findings of lint that `Placement.refusals` reports too.
_FILE_RULES: Final = ("onnx/model/opset-import", "onnx/model/ir-version")


class RuntimeFindings:
    """The findings on one model for one release of a runtime.

    graph: the model as the release reads it.
    """

    def __init__(self, graph: Graph, target: Target, device: frozenset[str] | None, file: str | None) -> None:
        assert target.runtime is not None  # every caller checks this  # noqa: S101
        self.target = target
        self.release = target.runtime.release
        self.graph = with_imports(graph, target.runtime)
        self.placement = place_graph(self.graph, target, device, file)
        self._title = f"{runtime_tables()['title']} {self.release}"

    def settle(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return the findings on nodes with the severities of the release.

        Further rejections by the release are included.
        """
        settled_findings = [
            finding if self._is_release_finding(finding) else self._to_warning(finding) for finding in findings
        ]
        settled_findings = [replace(finding, target=str(self.target)) for finding in settled_findings]
        failing_nodes = {finding.node for finding in settled_findings if finding.severity == "error"}
        return [*settled_findings, *_findings_of(self.placement, failing_nodes)]

    def refuses(self, finding: Finding) -> bool:
        """Return whether the release rejects models with a finding on the file."""
        item = self._nodes_by_index.get(finding.node or "")
        without_kernel = finding.severity == "error" and item is not None and item.fails and not item.has_kernel
        return (
            without_kernel or (finding.node, finding.id) in self._file_finding_keys or self._is_known_failure(finding)
        )

    def unknown(self, nodes: Sequence[NodeRef]) -> list[NodeRef]:
        """Return the nodes without a table whose operator the release lacks too."""
        return [
            node
            for node in nodes
            if not ((placed_node := self._nodes_by_index.get(node.location.node or "")) and placed_node.version)
        ]

    def as_warning(self, finding: Finding) -> Finding:
        """Return a finding on the file that the release ignores, as a warning."""
        return replace(finding, severity="warning", message=f"{finding.message}; {self._title} does not reject it")

    @cached_property
    def _nodes_by_index(self) -> Mapping[str, PlacedNode]:
        return {node.node: node for node in self.placement.nodes if node.function is None}

    @cached_property
    def _file_finding_keys(self) -> set[tuple[str | None, str]]:
        return {(finding.node, finding.id) for finding in self.placement.file_findings}

    @cached_property
    def _failures(self) -> set[tuple[str, str]]:
        """Return pairs of a failing node's path and a finding id that says why.

        The path of nodes in functions is "".
        """
        failing_nodes = (node for node in self.placement.nodes if node.fails)
        return {("" if node.function else node.node, finding.id) for node in failing_nodes for finding in node.findings}

    def _is_known_failure(self, finding: Finding) -> bool:
        node = finding.node or ""
        return ("" if node.startswith("function ") else node, finding.id) in self._failures

    def _is_release_finding(self, finding: Finding) -> bool:
        """Return whether a finding is not an error, or makes the release fail."""
        if finding.severity != "error" or finding.id in _FILE_RULES or self._is_known_failure(finding):
            return True
        item = self._nodes_by_index.get(finding.node or "")
        return item is not None and item.fails and self._outcome(item, finding) in {"refused", "fails"}

    def _outcome(self, placed_node: PlacedNode, finding: Finding) -> Outcome:
        """Return the outcome for a node that breaks a rule, on the CPU only."""
        if placed_node.descriptor is None or placed_node.provider != CPU:
            return "unknown"
        return outcome(placed_node.descriptor, finding.id.rpartition("/")[2], self.release)

    def _to_warning(self, finding: Finding) -> Finding:
        return replace(
            finding, severity="warning", message=f"{finding.message.removesuffix('.')}; {self._spec_note(finding)}"
        )

    def _spec_note(self, finding: Finding) -> str:
        """Return the text for a node that the release runs against ONNX's rules."""
        placed_node = self._nodes_by_index.get(finding.node or "")
        runs = placed_node is not None and self._outcome(placed_node, finding) == "runs"
        return f"not allowed by the ONNX specification, but {self._title} {'runs it' if runs else 'does not reject it'}"


def _findings_of(placement: Placement, failing_names: AbstractSet[str | None]) -> Iterator[Finding]:
    """Yield the findings of a placement.

    failing_names: nodes whose failure an error already explains.
    """
    model = Location(placement.file, None, "model")
    for refusal in placement.own_refusals:
        yield _finding(placement, "session-fails", refusal, model)
    for node in placement.unlike:
        rule = _rule(node)
        if rule is None and not (node.open or node.findings or node.run_fails or node.creation == "fails" or node.gone):
            continue
        location = Location(placement.file, None, node.node, node.operator)
        fix = placement.fixes[0] if placement.fixes and node.reason == "newer" else None
        values = {"provider": node.provider, "version": node.version}
        if node.spared:
            yield replace(
                _finding(placement, rule or "session-fails", spared_reason(node), location, values), severity="note"
            )
            continue
        if rule is not None:
            yield _finding(placement, rule, node.why or "no provider has a kernel for it", location, values, fix)
        if node.has_kernel and node.creation == "fails" and node.node not in failing_names:
            yield _finding(placement, "session-fails", node.created_by, location, values)
        if node.run_fails:
            yield _finding(placement, "session-fails", f"fails at the first run: {node.run_fails}", location, values)
        for finding in node.warnings:
            yield replace(finding, target=placement.target, location=location, values=values)
        if node.open:
            yield _finding(placement, "undecided", node.open, location, values)


def _rule(node: PlacedNode) -> str | None:
    if not node.has_kernel:
        return "no-kernel"
    if node.casts:
        return "cast"
    if not node.reason:
        return None
    return {"newer": "newer-than-registered", "preferred": "preferred-cpu"}.get(node.reason, "on-cpu")


def _finding(
    placement: Placement,
    rule: str,
    message: str,
    location: Location,
    values: dict[str, Any] | None = None,
    fix: str | None = None,
) -> Finding:
    severity: Any = RULES[rule][0]
    return Finding(
        f"{GROUP}/{rule}", severity, message, values=values or {}, fix=fix, target=placement.target, location=location
    )
