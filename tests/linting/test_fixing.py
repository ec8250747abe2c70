"""``lint --fix`` and ``--diff`` change no value and no other byte, or write nothing."""

from __future__ import annotations

import json
import os
import stat
import sys
import warnings

import numpy as np
import pytest

import specgate
from specgate.cli import main
from specgate.dialects.onnx.file.edit import EditedModel
from specgate.dialects.onnx.file.wire import Reader
from specgate.linting.fixing import write
from specgate.verdict import Edit
from tests.linting.models import FLOAT, INT64, chain, graph, helper, info, model, onnx, relu, weights


def save(path, onnx_model):
    path.write_bytes(onnx_model if isinstance(onnx_model, bytes) else onnx_model.SerializeToString())
    return str(path)


def lint(path, *options, target="onnx:28"):
    return main(["lint", path, "--target", target, "--severity", "note", *options])


def fix(tmp_path, onnx_model, target="onnx:28", **arrays):
    """Fix a model and return it.

    It must compute the same, and onnx.checker must accept it.
    """
    path = save(tmp_path / "m.onnx", onnx_model)
    before = specgate.execute(path, arrays) if arrays else {}
    ran = runtime_values(path, arrays)
    lint(path, "--fix", target=target)
    after = specgate.execute(path, arrays) if arrays else {}
    assert before.keys() == after.keys()
    for name, array in before.items():
        assert array.dtype == after[name].dtype
        np.testing.assert_array_equal(array, after[name])
    for item, other in zip(ran, runtime_values(path, arrays) if ran else [], strict=True):
        np.testing.assert_array_equal(item, other)
    onnx.checker.check_model(path, full_check=True)
    return onnx.load(path)


def runtime_values(path, arrays):
    """Return ONNX Runtime's outputs, none if it is missing or rejects the model."""
    try:
        import onnxruntime
    except ImportError:
        return []
    try:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        return session.run(None, arrays) if arrays else []
    except Exception:  # its errors have no common class
        return []


X = np.array([-1.0, 2.0], np.float32)


def imports(onnx_model):
    return [(entry.domain, entry.version) for entry in onnx_model.opset_import]


def ids(path, target="onnx:28"):
    return {finding.id.rpartition("/")[2]: finding.fixable for finding in specgate.lint(path, [target]).findings}


def test_unused_imports_are_removed(tmp_path):
    new_chain = chain("x", "y")
    new_chain.opset_import.extend([helper.make_opsetid("com.some", 1), helper.make_opsetid("ai.onnx.ml", 3)])
    assert imports(fix(tmp_path, new_chain, x=X)) == [("", 17)]


def test_equal_imports_are_removed_and_conflicting_imports_stay(tmp_path, capsys):
    new_chain = chain("x", "y")
    new_chain.opset_import.append(helper.make_opsetid("ai.onnx", 17))
    assert imports(fix(tmp_path, new_chain, x=X)) == [("", 17)]
    new_chain.opset_import[1].version = 16
    path = save(tmp_path / "two.onnx", new_chain)
    before = (tmp_path / "two.onnx").read_bytes()
    assert lint(path, "--fix") == 1
    assert (tmp_path / "two.onnx").read_bytes() == before
    assert "[*]" not in capsys.readouterr().out


def test_the_import_of_a_function_that_is_not_called_stays(tmp_path):
    inside = helper.make_function("own", "F", ["a"], ["b"], [relu("a", "b")], [helper.make_opsetid("", 17)])
    new_model = model(graph([relu("x", "y")]), opsets=(("", 17), ("own", 1)), functions=[inside])
    assert ids(save(tmp_path / "m.onnx", new_model))["opset-unused"] is False


def test_value_infos_of_missing_values_are_removed(tmp_path):
    new_chain = chain("x", "m", "y", value_info=[info("m"), info("old"), info("older")])
    assert [value.name for value in fix(tmp_path, new_chain, x=X).graph.value_info] == ["m"]


