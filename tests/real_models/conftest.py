from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.paths import ROOT
from tests.real_models.plan import NEEDED, cache_folder, missing

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def models() -> Path:
    """Return the folder of the models; building them takes minutes, once."""
    lacking = missing()
    if lacking:
        pytest.skip(f"THE REAL MODELS ARE NOT LINTED, {lacking} not installed: pip install {' '.join(NEEDED)}")
    folder = cache_folder()
    command = [sys.executable, "-m", "tests.real_models.build", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return folder
