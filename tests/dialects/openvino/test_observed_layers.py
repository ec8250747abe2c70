"""Layers outside the pages that OpenVINO 2026.4.1 constructs or refuses, asked one by one."""

from __future__ import annotations

from typing import Any

import pytest

import specgate


def layer(kind: str, version: str, inputs: list[tuple[Any, ...]], **data: Any) -> dict[str, Any]:
    tensors = [dict(zip(("element_type", "shape", "value"), entry, strict=False)) for entry in inputs]
    return {"type": kind, "version": version, "inputs": tensors, "outputs": [], "data": data}


def reverse(mode: str, *axis: Any) -> dict[str, Any]:
    return layer("Reverse", "opset1", [("f32", [2, 3]), axis], mode=mode)


def steps(step: float, output_type: str) -> dict[str, Any]:
    inputs: list[Any] = [("i32", [], 2), ("i32", [], 23), ("f32", [], step)]
    return layer("Range", "opset4", inputs, output_type=output_type)


def patches(stride: int, columns: int) -> dict[str, Any]:
    settings = {"sizes": [4, 4], "strides": [8, stride], "rates": [1, 1], "auto_pad": "valid"}
    base = layer("ExtractImagePatches", "opset3", [("f32", [1, 1, 10, 10])], **settings)
    return {**base, "outputs": [{"element_type": "f32", "shape": [1, 16, 1, columns]}]}


@pytest.mark.parametrize(
    ("case", "accepted"),
    [
        (reverse("mask", "boolean", [3]), False),
        (reverse("mask", "boolean", [0]), False),
        (reverse("index", "i64", [3]), True),
        (steps(0.5, "i32"), True),
        (steps(-0.5, "u8"), True),
        (steps(0.0, "i32"), False),
        (patches(-2, 0), True),
    ],
    ids=str,
)
def test_what_builds_construct(case: dict[str, Any], accepted: bool) -> None:
    assert specgate.check(case, target="openvino:opset17", basis="observed").accepted is accepted
    assert specgate.check(case, target="openvino:opset17", basis="documented").accepted is False
