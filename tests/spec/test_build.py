"""Spec files are built completely, or rejected with a line per mistake.

A line has file, line, key, what was expected and what was found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specgate.spec.build import MAX_PROBLEMS, SpecErrors, build_dialect, dialect_files
from specgate.spec.dialect_spec import Dialect
from tests.spec.conftest import BASE, OPERATOR

if TYPE_CHECKING:
    from pathlib import Path


def test_valid_files(folder) -> None:
    tables = build_dialect(folder())
    spec = Dialect("scratch", tables).operator("COPY")
    resolved = spec.resolve("2.0")
    assert resolved is not None
    assert str(resolved.cells["Input"].ranks) == "1 to 8"
    assert [form.require.text for form in resolved.rules] == ["dimensions == rank(Output)", "Axis < dimensions"]
    assert tables["files"] == {"COPY": "operators/COPY.yaml"}


PAGES = "pages: {repository: someone/pages, folder: docs}\n"
SOURCES = {
    "page": ("{page: copy, commit: 0a}", "docs/copy.md"),
    "path": ("{page: Copy-1, path: move/copy.rst, commit: 0a}", "docs/move/copy.rst"),
    "repository": ("{page: Copy-1, repository: another/pages, path: copy.md, commit: 0a}", "copy.md"),
    "no commit": ("{page: copy}", None),
}


@pytest.mark.parametrize(("written", "path"), SOURCES.values(), ids=SOURCES.keys())
def test_sources_are_in_the_folder_of_pages(folder, written: str, path: str | None) -> None:
    text = OPERATOR.replace("  - page: own", f"  - {written}")
    root = folder(operators__COPY_yaml=text, dialect_yaml=BASE["dialect.yaml"] + PAGES)
    (entry,) = build_dialect(root)["operators"]["COPY"]["source"]
    assert entry.get("path") == path
    assert entry.get("repository") == (path and ("another" if "another" in written else "someone") + "/pages")


def test_keys_keep_the_order_of_the_file(folder) -> None:
    text = OPERATOR.replace("summary: Copies.\n", "") + "summary: Copies.\n"
    assert list(build_dialect(folder(operators__COPY_yaml=text))["operators"]["COPY"])[-1] == "summary"


SHAPES = {
    "one rank": ("4", [4, 4]),
    "range": ("1..8", [1, 8]),
    "open range": ("2..", [2, None]),
    "list": ("[5, 4]", {"only": [4, 5]}),
    "any": ("any", None),
}


@pytest.mark.parametrize(("written", "compiled"), SHAPES.values(), ids=SHAPES.keys())
def test_ranks(folder, written: str, compiled: object) -> None:
    text = OPERATOR.replace("Input: {ranks: 4, types: [INT8]}", f"Input: {{ranks: {written}}}")
    assert build_dialect(folder(operators__COPY_yaml=text))["operators"]["COPY"]["support"]["1.0"]["Input"] == {
        "ranks": compiled
    }


def test_type_sets_are_per_row(folder) -> None:
    text = OPERATOR.replace(
        '  "2.0":\n    Input: {ranks: 1..8, types: [INT8, INT16]}',
        '  "2.0":\n    type_sets: {T: [INT16]}\n    Input: {types: T}',
    )
    row = build_dialect(folder(operators__COPY_yaml=text))["operators"]["COPY"]["support"]["2.0"]
    assert row["Input"] == {"ranks": [4, 4], "types": ["INT16"], "variable": "T"}
    assert "type_sets" not in row


MISTAKES = {
    "misspelt key": ("summary:", "sumary:", ["2: sumary: unknown key"]),
    "missing key": ("summary: Copies.\n", "", ["1: summary: expected this key"]),
    "empty key": ("summary: Copies.", "summary:", ["2: summary: expected a string, found None"]),
    "number for a level": (
        "axis-range: Axis < dimensions",
        "axis-range: {require: Axis < dimensions, since: 2.0}",
        ["22: rules.axis-range.since: expected a string, found 2.0"],
    ),
    "kind": (
        "Input: {kind: input}",
        "Input: {kind: inptu}",
        ["6: fields.Input.kind: Input should be 'input', 'output' or 'attribute', found 'inptu'"],
    ),
    "truth": (
        "optional: true",
        "optional: yes",
        ["8: fields.Axis.optional: expected true or false, found 'yes'"],
    ),
    "field name": (
        "Axis: {kind: attribute",
        "Axis-1: {kind: attribute",
        ["8: fields.Axis-1: String should match pattern '^[A-Za-z_][A-Za-z0-9_]*$', found 'Axis-1'"],
    ),
    "rule name": (
        "axis-range:",
        "AxisRange:",
        ["22: rules.AxisRange: String should match pattern '^[a-z][a-z0-9]*(-[a-z0-9]+)*$', found 'AxisRange'"],
    ),
    "rank": (
        "Input: {ranks: 4,",
        "Input: {ranks: 4-5,",
        ['11: support.1.0.Input.ranks: expected a rank (4), a range ("1..8", "1.."), a list ([4, 5]) or "any", found \'4-5\''],
    ),
    "number for a rule": (
        "axis-range: Axis < dimensions",
        "axis-range: 4",
        ["22: rules.axis-range: expected a string or a mapping or a list, found 4"],
    ),
    "word among numbers": (
        "Input: {ranks: 4, types: [INT8]}",
        "Input: {values: [1, 2.5]}",
        ["11: support.1.0.Input.values.1: expected a string or an integer, found 2.5"],
    ),
    "cell": (
        "Input: {ranks: 4, types: [INT8]}",
        "Input: {rank: 4, types: [INT8]}",
        ["11: support.1.0.Input.rank: unknown key"],
    ),
    "no types": (
        "Input: {ranks: 4, types: [INT8]}",
        "Input: {ranks: 4, types: []}",
        ["11: support.1.0.Input.types: List should have at least 1 item after validation, not 0, found []"],
    ),
    "type set": (
        '  "1.0":\n',
        '  "1.0":\n    type_sets: {T: INT8}\n',
        ["11: support.1.0.type_sets.T: expected a list or a set such as $NAME, found 'INT8'"],
    ),
    "key of a rule": (
        "because: both",
        "becuase: both",
        ["21: rules.same-rank.becuase: unknown key"],
    ),
    "rule without its expression": (
        "require: dimensions == rank(Output)\n    ",
        "",
        ["20: rules.same-rank.require: expected this key"],
    ),
    "hides": (
        "because: both have as many dimensions",
        "hides: [rank]",
        ["21: rules.same-rank.hides.0: Input should be 'ranks' or 'types', found 'rank'"],
    ),
    "constants": (
        '"2.0": {index_axis: kept}',
        '"2.0": {index_axis: [kept]}',
        ["24: execute: expected level '2.0' to hold constants, or expression: …, by argument name, found {'kernel': 'one_hot', 'arrays': {'indices': 'Input'}, 'argu…"],
    ),
    "list for a mapping": ("  same-rank:\n    require", "  - same-rank:\n    require", None),
    "duplicate rule": ("  axis-range: Axis", "  same-rank: Axis", ["line 22: the key 'same-rank' is duplicated"]),
    "not YAML": ("summary: Copies.", "summary: 'Copies.", None),
    "control character": ("Copies.", "Copies\x07.", None),
    "key with a line break": ("summary:", '"sum\\nmary": 1\nsummary:', ["2: 'sum\\nmary': unknown key"]),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "lines"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes(operator_problems, old: str, new: str, lines: list[str] | None) -> None:
    result = operator_problems(old, new)
    assert all(problem.startswith("operators/COPY.yaml:") for problem in result)
    if lines is None:
        assert len(result) == 1
    else:
        assert [problem.removeprefix("operators/COPY.yaml:").strip() for problem in result] == lines


def test_five_mistakes_make_five_lines(problems) -> None:
    text = (
        OPERATOR.replace("summary: Copies.", "summary: 3")
        .replace("Input: {kind: input}", "Input: {kind: inptu}")
        .replace("because: both", "becuase: both")
        .replace("axis-range: Axis < dimensions", "axis-range: 4")
        .replace("kernel: one_hot", "kernel: one-hot")
    )
    result = problems(operators__COPY_yaml=text)
    assert [problem.split(": ")[:2] for problem in result] == [
        ["operators/COPY.yaml:2", "summary"],
        ["operators/COPY.yaml:6", "fields.Input.kind"],
        ["operators/COPY.yaml:21", "rules.same-rank.becuase"],
        ["operators/COPY.yaml:22", "rules.axis-range"],
        ["operators/COPY.yaml:24", "execute.kernel"],
    ]


def test_mistakes_of_all_files_at_once(problems) -> None:
    result = problems(
        operators__COPY_yaml=OPERATOR.replace("Axis < dimensions", "Axs < dimensions"),
        operators__TWO_yaml=OPERATOR.replace("COPY", "TWO").replace("summary", "sumary"),
        operators__THREE_yaml="- 3\n",
        notes_yaml="a: 1\n",
        environments_yaml="dialect: scratch\nsources: []\nenvironments: [{name: w, title: W, kind: windows, level: '9', via: null, source: x}]\n",
    )
    assert sorted(problem.partition(": ")[0] for problem in result) == [
        "environments.yaml:3",
        "notes.yaml",
        "operators/COPY.yaml:22",
        "operators/THREE.yaml:1",
        "operators/TWO.yaml:2",
    ]


def test_the_same_operator_in_two_files(problems) -> None:
    assert problems(operators__sub__COPY_yaml=OPERATOR) == [
        "operators/sub/COPY.yaml:1: operator: expected 'COPY' in a file named COPY.yaml",
        "operators/sub/COPY.yaml:1: operator: 'COPY' is in operators/COPY.yaml too",
    ]


@pytest.mark.parametrize(
    ("file", "operator", "expected"),
    [
        ("TWO", "TWO", None),
        ("Two", "org.nets.Two", None),
        ("org.nets/Two", "org.nets.Two", None),
        ("two", "TWO", "TWO.yaml"),
        ("org/Two", "org.nets.Two", "org.nets/Two.yaml"),
        ("org.nets/two", "org.nets.Two", "org.nets/Two.yaml"),
        ("org.nets.Two", "org.nets.Two", "Two.yaml"),
    ],
)
def test_a_file_is_named_after_its_operator(problems, file: str, operator: str, expected: str | None) -> None:
    line = f"operators/{file}.yaml:1: operator: expected {operator!r} in a file named {expected}"
    text = OPERATOR.replace("operator: COPY", f"operator: {operator}")
    assert problems(**{f"operators__{file}_yaml": text}) == ([] if expected is None else [line])


def test_names_differ_by_more_than_case(problems) -> None:
    assert problems(operators__Copy_yaml=OPERATOR.replace("COPY", "Copy")) == [
        "operators/Copy.yaml:1: operator: operators/COPY.yaml has the same name except for case, which some file systems ignore"
    ]


@pytest.mark.parametrize("name", BASE)
def test_missing_files(problems, name: str) -> None:
    assert problems(**{name.replace(".", "_"): None}) == [f"{name}: missing"]


@pytest.mark.parametrize("name", BASE)
def test_broken_base_files(problems, name: str) -> None:
    line = len(BASE[name].splitlines()) + 1
    assert problems(**{name.replace(".", "_"): BASE[name] + "more: 1\n"}) == [f"{name}:{line}: more: unknown key"]


def test_strange_files(problems) -> None:
    files = "codes.yaml, dialect.yaml, levels.yaml, types.yaml, environments.yaml, sets.yaml, tensor.yaml"
    text = f"expected {files}, operators/NAME.yaml, examples/NAME.yaml or families/NAME.yaml"
    assert problems(operator__x_yaml=OPERATOR) == [f"operator/x.yaml: not a spec file; {text}"]


def test_files_that_are_not_text(folder) -> None:
    root: Path = folder()
    (root / "operators" / "COPY.yaml").write_bytes(b"operator: \xff\xfe")
    with pytest.raises(SpecErrors, match=r"COPY\.yaml: cannot be read: expected UTF-8 text$"):
        build_dialect(root)


def test_many_mistakes_are_counted(problems) -> None:
    result = problems(operators__COPY_yaml=OPERATOR + "".join(f"key{i}: 1\n" for i in range(1000)))
    assert len(result) == MAX_PROBLEMS + 1
    assert result[-1] == "operators/COPY.yaml: … and more problems"


def test_folders_and_links_named_like_files(folder) -> None:
    root: Path = folder()
    (root / "operators" / "folder.yaml").mkdir()
    (root / "operators" / ".#COPY.yaml").symlink_to("nobody@nowhere.123")
    assert [path.name for path in dialect_files(root)] == ["dialect.yaml", "levels.yaml", "COPY.yaml", "types.yaml"]
    assert list(build_dialect(root)["operators"]) == ["COPY"]
