"""What the runtime refuses while it loads a model, and what it takes though the onnx package does not."""

from __future__ import annotations

import pytest

import specgate
from specgate.placement.checks import loading_problems
from specgate.placement.loading import loading_of
from specgate.placement.lowering.checks import holds_at
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
    assert any(check.cpu for check in loading_of("ConstantOfShape", "1.24.4").checks)


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
    places = [(place, text) for place, text in loading_problems(wrong)]
    assert places[0] == (("operators", "Nonsense"), "unknown operator 'Nonsense'")
    assert places[1] == (("operators", "Range", "asks"), "Range has no rule 'no-such-rule'")
    assert places[2][0] == ("operators", "DFT", "refuses")


def test_what_is_said_of_some_releases_and_versions_is_said_of_these() -> None:
    pads = one("AveragePool", info("x", [1, 1, 8]), opset=10, kernel_shape=[3], pads=[1, -1])
    sessions = [specgate.place(pads, f"onnxruntime:{release}").session for release in ("1.24.4", "1.31.1")]
    assert sessions == ["created", "fails"]
    for opset, expected in ((12, True), (16, False)):
        takes = [rule for rule in loading_of("LessOrEqual", "1.24.4").takes if holds_at(rule.since, rule.until, opset)]
        assert bool(takes) is expected


def test_a_version_that_came_into_an_opset_late_is_not_known_to_releases() -> None:
    tensors = [info(name, [1, 2, 4, 8]) for name in ("q", "k", "v")]
    for release, kernel in (("onnxruntime-directml:1.24.4", "CPU"), ("onnxruntime:1.31.1", "CPU")):
        (found,) = specgate.place(one("Attention", *tensors, opset=25, output=info("y", [1, 2, 4, 8])), release)
        assert (found.provider, found.version) == (kernel, 24)


def test_checks_that_the_tables_of_the_models_do_not_have() -> None:
    axes, pads, four = (
        helper.make_tensor(n, INT64, [len(v)], v) for n, v in (("a", [-1, 1]), ("p", [0] * 4), ("s", [4, 3, 4]))
    )
    assert session(one("Pad", info("x", [2, 3]), "p", "", "a", opset=18, initializers=[pads, axes])) == "fails"
    assert session(one("Resize", info("x", [4, 3]), "", "", "s", opset=13, initializers=[four])) == "fails"
    condition = info("c", [2], onnx.TensorProto.BOOL)
    for kind, expected in ((FLOAT, "created"), (INT64, "fails")):
        assert session(one("Compress", info("x", [2]), condition, opset=9, output=info("y", None, kind))) == expected
    assert session(one("Reshape", info("x", [2, 3]), info("s", [2, 1], INT64), opset=14)) == "fails"


def test_a_constant_without_a_value() -> None:
    made = graph([helper.make_node("Constant", [], ["y"])], [], [info("y", [1])])
    found = specgate.place(model(made, opsets=[("", 13)]), DML)
    assert (found.session, found.refusals) == ("fails", ["the constant y has no value"])
