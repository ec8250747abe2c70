"""`lint --fix` moves attributes to inputs and back without changing results.

The models are onnx's backend cases, as an earlier opset writes them, and with a wrong opset import. By default three
per operator; ``HYPOTHESIS_PROFILE=nightly`` tries all.
"""

from __future__ import annotations

import os
import warnings
from functools import cache

import numpy as np
import pytest

import specgate
from specgate.cli import main
from specgate.spec.tables import dialect
from tests.linting.models import BOOL, FLOAT, INT64, graph, helper, info, model, onnx

ALL = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
#: Operators without a backend case of such a use.
WITHOUT_CASES = {"Upsample"}
MOVED = sorted(name for name in dialect("onnx").tables.operators if dialect("onnx").operator(name).became)


@cache
def backend_cases():
    result: dict[str, list] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numpy, to the package's own cases
        from onnx.backend.test.case.node import collect_testcases

        for case in collect_testcases(None):
            if case.model is not None and len(case.model.graph.node) == 1:
                result.setdefault(case.model.graph.node[0].op_type, []).append(case)
    return result


def rewrite(case, spec):
    """Return the case's node, its arrays by name, and the levels around the change."""
    node = onnx.NodeProto.FromString(case.model.graph.node[0].SerializeToString())
    arrays = dict(zip([item.name for item in case.model.graph.input], case.data_sets[0][0], strict=True))
    newest = str(case.model.opset_import[0].version)
    until = {spec.fields[old].until for old in spec.became}
    assert len(until) == 1
    (after,) = until
    order = spec.dialect.levels
    before = order[order.index(after) - 1]
    restored = {new: old for old, new in spec.became.items()}
    names, moved = list(node.input), 0
    del node.input[:]
    for info_, name in zip(spec.layout(newest).inputs, names, strict=False):
        if info_.name not in restored and spec.field_at(info_.name, before) is None:
            return None  # an input without an attribute, such as steps
        if info_.name not in restored:
            node.input.append(name)
        elif name:
            contents, field = arrays.pop(name), spec.field_at(restored[info_.name], before)
            if (
                not contents.size
                or not np.issubdtype(contents.dtype, np.number)
                or (field.type == "float" and contents.dtype != np.float32)
            ):
                return None
            value = contents.reshape(-1).tolist()
            node.attribute.append(helper.make_attribute(field.vendor_name, value if "[]" in field.type else value[0]))
            moved += 1
    for attribute in list(node.attribute):
        if spec.layout(before).attributes[attribute.name].name not in spec.fields_at(before):
            node.attribute.remove(attribute)
    return (node, arrays, before, after) if moved else None


def save_model(path, node, case, arrays, opset, initializers=()):
    body = helper.make_graph(
        [node],
        "g",
        [item for item in case.model.graph.input if item.name in arrays],
        case.model.graph.output,
        list(initializers),
    )
    new_model = helper.make_model(body, opset_imports=[helper.make_opsetid("", int(opset))], ir_version=8)
    path.write_bytes(new_model.SerializeToString())
    return str(path)


def runtime(path, arrays):
    """Return ONNX Runtime's outputs, None without it or without a kernel."""
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, arrays)
    except Exception:  # its errors have no common class
        return None


def same(item, other):
    assert len(item) == len(other)
    for left, right in zip(item, other, strict=True):
        assert np.asarray(left).dtype == np.asarray(right).dtype
        np.testing.assert_array_equal(left, right)


def lint(path, *options):
    return main(["lint", path, "--target", "onnx:28", *options])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MOVED if name not in WITHOUT_CASES])