def test_value_infos_of_subgraph_values_stay(tmp_path):
    body = graph([relu("x", "inner"), relu("inner", "out")], (), ("out",), name="then")
    new_model = model(
        graph(
            [helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)],
            ("x", info("c", (), onnx.TensorProto.BOOL)),
            value_info=[info("inner"), info("old")],
        )
    )
    result = fix(tmp_path, new_model, x=X, c=np.array(True))
    assert [value.name for value in result.graph.value_info] == ["inner"]


def test_value_infos_in_a_branch_are_removed(tmp_path):
    body = graph([relu("x", "out")], (), ("out",), name="then", value_info=[info("old"), info("out")])
    node = helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)
    new_model = model(graph([relu("x", "unread"), node], ("x", info("c", (), onnx.TensorProto.BOOL)), ("y", "unread")))
    result = fix(tmp_path, new_model, x=X, c=np.array(True))
    assert [[value.name for value in attribute.g.value_info] for attribute in result.graph.node[1].attribute] == [
        ["out"]
    ] * 2


@pytest.mark.parametrize("wrong", [info("m", (7, 7)), info("m", (2,), INT64)], ids=["sizes", "type"])
def test_value_infos_that_contradict_the_node_are_removed(tmp_path, wrong):
    new_chain = chain("x", "m", "y", value_info=[wrong])
    path = save(tmp_path / "m.onnx", new_chain)
    assert any(result.fixable for result in specgate.lint(path, ["onnx:28"]).findings if result.severity == "error")
    assert not fix(tmp_path, new_chain, x=X).graph.value_info


def test_the_type_of_an_output_stays(tmp_path):
    path = save(tmp_path / "m.onnx", model(graph([relu("x", "y")], outputs=(info("y", (7, 7)),))))
    before = (tmp_path / "m.onnx").read_bytes()
    assert lint(path, "--fix") == 1
    assert (tmp_path / "m.onnx").read_bytes() == before


def test_the_ir_version_is_lowered_to_that_of_the_release(tmp_path):
    new_chain = chain("x", "y")
    new_chain.ir_version = 10
    assert fix(tmp_path, new_chain, "onnx:onnxruntime-1.16", x=X).ir_version == 9


@pytest.mark.parametrize(
    "change",
    [
        lambda onnx_model: onnx_model.graph.input.append(info("q", (2,), onnx.TensorProto.INT4)),
        lambda onnx_model: onnx_model.opset_import[0].MergeFrom(helper.make_opsetid("", 21)),
        lambda onnx_model: onnx_model.functions.append(overload()),
    ],
    ids=["a type of IR version 10", "an opset of IR version 10", "an overload"],
)
def test_a_required_ir_version_stays(tmp_path, change):
    new_chain = chain("x", "y")
    new_chain.ir_version = 10
    change(new_chain)
    assert ids(save(tmp_path / "m.onnx", new_chain), "onnx:onnxruntime-1.16")["ir-version"] is False


def overload():
    function = helper.make_function("", "F", ["a"], ["b"], [relu("a", "b")], [helper.make_opsetid("", 17)])
    function.domain, function.overload = "own", "one"
    return function


def shaping(allowzero, opset=14, **more):
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["m"], name="turned", allowzero=allowzero, **more),
        helper.make_node("Cast", ["m"], ["y"], to=INT64),
    ]
    sizes = helper.make_tensor("shape", INT64, [2], [2, -1])
    return model(graph(nodes, (info("x", ("N", 4)),), (info("y", (2, "M"), INT64),), [sizes]), opsets=(("", opset),))


GRID = np.arange(8, dtype=np.float32).reshape(2, 4)


def test_the_opset_is_lowered_if_only_defaults_require_it(tmp_path):
    result = fix(tmp_path, shaping(0), "onnx:13", x=GRID)
    assert imports(result) == [("", 13)]
    assert not result.graph.node[0].attribute


