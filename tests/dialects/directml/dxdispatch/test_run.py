"""DxDispatch models end to end: initial values, commands, printing, files, errors."""

from __future__ import annotations

import copy
import json
import struct
import tracemalloc
from typing import Any

import numpy as np
import pytest

from specgate.cli import main
from specgate.dialects.directml.dxdispatch.read import read_dx_model
from specgate.dialects.directml.dxdispatch.run import run_dx_model
from specgate.errors import InputError, NoKernel, NoTable
from specgate.execution.memory import MAX_BYTES, budget_of
from tests.paths import DATA

NOTHING: dict[str, Any] = {"dispatchables": {}}
ONE_HOT: dict[str, Any] = {
    "type": "DML_OPERATOR_ONE_HOT",
    "desc": {
        "IndicesTensor": {"DataType": "INT32", "Sizes": [3, 1]},
        "ValuesTensor": {"DataType": "FLOAT32", "Sizes": [1, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [3, 3]},
        "Axis": 1,
    },
}
RESOURCES = {
    "i": {"initialValuesDataType": "INT32", "initialValues": [2, 0, -2]},
    "v": {"initialValuesDataType": "FLOAT32", "initialValues": [0.5, "inf"]},
    "o": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 9, "value": 0}},
}
BINDINGS = {"IndicesTensor": "i", "ValuesTensor": "v", "OutputTensor": "o"}
DISPATCH = {"type": "dispatch", "dispatchable": "it", "bindings": BINDINGS}


def run(document, level="6.4", **options):
    messages: list[str] = []
    outputs = run_dx_model(read_dx_model(document), level, out=messages.append, **options)
    return outputs, messages


def model_with(*commands, resources=RESOURCES, dispatchables=None):
    return {"resources": resources, "dispatchables": dispatchables or {"it": ONE_HOT}, "commands": list(commands)}


def buffer(resource, **options):
    """Return a resource's content, and the text that DxDispatch would print."""
    outputs, message = run(
        {**NOTHING, "resources": {"r": resource}, "commands": [{"type": "print", "resource": "r"}]}, **options
    )
    return outputs["r"], message[0].removeprefix("Resource 'r': ")


@pytest.mark.parametrize("name", ["one_hot.json", "one_hot.yaml"])
def test_the_sample_models(name):
    message: list[str] = []
    outputs = run_dx_model(read_dx_model(DATA / "dxdispatch" / name), "6.4", out=message.append)
    assert message == [
        "Resource 'scores': 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1",
        "Resource 'rows': -5, -5, 7, 99, -5, -5, 7, 99",
    ]
    assert outputs["scores"].dtype == np.float32
    assert outputs["rows"].tolist() == [-5, -5, 7, 99, -5, -5, 7, 99]


def test_negative_indices_depend_on_the_feature_level():
    assert run(model_with(DISPATCH))[0]["o"].tolist() == [0.5, 0.5, np.inf, np.inf, 0.5, 0.5, 0.5, np.inf, 0.5]
    assert run(model_with(DISPATCH), "2.1")[0]["o"].tolist()[6:] == [0.5, 0.5, 0.5]
    with pytest.raises(InputError, match=r"unknown feature level '9\.9'"):
        run(model_with(DISPATCH), "9.9")
    with pytest.raises(InputError, match=r"commands\[0\].*does not exist at feature level 1.0"):
        run(model_with(DISPATCH), "1.0")


def test_commands_run_in_order():
    show = {"type": "print", "resource": "o"}
    message = run(model_with(show, DISPATCH, show))[1]
    assert message == [
        "Resource 'o': 0, 0, 0, 0, 0, 0, 0, 0, 0",
        "Resource 'o': 0.5, 0.5, inf, inf, 0.5, 0.5, 0.5, inf, 0.5",
    ]


