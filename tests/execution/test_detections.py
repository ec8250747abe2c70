"""Detections, proposals and region lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.detection import (
    detection_output,
    detectron_detection_output,
    generate_proposals,
    generate_proposals_single_image,
    prior_grid,
    proposal,
    roi_feature_extractor,
    top_k_rois,
)

PRIORS = np.array([[[0, 0, 0.5, 0.5, 0, 0, 0.5, 0.375, 0.5, 0.5, 1, 1], [1] * 12]], np.float32)
NOTHING = np.zeros((1, 12), np.float32)
SCORES = np.array([[0.25, 0.75, 0.5, 0.875, 0.5, 0.25]], np.float32)


def rows(result):
    kept = ~np.ma.getmaskarray(result)[0, 0].any(axis=1)
    return np.ma.getdata(result)[0, 0][kept].tolist()


def test_boxes_of_a_class_are_suppressed():
    array = detection_output(NOTHING, SCORES, PRIORS, overlap=0.5, kept=3)
    assert [row[2] for row in rows(array)] == [0.875, 0.25]
    assert array[0, 0, 2, 0] == -1
    assert np.ma.getmaskarray(array)[0, 0, 2].tolist() == [False] + [True] * 6


def test_a_list_of_all_classes_counts_each_prior_box_once():
    array = detection_output(
        NOTHING, SCORES, PRIORS, overlap=0.5, kept=-1, score_threshold=0.3, one_list=True, background=0
    )
    assert [row[:3] for row in rows(array)] == [[0, 0, 0.875]]


def test_first_stage_moves_and_filters_prior_boxes():
    stage = np.array([[0, 1, 1, 0, 0, 1]], np.float32)
    moved = np.full((1, 12), 0.125, np.float32)
    array = detection_output(NOTHING, SCORES, PRIORS, stage, moved, overlap=0.9, kept=-1, objects=0.5)
    assert [row[2:] for row in rows(array)] == [
        [0.75, 0.125, 0.125, 0.625, 0.625],
        [0.25, 0.625, 0.625, 1.125, 1.125],
    ]


def test_prior_boxes_of_pixels_are_divided():
    pixels = np.array([[[7, 2, 1, 4, 3], [1] * 5]], np.float32)
    arguments = (np.zeros((1, 4)), np.array([[0.0, 1.0]]), pixels)
    array = detection_output(*arguments, overlap=0.5, kept=-1, height=10, width=20)
    np.testing.assert_allclose(rows(array), [[0, 1, 1, 0.1, 0.1, 0.2, 0.3]])
    with pytest.raises(InputError, match="4 numbers"):
        detection_output(NOTHING, SCORES, PRIORS[:, :, :11], overlap=0.5, kept=-1)


def test_empty_inputs_give_no_detections():
    assert rows(detection_output(NOTHING, SCORES, PRIORS, overlap=0.5, kept=0)) == []
    assert rows(detection_output(NOTHING, SCORES, PRIORS, overlap=0.5, kept=-1, candidates=0)) == []


def test_small_boxes_are_removed_before_or_after_nms():
    anchors = np.array([[0, 0, 1, 1], [0, 0, 8, 8], [8, 8, 16, 16]], np.float32)
    scores = np.array([0.75, 0.5, 0.25], np.float32)
    size = np.array([32, 32, 1], np.float32)
    arguments: dict[str, Any] = {"min_size": 4, "overlap": 0.5, "before": 2, "behind": 3}
    flat = np.zeros((12, 1, 1), np.float32)
    _, kept = generate_proposals_single_image(size, anchors, flat, scores[:, None, None], **arguments)
    assert kept.tolist() == [0.5, 0.25, 0]
    _, kept, number = generate_proposals(
        size[None], anchors[None, None], flat[None], scores[None, :, None, None], **arguments
    )
    assert kept.tolist() == [0.5]
    assert number.tolist() == [1]


def test_short_proposal_lists_end_with_minus_one():
    scores, offsets = np.zeros((2, 2, 1, 1), np.float32), np.zeros((2, 4, 1, 1), np.float32)
    arguments: dict[str, Any] = {
        "base": 4,
        "ratios": [1.0],
        "scales": [1.0],
        "step": 4,
        "min_size": 1,
        "overlap": 0.5,
        "before": 9,
    }
    boxes, kept = proposal(scores, offsets, np.array([9, 9, 1.0]), behind=2, **arguments)
    assert boxes[0].tolist() == [0, 0, 0, 4, 4]
    assert boxes[1, 0] == -1
    assert np.ma.getmaskarray(kept).tolist() == [False, True, True, True]
    unknown, _ = proposal(scores, offsets, np.array([9, 9, 1.0]), behind=2, **{**arguments, "scales": [1, 2]})
    assert np.ma.getmaskarray(unknown).all()


def test_equal_scores_mask_the_order():
    regions = np.arange(16, dtype=np.float32).reshape(4, 4)
    array = top_k_rois(regions, np.array([0.5, 0.75, 0.5, 0.25]), count=5)
    assert np.ma.getmaskarray(array)[:, 0].tolist() == [False, True, True, False, True]
    assert array[0].tolist() == [4, 5, 6, 7]
    assert np.ma.getmaskarray(top_k_rois(regions, np.array([0.5, 0.75, 0.5, 0.25]), count=2))[:, 0].tolist() == [0, 1]


def test_a_smaller_grid_fills_the_first_elements():
    array = prior_grid(np.zeros((1, 4)), np.zeros((1, 1, 2, 2)), np.zeros((1, 1, 8, 6)), rows=1, flat=False)
    assert array.shape == (2, 2, 1, 4)
    assert array[0, :, 0].tolist() == [[1.5, 4, 1.5, 4], [4.5, 4, 4.5, 4]]
    assert np.ma.getmaskarray(array)[1].all()
    with pytest.raises(InputError, match="does not fit"):
        prior_grid(np.zeros((1, 4)), np.zeros((1, 1, 2, 2)), np.zeros((1, 1, 8, 6)), rows=3)


def test_refined_boxes_are_clipped_and_masked_after_the_last():
    regions, offsets = np.array([[0, 0, 3, 3.0]]), np.array([[0, 0, 0, 0, 10.0, 0, 0, 0]])
    boxes, classes, scores = detectron_detection_output(
        regions, offsets, np.array([[0.5, 0.75]]), np.array([[4, 5, 1.0]]), score_threshold=0.25, overlap=0.5, of_class=1,
        count=2, max_delta_log=1.0, weights=[10, 10, 5, 5],
    )  # fmt: skip
    assert boxes[0].tolist() == [4, 0, 5, 3]
    assert (classes[0], scores[0]) == (1, 0.75)
    assert np.ma.getmaskarray(classes).tolist() == [False, True]


def test_regions_are_pooled_from_the_level_of_their_size():
    layers = [np.full((1, 1, 4, 4), float(index)) for index in range(3)]
    regions = np.array([[0, 0, 224, 224.0], [0, 0, 56, 56.0], [0, 0, 112, 112.0], [5, 5, 4, 9.0]])
    with np.errstate(invalid="ignore"):
        features, ordered = roi_feature_extractor(regions, layers, size=1, samples=1, scales=[56, 112, 224])
    assert features[:3, 0, 0, 0].tolist() == [2, 0, 1]
    assert np.ma.getmaskarray(features)[:, 0, 0, 0].tolist() == [False, False, False, True]
    assert np.ma.getmaskarray(ordered).all()
    _, ordered = roi_feature_extractor(regions[:3], layers, size=1, samples=1, scales=[56, 112, 224])
    assert ordered[:, 2].tolist() == [56, 112, 224]
