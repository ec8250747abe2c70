"""Compare a model node by node, each with ONNX Runtime's inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
import onnxruntime

import specgate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Difference", "differences", "open_part"]

_OURS = "ours of "


class Difference(NamedTuple):
    """An output that executor and runtime compute from the same inputs.

    far: the largest difference, of floats divided by 1 + the magnitude of the runtime's; infinite for another type or
    shape. wrong: number of elements beyond the tolerance.
    """

    operator: str
    node: str
    output: str
    far: float
    wrong: int


def open_part(path: Path, arrays_by_name: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return a model's outputs from ONNX Runtime on the CPU, without optimizations.

    Raises its errors.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, arrays_by_name), strict=True))


def differences(
    path: Path, arrays_by_name: Mapping[str, NDArray[Any]], scratch: Path, tolerance: float = 1e-5
) -> Iterator[Difference]:
    """Yield differing outputs of nodes in model order, except sequences.

    given: the model's inputs by name. scratch: a folder. tolerance: as in `Difference.far`; integers must be equal.
    Nodes that depend on sequences are skipped.
    """
    model = onnx.load(path)
    inner = [name for node in model.graph.node for name in node.output if name]
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    stated = {output.name for output in whole.graph.output}
    whole.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inner if name not in stated)
    onnx.save(whole, scratch / "all.onnx")
    theirs = {n: a for n, a in open_part(scratch / "all.onnx", arrays_by_name).items() if isinstance(a, np.ndarray)}
    places = _separate_nodes(model, theirs)
    onnx.save(model, scratch / "apart.onnx")
    ours = specgate.execute(scratch / "apart.onnx", {**arrays_by_name, **theirs})
    for name, (operator, node) in places.items():
        numbers = _compare_all(ours[_OURS + name], theirs[name], tolerance)
        if numbers is not None:
            yield Difference(operator, node, name, *numbers)


def _separate_nodes(model: onnx.ModelProto, theirs: Mapping[str, NDArray[Any]]) -> dict[str, tuple[str, str]]:
    """Make inputs of nodes model inputs, and outputs model outputs; return these."""
    items = {*theirs, *(info.name for info in (*model.graph.input, *model.graph.initializer)), ""}
    kept = [node for node in model.graph.node if items.issuperset((*node.input, *node.output))]
    places: dict[str, tuple[str, str]] = {}
    for node in kept:
        operator = f"{node.domain}.{node.op_type}".removeprefix(".")
        for at, name in enumerate(node.output):
            if name:
                places[name] = (operator, node.name)
                node.output[at] = _OURS + name
    del model.graph.node[:], model.graph.output[:], model.graph.value_info[:]
    model.graph.node.extend(kept)
    for name, array in theirs.items():
        number = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        model.graph.input.append(onnx.helper.make_tensor_value_info(name, number, array.shape))
    model.graph.output.extend(onnx.ValueInfoProto(name=_OURS + name) for name in places)
    return places


def _compare_all(ours: NDArray[Any], theirs: NDArray[Any], tolerance: float) -> tuple[float, int] | None:
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        return np.inf, theirs.size
    if theirs.dtype.kind not in "fiu":
        wrong = np.asarray(ours != theirs)
        return (1.0, int(wrong.sum())) if wrong.any() else None
    mine, other = ours.astype(np.float64), theirs.astype(np.float64)
    floats = theirs.dtype.kind == "f"
    with np.errstate(invalid="ignore"):
        far = np.abs(mine - other) / (1 + np.abs(other) if floats else 1)
    far = np.where((mine == other) | (np.isnan(mine) & np.isnan(other)), 0.0, far)
    wrong = ~(far <= (tolerance if floats else 0))
    return (float(far.max()), int(wrong.sum())) if wrong.any() else None
