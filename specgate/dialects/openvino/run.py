"""Execution of OpenVINO IRs, alone or compared layer by layer."""

from __future__ import annotations

from collections import Counter
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.descriptors.core import TensorDesc, format_value
from specgate.descriptors.positional import build
from specgate.dialects.openvino.bodies import BACK_EDGES, number_attributes
from specgate.dialects.openvino.ir import read_ir
from specgate.dialects.openvino.reader import attribute_value, spell_attributes
from specgate.dialects.openvino.weights import Weights
from specgate.errors import InputError, NoKernel, NoTable
from specgate.execution import memory
from specgate.execution.comparison import (
    ModelComparison,
    ValueComparison,
    arrays_by_name,
    at_node,
    at_place,
    in_file,
    values_of,
)
from specgate.execution.engine import execute_at
from specgate.execution.memory import count_bytes
from specgate.execution.observed import Outputs, count_notes
from specgate.execution.types import as_array, numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.dialects.openvino.ir import IrEntry, IrLayer, IrModel, IrNet
    from specgate.execution.memory import Budget
    from specgate.targets import Target
    from specgate.verdict import Basis

Arrays = dict[str, "NDArray[Any]"]


def execute_bodies(
    layer: IrLayer,
    inputs: Sequence[NDArray[Any]],
    compute: Callable[[IrNet, Arrays], Arrays],
    check_bytes: Callable[[int], object],
) -> list[NDArray[Any]]:
    """Return the outputs of a layer with bodies.

    compute: maps a body and arrays by Parameter id to arrays by Result id. check_bytes: called with the bytes that a
    loop has accumulated; raises if these are too many. Raises InputError for invalid port maps, or NoKernel.
    """
    if layer.type == "If":
        return _branch(layer, inputs, compute)
    if layer.type in {"Loop", "TensorIterator"}:
        return _Loop(layer, inputs, compute).outputs(check_bytes)
    raise NoKernel(f"{layer.type} has a body, which is not supported")


class _Entry(NamedTuple):
    """An entry of a port map.

    axis: None to pass the whole tensor. outer: -1 without an outer port.
    """

    outer: int
    inner: str
    axis: int | None
    start: int
    end: int
    stride: int
    part: int
    purpose: str


def _entries(entries: Sequence[IrEntry], kind: str) -> list[_Entry]:
    matching_entries = []
    for entry in entries:
        if entry.kind == kind:
            data = {"start": 0, "end": -1, "stride": 1, "part_size": 1, **number_attributes(entry.data)}
            numbers = [data.get(key) for key in ("external_port_id", "start", "end", "stride", "part_size")]
            axis = data.get("axis")
            if not all(isinstance(number, int) for number in [*numbers, 0 if axis is None else axis]):
                raise InputError("expected whole numbers in a port map")
            outer, start, end, stride, part = (int(str(number)) for number in numbers)
            place = None if axis is None else int(axis)
            inner, map_purpose = str(data.get("internal_layer_id")), str(data.get("purpose", ""))
            matching_entries.append(_Entry(outer, inner, place, start, end, stride, part, map_purpose))
    return matching_entries


def _input_at(inputs: Sequence[NDArray[Any]], entry: _Entry) -> NDArray[Any]:
    if not 0 <= entry.outer < len(inputs):
        raise InputError(f"a port map references input {entry.outer}, but there are {len(inputs)}")
    return inputs[entry.outer]


