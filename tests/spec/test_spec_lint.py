"""Every data linter has a file that it accepts and one that it reports."""

from __future__ import annotations

import pytest

from specgate.spec.dialect_spec import Dialect
from specgate.spec.lint import LINTERS, lint_tables
from specgate.spec.tables import dialect
from tests.spec.conftest import REDUCE

SOUND = """\
operator: COPY
summary: Copies.
source:
  - page: own
fields:
  InputTensor: {kind: input}
  OutputTensor: {kind: output}
support:
  "1.0":
    InputTensor: {ranks: 4, types: [FLOAT32]}
    OutputTensor: {ranks: 4, types: [FLOAT32]}
  "3.0":
    InputTensor: {ranks: 1..8}
    OutputTensor: {ranks: 1..8}
rules:
  same-rank:
    require: rank(InputTensor) == rank(OutputTensor)
    because: both must have the same rank
examples:
  one:
    source: own
    descriptor:
      type: COPY
      desc:
        InputTensor: {DataType: FLOAT32, Sizes: [1, 2, 3, 4]}
        OutputTensor: {DataType: FLOAT32, Sizes: [1, 2, 3, 4]}
counterexamples:
  same-rank: {of: one, set: {desc.OutputTensor.Sizes: [1, 2, 3]}}
"""
FAILING = {
    "canonical-order": [
        (
            "summary: Copies.\n",
            "",
            "expected the keys in the order operator, summary, source, fields, support, rules, examples, counterexamples",
        ),
        (
            "InputTensor: {ranks: 4, types: [FLOAT32]}\n    OutputTensor: {ranks: 4, types: [FLOAT32]}",
            "OutputTensor: {ranks: 4, types: [FLOAT32]}\n    InputTensor: {ranks: 4, types: [FLOAT32]}",
            "support.1.0: expected the fields in the order of `fields`",
        ),
    ],
    "repeated-cell": [
        (
            "InputTensor: {ranks: 1..8}",
            "InputTensor: {ranks: 1..8, types: [FLOAT32]}",
            "support.3.0.InputTensor.types repeats 1.0",
        )
    ],
    "unnamed-set": [
        (
            "{ranks: 1..8}\nrules",
            "{ranks: 1..8, types: [FLOAT32, FLOAT16]}\nrules",
            "support.3.0.OutputTensor.types: expected $float",
        )
    ],
    "long-form": [
        (
            "require: rank(InputTensor) ==",
            "require: InputTensor.sizes[rank(InputTensor) - 1] ==",
            "rules.same-rank.require: expected InputTensor.sizes[-1] for InputTensor.sizes[rank(InputTensor) - 1]",
        ),
    ],
    "repeated-row": [("ranks: 1..8", "ranks: 4", "support.3.0 repeats 1.0")],
    "unbroken-rule": [
        (
            "rules:\n",
            "rules:\n  same-type: type(InputTensor) == type(OutputTensor)\n",
            "rules.same-type has no counterexample",
        )
    ],
    "no-example": [(SOUND[SOUND.index("examples:") :], "", "expected at least one example")],
    "no-source": [("page: own", "note: from memory", "expected a source with a page, a path or a package")],
    "forgotten-cell": [("  InputTensor: {ranks: 1..8}\n", "  InputTensor: null\n", "InputTensor has no cell in 3.0")],
    "rules-in-words": [
        (
            "    because: both must have the same rank\n",
            "",
            "rules.same-rank: expected because: what must be, in a sentence",
        ),
        (
            "because: both must have the same rank",
            "because: rank(InputTensor) must be that of OutputTensor",
            "rules.same-rank: expected because without 'rank(', which is for the expression",
        ),
        (
            "same rank",
            "same rank, a == b",
            "rules.same-rank: expected because without '==', which is for the expression",
        ),
        ("same rank", "same rank.", "rules.same-rank: expected because without a period at its end"),
        ("same rank", "same rank" + " again" * 40, "rules.same-rank: expected because of at most 200 characters"),
    ],
    "overlapping-cases": [],
    "examples-hold": [
        (
            "InputTensor: {DataType: FLOAT32, Sizes: [1, 2, 3, 4]}",
            "InputTensor: {DataType: FLOAT32, Sizes: [1, 2, 3]}",
            "examples.one is rejected at 1.0: directml/COPY/InputTensor.rank, directml/COPY/same-rank",
        ),
        (
            "DataType: FLOAT32",
            "DataType: FLOAT",
            "examples.one is rejected at 1.0: directml/COPY/InputTensor.unknown-word, directml/COPY/OutputTensor.unknown-word",
        ),
        (
            "{desc.OutputTensor.Sizes: [1, 2, 3]}",
            "{desc.OutputTensor.Sizes: [4, 3, 2, 1]}",
            "counterexamples.same-rank: expected only directml/COPY/same-rank at 6.4, found nothing",
        ),
        (
            "{desc.OutputTensor.Sizes: [1, 2, 3]}",
            "{desc.OutputTensor.Sizes: [0, 2, 3]}",
            (
                "counterexamples.same-rank: expected only directml/COPY/same-rank at 6.4, "
                "found directml/COPY/same-rank, directml/tensor/sizes-not-zero"
            ),
        ),
        ("desc.OutputTensor.Sizes: [1, 2, 3]", "desc.OutputTensor.Size: [1]", "counterexamples.same-rank: "),
        ("desc.OutputTensor.Sizes: [1, 2, 3]", "desc.OutputTensor.Sizes.x: 1", "counterexamples.same-rank: "),
        ("desc.OutputTensor.Sizes: [1, 2, 3]", "desc.OutputTensor.Sizes.9: 1", "counterexamples.same-rank: "),
        ("desc.OutputTensor.Sizes: [1, 2, 3]", "desc.OutputTensor.DataType.x: 1", "counterexamples.same-rank: "),
        ("desc.OutputTensor.Sizes: [1, 2, 3]", "type.a.b: 1", "counterexamples.same-rank: "),
    ],
    "unshown-part": [
        ("    source: own\n", '    source: own\n    until: "3.0"\n', "support.3.0 has no example"),
        ("    source: own\n", '    source: own\n    since: "3.0"\n', "support.1.0 has no example"),
        (
            "  OutputTensor: {kind: output}\n",
            "  OutputTensor: {kind: output}\n  MaskTensor: {kind: input, optional: true}\n",
            "fields.MaskTensor: no example has it",
        ),
        (
            "  OutputTensor: {kind: output}\n",
            "  OutputTensor: {kind: output, optional: true}\n",
            "fields.OutputTensor: no example omits it",
        ),
        (
            "  OutputTensor: {kind: output}\n",
            '  OutputTensor: [{kind: output, until: "3.0"}, {kind: output, optional: true, since: "3.0"}]\n',
            "fields.OutputTensor: no example omits it",
        ),
    ],
}
CASES = [
    pytest.param(linter, *case, id=f"{linter} {index}")
    for linter, cases in FAILING.items()
    for index, case in enumerate(cases)
]