def test_attributes_become_inputs_without_changing_results(name, tmp_path, record_property):
    spec, count, ran = dialect("onnx").operator(name), 0, 0
    for case in backend_cases().get(name, []):
        value = rewrite(case, spec)
        if value is None or (count >= 3 and not ALL):
            continue
        node, arrays, before, after = value
        old = save_model(tmp_path / "old.onnx", node, case, arrays, before)
        if any(result.severity == "error" for result in specgate.lint(old, [f"onnx:{before}"]).findings):
            continue  # types that the earlier version does not have
        path = save_model(tmp_path / "new.onnx", node, case, arrays, after)
        (result,) = [f for f in specgate.lint(path, [f"onnx:{after}"]).findings if f.severity == "error"]
        assert result.fixable
        assert "leave" not in (result.fix or "")
        lint(path, "--fix")
        onnx.checker.check_model(path, full_check=True)
        assert not any(f.severity == "error" for f in specgate.lint(path, [f"onnx:{after}"]).findings)
        expected = specgate.execute(old, arrays)
        same(specgate.execute(path, arrays).values(), expected.values())
        theirs, ours = runtime(old, arrays), runtime(path, arrays)
        assert theirs is None or ours is not None
        for item, other, ideal in zip(ours or (), theirs or (), expected.values(), strict=False):
            if np.array_equal(other, ideal):  # otherwise it computes something else at the earlier level
                same([item], [other])
                ran += 1
        count += 1
    record_property("cases", count)
    record_property("cases run by ONNX Runtime", ran)
    assert count


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MOVED if name not in {*WITHOUT_CASES, "DFT"}])
def test_inputs_become_attributes_without_changing_results(name, tmp_path):
    spec, count = dialect("onnx").operator(name), 0
    for case in backend_cases().get(name, []):
        value = rewrite(case, spec)
        if value is None or (count >= 2 and not ALL):
            continue
        node, arrays, before, _ = value
        old = save_model(tmp_path / "old.onnx", node, case, arrays, before)
        if any(result.severity == "error" for result in specgate.lint(old, [f"onnx:{before}"]).findings):
            continue
        inputs = onnx.NodeProto.FromString(case.model.graph.node[0].SerializeToString())
        for attribute in list(inputs.attribute):
            if attribute.name not in [item.name for item in node.attribute]:
                inputs.attribute.remove(attribute)
        moved = [item for item in inputs.input if item and item not in node.input]
        values = dict(zip([item.name for item in case.model.graph.input], case.data_sets[0][0], strict=True))
        constants = [onnx.numpy_helper.from_array(values[item], item) for item in moved]
        path = save_model(tmp_path / "new.onnx", inputs, case, arrays, before, constants)
        (result,) = [f for f in specgate.lint(path, [f"onnx:{before}"]).findings if f.severity == "error"]
        assert result.fixable, result
        lint(path, "--fix")
        onnx.checker.check_model(path, full_check=True)
        same(specgate.execute(path, arrays).values(), specgate.execute(old, arrays).values())
        count += 1
    assert count


X = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)


@pytest.mark.parametrize("opset", [10, 11, 13, 21])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("as_input", [True, False])
def test_upsample_becomes_resize_with_the_same_values(tmp_path, opset, mode, as_input):
    scales = [1.0, 1.0, 2.0, 2.5]
    more = {} if as_input else {"scales": scales}
    node = helper.make_node("Upsample", ["x", "s"] if as_input else ["x"], ["y"], mode=mode, **more)
    constants = [helper.make_tensor("s", FLOAT, [4], scales)] if as_input else []
    body = graph([node], (info("x", X.shape),), (info("y", (1, 1, 6, 10)),), constants)
    old, path = str(tmp_path / "old.onnx"), str(tmp_path / "new.onnx")
    onnx.save(model(body, opsets=(("", 9 if as_input else 8),)), old)
    onnx.save(model(body, opsets=(("", opset),)), path)
    lint(path, "--fix")
    onnx.checker.check_model(path, full_check=True)
    (onnx_model,) = onnx.load(path).graph.node
    assert onnx_model.op_type == "Resize"
    expected = specgate.execute(old, {"x": X})["y"]
    np.testing.assert_allclose(specgate.execute(path, {"x": X})["y"], expected, rtol=1e-6)
    theirs, ours = runtime(old, {"x": X}), runtime(path, {"x": X})
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6)


def test_scatter_becomes_scatter_elements(tmp_path):
    arrays = {
        "x": np.zeros((3, 3), np.float32),
        "i": np.array([[1, 0, 2]], np.int64),
        "u": np.array([[1.0, 2.0, 3.0]], np.float32),
    }
    inputs = (info("x", (3, 3)), info("i", (1, 3), INT64), info("u", (1, 3)))
    body = graph([helper.make_node("Scatter", ["x", "i", "u"], ["y"], axis=0)], inputs, (info("y", (3, 3)),))
    old, path = str(tmp_path / "old.onnx"), str(tmp_path / "new.onnx")
    onnx.save(model(body, opsets=(("", 10),)), old)
    onnx.save(model(body, opsets=(("", 13),)), path)
    lint(path, "--fix")
    assert onnx.load(path).graph.node[0].op_type == "ScatterElements"
    same(specgate.execute(path, arrays).values(), specgate.execute(old, arrays).values())
    same(runtime(path, arrays), runtime(old, arrays))


