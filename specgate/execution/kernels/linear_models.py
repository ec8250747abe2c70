"""Linear models: regression and classification.

ai.onnx.ml LinearClassifier, LinearRegressor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.matmul import multiply_matrices
from specgate.execution.kernels.svm import features_of, labels_at, labels_of, place_of_largest, transformed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["classify_linearly", "regress_linearly"]


def _products(
    name: str, inputs: NDArray[Any], coefficients: Sequence[float], intercepts: Sequence[float] | None, rows: int
) -> NDArray[Any]:
    """Return inputs @ coefficients.T + intercepts, float64 [samples, rows]."""
    features = features_of(name, inputs)
    if rows < 1 or not features.shape[1] or len(coefficients) != rows * features.shape[1]:
        raise InputError(
            f"{name}: {len(coefficients)} coefficients are not {rows} rows of {features.shape[1]} features"
        )
    if intercepts is not None and len(intercepts) != rows:
        raise InputError(f"{name}: expected {rows} intercepts, found {len(intercepts)}")
    memory.hold((len(features), rows), np.dtype(np.float64))
    matrix = np.asarray(coefficients, np.float32).astype(np.float64).reshape(rows, -1)
    added = 0.0 if intercepts is None else np.asarray(intercepts, np.float32).astype(np.float64)
    return np.asarray(multiply_matrices(features, matrix.T) + added)


def regress_linearly(
    inputs: NDArray[Any],
    *,
    coefficients: Sequence[float] = (),
    intercepts: Sequence[float] | None = None,
    targets: int = 1,
    post_transform: str = "NONE",
) -> NDArray[np.float32]:
    """Return float32 [samples, targets]; coefficients: a row per target."""
    if not 1 <= targets <= max(1, len(coefficients)):
        raise InputError(f"regress_linearly: {targets} targets have no coefficients")
    results = _products("regress_linearly", inputs, coefficients, intercepts, targets)
    return transformed(results, post_transform).astype(np.float32)


def classify_linearly(
    inputs: NDArray[Any],
    *,
    coefficients: Sequence[float],
    intercepts: Sequence[float] | None = None,
    integer_labels: Sequence[int] | None = None,
    text_labels: Sequence[str] | None = None,
    post_transform: str = "NONE",
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return labels [samples] and float32 scores [samples, classes].

    coefficients: a row per class, or for two classes one row for the second. In the latter case the first class gets 1
    - score, and only LOGISTIC and PROBIT transform.
    """
    name = "classify_linearly"
    labels = labels_of(name, integer_labels, text_labels)
    width = inputs.shape[-1] if inputs.ndim else 0
    single = len(labels) == 2 and len(coefficients) == width
    if len(labels) < 2:
        raise InputError(f"{name}: expected the labels of at least two classes, found {len(labels)}")
    scores = _products(name, inputs, coefficients, intercepts, 1 if single else len(labels)).astype(np.float32)
    if not single:
        places, scores = place_of_largest(scores), scores.astype(np.float64)
        return labels_at(labels, places), transformed(scores, post_transform).astype(np.float32)
    places = (scores[:, 0] > 0).astype(np.intp)
    score = scores.astype(np.float64)
    if post_transform == "LOGISTIC":
        score = transformed(score, post_transform)
    both = np.concatenate([1 - score, score], axis=1)
    if post_transform == "PROBIT":
        both = transformed(both, post_transform)
    return labels_at(labels, places), both.astype(np.float32)
