"""Comparison of placements with answers of the runtime.

``specs/onnxruntime/observed.yaml`` lists the known differences.
"""

from __future__ import annotations

import json
import re
import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from specgate.descriptors.read import write_dict
from specgate.runtimes.onnxruntime.oracle.oracle import NOT_RUN
from specgate.runtimes.onnxruntime.registrations import release_position, runtime_tables

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from specgate.runtimes.onnxruntime.oracle.oracle import Answer, Placed
    from specgate.runtimes.onnxruntime.placement import PlacedNode, Placement
    from specgate.runtimes.release import Runtime


def matching_entry(
    result: Mismatch,
    opset: str,
    runtime: Runtime,
    entries: Sequence[Mapping[str, Any]] | None = None,
    *,
    model: str = "",
) -> Mapping[str, Any] | None:
    """Return the first observed entry that matches a difference, or None.

    opset: the model's, "" if unknown. model: the operator of a single-node model, "" for other models.
    """
    for entry in runtime_tables()["observed"] if entries is None else entries:
        if (
            result.aspect in entry["aspects"]
            and _is_listed(result.operator, entry.get("operators"))
            and _is_listed(model, entry.get("models"))
            and _is_listed(runtime.package, entry.get("packages"))
            and _is_listed(runtime.level, entry.get("levels"))
            and _is_released(runtime.release, entry)
            and is_opset_in_range(opset, entry.get("opsets"))
            and entry.get("ours", "") in result.ours
            and entry.get("theirs", "") in result.theirs
        ):
            return entry
    return None


def _is_listed(word: str, levels: Sequence[str] | None) -> bool:
    return levels is None or word in levels


def _is_released(release: str, entry: Mapping[str, Any]) -> bool:
    position = release_position(release)
    return bool(entry.get("first", position) <= position <= entry.get("last", position))


def is_opset_in_range(opset: str, text: str | None) -> bool:
    """Return whether an opset is in a range: ``17``, ``17..`` or ``..12``.

    A `text` of None includes every opset.
    """
    if text is None:
        return True
    first, dots, last = text.partition("..")
    return opset.isdigit() and int(first or 0) <= int(opset) <= int(last or (opset if dots else first))


Aspect = Literal["answer", "session", "kernel", "run", "node", "descriptor"]
#: The aspects that are compared, each with the subject of one comparison.
ASPECTS: Final[dict[Aspect, str]] = {
    "answer": "models that are placed",
    "session": "models: the session is created, or fails",
    "kernel": "models: every node has a kernel, or some node does not",
    "run": "models with a session that was run: the first run succeeds or fails",
    "node": "nodes: the provider that runs them",
    "descriptor": "nodes that are lowered at session creation, in models of several nodes: every operator with all "
    "fields",
}
#: Nodes that the runtime inserts: copies between devices, and casts around nodes without a FLOAT16 kernel.
_INSERTED_OPERATORS: Final = ("MemcpyToHost", "MemcpyFromHost")
_CASTS: Final = ("InsertedPrecisionFreeCast_", "InsertedCast_")
#: The OrtErrorCode for a node without a kernel.
_NOT_IMPLEMENTED: Final = 9
_MAX_MESSAGE: Final = 160
#: The node's inputs and outputs in an error message, before the reason.
_SIGNATURE: Final = re.compile(r"(In Node, \(.*?, -?\d+\)) : \(.*?\) -> \(.*?\) , (?=Error)")
#: The prefix of a run error before the reason: the node, and the source function.
_RUN_ERROR_PREFIX: Final = re.compile(
    r"Non-zero status code returned while running .*? Status Message: |[\w:]+ [^ ()]*\(.*?\) (?:const )?"
)
_MODEL_SPECIFIC: Final = re.compile(r"0x[0-9A-Fa-f]+|\d+|'[^']*'|\"[^\"]*\"")


class Mismatch(NamedTuple):
    """A difference between specgate and the runtime.

    operator: the operator of the node, "" for a whole model.
    """

    aspect: Aspect
    operator: str
    ours: str
    theirs: str


