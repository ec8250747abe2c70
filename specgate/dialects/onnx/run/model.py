"""Execution of an ONNX model node by node, alone or compared with another."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.descriptors.text import plain_name
from specgate.dialects.onnx.file.model import read_model
from specgate.dialects.onnx.lint.units import label
from specgate.dialects.onnx.oracle.whole_model import IMPLEMENTATIONS
from specgate.dialects.onnx.reader import container
from specgate.dialects.onnx.run.flow import Run, Scope
from specgate.dialects.onnx.run.nodes import check_early, execute_nodes
from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.comparison import ModelComparison, ValueComparison, at_place, in_file, values_of
from specgate.execution.containers import convert_container, to_user_value, type_of
from specgate.execution.observed import Outputs, count_notes
from specgate.execution.types import as_array, numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxModel, OnnxType, OnnxValueInfo
    from specgate.execution.memory import Budget
    from specgate.targets import Target
    from specgate.verdict import Basis


def run_model(
    path: str,
    arrays: Mapping[str, Any],
    target: Target | None = None,
    *,
    budget: memory.Budget | None = None,
    evaluate: Callable[[Run, Descriptor, Mapping[str, Any], str], dict[str, Any]] | None = None,
    watch: Callable[[str, Any], Any] | None = None,
    on_node: Callable[[int, int], object] | None = None,
    model: OnnxModel | None = None,
    basis: Basis = "documented",
) -> Outputs:
    """Return the outputs of the ONNX model at `path` by name.

    Each node is executed at its imported opset. arrays: by input name, with the declared types and sizes (a symbol has
    one size throughout). An input with an initializer may be omitted. Sequences are lists, maps are dicts, an optional
    is a value or None. target: a model that imports a newer opset is rejected; a runtime adds domains that the model
    does not import. budget: limits for live values, work of kernels and time. evaluate, watch: see `Run`. on_node:
    receives the number of finished nodes and of all nodes in the main graph. model: the model, if already read. basis:
    documented or observed values. `notes` of the result name sizes that the file states wrongly, which count as
    unknown. Raises InputError; NoTable and NoKernel name the node without table or kernel.
    """
    budget = memory.budget_of() if budget is None else budget
    model = read_model(path) if model is None else model
    _require_target(model, target, path)
    graph, imports = model.graph, model.opset_imports
    if imports and target is not None and target.runtime is not None:  # it adds the domains that are not imported
        imports = {**target.runtime.opsets, **imports}
    step = None if on_node is None else lambda done: on_node(done, len(graph.nodes))
    run = Run(model, path, budget, evaluate=evaluate, watch=watch, step=step)
    run.basis, run.by = basis, target.by if target else None
    with in_file(path):
        check_early(run, graph.nodes, imports, set())
        scope = Scope(run, graph.nodes, imports, "graph", kept_names=(info.name for info in graph.outputs))
        values = _Values(run)
        values.take(scope, arrays)
        execute_nodes(scope)
        outputs = {info.name: values.output(scope, info) for info in graph.outputs}
        sizes = (
            []
            if model.negative_size is None
            else [f"{model.negative_size} has a size below 0; such sizes are treated as unknown"]
        )
        return Outputs(outputs, notes=(*sizes, *values.notes, *count_notes(run.notes)))


def _require_target(model: OnnxModel, target: Target | None, path: str) -> None:
    """Reject a model that the target does not support."""
    if target is None:
        return
    tables = dialect("onnx")
    if target.dialect != tables.name:
        raise InputError(f"cannot execute a model of {tables.name} for {target}", file=path)
    for imports in (model.opset_imports, *(function.opset_imports for function in model.functions)):
        for domain, version in imports.items():
            level = tables.domain_level(domain, target.level) if domain in ("", *tables.domains) else None
            if level is None and domain in tables.domains:
                raise InputError(f"imports {domain} {version}, which is not part of {target.described}", file=path)
            if level is not None and version > int(level):
                name = f"{domain} {version}" if domain else f"opset {version}"
                raise InputError(f"imports {name}, above {target.described}, which supports up to {level}", file=path)


class _Values:
    """Inputs and outputs of the main graph, checked against declarations.

    symbols: size of each symbol, and the value that determined it. notes: outputs that differ from their stated shapes.
    """

    def __init__(self, run: Run) -> None:
        self.run, self.tables = run, run.tables
        self.symbols: dict[str, tuple[int, str]] = {}
        self.notes: list[str] = []

    def take(self, scope: Scope, arrays: Mapping[str, Any]) -> None:
        """Set the inputs, which may override initializers, and the initializers."""
        graph = self.run.model.graph
        inputs = {info.name: info for info in graph.inputs}
        for name in arrays:
            if name not in inputs:
                raise InputError(f"the model has no input {name!r:.60}; expected {_names(inputs)}")
        tensors = {tensor.name: tensor for tensor in (*graph.initializers, *graph.sparse_initializers)}
        scope.tensors = {name: tensor for name, tensor in tensors.items() if name not in arrays}
        for name, info in inputs.items():
            if name in arrays:
                with at_place(f"input {name[:60]!r}"):
                    scope.set_value(name, self._input(name, arrays[name], info.type))
            elif name not in tensors:
                raise InputError(f"no array for the input {name!r:.60}")

    def _input(self, name: str, value: Any, declared_type: OnnxType | None) -> Any:
        if declared_type is None or declared_type.kind == "unknown":
            return value
        if declared_type.kind != "tensor":
            return convert_container(value, _spell_type(declared_type, self.tables), self.tables, "")
        if declared_type.elem_type not in self.tables.types:
            raise InputError(f"its type {declared_type.elem_type} has no values")
        if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            raise InputError("has undefined (masked) elements")
        array = as_array(value, numpy_type(self.tables, declared_type.elem_type), None, "")
        self._require_shape(array, declared_type, name)
        return array

    def _require_shape(self, array: NDArray[Any], declared_type: OnnxType, name: str) -> None:
        """Check an array against declared sizes; a symbol's first use sets it."""
        if declared_type.shape is None:
            return
        declared_sizes = ["?" if size is None else size for size in declared_type.shape]
        if len(declared_type.shape) != array.ndim:
            raise InputError(f"has the shape {list(array.shape)}, but {declared_sizes} is declared")
        for size, result in zip(declared_type.shape, array.shape, strict=True):
            if isinstance(size, str):
                expected, source = self.symbols.setdefault(size, (result, name))
                if expected != result:
                    reason = f"but {plain_name(size)} is {expected} in {source!r:.60}"
                    raise InputError(f"has the shape {list(array.shape)} where {declared_sizes} is declared, {reason}")
            elif size is not None and size != result:
                raise InputError(f"has the shape {list(array.shape)}, but {declared_sizes} is declared")

    def output(self, scope: Scope, info: OnnxValueInfo) -> Any:
        """Return a graph output; a wrong type raises, a wrong shape is noted."""
        with at_place(f"output {info.name[:60]!r}"):
            if info.name not in scope.values and info.name not in scope.tensors:
                raise InputError("is not computed by any node")
            value, declared_type = scope.read(info.name), info.type
            if declared_type is not None and declared_type.kind == "tensor" and isinstance(value, np.ndarray):
                word = type_of(value, self.tables)
                if declared_type.elem_type not in {None, "UNDEFINED", word}:
                    raise InputError(f"is computed as {word}, but {declared_type.elem_type} is declared")
                try:
                    self._require_shape(value, declared_type, info.name)
                except InputError as error:  # runtimes warn and return the value
                    self.notes.append(f"output {plain_name(info.name)!s:.80} {error.message}")
            return to_user_value(value)


