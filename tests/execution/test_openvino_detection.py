"""NonMaxSuppression by its table: omitted tensors, and versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.conform import values
from specgate.descriptors.read import read_dict
from specgate.execution.engine import execute_at
from specgate.spec.tables import dialect

BOXES = np.array([[[0, 0, 2, 2], [0, 0, 2, 1]]], np.float16)
SCORES = np.array([[[1, 0.5]]], np.float16)
ARRAYS: dict[str, Any] = {"boxes": BOXES, "scores": SCORES, "max_output_boxes_per_class": np.array(2)}
THRESHOLDS = {"iou_threshold": np.array(0.5, np.float32), "score_threshold": np.array(0.5, np.float32)}


def layer(version: str, *types: str, outputs: Any = ()) -> Any:
    shapes = [[1, 2, 4], [1, 1, 2], [], [], []]
    inputs = [{"element_type": kind, "shape": shape} for kind, shape in zip(types, shapes, strict=False)]
    document = {"type": "NonMaxSuppression", "version": version, "inputs": inputs, "outputs": list(outputs), "data": {}}
    return read_dict(document, "openvino")


@pytest.mark.parametrize(("stated", "expected"), [([], np.float16), ([None, "f32"], np.float32)])
def test_scores_without_thresholds_have_the_declared_type(stated, expected):
    outputs = [kind and {"element_type": kind, "shape": None} for kind in stated]
    result = execute_at(layer("opset5", "f16", "f16", "i64", outputs=outputs), ARRAYS, "opset16")
    assert result["selected_scores"].dtype == expected


def test_scores_have_the_type_of_the_thresholds():
    outputs = execute_at(layer("opset9", "f16", "f16", "i64", "f32", "f32"), {**ARRAYS, **THRESHOLDS}, "opset16")
    assert outputs["selected_scores"].tolist() == [[0, 0, 1], [0, 0, 0.5]]
    assert outputs["selected_scores"].dtype == np.float32


@pytest.mark.parametrize("version", ["opset1", "opset3", "opset4"])
def test_early_versions_pad_rows_with_minus_one(version):
    node = layer(version, "f16", "f16", "i64", "f32", "f32")
    result = execute_at(node, {**ARRAYS, **THRESHOLDS, "score_threshold": np.array(0.75, np.float32)}, version)
    assert {name: array.tolist() for name, array in result.items()} == {"selected_indices": [[0, 0, 0], [-1, -1, -1]]}


def evaluate(scores: np.ndarray[Any, Any], version: str = "opset9") -> tuple[str, str]:
    node = layer(version, "f16", "f16", "i64", "f32", "f32")
    arrays = {**ARRAYS, **THRESHOLDS, "scores": scores}
    ours = execute_at(node, arrays, "opset16")
    theirs = {name: array[:1] for name, array in ours.items()}
    spec = dialect("openvino").operator("NonMaxSuppression")
    kind, what, _ = values._classify_difference(spec, "opset16", "cpu", node, arrays, ours, theirs)
    return kind, what


def test_score_tie_difference_of_a_build_is_recorded():
    kind, what = evaluate(SCORES)
    assert kind == "recorded"
    assert "equal to score_threshold" in what


def test_recorded_differences_depend_on_the_layer_version():
    scores = np.array([[[1, 0.75]]], np.float16)
    assert evaluate(scores, "opset4")[0] == "recorded"
