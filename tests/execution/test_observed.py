"""Values of builds that differ from the documentation: `observed` entries."""

from __future__ import annotations

import copy
import inspect
import json
from typing import Any

import numpy as np
import pytest

import specgate
from specgate.cli import main
from specgate.errors import InputError
from specgate.execution import kernels
from specgate.execution.kernels import find_kernel
from specgate.execution.kernels.elementwise import Broadcast
from specgate.spec.tables import dialect

ROUND: dict[str, Any] = {
    "type": "DML_OPERATOR_ELEMENT_WISE_ROUND",
    "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]},
        "RoundingMode": "TOWARD_INFINITY",
    },
}
HALVES = {"InputTensor": np.array([0.49999997, -0.49999997, 8388609, 2.5], np.float32).reshape(1, 1, 1, 4)}


def entries():
    return [
        pytest.param(spec, values, id=f"{spec.name}-{values.what[:40]}")
        for tables in map(dialect, ("directml", "onnx", "openvino"))
        for spec in map(tables.operator, tables.tables.operators)
        for overlay in spec.overlays
        for values in overlay.values
        if values.computed
    ]


@pytest.mark.parametrize(("spec", "message"), entries())
def test_kernel_accepts_the_observed_arguments(spec, message):
    facts = inspect.signature(find_kernel(message.kernel or spec.table.recipe["kernel"])).parameters
    named = {*facts, *(Broadcast.__annotations__ if "options" in facts else ())}
    assert message.arguments.keys() <= named


def test_rounding_of_ties_depends_on_the_basis():
    page = specgate.execute(ROUND, HALVES, "directml:6.4")["OutputTensor"]
    builds = specgate.execute(ROUND, HALVES, "directml:6.4", basis="observed")["OutputTensor"]
    assert page.ravel().tolist() == [0, 0, 8388609, 3]
    assert builds.ravel().tolist() == [1, -1, 8388610, 3]


def test_observed_nearest_upsampling_of_integers_rounds_down():
    resample = {
        "type": "DML_OPERATOR_RESAMPLE",
        "desc": {
            "InputTensor": {"DataType": "UINT8", "Sizes": [1, 1, 1, 4]},
            "OutputTensor": {"DataType": "UINT8", "Sizes": [1, 1, 1, 8]},
            "InterpolationMode": "NEAREST_NEIGHBOR",
            "ScaleCount": 4,
            "Scales": [1, 1, 1, 2],
        },
    }
    arrays = {"InputTensor": np.array([[[[1, 2, 3, 4]]]], np.uint8)}
    assert specgate.execute(resample, arrays)["OutputTensor"].ravel().tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    result = specgate.execute(resample, arrays, basis="observed")["OutputTensor"]
    assert result.ravel().tolist() == [1, 1, 1, 2, 2, 3, 3, 4]


def test_gradient_offsets_are_swapped():
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]}
    desc: dict[str, Any] = {
        "InputGradientTensor": tensor,
        "OutputGradientTensor": tensor,
        "InterpolationMode": "LINEAR",
    }
    desc |= {"DimensionCount": 4, "Scales": [1, 1, 1, 2]}
    offsets = [{"InputPixelOffsets": [0, 0, 0, 1], "OutputPixelOffsets": [0, 0, 0, 0]}]
    offsets += [{"InputPixelOffsets": [0, 0, 0, 0], "OutputPixelOffsets": [0, 0, 0, 1]}]
    arrays_by_name = {"InputGradientTensor": np.array([[[[1, 2, 4, 8]]]], np.float32)}
    outputs_by_name = {
        basis: [
            specgate.execute({"type": "DML_OPERATOR_RESAMPLE_GRAD", "desc": desc | each}, arrays_by_name, basis=basis)
            for each in offsets
        ]
        for basis in ("documented", "observed")
    }
    page, builds = (
        [each["OutputGradientTensor"].tolist() for each in outputs_by_name[basis]] for basis in outputs_by_name
    )
    assert builds == page[::-1]
    assert page[0] != page[1]


