"""A model node by node: each is given what ONNX Runtime computed before it, so that what differs is that node's own."""

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

__all__ = ["Difference", "differences", "opened"]

_OURS = "ours of "


class Difference(NamedTuple):
    """One output of a node that the executor and the runtime compute from the same inputs.

    far: the largest difference, of floats divided by 1 + the magnitude of the runtime's; infinite for another type or
    shape. wrong: how many elements lie apart by more than the tolerance.
    """

    operator: str
    node: str
    output: str
    far: float
    wrong: int


def opened(path: Path, given: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the outputs of a model, by ONNX Runtime on the CPU without optimisations. Raises what it raises."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, given), strict=True))


def differences(
    path: Path, given: Mapping[str, NDArray[Any]], scratch: Path, tolerance: float = 1e-5
) -> Iterator[Difference]:
    """Yield the outputs of nodes that differ, in the model's order; sequences and what depends on them is left out.

    given: the model's inputs by name. scratch: a folder. tolerance: as in `Difference.far`; integers must be equal.
    """
    model = onnx.load(path)
    inner = [name for node in model.graph.node for name in node.output if name]
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    stated = {output.name for output in whole.graph.output}
    whole.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inner if name not in stated)
    onnx.save(whole, scratch / "all.onnx")
    theirs = {n: a for n, a in opened(scratch / "all.onnx", given).items() if isinstance(a, np.ndarray)}
    places = _apart(model, theirs)
    onnx.save(model, scratch / "apart.onnx")
    ours = specgate.execute(scratch / "apart.onnx", {**given, **theirs})
    for name, (operator, node) in places.items():
        found = _compared(ours[_OURS + name], theirs[name], tolerance)
        if found is not None:
            yield Difference(operator, node, name, *found)


def _apart(model: onnx.ModelProto, theirs: Mapping[str, NDArray[Any]]) -> dict[str, tuple[str, str]]:
    """Make what nodes read inputs of the model, and what they write outputs; return the latter with their nodes."""
    known = {*theirs, *(info.name for info in (*model.graph.input, *model.graph.initializer)), ""}
    kept = [node for node in model.graph.node if known.issuperset((*node.input, *node.output))]
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


def _compared(ours: NDArray[Any], theirs: NDArray[Any], tolerance: float) -> tuple[float, int] | None:
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
