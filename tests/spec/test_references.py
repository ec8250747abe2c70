"""Unresolved names are errors with file, line and key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specgate.errors import InputError
from specgate.spec.tables import dialect
from tests.spec.conftest import BASE, OPERATOR

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = """\
examples:
  one:
    source: own
    descriptor: {type: COPY, desc: {}}
"""
OBSERVED = """\
observed:
  - builds: "2.0.."
    support:
      Input: {types: [INT8]}
    not_enforced: [same-rank]
    rules:
      same-size: elements(Input) == elements(Output)
    values:
      zeros: {what: "zeros differ", when: type(Input) == INT8, elements: Input == 0 and ours != theirs}
    evidence: none
"""
ENVIRONMENT = """\
dialect: scratch
sources: []
environments:
  - {name: first, title: First, kind: package, level: "1.0", via: null, source: own}
  - {name: second, title: Second, kind: package, level: "9.0", via: null, source: own}
"""
TENSOR = """\
dialect: scratch
sources: []
rules:
  rank: {require: rank(tensor) <= max_dimensions, since: "2.0"}
"""


def test_valid_files_have_resolved_references(problems) -> None:
    text = OPERATOR + EXAMPLE + OBSERVED
    assert problems(operators__COPY_yaml=text, tensor_yaml=TENSOR) == []


KNOWN = "known here: Axis, Input, Output, dimensions, max_dimensions"
MISTAKES = {
    "level of a row": ('  "2.0":\n    Input', '  "2.5":\n    Input', "14: support.2.5: unknown level '2.5'"),
    "level of a field": ("type: uint,", 'type: uint, since: "0.9",', "8: fields.Axis.since: unknown level '0.9'"),
    "last level of a field": ("type: uint,", 'type: uint, until: "4.0",', "8: fields.Axis.until: unknown level '4.0'"),
    "level of a rule": (
        "because: both have as many dimensions",
        'since: "2.2"',
        "21: rules.same-rank.since: unknown level '2.2'",
    ),
    "last level of a rule": (
        "because: both have as many dimensions",
        'until: "2.2"',
        "21: rules.same-rank.until: unknown level '2.2'",
    ),
    "level of behaviour": ('"2.0": {index_axis', '"2": {index_axis', "28: execute.2: unknown level '2'"),
    "removal": ("define:", 'removed: "7.0"\ndefine:', "16: removed: unknown level '7.0'"),
    "numbers in a field of another type": (
        "type: uint,",
        "type: uint, enum: element-type,",
        "8: fields.Axis.enum: expected an attribute that contains only integers",
    ),
    "numbers that there are none of": (
        "type: uint,",
        "type: int, enum: element-type,",
        "8: fields.Axis.enum: types.yaml has no numbers",
    ),
    "type": (
        "Input: {ranks: 4, types: [INT8]}", "Input: {types: [INT8, INT9]}", "11: support.1.0.Input.types: unknown type 'INT9'"),
    "type set": (
        "Input: {ranks: 4, types: [INT8]}", "Input: {types: T}", "11: support.1.0.Input.types: unknown type 'T'"),
    "field of a row": (
        "Input: {ranks: 4, types: [INT8]}", "Inputs: {ranks: 4}", "11: support.1.0.Inputs: unknown field 'Inputs'"),
    "field of a rule": (
        "Axis < dimensions",
        "Axs < dimensions",
        f"22: rules.axis-range.require: unknown name 'Axs'; {KNOWN}, at column 1 of: Axs < dimensions",
    ),
    "field of a condition": (
        "because: both have as many dimensions",
        "when: Axs == 1",
        f"21: rules.same-rank.when: unknown name 'Axs'; {KNOWN}, at column 1 of: Axs == 1",
    ),
    "define": (
        "dimensions: rank(Input)",
        "dimensions: rank(Inputs)",
        "17: define.dimensions: unknown name 'Inputs'; known here: Axis, Input, Output, max_dimensions, at column 6 of: rank(Inputs)",
    ),
    "members of no operator": (
        "type: uint,",
        "type: uint, members: {Alpha: float},",
        "8: fields.Axis.members: expected a field of type operator",
    ),
    "define like a field": (
        "define:\n",
        "define:\n  Axis: rank(Input)\n",
        "17: define.Axis: the name 'Axis' is already the name of a field, a limit, a type or an enum's value, at column 1 of: rank(Input)",
    ),
    "define like a limit": (
        "define:\n",
        "define:\n  max_dimensions: rank(Input)\n",
        "17: define.max_dimensions: the name 'max_dimensions' is already the name of a field, a limit, a type or an enum's value, at column 1 of: rank(Input)",
    ),
    "kind of a rule": (
        "Axis < dimensions",
        "dimensions",
        "22: rules.axis-range.require: expected a truth, found a number, at column 1 of: dimensions",
    ),
    "rule before": (
        "because: both have as many dimensions",
        "after: [axis-rnge]",
        "21: rules.same-rank.after: unknown rule 'axis-rnge'",
    ),
    "array of the kernel": ("indices: Input", "indices: Axis", "25: execute.arrays: 'Axis' is not a tensor field"),
    "field that the kernel lacks": (
        "outputs: [Output]",
        "outputs: [Output]\n  unsupported_types: {Axis: [INT8]}",
        "28: execute.unsupported_types: 'Axis' is not a tensor field",
    ),
    "sizes of what is no output": (
        "outputs: [Output]",
        "outputs: [Output]\n  sized_by_values: [Input]",
        "28: execute.sized_by_values: 'Input' is not an output",
    ),
    "type that the kernel lacks": (
        "outputs: [Output]",
        "outputs: [Output]\n  unsupported_types: {Input: [INT9]}",
        "28: execute.unsupported_types.Input: unknown type 'INT9'",
    ),
    "output of the kernel": ("outputs: [Output]", "outputs: [Out]", "27: execute.outputs: 'Out' is not a tensor field"),
    "argument of the kernel": (
        "axis: Axis}",
        "axis: axis}",
        f"26: execute.arguments.axis: unknown name 'axis'; {KNOWN}, at column 1 of: axis",
    ),
    "behaviour by expression": (
        "{index_axis: kept}",
        "{index_axis: {expression: mode}}",
        f"28: execute.2.0.index_axis: unknown name 'mode'; {KNOWN}, at column 1 of: mode",
    ),
}  # fmt: skip


def test_a_guard_is_structural(operator_problems) -> None:
    first, *_ = operator_problems("because: both have as many dimensions", "guard: true\n    structural: false")
    assert first.startswith("operators/COPY.yaml:20: rules.same-rank: a rule that the executor checks is structural")


@pytest.mark.parametrize(("old", "new", "line"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes(operator_problems, old: str, new: str, line: str) -> None:
    first, *others = operator_problems(old, new)
    assert first == f"operators/COPY.yaml:{line}"
    assert all("unknown name 'dimensions'" in other for other in others)  # where the define itself is wrong


def test_an_unknown_type_of_a_field(operator_problems) -> None:
    first, *_ = operator_problems("type: uint,", "type: size-3d,")
    assert first == "operators/COPY.yaml:8: fields.Axis.type: unknown type of fields 'size-3d'"


LATER = {
    "level of an example": (EXAMPLE, "source: own", 'source: own\n    since: "2.5"', "32: examples.one.since: unknown level '2.5'"),
    "builds": (OBSERVED, '"2.0.."', '"2.0..9.0"', "30: observed.0.builds: unknown level '9.0' of scratch"),
    "builds in a list": (OBSERVED, '"2.0.."', '["2.0", "9.0"]', "30: observed.0.builds: unknown level '9.0'"),
    "builds backwards": (OBSERVED, '"2.0.."', '"3.0..1.0"', "30: observed.0.builds: expected levels in their order, found '3.0..1.0'"),
    "no builds": (OBSERVED, '"2.0.."', '".."', "30: observed.0.builds: expected levels such as"),
    "observed type": (OBSERVED, "[INT8]", "[INT9]", "32: observed.0.support.Input.types: unknown type 'INT9'"),
    "observed field": (OBSERVED, "Input: {types", "Inpt: {types", "32: observed.0.support.Inpt: unknown field 'Inpt'"),
    "waived rule": (OBSERVED, "[same-rank]", "[same-rnk]", "33: observed.0.not_enforced: unknown rule 'same-rnk'"),
    "condition of values": (OBSERVED, "type(Input)", "type(theirs)", "37: observed.0.values.zeros.when: unknown name 'theirs'"),
    "elements of values": (OBSERVED, "Input == 0", "Inpt == 0", "37: observed.0.values.zeros.elements: unknown name 'Inpt'"),
    "a tensor beside elements": (OBSERVED, "Input == 0", "rank(Input) == 0", "37: observed.0.values.zeros.elements: expected"),
    "observed rule": (OBSERVED, "elements(Output)", "elements(Outpt)", "35: observed.0.rules.same-size.require: unknown name 'Outpt'"),
}  # fmt: skip


@pytest.mark.parametrize(("part", "old", "new", "line"), LATER.values(), ids=LATER.keys())
def test_mistakes_in_later_parts(problems, part: str, old: str, new: str, line: str) -> None:
    (result,) = problems(operators__COPY_yaml=OPERATOR + part.replace(old, new))
    assert result.startswith(f"operators/COPY.yaml:{line}")


def test_counterexamples(problems) -> None:
    text = (
        OPERATOR
        + EXAMPLE
        + "counterexamples:\n  same-rank: {of: two, set: {}}\n  same-rnk: {of: one, at: '9', set: {}}\n"
    )
    assert [result.split(": ", 1)[1] for result in problems(operators__COPY_yaml=text)] == [
        "counterexamples.same-rnk.at: unknown level '9'",
        "counterexamples.same-rank.of: unknown example 'two'",
        "counterexamples.same-rnk: unknown rule 'same-rnk'",
    ]


@pytest.mark.parametrize(
    "rows", ["support: {}\n", "support:\n  '2.0': {}\n  '1.0': {}\n"], ids=["no rows", "rows out of order"]
)
def test_rows(problems, rows: str) -> None:
    start, end = OPERATOR.index("support:"), OPERATOR.index("define:")
    (result,) = problems(operators__COPY_yaml=OPERATOR[:start] + rows + OPERATOR[end:])
    assert result.endswith("support: expected at least one row, rows in the order of the levels")


def test_all_mistakes_of_a_file_at_once(problems) -> None:
    text = (
        OPERATOR.replace('"1.0":\n', '"0.1":\n')
        .replace("types: [INT8, INT16]}\n    Out", "types: [INT8, INT15]}\n    Out")
        .replace("Axis < dimensions", "Axs < dimensions")
        .replace("dimensions == rank(Output)", "rank(Out) == 1")
        .replace("indices: Input", "indices: Inpt")
    )
    items = [
        problem.removeprefix("operators/COPY.yaml:").split(": ")[:2] for problem in problems(operators__COPY_yaml=text)
    ]
    assert items == [
        ["11", "support.0.1"],
        ["14", "support.2.0.Input.types"],
        ["20", "rules.same-rank.require"],
        ["22", "rules.axis-range.require"],
        ["25", "execute.arrays"],
    ]


def test_types_and_environments(problems) -> None:
    types = BASE["types.yaml"].replace('since: "2.0"', 'since: "2.2"')
    assert problems(types_yaml=types, environments_yaml=ENVIRONMENT) == [
        "types.yaml:5: types.INT16.since: unknown level '2.2'",
        "environments.yaml:5: environments.1.level: unknown level '9.0'",
    ]


def test_limits_that_some_levels_lack(problems) -> None:
    levels = BASE["levels.yaml"].replace('"2.0": {limits: {max_dimensions: 5}}', '"2.0": {limits: {}}')
    assert problems(levels_yaml=levels) == [
        "levels.yaml:6: levels.2.0.limits: expected max_dimensions, as at other levels"
    ]


TENSOR_OBSERVED = """\
observed:
  - {builds: "1.0..", not_enforced: [rank], rules: {flat: rank(tensor) <= 1}, evidence: none, bug: true}
  - {builds: ["2.0"], by: linux, not_enforced: [flat], evidence: none}
