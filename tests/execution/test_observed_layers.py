"""Values of OpenVINO layers where builds differ from the page; expected arrays are those of OpenVINO 2026.4.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import specgate


def layer(kind: str, version: str, inputs: list[dict[str, Any]], data: dict[str, Any], outputs: int = 1) -> Any:
    return {"type": kind, "version": version, "inputs": inputs, "outputs": [{}] * outputs, "data": data}


def port(kind: str, *shape: int) -> dict[str, Any]:
    return {"element_type": kind, "shape": list(shape)}


POOL = {"kernel": [3, 3], "strides": [2, 2], "pads_begin": [0, 0], "pads_end": [0, 0], "auto_pad": "same_upper"}
DATA = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6)


def test_max_pool_follows_all_builds_by_default() -> None:
    made = layer("MaxPool", "opset1", [port("f32", 1, 1, 6, 6)], POOL)
    both = specgate.execute(made, {"data": DATA}, target="openvino:opset1")
    assert both["output"][0, 0].tolist() == [[14, 16, 17], [26, 28, 29], [32, 34, 35]]
    assert any("follows all builds" in note for note in both.notes)
    page = specgate.execute(made, {"data": DATA}, target="openvino:opset1", basis="documented")
    assert page["output"].shape == (1, 1, 6, 6)


@pytest.mark.parametrize(("exclude", "last"), [(True, 31.5), (False, 14.0)])
def test_average_pool_follows_all_builds_by_default(exclude: bool, last: float) -> None:
    made = layer("AvgPool", "opset1", [port("f32", 1, 1, 6, 6)], {**POOL, "exclude-pad": exclude})
    found = specgate.execute(made, {"data": DATA}, target="openvino:opset1")["output"]
    assert found.shape == (1, 1, 3, 3)
    assert found[0, 0, 2, 2] == last


def test_softmax_without_axis_is_along_the_first_dimension() -> None:
    made = layer("SoftMax", "opset1", [port("f32", 2, 2)], {})
    data = np.array([[0, 0], [0, np.log(3)]], np.float32)
    found = specgate.execute(made, {"data": data}, target="openvino:opset1", basis="observed")["output"]
    np.testing.assert_allclose(found, [[0.5, 0.25], [0.5, 0.75]], rtol=1e-6)


#: Operators with pdpd that Node.evaluate aligns with the first dimensions, and the CPU plugin with the last ones.
ALIGNED_BY_EVALUATE = [
    ("Subtract", "f32", [[7, 7], [6, 6]], [[7, 6], [7, 6]]),
    ("Divide", "f32", [[8, 8], [4, 4]], [[8, 4], [8, 4]]),
    ("BitwiseLeftShift", "i32", [[16, 16], [32, 32]], [[16, 32], [16, 32]]),
    ("BitwiseRightShift", "i32", [[4, 4], [2, 2]], [[4, 2], [4, 2]]),
]


def pdpd(kind: str, element_type: str, shape: tuple[int, ...]) -> Any:
    version = "opset15" if kind.endswith("Shift") else "opset13" if kind.startswith("Bitwise") else "opset1"
    return layer(kind, version, [port(element_type, *shape), port(element_type, 2)], {"auto_broadcast": "pdpd"})


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("Add", (9, 10)), ("Multiply", (8, 16)), ("Power", (8, 64)), ("FloorMod", (0, 0)), ("Maximum", (8, 8)),
        ("Minimum", (1, 2)), ("Divide", (8, 4)), ("BitwiseLeftShift", (16, 32)),
    ],
)  # fmt: skip
def test_pdpd_aligns_with_the_first_dimensions(kind: str, rows: tuple[int, int]) -> None:
    arrays = {"a": np.full((2, 3), 8, np.int32), "b": np.array([1, 2], np.int32)}
    given = pdpd(kind, "i32", (2, 3))
    found = specgate.execute(given, arrays, target="openvino:opset15", basis="observed")["output"]
    assert found.tolist() == [[row] * 3 for row in rows]
    with pytest.raises(specgate.InputError):
        specgate.execute(given, arrays, target="openvino:opset15", basis="documented")


@pytest.mark.parametrize(("kind", "element_type", "first", "last"), ALIGNED_BY_EVALUATE)
def test_pdpd_of_the_cpu_plugin_aligns_with_the_last_dimensions(
    kind: str, element_type: str, first: list[list[Any]], last: list[list[Any]]
) -> None:
    kinds = {"f32": np.float32, "i32": np.int32}
    arrays = {"a": np.full((2, 2), 8, kinds[element_type]), "b": np.array([1, 2], kinds[element_type])}
    given = pdpd(kind, element_type, (2, 2))
    for target, expected in (("openvino:opset15", first), ("openvino-cpu:2026.4", last)):
        found = specgate.execute(given, arrays, target=target, basis="observed")["output"]
        assert found.tolist() == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Greater", [[True, False], [True, False]]), ("GreaterEqual", [[True, True], [True, True]]),
        ("BitwiseAnd", [[0, 2], [0, 2]]), ("BitwiseOr", [[3, 2], [3, 2]]), ("BitwiseXor", [[3, 0], [3, 0]]),
    ],
)  # fmt: skip
def test_pdpd_is_the_pages_where_no_build_aligns_with_the_first_dimensions(kind: str, expected: list[Any]) -> None:
    arrays = {"a": np.full((2, 2), 2, np.int32), "b": np.array([1, 2], np.int32)}
    given = pdpd(kind, "i32", (2, 2))
    for target in ("openvino:opset15", "openvino-cpu:2026.4"):
        found = specgate.execute(given, arrays, target=target, basis="observed")
        assert found["output"].tolist() == expected
        assert any("Node.evaluate" in note for note in found.notes) == kind.startswith("Greater")


def test_a_name_that_only_the_page_has_counts_on_the_documented_basis() -> None:
    inputs = [port("i32", 2, 5), port("i32", 2, 3)]
    arrays = {
        "sorted_sequence": np.array([[1, 3, 5, 7, 9], [2, 4, 6, 6, 10]], np.int32),
        "values": np.array([[3, 6, 0], [6, 10, 11]], np.int32),
    }
    before, after = [[1, 3, 0], [2, 4, 5]], [[2, 3, 0], [4, 5, 5]]
    given = layer("SearchSorted", "opset15", inputs, {"right": True})
    for basis, expected in (("documented", after), ("observed", before)):
        found = specgate.execute(given, arrays, target="openvino:opset15", basis=basis)  # type: ignore[arg-type]
        assert found["output"].tolist() == expected
    with pytest.raises(specgate.InputError, match="builds do not read it"):
        specgate.execute(given, arrays, target="openvino:opset15", basis="both")


@pytest.mark.parametrize(
    ("shape", "target_shape", "expected"),
    [((3,), [2, 3], [[0, 1, 2], [0, 1, 2]]), ((2, 1), [2, 2], [[0, 0], [1, 1]]), ((), [2, 2], [[0, 0], [0, 0]])],
)
def test_explicit_broadcast_without_a_mapping_is_numpy(
    shape: tuple[int, ...], target_shape: list[int], expected: list[Any]
) -> None:
    inputs = [port("f32", *shape), {**port("i64", 2), "value": target_shape}]
    arrays = {
        "data": np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape),
        "target_shape": np.array(target_shape),
    }
    given = layer("Broadcast", "opset1", inputs, {"mode": "explicit"})
    found = specgate.execute(given, arrays, target="openvino:opset1", basis="observed")["output"]
    assert found.tolist() == expected


def test_boxes_are_removed_at_an_equal_overlap() -> None:
    inputs = [port("f32", 1, 2, 4), port("f32", 1, 1, 2), {**port("i64"), "value": 2}]
    made = layer("NonMaxSuppression", "opset9", inputs, {"box_encoding": "corner"}, 3)
    boxes = np.array([[[0, 0, 1, 1], [5, 5, 6, 6]]], np.float32)
    arrays = {"boxes": boxes, "scores": np.array([[[0.5, 0.75]]], np.float32)}
    for basis, rows in (("documented", [[0, 0, 1], [0, 0, 0]]), ("observed", [[0, 0, 1]])):
        found = specgate.execute(made, arrays, target="openvino:opset9", basis=basis)  # type: ignore[arg-type]
        assert found["selected_indices"].tolist() == rows


def test_an_absent_ctc_merge_repeated_is_false() -> None:
    inputs = [port("f32", 1, 3, 3), port("i32", 1), port("i32", 1, 3), port("i32", 1)]
    generator = np.random.default_rng(5)
    arrays = {
        "logits": generator.normal(size=(1, 3, 3)).astype(np.float32),
        "logit_length": np.array([3], np.int32),
        "labels": np.array([[0, 0, 0]], np.int32),
        "label_length": np.array([2], np.int32),
    }
    losses = [
        specgate.execute(layer("CTCLoss", "opset4", inputs, data), arrays, target="openvino:opset4", basis="observed")
        for data in ({}, {"ctc_merge_repeated": False}, {"ctc_merge_repeated": True})
    ]
    assert losses[0]["output"] == losses[1]["output"] != losses[2]["output"]


def test_odd_texts_are_computed_as_builds_read_them() -> None:
    inputs = [port("f32", 2, 3), {**port("i64", 1), "value": [1]}]
    made = layer("ReduceSum", "opset1", inputs, {"keep_dims": "perhaps", "unheard_of": 1})
    data = {"data": np.ones((2, 3), np.float32)}
    found = specgate.execute(made, data, target="openvino:opset1", basis="observed")
    assert found["output"].shape == (2,)
    with pytest.raises(specgate.InputError):
        specgate.execute(made, data, target="openvino:opset1", basis="documented")
