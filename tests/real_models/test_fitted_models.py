"""Fitted models of scikit-learn, LightGBM and XGBoost equal ONNX Runtime's results."""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import specgate
from specgate.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_NEEDED = ("sklearn", "skl2onnx", "lightgbm", "xgboost", "onnxmltools", "onnxruntime")
for _name in _NEEDED:
    pytest.importorskip(
        _name,
        reason="FITTED MODELS ARE NOT EXECUTED: pip install scikit-learn skl2onnx lightgbm xgboost onnxmltools onnxruntime",
    )

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

ROWS = 16
#: Class in scikit-learn, arguments, and target: 3 or 2 classes, numbers, or nothing.
FITTED: dict[str, tuple[str, dict[str, Any], str]] = {
    "logistic": ("linear_model.LogisticRegression", {}, "three"),
    "logistic-of-two": ("linear_model.LogisticRegression", {}, "two"),
    "ridge": ("linear_model.Ridge", {}, "numbers"),
    "descent": ("linear_model.SGDClassifier", {"random_state": 0}, "three"),
    "forest": ("ensemble.RandomForestClassifier", {"n_estimators": 8, "random_state": 0}, "three"),
    "forest-of-numbers": ("ensemble.RandomForestRegressor", {"n_estimators": 8, "random_state": 0}, "numbers"),
    "boosted": ("ensemble.GradientBoostingClassifier", {"n_estimators": 8, "random_state": 0}, "three"),
    "boosted-numbers": ("ensemble.GradientBoostingRegressor", {"n_estimators": 8, "random_state": 0}, "numbers"),
    "adaptive": ("ensemble.AdaBoostClassifier", {"n_estimators": 5, "random_state": 0}, "two"),
    "bagged": ("ensemble.BaggingClassifier", {"n_estimators": 4, "random_state": 0}, "three"),
    "isolated": ("ensemble.IsolationForest", {"n_estimators": 8, "random_state": 0}, ""),
    "vectors": ("svm.SVC", {"probability": True, "random_state": 0}, "three"),
    "linear-vectors": ("svm.SVC", {"kernel": "linear"}, "three"),
    "polynomial-vectors": ("svm.NuSVC", {"kernel": "poly", "nu": 0.2}, "two"),
    "vectors-of-numbers": ("svm.SVR", {}, "numbers"),
    "one-class": ("svm.OneClassSVM", {}, ""),
    "tree": ("tree.DecisionTreeClassifier", {"random_state": 0}, "three"),
    "neighbours": ("neighbors.KNeighborsClassifier", {"n_neighbors": 3}, "three"),
    "neighbours-of-numbers": ("neighbors.KNeighborsRegressor", {"n_neighbors": 3}, "numbers"),
    "naive": ("naive_bayes.GaussianNB", {}, "three"),
    "naive-bits": ("naive_bayes.BernoulliNB", {}, "three"),
    "network": (
        "neural_network.MLPClassifier",
        {"hidden_layer_sizes": (8,), "max_iter": 50, "random_state": 0},
        "three",
    ),
    "means": ("cluster.KMeans", {"n_clusters": 3, "n_init": 1, "random_state": 0}, ""),
    "components": ("decomposition.PCA", {"n_components": 3}, ""),
    "scaled": ("preprocessing.StandardScaler", {}, ""),
    "norms": ("preprocessing.Normalizer", {}, ""),
    "binary": ("preprocessing.Binarizer", {}, ""),
    "polynomial": ("preprocessing.PolynomialFeatures", {"degree": 2}, ""),
    "bins": ("preprocessing.KBinsDiscretizer", {"n_bins": 3, "encode": "onehot-dense"}, ""),
    "power": ("preprocessing.PowerTransformer", {}, ""),
    "processes": ("gaussian_process.GaussianProcessRegressor", {}, "numbers"),
}
BOOSTED: dict[str, tuple[str, str, str]] = {
    "lightgbm": ("lightgbm", "LGBMClassifier", "three"),
    "lightgbm-numbers": ("lightgbm", "LGBMRegressor", "numbers"),
    "xgboost": ("xgboost", "XGBClassifier", "three"),
    "xgboost-of-two": ("xgboost", "XGBClassifier", "two"),
    "xgboost-numbers": ("xgboost", "XGBRegressor", "numbers"),
}


def data(kind: str) -> tuple[Any, ...]:
    datasets = importlib.import_module("sklearn.datasets")
    if kind == "numbers":
        features, expected = datasets.make_regression(60, 6, random_state=0)
    else:
        features, expected = datasets.make_classification(60, 6, n_informative=4, n_classes=3, random_state=0)
    expected = expected > 0 if kind == "two" else expected
    expected = expected if kind == "numbers" else expected.astype(np.int64)
    return (features.astype(np.float32), expected) if kind else (features.astype(np.float32),)


def boost(name: str) -> tuple[Any, Any]:
    types = importlib.import_module("onnxmltools.convert.common.data_types")
    package, kind, fitted_to = BOOSTED[name]
    items = data(fitted_to)
    onnx_model = getattr(importlib.import_module(package), kind)(n_estimators=5).fit(*items)
    convert = getattr(importlib.import_module("onnxmltools"), f"convert_{package}")
    return convert(onnx_model, initial_types=[("X", types.FloatTensorType([None, 6]))], target_opset=15), items[0]


def fit(name: str) -> tuple[Any, Any]:
    convert = importlib.import_module("skl2onnx").to_onnx
    path, arguments, fitted_to = FITTED[name]
    module, _, kind = path.rpartition(".")
    items = data(fitted_to)
    onnx_model = getattr(importlib.import_module(f"sklearn.{module}"), kind)(**arguments).fit(*items)
    return convert(onnx_model, items[0][:1], target_opset={"": 18, "ai.onnx.ml": 3}), items[0]


def both(model: Any, rows: Any, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return specgate's and ONNX Runtime's outputs of a one-input model."""
    import onnxruntime

    path.write_bytes(model.SerializeToString())
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    entries = {session.get_inputs()[0].name: rows}
    names = [output.name for output in session.get_outputs()]
    return specgate.execute(path, entries), dict(zip(names, session.run(names, entries), strict=True))


def assert_same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, list):  # a map per row: classes and their probabilities
        assert [list(row) for row in ours] == [list(row) for row in theirs]
        ours, theirs = (np.array([[float(x) for x in row.values()] for row in rows]) for rows in (ours, theirs))
    if theirs.dtype.kind == "f":
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
    else:
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("name", [*FITTED, *BOOSTED])
def test_a_fitted_model_agrees_with_the_runtime(name, tmp_path):
    with warnings.catch_warnings(action="ignore"):
        model, features = boost(name) if name in BOOSTED else fit(name)
    rows = features[: 1 if name == "lightgbm" else ROWS]
    ours, theirs = both(model, rows, tmp_path / "model.onnx")
    assert set(ours) == set(theirs)
    for output, expected in theirs.items():
        assert_same(ours[output], expected)


def test_a_model_declared_for_a_single_label_rejects_two_rows(tmp_path):
    """LightGBM's converter states one label as output; ONNX Runtime warns about others."""
    with warnings.catch_warnings(action="ignore"):
        model, features = boost("lightgbm")
    with pytest.raises(InputError, match=r"has the shape \[2\], but \[1\] is declared"):
        both(model, features[:2], tmp_path / "model.onnx")
