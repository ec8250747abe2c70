"""Moves along given axes and by blocks: values computed by hand, errors."""

import numpy as np
import pytest

from specgate.conform.compare import compare_outputs
from specgate.descriptors.core import Descriptor
from specgate.errors import InputError, NoKernel
from specgate.execution.kernels import pad_transpose

ROWS = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def ints(*numbers):
    return np.array(numbers, np.int64)


def test_gather_in_batches():
    array = pad_transpose.gather_along(ROWS, np.array([[0, 2], [1, 1]]), ints(-1), batch_dimensions=-1)
    assert array.tolist() == [[1, 3], [5, 5]]


def test_gather_after_batches_keeps_middle_dimensions():
    data = np.arange(12).reshape(2, 1, 3, 2)
    array = pad_transpose.gather_along(data, np.array([[2], [0]]), np.array(2), batch_dimensions=1)
    assert array.tolist() == [[[[4, 5]]], [[[6, 7]]]]


def test_gather_returns_zeros_out_of_range_on_request():
    data = np.array([1, 2, 3, 4, 5])
    entries = {"indices": ints(3, 10, -20, -1), "axis": np.array(0)}
    assert pad_transpose.gather_along(data, **entries, zeros_beyond=True).tolist() == [4, 0, 0, 5]
    text = np.array(["a", "b"], object)
    assert pad_transpose.gather_along(text, ints(1, 2), np.array(0), zeros_beyond=True).tolist() == ["b", ""]
    empty = pad_transpose.gather_along(ROWS[:, :0], ints(0), np.array(1), zeros_beyond=True)
    assert empty.tolist() == [[0], [0]]


@pytest.mark.parametrize(("index", "axis"), [(-1, 0), (2, 0), (0, 2), (0, -3)])
def test_gather_rejects(index, axis):
    with pytest.raises(InputError):
        pad_transpose.gather_along(ROWS, ints(index), np.array(axis))


def test_gather_rejects_batches_after_the_axis():
    with pytest.raises(InputError):
        pad_transpose.gather_along(ROWS, np.zeros((2, 1), np.int64), np.array(0), batch_dimensions=1)


def test_transpose_by_an_array():
    assert pad_transpose.transpose_by(np.zeros((2, 3, 4)), ints(1, 2, 0)).shape == (3, 4, 2)
    assert pad_transpose.transpose_by(np.zeros((2, 3, 4)), ints()).shape == (4, 3, 2)
    with pytest.raises(InputError):
        pad_transpose.transpose_by(ROWS, ints(-1, 0))


def test_splits():
    halves = pad_transpose.split_equally(ROWS, np.array(-2), parts=2)
    assert [part.tolist() for part in halves] == [[[1, 2, 3]], [[4, 5, 6]]]
    parts = pad_transpose.variadic_split(ROWS, ints(1), ints(1, -1, 0))
    assert [part.tolist() for part in parts] == [[[1], [4]], [[2, 3], [5, 6]], [[], []]]


@pytest.mark.parametrize("lengths", [(1, 1), (4, -1), (-1, -1, 3), (-2, 5)])
def test_split_lengths_must_match_the_axis(lengths):
    with pytest.raises(InputError):
        pad_transpose.variadic_split(ROWS, np.array(1), ints(*lengths))


def test_split_rejects_more_parts_than_elements():
    with pytest.raises(InputError):
        pad_transpose.split_equally(ROWS[:, :0], np.array(1), parts=2)


