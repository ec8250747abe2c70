"""Whole ONNX models in another implementation, run in a subprocess.

It returns the values of all nodes of the main graph.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.onnx.oracle.child import message_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Required package by implementation.
IMPLEMENTATIONS: Final = {"onnxruntime": "onnxruntime", "reference": "onnx"}


def answerer(_argument: None) -> Callable[[tuple[str, str, Mapping[str, Any]]], tuple[str, Any]]:
    """Return the function that answers (implementation, path, arrays).

    Answers are ("values", (version, values by name)) or ("error", text). onnxruntime runs on the CPU without graph
    optimizations and with one thread. Only values of the main graph are included, except types that numpy does not
    support.
    """

    def answer(question: tuple[str, str, Mapping[str, Any]]) -> tuple[str, Any]:
        name, path, arrays = question
        try:
            return "values", _RUNNERS[name](path, dict(arrays))
        except Exception as error:  # noqa: BLE001  # any exception of an implementation is a rejection
            return "error", message_of(error)

    return answer


def _expose_values(path: str, *, weights: bool) -> Any:
    """Return the model with all values of its main graph as outputs."""
    import onnx

    model = onnx.load(path, load_external_data=weights)
    outputs = {info.name for info in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name and name not in outputs:
                outputs.add(name)
                model.graph.output.append(onnx.ValueInfoProto(name=name))
    return model


def _run_onnxruntime(path: str, arrays: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    folder = str(Path(path).resolve().parent)
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
    model = _expose_values(path, weights=False)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [info.name for info in session.get_outputs() if _is_supported_type(info.type)]
    return onnxruntime.__version__, dict(zip(names, session.run(names, arrays), strict=True))


def _is_supported_type(word: str) -> bool:
    return not any(part in word for part in ("bfloat16", "float8", "float4", "int4", "int2"))


def _run_reference(path: str, arrays: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    import onnx
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(_expose_values(path, weights=True))
    entries = dict(zip(evaluator.output_names, evaluator.run(None, arrays), strict=True))
    for name, value in entries.items():
        with contextlib.suppress(AttributeError):
            if value.dtype.kind in "US":
                entries[name] = value.astype(object)
    return onnx.__version__, entries


_RUNNERS: Final[dict[str, Callable[[str, dict[str, Any]], tuple[str, dict[str, Any]]]]] = {
    "onnxruntime": _run_onnxruntime,
    "reference": _run_reference,
}
