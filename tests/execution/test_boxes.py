"""Overlap of boxes, and non-maximum suppression."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.nms import (
    corners_of_turned,
    matrix_nms,
    multiclass_nms,
    nms_rotated,
    non_max_suppression_sorted,
    overlaps,
    to_corners,
    turned_overlaps,
)

BOXES = np.array([[[0, 0, 2, 2], [0, 0, 2, 1], [5, 5, 6, 6]]], np.float32)
SCORES = np.array([[[0.75, 1, 0.5]]], np.float32)
HALF = np.array(0.5, np.float32)


def one(value, dtype=np.float32):
    return np.array(value, dtype)


def test_overlap_is_intersection_over_union():
    others = np.array([[0, 0, 2, 2], [1, 1, 3, 3], [2, 2, 3, 3], [0, 0, 0, 0]], np.float32)
    array = overlaps(others[0], others)
    np.testing.assert_allclose(array, [1, 1 / 7, 0, 0])


def test_box_side_offset_makes_adjacent_boxes_overlap():
    others = np.array([[2, 0, 3, 0], [1.5, 0, 3, 0]], np.float32)
    box = np.array([0, 0, 1, 0], np.float32)
    assert overlaps(box, others, side_offset=1.0)[1] > 0
    assert overlaps(box, others, side_offset=1.0, touching=True).tolist() == [0, 0]


def test_corners_from_any_order_or_from_the_center():
    assert to_corners(np.array([2.0, 0, 0, 1]), centred=False).tolist() == [0, 0, 2, 1]
    assert to_corners(np.array([1.0, 2, 2, 4]), centred=True).tolist() == [0, 0, 2, 4]


@pytest.mark.parametrize(("angle", "expected"), [(0.0, 1.0), (np.pi / 2, 1.0), (np.pi / 4, 2 / np.sqrt(2) - 0.7071068)])
def test_rotated_square_overlaps(angle, expected):
    boxes = np.array([[0, 0, 2, 2, 0], [0, 0, 2, 2, angle]])
    corners = corners_of_turned(boxes, clockwise=True)
    np.testing.assert_allclose(turned_overlaps(corners[0], corners[1:]), [expected], atol=1e-6)


def test_rotation_direction_changes_corners():
    boxes = np.array([[[0, 0, 4, 1, 0.5], [0, 0, 4, 1, -0.5]]])
    corners = [corners_of_turned(boxes[0], clockwise=way) for way in (True, False)]
    np.testing.assert_allclose(corners[0], corners[1][::-1])


def test_box_at_the_threshold_is_kept():
    array, scores, count = non_max_suppression_sorted(BOXES, SCORES, one(3, np.int64), HALF, HALF)
    assert array.tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 2]]
    assert scores[:, 2].tolist() == [1, 0.75, 0.5]
    assert count.tolist() == [3]


def test_score_at_the_threshold_can_be_excluded():
    array, _, _ = non_max_suppression_sorted(BOXES, SCORES, one(3, np.int64), HALF, HALF, strict=True)
    assert array.tolist() == [[0, 0, 1], [0, 0, 0]]


def test_soft_nms_decays_and_removes_scores():
    arguments = (BOXES, SCORES, one(3, np.int64), one(0.25), one(0.0), one(0.5))
    _, scores, _ = non_max_suppression_sorted(*arguments)
    np.testing.assert_allclose(scores[:, 2], [1, 0.75 * np.exp(-0.25), 0.5], rtol=1e-6)
    array, _, _ = non_max_suppression_sorted(*arguments, remove_overlapping=True)
    assert array[:, 2].tolist() == [1, 2]


def test_default_limit_selects_no_boxes():
    assert non_max_suppression_sorted(BOXES, SCORES)[2].tolist() == [0]
    assert non_max_suppression_sorted(BOXES, SCORES, one(-3, np.int64))[2].tolist() == [0]


def test_output_rows_are_padded_or_masked():
    two = np.concatenate([SCORES, SCORES], axis=1)
    filled, _, _ = non_max_suppression_sorted(
        BOXES, two, one(9, np.int8), one(0.25), rows="maximum", int32_indices=True
    )
    assert filled.shape == (6, 3)
    assert filled.dtype == np.int32
    assert filled[4:].tolist() == [[-1] * 3] * 2
    fewer, _, count = non_max_suppression_sorted(BOXES, two, one(9, np.int8), one(0.25), rows="class_limit")
    assert fewer.shape == (3, 3)
    assert np.ma.getmaskarray(fewer).all()
    assert count.tolist() == [4]


def test_mismatched_boxes_and_scores_are_rejected():
    with pytest.raises(InputError, match="scores"):
        non_max_suppression_sorted(BOXES, SCORES[:, :, :2], one(1, np.int64))
    with pytest.raises(InputError, match="single element"):
        non_max_suppression_sorted(BOXES, SCORES, np.array([1, 2]))
    with pytest.raises(InputError, match="3-D boxes"):
        nms_rotated(BOXES[0], SCORES, one(1, np.int64), HALF, HALF)


def test_adaptive_threshold_decreases_after_each_box():
    boxes = np.array([[[0, 0, 10, 10], [0, 0, 10, 6], [20, 0, 30, 10], [20, 0, 30, 7]]], np.float32)
    scores = np.array([[[1, 0.75, 0.5, 0.25]]], np.float32)
    kept = [multiclass_nms(boxes, scores, overlap=0.75, eta=eta, order="score")[1] for eta in (1.0, 0.5)]
    assert [each[:, 0].tolist() for each in kept] == [[0, 1, 2, 3], [0, 2]]


def test_boxes_are_separate_per_image():
    boxes = np.concatenate([BOXES, BOXES + 10])
    scores = np.array([[0.75, 1, 0.5], [0.25, 0.125, 0.875]], np.float32)
    outputs, places, number = multiclass_nms(boxes, scores, np.array([1, 2]), overlap=0.25, order="class")
    assert number.tolist() == [2, 4]
    assert places[:, 0].tolist() == [0, 3, 1, 2, 5, 4]
    assert outputs[0].tolist() == [0, 0.75, 0, 0, 2, 2]
    with pytest.raises(InputError, match="but the input has 3"):
        multiclass_nms(boxes, scores, np.array([1, 1]))


def test_background_class_and_limits_per_class_and_batch():
    scores = np.array([[[1, 0.75, 0.5], [0.25, 0.125, 0.875]]], np.float32)
    arguments: dict[str, Any] = {"overlap": 1.0, "order": "score"}
    assert multiclass_nms(BOXES, scores, background=0, **arguments)[0][:, 0].tolist() == [1, 1, 1]
    assert multiclass_nms(BOXES, scores, candidates=1, **arguments)[1][:, 0].tolist() == [0, 2]
    assert multiclass_nms(BOXES, scores, kept=3, **arguments)[0][:, 1].tolist() == [1, 0.875, 0.75]


def test_unordered_rows_are_masked():
    outputs, places, number = multiclass_nms(BOXES, SCORES, overlap=1.0)
    assert np.ma.getmaskarray(outputs).all()
    assert np.ma.getmaskarray(places).all()
    assert number.tolist() == [3]


def test_matrix_nms_decays_scores_by_all_better_boxes():
    linear, _, _ = matrix_nms(BOXES, SCORES, order="score")
    assert linear[:, 1].tolist() == [1, 0.5, 0.375]
    curved, _, _ = matrix_nms(BOXES, SCORES, gaussian=True, sigma=2.0, order="score")
    np.testing.assert_allclose(curved[:, 1], [1, 0.5, 0.75 * np.exp(-0.5)], rtol=1e-6)
    assert matrix_nms(BOXES, SCORES, score_threshold=0.5, post_threshold=0.4, order="score")[2].tolist() == [1]
