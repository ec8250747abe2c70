"""Which type to cast to, and up to where integers stay exact on the way."""

from __future__ import annotations

import pytest

from specgate.spec.tables import dialect
from specgate.validate.casting import exact_up_to, lossless, nearest


@pytest.mark.parametrize(
    ("found", "other", "expected"),
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
        ("i32", "f8e4m3", None),  # how much it holds is not known here
    ],
)
def test_integers_are_exact_up_to_the_significand(found: str, other: str, expected: str | None) -> None:
    assert exact_up_to(found, other, dialect("openvino")) == expected


@pytest.mark.parametrize(("found", "expected"), [("INT64", "2**8"), ("INT8", None)])
def test_bfloat16_has_eight_bits_in_every_spelling(found: str, expected: str | None) -> None:
    assert exact_up_to(found, "BFLOAT16", dialect("onnx")) == expected


@pytest.mark.parametrize(
    ("found", "allowed", "expected"),
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
def test_the_nearest_type_loses_least(found: str, allowed: list[str], expected: str | None) -> None:
    assert nearest(found, allowed, dialect("openvino")) == expected


@pytest.mark.parametrize(
    ("found", "other", "expected"),
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
def test_what_loses_nothing(found: str, other: str, expected: bool) -> None:
    assert lossless(found, other, dialect("openvino")) is expected