"""
TENSOR_LATER = {
    "builds": ('["2.0"]', '["9.0"]', "7: observed.1.builds: unknown level '9.0'"),
    "rule": ("rank(tensor) <= 1", "rank(Input) <= 1", "6: observed.0.rules.flat.require: unknown name 'Input'"),
    "waived rule": ("not_enforced: [rank]", "not_enforced: [rnk]", "6: observed.0.not_enforced: unknown rule 'rnk'"),
    "rule of a later entry": (
        "not_enforced: [rank]", "not_enforced: [later]", "6: observed.0.not_enforced: unknown rule 'later'"),
    "no name": ("by: linux", "by: Linux builds", "7: observed.1.by: String should match pattern"),
    "unknown key": ("by: linux", "for: linux", "7: observed.1.for: unknown key"),
}  # fmt: skip


def test_observed_tensor_rules_are_accepted(problems) -> None:
    assert problems(tensor_yaml=TENSOR + TENSOR_OBSERVED) == []


@pytest.mark.parametrize(("old", "new", "line"), TENSOR_LATER.values(), ids=TENSOR_LATER.keys())
def test_mistakes_in_observed_tensor_rules(problems, old: str, new: str, line: str) -> None:
    text = TENSOR_OBSERVED.replace("evidence: none}", "rules: {later: rank(tensor) > 0}, evidence: none}")
    (result,) = problems(tensor_yaml=TENSOR + text.replace(old, new))
    assert result.startswith(f"tensor.yaml:{line}")


TENSOR_MISTAKES = {
    "name": (
        "max_dimensions", "max_dims", "4: rules.rank.require: unknown name 'max_dims'; known here: max_dimensions, tensor"),
    "field": ("rank(tensor)", "rank(Input)", "4: rules.rank.require: unknown name 'Input'"),
    "level": ('since: "2.0"', 'since: "2.2"', "4: rules.rank.since: unknown level '2.2'"),
    "counterexample of a rule": (
        "rules:\n",
        "counterexamples:\n  rnk: {of: one, operator: COPY, set: {}}\nrules:\n",
        "4: counterexamples.rnk: unknown rule 'rnk'",
    ),
    "counterexample of an example": (
        "rules:\n",
        "counterexamples:\n  rank: {of: two, operator: COPY, set: {}}\nrules:\n",
        "4: counterexamples.rank.of: unknown example 'two'",
    ),
    "counterexample of an operator": (
        "rules:\n",
        "counterexamples:\n  rank: {of: one, set: {}}\nrules:\n",
        "4: counterexamples.rank.operator: unknown operator None",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line"), TENSOR_MISTAKES.values(), ids=TENSOR_MISTAKES.keys())
def test_rules_of_tensors(problems, old: str, new: str, line: str) -> None:
    (result,) = problems(tensor_yaml=TENSOR.replace(old, new), operators__COPY_yaml=OPERATOR + EXAMPLE)
    assert result.startswith(f"tensor.yaml:{line}")


@pytest.fixture
def scratch_file(scratch: Callable[..., object]) -> Callable[[str], str]:
    def load(text: str) -> str:
        with pytest.raises(InputError) as caught:
            scratch(copy=text)
        return str(caught.value)

    return load


def test_scratch_operators_are_checked_the_same(scratch_file) -> None:
    text = OPERATOR.replace('"1.0"', '"1.5"').replace("INT8", "FLOAT32")
    assert (
        scratch_file(text)
        .splitlines()[0]
        .endswith("/directml/operators/COPY.yaml:11: support.1.5: unknown level '1.5'")
    )


def test_scratch_operators_are_added(scratch) -> None:
    table = scratch(copy=OPERATOR)
    assert "COPY" in table.operators
    assert "ONE_HOT" in table.operators
    assert dialect("directml") is table


def test_scratch_operators_are_removed_with_their_folder(scratch) -> None:
    scratch(copy=OPERATOR)
    from specgate.spec.tables import load_extra_specs

    load_extra_specs()
    assert "COPY" not in dialect("directml").operators