def complaints(table: Dialect, operator: str = "COPY") -> dict[str, list[str]]:
    return {name: list(linter(table.operator(operator))) for name, linter in LINTERS.items()}


def test_every_linter_is_tested() -> None:
    assert list(FAILING) == list(LINTERS)
    assert all(FAILING[name] or name in IN_CASES for name in LINTERS)


def test_valid_file(scratch) -> None:
    assert complaints(scratch(copy=SOUND)) == {name: [] for name in LINTERS}


@pytest.mark.parametrize(("linter", "old", "new", "complaint"), CASES)
def test_complaints(scratch, linter: str, old: str, new: str, complaint: str) -> None:
    text = SOUND.replace(old, new)
    assert text != SOUND
    if linter == "canonical-order" and not new:
        text += old
    first, *_ = complaints(scratch(copy=text))[linter]
    assert first.startswith(complaint)


IN_CASES = {
    "canonical-order": (
        "InputTensor: {ranks: 1..8}\n      OutputTensor: {ranks: 1..8}",
        "OutputTensor: {ranks: 1..8}\n      InputTensor: {ranks: 1..8}",
        "support.0.3.0: expected the fields in the order of `fields`",
    ),
    "repeated-row": ("ranks: 1..8", "ranks: 4", "support.0.3.0 repeats 1.0"),
    "no-example": (REDUCE[REDUCE.index("examples:") :], "", "expected at least one example"),
    "forgotten-cell": (
        "      OutputTensor: {ranks: 4, types: [FLOAT32]}\n", "", "OutputTensor has no cell in 1.2.0"
    ),
    "overlapping-cases": (
        "Function == SUM",
        "Function not in (ARGMIN, L1)",
        "Function ARGMAX is one of Function in (ARGMAX, ARGMIN) and one of Function not in (ARGMIN, L1)",
    ),
    "examples-hold": (
        "Function: ARGMAX", "Function: SUM", "examples.one is rejected at 1.0: directml/REDUCE_SOME/support-case"
    ),
    "unshown-part": ("Function: SUM", "Function: ARGMIN", "support.1.2.0 has no example"),
}  # fmt: skip


