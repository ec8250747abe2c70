"""Conditional support rows: both paths choose the same case, or report none."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from specgate.descriptors.read import read_dict
from specgate.lowest.descriptor import find_minimum
from specgate.validate.check import accepts, check_at
from specgate.validate.row import explain_at
from tests.spec.conftest import REDUCE

if TYPE_CHECKING:
    from specgate.spec.dialect_spec import Dialect

FOUR, THREE, FIVE = [1, 2, 3, 4], [2, 3, 4], [1, 1, 2, 3, 4]


def describe(function: Any, text: str | None, result: str | None, sizes: Any, out: Any = None) -> dict[str, Any]:
    desc: dict[str, Any] = {
        "InputTensor": {"DataType": text, "Sizes": sizes},
        "OutputTensor": {"DataType": result, "Sizes": sizes if out is None else out},
    }
    if function is not None:
        desc["Function"] = function
    return {"type": "REDUCE_SOME", "desc": desc}


@pytest.fixture
def table(scratch) -> Dialect:
    return scratch(reduce=REDUCE)  # type: ignore[no-any-return]


def find_ids(data: dict[str, Any], level: str, basis: Any = "documented") -> list[str]:
    verdict = check_at(read_dict(data, "directml"), level, basis)
    assert verdict.accepted is (not verdict.findings)
    return [finding.id.removeprefix("directml/REDUCE_SOME/") for finding in verdict.findings]


@pytest.mark.usefixtures("table")
def test_the_matching_case_decides_the_row() -> None:
    assert find_ids(describe("ARGMAX", "FLOAT32", "UINT32", FOUR), "1.0") == []
    assert find_ids(describe("SUM", "FLOAT32", "FLOAT32", FOUR), "2.0") == []
    assert find_ids(describe("SUM", "FLOAT32", "UINT32", FOUR), "2.0") == ["OutputTensor.type"]
    assert find_ids(describe("ARGMIN", "FLOAT32", "FLOAT32", FOUR), "2.0") == ["OutputTensor.type"]
    assert find_ids(describe("ARGMIN", "FLOAT32", "UINT32", THREE), "3.0") == []
    assert find_ids(describe("SUM", "FLOAT32", "FLOAT32", THREE), "3.0") == ["InputTensor.rank", "OutputTensor.rank"]
    assert find_ids(describe("SUM", "FLOAT32", "FLOAT32", FOUR, THREE), "3.0") == ["OutputTensor.rank", "same-rank"]


@pytest.mark.usefixtures("table")
def test_no_case() -> None:
    verdict = check_at(read_dict(describe("SUM", "FLOAT32", "FLOAT32", FOUR), "directml"), "1.0", "documented")
    (finding,) = verdict.findings
    assert finding.id == "directml/REDUCE_SOME/support-case"
    assert finding.where == "Function"
    assert finding.message == ("No row of the support table applies: Function is SUM; accepted by 2.0..6.4.")
    assert finding.rule == "Function in (ARGMAX, ARGMIN)"
    assert finding.values == {"Function": "SUM"}
    assert finding.first_level == "2.0"
    assert finding.fix == "use feature level 2.0"
    verdict = check_at(read_dict(describe("L1", "FLOAT32", "FLOAT32", FOUR), "directml"), "6.4", "documented")
    assert [f.message for f in verdict.findings] == ["No row of the support table applies: Function is L1."]


@pytest.mark.usefixtures("table")
def test_an_invalid_case_field_is_reported() -> None:
    assert find_ids(describe(None, "FLOAT32", "FLOAT32", FOUR), "3.0") == ["Function.required"]
    assert find_ids(describe("MEDIAN", "FLOAT32", "FLOAT32", FOUR), "3.0") == ["Function.value"]


@pytest.mark.usefixtures("table")
def test_no_case_hides_no_other_finding() -> None:
    assert find_ids(describe("L1", "FLOAT32", "FLOAT32", FOUR, THREE), "3.0") == ["same-rank", "support-case"]


@pytest.mark.usefixtures("table")
def test_builds_may_accept_more_in_a_single_case() -> None:
    wide, summed = describe("ARGMAX", "FLOAT32", "INT64", FOUR), describe("SUM", "FLOAT32", "INT64", FOUR)
    assert find_ids(wide, "3.0", "observed") == []
    assert find_ids(wide, "3.0", "both") == find_ids(wide, "5.0", "observed") == ["OutputTensor.type"]
    assert find_ids(summed, "3.0", "observed") == ["OutputTensor.type"]
    five = describe("SUM", "FLOAT32", "FLOAT32", FIVE, FOUR)
    assert find_ids(five, "4.0", "observed") == ["same-rank"]
    assert find_ids(five, "4.0", "both") == ["InputTensor.rank", "same-rank"]


@pytest.mark.usefixtures("table")
def test_minimum() -> None:
    result = find_minimum(read_dict(describe("SUM", "FLOAT32", "FLOAT32", FOUR), "directml"), "documented")
    assert result == "2.0"
    assert [finding.id for finding in result.blockers["1.0"]] == ["directml/REDUCE_SOME/support-case"]
    assert find_minimum(read_dict(describe("ARGMAX", "FLOAT32", "UINT32", THREE), "directml"), "documented") == "3.0"


TYPES, SIZES = ("FLOAT32", "UINT32", "INT64"), (FOUR, THREE, FIVE)


@pytest.mark.slow
@pytest.mark.parametrize("basis", ["documented", "observed", "both"])
def test_both_paths_agree(table: Dialect, basis: Any) -> None:
    spec = table.operator("REDUCE_SOME")
    sides: list[Any] = ["documented", "observed"] if basis == "both" else [basis]
    answers = set()
    for function, result, sizes, out in product(("ARGMAX", "SUM", "L1", None), TYPES, SIZES, SIZES):
        descriptor = read_dict(describe(function, "FLOAT32", result, sizes, out), "directml")
        for level in ("1.0", "2.0", "3.0", "4.0", "4.1", "5.0"):
            message = [resolved for side in sides if (resolved := spec.resolve(level, side)) is not None]
            whole = bool(message) and not any(explain_at(descriptor, resolved) for resolved in message)
            assert accepts(descriptor, level, basis) is whole
            answers.add((level, whole))
    assert len(answers) == 12


SHAPED = """\
operator: SHAPED
summary: Has rows by what its tensors are.
source: [{page: own}]
fields:
  InputTensor: {kind: input}
  ScaleTensor: {kind: input, optional: true}
  OutputTensor: {kind: output}
