"""Models made of exported ones: quantized and optimized by onnxruntime, moved to other opsets by onnx."""

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
    """Gives the sample inputs of a model a few times over, changed by a factor."""

    def __init__(self, samples: dict[str, Any]) -> None:
        self.rounds: Iterator[float] = iter((0.5, 1.0, 2.0))
        self.samples = samples

    def get_next(self) -> dict[str, Any] | None:
        factor = next(self.rounds, None)
        if factor is None:
            return None
        return {name: (array * array.dtype.type(factor)) for name, array in self.samples.items()}


def quantized(source: Path, path: Path, **options: Any) -> None:
    """Quantize by the ranges of samples: QuantizeLinear and DequantizeLinear around operators, or integer ones."""
    with np.load(source.parent / f"{source.stem.partition('-')[0]}.npz") as arrays:
        samples = {name.removeprefix("in."): arrays[name] for name in arrays.files if name.startswith("in.")}
    quantization.quantize_static(source, path, _Samples(samples), **options)


def quantized_dynamically(source: Path, path: Path, **options: Any) -> None:
    """Quantize the weights, and the activations when the model runs."""
    quantization.quantize_dynamic(source, path, **options)


def optimized(
    source: Path, path: Path, level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_BASIC
) -> None:
    """Save what onnxruntime makes of a model at a level; the basic one keeps to the operators of ONNX."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = str(path)
    options.log_severity_level = 3
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def fused(source: Path, path: Path, kind: str) -> None:
    """Fuse what onnxruntime.transformers finds in one of its kinds of models."""
    from onnxruntime.transformers import optimizer

    made = optimizer.optimize_model(str(source), model_type=kind, opt_level=0, use_gpu=False)
    made.save_model_to_file(str(path))


def converted(source: Path, path: Path, opset: int) -> None:
    """Move a model to another opset."""
    onnx.save(version_converter.convert_version(onnx.load(source), opset), path)


_QDQ: Final = {"quant_format": QuantFormat.QDQ, "activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}
_WAYS: Final[dict[str, Callable[[Path, Path], None]]] = {
    "qdq": partial(quantized, **_QDQ),
    "qdq-by-channel": partial(quantized, per_channel=True, **(_QDQ | {"activation_type": QuantType.QInt8})),
    "qdq-16": partial(quantized, **(_QDQ | {"activation_type": QuantType.QUInt16})),
    "qoperator": partial(quantized, quant_format=QuantFormat.QOperator),
    "qoperator-by-channel": partial(quantized, per_channel=True, **(_QDQ | {"quant_format": QuantFormat.QOperator})),
    "dynamic": quantized_dynamically,
    "dynamic-by-channel": partial(quantized_dynamically, per_channel=True, weight_type=QuantType.QUInt8),
    "basic": optimized,
    "extended": partial(optimized, level=GraphOptimizationLevel.ORT_ENABLE_EXTENDED),
    "bert": partial(fused, kind="bert"),
    "gpt2": partial(fused, kind="gpt2"),
    **{f"to-{opset}": partial(converted, opset=opset) for opset in range(7, 29)},
}


def derive(source: Path, way: str, path: Path) -> None:
    """Make one model of another; the samples of its network lie beside it. Raises what the tool raises."""
    _WAYS[way](source, path)
