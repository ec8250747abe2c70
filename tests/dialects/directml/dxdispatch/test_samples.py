"""The DxDispatch models in tests/data/dxdispatch: reading, checks, expected results."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import specgate
from specgate.descriptors.core import TensorDesc
from specgate.dialects.directml.dxdispatch.read import as_dispatched, read_dx_model, write_dx_model
from specgate.dialects.directml.dxdispatch.run import run_dx_model
from specgate.errors import InputError, NoKernel
from specgate.spec.tables import dialect
from tests.paths import DATA

FOLDER = DATA / "dxdispatch"
NAMES = sorted(path.name for path in FOLDER.glob("*.json"))


def model(name):
    return read_dx_model(FOLDER / name)


def run(name, level="6.4", **options):
    """Return the buffers and output of a sample; skipped without a kernel."""
    sample = model(name)
    messages: list[str] = []
    for dispatchable in sample.dispatchables.values():
        if dialect("directml").operator(dispatchable.operator).table.recipe is None:
            with pytest.raises(NoKernel, match=f"{dispatchable.operator} has no kernel"):
                run_dx_model(sample, level, out=messages.append, **options)
            pytest.skip(f"{dispatchable.operator} has no kernel")
    return run_dx_model(sample, level, out=messages.append, **options), messages


@pytest.mark.parametrize("name", NAMES)
def test_every_operator_is_read_and_accepted(name):
    for dispatchable in model(name).dispatchables.values():
        if dispatchable.kind == "directml":
            assert dispatchable.descriptor is not None, dispatchable.no_table
            verdict = specgate.check(dispatchable.descriptor, "directml:6.4")
            assert verdict.accepted is True, verdict.findings


@pytest.mark.parametrize("name", NAMES)
def test_round_trip_keeps_every_field(name):
    sample = model(name)
    assert read_dx_model(write_dx_model(sample), file=sample.file) == sample


@pytest.mark.parametrize(
    ("name", "dispatchable", "level"),
    [
        ("upsample.json", "enlarge", "1.0"),
        ("recurrent.json", "rnn", "1.0"),
        ("convolution.json", "deep", "1.0"),
        ("foreign.json", "flip", "2.0"),  # UINT8
        ("fused.json", "short", "3.0"),  # one dimension
        ("owned.json", "halved", "4.0"),  # two dimensions
        ("scalars.json", "constant", "4.0"),  # two dimensions
        ("axes.json", "multiply", "4.0"),  # one dimension
        ("scalars.json", "clip", "5.0"),  # a new operator
    ],
)
def test_the_first_level(name, dispatchable, level):
    descriptor = model(name).dispatchables[dispatchable].descriptor
    assert descriptor is not None
    assert specgate.minimum(descriptor, basis="documented") == level


def correlate(data, weights, padding, groups=1):
    """Return the correlation for one batch.

    padding: number of zeros before each spatial dimension.
    """
    padded = np.pad(data, [(0, 0), *((before, 0) for before in padding)])
    window = weights.shape[2:]
    sizes = [whole - part + 1 for whole, part in zip(padded.shape[1:], window, strict=True)]
    result = np.zeros((weights.shape[0], *sizes))
    channels, filters = weights.shape[1], weights.shape[0] // groups
    for f, at in product(range(weights.shape[0]), np.ndindex(*sizes)):
        first = f // filters * channels
        patch = padded[(slice(first, first + channels), *(slice(a, a + w) for a, w in zip(at, window, strict=True)))]
        result[(f, *at)] = (patch * weights[f]).sum()
    return result


def test_convolution_of_two_and_of_three_dimensions():
    outputs, message = run("convolution.json")
    picture, stencil = (2 + 0.5 * np.arange(12)).reshape(1, 3, 4), np.array([1, 0, -1, 2, 0.5, -2]).reshape(1, 1, 2, 3)
    assert outputs["edges"].tolist() == correlate(picture, stencil, (0, 1)).ravel().tolist()
    cubes = np.array([1, -1, 2, 0.25, 3, 0, -0.5, 1]).reshape(2, 1, 1, 2, 2)[..., ::-1, ::-1]  # CONVOLUTION flips it
    sums = correlate((8.0 - np.arange(16)).reshape(2, 2, 2, 2), cubes, (0, 0, 0), groups=2)
    assert outputs["sums"].tolist() == sums.ravel().tolist()
    assert message == ["Resource 'edges': -9.5, -0.75, -0.5, -14.5, 0.25, 0.5", "Resource 'sums': 15, 6, -8.5, -22.5"]


def test_fused_operators():
    outputs, _ = run("fused.json")  # of the sums -2, -5 and 1.5
    assert outputs["leaky"].tolist() == [-0.5, -1.25, 1.5]
    assert outputs["linear"].tolist() == [-5, -11, 2]


def test_tensors_of_fused_operators_are_omitted_only_in_models():
    descriptor = model("fused.json").dispatchables["long"].descriptor
    assert descriptor is not None
    assert set(descriptor.fields["FusedActivation"].fields) == {"Alpha", "Beta"}
    raw = specgate.descriptor(write_dx_model(model("fused.json"))["dispatchables"]["long"], dialect="directml")
    assert raw == descriptor
    texts_by_name = {"Type": "ACTIVATION_RELU", "InputTensor": {"DataType": "FLOAT32", "Sizes": [3]}}
    fields = {name: {"DataType": "FLOAT32", "Sizes": [3]} for name in ("ATensor", "BTensor", "OutputTensor")}
    alone = {"type": "ELEMENT_WISE_ADD1", "desc": {**fields, "FusedActivation": texts_by_name}}
    assert specgate.check(alone, "directml:6.4").accepted is False


def test_tensor_owned_by_directml():
    outputs, message = run("owned.json")  # half of [[1, 2, 3], [4, 5, 6]] times [[1, 0], [0, 1], [2, -2]]
    assert outputs["product"].tolist() == [3.5, -2, 8, -3.5]
    assert message[0].splitlines()[1] == "[0] 3.5 (0x40600000)"
    halved = model("owned.json").dispatchables["halved"]
    assert halved.extra["dmlCompileType"] == "DmlCompileGraph"
    assert [binding.name for binding in halved.bindings["BTensor"]] == ["weights"]


def test_join_of_a_tensor_array():
    assert run("arrays.json")[0]["joined"].tolist() == [10, 9, 0.5, 0.5, 0.5, 2, 1]


def test_split_into_a_tensor_array():
    outputs, _ = run("split.json")  # of [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert outputs["first"].tolist() == [1, 5]
    assert outputs["rest"].tolist() == [2, 3, 4, 6, 7, 8]


def test_buffer_used_as_input_and_output():
    outputs, message = run("in_place.json")
    assert message == ["Resource 'values': -5.5, -0.5, 0.25, 2.5, 19", "Resource 'values': -1.5, -0.5, 0.25, 2.5, 3"]
    assert outputs["values"].tolist() == [-1.5, -0.5, 0.25, 2.5, 3]


def test_scalars_of_a_type_that_another_field_names():
    outputs, _ = run("scalars.json")
    below = np.nextafter(np.float16(0.3), np.float16(0))  # the nearest one lies above 0.3
    assert float(np.float16(0.3)) > 0.3
    assert outputs["held"].tolist() == [float(below), 0.5, 1, 1.25]
    assert outputs["sevens"].tolist() == [-7] * 4
    assert outputs["odd"].tolist() == [5, 3, 1]


def test_files_in_and_out(tmp_path):
    np.save(tmp_path / "typed.npy", np.array([[1, 2], [3, 4]], np.int32))
    np.array([10, 20, 30, -40], "<i4").tofile(tmp_path / "raw.dat")
    outputs, _ = run("files.json", base_dir=tmp_path, write_files=True)
    assert outputs["sum"].tolist() == [11, 22, 33, -36]
    assert np.load(tmp_path / "sum.npy").tolist() == [[11, 22], [33, -36]]
    assert np.fromfile(tmp_path / "sum.dat", "<i4").tolist() == [11, 22, 33, -36]


def test_an_array_of_operators():
    # From [1, 2]: twice [2, -0.5]. From [0.5, -1]: twice the sum of [0, -0.75] and of memory times [4, -1], [2, 4.5].
    assert run("recurrent.json")[0]["last"].tolist() == [4, 7.5]


def test_a_record_of_sizes():
    assert (
        run("upsample.json")[0]["large"].reshape(4, 6).tolist() == [[1, 1, 1, 2, 2, 2]] * 2 + [[3, 3, 3, 4, 4, 4]] * 2
    )


def test_arrays_of_numbers():
    outputs, _ = run("axes.json")
    piece = np.arange(-11, 13).reshape(2, 3, 4)[:, ::2, 1::2]
    assert outputs["piece"].tolist() == piece.ravel().tolist()
    most = piece.max(axis=(0, 2)).tolist()
    assert most == [4, 12]
    assert outputs["most"].tolist() == most
    assert outputs["products"].tolist() == [12, 1]


def test_omitted_and_empty_tensor_fields():
    outputs, message = run("defaults.json")
    assert outputs["sums"].tolist() == [1.75, 0, -1, 0]
    assert message == ["Resource 'sums': 1.75, 0, -1"] * 2
    descriptor = model("defaults.json").dispatchables["add"].descriptor
    assert descriptor is not None
    assert descriptor.fields["ATensor"] == TensorDesc("FLOAT32", (3,))
    assert descriptor.fields["BTensor"] == TensorDesc("FLOAT32", (3,))


def test_single_descriptor_is_checked_unchanged():
    fields: dict[str, Any] = {name: {"DataType": "FLOAT32", "Sizes": [3]} for name in ("InputTensor", "OutputTensor")}
    parts: list[dict[str, Any]] = [{"TotalTensorSizeInBytes": 0}, {"Strides": []}]
    for part in parts:
        desc = {**fields, "InputTensor": {**fields["InputTensor"], **part}}
        data = {"type": "DML_OPERATOR_ELEMENT_WISE_IDENTITY", "desc": desc}
        assert specgate.check(data, "directml:6.4").accepted is False
        (dispatched,) = read_dx_model({"dispatchables": {"it": data}}).dispatchables.values()
        assert dispatched.descriptor is not None
        assert specgate.check(dispatched.descriptor, "directml:6.4").accepted is True


def test_dispatchables_that_are_not_directml_operators():
    sample = model("foreign.json")
    assert [item.kind for item in sample.dispatchables.values()] == ["hlsl", "onnx", "dmlSerializedGraph", "directml"]
    assert [item.kind for item in sample.resources.values()] == ["file", "deferred", "constant"]
    with pytest.raises(InputError, match="images are not read"):
        run_dx_model(read_dx_model({**write_dx_model(sample), "commands": []}), "6.4", out=print)
    with pytest.raises(NoKernel, match="dispatchable 'shader': type hlsl is not supported"):
        run_dx_model(sample, "6.4", out=print)


# DxDispatch's form of a description


def clip_desc(low, kind="FLOAT16"):
    fields = {name: {"DataType": kind, "Sizes": [2]} for name in ("InputTensor", "OutputTensor")}
    desc = {**fields, "MinMaxDataType": kind, "Min": low, "Max": 1}
    return specgate.descriptor({"type": "ELEMENT_WISE_CLIP1", "desc": desc}, dialect="directml")


def test_unchanged_descriptor_is_returned_as_is():
    for descriptor in (clip_desc(0.25), clip_desc(0.3, "FLOAT32"), clip_desc("nan", "FLOAT32")):
        assert as_dispatched(descriptor) is descriptor


@given(st.floats(width=32, allow_nan=False))
def test_float16_scalars_are_rounded_toward_zero(value):
    result = as_dispatched(clip_desc(value)).fields["Min"]
    half = np.float16(result)
    assert float(half) == result
    assert np.signbit(half) == np.signbit(value)
    if abs(value) >= 65536:
        assert np.isinf(half)
    else:
        assert abs(result) <= abs(value)
        with np.errstate(over="ignore"):
            assert float(np.nextafter(np.abs(half), np.float16(np.inf))) > abs(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(65504, 65504), (65535.9, 65504), (-65519.99, -65504), (65536, np.inf), (-1e300, -np.inf), (1e-300, 0), (2, 2)],
)
def test_float16_scalar_limits(value, expected):
    assert as_dispatched(clip_desc(value)).fields["Min"] == expected
