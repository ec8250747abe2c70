"""Shapes of scales and zero points: scalar, per row, per column or per feature map."""

from __future__ import annotations

from typing import Any

import pytest

import specgate


def tensor(kind: str, shape: list[int]) -> dict[str, Any]:
    return {"elem_type": kind, "shape": shape}


def rules(operator: str, inputs: list[dict[str, Any]]) -> set[str]:
    verdict = specgate.check({"op_type": operator, "inputs": inputs}, target="onnx:13")
    return {finding.id.rsplit("/", 1)[-1] for finding in verdict.findings}


#: By the ranks of both matrices: their shapes, and shapes per tensor, per row of a, and per column of b.
MATRICES: dict[int, tuple[list[int], list[int], list[list[int]], list[list[int]]]] = {
    2: ([3, 4], [4, 6], [[3], [3, 1]], [[6], [1, 6]]),
    3: ([5, 3, 4], [5, 4, 6], [[5, 3, 1]], [[5, 1, 6]]),
}
ALONE: list[list[int]] = [[], [1]]
WRONG: list[list[int]] = [[4], [1, 1], [2, 3], [0]]


@pytest.mark.parametrize("rank", MATRICES)
def test_parameters_of_matrices(rank: int) -> None:
    a, b, rows, columns = MATRICES[rank]
    for field, allowed in (("a", rows), ("b", columns), ("y", [])):
        for shape in (*ALONE, *rows, *columns, *WRONG):
            parts = {name: shape if name == field else [] for name in "aby"}
            result = rules(
                "QLinearMatMul",
                [
                    *(tensor("UINT8", a), tensor("FLOAT", parts["a"]), tensor("UINT8", parts["a"])),
                    *(tensor("UINT8", b), tensor("FLOAT", parts["b"]), tensor("UINT8", parts["b"])),
                    *(tensor("FLOAT", parts["y"]), tensor("UINT8", parts["y"])),
                ],
            )
            expected = {f"{field}-scale-shape", f"{field}-zero-point-shape"}
            assert result == (set() if shape in ALONE + allowed else expected), (field, shape)


@pytest.mark.parametrize("rank", MATRICES)
def test_zero_points_of_integer_matrices(rank: int) -> None:
    a, b, rows, columns = MATRICES[rank]
    for shape in (*ALONE, *rows, *columns, *WRONG):
        of_a = rules("MatMulInteger", [tensor("UINT8", a), tensor("UINT8", b), tensor("UINT8", shape)])
        assert of_a == (set() if shape in ALONE + rows else {"rows-of-zero-points"}), shape
        of_b = rules(
            "MatMulInteger", [tensor("UINT8", a), tensor("UINT8", b), tensor("UINT8", []), tensor("UINT8", shape)]
        )
        assert of_b == (set() if shape in ALONE + columns else {"columns-of-zero-points"}), shape


@pytest.mark.parametrize("shape", [[], [1], [3], [1, 1], [3, 1], [2]], ids=str)
def test_parameters_of_convolutions(shape: list[int]) -> None:
    data, weights = tensor("UINT8", [1, 2, 5, 5]), tensor("UINT8", [3, 2, 3, 3])
    scale, zero = tensor("FLOAT", shape), tensor("UINT8", shape)
    item = [tensor("FLOAT", []), tensor("UINT8", [])]
    alone, each = shape in ALONE, shape in [*ALONE, [3]]
    assert ("input-quantization" in rules("QLinearConv", [data, scale, zero, weights, *item, *item])) != alone
    assert ("output-quantization" in rules("QLinearConv", [data, *item, weights, *item, scale, zero])) != alone
    of_weights = {"weight-scale", "weight-zero-point-shape"}
    assert rules("QLinearConv", [data, *item, weights, scale, zero, *item]) == (set() if each else of_weights)
    assert ("input-zero-point" in rules("ConvInteger", [data, weights, zero])) != alone
    assert ("weight-zero-point" in rules("ConvInteger", [data, weights, item[1], zero])) != each
