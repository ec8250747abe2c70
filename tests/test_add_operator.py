"""Adding an operator needs one YAML file and one kernel, exactly as the guide shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from specgate.cli import main
from tests.paths import ROOT

GUIDE = (ROOT / "docs" / "pages" / "write-an-operator.md").read_text(encoding="utf-8")
GOOD = {
    "op_type": "Mirror",
    "inputs": [{"elem_type": "INT64", "shape": [2, 3]}],
    "outputs": [{"elem_type": "INT64", "shape": [2, 3]}],
    "attributes": {"axis": 1},
}


def block(kind: str) -> str:
    (result,) = re.findall(rf"<!-- add an operator: {kind} -->\n```\w+\n(.*?)```", GUIDE, re.DOTALL)
    return str(result)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A scratch spec folder and a kernel file from the guide, outside the repository."""
    place = tmp_path_factory.mktemp("invented")
    operators = place / "my_specs" / "onnx" / "operators"
    operators.mkdir(parents=True)
    (operators / "Mirror.yaml").write_text(block("yaml"), encoding="utf-8")
    (place / "my_kernels.py").write_text(block("kernel"), encoding="utf-8")
    return place


def specgate(folder, *argv, code=0):
    command = [sys.executable, "-m", "specgate", "--specs", "my_specs", "--kernels", "my_kernels.py", *argv]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout


def test_check_and_minimum(folder):
    assert specgate(folder, "check", json.dumps(GOOD), "-t", "onnx:9").startswith("accepted")
    bad = json.dumps({**GOOD, "attributes": {"axis": 2}})
    assert "axis must be a dimension of data: axis is 2 and data has rank 2." in specgate(
        folder, "check", bad, "-t", "onnx:9", code=1
    )
    later = json.dumps(GOOD).replace("INT64", "BOOL")
    assert "accepted by 13..28" in " ".join(specgate(folder, "check", later, "-t", "onnx:9", code=1).split())
    assert "lowest level opset 13" in specgate(folder, "minimum", later)


def test_run(folder):
    (folder / "node.json").write_text(json.dumps(GOOD), encoding="utf-8")
    np.save(folder / "data.npy", np.arange(6, dtype=np.int64).reshape(2, 3))
    specgate(folder, "run", "node.json", "-i", "data=data.npy", "-o", "mirrored=out.npy")
    assert np.load(folder / "out.npy").tolist() == [[2, 1, 0], [5, 4, 3]]


@pytest.mark.slow
def test_lint_and_run_of_a_model(folder):
    onnx = pytest.importorskip("onnx", reason="LINT OF AN INVENTED OPERATOR IS NOT RUN: pip install onnx (test extra)")
    tensor = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node("Mirror", ["x"], ["y"], axis=1)
    info = [tensor(name, onnx.TensorProto.INT64, [2, 3]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "g", info[:1], info[1:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]), folder / "m.onnx")
    assert "0 findings in 1 node" in specgate(folder, "lint", "m.onnx", "-t", "onnx:17")
    np.save(folder / "x.npy", np.arange(6, dtype=np.int64).reshape(2, 3))
    assert "[[2 1 0]" in specgate(folder, "run", "m.onnx", "-i", "x=x.npy")


@pytest.mark.slow
def test_support_diff_rule_and_the_data_linters(folder):
    assert "* 13..28 <- this target" in specgate(folder, "support", "Mirror", "-t", "onnx:17")
    assert "data, mirrored: types +BOOL" in specgate(folder, "diff", "onnx:9", "onnx:13")
    assert "rejected at 28 with attributes.axis = 1" in specgate(folder, "rule", "onnx/Mirror/axis-range")


@pytest.mark.slow
def test_a_folder_of_operators_is_checked_by_itself(folder, capsys):
    assert main(["spec", "check", str(folder / "my_specs")]) == 0
    assert capsys.readouterr().out == "1 dialect, 1 operator, 0 problems\n"


def test_mistakes_in_a_folder_of_operators(folder, tmp_path, capsys):
    operators = tmp_path / "mine" / "onnx" / "operators"
    operators.mkdir(parents=True)
    (operators / "Mirror.yaml").write_text(block("yaml").replace("rank(data) ==", "rank(dat) =="), encoding="utf-8")
    assert main(["spec", "check", str(tmp_path / "mine")]) == 2
    assert "Mirror.yaml:" in capsys.readouterr().err
    (operators / "Mirror.yaml").write_text(
        block("yaml").replace("  same-rank: {of", "  # same-rank: {of"), encoding="utf-8"
    )
    assert main(["spec", "check", str(tmp_path / "mine")]) == 1
    assert "same-rank" in capsys.readouterr().out
    assert main(["spec", "check", str(tmp_path)]) == 2
    assert "DIALECT/operators/NAME.yaml" in capsys.readouterr().err


def test_the_source_of_a_user_operator_is_printed(folder):
    message = specgate(folder, "rule", "onnx/Mirror/axis-range")
    assert "  source: invented for this page, docs/pages/write-an-operator.md\n" in message
    assert "None" not in message


@pytest.mark.slow
def test_strategies_and_properties(folder):
    """All laws hold for it, and strategies cover its rules and rows, by existing tests."""
    plugin = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"  # it is ours, and the kernels need it
    script = (
        "import runpy, sys, pytest\n"
        f"runpy.run_path({str(folder / 'my_kernels.py')!r})\n"
        f"sys.exit(pytest.main(['-q', '-n0', '-W', {plugin!r}, '-p', 'no:cacheprovider',"
        f" {str(ROOT / 'tests/properties')!r}, '-k', 'Mirror']))\n"
    )
    environment = {**os.environ, "SPECGATE_SPECS": str(folder / "my_specs")}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= 20
