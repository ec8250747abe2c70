"""Subprocess that creates sessions on the CPU and runs them."""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
import time
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.runtimes.onnxruntime.oracle.marked import nodes_of
from specgate.runtimes.onnxruntime.oracle.oracle import NOT_RUN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

#: ONNX Runtime's names of element types, and numpy's.
_TYPES: Final = {
    "float": "float32", "double": "float64", "float16": "float16", "bool": "bool", "string": "object",
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
#: Types that numpy lacks: TensorProto.DataType, bits of storage, and the bits of the number 1.
_RAW: Final = {
    "bfloat16": (16, 16, 0x3F80),
    "float8e4m3fn": (17, 8, 0x38),
    "float8e4m3fnuz": (18, 8, 0x40),
    "float8e5m2": (19, 8, 0x3C),
    "float8e5m2fnuz": (20, 8, 0x40),
    "uint4": (21, 8, 0x11),
    "int4": (22, 8, 0x11),
    "float4e2m1": (23, 8, 0x22),
    "float8e8m0": (24, 8, 0x7F),
    "uint2": (25, 8, 0x55),
    "int2": (26, 8, 0x55),
}
#: Fill methods, with the size of each symbolic dimension.
_FILL_METHODS: Final = (("ones", 2), ("zeros", 1), ("random", 2), ("random", 1), ("random", 3))
#: Maximum elements of an input; a session with a larger input is not run.
MAX_ELEMENTS: Final = 2**24
_TENSOR: Final = re.compile(r"tensor\((\w+)\)")
_CONTAINER_PATTERN: Final = re.compile(r"(seq|optional)\((.*)\)")


class NotFed(Exception):
    """An input whose type lacks a Python value, or that is too large."""


def feeds_of(inputs: Sequence[Any], tables: Sequence[Mapping[str, NDArray[Any]]]) -> Iterator[dict[str, Any]]:
    """Yield sets of inputs by name.

    inputs: a session's. tables: arrays that replace generated ones in the first sets. A session without inputs has one
    set. Raises NotFed for an unsupported input.
    """
    random = np.random.default_rng(0)
    feed_list = [*tables, *({},) * (len(_FILL_METHODS) if inputs else 1)]
    for index, feed in enumerate(feed_list):
        way, size = _FILL_METHODS[max(0, index - len(tables))]
        yield {
            info.name: feed[info.name] if info.name in feed else _draw_input(info.type, info.shape, way, size, random)
            for info in inputs
        }


def _draw_input(word: str, shape: Sequence[Any] | None, way: str, size: int, random: Any) -> Any:
    wrapped_match = _CONTAINER_PATTERN.fullmatch(word)
    if wrapped_match:
        inner = _draw_input(wrapped_match[2], (2, 3), way, size, random)
        return [inner, inner] if wrapped_match[1] == "seq" else inner
    match = _TENSOR.fullmatch(word)
    if match is None or (match[1] not in _TYPES and match[1] not in _RAW):
        raise NotFed(f"no input of type {word}")
    sizes = [stated_size if isinstance(stated_size, int) and stated_size >= 0 else size for stated_size in shape or ()]
    if prod(sizes) > MAX_ELEMENTS:
        raise NotFed(f"an input has {prod(sizes)} elements")
    if match[1] in _RAW:
        _, bits, size_ = _RAW[match[1]]
        return np.full(sizes, 0 if way == "zeros" else size_, f"uint{bits}")
    dtype = np.dtype(_TYPES[match[1]])
    if dtype.kind == "O":
        return np.full(sizes, "1" if way == "ones" else "a", dtype)
    if way != "random":
        return np.full(sizes, way == "ones", dtype)
    return (random.uniform(-2, 2, sizes) if dtype.kind == "f" else random.integers(0, 4, sizes)).astype(dtype)


def values_of(runtime: Any, inputs: Sequence[Any], feed: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a set of inputs as the runtime's values, None if unsupported.

    Inputs with strings or sequences are unsupported: the Python interface accepts them as numpy or Python values only.
    Raises NotFed if another input has a type that numpy lacks.
    """
    words = {info.name: _TENSOR.fullmatch(info.type) for info in inputs}
    if any(match is None or match[1] == "string" for match in words.values()):
        raw_ones = [info.type for info in inputs if (match := words[info.name]) and match[1] in _RAW]
        if raw_ones:
            raise NotFed(f"no input of type {raw_ones[0]} next to strings or sequences")
        return None
    entries = {}
    for name, array in feed.items():
        match = words[name]
        raw = _RAW.get(match[1]) if match else None
        if raw is None:
            entries[name] = runtime.OrtValue.ortvalue_from_numpy(array)
        elif str(array.dtype) != f"uint{raw[1]}":  # a numpy extension type of another package
            entries[name] = runtime.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(f"uint{raw[1]}"), raw[0])
        else:
            entries[name] = runtime.OrtValue.ortvalue_from_numpy_with_onnx_type(array, raw[0])
    return entries


_ERROR: Final = re.compile(r"\[ONNXRuntimeError\] : (\d+) : \w+ : (.*)", re.DOTALL)
_FAIL: Final = 1  # OrtErrorCode
_MEMORY: Final = 16 * 2**30  # bytes of address space, so that a huge constant fails here
_FATAL_LOG_LEVEL: Final = 4


class CpuQuestion(NamedTuple):
    """A serialized model with options.

    run: also run its session. feeds: input arrays to try first, by input name.
    """

    model: bytes
    run: bool = False
    feeds: Sequence[Mapping[str, NDArray[Any]]] = ()


class CpuAnswer(NamedTuple):
    """The outcome of creating, and optionally running, a session.

    code: OrtErrorCode, 0 for success. run: as in `Answer.run`.
    """

    code: int
    error: str
    nodes: list[tuple[str, str]]
    seconds: float
    run: str = ""


def answerer(argument: tuple[str | None, int]) -> Callable[[CpuQuestion], CpuAnswer]:
    """Return a function that creates the session of a question.

    argument: the folder that contains the package, None for this environment's; and the number of the optimization
    level.
    """
    import resource

    folder, optimisation = argument
    if folder is not None:
        sys.path.insert(0, folder)
    import onnxruntime

    with contextlib.suppress(ImportError, ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    onnxruntime.set_default_logger_severity(_FATAL_LOG_LEVEL)
    return lambda question: _answer(onnxruntime, question, optimisation)


def _answer(runtime: Any, question: CpuQuestion, optimisation: int) -> CpuAnswer:
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel(optimisation)
    options.log_severity_level = _FATAL_LOG_LEVEL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    with tempfile.TemporaryDirectory(prefix="specgate-placement-") as text:
        model_path = Path(text) / "model.onnx"  # the runtime's graph: functions inlined, casts inserted
        options.optimized_model_filepath = str(model_path)
        start_time = time.perf_counter()
        try:
            session = runtime.InferenceSession(question.model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001  # pybind's own classes
            return CpuAnswer(*_refusal(error), [], time.perf_counter() - start_time)
        number = time.perf_counter() - start_time
        nodes = nodes_of(model_path.read_bytes())
    return CpuAnswer(0, "", nodes, number, _first_run(runtime, session, question.feeds) if question.run else "")


def _first_run(runtime: Any, session: Any, feeds: Sequence[Mapping[str, NDArray[Any]]]) -> str:
    """Run a session with each set of inputs until one succeeds.

    Return the error of the first set if none succeeds.
    """
    outputs = [info.name for info in session.get_outputs()]
    if not outputs:
        return f"{NOT_RUN}: no output"
    text = ""
    try:
        for feed in feeds_of(session.get_inputs(), feeds):
            values = values_of(runtime, session.get_inputs(), feed)
            try:
                if values is None:
                    session.run(outputs, feed)
                else:
                    session.run_with_ort_values(outputs, values)
            except Exception as error:  # noqa: BLE001  # pybind's own classes
                text = text or _refusal(error)[1]
            else:
                return "ran"
    except NotFed as error:
        return text or f"{NOT_RUN}: {error}"
    return text


def _refusal(error: Exception) -> tuple[int, str]:
    match = _ERROR.search(str(error))
    return (int(match[1]), match[2]) if match else (_FAIL, str(error))