def test_an_attribute_between_others_is_removed_without_them(tmp_path):
    onnx_model = shaping(0, 19)
    onnx_model.graph.node[1].attribute.insert(0, helper.make_attribute("saturate", 1))
    result = fix(tmp_path, onnx_model, "onnx:13", x=GRID)
    assert imports(result) == [("", 13)]
    assert [[value.name for value in node.attribute] for node in result.graph.node] == [[], ["to"]]


@pytest.mark.parametrize(
    ("onnx_model", "target"),
    [
        (shaping(1), "onnx:13"),
        (model(graph([helper.make_node("Softmax", ["x"], ["y"])]), opsets=(("", 13),)), "onnx:12"),  # it means another
        (model(graph([helper.make_node("Gelu", ["x"], ["y"])]), opsets=(("", 20),)), "onnx:17"),  # not there
        (model(graph([helper.make_node("Identity", ["x"], ["y"])], ("x",)), opsets=(("", 1), ("", 14))), "onnx:13"),
    ],
    ids=["another value", "another meaning", "another operator", "two imports"],
)
def test_an_opset_that_nodes_require_stays(tmp_path, onnx_model, target):
    path = save(tmp_path / "m.onnx", onnx_model)
    before = (tmp_path / "m.onnx").read_bytes()
    assert lint(path, "--fix", target=target) == 1
    assert (tmp_path / "m.onnx").read_bytes() == before


@pytest.mark.slow
def test_models_of_a_lower_opset_compute_the_same(tmp_path):
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(action="ignore"):
        cases = [case for case in collect_testcases(None) if case.model is not None and case.data_sets]
    lowered = [case.name for case in cases[::29] if "bernoulli" not in case.name for _ in lower(tmp_path, case)]
    assert len(lowered) > 50


def lower(tmp_path, case):
    """Lower a model's opset if proposed; its results must not change."""
    arrays = {port.name: array for port, array in zip(case.model.graph.input, case.data_sets[0][0], strict=False)}
    for level in (11, 13, 18, 22):
        path = save(tmp_path / "m.onnx", case.model)
        if not ids(path, f"onnx:{level}").get("opset-import"):
            continue
        before = outcome(path, arrays)
        assert lint(path, "--fix", "--select", "onnx/model/opset-import", target=f"onnx:{level}") == 0
        assert dict(imports(onnx.load(path)))[""] == level
        onnx.checker.check_model(path, full_check=True)
        assert before == outcome(path, arrays), (case.name, level)
        yield level


def outcome(path, arrays):
    """Return a model's outputs bitwise, or the reason why it is not executed."""
    try:
        outputs = specgate.execute(path, arrays)
    except specgate.Error as error:
        return type(error)
    return {name: (np.asarray(array).dtype, np.asarray(array).tobytes()) for name, array in outputs.items()}


def test_a_model_with_functions_keeps_its_opset(tmp_path):
    inside = helper.make_function("own", "F", ["a"], ["b"], [relu("a", "b")], [helper.make_opsetid("", 17)])
    call = helper.make_node("F", ["x"], ["y"], domain="own")
    new_model = model(graph([call]), opsets=(("", 17), ("own", 1)), functions=[inside])
    assert ids(save(tmp_path / "m.onnx", new_model), "onnx:15")["opset-import"] is False


def test_the_lowest_of_several_targets_decides_the_opset(tmp_path):
    path = save(tmp_path / "m.onnx", chain("x", "y"))
    assert main(["lint", path, "-t", "onnx:16", "-t", "onnx:14", "-t", "onnx:15", "--fix"]) == 0
    assert imports(onnx.load(path)) == [("", 14)]


