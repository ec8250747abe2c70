"""A family's file defines shared facts; its errors are reported once, in place."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from specgate.spec import store
from specgate.spec.build import build_dialect
from specgate.spec.dialect_spec import Dialect
from specgate.spec.lint import LINTERS, lint_tables
from specgate.spec.store import compiled_tables
from tests.spec.conftest import BASE, FAMILY, MEMBER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHARING = """\
operator: {name}
family: sharing
summary: Copies.
source:
  - page: own
support:
  "1.0":
    InputTensor: {{ranks: 4, types: [FLOAT32]}}
    OutputTensor: {{ranks: 4, types: [FLOAT32]}}
examples:
  one:
    source: own
    descriptor:
      type: {name}
      desc:
        InputTensor: {{DataType: FLOAT32, Sizes: [1, 2, 3, 4]}}
        OutputTensor: {{DataType: FLOAT32, Sizes: {sizes}}}
"""
SHARED = """\
family: sharing
fields:
  InputTensor: {kind: input}
  OutputTensor: {kind: output}
rules:
  same-sizes: InputTensor.sizes == OutputTensor.sizes
counterexamples:
  same-sizes: {of: one, set: {desc.OutputTensor.Sizes: [4, 3, 2, 1]}}
"""


@pytest.fixture
def move(folder) -> Callable[..., dict[str, Any]]:
    """Build the operator MOVE of a family and return its compiled table."""

    def build(member: str = MEMBER, family: str = FAMILY) -> dict[str, Any]:
        result: dict[str, Any] = build_dialect(folder(operators__MOVE_yaml=member, families__copying_yaml=family))
        return result["operators"]["MOVE"]  # type: ignore[no-any-return]

    return build


def test_family_entries_come_first(move) -> None:
    result = move()
    assert list(result["fields"]) == ["Input", "Output", "Axis"]
    assert list(result["rules"]) == ["same-rank", "same-type", "axis-range"]
    assert result["tolerance"] == "0"
    assert result["execute"]["kernel"] == "one_hot"
    assert [entry["not_enforced"] for entry in result["observed"]] == [["same-type"]]
    assert list(result["counterexamples"]) == ["same-rank", "same-type"]


def test_operator_entries_override_family_entries(move) -> None:
    result = move(
        MEMBER.replace("fields:\n", "fields:\n  Input: {kind: input, doc: mine}\n").replace(
            "rules:\n", "rules:\n  same-type: type(Output) == INT8\n"
        )
        + "tolerance: '1'\nexecute: {arguments: {depth: '3'}, arrays: {values: Output}}\n"
        + "observed:\n  - {builds: '2.0', evidence: mine}\n"
    )
    assert list(result["fields"]) == ["Input", "Output", "Axis"]
    assert result["fields"]["Input"]["doc"] == "mine"
    assert result["rules"]["same-type"] == [{"require": "type(Output) == INT8"}]
    assert result["tolerance"] == "1"
    assert result["execute"] == {
        "kernel": "one_hot",
        "arrays": {"indices": "Input", "values": "Output"},
        "arguments": {"axis": "dimensions", "depth": "3"},
        "outputs": ["Output"],
    }
    assert [entry["evidence"] for entry in result["observed"]] == ["measured", "mine"]


PLACES = {
    "its rule": (FAMILY, "type(Input) ==", "typ(Input) ==", "families/copying.yaml:9: rules.same-type.require: "),
    "its define": (FAMILY, "rank(Input)", "rank(Inputs)", "families/copying.yaml:6: define.dimensions: "),
    "its counterexample": (FAMILY, "same-type: {of: one", "same-type: {of: two", "families/copying.yaml:18: counterexamples.same-type.of: unknown example 'two' (in 'MOVE')"),
    "its array": (FAMILY, "{indices: Input}", "{indices: Axis}", "families/copying.yaml:12: execute.arrays: 'Axis' is not a tensor field (in 'MOVE')"),
    "its observation": (FAMILY, "[same-type]", "[same]", "families/copying.yaml:20: observed.0.not_enforced: unknown rule 'same' (in 'MOVE')"),
    "an own rule": (MEMBER, "Axis < dimensions", "Axs < dimensions", "operators/MOVE.yaml:13: rules.axis-range.require: "),
    "an own observation": (MEMBER, "examples:", "observed: [{builds: '9.0', evidence: x}]\nexamples:", "operators/MOVE.yaml:14: observed.0.builds: "),
    "an own cell": (MEMBER, "Input: {ranks: 4, types: [INT8]}", "Inputs: {ranks: 4}", "operators/MOVE.yaml:10: support.1.0.Inputs: unknown field 'Inputs'"),
    "a key": (FAMILY, "tolerance:", "tolerence:", "families/copying.yaml:15: tolerence: unknown key"),
    "another name": (FAMILY, "family: copying", "family: copies", "families/copying.yaml:1: family: expected 'copying'"),
    "an unknown family": (MEMBER, "family: copying", "family: copies", "operators/MOVE.yaml:2: family: unknown family 'copies'"),
    "half a recipe": (FAMILY, "  outputs: [Output]\n", "", "families/copying.yaml:11: execute.outputs: expected this key"),
}  # fmt: skip


@pytest.mark.parametrize(("where", "old", "new", "line"), PLACES.values(), ids=PLACES.keys())
def test_mistakes_are_reported_at_their_line(problems, where: str, old: str, new: str, line: str) -> None:
    assert where.count(old) == 1
    texts = [text.replace(old, new) if text is where else text for text in (MEMBER, FAMILY)]
    result = problems(operators__MOVE_yaml=texts[0], families__copying_yaml=texts[1])
    assert result[0].startswith(line)


def test_a_family_mistake_is_reported_once(problems) -> None:
    result = problems(
        operators__MOVE_yaml=MEMBER,
        operators__SHIFT_yaml=MEMBER.replace("MOVE", "SHIFT").replace("Axis", "Way"),
        families__copying_yaml=FAMILY.replace("type(Input) ==", "type(Inputs) =="),
    )
    assert [line.partition(": unknown")[0] for line in result] == ["families/copying.yaml:9: rules.same-type.require"]


def test_a_broken_family_hides_problems_of_its_operators(problems) -> None:
    result = problems(operators__MOVE_yaml=MEMBER, families__copying_yaml="family: copying\nrules: 3\n")
    assert result == ["families/copying.yaml:2: rules: expected a mapping, found 3"]


def test_an_operator_without_any_fields(problems) -> None:
    text = MEMBER.replace("family: copying\n", "").replace("fields:\n  Axis: {kind: attribute, type: uint}\n", "")
    assert problems(operators__MOVE_yaml=text) == ["operators/MOVE.yaml:1: fields: expected this key"]


def test_the_linters_check_the_whole_operator(folder) -> None:
    root = folder(
        operators__MOVE_yaml=MEMBER.replace("summary: Moves.\n", "") + "summary: Moves.\n",
        families__copying_yaml=FAMILY,
        families__idle_yaml="rules: {one: 'true'}\nfamily: idle\n",
    )
    table = Dialect("scratch", {**build_dialect(root), "folder": str(root)})
    assert list(LINTERS["canonical-order"](table.operator("MOVE"))) == [
        "expected the keys in the order operator, family, summary, source, fields, support, rules, examples"
    ]
    assert list(LINTERS["unbroken-rule"](table.operator("MOVE"))) == ["rules.axis-range has no counterexample"]
    lines = [line for line in lint_tables(table) if "/families/" in line]
    assert lines == [
        "scratch/families/idle.yaml: canonical-order: expected the keys in the order family, rules",
        "scratch/families/idle.yaml: unused-family: no operator uses it",
    ]


def test_counterexamples_apply_to_every_family_operator(scratch, tmp_path: Path) -> None:
    (tmp_path / "directml" / "families").mkdir(parents=True)
    (tmp_path / "directml" / "families" / "sharing.yaml").write_text(SHARED, encoding="utf-8")
    table = scratch(
        good=SHARING.format(name="GOOD", sizes="[1, 2, 3, 4]"), bad=SHARING.format(name="BAD", sizes="[4, 3, 2, 1]")
    )
    assert list(LINTERS["examples-hold"](table.operator("GOOD"))) == []
    complaint = next(iter(LINTERS["examples-hold"](table.operator("BAD"))))
    assert complaint == "examples.one is rejected at 1.0: directml/BAD/same-sizes"
    wrong = SHARED.replace("[4, 3, 2, 1]", "[1, 2, 3, 4]")
    (tmp_path / "directml" / "families" / "sharing.yaml").write_text(wrong, encoding="utf-8")
    table = scratch()
    complaint = "counterexamples.same-sizes: expected only directml/GOOD/same-sizes at 6.4, found nothing"
    assert list(LINTERS["examples-hold"](table.operator("GOOD"))) == [complaint]


def test_an_extra_folder_may_use_a_family_of_the_dialect(
    folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = folder(operators__MOVE_yaml=MEMBER, families__copying_yaml=FAMILY)
    extra = tmp_path / "extra"
    (extra / "scratch" / "operators").mkdir(parents=True)
    (extra / "scratch" / "operators" / "SHIFT.yaml").write_text(MEMBER.replace("MOVE", "SHIFT"), encoding="utf-8")
    monkeypatch.setattr(store, "_BUILT_IN_FOLDER", tmp_path / "nowhere")
    entries = compiled_tables("scratch", (root.parent, extra))
    assert list(entries["operators"]["SHIFT"]["rules"]) == ["same-rank", "same-type", "axis-range"]


def test_tables_are_rebuilt_when_a_family_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "specs" / "scratch"
    for name, text in {**BASE, "operators/MOVE.yaml": MEMBER, "families/copying.yaml": FAMILY}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(store, "CHECKOUT", tmp_path / "specs")
    monkeypatch.setattr(store, "_BUILT_IN_FOLDER", tmp_path / "compiled")
    assert compiled_tables("scratch")["operators"]["MOVE"]["tolerance"] == "0"
    family = root / "families" / "copying.yaml"
    family.write_text(FAMILY.replace('tolerance: "0"', 'tolerance: "1"'), encoding="utf-8")
    os.utime(family, ns=(0, 0))
    assert compiled_tables("scratch")["operators"]["MOVE"]["tolerance"] == "1"
    _, kept = (tmp_path / "compiled" / "scratch.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(kept)["tolerance"] == "1"
