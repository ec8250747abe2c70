"""Without `after` a rule echoes the earlier rules on which it depends."""

from __future__ import annotations

import pytest

from specgate.spec.build import build_dialect
from tests.spec.conftest import OPERATOR

RULES = """\
rules:
  one-axis: len(Axes) == 1
  axis-range: Axis < rank(Input)
  same-rank: rank(Input) == rank(Output)
  same-type: type(Input) == type(Output)
  size-one: Input.sizes[0] == 1
  {name}
"""


def causes_of_rule(folder, rule: str) -> list[str] | None:
    text = OPERATOR.replace("optional: true}", "optional: true}\n  Axes: {kind: attribute, type: 'uint[]'}")
    text = text[: text.index("rules:")] + RULES.format(name=f"last: {rule}") + text[text.index("execute:") :]
    forms = build_dialect(folder(operators__COPY_yaml=text))["operators"]["COPY"]["rules"]["last"]
    return forms[0].get("after")  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("rule", "causes"),
    [
        ("Input.sizes[Axis] == 1", ["axis-range"]),  # with the rank and Axis, and the sizes as well
        ("Input.sizes == Output.sizes", ["same-rank"]),
        ("all(Input.sizes[d] == Output.sizes[d] for d in range(Axis))", ["axis-range", "same-rank"]),
        ("rank(Output) == Axes[0]", ["one-axis"]),
        ("dimensions < 3 and Axis == 0 and Output.sizes[0] == 1", ["axis-range", "same-rank"]),  # through a define
        ("{require: 'Output.sizes[0] == 1', when: 'Axes[0] == 0'}", ["one-axis"]),
        ("rank(Output) == rank(Input)", None),  # nothing beside what same-rank reads
        ("elements(Output) > 0", None),  # it does not read Input
        ("bits(Input) == 8 and type(Output) == INT8", None),
        ("Input.sizes[0] < Input.sizes[1]", None),  # sizes of 1 are not a precondition
        ("{require: 'Input.sizes == Output.sizes', after: []}", None),
        ("{require: 'Input.sizes == Output.sizes', after: [size-one]}", ["size-one"]),
    ],
)
def test_causes_of_a_rule(folder, rule: str, causes: list[str] | None) -> None:
    assert causes_of_rule(folder, rule) == causes
