"""Types of at most 8 bits from ml_dtypes: inputs, outputs, conversions."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import specgate
from specgate.errors import InputError, NoKernel
from specgate.execution import kernels
from specgate.execution.kernels import is_carried, register_kernel
from specgate.execution.kernels.cast import convert, convert_promote_types
from specgate.execution.kernels.narrow_types import round_to_narrow, widen_array
from specgate.execution.types import integer_range, is_narrow, numpy_type
from specgate.spec.tables import dialect

ml_dtypes = pytest.importorskip("ml_dtypes", reason="NARROW TYPES ARE NOT TESTED: pip install ml-dtypes")

OPENVINO = dialect("openvino")
INT4, UINT4 = np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.uint4)
E4M3, E5M2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)
E8M0, E2M1 = np.dtype(ml_dtypes.float8_e8m0fnu), np.dtype(ml_dtypes.float4_e2m1fn)


def layer(kind: str, inputs: list[str], outputs: list[str] | None = None, data: dict[str, Any] | None = None) -> Any:
    return {
        "type": kind,
        "version": "opset16",
        "inputs": [{"element_type": name, "shape": [3]} for name in inputs],
        "outputs": [{"element_type": name, "shape": [3]} for name in outputs or inputs[:1]],
        "data": data or {},
    }


TO_F32 = layer("Convert", ["i4"], ["f32"], {"destination_type": "f32"})


@pytest.mark.parametrize("inputs", [np.array([-8, 0, 7], t) for t in (INT4, "i1", "i8")] + [[-8, 0, 7]])
def test_narrow_inputs_accept_any_integers_in_range(inputs):
    assert specgate.execute(TO_F32, {"data": inputs})["output"].tolist() == [-8, 0, 7]


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (np.array([0, 8, 0], "i1"), "expected integers from -8 to 7"),
        (np.array([0, 300, 0], "u2"), "expected integers from -8 to 7"),
        ([0, 0, -9], "expected integers from -8 to 7"),
        ([0, 0, 1.5], "expected integers from -8 to 7"),
        (np.array([0, 1, 2], UINT4), "type int4, found uint4"),
        (np.array([0, 1, 2], "f4"), "type int4, found float32"),
        (np.array([True, False, True]), "type int4, found bool"),
    ],
)
def test_values_out_of_range_are_rejected(inputs, words):
    with pytest.raises(InputError, match=words):
        specgate.execute(TO_F32, {"data": inputs})


def test_wider_integers_must_have_their_type():
    with pytest.raises(InputError, match="type int16, found int8"):
        specgate.execute(layer("Convert", ["i16"], ["f32"], {"destination_type": "f32"}), {"data": np.zeros(3, "i1")})


def test_outputs_have_the_type_of_ml_dtypes():
    result = specgate.execute(layer("Convert", ["f32"], ["u4"], {"destination_type": "u4"}), {"data": [1.5, 0, 15]})[
        "output"
    ]
    assert (result.dtype, result.astype(np.uint8).tolist()) == (UINT4, [1, 0, 15])


def test_missing_ml_dtypes_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(NoKernel, match=r"i4 requires ml_dtypes: pip install 'specgate-ml\[dtypes\]'"):
        specgate.execute(TO_F32, {"data": [1, 2, 3]})
    monkeypatch.setitem(sys.modules, "ml_dtypes", SimpleNamespace())
    with pytest.raises(NoKernel, match="i4 requires a newer ml_dtypes"):
        specgate.execute(TO_F32, {"data": [1, 2, 3]})
    with pytest.raises(NoKernel, match="nf4 has no numpy type"):
        numpy_type(OPENVINO, "nf4")


def test_narrow_types_and_their_ranges():
    assert [name for name in OPENVINO.types if is_narrow(OPENVINO, name)] == [
        "f8e4m3", "f8e5m2", "f8e8m0", "f4e2m1", "i4", "u4", "u2", "u1",
    ]  # fmt: skip
    assert not any(is_narrow(dialect("directml"), kind) for kind in dialect("directml").types)
    assert [name for name in dialect("onnx").types if is_narrow(dialect("onnx"), name)] == [
        "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4", "INT4", "FLOAT4E2M1", "FLOAT8E8M0",
        "UINT2", "INT2", "FLOAT6E2M3", "FLOAT6E3M2",
    ]  # fmt: skip
    ranges = {"int4": (-8, 7), "uint4": (0, 15), "uint2": (0, 3), "int8": (-128, 127), "uint64": (0, 2**64 - 1)}
    for name, ends in ranges.items():
        assert integer_range(np.dtype(getattr(ml_dtypes, name, name))) == ends
    assert [integer_range(np.dtype(t)) for t in ("f4", "?", "O", E4M3, ml_dtypes.bfloat16)] == [None] * 5


@pytest.mark.parametrize(
    ("values", "kind", "to", "expected"),
    [
        ([-8, -1, 7], INT4, UINT4, [8, 15, 7]),
        ([8, 15, 7], UINT4, INT4, [-8, -1, 7]),
        ([-9, 300, 16], "i4", INT4, [7, -4, 0]),
        ([-8, -1, 7], INT4, "u4", [2**32 - 8, 2**32 - 1, 7]),
        ([-8, 0, 7], INT4, "?", [True, False, True]),
        ([True, False], "?", UINT4, [1, 0]),
        ([-8.75, 7.5, -0.5], "f4", INT4, [-8, 7, 0]),
        ([-8, 3, 7], INT4, E5M2, [-8, 3, 7]),
        ([-8, 3, 7], INT4, E2M1, [None, 3, None]),
        ([449, 463, 464, 465], "i4", E4M3, [448, 448, 448, None]),
        ([1.5, 240], E4M3, "i1", [1, None]),
        ([1.0625, 1.1875, 1.125], "f4", E4M3, [1, 1.25, 1.125]),
        ([61439, 61440, 1e9, -1e9], "f4", E5M2, [57344, np.inf, np.inf, -np.inf]),
        ([2.5, 5, 6.99, 7, -0.25, np.inf, np.nan], "f8", E2M1, [2, 4, 6, None, -0.0, None, None]),
        ([1, 1.5, 3, 2.9, 0.75], "f4", E8M0, [1, 2, 2, 2, 0.5]),
        ([0, -1, np.inf, 2.0**-127, 2.0**-128, 3.4e38], "f4", E8M0, [None, None, None, 2.0**-127, None, None]),
        ([0.5, 2], E8M0, E2M1, [0.5, 2]),
        ([0.5, 448], E4M3, E5M2, [0.5, 448]),
    ],
)
def test_conversions(values, kind, to, expected):
    """None: undefined."""
    result = convert(np.array(values, kind), to=np.dtype(to))
    assert result.dtype == np.dtype(to)
    assert np.ma.getmaskarray(result).tolist() == [value is None for value in expected]
    wide = np.ma.getdata(widen_array(result)).tolist()
    assert [w for w, e in zip(wide, expected, strict=True) if e is not None] == [e for e in expected if e is not None]


@pytest.mark.parametrize("dtype", [E4M3, E5M2, E8M0])
def test_nan_is_kept_in_types_that_have_it(dtype):
    assert np.isnan(round_to_narrow(np.array([np.nan, 1]), dtype).astype("f4")).tolist() == [True, False]


@pytest.mark.parametrize(
    ("item", "other", "common"),
    [(INT4, UINT4, "i1"), (INT4, "u1", "i2"), (UINT4, "u1", "u1"), (E4M3, E5M2, "f2"), (E4M3, "f2", "f2"),
     (INT4, "f4", "f4"), ("?", INT4, INT4), (INT4, INT4, INT4), (INT4, "i1", "i1")],
)  # fmt: skip
def test_promotion_to_a_common_type(item, other, common):
    for pair in ((item, other), (other, item)):
        result = convert_promote_types(*(np.ones(2, kind) for kind in pair), scalars_follow=False)
        assert [array.dtype for array in result] == [np.dtype(common)] * 2


def test_promotion_without_a_common_integer_type_is_rejected():
    with pytest.raises(InputError, match="output type for values that are not integers"):
        convert_promote_types(np.ones(2, "u8"), np.ones(2, "i1"), scalars_follow=False)


@pytest.mark.parametrize("name", ["i4", "u2", "f8e4m3", "f8e8m0"])
@pytest.mark.parametrize("kind", ["Clamp", "Add", "ReLU", "Abs"])
def test_arithmetic_on_narrow_types_has_no_kernel(kind, name):
    inputs = [name] * (2 if kind == "Add" else 1)
    data = {"min": 0.0, "max": 1.0} if kind == "Clamp" else {}
    first = "a" if kind == "Add" else "data"
    arrays = {key: [1, 1, 1] for key in (("a", "b") if kind == "Add" else ("data",))}
    with pytest.raises(NoKernel, match=f"{kind} has no kernel for {first} of {name}"):
        specgate.execute(layer(kind, inputs, data=data), arrays)


def test_kernels_declare_arguments_they_only_move(monkeypatch):
    monkeypatch.setattr(kernels, "_registered", {})
    assert is_carried("gather_along", "inputs")
    assert not is_carried("gather_along", "indices")
    assert not is_carried("relu", "x")
    register_kernel("of_ones_own", lambda x: x)
    assert is_carried("of_ones_own", "x")
