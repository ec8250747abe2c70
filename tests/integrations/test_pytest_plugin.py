"""The pytest plugin: assertions, and light loading through pytest's entry point."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from textwrap import dedent

import pytest

import specgate
from specgate.pytest_plugin import assert_supported
from tests.paths import DATA, ROOT

MODEL = DATA / "models/embedding_torch.onnx"
IR = DATA / "models/onehot16_openvino.xml"


def test_a_supported_model_returns_its_report():
    report = assert_supported(MODEL, "onnx:17")
    assert report.nodes == 6
    assert assert_supported(str(MODEL), ["onnx:17", "onnx:18"]).nodes == 12


def test_an_unsupported_model_fails_with_the_report():
    with pytest.raises(
        AssertionError, match=r"(?s)embedding_torch.onnx is not supported by onnx:15\n\n.*uses opset 17"
    ):
        assert_supported(MODEL, "onnx:15")


def test_a_single_unsupported_target_fails():
    with pytest.raises(AssertionError, match="is not supported by"):
        assert_supported(MODEL, ["onnx:17", "onnx:15"])


def test_an_empty_target_list_is_an_input_error():
    relu = {"op_type": "Relu", "inputs": [{"elem_type": "FLOAT", "shape": [2]}], "outputs": [None]}
    for model in (relu, MODEL, str(IR)):
        empty: list[list[str] | tuple[str, ...]] = [[], ()]
        for targets in empty:
            with pytest.raises(specgate.InputError, match="expected at least one target"):
                assert_supported(model, targets)


def test_notes_do_not_fail():
    pytest.importorskip("onnx", reason="NOTES ARE NOT TRIED: pip install onnx (it is in the test extra)")
    from tests.linting.models import graph, model, relu

    new_model = model(graph([relu("x", "y")]), opsets=[("", 17), ("ai.onnx.ml", 2)])
    assert {finding.severity for finding in assert_supported(new_model, "onnx:28").findings} == {"note"}


@pytest.mark.parametrize("strict", [True, False])
def test_a_target_without_checked_nodes_fails(strict):
    with pytest.raises(AssertionError, match="specgate/target-idle"):
        assert_supported(MODEL, ["onnx:17", "openvino:2024.0"], strict=strict)


def test_undecided_nodes_fail_only_when_strict():
    node = {"op_type": "Relu", "inputs": [{"elem_type": None, "shape": [2]}]}
    assert_supported(node, "onnx:17")
    with pytest.raises(AssertionError, match="is not known to be supported by onnx:17"):
        assert_supported(node, "onnx:17", strict=True)


def test_a_model_without_checked_nodes_fails(tmp_path):
    file = tmp_path / "custom.json"
    file.write_text('{"type": "DML_OPERATOR_NOPE", "desc": {}}', encoding="utf-8")
    with pytest.raises(AssertionError, match=r"custom.json has no node that could be checked for directml:4.1"):
        assert_supported(file, "directml:4.1")


def test_a_model_of_another_dialect_fails():
    with pytest.raises(AssertionError, match=r"(?s)is not supported by .*none of the targets"):
        assert_supported(MODEL, "directml:5.0")


def test_a_descriptor(one_hot):
    assert assert_supported(one_hot, ["directml:2.1", "directml:4.1"]).nodes == 2
    one_hot["desc"]["Axis"] = 9
    with pytest.raises(AssertionError, match="directml/ONE_HOT/axis-range"):
        assert_supported(one_hot, "directml:4.1")


def test_an_unusable_model_is_an_input_error(tmp_path):
    with pytest.raises(specgate.InputError):
        assert_supported(tmp_path / "missing.onnx", "onnx:17")


def test_the_plugin_is_a_pytest11_entry_point():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"specgate": "specgate.pytest_plugin"}


@pytest.mark.slow
def test_pytest_offers_the_fixture_and_shows_the_report(tmp_path):
    (tmp_path / "test_models.py").write_text(
        dedent(f"""\
            def test_good(assert_supported):
                assert_supported({str(MODEL)!r}, "onnx:17")

            def test_bad(assert_supported):
                assert_supported({str(MODEL)!r}, "onnx:15")
            """),
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "specgate.pytest_plugin", "--rootdir", str(tmp_path), "."],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert "uses opset 17, but the target supports up to 15" in done.stdout
    assert "pytest_plugin.py" not in done.stdout  # the traceback ends at the user's own line


def test_loading_the_plugin_imports_nothing_heavy():
    script = (
        "import sys, pytest; before = set(sys.modules); import specgate.pytest_plugin; "
        "print(*(set(sys.modules) - before))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "specgate.pytest_plugin" in loaded
    heavy = {"numpy", "yaml", "pydantic", "rich", "pathspec", "onnx", "openvino", "hypothesis"}
    assert heavy.isdisjoint(name.partition(".")[0] for name in loaded)
