"""Models derived from exported ones: quantized, optimized, at other opsets.

onnxruntime quantizes and optimizes; onnx converts versions.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnx
import onnxruntime
from onnx import version_converter
from onnxruntime import GraphOptimizationLevel, quantization
from onnxruntime.quantization import QuantFormat, QuantType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["derive"]


class _Samples(quantization.CalibrationDataReader):
    """Yield the sample inputs of a model several times, scaled by a factor."""

    def __init__(self, samples: dict[str, Any]) -> None:
        self.rounds: Iterator[float] = iter((0.5, 1.0, 2.0))
        self.samples = samples

    def get_next(self) -> dict[str, Any] | None:
        factor = next(self.rounds, None)
        if factor is None:
            return None
        return {name: (array * array.dtype.type(factor)) for name, array in self.samples.items()}


def quantize(source: Path, path: Path, **options: Any) -> None:
    """Quantize statically from samples, as QDQ or with integer operators."""
    with np.load(source.parent / f"{source.stem.partition('-')[0]}.npz") as arrays:
        samples = {name.removeprefix("in."): arrays[name] for name in arrays.files if name.startswith("in.")}
    quantization.quantize_static(source, path, _Samples(samples), **options)


def quantized_dynamically(source: Path, path: Path, **options: Any) -> None:
    """Quantize the weights, and the activations at run time."""
    quantization.quantize_dynamic(source, path, **options)


def optimize(source: Path, path: Path, level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_BASIC) -> None:
    """Save a model as optimized by onnxruntime.

    The basic level keeps ONNX operators.
    """
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = str(path)
    options.log_severity_level = 3
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def fuse(source: Path, path: Path, kind: str) -> None:
    """Fuse a model with onnxruntime.transformers, as one of its model types."""
    from onnxruntime.transformers import optimizer

    onnx_model = optimizer.optimize_model(str(source), model_type=kind, opt_level=0, use_gpu=False)
    onnx_model.save_model_to_file(str(path))


def convert(source: Path, path: Path, opset: int) -> None:
    """Convert a model to another opset."""
    onnx.save(version_converter.convert_version(onnx.load(source), opset), path)


_QDQ: Final = {"quant_format": QuantFormat.QDQ, "activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}
_WAYS: Final[dict[str, Callable[[Path, Path], None]]] = {
    "qdq": partial(quantize, **_QDQ),
    "qdq-by-channel": partial(quantize, per_channel=True, **(_QDQ | {"activation_type": QuantType.QInt8})),
    "qdq-16": partial(quantize, **(_QDQ | {"activation_type": QuantType.QUInt16})),
    "qoperator": partial(quantize, quant_format=QuantFormat.QOperator),
    "qoperator-by-channel": partial(quantize, per_channel=True, **(_QDQ | {"quant_format": QuantFormat.QOperator})),
    "dynamic": quantized_dynamically,
    "dynamic-by-channel": partial(quantized_dynamically, per_channel=True, weight_type=QuantType.QUInt8),
    "basic": optimize,
    "extended": partial(optimize, level=GraphOptimizationLevel.ORT_ENABLE_EXTENDED),
    "bert": partial(fuse, kind="bert"),
    "gpt2": partial(fuse, kind="gpt2"),
    **{f"to-{opset}": partial(convert, opset=opset) for opset in range(7, 29)},
}


def derive(source: Path, way: str, path: Path) -> None:
    """Derive one model from another, whose network's samples are in the folder.

    Raises the tool's errors.
    """
    _WAYS[way](source, path)
