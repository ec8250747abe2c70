"""Expected findings on a model, from the model and ``onnx.defs``, without tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import onnx

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    #: A finding's id and severity, and its target.
    Expected = tuple[str, str, str | None]

__all__ = ["Target", "differing", "expected", "imports", "nodes", "own_target"]

DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview.training")
#: Rows of (release, IR version, and the version of each domain by then).
RELEASES = tuple((row[0], row[1], dict(zip(DOMAINS, row[2:], strict=False))) for row in onnx.helper.VERSION_TABLE)


@dataclass(frozen=True, slots=True)
class Target:
    """An ONNX target: an opset, or a release, which also limits the IR version."""

    name: str
    ir_version: int | None
    domains: dict[str, int]


def imports(model: onnx.ModelProto) -> dict[str, int]:
    """Return the versions that a model imports; ai.onnx has the empty name."""
    return {entry.domain.removeprefix("ai.onnx") and entry.domain: entry.version for entry in model.opset_import}


def own_target(model: onnx.ModelProto) -> Target:
    """Return the lowest opset that supports a model's imports."""
    expected_value = {domain: version for domain, version in imports(model).items() if domain in DOMAINS}
    return next(
        Target(f"onnx:{has['']}", None, has)
        for _, _, has in RELEASES
        if all(version <= has.get(domain, 0) for domain, version in expected_value.items())
    )


def release(name: str) -> Target:
    """Return the target of an ONNX release such as 1.10."""
    _, ir_version, domains = next(row for row in RELEASES if row[0] in {name, f"{name}.0"})
    return Target(f"onnx:{name}", ir_version, domains)


def nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of a graph and of its subgraphs."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from nodes(inner)


def expected(model: onnx.ModelProto, targets: Sequence[Target]) -> Counter[Expected]:
    """Return the findings on a valid model: (id, severity, target), with counts.

    Findings on the file itself have None for the target. Differences between versions of operators are not included:
    see `find_differences`.
    """
    expected_value: Counter[Expected] = Counter((*texts, None) for texts in (*_imports(model), *_names(model)))
    for target in targets:
        expected_value.update((*texts, target.name) for texts in _beyond(model, target))
    return expected_value


def _imports(model: onnx.ModelProto) -> Iterator[tuple[str, str]]:
    """Unused imports of the file, and imports of other vendors."""
    used = {node.domain for node in nodes(model.graph)}
    if any(domain and domain not in used for domain in imports(model)):
        yield "onnx/model/opset-unused", "note"
    for domain in used - {"", "ai.onnx.ml"}:
        assert domain == "com.microsoft", domain
        yield "onnx/model/custom-domain", "warning"


def _beyond(model: onnx.ModelProto, target: Target) -> Iterator[tuple[str, str]]:
    """Features of the file that are newer than the target."""
    for domain, version in imports(model).items():
        if domain in DOMAINS and version > target.domains.get(domain, 0):
            yield "onnx/model/opset-import", "error"
    if target.ir_version is not None and model.ir_version > target.ir_version:
        yield "onnx/model/ir-version", "error"


def _names(model: onnx.ModelProto) -> Iterator[tuple[str, str]]:
    """Leftovers of tools: unused nodes, and types of removed values."""
    graph = model.graph
    needed = {info.name for info in graph.output}
    for node in reversed(graph.node):
        if needed.isdisjoint(node.output):
            yield "onnx/model/node-unused", "note"
        else:
            needed.update(node.input, *(inner.input for inner in _inside(node)), _results(node))
    existing = {info.name for info in graph.input} | {tensor.name for tensor in graph.initializer}
    existing.update(*(node.output for node in graph.node))
    if any(info.name not in existing for info in graph.value_info):
        yield "onnx/model/value-info-unknown", "note"
    read = {name for node in nodes(graph) for name in node.input} | {info.name for info in graph.output}
    for kind, inputs in (("initializer", graph.initializer), ("input", graph.input)):
        for item in inputs:
            if item.name not in read:
                yield f"onnx/model/{kind}-unused", "note"


def _inside(node: onnx.NodeProto) -> list[onnx.NodeProto]:
    return [inner for attribute in node.attribute if attribute.HasField("g") for inner in nodes(attribute.g)]


def _results(node: onnx.NodeProto) -> set[str]:
    return {info.name for attribute in node.attribute if attribute.HasField("g") for info in attribute.g.output}


def differing(model: onnx.ModelProto, target: Target) -> dict[str, bool]:
    """Return operators with another version at a target, and whether it lacks them.

    Findings may report differences of these; only the tables know them.
    """
    own, entries = imports(model), {}
    for node in nodes(model.graph):
        if node.domain in DOMAINS:
            before, _ = _version(node.op_type, own[node.domain], node.domain)
            after, gone = _version(node.op_type, target.domains.get(node.domain, 0), node.domain)
            if gone or after != before:
                entries[f"{node.domain}.{node.op_type}".removeprefix(".")] = after == 0
    return entries


@cache
def _version(operator: str, opset: int, domain: str) -> tuple[int, bool]:
    """Return an operator's version at an opset (0: too early) and whether it is removed."""
    try:
        schema = onnx.defs.get_schema(operator, opset, domain)
    except onnx.defs.SchemaError:
        return 0, False
    return schema.since_version, schema.deprecated
