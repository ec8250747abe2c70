"""Scopes of values, and control flow operators: If, Loop, Scan, SequenceMap."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.dialects.onnx.lint.units import function_key, subgraphs
from specgate.dialects.onnx.run.weights import Weights
from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.comparison import at_place
from specgate.execution.engine import execute_at
from specgate.execution.types import numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import (
        OnnxAttribute,
        OnnxFunction,
        OnnxModel,
        OnnxNode,
        OnnxTensor,
        OnnxValueInfo,
    )
    from specgate.verdict import Basis

#: Maximum nesting of bodies and calls.
_MAX_NESTING: Final = 60


def _read_names(node: OnnxNode) -> Iterator[str]:
    """Yield the names that a node and its subgraphs read."""
    yield from node.inputs
    for _, graph in subgraphs(node):
        for inner in graph.nodes:
            yield from _read_names(inner)
        yield from (info.name for info in graph.outputs)


class Run:
    """State of one execution of a model, shared by all its bodies.

    evaluate: computes a node from its descriptor, the arrays by input name, and its path in the model. watch: receives
    each value of the main graph by name, and returns the value for later nodes. step: receives the number of finished
    nodes. basis, by: documented or observed values, and by which implementation. notes: differences between builds,
    with the number of nodes.
    """

    basis: Basis = "documented"
    by: str | None = None

    def __init__(
        self,
        model: OnnxModel,
        path: str,
        budget: memory.Budget,
        *,
        evaluate: Callable[[Run, Descriptor, Mapping[str, Any], str], dict[str, Any]] | None = None,
        watch: Callable[[str, Any], Any] | None = None,
        step: Callable[[int], object] | None = None,
    ) -> None:
        self.path, self.model, self.budget = path, model, budget
        self.tables = dialect("onnx")
        self.weights = Weights(path, budget.left)
        self.functions: dict[tuple[str, str, str], OnnxFunction] = {
            function_key(function): function for function in model.functions
        }
        self.live_bytes = 0
        self.notes: Counter[str] = Counter()
        self.watch, self.step = watch, step
        self._evaluate = evaluate or _evaluate_node
        self._last_use: dict[int, dict[str, int]] = {}
        self._kept: dict[int, Any] = {}

    def evaluate(self, descriptor: Descriptor, arrays: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Return a node's outputs by field name; `place` is its path."""
        return self._evaluate(self, descriptor, arrays, place)

    def execute(self, descriptor: Descriptor, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Return a node's outputs as its kernel computes them."""
        newest = self.tables.operator(descriptor.operator).dialect.levels[-1]
        results = execute_at(descriptor, arrays, newest, budget=self.remaining_budget(), basis=self.basis, by=self.by)
        self.notes.update(results.notes)
        return results

    def remaining_budget(self) -> memory.Budget:
        """Return the budget that live values leave."""
        return self.budget.less(self.live_bytes)

    def constant(self, tensor: OnnxTensor, *, keep_cached: bool) -> Any:
        """Return a tensor's elements; `keep_cached` caches them, for loop bodies."""
        if id(tensor) in self._kept:
            return self._kept[id(tensor)]
        array = self.weights.array(tensor)
        if keep_cached:
            self._kept[id(tensor)] = array
            self.live_bytes += memory.count_bytes(array)
        return array

    def last_use(self, nodes: Sequence[OnnxNode]) -> Mapping[str, int]:
        """Return the index of the last node that reads each name."""
        last_uses = self._last_use.get(id(nodes))
        if last_uses is None:
            last_uses = {name: index for index, node in enumerate(nodes) for name in _read_names(node)}
            self._last_use[id(nodes)] = last_uses
        return last_uses


def _evaluate_node(run: Run, descriptor: Descriptor, arrays: Mapping[str, Any], _place: str) -> dict[str, Any]:
    return run.execute(descriptor, arrays)


class Scope:
    """The values of one body by name.

    place: the path of the body, including calls. outer: the scope around a subgraph, None for the main graph and for
    functions. attributes: those of the call, for a function's body. calls: the functions on the call stack. tensors: of
    the file, read on first use.
    """

    def __init__(
        self,
        run: Run,
        nodes: Sequence[OnnxNode],
        imports: Mapping[str, int],
        place: str,
        *,
        outer: Scope | None = None,
        attributes: Mapping[str, OnnxAttribute] | None = None,
        kept_names: Iterable[str] = (),
        calls: tuple[tuple[str, str, str], ...] = (),
        depth: int = 0,
    ) -> None:
        if depth > _MAX_NESTING:
            raise InputError(f"subgraphs and calls are nested more than {_MAX_NESTING} deep")
        self.run, self.nodes, self.imports, self.place, self.outer = run, nodes, imports, place, outer
        self.attributes, self.calls, self.depth = attributes, calls, depth
        self.kept = frozenset(kept_names)
        self.tensors: dict[str, OnnxTensor] = {}
        self.last_use = run.last_use(nodes)
        self.values: dict[str, Any] = {}
        self._bytes: dict[str, int] = {}

    def read(self, name: str) -> Any:
        """Return a value by name, from this scope or an outer one."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            if name in scope.tensors:
                with at_place(f"initializer {name[:60]!r}"):
                    scope.set_value(name, self.run.constant(scope.tensors[name], keep_cached=scope.depth > 0))
                return scope.values[name]
            scope = scope.outer
        raise InputError(f"reads {name!r:.60}, which is not an input, initializer or output of an earlier node")

    def set_value(self, name: str, value: Any) -> None:
        """Set the value of a name; InputError if it is already set."""
        if name in self.values:
            raise InputError(f"computes {name!r:.60}, which already exists")
        if self.depth == 0 and self.run.watch is not None:
            value = self.run.watch(name, value)
        self.values[name] = value
        self._bytes[name] = number = memory.count_bytes(value)
        self.run.live_bytes += number

    def drop(self, index: int, names: Iterable[str]) -> None:
        """Drop named values without a reader after node `index`.

        Then check memory and time against the budget.
        """
        for name in names:
            if self.last_use.get(name, -1) <= index and name not in self.kept and name in self.values:
                del self.values[name]
                self.run.live_bytes -= self._bytes.pop(name)
        self.run.budget.check(self.run.live_bytes, "the set of live values")
        self.run.budget.check_time()

    def close(self) -> None:
        """Drop all values."""
        self.run.live_bytes -= sum(self._bytes.values())
        self.values.clear()
        self._bytes.clear()


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


def _scalar_of(value: Any, name: str) -> Any:
    if not isinstance(value, np.ndarray) or value.size != 1:
        raise InputError("expected one element", place=name)
    return value.reshape(())


def _run_if(flow: Flow) -> list[Any]:
    if len(flow.values) != 1 or flow.values[0] is None:
        raise InputError(f"expected one input, the condition, found {len(flow.values)}")
    return flow.body("then_branch" if bool(_scalar_of(flow.values[0], "cond")) else "else_branch", [])


class _ScanOutputs:
    """Scan outputs of iterations until they are stacked.

    Their memory counts as live values.
    """

    def __init__(self, flow: Flow, infos: Sequence[OnnxValueInfo]) -> None:
        self.run, self.infos = flow.run, infos
        self.parts: list[list[Any]] = [[] for _ in infos]
        self.reserved = 0

    def add(self, values: Sequence[Any]) -> None:
        """Append the values of one iteration."""
        for scan_part, value in zip(self.parts, values, strict=True):
            if not isinstance(value, np.ndarray):
                raise InputError("expected a tensor from each iteration, found a sequence, a map or an optional")
            if scan_part and (scan_part[0].shape != value.shape or scan_part[0].dtype != value.dtype):
                shapes = f"{scan_part[0].dtype} {list(scan_part[0].shape)} and {value.dtype} {list(value.shape)}"
                raise InputError(f"expected iterations to produce tensors of the same type and shape, found {shapes}")
            scan_part.append(value)
            number = memory.count_bytes(value)
            self.reserved += number
            self.run.live_bytes += number
        self.run.budget.check(self.run.live_bytes, "the set of live values")

    def stack_iterations(self, axes: Sequence[int] | None = None) -> list[NDArray[Any]]:
        """Stack the iterations of each value along an axis, by default 0."""
        arrays = []
        for index, (scan_part, info) in enumerate(zip(self.parts, self.infos, strict=True)):
            self.run.budget.check(
                self.run.live_bytes + sum(map(memory.count_bytes, scan_part)), "the set of live values"
            )
            stacked = np.stack(scan_part) if scan_part else self._without_turns(info)
            axis = axes[index] if axes else 0
            if not -stacked.ndim <= axis < stacked.ndim:
                raise InputError(f"expected an axis from {-stacked.ndim} to {stacked.ndim - 1}, found {axis}")
            arrays.append(np.moveaxis(stacked, 0, axis))
        self.run.live_bytes -= self.reserved
        return arrays

    def _without_turns(self, info: OnnxValueInfo) -> NDArray[Any]:
        declared = info.type
        if declared is None or declared.kind != "tensor" or declared.elem_type not in self.run.tables.types:
            raise NoKernel(f"the type of {info.name!r:.60} is not declared, and no iteration produces it")
        sizes = (size if isinstance(size, int) else 0 for size in declared.shape or ())
        return np.empty((0, *sizes), numpy_type(self.run.tables, declared.elem_type))


def _run_loop(flow: Flow) -> list[Any]:
    if len(flow.values) < 2:
        raise InputError(f"expected a trip count and a condition, found {len(flow.values)} inputs")
    trips, cond, *state = flow.values
    trip_limit = None if trips is None else int(_scalar_of(trips, "M"))
    goes_on = True if cond is None else bool(_scalar_of(cond, "cond"))
    infos = flow.outputs["body"]
    if len(infos) < 1 + len(state):
        raise InputError(f"expected a body of at least {1 + len(state)} outputs, found {len(infos)}")
    collected_outputs = _ScanOutputs(flow, infos[1 + len(state) :])
    for turn in _iterations(flow.run, trip_limit):
        if not goes_on:
            break
        goes_on_next, *values = flow.body("body", [np.array(turn, np.int64), np.array(goes_on), *state])
        goes_on = bool(_scalar_of(goes_on_next, "the body's condition"))
        state = values[: len(state)]
        collected_outputs.add(values[len(state) :])
    return [*state, *collected_outputs.stack_iterations()]


def _iterations(run: Run, trip_limit: int | None) -> Iterator[int]:
    for turn in count() if trip_limit is None else range(trip_limit):
        run.budget.check_time()
        yield turn


def _run_scan(flow: Flow) -> list[Any]:
    items = list(flow.values)
    lengths = items.pop(0) if flow.version < 9 else None
    if any(value is None for value in items):
        raise InputError("expected every state and scan input, but one is missing")
    count_of = flow.attributes.get("num_scan_inputs")
    if not isinstance(count_of, int) or not 0 <= count_of <= len(items):
        raise InputError(f"expected num_scan_inputs from 0 to {len(items)}, found {count_of!r:.20}")
    state, scanned = items[: len(items) - count_of], items[len(items) - count_of :]
    return _scan_of_batches(flow, state, scanned, lengths) if flow.version < 9 else _scan_outputs(flow, state, scanned)


def _numbers(flow: Flow, name: str, expected_number: int) -> list[int]:
    result = flow.attributes.get(name) or [0] * expected_number
    if len(result) != expected_number:
        raise InputError(f"expected {expected_number} numbers, found {len(result)}", place=name)
    return [int(number) for number in result]


def _scan_outputs(
    flow: Flow, state: list[Any], scanned: list[Any], directions: Sequence[int] | None = None
) -> list[Any]:
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
    moved_inputs = [np.moveaxis(value, axis, 0) for value, axis in zip(scanned, axes, strict=True)]
    sources = [
        value[::-1] if is_reversed else value for value, is_reversed in zip(moved_inputs, directions, strict=True)
    ]
    collected_outputs = _ScanOutputs(flow, infos[len(state) :])
    for turn in _iterations(flow.run, min(lengths, default=0)):
        values = flow.body("body", [*state, *(np.asarray(value[turn]) for value in sources)])
        state = values[: len(state)]
        collected_outputs.add(values[len(state) :])
    for scan_part, is_output_reversed in zip(collected_outputs.parts, out_directions, strict=True):
        if is_output_reversed:
            scan_part.reverse()
    return [*state, *collected_outputs.stack_iterations(out_axes)]


def _scan_of_batches(flow: Flow, state: list[Any], scanned: list[Any], lengths: Any) -> list[Any]:
    """Execute Scan-8, whose inputs have a batch axis and separate lengths.

    Scan outputs are padded with zeros.
    """
    batch_inputs = [*state, *scanned]
    batches = batch_inputs[0].shape[0] if batch_inputs and batch_inputs[0].ndim else 0
    if any(value.ndim == 0 or value.shape[0] != batches for value in batch_inputs):
        raise InputError("expected states and scan inputs of the same batch size")
    if any(value.ndim < 2 for value in scanned):
        raise InputError("expected scan inputs with batch and length dimensions")
    longest = scanned[0].shape[1] if scanned else 0
    sizes = [longest] * batches if lengths is None else [int(size) for size in lengths.reshape(-1)]
    if len(sizes) != batches or not all(0 <= size <= longest for size in sizes):
        raise InputError(f"expected sequence_lens as {batches} numbers from 0 to {longest}")
    directions = _numbers(flow, "directions", len(scanned))
    items = [
        _scan_outputs(flow, [np.asarray(v[batch]) for v in state], [v[batch, :size] for v in scanned], directions)
        for batch, size in enumerate(sizes)
    ]
    batch_outputs = []
    for index, parts in enumerate(zip(*items, strict=True)):
        if index >= len(state):
            parts = tuple(np.concatenate([p, np.zeros((longest - len(p), *p.shape[1:]), p.dtype)]) for p in parts)  # noqa: PLW2901
        batch_outputs.append(np.stack(parts))
    return batch_outputs


def _sequence_map(flow: Flow) -> list[Any]:
    first, *rest = flow.values
    if not isinstance(first, list):
        raise InputError("expected a sequence", place="input_sequence")
    if any(isinstance(value, list) and len(value) != len(first) for value in rest):
        raise InputError(f"expected sequences of {len(first)} elements, the length of the first")
    items: list[list[Any]] = [[] for _ in flow.outputs["body"]]
    for turn in _iterations(flow.run, len(first)):
        values = [value[turn] if isinstance(value, list) else value for value in rest]
        for collected_part, value in zip(items, flow.body("body", [first[turn], *values]), strict=True):
            collected_part.append(value)
    return items


#: By domain and operator.
FLOW: Final[dict[tuple[str, str], Callable[[Flow], list[Any]]]] = {
    ("", "If"): _run_if,
    ("", "Loop"): _run_loop,
    ("", "Scan"): _run_scan,
    ("", "SequenceMap"): _sequence_map,
}
