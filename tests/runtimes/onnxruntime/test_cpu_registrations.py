"""Registrations of the CPU provider: counts of wheels, separate kernels, versions."""

from __future__ import annotations

import pytest

from specgate.runtimes.onnxruntime.registrations import registrations

#: Pairs of operator and version in the wheels, each once, however many kernels there are.
STATED = {"1.16": 478, "1.20": 515, "1.24": 608, "1.31": 628}


@pytest.mark.parametrize(("release", "count"), STATED.items())
def test_versions_of_operators(release: str, count: int) -> None:
    every = {(each.domain, each.operator, each.version, each.until) for each in registrations("CPU", release)}
    assert len(every) == count


def test_a_closed_range_applies_to_its_versions() -> None:
    older, newest = registrations("CPU", "1.31").of("", "Abs")
    assert [since for since in range(1, 20) if older.holds(since)] == list(range(6, 13))
    assert [since for since in range(1, 20) if newest.holds(since)] == [13]


def test_kernels_of_different_types_stay_separate() -> None:
    tables = [each.types for each in registrations("CPU", "1.31").of("", "BatchNormalization") if each.version == 15]
    assert tables == [{name: {kind} for name in ("T", "T1", "T2")} for kind in ("DOUBLE", "FLOAT")]


def test_domains() -> None:
    registry = registrations("CPU", "1.31")
    assert set(registry.domains) == {"ai.onnx", "ai.onnx.ml", "com.microsoft", "com.microsoft.nchwc"}
    assert "Attention" in set(registry.operators("com.microsoft"))
    assert registry.of("com.example", "Attention") == ()
