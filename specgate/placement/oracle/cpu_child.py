"""The process that creates sessions of ONNX Runtime on the CPU."""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specgate.placement.oracle.protobuf import nodes_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["answerer"]

_ERROR: Final = re.compile(r"\[ONNXRuntimeError\] : (\d+) : \w+ : (.*)", re.DOTALL)
_FAIL: Final = 1  # OrtErrorCode
_MEMORY: Final = 16 * 2**30  # bytes of address space: a huge constant must fail here, not take the machine's memory
_SILENT: Final = 4

CpuAnswer = tuple[int, str, list[tuple[str, str]], float]


def answerer(argument: tuple[str | None, int]) -> Callable[[bytes], CpuAnswer]:
    """Return what answers a model with the error's number and text, the nodes by name and type, and seconds.

    argument: the folder that has the package, None for that of this environment; the optimisation level's number.
    """
    folder, optimisation = argument
    if folder is not None:
        sys.path.insert(0, folder)
    import onnxruntime

    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    onnxruntime.set_default_logger_severity(_SILENT)
    return lambda model: _answer(onnxruntime, model, optimisation)


def _answer(runtime: Any, model: bytes, optimisation: int) -> CpuAnswer:
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel(optimisation)
    options.log_severity_level = _SILENT
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    with tempfile.TemporaryDirectory(prefix="specgate-placement-") as made:
        written = Path(made) / "model.onnx"  # what the runtime made of it: functions inlined, casts inserted
        options.optimized_model_filepath = str(written)
        began = time.perf_counter()
        try:
            runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001  # pybind's own classes
            return (*_refusal(error), [], time.perf_counter() - began)
        taken = time.perf_counter() - began
        return 0, "", nodes_of(written.read_bytes()), taken


def _refusal(error: Exception) -> tuple[int, str]:
    found = _ERROR.search(str(error))
    return (int(found[1]), found[2]) if found else (_FAIL, str(error))
