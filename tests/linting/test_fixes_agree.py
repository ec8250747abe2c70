"""Fixes of one report are compatible, and everything marked fixable is fixed.

Uses the tables' examples as models: by default every tenth, with ``HYPOTHESIS_PROFILE=nightly`` all.
"""

from __future__ import annotations

import os
import re

import pytest

import specgate
from specgate.cli import main
from specgate.spec.tables import dialect
from tests.linting.models import FLOAT, INT64, graph, helper, info, model, onnx, relu

ALL = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"


def examples():
    """Yield (name, descriptor, level) of examples of ai.onnx with tensors only."""
    for name in dialect("onnx").tables.operators:
        spec = dialect("onnx").operator(name)
        for label, example in spec.table.examples.items():
            entries = example["descriptor"]
            tensors = [*entries.get("inputs", ()), *entries.get("outputs", ())]
            if "." not in name and all(
                t and "(" not in t.get("elem_type", "(") and t.get("shape") is not None for t in tensors
            ):
                yield f"{name}/{label}", entries, str(example.get("since") or spec.levels.first)


def model_of(onnx_model, opset):
    inputs, constants = [], []
    for index, tensor in enumerate(onnx_model.get("inputs", ())):
        kind = getattr(onnx.TensorProto, tensor["elem_type"])
        if "value" in tensor:
            value = tensor["value"] if isinstance(tensor["value"], list) else [tensor["value"]]
            constants.append(helper.make_tensor(f"i{index}", kind, tensor["shape"], value))
        else:
            inputs.append(helper.make_tensor_value_info(f"i{index}", kind, tensor["shape"]))
    outputs = [
        helper.make_tensor_value_info(f"o{index}", getattr(onnx.TensorProto, tensor["elem_type"]), tensor["shape"])
        for index, tensor in enumerate(onnx_model["outputs"])
    ]
    names = [f"i{index}" for index in range(len(onnx_model.get("inputs", ())))]
    node = helper.make_node(
        onnx_model["op_type"], names, [item.name for item in outputs], **onnx_model.get("attributes", {})
    )
    return model(graph([node], inputs, outputs, constants), opsets=(("", int(opset)),), ir=8)


def place(result):
    return result.id, result.location and result.location.node


def opsets(text):
    return [int(number) for number in re.findall(r"use opset (\d+)", text or "")]


@pytest.mark.slow
def test_fixable_findings_disappear_and_fixes_exist_at_the_target(tmp_path, record_property):
    path, fixable, questions = tmp_path / "m.onnx", 0, 0
    for index, (name, onnx_model, level) in enumerate(examples()):
        if index % 10 and not ALL:
            continue
        try:
            data = model_of(onnx_model, level)
        except (ValueError, TypeError, AttributeError, KeyError):
            continue  # parts that helpers cannot write, such as graphs
        for own, target in ((int(level), 21), (20, 13), (11, 17)):
            data.opset_import[0].version = own
            path.write_bytes(data.SerializeToString())
            report = specgate.lint(str(path), [f"onnx:{target}"])
            for result in report.findings:
                assert all(number <= target for number in opsets(result.fix)), (name, result)
            marked = {place(f) for f in report.findings if f.fixable}
            questions += 1
            if marked:
                main(["lint", str(path), "--target", f"onnx:{target}", "--severity", "note", "--fix"])
                left = {place(f) for f in specgate.lint(str(path), [f"onnx:{target}"]).findings}
                assert not marked & left, (name, own, target)
                fixable += len(marked)
    record_property("models", questions)
    record_property("fixable", fixable)
    assert fixable > 5


def test_lowering_the_import_is_preferred_to_unsupported_fields(tmp_path):
    node = helper.make_node("ReduceMean", ["x"], ["y"], name="r", axes=[1])
    new_model = model(graph([node], (info("x", (2, 3)),), (info("y", (2, 1)),)), opsets=(("", 18),))
    path = tmp_path / "m.onnx"
    path.write_bytes(new_model.SerializeToString())
    fixes = {f.id.rpartition("/")[2]: f.fix for f in specgate.lint(str(path), ["onnx:17"]).findings}
    assert fixes == {
        "axes_attribute.exists": "import opset 17, at which the node is valid unchanged",
        "opset-import": "export for opset 17 or lower",
    }
    assert main(["lint", str(path), "--target", "onnx:17", "--fix"]) == 0
    assert onnx.load(path).opset_import[0].version == 17
    onnx.checker.check_model(str(path), full_check=True)


