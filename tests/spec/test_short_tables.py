"""Short forms in tables, as compiled: changed rows, named sets, expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from specgate.spec.build import build_dialect
from specgate.spec.dialect_spec import Dialect
from specgate.spec.short_forms import complete_rows
from tests.spec.conftest import FAMILY, MEMBER, OPERATOR
from tools.import_onnx.update import changes_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SETS = "dialect: scratch\ntypes:\n  small: [INT8]\n  all: [$small, INT16]\noperators:\n  copies: [COPY]\n"
OLD_ROW = '  "2.0":\n    Input: {ranks: 1..8, types: [INT8, INT16]}\n    Output: {ranks: 1..8, types: [INT8, INT16]}\n'


def rows(folder: Callable[..., Path], new: str, **files: str) -> Any:
    assert OLD_ROW in OPERATOR
    entries = build_dialect(folder(operators__COPY_yaml=OPERATOR.replace(OLD_ROW, new), **files))
    return entries["operators"]["COPY"]["support"]


def test_a_row_inherits_cells_it_does_not_name(folder) -> None:
    result = rows(folder, '  "2.0": {Output: {ranks: 1..8}}\n  "3.0": {}\n')
    assert result["2.0"] == {
        "Input": {"ranks": [4, 4], "types": ["INT8"]},
        "Output": {"ranks": [1, 8], "types": ["INT8"]},
    }
    assert result["3.0"] == result["2.0"]


def test_null_removes_a_cell_or_a_part(folder) -> None:
    result = rows(folder, '  "2.0": {Input: {types: null}, Output: null}\n  "3.0": {Output: {ranks: 2}}\n')
    assert result["2.0"] == {"Input": {"ranks": [4, 4]}}
    assert result["3.0"] == {"Input": {"ranks": [4, 4]}, "Output": {"ranks": [2, 2]}}


def test_cells_are_in_the_order_of_the_fields(folder) -> None:
    result = rows(folder, '  "2.0": {Input: null}\n  "3.0": {Input: {ranks: 2}}\n')
    assert list(result["3.0"]) == ["Input", "Output"]


def test_type_sets_are_kept_by_variable(folder) -> None:
    text = OPERATOR.replace(OLD_ROW, '  "2.0": {type_sets: {T: [INT16]}}\n')
    text = text.replace('"1.0":\n', '"1.0":\n    type_sets: {T: [INT8], U: [INT8]}\n').replace(
        "Input: {ranks: 4, types: [INT8]}", "Input: {ranks: 4, types: T}"
    )
    result = build_dialect(folder(operators__COPY_yaml=text))["operators"]["COPY"]["support"]
    assert result["2.0"]["Input"] == {"ranks": [4, 4], "types": ["INT16"], "variable": "T"}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (
            '"2.0": {Axis: null}',
            "13: support.2.0.Axis: null removes a part of the previous row, which does not have it",
        ),
        (
            '"2.0": {Input: {range: null}}',
            "13: support.2.0.Input.range: null removes a part of the previous row, which does not have it",
        ),
        ('"2.0": {Input: {types: $all}}', "13: support.2.0.Input.types: unknown set '$all' of types; known here: none"),
        ('"2.0": {Input: {types: [INT8], rank: 4}}', "13: support.2.0.Input.rank: unknown key"),
    ],
)
def test_mistakes_in_rows(operator_problems, row: str, problem: str) -> None:
    assert operator_problems(OLD_ROW, f"  {row}\n") == [f"operators/COPY.yaml:{problem}"]


def test_sets_keep_their_written_order(folder) -> None:
    result = rows(folder, '  "2.0": {Input: {types: $all}, Output: {types: [INT16, $small]}}\n', sets_yaml=SETS)
    assert result["2.0"]["Input"]["types"] == ["INT8", "INT16"]
    assert result["2.0"]["Output"]["types"] == ["INT16", "INT8"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("$small, INT16", "$tiny, INT16", "sets.yaml:4: types.all: unknown set '$tiny' of types; known here: $small"),
        ("$small, INT16", "$small, INT8", "sets.yaml:4: types.all: INT8 is there twice: $small and INT8"),
        ("$small, INT16", "$small, INT3", "sets.yaml:4: types.all: unknown type 'INT3'"),
        ("small: [INT8]", "small: INT8", "sets.yaml:3: types.small: expected a list, found 'INT8'"),
    ],
)
def test_mistakes_in_sets(problems, old: str, new: str, problem: str) -> None:
    assert problem in problems(sets_yaml=SETS.replace(old, new))


DEFINED = OPERATOR.replace(
    "  dimensions: rank(Input)\n",
    "  dimensions: last(Input) - size(0)\n  last(t): t.sizes[-1]\n  size(i): default(Axis, 2) * i\n",
)


def test_short_forms_are_written_out_everywhere(folder) -> None:
    text = DEFINED.replace("axis-range: Axis < dimensions", "axis-range: {require: last(Input) > 1, when: size(1) > 0}")
    text = text.replace("arguments: {axis: Axis}", "arguments: {axis: size(3)}")
    text += 'tolerance: size(2) + 1\nobserved:\n  - {builds: "2.0", evidence: measured, rules: {last: "last(Output) > 1"}}\n'
    result = build_dialect(folder(operators__COPY_yaml=text))["operators"]["COPY"]
    size = "(Axis if present(Axis) else 2)"
    assert result["define"] == {"dimensions": f"Input.sizes[rank(Input) - 1] - {size} * 0"}
    assert result["rules"]["axis-range"] == [{"require": "Input.sizes[rank(Input) - 1] > 1", "when": f"{size} * 1 > 0"}]
    assert result["execute"]["arguments"] == {"axis": f"{size} * 3"}
    assert result["tolerance"] == f"{size} * 2 + 1"
    assert result["observed"][0]["rules"] == {"last": [{"require": "Output.sizes[rank(Output) - 1] > 1"}]}


def test_a_family_and_its_operators_share_defines(folder) -> None:
    family = FAMILY.replace("  dimensions: rank(Input)\n", "  dimensions: twice(rank(Input))\n  twice(n): n * 2\n")
    family = family.replace("same-rank: dimensions", "same-rank: same(dimensions)")
    member = MEMBER.replace("rules:\n", "define:\n  same(n): n + 0\nrules:\n").replace("dimensions", "twice(3)")
    entries = build_dialect(folder(families__copying_yaml=family, operators__MOVE_yaml=member))
    assert entries["operators"]["MOVE"]["define"] == {"dimensions": "rank(Input) * 2"}
    assert entries["operators"]["MOVE"]["rules"]["same-rank"] == [{"require": "dimensions + 0 == rank(Output)"}]
    assert entries["operators"]["MOVE"]["rules"]["axis-range"] == [{"require": "Axis < 3 * 2"}]
    assert "same" in entries["families"]["copying"]["rules"]["same-rank"][0]["require"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("t.sizes[-1]", "last(t)", "18: define.last(t): a define must not reference itself: last uses last"),
        ("last(t):", "rank(t):", "18: define.rank(t): the name 'rank' is already the name of a function"),
        ("size(i):", "last(i):", "19: define.last(i): last(t) has this name too"),
        (
            "size(i):",
            "max_dimensions(i):",
            "19: define.max_dimensions(i): the name 'max_dimensions' is already the name of ",
        ),
        ("size(i):", "size(i:", "19: define.size(i: expected a name (window), or one with parameters (window(i, n))"),
        ("Axis < dimensions", "Axis < size(1, 2)", "24: rules.axis-range.require: size takes 1 argument(s), found 2"),
        ("Axis < dimensions", "last(Axis) > 1", "24: rules.axis-range.require: expected a tensor, found a number"),
    ],
)
def test_mistakes_in_defines(problems, old: str, new: str, problem: str) -> None:
    assert old in DEFINED
    result = problems(operators__COPY_yaml=DEFINED.replace(old, new))
    assert any(line.startswith(f"operators/COPY.yaml:{problem}") for line in result), result


def test_a_list_of_expressions_is_a_form_each(folder, problems) -> None:
    rule = "axis-range: {require: [Axis < 4, last(Input) > 1], because: it must, since: '2.0'}"
    text = DEFINED.replace("axis-range: Axis < dimensions", rule)
    result = build_dialect(folder(operators__COPY_yaml=text))["operators"]["COPY"]["rules"]["axis-range"]
    more = {"because": "it must", "since": "2.0"}
    assert result == [{"require": "Axis < 4", **more}, {"require": "Input.sizes[rank(Input) - 1] > 1", **more}]
    (line,) = problems(operators__COPY_yaml=text.replace("Axis < 4", "Axs < 4"))
    assert line.startswith("operators/COPY.yaml:24: rules.axis-range.0.require: unknown name 'Axs'")


def test_tensor_rules_have_short_forms_too(folder) -> None:
    text = 'dialect: scratch\nsources: [{name: own}]\nrules:\n  last: {require: "tensor.sizes[-1] > 0", because: it must}\n'
    entries = build_dialect(folder(tensor_yaml=text))
    assert Dialect("scratch", entries).tensor_rules[0].require.text == "tensor.sizes[rank(tensor) - 1] > 0"


def test_row_changes_are_the_inverse_of_rows() -> None:
    whole: dict[str, Any] = {
        "1": {"type_sets": {"T": ["A"], "U": ["B"]}, "X": {"types": "T"}, "Y": {"types": "U", "ranks": 3}},
        "2": {"deprecated": True, "type_sets": {"T": ["A"]}, "X": {"types": "T"}},
        "3": {"type_sets": {"T": ["A", "C"]}, "X": {"types": "T"}, "Z": {}},
        "4": {"X": {}},
    }
    changes = changes_of(whole)
    assert changes == {
        "1": whole["1"],
        "2": {"deprecated": True, "Y": None},
        "3": {"type_sets": {"T": ["A", "C"]}, "Z": {}},
        "4": {"X": {"types": None}, "Z": None},
    }
    entries, problems = complete_rows(changes)
    assert problems == []
    assert [{k: v for k, v in row.items() if k != "type_sets"} for row in entries.values()] == [
        {k: v for k, v in row.items() if k != "type_sets"} for row in whole.values()
    ]