def big():
    """A model with weights, unknown fields in file and graph, and a name after them."""
    new_chain = chain("x", "y", initializers=[weights("w", np.arange(5000.0))], value_info=[info("old"), info("older")])
    new_chain.opset_import.append(helper.make_opsetid("com.some", 1))
    new_chain.graph.doc_string = "d" * 127
    new_chain.doc_string = "behind"
    inner = new_chain.graph.SerializeToString() + bytes([0xF2, 0x7D, 3]) + b"abc"  # field 2014
    new_chain.ClearField("graph")
    head = new_chain.SerializeToString()
    size = len(inner)
    length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14])  # more than its value asks for is legal
    return head + b"\x3a" + length + inner + bytes([0xFA, 0x7D, 2]) + b"xy"


def test_unrelated_bytes_stay_unchanged(tmp_path):
    path = save(tmp_path / "m.onnx", big())
    before = (tmp_path / "m.onnx").read_bytes()
    lint(path, "--fix")
    after = (tmp_path / "m.onnx").read_bytes()
    onnx_model = onnx.load_from_string(before)
    gone = b"".join(
        b"\x6a" + bytes([len(e)]) + e for e in (value.SerializeToString() for value in onnx_model.graph.value_info)
    )
    gone_import = onnx_model.opset_import[1].SerializeToString()
    expected = before.replace(gone, b"").replace(b"\x42" + bytes([len(gone_import)]) + gone_import, b"")
    at = expected.index(b"\x3a")
    assert len(after) == len(expected)  # the length of the graph needs as many bytes
    assert after[: at + 1] == expected[: at + 1]
    assert after[at + 4 :] == expected[at + 4 :]
    assert onnx.load_from_string(after).graph.initializer[0] == onnx_model.graph.initializer[0]


def test_external_data_is_not_touched(tmp_path):
    new_chain = chain("x", "y", value_info=[info("old")])
    new_chain.graph.initializer.append(onnx.numpy_helper.from_array(np.arange(4000.0), "w"))
    path = str(tmp_path / "m.onnx")
    onnx.save(new_chain, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    os.utime(tmp_path / "w.bin", (1, 1))
    data = (tmp_path / "w.bin").read_bytes()
    lint(path, "--fix")
    assert (tmp_path / "w.bin").read_bytes() == data
    assert (tmp_path / "w.bin").stat().st_mtime == 1
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(onnx.load(path).graph.initializer[0]), np.arange(4000.0))


