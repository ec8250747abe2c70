"""Linear models, support vector machines, and class labels."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.elementwise import erf_inv
from specgate.execution.kernels.matmul import multiply_matrices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def _products(
    name: str, inputs: NDArray[Any], coefficients: Sequence[float], intercepts: Sequence[float] | None, rows: int
) -> NDArray[Any]:
    """Return inputs @ coefficients.T + intercepts, float64 [samples, rows]."""
    features = features_of(name, inputs)
    if rows < 1 or not features.shape[1] or len(coefficients) != rows * features.shape[1]:
        raise InputError(
            f"{name}: expected {rows} rows of {features.shape[1]} coefficients, found {len(coefficients)} coefficients"
        )
    if intercepts is not None and len(intercepts) != rows:
        raise InputError(f"{name}: expected {rows} intercepts, found {len(intercepts)}")
    memory.check_budget((len(features), rows), np.dtype(np.float64))
    matrix = np.asarray(coefficients, np.float32).astype(np.float64).reshape(rows, -1)
    intercept_array = 0.0 if intercepts is None else np.asarray(intercepts, np.float32).astype(np.float64)
    return np.asarray(multiply_matrices(features, matrix.T) + intercept_array)


def linear_regressor(
    inputs: NDArray[Any],
    *,
    coefficients: Sequence[float] = (),
    intercepts: Sequence[float] | None = None,
    targets: int = 1,
    post_transform: str = "NONE",
) -> NDArray[np.float32]:
    """Return float32 [samples, targets]; coefficients: a row per target."""
    if not 1 <= targets <= max(1, len(coefficients)):
        raise InputError(
            f"linear_regressor: expected at least 1 target and coefficients for each, found {targets} targets"
        )
    results = _products("linear_regressor", inputs, coefficients, intercepts, targets)
    return transform_scores(results, post_transform).astype(np.float32)


def linear_classifier(
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
    name = "linear_classifier"
    labels = labels_of(name, integer_labels, text_labels)
    width = inputs.shape[-1] if inputs.ndim else 0
    single = len(labels) == 2 and len(coefficients) == width
    if len(labels) < 2:
        raise InputError(f"{name}: expected the labels of at least two classes, found {len(labels)}")
    scores = _products(name, inputs, coefficients, intercepts, 1 if single else len(labels)).astype(np.float32)
    if not single:
        places, scores = place_of_largest(scores), scores.astype(np.float64)
        return labels_at(labels, places), transform_scores(scores, post_transform).astype(np.float32)
    places = (scores[:, 0] > 0).astype(np.intp)
    score = scores.astype(np.float64)
    if post_transform == "LOGISTIC":
        score = transform_scores(score, post_transform)
    class_scores = np.concatenate([1 - score, score], axis=1)
    if post_transform == "PROBIT":
        class_scores = transform_scores(class_scores, post_transform)
    return labels_at(labels, places), class_scores.astype(np.float32)


def features_of(name: str, inputs: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as float64 [samples, features]; 1-D is one sample."""
    if not 1 <= inputs.ndim <= 2 or inputs.dtype.kind not in "iuf":
        raise InputError(f"{name}: expected numbers [samples, features], found {inputs.dtype}{list(inputs.shape)}")
    return np.atleast_2d(inputs).astype(np.float64)


def labels_of(name: str, integers: Sequence[int] | None, texts: Sequence[str] | None) -> NDArray[Any]:
    """Return class labels as an int64 array, or as strings.

    Exactly one list must be given.
    """
    if (integers is None) == (texts is None):
        raise InputError(f"{name}: expected labels of either integers or strings")
    if texts is None:
        return np.array(integers, np.int64)
    labels = np.empty(len(texts), object)
    labels[:] = texts
    return labels


def labels_at(labels: NDArray[Any], places: NDArray[np.intp]) -> NDArray[Any]:
    """Return the label at each index."""
    result = memory.empty(places.shape, labels.dtype)
    result[...] = labels[places]
    return result


