"""Values of ai.onnx.ml and text operators against ONNX Runtime, on random nodes."""

from __future__ import annotations

import importlib.util
from random import Random
from typing import Any

import numpy as np
import pytest

from specgate.dialects.onnx.run.model import run_model

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxruntime")),
        reason="onnx or onnxruntime is not installed: pip install 'specgate-ml[oracles]'",
    ),
]

TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ")


def run_both(tmp_path, operator, arrays, outputs, version=3, domain="ai.onnx.ml", kinds=None, **attributes) -> Any:
    """Return the outputs of a one-node model: ours, and ONNX Runtime's."""
    import onnx
    import onnxruntime
    from onnx import helper

    def info(name, array):
        if not isinstance(array, np.ndarray):
            return helper.make_value_info(name, kinds[name])
        kind = 8 if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(name, kind, list(array.shape))

    names = [f"o{i}" for i in range(outputs)]
    node = helper.make_node(operator, list(arrays), names, domain=domain, **attributes)
    ends = [onnx.ValueInfoProto(name=name) for name in names]
    graph = helper.make_graph([node], "g", [info(*pair) for pair in arrays.items()], ends)
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", version)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=9)
    path = str(tmp_path / "model.onnx")
    onnx.save(model, path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    ours = run_model(path, arrays)
    return [ours[name] for name in names], session.run(names, arrays)


def require_equal(answers, tolerance=2e-5):
    result, expected = answers
    for mine, theirs in zip(result, expected, strict=True):
        assert mine.shape == theirs.shape
        assert mine.dtype == theirs.dtype
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)
        else:
            assert mine.tolist() == theirs.tolist()


def forest(random, targets, votes, modes=MODES, trees=3, depth=4):
    """Return attribute lists of random trees.

    Every leaf votes for all of `targets` if votes is None.
    """
    nodes: dict[str, list[Any]] = {
        name: [] for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    }
    items_by_name: dict[str, list[Any]] = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(trees):
        count = [0]

        def grow(left, tree=tree, count=count):
            place, name = len(nodes["treeids"]), count[0]
            count[0] += 1
            leaf = not left or random.random() < 0.2
            row = (
                tree,
                name,
                random.randrange(3),
                "LEAF" if leaf else random.choice(modes),
                random.randint(-2, 2),
                0,
                0,
            )
            for part, value in zip(nodes, row, strict=True):
                nodes[part].append(float(value) if part == "values" else value)
            if not leaf:
                nodes["truenodeids"][place], nodes["falsenodeids"][place] = grow(left - 1), grow(left - 1)
            for target in (targets if votes is None else [random.choice(targets)]) if leaf else ():
                for part, value in zip(items_by_name, (tree, name, target, round(random.gauss(), 3)), strict=True):
                    items_by_name[part].append(value)
            return name

        grow(depth)
    return {f"nodes_{name}": values for name, values in nodes.items()}, items_by_name


def samples(random, kind=np.float32, missing=False):
    x = np.array([[random.randint(-3, 3) for _ in range(3)] for _ in range(8)]).astype(kind)
    if missing:
        x[::3, 1] = np.nan
    return x


