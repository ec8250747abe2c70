"""The law that `place` and `lint` answer from the same facts, and a campaign that looks for where they do not.

python -m tests.placement.agreement onnxruntime:1.24.4 --cases 4 --graphs 200 [--operators Conv Resize]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import reject
from hypothesis import strategies as st

import specgate
from specgate.errors import InputError
from specgate.linting.given import Given
from specgate.placement.conform.cases import node_cases
from specgate.placement.conform.graphs import graph_cases
from specgate.spec.tables import dialect
from specgate.targets import parse_target
from specgate.testing import descriptors, finding_ids, near_valid

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor


def contradiction(model: bytes, target: str) -> str | None:
    """Return how lint and place contradict each other on a serialised model, None where they agree."""
    given = Given(model, "onnx", "model")
    placement = specgate.place(given, target)
    report = specgate.lint(given, [target])
    errors = [found for found in report.findings if found.severity == "error"]
    broken = [node for node in placement.nodes if node.fails or (node.run_fails and not node.gone)]
    if placement.usable == bool(errors):
        reasons = [*placement.refusals, *(node.created_by or node.run_fails for node in broken)]
        said = [f"{found.id}: {found.message}" for found in errors]
        return f"place: {'usable' if placement.usable else 'fails'} {reasons}; lint: {said}"
    placed = {node.node for node in placement.nodes if node.function is None}
    failing = {node.node for node in broken if node.function is None}
    blamed = {found.location.node for found in errors if found.location is not None} & placed
    refused = {found.location.node for found in placement.file_findings if found.location is not None}
    if failing - blamed or blamed - failing - refused:
        return f"place: {sorted(failing)} fail; lint: {sorted(map(str, blamed))}"
    return None


def installed_session(model: bytes) -> str:
    """Return whether the installed ONNX Runtime creates a session of a model: "created" or "fails"."""
    runtime = pytest.importorskip("onnxruntime", reason="ONNX RUNTIME IS NOT ASKED: pip install onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    try:
        runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception:
        return "fails"
    return "created"


def drawn_node(data: st.DataObject, operator: str, level: str) -> Descriptor:
    """Draw a valid descriptor, or one that breaks one rule."""
    try:
        if data.draw(st.booleans()):
            return data.draw(descriptors("onnx", operator, level))
        breaks = data.draw(st.sampled_from(finding_ids("onnx", operator, level)))
        return data.draw(near_valid("onnx", operator, level, breaks=breaks)).descriptor
    except InputError:
        reject()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--cases", type=int, default=3)
    parser.add_argument("--graphs", type=int, default=50)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--operators", nargs="*")
    chosen = parser.parse_args(arguments)
    newest = int(parse_target(chosen.target).level)
    wrong: Counter[str] = Counter()
    asked = 0

    def ask(case: Any) -> None:
        nonlocal asked
        asked += 1
        try:
            text = contradiction(case.model, chosen.target)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
        if text:
            wrong[case.operator] += 1
            print(f"{case.id}: {text[:400]}", flush=True)

    for operator in chosen.operators or dialect("onnx").tables.operators:
        for case in node_cases(operator, chosen.cases, chosen.seed, newest):
            ask(case)
    for case in graph_cases(chosen.graphs, chosen.seed, newest):
        ask(case)
    print(f"{asked} models, {wrong.total()} contradictions in {len(wrong)} operators")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
