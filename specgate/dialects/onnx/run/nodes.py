"""The values of one run of an ONNX model, and its nodes executed one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.positional import build
from specgate.descriptors.text import plain_name
from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxTensor
from specgate.dialects.onnx.reader import ATTRIBUTE_TYPES, attribute_value, container, operator_name
from specgate.dialects.onnx.run.weights import Weights
from specgate.errors import InputError, NoKernel, NoTable
from specgate.execution import memory
from specgate.execution.containers import ArrayMap, array_map, plain
from specgate.execution.engine import execute_at
from specgate.execution.models import arrays_by_name, at_place
from specgate.execution.types import as_array, numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxModel, OnnxNode, OnnxType, OnnxValueInfo

__all__ = ["Run", "is_constant", "label_of"]

_LISTS: Final = ("FLOATS", "INTS", "STRINGS")
_CONSTANTS: Final = {
    "value_float": "FLOAT", "value_floats": "FLOAT", "value_int": "INT64", "value_ints": "INT64",
    "value_string": "STRING", "value_strings": "STRING",
}  # fmt: skip


def label_of(node: OnnxNode, index: int) -> str:
    """Return how messages call a node: by its name, else by its number and operator."""
    return f"node {node.name[:60]!r}" if node.name else f"node[{index}] {plain_name(node.op_type)}"


class Run:
    """The values of one run by name, and the sizes that symbols stand for."""

    def __init__(self, model: OnnxModel, path: str, budget: memory.Budget) -> None:
        self.path = path
        self.model = model
        self.graph = model.graph
        self.imports = model.opset_imports
        self.functions = {(function.domain, function.name) for function in model.functions}
        self.tables = dialect("onnx")
        self.weights = Weights(path, budget.left)
        self.budget = budget
        self.values: dict[str, NDArray[Any]] = {}
        self.symbols: dict[str, tuple[int, str]] = {}
        self.last_use = {name: i for i, node in enumerate(self.graph.nodes) for name in node.inputs}
        self.kept = {info.name for info in self.graph.outputs}

    def refuse_early(self, node: OnnxNode) -> None:
        """Raise what is known without any value: no opset import, no table, no kernel."""
        if node.domain not in self.imports:
            raise InputError(f"the model imports no opset of the domain {node.domain or 'ai.onnx'!r:.60}")
        if (node.domain, node.op_type) in self.functions:
            raise NoKernel(f"{node.op_type!r:.60} is a local function, which is not executed")
        for attribute in node.attributes.values():
            if isinstance(attribute.value, OnnxGraph) or attribute.kind == "GRAPHS":
                raise NoKernel(f"the attribute {attribute.name!r:.60} holds a subgraph, which is not executed")
            if attribute.ref_attr_name is not None:
                raise InputError(f"the attribute {attribute.name!r:.60} refers to one of a function outside of any")
        if node.duplicates:
            raise InputError(f"the attribute {node.duplicates[0]!r:.60} stands there twice")
        if is_constant(node):
            return
        spec = self.tables.operator(operator_name(node.op_type, node.domain))
        if not self.has_kernel(node.domain, node.op_type):
            raise NoKernel(f"{self.tables.name} {spec.name} has no kernel yet")

    def take_inputs(self, arrays: Mapping[str, Any], *, weights: bool) -> None:
        """Take initializers if their values are wanted, then inputs, which may replace an initializer of their name."""
        inputs = {info.name: info for info in self.graph.inputs}
        for name in arrays:
            if name not in inputs:
                raise InputError(f"the model has no input {name!r:.60}; expected {_names(inputs)}")
        initialized = {tensor.name for tensor in self.graph.initializers}
        for index, tensor in enumerate(self.graph.initializers):
            if weights and tensor.name not in arrays:
                with at_place(f"initializer {tensor.name[:60]!r}"):
                    self.values[tensor.name] = self.weights.initializer(index, tensor)
        for name, info in inputs.items():
            if name in arrays:
                with at_place(f"input {name[:60]!r}"):
                    self.values[name] = self._input(name, arrays[name], info.type)
            elif name not in initialized:
                raise InputError(f"no array for the input {name!r:.60}")

    def _input(self, name: str, value: Any, declared: OnnxType | None) -> Any:
        if declared is not None and declared.kind == "map" and declared.inner is not None:
            held = self.tables.types.get(declared.inner.elem_type or "", {}).get("tensor")
            if declared.inner.kind == "tensor" and held is not None and declared.elem_type in self.tables.types:
                return array_map(value, container("map", str(held), declared.elem_type), self.tables, "")
        if declared is None or declared.kind != "tensor":
            return value  # a sequence: for the reference evaluator, since no kernel takes one
        if declared.elem_type not in self.tables.types:
            raise InputError(f"its type {declared.elem_type} holds no values")
        if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            raise InputError("has undefined (masked) elements")
        array = as_array(value, numpy_type(self.tables, declared.elem_type), None, "")
        self._hold_shape(array, declared, name)
        return array

    def _hold_shape(self, array: NDArray[Any], declared: OnnxType, name: str) -> None:
        """Hold an array against declared sizes; a symbol is the size that the first value with it has."""
        if declared.shape is None:
            return
        shown = ["?" if size is None else size for size in declared.shape]
        if len(declared.shape) != array.ndim:
            raise InputError(f"has the shape {list(array.shape)}, but {shown} is declared")
        for size, found in zip(declared.shape, array.shape, strict=True):
            if isinstance(size, str):
                known, source = self.symbols.setdefault(size, (found, name))
                if known != found:
                    where = f"but {plain_name(size)} is {known} in {source!r:.60}"
                    raise InputError(f"has the shape {list(array.shape)} where {shown} is declared, {where}")
            elif size is not None and size != found:
                raise InputError(f"has the shape {list(array.shape)}, but {shown} is declared")

    def has_kernel(self, domain: str, op_type: str) -> bool:
        """Return whether there is a kernel for an operator as the model imports it."""
        try:
            spec, version = self.tables.operator(operator_name(op_type, domain)), str(self.imports.get(domain))
            return spec.has_kernel(version) if version in spec.dialect.levels else spec.table.recipe is not None
        except (NoTable, InputError):
            return False

    def node(self, index: int, node: OnnxNode) -> None:
        """Execute one node and drop what no later one reads."""
        results = [self._constant(index, node)] if is_constant(node) else self._executed(index, node)
        for name, array in zip(node.outputs, results, strict=False):
            if name in self.values:
                raise InputError(f"computes {name!r:.60}, which is there already")
            if name:
                self.values[name] = array
        self.drop_dead(index, (*node.inputs, *node.outputs))

    def drop_dead(self, index: int, names: Iterable[str]) -> None:
        """Drop those of the named values that no node behind number `index` reads; hold what is left to the budget."""
        for name in names:
            if self.last_use.get(name, -1) <= index and name not in self.kept:
                self.values.pop(name, None)
        self.budget.hold(self.alive(), "all values that are alive")
        self.budget.hold_time()

    def alive(self) -> int:
        """Return how many bytes the values have that are there."""
        return sum(map(memory.held_bytes, self.values.values()))

    def _executed(self, index: int, node: OnnxNode) -> list[NDArray[Any]]:
        given = [self._read(name) if name else None for name in node.inputs]
        skipped = {name for name, a in node.attributes.items() if a.value is None and a.kind in _LISTS}
        listed = self.weights.listed(index, skipped) if skipped else {}
        attributes = {name: listed.get(name, self._attribute(index, a)) for name, a in node.attributes.items()}
        kinds = {name: ATTRIBUTE_TYPES[a.kind] for name, a in node.attributes.items() if a.kind in ATTRIBUTE_TYPES}
        version = self.imports[node.domain]
        return self.compute(node.op_type, node.domain, version, given, attributes, node.outputs, kinds)

    def _attribute(self, index: int, attribute: OnnxAttribute) -> Any:
        """Return what an attribute of node number `index` holds, of a tensor all elements."""
        if not isinstance(attribute.value, OnnxTensor):
            return attribute.value
        array = self.weights.attribute(index, attribute.name, attribute.value)
        return TensorDesc(self._type(array), array.shape, value=tuple(array.ravel().tolist()))

    def described(
        self,
        op_type: str,
        domain: str,
        version: int,
        given: Sequence[NDArray[Any] | None],
        attributes: Mapping[str, Any],
        outputs: Sequence[str],
        kinds: Mapping[str, str] | None = None,
    ) -> Descriptor:
        """Return the descriptor of a node at an opset that is given these arrays; raise NoKernel for what is none.

        outputs: the names of its outputs, "" for one that is left out. kinds: see `build`.
        """
        spec = self.tables.operator(operator_name(op_type, domain))
        if any(array is not None and not isinstance(array, np.ndarray | ArrayMap) for array in given):
            raise NoKernel(f"{spec.name} has no kernel for sequences and maps")
        if any(isinstance(array, np.ndarray) and self._type(array) not in self.tables.types for array in given):
            raise NoKernel(f"{spec.name} has no kernel for elements that numpy has no type for")
        tensors = [None if array is None else self._described_value(array) for array in given]
        # how many there are is for the kernel to know, and with it whether an older BatchNormalization trains
        stated = [TensorDesc(None, None) if name else None for name in outputs]
        return build(spec, tensors, stated, attributes, version=str(version), convert=attribute_value, kinds=kinds)

    def compute(
        self,
        op_type: str,
        domain: str,
        version: int,
        given: Sequence[NDArray[Any] | None],
        attributes: Mapping[str, Any],
        outputs: Sequence[str],
        kinds: Mapping[str, str] | None = None,
    ) -> list[NDArray[Any]]:
        """Compute a node by its kernel; an output that is left out may be missing. outputs, kinds: see `described`."""
        spec = self.tables.operator(operator_name(op_type, domain))
        descriptor = self.described(op_type, domain, version, given, attributes, outputs, kinds)
        if descriptor.oddities:
            raise InputError(descriptor.oddities[0].message)
        layout, several = spec.layout(str(version)), spec.several_at(str(version))
        if len(outputs) > len(layout.outputs) and not several:
            raise InputError(f"has {len(outputs)} outputs, at most {len(layout.outputs)} are defined")
        arrays = arrays_by_name(layout.inputs, given)
        results = execute_at(descriptor, arrays, spec.dialect.levels[-1], budget=self.budget.less(self.alive()))
        if several:
            return [part for info in layout.outputs for part in results[info.name]]
        for info, name in zip(layout.outputs, outputs, strict=False):
            if name and info.name not in results:
                raise NoKernel(f"the kernel of {spec.name} does not compute {info.name}")
        return [results.get(info.name, np.empty(0)) for info in layout.outputs[: len(outputs)]]

    def _described_value(self, value: NDArray[Any] | ArrayMap) -> TensorDesc:
        if isinstance(value, np.ndarray):
            return TensorDesc(self._type(value), value.shape)
        held = self.tables.types[self._type(value.values)]["tensor"]
        return TensorDesc(container("map", str(held), self._type(value.keys)), None)

    def _read(self, name: str) -> NDArray[Any]:
        if name not in self.values:
            raise InputError(f"reads {name!r:.60}, which no input, initializer or earlier node gives")
        array = self.values[name]
        if isinstance(array, np.ma.MaskedArray):
            raise InputError(f"reads {name!r:.60}, which has undefined elements")
        return array

    def _type(self, array: NDArray[Any]) -> str:
        types = self.tables.types.items()
        known = (name for name, info in types if info["numpy"] is not None and array.dtype == info["numpy"])
        return next(known, array.dtype.name.upper())  # of ml_dtypes: bfloat16

    def _constant(self, index: int, node: OnnxNode) -> NDArray[Any]:
        count = len(node.attributes)
        if count != 1 or len(node.outputs) != 1:
            raise InputError(f"expected a Constant of one attribute and one output, found {count} attributes")
        (held,) = node.attributes.values()
        if held.name == "value" and isinstance(held.value, OnnxTensor):
            return self.weights.constant(index, held.value)
        kind = _CONSTANTS.get(held.name)
        if kind is None or held.value is None or held.kind != held.name.removeprefix("value_").upper():
            raise NoKernel(f"a Constant with the attribute {held.name!r:.60} of kind {held.kind} is not executed")
        values = held.value
        if kind == "STRING":
            values = [_text(item) for item in values] if isinstance(values, list) else _text(values)
        return np.array(values, numpy_type(self.tables, kind))

    def output(self, info: OnnxValueInfo) -> NDArray[Any]:
        """Return one output of the graph, held against its declaration."""
        with at_place(f"output {info.name[:60]!r}"):
            if info.name not in self.values:
                raise InputError("is computed by no node")
            array, declared = self.values[info.name], info.type
            if declared is not None and declared.kind == "tensor" and isinstance(array, np.ndarray):
                if declared.elem_type not in {None, "UNDEFINED", self._type(array)}:
                    raise InputError(f"is computed as {self._type(array)}, but {declared.elem_type} is declared")
                self._hold_shape(array, declared, info.name)
            return array if isinstance(array, np.ndarray) else plain(array)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InputError("expected UTF-8 in a string") from None


def is_constant(node: OnnxNode) -> bool:
    """Return whether a node holds a value instead of computing one."""
    return node.op_type == "Constant" and not node.domain


def _names(known: Mapping[str, Any]) -> str:
    shown = ", ".join(repr(name[:60]) for name in list(known)[:8])
    return shown + (" …" if len(known) > 8 else "") or "none"
