"""Every node of the onnx package's backend node tests, alone in a model with what is known of its values."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.dialects.onnx.reader import operator_name
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.spec.fields import Cell, FieldInfo
    from specgate.spec.forms import Resolved
    from specgate.spec.operator_spec import OperatorSpec

#: Constants of at most so many elements are what rules read: axes, sizes, pads.
MOST_ELEMENTS = 32
#: AttributeProto.AttributeType of those that hold graphs.
GRAPHS = {5, 10}


class Slot(NamedTuple):
    """An input or output of a node: its place there, its value's name, its field and the row's cell for it."""

    place: int
    name: str
    field: FieldInfo
    cell: Cell | None

    @property
    def label(self) -> str:
        return self.field.name


@dataclass
class Subject:
    """A model of one node that is as it should be. constants: elements that a test gives some of its inputs."""

    name: str
    model: Any
    constants: Mapping[str, Any] = field(default_factory=dict)

    @property
    def node(self) -> Any:
        return self.model.graph.node[0]

    @property
    def operator(self) -> str:
        return operator_name(self.node.op_type, self.node.domain)

    @cached_property
    def spec(self) -> OperatorSpec:
        return dialect("onnx").operator(self.operator)

    @cached_property
    def opset(self) -> str:
        """The version of the node's own domain."""
        domain = self.node.domain if self.node.domain != "ai.onnx" else ""
        return next(
            str(item.version) for item in self.model.opset_import if item.domain in {domain, domain or "ai.onnx"}
        )

    @cached_property
    def resolved(self) -> Resolved:
        found = self.spec.resolve(self.opset)
        assert found is not None, self.name
        return found

    def _slots(self, names: Any, infos: tuple[FieldInfo, ...]) -> list[Slot]:
        found = []
        for index, name in enumerate(names):
            info = infos[min(index, len(infos) - 1)]
            if name:
                found.append(Slot(index, name, info, self.resolved.cells.get(info.name)))
        return found

    @cached_property
    def inputs(self) -> list[Slot]:
        return self._slots(self.node.input, self.spec.layout(self.opset).inputs)

    @cached_property
    def outputs(self) -> list[Slot]:
        return self._slots(self.node.output, self.spec.layout(self.opset).outputs)

    @cached_property
    def attributes(self) -> list[FieldInfo]:
        """The attributes that the operator has at the node's opset."""
        return [info for info in self.resolved.fields.values() if info.kind == "attribute"]

    @cached_property
    def given(self) -> dict[str, Any]:
        """The node's attributes as they are in it, by name."""
        return {item.name: item for item in self.node.attribute}

    def copy(self) -> Any:
        import onnx

        made = onnx.ModelProto()
        made.CopyFrom(self.model)
        return made


def subjects() -> Iterator[Subject]:
    """Yield each different node once.

    Nodes are alike that have the operator, version, attributes' names, and the types and ranks of their inputs and
    outputs in common; in models of several nodes, which are functions written out, also with other types.
    """
    seen = set()
    for case in _cases():
        for made in _split(case):
            key = _key(made, typed="[" not in made.name)
            if key not in seen:
                seen.add(key)
                yield made


def _cases() -> list[Any]:
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numpy, to the package's own cases
        found: list[Any] = load_model_tests(kind="node")
    return sorted((case for case in found if case.model is not None), key=lambda case: str(case.name))


def _key(made: Subject, *, typed: bool) -> tuple[Any, ...]:
    graph = made.model.graph
    known = {item.name: (item.data_type, len(item.dims)) for item in graph.initializer}
    for info in (*graph.input, *graph.output):
        held = info.type.tensor_type
        known.setdefault(info.name, (held.elem_type, len(held.shape.dim)))
    ends = [known.get(name, (0, -1)) for name in (*made.node.input, *made.node.output)]
    constants = tuple(item.name in made.node.input for item in graph.initializer)
    kinds = tuple(ends) if typed else tuple(rank for _, rank in ends)
    return made.operator, made.resolved.row, tuple(sorted(made.given)), kinds, constants


def _split(case: Any) -> Iterator[Subject]:
    """Yield the nodes of a case: the model itself where it has one, else a model for each, typed by inference."""
    import onnx

    model = case.model
    if len(model.graph.node) == 1 and not model.functions:
        yield _with_constants(Subject(case.name, model, _elements(case)))
        return
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    graph = inferred.graph
    types = {info.name: info for part in (graph.input, graph.value_info, graph.output) for info in part}
    constants = {item.name: item for item in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            constants[node.output[0]] = node.attribute[0].t
    for index, node in enumerate(graph.node):
        made = _alone(model, node, types, constants)
        if made is not None:
            yield Subject(f"{case.name}[{index}]", made)


def _alone(model: Any, node: Any, types: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
    """Return a model of one node of a larger one; None where a type is not known, or a graph in it reads outside."""
    import onnx

    known = all(name in constants or _typed(types.get(name)) for name in node.input if name)
    if not known or not all(_typed(types.get(name)) for name in node.output if name):
        return None
    if any(item.type in GRAPHS for item in node.attribute):
        return None
    made = onnx.ModelProto(ir_version=model.ir_version)
    made.opset_import.extend(model.opset_import)
    made.graph.name = "one_node"
    made.graph.node.append(node)
    for name in dict.fromkeys(filter(None, node.input)):
        if name in constants:
            made.graph.initializer.append(constants[name])
            made.graph.initializer[-1].name = name
        else:
            made.graph.input.append(types[name])
    made.graph.output.extend(types[name] for name in node.output if name)
    _keep_used_imports(made)
    return made


def _keep_used_imports(model: Any) -> None:
    domain = model.graph.node[0].domain
    for item in [item for item in model.opset_import if item.domain not in {"", "ai.onnx", domain}]:
        model.opset_import.remove(item)


def _typed(info: Any) -> bool:
    if info is None:
        return False
    case = info.type.WhichOneof("value")
    return case is not None and (case != "tensor_type" or info.type.tensor_type.elem_type != 0)


def _elements(case: Any) -> dict[str, Any]:
    """Return what the case's first data give to inputs that are few whole numbers, words or truths, as TensorProtos."""
    import numpy as np
    from onnx import numpy_helper

    if not case.data_sets:
        return {}
    names = [info.name for info in case.model.graph.input]
    found = {}
    for name, array in zip(names, case.data_sets[0][0], strict=False):
        if isinstance(array, np.ndarray | np.generic) and np.asarray(array).size <= MOST_ELEMENTS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = numpy_helper.from_array(np.asarray(array), name)
    return found


def _with_constants(made: Subject) -> Subject:
    """Turn those inputs into constants whose elements the operator's rules read."""
    texts = [form.require.text for form in made.resolved.rules] + [str(t) for t in made.spec.table.defines.values()]
    read = {name for name in made.spec.fields if any(f"value({name})" in t or f"values({name})" in t for t in texts)}
    held = {slot.name for slot in made.inputs if slot.field.name in read and slot.name in made.constants}
    if not held:
        return Subject(made.name, made.model)
    model = made.copy()
    for item in [item for item in model.graph.input if item.name in held]:
        model.graph.input.remove(item)
    model.graph.initializer.extend(made.constants[name] for name in sorted(held))
    return Subject(made.name, model)
