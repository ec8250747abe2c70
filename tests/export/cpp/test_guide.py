"""The guide's example compiles, runs, and prints the documented output."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from specgate.dialects.directml.cpp.header import write_header
from tests.export.cpp.native import compiler
from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

GUIDE = (ROOT / "docs" / "pages" / "cpp.md").read_text(encoding="utf-8")


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler is installed: the guide's example is not compiled")
def test_guide_example_prints_the_documented_output(tmp_path: Path) -> None:
    example = next(text for text in re.findall(r"```cpp\n(.*?)```", GUIDE, re.DOTALL) if "int main" in text)
    printed = re.search(r"```text\n(.*?)```", GUIDE, re.DOTALL)
    assert printed is not None
    (tmp_path / "specgate_dml.h").write_text(write_header(["ONE_HOT", "GEMM"]), encoding="utf-8")
    (tmp_path / "example.cpp").write_text(example, encoding="utf-8")
    program = tmp_path / "example"
    chosen = compiler()
    assert chosen is not None
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]
    chosen.run([*flags, str(tmp_path / "example.cpp"), "-o", str(program)])
    assert subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout == printed[1]
