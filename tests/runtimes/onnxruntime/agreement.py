"""Laws by which `place`, `lint` and `run` agree, and a campaign for violations.

python -m tests.runtimes.onnxruntime.agreement onnxruntime:1.24.4 --cases 4 --graphs 200 [--operators Conv Resize]
[--run]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import reject
from hypothesis import strategies as st

import specgate
from specgate.errors import InputError, NoKernel, NoTable
from specgate.linting.input_source import InputSource
from specgate.runtimes.onnxruntime.conform.cases import breaks_rule, fitting_feeds, graph_cases, node_cases
from specgate.runtimes.onnxruntime.oracle.cpu_child import NotFed, feeds_of
from specgate.spec.tables import dialect
from specgate.targets import parse_target
from specgate.testing import descriptors, finding_ids, near_valid
from specgate.validate.row import explain_at

onnx = pytest.importorskip("onnx", reason="NO MODELS ARE BUILT: onnx is not installed")
helper = pytest.importorskip("onnx.helper")
#: The first IR versions with functions, and with initializers that are not inputs.
_OF_FUNCTIONS, _BARE_INITIALIZERS = 8, 4

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.verdict import Report


def contradiction(model: bytes, target: str) -> str | None:
    """Return how lint and place contradict each other on a model, else None."""
    source = InputSource(model, "onnx", "model")
    placement = specgate.place(source, target)
    report = specgate.lint(source, [target])
    errors = [finding for finding in report.findings if finding.severity == "error"]
    broken = [node for node in placement.nodes if node.fails or (node.run_fails and not node.gone)]
    if placement.usable == bool(errors):
        reasons = [*placement.refusals, *(node.created_by or node.run_fails for node in broken)]
        messages = [f"{finding.id}: {finding.message}" for finding in errors]
        return f"place: {'usable' if placement.usable else 'fails'} {reasons}; lint: {messages}"
    placed = {node.node for node in placement.nodes if node.function is None}
    failing = {node.node for node in broken if node.function is None}
    blamed = {finding.location.node for finding in errors if finding.location is not None} & placed
    refused = {finding.location.node for finding in placement.file_findings if finding.location is not None}
    if failing - blamed or blamed - failing - refused:
        return f"place: {sorted(failing)} fail; lint: {sorted(map(str, blamed))}"
    return None


def not_computed(model: bytes, target: str, descriptor: Descriptor | None = None, level: str = "") -> str | None:
    """Return why the executor rejects a model that lint accepts, else None.

    descriptor, level: of a one-node model, whose inputs get suitable values. It need not compute models without a table
    or kernel, or with inputs that need unavailable values; nor those that break a structural rule of ONNX and that the
    runtime runs (keepdims 3, pads with auto_pad, slopes of a higher rank), because no specification defines the result.
    """
    report = specgate.lint(InputSource(model, "onnx", "model"), [target])
    if report.undecided or report.no_table or any(finding.severity == "error" for finding in report.findings):
        return None
    if _breaks_structural_rules(report, descriptor, level):
        return None
    arrays = _arrays(model, descriptor, level, target)
    if arrays is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model)
        try:
            specgate.execute(path, arrays, target=target)
        except (NoKernel, NoTable):
            return None
        except InputError as error:
            if "which has undefined elements" in str(error):  # a branch's result that no specification defines
                return None
            warnings = sorted({finding.id for finding in report.findings if finding.severity == "warning"})
            return f"lint: accepted, warnings {warnings}; run: {error}"
    return None


def _breaks_structural_rules(report: Report, descriptor: Descriptor | None, level: str) -> bool:
    if descriptor is None:
        warnings = [finding.id for finding in report.findings if finding.severity == "warning"]
        return not all(rule.startswith("onnx/model/") for rule in warnings)
    resolved = dialect("onnx").operator(descriptor.operator).resolve(level)
    assert resolved is not None
    return any(failure.structural and not failure.unknown for failure in explain_at(descriptor, resolved))


def _arrays(model: bytes, descriptor: Descriptor | None, level: str, target: str) -> dict[str, Any] | None:
    if descriptor is not None:
        runtime = parse_target(target).runtime
        assert runtime is not None
        feeds = fitting_feeds(descriptor, level)
        fitting = [feed for feed in feeds if not breaks_rule(descriptor, level, feed, runtime.release)]
        if not fitting:
            return None
        names = {info.name for info in _inputs(model)}
        return {name: array for name, array in fitting[0].items() if name in names}
    if any("int" in info.type for info in _inputs(model)):  # sizes that must match the computation
        return None
    try:
        return next(feeds_of(_inputs(model), ()))
    except NotFed:
        return None


class _Input(NamedTuple):
    """An input of a model, with ONNX Runtime's type names."""

    name: str
    type: str
    shape: list[int | None]


