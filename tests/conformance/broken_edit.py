"""Edits of one-node models, and the known facts of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.broken_nodes import Subject

#: The field of an AttributeProto by the number of its type, AttributeProto.AttributeType.
FIELDS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings"}


def set_attribute(model: Any, name: str, kind: int, value: Any) -> Any:
    """Set an attribute of the node, replacing one of that name; return the model."""
    node = model.graph.node[0]
    for item in [item for item in node.attribute if item.name == name]:
        node.attribute.remove(item)
    onnx_model = node.attribute.add(name=name, type=kind)
    if isinstance(value, list):
        getattr(onnx_model, FIELDS[kind]).extend(value)
    else:
        setattr(onnx_model, FIELDS[kind], value)
    return model


def infos(model: Any, name: str) -> Iterator[Any]:
    """Yield the value infos that the graph states for a value."""
    for part in (model.graph.input, model.graph.output, model.graph.value_info):
        yield from (info for info in part if info.name == name)


def loosen(model: Any, name: str) -> None:
    """Turn a constant into an input of its type, so that it can be changed."""
    from onnx import helper

    for item in [item for item in model.graph.initializer if item.name == name]:
        if not any(info.name == name for info in model.graph.input):
            model.graph.input.append(helper.make_tensor_value_info(name, item.data_type, list(item.dims)))
        model.graph.initializer.remove(item)


def open_outputs(model: Any) -> Any:
    """Reduce outputs to their types, so that only the inputs can be wrong."""
    for info in model.graph.output:
        if info.type.WhichOneof("value") == "tensor_type":
            info.type.tensor_type.ClearField("shape")
    return model


def type_of(subject: Subject, name: str) -> str | None:
    """Return a tensor's element type, None for other values."""
    for item in subject.model.graph.initializer:
        if item.name == name:
            return _word(item.data_type)
    for info in infos(subject.model, name):
        if info.type.WhichOneof("value") == "tensor_type":
            return _word(info.type.tensor_type.elem_type)
    return None


def _word(number: int) -> str | None:
    return next((word for word, info in dialect("onnx").types.items() if info["value"] == number), None)


def set_type(model: Any, name: str, word: str) -> None:
    """Change a tensor's element type; another value becomes a one-element tensor."""
    loosen(model, name)
    for info in infos(model, name):
        tensor = info.type.WhichOneof("value") == "tensor_type"
        if not tensor:
            info.ClearField("type")
        info.type.tensor_type.elem_type = dialect("onnx").types[word]["value"]
        if not tensor:
            info.type.tensor_type.shape.SetInParent()


def spare(model: Any, like: str) -> str:
    """Add a graph input like another value; return its name."""
    name = "specgate_extra"
    onnx_model = model.graph.input.add(name=name)
    facts = next((info.type for info in infos(model, like)), None)
    if facts is not None:
        onnx_model.type.CopyFrom(facts)
    else:
        onnx_model.type.tensor_type.elem_type = 1
        onnx_model.type.tensor_type.shape.dim.add(dim_value=1)
    return name


def leave_out(names: Any, index: int) -> None:
    names[index] = ""
    while names and not names[-1]:
        del names[-1]


def drop_unused(model: Any, name: str) -> None:
    if name not in model.graph.node[0].input:
        for part in (model.graph.input, model.graph.initializer):
            for item in [item for item in part if item.name == name]:
                part.remove(item)


def at_opset(subject: Subject, opset: str) -> Any:
    """Return the model with a different import of the node's domain."""
    model = subject.copy()
    domain = subject.node.domain if subject.node.domain != "ai.onnx" else ""
    for item in model.opset_import:
        if item.domain in {domain, domain or "ai.onnx"}:
            item.version = int(opset)
    return model


def tensor_shape(model: Any, name: str) -> list[int] | None:
    """Return a tensor's sizes, -1 for unknown ones; None for an unknown rank."""
    for item in model.graph.initializer:
        if item.name == name:
            return list(item.dims)
    for info in infos(model, name):
        if info.type.WhichOneof("value") == "tensor_type" and info.type.tensor_type.HasField("shape"):
            return [d.dim_value if d.HasField("dim_value") else -1 for d in info.type.tensor_type.shape.dim]
    return None
