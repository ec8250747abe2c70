"""Undocumented requirements of builds 2.1 to 6.4 on tensors of any operator."""

from __future__ import annotations

import pytest

import specgate


@pytest.mark.parametrize("level", ["2.1", "3.0", "4.1", "6.4"])
@pytest.mark.parametrize(
    ("field", "key", "value", "rule"),
    [
        ("ValuesTensor", "GuaranteedBaseOffsetAlignment", 8, "alignment-16"),
        ("OutputTensor", "GuaranteedBaseOffsetAlignment", 4, "alignment-16"),
        ("OutputTensor", "Flags", "OWNED_BY_DML", "output-not-owned"),
    ],
)
def test_builds_reject_documented_tensors(one_hot, level, field, key, value, rule) -> None:
    one_hot["desc"][field][key] = value
    target = f"directml:{level}"
    assert specgate.check(one_hot, target, basis="documented").accepted is True
    (finding,) = specgate.check(one_hot, target).findings
    assert (finding.id, finding.where, finding.basis) == (f"directml/tensor/{rule}", field, "observed")
    assert "undocumented rule that builds enforce" in finding.message


@pytest.mark.parametrize("key", ["GuaranteedBaseOffsetAlignment", "Flags"])
def test_builds_accept_other_tensors(one_hot, key) -> None:
    one_hot["desc"]["IndicesTensor"][key] = {"GuaranteedBaseOffsetAlignment": 16, "Flags": 1}[key]
    assert specgate.check(one_hot, "directml:6.4").accepted is True


def test_a_level_without_a_build_uses_the_documentation(one_hot) -> None:
    one_hot["desc"]["OutputTensor"]["Flags"] = 1
    assert specgate.check(one_hot, "directml:2.0").accepted is True
