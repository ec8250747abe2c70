"""Tag, package and changelog have one version; `.ci/notes.py` rejects others."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

import specgate
from tests.paths import ROOT

SCRIPT = ROOT / ".ci/notes.py"
MODULE = '"""Text."""\n\n__version__ = "1.2.0"\n'
CHANGELOG = """# Changelog

## Unreleased

- Later.

## 1.2.0 - 2026-11-30

### Added

- Something new.

## 1.1.0 - 2026-10-01

- Something old.
"""


@pytest.fixture(scope="module")
def notes():
    spec = importlib.util.spec_from_file_location("notes", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.notes


def test_the_notes_are_the_section_of_the_version(notes):
    assert notes("v1.2.0", MODULE, CHANGELOG) == "### Added\n\n- Something new."


@pytest.mark.parametrize(
    ("tag", "module", "changelog", "reason"),
    [
        ("v1.3.0", MODULE, CHANGELOG, r"the tag is v1\.3\.0, but .* says 1\.2\.0"),
        ("1.2.0", MODULE, CHANGELOG, r"expected v1\.2\.0"),
        ("v1.2.0", "", CHANGELOG, "no line with __version__"),
        ("v1.2.0", MODULE, CHANGELOG.replace("## 1.2.0 - 2026-11-30", "## Unreleased"), "no section"),
        ("v1.2.0", MODULE, CHANGELOG.replace(" - 2026-11-30", ""), "no section '## 1.2.0 - YYYY-MM-DD'"),
        ("v1.2.0", MODULE, CHANGELOG.replace("1.2.0", "1x2y0"), "no section"),
        ("v1.2.0", MODULE, CHANGELOG.replace("- Something new.", ""), "names no change"),
    ],
)
def test_mismatched_versions_are_rejected(notes, tag, module, changelog, reason):
    with pytest.raises(ValueError, match=reason):
        notes(tag, module, changelog)


def test_the_script_reads_the_files_of_the_checkout():
    run = subprocess.run([sys.executable, str(SCRIPT), "v0.0.0"], capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 1
    assert run.stdout == ""
    assert f"says {specgate.__version__}: expected v{specgate.__version__}" in run.stderr
