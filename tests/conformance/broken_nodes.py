"""Each node of onnx's backend tests in a one-node model with its known values."""

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

#: Constants of at most this many elements are those that rules read: axes, sizes, pads.
MOST_ELEMENTS = 32
#: AttributeProto.AttributeType of attributes that contain graphs.
GRAPHS = {5, 10}


class Slot(NamedTuple):
    """An input or output of a node: position, value name, field, and cell of its row."""

    place: int
    name: str
    field: FieldInfo
    cell: Cell | None

    @property
    def label(self) -> str:
        return self.field.name


@dataclass
class Subject:
    """A valid model of one node.

    constants: elements that a test gives for some of its inputs.
    """

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
        """Return the version of the node's domain."""
        domain = self.node.domain if self.node.domain != "ai.onnx" else ""
        return next(
            str(item.version) for item in self.model.opset_import if item.domain in {domain, domain or "ai.onnx"}
        )

    @cached_property
    def resolved(self) -> Resolved:
        result = self.spec.resolve(self.opset)
        assert result is not None, self.name
        return result

    def _slots(self, names: Any, infos: tuple[FieldInfo, ...]) -> list[Slot]:
        slots = []
        for index, name in enumerate(names):
            info = infos[min(index, len(infos) - 1)]
            if name:
                slots.append(Slot(index, name, info, self.resolved.cells.get(info.name)))
        return slots

    @cached_property
    def inputs(self) -> list[Slot]:
        return self._slots(self.node.input, self.spec.layout(self.opset).inputs)

    @cached_property
    def outputs(self) -> list[Slot]:
        return self._slots(self.node.output, self.spec.layout(self.opset).outputs)

    @cached_property
    def attributes(self) -> list[FieldInfo]:
        """Return the operator's attributes at the node's opset."""
        return [info for info in self.resolved.fields.values() if info.kind == "attribute"]

    @cached_property
    def given(self) -> dict[str, Any]:
        """Return the node's attributes by name."""
        return {item.name: item for item in self.node.attribute}

    def copy(self) -> Any:
        import onnx

        proto = onnx.ModelProto()
        proto.CopyFrom(self.model)
        return proto


def subjects() -> Iterator[Subject]:
    """Yield each distinct node once.

    Equivalent nodes have the same operator, version, attribute names, and types and ranks of inputs and outputs. Nodes
    of expanded functions may also differ in types.
    """
    seen = set()
    for case in _cases():
        for subject in _split(case):
            key = _key(subject, typed="[" not in subject.name)
            if key not in seen:
                seen.add(key)
                yield subject


def _cases() -> list[Any]:
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numpy, to the package's own cases
        items: list[Any] = load_model_tests(kind="node")
    return sorted((case for case in items if case.model is not None), key=lambda case: str(case.name))


def _key(subject: Subject, *, typed: bool) -> tuple[Any, ...]:
    graph = subject.model.graph
    pairs_by_value = {item.name: (item.data_type, len(item.dims)) for item in graph.initializer}
    for info in (*graph.input, *graph.output):
        value = info.type.tensor_type
        pairs_by_value.setdefault(info.name, (value.elem_type, len(value.shape.dim)))
    ends = [pairs_by_value.get(name, (0, -1)) for name in (*subject.node.input, *subject.node.output)]
    constants = tuple(item.name in subject.node.input for item in graph.initializer)
    kinds = tuple(ends) if typed else tuple(rank for _, rank in ends)
    return subject.operator, subject.resolved.row, tuple(sorted(subject.given)), kinds, constants


def _split(case: Any) -> Iterator[Subject]:
    """Yield the nodes of a case: its own model, or one model per inferred node."""
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
        onnx_model = _alone(model, node, types, constants)
        if onnx_model is not None:
            yield Subject(f"{case.name}[{index}]", onnx_model)


def _alone(model: Any, node: Any, types: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
    """Return a model of one node of a larger one.

    None if a type is unknown or a subgraph reads outer values.
    """
    import onnx

    facts = all(name in constants or _has_type(types.get(name)) for name in node.input if name)
    if not facts or not all(_has_type(types.get(name)) for name in node.output if name):
        return None
    if any(item.type in GRAPHS for item in node.attribute):
        return None
    proto = onnx.ModelProto(ir_version=model.ir_version)
    proto.opset_import.extend(model.opset_import)
    proto.graph.name = "one_node"
    proto.graph.node.append(node)
    for name in dict.fromkeys(filter(None, node.input)):
        if name in constants:
            proto.graph.initializer.append(constants[name])
            proto.graph.initializer[-1].name = name
        else:
            proto.graph.input.append(types[name])
    proto.graph.output.extend(types[name] for name in node.output if name)
    _keep_used_imports(proto)
    return proto


def _keep_used_imports(model: Any) -> None:
    domain = model.graph.node[0].domain
    for item in [item for item in model.opset_import if item.domain not in {"", "ai.onnx", domain}]:
        model.opset_import.remove(item)


def _has_type(info: Any) -> bool:
    if info is None:
        return False
    case = info.type.WhichOneof("value")
    return case is not None and (case != "tensor_type" or info.type.tensor_type.elem_type != 0)


def _elements(case: Any) -> dict[str, Any]:
    """Return the case's first data for small inputs, as TensorProtos.

    Small inputs have few integers, texts or booleans.
    """
    import numpy as np
    from onnx import numpy_helper

    if not case.data_sets:
        return {}
    names = [info.name for info in case.model.graph.input]
    protos_by_value = {}
    for name, array in zip(names, case.data_sets[0][0], strict=False):
        if isinstance(array, np.ndarray | np.generic) and np.asarray(array).size <= MOST_ELEMENTS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                protos_by_value[name] = numpy_helper.from_array(np.asarray(array), name)
    return protos_by_value


def _with_constants(subject: Subject) -> Subject:
    """Turn small inputs whose elements rules read into constants."""
    texts = [form.require.text for form in subject.resolved.rules] + [
        str(t) for t in subject.spec.table.defines.values()
    ]
    read = {name for name in subject.spec.fields if any(f"value({name})" in t or f"values({name})" in t for t in texts)}
    names = {slot.name for slot in subject.inputs if slot.field.name in read and slot.name in subject.constants}
    if not names:
        return Subject(subject.name, subject.model)
    model = subject.copy()
    for item in [item for item in model.graph.input if item.name in names]:
        model.graph.input.remove(item)
    model.graph.initializer.extend(subject.constants[name] for name in sorted(names))
    return Subject(subject.name, model)