def test_weights_are_not_read(tmp_path, monkeypatch):
    size = 1 << 26
    new_chain = chain("x", "y", initializers=[weights("w")], value_info=[info("old")])
    new_chain.graph.initializer[0].Clear()
    new_chain.graph.initializer[0].MergeFrom(
        onnx.TensorProto(name="w", dims=[size // 4], data_type=FLOAT, raw_data=bytes(size))
    )
    path = save(tmp_path / "m.onnx", new_chain)
    read: list[int] = []
    original = Reader.read

    def counted(self, begin, end):
        read.append(end - begin)
        return original(self, begin, end)

    monkeypatch.setattr(Reader, "read", counted)
    assert lint(path, "--diff") == 1
    assert sum(read) < 1 << 16
    lint(path, "--fix")
    assert (tmp_path / "m.onnx").stat().st_size == len(new_chain.SerializeToString()) - len(
        new_chain.graph.value_info[0].SerializeToString()
    ) - 2


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_and_permissions_stay(tmp_path):
    real = tmp_path / "real.onnx"
    save(real, chain("x", "y", value_info=[info("old")]))
    real.chmod(0o640)
    (tmp_path / "link.onnx").symlink_to("real.onnx")
    lint(str(tmp_path / "link.onnx"), "--fix")
    assert (tmp_path / "link.onnx").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert not onnx.load(str(real)).graph.value_info
    assert sorted(value.name for value in tmp_path.iterdir()) == ["link.onnx", "real.onnx"]


def test_a_file_stays_complete_if_writing_fails(tmp_path, monkeypatch, capsys):
    path = save(tmp_path / "m.onnx", chain("x", "y", value_info=[info("old")]))
    before = (tmp_path / "m.onnx").read_bytes()

    class Full:
        def write(self, _):
            raise OSError(28, "No space left on device")

    copy_to = EditedModel.copy_to
    monkeypatch.setattr(EditedModel, "copy_to", lambda self, _out: copy_to(self, Full()))  # type: ignore[arg-type]
    assert lint(path, "--fix") == 2
    assert "cannot be written: No space left" in capsys.readouterr().err
    assert (tmp_path / "m.onnx").read_bytes() == before
    assert [value.name for value in tmp_path.iterdir()] == ["m.onnx"]


def test_a_file_replaced_during_the_copy_is_not_changed(tmp_path, monkeypatch, capsys):
    path = save(tmp_path / "m.onnx", chain("x", "y", value_info=[info("old")]))
    save(tmp_path / "export.onnx", chain("x", "m", "y", value_info=[info("old")]))
    export = (tmp_path / "export.onnx").read_bytes()
    copy_to = EditedModel.copy_to

    def interrupted(self, out):
        copy_to(self, out)
        (tmp_path / "export.onnx").replace(path)

    monkeypatch.setattr(EditedModel, "copy_to", interrupted)
    assert lint(path, "--fix") == 2
    assert "cannot be written: the file has changed since it was read" in capsys.readouterr().err
    assert (tmp_path / "m.onnx").read_bytes() == export
    assert [each.name for each in tmp_path.iterdir()] == ["m.onnx"]


def test_hard_links_that_a_fix_breaks_are_reported(tmp_path, capsys):
    path = save(tmp_path / "m.onnx", chain("x", "y", value_info=[info("old")]))
    (tmp_path / "twin.onnx").hardlink_to(path)
    assert lint(path, "--fix") == 0
    assert f"specgate: note: {path}: its other names (1 hard links) still have" in capsys.readouterr().err


def test_a_file_changed_since_reading_is_not_changed(tmp_path):
    path = save(tmp_path / "m.onnx", chain("x", "y", value_info=[info("old")]))
    file = EditedModel(path, [Edit((("graph", 0), ("value_info", 0)), expected="old")])
    save(tmp_path / "m.onnx", chain("x", "m", "y", value_info=[info("old")]))
    before = (tmp_path / "m.onnx").read_bytes()
    with pytest.raises(specgate.InputError, match="changed since it was read"):
        write(file)
    assert (tmp_path / "m.onnx").read_bytes() == before
    with pytest.raises(specgate.InputError, match="expected the name 'other'"):
        EditedModel(path, [Edit((("graph", 0), ("value_info", 0)), expected="other")])
    with pytest.raises(specgate.InputError, match="lacks value_info"):
        EditedModel(path, [Edit((("graph", 0), ("value_info", 4)), expected="old")])


def test_a_fix_that_adds_a_finding_is_not_written(tmp_path, monkeypatch, capsys):
    """An unsafe change, which removes a used import, is not written."""
    path = save(tmp_path / "m.onnx", chain("x", "y", value_info=[info("old")]))
    before = (tmp_path / "m.onnx").read_bytes()
    wrong = (Edit((("opset_import", 0),), expected=""),)
    monkeypatch.setattr("specgate.dialects.onnx.lint.fixes._without_unknown", lambda *_: iter(wrong))
    lint(path, "--fix")
    assert "not changed: the change would add onnx/model/opset-missing" in capsys.readouterr().err
    assert (tmp_path / "m.onnx").read_bytes() == before


def test_a_graph_in_several_parts_is_not_changed(tmp_path, capsys):
    whole = chain("x", "y", value_info=[info("old")]).SerializeToString()
    path = save(tmp_path / "m.onnx", whole + onnx.ModelProto(graph=graph([], (), ())).SerializeToString())
    before = (tmp_path / "m.onnx").read_bytes()
    lint(path, "--fix")
    assert "several parts" in capsys.readouterr().err
    assert (tmp_path / "m.onnx").read_bytes() == before


def test_fix_output_lists_and_counts_fixes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    onnx_model = shaping(0)
    onnx_model.graph.value_info.append(info("old", (1, "k")))
    save(tmp_path / "m.onnx", onnx_model)
    before = (tmp_path / "m.onnx").read_bytes()
    assert lint("m.onnx", target="onnx:13") == 1
    out = capsys.readouterr().out
    assert "onnx/model/value-info-unknown value_info [*]" in out
    assert "[*] 2 findings fixable with --fix" in out
    assert lint("m.onnx", "--diff", target="onnx:13") == 1
    shown = capsys.readouterr()
    assert shown.out.splitlines() == [
        "--- m.onnx",
        "+++ m.onnx",
        "@@ graph.node[0] 'turned' @@",
        "-attribute { name: 'allowzero' i: 0 type: 2 }",
        "@@ graph @@",
        "-value_info { name: 'old' type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_param: 'k' } } } } }",
        "@@ opset_import[0] @@",
        "-version: 14",
        "+version: 13",
    ]
    assert shown.err == "specgate: would fix 2 findings in 1 file\n"
    assert (tmp_path / "m.onnx").read_bytes() == before
    assert lint("m.onnx", "--fix", target="onnx:13") == 0
    assert "2 findings fixed in 1 file" in capsys.readouterr().out
    assert lint("m.onnx", "--diff", target="onnx:13") == 0
    assert capsys.readouterr() == ("", "")


def test_only_selected_findings_are_fixed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new_chain = chain("x", "y", value_info=[info("old")])
    new_chain.opset_import.append(helper.make_opsetid("com.some", 1))
    path = save(tmp_path / "m.onnx", new_chain)
    lint(path, "--fix", "--ignore", "onnx/model/opset-unused,onnx/model/value-info-unknown")
    assert onnx.load(path) == new_chain
    main(["lint", path, "--target", "onnx:28", "--fix", "--severity", "warning"])  # what is not shown is not changed
    assert onnx.load(path) == new_chain
    (tmp_path / "specgate.toml").write_text('[[ignore]]\nrule = "onnx/model/opset-unused"\nreason = "wanted"\n')
    lint(path, "--fix")
    assert imports(onnx.load(path)) == imports(new_chain)
    assert not onnx.load(path).graph.value_info


def test_json_marks_fixable_and_fixed_findings(tmp_path, capsys):
    path = save(tmp_path / "m.onnx", chain("x", "y", value_info=[info("old")]))
    lint(path, "--format", "json")
    document = json.loads(capsys.readouterr().out)
    assert [
        result.get("fixable") for result in document["findings"] if result["id"].endswith("value-info-unknown")
    ] == [True]
    assert "fixed" not in document
    lint(path, "--fix", "--format", "json")
    document = json.loads(capsys.readouterr().out)
    assert [result["id"] for result in document["fixed"]] == ["onnx/model/value-info-unknown"]
    assert not any(result["id"].endswith("value-info-unknown") for result in document["findings"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-", "--fix"], "standard input"),
        (["m.onnx", "--diff", "--report", "json=x.json"], "--report"),
        (["m.onnx", "--fix", "--baseline", "b.json", "--update-baseline"], "--update-baseline"),
    ],
)
def test_conflicting_options_are_rejected(tmp_path, monkeypatch, capsys, options, message):
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "m.onnx", chain("x", "y"))
    assert main(["lint", "-t", "onnx:28", *options]) == 2
    assert message in capsys.readouterr().err


def test_findings_of_in_memory_models_are_not_fixable(tmp_path):
    new_chain = chain("x", "y", value_info=[info("old")])
    assert not any(finding.fixable for finding in specgate.lint(new_chain, ["onnx:28"]).findings)