def test_buffer_used_as_input_and_output():
    resources = {**RESOURCES, "o": {"initialValuesDataType": "INT32", "initialValues": [1, 0, 2, 0, 0, 0, 0, 0, 0]}}
    dispatch = {**DISPATCH, "bindings": {**BINDINGS, "IndicesTensor": "o"}}
    result = run(model_with(dispatch, resources=resources))[0]["o"].view(np.float32)
    assert result.tolist() == [0.5, np.inf, 0.5, np.inf, 0.5, 0.5, 0.5, 0.5, np.inf]


# Initial values


def test_arrays_accept_numbers_and_special_float_names():
    values, text = buffer({"initialValuesDataType": "FLOAT16", "initialValues": [65504, -4, 1.5, "NaN", "inf", "-Inf"]})
    assert values.dtype == np.float16
    assert values[:3].tolist() == [65504, -4, 1.5]
    assert text == "65504, -4, 1.5, nan, inf, -inf"


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("INT8", -(2**7), 2**7 - 1),
        ("UINT8", 0, 2**8 - 1),
        ("INT16", -(2**15), 2**15 - 1),
        ("UINT16", 0, 2**16 - 1),
        ("INT32", -(2**31), 2**31 - 1),
        ("UINT32", 0, 2**32 - 1),
        ("INT64", -(2**63), 2**63 - 1),
        ("UINT64", 0, 2**64 - 1),
    ],
)
def test_integer_limits(kind, low, high):
    values, text = buffer({"initialValuesDataType": f"DML_TENSOR_DATA_TYPE_{kind}", "initialValues": [low, high]})
    assert values.tolist() == [low, high]
    assert text == f"{low}, {high}"
    for beyond in (low - 1, high + 1, 1.0, "inf", True, None):
        with pytest.raises(
            InputError, match=rf"resources/r.initialValues\[0\]: expected an integer from {low} to {high}"
        ):
            buffer({"initialValuesDataType": kind, "initialValues": [beyond]})


def test_sequences_accumulate_in_their_data_type():
    def sequence(kind, start, delta, count):
        initial = {"valueCount": count, "valueStart": start, "valueDelta": delta}
        return buffer({"initialValuesDataType": kind, "initialValues": initial})[0]

    assert sequence("FLOAT32", 1, 2.5, 4).tolist() == [1, 3.5, 6, 8.5]
    assert sequence("UINT8", 250, 3, 4).tolist() == [250, 253, 0, 3]
    assert sequence("INT8", 127, 1, 2).tolist() == [127, -128]
    added = np.float32(0)
    for value in sequence("FLOAT32", 0, 0.1, 50):
        assert value == added
        added = np.float32(added + np.float32(0.1))
    assert sequence("FLOAT16", 2048, 1, 3).tolist() == [2048, 2048, 2048], "2049 is cut to 2048"
    assert sequence("FLOAT16", -2048, -1.5, 2).tolist() == [-2048, -2048]
    assert sequence("FLOAT16", 0, "inf", 3).tolist() == [0, np.inf, np.inf]
    assert np.isnan(sequence("FLOAT16", "-inf", "inf", 4)).tolist() == [False, True, True, True]
    assert sequence("FLOAT16", 0, 1, 100_000)[-1] == 2048


def toward_zero(value):
    """Round to float16 by truncation, with exact fractions."""
    if value == 0 or abs(value) >= 65536:
        return np.float16(np.copysign(np.inf if value else 0, value))
    exponent = max(np.frexp(value)[1] - 11, -24)
    return np.float16(np.trunc(value / 2.0**exponent) * 2.0**exponent)


def test_float16_values_are_truncated_like_in_dxdispatch():
    values = [0.3, -0.3, 0.1, 65519, 65535.9, 65536, -1e9, 1e-8, 6e-8, 2049, 4099.9, 1e308]
    result = buffer({"initialValuesDataType": "FLOAT16", "initialValues": values})[0]
    expected = [toward_zero(float(np.clip(value, -3e38, 3e38))) for value in np.array(values)]
    assert result.tolist() == [float(value) for value in expected]
    assert result[0] != np.float16(0.3)


