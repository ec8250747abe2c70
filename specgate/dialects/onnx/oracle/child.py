"""Subprocess of the ONNX oracle.

It runs the checker, shape inference, ONNX Runtime and the reference evaluator.
"""

from __future__ import annotations

import contextlib
import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.onnx.oracle.models import (
    NotExpressible,
    checker_model,
    constant_array,
    inference_model,
    runtime_model,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.dialects.onnx.oracle.question import Question

__all__ = ["Word", "answerer", "message_of"]

Word = tuple[str, str]

#: Address space in bytes: a huge output must fail here instead of exhausting the machine's memory.
_MEMORY: Final = 16 * 2**30
_DETAIL: Final = 200
_OUT_OF_MEMORY: Final = re.compile(r"allocate memory|bad_alloc|bad allocation")
#: ONNX Runtime errors about element types: one that it cannot load, which says nothing about the node, and one that it
#: accepts in the node but has no tensors of.
_STRANGE_TYPE: Final = re.compile(r"Invalid tensor data type \d+")
_NO_TENSORS: Final = re.compile(r"MLDataType for: \S+ is not currently registered")
#: Without a kernel for half floats, ONNX Runtime inserts casts, which may not exist at an old opset.
_CASTS: Final = re.compile(r"'InsertedPrecisionFreeCast_")
#: Errors due to this machine, or due to missing types in the question, say nothing about the node.
_UNASKED: Final = re.compile(r"Failed to construct locale|::Locale::Locale|output arg \(\S+\) type inference failed")
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
    ways = {"checker": _checked, "inference": _inferred, "onnxruntime": _created}
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
    if _STRANGE_TYPE.search(text) or _UNASKED.search(text):
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


def _checked(question: Question) -> None:
    from onnx import checker

    _known_to_onnx(question)
    checker.check_model(checker_model(question))


def _inferred(question: Question) -> Word | None:
    from onnx import shape_inference

    _known_to_onnx(question)
    model = inference_model(question)
    try:
        shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except shape_inference.InferenceError as error:
        untyped = any(tensor is not None and not tensor.number for tensor in question.inputs)
        return ("not asked" if untyped and _UNKNOWN_TYPE.search(str(error)) else "rejected"), message_of(error)
    return None


def _created(question: Question) -> None:
    refused = _runtime_gate(question.opset, question.ir_version)
    if refused:
        raise NotExpressible(refused)
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
    fed = {name for feed in feeds for name in feed}
    constants = {t.name: t for t in question.inputs if t is not None and t.value is not None and t.name in fed}
    answers: dict[str, list[Any]] = {}
    for name in names:
        try:
            filled = [{**{n: constant_array(t) for n, t in constants.items()}, **feed} for feed in feeds]
            run = ways[name](question, fed)
        except Exception as error:  # noqa: BLE001  # as in `_answer`
            answers[name] = [(None, _unrunnable(error))] * len(feeds)
        else:
            answers[name] = [_ran(run, feed) for feed in filled]
    return answers


def _unrunnable(error: Exception) -> Word:
    return ("not asked", message_of(error)) if isinstance(error, NotExpressible) else _refusal(error)


def _ran(run: Callable[[dict[str, Any]], dict[str, Any]], feed: dict[str, Any]) -> tuple[dict[str, Any] | None, Word]:
    try:
        return {name: _plain(array) for name, array in run(feed).items()}, ("accepted", "")
    except Exception as error:  # noqa: BLE001  # as in `_answer`
        return None, _unrunnable(error)


def _plain(value: Any) -> NDArray[Any]:
    """Return a picklable array: strings as objects, scalars as 0-d arrays."""
    import numpy as np

    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "UST" else array


def _runtime_runner(question: Question, fed: set[str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    refused = _runtime_gate(question.opset, question.ir_version)
    if refused:
        raise NotExpressible(refused)
    session = _session(runtime_model(question, fed))
    outputs = [info.name for info in session.get_outputs()]

    def run(feed: dict[str, Any]) -> dict[str, Any]:
        for name, array in feed.items():
            if type(array.dtype).__module__ != "numpy.dtypes":  # ml_dtypes such as bfloat16
                raise NotExpressible(f"{name}: ONNX Runtime does not accept numpy arrays of {array.dtype}")
        return dict(zip(outputs, session.run(outputs, feed), strict=True))

    return run


def _reference_runner(question: Question, fed: set[str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    from onnx.reference import ReferenceEvaluator

    _known_to_onnx(question)
    evaluator = ReferenceEvaluator(inference_model(question, fed))
    outputs = list(evaluator.output_names)

    def run(feed: dict[str, Any]) -> dict[str, Any]:
        try:
            return dict(zip(outputs, evaluator.run(outputs, feed), strict=True))
        except TypeError as error:
            raise (error.__cause__ or error) from None

    return run
