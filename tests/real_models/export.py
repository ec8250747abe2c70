"""Export the networks with torch; one function per model returns it with samples."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnxscript
import torch
from torch.onnx import symbolic_helper

from tests.real_models import networks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Case", "export", "save_samples"]


@dataclass(frozen=True, slots=True)
class Case:
    """A network with sample inputs.

    dynamic: names of axes by input, then axis; all others are fixed.
    """

    network: torch.nn.Module
    samples: dict[str, torch.Tensor]
    outputs: tuple[str, ...]
    dynamic: dict[str, dict[int, str]] = field(default_factory=dict)


def resnet() -> Case:
    images = {"image": torch.randn(2, 3, 32, 32)}
    return Case(networks.ResNet(), images, ("scores",), {"image": {0: "batch"}})


def vision() -> Case:
    return Case(networks.Vision(), {"image": torch.randn(2, 3, 32, 32)}, ("scores", "classes"))


def encoder() -> Case:
    padding = torch.zeros(2, 12, dtype=torch.bool)
    padding[1, 7:] = True
    samples = {"ids": torch.randint(0, 50, (2, 12)), "padding": padding}
    return Case(networks.Encoder(), samples, ("pooled",), {"ids": {0: "batch"}, "padding": {0: "batch"}})


def decoder() -> Case:
    return _decoder(networks.Decoder())


def decoder_in_parts() -> Case:
    return _decoder(networks.Decoder(fused=False))


def _decoder(network: networks.Decoder) -> Case:
    keys, values = torch.randn(2, 2, 2, 4, 5, 4)
    samples = {"ids": torch.randint(0, 60, (2, 3)), "past_keys": keys, "past_values": values}
    past = {1: "batch", 3: "past"}
    dynamic = {"ids": {0: "batch", 1: "length"}, "past_keys": past, "past_values": past}
    return Case(network, samples, ("logits", "keys", "values"), dynamic)


def recurrent() -> Case:
    series = {"series": torch.randn(7, 2, 6)}
    return Case(networks.Recurrent(), series, ("scores", "hidden"), {"series": {1: "batch"}})


def detector() -> Case:
    return Case(networks.Detector(), {"image": torch.randn(1, 3, 64, 64)}, ("kept", "boxes", "scores"))


def smoothing() -> Case:
    samples = {"x": torch.randn(2, 4), "turns": torch.tensor(3)}
    network: Any = torch.jit.script(networks.Smoothing())
    return Case(network, samples, ("every", "last"), {"x": {0: "batch"}})


def branching() -> Case:
    return Case(networks.Branching(), {"x": torch.randn(2, 4)}, ("y",), {"x": {0: "batch"}})


_CASES: Final = {
    case.__name__: case
    for case in (resnet, vision, encoder, decoder, decoder_in_parts, recurrent, detector, smoothing, branching)
}


def export(network: str, exporter: str, opset: int, path: Path) -> None:
    """Export one model with the exporter "trace" or "dynamo".

    Raises torch's errors.
    """
    case = _case(network)
    options: dict[str, Any] = {"input_names": list(case.samples), "output_names": list(case.outputs)}
    if exporter == "dynamo":
        options["dynamic_shapes"] = {name: case.dynamic.get(name) for name in case.samples} if case.dynamic else None
        options["custom_translation_table"] = {torch.ops.real_models.suppress.default: _suppression(opset)}
        options["external_data"] = False
    else:
        torch.onnx.register_custom_op_symbolic("real_models::suppress", _symbolic_suppress, 10)
        options["dynamic_axes"] = case.dynamic
    with contextlib.redirect_stdout(io.StringIO()):  # progress
        torch.onnx.export(
            case.network,
            tuple(case.samples.values()),
            path,
            dynamo=exporter == "dynamo",
            opset_version=opset,
            **options,
        )


def save_samples(network: str, path: Path) -> None:
    """Save a model's sample inputs and the network's outputs by name, in one ``.npz``."""
    case = _case(network)
    with torch.no_grad():
        answers = case.network(*case.samples.values())
    answers = answers if isinstance(answers, tuple) else (answers,)
    arrays = {f"in.{name}": sample.numpy() for name, sample in case.samples.items()}
    arrays |= {f"out.{name}": answer.numpy() for name, answer in zip(case.outputs, answers, strict=True)}
    np.savez(path, **arrays)


def _case(network: str) -> Case:
    """Return a network, the same at every call."""
    torch.manual_seed(0)
    case: Case = _CASES[network]()
    case.network.eval()
    return case


def _suppression(opset: int) -> Callable[..., Any]:
    """NonMaxSuppression for the exporter that translates with onnxscript."""
    op = getattr(onnxscript, f"opset{min(opset, 18)}")

    def suppress(boxes: Any, scores: Any, most: int, overlap: float, least: float) -> Any:
        limits = (
            op.Constant(value_ints=[most]),
            op.Constant(value_floats=[overlap]),
            op.Constant(value_floats=[least]),
        )
        return op.NonMaxSuppression(boxes, scores, *limits)

    return suppress


@symbolic_helper.parse_args("v", "v", "i", "f", "f")
def _symbolic_suppress(g: Any, boxes: Any, scores: Any, most: int, overlap: float, least: float) -> Any:
    """NonMaxSuppression for the exporter that traces."""
    limits = (torch.tensor([most]), torch.tensor([overlap]), torch.tensor([least]))
    return g.op("NonMaxSuppression", boxes, scores, *(g.op("Constant", value_t=limit) for limit in limits))
