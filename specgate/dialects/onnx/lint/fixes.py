"""What `lint --fix` changes in an ONNX model: only what gives no value another meaning.

Imports and statements of types go that nothing depends on. An IR version comes down to one that has all that the file
holds; an opset likewise, see `lowering.py`. Models that can be trained keep their imports: what their further graphs
need of them is not looked at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specgate.dialects.onnx.file.model import domain_of
from specgate.dialects.onnx.file.since import needed_ir_version
from specgate.dialects.onnx.lint.walk import bodies, graph_paths
from specgate.spec.tables import dialect
from specgate.verdict import Edit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxModel
    from specgate.dialects.onnx.lint.walk import Path
    from specgate.linting.nodes import Graph
    from specgate.verdict import Finding

__all__ = ["file_fixes", "older", "unstated"]


def file_fixes(model: OnnxModel, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings on a file itself, those that can be fixed with what is to be changed."""
    makers = {
        "onnx/model/opset-unused": _without_unused,
        "onnx/model/opset-duplicate": _without_duplicates,
        "onnx/model/value-info-unknown": _without_unknown,
    }
    for found in findings:
        maker = makers.get(found.id) if model.file is not None else None
        yield found if maker is None else replace(found, edits=tuple(maker(model, found)))


def _without_unused(model: OnnxModel, found: Finding) -> Iterator[Edit]:
    """Take out the imports of domains where the file has neither a node nor a function of them."""
    unused = set(found.values["domains"])
    if not model.training and unused.isdisjoint(function.domain for function in model.functions):
        for index, (stated, _) in enumerate(model.stated_imports):
            if domain_of(stated) in unused:
                yield Edit((("opset_import", index),), expected=stated)


def _without_duplicates(model: OnnxModel, found: Finding) -> Iterator[Edit]:
    """Take out imports that say once more what the first one of their domain says; two versions are left alone."""
    place = found.node
    holders: list[tuple[Path, list[tuple[str, int]], str]] = [((), model.stated_imports, "model")]
    for number, function in enumerate(model.functions):
        name = f"function {function.domain}.{function.name}"
        holders.append(((("functions", number),), function.stated_imports, name))
    holders = [holder for holder in holders if holder[2] == place]
    if len(holders) != 1:
        return
    path, stated, _ = holders[0]
    versions: dict[str, set[int]] = {}
    for domain, version in stated:
        versions.setdefault(domain_of(domain), set()).add(version)
    met: set[str] = set()
    for index, (domain, _) in enumerate(stated):
        name = domain_of(domain)
        if name in met and len(versions[name]) == 1:
            yield Edit((*path, ("opset_import", index)), expected=domain)
        met.add(name)


def _without_unknown(model: OnnxModel, found: Finding) -> Iterator[Edit]:
    """Take out what a graph states of values that no graph of the file has."""
    place = found.node
    walked = list(bodies(model))
    meant = [body.graph for body in walked if body.place == place and body.graph is not None]
    path = graph_paths(model).get(id(meant[0])) if len(meant) == 1 else None  # names of nodes may not be their own
    if path is None:
        return
    known = {name for body in walked for node in body.nodes for name in node.outputs}
    for graph in (body.graph for body in walked if body.graph is not None):
        known |= {info.name for info in graph.inputs}
        known |= {tensor.name for tensor in (*graph.initializers, *graph.sparse_initializers)}
    yield from _statements(path, meant[0], lambda name: name not in known)


def unstated(model: OnnxModel, graph: OnnxGraph, name: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings on what a graph states of a value and its node contradicts, with the statements to take out.

    The type of an input or output belongs to the graph and stays.
    """
    if model.file is None or any(info.name == name for info in (*graph.inputs, *graph.outputs)):
        yield from findings
        return
    for found in findings:
        path = graph_paths(model).get(id(graph))
        edits = () if path is None else tuple(_statements(path, graph, name.__eq__))
        yield replace(found, edits=edits)


def _statements(path: Path, graph: OnnxGraph, chosen: Callable[[str], bool]) -> Iterator[Edit]:
    for index, info in enumerate(graph.value_infos):
        if chosen(info.name):
            yield Edit((*path, ("value_info", index)), expected=info.name)


def older(graph: Graph, wanted: int) -> tuple[Edit, ...]:
    """Write the IR version that a target reads, where it has all that the file holds and goes with the file's opset."""
    model: OnnxModel = graph.source.model
    level = dialect("onnx").tables.levels.get(str(model.opset_imports.get("", "")))
    if model.file is None or level is None or wanted < max(needed_ir_version(model), int(level["ir_version"])):
        return ()
    return (Edit((("ir_version", 0),), wanted),)
