"""Subprocess of the ONNX oracle, and the one-node models that it asks about."""

from __future__ import annotations

import contextlib
import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.dialects.onnx.oracle.oracle import Attribute, Question, Tensor

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
    shaped_infos = [info for info in graph.input if info.type.tensor_type.HasField("shape")]
    items = [info.name for info in graph.input if not info.type.tensor_type.HasField("shape")]
    if items:
        del graph.input[:]
        graph.input.extend(shaped_infos)
        graph.node.insert(0, NodeProto(op_type="Value", domain=_MAKER, output=items))
        model.opset_import.add(domain=_MAKER, version=1)
    outputs = [info for info in graph.output if info.type.tensor_type.HasField("shape")]
    del graph.output[:]
    graph.output.extend(outputs)
    return model


def inference_model(question: Question, fed_names: Collection[str] = ()) -> Any:
    """Return a model with the facts of the descriptor.

    Constants in `fed_names` are inputs.
    """
    return _model(question, fed_names)


def runtime_model(question: Question, fed_names: Collection[str] = ()) -> Any:
    """Return a model for ONNX Runtime.

    It requires an element type wherever a shape is stated.
    """
    model = _model(question, fed_names)
    untyped = [i.name for i in model.graph.input if not i.type.tensor_type.elem_type]
    if untyped:
        raise NotExpressible(f"a model's input needs an element type, but that of {untyped[0]} is unknown")
    untyped_outputs = [
        i for i in model.graph.output if i.type.HasField("tensor_type") and not i.type.tensor_type.elem_type
    ]
    if untyped_outputs:
        numbers_by_name = _inferred_types(model)
        for info in untyped_outputs:
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


def _model(question: Question, fed_names: Collection[str] = ()) -> Any:
    from onnx import ModelProto, numpy_helper

    model = ModelProto(ir_version=question.ir_version)
    model.opset_import.add(domain="", version=question.opset)
    if question.domain:
        model.opset_import.add(domain=question.domain, version=question.version)
    graph = model.graph
    graph.name = "one_node"
    for tensor in filter(None, question.inputs):
        constant = tensor.value is not None and tensor.name not in fed_names
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


Word = tuple[str, str]

#: Address space in bytes: a huge output must fail here instead of exhausting the machine's memory.
_MEMORY: Final = 16 * 2**30
_DETAIL: Final = 200
_OUT_OF_MEMORY: Final = re.compile(r"allocate memory|bad_alloc|bad allocation")
#: ONNX Runtime errors about element types: one that it cannot load, which says nothing about the node, and one that it
#: accepts in the node but has no tensors of.
_INVALID_TYPE: Final = re.compile(r"Invalid tensor data type \d+")
_NO_TENSORS: Final = re.compile(r"MLDataType for: \S+ is not currently registered")
#: Without a kernel for half floats, ONNX Runtime inserts casts, which may not exist at an old opset.
_CASTS: Final = re.compile(r"'InsertedPrecisionFreeCast_")
#: Errors due to this machine, or due to missing types in the question, say nothing about the node.
_LOCAL_ERRORS: Final = re.compile(
    r"Failed to construct locale|::Locale::Locale|output arg \(\S+\) type inference failed"
)
_NO_KERNEL: Final = frozenset({"NotImplemented", "NotImplementedError", "OpRunImplementationError"})
_UNKNOWN_TYPE: Final = re.compile(r"Element type of (?:input \d+|tensor \S+)\s*unknown|expected to have type but")
# Source location of an ONNX Runtime error: path, line and C++ signature.
_PLACE: Final = re.compile(r"/\S+\.(?:cc|h):\d+ [^()]*\([^()]*\) (?:const )?(?:\[[^\]]*\] )?")
#: Text before the reason: error codes, the kind of error, the node.
_PREFIX: Final = re.compile(
    r"^(?:\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : |This is an invalid model\. |Inference error\(s\): "
    r"|In Node, .*? -> \(.*?\) , Error |Non-zero status code returned while running .*? Status Message: "
    r"|\[\w+Error\] |\(op_type:[^)]*\): )+"
)


