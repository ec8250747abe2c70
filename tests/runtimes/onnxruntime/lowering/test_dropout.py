"""The mask of Dropout-7 on DirectML, as sessions of onnxruntime-directml 1.24.4 have it without optimisations."""

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
def test_a_mask_is_refused_where_its_sizes_are_stated(outputs, stated, creation):
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Dropout", ["a"], ["b", "m"], name="drop"),
        helper.make_node("Relu", ["b"], ["y"]),
    ]
    made = graph(nodes, [info("x", [2])], [info("y", [2]), *outputs])
    made.value_info.extend(stated)
    found = specgate.place(model(made, opsets=[("", 7)]), "onnxruntime-directml:1.24.4").nodes[1]
    assert (found.provider, found.creation) == ("DirectML", creation)
    if creation == "created":
        assert [one.operator for one in found.lowered or ()] == ["ACTIVATION_IDENTITY"]


def test_nine_dimensions_are_refused():
    nodes = [helper.make_node("Dropout", ["x"], ["y"], name="drop")]
    made = graph(nodes, [info("x", [1] * 9)], [info("y", [1] * 9)])
    assert specgate.place(model(made, opsets=[("", 7)]), "onnxruntime-directml:1.24.4").session == "fails"
