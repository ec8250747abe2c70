"""What the runtime refuses while it loads a model, and what it takes though the onnx package does not."""

from __future__ import annotations

import pytest

import specgate
from specgate.placement.checks import loading_problems
from specgate.placement.loading import loading_of
from specgate.placement.registrations import runtime_tables
from tests.linting.models import FLOAT, INT64, graph, helper, info, model, onnx
from tests.placement.test_place import DML, one

COMPLEX64, FLOAT8 = onnx.TensorProto.COMPLEX64, onnx.TensorProto.FLOAT8E5M2


def session(made) -> str:
    return specgate.place(made, DML).session


@pytest.mark.parametrize("keepdims", [0, 1, 2])
def test_the_provider_refuses_other_keepdims(keepdims) -> None:
    made = one("ReduceSum", info("x", [2, 3]), opset=11, axes=[1], keepdims=keepdims)
    assert session(made) == ("fails" if keepdims == 2 else "created")


def test_rules_that_are_always_asked() -> None:
    numbers = [helper.make_tensor(name, INT64, [], [1]) for name in ("a", "d")]
    cases: list[tuple[list[int], str]] = [([], "created"), ([1], "fails")]
    for dims, expected in cases:
        limit = helper.make_tensor("b", INT64, dims, [5])
        assert (
            session(
                one("Range", "a", "b", "d", opset=11, output=info("y", None, INT64), initializers=[*numbers, limit])
            )
            == expected
        )


def test_rules_that_are_not_asked() -> None:
    for pads in ([1, 1, 1, 0], [1, 1, 1, -1]):
        made = one("MaxPool", info("x", [1, 4, 7, 9]), opset=12, kernel_shape=[3, 3], strides=[2, 1], pads=pads)
        assert session(made) == "created"


def test_checks_of_its_own() -> None:
    for perm, expected in (([1, 0], "created"), ([1, 1], "fails"), ([1, 2], "fails")):
        assert session(one("Transpose", info("x", [2, 3]), opset=13, perm=perm)) == expected
    for onesided, expected in ((0, "created"), (1, "fails")):
        made = one("DFT", info("x", [1, 8, 4, 2]), opset=20, inverse=1, onesided=onesided)
        assert session(made) == expected


def test_checks_of_the_cpu_are_not_those_of_the_provider() -> None:
    shape = helper.make_tensor("s", INT64, [1], [2])
    for kind, expected in ((FLOAT, "created"), (FLOAT8, "fails")):
        value = helper.make_tensor("v", kind, [1], [1.0])
        made = one("ConstantOfShape", "s", opset=23, output=info("y", [2], kind), initializers=[shape], value=value)
        assert session(made) == expected
    assert any(check.cpu for check in loading_of("ConstantOfShape").checks)


def test_constants_of_types_that_the_runtime_has_not() -> None:
    for kind, expected in ((FLOAT, "created"), (COMPLEX64, "fails")):
        value = helper.make_tensor("v", kind, [1], [1.0])
        made = graph([helper.make_node("Constant", [], ["y"], value=value)], [], [info("y", [1], kind)])
        assert session(model(made, opsets=[("", 13)])) == expected


def test_pads_beside_auto_pad_must_make_as_many_windows() -> None:
    for pads, expected in (([1, 1], "created"), ([0, 0], "fails")):
        made = one("AveragePool", info("x", [1, 1, 8]), opset=10, kernel_shape=[3], auto_pad="SAME_UPPER", pads=pads)
        assert session(made) == expected


def test_mistakes_in_the_file_are_named() -> None:
    wrong = {
        "operators": {
            "Nonsense": {},
            "Range": {"asks": ["no-such-rule"]},
            "DFT": {"refuses": {"one": {"when": "invers != 0", "because": "no"}}},
        }
    }
    places = [(place, text) for place, text in loading_problems(wrong, list(runtime_tables()["releases"]))]
    assert places[0] == (("operators", "Nonsense"), "unknown operator 'Nonsense'")
    assert places[1] == (("operators", "Range", "asks"), "Range has no rule 'no-such-rule'")
    assert places[2][0] == ("operators", "DFT", "refuses")


def test_releases_of_rules_are_checked() -> None:
    wrong = {
        "operators": {
            "Slice": {"asks": [{"axes-range": "0.1.."}]},
            "DFT": {"refuses": {"one": {"when": "inverse != 0", "because": "no", "releases": "1.24..1.18"}}},
        }
    }
    places = dict(loading_problems(wrong, list(runtime_tables()["releases"])))
    assert "unknown release '0.1'" in places["operators", "Slice", "asks"]
    assert "the earlier release first" in places["operators", "DFT", "refuses", "one", "releases"]
