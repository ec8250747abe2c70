"""Layer-by-layer comparison of an IR with OpenVINO's CPU plugin."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.openvino.run import run_model
from specgate.errors import InputError
from specgate.execution.comparison import Compared, Judge, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.execution.memory import Budget
    from specgate.targets import Target
    from specgate.verdict import Basis

__all__ = ["compare_model"]

_NAME: Final = "cpu"


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
    """Return where layers of an IR differ from another implementation.

    Differences are measured with the tolerances of the tables. implementation: ``cpu``, the CPU plugin with f32
    precision. All layer outputs are requested, so that nothing is fused. basis: as for `run_model`. Raises InputError
    if it is not installed, rejects the model or times out; NoKernel and NoTable as `run_model` does.
    """
    if implementation != _NAME:
        raise InputError(f"unknown implementation {implementation!r:.40}; expected {_NAME}")
    if find_spec("openvino") is None:
        raise InputError("openvino is not installed: pip install 'specgate-ml[oracles]'")
    question = str(Path(path).resolve()), dict(arrays)
    version, theirs = values_of("specgate.dialects.openvino.oracle.whole", question, implementation, path, budget)
    judge = Judge(basis, target.by if target else None)
    outputs = run_model(path, arrays, target, budget=budget, on_node=on_node, judge=judge, theirs=theirs, basis=basis)
    return Compared(implementation, version, outputs, judge.count, judge.missing, judge.differences)
