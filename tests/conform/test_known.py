"""Value differences that observed entries explain."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.conform.compare import compare_outputs
from specgate.conform.values import classify
from specgate.descriptors.core import Descriptor
from specgate.descriptors.read import read_dict
from specgate.spec.tables import dialect


def evaluate(operator, ours, theirs, arrays=None, level="6.4", kind="FLOAT16", **attributes):
    """Classify results in `kind` of a one-tensor operator, by the shipped table."""
    ours, theirs = (np.ma.asarray(a).astype(kind.lower()) for a in (ours, theirs))
    tensor = {"DataType": kind, "Sizes": list(ours.shape)}
    desc = {"InputTensor": tensor, "OutputTensor": tensor, **attributes}
    descriptor = read_dict({"type": f"DML_OPERATOR_{operator}", "desc": desc}, dialect="directml")
    problem, differings = compare_outputs({"OutputTensor": ours}, {"OutputTensor": theirs}, descriptor, 0.0)
    assert not problem
    spec = dialect("directml").operator(operator)
    return classify(spec, level, "values", descriptor, arrays or {}, differings)


LEAST = 2.0**-24


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (1.0, 1 - 2.0**-11),
        (1.5, 1.5 - 2.0**-10),
        (-1.999, -1.998),
        (np.inf, 65504.0),
        (-np.inf, -65504.0),
        (LEAST, 0.0),
        (3 * LEAST, 2 * LEAST),
        (2.0**-14, 2.0**-14 - LEAST),
    ],
)
def test_the_software_device_rounds_float16_toward_zero(ours, theirs):
    kind, what, left = evaluate("ACTIVATION_SOFTSIGN", [ours], [theirs])
    assert (kind, left) == ("recorded", [])
    assert "toward zero" in what


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (1 - 2.0**-11, 1.0),  # away from zero
        (1.0, 1 - 2.0**-10),  # two steps
        (1.5, 1.5 - 2.0**-9),
        (2.0**-13, 2.0**-13 - 2 * LEAST),
        (LEAST, -LEAST),
        (2 * LEAST, 0.0),
        (-np.inf, 65504.0),
        (np.inf, 60000.0),
        (65504.0, -np.inf),
        (65472.0, np.inf),
        (np.nan, 1.0),
        (1.0, np.nan),
    ],
)
def test_other_differences_of_float16_stay_unexplained(ours, theirs):
    kind, what, left = evaluate("ACTIVATION_SOFTSIGN", [1.0, ours], [1 - 2.0**-11, theirs])
    assert (kind, what) == ("unexplained", "")
    assert left[0].wrong.tolist() == [False, True]


def test_float16_overflow_of_the_software_device_is_infinite():
    assert evaluate("ACTIVATION_SOFTSIGN", [65504.0], [np.inf])[0] == "recorded"


def test_float16_entries_do_not_apply_to_float32():
    assert evaluate("ACTIVATION_SOFTSIGN", [1.0], [1 - 2.0**-11], kind="FLOAT32")[0] == "unexplained"


def test_element_entries_do_not_explain_unwritten_elements():
    theirs = np.ma.MaskedArray([1 - 2.0**-11], mask=[True])
    assert evaluate("ACTIVATION_SOFTSIGN", [1.0], theirs)[0] == "unexplained"


def same_values(mine, other, tolerance=0.0):
    problem, differings = compare_outputs({"y": mine}, {"y": other}, Descriptor("onnx", "Relu", {}), tolerance)
    return problem.removeprefix("y: ") or "".join(map(str, differings))


def test_same_values_names_the_first_difference():
    assert same_values(np.array([1, 2]), np.array([1, 2])) == ""
    assert same_values(np.array([1, 2]), np.array([1, 3])) == "1 of 2 elements, at [1] 2 and 3"
    assert same_values(np.array([1.0]), np.array([1.5]), 0.6) == ""
    assert same_values(np.float32(1), np.float64(1)).startswith("float32 [], theirs float64")
    assert same_values(np.array(1), np.array(2)) == "1 of 1 elements, at [] 1 and 2"


def test_tensor_arrays_are_compared_individually():
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]}
    halves = [{"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]}] * 2
    split = {"InputTensor": tensor, "OutputCount": 2, "OutputTensors": halves, "Axis": 3}
    descriptor = read_dict({"type": "DML_OPERATOR_SPLIT", "desc": split}, dialect="directml")
    ours = [np.full([1, 1, 1, 1], n, np.float32) for n in (1, 2)]
    _, differings = compare_outputs({"OutputTensors": ours}, {"OutputTensors": [ours[0], ours[0]]}, descriptor, 0.0)
    assert [each.name for each in differings] == ["OutputTensors[1]"]
    assert compare_outputs({"OutputTensors": ours}, {}, descriptor, 0.0)[0] == "OutputTensors[0]: not computed"


def test_entry_compares_elements_at_the_same_index():
    x = np.array([np.nan, 3, 2], np.float32)
    ours = np.arctan(x)
    as_built = np.where(np.isnan(x), np.float32(0.7854), ours)
    kind, what, _ = evaluate("ELEMENT_WISE_ATAN", ours, as_built, kind="FLOAT32")
    assert kind == "bug"
    assert "NaN" in what
    kind, _, left = evaluate("ELEMENT_WISE_ATAN", ours, np.full(3, 0.7854), kind="FLOAT32")
    assert kind == "unexplained"
    assert left[0].wrong.tolist() == [False, True, True]


def halves(a, b, builds_say):
    """Classify LESS_THAN of two INT64."""
    tensors = {"ATensor": "INT64", "BTensor": "INT64", "OutputTensor": "UINT8"}
    desc = {name: {"DataType": kind, "Sizes": [1]} for name, kind in tensors.items()}
    kind = "DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN"
    descriptor = read_dict({"type": kind, "desc": desc}, dialect="directml")
    ours, theirs = ({"OutputTensor": np.array([value], np.uint8)} for value in (a < b, builds_say))
    arrays = {"ATensor": np.array([a], np.int64), "BTensor": np.array([b], np.int64)}
    _, differings = compare_outputs(ours, theirs, descriptor, 0.0)
    return classify(dialect("directml").operator(descriptor.operator), "6.4", "values", descriptor, arrays, differings)[
        0
    ]


def test_integers_of_64_bits_are_read_exactly():
    assert halves(1, 2**31, builds_say=False) == "bug"
    assert halves(2**62 + 1, 2**62 + 2**31, builds_say=False) == "bug"
    assert halves(-(2**63), -(2**63) + 2**31, builds_say=False) == "bug"
    assert halves(1, 2, builds_say=False) == "unexplained"
    assert halves(1, 2**32 + 2**31, builds_say=False) == "unexplained"


def test_arrays_of_another_shape_have_no_matching_elements():
    left, right = (np.zeros(n, np.float32) for n in (2, 3))
    entry = {"InputTensor": right}
    ours, theirs = np.full(2, np.nan), np.full(2, -np.inf)
    assert (
        evaluate("ACTIVATION_ELU", ours, theirs, {"InputTensor": left - 1e-9}, kind="FLOAT32", Alpha="inf")[0]
        == "recorded"
    )
    assert (
        evaluate("ACTIVATION_ELU", ours, theirs, {"InputTensor": left - 1}, kind="FLOAT32", Alpha="inf")[0]
        == "unexplained"
    )
    assert evaluate("ACTIVATION_ELU", ours, theirs, entry, kind="FLOAT32", Alpha="inf")[0] == "unexplained"


def test_tensor_of_size_one_is_broadcast_for_entries():
    floats = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    lengths = {"DataType": "UINT32", "Sizes": [2, 1]}
    desc = {"InputTensor": floats, "SequenceLengthsTensor": lengths, "OutputTensor": floats, "Axis": 1}
    descriptor = read_dict({"type": "DML_OPERATOR_REVERSE_SUBSEQUENCES", "desc": desc}, dialect="directml")
    ours, theirs = np.zeros((2, 3), np.float32), np.ones((2, 3), np.float32)
    _, differings = compare_outputs({"OutputTensor": ours}, {"OutputTensor": theirs}, descriptor, 0.0)
    arrays = {"InputTensor": ours, "SequenceLengthsTensor": np.array([[4], [1]], np.uint32)}
    spec = dialect("directml").operator("REVERSE_SUBSEQUENCES")
    kind, _, left = classify(spec, "6.4", "values", descriptor, arrays, differings)
    assert kind == "unexplained"
    assert left[0].wrong.tolist() == [[False] * 3, [True] * 3]


def test_entry_reads_record_fields():
    x = np.array([2.0**30, 3], np.float32)
    scaled = {"arrays": {"InputTensor": x}, "kind": "FLOAT32", "ScaleBias": {"Scale": -1.0, "Bias": 2.0}}
    assert evaluate("ELEMENT_WISE_COS", [0.5, 1], [1, 1], **scaled)[0] == "recorded"
    assert evaluate("ELEMENT_WISE_COS", [1, 0.5], [1, 1], **scaled)[0] == "unexplained"


@pytest.mark.parametrize(
    ("a", "b", "theirs", "kind"),
    [
        (1.4e-45, 0.0, np.nan, "recorded"),
        (0.0, -1.4e-45, np.nan, "recorded"),
        (1.4e-45, 1e-40, np.inf, "recorded"),
        (0.0, 3e-39, np.nan, "unexplained"),
        (1.0, 1e-40, np.nan, "unexplained"),
        (0.0, 1e-40, 1.0, "unexplained"),
    ],
)
def test_tiny_reciprocals_of_the_software_device_are_infinite(a, b, theirs, kind):
    arrays = {name: np.array([value], np.float32) for name, value in (("ATensor", a), ("BTensor", b))}
    tensor = {"DataType": "FLOAT32", "Sizes": [1]}
    desc = dict.fromkeys((*arrays, "OutputTensor"), tensor)
    descriptor = read_dict({"type": "DML_OPERATOR_ELEMENT_WISE_ATAN_YX", "desc": desc}, dialect="directml")
    ours, theirs = np.arctan2(arrays["ATensor"], arrays["BTensor"]), np.array([theirs], np.float32)
    _, differings = compare_outputs({"OutputTensor": ours}, {"OutputTensor": theirs}, descriptor, 1e-4)
    spec = dialect("directml").operator("ELEMENT_WISE_ATAN_YX")
    assert classify(spec, "6.4", "values", descriptor, arrays, differings)[0] == kind
