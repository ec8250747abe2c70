"""Nodes that default graph optimizations may fold, remove or fuse.

Folding and removal happen before placement, fusion after it. Source: onnxruntime core/optimizer/constant_folding.cc
(commit ad694563b). specs/onnxruntime/releases.yaml lists the operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.runtimes.onnxruntime.load_checks import condition_of
from specgate.runtimes.onnxruntime.registrations import release_position, runtime_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from specgate.descriptors.core import TensorDesc
    from specgate.runtimes.onnxruntime.graph import Body, Node, NodeProperties
    from specgate.runtimes.onnxruntime.node_assignment import AssignedNode
    from specgate.runtimes.onnxruntime.placement import Creation
    from specgate.runtimes.onnxruntime.provider_choice import Lookup
    from specgate.runtimes.onnxruntime.registrations import Registration

#: The domain whose name models omit.
_MAIN = "ai.onnx"


def folding(main: Body, cpu: Lookup) -> set[Node]:
    """Return the nodes whose outputs follow from constants or known sizes.

    cpu: the CPU's registrations, because CPU kernels compute the values. A node with an omitted input is not constant
    at that input.
    """
    folding_rules = runtime_tables().get("folding")
    nodes: set[Node] = set()
    if folding_rules is not None:
        _add_foldable(main, frozenset(), folding_rules, cpu, nodes)
    return nodes


def _add_foldable(
    body: Body, outer: frozenset[str], folding_rules: Mapping[str, Any], cpu: Lookup, nodes: set[Node]
) -> None:
    """Add the foldable nodes of a body and of its nested bodies.

    outer: values of enclosing bodies that are constant by then.
    """
    new_names: set[str] = set()
    stated_names = outer - body.makers.keys() - body.inputs if outer else outer
    sized_operators, constants = folding_rules["by_sizes"], body.constants
    for node in body.nodes:  # in topological order: inputs come before their consumers
        if node.bodies:
            for nested_body in node.bodies:
                _add_foldable(nested_body, stated_names | new_names, folding_rules, cpu, nodes)
            continue
        proto = node.proto
        if proto.op_type in sized_operators and not proto.domain:
            foldable = bool(node.inputs) and node.inputs[0] is not None and _has_known_sizes(node.inputs[0].sizes)
        else:
            foldable = True
            for name in proto.inputs:  # a loop, because most nodes end at their first input
                if not (constants.get(name) or name in new_names or name in stated_names):
                    foldable = False
                    break
            foldable = foldable and cpu.of(node).accepted
        if foldable and _is_foldable(node, folding_rules):
            nodes.add(node)
            new_names.update(name for name in proto.outputs if name)


def _is_foldable(node: Node, folding_rules: Mapping[str, Any]) -> bool:
    """Return whether nodes of this operator can be folded."""
    allowed_domains = folding_rules["only"].get(node.proto.domain or _MAIN)
    name = node.proto.op_type
    if (node.proto.domain or _MAIN) in folding_rules["domains"]:
        return name not in folding_rules["never"]
    return allowed_domains is not None and name in allowed_domains


def _has_known_sizes(sizes: tuple[object, ...] | None) -> bool:
    return sizes is not None and all(isinstance(size, int) for size in sizes)


def removing(main: Body, release: str) -> set[Node]:
    """Return the no-op nodes, which are replaced by their first input."""
    number = release_position(release)
    removal_rules = [
        entry for entry in runtime_tables().get("removing", ()) if entry["first"] <= number <= entry["last"]
    ]
    nodes: set[Node] = set()
    if removal_rules:
        _add_removable(main, _Removals(removal_rules), nodes)
    return nodes


def _add_removable(body: Body, removals: _Removals, nodes: set[Node]) -> None:
    """Add the removable nodes of a body and of its nested bodies."""
    entries: dict[str, bool] = {}  # outputs of removed nodes: whether a node computes the replacement
    for node in body.nodes:  # in topological order: inputs come before their consumers
        for nested_body in node.bodies:
            _add_removable(nested_body, removals, nodes)
        if node.proto.op_type not in removals.operators:
            continue
        names = node.proto.inputs
        by_nodes = [index for index, name in enumerate(names) if entries.get(name, name in body.makers)]
        is_single = by_nodes == [0] or (not by_nodes and len(names) == 1)
        if is_single and not _has_other_uses(node, body) and removals.of(node, body):
            nodes.add(node)
            entries[node.proto.outputs[0]] = bool(by_nodes)


def _has_other_uses(node: Node, body: Body) -> bool:
    """Return whether a node has uses other than consumers of its output 0."""
    outputs = node.proto.outputs
    return (
        not outputs
        or any(name in body.outputs for name in outputs if name)
        or any(body.readers.get(name) for name in outputs[1:] if name)
    )


class _Removals:
    """The table of no-op nodes in one release.

    operators: the operators in the table, to which few nodes belong.
    """

    def __init__(self, removal_rules: Sequence[Mapping[str, Any]]) -> None:
        self.operators: AbstractSet[str] = frozenset().union(*[entry["operators"] for entry in removal_rules])
        self._about = removal_rules
        self._entries: dict[NodeProperties, Sequence[Mapping[str, Any]]] = {}

    def of(self, node: Node, body: Body) -> bool:
        """Return whether a node is a no-op."""
        entries = self._entries.get(node.properties)
        if entries is None:
            entries = self._entries[node.properties] = [
                entry for entry in self._about if _applies(node.properties, entry)
            ]
        return any(
            entry.get("same") != "sizes" or all(body.constants.get(name) for name in node.proto.inputs[1:])
            for entry in entries
        )


def _applies(node: NodeProperties, entry: Mapping[str, Any]) -> bool:
    """Return whether an entry applies to nodes of equal operator and types."""
    versions = entry["operators"].get(node.operator)
    if versions is None or node.schema is None:
        return False
    first, last = versions
    if node.schema.since < first or (last is not None and node.schema.since > last):
        return False
    if "when" in entry:
        descriptor, version = node.descriptor, node.schema.since
        return descriptor is not None and condition_of(descriptor.operator, entry["when"], version)(descriptor)
    if "same" not in entry:
        return True
    if entry["same"] == "type":
        kind = node.kinds[0][0]
        return bool(kind) and kind == node.kinds[1][0]
    source, tensor = node.inputs[0], node.outputs[0]
    return source is not None and tensor is not None and _has_known_sizes(source.sizes) and source.sizes == tensor.sizes


def fusing_setting(provider: str) -> str | None:
    """Return the session setting that disables a provider's fusion, or None.

    It is None for a provider that does not fuse nodes.
    """
    text: str | None = runtime_tables().get("fusing", {}).get(provider)
    return text


class FusionRules:
    """Decides which placed nodes a provider may fuse into larger kernels.

    The answer is the same for nodes with equal operators, attributes and types.
    """

    def __init__(self, provider: str) -> None:
        self.provider = provider if fusing_setting(provider) is not None else None
        self._fit: dict[NodeProperties, tuple[bool, bool]] = {}
        self._whole: dict[int, bool] = {}

    def of(self, assigned_node: AssignedNode, creation: Creation) -> bool:
        """Return whether a node may be part of a fused kernel.

        A missing constant does not prevent fusion, although it delays the creation of a separate kernel.
        """
        row = assigned_node.row
        if assigned_node.provider != self.provider or row is None or not row.graph:
            return False
        if row.graph_inputs not in {None, len(assigned_node.node.inputs)} or not self._plain(assigned_node.body):
            return False
        if creation == "created":
            return self._check_sizes(assigned_node.node)[0]
        return (
            creation == "deferred" and all(self._check_sizes(assigned_node.node)) and _inputs_known(assigned_node, row)
        )

    def _plain(self, body: Body) -> bool:
        """Return whether no node of a body contains bodies.

        Nodes next to such a node are not fused.
        """
        if id(body) not in self._whole:
            self._whole[id(body)] = not any(node.bodies for node in body.nodes)
        return self._whole[id(body)]

    def _check_sizes(self, node: Node) -> tuple[bool, bool]:
        """Return whether all sizes are nonzero, and whether all are known."""
        answers = self._fit.get(node.properties)
        if answers is None:
            tensors = [tensor for tensor in (*node.inputs, *node.outputs) if tensor is not None]
            answers = not any(map(_empty, tensors)), all(_has_known_sizes(tensor.sizes) for tensor in tensors)
            self._fit[node.properties] = answers
        return answers


def _inputs_known(assigned_node: AssignedNode, row: Registration) -> bool:
    """Return whether the kernel's constant inputs that exist are constants."""
    names = assigned_node.node.proto.inputs
    texts = (names[index] for index in row.constant_inputs if index < len(names) and names[index])
    return all(assigned_node.body.constants.get(name) for name in texts)


def _empty(tensor: TensorDesc) -> bool:
    return 0 in (tensor.sizes or ())
