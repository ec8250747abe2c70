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

__all__ = ["ASPECTS", "Aspect", "Compared", "Mismatch", "compare", "explaining", "is_opset_in_range", "normal"]


def explaining(
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


def _is_listed(word: str, listed: Sequence[str] | None) -> bool:
    return listed is None or word in listed


def _is_released(release: str, entry: Mapping[str, Any]) -> bool:
    at = release_position(release)
    return bool(entry.get("first", at) <= at <= entry.get("last", at))


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
_ADDED: Final = ("MemcpyToHost", "MemcpyFromHost")
_CASTS: Final = ("InsertedPrecisionFreeCast_", "InsertedCast_")
#: The OrtErrorCode for a node without a kernel.
_NOT_IMPLEMENTED: Final = 9
_MOST_WORDS: Final = 160
#: The node's inputs and outputs in an error message, before the reason.
_SIGNATURE: Final = re.compile(r"(In Node, \(.*?, -?\d+\)) : \(.*?\) -> \(.*?\) , (?=Error)")
#: The prefix of a run error before the reason: the node, and the source function.
_RUNNING: Final = re.compile(
    r"Non-zero status code returned while running .*? Status Message: |[\w:]+ [^ ()]*\(.*?\) (?:const )?"
)
_VARYING: Final = re.compile(r"0x[0-9A-Fa-f]+|\d+|'[^']*'|\"[^\"]*\"")


class Mismatch(NamedTuple):
    """A difference between specgate and the runtime.

    operator: the operator of the node, "" for a whole model.
    """

    aspect: Aspect
    operator: str
    ours: str
    theirs: str


@dataclass(slots=True)
class Compared:
    """Comparisons of one model: counts, matches, differences and omissions."""

    comparisons: Counter[Aspect] = field(default_factory=Counter)
    same: Counter[Aspect] = field(default_factory=Counter)
    mismatches: list[Mismatch] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def hold(self, aspect: Aspect, operator: str, ours: str, theirs: str, *, same: bool) -> None:
        """Count one comparison."""
        self.comparisons[aspect] += 1
        if same:
            self.same[aspect] += 1
        else:
            self.mismatches.append(Mismatch(aspect, operator, ours, theirs))


def compare(answer: Answer, ours: Placement, first: str) -> Compared:
    """Compare a placement with an answer.

    first: the provider whose operators were recorded, "" for none.
    """
    compared = Compared()
    if answer.word in {"crashed", "timeout"}:
        compared.left_out.append(f"the runtime's process {answer.word}")
        return compared
    fails = answer.word == "fails"
    theirs = f"fails: {_plain(answer.error)}" if fails else "created"
    mine = _session(ours)
    compared.hold("session", _blamed_operator(ours, fails=fails), mine, theirs, same=(mine == "created") != fails)
    _compare_run(compared, answer, ours)
    without = next((node for node in ours if not node.has_kernel), None)
    if not fails or answer.code == _NOT_IMPLEMENTED:
        operator = without.operator if without else _blamed_operator(ours, fails=fails)
        text = "a node has none" if without else "all have one"
        compared.hold("kernel", operator, text, theirs, same=(without is not None) == fails)
    if not answer.nodes:
        compared.left_out.append("the runtime did not place any node")
        return compared
    _nodes(compared, [_mark_lacking(node, answer) for node in answer.nodes if not _is_added(node)], list(ours.every))
    if first:
        _descriptors(compared, answer, [node for node in ours.every if node.provider == first])
    return compared


def _session(ours: Placement) -> str:
    """Return the expected session outcome, ignoring failures at run time."""
    reasons = [
        *ours.refusals,
        *(node.created_by for node in ours.every if node.creation == "fails" and not node.at_run),
    ]
    if reasons:
        return f"fails: {_plain(reasons[0])}"
    return "fails" if any(node.provider is None for node in ours.every) else "created"


def _compare_run(compared: Compared, answer: Answer, ours: Placement) -> None:
    """Compare the expected outcome of the first run with the actual one."""
    if not answer.run or answer.word != "created":
        return
    if answer.run.startswith(NOT_RUN) or answer.run == "timeout":
        compared.left_out.append("the session was not run" if answer.run != "timeout" else "the first run timed out")
        return
    failing = next((node for node in ours.every if node.at_run), None)
    ran = answer.run == "ran"
    mine = "runs" if failing is None else _plain(failing.created_by)
    theirs = "runs" if ran else f"fails: {_plain(_RUNNING.sub('', answer.run))}"
    nodes = list(ours)
    operator = failing.operator if failing else nodes[0].operator if len(nodes) == 1 else ""
    compared.hold("run", operator, mine, theirs, same=ran == (failing is None))


def _blamed_operator(ours: Placement, *, fails: bool) -> str:
    """Return the operator to report for a session.

    It is the operator of the only node, or of the first node expected to fail.
    """
    nodes = list(ours)
    failing = [node for node in nodes if node.creation == "fails"]
    return nodes[0].operator if len(nodes) == 1 else failing[0].operator if failing and not fails else ""


def _plain(text: str) -> str:
    """Return a message without model-specific parts, to group equal messages."""
    return _VARYING.sub("N", _SIGNATURE.sub(r"\1 ", text))[:_MOST_WORDS]


def _nodes(compared: Compared, theirs: Sequence[Placed], ours: Sequence[PlacedNode]) -> None:
    """Compare the providers of nodes.

    Nodes with unique names are matched by name, the others by operator. A call that only one side inlined counts as one
    node.
    """
    kept = {(node.name, node.provider): node.op_type for node in theirs if node.name}
    calls = {node.function: _bare(node.function, "/") for node in ours if node.function}
    for call, name in calls.items():
        provider, kind = next(((p, kind) for (n, p), kind in kept.items() if n == name), ("", ""))
        if provider and not any(_bare(node.node, "/") == name for node in ours):
            compared.hold("node", kind, "a function, replaced by its body", provider, same=False)
            ours = [node for node in ours if node.function != call]
            theirs = [node for node in theirs if node.name != name]
    names = {node.name for node in theirs}
    mine = [(_node_name(node.node, names), _bare(node.operator, "."), node) for node in ours]
    named = Counter((name, kind) for name, kind, _ in mine)
    counts = Counter((node.name, node.op_type) for node in theirs)
    providers = {(node.name, node.op_type): node.provider for node in theirs}
    left: list[tuple[str, PlacedNode]] = []
    for name, kind, node in mine:
        if named[name, kind] == counts[name, kind] == 1:
            text = providers[name, kind]
            compared.hold("node", node.operator, _provider(node), text, same=text.partition(",")[0] == node.provider)
        else:
            left.append((kind, node))
    rest = Counter((n.op_type, n.provider) for n in theirs if named[n.name, n.op_type] * counts[n.name, n.op_type] != 1)
    for kind, node in left:
        similar = next(
            (k for k, n in rest.items() if n and k[0] == kind and k[1].partition(",")[0] == node.provider), None
        )
        if similar is not None:
            rest[similar] -= 1
            compared.hold("node", node.operator, "", "", same=True)
        else:
            other = next((provider for (k, provider), count in rest.items() if k == kind and count), "no such node")
            rest[kind, other] -= 1
            compared.hold("node", node.operator, _provider(node), other, same=False)
    for (kind, provider), count in rest.items():
        for _ in range(count):
            compared.hold("node", kind, "no such node", provider, same=False)


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
    ends = ("/".join(parts[at:]) for at in range(1, len(parts)))
    return next((end for end in ends if end in names), parts[-1])


def _bare(name: str, mark: str) -> str:
    return name.rpartition(mark)[2]


def _is_added(node: Placed) -> bool:
    return node.op_type in _ADDED or node.name.startswith(_CASTS)


def _descriptors(compared: Compared, answer: Answer, nodes: Sequence[PlacedNode]) -> None:
    """Compare the DirectML operators created with the session.

    If the last operator was rejected, only it and the operators before it are compared.
    """
    refused = bool(answer.operators) and answer.operators[-1].hresult != 0
    if answer.word != "created" and not (refused and len(nodes) == 1):
        return
    early = [node for node in nodes if node.creation == "created" or (refused and node.creation == "fails")]
    unknown = next((node for node in early if node.lowered is None), None)
    if unknown is not None or any(node.creation == "unknown" for node in nodes):
        compared.left_out.append("the operators of a node are unknown")
        return
    truth = [normal(operator.descriptor) for operator in answer.operators if not operator.deferred]
    ours = [(node, normal(write_dict(operator))) for node in early for operator in node.lowered or ()]
    if refused:
        ours = ours[: len(truth)]
    if len(nodes) > 1:
        _many(compared, ours, truth)
    elif truth or ours:
        descriptors = [operator for _, operator in ours]
        texts = _difference(descriptors, truth)
        compared.hold("descriptor", nodes[0].operator if nodes else "", *texts, same=descriptors == truth)


def _many(compared: Compared, ours: Sequence[tuple[PlacedNode, Any]], truth: Sequence[Any]) -> None:
    """Compare the operators of several nodes, in any order."""
    waiting = Counter(map(_key, truth))
    left = []
    for node, placed in ours:
        if waiting[_key(placed)] > 0:
            waiting[_key(placed)] -= 1
            compared.hold("descriptor", node.operator, "", "", same=True)
        else:
            left.append((node, placed))
    more = [json.loads(key) for key in waiting.elements()]
    for node, placed in left:
        other = next((each for each in more if each["type"] == placed["type"]), None)
        if other is not None:
            more.remove(other)
        compared.hold("descriptor", node.operator, *_difference([placed], [other] if other else []), same=False)
    for each in more:
        compared.hold("descriptor", "", "no such operator", each["type"], same=False)


def _key(descriptor: Any) -> str:
    return json.dumps(descriptor, sort_keys=True)


def _difference(ours: Sequence[Any], theirs: Sequence[Any]) -> tuple[str, str]:
    """Return the first operators in which two lists differ, per side."""
    kinds = [[each["type"] for each in side] for side in (ours, theirs)]
    if kinds[0] != kinds[1]:
        return tuple(" + ".join(side) or "no operator" for side in kinds)  # type: ignore[return-value]
    for mine, other in zip(ours, theirs, strict=True):
        for name, mine_value, two in _members(mine["desc"], other["desc"]):
            if mine_value != two:
                return f"another {mine['type']}.{name}", ""
    return "", ""


def _members(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the fields of two descriptors, with separate fields of tensors."""
    for name in {**ours, **theirs}:
        first, second = ours.get(name), theirs.get(name)
        if isinstance(first, dict) and isinstance(second, dict):
            yield from ((f"{name}.{inner}", a, b) for inner, a, b in _members(first, second))
        else:
            yield name, first, second


def normal(value: Any) -> Any:
    """Return a descriptor in a normal form for comparison.

    Strides of packed tensors, null fields and empty arrays are omitted. Floats are rounded to 32 bits.
    """
    if isinstance(value, dict) and "DataType" in value:
        return _normal_tensor(value)
    if isinstance(value, dict):
        return {name: normal(each) for name, each in value.items() if each not in (None, [])}
    if isinstance(value, list):
        return [normal(each) for each in value]
    if isinstance(value, float):
        return struct.unpack("<f", struct.pack("<f", value))[0]
    return value


def _normal_tensor(tensor: Mapping[str, Any]) -> dict[str, Any]:
    kept = {"DataType": tensor["DataType"], "Sizes": list(tensor["Sizes"])}
    packed: list[int] = []
    step = 1
    for size in reversed(kept["Sizes"]):
        packed.insert(0, step)
        step *= size
    strides = tensor.get("Strides")
    if strides is not None and list(strides) != packed:
        kept["Strides"] = list(strides)
    return kept | {name: tensor[name] for name in ("Flags",) if tensor.get(name)}
