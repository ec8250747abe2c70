"""`.ci/run` creates an environment if there is none, and keeps a contributor's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no bash")
#: A program that prints its name and arguments; `venv` creates copies of it.
PROGRAM = """#!/bin/sh
echo "$(basename "$0") $*" >> "$LOG"
if [ "$1 $2" = "-m venv" ]; then
  mkdir -p .venv/bin
  for name in python pip pytest ruff mypy specgate; do cp "$0" .venv/bin/$name; done
fi
"""
REST = ["ruff format --check .", "ruff check .", "mypy ", "specgate spec check"]


def calls(checkout: Path) -> list[str]:
    """Run the script alone in a checkout; return the programs that it called."""
    (checkout / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci")
    programs = checkout / "programs"
    programs.mkdir()
    (programs / "python3").write_text(PROGRAM, encoding="utf-8")
    (programs / "python3").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "LOG": str(checkout / "log")}
    subprocess.run(["bash", str(checkout / ".ci" / "run")], check=True, env=environment, timeout=60)
    return (checkout / "log").read_text(encoding="utf-8").splitlines()


def test_a_missing_environment_is_created(tmp_path: Path) -> None:
    install = "pip install -q -e .[test,oracles]"
    assert calls(tmp_path) == ["python3 -m venv .venv", install, "pytest ", *REST]


def test_an_existing_environment_is_reused(tmp_path: Path) -> None:
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "pip", "pytest", "ruff", "mypy", "specgate"):
        (programs / name).write_text(PROGRAM, encoding="utf-8")
        (programs / name).chmod(0o755)
    install = "python -m pip install -q -e .[test,oracles]"
    assert calls(tmp_path) == [install, "python -m pytest", *REST]
