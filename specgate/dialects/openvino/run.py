"""Run an OpenVINO IR whose layers have kernels: layer by layer, in numpy."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.core import TensorDesc, shown
from specgate.descriptors.positional import build
from specgate.dialects.openvino.ir import read_ir
from specgate.dialects.openvino.reader import attribute_value
from specgate.dialects.openvino.run_bodies import computed_with_bodies
from specgate.dialects.openvino.weights import Weights
from specgate.dialects.openvino.words import spelt
from specgate.errors import InputError, NoKernel, NoTable
from specgate.execution import memory
from specgate.execution.engine import execute_at
from specgate.execution.models import arrays_by_name, at_node, at_place, in_file
from specgate.execution.observed import Outputs, counted_notes
from specgate.execution.types import as_array, numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from specgate.dialects.openvino.net import IrLayer, IrModel, IrNet
    from specgate.execution.compared import Judge
    from specgate.targets import Target
    from specgate.verdict import Basis

__all__ = ["run_model"]

#: Values up to so many elements are shown to the rules, as constants are: axes, shapes, sizes.
_SHOWN_VALUES: Final = 256


def run_model(
    path: str,
    arrays: Mapping[str, Any],
    target: Target | None = None,
    *,
    budget: memory.Budget | None = None,
    on_node: Callable[[int, int], object] = lambda _done, _all: None,
    judge: Judge | None = None,
    theirs: Mapping[tuple[str, int], Any] | None = None,
    basis: Basis = "documented",
) -> Outputs:
    """Return the outputs of the IR at `path`, each layer executed at the opset that it names.

    arrays: by the name of a Parameter layer or of a tensor on its port, of the declared type and sizes. The outputs
    have the first tensor name of the port that a Result reads, else the Result's own name. target: a release or opset
    up to which layers are executed. on_node: gets how many of how many layers are done. judge: holds each layer against
    `theirs`, another's values by the names of layers and the numbers of their outputs. basis: whose values. Shapes that
    the IR states of other layers are not held against what is computed: OpenVINO infers them anew. Raises InputError;
    NoTable and NoKernel name the layer.
    """
    model = read_ir(path)
    if target is not None and target.dialect != "openvino":
        raise InputError(f"a model of openvino cannot be executed for {target}", file=path)
    run = _Run(model, model.net, path, budget or memory.budget_of())
    run.basis, run.by = basis, target.by if target else None
    with in_file(path):
        run.take_inputs(arrays)
        run.judge, run.theirs = judge, theirs or {}
        for count, layer in enumerate(_in_order(model.net), 1):
            with at_node(_label(layer), path):
                run.layer(layer, target)
            on_node(count, len(model.net.layers))
        return Outputs(run.outputs(), notes=counted_notes(run.notes))


class _Run:
    """The values of one net by the layer and the port that give them."""

    def __init__(self, model: IrModel, net: IrNet, path: str, budget: memory.Budget) -> None:
        self.tables = dialect("openvino")
        self.model, self.net, self.path, self.budget = model, net, path, budget
        self.weights = Weights(path)
        self.values: dict[tuple[str, str], NDArray[Any]] = {}
        self.sources = {(e.to_layer, e.to_port): (e.from_layer, e.from_port) for e in net.edges}
        self.readers = Counter(self.sources.values())
        self.given: dict[str, NDArray[Any]] = {}
        self.basis: Basis = "documented"
        self.by: str | None = None
        self.notes: Counter[str] = Counter()
        self.judge: Judge | None = None
        self.theirs: Mapping[tuple[str, int], Any] = {}

    def take_inputs(self, arrays: Mapping[str, Any]) -> None:
        """Hold arrays against the Parameters that they are for."""
        names: dict[str, IrLayer] = {}
        parameters = [layer for layer in self.net.layers if layer.type == "Parameter"]
        for layer in parameters:
            names.update(
                dict.fromkeys((layer.name or layer.id, *(n for port in layer.outputs for n in port.names)), layer)
            )
        for name, value in arrays.items():
            if name not in names:
                known = ", ".join(shown(layer.name or layer.id) for layer in parameters[:8]) or "none"
                raise InputError(f"the model has no input {shown(name)}; expected {known}")
            with at_place(f"input {shown(name)}"):
                self.given[names[name].id] = self._input(names[name], value)
        for layer in parameters:
            if layer.id not in self.given:
                raise InputError(f"no array for the input {shown(layer.name or layer.id)}")

    def _input(self, layer: IrLayer, value: Any) -> NDArray[Any]:
        port = layer.outputs[0] if layer.outputs else None
        if port is None or port.element_type not in self.tables.types:
            raise InputError("the Parameter states no element type")
        array = as_array(value, numpy_type(self.tables, port.element_type), None, "")
        sizes = port.shape
        if sizes is not None and (
            len(sizes) != array.ndim or any(size not in (-1, n) for size, n in zip(sizes, array.shape, strict=True))
        ):
            declared = ["?" if size == -1 else size for size in sizes]
            raise InputError(f"has the shape {list(array.shape)}, but {declared} is declared")
        return array

    def layer(self, layer: IrLayer, target: Target | None) -> None:
        """Compute the outputs of one layer and drop what no other one reads."""
        if layer.version not in self.tables.position:
            raise NoTable(f"its version {shown(layer.version, 40)} is no opset of OpenVINO")
        if target is not None and self.tables.position[layer.version] > self.tables.position[target.level]:
            raise InputError(f"is of {layer.version}, above {target.described}")
        inputs = [self._read(layer, port.id) for port in layer.inputs]
        results = self._computed(layer, inputs)
        for number, (port, array) in enumerate(zip(layer.outputs, results, strict=False)):
            self.values[layer.id, port.id] = self._settled(layer, number, array)
        if self.judge is not None:
            self.judge.next_node()
        for at in [source for port in layer.inputs if (source := self.sources.get((layer.id, port.id)))]:
            self.readers[at] -= layer.type != "Result"  # what a Result reads stays to the end
            if not self.readers[at]:
                self.values.pop(at, None)
        for port in layer.outputs:
            if not self.readers[layer.id, port.id]:
                self.values.pop((layer.id, port.id), None)
        self.budget.hold(self.alive(), "all values that are alive")
        self.budget.hold_time()

    def _settled(self, layer: IrLayer, number: int, array: NDArray[Any]) -> NDArray[Any]:
        """Return what later layers read: what another implementation gives, if this one is held against it."""
        if self.judge is None or not self.theirs or layer.type in {"Parameter", "Const"}:
            return array
        name, operator = layer.name or layer.id, str(layer.type)
        other = self.theirs.get((name, number))
        settled: NDArray[Any] = self.judge.settle(name, operator, f"output {number}", array, other)
        return settled

    def alive(self) -> int:
        """Return how many bytes the values have that are there."""
        return sum(map(memory.held_bytes, self.values.values()))

    def _read(self, layer: IrLayer, port: str) -> NDArray[Any]:
        source = self.sources.get((layer.id, port))
        if source is None:
            raise InputError(f"no edge leads to the input port {port}")
        array = self.values[source]
        if isinstance(array, np.ma.MaskedArray) and layer.type != "Result":
            raise InputError(f"reads undefined elements at the input port {port}")
        return array

    def _computed(self, layer: IrLayer, inputs: list[NDArray[Any]]) -> list[NDArray[Any]]:
        if layer.type == "Parameter":
            return [self.given[layer.id]]
        if layer.type == "Const":
            return [self.weights.array(layer, self.budget.left - self.alive())]
        if layer.type == "Result":
            return []
        if layer.bodies:
            hold = partial(self.budget.less(self.alive()).hold, what="what a loop collects")
            return computed_with_bodies(layer, inputs, self._body, hold)
        if layer.type in {"ReadValue", "Assign"} and inputs:  # of a first run: a variable holds its initial value
            return [inputs[0]]
        if layer.type == "ReadValue":
            return [self._blank(layer)]
        return self._executed(layer, inputs)

    def _body(self, net: IrNet, given: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Compute a body from arrays by its Parameters' ids; return what its Results read, by their ids."""
        inner = _Run(self.model, net, self.path, self.budget.less(self.alive()))
        inner.judge, inner.basis, inner.by, inner.notes = self.judge, self.basis, self.by, self.notes
        for layer in net.layers:
            if layer.type == "Parameter":
                if layer.id not in given:
                    raise InputError(f"nothing is mapped to the Parameter {shown(layer.name or layer.id)} of the body")
                inner.given[layer.id] = inner.fitted(layer, given[layer.id])
        for layer in _in_order(net):
            with at_node(_label(layer), self.path):
                inner.layer(layer, None)
        results = [layer for layer in net.layers if layer.type == "Result"]
        return {layer.id: inner.values[inner.sources[layer.id, layer.inputs[0].id]] for layer in results}

    def _blank(self, layer: IrLayer) -> NDArray[Any]:
        """Return what a variable holds that nothing gives a value: zeros, none along sizes that are not known."""
        kind, sizes = layer.data.get("variable_type"), layer.data.get("variable_shape", "...").split(",")
        if kind not in self.tables.types or "..." in sizes:
            raise NoKernel("its variable has no known type and rank")
        shape = [int(size) if size.strip().isdecimal() else 0 for size in sizes if size.strip()]
        blank = memory.empty(tuple(shape), numpy_type(self.tables, kind))
        blank.fill(0)
        return blank

    def fitted(self, layer: IrLayer, array: NDArray[Any]) -> NDArray[Any]:
        """Return the number of a turn in the type and shape of the Parameter for it; other arrays as they are."""
        port = layer.outputs[0] if layer.outputs else None
        if array.ndim or array.dtype != np.int64 or port is None or port.element_type not in self.tables.types:
            return array
        shape = (1,) if port.shape and len(port.shape) == 1 else ()
        return array.astype(numpy_type(self.tables, port.element_type)).reshape(shape)

    def _executed(self, layer: IrLayer, inputs: list[NDArray[Any]]) -> list[NDArray[Any]]:
        spec, version = self.tables.operator(layer.type), str(layer.version)
        tensors = [TensorDesc(self._type(array), array.shape, value=_value(array)) for array in inputs]
        stated = [TensorDesc(None, None) for _ in layer.outputs]
        descriptor = build(spec, tensors, stated, spelt(spec, layer.data), version=version, convert=attribute_value)
        for oddity in descriptor.oddities:
            if oddity.code != "unknown-attribute":  # which OpenVINO does not look at
                raise InputError(oddity.message)
        layout = spec.layout(version)
        arrays = arrays_by_name(layout.inputs, inputs)
        left = self.budget.less(self.alive())
        results = execute_at(descriptor, arrays, version, budget=left, basis=self.basis, by=self.by)
        self.notes.update(results.notes)
        if self.judge is not None:
            left = self.budget.less(self.alive())
            self.judge.computed(
                descriptor, arrays, results, lambda what, given: execute_at(what, given, version, budget=left)
            )
        if spec.several_at(version):
            return [part for info in layout.outputs for part in results[info.name]]
        return [results[info.name] for info in layout.outputs if info.name in results]

    def _type(self, array: NDArray[Any]) -> str:
        types = self.tables.types.items()
        found = (name for name, info in types if array.dtype.name in {info["numpy"], info.get("ml_dtypes")})
        return next(found, array.dtype.name)

    def outputs(self) -> dict[str, NDArray[Any]]:
        """Return what Results read by the names of tensors, else of the Results."""
        found: dict[str, NDArray[Any]] = {}
        ports = {(layer.id, port.id): port for layer in self.net.layers for port in layer.outputs}
        for layer in self.net.layers:
            if layer.type == "Result":
                source = self.sources[layer.id, layer.inputs[0].id]
                name = next(iter(ports[source].names), "")
                if not name or name in found:
                    name = layer.name or layer.id
                found[name] = self.values[source]
        return found


def _value(array: NDArray[Any]) -> tuple[Any, ...] | None:
    return tuple(array.reshape(-1).tolist()) if array.size <= _SHOWN_VALUES and array.dtype.kind in "iub" else None


def _in_order(net: IrNet) -> list[IrLayer]:
    """Return the layers so that each comes behind those that it reads; raise InputError for a cycle."""
    layers = {layer.id: layer for layer in net.layers}
    waiting = Counter(edge.to_layer for edge in net.edges)
    after: dict[str, list[str]] = {}
    for edge in net.edges:
        after.setdefault(edge.from_layer, []).append(edge.to_layer)
    ready = [layer.id for layer in reversed(net.layers) if not waiting[layer.id]]
    found = []
    while ready:
        found.append(layers[ready.pop()])
        for other in after.get(found[-1].id, ()):
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    if len(found) < len(layers):
        raise InputError(f"{len(layers) - len(found)} layers are computed from themselves")
    return found


def _label(layer: IrLayer) -> str:
    """Return how messages call a layer."""
    return f"line {layer.line}, {layer.type:.60} {shown(layer.name or layer.id)}"
