"""Creation of the kernels of placed nodes.

A kernel is created with the session, at the first run, or not at all. Source: onnxruntime
core/providers/dml/DmlExecutionProvider/src/MLOperatorAuthorImpl.cpp (AbiOpKernel). A kernel is created with the session
if all its constant inputs are constants and the sizes of all inputs are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from specgate.dialects.onnx.lint.types import attribute_of
from specgate.dialects.onnx.lint.units import STANDARD_DOMAINS
from specgate.runtimes.onnxruntime import lower
from specgate.runtimes.onnxruntime.finding_rules import GROUP, RULES
from specgate.runtimes.onnxruntime.load_checks import refusal
from specgate.runtimes.onnxruntime.placement import format_list
from specgate.runtimes.onnxruntime.reinference import is_inferred_by_runtime
from specgate.runtimes.onnxruntime.run_outcomes import run_failure
from specgate.validate.check import check_at
from specgate.validate.verdict_cache import Memo, key_of, keys_of
from specgate.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.runtimes.onnxruntime.graph import Node, NodeProperties
    from specgate.runtimes.onnxruntime.node_assignment import AssignedNode
    from specgate.runtimes.onnxruntime.placement import Creation, PlacedNode
    from specgate.runtimes.onnxruntime.registrations import Registration
    from specgate.runtimes.release import Runtime

    CreationResult = tuple[Creation, str, tuple[Descriptor, ...] | None, tuple[Finding, ...]]
    Failures = tuple[Finding | None, tuple[Finding, bool] | None]  # at load time, and at the first run
    Outlined = tuple[str, tuple[Descriptor, ...], tuple[Finding, ...]]

Answer = TypeVar("Answer")

_CREATIONS: Final[Memo[CreationResult]] = Memo()
_OUTLINE_CACHE: Final[Memo[Outlined]] = Memo()
#: Maximum elements of a constant in a cache key; for larger ones, hashing costs more than lowering.
_MAX_ELEMENTS: Final = 4096
_REFUSALS: Final[Memo[Finding | None]] = Memo()
_FAILURES: Final[Memo[tuple[Finding, bool] | None]] = Memo()
_NO_FAILURES: Final[Failures] = (None, None)


class Creator:
    """Determines whether the kernels of a model's nodes are created.

    Equal nodes are examined once.
    """

    def __init__(
        self,
        runtime: Runtime,
        device: frozenset[str] | None,
        stated_findings: Mapping[str, Finding],
        computed_by_node: Mapping[int, Descriptor],
    ) -> None:
        """Prepare for the nodes of a model.

        stated_findings: by node path, findings on stated output types that contradict the inferred ones.
        computed_by_node: by node id, descriptors with the sizes of a run, for nodes whose stated sizes differ.
        """
        self.runtime, self.computed = runtime, computed_by_node
        self.stated = stated_findings
        self.device = device
        self._results: dict[object, CreationResult] = {}
        self._outlines: dict[NodeProperties, Outlined] = {}
        self._first = runtime.providers[0] if runtime.below else None
        self._last = runtime.providers[-1]
        self._blind: set[tuple[int, str]] = set()
        # By node, whether it is on the CPU, and whether it has a kernel.
        self._failures: dict[tuple[NodeProperties, bool, bool], Failures] = {}

    def create(self, assigned_node: AssignedNode, node: PlacedNode) -> None:
        """Set the creation of a node; nodes come in model order."""
        if not assigned_node.has_kernel:
            node.creation, node.created_by = "fails", assigned_node.why
        if self._blind or assigned_node.node.proto.domain:
            self._record_open_sizes(assigned_node)
        equal_nodes = assigned_node.node.properties
        key = equal_nodes, assigned_node.provider == self._last, assigned_node.has_kernel
        failures = self._failures.get(key)
        if failures is None:
            descriptor = equal_nodes.descriptor
            failures = self._load_refusal(descriptor, on_cpu=key[1]), self._late_failure(assigned_node, descriptor)
            self._failures[key] = failures = failures if any(failures) else _NO_FAILURES
        if (failures is not _NO_FAILURES or self.stated or self.computed) and self._fail(assigned_node, node, failures):
            return
        if assigned_node.provider is None or assigned_node.row is None or assigned_node.provider != self._first:
            return
        node.creation, node.created_by, node.lowered, node.findings = self._cached_creation(
            assigned_node, assigned_node.row
        )
        if node.creation == "deferred" and self._blind:
            unseen = self._unknown_sizes_reason(assigned_node)
            if unseen:
                node.creation, node.created_by = "unknown", unseen
        if node.creation == "deferred":
            node.run_fails, node.outline, node.findings = self._outline_node(assigned_node.node)

    def _fail(self, assigned_node: AssignedNode, node: PlacedNode, failures: Failures) -> bool:
        """Mark a node that fails at load time or at the first run; return whether it does."""
        load_failure, late_failure = failures[0] or self.stated.get(node.node), failures[1]
        if load_failure is not None:
            node.refused, node.findings = True, (load_failure,)
            node.creation, node.created_by = "fails", f"the runtime rejects the node: {load_failure.message}"
            return True
        if late_failure is None and (descriptor := self.computed.get(id(assigned_node.node.proto))) is not None:
            late_failure = self._late_failure(assigned_node, descriptor)
        if late_failure is None or assigned_node.body.place != "graph":  # a branch of an If may never run
            return False
        node.refused, node.at_run, node.findings = late_failure[1], True, (late_failure[0],)
        node.creation, node.created_by = "fails", f"fails at the first run: {late_failure[0].message}"
        return True

    def _load_refusal(self, descriptor: Descriptor | None, *, on_cpu: bool) -> Finding | None:
        release = self.runtime.release
        return _REFUSALS.of(
            lambda: (release, on_cpu, key_of(descriptor)), lambda: refusal(descriptor, release, on_cpu=on_cpu)
        )

    def _late_failure(self, assigned_node: AssignedNode, descriptor: Descriptor | None) -> tuple[Finding, bool] | None:
        """Return why every run of a node fails on the CPU.

        The flag says whether the reason is a rule of ONNX.
        """
        if assigned_node.provider != self._last or not assigned_node.has_kernel:
            return None
        release, inputs = self.runtime.release, len(assigned_node.node.proto.inputs)
        return _FAILURES.of(
            lambda: (release, inputs, key_of(descriptor)), lambda: run_failure(descriptor, release, inputs=inputs)
        )

    def _record_open_sizes(self, assigned_node: AssignedNode) -> None:
        """Record values whose sizes only the runtime may know.

        Such values come from operators of its additional domains.
        """
        proto = assigned_node.node.proto
        is_foreign = proto.domain not in STANDARD_DOMAINS and not is_inferred_by_runtime(proto)
        if not is_foreign and not self._blind:
            return
        node, body = assigned_node.node, id(assigned_node.body)
        if is_foreign or any((body, name) in self._blind for name in node.proto.inputs):
            pairs = zip(node.proto.outputs, node.outputs, strict=True)
            self._blind.update((body, name) for name, tensor in pairs if name and not _has_known_sizes(tensor))

    def _unknown_sizes_reason(self, assigned_node: AssignedNode) -> str:
        names = [name for name in assigned_node.node.proto.inputs if (id(assigned_node.body), name) in self._blind]
        return f"the sizes of {names[0]} are unknown; the runtime may infer them" if names else ""

    def _late(self, assigned_node: AssignedNode) -> str:
        """Return why a kernel is not created with the session, "" if it is."""
        node, row = assigned_node.node, assigned_node.row
        assert row is not None  # noqa: S101  # checked by the caller
        for index in sorted(row.constant_inputs):
            name = node.proto.inputs[index] if index < len(node.proto.inputs) else ""
            if not name:
                return f"{_input_name(node, index)} is missing, and a missing input does not count as a constant"
            if not assigned_node.body.constants.get(name):
                return f"{_input_name(node, index)} is not a constant"
        for index, tensor in enumerate(node.inputs):
            if tensor is not None and not _has_known_sizes(tensor):
                open_sizes = [
                    str(size) for size in tensor.sizes or () if not isinstance(size, int) and size is not None
                ]
                depends = f" depend on {format_list(list(dict.fromkeys(open_sizes)))}" if open_sizes else " are unknown"
                return f"the sizes of {_input_name(node, index)}{depends}"
        return ""

    def _cached_creation(self, assigned_node: AssignedNode, row: Registration) -> CreationResult:
        """Return the creation of a node, cached for equal nodes.

        Equal nodes have the same types, attributes and constants.
        """
        node = assigned_node.node
        key: object = node.properties
        if row.constant_inputs:
            names, constants = node.proto.inputs, assigned_node.body.constants
            key = (
                node.properties,
                *[index < len(names) and bool(constants.get(names[index])) for index in row.constant_inputs],
            )
        parts = self._results.get(key)
        if parts is None:
            failure = self._late(assigned_node)
            parts = self._results[key] = (
                ("deferred", failure, None, ()) if failure else self._cached_answer(_CREATIONS, node, self._lower_node)
            )
        return parts

    def _cached_answer(
        self, answers: Memo[Answer], node: Node, make: Callable[[Node, Mapping[str, Any]], Answer]
    ) -> Answer:
        """Return the result of `make`, cached for equal nodes of all models."""
        attributes = {name: attribute_of(attribute) for name, attribute in node.proto.attributes.items()}
        target = self.runtime.release, self.runtime.level, self.device

        def key() -> Hashable:
            ends = key_of(node.inputs, _MAX_ELEMENTS), key_of(node.outputs)
            return target, node.operator, node.opset, ends, keys_of(attributes.items())

        return answers.of(key, lambda: make(node, attributes))

    def _lower_node(self, node: Node, attributes: Mapping[str, Any]) -> CreationResult:
        if node.opset is None:
            return "unknown", "", None, ()
        descriptor = lower.node(node.operator, node.inputs, node.outputs, attributes, node.opset)
        if descriptor is None:
            return "unknown", f"the DirectML operators for {node.operator} are unknown", None, ()
        result = lower.lower(descriptor, node.opset, self.runtime.release)
        if isinstance(result, lower.NotLowered):
            if result.kind == "refused":
                return "fails", result.reason, None, ()
            return ("deferred" if result.kind == "open" else "unknown"), result.reason, None, ()
        parts = self._check_descriptors(result)
        return parts if parts[0] == "fails" else (*parts[:3], self._kernel_warnings(descriptor, node.opset))

    def _outline_node(self, node: Node) -> Outlined:
        """Return why a kernel fails at the first run, and its known outline.

        The reason is "" if the kernel may be created.
        """
        outline = self._outlines.get(node.properties)
        if outline is None:
            outline = self._outlines[node.properties] = self._cached_answer(_OUTLINE_CACHE, node, self._outline)
        return outline

    def _outline(self, node: Node, attributes: Mapping[str, Any]) -> Outlined:
        assert node.opset is not None  # noqa: S101  # otherwise its creation is unknown
        descriptor = lower.node(node.operator, node.inputs, node.outputs, attributes, node.opset)
        if descriptor is None:
            return "", (), ()
        result = lower.outline(descriptor, node.opset, self.runtime.release)
        if isinstance(result, lower.NotLowered):
            return result.reason, (), ()
        word, reason, _, findings = self._check_descriptors(result)
        if word == "fails":
            return reason, tuple(result), findings
        return "", tuple(result), self._kernel_warnings(descriptor, node.opset)

    def _kernel_warnings(self, descriptor: Descriptor, version: int) -> tuple[Finding, ...]:
        """Return warnings that a kernel deviates from the models' dialect."""
        reasons = lower.warnings(descriptor, version, self.runtime.release)
        return tuple(
            Finding(f"{GROUP}/wrong-values", RULES["wrong-values"][0], warning_text) for warning_text in reasons
        )

    def _check_descriptors(self, descriptors: Sequence[Descriptor]) -> CreationResult:
        """Judge a node's descriptors by the dialect below, as observed in builds."""
        findings: list[Finding] = []
        refused_texts: list[str] = []
        for descriptor in descriptors:
            verdict = check_at(descriptor, self.runtime.level, "observed", None, self.device)
            if verdict.accepted is False:
                refused_texts.append(descriptor.operator)
                findings += verdict.findings
        if not refused_texts:
            return "created", "", tuple(descriptors), ()
        text = f": {findings[0].message}" if findings else ""
        return (
            "fails",
            f"placed, but CreateOperator rejects {format_list(refused_texts)}{text}",
            tuple(descriptors),
            tuple(findings),
        )


def _has_known_sizes(tensor: TensorDesc | None) -> bool:
    return tensor is None or (tensor.sizes is not None and all(isinstance(size, int) for size in tensor.sizes))


def _input_name(node: Node, index: int) -> str:
    params = node.schema.inputs if node.schema is not None else ()
    if index < len(params) and not params[index].several:
        return f"its input {params[index].name}"
    return f"its input {index}"
