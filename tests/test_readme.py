"""The README and docs/pages show real output, because their blocks are run.

``UPDATE_README=1 pytest tests/test_readme.py`` rewrites them.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest

from specgate.cli import main
from tests.paths import ROOT

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
COVERAGE = (ROOT / "docs" / "pages" / "coverage.md").read_text(encoding="utf-8")
TOURS = [
    pytest.param(path, block, id=f"{path.name}: {block.splitlines()[0][2:40]}")
    for path in (README, *sorted((ROOT / "docs" / "pages").glob("*.md")))
    for block in re.findall(r"<!-- tour -->\n```console\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
]


def run(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    main(shlex.split(command)[1:])
    caught = capsys.readouterr()
    assert caught.err == ""
    return caught.out


@pytest.mark.parametrize(("path", "block"), TOURS)
def test_the_tour_shows_real_output(path, block, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    real = "".join(f"$ {command}\n{run(command, capsys)}" for command in commands)
    if os.environ.get("UPDATE_README"):
        text = path.read_text(encoding="utf-8")
        assert block in text
        path.write_text(text.replace(block, real), encoding="utf-8")
    else:
        assert block == real


def test_the_python_example_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})


def test_the_example_of_columns_runs():
    text = (ROOT / "docs" / "pages" / "python.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, "python.md", "exec"), {})


WITHOUT_ONNX = """
import sys
sys.modules["onnx"] = None  # packages that `pip install .` does not install
from specgate.cli import main
raise SystemExit(main(sys.argv[1:]))
"""


def test_the_first_command_ends_clean_with_nothing_undecided():
    (command,) = re.findall(r"<!-- main command -->\n```bash\n(.*?)\n```", TEXT, re.DOTALL)
    steps = [shlex.split(step)[1:] for step in command.split(" && ") if "/specgate " in step]
    assert [step[0] for step in steps] == ["check", "run", "lint"]
    messages = []
    for step in steps:
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_ONNX, *step], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        messages.append(done.stdout)
    assert re.search(
        r"^0 findings in [1-9]\d* nodes .*; 0 undecided; 0 nodes without a table", messages[2], re.MULTILINE
    )


def test_ci_runs_exactly_the_test_command():
    (command,) = re.findall(r"<!-- test command -->\n```bash\n(.*?)\n```", TEXT, re.DOTALL)
    lines = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    assert command in [line.strip() for line in lines]


def test_the_coverage_table_is_correct():
    from specgate.spec.tables import dialect

    for name, row in (("directml", "| DirectML |"), ("onnx", "| ONNX |"), ("openvino", "| OpenVINO |")):
        table = dialect(name)
        (line,) = [line for line in COVERAGE.splitlines() if line.startswith(row)]
        assert table.levels[0].removeprefix("opset") in line
        assert table.levels[-1].removeprefix("opset") in line
        computed = [operator for operator in table.operators if table.operator(operator).table.recipe]
        for operators, word in ((table.operators, "all"), (computed, "of them")):
            if len(operators) > 9:
                assert str(len(operators)) in [part.strip("()") for part in line.split()], word
            else:
                assert all(f"`{operator}`" in line for operator in operators)


def test_the_coverage_of_the_runtime_is_correct():
    from specgate.runtimes.onnxruntime.lowering.store import lowering_tables
    from specgate.runtimes.onnxruntime.registrations import runtime_tables

    (line,) = [line for line in COVERAGE.splitlines() if line.startswith("| ONNX Runtime |")]
    tables = runtime_tables()
    items_by_value = {
        provider: {
            name if domain == "ai.onnx" else f"{domain}.{name}" for domain, names in domains.items() for name in names
        }
        for provider, domains in tables["registrations"].items()
    }
    lowered = items_by_value["DirectML"] & set(lowering_tables()["operators"])
    for info in tables["providers"].values():
        assert "{} to {}".format(*info["releases"].split("..")) in line
    for count in (len(items_by_value["DirectML"]), len(items_by_value["CPU"]), len(lowered)):
        assert str(count) in line.replace(",", " ").replace(";", " ").split()
