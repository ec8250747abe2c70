"""Embedding bags, space to batch, patches, unique elements, beam paths, unfolding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.adaptive_pool import adaptive_avg_pool, adaptive_max_pool, extract_image_patches
from specgate.execution.kernels.conv import convolution_backprop_data
from specgate.execution.kernels.gather import embedding_bag_offsets, embedding_bag_packed, embedding_segments_sum
from specgate.execution.kernels.sort import gather_tree, unique

TABLE = np.array([[1, 2], [10, 20], [100, 200]], np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_embedding_bags_and_empty_bags() -> None:
    array = embedding_bag_offsets(TABLE, ints(0, 1, 2), ints(0, 2, 2), np.array(1))
    assert array.tolist() == [[11, 22], [10, 20], [100, 200]]
    assert embedding_bag_offsets(TABLE, ints(0, 1), ints(0, 2)).tolist() == [[11, 22], [0, 0]]
    assert embedding_bag_offsets(TABLE, ints(0, 1), ints(0, 2), np.array(-1)).tolist() == [[11, 22], [0, 0]]
    assert embedding_bag_offsets(TABLE, ints(0, 1, 1), ints(0), reduction="mean").tolist() == [[7, 14]]
    weights = np.array([9, 2, 0.5], np.float32)
    assert embedding_bag_offsets(TABLE, ints(2, 0, 1), ints(1), weights=weights).tolist() == [[7, 14]]
    assert embedding_bag_offsets(TABLE, ints(), ints()).shape == (0, 2)


def test_invalid_embedding_bags_are_rejected() -> None:
    with pytest.raises(InputError, match="out of range for 3 rows"):
        embedding_bag_offsets(TABLE, ints(3), ints(0))
    with pytest.raises(NoKernel):
        embedding_bag_offsets(TABLE, ints(0, 1), ints(2, 0))
    with pytest.raises(InputError, match="mean"):
        embedding_bag_offsets(TABLE, ints(0), ints(0), weights=np.ones(1, np.float32), reduction="mean")


def test_packed_bags_and_segments() -> None:
    packed = embedding_bag_packed(TABLE, ints(0, 1, 2, 2).reshape(2, 2), np.array([[1, 2], [1, 0]], np.float32))
    assert packed.tolist() == [[21, 42], [100, 200]]
    assert embedding_bag_packed(TABLE, ints(0, 1).reshape(1, 2), reduction="mean").tolist() == [[5.5, 11]]
    segments = embedding_segments_sum(TABLE, ints(0, 1, 2), ints(0, 0, 2), np.array(3), np.array(2))
    assert segments.tolist() == [[11, 22], [100, 200], [100, 200]]
    for ids in (ints(1, 0), ints(0, 3), ints(-1, 0)):
        with pytest.raises(InputError, match="sorted segment_ids"):
            embedding_segments_sum(TABLE, ints(0, 1), ids, np.array(3))


def test_adaptive_pool_windows_overlap_for_indivisible_sizes() -> None:
    line = np.array([[[1, 5, 5, 2, 0]]], np.float32)
    assert np.allclose(adaptive_avg_pool(line, ints(2)), [[[11 / 3, 7 / 3]]])
    values, places = adaptive_max_pool(line, ints(3))
    assert (values.tolist(), places.tolist()) == ([[[5, 5, 2]]], [[[1, 1, 3]]])
    plane = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
    assert adaptive_max_pool(plane, ints(1, 2), int32_indices=True)[1].tolist() == [[[[4, 5]]]]
    assert np.ma.getmaskarray(adaptive_avg_pool(np.zeros((1, 1, 0), np.float32), ints(2))).all()
    nan = adaptive_max_pool(np.array([[[np.nan, 1, 2]]], np.float32), ints(3))[0]
    assert nan.tolist() == [[[None, 1, 2]]]
    with pytest.raises(InputError, match="sizes"):
        adaptive_avg_pool(line, ints(1, 1))
    for parts in (adaptive_avg_pool, adaptive_max_pool):
        with pytest.raises(InputError, match="expected integers"):
            parts(line, np.array([2.0]))


def test_extracted_patches_are_depth_first() -> None:
    data = np.arange(8).reshape(1, 2, 2, 2)
    array = extract_image_patches(data, sizes=[1, 2], strides=[1, 1], rates=[1, 1], auto_pad="valid")
    assert array.reshape(4, 2).tolist() == [[0, 2], [4, 6], [1, 3], [5, 7]]
    upper = extract_image_patches(data[:, :1], sizes=[2, 2], strides=[2, 2], rates=[1, 1], auto_pad="same_upper")
    assert upper.reshape(-1).tolist() == [0, 1, 2, 3]
    lower = extract_image_patches(data[:, :1], sizes=[2, 1], strides=[1, 1], rates=[1, 1], auto_pad="same_lower")
    assert lower.reshape(2, 2, 2).tolist() == [[[0, 0], [0, 1]], [[0, 1], [2, 3]]]


def test_extracted_patches_match_a_padded_image() -> None:
    """Against a plain loop over windows of a padded copy."""
    data = np.arange(1, 1 + 7 * 6).reshape(1, 1, 7, 6)
    for auto_pad, stride, rate in (("same_upper", 2, 2), ("same_lower", 3, 1), ("valid", 2, 2)):
        array = extract_image_patches(data, sizes=[3, 2], strides=[stride, 2], rates=[rate, 3], auto_pad=auto_pad)
        spans = (2 * rate + 1, 4)
        missing = [max(0, (n - 1) * s + span - size) for n, s, span, size in
                   zip(array.shape[2:], (stride, 2), spans, (7, 6), strict=True)]  # fmt: skip
        before = [m - m // 2 if auto_pad == "same_lower" else m // 2 for m in missing]
        padded = np.pad(data[0, 0], [(b, 20) for b in before])
        for row in range(array.shape[2]):
            for column in range(array.shape[3]):
                window = padded[row * stride :, column * 2 :][: spans[0] : rate, : spans[1] : 3]
                assert array[0, :, row, column].tolist() == window.reshape(-1).tolist()


def test_distinct_elements_and_slices() -> None:
    kind: dict[str, Any] = {"int32_indices": False, "int32_counts": True}
    values, first, places, counts = unique(ints(3, 1, 3, 2), in_order=True, **kind)
    assert (values.tolist(), first.tolist(), places.tolist(), counts.tolist()) == (
        [1, 2, 3], [1, 3, 0], [2, 0, 2, 1], [1, 1, 2],
    )  # fmt: skip
    assert unique(ints(3, 1, 3), in_order=False, **kind)[0].tolist() == [3, 1]
    columns = unique(np.array([[1, 0, 1], [2, 5, 2]]), ints(-1), in_order=True, **kind)
    assert (columns[0].tolist(), columns[2].tolist()) == ([[0, 1], [5, 2]], [1, 0, 1])
    assert [each.size for each in unique(np.zeros((0,)), in_order=True, **kind)] == [0, 0, 0, 0]
    with pytest.raises(NoKernel, match="nan"):
        unique(np.array([np.nan]), in_order=True, **kind)


def test_gather_tree_follows_beams() -> None:
    steps = np.array([[[1, 2]], [[3, 4]], [[5, 9]]])
    parents = np.array([[[0, 0]], [[1, 0]], [[1, 0]]])
    array = gather_tree(steps, parents, ints(3), np.array(9))
    assert array[:, 0].T.tolist() == [[1, 4, 5], [2, 3, 9]]
    assert gather_tree(steps, parents, ints(1), np.array(9))[:, 0].T.tolist() == [[1, 9, 9], [2, 9, 9]]
    with pytest.raises(NoKernel, match="beam"):
        gather_tree(steps, parents + 2, ints(3), np.array(9))


def test_transposed_convolution() -> None:
    data, filters = np.array([[[1, 2]]], np.float32), np.array([[[1, 10, 100]]], np.float32)
    plain: dict[str, Any] = {"strides": [2], "dilations": [1], "begins": [0], "ends": [0]}
    assert convolution_backprop_data(data, filters, **plain).tolist() == [[[1, 10, 102, 20, 200]]]
    assert convolution_backprop_data(data, filters, **plain | {"begins": [1], "ends": [2]}).tolist() == [[[10, 102]]]
    assert convolution_backprop_data(data, filters, **plain, output_padding=[1]).tolist() == [
        [[1, 10, 102, 20, 200, 0]]
    ]
    assert convolution_backprop_data(data, filters, ints(2), **plain).tolist() == [[[10, 102]]]
    assert convolution_backprop_data(data, filters, ints(2), **plain, auto_pad="same_upper").tolist() == [[[102, 20]]]
    two = convolution_backprop_data(np.repeat(data, 2, 1), np.stack([filters, filters * 2]), **plain, grouped=True)
    assert two[0, 1].tolist() == [2, 20, 204, 40, 400]
    assert convolution_backprop_data(data, filters, **plain | {"begins": [5]}).shape == (1, 1, 0)
