"""What the CPU provider registers: counts of wheels, kernels that are registered apart, and ranges of versions."""

from __future__ import annotations

import pytest

from specgate.runtimes.onnxruntime.registrations import registrations

#: Operators and versions that the wheels state: pairs of them, each once, however many kernels there are.
STATED = {"1.16": 478, "1.20": 515, "1.24": 608, "1.31": 628}


@pytest.mark.parametrize(("release", "count"), STATED.items())
def test_versions_of_operators(release: str, count: int) -> None:
    every = {(each.domain, each.operator, each.version, each.until) for each in registrations("CPU", release)}
    assert len(every) == count


def test_a_closed_range_holds_for_its_versions() -> None:
    older, newest = registrations("CPU", "1.31").of("", "Abs")
    assert [since for since in range(1, 20) if older.holds(since)] == list(range(6, 13))
    assert [since for since in range(1, 20) if newest.holds(since)] == [13]


def test_kernels_of_other_types_stay_apart() -> None:
    found = [each.types for each in registrations("CPU", "1.31").of("", "BatchNormalization") if each.version == 15]
    assert found == [{name: {kind} for name in ("T", "T1", "T2")} for kind in ("DOUBLE", "FLOAT")]


def test_domains() -> None:
    found = registrations("CPU", "1.31")
    assert set(found.domains) == {"ai.onnx", "ai.onnx.ml", "com.microsoft", "com.microsoft.nchwc"}
    assert "Attention" in set(found.operators("com.microsoft"))
    assert found.of("com.example", "Attention") == ()
