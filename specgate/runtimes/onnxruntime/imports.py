"""Opset imports as a release of the runtime reads them.

A domain that a model uses without importing it has the release's newest version. Source: onnxruntime
core/graph/model.cc (Model::Model adds each known domain that is not imported). A model without imports is not loaded.
The last of duplicate imports counts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.lint.graph import onnx_units
from specgate.dialects.onnx.lint.units import bodies

if TYPE_CHECKING:
    from specgate.linting.nodes import Graph
    from specgate.runtimes.release import Runtime

__all__ = ["with_imports"]

_MISSING: Final = "onnx/model/opset-missing"


def with_imports(graph: Graph, runtime: Runtime) -> Graph:
    """Return a model with the imports that a release adds.

    The same model is returned if the release adds none.
    """
    source = graph.source
    imports = source.model.opset_imports
    if not imports or all(finding.id != _MISSING for finding in graph.findings):
        return graph
    used = {domain for body in bodies(source.model) if body.function is None for domain, _, _ in body.operators}
    added = {name: version for name, version in runtime.opsets.items() if name in used and name not in imports}
    if not added:
        return graph
    return onnx_units(replace(source.model, opset_imports={**imports, **added}), source.settings)
