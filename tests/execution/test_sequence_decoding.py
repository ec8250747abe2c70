"""CTC decoding and loss, against enumeration of all paths."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.softmax import ctc_greedy_decoder, ctc_greedy_decoder_masked, ctc_loss


def spell(path, blank, *, merge):
    classes = [label for label, _ in groupby(path)] if merge else list(path)
    return [label for label in classes if label != blank]


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("labels", [[0], [0, 1], [1, 1], []])
def test_ctc_loss_sums_all_paths(labels, merge):
    scores = np.random.default_rng(1).normal(size=(4, 3))
    chances = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    paths = (path for path in product(range(3), repeat=4) if spell(path, 2, merge=merge) == labels)
    expected = -np.log(sum(np.prod(chances[range(4), path]) for path in paths))
    padded = np.array([labels + [0] * (4 - len(labels))])
    result = ctc_loss(scores[None], np.array([4]), padded, np.array([len(labels)]), merge=merge)
    np.testing.assert_allclose(result, [expected])


def test_ctc_labels_are_preprocessed():
    scores = np.random.default_rng(2).normal(size=(1, 4, 3))

    def loss(labels, **kinds):
        padded = np.array([labels + [0] * (4 - len(labels))])
        return float(ctc_loss(scores, np.array([4]), padded, np.array([len(labels)]), **kinds)[0])

    assert loss([0, 0, 1], collapse=True) == loss([0, 1])
    assert loss([0, 1, 0], unique=True) == loss([0, 1])
    assert loss([0, 0, 0, 0]) == np.inf


def test_blanks_in_labels_mask_the_loss():
    arguments = (np.zeros((2, 1, 2)), np.array([1, 1]), np.array([[1], [0]]), np.array([1, 1]))
    assert np.ma.getmaskarray(ctc_loss(*arguments)).tolist() == [True, False]
    assert np.ma.getmaskarray(ctc_loss(*arguments, np.array(7))).tolist() == [True, True]


@pytest.mark.parametrize(
    ("lengths", "labels", "counts", "message"),
    [
        ([3], [[0, 0]], [1], "sequence lengths from 0"),
        ([1], [[0, 0]], [2], "label lengths from 0"),
        ([2], [[0, 5]], [1], "labels from 0"),
    ],
)
def test_mismatched_arguments_are_rejected(lengths, labels, counts, message):
    with pytest.raises(InputError, match=message):
        ctc_loss(np.zeros((1, 2, 3)), np.array(lengths), np.array(labels), np.array(counts))


def test_repetitions_are_merged_but_not_across_blanks():
    path = np.eye(3)[[0, 1, 1, 2, 1, 2, 1]][None]
    merged, count = ctc_greedy_decoder(path, np.array([7]))
    assert merged.tolist() == [[0, 1, 1, 1, -1, -1, -1]]
    assert count.tolist() == [4]
    assert merged.dtype == np.int32
    plain, count = ctc_greedy_decoder(path, np.array([7]), merge=False, int32_classes=False)
    assert plain.tolist() == [[0, 1, 1, 1, 1, -1, -1]]
    assert plain.dtype == np.int64
    other, _ = ctc_greedy_decoder(path, np.array([7]), np.array([0]))
    assert other.tolist() == [[1, 2, 1, 2, 1, -1, -1]]


def test_sequences_end_at_their_declared_length():
    path = np.eye(3, dtype=np.float16)[[0, 1, 0]]
    mask = np.array([[1], [1], [0]], np.float16)
    assert ctc_greedy_decoder_masked(path[:, None], mask)[0, :, 0, 0].tolist() == [0, 1, -1]
    assert ctc_greedy_decoder(path[None], np.array([-1]))[1].tolist() == [0]
    with pytest.raises(InputError, match="longer"):
        ctc_greedy_decoder(path[None], np.array([4]))


def test_results_without_classes_are_masked():
    classes, count = ctc_greedy_decoder(np.zeros((1, 2, 0)), np.array([2]))
    assert np.ma.getmaskarray(classes).all()
    assert np.ma.getmaskarray(count).all()