def test_a_list_of_mixed_values():
    resource = {
        "initialValuesDataType": "UNKNOWN",
        "initialValues": [
            {"name": "count", "type": "UINT32", "value": 6},
            {"type": "DML_TENSOR_DATA_TYPE_FLOAT16", "value": "inf"},
            {"type": "INT64", "value": -2},
        ],
        "sizeInBytes": 16,
    }
    document = {**NOTHING, "resources": {"r": resource}}
    assert run(document)[0]["r"].tobytes() == struct.pack("<Ieq", 6, float("inf"), -2) + bytes(2)
    with pytest.raises(InputError, match="a buffer of mixed types cannot be printed"):
        buffer(resource)


def test_sizes_are_rounded_up_and_padding_is_not_printed():
    values, text = buffer({"initialValuesDataType": "FLOAT16", "initialValues": [1, 2, 3, 4, 5]})
    assert (values.size, text) == (5, "1, 2, 3, 4, 5")
    values, text = buffer({"initialValuesDataType": "UINT8", "initialValues": [1], "sizeInBytes": 7})
    assert (values.tolist(), text) == ([1, 0, 0, 0, 0, 0, 0], "1")
    with pytest.raises(InputError, match="resources/r: sizeInBytes is 3, but the initial values need 4 bytes"):
        buffer({"initialValuesDataType": "FLOAT32", "initialValues": [1], "sizeInBytes": 3})


def test_oversized_buffers_are_rejected_before_allocation():
    constant = {"initialValuesDataType": "FLOAT64", "initialValues": {"valueCount": 2**32 - 1, "value": 0}}
    with pytest.raises(InputError, match=f"needs 34359738360 bytes, but only {MAX_BYTES} bytes of the limit are left"):
        buffer(constant)
    with pytest.raises(InputError, match="resources/r: needs 1152921504606846976 bytes"):
        buffer({"initialValuesDataType": "UINT8", "initialValues": [1], "sizeInBytes": 2**60})
    two = {name: {"initialValuesDataType": "UINT8", "initialValues": [1], "sizeInBytes": 600} for name in "ab"}
    with pytest.raises(InputError, match="resources/b: needs 600 bytes, but only 400 bytes of the limit are left"):
        run({**NOTHING, "resources": two}, budget=budget_of(1000))


@pytest.mark.parametrize(
    ("resource", "complaint"),
    [
        ({"initialValues": "deferred"}, "deferred initial values"),
        ({"initialValuesDataType": "UINT8", "initialValues": [1], "initialValuesOffsetInBytes": 4}, "not supported"),
        ({"initialValues": {"sourcePath": "cat.JPG"}, "initialValuesDataType": "UINT8"}, "images are not read"),
        (
            {"initialValues": {"sourcePath": "none.dat"}, "initialValuesDataType": "UINT8"},
            r"sourcePath is 'none\.dat', which does not exist",
        ),
        ({"initialValues": {"sourcePath": "."}, "initialValuesDataType": "UINT8"}, "is not a regular file"),
        ({"initialValues": {"sourcePath": "a\0b"}, "initialValuesDataType": "UINT8"}, "cannot be read"),
    ],
)
def test_invalid_resources_are_rejected(resource, complaint):
    with pytest.raises(InputError, match=complaint):
        buffer(resource)


# Files


def test_npy_and_raw_files(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1, -2], [3, 4]], ">i2"))
    np.save(tmp_path / "b.npy", np.array([True, False]))
    (tmp_path / "b.npy").rename(tmp_path / "b.NPY")
    (tmp_path / "c.bin").write_bytes(struct.pack("<3f", 1, 2, 0.25))

    def read(name, **more):
        return buffer({"initialValues": {"sourcePath": name}, **more}, base_dir=tmp_path)

    assert read("a.npy")[1] == "1, -2, 3, 4"
    assert read("a.npy", initialValuesDataType="INT16")[0].dtype == np.int16
    assert read("b.NPY")[0].tolist() == [1, 0]
    assert read("c.bin", initialValuesDataType="FLOAT32")[1] == "1, 2, 0.25"
    with pytest.raises(InputError, match="raw bytes need an initialValuesDataType"):
        read("c.bin")
    with pytest.raises(InputError, match="holds 12 bytes, expected one or more elements of INT64"):
        read("c.bin", initialValuesDataType="INT64")
    with pytest.raises(InputError, match="holds >i2, expected FLOAT32"):
        read("a.npy", initialValuesDataType="FLOAT32")
    with pytest.raises(InputError, match="expected at most 8 bytes, found 12"):
        buffer(
            {"initialValues": {"sourcePath": "c.bin"}, "initialValuesDataType": "FLOAT32"},
            base_dir=tmp_path,
            budget=budget_of(8),
        )


