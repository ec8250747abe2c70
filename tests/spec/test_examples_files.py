"""Examples files belong to the operator's table, and errors name the file."""

from __future__ import annotations

from specgate.spec.build import build_dialect
from specgate.spec.dialect_spec import Dialect
from specgate.spec.lint import lint_tables
from specgate.spec.store import compiled_tables
from tests.spec.conftest import BASE, REDUCE

WHOLE = REDUCE[: REDUCE.index("observed:\n")]
TABLE, EXAMPLES = (WHOLE[: WHOLE.index("examples:\n")], WHOLE[WHOLE.index("examples:\n") :])
TYPES = BASE["types.yaml"] + "  FLOAT32: {bits: 32, numpy: float32}\n  UINT32: {bits: 32, numpy: uint32}\n"


def separate_files(**changed: str) -> dict[str, str]:
    return {
        "types_yaml": TYPES,
        "operators__REDUCE_SOME_yaml": TABLE,
        "examples__REDUCE_SOME_yaml": EXAMPLES,
        **changed,
    }


def test_the_compiled_table_is_the_same(folder) -> None:
    whole = build_dialect(folder(types_yaml=TYPES, operators__REDUCE_SOME_yaml=WHOLE))
    assert build_dialect(folder(**separate_files())) == whole
    assert whole["operators"]["REDUCE_SOME"]["counterexamples"]


def test_problems_name_the_file_of_the_examples(problems) -> None:
    wrong = EXAMPLES.replace("of: one", "of: two").replace('since: "2.0"', 'since: "9.0"')
    assert problems(**separate_files(examples__REDUCE_SOME_yaml=wrong)) == [
        "examples/REDUCE_SOME.yaml:12: examples.total.since: unknown level '9.0'",
        "examples/REDUCE_SOME.yaml:20: counterexamples.same-rank.of: unknown example 'two'",
    ]
    other = f"{EXAMPLES}rules: {{}}\n"
    assert problems(**separate_files(examples__REDUCE_SOME_yaml=other)) == [
        "examples/REDUCE_SOME.yaml:21: rules: unknown key"
    ]


def test_examples_are_in_only_one_of_two_files(problems) -> None:
    assert problems(**separate_files(operators__REDUCE_SOME_yaml=WHOLE)) == [
        "examples/REDUCE_SOME.yaml:20: counterexamples: operators/REDUCE_SOME.yaml has this key, too",
        "examples/REDUCE_SOME.yaml:2: examples: operators/REDUCE_SOME.yaml has this key, too",
    ]


def test_examples_belong_to_an_operator(problems) -> None:
    assert problems(examples__REDUCE_SOME_yaml=EXAMPLES) == [
        "examples/REDUCE_SOME.yaml: examples without an operator; expected operators/REDUCE_SOME.yaml"
    ]


def test_linters_name_the_file_of_the_examples(folder) -> None:
    wrong = EXAMPLES.replace("Sizes: [1, 2, 3]}", "Sizes: [1, 2, 3, 4]}")
    root = folder(**separate_files(examples__REDUCE_SOME_yaml=wrong))
    table = Dialect("scratch", {**build_dialect(root), "folder": str(root)})
    (problem,) = [line for line in lint_tables(table) if "counterexamples" in line]
    assert problem.startswith("scratch/examples/REDUCE_SOME.yaml: examples-hold: counterexamples.same-rank: ")


def test_user_operators_may_have_separate_examples(tmp_path) -> None:
    for part, text in (("operators", TABLE), ("examples", EXAMPLES)):
        (tmp_path / "directml" / part).mkdir(parents=True)
        (tmp_path / "directml" / part / "REDUCE_SOME.yaml").write_text(text, encoding="utf-8")
    entries = compiled_tables("directml", (tmp_path,))
    assert list(entries["operators"]["REDUCE_SOME"]["examples"]) == ["one", "total"]