def test_tile_fills_the_shorter_list_with_ones():
    assert pad_transpose.tile_any(np.array([1, 2]), ints(2, 1, 2)).tolist() == [[[1, 2, 1, 2]], [[1, 2, 1, 2]]]
    assert pad_transpose.tile_any(ROWS, np.array(2)).tolist() == [[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]


def test_tile_has_no_kernel_for_negative_repeats():
    with pytest.raises(NoKernel):
        pad_transpose.tile_any(ROWS, ints(-1, 2))


def test_broadcast_modes():
    assert pad_transpose.broadcast_by(ROWS[:, :1], ints(2, 2), mode="numpy").tolist() == [[1, 1], [4, 4]]
    assert pad_transpose.broadcast_by(ROWS, ints(1), mode="bidirectional").tolist() == ROWS.tolist()
    spread = pad_transpose.broadcast_by(np.array([7, 8]), ints(2, 3), ints(0), mode="explicit")
    assert spread.tolist() == [[7, 7, 7], [8, 8, 8]]
    with pytest.raises(InputError):
        pad_transpose.broadcast_by(ROWS, ints(1), mode="numpy")
    with pytest.raises(InputError):
        pad_transpose.broadcast_by(ROWS, ints(3, 2), ints(1, 0), mode="explicit")


def pad(mode, begin, end, *, cut=True):
    return pad_transpose.pad_between(np.array([1, 2, 3]), ints(begin), ints(end), mode=mode, crop_negative=cut).tolist()


def test_pad_modes():
    assert pad("constant", 1, 2) == [0, 1, 2, 3, 0, 0]
    assert pad("edge", 1, -1) == [1, 1, 2]
    assert pad("reflect", 2, 1) == [3, 2, 1, 2, 3, 2]
    assert pad("symmetric", 2, 3) == [2, 1, 1, 2, 3, 3, 2, 1]


@pytest.mark.parametrize(("mode", "begin", "cut"), [("reflect", 3, True), ("symmetric", 4, True), ("edge", -1, False)])
def test_pad_rejects(mode, begin, cut):
    with pytest.raises(InputError):
        pad(mode, begin, 0, cut=cut)


def test_blocks_along_one_and_three_dimensions():
    line = np.arange(1, 9).reshape(1, 4, 2)
    assert pad_transpose.depth_to_space_nd(line, block=2, depth_first=False).tolist() == [[[1, 5, 2, 6], [3, 7, 4, 8]]]
    assert pad_transpose.depth_to_space_nd(line, block=2, depth_first=True).tolist() == [[[1, 3, 2, 4], [5, 7, 6, 8]]]
    cube = np.arange(8).reshape(1, 8, 1, 1, 1)
    spread = pad_transpose.depth_to_space_nd(cube, block=2, depth_first=True)
    assert spread.tolist() == np.arange(8).reshape(1, 1, 2, 2, 2).tolist()


@pytest.mark.parametrize("depth_first", [True, False])
def test_depth_from_blocks_is_the_inverse(depth_first):
    data = np.arange(2 * 3 * 4 * 2).reshape(2, 3, 4, 2)
    deep = pad_transpose.space_to_depth_nd(data, block=2, depth_first=depth_first)
    assert deep.shape == (2, 12, 2, 1)
    assert deep[0, :2, 0, 0].tolist() == ([0, 1] if depth_first else [0, 8])
    assert (pad_transpose.depth_to_space_nd(deep, block=2, depth_first=depth_first) == data).all()


def test_space_to_batch_round_trip():
    spread = pad_transpose.space_to_batch(ROWS, ints(1, 2), ints(0, 1), ints(0, 0))
    assert spread.tolist() == [[0, 2], [0, 5], [1, 3], [4, 6]]
    assert pad_transpose.batch_to_space(spread, ints(1, 2), ints(0, 1), ints(0, 0)).tolist() == ROWS.tolist()


@pytest.mark.parametrize(
    ("sizes", "begin"), [((2, 1), (0, 0)), ((1, 2), (0, 0)), ((1, 1), (1, 0)), ((1, 1), (0, -1)), ((1, 0), (0, 0))]
)
def test_space_to_batch_rejects(sizes, begin):
    with pytest.raises(InputError):
        pad_transpose.space_to_batch(ROWS, ints(*sizes), ints(*begin), ints(0, 0))


def test_batch_to_space_rejects_excessive_crops():
    with pytest.raises(InputError):
        pad_transpose.batch_to_space(ROWS, ints(1, 2), ints(0, 4), ints(0, 3))


def test_shuffle_channels():
    assert pad_transpose.shuffle_channels(np.arange(6), axis=0, groups=2).tolist() == [0, 3, 1, 4, 2, 5]
    with pytest.raises(InputError):
        pad_transpose.shuffle_channels(np.arange(6), axis=0, groups=4)


def test_outputs_that_are_numbered_in_brackets_are_compared():
    mine = {"outputs": [np.array([1.0]), np.array([2.0])]}
    theirs = {"outputs[0]": np.array([1.0]), "outputs[1]": np.array([3.0])}
    missing, differing = compare_outputs(mine, theirs, Descriptor("openvino", "Split", {}), 0.0)
    assert not missing
    assert [each.name for each in differing] == ["outputs[1]"]