def test_files_outside_the_model_folder_require_permission(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "x.dat").write_bytes(b"\1\2\3\4")
    (tmp_path / "x.dat").write_bytes(b"\5\6\7\x08")
    resource = '{"resources": {"r": {"initialValuesDataType": "UINT8", "initialValues": {"sourcePath": "x.dat"}}}, "dispatchables": {}}'
    (tmp_path / "model.json").write_text(resource)
    monkeypatch.chdir(tmp_path / "here")

    def run_it(**options):
        return run_dx_model(read_dx_model(tmp_path / "model.json"), "6.4", out=print, **options)["r"].tolist()

    assert run_it() == run_it(read_outside=True) == [5, 6, 7, 8]
    (tmp_path / "x.dat").unlink()
    assert run_it(read_outside=True) == [1, 2, 3, 4]
    with pytest.raises(InputError, match=r"'x\.dat', which does not exist; --read-outside"):
        run_it()


def test_command_reads_outside_files_only_on_request(tmp_path, capsys):
    (tmp_path / "inside").mkdir()
    (tmp_path / "x.dat").write_bytes(b"\1\2\3\4")
    resource = {"initialValues": {"sourcePath": "../x.dat"}, "initialValuesDataType": "UINT8"}
    document = {"resources": {"r": resource}, "dispatchables": {}, "commands": [{"type": "print", "resource": "r"}]}
    path = tmp_path / "inside" / "model.json"
    path.write_text(json.dumps(document))
    assert main(["run", str(path)]) == 2
    assert "outside the model's folder" in capsys.readouterr().err
    assert main(["run", str(path), "--read-outside"]) == 0
    assert "1, 2, 3, 4" in capsys.readouterr().out


def test_source_path_must_be_in_the_model_folder(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "x.dat").write_bytes(b"\1\2\3\4")
    (inside / "way").symlink_to(tmp_path)
    for source, problem in (
        (str(tmp_path / "x.dat"), "an absolute path"),
        ("../x.dat", "outside the model's folder"),
        ("way/../../x.dat", "outside the model's folder"),
        ("way/x.dat", "through a link"),
    ):
        resource = {"initialValues": {"sourcePath": source}, "initialValuesDataType": "UINT8"}
        with pytest.raises(InputError, match=f"{problem}; --read-outside"):
            buffer(resource, base_dir=inside)
        if "way/.." not in source:
            assert buffer(resource, base_dir=inside, read_outside=True)[0].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\3\4",
        b"\x93NUMPY",
        b"\x93NUMPY\1\0\x02\0((",
        b"\x93NUMPY\1\0\x06\0(((((\n",
        b"\x93NUMPY\1\0\x40\0" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999,)}",
        b"\x93NUMPY\1\0\x3b\0" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2)} ",
        b"\x93NUMPY\1\0\x38\0" + b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}  ",
        b"\x93NUMPY\1\0\x38\0" + b"{'descr': '<c8','fortran_order': False, 'shape': (1,)}  " + bytes(8),
        b"\x93NUMPY\1\0\x38\0" + b"{'descr': '<f4','fortran_order': True,'shape': (2, 2)}  " + bytes(16),
        b"\x93NUMPY\7\0\x02\0{}",
    ],
)
def test_hostile_npy_files(tmp_path, data):
    (tmp_path / "x.npy").write_bytes(data)
    with pytest.raises(InputError, match=r"x\.npy"):
        buffer({"initialValues": {"sourcePath": "x.npy"}}, base_dir=tmp_path)


