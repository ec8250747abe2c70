"""An operator that is `like` another has the other's facts, unless it states its own."""

from __future__ import annotations

import pytest

from specgate.spec.build import build_dialect
from tests.spec.conftest import OPERATOR

TWIN = """\
operator: COPY1
like: COPY
summary: Copies twice.
source: [{page: own}]
"""
WHOLE = OPERATOR.replace("operator: COPY", "operator: COPY1").replace("Copies.", "Copies twice.")


def twin(folder, more: str = "", **files: str):
    return build_dialect(folder(operators__COPY1_yaml=TWIN + more, **files))["operators"]["COPY1"]


def test_all_entries_of_the_other_operator_apply(folder) -> None:
    whole = build_dialect(folder(operators__COPY1_yaml=WHOLE))["operators"]["COPY1"]
    assert twin(folder) == whole


def test_stated_entries_override_the_other_operator(folder) -> None:
    result = twin(
        folder,
        """\
fields:
  Input: {}
  Table: {kind: input}
  Axis: null
support:
  "2.0":
    Input: {ranks: 2..3}
    Table: {types: [INT8]}
define: null
rules:
  same-rank: rank(Input) == rank(Table)
  axis-range: null
execute:
  arrays: {table: Table}
  arguments: null
  "2.0": null
""",
    )
    assert list(result["fields"]) == ["Input", "Table", "Output"]
    assert result["support"] == {
        "2.0": {
            "Input": {"ranks": [2, 3], "types": ["INT8", "INT16"]},
            "Table": {"types": ["INT8"]},
            "Output": {"ranks": [1, 8], "types": ["INT8", "INT16"]},
        }
    }
    assert list(result["rules"]) == ["same-rank"]
    assert result["execute"] == {
        "kernel": "one_hot",
        "arrays": {"table": "Table", "indices": "Input"},
        "outputs": ["Output"],
    }
    assert "define" not in result


def test_a_twin_of_a_twin_and_of_a_member_of_a_family(folder) -> None:
    third = TWIN.replace("COPY1", "COPY2").replace("like: COPY\n", "like: COPY1\n") + "rules: {axis-range: null}\n"
    result = build_dialect(folder(operators__COPY1_yaml=TWIN, operators__COPY2_yaml=third))["operators"]
    assert list(result["COPY2"]["rules"]) == ["same-rank"]
    assert list(result["COPY1"]["rules"]) == ["same-rank", "axis-range"]


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("rules: {one: rank(Inputs) == 1}\n", "operators/COPY1.yaml:5: rules.one.require: unknown name 'Inputs'"),
        ("support: {'9.0': {}}\n", "operators/COPY1.yaml:5: support.9.0: unknown level '9.0'"),
        ("fields: {Axis: {kind: atribute}}\n", "operators/COPY1.yaml:5: fields.Axis.kind: "),
        (
            "rules: {same-rank: {because: of it}}\n",
            "operators/COPY1.yaml:5: rules.same-rank.require: expected this key",
        ),
        ("rules: {no-rule: null}\n", "operators/COPY1.yaml:5: rules.no-rule: "),
        ("support: {'2.0': 3}\n", "operators/COPY1.yaml:5: support.2.0: expected a mapping, found 3"),
        ("support: {'2.0': {Input: 3}}\n", "operators/COPY1.yaml:5: support.2.0.Input: expected a mapping, found 3"),
        ("rules: {one: rank()}\n", "operators/COPY1.yaml:5: rules.one.require: "),
        ("fields: 3\n", "operators/COPY1.yaml:5: fields: expected a mapping, found 3"),
    ],
)
def test_problems_name_the_line_of_the_file(problems, more: str, problem: str) -> None:
    (line,) = problems(operators__COPY1_yaml=TWIN + more)
    assert line.startswith(problem)


def test_problems_caused_by_both_name_the_line_of_the_other_file(problems) -> None:
    (line,) = problems(operators__COPY1_yaml=f"{TWIN}fields: {{Axis: null}}\nexecute: {{arguments: null}}\n")
    assert line.startswith("operators/COPY.yaml:22: rules.axis-range.require: unknown name 'Axis'")
    assert line.endswith("(in 'COPY1')")


def test_problems_of_the_other_operator_are_reported_once(problems) -> None:
    wrong = OPERATOR.replace("kind: attribute", "kind: atribute")
    (line,) = problems(operators__COPY_yaml=wrong, operators__COPY1_yaml=TWIN)
    assert line.startswith("operators/COPY.yaml:8: fields.Axis.kind: ")


@pytest.mark.parametrize("like", ["COPY1", "NONE"])
def test_the_other_operator_is_in_the_same_tables(problems, like: str) -> None:
    assert problems(operators__COPY1_yaml=TWIN.replace("like: COPY", f"like: {like}")) == [
        f"operators/COPY1.yaml:2: like: expected another operator of these tables, found '{like}'"
    ]


def test_operators_are_not_like_each_other(problems) -> None:
    restored = OPERATOR.replace("summary:", "like: COPY1\nsummary:")
    result = problems(operators__COPY_yaml=restored, operators__COPY1_yaml=TWIN)
    assert [line.partition(": like: ")[0] for line in result] == ["operators/COPY1.yaml:2", "operators/COPY.yaml:2"]
