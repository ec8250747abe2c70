"""Compare `specgate.place` with the oracle's records: nodes, descriptors, sessions."""

from __future__ import annotations

import base64
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from specgate.runtimes.onnxruntime.conform.compare import normal_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["Differences", "compare", "judge"]

#: Nodes that the runtime adds: copies between devices, casts around nodes without a float16 kernel.
_ADDED: Final = ("MemcpyToHost", "MemcpyFromHost")
_CASTS: Final = ("InsertedPrecisionFreeCast_", "InsertedCast_")
#: Maximum number of differences shown per class.
_SHOWN: Final = 3


@dataclass
class Differences:
    """Counts by aspect, and differences by class with operators and an explanation."""

    same: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    found: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)

    def record(self, what: str, operator: str, truth: object, ours: object, where: str) -> None:
        """Count one comparison."""
        self.asked[what] += 1
        if truth == ours:
            self.same[what] += 1
        else:
            self.found.setdefault((what, operator, where), []).append(f"truth {truth}\n    ours  {ours}")

    def lines(self) -> Iterator[str]:
        """Yield the differences, then the counts."""
        for (what, operator, where), shown in sorted(self.found.items()):
            yield f"{what} {operator} {where}: {len(shown)}"
            yield from (f"    {text}" for text in shown[:_SHOWN])
        for what, count in sorted(self.asked.items()):
            yield f"{what}: {self.same[what]} of {count} alike"
        yield from (f"not compared, {why}: {count}" for why, count in self.left_out.most_common())


def compare(path: Path, target: str) -> int:
    """Print differences between `specgate.place` and a file of answers.

    Return 1 if there are any.
    """
    import specgate

    with path.open(encoding="utf-8") as file:
        next(file)
        records = map(json.loads, file)
        differences = judge(records, lambda model: specgate.place(model, target=target))  # type: ignore[attr-defined,unused-ignore]
    sys.stdout.write("\n".join(differences.lines()) + "\n")
    return 1 if differences.found else 0


def judge(records: Iterator[Mapping[str, Any]], place: Callable[[Any], Any]) -> Differences:
    """Compare records with `place` on their models, which are the onnx package's."""
    import onnx

    differences = Differences()
    for record in records:
        if record["session"] in {"crashed", "timeout"}:
            differences.left_out[record["session"]] += 1
            continue
        where = f"opset {record['opset']}"
        try:
            ours = place(onnx.ModelProto.FromString(base64.b64decode(record["model"])))
        except Exception as error:
            differences.record("answer", record["operator"], "any", repr(error), where)
            continue
        differences.record("session", record["operator"], record["session"], ours.unoptimised, where)
        if not record["nodes"]:
            differences.left_out["the runtime did not place any node"] += 1
            continue
        nodes = list(ours)
        truth = Counter((node["op_type"], node["provider"]) for node in record["nodes"] if not _add_rows(node))
        differences.record(
            "nodes", record["operator"], truth, Counter((_plain(n.operator), n.provider) for n in nodes), where
        )
        if record["session"] == "created":
            _require_operators(differences, record, nodes, where)
    return differences


def _require_operators(differences: Differences, record: Mapping[str, Any], nodes: list[Any], where: str) -> None:
    """Compare created operators with the session's, and deferred ones with its run."""
    from specgate.descriptors.read import write_dict

    for creation, deferred in (("created", False), ("deferred", True)):
        if deferred and record["run"] != "ran":
            continue
        items = [node for node in nodes if node.provider == "DirectML" and node.creation == creation]
        if any(node.lowered is None for node in items):
            differences.left_out[f"what {creation} nodes become is not known"] += 1
            continue
        ours = [normal_form(write_dict(item)) for node in items for item in node.lowered]
        truth = [normal_form(each["descriptor"]) for each in record["operators"] if each["deferred"] is deferred]
        if truth or ours or not deferred:
            differences.record(f"{creation} operators", record["operator"], truth, ours, where)


def _add_rows(node: Mapping[str, str]) -> bool:
    return node["op_type"] in _ADDED or node["name"].startswith(_CASTS)


def _plain(operator: str) -> str:
    """Return an operator's name without its domain."""
    return operator.rpartition(".")[2]
