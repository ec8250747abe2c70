"""One-node models from a `Question`, as each implementation requires them.

Runs in the oracle's subprocess, which has onnx.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from specgate.dialects.onnx.oracle.question import Attribute, Question, Tensor

__all__ = ["NotExpressible", "checker_model", "constant_array", "inference_model", "runtime_model"]

#: First IR version in which an initializer need not be an input (onnx/onnx.proto, IR_VERSION_2019_1_22).
_FREE_INITIALIZERS: Final = 4
#: Custom domain of a node whose outputs need no type in the checker.
_MAKER: Final = "specgate.unknown"
_TENSOR: Final = 4
_MESSAGES: Final = {_TENSOR: "TensorProto", 5: "GraphProto", 11: "SparseTensorProto", 13: "TypeProto"}


class NotExpressible(Exception):
    """No model can express the question."""


def checker_model(question: Question) -> Any:
    """Return a model for the checker.

    Values of unknown type or rank become intermediate values, because those need no type.
    """
    from onnx import NodeProto

    model = _model(question)
    graph = model.graph
    known = [info for info in graph.input if info.type.tensor_type.HasField("shape")]
    items = [info.name for info in graph.input if not info.type.tensor_type.HasField("shape")]
    if items:
        del graph.input[:]
        graph.input.extend(known)
        graph.node.insert(0, NodeProto(op_type="Value", domain=_MAKER, output=items))
        model.opset_import.add(domain=_MAKER, version=1)
    outputs = [info for info in graph.output if info.type.tensor_type.HasField("shape")]
    del graph.output[:]
    graph.output.extend(outputs)
    return model


def inference_model(question: Question, fed: Collection[str] = ()) -> Any:
    """Return a model that states what the descriptor states.

    Constants in `fed` are inputs.
    """
    return _model(question, fed)


def runtime_model(question: Question, fed: Collection[str] = ()) -> Any:
    """Return a model for ONNX Runtime.

    It requires an element type wherever a shape is stated.
    """
    model = _model(question, fed)
    untyped = [i.name for i in model.graph.input if not i.type.tensor_type.elem_type]
    if untyped:
        raise NotExpressible(f"a model's input needs an element type, but that of {untyped[0]} is unknown")
    shaped = [i for i in model.graph.output if i.type.HasField("tensor_type") and not i.type.tensor_type.elem_type]
    if shaped:
        numbers_by_name = _inferred_types(model)
        for info in shaped:
            if not numbers_by_name.get(info.name):
                raise NotExpressible(f"the element type of {info.name} is neither declared nor inferred")
            info.type.tensor_type.elem_type = numbers_by_name[info.name]
    return model


def _inferred_types(model: Any) -> dict[str, int]:
    from onnx import ModelProto, shape_inference

    open_model = ModelProto()
    open_model.CopyFrom(model)
    for info in open_model.graph.output:
        info.ClearField("type")
    inferred = shape_inference.infer_shapes(open_model, data_prop=True)
    return {info.name: info.type.tensor_type.elem_type for info in inferred.graph.output}


def _model(question: Question, fed: Collection[str] = ()) -> Any:
    from onnx import ModelProto, numpy_helper

    model = ModelProto(ir_version=question.ir_version)
    model.opset_import.add(domain="", version=question.opset)
    if question.domain:
        model.opset_import.add(domain=question.domain, version=question.version)
    graph = model.graph
    graph.name = "one_node"
    for tensor in filter(None, question.inputs):
        constant = tensor.value is not None and tensor.name not in fed
        if constant:
            graph.initializer.append(numpy_helper.from_array(constant_array(tensor), tensor.name))
        if not constant or question.ir_version < _FREE_INITIALIZERS:
            graph.input.append(_info(tensor))
    graph.output.extend(_info(tensor) for tensor in filter(None, question.outputs))
    node = graph.node.add(op_type=question.op_type, domain=question.domain)
    node.input.extend("" if tensor is None else tensor.name for tensor in question.inputs)
    node.output.extend("" if tensor is None else tensor.name for tensor in question.outputs)
    node.attribute.extend(map(_attribute, question.attributes))
    return model


def _info(tensor: Tensor) -> Any:
    from onnx import ValueInfoProto

    info = ValueInfoProto(name=tensor.name)
    if not tensor.stated or (tensor.number == 0 and tensor.sizes is None):
        return info
    known_tensor = info.type.tensor_type
    known_tensor.elem_type = tensor.number
    if tensor.sizes is not None:
        known_tensor.shape.SetInParent()
        for size in tensor.sizes:
            dim = known_tensor.shape.dim.add()
            if isinstance(size, int):
                dim.dim_value = size
            elif size is not None:
                dim.dim_param = size
    return info


def constant_array(tensor: Tensor) -> NDArray[Any]:
    """Return a constant's array; NotExpressible if type and sizes do not fit."""
    import numpy as np
    from onnx import helper

    shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
    if tensor.value is None or not tensor.number or tensor.sizes is None or len(shape) != len(tensor.sizes):
        raise NotExpressible(f"{tensor.name}: a constant needs its type and sizes")
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.number))
    try:
        if dtype.kind in "iu":
            exact = [int(item) for item in tensor.value]
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            if exact != list(tensor.value) or not all(low <= item <= high for item in exact):
                raise NotExpressible(f"{tensor.name}: a constant of {dtype} holds integers from {low} to {high}")
            return np.array(exact, dtype).reshape(shape)
        if dtype.kind == "O":
            return np.array([_text(item) for item in tensor.value], dtype).reshape(shape)
        with np.errstate(all="ignore"):
            return np.array(tensor.value, dtype).reshape(shape)
    except (ValueError, TypeError, OverflowError) as error:
        raise NotExpressible(f"{tensor.name}: cannot store this constant in a TensorProto: {error}") from None


def _text(item: Any) -> str | bytes:
    if not isinstance(item, str | bytes):
        raise TypeError("an element is not a string")
    return item


def _attribute(attribute: Attribute) -> Any:
    import onnx
    from onnx import helper, numpy_helper

    name, value, kind = attribute
    try:
        if kind == _TENSOR and not isinstance(value, bytes):
            value = numpy_helper.from_array(constant_array(value))
        elif kind in _MESSAGES:
            value = getattr(onnx, _MESSAGES[kind]).FromString(value)
        return helper.make_attribute(name, value, attr_type=kind or None)
    except (ValueError, TypeError, OverflowError) as error:
        raise NotExpressible(f"{name}: cannot store this in an AttributeProto: {error}") from None
