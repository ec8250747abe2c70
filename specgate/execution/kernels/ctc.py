"""CTC (connectionist temporal classification): greedy decoder and loss.

OpenVINO CTCGreedyDecoder, CTCGreedyDecoderSeqLen, CTCLoss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["decode_best", "decode_best_masked", "sequence_loss"]


def decode_best(
    scores: NDArray[Any],
    lengths: NDArray[Any],
    blank: NDArray[Any] | None = None,
    *,
    merge: bool = True,
    int32_classes: bool = True,
    int32_lengths: bool = True,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the best class per step without blanks, and the lengths.

    Shapes: [batch, steps] and [batch]. scores: [batch, steps, classes]. lengths: steps of each sequence [batch]; below
    0 means none. blank: the blank class, the last if absent. merge: merge repeated classes. int32_classes,
    int32_lengths: result types. Unused steps are -1. Without classes all is masked.
    """
    if scores.ndim != 3:
        raise InputError("decode_best: expected scores of three dimensions")
    require_shape("decode_best", "lengths", lengths.shape, scores.shape[:1])
    if (lengths > scores.shape[1]).any():
        raise InputError(f"decode_best: a sequence is longer than the {scores.shape[1]} steps")
    none = _single_class(blank, scores.shape[2])
    classes = memory.empty(scores.shape[:2], np.dtype(np.int32 if int32_classes else np.int64))
    counts = memory.empty(scores.shape[:1], np.dtype(np.int32 if int32_lengths else np.int64))
    steps = np.arange(scores.shape[1]) < lengths[:, None]
    return _decoded(scores, steps, none, classes, counts, merge=merge)


def decode_best_masked(scores: NDArray[Any], steps: NDArray[Any], *, merge: bool = True) -> NDArray[Any]:
    """Return `decode_best` as [batch, steps, 1, 1] of the type of the scores.

    scores: [steps, batch, classes]; the last class is the blank. steps: [steps, batch], 0 from the end of a sequence
    on.
    """
    if scores.ndim != 3:
        raise InputError("decode_best: expected scores of three dimensions")
    require_shape("decode_best", "steps", steps.shape, scores.shape[:2])
    inside = np.cumprod(steps != 0, axis=0, dtype=np.bool_).T
    turned = scores.transpose(1, 0, 2)
    classes = memory.empty(turned.shape[:2], np.dtype(np.int64))
    array, _ = _decoded(turned, inside, scores.shape[2] - 1, classes, np.empty(len(turned), np.int64), merge=merge)
    result: NDArray[Any] = array.astype(scores.dtype)[:, :, None, None]
    return result


