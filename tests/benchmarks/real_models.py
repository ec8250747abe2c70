"""Models exported with torch, scikit-learn and ONNX Runtime's quantizer.

Packages that are missing are skipped. The files are small, but have as many nodes as real models, because benchmarks
read them and do not compute them.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["REAL_MODELS"]

_WIDTH, _HEADS, _LENGTH, _LAYERS = 32, 4, 16, 12
_CHANNELS, _SIDE = 8, 32


def _resnet() -> tuple[Any, Any]:
    """Return a ResNet-18 with few channels, and an image."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, before: int, after: int, stride: int) -> None:
            super().__init__()
            self.first = nn.Sequential(
                nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()
            )
            self.second = nn.Sequential(nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after))
            same = before == after and stride == 1
            self.beside = nn.Identity() if same else nn.Conv2d(before, after, 1, stride, bias=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.second(self.first(x)) + self.beside(x))

    widths = [_CHANNELS << stage for stage in range(4)]
    blocks = [
        Block(widths[max(stage - 1, 0)] if first else width, width, 2 if first and stage else 1)
        for stage, width in enumerate(widths)
        for first in (True, False)
    ]
    stem = nn.Sequential(nn.Conv2d(3, _CHANNELS, 7, 2, 3, bias=False), nn.BatchNorm2d(_CHANNELS), nn.ReLU())
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], 10))
    network = nn.Sequential(stem, nn.MaxPool2d(3, 2, 1), *blocks, head)
    return network, torch.randn(1, 3, _SIDE, _SIDE)


def _transformer() -> tuple[Any, Any]:
    """Return a 12-layer encoder and its input.

    Attention is spelled out, for opsets below 14.
    """
    import torch
    from torch import nn

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = nn.ModuleList(nn.Linear(_WIDTH, _WIDTH) for _ in range(4))
            self.norms = nn.ModuleList(nn.LayerNorm(_WIDTH) for _ in range(2))
            self.wide = nn.Sequential(nn.Linear(_WIDTH, 2 * _WIDTH), nn.GELU(), nn.Linear(2 * _WIDTH, _WIDTH))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            batch, length, width = x.shape
            heads = [part(x).reshape(batch, length, _HEADS, width // _HEADS).transpose(1, 2) for part in self.parts[:3]]
            scores = heads[0] @ heads[1].transpose(2, 3) * (width // _HEADS) ** -0.5
            mixed = (scores.softmax(-1) @ heads[2]).transpose(1, 2).reshape(batch, length, width)
            x = self.norms[0](x + self.parts[3](mixed))
            done: torch.Tensor = self.norms[1](x + self.wide(x))
            return done

    return nn.Sequential(*(Layer() for _ in range(_LAYERS))), torch.randn(1, _LENGTH, _WIDTH)


def _export(make: Callable[[], tuple[Any, Any]], opset: int, *, dynamic: bool) -> Callable[[Path], None]:
    def save(path: Path) -> None:
        import torch

        torch.manual_seed(0)
        network, sample = make()
        axes = {"x": {0: "batch", 1: "length"} if sample.dim() == 3 else {0: "batch"}} if dynamic else None
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            torch.onnx.export(
                network.eval(), (sample,), path, dynamo=False, opset_version=opset, input_names=["x"], dynamic_axes=axes
            )

    return save


def _quantize(path: Path) -> None:
    from onnxruntime.quantization import quantize_dynamic

    whole = path.with_name("whole.onnx")
    _export(_transformer, 17, dynamic=False)(whole)
    logging.disable(logging.WARNING)  # a warning that the model is not preprocessed, which does not change the nodes
    try:
        quantize_dynamic(str(whole), str(path))
    finally:
        logging.disable(logging.NOTSET)


def _forest(path: Path) -> None:
    import numpy as np
    from skl2onnx import to_onnx
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(0)
    features = rng.standard_normal((200, 8)).astype(np.float32)
    forest = RandomForestClassifier(20, random_state=0).fit(features, features.sum(axis=1) > 0)
    path.write_bytes(to_onnx(forest, features[:1], target_opset=17).SerializeToString())


#: Functions that write a model to a path, by kind; ImportError if a package is missing.
REAL_MODELS: Final[dict[str, Callable[[Path], None]]] = {
    "ResNet of 18 layers, opset 13": _export(_resnet, 13, dynamic=False),
    "ResNet of 18 layers, opset 17": _export(_resnet, 17, dynamic=False),
    "ResNet of 18 layers, opset 17, any batch": _export(_resnet, 17, dynamic=True),
    "encoder of 12 layers, opset 13": _export(_transformer, 13, dynamic=False),
    "encoder of 12 layers, opset 17": _export(_transformer, 17, dynamic=False),
    "encoder of 12 layers, opset 17, any batch and length": _export(_transformer, 17, dynamic=True),
    "encoder of 12 layers, quantized": _quantize,
    "forest of 20 trees": _forest,
}