def clip(**more):
    return helper.make_node("Clip", ["x"], ["y"], name="c", min=0.0, max=1.5, **more)


def fix(tmp_path, onnx_model):
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx_model.SerializeToString())
    lint(str(path), "--fix")
    onnx.checker.check_model(str(path), full_check=True)
    return onnx.load(str(path))


def test_a_single_finding_names_all_inputs_of_a_node():
    new_model = model(graph([clip()]), opsets=(("", 13),))
    (finding,) = [f for f in specgate.lint(new_model, ["onnx:17"]).findings if f.severity == "error"]
    assert finding.fix == "give min and max as inputs"
    assert finding.message.startswith("from opset 11 on, min and max are inputs of Clip, not attributes")


def test_two_nodes_of_the_same_name_are_both_fixed(tmp_path):
    other = helper.make_node("Clip", ["y"], ["z"], name="c", max=1.0)
    onnx_model = fix(tmp_path, model(graph([clip(), other], ("x",), ("z",)), opsets=(("", 13),)))
    assert [list(node.input) for node in onnx_model.graph.node] == [["x", "y_min", "y_max"], ["y", "", "z_max"]]
    assert len({tensor.name for tensor in onnx_model.graph.initializer}) == 3


def test_names_of_the_file_are_not_reused(tmp_path):
    new_model = model(
        graph([clip(), helper.make_node("Relu", ["y"], ["y_min"])], ("x",), ("y_min",)), opsets=(("", 13),)
    )
    assert "y_min_" in fix(tmp_path, new_model).graph.node[0].input


def test_fields_move_in_branches_functions_and_old_files(tmp_path):
    branch = graph([clip()], (), ("y",), name="then")
    node = helper.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch)
    new_model = model(graph([node], ("x", info("c", (), BOOL)), ("z",)), opsets=(("", 13),))
    result = fix(tmp_path, new_model)
    assert [len(attribute.g.initializer) for attribute in result.graph.node[0].attribute] == [2, 2]
    squeeze = helper.make_node("Squeeze", ["x"], ["y"], axes=[0])
    inside = helper.make_function("own", "F", ["x"], ["y"], [squeeze], [helper.make_opsetid("", 13)])
    call = helper.make_node("F", ["x"], ["y"], domain="own")
    body = graph([call], (info("x", (1, 2)),))
    result = fix(tmp_path, model(body, opsets=(("", 13), ("own", 1)), functions=[inside]))
    assert [node.op_type for node in result.functions[0].node] == ["Constant", "Squeeze"]
    new_model = model(graph([clip()]), opsets=(("", 13),), ir=3)
    assert [node.op_type for node in fix(tmp_path, new_model).graph.node] == ["Constant", "Constant", "Clip"]


def test_a_value_outside_the_input_type_is_not_moved(tmp_path):
    node = helper.make_node("Clip", ["x"], ["y"], min=0.1)
    kind = onnx.TensorProto.FLOAT16
    new_model = model(graph([node], (info("x", (2,), kind),), (info("y", (2,), kind),)), opsets=(("", 13),))
    (tmp_path / "m.onnx").write_bytes(new_model.SerializeToString())
    (finding,) = [f for f in specgate.lint(str(tmp_path / "m.onnx"), ["onnx:17"]).findings if f.severity == "error"]
    assert not finding.fixable
    assert finding.fix == "give min as an input"


def test_an_attribute_that_affects_results_is_not_dropped():
    node = helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], spatial=0)
    shapes = [info("x", (1, 2, 3, 3)), *(info(name, (2,)) for name in "sbmv")]
    new_model = model(graph([node], shapes, (info("y", (1, 2, 3, 3)),)), opsets=(("", 9),))
    findings = [f for f in specgate.lint(new_model, ["onnx:17"]).findings if f.id.endswith("spatial.exists")]
    assert findings
    assert all("leave" not in (f.fix or "") for f in findings)