@dataclass(slots=True)
class PlacementComparison:
    """Comparisons of one model: counts, matches, differences and omissions."""

    comparisons: Counter[Aspect] = field(default_factory=Counter)
    same: Counter[Aspect] = field(default_factory=Counter)
    mismatches: list[Mismatch] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def record(self, aspect: Aspect, operator: str, our_answer: str, runtime_answer: str, *, is_same: bool) -> None:
        """Count one comparison."""
        self.comparisons[aspect] += 1
        if is_same:
            self.same[aspect] += 1
        else:
            self.mismatches.append(Mismatch(aspect, operator, our_answer, runtime_answer))


def compare(answer: Answer, placement: Placement, first: str) -> PlacementComparison:
    """Compare a placement with an answer.

    first: the provider whose operators were recorded, "" for none.
    """
    result = PlacementComparison()
    if answer.word in {"crashed", "timeout"}:
        result.left_out.append(f"the runtime's process {answer.word}")
        return result
    fails = answer.word == "fails"
    runtime_answer = f"fails: {_generic_message(answer.error)}" if fails else "created"
    our_answer = _session(placement)
    result.record(
        "session",
        _blamed_operator(placement, answer_fails=fails),
        our_answer,
        runtime_answer,
        is_same=(our_answer == "created") != fails,
    )
    _compare_run(result, answer, placement)
    kernelless_node = next((node for node in placement if not node.has_kernel), None)
    if not fails or answer.code == _NOT_IMPLEMENTED:
        operator = kernelless_node.operator if kernelless_node else _blamed_operator(placement, answer_fails=fails)
        text = "a node has none" if kernelless_node else "all have one"
        result.record("kernel", operator, text, runtime_answer, is_same=(kernelless_node is not None) == fails)
    if not answer.nodes:
        result.left_out.append("the runtime did not place any node")
        return result
    _nodes(result, [_mark_lacking(node, answer) for node in answer.nodes if not _is_added(node)], list(placement.every))
    if first:
        _descriptors(result, answer, [node for node in placement.every if node.provider == first])
    return result


def _session(placement: Placement) -> str:
    """Return the expected session outcome, ignoring failures at run time."""
    reasons = [
        *placement.refusals,
        *(node.created_by for node in placement.every if node.creation == "fails" and not node.at_run),
    ]
    if reasons:
        return f"fails: {_generic_message(reasons[0])}"
    return "fails" if any(node.provider is None for node in placement.every) else "created"


def _compare_run(comparison: PlacementComparison, answer: Answer, placement: Placement) -> None:
    """Compare the expected outcome of the first run with the actual one."""
    if not answer.run or answer.word != "created":
        return
    if answer.run.startswith(NOT_RUN) or answer.run == "timeout":
        comparison.left_out.append("the session was not run" if answer.run != "timeout" else "the first run timed out")
        return
    failing_node = next((node for node in placement.every if node.at_run), None)
    did_run = answer.run == "ran"
    our_answer = "runs" if failing_node is None else _generic_message(failing_node.created_by)
    runtime_answer = "runs" if did_run else f"fails: {_generic_message(_RUN_ERROR_PREFIX.sub('', answer.run))}"
    nodes = list(placement)
    operator = failing_node.operator if failing_node else nodes[0].operator if len(nodes) == 1 else ""
    comparison.record("run", operator, our_answer, runtime_answer, is_same=did_run == (failing_node is None))


def _blamed_operator(placement: Placement, *, answer_fails: bool) -> str:
    """Return the operator to report for a session.

    It is the operator of the only node, or of the first node expected to fail.
    """
    nodes = list(placement)
    failing_nodes = [node for node in nodes if node.creation == "fails"]
    return (
        nodes[0].operator
        if len(nodes) == 1
        else failing_nodes[0].operator
        if failing_nodes and not answer_fails
        else ""
    )


def _generic_message(text: str) -> str:
    """Return a message without model-specific parts, to group equal messages."""
    return _MODEL_SPECIFIC.sub("N", _SIGNATURE.sub(r"\1 ", text))[:_MAX_MESSAGE]