def test_valid_cases(scratch) -> None:
    assert complaints(scratch(reduce=REDUCE), "REDUCE_SOME") == {name: [] for name in LINTERS}


@pytest.mark.parametrize(("linter", "old", "new", "complaint"), [(k, *v) for k, v in IN_CASES.items()], ids=IN_CASES)
def test_complaints_about_cases(scratch, linter: str, old: str, new: str, complaint: str) -> None:
    assert old in REDUCE
    result = complaints(scratch(reduce=REDUCE.replace(old, new)), "REDUCE_SOME")
    assert result[linter][0] == complaint


def test_cases_on_other_things_than_enums_are_not_enumerated(scratch) -> None:
    text = REDUCE.replace("when: Function == SUM", "when: rank(InputTensor) < 9")
    assert complaints(scratch(reduce=text), "REDUCE_SOME")["overlapping-cases"] == []


def test_lines_name_file_and_linter(scratch) -> None:
    whole = scratch(copy=SOUND.replace("page: own", "note: from memory"))
    operators = {"COPY": whole.tables.operators["COPY"]}
    (line,) = lint_tables(Dialect("directml", {**whole.tables.entries, "operators": operators, "families": {}}))
    assert line.endswith("/directml/operators/COPY.yaml: no-source: expected a source with a page, a path or a package")


def test_examples_cover_rows_together(scratch) -> None:
    """Each of them alone leaves one row and one tensor to the other."""
    start = SOUND.index("  one:")
    text, after = SOUND[start : SOUND.index("counterexamples:")], SOUND[SOUND.index("counterexamples:") :]
    early = text.replace("    source: own\n", '    source: own\n    until: "3.0"\n')
    late = text.replace("  one:\n    source: own\n", '  two:\n    source: own\n    since: "3.0"\n')
    late = late.replace("        OutputTensor: {DataType: FLOAT32, Sizes: [1, 2, 3, 4]}\n", "")
    head = SOUND[:start].replace("OutputTensor: {kind: output}", "OutputTensor: {kind: output, optional: true}")
    assert complaints(scratch(copy=head + early + after))["unshown-part"] == [
        "support.3.0 has no example",
        "fields.OutputTensor: no example omits it",
    ]
    assert complaints(scratch(copy=head + late))["unshown-part"] == [
        "support.1.0 has no example",
        "fields.OutputTensor: no example has it",
    ]
    assert complaints(scratch(copy=head + early + late + after)) == {name: [] for name in LINTERS}


def test_an_unreadable_example_covers_nothing(scratch) -> None:
    texts_by_name = complaints(scratch(copy=SOUND.replace("type: COPY", "type: MOVE")))
    assert texts_by_name["examples-hold"][0].startswith("examples.one: ")
    assert texts_by_name["unshown-part"] == []


def test_an_example_for_an_unknown_level_is_reported(scratch) -> None:
    text = """\
operator: Copy
summary: Copies.
source: [{page: own}]
fields:
  x: {kind: input}
support:
  "1": {}
examples:
  one: {source: own, descriptor: {op_type: Copy, opset: 999, inputs: [{elem_type: FLOAT, shape: [1]}]}}
"""
    texts = complaints(scratch("onnx", copy=text), "Copy")["examples-hold"]
    assert len(texts) == 1
    assert texts[0].startswith("examples.one: ")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["directml", "onnx", "openvino"])
def test_shipped_tables_are_clean(name: str) -> None:
    assert lint_tables(dialect(name)) == []