support:
  - when: type(ScaleTensor) != FLOAT16
    "1.0":
      InputTensor: {ranks: 4, types: [INT8]}
      OutputTensor: {ranks: 4, types: [FLOAT32]}
  - when: not present(ScaleTensor) and InputTensor.sizes[0] == 2
    "1.0":
      InputTensor: {ranks: 4, types: [INT8]}
      OutputTensor: {ranks: 4, types: [INT8]}
  - when: not present(ScaleTensor) and InputTensor.sizes[0] == 3
    "2.0":
      InputTensor: {ranks: 4, types: [INT8]}
      OutputTensor: {ranks: 4, types: [INT16]}
"""


def shape_desc(text: str, first: int, scale: str | None = None) -> dict[str, Any]:
    desc = {
        "InputTensor": {"DataType": "INT8", "Sizes": [first, 1, 1, 1]},
        "OutputTensor": {"DataType": text, "Sizes": [1, 1, 1, 1]},
    }
    if scale:
        desc["ScaleTensor"] = {"DataType": scale, "Sizes": [1, 1, 1, 1]}
    return {"type": "SHAPED", "desc": desc}


@pytest.mark.parametrize(
    ("data", "findings"),
    [
        (shape_desc("FLOAT32", 1, "FLOAT32"), []),
        (shape_desc("INT8", 2, "FLOAT32"), ["OutputTensor.type"]),
        (shape_desc("FLOAT32", 1, "FLOAT16"), ["support-case"]),
        (shape_desc("FLOAT32", 1), ["support-case"]),  # a condition on an omitted field does not hold
        (shape_desc("INT8", 2), []),
        (shape_desc("INT8", 3), ["OutputTensor.type"]),
        (shape_desc("INT16", 3), []),
    ],
)
def test_conditions_on_optional_tensors(scratch, data: dict[str, Any], findings: list[str]) -> None:
    scratch(shaped=SHAPED)
    descriptor = read_dict(data, "directml")
    verdict = check_at(descriptor, "3.0", "documented")
    assert [f.id.rpartition("/")[2] for f in verdict.findings] == findings
    assert verdict.accepted is (not findings)
    if (
        "ScaleTensor" in data["desc"] or findings
    ):  # if it is omitted, the fast path leaves the answer to the explaining one
        assert accepts(descriptor, "3.0", "documented") is verdict.accepted


def unknown(data: dict[str, Any]) -> Any:
    """Return the descriptor with an unknown first size of its input."""
    descriptor = read_dict(data, "directml")
    tensor = descriptor.fields["InputTensor"]
    fields = {**descriptor.fields, "InputTensor": tensor._replace(sizes=(None, *tensor.sizes[1:]))}
    return replace(descriptor, fields=fields, plain=False)


def test_an_unknown_condition_is_undecided(scratch) -> None:
    scratch(shaped=SHAPED)
    verdict = check_at(unknown(shape_desc("INT8", 2)), "3.0", "documented")
    assert verdict.accepted is None
    own = [f for f in verdict.undecided if f.id.startswith("directml/SHAPED/")]
    assert [f.id for f in own] == ["directml/SHAPED/support-case"]
    assert own[0].message.startswith(
        "Unknown values leave undecided which row of the support table applies: dimension 0 of "
    )


def test_failures_in_every_undecided_case_are_reported(scratch) -> None:
    scratch(shaped=SHAPED)
    verdict = check_at(unknown(shape_desc("FLOAT16", 2)), "3.0", "documented")
    assert verdict.accepted is False
    assert [f.id for f in verdict.findings] == ["directml/SHAPED/OutputTensor.type"]


def test_the_accepting_one_of_two_matching_cases_decides(scratch) -> None:
    scratch(reduce=REDUCE.replace("Function == SUM", "Function != L1"))
    data = describe("ARGMAX", "FLOAT32", "FLOAT32", FOUR)
    assert find_ids(data, "2.0") == []
    assert find_ids(data, "1.0") == ["OutputTensor.type"]
    descriptor = read_dict(data, "directml")
    assert check_at(replace(descriptor, plain=False), "2.0", "documented").accepted is True


def test_a_condition_on_a_missing_field_is_false(scratch) -> None:
    text = REDUCE.replace("fields:\n", "fields:\n  Mode: {kind: attribute, type: uint, since: '3.0', optional: true}\n")
    scratch(reduce=text.replace("when: Function == SUM", "when: Mode == 1"))
    data = describe("SUM", "FLOAT32", "FLOAT32", FOUR)
    assert find_ids(data, "2.0") == find_ids(data, "3.0") == ["support-case"]
    data["desc"]["Mode"] = 1
    assert find_ids(data, "3.0") == []
    assert "Mode.exists" in find_ids(data, "2.0")
