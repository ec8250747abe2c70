"""Whole IRs in OpenVINO's CPU plugin, run in a subprocess.

It returns the values of all layers of the main net.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_CPU: Final = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
#: Layers whose values are not requested: ends of a net, constants and state.
_LAYERS_WITHOUT_VALUES: Final = frozenset({"Parameter", "Constant", "Result", "Assign", "ReadValue"})
#: Element types that numpy supports.
_NUMPY_TYPES: Final = frozenset({
    "boolean", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
})  # fmt: skip


def answerer(_argument: None) -> Callable[[tuple[str, Mapping[str, Any]]], tuple[str, Any]]:
    """Return the function that answers (path, arrays).

    Answers are ("values", (version, values)) or ("error", text). Values are by layer name and output index.
    """
    sys.modules["openvino_telemetry"] = cast("Any", None)  # prevents telemetry when importing openvino

    def answer(question: tuple[str, Mapping[str, Any]]) -> tuple[str, Any]:
        try:
            return "values", _values(*question)
        except Exception as error:  # noqa: BLE001  # any exception is a rejection
            return "error", " ".join(str(error).split())[-300:] or type(error).__name__

    return answer


def _values(path: str, arrays: Mapping[str, Any]) -> tuple[str, dict[tuple[str, int], Any]]:
    import openvino

    core = openvino.Core()
    model = core.read_model(path)
    items = [
        output
        for node in model.get_ordered_ops()
        if node.get_type_name() not in _LAYERS_WITHOUT_VALUES
        for output in node.outputs()
        if output.get_element_type().get_type_name() in _NUMPY_TYPES
    ]
    model.add_outputs(items)
    compiled = core.compile_model(model, "CPU", _CPU)
    results = compiled(_order_inputs(model, arrays))
    entries: dict[tuple[str, int], Any] = {}
    for number, result in enumerate(model.get_results()):
        source = result.input_value(0)
        if source.get_element_type().get_type_name() in _NUMPY_TYPES:
            entries[source.get_node().get_friendly_name(), source.get_index()] = results[number].copy()
    return str(openvino.__version__).partition("-")[0], entries


def _order_inputs(model: Any, arrays: Mapping[str, Any]) -> dict[int, Any]:
    """Return the arrays by input index."""
    fed_values: dict[int, Any] = {}
    for number, parameter in enumerate(model.get_parameters()):
        for name in (parameter.get_friendly_name(), *parameter.output(0).names):
            if name in arrays:
                fed_values[number] = arrays[name]
    return fed_values
