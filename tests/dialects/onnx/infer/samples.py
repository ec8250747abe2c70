"""Models with a OneHot whose input has no type in the file."""

from __future__ import annotations

import specgate
from tests.linting.models import FLOAT, INT64, graph, helper, info, model, onnx

ML = [("", 17), ("ai.onnx.ml", 3)]


def bare(name):
    return onnx.ValueInfoProto(name=name)


def one_hot_of(name, output="hot"):
    return helper.make_node("OneHot", [name, "depth", "values"], [output], axis=-1)


def constants():
    depth = helper.make_tensor("depth", INT64, [], [4])
    return [depth, helper.make_tensor("values", FLOAT, [2], [0.0, 1.0])]


def hide(*more, shape=("batch", 3), outputs=("hot",), **graph_parts):
    """Return a model whose OneHot reads a value without a stated type."""
    nodes = [helper.make_node("Cast", ["x"], ["ids"], to=INT64), one_hot_of("ids"), *more]
    body = graph(nodes, [info("x", shape)], [bare(name) for name in outputs], constants(), **graph_parts)
    return model(body, opsets=ML if any(node.domain for node in more) else ML[:1])


def make_undecided(onnx_model, **more):
    report = specgate.lint(onnx_model, ["onnx:17"], **more)
    open_ = [(ref.location.node, ref.reason) for ref in report.undecided if ref.location.operator == "OneHot"]
    lacking = [f for f in report.findings if not f.id.endswith(".required")]  # omitted inputs crash it
    return open_, lacking