def _inputs(model: bytes) -> list[_Input]:
    graph = onnx.ModelProto.FromString(model).graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = []
    for info in graph.input:
        if info.name not in constants:
            kind = info.type.tensor_type
            name = onnx.TensorProto.DataType.Name(kind.elem_type).lower()
            word = f"tensor({name})" if info.type.HasField("tensor_type") else "other"
            shape = [size.dim_value if size.HasField("dim_value") else None for size in kind.shape.dim]
            inputs.append(_Input(info.name, word, shape))
    return inputs


def in_function(model: bytes) -> bytes:
    """Return a one-node model with the node in a function that it calls."""
    onnx_model = onnx.ModelProto.FromString(model)
    node = onnx_model.graph.node[0]
    inputs = list(dict.fromkeys(filter(None, node.input)))
    outputs = [name for name in node.output if name]
    onnx_model.functions.append(helper.make_function("acme", "F", inputs, outputs, [node], onnx_model.opset_import))
    onnx_model.graph.node[0].CopyFrom(helper.make_node("F", inputs, outputs, name=node.name, domain="acme"))
    onnx_model.opset_import.append(helper.make_opsetid("acme", 1))
    onnx_model.ir_version = max(onnx_model.ir_version, _OF_FUNCTIONS)
    return bytes(onnx_model.SerializeToString())


def wrap_in_branches(model: bytes) -> bytes:
    """Return a one-node model with the node in both branches of an If."""
    onnx_model = onnx.ModelProto.FromString(model)
    body = helper.make_graph(onnx_model.graph.node, "body", [], onnx_model.graph.output)
    outputs = [info.name for info in onnx_model.graph.output]
    onnx_model.graph.node[0].CopyFrom(
        helper.make_node("If", ["go"], outputs, name="if", then_branch=body, else_branch=body)
    )
    onnx_model.graph.initializer.append(helper.make_tensor("go", onnx.TensorProto.BOOL, [], [True]))
    if onnx_model.ir_version < _BARE_INITIALIZERS:
        onnx_model.graph.input.append(helper.make_tensor_value_info("go", onnx.TensorProto.BOOL, []))
    return bytes(onnx_model.SerializeToString())


def installed_session(model: bytes) -> str:
    """Return whether the installed ONNX Runtime creates a session: "created" or "fails"."""
    runtime = pytest.importorskip("onnxruntime", reason="ONNX RUNTIME IS NOT TESTED: pip install onnxruntime")
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
    parser.add_argument("--run", action="store_true", help="ask for what lint accepts and run does not compute")
    chosen = parser.parse_args(arguments)
    newest = int(parse_target(chosen.target).level)
    wrong: Counter[str] = Counter()
    asked = 0

    def wrap(case: Any) -> bytes:
        ways = (bytes, in_function, wrap_in_branches) if case.kind == "node" else (bytes,)
        return ways[asked % len(ways)](case.model)

    def ask(case: Any) -> None:
        nonlocal asked
        asked += 1
        try:
            if chosen.run:
                text = not_computed(wrap(case), chosen.target, case.descriptor, case.level)
            else:
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