def _spell_type(declared_type: OnnxType, tables: Any) -> str:
    """Return a declared type in operator schema spelling."""
    if declared_type.kind == "tensor":
        word = declared_type.elem_type or ""
        return str(tables.types[word]["tensor"]) if word in tables.types else word
    if declared_type.inner is None or declared_type.kind not in {"sequence", "map", "optional"}:
        raise InputError(f"its type, {declared_type.kind}, is not supported")
    inner = _spell_type(declared_type.inner, tables)
    return container(declared_type.kind, inner, declared_type.elem_type)


def _names(names: Mapping[str, Any]) -> str:
    listing = ", ".join(repr(name[:60]) for name in list(names)[:8])
    return listing + (" …" if len(names) > 8 else "") or "none"


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
    version, their_outputs = values_of(
        "specgate.dialects.onnx.oracle.whole_model", question, implementation, path, budget
    )
    model = read_model(path)
    places = {
        name: (f"graph/{label(node, index)}", node.op_type)
        for index, node in enumerate(model.graph.nodes)
        for name in node.outputs
        if name
    }
    judge = ValueComparison(basis, target.by if target else None)

    def evaluate(run: Run, descriptor: Descriptor, entries: Mapping[str, Any], _place: str) -> dict[str, Any]:
        our_outputs = run.execute(descriptor, entries)
        judge.record_tolerance(descriptor, entries, our_outputs, run.execute)
        return our_outputs

    def settle(name: str, value: Any) -> Any:
        return judge.settle(*places[name], name, value, their_outputs.get(name)) if name in places else value

    def report_node(count: int, node_count: int) -> None:
        judge.next_node()
        on_node(count, node_count)

    outputs = run_model(
        path,
        arrays,
        target,
        budget=budget,
        evaluate=evaluate,
        watch=settle,
        on_node=report_node,
        model=model,
        basis=basis,
    )
    return ModelComparison(implementation, version, outputs, judge.count, judge.missing, judge.differences)