def test_fully_masked_row_keeps_three_digits():
    attention = copy.deepcopy(dialect("directml").operator("MULTIHEAD_ATTENTION").table.examples["basic"]["descriptor"])
    attention["desc"]["HeadCount"] = 4
    masked = attention["desc"] | {"MaskFilterValue": -10000, "MaskType": "BOOLEAN"}
    masked["MaskTensor"] = {"DataType": "INT32", "Sizes": [2, 4, 3, 6]}
    random = np.random.default_rng(0)
    names = ("QueryTensor", "KeyTensor", "ValueTensor")
    arrays = {name: random.normal(size=masked[name]["Sizes"]).astype(np.float32) for name in names}
    open_rows = specgate.execute(attention, arrays)["OutputTensor"]
    inputs = {**arrays, "MaskTensor": np.zeros((2, 4, 3, 6), np.int32)}
    result = {
        basis: specgate.execute({**attention, "desc": masked}, inputs, basis=basis)["OutputTensor"]
        for basis in ("documented", "observed")
    }
    np.testing.assert_allclose(result["documented"], open_rows, atol=1e-6)
    assert 1e-5 < np.abs(result["observed"] - open_rows).max() < 2e-3


def test_infinite_gradient_with_zero_weight_adds_nothing():
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 3]}
    desc: dict[str, Any] = {
        "InputGradientTensor": tensor,
        "OutputGradientTensor": tensor,
        "InterpolationMode": "LINEAR",
    }
    desc |= {"DimensionCount": 4, "Scales": [1] * 4, "InputPixelOffsets": [0] * 4, "OutputPixelOffsets": [0] * 4}
    arrays_by_name = {"InputGradientTensor": np.array([[[[1, np.inf, 3]]]], np.float32)}
    outputs_by_name = {
        basis: specgate.execute({"type": "DML_OPERATOR_RESAMPLE_GRAD", "desc": desc}, arrays_by_name, basis=basis)
        for basis in ("documented", "observed")
    }
    assert np.isnan(outputs_by_name["documented"]["OutputGradientTensor"]).any()
    assert outputs_by_name["observed"]["OutputGradientTensor"].ravel().tolist() == [1, np.inf, 3]


@pytest.mark.parametrize(
    ("mode", "start", "end", "expected"),
    [
        ("CONSTANT", -1, 0, [9, 9, 9]),
        ("CONSTANT", 1, -1, [9, 1, 2, 3]),
        ("EDGE", -1, 1, [4, 4, 4, 4]),
        ("EDGE", 2, -3, [1, 1, 1]),
        ("REFLECTION", -1, 1, [2, 3, 4, 3]),
        ("REFLECTION", 1, -1, [2, 1, 2, 3]),
    ],
)
def test_padding_sums_wrap_in_32_bits(mode, start, end, expected):
    """Measured with build 6.4."""
    padding: dict[str, Any] = {
        "type": "DML_OPERATOR_PADDING",
        "desc": {
            "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, len(expected)]},
            "PaddingMode": mode,
            "PaddingValue": 9.0,
            "DimensionCount": 4,
            "StartPadding": [0, 0, 0, start % 2**32],
            "EndPadding": [0, 0, 0, end % 2**32],
        },
    }
    assert specgate.check(padding, "directml:6.4", basis="documented").accepted is False
    assert specgate.check(padding, "directml:6.4", basis="observed").accepted
    arrays = {"InputTensor": np.array([[[[1, 2, 3, 4]]]], np.float32)}
    with pytest.raises(InputError):
        specgate.execute(padding, arrays, basis="documented")
    assert specgate.execute(padding, arrays, basis="observed")["OutputTensor"].ravel().tolist() == expected
    padding["desc"]["OutputTensor"]["Sizes"][-1] += 1
    assert specgate.check(padding, "directml:6.4", basis="observed").accepted is False


def test_entry_applies_only_at_its_levels_and_condition():
    before = specgate.execute(ROUND, HALVES, "directml:3.0", basis="observed")["OutputTensor"]
    assert before.ravel().tolist() == [0, 0, 8388609, 3]
    even = {**ROUND, "desc": {**ROUND["desc"], "RoundingMode": "HALVES_TO_NEAREST_EVEN"}}
    result = specgate.execute(even, HALVES, "directml:6.4", basis="observed")["OutputTensor"]
    assert result.ravel().tolist() == [0, 0, 8388609, 2]


