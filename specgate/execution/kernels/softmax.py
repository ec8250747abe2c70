"""Softmax, hardmax, cross-entropy losses, and CTC."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import blocks_of, check_axes, check_axis, require_shape, round_to, to_float64
from specgate.execution.kernels.elementwise import ignore_warnings, require_float

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_MIN_PROBABILITY: Final = 1e-20
#: Up to this many terms a product with ones is as precise as pairwise sums.
_MAX_PRODUCT_TERMS: Final = 2**10


def softmax(x: NDArray[Any], *, axes: Sequence[int]) -> NDArray[Any]:
    """Return the softmax over `axes`; without axes each element is a group."""
    require_float("softmax", x)
    axis_numbers = check_axes(axes, x.ndim, "softmax")
    with ignore_warnings():
        shifted = np.exp(_subtract_maximum(x, axis_numbers))
        return round_to(shifted / shifted.sum(axis=axis_numbers, keepdims=True), x.dtype)


def log_softmax(x: NDArray[Any], *, axes: Sequence[int]) -> NDArray[Any]:
    """Return the log softmax; a nan sum counts as 1e-20.

    Otherwise the whole group would be nan.
    """
    require_float("log_softmax", x)
    axis_numbers = check_axes(axes, x.ndim, "log_softmax")
    with ignore_warnings():
        shifted = _subtract_maximum(x, axis_numbers)
        total = np.fmax(np.exp(shifted).sum(axis=axis_numbers, keepdims=True), _MIN_PROBABILITY)
        return round_to(shifted - np.log(total), x.dtype)


def _subtract_maximum(x: NDArray[Any], axis_numbers: tuple[int, ...]) -> NDArray[Any]:
    """Return float64 elements less their group's maximum, against overflow."""
    wide_values = x.astype(np.float64)
    # np.fmax propagates signaling nan
    differences: NDArray[Any] = wide_values - np.where(np.isnan(wide_values), -np.inf, wide_values).max(
        axis=axis_numbers, keepdims=True
    )
    return differences


def hardmax(x: NDArray[Any], *, axes: Sequence[int]) -> NDArray[Any]:
    """Return 1 at the first maximum of each group, 0 elsewhere.

    The order is row-major. nan is ignored unless it comes first in its group.
    """
    require_float("hardmax", x)
    axis_numbers = check_axes(axes, x.ndim, "hardmax")
    rest = tuple(axis for axis in range(x.ndim) if axis not in axis_numbers)
    grouped = x.transpose(*rest, *axis_numbers)
    rows = grouped.reshape(prod(x.shape[axis] for axis in rest), prod(x.shape[axis] for axis in axis_numbers))
    result = np.zeros(rows.shape, x.dtype)
    if rows.size:
        largest = np.where(np.isnan(rows), -np.inf, rows).argmax(axis=1)
        result[np.arange(len(rows)), np.where(np.isnan(rows[:, 0]), 0, largest)] = 1
    return np.ascontiguousarray(result.reshape(grouped.shape).transpose(np.argsort((*rest, *axis_numbers))))


def _group_axes(x: NDArray[Any], axis: int, *, to_end: bool, past_end: bool) -> tuple[int, ...]:
    """Return the dimensions of a group: `axis`, and later ones with `to_end`."""
    place = axis + x.ndim if axis < 0 else axis
    if past_end and place == x.ndim:
        return ()
    check_axis(place, x.ndim, "softmax")
    return tuple(range(place, x.ndim)) if to_end else (place,)


def _apply_to_groups(
    name: str, x: NDArray[Any], axis_numbers: tuple[int, ...], function: Callable[[NDArray[Any]], object]
) -> NDArray[Any]:
    """Return `function` of groups less their maximum, against overflow.

    Computed in float32, which loses a few 1e-7 of sums of at most 1, or for FLOAT64 in float64. function: of dimension
    1 of [outer, group] or [outer, group, inner], which it overwrites.
    """
    require_float(name, x)
    if not x.size:
        return x.copy()
    first, end_axis = (axis_numbers[0], axis_numbers[-1] + 1) if axis_numbers else (x.ndim, x.ndim)
    outer, group, inner = prod(x.shape[:first]), prod(x.shape[first:end_axis]), prod(x.shape[end_axis:])
    rows = x.reshape((outer, group, inner) if inner > 1 else (outer, group))
    with ignore_warnings():
        result = np.empty(rows.shape, np.float64 if x.dtype == np.float64 else np.float32)
        for block in blocks_of(outer, group * inner, 2):
            values = rows[block].astype(result.dtype, copy=False)
            function(np.subtract(values, values.max(axis=1, keepdims=True), out=result[block]))
        return round_to(result.reshape(x.shape), x.dtype)


