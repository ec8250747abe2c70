from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specgate.spec.build import SpecErrors, build_dialect

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BASE = {
    "dialect.yaml": "dialect: scratch\ntitle: Scratch\nlevel: level\nunstated_outputs: false\n",
    "levels.yaml": """\
dialect: scratch
what: level
sources: [{name: own}]
levels:
  "1.0": {limits: {max_dimensions: 5}}
  "2.0": {limits: {max_dimensions: 5}}
  "3.0": {limits: {max_dimensions: 8}}
""",
    "types.yaml": """\
dialect: scratch
sources: [{name: own}]
types:
  INT8: {bits: 8, numpy: int8}
  INT16: {bits: 16, numpy: int16, since: "2.0"}
""",
}
OPERATOR = """\
operator: COPY
summary: Copies.
source:
  - page: own
fields:
  Input: {kind: input}
  Output: {kind: output}
  Axis: {kind: attribute, type: uint, optional: true}
support:
  "1.0":
    Input: {ranks: 4, types: [INT8]}
    Output: {ranks: 4, types: [INT8]}
  "2.0":
    Input: {ranks: 1..8, types: [INT8, INT16]}
    Output: {ranks: 1..8, types: [INT8, INT16]}
define:
  dimensions: rank(Input)
rules:
  same-rank:
    require: dimensions == rank(Output)
    because: both have as many dimensions
  axis-range: Axis < dimensions
execute:
  kernel: one_hot
  arrays: {indices: Input}
  arguments: {axis: Axis}
  outputs: [Output]
  "2.0": {index_axis: kept}
"""
FAMILY = """\
family: copying
fields:
  Input: {kind: input}
  Output: {kind: output}
define:
  dimensions: rank(Input)
rules:
  same-rank: dimensions == rank(Output)
  same-type: type(Input) == type(Output)
execute:
  kernel: one_hot
  arrays: {indices: Input}
  arguments: {axis: dimensions}
  outputs: [Output]
tolerance: "0"
counterexamples:
  same-rank: {of: one, set: {desc.Output.Sizes: [1]}}
  same-type: {of: one, set: {desc.Output.DataType: INT16}}
observed:
  - {builds: "1.0", not_enforced: [same-type], evidence: measured}
"""
MEMBER = """\
operator: MOVE
family: copying
summary: Moves.
source:
  - page: own
fields:
  Axis: {kind: attribute, type: uint}
support:
  "1.0":
    Input: {ranks: 4, types: [INT8]}
    Output: {ranks: 4, types: [INT8]}
rules:
  axis-range: Axis < dimensions
examples:
  one: {source: own, descriptor: {type: MOVE, desc: {}}}
"""
REDUCE = """\
operator: REDUCE_SOME
summary: Reduces.
source:
  - page: own
fields:
  Function: {kind: attribute, type: "enum:REDUCE_FUNCTION", words: [ARGMAX, ARGMIN, SUM, L1]}
  InputTensor: {kind: input}
  OutputTensor: {kind: output}
support:
  - when: Function in (ARGMAX, ARGMIN)
    "1.0":
      InputTensor: {ranks: 4, types: [FLOAT32]}
      OutputTensor: {ranks: 4, types: [UINT32]}
    "3.0":
      InputTensor: {ranks: 1..8}
      OutputTensor: {ranks: 1..8}
  - when: Function == SUM
    "2.0":
      InputTensor: {ranks: 4, types: [FLOAT32]}
      OutputTensor: {ranks: 4, types: [FLOAT32]}
rules:
  same-rank: {require: rank(InputTensor) == rank(OutputTensor), because: both must have the same rank}
examples:
  one:
    source: own
    descriptor:
      type: REDUCE_SOME
      desc:
        Function: ARGMAX
        InputTensor: {DataType: FLOAT32, Sizes: [1, 2, 3, 4]}
        OutputTensor: {DataType: UINT32, Sizes: [1, 2, 3, 1]}
  total:
    source: own
    since: "2.0"
    descriptor:
      type: REDUCE_SOME
      desc:
        Function: SUM
        InputTensor: {DataType: FLOAT32, Sizes: [1, 2, 3, 4]}
        OutputTensor: {DataType: FLOAT32, Sizes: [1, 2, 3, 1]}
counterexamples:
  same-rank: {of: one, set: {desc.OutputTensor.Sizes: [1, 2, 3]}}
observed:
  - builds: "3.0..4.1"
    support:
      OutputTensor: {types: [UINT32, INT64], when: "Function in (ARGMAX, ARGMIN)"}
    evidence: measured
  - builds: "4.0"
    support:
      InputTensor: {ranks: 5}
    evidence: measured
"""


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a valid dialect folder with changed files.

    Files are replaced, added, or (None) left out.
    """

    def lay_out(**changed: str | None) -> Path:
        files: dict[str, str | None] = {**BASE, "operators/COPY.yaml": OPERATOR}
        files.update({name.replace("__", "/").replace("_yaml", ".yaml"): text for name, text in changed.items()})
        for name, text in files.items():
            path = tmp_path / "scratch" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is not None:
                path.write_text(text, encoding="utf-8")
        return tmp_path / "scratch"

    return lay_out


@pytest.fixture
def problems(folder) -> Callable[..., list[str]]:
    """Return a function that builds such a folder and returns the errors, without paths."""

    def build(**changed: str | None) -> list[str]:
        root = folder(**changed)
        try:
            build_dialect(root)
        except SpecErrors as error:
            assert str(error) == "\n".join(error.problems)
            assert all(problem.isprintable() for problem in error.problems)
            return [problem.removeprefix(f"{root}/") for problem in error.problems]
        return []

    return build


@pytest.fixture
def operator_problems(problems) -> Callable[[str, str], list[str]]:
    """Return a function that replaces a text of the operator file; returns the errors."""

    def build(old: str, new: str) -> list[str]:
        assert OPERATOR.count(old) == 1
        return problems(operators__COPY_yaml=OPERATOR.replace(old, new))  # type: ignore[no-any-return]

    return build