def test_write_file_requires_permission(tmp_path):
    def write(target, **more):
        command = {"type": "writeFile", "resource": "o", "targetPath": target, **more}
        return model_with(DISPATCH, command)

    with pytest.raises(InputError, match=r"commands\[1\]: writing 'out.npy' requires --write-files, so nothing is run"):
        run(write("out.npy"), base_dir=tmp_path)
    assert not list(tmp_path.iterdir())
    message = run(write("sub/out.npy", dimensions=[3, 3]), base_dir=tmp_path, write_files=True)[1]
    assert message == ["Resource 'o' written to 'sub/out.npy'"]
    assert np.load(tmp_path / "sub" / "out.npy").tolist() == [
        [0.5, 0.5, np.inf],
        [np.inf, 0.5, 0.5],
        [0.5, np.inf, 0.5],
    ]
    run(write("flat.npy"), base_dir=tmp_path, write_files=True)
    assert np.load(tmp_path / "flat.npy").shape == (9,)
    run(write("raw.dat"), base_dir=tmp_path, write_files=True)
    assert np.fromfile(tmp_path / "raw.dat", "<f4").tolist()[2:4] == [np.inf, np.inf]
    for wrong, complaint in [
        ("../up.npy", "inside the model's folder"),
        (str(tmp_path / "absolute.npy"), "inside the model's folder"),
        ("a\0b.npy", "inside the model's folder"),
        ("page.html", r"ends in .npy, .dat or .bin"),
        ("cat.png", r"ends in .npy, .dat or .bin"),
    ]:
        with pytest.raises(InputError, match=complaint):
            run(write(wrong), base_dir=tmp_path / "sub", write_files=True)
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(InputError, match="expected a regular file"):
        run(write("folder.npy"), base_dir=tmp_path, write_files=True)
    with pytest.raises(InputError, match="12 elements are requested, but there are 9"):
        run(write("out.npy", dimensions=[3, 4]), base_dir=tmp_path, write_files=True)
    assert not (tmp_path / "up.npy").exists()


def test_symlink_does_not_escape_the_folder(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "way").symlink_to(tmp_path)
    command = {"type": "writeFile", "resource": "o", "targetPath": "way/out.dat"}
    with pytest.raises(InputError, match="inside the model's folder"):
        run(model_with(command), base_dir=inside, write_files=True)
    assert not (tmp_path / "out.dat").exists()


# Printing


def test_floats_are_printed_with_six_digits():
    values = [0.1, 1 / 3, 1e6, 123456, 1234567, 1e-5, -0.0, 1e300, 100000]
    assert buffer({"initialValuesDataType": "FLOAT64", "initialValues": values})[1] == (
        "0.1, 0.333333, 1e+06, 123456, 1.23457e+06, 1e-05, -0, 1e+300, 100000"
    )


def test_verbose_printing():
    resource = {"initialValuesDataType": "INT16", "initialValues": [1, -1] + [42] * 9}
    command = {"type": "print", "resource": "r", "verbose": True}
    message = run({**NOTHING, "resources": {"r": resource}, "commands": [command]})[1]
    lines = message[0].split("\n")
    assert lines[:4] == ["Resource 'r':", "[ 0] 1 (0x   1)", "[ 1] -1 (0xFFFF)", "[ 2] 42 (0x  2A)"]
    assert lines[-1] == "[10] 42 (0x  2A)"


def test_huge_buffer_is_printed_partially():
    resource = {"initialValuesDataType": "UINT8", "initialValues": {"valueCount": 1_000_001, "value": 7}}
    text = buffer(resource)[1]
    assert text.endswith("7, 7, … (1000001 elements)")
    assert len(text) < 3_000_100


# Refusals


