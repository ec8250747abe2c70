"""Ctrl-C at any moment of a command: no traceback, and a shell loop stops."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.paths import ROOT
from tests.signals import default_signals
from tests.test_processes import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no process of this system ends by a signal")

#: A sitecustomize that interrupts the process when it imports a module, or at exit.
AT_IMPORT = """
import os, signal, sys
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    sum(range(1000))  # Python handles signals between bytecode instructions
class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == os.environ["INTERRUPTED_AT"]:
            interrupt()
sys.meta_path.insert(0, Interrupting())
"""
AT_CLASS = (
    AT_IMPORT
    + """
class Part:
    def __set_name__(self, owner, name):
        by_itself()
by_itself = interrupt
def interrupt():
    type("Whole", (), {"part": Part()})
"""
)
AT_EXIT = (
    "import atexit, os, signal\natexit.register(lambda: os.kill(os.getpid(), signal.SIGINT) or sum(range(1000)))\n"
)
INTERRUPTED = -signal.SIGINT


def run(folder: Path, custom: str, command: list[str], at: str = "") -> tuple[int, str, str]:
    (folder / "sitecustomize.py").write_text(custom, encoding="utf-8")
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, preexec_fn=default_signals,
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "INTERRUPTED_AT": at},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(params=["script", "module"])
def command(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """Return the script that pip would write for pyproject.toml, and the module."""
    if request.param == "module":
        return [sys.executable, "-m", "specgate"]
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    module, _, name = scripts["specgate"].partition(":")
    script = tmp_path / "specgate"
    script.write_text(f"import sys\nfrom {module} import {name}\nsys.exit({name}())\n", encoding="utf-8")
    return [sys.executable, str(script)]


@pytest.mark.parametrize("at", ["specgate.loading", "specgate.api", "specgate.verdict", "specgate.cli", "argparse"])
def test_interrupt_during_imports(tmp_path: Path, command: list[str], at: str) -> None:
    assert run(tmp_path, AT_IMPORT, [*command, "targets", "onnx:17"], at) == (INTERRUPTED, "", "")


def test_interrupt_during_a_command_is_reported(tmp_path: Path, command: list[str]) -> None:
    outputs = run(tmp_path, AT_IMPORT, [*command, "targets", "onnx:17"], "specgate.cli.tables")
    assert outputs == (INTERRUPTED, "", "specgate: interrupted\n")


def test_interrupt_after_a_command_keeps_its_output(tmp_path: Path, command: list[str]) -> None:
    code, message, errors = run(tmp_path, AT_EXIT, [*command, "targets", "onnx:17"])
    assert (code, errors) == (INTERRUPTED, "")
    assert message.startswith("onnx:17")


@pytest.mark.parametrize("at", ["specgate.api", "specgate.verdict"])
def test_interrupt_of_a_program_that_imports_specgate(tmp_path: Path, at: str) -> None:
    program = tmp_path / "program.py"
    program.write_text("try:\n    import specgate\nexcept KeyboardInterrupt:\n    print('told')\n", encoding="utf-8")
    assert run(tmp_path, AT_IMPORT, [sys.executable, str(program)], at) == (0, "told\n", "")


@pytest.mark.parametrize("at", ["specgate.api", "specgate.cli.tables"])
def test_interrupt_during_class_creation(tmp_path: Path, command: list[str], at: str) -> None:
    """Python 3.11 raises a different error."""
    code, message, errors = run(tmp_path, AT_CLASS, [*command, "targets", "onnx:17"], at)
    assert (code, message) == (INTERRUPTED, "")
    assert errors == ("" if at == "specgate.api" else "specgate: interrupted\n")


def test_interrupt_ends_a_shell_loop(tmp_path: Path, command: list[str]) -> None:
    """A shell treats a command that exits with a code as having handled the interrupt."""
    (tmp_path / "kernels.py").write_text("import os, signal\nos.killpg(0, signal.SIGINT)\n", encoding="utf-8")
    words = shlex.join([*command, "--kernels", str(tmp_path / "kernels.py"), "targets", "onnx:17"])
    with subprocess.Popen(
        ["bash", "-c", f"for i in 1 2 3; do {words}; echo went on; done"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=default_signals,  # noqa: PLW1509
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as shell:  # fmt: skip
        out, errors = shell.communicate(timeout=PATIENCE)
    assert (shell.returncode, out, errors.count("specgate: interrupted")) == (INTERRUPTED, "", 1)
