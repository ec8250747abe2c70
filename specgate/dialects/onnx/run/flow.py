"""Execution of control flow operators: If, Loop, Scan and SequenceMap.

Source: the documentation of If-1 to 25, Loop-1 to 25, Scan-8 to 25 and SequenceMap-17 in the onnx package, 1.23.2. It
does not define scan outputs of a loop without iterations. ONNX Runtime 1.31.1 returns empty tensors with the sizes that
the body declares.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.types import numpy_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.dialects.onnx.file.structure import OnnxValueInfo
    from specgate.dialects.onnx.run.scope import Run

__all__ = ["FLOW", "Flow"]


class Flow(NamedTuple):
    """A control flow node to execute.

    outputs: the declared outputs of each body. body: maps an attribute name and input values to output values. given:
    the node's inputs, None if omitted. attributes: all except bodies. version: the opset.
    """

    run: Run
    outputs: Mapping[str, Sequence[OnnxValueInfo]]
    body: Callable[[str, Sequence[Any]], list[Any]]
    values: Sequence[Any]
    attributes: Mapping[str, Any]
    version: int


def _one(value: Any, name: str) -> Any:
    if not isinstance(value, np.ndarray) or value.size != 1:
        raise InputError("expected one element", place=name)
    return value.reshape(())


def _if(flow: Flow) -> list[Any]:
    if len(flow.values) != 1 or flow.values[0] is None:
        raise InputError(f"expected one input, the condition, found {len(flow.values)}")
    return flow.body("then_branch" if bool(_one(flow.values[0], "cond")) else "else_branch", [])


class _Collected:
    """Scan outputs of iterations until they are stacked.

    Their memory counts as live values.
    """

    def __init__(self, flow: Flow, infos: Sequence[OnnxValueInfo]) -> None:
        self.run, self.infos = flow.run, infos
        self.parts: list[list[Any]] = [[] for _ in infos]
        self.reserved = 0

    def add(self, values: Sequence[Any]) -> None:
        """Append the values of one iteration."""
        for kept, value in zip(self.parts, values, strict=True):
            if not isinstance(value, np.ndarray):
                raise InputError("expected a tensor from each iteration, found a sequence, a map or an optional")
            if kept and (kept[0].shape != value.shape or kept[0].dtype != value.dtype):
                shapes = f"{kept[0].dtype} {list(kept[0].shape)} and {value.dtype} {list(value.shape)}"
                raise InputError(f"expected iterations to produce tensors of the same type and shape, found {shapes}")
            kept.append(value)
            number = memory.held_bytes(value)
            self.reserved += number
            self.run.live_bytes += number
        self.run.budget.hold(self.run.live_bytes, "the set of live values")

    def joined(self, axes: Sequence[int] | None = None) -> list[NDArray[Any]]:
        """Stack the iterations of each value along an axis, by default 0."""
        arrays = []
        for index, (kept, info) in enumerate(zip(self.parts, self.infos, strict=True)):
            self.run.budget.hold(self.run.live_bytes + sum(map(memory.held_bytes, kept)), "the set of live values")
            whole = np.stack(kept) if kept else self._without_turns(info)
            axis = axes[index] if axes else 0
            if not -whole.ndim <= axis < whole.ndim:
                raise InputError(f"expected an axis from {-whole.ndim} to {whole.ndim - 1}, found {axis}")
            arrays.append(np.moveaxis(whole, 0, axis))
        self.run.live_bytes -= self.reserved
        return arrays

    def _without_turns(self, info: OnnxValueInfo) -> NDArray[Any]:
        declared = info.type
        if declared is None or declared.kind != "tensor" or declared.elem_type not in self.run.tables.types:
            raise NoKernel(f"the type of {info.name!r:.60} is not declared, and no iteration produces it")
        sizes = (size if isinstance(size, int) else 0 for size in declared.shape or ())
        return np.empty((0, *sizes), numpy_type(self.run.tables, declared.elem_type))


def _loop(flow: Flow) -> list[Any]:
    if len(flow.values) < 2:
        raise InputError(f"expected a trip count and a condition, found {len(flow.values)} inputs")
    trips, cond, *state = flow.values
    most = None if trips is None else int(_one(trips, "M"))
    goes_on = True if cond is None else bool(_one(cond, "cond"))
    infos = flow.outputs["body"]
    if len(infos) < 1 + len(state):
        raise InputError(f"expected a body of at least {1 + len(state)} outputs, found {len(infos)}")
    collected = _Collected(flow, infos[1 + len(state) :])
    for turn in _turns(flow.run, most):
        if not goes_on:
            break
        again, *values = flow.body("body", [np.array(turn, np.int64), np.array(goes_on), *state])
        goes_on = bool(_one(again, "the body's condition"))
        state = values[: len(state)]
        collected.add(values[len(state) :])
    return [*state, *collected.joined()]


def _turns(run: Run, most: int | None) -> Iterator[int]:
    for turn in count() if most is None else range(most):
        run.budget.hold_time()
        yield turn


def _scan(flow: Flow) -> list[Any]:
    items = list(flow.values)
    lengths = items.pop(0) if flow.version < 9 else None
    if any(value is None for value in items):
        raise InputError("expected every state and scan input, but one is missing")
    count_of = flow.attributes.get("num_scan_inputs")
    if not isinstance(count_of, int) or not 0 <= count_of <= len(items):
        raise InputError(f"expected num_scan_inputs from 0 to {len(items)}, found {count_of!r:.20}")
    state, scanned = items[: len(items) - count_of], items[len(items) - count_of :]
    return _scan_of_batches(flow, state, scanned, lengths) if flow.version < 9 else _scanned(flow, state, scanned)


def _numbers(flow: Flow, name: str, expected_number: int) -> list[int]:
    result = flow.attributes.get(name) or [0] * expected_number
    if len(result) != expected_number:
        raise InputError(f"expected {expected_number} numbers, found {len(result)}", place=name)
    return [int(number) for number in result]


def _scanned(flow: Flow, state: list[Any], scanned: list[Any], directions: Sequence[int] | None = None) -> list[Any]:
    infos = flow.outputs["body"]
    if len(infos) < len(state):
        raise InputError(f"expected a body of at least {len(state)} outputs, found {len(infos)}")
    axes = _numbers(flow, "scan_input_axes", len(scanned))
    directions = _numbers(flow, "scan_input_directions", len(scanned)) if directions is None else directions
    out_axes = _numbers(flow, "scan_output_axes", len(infos) - len(state))
    out_directions = _numbers(flow, "scan_output_directions", len(infos) - len(state))
    for value, axis in zip(scanned, axes, strict=True):
        if not -value.ndim <= axis < value.ndim:
            raise InputError(f"expected an axis from {-value.ndim} to {value.ndim - 1}, found {axis}")
    lengths = {value.shape[axis] for value, axis in zip(scanned, axes, strict=True)}
    if len(lengths) > 1:
        raise InputError(f"expected scan inputs of the same length, found {sorted(lengths)}")
    moved = [np.moveaxis(value, axis, 0) for value, axis in zip(scanned, axes, strict=True)]
    sources = [value[::-1] if back else value for value, back in zip(moved, directions, strict=True)]
    collected = _Collected(flow, infos[len(state) :])
    for turn in _turns(flow.run, min(lengths, default=0)):
        values = flow.body("body", [*state, *(np.asarray(value[turn]) for value in sources)])
        state = values[: len(state)]
        collected.add(values[len(state) :])
    for kept, back in zip(collected.parts, out_directions, strict=True):
        if back:
            kept.reverse()
    return [*state, *collected.joined(out_axes)]


def _scan_of_batches(flow: Flow, state: list[Any], scanned: list[Any], lengths: Any) -> list[Any]:
    """Execute Scan-8, whose inputs have a batch axis and separate lengths.

    Scan outputs are padded with zeros.
    """
    every = [*state, *scanned]
    batches = every[0].shape[0] if every and every[0].ndim else 0
    if any(value.ndim == 0 or value.shape[0] != batches for value in every):
        raise InputError("expected states and scan inputs of the same batch size")
    if any(value.ndim < 2 for value in scanned):
        raise InputError("expected scan inputs with batch and length dimensions")
    longest = scanned[0].shape[1] if scanned else 0
    sizes = [longest] * batches if lengths is None else [int(size) for size in lengths.reshape(-1)]
    if len(sizes) != batches or not all(0 <= size <= longest for size in sizes):
        raise InputError(f"expected sequence_lens as {batches} numbers from 0 to {longest}")
    directions = _numbers(flow, "directions", len(scanned))
    items = [
        _scanned(flow, [np.asarray(v[batch]) for v in state], [v[batch, :size] for v in scanned], directions)
        for batch, size in enumerate(sizes)
    ]
    whole = []
    for index, parts in enumerate(zip(*items, strict=True)):
        if index >= len(state):
            parts = tuple(np.concatenate([p, np.zeros((longest - len(p), *p.shape[1:]), p.dtype)]) for p in parts)  # noqa: PLW2901
        whole.append(np.stack(parts))
    return whole


def _sequence_map(flow: Flow) -> list[Any]:
    first, *rest = flow.values
    if not isinstance(first, list):
        raise InputError("expected a sequence", place="input_sequence")
    if any(isinstance(value, list) and len(value) != len(first) for value in rest):
        raise InputError(f"expected sequences of {len(first)} elements, as the first one has")
    items: list[list[Any]] = [[] for _ in flow.outputs["body"]]
    for turn in _turns(flow.run, len(first)):
        values = [value[turn] if isinstance(value, list) else value for value in rest]
        for kept, value in zip(items, flow.body("body", [first[turn], *values]), strict=True):
            kept.append(value)
    return items


#: By domain and operator.
FLOW: Final[dict[tuple[str, str], Callable[[Flow], list[Any]]]] = {
    ("", "If"): _if,
    ("", "Loop"): _loop,
    ("", "Scan"): _scan,
    ("", "SequenceMap"): _sequence_map,
}
