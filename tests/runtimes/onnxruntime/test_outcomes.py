"""Nodes that break an ONNX rule on the CPU: rejected, failing at run time, or run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import specgate
from specgate.runtimes.onnxruntime.run_outcomes import outcome
from specgate.runtimes.onnxruntime.table_references import runs_problems
from tests.linting.models import FLOAT, INT64, graph, helper, info, model, onnx
from tests.runtimes.onnxruntime.test_place import one

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor


def node(operator: str, version: str, inputs, outputs=(("FLOAT", [2, 3]),), *, domain="", **attributes) -> Descriptor:
    entries = {
        "op_type": operator,
        "domain": domain,
        "inputs": [each and {"elem_type": each[0], "shape": each[1]} for each in inputs],
        "outputs": [{"elem_type": kind, "shape": shape} for kind, shape in outputs],
        "attributes": attributes,
        "opset": int(version),
    }
    return specgate.descriptor(entries, dialect="onnx")


X = ("FLOAT", [2, 3])
UINT8 = onnx.TensorProto.UINT8


@pytest.mark.parametrize(("shape", "expected"), [([1], "runs"), ([1, 1], "fails"), ([3], "fails")])
def test_a_bound_of_clip_that_is_not_a_scalar(shape, expected) -> None:
    assert outcome(node("Clip", "13", [X, ("FLOAT", shape)]), "min-scalar", "1.32.0") == expected


@pytest.mark.parametrize("release", ["1.20.1", "1.24.4", "1.32.0"])
@pytest.mark.parametrize(
    ("operator", "version", "rule"),
    [("Reshape", "13", "same-elements"), ("Reshape", "13", "shape-rank"), ("Unsqueeze", "11", "axes-range")],
)
def test_a_rule_without_which_no_run_succeeds(operator, version, rule, release) -> None:
    inputs = [X, ("INT64", [2])][: 2 if operator == "Reshape" else 1]
    assert outcome(node(operator, version, inputs), rule, release) == "fails"


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "rule", "expected"),
    [
        ("ReduceMax", [X], {"axes": [2]}, "axes-range", "fails"),
        ("ReduceMax", [X], {"keepdims": 2}, "keepdims", "runs"),
        ("ReduceLogSum", [X], {"keepdims": 2}, "keepdims", "runs"),
        ("ScatterND", [X, ("INT64", [1, 3]), ("FLOAT", [1])], {}, "tuple-length", "fails"),
        ("Tile", [X, ("INT64", [3])], {}, "repeats-length", "fails"),
        ("ai.onnx.ml.Normalizer", [("FLOAT", [1, 2, 3])], {}, "data-rank", "fails"),
        ("ai.onnx.ml.Imputer", [X], {"imputed_value_floats": [1.0, 2.0]}, "values-count", "runs"),
        ("com.microsoft.BiasGelu", [X, ("FLOAT", [2])], {}, "bias-size", "fails"),
    ],
)
def test_rules_of_operators_that_were_measured_later(operator, inputs, attributes, rule, expected) -> None:
    domain, _, name = operator.rpartition(".")
    descriptor = node(name, "1" if domain else "11", inputs, domain=domain, **attributes)
    for release in ("1.20.1", "1.24.4", "1.31.1", "1.32.0"):
        assert outcome(descriptor, rule, release) == expected


def test_each_rule_that_fails_every_run_is_an_error() -> None:
    names = ["a", "s", "z", "b", "t", "w", "s", "z"]
    scales = [helper.make_tensor("s", FLOAT, [], [1.0]), helper.make_tensor("z", UINT8, [], [1])]
    scales += [helper.make_tensor("t", FLOAT, [8, 1], [1.0] * 8), helper.make_tensor("w", UINT8, [8, 1], [1] * 8)]
    ends = [info("a", [4, 8], UINT8), info("b", [8, 6], UINT8)], [info("y", None, UINT8)]
    new_model = model(graph([helper.make_node("QLinearMatMul", names, ["y"])], *ends, scales), opsets=[("", 13)])
    errors = [
        finding.id for finding in specgate.lint(new_model, "onnxruntime:1.32.0").findings if finding.severity == "error"
    ]
    assert errors == ["onnx/QLinearMatMul/b-scale-shape", "onnx/QLinearMatMul/b-zero-point-shape"]


def test_scalar_axes_of_squeeze_are_a_single_finding() -> None:
    squeeze = helper.make_node("Squeeze", ["x", "axes"], ["y"])
    new_model = model(
        graph([squeeze], [info("x", [1, 2]), info("axes", [], INT64)], [info("y", None)]), opsets=[("", 13)]
    )
    errors = [
        finding.id for finding in specgate.lint(new_model, "onnxruntime:1.24.4").findings if finding.severity == "error"
    ]
    assert errors == ["onnx/Squeeze/axes-rank"]


def test_a_rule_that_prevents_the_session() -> None:
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
    assert texts[0] == "Clip does not have a rule 'max-scaler'"
    assert "mim" in texts[1]
    assert texts[2] == "unknown operator 'Clipp'"


def place_model(onnx_model, release: str):
    return next(iter(specgate.place(onnx_model, f"onnxruntime:{release}")))


def resize(mode: str, scales: list[float], opset: int = 13, **attributes):
    shape = [1] * (len(scales) - 2) + [3, 4]
    constant = helper.make_tensor("s", FLOAT, [len(scales)], scales)
    node = helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode, **attributes)
    return model(graph([node], [info("x", shape)], [info("y", None)], [constant]), opsets=[("", opset)])


@pytest.mark.parametrize(
    ("mode", "scales", "why"),
    [
        ("cubic", [1, 1, 2, 2], ""),
        ("cubic", [1, 2, 2], "cubic mode"),
        ("cubic", [1, 1, 2, 2, 2], "cubic mode"),
        ("linear", [1, 1, 2, 2, 2], ""),
        ("linear", [1, 2, 2, 2], "linear mode"),
        ("nearest", [1, 2, 2, 2], ""),
    ],
)
def test_scales_that_the_constructor_of_resize_rejects(mode, scales, why) -> None:
    """The behaviour of sessions of 1.20.1, 1.24.4, 1.31.1 and 1.32.0."""
    for release in ("1.20.1", "1.32.0"):
        node = place_model(resize(mode, scales), release)
        assert (node.creation, node.at_run) == ("fails" if why else "created", False)
        assert why in node.created_by


def test_antialias_needs_a_mode_that_averages() -> None:
    assert place_model(resize("nearest", [1, 1, 2, 2], 18, antialias=1), "1.32.0").creation == "fails"
    assert place_model(resize("linear", [1, 1, 2, 2], 18, antialias=1), "1.32.0").creation == "created"


def test_kernels_that_fail_at_the_first_run_for_any_sizes() -> None:
    for sizes, late in (([1, 2, "h", "w"], False), (["n", 2, "h"], True), (None, False)):
        node = place_model(one("LRN", info("x", sizes), opset=13, output=info("y", None), size=3), "1.32.0")
        assert (node.creation, node.at_run) == (("fails", True) if late else ("created", False))
        assert node.created_by == ("fails at the first run: the CPU kernel requires 4-D input" if late else "")


@pytest.mark.parametrize(("operator", "opset"), [("Squeeze", 13), ("ReduceSum", 13), ("ReduceMax", 18)])
def test_axes_without_a_dimension_fail_at_every_run(operator, opset) -> None:
    for dims, late in (([], True), ([1], False)):
        axes = helper.make_tensor("a", INT64, dims, [1])
        node = place_model(one(operator, info("x", [3, 1, 5]), "a", opset=opset, initializers=[axes]), "1.32.0")
        assert (node.creation, node.at_run) == ("fails" if late else "created", late)


@pytest.mark.parametrize(
    ("sizes", "grid", "refused"), [([1, 2, 3, 4, 4], [1, 2, 5, 6, 3], False), ([4, 3, 4], [4, 5, 2], True)]
)
def test_a_grid_sample_of_opset_16_with_other_dimensions(sizes, grid, refused) -> None:
    onnx_model = one("GridSample", info("x", sizes), info("g", grid), opset=16, output=info("y", None))
    assert place_model(onnx_model, "1.32.0").creation == ("fails" if refused else "created")


def test_zero_points_that_differ_need_a_release() -> None:
    def make(points):
        scales = [helper.make_tensor(name, FLOAT, [], [1.0]) for name in ("xs", "ws", "ys")]
        zeros = [helper.make_tensor(name, UINT8, [], [0]) for name in ("xz", "yz")]
        weights = helper.make_tensor("wz", UINT8, [3], points)
        names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
        node = helper.make_node("QLinearConv", names, ["y"])
        ends = [info("x", [1, 2, 5, 5], UINT8), info("w", [3, 2, 3, 3], UINT8)], [info("y", None, UINT8)]
        return model(graph([node], *ends, [*scales, *zeros, weights]), opsets=[("", 10)])

    failing = [
        [place_model(make(points), release).at_run for release in ("1.20.1", "1.24.4", "1.31.1")]
        for points in ([1, 1, 1], [1, 2, 3])
    ]
    assert failing == [[False, False, False], [True, True, False]]
