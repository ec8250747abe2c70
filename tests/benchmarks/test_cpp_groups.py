"""The C++ benchmark: figures with a compiler and a library, else the reason."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from specgate.dialects.directml.cpp import comparison
from specgate.dialects.directml.cpp.compilers import compilers
from specgate.errors import InputError
from tests.benchmarks import cpp_groups
from tests.benchmarks.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpp_groups, "OPERATORS", ("ONE_HOT",))
    monkeypatch.setattr(cpp_groups, "CHANGES", 1)
    monkeypatch.setattr(cpp_groups, "ASKED", "-O0")
    monkeypatch.setattr(cpp_groups, "COMPILED", "-O0")


def measure(capsys: pytest.CaptureFixture[str]) -> list[dict]:
    assert main(["cpp", "--repeat", "1", "--format", "json"]) == 0
    groups: list[dict] = json.loads(capsys.readouterr().out)["groups"]
    return groups


def test_missing_library_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("SPECGATE_CACHE", str(tmp_path))
    checking, compiling = measure(capsys)
    assert all("is not installed" in contender["missing"] for contender in checking["contenders"])
    assert compiling["remarks"]["the header"].endswith(" MB")
    timed = [contender for contender in compiling["contenders"] if contender["median_seconds"]]
    assert len(timed) == (0 if next(compilers(), None) is None else 2)


def test_missing_compiler_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("specgate.dialects.directml.cpp.compilers.COMPILERS", {"absent": ("no-such-compiler",)})
    _, compiling = measure(capsys)
    assert [contender["missing"] for contender in compiling["contenders"]] == ["no C++ compiler is installed"] * 2


@pytest.mark.oracle
def test_ratios_are_measured_in_a_single_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Compilation is timed in the test without a library."""
    if next(compilers(), None) is None:
        pytest.skip("NO C++ COMPILER is installed: nothing is measured")
    try:
        comparison._installed_build(cpp_groups.LEVEL)
    except InputError as error:
        pytest.skip(f"NO DIRECTML BUILD IS TESTED: {error}")
    monkeypatch.setattr(cpp_groups, "_compile", lambda *_: None)
    checking, _ = measure(capsys)
    assert all(contender["median_seconds"] > 0 for contender in checking["contenders"])
    assert len(checking["remarks"]) == 3
    assert all("at worst" in message for message in checking["remarks"].values())
