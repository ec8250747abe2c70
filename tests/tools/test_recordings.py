"""Recordings and their cases: exact, reproducible, and rejected if invalid."""

from __future__ import annotations

import json
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.descriptors.core import TensorDesc
from specgate.errors import InputError
from specgate.oracles.cases import boundary_arrays
from specgate.oracles.protocol import Reply, Values
from tools import recordings
from tools.__main__ import main
from tools.recorded_cases import draw_cases, features
from tools.recordings import decode, encode, read_recording, record_values

TYPES = {
    "FLOAT16": "f2", "FLOAT32": "f4", "FLOAT64": "f8", "UINT8": "u1", "INT16": "i2", "UINT32": "u4", "INT64": "i8",
    "UINT64": "u8", "INT4": "i1",
}  # fmt: skip


@given(st.sampled_from(list(TYPES)), st.binary(min_size=32, max_size=32), st.integers(0, 255))
def test_any_bits_survive_a_recording(kind, data, hidden):
    array = np.frombuffer(data, TYPES[kind])
    if hidden:
        array = np.ma.MaskedArray(array, mask=[bool(hidden >> (i % 8) & 1) for i in range(array.size)])
    written = json.loads(json.dumps(encode(array), allow_nan=False))
    repeated = decode(written, TensorDesc(kind, array.shape), "x")
    assert repeated.dtype == array.dtype
    shown = ~np.ma.getmaskarray(array)
    assert np.array_equal(np.ma.getmaskarray(repeated), ~shown)
    assert np.ma.getdata(repeated)[shown].tobytes() == np.ma.getdata(array)[shown].tobytes()


@pytest.mark.parametrize("wrong", [[1], "12", [1, "x"], [1, [2]], [1, 2**40], None])
def test_lists_that_are_not_arrays(wrong):
    with pytest.raises(InputError, match=r"^x: (expected|cannot be read as INT32)"):
        decode(wrong, TensorDesc("INT32", (2,)), "x")


def test_cases_are_valid_repeatable_and_cover_much():
    first, second = (list(draw_cases("ONE_HOT", "6.4", 12, 3, runs=2, max_elements=200)) for _ in range(2))
    assert [case.descriptor for case in first] == [case.descriptor for case in second]
    assert len(first) == 12
    for case, drawn in zip(first, second, strict=True):
        assert [set(run) for run in case.runs] == [{"IndicesTensor", "ValuesTensor"}] * 2
        for run, other in zip(case.runs, drawn.runs, strict=True):
            assert all(run[name].tobytes() == other[name].tobytes() for name in run)
    covered = set().union(*(features(case.descriptor) for case in first))
    assert len({f for f in covered if f[:2] == ("IndicesTensor", "type")}) == 4
    assert len({f for f in covered if f[:2] == ("ValuesTensor", "type")}) == 11


def test_boundary_arrays_contain_limits_sizes_and_special_floats():
    (case,) = draw_cases("ONE_HOT", "6.4", 1, 0, runs=1, max_elements=200)
    fields = dict(case.descriptor.fields)
    fields["IndicesTensor"] = TensorDesc("INT64", (1000,))
    fields["ValuesTensor"] = TensorDesc("FLOAT16", (1000,))
    fields["OutputTensor"] = TensorDesc("FLOAT16", (77,))
    descriptor = type(case.descriptor)("directml", "ONE_HOT", fields)
    entries = boundary_arrays(descriptor, Random(1))
    assert {76, 77, 78, -76, -77, -78, 2**63 - 1, -(2**63), 2**32, 0, -1} <= set(entries["IndicesTensor"].tolist())
    bits = set(entries["ValuesTensor"].view(np.uint16).tolist())
    assert {0x0000, 0x8000, 0x7C00, 0xFC00, 0x7C01, 0x0001, 0x3C00, 0x3C01, 0x7BFF} <= bits


class FakeOracle:
    def __init__(self, level):
        self.versions = {"directml": level}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def compute_many(self, descriptor, cases):
        output = descriptor.fields["OutputTensor"]
        if output.type == "INT8":
            return [Values(None, Reply("no kernel", "CompileOperator: 0x80004005"))] * len(cases)
        dtype = TYPES.get(output.type, "u1")
        if dtype not in {"f4", "i8"}:
            return [Values(None, Reply("rejected", "here"))] * len(cases)
        array = np.arange(np.prod(output.sizes), dtype=dtype).reshape(output.sizes)
        return [Values({"OutputTensor": np.ma.MaskedArray(array, mask=array == 0)}, Reply("accepted"))] * len(cases)


def test_a_recording_is_written_the_same_twice_and_read_back(monkeypatch, tmp_path):
    monkeypatch.setattr(recordings, "ValuesOracle", FakeOracle)
    lines: list[str] = []
    path = record_values("6.4", "ONE_HOT", str(tmp_path), cases=12, seed=3, progress=lines.append)
    text = path.read_bytes()
    assert record_values("6.4", "ONE_HOT", str(tmp_path), cases=12, seed=3, progress=lines.append) == path
    assert path.read_bytes() == text
    assert path.name == "directml-6.4-ONE_HOT.json"
    assert any(line.startswith("no kernel, CompileOperator: 0x80004005: {") for line in lines)
    header, cases = read_recording(str(path))
    assert (header["level"], header["operator"], header["seed"]) == ("6.4", "ONE_HOT", 3)
    assert {case.descriptor.fields["OutputTensor"].type for case in cases} == {"FLOAT32", "INT64"}
    for case in cases:
        assert len(case.runs) == recordings.RUNS
        assert all(outputs["OutputTensor"].mask.reshape(-1)[0] for _, outputs in case.runs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "is not a recording"),
        ('{"header": {"format": 2}, "cases": []}', "expected format 1, found 2"),
        ('{"header": {"format": 1}, "cases": [{}]}', "is not a recording"),
        ('{"header": {"format": 1}, "cases": [{"descriptor": {"type": "x"}, "runs": []}]}', "DirectML|directml|x"),
    ],
)
def test_other_files_are_rejected(tmp_path, text, message):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(Exception, match=message) as caught:
        read_recording(str(path))
    assert type(caught.value).__module__ == "specgate.errors"


def test_a_missing_file_and_an_unwritable_folder(monkeypatch, tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_recording(str(tmp_path / "none.json"))
    monkeypatch.setattr(recordings, "ValuesOracle", FakeOracle)
    with pytest.raises(InputError, match="cannot be written"):
        record_values("6.4", "ONE_HOT", str(tmp_path / "none"), cases=12, seed=3, progress=lambda _: None)


def test_no_cases_are_rejected(tmp_path, capsys):
    assert main(["record", "--level", "6.4", "--operator", "ONE_HOT", "--cases", "0", "--to", str(tmp_path)]) == 2
    assert "expected --cases of at least 1, found 0" in capsys.readouterr().err
