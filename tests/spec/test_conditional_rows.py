"""Conditional support rows, fused operators and scalar types in tables."""

from __future__ import annotations

import pytest

from specgate.spec.build import build_dialect
from specgate.spec.dialect_spec import Dialect
from tests.spec.conftest import BASE, REDUCE

REDUCE_ON_INTEGERS = (
    REDUCE[: REDUCE.index("examples:")].replace("FLOAT32", "INT8").replace("UINT32", "INT16").replace("1..8", "1..5")
)
FUSING = """\
operator: FUSE
summary: Fuses.
source:
  - page: own
fields:
  Input: {kind: input}
  Activation: {kind: attribute, type: operator, optional: true}
  Kind: {kind: attribute, type: "enum:TENSOR_DATA_TYPE", words: [INT8, INT16]}
  Value: {kind: attribute, type: scalar, type_from: Kind}
support:
  "1.0":
    Input: {ranks: 4, types: [INT8]}
    Activation: {operators: [RELU, TANH, COPY, ACTIVATION_ELU, SOFT]}
"""
PLAIN = "operator: {}\nsummary: x.\nsource: [{{page: own}}]\nfields: {{}}\nsupport: {{'1.0': {{}}}}\n"


def test_levels_and_rows_of_cases(folder) -> None:
    table = Dialect("scratch", build_dialect(folder(operators__REDUCE_SOME_yaml=REDUCE_ON_INTEGERS)))
    spec = table.operator("REDUCE_SOME")
    assert spec.rows == ("1.0", "2.0", "3.0")
    assert list(spec.levels) == ["1.0", "2.0", "3.0"]
    texts_by_name = {}
    for level in spec.levels:
        resolved = spec.resolve(level)
        assert resolved is not None
        assert resolved.cells == {}
        texts_by_name[level] = [
            (c.when.text, c.resolved.row, str(c.resolved.cells["InputTensor"].ranks)) for c in resolved.cases
        ]
        assert all(case.resolved.rules == resolved.rules for case in resolved.cases)
        assert all(case.resolved.cases == () for case in resolved.cases)
    arguments, sums = "Function in (ARGMAX, ARGMIN)", "Function == SUM"
    assert texts_by_name == {
        "1.0": [(arguments, "1.0", "4")],
        "2.0": [(arguments, "1.0", "4"), (sums, "2.0", "4")],
        "3.0": [(arguments, "3.0", "1 to 5"), (sums, "2.0", "4")],
    }
    keys = {resolved.key for level in spec.levels if (resolved := spec.resolve(level))}
    assert len(keys) == 3


def test_an_operator_exists_from_the_lowest_row_of_any_case(folder) -> None:
    text = REDUCE_ON_INTEGERS.replace('    "1.0":', '    "3.0":', 1).replace(
        '    "3.0":\n      InputTensor: {ranks: 1..5', '    "x":\n      InputTensor: {ranks: 1..5'
    )
    start = text.index('    "x":')
    text = text[:start] + text[text.index("  - when: Function == SUM") :]
    spec = Dialect("scratch", build_dialect(folder(operators__REDUCE_SOME_yaml=text))).operator("REDUCE_SOME")
    assert list(spec.levels) == ["2.0", "3.0"]
    assert spec.resolve("1.0") is None


def test_observed_cells_apply_to_all_cases_or_to_a_single_case(scratch) -> None:
    spec = scratch(reduce=REDUCE).operator("REDUCE_SOME")

    def cells(level: str, field: str) -> list[tuple[object, str]]:
        resolved = spec.resolve(level, "observed")
        assert resolved is not None
        return [(c.resolved.cells[field].types, str(c.resolved.cells[field].ranks)) for c in resolved.cases]

    assert cells("3.0", "OutputTensor") == [(("UINT32", "INT64"), "1 to 8"), (("FLOAT32",), "4")]
    assert cells("4.0", "InputTensor") == [(("FLOAT32",), "5"), (("FLOAT32",), "5")]
    assert cells("5.0", "OutputTensor") == [(("UINT32",), "1 to 8"), (("FLOAT32",), "4")]


