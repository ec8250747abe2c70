"""Node-by-node comparison of an ONNX model with another implementation."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specgate.dialects.onnx.file.model import read_model
from specgate.dialects.onnx.lint.units import label
from specgate.dialects.onnx.oracle.whole import IMPLEMENTATIONS
from specgate.dialects.onnx.run.model import run_model
from specgate.errors import InputError
from specgate.execution.comparison import Compared, Judge, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.run.scope import Run
    from specgate.execution.memory import Budget
    from specgate.targets import Target
    from specgate.verdict import Basis

__all__ = ["compare_model"]


def compare_model(
    path: str,
    arrays: Mapping[str, Any],
    implementation: str,
    target: Target | None,
    *,
    budget: Budget,
    on_node: Callable[[int, int], object] = lambda _done, _all: None,
    basis: Basis = "both",
) -> Compared:
    """Return where nodes of a model differ from another implementation.

    Differences are measured with the tolerances of the tables. implementation: ``onnxruntime`` or ``reference``. basis:
    as for `run_model`. Raises InputError if it is not installed, rejects the model or times out; NoKernel and NoTable
    as `run_model` does.
    """
    if implementation not in IMPLEMENTATIONS:
        raise InputError(f"unknown implementation {implementation!r:.40}; expected {', '.join(IMPLEMENTATIONS)}")
    if find_spec(IMPLEMENTATIONS[implementation]) is None:
        raise InputError(f"{implementation} is not installed: pip install 'specgate-ml[oracles]'")
    question = implementation, str(Path(path).resolve()), dict(arrays)
    version, theirs = values_of("specgate.dialects.onnx.oracle.whole", question, implementation, path, budget)
    model = read_model(path)
    places = {
        name: (f"graph/{label(node, index)}", node.op_type)
        for index, node in enumerate(model.graph.nodes)
        for name in node.outputs
        if name
    }
    judge = Judge(basis, target.by if target else None)

    def evaluate(run: Run, descriptor: Descriptor, entries: Mapping[str, Any], _place: str) -> dict[str, Any]:
        ours = run.execute(descriptor, entries)
        judge.computed(descriptor, entries, ours, run.execute)
        return ours

    def settle(name: str, value: Any) -> Any:
        return judge.settle(*places[name], name, value, theirs.get(name)) if name in places else value

    def done(count: int, of: int) -> None:
        judge.next_node()
        on_node(count, of)

    outputs = run_model(
        path, arrays, target, budget=budget, evaluate=evaluate, watch=settle, on_node=done, model=model, basis=basis
    )
    return Compared(implementation, version, outputs, judge.count, judge.missing, judge.differences)
