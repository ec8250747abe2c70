"""Stated types are confirmed by inferring one node of each kind."""

from __future__ import annotations

from typing import Any

import pytest

from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.infer.inference import StatedTypes, infer_question, question, start_inference
from specgate.dialects.onnx.lint.units import bodies

onnx = pytest.importorskip("onnx", reason="the onnx package infers")

CHAIN = """
<ir_version: 8, opset_import: ["" : 17]>
main (float[2,N] x) => (float[2,N] y)
<float[1] one = {1}, float[2,N] a, float[2,N] b, float[2,N] c>
{
    a = Relu(x)
    b = Add(a, one)
    c = Relu(b)
    y = Add(c, one)
}
"""


def model_of(text: str) -> Any:
    return read_model_bytes(onnx.parser.parse_model(text).SerializeToString())


def stated_of(text: str) -> StatedTypes | None:
    model = model_of(text)
    return StatedTypes.of(model, list(bodies(model)))


def confirm(text: str) -> bool:
    stated = stated_of(text)
    assert stated is not None
    (types,) = infer_question(stated.question).values()
    return stated.matches_types(types)


def test_only_distinct_nodes_are_inferred() -> None:
    stated = stated_of(CHAIN)
    assert stated is not None
    assert list(stated.kinds) == [0, 1, 0, 1]
    graph = read_model_bytes(stated.question.data).graph
    assert [node.op_type for node in graph.nodes] == ["Relu", "Add"]
    assert confirm(CHAIN)


def test_confirmed_types_match_those_of_the_whole_graph() -> None:
    model = model_of(CHAIN)
    (whole,) = infer_question(question(model), values=True).values()
    inferred = start_inference(model, list(bodies(model)))()
    assert inferred.types[id(model.graph)] == whole
    assert inferred.kinds


@pytest.mark.parametrize(
    "wrong",
    [
        ("float[2,N] b", "float[3,N] b"),
        ("float[2,N] b", "int64[2,N] b"),
        ("float[2,N] b", "float[2,N,1] b"),
        ("float[2,N] b", "float[2,M] b"),
    ],
)
def test_contradicting_types_are_not_confirmed(wrong: tuple[str, str]) -> None:
    text = CHAIN.replace(*wrong)
    assert not confirm(text)
    model = model_of(text)
    onnx_model = start_inference(model, list(bodies(model)))()
    (whole,) = infer_question(question(model), values=True).values()
    assert onnx_model.types[id(model.graph)] == whole, "then every value is inferred"
    assert not onnx_model.kinds


@pytest.mark.parametrize(
    "less",
    [
        ("float[2,N] b, ", ""),
        ("float[2,N] b", "float[2,?] b"),
        ("float[2,N] b", "float[2,unk__0] b"),
        ("float[2,N] b", "float[] b"),
        ("a = Relu(x)\n    b = Add(a, one)", "b = Add(a, one)\n    a = Relu(x)"),
        ("c = Relu(b)", "c = Relu(nowhere)"),
        ("c = Relu(b)", "b = Relu(b)"),
        ("ir_version: 8", "ir_version: 3"),
    ],
)
def test_incomplete_or_unsorted_graphs_are_inferred(less: tuple[str, str]) -> None:
    changed = CHAIN.replace(*less)
    assert changed != CHAIN
    assert stated_of(changed) is None


def test_computed_sizes_are_not_confirmed() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    main (float[2,3] x, float[6] z) => (float[2,3] y)
    <int64[2] s>
    {
        s = Shape(x)
        y = Reshape(z, s)
    }
    """
    assert not confirm(text), "the elements of s are not known to its reader alone"


def test_constants_count_by_their_elements() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    main (float[6] z) => (float[SIZES] w)
    <int64[2] flat = {1, 6}, int64[2] t, float[2,3] y, float[1,6] v>
    {
        t = Constant<value = int64[2] {2, 3}>()
        y = Reshape(z, t)
        v = Reshape(y, flat)
        w = Reshape(v, t)
    }
    """
    assert confirm(text.replace("SIZES", "2,3"))
    assert not confirm(text.replace("SIZES", "3,2"))
