"""Placing generated models, lowering included, against linting the same files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import specgate
from tests.benchmarks.made_models import OPSET, SIZES, chain, encoder
from tests.benchmarks.timing import Contender, Group, processes_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["place_groups"]

TARGET: Final = "onnxruntime-directml:1.24.4"
LAYERS: Final = 12


def place_groups() -> Iterator[Group]:
    """Yield a group per chain size, and one for an encoder.

    Processor time of all processes counts.
    """
    try:
        import onnx
    except ImportError:
        yield Group("place", [Contender("onnx", None, missing="not installed (onnx), which the models are made with")])
        return
    per_node: dict[int, float] = {}
    with TemporaryDirectory(prefix="specgate-bench-") as folder:
        for size in SIZES:
            path = Path(folder, f"{size}.onnx")
            onnx.save(chain(size), path)
            yield _group(f"placing a model of {size:,} nodes", size, str(path), per_node)
        path = Path(folder, "encoder.onnx")
        result = encoder(LAYERS)
        onnx.save(result, path)
        yield _group(f"placing an encoder of {LAYERS} layers", len(result.graph.node), str(path), {})


def _group(title: str, size: int, path: str, per_node: dict[int, float]) -> Group:
    place = Contender("specgate.place", lambda: specgate.place(path, TARGET), own=True)
    lint = Contender("specgate.lint", lambda: specgate.lint(path, targets=[f"onnx:{OPSET}"]))
    contenders = [place, lint]
    return Group(title, contenders, 0.1, size, "nodes", _remarks(place, lint, size, per_node), processes_time)


def _remarks(
    place: Contender, lint: Contender, size: int, per_node: dict[int, float]
) -> Callable[[], list[tuple[str, str]]]:
    def remarks() -> list[tuple[str, str]]:
        assert place.typical is not None and lint.typical is not None  # noqa: PT018  # both sides ran
        messages = [("placing against linting", f"{place.typical / lint.typical:.2f}x")]
        per_node[size] = place.typical / size
        return messages + [
            (f"time per node against the model of {other:,} nodes", f"{per_node[size] / per_node[other]:.2f}x")
            for other in per_node
            if other < size
        ]

    return remarks