def _nodes(comparison: PlacementComparison, placed_nodes: Sequence[Placed], our_nodes: Sequence[PlacedNode]) -> None:
    """Compare the providers of nodes.

    Nodes with unique names are matched by name, the others by operator. A call that only one side inlined counts as one
    node.
    """
    types_by_placement = {(node.name, node.provider): node.op_type for node in placed_nodes if node.name}
    calls = {node.function: _bare(node.function, "/") for node in our_nodes if node.function}
    for call, name in calls.items():
        provider, kind = next(((p, kind) for (n, p), kind in types_by_placement.items() if n == name), ("", ""))
        if provider and not any(_bare(node.node, "/") == name for node in our_nodes):
            comparison.record("node", kind, "a function, replaced by its body", provider, is_same=False)
            our_nodes = [node for node in our_nodes if node.function != call]
            placed_nodes = [node for node in placed_nodes if node.name != name]
    names = {node.name for node in placed_nodes}
    our_rows = [(_node_name(node.node, names), _bare(node.operator, "."), node) for node in our_nodes]
    row_counts = Counter((name, kind) for name, kind, _ in our_rows)
    counts = Counter((node.name, node.op_type) for node in placed_nodes)
    providers = {(node.name, node.op_type): node.provider for node in placed_nodes}
    left: list[tuple[str, PlacedNode]] = []
    for name, kind, node in our_rows:
        if row_counts[name, kind] == counts[name, kind] == 1:
            text = providers[name, kind]
            comparison.record(
                "node", node.operator, _provider(node), text, is_same=text.partition(",")[0] == node.provider
            )
        else:
            left.append((kind, node))
    rest = Counter(
        (n.op_type, n.provider) for n in placed_nodes if row_counts[n.name, n.op_type] * counts[n.name, n.op_type] != 1
    )
    for kind, node in left:
        similar = next(
            (k for k, n in rest.items() if n and k[0] == kind and k[1].partition(",")[0] == node.provider), None
        )
        if similar is not None:
            rest[similar] -= 1
            comparison.record("node", node.operator, "", "", is_same=True)
        else:
            other = next((provider for (k, provider), count in rest.items() if k == kind and count), "no such node")
            rest[kind, other] -= 1
            comparison.record("node", node.operator, _provider(node), other, is_same=False)
    for (kind, provider), count in rest.items():
        for _ in range(count):
            comparison.record("node", kind, "no such node", provider, is_same=False)


def _mark_lacking(node: Placed, answer: Answer) -> Placed:
    """Return a node, marked if its kernel may be one that the session lacks."""
    return node._replace(provider=f"{node.provider}, in a session without a kernel") if _no_kernel(answer) else node


def _no_kernel(answer: Answer) -> bool:
    return answer.word == "fails" and answer.code == _NOT_IMPLEMENTED


def _provider(node: PlacedNode) -> str:
    word = node.provider or "no kernel"
    return f"{word} ({node.reason})" if node.reason else word


def _node_name(path: str, names: Collection[str]) -> str:
    """Return the node name in a path, where names may contain slashes.

    The longest matching name wins.
    """
    parts = path.split("/")
    ends = ("/".join(parts[index:]) for index in range(1, len(parts)))
    return next((end for end in ends if end in names), parts[-1])


def _bare(name: str, mark: str) -> str:
    return name.rpartition(mark)[2]


def _is_added(node: Placed) -> bool:
    return node.op_type in _INSERTED_OPERATORS or node.name.startswith(_CASTS)


