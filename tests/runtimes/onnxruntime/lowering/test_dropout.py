"""The mask of Dropout-7 on DirectML in onnxruntime-directml 1.24.4, unoptimized."""

from __future__ import annotations

import pytest

import specgate
from tests.linting.models import graph, helper, info, model


@pytest.mark.parametrize(
    ("outputs", "stated", "creation"),
    [
        ([info("m", None)], [], "created"),
        ([info("m", ["K"])], [], "fails"),
        ([info("m", [2])], [], "fails"),
        ([], [], "created"),
        ([], [info("m", [2])], "fails"),
    ],
)
def test_a_mask_with_stated_sizes_is_rejected(outputs, stated, creation):
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Dropout", ["a"], ["b", "m"], name="drop"),
        helper.make_node("Relu", ["b"], ["y"]),
    ]
    new_graph = graph(nodes, [info("x", [2])], [info("y", [2]), *outputs])
    new_graph.value_info.extend(stated)
    result = specgate.place(model(new_graph, opsets=[("", 7)]), "onnxruntime-directml:1.24.4").nodes[1]
    assert (result.provider, result.creation) == ("DirectML", creation)
    if creation == "created":
        assert [item.operator for item in result.lowered or ()] == ["ACTIVATION_IDENTITY"]


def test_nine_dimensions_are_rejected():
    nodes = [helper.make_node("Dropout", ["x"], ["y"], name="drop")]
    new_graph = graph(nodes, [info("x", [1] * 9)], [info("y", [1] * 9)])
    assert specgate.place(model(new_graph, opsets=[("", 7)]), "onnxruntime-directml:1.24.4").session == "fails"