def _totals(powers: NDArray[Any]) -> NDArray[Any]:
    """Return sums along dimension 1, pairwise if contiguous, else float64.

    Few float32 are multiplied by ones row by row, which is twice as fast.
    """
    if powers.ndim == 2 and powers.dtype == np.float32 and powers.shape[1] <= _MAX_PRODUCT_TERMS:
        return np.asarray(np.matmul(powers[:, np.newaxis], np.ones((powers.shape[1], 1), np.float32)))[:, 0]
    return np.asarray(powers.sum(axis=1, keepdims=True, dtype=None if powers.ndim == 2 else np.float64))


def softmax_along(x: NDArray[Any], *, axis: int, to_end: bool = False, past_end: bool = False) -> NDArray[Any]:
    """Return the softmax along `axis`; nan makes its whole group nan.

    A negative axis counts from the end; to_end: over later dimensions as well (coerced to 2-D); past_end: the axis may
    be the rank, so that each element is a group.
    """

    def shares(shifted: NDArray[Any]) -> None:
        np.exp(shifted, out=shifted)
        shifted /= _totals(shifted)

    return _apply_to_groups("softmax", x, _group_axes(x, axis, to_end=to_end, past_end=past_end), shares)


def log_softmax_along(x: NDArray[Any], *, axis: int, to_end: bool = False, past_end: bool = False) -> NDArray[Any]:
    """Return the natural logarithm of `softmax_along`."""

    def logarithms(shifted: NDArray[Any]) -> None:
        shifted -= np.log(_totals(np.exp(shifted)))

    return _apply_to_groups("log_softmax", x, _group_axes(x, axis, to_end=to_end, past_end=past_end), logarithms)


def hardmax_along(x: NDArray[Any], *, axis: int, to_end: bool = False, past_end: bool = False) -> NDArray[Any]:
    """Return 1 at the first maximum of each `softmax_along` group, else 0."""
    axis_numbers = _group_axes(x, axis, to_end=to_end, past_end=past_end)
    return hardmax(x, axes=axis_numbers) if x.size else x.copy()


_REDUCTIONS: Final = ("none", "sum", "mean")


def negative_log_likelihood_loss(
    logs: NDArray[Any],
    labels: NDArray[Any],
    weights: NDArray[Any] | None = None,
    *,
    reduction: str = "mean",
    ignored: int | None = None,
) -> NDArray[Any]:
    """Return the negative log likelihood loss of labels.

    logs: [batch, classes, …]. labels: [batch, …]. weights: per class, default 1. reduction: none, sum or mean
    (weighted). ignored: a label with loss and weight 0, which need not be a class.
    """
    require_float("loss", logs)
    if reduction not in _REDUCTIONS or logs.ndim < 2:
        raise InputError(
            f"loss: expected a class dimension and a reduction in {', '.join(_REDUCTIONS)}, found {reduction!r:.40}"
        )
    require_shape("loss", "labels", labels.shape, (logs.shape[0], *logs.shape[2:]))
    count = logs.shape[1]
    if weights is not None:
        require_shape("loss", "weights", weights.shape, (count,))
    is_counted = np.ones(labels.shape, np.bool_) if ignored is None else labels != ignored
    if not ((labels >= 0) & (labels < count))[is_counted].all():
        raise InputError(f"loss: expected labels below {count} (the number of classes), or ignore_index")
    memory.check_budget(labels.shape, np.dtype(np.float64))
    class_places = np.where(is_counted, labels, 0).astype(np.int64)
    with ignore_warnings():
        if not count:
            label_losses, losses = np.zeros(labels.shape), np.zeros(labels.shape)
        else:
            label_losses = to_float64(np.take_along_axis(logs, class_places[:, np.newaxis], 1)[:, 0])
            losses = np.where(is_counted, 1.0 if weights is None else to_float64(weights)[class_places], 0.0)
        loss = np.where(is_counted, -label_losses * losses, 0.0)
        if reduction == "none":
            return round_to(loss, logs.dtype)
        total = loss.sum()
        return round_to(np.asarray(total / losses.sum() if reduction == "mean" else total), logs.dtype)