def _descriptors(comparison: PlacementComparison, answer: Answer, nodes: Sequence[PlacedNode]) -> None:
    """Compare the DirectML operators created with the session.

    If the last operator was rejected, only it and the operators before it are compared.
    """
    is_refused = bool(answer.operators) and answer.operators[-1].hresult != 0
    if answer.word != "created" and not (is_refused and len(nodes) == 1):
        return
    created_nodes = [node for node in nodes if node.creation == "created" or (is_refused and node.creation == "fails")]
    unknown = next((node for node in created_nodes if node.lowered is None), None)
    if unknown is not None or any(node.creation == "unknown" for node in nodes):
        comparison.left_out.append("the operators of a node are unknown")
        return
    truth = [normal_form(operator.descriptor) for operator in answer.operators if not operator.deferred]
    our_operators = [
        (node, normal_form(write_dict(operator))) for node in created_nodes for operator in node.lowered or ()
    ]
    if is_refused:
        our_operators = our_operators[: len(truth)]
    if len(nodes) > 1:
        _compare_operators(comparison, our_operators, truth)
    elif truth or our_operators:
        descriptors = [operator for _, operator in our_operators]
        texts = _difference(descriptors, truth)
        comparison.record("descriptor", nodes[0].operator if nodes else "", *texts, is_same=descriptors == truth)


def _compare_operators(
    comparison: PlacementComparison, our_operators: Sequence[tuple[PlacedNode, Any]], truth: Sequence[Any]
) -> None:
    """Compare the operators of several nodes, in any order."""
    waiting = Counter(map(_key, truth))
    left = []
    for node, operator in our_operators:
        if waiting[_key(operator)] > 0:
            waiting[_key(operator)] -= 1
            comparison.record("descriptor", node.operator, "", "", is_same=True)
        else:
            left.append((node, operator))
    remaining_operators = [json.loads(key) for key in waiting.elements()]
    for node, operator in left:
        other = next((candidate for candidate in remaining_operators if candidate["type"] == operator["type"]), None)
        if other is not None:
            remaining_operators.remove(other)
        comparison.record(
            "descriptor", node.operator, *_difference([operator], [other] if other else []), is_same=False
        )
    for remaining in remaining_operators:
        comparison.record("descriptor", "", "no such operator", remaining["type"], is_same=False)


def _key(descriptor: Any) -> str:
    return json.dumps(descriptor, sort_keys=True)


def _difference(our_operators: Sequence[Any], runtime_operators: Sequence[Any]) -> tuple[str, str]:
    """Return the first operators in which two lists differ, per side."""
    kinds = [[operator["type"] for operator in side] for side in (our_operators, runtime_operators)]
    if kinds[0] != kinds[1]:
        return tuple(" + ".join(side) or "no operator" for side in kinds)  # type: ignore[return-value]
    for our_operator, other in zip(our_operators, runtime_operators, strict=True):
        for name, mine_value, two in _members(our_operator["desc"], other["desc"]):
            if mine_value != two:
                return f"another {our_operator['type']}.{name}", ""
    return "", ""


def _members(our_members: Mapping[str, Any], runtime_members: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the fields of two descriptors, with separate fields of tensors."""
    for name in {**our_members, **runtime_members}:
        first, second = our_members.get(name), runtime_members.get(name)
        if isinstance(first, dict) and isinstance(second, dict):
            yield from ((f"{name}.{inner}", a, b) for inner, a, b in _members(first, second))
        else:
            yield name, first, second


def normal_form(value: Any) -> Any:
    """Return a descriptor in a normal form for comparison.

    Strides of packed tensors, null fields and empty arrays are omitted. Floats are rounded to 32 bits.
    """
    if isinstance(value, dict) and "DataType" in value:
        return _normal_tensor(value)
    if isinstance(value, dict):
        return {name: normal_form(item) for name, item in value.items() if item not in (None, [])}
    if isinstance(value, list):
        return [normal_form(item) for item in value]
    if isinstance(value, float):
        return struct.unpack("<f", struct.pack("<f", value))[0]
    return value


def _normal_tensor(tensor: Mapping[str, Any]) -> dict[str, Any]:
    kept_members = {"DataType": tensor["DataType"], "Sizes": list(tensor["Sizes"])}
    packed: list[int] = []
    step = 1
    for size in reversed(kept_members["Sizes"]):
        packed.insert(0, step)
        step *= size
    strides = tensor.get("Strides")
    if strides is not None and list(strides) != packed:
        kept_members["Strides"] = list(strides)
    return kept_members | {name: tensor[name] for name in ("Flags",) if tensor.get(name)}
