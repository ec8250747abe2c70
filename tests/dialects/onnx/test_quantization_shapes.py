"""Shapes of scales and zero points: a value alone, or one for each row, column or feature map."""

from __future__ import annotations

from typing import Any

import pytest

import specgate


def tensor(kind: str, shape: list[int]) -> dict[str, Any]:
    return {"elem_type": kind, "shape": shape}


def rules(operator: str, inputs: list[dict[str, Any]]) -> set[str]:
    verdict = specgate.check({"op_type": operator, "inputs": inputs}, target="onnx:13")
    return {finding.id.rsplit("/", 1)[-1] for finding in verdict.findings}


#: By the rank of both matrices: their shapes, and shapes for all values, for rows of a, and for columns of b.
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
            found = rules(
                "QLinearMatMul",
                [
                    *(tensor("UINT8", a), tensor("FLOAT", parts["a"]), tensor("UINT8", parts["a"])),
                    *(tensor("UINT8", b), tensor("FLOAT", parts["b"]), tensor("UINT8", parts["b"])),
                    *(tensor("FLOAT", parts["y"]), tensor("UINT8", parts["y"])),
                ],
            )
            expected = {f"{field}-scale-shape", f"{field}-zero-point-shape"}
            assert found == (set() if shape in ALONE + allowed else expected), (field, shape)


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
    one = [tensor("FLOAT", []), tensor("UINT8", [])]
    alone, each = shape in ALONE, shape in [*ALONE, [3]]
    assert ("input-quantization" in rules("QLinearConv", [data, scale, zero, weights, *one, *one])) != alone
    assert ("output-quantization" in rules("QLinearConv", [data, *one, weights, *one, scale, zero])) != alone
    of_weights = {"weight-scale", "weight-zero-point-shape"}
    assert rules("QLinearConv", [data, *one, weights, scale, zero, *one]) == (set() if each else of_weights)
    assert ("input-zero-point" in rules("ConvInteger", [data, weights, zero])) != alone
    assert ("weight-zero-point" in rules("ConvInteger", [data, weights, one[1], zero])) != each
