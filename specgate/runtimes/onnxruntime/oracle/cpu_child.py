"""Subprocess that creates and optionally runs sessions on the CPU."""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.runtimes.onnxruntime.oracle.answer import NOT_RUN
from specgate.runtimes.onnxruntime.oracle.cpu_inputs import NotFed, feeds_of, values_of
from specgate.runtimes.onnxruntime.oracle.marked import nodes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["CpuAnswer", "CpuQuestion", "answerer"]

_ERROR: Final = re.compile(r"\[ONNXRuntimeError\] : (\d+) : \w+ : (.*)", re.DOTALL)
_FAIL: Final = 1  # OrtErrorCode
_MEMORY: Final = 16 * 2**30  # bytes of address space, so that a huge constant fails here
_SILENT: Final = 4


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
    onnxruntime.set_default_logger_severity(_SILENT)
    return lambda question: _answer(onnxruntime, question, optimisation)


def _answer(runtime: Any, question: CpuQuestion, optimisation: int) -> CpuAnswer:
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel(optimisation)
    options.log_severity_level = _SILENT
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    with tempfile.TemporaryDirectory(prefix="specgate-placement-") as text:
        written = Path(text) / "model.onnx"  # the runtime's graph: functions inlined, casts inserted
        options.optimized_model_filepath = str(written)
        began = time.perf_counter()
        try:
            session = runtime.InferenceSession(question.model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001  # pybind's own classes
            return CpuAnswer(*_refusal(error), [], time.perf_counter() - began)
        number = time.perf_counter() - began
        nodes = nodes_of(written.read_bytes())
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
