"""A model as a user gives it, placed."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specgate.collecting import gc_paused
from specgate.dialects import holds_text
from specgate.errors import InputError
from specgate.linting.given import TEXT, Given
from specgate.linting.model import graph_of
from specgate.placement.place import place_graph

if TYPE_CHECKING:
    from specgate.linting.settings import LintSettings
    from specgate.placement.placed import Placement
    from specgate.targets import Target

__all__ = ["place_model"]


def place_model(model: Any, target: Target, device: frozenset[str] | None, settings: LintSettings) -> Placement:
    """Return the placement of a model: a path, an ``onnx.ModelProto``, or what was given otherwise (`Given`).

    Raises InputError for a file that is no such model, and for a target that places no nodes.
    """
    if target.runtime is None:
        raise InputError(f"{target} places no nodes; give a release of a runtime such as onnxruntime-directml:1.24.4")
    file = (
        model.name if isinstance(model, Given) else os.fspath(model) if isinstance(model, str | os.PathLike) else None
    )
    with gc_paused():  # what is read is gone when it ends, so that nothing of it is looked at
        return _placed(model, target, device, settings, file)


def _placed(
    model: Any, target: Target, device: frozenset[str] | None, settings: LintSettings, file: str | None
) -> Placement:
    if _is_text(model, file):  # whatever else may be wrong with it
        raise InputError("only an ONNX model is placed", file=file)
    graph = graph_of(model, replace(settings, placing=True))
    if graph.dialect != target.dialect or graph.source is None:
        raise InputError("only an ONNX model is placed", file=file)
    return place_graph(graph, target, device, file)


def _is_text(model: Any, file: str | None) -> bool:
    if isinstance(model, Given):
        return model.kind == TEXT
    return file is not None and os.path.isfile(file) and holds_text(file)  # noqa: PTH113
