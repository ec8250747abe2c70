"""Cross-entropy losses.

ONNX NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.elementwise import quiet, want_float

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["likelihood_loss", "softmax_loss"]

_REDUCTIONS: Final = ("none", "sum", "mean")


def likelihood_loss(
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
    want_float("loss", logs)
    if reduction not in _REDUCTIONS or logs.ndim < 2:
        raise InputError(f"loss: expected classes and one of {', '.join(_REDUCTIONS)}, found {reduction!r:.40}")
    require_shape("loss", "labels", labels.shape, (logs.shape[0], *logs.shape[2:]))
    count = logs.shape[1]
    if weights is not None:
        require_shape("loss", "weights", weights.shape, (count,))
    kept = np.ones(labels.shape, np.bool_) if ignored is None else labels != ignored
    if not ((labels >= 0) & (labels < count))[kept].all():
        raise InputError(f"loss: expected labels below {count}, the number of classes, or the one that is ignored")
    memory.hold(labels.shape, np.dtype(np.float64))
    at = np.where(kept, labels, 0).astype(np.int64)
    with quiet():
        if not count:
            chosen, each = np.zeros(labels.shape), np.zeros(labels.shape)
        else:
            chosen = to_float64(np.take_along_axis(logs, at[:, np.newaxis], 1)[:, 0])
            each = np.where(kept, 1.0 if weights is None else to_float64(weights)[at], 0.0)
        loss = np.where(kept, -chosen * each, 0.0)
        if reduction == "none":
            return round_to(loss, logs.dtype)
        total = loss.sum()
        return round_to(np.asarray(total / each.sum() if reduction == "mean" else total), logs.dtype)


def softmax_loss(
    scores: NDArray[Any],
    labels: NDArray[Any],
    weights: NDArray[Any] | None = None,
    *,
    reduction: str = "mean",
    ignored: int | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the softmax cross entropy as `likelihood_loss`, and log softmax."""
    want_float("loss", scores)
    if scores.ndim < 2:
        raise InputError(f"loss: expected a batch of classes, found {list(scores.shape)}")
    memory.hold(scores.shape, np.dtype(np.float64))
    with quiet():
        wide = to_float64(scores)
        if scores.shape[1]:
            wide = wide - wide.max(axis=1, keepdims=True)
            wide = wide - np.log(np.exp(wide).sum(axis=1, keepdims=True))
    loss = likelihood_loss(wide, labels, weights, reduction=reduction, ignored=ignored)
    return round_to(loss, scores.dtype), round_to(wide, scores.dtype)