@pytest.mark.parametrize("seed", range(12))
def test_tree_classifiers(tmp_path, seed):
    random = Random(seed)
    classes = 2 if seed % 3 == 0 else random.randint(3, 5)
    nodes, votes = forest(random, [0] if classes == 2 else list(range(classes)), None if seed % 2 else 1)
    chosen = {f"class_{name}": values for name, values in votes.items()}
    transform = random.choice(TRANSFORMS)
    labels = {"classlabels_strings": [f"c{i}" for i in range(classes)]}
    x = samples(random, missing=seed % 4 == 1)
    require_equal(
        run_both(tmp_path, "TreeEnsembleClassifier", {"x": x}, 2, post_transform=transform, **labels, **nodes, **chosen)
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_tree_regressors(tmp_path, seed, aggregate):
    random = Random(seed)
    targets = random.randint(2, 3)
    nodes, votes = forest(random, list(range(targets)), None)
    chosen = {f"target_{name}": values for name, values in votes.items()}
    more = {"base_values": [0.5, -1.0, 2.0][:targets]} if seed % 2 else {}
    x = samples(random, np.float64 if seed % 3 == 0 else np.float32)
    arguments = {"n_targets": targets, "aggregate_function": aggregate, "post_transform": random.choice(TRANSFORMS)}
    require_equal(run_both(tmp_path, "TreeEnsembleRegressor", {"x": x}, 1, **arguments, **more, **nodes, **chosen))


@pytest.mark.slow
def test_trees_with_lists_skipped_by_the_structural_reader(tmp_path):
    random = Random(0)
    nodes, votes = forest(random, [0, 1], None, trees=700, depth=8)
    assert len(nodes["nodes_modes"]) > 2**16
    chosen = {f"target_{name}": values for name, values in votes.items()}
    x = samples(random)
    require_equal(
        run_both(tmp_path, "TreeEnsembleRegressor", {"x": x}, 1, n_targets=2, **nodes, **chosen), tolerance=1e-3
    )


@pytest.mark.parametrize("seed", range(12))
def test_support_vectors(tmp_path, seed):
    random = Random(seed)
    classes, kernel = random.randint(2, 4), random.choice(["LINEAR", "POLY", "RBF", "SIGMOID"])
    counts = [random.randint(1, 3) for _ in range(classes)]
    pairs = classes * (classes - 1) // 2

    def some(count):
        return [random.gauss() for _ in range(count)]

    attributes: dict[str, Any] = {
        "coefficients": some((classes - 1) * sum(counts)), "support_vectors": some(3 * sum(counts)),
        "vectors_per_class": counts, "rho": some(pairs), "kernel_type": kernel, "kernel_params": [0.3, 0.2, 2.0],
        "classlabels_ints": [10 * i for i in range(classes)], "post_transform": random.choice(TRANSFORMS[:2]),
    }  # fmt: skip
    if seed % 2:
        attributes |= {"prob_a": some(pairs), "prob_b": some(pairs)}
    require_equal(run_both(tmp_path, "SVMClassifier", {"x": samples(random)}, 2, **attributes), tolerance=1e-4)


def test_maps(tmp_path):
    from onnx import TensorProto, helper

    kinds = {"x": helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, None))}
    entries = {"x": {3: 1.5, 1: -2.75}}
    for to in ("TO_FLOAT", "TO_INT64", "TO_STRING"):
        require_equal(run_both(tmp_path, "CastMap", entries, 1, kinds=kinds, cast_to=to))
        require_equal(run_both(tmp_path, "CastMap", entries, 1, kinds=kinds, cast_to=to, map_form="SPARSE", max_map=5))
    require_equal(run_both(tmp_path, "DictVectorizer", entries, 1, kinds=kinds, int64_vocabulary=[1, 2, 3]))
    result, expected = run_both(
        tmp_path, "ZipMap", {"x": np.eye(2, dtype=np.float32)}, 1, classlabels_strings=["a", "b"]
    )
    assert result == expected == [[{"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0}]]


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("skips", [0, 2])
def test_n_grams(tmp_path, mode, skips):
    random = Random(skips)
    x = np.array([[random.randint(0, 3) for _ in range(9)] for _ in range(4)])
    attributes = {
        "max_gram_length": 3, "min_gram_length": 1, "max_skip_count": skips, "ngram_counts": [0, 2, 6],
        "ngram_indexes": [4, 0, 1, 3, 2], "pool_int64s": [1, 2, 1, 1, 2, 3, 1, 2, 1], "weights": [1.0, 2.0, 0.5, 3.0, 4.0],
    }  # fmt: skip
    require_equal(run_both(tmp_path, "TfIdfVectorizer", {"x": x}, 1, domain="", mode=mode, **attributes))


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    ["a|ab", "a.b", "^a$", r"(?i)k", r"\pL+", r"\w+", r"\Qa.b\E", "[[:alpha:]]+", "x*?", r"(a|b)*\b", "(?m)^a$", "[^a-c]{2,}", r"\x{e9}"],
)  # fmt: skip
def test_patterns(tmp_path, pattern):
    x = np.array(["", "a", "ab", "a\nb", "axb", "a\n", "K", "\u212a", "\u00e9", "a.b", "xx", "zz!"], object)
    require_equal(run_both(tmp_path, "RegexFullMatch", {"x": x}, 1, domain="", pattern=pattern))
