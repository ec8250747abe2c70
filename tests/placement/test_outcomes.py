"""What becomes of a node that breaks a rule of ONNX on the CPU: refused, failing at the first run, or computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import specgate
from specgate.placement.checks import runs_problems
from specgate.placement.outcomes import outcome

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor


def node(operator: str, version: str, inputs, outputs=(("FLOAT", [2, 3]),), **attributes) -> Descriptor:
    made = {
        "op_type": operator,
        "inputs": [each and {"elem_type": each[0], "shape": each[1]} for each in inputs],
        "outputs": [{"elem_type": kind, "shape": shape} for kind, shape in outputs],
        "attributes": attributes,
        "opset": int(version),
    }
    return specgate.descriptor(made, dialect="onnx")


X = ("FLOAT", [2, 3])


@pytest.mark.parametrize(("shape", "expected"), [([1], "runs"), ([1, 1], "fails"), ([3], "fails")])
def test_a_bound_of_clip_that_is_not_a_scalar(shape, expected) -> None:
    assert outcome(node("Clip", "13", [X, ("FLOAT", shape)]), "min-scalar", "1.32.0") == expected


def test_a_rule_that_keeps_a_session_from_being_created() -> None:
    broken = node("Concat", "13", [X, ("FLOAT", [2, 3, 1])], axis=0)
    assert outcome(broken, "same-rank", "1.32.0") == "refused"


def test_a_stated_output_shape_does_not_matter() -> None:
    assert outcome(node("Relu", "14", [X], [("FLOAT", [2, 4])]), "same-sizes", "1.32.0") == "runs"


def test_a_rule_that_was_not_measured() -> None:
    assert outcome(node("Relu", "14", [X]), "no-such-rule", "1.32.0") == "unknown"


def test_names_in_the_file_are_checked() -> None:
    content = {
        "operators": {
            "Clip": {"runs": ["max-scaler", {"rule": "min-scalar", "when": "rank(mim) == 1"}]},
            "Clipp": {"fails": ["min-scalar"]},
        }
    }
    texts = [text for _, text in runs_problems(content)]
    assert texts[0] == "Clip has no rule 'max-scaler'"
    assert "mim" in texts[1]
    assert texts[2] == "unknown operator 'Clipp'"