def softmax_cross_entropy_loss(
    scores: NDArray[Any],
    labels: NDArray[Any],
    weights: NDArray[Any] | None = None,
    *,
    reduction: str = "mean",
    ignored: int | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the softmax cross entropy as `negative_log_likelihood_loss`, and log softmax."""
    require_float("loss", scores)
    if scores.ndim < 2:
        raise InputError(f"loss: expected scores [batch, classes, ...], found {list(scores.shape)}")
    memory.check_budget(scores.shape, np.dtype(np.float64))
    with ignore_warnings():
        wide_scores = to_float64(scores)
        if scores.shape[1]:
            wide_scores = wide_scores - wide_scores.max(axis=1, keepdims=True)
            wide_scores = wide_scores - np.log(np.exp(wide_scores).sum(axis=1, keepdims=True))
    loss = negative_log_likelihood_loss(wide_scores, labels, weights, reduction=reduction, ignored=ignored)
    return round_to(loss, scores.dtype), round_to(wide_scores, scores.dtype)


def ctc_greedy_decoder(
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
        raise InputError("ctc_greedy_decoder: expected 3-D scores")
    require_shape("ctc_greedy_decoder", "lengths", lengths.shape, scores.shape[:1])
    if (lengths > scores.shape[1]).any():
        raise InputError(f"ctc_greedy_decoder: a sequence is longer than the {scores.shape[1]} steps")
    blank_class = _single_class(blank, scores.shape[2])
    classes = memory.empty(scores.shape[:2], np.dtype(np.int32 if int32_classes else np.int64))
    counts = memory.empty(scores.shape[:1], np.dtype(np.int32 if int32_lengths else np.int64))
    steps = np.arange(scores.shape[1]) < lengths[:, None]
    return _decode_ctc(scores, steps, blank_class, classes, counts, merge=merge)


def ctc_greedy_decoder_masked(scores: NDArray[Any], steps: NDArray[Any], *, merge: bool = True) -> NDArray[Any]:
    """Return `ctc_greedy_decoder` as [batch, steps, 1, 1] of the type of the scores.

    scores: [steps, batch, classes]; the last class is the blank. steps: [steps, batch], 0 from the end of a sequence
    on.
    """
    if scores.ndim != 3:
        raise InputError("ctc_greedy_decoder: expected 3-D scores")
    require_shape("ctc_greedy_decoder", "steps", steps.shape, scores.shape[:2])
    in_sequence = np.cumprod(steps != 0, axis=0, dtype=np.bool_).T
    transposed_scores = scores.transpose(1, 0, 2)
    classes = memory.empty(transposed_scores.shape[:2], np.dtype(np.int64))
    array, _ = _decode_ctc(
        transposed_scores,
        in_sequence,
        scores.shape[2] - 1,
        classes,
        np.empty(len(transposed_scores), np.int64),
        merge=merge,
    )
    result: NDArray[Any] = array.astype(scores.dtype)[:, :, None, None]
    return result


def _decode_ctc(
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
    best_classes = scores.argmax(axis=2)
    is_kept = steps & (best_classes != blank)
    if merge:
        is_kept[:, 1:] &= best_classes[:, 1:] != best_classes[:, :-1]
    counts[...] = is_kept.sum(axis=1)
    batches, places = np.nonzero(is_kept)
    classes[batches, (np.cumsum(is_kept, axis=1) - 1)[batches, places]] = best_classes[batches, places]
    return classes, counts


def _single_class(blank: NDArray[Any] | None, classes: int) -> int:
    if blank is None:
        return classes - 1
    require_shape("ctc_greedy_decoder", "the blank class", (blank.size,), (1,))
    return int(blank.reshape(-1)[0])


def ctc_loss(
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
    _require_labels(scores, lengths, labels, counts)
    blank_class = _single_class(blank, scores.shape[2])
    blank_exists = 0 <= blank_class < scores.shape[2]
    result = memory.empty(scores.shape[:1], scores.dtype)
    is_undefined = np.full(scores.shape[:1], not blank_exists)
    result[...] = 0
    for batch_index in memory.within_time_limit(range(len(scores) if blank_exists else 0)):
        spelled = _remove_repetitions(labels[batch_index, : int(counts[batch_index])], collapse=collapse, unique=unique)
        if blank_class in spelled:
            is_undefined[batch_index] = True
            continue
        steps = to_float64(scores[batch_index, : int(lengths[batch_index])])
        greatest = steps.max(axis=1, keepdims=True) if len(steps) else steps
        logs = steps - greatest - np.log(np.exp(steps - greatest).sum(axis=1, keepdims=True))
        number = _sum_path_logs(logs, spelled, blank_class) if merge else _plain_path_logs(logs, spelled, blank_class)
        result[batch_index] = round_to(np.array(0.0 - number), scores.dtype)
    return np.ma.MaskedArray(result, is_undefined) if is_undefined.any() else result


def _require_labels(scores: NDArray[Any], lengths: NDArray[Any], labels: NDArray[Any], counts: NDArray[Any]) -> None:
    if scores.ndim != 3:
        raise InputError("ctc_loss: expected 3-D scores")
    batches, steps, classes = scores.shape
    require_shape("ctc_loss", "lengths", lengths.shape, (batches,))
    require_shape("ctc_loss", "labels", labels.shape, (batches, steps))
    require_shape("ctc_loss", "counts", counts.shape, (batches,))
    if ((lengths < 0) | (lengths > steps)).any():
        raise InputError(f"ctc_loss: expected sequence lengths from 0 to {steps}")
    if ((counts < 0) | (counts > lengths)).any():
        raise InputError("ctc_loss: expected label lengths from 0 to the length of the sequence")
    if ((labels < 0) | (labels >= classes)).any():
        raise InputError(f"ctc_loss: expected labels from 0 to below {classes}")


def _remove_repetitions(labels: NDArray[Any], *, collapse: bool, unique: bool) -> NDArray[np.intp]:
    """Return labels without repetitions, consecutive ones or all."""
    if unique:
        return labels[np.sort(np.unique(labels, return_index=True)[1])].astype(np.intp)
    is_kept = np.ones(len(labels), np.bool_)
    if collapse:
        is_kept[1:] = labels[1:] != labels[:-1]
    return labels[is_kept].astype(np.intp)


def _sum_path_logs(logs: NDArray[Any], labels: NDArray[np.intp], blank: int) -> float:
    """Return log(probability) of all paths that spell labels, repeats merged."""
    states = np.full(2 * len(labels) + 1, blank, np.intp)
    states[1::2] = labels
    skips = np.zeros(len(states), np.bool_)
    skips[3::2] = labels[1:] != labels[:-1]
    left = np.full(len(states), -np.inf)
    left[0] = 0.0
    for step in memory.within_time_limit(logs):
        before = np.full((3, len(states)), -np.inf)
        before[0], before[1, 1:] = left, left[:-1]
        before[2, 2:] = np.where(skips[2:], left[:-2], -np.inf)
        left = np.logaddexp.reduce(before, axis=0) + step[states]
    return float(np.logaddexp.reduce(left[-2:] if len(logs) else left[-1:]))


def _plain_path_logs(logs: NDArray[Any], labels: NDArray[np.intp], blank: int) -> float:
    """Return log(probability) of all paths of labels with blanks in between."""
    left = np.full(len(labels) + 1, -np.inf)
    left[0] = 0.0
    for step in memory.within_time_limit(logs):
        stay_scores, moves = left + step[blank], np.full(len(left), -np.inf)
        moves[1:] = left[:-1] + step[labels]
        left = np.logaddexp(stay_scores, moves)
    return float(left[-1])