def test_observed_nearest_ties_choose_the_higher():
    resample = {
        "type": "DML_OPERATOR_RESAMPLE",
        "desc": {
            "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]},
            "InterpolationMode": "NEAREST_NEIGHBOR",
            "ScaleCount": 4,
            "Scales": [1, 1, 1, 0.5],
        },
    }
    arrays = {"InputTensor": np.array([[[[1, 2, 3, 4]]]], np.float32)}
    assert specgate.execute(resample, arrays, "directml:6.4")["OutputTensor"].ravel().tolist() == [1, 3]
    result = specgate.execute(resample, arrays, "directml:6.4", basis="observed")["OutputTensor"]
    assert result.ravel().tolist() == [2, 4]


def test_unknown_basis_is_rejected(tmp_path):
    with pytest.raises(InputError, match="expected the basis"):
        specgate.execute(ROUND, HALVES, "directml:6.4", basis="builds")  # type: ignore[arg-type]


SHIFT = """
operator: SHIFT
summary: Elements along a dimension, moved.
source: [{page: none}]
fields:
  InputTensor: {kind: input}
  OutputTensor: {kind: output}
  Slope: {kind: attribute, type: float}
  Other: {kind: attribute, type: float, optional: true}
support: {"1.0": {InputTensor: {types: [FLOAT32], ranks: 1}, OutputTensor: {types: [FLOAT32], ranks: 1}}}
execute:
  kernel: scratch_slope
  arrays: {x: InputTensor}
  arguments: {alpha: 'default(Other, Slope)'}
  outputs: [OutputTensor]
observed:
  - builds: "1.0..6.4"
    evidence: none
    values:
      entry: VALUES
"""


@pytest.fixture(autouse=True)
def _kernels(monkeypatch):
    slope = {"scratch_slope": lambda x, *, alpha: np.where(x < 0, x * np.float32(alpha), x)}
    monkeypatch.setattr(kernels, "_registered", slope | {"scratch_relu": lambda x, *, alpha: np.maximum(x, 0)})


def shift(scratch, values: str, basis: Any = "observed", array=(-2.0, 4.0), **attributes: Any):
    scratch(shift=SHIFT.replace("VALUES", values))
    tensor = {"DataType": "FLOAT32", "Sizes": [2]}
    desc = {"InputTensor": tensor, "OutputTensor": tensor, "Slope": 0.5, **attributes}
    arrays_by_name = {"InputTensor": np.array(array, np.float32)}
    seen: list[str] = []
    descriptor = specgate.descriptor({"type": "DML_OPERATOR_SHIFT", "desc": desc}, dialect="directml")
    outputs = specgate.execute(descriptor, arrays_by_name, "directml:6.4", basis=basis, on_note=seen.append)
    repeated = specgate.execute(descriptor, arrays_by_name, "directml:6.4", basis=basis)
    assert repeated["OutputTensor"].tolist() == outputs["OutputTensor"].tolist()
    assert list(outputs.notes) == list(repeated.notes) == seen
    return outputs["OutputTensor"].tolist(), seen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("{what: w, fields: {Slope: Slope * 4}}", [-4, 4]),
        ("{what: w, fields: {Slope: Slope * 4}, when: Slope > 1}", [-1, 4]),
        ("{what: w, fields: {Other: null}}", [-1, 4]),
        ("{what: w, kernel: scratch_relu}", [0, 4]),
        ("{what: w, arguments: {alpha: 0.25}}", [-0.5, 4]),
        ("{what: w, arguments: {alpha: 0.25}, when: any(v > 3 for v in values(InputTensor))}", [-0.5, 4]),
        ("{what: w, arguments: {alpha: 0.25}, when: any(v > 4 for v in values(InputTensor))}", [-1, 4]),
    ],
)
def test_observed_entries_replace_arguments_or_kernels(scratch, values, expected):
    other = {"Other": 8.0} if "Other" in values else {}
    documented, _ = shift(scratch, values, "documented", **other)
    assert documented == ([-16, 4] if other else [-1, 4])
    assert shift(scratch, values, "both", **other) == (documented, [])
    assert shift(scratch, values, **other) == (expected, [])