def changed(**bindings):
    kept = {name: value for name, value in {**BINDINGS, **bindings}.items() if value is not None}
    return model_with({**DISPATCH, "bindings": kept})


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        (changed(OutputTensor=None), r"commands\[0\] OutputTensor: is required, but not bound to a resource"),
        (changed(IndicesTensor=None), r"commands\[0\] IndicesTensor: is required, but not bound to a resource"),
        (
            changed(Indices="i"),
            r"commands\[0\] bindings: 'Indices' is not a tensor of this ONE_HOT; expected IndicesTensor",
        ),
        (changed(IndicesTensor=["i", "i"]), r"commands\[0\] IndicesTensor: accepts 1 resources, but 2 are bound"),
        (changed(IndicesTensor=[]), r"commands\[0\] IndicesTensor: accepts 1 resources, but 0 are bound"),
        (changed(OutputTensor="v"), r"commands\[0\] OutputTensor: needs 36 bytes, but 'v' has 8 from byte 0 on"),
        (changed(IndicesTensor="nowhere"), r"commands\[0\].IndicesTensor: the model has no resource 'nowhere'"),
    ],
)
def test_bindings(document, complaint):
    with pytest.raises(InputError, match=complaint):
        run(document)


def test_dispatchables_that_are_not_executed():
    shader = {"type": "HLSL", "sourcePath": "x.hlsl", "compiler": "dxc", "compilerArgs": []}
    with pytest.raises(NoKernel, match="'it': type hlsl is not supported"):
        run(model_with(DISPATCH, dispatchables={"it": shader}))
    gemm = {"type": "DML_OPERATOR_GEMM9", "desc": {"Alpha": 1}}
    with pytest.raises(NoTable, match="'it': directml has no table for 'GEMM9'"):
        run(model_with(DISPATCH, dispatchables={"it": gemm}))
    assert run(model_with(DISPATCH, dispatchables={"it": ONE_HOT, "other": gemm, "third": shader}))[0]["o"][0] == 0.5


def test_tensors_owned_by_directml():
    owned = copy.deepcopy(ONE_HOT)
    owned["desc"]["ValuesTensor"]["Flags"] = "OWNED_BY_DML"
    rest = {name: BINDINGS[name] for name in ("IndicesTensor", "OutputTensor")}
    dispatch = {**DISPATCH, "bindings": rest}

    def models(bindings, command=dispatch):
        return model_with(command, dispatchables={"it": {**owned, "bindings": bindings}})

    assert run(models({"ValuesTensor": "v"}))[0]["o"].tolist()[:3] == [0.5, 0.5, np.inf]
    with pytest.raises(InputError, match="dispatchables/it ValuesTensor: has the flag OWNED_BY_DML, but is not bound"):
        run(models({}))
    with pytest.raises(InputError, match="is OWNED_BY_DML since initialization"):
        run(models({"ValuesTensor": "v"}, DISPATCH))
    with pytest.raises(
        InputError, match="dispatchables/it IndicesTensor: is bound for initialisation, but lacks the flag"
    ):
        run(models({"ValuesTensor": "v", "IndicesTensor": "i"}))


def test_names_with_control_characters_do_not_reach_the_terminal():
    resources = {"\x1b[2J": RESOURCES["v"]}
    message = run({**NOTHING, "resources": resources, "commands": [{"type": "print", "resource": "\x1b[2J"}]})[1]
    assert message == [r"Resource ''\x1b[2J'': 0.5, inf"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Axis": None}, "Axis is required, but missing from the descriptor"),
        ({"OutputTensor": None}, "OutputTensor is required, but missing from the descriptor"),
    ],
)
def test_missing_fields_are_reported_before_allocation(change, message):
    changed = copy.deepcopy(ONE_HOT)
    for name in change:
        del changed["desc"][name]
    result = model_with(DISPATCH, dispatchables={"it": changed})
    result["resources"]["big"] = {
        "initialValuesDataType": "INT8",
        "initialValues": {"valueCount": 1 << 30, "valueStart": 0, "valueDelta": 1},
    }
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=message):
            run(result)
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


def test_resources_beyond_the_limit_are_not_allocated():
    resource = {"initialValuesDataType": "INT8", "initialValues": {"valueCount": 3 << 29, "value": 1}}
    entries = {**NOTHING, "resources": {"a": resource, "b": resource}}
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="resources/b: needs 1610612736 bytes, but only"):
            run(entries)
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()
