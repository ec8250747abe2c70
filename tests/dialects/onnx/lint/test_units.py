"""Units of an ONNX model are built on demand; equivalent nodes share a kind."""

from __future__ import annotations

import pytest

from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.lint.graph import onnx_units
from specgate.linting.nodes import Unit, Units, kinds_of, units_of

onnx = pytest.importorskip("onnx", reason="the models are written with it")

TEXT = """
<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
main (float[2] x, bool c) => (float[2] y)
{
    a = Relu(x)
    b = Relu(a)
    d = own.Odd(b)
    e = If(c) <then_branch = yes () => (float[2] r) { r = Neg(b) }, else_branch = no () => (float[2] s) { s = Neg(b) }>
    y = Relu(b)
}
"""


@pytest.fixture
def units() -> Units:
    onnx_model = onnx.parser.parse_model(TEXT).SerializeToString()
    result = onnx_units(read_model_bytes(onnx_model)).units
    assert isinstance(result, Units)
    return result


def test_units_follow_file_order_with_subgraphs_after_their_node(units: Units) -> None:
    places = [unit.location.node for unit in units]
    assert places == [
        "graph/Relu->a",
        "graph/Relu->b",
        "graph/Odd->d",
        "graph/If->e",
        "graph/If->e/then_branch/Neg->r",
        "graph/If->e/else_branch/Neg->s",
        "graph/Relu->y",
    ]
    assert len(units) == len(places)


def test_each_unit_has_separate_inputs_and_outputs(units: Units) -> None:
    ends = {unit.location.node: (list(unit.reads), list(unit.writes)) for unit in units}
    assert ends["graph/Relu->b"] == (["a"], ["b"])
    inside = "graph/If->e/then_branch"
    assert ends[f"{inside}/Neg->r"] == (["b"], [f"{inside}:r"])


def test_equal_units_share_a_kind(units: Units) -> None:
    counted = [(unit.operator, count) for unit, count in kinds_of(units)]
    assert counted == [("Relu", 1), ("Relu", 1), ("own.Odd", 1), ("If", 1), ("Neg", 2), ("Relu", 1)]
    same_kind = {id(unit) for unit, count in kinds_of(units) if count == 2}
    places = [unit.location.node for unit in units_of(units, same_kind)]
    assert places == ["graph/If->e/then_branch/Neg->r", "graph/If->e/else_branch/Neg->s"]


def test_listed_units_are_separate_kinds() -> None:
    listed = [Unit(lambda: pytest.fail("no place is asked for"), "Relu") for _ in range(2)]
    assert [count for _, count in kinds_of(listed)] == [1, 1]
    assert list(units_of(listed, {id(listed[1])})) == [listed[1]]


def test_function_call_is_not_a_unit_even_with_a_reused_name() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
    main (float[2] x) => (float[2] y) { y = com.microsoft.Gelu(x) }
    """
    function = """
    <opset_import: ["" : 17], domain: "com.microsoft">
    Gelu (a) => (b) { b = Relu(a) }
    """

    def operators(of: str) -> list[str]:
        onnx_model = onnx.parser.parse_model(of).SerializeToString()
        return [unit.operator for unit in onnx_units(read_model_bytes(onnx_model)).units]

    assert operators(text) == ["com.microsoft.Gelu"]
    assert operators(text + function) == ["Relu"]
    assert operators(text) == ["com.microsoft.Gelu"]