def test_a_wrong_value_info_is_reported_once_for_all_consumers(tmp_path):
    nodes = [helper.make_node("Split", ["x"], ["a", "b"], num_outputs=2), relu("a", "y"), relu("b", "z")]
    body = graph(nodes, (info("x", (4,)),), ("y", "z"), value_info=[info("a", (3,)), info("b", (2,))])
    path = tmp_path / "m.onnx"
    path.write_bytes(model(body, opsets=(("", 18),)).SerializeToString())
    (finding,) = [f for f in specgate.lint(str(path), ["onnx:18"]).findings if f.severity == "error"]
    assert finding.location is not None
    assert finding.location.operator == "Split"
    assert finding.fixable


def test_unsupported_attributes_are_reported_even_at_their_defaults(tmp_path):
    shape = helper.make_tensor("s", INT64, [1], [2])
    nodes = [helper.make_node("Reshape", ["x", "s"], ["m"], allowzero=0), relu("m", "y")]
    new_model = model(graph(nodes, initializers=[shape]), opsets=(("", 14),))
    path = tmp_path / "m.onnx"
    path.write_bytes(new_model.SerializeToString())
    (finding,) = [f for f in specgate.lint(str(path), ["onnx:13"]).findings if f.severity == "error"]
    assert "1 of 2 nodes exists unchanged at 13, and 1 more do after removing allowzero" in finding.message
    assert (finding.fix or "").endswith("lint --fix removes the attributes and lowers the import")
    main(["lint", str(path), "--target", "onnx:13", "--fix"])
    assert not onnx.load(path).graph.node[0].attribute


@pytest.mark.parametrize(
    ("operator", "kind", "cast"), [("Erf", "BOOL", "FLOAT"), ("Exp", "UINT16", "FLOAT"), ("Exp", "INT32", "DOUBLE")]
)
def test_proposed_casts_have_a_kernel_in_the_runtime(operator, kind, cast):
    element = getattr(onnx.TensorProto, kind)
    body = graph([helper.make_node(operator, ["x"], ["y"])], (info("x", (2,), element),), (info("y", (2,), FLOAT),))
    new_model = model(body, opsets=(("", 13),))
    fixes = [f.fix for f in specgate.lint(new_model, ["onnxruntime:1.24.4"]).findings if f.id.endswith("input.type")]
    assert fixes == [f"cast input to {cast}"]


def add_size(*sizes):
    """A model whose second node has an inferred size, stated by ONNX Runtime's tools."""
    new_graph = graph(
        [helper.make_node("Flatten", ["x"], ["m"]), helper.make_node("Gemm", ["m", "w"], ["y"])],
        (info("x", sizes), info("w", ("k", 3))),
        (info("y", (None, 3)),),
        value_info=[info("m", (1, "(((height - 1)//2)) + 1"))],
    )
    return model(new_graph, opsets=(("", 17),))


def test_only_input_sizes_can_be_pinned(tmp_path, capsys):
    path = str(tmp_path / "m.onnx")
    onnx.save(add_size(1, "height"), path)
    reasons = [node.reason.partition("; pin ")[2] for node in specgate.lint(path, ["onnx:17"], infer=False).undecided]
    assert any("--pin height=SIZE" in reason for reason in reasons)
    assert not any("//" in reason for reason in reasons)
    capsys.readouterr()
    pin = "(((height - 1)//2)) + 1=3"
    for command in ("lint", "place", "minimum"):
        target = ["--target", "onnxruntime:1.24.4" if command == "place" else "onnx:17"] if command != "minimum" else []
        assert main([command, path, *target, "--pin", pin]) == 2
        assert "pin 'height' instead" in capsys.readouterr().err
        assert main([command, path, *target, "--pin", "hight=3"]) == 2
        assert main([command, path, *target, "--pin", "height=3"]) != 2
    other = str(tmp_path / "o.onnx")
    onnx.save(add_size(1, "width"), other)
    assert main(["lint", path, other, "--target", "onnx:17", "--pin", "height=3"]) != 2  # of one of the files
