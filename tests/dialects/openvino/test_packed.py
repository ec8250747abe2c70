"""Constants of sub-byte types and 8-bit floats: unpacked, and run in an IR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import specgate
from specgate.dialects.openvino.weights import pack_bits, packed_size, unpack_bits
from specgate.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

ml_dtypes = pytest.importorskip("ml_dtypes", reason="NARROW TYPES ARE NOT TESTED: pip install ml-dtypes")

NET = """<?xml version="1.0"?>
<net name="weights" version="11">
<layers>
<layer id="0" name="weights" type="Const" version="opset1">
<data element_type="{kind}" shape="{shape}" offset="1" size="{size}"/>
<output><port id="0" precision="{port}">{dims}</port></output></layer>
<layer id="1" name="wide" type="Convert" version="opset1"><data destination_type="f32"/>
<input><port id="0" precision="{port}">{dims}</port></input>
<output><port id="1" precision="FP32">{dims}</port></output></layer>
<layer id="2" name="total" type="Result" version="opset1"><input><port id="0" precision="FP32">{dims}</port></input></layer>
</layers>
<edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
</edges>
</net>"""
#: Per type: the port's word, bits, carrier, and the elements of the bytes 0x1B 0xA6 0x7F.
HELD: Final[dict[str, tuple[str, int, str, list[float]]]] = {
    "i4": ("I4", 4, "int4", [-5, 1, 6, -6, -1, 7]),
    "u4": ("U4", 4, "uint4", [11, 1, 6, 10, 15, 7]),
    "u2": ("U2", 2, "uint2", [3, 2, 1, 0, 2, 1, 2, 2, 3, 3, 3, 1]),
    "u1": ("BIN", 1, "uint1", [*map(int, "000110111010011001111111")]),
    "f4e2m1": ("F4E2M1", 4, "float4_e2m1fn", [-1.5, 0.5, 4, -1, -6, 6]),
    "f8e4m3": ("F8E4M3", 8, "float8_e4m3fn", [2.0**-4 * 1.375, -1.75 * 2.0**-3, float("nan")]),
    "f8e5m2": ("F8E5M2", 8, "float8_e5m2", [1.75 * 2.0**-9, -1.5 * 2.0**-6, float("nan")]),
    "f8e8m0": ("F8E8M0", 8, "float8_e8m0fnu", [2.0**-100, 2.0**39, 1]),
}
BYTES = bytes([0x1B, 0xA6, 0x7F])


def write_file(folder: Path, kind: str, shape: tuple[int, ...], size: int = 3) -> Path:
    dims = "".join(f"<dim>{n}</dim>" for n in shape)
    text = NET.format(kind=kind, port=HELD[kind][0], size=size, dims=dims, shape=",".join(map(str, shape)))
    path = folder / "weights.xml"
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".bin").write_bytes(b"\xff" + BYTES)
    return path


def carrier(name: str) -> np.dtype[Any]:
    if not hasattr(ml_dtypes, name):
        pytest.skip(f"ml_dtypes has no {name}")
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return dtype


@pytest.mark.parametrize("kind", HELD)
def test_packed_codes_unpack_in_order(kind, tmp_path):
    _, bits, name, values = HELD[kind]
    assert (len(values), carrier(name).itemsize) == (24 // bits, 1)
    for count in {len(values), len(values) - 1, 1, 0}:
        (result,) = specgate.execute(write_file(tmp_path, kind, (count,)), {}).values()
        np.testing.assert_array_equal(result, np.array(values[:count], np.float32))


@pytest.mark.parametrize("kind", [kind for kind, parts in HELD.items() if parts[1] < 8])
def test_packing_inverts_unpacking(kind):
    _, bits, name, values = HELD[kind]
    array = unpack_bits(BYTES, len(values), carrier(name), bits)
    assert array.astype(np.float32).tolist() == values
    assert pack_bits(array, bits) == BYTES
    assert unpack_bits(pack_bits(array[:-1].reshape(-1, 1), bits), 1, array.dtype, bits) == values[0]
    assert packed_size(len(values), bits) == 3


def test_too_few_bytes_for_the_elements_are_rejected(tmp_path):
    with pytest.raises(InputError, match=r"i4 of \[3, 2\] needs 3 bytes, but the Const has 2"):
        specgate.execute(write_file(tmp_path, "i4", (3, 2), size=2), {})


def test_unpacked_elements_count_toward_the_limit(tmp_path):
    with pytest.raises(InputError, match="a Const needs 12 bytes, but only 8 of the limit are left"):
        specgate.execute(write_file(tmp_path, "i4", (3, 2)), {}, max_bytes=8)


@pytest.mark.oracle
@pytest.mark.parametrize("kind", HELD)
def test_openvino_unpacks_equal_values(kind, tmp_path):
    openvino = pytest.importorskip("openvino", reason="OPENVINO IS NOT INSTALLED: packed constants are not compared")
    shape = {1: (2, 3, 4), 2: (3, 4), 4: (3, 2), 8: (3,)}[HELD[kind][1]]
    carrier(HELD[kind][2])
    path = write_file(tmp_path, kind, shape)
    theirs = openvino.compile_model(str(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([])[0]
    np.testing.assert_array_equal(specgate.execute(path, {})["total"], theirs)
