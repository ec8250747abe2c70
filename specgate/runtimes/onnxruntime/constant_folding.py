"""The nodes that defaults may take away: by folding and removing before nodes are placed, by fusing behind it.

Source: onnxruntime core/optimizer/constant_folding.cc (commit ad694563b). Which operators count as what is in
specs/onnxruntime/releases.yaml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.runtimes.onnxruntime.load_checks import condition_of
from specgate.runtimes.onnxruntime.registrations import release_position, runtime_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from specgate.descriptors.core import TensorDesc
    from specgate.runtimes.onnxruntime.graph import Alike, Body, Node
    from specgate.runtimes.onnxruntime.node_assignment import Assigned
    from specgate.runtimes.onnxruntime.placement import Creation
    from specgate.runtimes.onnxruntime.provider_choice import Lookup
    from specgate.runtimes.onnxruntime.registrations import Registration

__all__ = ["Fusing", "folding", "fusing_setting", "removing"]

#: The domain whose name a model leaves out.
_MAIN = "ai.onnx"


def folding(main: Body, cpu: Lookup) -> set[Node]:
    """Return the nodes whose outputs follow from constants, or from sizes that are known.

    cpu: what the CPU has, whose kernels compute the values. A node whose input is left out has no constant there.
    """
    about = runtime_tables().get("folding")
    nodes: set[Node] = set()
    if about is not None:
        _folded(main, frozenset(), about, cpu, nodes)
    return nodes


def _folded(body: Body, outer: frozenset[str], about: Mapping[str, Any], cpu: Lookup, nodes: set[Node]) -> None:
    """Add the nodes of a body and of those inside. outer: values outside of it that are constants by then."""
    new_names: set[str] = set()
    stated_names = outer - body.makers.keys() - body.inputs if outer else outer
    for node in body.nodes:  # in topological order, so that what a node reads is settled
        for inside in node.bodies:
            _folded(inside, stated_names | new_names, about, cpu, nodes)
        if node.bodies or not _may(node, about):
            continue
        names = node.proto.inputs
        by_sizes = node.proto.op_type in about["by_sizes"] and not node.proto.domain
        if by_sizes:
            holds = bool(node.inputs) and node.inputs[0] is not None and _sized(node.inputs[0].sizes)
        else:
            holds = all(body.constants.get(name) or name in new_names or name in stated_names for name in names)
            holds = holds and cpu.of(node).taken
        if holds:
            nodes.add(node)
            new_names.update(name for name in node.proto.outputs if name)


def _may(node: Node, about: Mapping[str, Any]) -> bool:
    """Whether nodes of this operator are folded at all."""
    only = about["only"].get(node.proto.domain or _MAIN)
    name = node.proto.op_type
    if (node.proto.domain or _MAIN) in about["domains"]:
        return name not in about["never"]
    return only is not None and name in only


def _sized(sizes: tuple[object, ...] | None) -> bool:
    return sizes is not None and all(isinstance(size, int) for size in sizes)


def removing(main: Body, release: str) -> set[Node]:
    """Return the nodes whose place their first input takes: they change nothing."""
    number = release_position(release)
    about = [entry for entry in runtime_tables().get("removing", ()) if entry["first"] <= number <= entry["last"]]
    nodes: set[Node] = set()
    if about:
        _removed(main, about, frozenset().union(*[entry["operators"] for entry in about]), nodes)
    return nodes


def _removed(body: Body, about: Sequence[Mapping[str, Any]], operators: AbstractSet[str], nodes: set[Node]) -> None:
    """Add the nodes of a body and of those inside. operators: what `about` has entries for, which few nodes are."""
    entries: dict[str, bool] = {}  # outputs of removed nodes: whether a node gives what takes their place
    for node in body.nodes:  # in topological order, so that what a node reads is settled
        for inside in node.bodies:
            _removed(inside, about, operators, nodes)
        if node.proto.op_type not in operators:
            continue
        names = node.proto.inputs
        by_nodes = [at for at, name in enumerate(names) if entries.get(name, name in body.makers)]
        one = by_nodes == [0] or (not by_nodes and len(names) == 1)
        if one and not _kept(node, body) and any(_fits(node, body, entry) for entry in about):
            nodes.add(node)
            entries[node.proto.outputs[0]] = bool(by_nodes)


def _kept(node: Node, body: Body) -> bool:
    """Whether something beside readers of its first output needs a node."""
    outputs = node.proto.outputs
    return (
        not outputs
        or any(name in body.outputs for name in outputs if name)
        or any(body.readers.get(name) for name in outputs[1:] if name)
    )


def _fits(node: Node, body: Body, entry: Mapping[str, Any]) -> bool:
    versions = None if node.proto.domain else entry["operators"].get(node.proto.op_type)
    if versions is None or node.schema is None:
        return False
    first, last = versions
    if node.schema.since < first or (last is not None and node.schema.since > last):
        return False
    if "when" in entry:
        descriptor, version = node.alike.descriptor, node.schema.since
        return descriptor is not None and condition_of(descriptor.operator, entry["when"], version)(descriptor)
    if "same" not in entry:
        return True
    if entry["same"] == "type":
        kind = node.kinds[0][0]
        return bool(kind) and kind == node.kinds[1][0]
    source, tensor = node.inputs[0], node.outputs[0]
    if source is None or tensor is None or not _sized(source.sizes) or source.sizes != tensor.sizes:
        return False
    return all(body.constants.get(name) for name in node.proto.inputs[1:])


def fusing_setting(provider: str) -> str | None:
    """Return the setting of a session that keeps a provider from fusing nodes, None for one that fuses none."""
    text: str | None = runtime_tables().get("fusing", {}).get(provider)
    return text


class Fusing:
    """Says which placed nodes of a model a provider may fuse into larger kernels. Like nodes are alike in it."""

    def __init__(self, provider: str) -> None:
        self.provider = provider if fusing_setting(provider) is not None else None
        self._fit: dict[Alike, tuple[bool, bool]] = {}
        self._whole: dict[int, bool] = {}

    def of(self, one: Assigned, creation: Creation) -> bool:
        """Whether a node may be such a part.

        A constant that is left out keeps no node from that, though it keeps a kernel of its own from being made early.
        """
        row = one.row
        if one.provider != self.provider or row is None or not row.graph:
            return False
        if row.graph_inputs not in {None, len(one.node.inputs)} or not self._plain(one.body):
            return False
        if creation == "created":
            return self._looked(one.node)[0]
        return creation == "deferred" and all(self._looked(one.node)) and _given(one, row)

    def _plain(self, body: Body) -> bool:
        """Whether no node of a body holds bodies itself: what stands beside such a node is left."""
        if id(body) not in self._whole:
            self._whole[id(body)] = not any(node.bodies for node in body.nodes)
        return self._whole[id(body)]

    def _looked(self, node: Node) -> tuple[bool, bool]:
        """Return whether no size of a node's tensors is 0, and whether all are known."""
        answers = self._fit.get(node.alike)
        if answers is None:
            tensors = [tensor for tensor in (*node.inputs, *node.outputs) if tensor is not None]
            answers = not any(map(_empty, tensors)), all(_sized(tensor.sizes) for tensor in tensors)
            self._fit[node.alike] = answers
        return answers


def _given(one: Assigned, row: Registration) -> bool:
    """Whether the inputs that its kernel wants as constants are, as far as they are given."""
    names = one.node.proto.inputs
    texts = (names[at] for at in row.constant_inputs if at < len(names) and names[at])
    return all(one.body.constants.get(name) for name in texts)


def _empty(tensor: TensorDesc) -> bool:
    return 0 in (tensor.sizes or ())
