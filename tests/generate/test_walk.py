"""Searches over a table, and their errors if nothing is found."""

from __future__ import annotations

import subprocess
import sys
from random import Random

import pytest

from specgate.errors import InputError
from specgate.generate.domains import objects
from specgate.generate.features import descriptor_features, features, required_features
from specgate.generate.near_misses import broken_descriptors
from specgate.generate.walk import MAX_ELEMENTS, Walk, valid_descriptors
from specgate.spec.tables import dialect
from specgate.testing import operators
from specgate.validate.check import accepts, check_at
from tests.paths import ROOT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "operator", "level"),
    [("directml", "ONE_HOT", "4.1"), ("directml", "MULTIHEAD_ATTENTION", "6.4"), ("onnx", "Slice", "13"),
     ("openvino", "OneHot", "opset1")],
)  # fmt: skip
@pytest.mark.parametrize("basis", ["documented", "observed", "both"])
def test_drawn_descriptors_are_accepted_and_small(name, operator, level, basis) -> None:
    source = valid_descriptors(dialect(name).operator(operator), level, basis)
    pick = Random(5).randint
    for _ in range(100):
        result = source.draw(pick)
        assert accepts(result, level, basis) is True
        assert all(t.concrete for _, t in result.tensors())
        assert source.small(result)


def test_the_simplest_choices_give_the_first_example() -> None:
    spec = dialect("directml").operator("ONE_HOT")
    drawn = valid_descriptors(spec, "6.4").draw(lambda low, _: low)
    assert drawn == valid_descriptors(spec, "6.4").descriptors[0]


def test_the_same_choices_give_the_same_descriptors() -> None:
    spec = dialect("directml").operator("CONVOLUTION")
    walk, other = Walk(spec, "6.4", "documented"), Walk(spec, "6.4", "documented")
    assert walk.descriptors == other.descriptors
    pick, repeated = Random(9).randint, Random(9).randint
    assert [walk.draw(pick) for _ in range(30)] == [other.draw(repeated) for _ in range(30)]


def test_draws_differ() -> None:
    pick = Random(2).randint
    source = valid_descriptors(dialect("directml").operator("GEMM"), "6.4")
    assert len({repr(source.draw(pick).fields) for _ in range(200)}) >= 80


@pytest.mark.slow
@pytest.mark.parametrize("operator", ["ONE_HOT", "CONVOLUTION", "GEMM", "SLICE1", "PADDING", "MAX_POOLING2"])
def test_every_type_rank_and_enum_value_of_a_row_is_covered(operator: str) -> None:
    source = valid_descriptors(dialect("directml").operator(operator), "6.4")
    result = set().union(*(features(result, source.spec) for result in source.descriptors))
    assert required_features(source.sides) - result == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "operator", "level"),
    [
        pytest.param("directml", "REDUCE", "6.4", id="where the row depends on a word"),
        pytest.param("onnx", "If", "13", id="where graphs must have the type too"),
        pytest.param("onnx", "Loop", "28", id="where rows name more than else is kept"),
    ],
)
def test_all_types_of_support_rows_are_covered(name: str, operator: str, level: str) -> None:
    source = valid_descriptors(dialect(name).operator(operator), level)
    result = set().union(*(descriptor_features(result, source.sides) for result in source.descriptors))
    assert {feature for feature in required_features(source.sides) - result if feature[0] == "type"} == set()


def test_table_without_examples_is_walked() -> None:
    bare = [(n, o) for n, o in operators(("onnx",)) if not dialect(n).operator(o).table.examples]
    assert bare
    for name, operator in bare:
        spec = dialect(name).operator(operator)
        assert valid_descriptors(spec, list(spec.levels)[-1]).descriptors, operator


def test_failed_walk_names_the_most_frequent_rejection(monkeypatch) -> None:
    monkeypatch.setattr("specgate.generate.walk.accepts", lambda *_: False)
    walk = Walk(dialect("directml").operator("ONE_HOT"), "2.0", "documented")
    with pytest.raises(InputError, match=r"no valid descriptor of directml ONE_HOT at 2\.0 .*most frequent rejection"):
        walk.require()


@pytest.mark.slow
def test_broken_descriptors_have_the_named_finding() -> None:
    spec = dialect("directml").operator("CONVOLUTION")
    source = broken_descriptors(spec, "6.4")
    pick = Random(4).randint
    for breaks in source.ids:
        for _ in range(5):
            outcome = source.draw(breaks, pick)
            assert outcome is not None
            result = {finding.id for finding in check_at(outcome.descriptor, "6.4", "documented").findings}
            assert outcome.breaks == breaks
            assert breaks in result
            assert result == outcome.findings
            assert outcome.how


def test_inputs_are_limited_to_the_documented_size() -> None:
    assert MAX_ELEMENTS == {"input": 256, "output": 4096}


@pytest.mark.slow
def test_campaigns_need_no_hypothesis() -> None:
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import specgate.cli.conform, specgate.conform.campaign, specgate.conform.values, tools.recordings\n"
        "from specgate.conform.cases import draw_cases\n"
        "from specgate.spec.tables import dialect\n"
        "print(len(list(draw_cases(dialect('directml').operator('ONE_HOT'), '6.4', 20, '0'))))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout.strip() == "20", done.stderr


def test_graph_values_have_types_of_their_dialect() -> None:
    for name, word in (("onnx", "FLOAT"), ("openvino", "f32")):
        assert objects(dialect(name), "graph")[1].outputs[0].type == word
    assert objects(dialect("openvino"), "int") == ()
