"""Paths of the repository's own files, for tests."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPECS = ROOT / "specs"
DATA = ROOT / "tests" / "data"


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder so that a test may change it."""
    shutil.copytree(source, target)
