"""Scores of models: the class of the largest, and what they are transformed to."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.error_function import inverse_error_function

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["features_of", "labels_at", "labels_of", "place_of_largest", "transformed"]


def features_of(name: str, inputs: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as float64 [samples, features]; a list of features is one sample."""
    if not 1 <= inputs.ndim <= 2 or inputs.dtype.kind not in "iuf":
        raise InputError(f"{name}: expected numbers [samples, features], found {inputs.dtype}{list(inputs.shape)}")
    return np.atleast_2d(inputs).astype(np.float64)


def labels_of(name: str, integers: Sequence[int] | None, texts: Sequence[str] | None) -> NDArray[Any]:
    """Return the labels of classes as an array of int64, or of texts as objects; exactly one list must be given."""
    if (integers is None) == (texts is None):
        raise InputError(f"{name}: expected labels that are integers or texts, and not both")
    if texts is None:
        return np.array(integers, np.int64)
    labels = np.empty(len(texts), object)
    labels[:] = texts
    return labels


def labels_at(labels: NDArray[Any], places: NDArray[np.intp]) -> NDArray[Any]:
    """Return the label at each place."""
    result = memory.empty(places.shape, labels.dtype)
    result[...] = labels[places]
    return result


def place_of_largest(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Return the first place of the largest score in each row; a nan is never larger, nothing is than a first nan."""
    places = np.argmax(np.where(np.isnan(scores), -np.inf, scores), axis=1)
    return np.where(np.isnan(scores[:, 0]), 0, places)


def _softmax(scores: NDArray[Any], counted: NDArray[np.bool_] | None = None) -> NDArray[Any]:
    parts = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
    if counted is not None:
        parts = np.where(counted, parts, 0.0)
    sums = parts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(parts, sums, out=np.zeros_like(parts), where=sums != 0))


def transformed(scores: NDArray[Any], how: str) -> NDArray[Any]:
    """Return scores [samples, classes], float64, as `how` says.

    NONE: as they are. LOGISTIC: 1 / (1 + exp(-score)). SOFTMAX: of each row. SOFTMAX_ZERO: the same, and scores of 0
    stay 0 and do not count in the sum. PROBIT: the number below which a normal one is with that probability.
    """
    if how == "NONE":
        return scores
    if how == "LOGISTIC":
        return np.asarray(1 / (1 + np.exp(-scores)))
    if how in {"SOFTMAX", "SOFTMAX_ZERO"}:
        return _softmax(scores, None if how == "SOFTMAX" else scores != 0)
    if how == "PROBIT":
        return np.asarray(sqrt(2) * inverse_error_function(2 * scores - 1))
    raise InputError(f"expected NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT, found {how!r:.40}")
