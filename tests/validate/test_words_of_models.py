"""String attributes with a closed list reject other words; ranks of ai.onnx.ml."""

from __future__ import annotations

import copy

import pytest

import specgate
from specgate.spec.lint import levels_of_example
from specgate.spec.tables import dialect

#: Free strings: names, patterns, places, labels, values.
FREE = {
    "ai.onnx.ml.CategoryMapper": {"cats_strings", "default_string"},
    "ai.onnx.ml.DictVectorizer": {"string_vocabulary"},
    "ai.onnx.ml.LabelEncoder": {
        "classes_strings", "default_string", "keys_strings", "values_strings",
    },
    "ai.onnx.ml.LinearClassifier": {"classlabels_strings"},
    "ai.onnx.ml.OneHotEncoder": {"cats_strings"},
    "ai.onnx.ml.SVMClassifier": {"classlabels_strings"},
    "ai.onnx.ml.TreeEnsembleClassifier": {"classlabels_strings"},
    "ai.onnx.ml.ZipMap": {"classlabels_strings"},
    "ai.onnx.preview.training.Gradient": {"xs", "y", "zs"},
    "Constant": {"value_string", "value_strings"},
    "Einsum": {"equation"},
    "RegexFullMatch": {"pattern"},
    "StringNormalizer": {"locale", "stopwords"},
    "StringSplit": {"delimiter"},
    "TfIdfVectorizer": {"pool_strings"},
}  # fmt: skip
TABLES = dialect("onnx")
STRINGS = [
    (name, info.name)
    for name in TABLES.operators
    for info in TABLES.operator(name).attributes
    if any(form.type in {"string", "string[]"} for form in info.forms or (info,))
]


def test_every_free_attribute_exists():
    assert {(name, field) for name, fields in FREE.items() for field in fields} <= set(STRINGS)


@pytest.mark.parametrize(("name", "field"), [pair for pair in STRINGS if pair[1] not in FREE.get(pair[0], ())])
def test_unknown_words_are_rejected_at_every_level(name, field):
    spec = TABLES.operator(name)
    for level in [row for row in spec.rows if spec.field_at(field, row) is not None]:
        info = spec.field_at(field, level)
        if info is None or info.type not in {"string", "string[]"}:
            continue
        closed = info.words is not None or _cell_values(spec, field, level)
        rules = [form.require.text for form in spec.rule_forms if spec.dialect.holds(level, form.since, form.until)]
        assert closed or any(f"{field} in (" in text or f" in {field})" in text for text in rules), (name, field, level)


def _cell_values(spec, field, level):
    cell = spec.resolve(level, "documented").cells.get(field)
    return cell is not None and cell.values is not None


CASES = [
    ("TreeEnsembleClassifier", "post_transform", "softmax"),
    ("TreeEnsembleClassifier", "nodes_modes", ["branch_leq", "LEAF", "LEAF"]),
    ("TreeEnsembleRegressor", "aggregate_function", "MEAN"),
    ("TreeEnsembleRegressor", "post_transform", "Probit"),
    ("LinearClassifier", "post_transform", "SIGMOID"),
    ("LinearRegressor", "post_transform", ""),
    ("SVMClassifier", "kernel_type", "rbf"),
    ("SVMRegressor", "kernel_type", "TANH"),
    ("SVMRegressor", "post_transform", "none"),
    ("Normalizer", "norm", "L3"),
]


def example_of(name):
    return copy.deepcopy(TABLES.operator(f"ai.onnx.ml.{name}").table.examples["basic"]["descriptor"])


@pytest.mark.parametrize(("name", "field", "word"), CASES)
def test_words_of_machine_learning(name, field, word):
    node = {**example_of(name), "opset": 3}
    assert specgate.check(node, target="onnx:17").accepted
    node["attributes"][field] = word
    (finding,) = specgate.check(node, target="onnx:17").findings
    assert finding.id.startswith(f"onnx/ai.onnx.ml.{name}/")
    assert field in finding.message


@pytest.mark.parametrize(
    ("name", "ranks"),
    [("TreeEnsembleClassifier", {2}), ("TreeEnsembleRegressor", {2}), ("LinearClassifier", {1, 2}),
     ("LinearRegressor", {1, 2}), ("SVMClassifier", {1, 2}), ("SVMRegressor", {1, 2}), ("Normalizer", {1, 2}),
     ("ZipMap", {1, 2}), ("FeatureVectorizer", {1, 2})],
)  # fmt: skip
def test_ranks_of_machine_learning(name, ranks):
    node = {**example_of(name), "opset": 3, "outputs": []}
    accepted = set()
    for rank in range(4):
        for tensor in node["inputs"]:
            tensor["shape"] = [2] * rank
        verdict = specgate.check(node, target="onnx:17")
        if verdict.accepted is not False:
            accepted.add(rank)
        else:
            assert {f.id for f in verdict.findings} == {f"onnx/ai.onnx.ml.{name}/data-rank"}
    assert accepted == ranks


def test_directions_of_the_first_gru():
    spec = TABLES.operator("GRU")
    example = spec.table.examples["example-own-forward"]
    assert {"1", "2"} <= set(levels_of_example(spec, example))
    for word, accepted in (("forward", True), ("foward", True), ("reverse", True), ("Forward", False), ("both", False)):
        node = copy.deepcopy(example["descriptor"])
        node["attributes"]["direction"] = word
        assert specgate.check(node, target="onnx:1").accepted is accepted, word