def answerer(_argument: None) -> Callable[[tuple[Any, ...]], Any]:
    """Return the function that answers requests.

    Requests are ``("versions",)``, ``("verdicts", names, question)`` and ``("values", names, question, feeds)``.
    """
    import resource

    os.environ["ALLOW_RELEASED_ONNX_OPSET_ONLY"] = "0"  # allows unreleased opsets of ONNX Runtime
    with contextlib.suppress(ImportError, ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    tasks: dict[str, Callable[..., Any]] = {"versions": _versions, "verdicts": _verdicts, "values": _values}
    return lambda task: tasks[task[0]](*task[1:])


def _versions() -> dict[str, str]:
    """Return the versions of onnx and onnxruntime, if importable."""
    texts_by_name = {}
    for name in ("onnx", "onnxruntime"):
        with contextlib.suppress(ImportError):
            texts_by_name[name] = str(__import__(name).__version__)
    return texts_by_name


def _verdicts(names: Sequence[str], question: Question) -> dict[str, Word]:
    ways = {"checker": _run_checker, "inference": _run_inference, "onnxruntime": _create_session}
    return {name: _answer(ways[name], question) for name in names}


def _answer(way: Callable[[Question], Word | None], question: Question) -> Word:
    try:
        return way(question) or ("accepted", "")
    except NotExpressible as error:
        return "not asked", message_of(error)
    except Exception as error:  # noqa: BLE001  # any exception of an implementation is a rejection
        return _refusal(error)


def _refusal(error: BaseException) -> Word:
    text = message_of(error)
    if isinstance(error, MemoryError) or _OUT_OF_MEMORY.search(text):
        return "not asked", f"out of memory: {text}"[:_DETAIL]
    if _INVALID_TYPE.search(text) or _LOCAL_ERRORS.search(text):
        return "not asked", text
    if type(error).__name__ in _NO_KERNEL or _NO_TENSORS.search(text) or _CASTS.search(text):
        return "no kernel", text
    return "rejected", text


def message_of(error: BaseException) -> str:
    """Return an error message in one line, without codes and source locations."""
    text = " ".join(str(error).split("==> Context")[0].split())
    text = _PREFIX.sub("", _PLACE.sub("", text))
    return (text or type(error).__name__)[:_DETAIL].strip()


def _known_to_onnx(question: Question) -> None:
    """Raise NotExpressible for an opset or domain that onnx does not define."""
    from onnx import defs

    if question.domain:
        raise NotExpressible(f"onnx has no operators of {question.domain}")
    if question.opset > defs.onnx_opset_version():
        raise NotExpressible(f"the installed onnx ends at opset {defs.onnx_opset_version()}")


def _run_checker(question: Question) -> None:
    from onnx import checker

    _known_to_onnx(question)
    checker.check_model(checker_model(question))


def _run_inference(question: Question) -> Word | None:
    from onnx import shape_inference

    _known_to_onnx(question)
    model = inference_model(question)
    try:
        shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except shape_inference.InferenceError as error:
        untyped = any(tensor is not None and not tensor.number for tensor in question.inputs)
        return ("not asked" if untyped and _UNKNOWN_TYPE.search(str(error)) else "rejected"), message_of(error)
    return None


def _create_session(question: Question) -> None:
    refusal = _runtime_gate(question.opset, question.ir_version)
    if refusal:
        raise NotExpressible(refusal)
    _session(runtime_model(question))


@lru_cache(maxsize=64)
def _runtime_gate(opset: int, ir_version: int) -> str:
    """Return why ONNX Runtime rejects an opset, "" if it supports it.

    Tested with Identity, which exists at every opset.
    """
    from onnx import ModelProto, TensorProto, helper

    model = ModelProto(ir_version=ir_version)
    model.opset_import.add(domain="", version=opset)
    model.graph.name = "identity"
    model.graph.node.add(op_type="Identity", input=["x"], output=["y"])
    model.graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]))
    model.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [1]))
    try:
        _session(model)
    except Exception as error:  # noqa: BLE001  # pybind exception classes
        return "" if _refusal(error)[0] == "no kernel" else message_of(error)
    return ""


def _session(model: Any) -> Any:
    import onnxruntime

    return onnxruntime.InferenceSession(
        model.SerializeToString(), _session_options(), providers=["CPUExecutionProvider"]
    )


@lru_cache(maxsize=1)
def _session_options() -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return options


def _values(names: Sequence[str], question: Question, feeds: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the outputs that each implementation computes for each feed.

    A result is a pair: arrays by output name (or None), and a word.
    """
    ways = {"onnxruntime": _runtime_runner, "reference": _reference_runner}
    fed_names = {name for feed in feeds for name in feed}
    constants = {t.name: t for t in question.inputs if t is not None and t.value is not None and t.name in fed_names}
    answers: dict[str, list[Any]] = {}
    for name in names:
        try:
            full_feeds = [{**{n: constant_array(t) for n, t in constants.items()}, **feed} for feed in feeds]
            run = ways[name](question, fed_names)
        except Exception as error:  # noqa: BLE001  # as in `_answer`
            answers[name] = [(None, _failure_reply(error))] * len(feeds)
        else:
            answers[name] = [_run_feed(run, feed) for feed in full_feeds]
    return answers


def _failure_reply(error: Exception) -> Word:
    return ("not asked", message_of(error)) if isinstance(error, NotExpressible) else _refusal(error)


def _run_feed(
    run: Callable[[dict[str, Any]], dict[str, Any]], feed: dict[str, Any]
) -> tuple[dict[str, Any] | None, Word]:
    try:
        return {name: _to_picklable(array) for name, array in run(feed).items()}, ("accepted", "")
    except Exception as error:  # noqa: BLE001  # as in `_answer`
        return None, _failure_reply(error)


def _to_picklable(value: Any) -> NDArray[Any]:
    """Return a picklable array: strings as objects, scalars as 0-d arrays."""
    import numpy as np

    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "UST" else array


def _runtime_runner(question: Question, fed_names: set[str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    refusal = _runtime_gate(question.opset, question.ir_version)
    if refusal:
        raise NotExpressible(refusal)
    session = _session(runtime_model(question, fed_names))
    outputs = [info.name for info in session.get_outputs()]

    def run_session(feed: dict[str, Any]) -> dict[str, Any]:
        for name, array in feed.items():
            if type(array.dtype).__module__ != "numpy.dtypes":  # ml_dtypes such as bfloat16
                raise NotExpressible(f"{name}: ONNX Runtime does not accept numpy arrays of {array.dtype}")
        return dict(zip(outputs, session.run(outputs, feed), strict=True))

    return run_session


def _reference_runner(question: Question, fed_names: set[str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    from onnx.reference import ReferenceEvaluator

    _known_to_onnx(question)
    evaluator = ReferenceEvaluator(inference_model(question, fed_names))
    outputs = list(evaluator.output_names)

    def run_evaluator(feed: dict[str, Any]) -> dict[str, Any]:
        try:
            return dict(zip(outputs, evaluator.run(outputs, feed), strict=True))
        except TypeError as error:
            raise (error.__cause__ or error) from None

    return run_evaluator