def test_a_condition_on_elements_is_evaluated_for_each_array(scratch):
    scratch(shift=SHIFT.replace("VALUES", "{what: w, arguments: {alpha: 2.0}, when: 'values(InputTensor)[0] < -2'}"))
    tensor = {"DataType": "FLOAT32", "Sizes": [1]}
    desc = {"InputTensor": tensor, "OutputTensor": tensor, "Slope": 1.0}
    descriptor = specgate.descriptor({"type": "DML_OPERATOR_SHIFT", "desc": desc}, dialect="directml")
    items = [
        specgate.execute(descriptor, {"InputTensor": [x]}, "directml:6.4", basis="observed")["OutputTensor"].tolist()
        for x in (-1.0, -3.0, -2.0)
    ]
    assert items == [[-1], [-6], [-2]]


def test_unreproduced_differences_are_noted(scratch):
    assert shift(scratch, "{what: the slope is a guess}") == (
        [-1, 4],
        ["SHIFT: builds differ here in a way that specgate does not reproduce: the slope is a guess"],
    )
    assert shift(scratch, "{what: w, when: Slope > 1}") == ([-1, 4], [])
    assert shift(scratch, "{what: w}", "both") == ([-1, 4], [])


@pytest.mark.parametrize(
    ("elements", "noted"),
    [
        ("InputTensor < -1", True),
        ("InputTensor < -2", False),
        ("ours == 4 and theirs != theirs", True),
        ("ours == 5 and theirs != theirs", False),
        ("InputTensor * Slope == 2", True),
        ("InputTensor * Slope == 3", False),
    ],
)
def test_difference_is_noted_if_an_element_may_differ(scratch, elements, noted):
    _, notes = shift(scratch, f"{{what: w, elements: {elements}}}")
    expected = ["SHIFT: builds differ in some elements here in a way that specgate does not reproduce: w"]
    assert notes == (expected if noted else [])


def test_values_follow_all_builds_by_default(scratch):
    values = "{what: the slope is a quarter, arguments: {alpha: 0.25}, all_builds: true}"
    note = "SHIFT: follows all builds instead of the documentation: the slope is a quarter"
    assert shift(scratch, values, "both") == ([-0.5, 4], [note])
    assert shift(scratch, values, "documented") == ([-1, 4], [])
    assert shift(scratch, values) == ([-0.5, 4], [])


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ("{what: w, all_builds: true}", "only with one of them"),
        ("{what: w, fields: {InputTensor: '0'}}", "'InputTensor' is not an attribute"),
        ("{what: w, fields: {Slope: null}}", "Slope cannot be left out"),
        ("{what: w, fields: {Slope: Slopes}}", "Slopes"),
    ],
)
def test_entries_are_checked(scratch, values, problem):
    with pytest.raises(InputError, match=problem):
        scratch(shift=SHIFT.replace("VALUES", values))


def test_entry_for_all_builds_must_not_name_an_implementation(scratch):
    values = "{what: w, arguments: {alpha: 0.25}, all_builds: true}"
    with pytest.raises(InputError, match="without by"):
        scratch(shift=SHIFT.replace("VALUES", values).replace("evidence: none", "evidence: none\n    by: values"))


def test_models_follow_the_observed_basis(tmp_path, capsys):
    entry = ROUND["desc"]
    buffer = {"initialValuesDataType": "FLOAT32", "initialValues": [0.49999997, 1, 2, 3], "sizeInBytes": 16}
    model = {
        "resources": {"x": buffer, "y": {**buffer, "initialValues": {"value": 0, "valueCount": 4}}},
        "dispatchables": {"round": {"type": "DML_OPERATOR_ELEMENT_WISE_ROUND", "desc": entry}},
        "commands": [
            {"type": "dispatch", "dispatchable": "round", "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
            {"type": "print", "resource": "y"},
        ],
    }
    file = tmp_path / "model.json"
    file.write_text(json.dumps(model), encoding="utf-8")
    assert main(["run", str(file), "--basis", "documented"]) == 0
    assert capsys.readouterr().out == "Resource 'y': 0, 1, 2, 3\n"
    assert main(["run", str(file), "--basis", "observed"]) == 0
    assert capsys.readouterr().out == "Resource 'y': 1, 1, 2, 3\n"