MISTAKES = {
    "kind of a name": ("Function == SUM", "Function == SUMM", "support.1.when: unknown name 'SUMM'"),
    "no truth": ("Function == SUM", "rank(InputTensor)", "support.1.when: expected a truth, found a number"),
    "no condition": ("- when: Function == SUM\n   ", "-", "support.1.when: expected this key"),
    "the same twice": ("Function == SUM", "Function  in (ARGMAX, ARGMIN)", "support.1.when: support.0 has the same condition"),
    "level": ('"3.0":', '"9.0":', "support.0.9.0: unknown level '9.0'"),
    "order": ('"3.0":', '"0":', "support.0.0: unknown level '0'"),
    "field": ("InputTensor: {ranks: 1..5", "Inputs: {ranks: 1..5", "support.0.3.0.Inputs: unknown field 'Inputs'"),
    "key of a cell": ("ranks: 1..5", "rank: 1..5", "support.0.3.0.InputTensor.rank: unknown key"),
    "condition in a cell": ("{ranks: 1..5}", "{when: Function == SUM}", "support.0.3.0.InputTensor.when: unknown key"),
    "row that is none": ('"2.0":', '"2.0": 3\n    "3.0":', "support.1.2.0: expected a mapping, found 3"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_in_cases(problems, old: str, new: str, message: str) -> None:
    assert old in REDUCE_ON_INTEGERS
    result = problems(operators__REDUCE_SOME_yaml=REDUCE_ON_INTEGERS.replace(old, new, 1))
    assert [line for line in result if line.split(": ", 1)[1].startswith(message)], result


@pytest.mark.parametrize("support", ["[]", "3", "[3]", "[{when: Function == SUM}]", "[[]]", "text", "null"])
def test_strange_support(problems, support: str) -> None:
    start, end = REDUCE_ON_INTEGERS.index("support:"), REDUCE_ON_INTEGERS.index("rules:")
    text = f"{REDUCE_ON_INTEGERS[:start]}support: {support}\n{REDUCE_ON_INTEGERS[end:]}"
    result = problems(operators__REDUCE_SOME_yaml=text)
    assert result
    assert all(": support" in line and "expected" in line for line in result)


def test_an_observed_cell_condition_must_match_a_case(problems) -> None:
    observed = (
        "observed:\n  - {builds: '3.0', evidence: x, support: {InputTensor: {ranks: 5, when: Function  ==  SUM}}}\n"
    )
    text = REDUCE_ON_INTEGERS + observed
    assert problems(operators__REDUCE_SOME_yaml=text) == []
    (line,) = problems(operators__REDUCE_SOME_yaml=text.replace("==  SUM", "== L1"))
    assert line.endswith("expected the condition of one of the operator's cases, spelled as there")


SHORT = "short_names: [ACTIVATION_, ELEMENT_WISE_]\n"


def fuse(folder, dialect: str = "", **operators: str) -> list[str]:
    files = {f"operators__{name.upper()}_yaml": PLAIN.format(name.upper()) for name in operators.values()}
    root = folder(operators__FUSE_yaml=FUSING, dialect_yaml=BASE["dialect.yaml"] + dialect, **files)
    cells = build_dialect(root)["operators"]["FUSE"]["support"]["1.0"]
    return cells["Activation"]["operators"]  # type: ignore[no-any-return]


def test_names_of_fused_operators_are_written_out(folder) -> None:
    texts = fuse(folder, SHORT, a="activation_relu", b="element_wise_relu", c="element_wise_tanh")
    assert texts == ["ACTIVATION_RELU", "ELEMENT_WISE_TANH", "COPY", "ACTIVATION_ELU", "ACTIVATION_SOFT"]


def test_a_dialect_defines_short_names(folder) -> None:
    assert fuse(folder, "short_names: [SOFT_, HARD_]\n", a="hard_tanh") == [
        "SOFT_RELU", "HARD_TANH", "COPY", "SOFT_ACTIVATION_ELU", "SOFT_SOFT",
    ]  # fmt: skip
    assert fuse(folder, "short_names: []\n")[0] == "RELU"


def test_a_complete_dialect_rejects_unknown_names(problems) -> None:
    files = {f"operators__{n}_yaml": PLAIN.format(n) for n in ("ACTIVATION_RELU", "ACTIVATION_TANH", "SOFT")}
    result = problems(
        operators__FUSE_yaml=FUSING, dialect_yaml=BASE["dialect.yaml"] + SHORT + "complete: true\n", **files
    )
    assert result == ["operators/FUSE.yaml:13: support.1.0.Activation.operators: unknown operator 'ACTIVATION_ELU'"]


SCALARS = {
    "no type": (", type_from: Kind", "fields.Value.type_from: expected the attribute with the scalar's type"),
    "no such field": ("type_from: Kind", "fields.Value.type_from: expected an attribute of an enum's type, found 'Nothing'"),
    "no enum": ("type_from: Kind", "fields.Value.type_from: expected an attribute of an enum's type, found 'Input'"),
    "no scalar": ("type: scalar", "fields.Value.type_from: expected a scalar"),
    "operators of a tensor": ("Input: {ranks: 4, types: [INT8]}", "support.1.0.Input.operators: a field of type tensor has no operators"),
    "types of an operator": ("{operators: [RELU, TANH, COPY, ACTIVATION_ELU, SOFT]}", "support.1.0.Activation.types: a field of type operator has no types"),
}  # fmt: skip
NEW = ["", "type_from: Nothing", "type_from: Input", "type: float", "Input: {operators: [COPY]}", "{types: [INT8]}"]


@pytest.mark.parametrize(
    ("old", "new", "message"), [(o, n, m) for (o, m), n in zip(SCALARS.values(), NEW, strict=True)]
)
def test_keys_are_checked_against_the_field_type(problems, old: str, new: str, message: str) -> None:
    assert FUSING.count(old) == 1
    assert problems(operators__FUSE_yaml=FUSING) == []
    (line,) = problems(operators__FUSE_yaml=FUSING.replace(old, new))
    assert line.split(": ", 1)[1] == message


def test_a_rule_cannot_use_the_name_of_a_derived_rule(problems) -> None:
    (line,) = problems(operators__FUSE_yaml=FUSING + "rules:\n  value-fits: Value < 3\n")
    assert (
        line
        == "operators/FUSE.yaml:15: rules.value-fits: expected another name: this rule is derived from the scalar fields"
    )


RECIPE = "execute: {kernel: one_hot, arrays: {indices: Input}, arguments: {a: Activation}, output_type: {b: Input}, outputs: []}\n"


def test_a_recipe_passes_whole_attributes_and_declared_types(problems) -> None:
    assert problems(operators__FUSE_yaml=FUSING + RECIPE) == []
    (line,) = problems(operators__FUSE_yaml=FUSING + RECIPE.replace("b: Input", "b: Kind"))
    assert line == "operators/FUSE.yaml:14: execute.output_type: 'Kind' is not a tensor field"
    (line,) = problems(operators__FUSE_yaml=FUSING + RECIPE.replace("a: Activation", "a: Input"))
    assert line.startswith("operators/FUSE.yaml:14: execute.arguments.a: expected a number, word or truth")
