"""Creation of the kernels of placed nodes.

A kernel is created with the session, at the first run, or not at all. Source: onnxruntime
core/providers/dml/DmlExecutionProvider/src/MLOperatorAuthorImpl.cpp (AbiOpKernel). A kernel is created with the session
if all its constant inputs are constants and the sizes of all inputs are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from specgate.dialects.onnx.lint.types import attribute_of
from specgate.dialects.onnx.lint.units import STANDARD_DOMAINS
from specgate.runtimes.onnxruntime import lower as lowering
from specgate.runtimes.onnxruntime.finding_rules import GROUP, RULES
from specgate.runtimes.onnxruntime.load_checks import refusal
from specgate.runtimes.onnxruntime.placement import listed
from specgate.runtimes.onnxruntime.reinference import inferred_here
from specgate.runtimes.onnxruntime.run_outcomes import run_failure
from specgate.validate.check import check_at
from specgate.validate.verdict_cache import Memo, key_of, keys_of
from specgate.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.runtimes.onnxruntime.graph import Alike, Node
    from specgate.runtimes.onnxruntime.node_assignment import Assigned
    from specgate.runtimes.onnxruntime.placement import Creation, PlacedNode
    from specgate.runtimes.onnxruntime.registrations import Registration
    from specgate.runtimes.release import Runtime

    CreationResult = tuple[Creation, str, tuple[Descriptor, ...] | None, tuple[Finding, ...]]
    Outlined = tuple[str, tuple[Descriptor, ...], tuple[Finding, ...]]

__all__ = ["Creator"]

Answer = TypeVar("Answer")

_CREATIONS: Final[Memo[CreationResult]] = Memo()
_OUTLINED: Final[Memo[Outlined]] = Memo()
#: Maximum elements of a constant in a cache key; for larger ones, hashing costs more than lowering.
_MOST_ELEMENTS: Final = 4096
_REFUSALS: Final[Memo[Finding | None]] = Memo()
_FAILURES: Final[Memo[tuple[Finding, bool] | None]] = Memo()


class Creator:
    """Determines whether the kernels of a model's nodes are created.

    Equal nodes are examined once.
    """

    def __init__(
        self,
        runtime: Runtime,
        device: frozenset[str] | None,
        stated: Mapping[str, Finding],
        computed: Mapping[int, Descriptor],
    ) -> None:
        """Prepare for the nodes of a model.

        stated: by node path, findings on stated output types that contradict the inferred ones. computed: by node id,
        descriptors with the sizes of a run, for nodes whose stated sizes differ.
        """
        self.runtime, self.computed = runtime, computed
        self.stated = stated
        self.device = device
        self._known: dict[object, CreationResult] = {}
        self._outlines: dict[Alike, Outlined] = {}
        self._first = runtime.providers[0] if runtime.below else None
        self._last = runtime.providers[-1]
        self._blind: set[tuple[int, str]] = set()
        self._refusals: dict[tuple[Alike, bool], Finding | None] = {}
        self._failures: dict[int, tuple[Finding, bool] | None] = {}

    def create(self, one: Assigned, node: PlacedNode) -> None:
        """Set the creation of a node; nodes come in model order."""
        if not one.has_kernel:
            node.creation, node.created_by = "fails", one.why
        if self._blind or one.node.proto.domain:
            self._look(one)
        refused = self._refused(one) or (self.stated.get(node.node) if self.stated else None)
        if refused is not None:
            node.refused, node.findings = True, (refused,)
            node.creation, node.created_by = "fails", f"the runtime rejects the node: {refused.message}"
            return
        late = self._late_failure(one, one.node.alike.descriptor)
        if late is None and (computed := self.computed.get(id(one.node.proto))) is not None:
            late = self._late_failure(one, computed)
        if late is not None:
            node.refused, node.at_run, node.findings = late[1], True, (late[0],)
            node.creation, node.created_by = "fails", f"fails at the first run: {late[0].message}"
            return
        if one.provider is None or one.row is None or one.provider != self._first:
            return
        node.creation, node.created_by, node.lowered, node.findings = self._alike(one, one.row)
        if node.creation == "deferred" and self._blind:
            unseen = self._unseen(one)
            if unseen:
                node.creation, node.created_by = "unknown", unseen
        if node.creation == "deferred":
            node.run_fails, node.outline, node.findings = self._outlined(one.node)

    def _refused(self, one: Assigned) -> Finding | None:
        alike = one.node.alike
        key = alike, one.provider == self._last
        if key not in self._refusals:
            release, descriptor, on_cpu = self.runtime.release, alike.descriptor, key[1]
            self._refusals[key] = _REFUSALS.of(
                lambda: (release, on_cpu, key_of(descriptor)), lambda: refusal(descriptor, release, on_cpu=on_cpu)
            )
        return self._refusals[key]

    def _late_failure(self, one: Assigned, descriptor: Descriptor | None) -> tuple[Finding, bool] | None:
        """Return why every run of a node fails on the CPU.

        The flag says whether the reason is a rule of ONNX.
        """
        if one.provider != self._last or not one.has_kernel:
            return None
        if id(descriptor) not in self._failures:  # the nodes keep it alive
            release = self.runtime.release
            self._failures[id(descriptor)] = _FAILURES.of(
                lambda: (release, key_of(descriptor)), lambda: run_failure(descriptor, release)
            )
        return self._failures[id(descriptor)]

    def _look(self, one: Assigned) -> None:
        """Record values whose sizes only the runtime may know.

        Such values come from operators of its additional domains.
        """
        proto = one.node.proto
        foreign = proto.domain not in STANDARD_DOMAINS and not inferred_here(proto)
        if not foreign and not self._blind:
            return
        node, body = one.node, id(one.body)
        if foreign or any((body, name) in self._blind for name in node.proto.inputs):
            pairs = zip(node.proto.outputs, node.outputs, strict=True)
            self._blind.update((body, name) for name, tensor in pairs if name and not _sized(tensor))

    def _unseen(self, one: Assigned) -> str:
        names = [name for name in one.node.proto.inputs if (id(one.body), name) in self._blind]
        return f"the sizes of {names[0]} are unknown; the runtime may infer them" if names else ""

    def _late(self, one: Assigned) -> str:
        """Return why a kernel is not created with the session, "" if it is."""
        node, row = one.node, one.row
        assert row is not None  # noqa: S101  # checked by the caller
        for index in sorted(row.constant_inputs):
            name = node.proto.inputs[index] if index < len(node.proto.inputs) else ""
            if not name:
                return f"{_named(node, index)} is missing, which does not count as a constant"
            if not one.body.constants.get(name):
                return f"{_named(node, index)} is not a constant"
        for index, tensor in enumerate(node.inputs):
            if tensor is not None and not _sized(tensor):
                open_sizes = [
                    str(size) for size in tensor.sizes or () if not isinstance(size, int) and size is not None
                ]
                depends = f" depend on {listed(list(dict.fromkeys(open_sizes)))}" if open_sizes else " are unknown"
                return f"the sizes of {_named(node, index)}{depends}"
        return ""

    def _alike(self, one: Assigned, row: Registration) -> CreationResult:
        """Return the creation of a node, cached for equal nodes.

        Equal nodes have the same types, attributes and constants.
        """
        node = one.node
        key: object = node.alike
        if row.constant_inputs:
            names, constants = node.proto.inputs, one.body.constants
            key = (node.alike, *[at < len(names) and bool(constants.get(names[at])) for at in row.constant_inputs])
        parts = self._known.get(key)
        if parts is None:
            late = self._late(one)
            parts = self._known[key] = (
                ("deferred", late, None, ()) if late else self._remembered(_CREATIONS, node, self._lowered)
            )
        return parts

    def _remembered(
        self, answers: Memo[Answer], node: Node, make: Callable[[Node, Mapping[str, Any]], Answer]
    ) -> Answer:
        """Return the result of `make`, cached for equal nodes of all models."""
        attributes = {name: attribute_of(attribute) for name, attribute in node.proto.attributes.items()}
        target = self.runtime.release, self.runtime.level, self.device

        def key() -> Hashable:
            ends = key_of(node.inputs, _MOST_ELEMENTS), key_of(node.outputs)
            return target, node.operator, node.opset, ends, keys_of(attributes.items())

        return answers.of(key, lambda: make(node, attributes))

    def _lowered(self, node: Node, attributes: Mapping[str, Any]) -> CreationResult:
        if node.opset is None:
            return "unknown", "", None, ()
        descriptor = lowering.node(node.operator, node.inputs, node.outputs, attributes, node.opset)
        if descriptor is None:
            return "unknown", f"the DirectML operators for {node.operator} are unknown", None, ()
        result = lowering.lower(descriptor, node.opset, self.runtime.release)
        if isinstance(result, lowering.NotLowered):
            if result.kind == "refused":
                return "fails", result.reason, None, ()
            return ("deferred" if result.kind == "open" else "unknown"), result.reason, None, ()
        parts = self._judged(result)
        return parts if parts[0] == "fails" else (*parts[:3], self._warned(descriptor, node.opset))

    def _outlined(self, node: Node) -> Outlined:
        """Return why a kernel fails at the first run, and its known outline.

        The reason is "" if the kernel may be created.
        """
        known = self._outlines.get(node.alike)
        if known is None:
            known = self._outlines[node.alike] = self._remembered(_OUTLINED, node, self._outline)
        return known

    def _outline(self, node: Node, attributes: Mapping[str, Any]) -> Outlined:
        assert node.opset is not None  # noqa: S101  # otherwise its creation is unknown
        descriptor = lowering.node(node.operator, node.inputs, node.outputs, attributes, node.opset)
        if descriptor is None:
            return "", (), ()
        result = lowering.outline(descriptor, node.opset, self.runtime.release)
        if isinstance(result, lowering.NotLowered):
            return result.reason, (), ()
        word, why, _, findings = self._judged(result)
        if word == "fails":
            return why, tuple(result), findings
        return "", tuple(result), self._warned(descriptor, node.opset)

    def _warned(self, descriptor: Descriptor, version: int) -> tuple[Finding, ...]:
        """Return warnings that a kernel deviates from the models' dialect."""
        reasons = lowering.warnings(descriptor, version, self.runtime.release)
        return tuple(Finding(f"{GROUP}/wrong-values", RULES["wrong-values"][0], why) for why in reasons)

    def _judged(self, descriptors: Sequence[Descriptor]) -> CreationResult:
        """Judge a node's descriptors by the dialect below, as observed in builds."""
        findings: list[Finding] = []
        refused: list[str] = []
        for one in descriptors:
            verdict = check_at(one, self.runtime.level, "observed", None, self.device)
            if verdict.accepted is False:
                refused.append(one.operator)
                findings += verdict.findings
        if not refused:
            return "created", "", tuple(descriptors), ()
        text = f": {findings[0].message}" if findings else ""
        return (
            "fails",
            f"placed, but CreateOperator rejects {listed(refused)}{text}",
            tuple(descriptors),
            tuple(findings),
        )


def _sized(tensor: TensorDesc | None) -> bool:
    return tensor is None or (tensor.sizes is not None and all(isinstance(size, int) for size in tensor.sizes))


def _named(node: Node, index: int) -> str:
    params = node.schema.inputs if node.schema is not None else ()
    if index < len(params) and not params[index].several:
        return f"its input {params[index].name}"
    return f"its input {index}"
