"""Lowering tables are checked when loaded: errors have file, line and reason."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from specgate.runtimes.onnxruntime.lowering.build import build_lowering
from specgate.spec.build import SpecErrors
from tests.paths import SPECS

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = SPECS / "onnxruntime" / "lowering"
SOURCE = "source: [{repository: a/b, path: c, commit: d}]\n"
GOOD = f"""summary: s
{SOURCE}operators: {{Relu: {{dml: ACTIVATION_RELU}}}}
rows:
  - to: [{{operator: $dml, InputTensor: X, OutputTensor: Y}}]
"""


def problems(folder: Path, text: str) -> str:
    (folder / "general.yaml").write_text((FOLDER / "general.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "relu.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecErrors) as raised:
        build_lowering(folder)
    assert len(raised.value.problems) == 1
    return raised.value.problems[0].removeprefix(f"{folder}/")


def test_a_valid_table_is_built(tmp_path: Path) -> None:
    (tmp_path / "general.yaml").write_text((FOLDER / "general.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "relu.yaml").write_text(GOOD, encoding="utf-8")
    assert list(build_lowering(tmp_path)["operators"]) == ["Relu"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.timeout(20)
def test_a_named_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "general.yaml")
    with pytest.raises(SpecErrors, match=r"general\.yaml: expected a regular file"):
        build_lowering(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("$dml,", "ACTIVATION_RELUX,", "relu.yaml:5: rows.0.to.0.operator: Relu: unknown operator of DirectML"),
        ("$dml,", "$other,", "relu.yaml:5: rows.0.to.0.operator: Relu: the operator does not define $other"),
        ("Y}", "Y, Alpha: 1}", "relu.yaml:5: rows.0.to.0.Alpha: Relu: unknown field of ACTIVATION_RELU"),
        (", OutputTensor: Y", "", "relu.yaml:5: rows.0.to.0: Relu: expected the field OutputTensor"),
        ("Tensor: Y", "Tensor: Z", "relu.yaml:5: rows.0.to.0.OutputTensor: Relu: expected the name of a tensor"),
        ("Tensor: Y", "Tensor: {of: Y, align: middle}", "OutputTensor.align: Relu: expected one of right, left"),
        ("Tensor: Y", "Tensor: {of: Y, wide: 1}", "OutputTensor.wide: Relu: unknown key; known: of, as"),
        ("Tensor: Y", "Tensor: {as: FLOAT32}", "OutputTensor: Relu: expected either `of`, or `as` and `sizes`"),
        ("Tensor: Y", "Tensor: {of: Y, sizes: [rank(Q)]}", "OutputTensor.0: Relu: unknown name 'Q'"),
        (
            "Tensor: Y",
            "Tensor: {of: Y, sizes: {each: 1}}",
            "OutputTensor: Relu: expected a list, or `each` and `count`",
        ),
        ("- to", "- when: rank(X)\n    to", "relu.yaml:5: rows.0.when: Relu: expected a truth, found a number"),
        ("- to", "- function: turned\n    to", "rows.0.function: Relu: unknown function 'turned'"),
        ("rows", "use: [doors]\nrows", "relu.yaml:4: use.0: Relu: general.yaml shares no 'doors'"),
        ("Relu: {", "Relux: {", "fields: Relux: has no ONNX table, so its fields are required"),
        ("rows", "define: {a: b}\nrows", "relu.yaml:4: define.a: Relu: unknown name 'b'"),
        ("rows", "lists: {a: [b]}\nrows", "relu.yaml:4: lists.a.0: Relu: unknown name 'b'"),
        ("rows", "refuses: {a: {when: b, because: c}}\nrows", "refuses.a.when: Relu: unknown name 'b'"),
        ("summary: s\n", "", "relu.yaml:1: summary: expected this key"),
        ("rows:", "rows: []\nrowz:", "relu.yaml:6: rowz: unknown key"),
    ],
)
def test_a_mistake_is_reported(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert problem in problems(tmp_path, GOOD.replace(old, new, 1))


def test_an_operator_has_a_single_table(tmp_path: Path) -> None:
    (tmp_path / "again.yaml").write_text(GOOD, encoding="utf-8")
    assert problems(tmp_path, GOOD) == "relu.yaml:3: operators.Relu: another file defines it, too"