def _result(results: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in results:
        raise InputError(f"a port map references the layer {name:.20}, which is not a Result of the body")
    return results[name]


def _branch(
    layer: IrLayer, inputs: Sequence[NDArray[Any]], compute: Callable[[IrNet, Arrays], Arrays]
) -> list[NDArray[Any]]:
    if not inputs or inputs[0].size != 1:
        raise InputError("expected a condition of one element")
    branch = "then" if bool(inputs[0].reshape(())) else "else"
    maps = layer.maps.get(f"{branch}_port_map", [])
    stated_arrays_by_name = {entry.inner: _input_at(inputs, entry) for entry in _entries(maps, "input")}
    results = compute(layer.bodies[f"{branch}_body"], stated_arrays_by_name)
    return [_result(results, entry.inner) for entry in _entries(maps, "output")]


class _Loop:
    """One execution of a Loop or a TensorIterator."""

    def __init__(
        self, layer: IrLayer, inputs: Sequence[NDArray[Any]], compute: Callable[[IrNet, Arrays], Arrays]
    ) -> None:
        self.body, self.compute, self.inputs = layer.bodies["body"], compute, inputs
        maps = layer.maps.get("port_map", [])
        self.input_entries, self.output_entries = _entries(maps, "input"), _entries(maps, "output")
        self.edges = [number_attributes(entry.data) for entry in layer.maps.get(BACK_EDGES, [])]
        self.limit, self.goes_on = self._turns(layer)
        self.condition = next((e.inner for e in self.output_entries if e.purpose == "execution_condition"), None)

    def _turns(self, layer: IrLayer) -> tuple[int | None, bool]:
        """Return the maximum trip count (None if unlimited) and the condition."""
        slices = [entry for entry in self.input_entries if entry.axis is not None]
        counts = [len(list(_parts(_input_at(self.inputs, entry), entry))) for entry in slices]
        if layer.type == "Loop":
            if len(self.inputs) < 2 or self.inputs[0].size != 1 or self.inputs[1].size != 1:
                raise InputError("expected a trip count and a condition of one element each")
            trips = int(self.inputs[0].reshape(()))
            counts += [trips] if trips >= 0 else []
            return min(counts, default=None), bool(self.inputs[1].reshape(()))
        if not counts:
            raise InputError("expected a sliced input, which determines the number of iterations")
        return min(counts), True

    def outputs(self, check_bytes: Callable[[int], object]) -> list[NDArray[Any]]:
        stated_arrays_by_name = {
            e.inner: _input_at(self.inputs, e) for e in self.input_entries if e.axis is None and not e.purpose
        }
        sliced = {e.inner: list(_parts(_input_at(self.inputs, e), e)) for e in self.input_entries if e.axis is not None}
        joined = {e.inner for e in self.output_entries if e.axis is not None}
        turns: list[Arrays] = []
        collected_count = 0
        for turn in count() if self.limit is None else range(self.limit):
            if not self.goes_on:
                break
            stated_arrays_by_name.update({name: parts[turn] for name, parts in sliced.items()})
            stated_arrays_by_name.update(
                {e.inner: np.array(turn, np.int64) for e in self.input_entries if e.purpose == "current_iteration"}
            )
            if turns:  # earlier iterations only keep the outputs to concatenate
                turns[-1] = {name: turns[-1][name] for name in joined & turns[-1].keys()}
            turns.append(self.compute(self.body, stated_arrays_by_name))
            collected_count += sum(count_bytes(turns[-1][name]) for name in joined & turns[-1].keys())
            check_bytes(collected_count)
            stated_arrays_by_name.update(
                {str(e.get("to-layer")): _result(turns[-1], str(e.get("from-layer"))) for e in self.edges}
            )
            if self.condition is not None:
                self.goes_on = bool(_result(turns[-1], self.condition).reshape(()))
        return [self._output(entry, turns, stated_arrays_by_name) for entry in self.output_entries if entry.outer >= 0]

    def _output(self, entry: _Entry, turns: Sequence[Arrays], stated_arrays_by_name: Arrays) -> NDArray[Any]:
        if entry.axis is not None and turns:
            parts = [_result(turn, entry.inner) for turn in turns]
            return np.concatenate(parts if entry.stride > 0 else parts[::-1], entry.axis)
        if turns:
            return _result(turns[-1], entry.inner)
        for edge in self.edges:
            if entry.axis is None and str(edge.get("from-layer")) == entry.inner:
                return stated_arrays_by_name[str(edge.get("to-layer"))]
        raise NoKernel("a loop without iterations has no value for an output without an initial input")


def _parts(array: NDArray[Any], entry: _Entry) -> Iterator[NDArray[Any]]:
    """Yield slices of an array along an entry's axis.

    A negative stride yields them from the end.
    """
    axis = entry.axis or 0
    if not -array.ndim <= axis < array.ndim or entry.part < 1 or entry.stride == 0:
        raise InputError(f"an array of {array.ndim} dimensions cannot be sliced along axis {axis} by {entry.part}")
    size = array.shape[axis]
    first, last = (bound + size if bound < 0 else bound for bound in (entry.start, entry.end))
    low, high = min(first, last), max(first, last)
    begins = range(low, high + 1, entry.part)
    for begin in begins if entry.stride > 0 else reversed(begins):
        yield np.take(array, range(begin, min(begin + entry.part, size)), axis)


#: Maximum number of elements of values that rules can read, such as axes, shapes and sizes.
_MAX_RULE_ELEMENTS: Final = 256


def run_model(
    path: str,
    arrays: Mapping[str, Any],
    target: Target | None = None,
    *,
    budget: memory.Budget | None = None,
    on_node: Callable[[int, int], object] = lambda _done, _all: None,
    judge: ValueComparison | None = None,
    their_outputs: Mapping[tuple[str, int], Any] | None = None,
    basis: Basis = "documented",
) -> Outputs:
    """Return the outputs of the IR at `path`.

    Each layer is executed at its stated opset. arrays: by the name of a Parameter or of a tensor on its port, with the
    declared type and sizes. An output has the first tensor name of the port that a Result reads, else the Result's
    name. target: a release or opset; layers of later opsets are rejected. on_node: receives the number of finished
    layers and of all layers. judge: compares each layer with `their_outputs`, the values of another implementation by
    layer name and output index. basis: documented or observed values. Shapes that the IR states for other layers are
    not checked, because OpenVINO infers them again. Raises InputError; NoTable and NoKernel name the layer.
    """
    model = read_ir(path)
    if target is not None and target.dialect != "openvino":
        raise InputError(f"cannot execute a model of openvino for {target}", file=path)
    run = _Run(model, model.net, path, budget or memory.budget_of())
    run.basis, run.by = basis, target.by if target else None
    with in_file(path):
        run.set_inputs(arrays)
        run.judge, run.theirs = judge, their_outputs or {}
        for count, layer in enumerate(_in_order(model.net), 1):
            with at_node(_label(layer), path):
                run.layer(layer, target)
            on_node(count, len(model.net.layers))
        return Outputs(run.outputs(), notes=count_notes(run.notes))


class _Run:
    """Values of one net by source layer and port."""

    def __init__(self, model: IrModel, net: IrNet, path: str, budget: memory.Budget) -> None:
        self.tables = dialect("openvino")
        self.model, self.net, self.path, self.budget = model, net, path, budget
        self.weights = Weights(path)
        self.values: dict[tuple[str, str], NDArray[Any]] = {}
        self.sources = {(e.to_layer, e.to_port): (e.from_layer, e.from_port) for e in net.edges}
        self.readers = Counter(self.sources.values())
        self.parameters: dict[str, NDArray[Any]] = {}
        self.basis: Basis = "documented"
        self.by: str | None = None
        self.notes: Counter[str] = Counter()
        self.judge: ValueComparison | None = None
        self.theirs: Mapping[tuple[str, int], Any] = {}

    def set_inputs(self, arrays: Mapping[str, Any]) -> None:
        """Set the inputs after checking them against their Parameters."""
        names: dict[str, IrLayer] = {}
        parameters = [layer for layer in self.net.layers if layer.type == "Parameter"]
        for layer in parameters:
            names.update(
                dict.fromkeys((layer.name or layer.id, *(n for port in layer.outputs for n in port.names)), layer)
            )
        for name, value in arrays.items():
            if name not in names:
                expected = ", ".join(format_value(layer.name or layer.id) for layer in parameters[:8]) or "none"
                raise InputError(f"the model has no input {format_value(name)}; expected {expected}")
            with at_place(f"input {format_value(name)}"):
                self.parameters[names[name].id] = self._input(names[name], value)
        for layer in parameters:
            if layer.id not in self.parameters:
                raise InputError(f"no array for the input {format_value(layer.name or layer.id)}")

    def _input(self, layer: IrLayer, value: Any) -> NDArray[Any]:
        port = layer.outputs[0] if layer.outputs else None
        if port is None or port.element_type not in self.tables.types:
            raise InputError("the Parameter has no element type")
        array = as_array(value, numpy_type(self.tables, port.element_type), None, "")
        sizes = port.shape
        if sizes is not None and (
            len(sizes) != array.ndim or any(size not in (-1, n) for size, n in zip(sizes, array.shape, strict=True))
        ):
            declared_sizes = ["?" if size == -1 else size for size in sizes]
            raise InputError(f"has the shape {list(array.shape)}, but {declared_sizes} is declared")
        return array

    def layer(self, layer: IrLayer, target: Target | None) -> None:
        """Compute a layer's outputs and drop values without further readers."""
        if layer.version not in self.tables.position:
            raise NoTable(f"its version {format_value(layer.version, 40)} is not an opset of OpenVINO")
        if target is not None and self.tables.position[layer.version] > self.tables.position[target.level]:
            raise InputError(f"is of {layer.version}, above {target.described}")
        inputs = [self._read_port(layer, port.id) for port in layer.inputs]
        results = self._compute_layer(layer, inputs)
        for number, (port, array) in enumerate(zip(layer.outputs, results, strict=False)):
            self.values[layer.id, port.id] = self._settle_value(layer, number, array)
        if self.judge is not None:
            self.judge.next_node()
        for source_key in [source for port in layer.inputs if (source := self.sources.get((layer.id, port.id)))]:
            self.readers[source_key] -= layer.type != "Result"  # outputs of the model are kept
            if not self.readers[source_key]:
                self.values.pop(source_key, None)
        for port in layer.outputs:
            if not self.readers[layer.id, port.id]:
                self.values.pop((layer.id, port.id), None)
        self.budget.check(self.live_size(), "the set of live values")
        self.budget.check_time()

    def _settle_value(self, layer: IrLayer, number: int, array: NDArray[Any]) -> NDArray[Any]:
        """Return the value for later layers.

        In a comparison that is the other implementation's value.
        """
        if self.judge is None or not self.theirs or layer.type in {"Parameter", "Const"}:
            return array
        name, operator = layer.name or layer.id, str(layer.type)
        other = self.theirs.get((name, number))
        settled_array: NDArray[Any] = self.judge.settle(name, operator, f"output {number}", array, other)
        return settled_array

    def live_size(self) -> int:
        """Return the size of live values in bytes."""
        return sum(map(memory.count_bytes, self.values.values()))

    def _read_port(self, layer: IrLayer, port: str) -> NDArray[Any]:
        source = self.sources.get((layer.id, port))
        if source is None:
            raise InputError(f"the input port {port} is not connected")
        array = self.values[source]
        if isinstance(array, np.ma.MaskedArray) and layer.type != "Result":
            raise InputError(f"reads undefined elements at the input port {port}")
        return array

    def _compute_layer(self, layer: IrLayer, inputs: list[NDArray[Any]]) -> list[NDArray[Any]]:
        if layer.type == "Parameter":
            return [self.parameters[layer.id]]
        if layer.type == "Const":
            return [self.weights.array(layer, self.budget.left - self.live_size())]
        if layer.type == "Result":
            return []
        if layer.bodies:
            check_bytes = partial(self.budget.less(self.live_size()).check, subject="the outputs of a loop")
            return execute_bodies(layer, inputs, self._body, check_bytes)
        if layer.type in {"ReadValue", "Assign"} and inputs:  # in a first run, a variable has its initial value
            return [inputs[0]]
        if layer.type == "ReadValue":
            return [self._blank(layer)]
        return self._execute_layer(layer, inputs)

    def _body(self, net: IrNet, stated_arrays_by_name: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Compute a body: arrays by Parameter id to arrays by Result id."""
        inner = _Run(self.model, net, self.path, self.budget.less(self.live_size()))
        inner.judge, inner.basis, inner.by, inner.notes = self.judge, self.basis, self.by, self.notes
        for layer in net.layers:
            if layer.type == "Parameter":
                if layer.id not in stated_arrays_by_name:
                    raise InputError(
                        f"the Parameter {format_value(layer.name or layer.id)} of the body is not mapped to an input"
                    )
                inner.parameters[layer.id] = inner.fit_counter(layer, stated_arrays_by_name[layer.id])
        for layer in _in_order(net):
            with at_node(_label(layer), self.path):
                inner.layer(layer, None)
        results = [layer for layer in net.layers if layer.type == "Result"]
        return {layer.id: inner.values[inner.sources[layer.id, layer.inputs[0].id]] for layer in results}

    def _blank(self, layer: IrLayer) -> NDArray[Any]:
        """Return the initial value of a variable without an initializer.

        It is filled with zeros; unknown sizes are 0.
        """
        kind, sizes = layer.data.get("variable_type"), layer.data.get("variable_shape", "...").split(",")
        if kind not in self.tables.types or "..." in sizes:
            raise NoKernel("the type and rank of its variable are unknown")
        shape = [int(size) if size.strip().isdecimal() else 0 for size in sizes if size.strip()]
        blank = memory.empty(tuple(shape), numpy_type(self.tables, kind))
        blank.fill(0)
        return blank

    def fit_counter(self, layer: IrLayer, array: NDArray[Any]) -> NDArray[Any]:
        """Return an iteration counter in its Parameter's type and shape.

        Other arrays are unchanged.
        """
        port = layer.outputs[0] if layer.outputs else None
        if array.ndim or array.dtype != np.int64 or port is None or port.element_type not in self.tables.types:
            return array
        shape = (1,) if port.shape and len(port.shape) == 1 else ()
        return array.astype(numpy_type(self.tables, port.element_type)).reshape(shape)

    def _execute_layer(self, layer: IrLayer, inputs: list[NDArray[Any]]) -> list[NDArray[Any]]:
        spec, version = self.tables.operator(layer.type), str(layer.version)
        tensors = [TensorDesc(self._type(array), array.shape, value=_value(array)) for array in inputs]
        undeclared_outputs = [TensorDesc(None, None) for _ in layer.outputs]
        descriptor = build(
            spec,
            tensors,
            undeclared_outputs,
            spell_attributes(spec, layer.data),
            version=version,
            convert=attribute_value,
        )
        for oddity in descriptor.oddities:
            if oddity.code != "unknown-attribute":  # OpenVINO ignores unknown attributes
                raise InputError(oddity.message)
        layout = spec.layout(version)
        arrays = arrays_by_name(layout.inputs, inputs)
        left = self.budget.less(self.live_size())
        results = execute_at(descriptor, arrays, version, budget=left, basis=self.basis, by=self.by)
        self.notes.update(results.notes)
        if self.judge is not None:
            left = self.budget.less(self.live_size())
            self.judge.record_tolerance(
                descriptor, arrays, results,
                lambda item, values: execute_at(item, values, version, budget=left, basis=self.basis, by=self.by),
            )  # fmt: skip
        if spec.several_at(version):
            return [part for info in layout.outputs for part in results[info.name]]
        return [results[info.name] for info in layout.outputs if info.name in results]

    def _type(self, array: NDArray[Any]) -> str:
        types = self.tables.types.items()
        texts = (name for name, info in types if array.dtype.name in {info["numpy"], info.get("ml_dtypes")})
        return next(texts, array.dtype.name)

    def outputs(self) -> dict[str, NDArray[Any]]:
        """Return the outputs by tensor name, else by Result name."""
        matching_arrays_by_name: dict[str, NDArray[Any]] = {}
        ports = {(layer.id, port.id): port for layer in self.net.layers for port in layer.outputs}
        for layer in self.net.layers:
            if layer.type == "Result":
                source = self.sources[layer.id, layer.inputs[0].id]
                name = next(iter(ports[source].names), "")
                if not name or name in matching_arrays_by_name:
                    name = layer.name or layer.id
                matching_arrays_by_name[name] = self.values[source]
        return matching_arrays_by_name


def _value(array: NDArray[Any]) -> tuple[Any, ...] | None:
    return tuple(array.reshape(-1).tolist()) if array.size <= _MAX_RULE_ELEMENTS and array.dtype.kind in "iub" else None


def _in_order(net: IrNet) -> list[IrLayer]:
    """Return the layers in topological order; InputError for a cycle."""
    layers = {layer.id: layer for layer in net.layers}
    waiting = Counter(edge.to_layer for edge in net.edges)
    after: dict[str, list[str]] = {}
    for edge in net.edges:
        after.setdefault(edge.from_layer, []).append(edge.to_layer)
    ready_ids = [layer.id for layer in reversed(net.layers) if not waiting[layer.id]]
    matching_layers = []
    while ready_ids:
        matching_layers.append(layers[ready_ids.pop()])
        for other in after.get(matching_layers[-1].id, ()):
            waiting[other] -= 1
            if not waiting[other]:
                ready_ids.append(other)
    if len(matching_layers) < len(layers):
        raise InputError(f"{len(layers) - len(matching_layers)} layers form a cycle")
    return matching_layers


def _label(layer: IrLayer) -> str:
    """Return a layer's label for messages."""
    return f"line {layer.line}, {layer.type:.60} {format_value(layer.name or layer.id)}"


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
) -> ModelComparison:
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
    version, their_outputs = values_of(
        "specgate.dialects.openvino.oracle.whole_model", question, implementation, path, budget
    )
    judge = ValueComparison(basis, target.by if target else None)
    outputs = run_model(
        path, arrays, target, budget=budget, on_node=on_node, judge=judge, their_outputs=their_outputs, basis=basis
    )
    return ModelComparison(implementation, version, outputs, judge.count, judge.missing, judge.differences)
