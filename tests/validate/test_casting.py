"""The type to cast to, and the range in which integers stay exact."""

from __future__ import annotations

from typing import Any

import pytest

from specgate.spec.tables import dialect
from specgate.validate.fixes import describe_loss, exact_up_to, is_lossless, nearest


@pytest.mark.parametrize(
    ("result", "other", "expected"),
    [
        ("i32", "f32", "2**24"),
        ("u32", "f32", "2**24"),
        ("i32", "f64", None),
        ("i64", "f64", "2**53"),
        ("i64", "f32", "2**24"),
        ("i16", "f16", "2**11"),
        ("u16", "bf16", "2**8"),
        ("i8", "bf16", None),
        ("u8", "bf16", None),
        ("u8", "f16", None),
        ("i32", "i64", None),
        ("f64", "f32", None),
        ("boolean", "f16", None),
        ("i32", "f8e4m3", "2**4"),
        ("i32", "nf4", None),  # how much it holds is not known here
    ],
)
def test_integers_are_exact_up_to_the_significand(result: str, other: str, expected: str | None) -> None:
    assert exact_up_to(result, other, dialect("openvino")) == expected


@pytest.mark.parametrize(("result", "expected"), [("INT64", "2**8"), ("INT8", None)])
def test_bfloat16_has_eight_bits_in_every_spelling(result: str, expected: str | None) -> None:
    assert exact_up_to(result, "BFLOAT16", dialect("onnx")) == expected


@pytest.mark.parametrize(
    ("result", "allowed", "expected"),
    [
        ("i32", ["f32", "i64", "u32"], "i64"),  # the same kind first
        ("i32", ["i8", "i64"], "i64"),  # wider loses nothing
        ("i32", ["i8", "i16"], "i16"),  # the nearest of those that lose
        ("i32", ["f16", "u64"], "u64"),  # other integers before floats
        ("i32", ["f16", "f64", "f32"], "f64"),  # a float that holds all of them
        ("f64", ["f16", "f32"], "f32"),
        ("f16", ["f64", "f32"], "f32"),
        ("boolean", ["u8", "f32"], "u8"),
        ("f32", ["i32", "boolean"], None),
        ("string", ["f32"], None),
        ("i32", [], None),
        ("no type", ["i32"], None),
    ],
)
def test_the_nearest_type_loses_the_least_precision(result: str, allowed: list[str], expected: str | None) -> None:
    assert nearest(result, allowed, dialect("openvino")) == expected


@pytest.mark.parametrize(
    ("result", "other", "expected"),
    [
        ("boolean", "u8", True),
        ("u8", "i16", True),
        ("u8", "i8", False),
        ("i8", "u16", False),
        ("i8", "i8", True),
        ("i16", "i8", False),
        ("i16", "f32", True),
        ("i32", "f32", False),
        ("f32", "f64", True),
        ("f32", "f16", False),
        ("string", "string", False),
    ],
)
def test_lossless_casts(result: str, other: str, expected: bool) -> None:
    assert is_lossless(result, other, dialect("openvino")) is expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ["directml", "onnx", "openvino"])
def test_lossless_casts_are_proposed_if_possible(name: str) -> None:
    home, rows, questions = dialect(name), set(), 0
    for operator in home.tables.operators:
        spec = home.operator(operator)
        for level in spec.levels:
            resolved = spec.resolve(level)
            assert resolved is not None
            for row in resolved.alternatives:
                rows |= {cell.types for field, cell in row.cells.items() if cell.types and _is_input(row, field)}
    for allowed in rows:
        for result in home.types.keys() - set(allowed):
            near = nearest(result, allowed, home)
            kept = [other for other in allowed if is_lossless(result, other, home)]
            assert near in allowed if near is not None else not kept, (result, allowed, kept)
            message = near is None or describe_loss(result, near, home) or "nf4" in {result, near}
            assert near in kept if kept else message, (result, allowed, near)
            questions += 1
    assert questions > 100


def _is_input(row: Any, field: str) -> bool:
    return field in row.fields and row.fields[field].kind == "input"


def _numpy(name: str, entry: Any) -> Any:
    import ml_dtypes
    import numpy as np

    word = entry.get("ml_dtypes") or entry.get("numpy")
    if word in {None, "object", "bool"} or "INT4" in name or "INT2" in name:
        return None
    return np.dtype(getattr(ml_dtypes if entry.get("ml_dtypes") else np, word))


def test_lossless_casts_round_trip() -> None:
    """Every value of each type of up to 16 bits, through numpy and ml_dtypes."""
    np = pytest.importorskip("numpy")
    pytest.importorskip("ml_dtypes")
    home, compared = dialect("onnx"), 0
    entries = {name: result for name, entry in home.types.items() if (result := _numpy(name, entry)) is not None}
    for text, mine in entries.items():
        if mine.itemsize > 2 or mine.kind == "b":
            continue
        count = 2 ** (8 * mine.itemsize)
        codes = np.arange(count, dtype=np.uint16 if mine.itemsize == 2 else np.uint8)
        values = codes.view(mine) if (home.types[text]["bits"] or 0) >= 8 else np.arange(-8, 8).astype(mine)
        for other, theirs in entries.items():
            if theirs.kind in "bcO" or "E8M0" in text + other or ("FLOAT" in text and "INT" in other):
                continue
            with np.errstate(all="ignore"):
                whole = values.astype(np.float64)
                restored = values.astype(theirs).astype(np.float64)
            same = bool(np.all((whole == restored) | ~np.isfinite(whole)))
            assert is_lossless(text, other, home) == same, (text, other)
            compared += 1
    assert compared > 100
