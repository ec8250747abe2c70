"""Recorded values of DirectML builds against specgate, bitwise if a table asks.

`python -m tools record` writes the recordings; one test runs an installed build.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from specgate.descriptors.core import TensorDesc
from specgate.dialects.directml.dxdispatch.buffers import needed_bytes
from specgate.dialects.directml.oracle.cases import pack_array
from specgate.dialects.directml.oracle.values import FILL_BYTES, ValuesOracle
from specgate.dialects.directml.oracle.values_environment import VALUE_LEVELS, missing_values, values_command
from specgate.execution.engine import execute_at
from specgate.spec.tables import dialect
from tools.recorded_cases import draw_cases
from tools.recordings import read_recording

RECORDED = sorted((Path(__file__).parent / "recorded").glob("directml-*.json"))
READY = [level for level in VALUE_LEVELS if not missing_values(level)]


def same_bits(result, expected):
    """Compare arrays bitwise (nan payloads, -0.0); unwritten elements must be undefined."""
    if result.dtype != expected.dtype or result.shape != expected.shape:
        return False
    ours, theirs = np.ma.getmaskarray(result), np.ma.getmaskarray(expected)
    bits = f"u{result.dtype.itemsize}"
    left, right = (np.ascontiguousarray(np.ma.getdata(array)).view(bits) for array in (result, expected))
    return bool(np.all(ours | (~theirs & (left == right))))


def one_hot_as_built(descriptor, arrays, level):
    """Compute ONE_HOT as builds 5.0 to 6.4 do, with two deviations from the page.

    For INT64 indices (at 5.0 and 5.1 also UINT64) the high half only gives the sign, and the low half is compared.
    OnValue is read at the stride of the last dimension of ValuesTensor, regardless of its size; memory that belongs to
    no element is masked here.
    """
    fields = descriptor.fields
    axis, tensor, indices = fields["Axis"], fields["ValuesTensor"], arrays["IndicesTensor"]
    depth = fields["OutputTensor"].sizes[axis]
    if indices.dtype == np.uint64 and level not in {"5.0", "5.1"}:
        place = np.minimum(indices, np.uint64(2**32)).astype(np.int64)
    else:
        wide = indices.astype(np.int64)
        place = np.where(wide < 0, wide + depth, wide)
        place = place & 0xFFFFFFFF if indices.dtype.itemsize == 8 else place
    values = arrays["ValuesTensor"]
    at = 1 if tensor.strides is None else tensor.strides[-1]
    size = 8 * (1 + at + needed_bytes(tensor, "ValuesTensor"))
    read = [pack_array(values, tensor, size, fill, "ValuesTensor").view(values.dtype)[at] for fill in FILL_BYTES]
    hit = place == np.arange(depth).reshape([-1 if d == axis else 1 for d in range(place.ndim)])
    onnx_model = np.where(hit, read[0], values.reshape(-1)[0])
    return np.ma.MaskedArray(onnx_model, mask=hit) if read[0].tobytes() != read[1].tobytes() else onnx_model


#: Known deviations of builds from the page: the values they compute, by operator.
BUILT = {"ONE_HOT": {"OutputTensor": one_hot_as_built}}


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_specgate_reproduces_the_recordings(path):
    header, cases = read_recording(str(path))
    spec = dialect("directml").operator(header["operator"])
    if spec.table.tolerance != "0":
        pytest.skip(f"{header['operator']} is not compared bit for bit")
    built = BUILT.get(header["operator"], {})
    compared = differing = 0
    for descriptor, runs in cases:
        for arrays, recorded in runs:
            result = execute_at(descriptor, arrays, header["level"])
            assert set(result) == set(recorded)
            for name, expected in recorded.items():
                compared += 1
                if not same_bits(result[name], expected):
                    differing += 1
                    assert name in built, (descriptor, arrays)
                    assert same_bits(built[name](descriptor, arrays, header["level"]), expected), (descriptor, arrays)
    assert compared >= 100
    assert differing < compared / 4


def test_one_hot_recording_exists():
    assert "directml-6.4-ONE_HOT" in [path.stem for path in RECORDED]


def test_one_hot_recording_covers_every_variation():
    header, cases = read_recording(str(next(path for path in RECORDED if path.stem == "directml-6.4-ONE_HOT")))
    spec = dialect("directml").operator("ONE_HOT").resolve(header["level"])
    assert spec is not None
    fields = [case.descriptor.fields for case in cases]
    cells = {name: spec.cells[name] for name in ("IndicesTensor", "ValuesTensor")}
    for name, cell in cells.items():
        assert {f[name].type for f in fields} == set(cell.types or ())
    pairs = {(f["IndicesTensor"].type, f["ValuesTensor"].type) for f in fields}
    assert len(pairs) == len(cells["IndicesTensor"].types or ()) * len(cells["ValuesTensor"].types or ())
    assert {(len(f["OutputTensor"].sizes), f["Axis"]) for f in fields} == {
        (r, a) for r in range(1, 9) for a in range(r)
    }
    for name in ("IndicesTensor", "ValuesTensor", "OutputTensor"):
        assert any(f[name].strides is not None for f in fields)
    assert any(np.prod(f["ValuesTensor"].sizes) > 2 for f in fields)
    assert any(f["ValuesTensor"].sizes[-1] == 1 for f in fields)
    depths = [
        (a["IndicesTensor"], f["OutputTensor"].sizes[f["Axis"]])
        for f, c in zip(fields, cases, strict=True)
        for a, _ in c.runs
    ]
    assert any((indices < -1).any() for indices, _ in depths)
    assert any((indices >= depth).any() for indices, depth in depths)
    assert any((indices < -depth).any() for indices, depth in depths if indices.dtype.kind == "i")


@pytest.mark.slow
@pytest.mark.oracle
@pytest.mark.parametrize(
    "level",
    [
        pytest.param(
            level,
            marks=pytest.mark.skipif(
                level not in READY,
                reason=f"NO REAL DIRECTML {level} COMPUTES VALUES: {values_command([level])}",
            ),
        )
        for level in VALUE_LEVELS
    ],
)
def test_live_build_reproduces_the_recordings(level):
    with ValuesOracle(level) as oracle:
        for drawn in draw_cases("ONE_HOT", level, 6, 7, runs=2, max_elements=200):
            for arrays, answer in zip(drawn.runs, oracle.compute_many(drawn.descriptor, drawn.runs), strict=True):
                assert answer.reply.word == "accepted"
                assert answer.arrays is not None
                built = one_hot_as_built(drawn.descriptor, arrays, level)
                assert same_bits(built, answer.arrays["OutputTensor"]), (drawn.descriptor, arrays)


@pytest.mark.slow
@pytest.mark.oracle
@pytest.mark.skipif("6.4" not in READY, reason=f"NO REAL DIRECTML 6.4 COMPUTES VALUES: {values_command(['6.4'])}")
def test_recording_again_gives_the_same_values():
    _, cases = read_recording(str(next(path for path in RECORDED if path.stem == "directml-6.4-ONE_HOT")))
    with ValuesOracle("6.4") as oracle:
        for descriptor, runs in cases[::40]:
            repeated = oracle.compute_many(descriptor, [arrays for arrays, _ in runs])
            for (_, recorded), answer in zip(runs, repeated, strict=True):
                assert answer.arrays is not None
                for name, expected in recorded.items():
                    assert isinstance(descriptor.fields[name], TensorDesc)
                    assert same_bits(answer.arrays[name], expected)