def place_of_largest(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Return the index of the first maximum in each row.

    nan is never larger, and nothing is larger than a nan in first place.
    """
    places = np.argmax(np.where(np.isnan(scores), -np.inf, scores), axis=1)
    return np.where(np.isnan(scores[:, 0]), 0, places)


def _softmax(scores: NDArray[Any], is_counted: NDArray[np.bool_] | None = None) -> NDArray[Any]:
    parts = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
    if is_counted is not None:
        parts = np.where(is_counted, parts, 0.0)
    sums = parts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(parts, sums, out=np.zeros_like(parts), where=sums != 0))


def transform_scores(scores: NDArray[Any], transform: str) -> NDArray[Any]:
    """Return transformed scores [samples, classes], float64.

    NONE: unchanged. LOGISTIC: 1 / (1 + exp(-score)). SOFTMAX: per row. SOFTMAX_ZERO: the same, but scores of 0 stay 0
    and do not count in the sum. PROBIT: the normal quantile.
    """
    if transform == "NONE":
        return scores
    if transform == "LOGISTIC":
        return np.asarray(1 / (1 + np.exp(-scores)))
    if transform in {"SOFTMAX", "SOFTMAX_ZERO"}:
        return _softmax(scores, None if transform == "SOFTMAX" else scores != 0)
    if transform == "PROBIT":
        return np.asarray(sqrt(2) * erf_inv(2 * scores - 1))
    raise InputError(
        f"expected post_transform NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT, found {transform!r:.40}"
    )


#: Minimum distance of pair probabilities from 0 and 1, tolerance of the iteration, and minimum of its step limit.
_MIN_PROBABILITY: Final = 1e-7
_CONVERGENCE: Final = 0.005
_STEPS: Final = 100


def _features(name: str, inputs: NDArray[Any]) -> NDArray[Any]:
    features = features_of(name, inputs)
    if not features.shape[1]:
        raise InputError(f"{name}: expected at least one feature")
    return features


def _numbers(values: Sequence[float] | None) -> NDArray[np.float64]:
    return np.asarray([] if values is None else values, np.float32).astype(np.float64)


def _similarities(
    features: NDArray[Any], vectors: NDArray[Any], kind: str, parameters: Sequence[float] | None
) -> NDArray[Any]:
    """Return kernel function values [samples, vectors].

    parameters: gamma, coef0 and degree.
    """
    gamma, constant, degree = (*_numbers(parameters), 0.0, 0.0, 0.0)[:3]
    memory.check_budget((len(features), 2 * len(vectors)), np.dtype(np.float64))
    products = multiply_matrices(features, vectors.T)
    if kind == "LINEAR":
        return products
    if kind == "POLY":
        return np.asarray((gamma * products + constant) ** degree)
    if kind == "SIGMOID":
        return np.asarray(np.tanh(gamma * products + constant))
    if kind != "RBF":
        raise InputError(f"expected kernel_type LINEAR, POLY, RBF or SIGMOID, found {kind!r:.40}")
    squares = (features * features).sum(axis=1)[:, None] + (vectors * vectors).sum(axis=1) - 2 * products
    return np.asarray(np.exp(-gamma * np.maximum(squares, 0.0)))


def _table(name: str, values: Sequence[float] | None, rows: int, columns: int) -> NDArray[Any]:
    numbers = _numbers(values)
    if numbers.size != rows * columns:
        raise InputError(f"{name}: expected {rows} x {columns} numbers, found {numbers.size}")
    return numbers.reshape(rows, columns)


def svm_regressor(
    inputs: NDArray[Any],
    *,
    coefficients: Sequence[float] | None = None,
    kernel_params: Sequence[float] | None = None,
    kernel_type: str = "LINEAR",
    vectors: int = 0,
    one_class: bool = False,
    post_transform: str = "NONE",
    rho: Sequence[float] | None = None,
    support_vectors: Sequence[float] | None = None,
) -> NDArray[np.float32]:
    """Return the SVM regression of each sample, float32 [samples, 1].

    It is the weighted sum of kernel values plus rho. Without vectors the coefficients apply to the features. one_class:
    1 where the result is above 0, else -1.
    """
    name = "svm_regressor"
    features = _features(name, inputs)
    rho_array = _numbers(rho)
    if rho_array.size != 1 or vectors < 0:
        raise InputError(f"{name}: expected one rho, and n_supports of at least 0")
    if vectors:
        table = _table(name, support_vectors, vectors, features.shape[1])
        kernel_values = _similarities(features, table, kernel_type, kernel_params)
        weights = _table(name, coefficients, vectors, 1)
    else:
        kernel_values, weights = features, _table(name, coefficients, features.shape[1], 1)
    results = multiply_matrices(kernel_values, weights) + rho_array
    if one_class:
        return np.where(results.astype(np.float32) > 0, 1, -1).astype(np.float32)
    return transform_scores(results, post_transform).astype(np.float32)


def svm_classifier(
    inputs: NDArray[Any],
    *,
    coefficients: Sequence[float] | None = None,
    kernel_params: Sequence[float] | None = None,
    kernel_type: str = "LINEAR",
    integer_labels: Sequence[int] | None = None,
    text_labels: Sequence[str] | None = None,
    post_transform: str = "NONE",
    prob_a: Sequence[float] | None = None,
    prob_b: Sequence[float] | None = None,
    rho: Sequence[float] | None = None,
    support_vectors: Sequence[float] | None = None,
    vectors_per_class: Sequence[int] | None = None,
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return the label and float32 scores of each sample.

    With vectors, pairs of classes vote, and scores are those of all pairs, for two classes minus the score and the
    score; with prob_a and prob_b they are class probabilities. Without vectors, each class has coefficients of the
    features, and the highest score wins.
    """
    name = "svm_classifier"
    labels, features = labels_of(name, integer_labels, text_labels), _features(name, inputs)
    counts = list(vectors_per_class or ())
    classes = len(labels)
    if classes < 2 or min(counts, default=0) < 0:
        raise InputError(f"{name}: expected at least two classes, and vectors_per_class of at least 0")
    if not sum(counts):
        rho_array = _numbers(rho)
        if rho_array.size != 1:
            raise InputError(f"{name}: expected one rho, found {rho_array.size}")
        table = _table(name, coefficients, classes, features.shape[1])
        scores = (multiply_matrices(features, table.T) + rho_array).astype(np.float32)
        places = place_of_largest(scores)
        return labels_at(labels, places), transform_scores(scores.astype(np.float64), post_transform).astype(np.float32)
    if len(counts) != classes:
        raise InputError(f"{name}: expected support vectors of {classes} classes, found {len(counts)}")
    vectors = _table(name, support_vectors, sum(counts), features.shape[1])
    kernel = _similarities(features, vectors, kernel_type, kernel_params)
    scores, votes = _score_pairs(kernel, counts, _table(name, coefficients, classes - 1, sum(counts)), _numbers(rho))
    if prob_a is not None or prob_b is not None:
        scores = _probabilities(scores, classes, _numbers(prob_a), _numbers(prob_b))
    elif classes == 2:
        scores = np.concatenate([-scores, scores], axis=1)
    return labels_at(labels, np.argmax(votes, axis=1)), transform_scores(scores, post_transform).astype(np.float32)


def _pairs(classes: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(classes) for j in range(i + 1, classes)]


def _score_pairs(
    kernel_values: NDArray[Any], counts: Sequence[int], coefficients: NDArray[Any], rho: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the score of each class pair, and the votes per class.

    Shapes: [samples, pairs] and [samples, classes].
    """
    classes = len(counts)
    pairs = _pairs(classes)
    if rho.size != len(pairs):
        raise InputError(f"svm_classifier: expected {len(pairs)} values of rho, found {rho.size}")
    ends = np.cumsum([0, *counts])
    scores = memory.empty((len(kernel_values), len(pairs)), np.dtype(np.float64))
    votes = np.zeros((len(kernel_values), classes), np.int64)
    for place, (i, j) in memory.within_time_limit(enumerate(pairs)):
        class_range, other = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        scores[:, place] = (
            kernel_values[:, class_range] @ coefficients[j - 1, class_range]
            + kernel_values[:, other] @ coefficients[i, other]
            + rho[place]
        )
        first = scores[:, place] > 0
        votes[:, i] += first
        votes[:, j] += ~first
    return scores, votes


def _probabilities(scores: NDArray[Any], classes: int, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return class probabilities coupled from pairs, as in libsvm.

    All samples are computed at once.
    """
    pairs = _pairs(classes)
    if a.size != len(pairs) or b.size != len(pairs):
        raise InputError(f"svm_classifier: expected {len(pairs)} values of prob_a and of prob_b")
    of_pairs = np.clip(1 - 1 / (1 + np.exp(-(scores * a + b))), _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)
    memory.check_budget((len(scores), 3 * classes, classes), np.dtype(np.float64))
    table = np.zeros((len(scores), classes, classes))
    for place, (i, j) in enumerate(pairs):
        table[:, i, j], table[:, j, i] = of_pairs[:, place], 1 - of_pairs[:, place]
    matrix = -np.transpose(table, (0, 2, 1)) * table
    class_numbers = np.arange(classes)
    matrix[:, class_numbers, class_numbers] = (table * table).sum(axis=1)
    return _couple_probabilities(matrix)


def _couple_probabilities(matrix: NDArray[Any]) -> NDArray[Any]:
    """Return the p of sum 1 that minimizes p Q p, for each matrix Q.

    Q: [classes, classes]. Tolerances are libsvm's.
    """
    classes = matrix.shape[1]
    array = np.full(matrix.shape[:2], 1 / classes)
    waiting = np.arange(len(matrix))
    for _ in memory.within_time_limit(range(max(_STEPS, classes))):
        q, p = matrix[waiting], array[waiting]
        products = np.einsum("nij,nj->ni", q, p)
        total_probability = (p * products).sum(axis=1)
        left = ~(np.abs(products - total_probability[:, None]).max(axis=1, initial=0.0) < _CONVERGENCE / classes)
        waiting, q, p, products, total_probability = (
            waiting[left],
            q[left],
            p[left],
            products[left],
            total_probability[left],
        )
        if not len(waiting):
            break
        for t in range(classes):
            step = (total_probability - products[:, t]) / q[:, t, t]
            total_probability = (total_probability + step * (step * q[:, t, t] + 2 * products[:, t])) / (1 + step) ** 2
            products = (products + step[:, None] * q[:, t]) / (1 + step)[:, None]
            p[:, t] += step
            p /= (1 + step)[:, None]
        array[waiting] = p
    return array
