"""Without an optional package its tests are skipped with a reason; none fails."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.slow

#: Modules with this value in `sys.modules` cannot be imported.
HIDING = "import sys; sys.modules[sys.argv[1]] = None; import pytest; sys.exit(pytest.main(sys.argv[2:]))"
PACKAGES = ("onnx", "onnxruntime", "openvino", "ml_dtypes", "torch", "distributed", "ruamel")


def without(package: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    options = ["-n", "0", "-q", "-p", "no:cacheprovider", "--no-header", "-o", "addopts=--import-mode=importlib -rs"]
    return subprocess.run(
        [sys.executable, "-c", HIDING, package, *options, *arguments], cwd=ROOT, capture_output=True, text=True
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_tests_of_missing_packages_are_collected(package: str) -> None:
    word = re.compile(
        rf"(import|importorskip\(\"|find_spec\(\"|tests\.linting\.\w+ import).*\b{package}\b|tests\.linting\.test_model"
    )
    files = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if word.search(path.read_text(encoding="utf-8"))
    ]
    assert files
    run = without(package, "--collect-only", *files)
    assert run.returncode in {0, 5}, run.stdout[-3000:]  # 5: all of them skip


def test_without_onnxruntime_broken_nodes_are_skipped_with_a_reason() -> None:
    pytest.importorskip("onnx", reason="NO NODE IS BROKEN: pip install onnx (it is in the test extra)")
    run = without("onnxruntime", "tests/conformance/test_onnx_broken_models.py", "-k", "broken_nodes")
    assert run.returncode == 0, run.stdout[-3000:]
    assert "NO OTHER IMPLEMENTATION CHECKS BROKEN NODES" in run.stdout
