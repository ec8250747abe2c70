"""Execute an ONNX model and hold each node of its main graph against another implementation.

Each node is computed from the other's values of its inputs, so a node that differs does so on its own.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.dialects.onnx.file.model import read_model
from specgate.dialects.onnx.lint.walk import label
from specgate.dialects.onnx.oracle.whole import IMPLEMENTATIONS
from specgate.dialects.onnx.run.model import run_model
from specgate.errors import InputError
from specgate.execution.compared import Compared, Different
from specgate.execution.containers import arrays_in
from specgate.execution.engine import execute_at
from specgate.execution.filled import filled
from specgate.execution.memory import held_bytes
from specgate.execution.tolerance import differing, tolerance_of
from specgate.workers.child import Child

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.run.scope import Run
    from specgate.execution.memory import Budget
    from specgate.targets import Target

__all__ = ["compare_model"]


def compare_model(
    path: str,
    arrays: Mapping[str, Any],
    implementation: str,
    target: Target | None,
    *,
    budget: Budget,
    on_node: Callable[[int, int], object] | None = None,
) -> Compared:
    """Return where the nodes of the model at `path` differ from an implementation, by the tables' tolerances.

    implementation: ``onnxruntime`` or ``reference``. Raises InputError where it is not installed, refuses the model or
    does not answer in time; NoKernel and NoTable as `run_model` does.
    """
    if implementation not in IMPLEMENTATIONS:
        raise InputError(f"unknown implementation {implementation!r:.40}; expected {', '.join(IMPLEMENTATIONS)}")
    if find_spec(IMPLEMENTATIONS[implementation]) is None:
        raise InputError(f"{implementation} is not installed: pip install 'specgate-ml[oracles]'")
    version, theirs = _asked(path, arrays, implementation, budget)
    budget.hold(held_bytes(theirs), f"what {implementation} computes")
    nodes = read_model(path).graph.nodes
    places = {
        name: (f"graph/{label(node, index)}", node.op_type)
        for index, node in enumerate(nodes)
        for name in node.outputs
        if name
    }
    judge = _Judge(theirs, places)

    def done(count: int, of: int) -> None:
        judge.next_node()
        if on_node is not None:
            on_node(count, of)

    outputs = run_model(path, arrays, target, budget=budget, evaluate=judge.evaluate, watch=judge.settle, on_node=done)
    return Compared(implementation, version, outputs, judge.count, judge.missing, judge.found)


def _asked(path: str, arrays: Mapping[str, Any], implementation: str, budget: Budget) -> tuple[str, dict[str, Any]]:
    budget.hold_time()
    child = Child("specgate.dialects.onnx.oracle.whole", "answerer", timeout=max(1.0, budget.seconds))
    try:
        answer = child.ask((implementation, str(Path(path).resolve()), dict(arrays)))
    finally:
        child.close()
    if not isinstance(answer, tuple):
        raise InputError(f"{implementation} {answer} over the model", file=path)
    kind, found = answer
    if kind == "error":
        raise InputError(f"{implementation} does not run the model: {found}", file=path)
    version, values = found
    return version, values


class _Judge:
    """Holds each value of the main graph against the other's, which takes its place.

    places: by the name of a value the path and the operator of its node. count: of the values that were compared;
    missing: of those that the other did not give.
    """

    def __init__(self, theirs: Mapping[str, Any], places: Mapping[str, tuple[str, str]]) -> None:
        self.theirs, self.places = theirs, places
        self.count = self.missing = 0
        self.found: list[Different] = []
        self._tolerance = 0.0

    def evaluate(self, run: Run, descriptor: Descriptor, arrays: Mapping[str, Any], _place: str) -> dict[str, Any]:
        """Compute a node, and note how far its values may lie apart; nodes of a body count for the node around them."""
        ours = execute_at(descriptor, arrays, run.tables.levels[-1], budget=run.left())
        tolerance = tolerance_of(filled(descriptor, arrays, ours), str(descriptor.version))
        self._tolerance = max(self._tolerance, tolerance)
        return ours

    def next_node(self) -> None:
        """Forget what holds for a node of the main graph, which is done."""
        self._tolerance = 0.0

    def settle(self, name: str, value: Any) -> Any:
        """Return what later nodes read of a value: the other's, where it has one like it."""
        if name not in self.places:
            return value
        if name not in self.theirs:
            self.missing += 1
            return value
        place, operator = self.places[name]
        other = self.theirs[name]
        self.count += 1
        pairs = list(zip(arrays_in(value), arrays_in(other), strict=False))
        if len(arrays_in(value)) != len(arrays_in(other)) or any(_unlike(*pair) for pair in pairs):
            shapes = [
                ", ".join(f"{a.dtype} {list(a.shape)}" for a in arrays_in(v)) or "nothing" for v in (value, other)
            ]
            self.found.append(Different(place, operator, name, f"{shapes[0]} here and {shapes[1]} there"))
            return value
        for mine, its in pairs:
            if text := _difference(mine, its, self._tolerance):
                self.found.append(Different(place, operator, name, text))
                break
        if isinstance(value, np.ma.MaskedArray) or not isinstance(value, np.ndarray):
            return value
        return other


def _difference(mine: Any, its: Any, tolerance: float) -> str:
    wrong = differing(mine, its, tolerance)
    if not wrong.any():
        return ""
    at = tuple(int(part) for part in np.argwhere(wrong)[0])
    where = f" at {list(at)}" if at else ""
    return f"{int(wrong.sum())} of {wrong.size} elements, first {mine[at]!s} here and {its[at]!s} there{where}"


def _unlike(mine: NDArray[Any], its: NDArray[Any]) -> bool:
    return mine.shape != its.shape or mine.dtype != its.dtype