def _decoded(
    scores: NDArray[Any],
    steps: NDArray[np.bool_],
    blank: int,
    classes: NDArray[Any],
    counts: NDArray[Any],
    *,
    merge: bool,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Fill classes and counts.

    steps: [batch, steps], whether a step belongs to its sequence.
    """
    classes[...], counts[...] = -1, 0
    if not scores.shape[2]:
        return np.ma.MaskedArray(classes, True), np.ma.MaskedArray(counts, True)
    best = scores.argmax(axis=2)
    kept = steps & (best != blank)
    if merge:
        kept[:, 1:] &= best[:, 1:] != best[:, :-1]
    counts[...] = kept.sum(axis=1)
    batches, places = np.nonzero(kept)
    classes[batches, (np.cumsum(kept, axis=1) - 1)[batches, places]] = best[batches, places]
    return classes, counts


def _single_class(blank: NDArray[Any] | None, classes: int) -> int:
    if blank is None:
        return classes - 1
    require_shape("decode_best", "the blank's class", (blank.size,), (1,))
    return int(blank.reshape(-1)[0])


def sequence_loss(
    scores: NDArray[Any],
    lengths: NDArray[Any],
    labels: NDArray[Any],
    counts: NDArray[Any],
    blank: NDArray[Any] | None = None,
    *,
    collapse: bool = False,
    merge: bool = True,
    unique: bool = False,
) -> NDArray[Any]:
    """Return the CTC loss: -log(probability of the labels), [batch].

    scores: [batch, steps, classes], logits. lengths: steps of each sequence [batch]. labels: [batch, steps], of which
    the first counts [batch] are valid. blank: the blank class, the last if absent. collapse: merge repeated labels;
    unique: keep each label once. merge: equal consecutive classes spell one label. Masked where a label is the blank,
    or the blank is not a class.
    """
    _hold_labels(scores, lengths, labels, counts)
    none = _single_class(blank, scores.shape[2])
    known = 0 <= none < scores.shape[2]
    result = memory.empty(scores.shape[:1], scores.dtype)
    lacking = np.full(scores.shape[:1], not known)
    result[...] = 0
    for at in memory.in_time(range(len(scores) if known else 0)):
        spelled = _prepared(labels[at, : int(counts[at])], collapse=collapse, unique=unique)
        if none in spelled:
            lacking[at] = True
            continue
        steps = to_float64(scores[at, : int(lengths[at])])
        most = steps.max(axis=1, keepdims=True) if len(steps) else steps
        logs = steps - most - np.log(np.exp(steps - most).sum(axis=1, keepdims=True))
        number = _merged(logs, spelled, none) if merge else _plain(logs, spelled, none)
        result[at] = round_to(np.array(0.0 - number), scores.dtype)
    return np.ma.MaskedArray(result, lacking) if lacking.any() else result


def _hold_labels(scores: NDArray[Any], lengths: NDArray[Any], labels: NDArray[Any], counts: NDArray[Any]) -> None:
    if scores.ndim != 3:
        raise InputError("sequence_loss: expected scores of three dimensions")
    batches, steps, classes = scores.shape
    require_shape("sequence_loss", "lengths", lengths.shape, (batches,))
    require_shape("sequence_loss", "labels", labels.shape, (batches, steps))
    require_shape("sequence_loss", "counts", counts.shape, (batches,))
    if ((lengths < 0) | (lengths > steps)).any():
        raise InputError(f"sequence_loss: a length is not from 0 to {steps}")
    if ((counts < 0) | (counts > lengths)).any():
        raise InputError("sequence_loss: a count of labels is below 0 or above the length of its sequence")
    if ((labels < 0) | (labels >= classes)).any():
        raise InputError(f"sequence_loss: a label is not one of the {classes} classes")


def _prepared(labels: NDArray[Any], *, collapse: bool, unique: bool) -> NDArray[np.intp]:
    """Return labels without repetitions, consecutive ones or all."""
    if unique:
        return labels[np.sort(np.unique(labels, return_index=True)[1])].astype(np.intp)
    kept = np.ones(len(labels), np.bool_)
    if collapse:
        kept[1:] = labels[1:] != labels[:-1]
    return labels[kept].astype(np.intp)


def _merged(logs: NDArray[Any], labels: NDArray[np.intp], blank: int) -> float:
    """Return log(probability) of all paths that spell labels, repeats merged."""
    states = np.full(2 * len(labels) + 1, blank, np.intp)
    states[1::2] = labels
    skips = np.zeros(len(states), np.bool_)
    skips[3::2] = labels[1:] != labels[:-1]
    left = np.full(len(states), -np.inf)
    left[0] = 0.0
    for step in memory.in_time(logs):
        before = np.full((3, len(states)), -np.inf)
        before[0], before[1, 1:] = left, left[:-1]
        before[2, 2:] = np.where(skips[2:], left[:-2], -np.inf)
        left = np.logaddexp.reduce(before, axis=0) + step[states]
    return float(np.logaddexp.reduce(left[-2:] if len(logs) else left[-1:]))


def _plain(logs: NDArray[Any], labels: NDArray[np.intp], blank: int) -> float:
    """Return log(probability) of all paths of labels with blanks in between."""
    left = np.full(len(labels) + 1, -np.inf)
    left[0] = 0.0
    for step in memory.in_time(logs):
        stays, moves = left + step[blank], np.full(len(left), -np.inf)
        moves[1:] = left[:-1] + step[labels]
        left = np.logaddexp(stays, moves)
    return float(left[-1])
